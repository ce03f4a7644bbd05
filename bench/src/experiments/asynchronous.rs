//! Asynchronous relaxation: bytes from disk with and without reprocessing of buffered pages.
//!
//! ```text
//!  grid ──┬─▶ SSSP, widest paths, ─┬─▶ superstep by superstep ∥ asynchronous ─▶ answers compared ─▶ bytes
//!  R-MAT ─┴─▶ components          ─┘   (a page buffer of a quarter of what is read)
//! ```

use crate::arrays;
use crate::catalogue::{Finished, Footprint, Needs, UNDIRECTED, WEIGHTED, run as run_on};
use crate::error::Result;
use crate::graph;
use crate::measure::{Spread, ratio};
use crate::outcome::{Goal, Outcome, Table};
use crate::run_options::{Buffer, RunOptions};
use std::path::PathBuf;
use topostream::algorithms::{Components, Sssp, Widest};
use topostream::{Engine, VertexId};
use topostream_formats::{Store, WeightType};
use topostream_oracles::{Compare, Graph, components, sssp, widest};

const EXPECTATION: &str = "on the grid, where a superstep advances one hop and reads most pages for it, asynchronous \
    relaxation reads at most half the bytes from disk for shortest paths, widest paths and components; on R-MAT, which \
    takes few supersteps, at most 1.5 times the bytes, and on other graphs no more bytes. Answers are equal";
/// Ratio of bytes without to bytes with, on the grid, on R-MAT, and on a graph from a file.
const GRID_TARGET: f64 = 2.0;
const RMAT_TARGET: f64 = 0.67;
const FILE_TARGET: f64 = 1.0;

/// Bytes read from disk with and without asynchronous relaxation, on a grid and on R-MAT
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// The scale of the R-MAT graph of edge factor 16
    #[arg(long, default_value_t = 22, value_parser = clap::value_parser!(u32).range(4..=30))]
    pub scale: u32,
    /// Vertices per side of the grid
    #[arg(long, default_value_t = 2048, value_parser = clap::value_parser!(u64).range(2..=65_535))]
    pub grid: u64,
    /// An additional edge list to measure
    #[arg(long, value_name = "FILE")]
    pub graph: Option<PathBuf>,
    /// Number of measurements
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: u32,
    #[command(flatten)]
    pub run_options: RunOptions,
}

/// The algorithm to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Sssp,
    Widest,
    Components,
}

impl Work {
    fn name(self) -> &'static str {
        match self {
            Self::Sssp => "SSSP",
            Self::Widest => "widest path",
            Self::Components => "components",
        }
    }

    fn expected(self, plain: &Graph, source: VertexId) -> Vec<f64> {
        match self {
            Self::Sssp => sssp::shortest(&plain.out_lists, source.0),
            Self::Widest => widest::whole_widths(&plain.out_lists, source.0),
            Self::Components => components::connected(&plain.out_lists),
        }
    }

    fn compare(self) -> Compare {
        match self {
            Self::Sssp | Self::Widest | Self::Components => Compare::Exact,
        }
    }

    fn run(self, engine: &Engine, source: VertexId) -> Result<Finished> {
        match self {
            Self::Sssp => run_on(engine, Sssp::new(source, WeightType::U32)),
            Self::Widest => run_on(engine, Widest { source, weights: WeightType::U32 }),
            Self::Components => run_on(engine, Components { directed: false }),
        }
    }

    /// Bytes of the pages that it reads.
    fn page_bytes(self, store: &Store) -> u64 {
        let of_search = Footprint::of(&Components { directed: false }, store);
        of_search.page_bytes(store, matches!(self, Self::Sssp | Self::Widest))
    }
}

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(options: &Options) -> Result<()> {
    eprintln!("expected: {EXPECTATION}");
    let Options { run_options, scale, grid, .. } = options;
    let mut outcome = Outcome::new("asynchronous", EXPECTATION);
    outcome.verified(
        "every run: all values equal to those of one thread over arrays in memory (Dijkstra's way, union-find), \
        ranks within 3e-4",
    );
    outcome.notes.push(format!(
        "{}, {} threads; reads with O_DIRECT, an empty page buffer at the start, of a quarter of the pages that are \
         read",
        run_options.device_name(),
        run_options.resources.threads()
    ));
    let columns = [
        "graph",
        "work",
        "mode",
        "supersteps",
        "of them from disk",
        "pages processed",
        "read MB",
        "ms",
        "bytes without over with",
        "time without over with",
    ];
    let mut table = Table::new("With and without asynchronous relaxation", &columns);
    for (store, work, target) in trials(options)? {
        measure(options, &store, work, target, &mut table, &mut outcome)
            .map_err(|error| format!("{}, {}: {error}", graph::name(&store), work.name()))?;
    }
    outcome.tables.push(table);
    let file = format!("asynchronous-{scale}-{grid}-{}.json", run_options.device_name());
    outcome.publish(Some(&run_options.resources.results.join(file)))
}

