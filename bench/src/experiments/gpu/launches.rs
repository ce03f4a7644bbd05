//! Launches in flight, as streams are in GTS (Kim et al., SIGMOD 2016, figure 10): every page is read in main memory.

use super::bench::{Bench, over};
use crate::case::Case;
use crate::error::Result;
use crate::measure::{Spread, ratio};
use crate::outcome::{Cell, Goal, Outcome, Table};
use crate::rig::{Measured, Setup, Share, Work};

const EXPECTATION: &str = "a launch takes all pages that are ready, up to 4,096 of 1 MiB, where a stream of GTS has one \
    page: two launches in flight, one that runs and one that waits, are as fast as 32, and one alone loses the time \
    between launches, some 20 us of some 80 ms";
/// Launches in flight.
const LAUNCHES: [u32; 6] = [1, 2, 4, 8, 16, 32];
/// Pages of a launch: the engine's choice, and one, as a stream has.
const PAGES: [Option<u32>; 2] = [None, Some(1)];
const TARGET: f64 = 0.95;

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(bench: &Bench) -> Result<Outcome> {
    let mut outcome = bench.outcome("gpu-launches", EXPECTATION);
    let columns =
        ["graph", "work", "pages of a launch", "in flight", "ms", "kernels ms", "G edges/s", "speed of two's"];
    let mut table = Table::new("Launches in flight, every page in main memory", &columns);
    // One graph is enough: launch costs do not depend on its size.
    let case = bench.graphs()?.swap_remove(0);
    for work in [Work::Push, Work::TopDown(case.hub)] {
        for pages in PAGES {
            let measure = |launches| {
                let (buffer, cache) = (Share::All, Share::Nothing);
                let setup = Setup { buffer, cache, launches: Some(launches), batch_pages: pages, ..bench.setup() };
                case.measure(&setup, work, bench.fewer_runs())
            };
            let measured = LAUNCHES.map(measure).into_iter().collect::<Result<Vec<_>>>()?;
            let ns: Vec<f64> = measured.iter().map(|runs| over(runs, |run| run.ns).median).collect();
            for ((launches, runs), ns_of) in LAUNCHES.into_iter().zip(&measured).zip(&ns) {
                table.row(row(&case, work, (pages, launches), runs, ratio(ns[1], *ns_of)));
            }
            if pages.is_none() {
                let best = ns.iter().copied().fold(f64::INFINITY, f64::min);
                let what = format!("{}, {}: speed of two launches, of the fastest's", case.name, work.name());
                outcome.claim(what, Goal::AtLeast, TARGET, Spread::of(&[ratio(best, ns[1])]));
            }
        }
    }
    outcome.tables.push(table);
    Ok(outcome)
}

fn row(case: &Case, work: Work, (pages, launches): (Option<u32>, u32), measured: &[Measured], speed: f64) -> Vec<Cell> {
    let over = |of: fn(&Measured) -> f64| Cell::from(over(measured, of));
    vec![
        case.name.as_str().into(),
        work.name().into(),
        pages.map_or("all that are ready".to_owned(), |pages| pages.to_string()).into(),
        launches.to_string().into(),
        over(|run| run.ns / 1e6),
        over(|run| run.kernel_ns / 1e6),
        over(Measured::gedges_per_s),
        speed.into(),
    ]
}
