//! The cost of exact sums: 64-bit fixed point compared with single precision, with and without native atomics.

use super::bench::{Bench, over};
use crate::case::Case;
use crate::error::Result;
use crate::measure::{Spread, ratio};
use crate::outcome::{Cell, Goal, Outcome, Table};
use crate::rig::{Measured, Setup, Sums, Work};

const EXPECTATION: &str = "under push an exact sum by 64-bit atomics has at least 0.75 of the speed of native f32 \
    additions (as many atomics, twice the bytes of sums), two words with a carry 0.5 (a second atomic for one edge \
    in a few, and the first has to return), a compare-exchange loop over floats 0.4. Under pull the difference is in \
    the adding alone: 0.9 and more. Single precision is off by up to 1e-3 on hubs, exact sums by less than 1e-5";
const TARGET: f64 = 0.75;
const ALL: [Sums; 4] = [Sums::Single, Sums::SingleByExchange, Sums::Exact, Sums::ExactInHalves];

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(bench: &Bench) -> Result<Outcome> {
    let mut outcome = bench.outcome("gpu-sums", EXPECTATION);
    let columns = [
        "graph",
        "work",
        "sums",
        "ms",
        "kernels ms",
        "G edges/s",
        "speed of native single precision",
        "largest error of a rank",
    ];
    let mut table = Table::new("Sums of ranks, everything in device memory", &columns);
    for case in bench.graphs()? {
        for work in [Work::Push, Work::Pull] {
            let mut native = f64::NAN;
            for sums in ALL {
                let measured = case.measure(&Setup { sums, ..bench.setup() }, work, bench.fewer_runs())?;
                if sums == Sums::Single {
                    native = over(&measured, |run| run.ns).median;
                }
                let speed = over(&measured, |run| ratio(native, run.ns));
                table.row(row(&case, work, sums, &measured, speed));
                if sums == Sums::Exact {
                    let what =
                        format!("{}, {}: speed of exact sums, of native single precision's", case.name, work.name());
                    outcome.claim(what, Goal::AtLeast, TARGET, speed);
                }
            }
        }
    }
    outcome.tables.push(table);
    Ok(outcome)
}

fn row(case: &Case, work: Work, sums: Sums, measured: &[Measured], speed: Spread) -> Vec<Cell> {
    let over = |of: fn(&Measured) -> f64| Cell::from(over(measured, of));
    let error = measured.iter().map(|run| run.rank_error).fold(0.0, f64::max);
    vec![
        case.name.as_str().into(),
        work.name().into(),
        sums.name().into(),
        over(|run| run.ns / 1e6),
        over(|run| run.kernel_ns / 1e6),
        over(Measured::gedges_per_s),
        speed.into(),
        format!("{error:.1e}").into(),
    ]
}