/// The stores, the work over them, and the target ratio of bytes.
fn trials(options: &Options) -> Result<Vec<(Store, Work, f64)>> {
    let Options { run_options, scale, grid, .. } = options;
    // The grid's edges are given once, and are mirrored.
    let weighted = Needs { weights: WEIGHTED.weights, undirected: false, distinct: false, ..UNDIRECTED };
    let grid = || run_options.wanted(&weighted).grid(&run_options.resources.dir, *grid);
    let rmat = |needs| run_options.wanted(needs).rmat(&run_options.resources.dir, *scale);
    let mut trials = vec![
        (grid()?, Work::Sssp, GRID_TARGET),
        (grid()?, Work::Widest, GRID_TARGET),
        (grid()?, Work::Components, GRID_TARGET),
        (rmat(&WEIGHTED)?, Work::Sssp, RMAT_TARGET),
        (rmat(&WEIGHTED)?, Work::Widest, RMAT_TARGET),
        (rmat(&UNDIRECTED)?, Work::Components, RMAT_TARGET),
    ];
    if let Some(graph) = &options.graph {
        let file = |needs| run_options.wanted(needs).file(&run_options.resources.dir, graph);
        let weighted = Needs { undirected: true, ..WEIGHTED };
        trials.push((file(&weighted)?, Work::Sssp, FILE_TARGET));
        trials.push((file(&weighted)?, Work::Widest, FILE_TARGET));
        trials.push((file(&UNDIRECTED)?, Work::Components, FILE_TARGET));
    }
    Ok(trials)
}

/// Alternates runs without and with.
fn measure(
    options: &Options,
    store: &Store,
    work: Work,
    target: f64,
    table: &mut Table,
    outcome: &mut Outcome,
) -> Result<()> {
    let source = graph::largest_vertex(store)?;
    let expected = work.expected(&arrays::graph(store)?, source);
    let buffer = Buffer::QuarterOf(work.page_bytes(store));
    let mut rounds: Vec<[Finished; 2]> = Vec::new();
    for _ in 0..options.runs {
        let one = |asynchronous| -> Result<Finished> {
            let finished = work.run(&options.run_options.engine(store.path(), buffer, asynchronous)?, source)?;
            work.compare().check(&finished.values, &expected)?;
            Ok(finished)
        };
        rounds.push([one(false)?, one(true)?]);
    }
    let bytes = |finished: &Finished| finished.report.total.disk_bytes as f64;
    let fewer = Spread::over(&rounds, |[without, with]| ratio(bytes(without), bytes(with)));
    let faster = Spread::over(&rounds, |[without, with]| ratio(without.ns, with.ns));
    let graph = graph::name(store);
    for (place, mode) in ["superstep by superstep", "asynchronous"].into_iter().enumerate() {
        let over = |value: fn(&Finished) -> f64| Spread::over(&rounds, |round| value(&round[place]));
        let ratios = if place == 1 { [fewer.into(), faster.into()] } else { ["".into(), "".into()] };
        let [fewer, faster] = ratios;
        table.row(vec![
            graph.as_str().into(),
            work.name().into(),
            mode.into(),
            over(|finished| finished.report.supersteps as f64).into(),
            over(|finished| finished.report.steps.iter().filter(|step| step.disk_bytes > 0).count() as f64).into(),
            over(|finished| finished.report.total.pages as f64).into(),
            over(|finished| finished.report.total.disk_bytes as f64 / 1e6).into(),
            over(|finished| finished.ns / 1e6).into(),
            fewer,
            faster,
        ]);
    }
    outcome.claim(format!("{graph}, {}: bytes without over bytes with", work.name()), Goal::AtLeast, target, fewer);
    Ok(())
}
