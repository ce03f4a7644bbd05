//! From the SSD, with a page buffer and a device cache far smaller than the store.

use super::bench::{Bench, over};
use crate::case::Case;
use crate::error::Result;
use crate::graph::page_files;
use crate::measure::{Spread, ratio};
use crate::outcome::{Cell, Goal, Outcome, Table};
use crate::raw::{self, RawRead};
use crate::rig::{Measured, Setup, Share, Work};
use topostream_formats::Store;

const EXPECTATION: &str = "an iteration of PageRank, and the levels of a search that read most pages, take their \
    pages from the SSD at 90% or more of the rate of raw O_DIRECT reads (3.2 GB/s, so 0.8 G edges/s at 4 bytes): \
    checks, bus and kernels are each at least ten times as fast and overlap the reads. A whole search also has small \
    levels, which wait for one page after the other: 80%";
const TARGET: f64 = 0.9;
/// The fraction of the pages that the buffers keep.
const KEPT: f64 = 1.0 / 32.0;

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(bench: &Bench) -> Result<Outcome> {
    let mut outcome = bench.outcome("gpu-ssd", EXPECTATION);
    let columns = [
        "graph",
        "work",
        "ms",
        "read MB",
        "GB/s",
        "GB/s in full levels",
        "raw GB/s",
        "of it",
        "G edges/s",
        "kernels ms",
    ];
    let mut table = Table::new("From the SSD", &columns);
    let mut best: Option<RawRead> = None;
    for case in bench.graphs()? {
        let store = Store::open(&case.path)?;
        // The best shape of requests is determined on the first graph; on larger ones that would take minutes.
        let shape = match best {
            Some(best) => best.shape,
            None => {
                let found = raw::best(
                    &page_files(&store, Work::Push.directions()[0]),
                    bench.settings.resources.page_size as usize,
                )?;
                outcome.notes.push(found.note(&case.name));
                best.insert(found).shape
            }
        };
        for work in [Work::Push, Work::Pull, Work::TopDown(case.hub), Work::Optimizing(case.hub)] {
            let rounds = rounds(bench, &case, &store, work, shape)?;
            let (measured, raw): (Vec<Measured>, Vec<f64>) = rounds.into_iter().unzip();
            let pairs: Vec<_> = measured.iter().zip(&raw).collect();
            let share = Spread::over(&pairs, |(run, raw)| ratio(run.full_disk_gb_per_s(), **raw));
            table.row(row(&case, work, &measured, Spread::of(&raw), share));
            outcome.claim(
                format!("{}, {}, full supersteps: share of raw reads", case.name, work.name()),
                Goal::AtLeast,
                TARGET,
                share,
            );
        }
    }
    outcome.tables.push(table);
    Ok(outcome)
}

/// Runs, each with raw reads of one of its topologies just before.
fn rounds(bench: &Bench, case: &Case, store: &Store, work: Work, shape: raw::Shape) -> Result<Vec<(Measured, f64)>> {
    let kept = Share::Part(KEPT);
    let rig = Setup { buffer: kept, cache: kept, alternatives: true, ..bench.setup() }.rig(&case.path, work)?;
    let files = page_files(store, work.directions()[0]);
    case.run(&rig)?;
    let round = |_| -> Result<(Measured, f64)> {
        let raw = raw::read(&files, shape)?.gb_per_s();
        Ok((case.run(&rig)?, raw))
    };
    (0..bench.fewer_runs()).map(round).collect()
}

fn row(case: &Case, work: Work, measured: &[Measured], raw: Spread, share: Spread) -> Vec<Cell> {
    let over = |of: fn(&Measured) -> f64| Cell::from(over(measured, of));
    vec![
        case.name.as_str().into(),
        work.name().into(),
        over(|run| run.ns / 1e6),
        over(|run| run.disk_bytes / 1e6),
        over(Measured::disk_gb_per_s),
        over(Measured::full_disk_gb_per_s),
        raw.into(),
        share.into(),
        over(Measured::gedges_per_s),
        over(|run| run.kernel_ns / 1e6),
    ]
}
