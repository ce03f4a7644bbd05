//! Distributions of work within a batch, at several densities (GTS, Kim et al., SIGMOD 2016, figure 14), launched by
//! the host; beside them supersteps that the device runs by itself, with kernels of their own.

use super::bench::{Bench, over};
use crate::error::Result;
use crate::graph::Order;
use crate::measure::{Spread, ratio};
use crate::outcome::{Cell, Goal, Outcome, Table};
use crate::rig::{Distribution, Measured, Setup, Work};

const EXPECTATION: &str = "for passes over all pages, segments (equal shares of edges) are the fastest or within 10% \
    of it at every density: R-MAT degrees are so skewed that with a thread per list each warp waits for \
    its longest list, three times as slow, and slower the denser the graph; virtual warps gain with density, the best \
    width growing from 4 lanes at 1:4 to 32 at 1:32, and hybrid follows the best of them. For searches, which visit \
    few lists of a page, the differences are smaller: hybrid within 10% of the best";
/// Edges per vertex.
const DENSITIES: [u64; 4] = [4, 8, 16, 32];
const DISTRIBUTIONS: [Distribution; 8] = [
    Distribution::Vertex,
    Distribution::Warp(2),
    Distribution::Warp(4),
    Distribution::Warp(8),
    Distribution::Warp(16),
    Distribution::Warp(32),
    Distribution::Hybrid,
    Distribution::Segments,
];
const TARGET: f64 = 0.9;

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(bench: &Bench) -> Result<Outcome> {
    let mut outcome = bench.outcome("gpu-work", EXPECTATION);
    let mut columns = vec!["density", "work"];
    columns.extend([
        "vertex",
        "warp:2",
        "warp:4",
        "warp:8",
        "warp:16",
        "warp:32",
        "hybrid",
        "segments",
        "auto",
        "fastest",
        "own supersteps",
    ]);
    let mut table =
        Table::new(format!("Kernels, ms; scale {}, everything in device memory", bench.density_scale()), &columns);
    for density in DENSITIES {
        let case = bench.case(bench.density_scale(), density, Order::Natural)?;
        for work in [Work::Push, Work::Pull, Work::TopDown(case.hub), Work::Optimizing(case.hub)] {
            let mut kernels_ms = Vec::new();
            let kernels = |setup: &Setup| -> Result<Spread> {
                let measured = case.measure(setup, work, bench.fewer_runs())?;
                Ok(over(&measured, |run: &Measured| run.kernel_ns / 1e6))
            };
            for distribution in DISTRIBUTIONS.into_iter().chain([Distribution::Auto]) {
                kernels_ms.push(kernels(&Setup { distribution, ..bench.launched_by_host() })?);
            }
            let own = kernels(&bench.setup())?;
            let (auto, named) = kernels_ms.split_last().expect("there are distributions");
            let fastest = named.iter().zip(DISTRIBUTIONS).min_by(|a, b| a.0.median.total_cmp(&b.0.median));
            let (best, name) = fastest.expect("there are distributions");
            let share = Spread::of(&[ratio(best.median, auto.median)]);
            let mut cells = vec![Cell::from(format!("1:{density}")), work.name().into()];
            cells.extend(kernels_ms.iter().map(|&ms| Cell::from(ms)));
            cells.extend([name.to_string().into(), own.into()]);
            table.row(cells);
            outcome.claim(
                format!("1:{density}, {}: auto's speed of the fastest's", work.name()),
                Goal::AtLeast,
                TARGET,
                share,
            );
        }
    }
    outcome.tables.push(table);
    Ok(outcome)
}
