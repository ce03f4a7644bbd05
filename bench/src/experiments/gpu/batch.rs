//! Pages per launch: the cost of launches, and the batch size from which it is negligible. All pages are in device
//! memory, and the host launches them: supersteps that the device runs by itself have no launches.

use super::bench::{Bench, over};
use crate::case::Case;
use crate::error::Result;
use crate::measure::{Spread, ratio};
use crate::outcome::{Cell, Goal, Outcome, Table};
use crate::rig::{Measured, Setup, Work};

const EXPECTATION: &str = "a page of 1 MiB has 262,000 edges, 7 us at 40 G edges/s, and a submission costs 11 us of \
    the CPU: one page a launch has a third of the speed of large batches, 4 pages nearly all, and from 16 on nothing \
    changes. A kernel over one page is also too small for 132 multiprocessors: a quarter";
/// Pages per launch.
const BATCHES: [u32; 6] = [1, 4, 16, 64, 256, 1024];
const TARGET: f64 = 0.95;

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(bench: &Bench) -> Result<Outcome> {
    let mut outcome = bench.outcome("gpu-batch", EXPECTATION);
    let columns =
        ["graph", "work", "pages of a launch", "launches", "ms", "kernels ms", "G edges/s", "speed of the fastest's"];
    let mut table = Table::new("Pages of a launch, everything in device memory, launched by the host", &columns);
    // One graph is enough: launch costs do not depend on its size.
    let case = bench.graphs()?.swap_remove(0);
    for work in [Work::Push, Work::Pull, Work::TopDown(case.hub)] {
        let measure = |batch| {
            let setup = Setup { batch_pages: Some(batch), ..bench.launched_by_host() };
            case.measure(&setup, work, bench.fewer_runs())
        };
        let measured = BATCHES.map(measure).into_iter().collect::<Result<Vec<_>>>()?;
        let ns: Vec<f64> = measured.iter().map(|runs| over(runs, |run| run.ns).median).collect();
        let best = ns.iter().copied().fold(f64::INFINITY, f64::min);
        for ((batch, runs), ns) in BATCHES.into_iter().zip(&measured).zip(&ns) {
            table.row(row(&case, work, batch, runs, ratio(best, *ns)));
        }
        let largest = Spread::of(&[ratio(best, ns[BATCHES.len() - 1])]);
        outcome.claim(
            format!("{}, {}: speed of the largest batch, of the fastest's", case.name, work.name()),
            Goal::AtLeast,
            TARGET,
            largest,
        );
    }
    outcome.tables.push(table);
    Ok(outcome)
}

fn row(case: &Case, work: Work, batch: u32, measured: &[Measured], speed: f64) -> Vec<Cell> {
    let over = |of: fn(&Measured) -> f64| Cell::from(over(measured, of));
    vec![
        case.name.as_str().into(),
        work.name().into(),
        batch.to_string().into(),
        over(|run| run.batches),
        over(|run| run.ns / 1e6),
        over(|run| run.kernel_ns / 1e6),
        over(Measured::gedges_per_s),
        speed.into(),
    ]
}
