//! The device's page cache at 0 to 100% of the pages: hit rates and times (GTS, Kim et al., SIGMOD 2016, figure 11).

use super::bench::{Bench, over};
use crate::case::Case;
use crate::error::Result;
use crate::measure::ratio;
use crate::outcome::{Cell, Goal, Outcome, Table};
use crate::rig::{CachePolicy, Measured, Setup, Share, Work};

const EXPECTATION: &str = "with every page in main memory, the hit rate of a scan is the cached share of the pages, \
    and the time of an iteration falls in a straight line from the bus's (4 bytes an edge at 50 GB/s) to the \
    kernels': at 50% half of the pages go over the bus, in half the time. A search under LRU hits less than the \
    cached share until everything fits, because most of its pages are visited once a level in the same order, and \
    copies whole pages where a kernel that reads in place takes the visited lists only: pages that stay (fixed) are \
    faster at every share, most at small ones";
/// The share of the pages in device memory.
const SHARES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];
/// Tolerance of the hit rate below the share, for partly used slots.
const HIT_TARGET: f64 = 0.95;

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(bench: &Bench) -> Result<Outcome> {
    let mut outcome = bench.outcome("gpu-cache", EXPECTATION);
    let columns = [
        "graph",
        "work",
        "policy",
        "cached share",
        "hit rate",
        "ms",
        "G edges/s",
        "over the bus MB",
        "kernels ms",
        "copies ms",
    ];
    let mut table = Table::new("Device cache, every page in main memory", &columns);
    for case in bench.graphs()? {
        for work in [Work::Push, Work::Pull, Work::TopDown(case.hub), Work::Optimizing(case.hub)] {
            for (share, policy) in SHARES.into_iter().flat_map(|share| policies(work, share)) {
                let cache = if share == 0.0 { Share::Nothing } else { Share::Part(share) };
                let setup = Setup { buffer: Share::All, cache, policy, ..bench.setup() };
                let measured = case.measure(&setup, work, bench.fewer_runs())?;
                table.row(row(&case, work, (share, policy), &measured));
                if !work.is_search() && share > 0.0 {
                    let what =
                        format!("{}, {}, {:.0}% cached: hit rate over share", case.name, work.name(), 100.0 * share);
                    outcome.claim(what, Goal::AtLeast, HIT_TARGET, over(&measured, |run| ratio(run.resident, share)));
                }
            }
        }
    }
    outcome.tables.push(table);
    Ok(outcome)
}

/// The policies to compare: searches have a choice where some pages are cached, and not all.
fn policies(work: Work, share: f64) -> impl Iterator<Item = (f64, CachePolicy)> {
    let both = work.is_search() && share > 0.0 && share < 1.0;
    let lru = both.then_some((share, CachePolicy::Lru));
    std::iter::once((share, CachePolicy::Fixed)).chain(lru)
}

fn row(case: &Case, work: Work, (share, policy): (f64, CachePolicy), measured: &[Measured]) -> Vec<Cell> {
    let over = |of: fn(&Measured) -> f64| Cell::from(over(measured, of));
    vec![
        case.name.as_str().into(),
        work.name().into(),
        if policy == CachePolicy::Lru { "least recently used leave" } else { "fixed" }.into(),
        share.into(),
        over(|run| run.resident),
        over(|run| run.ns / 1e6),
        over(Measured::gedges_per_s),
        over(|run| run.bus_bytes / 1e6),
        over(|run| run.kernel_ns / 1e6),
        over(|run| run.copy_ns / 1e6),
    ]
}
