//! The cost of writing checkpoints.
//!
//! ```text
//!  R-MAT ─▶ PageRank, search, ─▶ without ∥ with a checkpoint ─▶ answers compared ─▶ time of one
//!           components           every few supersteps                              over a minute
//! ```

use crate::catalogue::{AS_GIVEN, Finished, Needs, UNDIRECTED, run as run_on};
use crate::error::Result;
use crate::graph;
use crate::measure::{Spread, ratio};
use crate::outcome::{Goal, Outcome, Table};
use crate::run_options::{Buffer, RunOptions};
use std::sync::Arc;
use topostream::algorithms::{Bfs, Components, PageRank, Stop};
use topostream::checkpoint::{Checkpoints, Every};
use topostream::{Engine, Store};

const EXPECTATION: &str = "one checkpoint a minute costs at most 3% of the time, measured by the time of writing until \
    the file is on disk, and by the difference between runs with and without checkpoints";
/// Share of a minute.
const SHARE_TARGET: f64 = 0.03;
const MINUTE_NS: f64 = 60e9;

/// Runs with a checkpoint every few supersteps, and without
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// The scale of the R-MAT graph of edge factor 16
    #[arg(long, default_value_t = 22, value_parser = clap::value_parser!(u32).range(4..=30))]
    pub scale: u32,
    /// Iterations of PageRank
    #[arg(long, default_value_t = 20)]
    pub iterations: u32,
    /// Number of supersteps between checkpoints
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..))]
    pub every: u64,
    /// Number of measurements
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: u32,
    #[command(flatten)]
    pub run_options: RunOptions,
}

/// The algorithm to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    PageRank,
    Search,
    Components,
}

impl Work {
    fn name(self) -> &'static str {
        match self {
            Self::PageRank => "PageRank",
            Self::Search => "BFS",
            Self::Components => "components",
        }
    }

    fn needs(self) -> Needs {
        if self == Self::Components { UNDIRECTED } else { AS_GIVEN }
    }

    fn run(self, engine: &Engine, iterations: u32) -> Result<Finished> {
        match self {
            Self::PageRank => run_on(engine, PageRank { stop: Stop::Iterations(iterations), ..PageRank::default() }),
            Self::Search => run_on(engine, Bfs::from(graph::largest_vertex(engine.store())?)),
            Self::Components => run_on(engine, Components { directed: engine.store().manifest().directed }),
        }
    }
}

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(options: &Options) -> Result<()> {
    eprintln!("expected: {EXPECTATION}");
    let run_options = &options.run_options;
    let mut outcome = Outcome::new("checkpoint", EXPECTATION);
    outcome.verified("every run with checkpoints: the same bits as without");
    outcome.notes.push(format!(
        "{}, {} threads; an empty page buffer at the start, of a quarter of the pages; a checkpoint every {} \
         supersteps, synced to the disk of the stores",
        run_options.device_name(),
        run_options.resources.threads(),
        options.every
    ));
    let columns = [
        "work",
        "vertices",
        "checkpoints",
        "MB each",
        "ms each",
        "GB/s",
        "run ms without",
        "run ms with",
        "% of a minute, by writing",
        "% of a minute, by runs",
    ];
    let mut table = Table::new("With and without checkpoints", &columns);
    for work in [Work::PageRank, Work::Search, Work::Components] {
        let store = run_options.wanted(&work.needs()).rmat(&run_options.resources.dir, options.scale)?;
        measure(options, &store, work, &mut table, &mut outcome)
            .map_err(|error| format!("{}: {error}", work.name()))?;
    }
    outcome.tables.push(table);
    let file = format!("checkpoint-{}-{}.json", options.scale, run_options.device_name());
    outcome.publish(Some(&run_options.resources.results.join(file)))
}

/// Alternates runs without and with.
fn measure(options: &Options, store: &Store, work: Work, table: &mut Table, outcome: &mut Outcome) -> Result<()> {
    let page_bytes =
        store.topologies().map(|lists| u64::from(lists.page_count()) * u64::from(lists.page_bytes())).sum();
    let folder = options.run_options.resources.dir.join("checkpoints");
    let one = |with: bool| -> Result<Finished> {
        let engine = options.run_options.engine(store.path(), Buffer::QuarterOf(page_bytes), false)?;
        if !with {
            return work.run(&engine, options.iterations);
        }
        let checkpoints = Arc::new(Checkpoints::open(&folder, Every::Supersteps(options.every), false, |_| {})?);
        let with = engine.options().clone().with_checkpoints(Some(Arc::clone(&checkpoints)));
        let finished = work.run(&Engine::new(Store::open(store.path())?, with), options.iterations);
        checkpoints.clear()?;
        finished
    };
    let mut rounds: Vec<[Finished; 2]> = Vec::new();
    for _ in 0..options.runs {
        let round = [one(false)?, one(true)?];
        let bits = |finished: &Finished| finished.values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        if bits(&round[0]) != bits(&round[1]) {
            return Err("other answers with checkpoints".into());
        }
        rounds.push(round);
    }
    let report = |round: &[Finished; 2]| round[1].report.checkpoints.clone().unwrap_or_default();
    let over = |value: &dyn Fn(&[Finished; 2]) -> f64| Spread::over(&rounds, value);
    let each = |round: &[Finished; 2], ns: f64| ratio(ns, report(round).written as f64);
    let by_writing = |round: &[Finished; 2]| each(round, report(round).ns as f64) / MINUTE_NS;
    let by_runs = |round: &[Finished; 2]| each(round, round[1].ns - round[0].ns) / MINUTE_NS;
    table.row(vec![
        work.name().into(),
        (store.vertices() as f64).into(),
        over(&|round| report(round).written as f64).into(),
        over(&|round| each(round, report(round).bytes as f64) / 1e6).into(),
        over(&|round| each(round, report(round).ns as f64) / 1e6).into(),
        over(&|round| ratio(report(round).bytes as f64, report(round).ns as f64)).into(),
        over(&|round| round[0].ns / 1e6).into(),
        over(&|round| round[1].ns / 1e6).into(),
        over(&|round| 100.0 * by_writing(round)).into(),
        over(&|round| 100.0 * by_runs(round)).into(),
    ]);
    for (how, share) in [("by the time of writing", over(&by_writing)), ("by the time of runs", over(&by_runs))] {
        outcome.claim(
            format!("{}, one a minute, {how}: part of the time", work.name()),
            Goal::AtMost,
            SHARE_TARGET,
            share,
        );
    }
    Ok(())
}
