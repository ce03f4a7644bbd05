//! Asynchronous relaxation: bytes from disk with and without reprocessing of buffered pages.
//!
//! ```text
//!  grid ───┬─▶ SSSP, widest paths, components, ─┬─▶ superstep by superstep ∥ asynchronous ─▶ bytes, times
//!  R-MAT ──┤   adsorption, residual PageRank   ─┘   (a page buffer of an eighth of what is read; all in memory)
//!  stores ─┘
//! ```

use crate::arrays;
use crate::catalogue::{Finished, Footprint, Needs, UNDIRECTED, WEIGHTED, run as run_on};
use crate::error::Result;
use crate::graph;
use crate::measure::{Spread, ratio};
use crate::outcome::{Goal, Outcome, Table};
use crate::run_options::{Buffer, RunOptions};
use std::path::PathBuf;
use topostream::algorithms::{Averaging, Components, DeltaPageRank, Model, Sssp, Stop, Widest};
use topostream::{Engine, VertexId};
use topostream_formats::{Store, WeightType};
use topostream_oracles::{Compare, Graph, components, sssp, widest};

const EXPECTATION: &str = "on the grid, where a superstep advances one hop and reads most pages for it, asynchronous \
    relaxation reads at most half the bytes from disk for shortest paths, widest paths and components; on R-MAT, which \
    takes few supersteps, at most 1.5 times the bytes. Nowhere does it take more than 1.3 times as long. Answers are \
    equal";
/// Ratio of bytes without to bytes with, on the grid and on R-MAT.
const GRID_TARGET: f64 = 2.0;
const RMAT_TARGET: f64 = 0.67;
/// Ratio of the time with to the time without.
const TIME_TARGET: f64 = 1.3;
/// The tolerance of ranks and of adsorption.
const TOLERANCE: f64 = 1e-4;
/// Adsorption's probabilities.
const INJECT: f64 = 0.25;
const ABANDON: f64 = 0.05;

/// Bytes from disk and times with and without asynchronous relaxation, on a grid, on R-MAT, or over stores
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// The scale of the R-MAT graph of edge factor 16
    #[arg(long, default_value_t = 22, value_parser = clap::value_parser!(u32).range(4..=30))]
    pub scale: u32,
    /// Vertices per side of the grid
    #[arg(long, default_value_t = 2048, value_parser = clap::value_parser!(u64).range(2..=65_535))]
    pub grid: u64,
    /// Stores with integer weights to measure instead; may be repeated
    #[arg(long, value_name = "DIR")]
    pub store: Vec<PathBuf>,
    /// The name of the results of these stores
    #[arg(long, default_value = "stores")]
    pub name: String,
    /// Works to measure; all that a store allows by default
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WORK")]
    pub only: Vec<Work>,
    /// Number of measurements
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: u32,
    #[command(flatten)]
    pub run_options: RunOptions,
}

/// The algorithm to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Work {
    /// Shortest paths
    Sssp,
    /// Widest paths
    Widest,
    /// Components
    Components,
    /// Adsorption
    Adsorption,
    /// Residual PageRank
    Ranks,
}

impl Work {
    /// Those that a store allows.
    fn over(store: &Store) -> Vec<Self> {
        let directed = store.manifest().directed;
        let all = [Self::Sssp, Self::Widest, Self::Components, Self::Adsorption, Self::Ranks];
        all.into_iter().filter(|&work| !directed || work != Self::Components).collect()
    }

    fn name(self) -> &'static str {
        match self {
            Self::Sssp => "SSSP",
            Self::Widest => "widest path",
            Self::Components => "components",
            Self::Adsorption => "adsorption",
            Self::Ranks => "delta PageRank",
        }
    }

    /// Whether fronts are thin on a grid.
    fn expects_fewer(self) -> bool {
        matches!(self, Self::Sssp | Self::Widest | Self::Components)
    }

    /// The answer by other means; `None` if a run with is compared with one without.
    fn expected(self, plain: &Graph, source: VertexId) -> Option<Vec<f64>> {
        match self {
            Self::Sssp => Some(sssp::shortest(&plain.out_lists, source.0)),
            Self::Widest => Some(widest::whole_widths(&plain.out_lists, source.0)),
            Self::Components => Some(components::connected(&plain.out_lists)),
            Self::Adsorption | Self::Ranks => None,
        }
    }

    fn compare(self) -> Compare {
        match self {
            Self::Components => Compare::Groups,
            Self::Adsorption => Compare::Within(TOLERANCE),
            Self::Sssp | Self::Widest | Self::Ranks => Compare::Exact,
        }
    }

    fn run(self, engine: &Engine, source: VertexId) -> Result<Finished> {
        match self {
            Self::Sssp => run_on(engine, Sssp::new(source, WeightType::U32)),
            Self::Widest => run_on(engine, Widest { source, weights: WeightType::U32 }),
            Self::Components => run_on(engine, Components { directed: false }),
            Self::Adsorption => run_on(engine, adsorption(source)),
            Self::Ranks => run_on(engine, DeltaPageRank::default()),
        }
    }

    /// Bytes of the pages that it reads.
    fn page_bytes(self, store: &Store) -> u64 {
        match self {
            Self::Adsorption => Footprint::of(&adsorption(VertexId(0)), store).page_bytes(store, true),
            Self::Ranks => Footprint::of(&DeltaPageRank::default(), store).page_bytes(store, false),
            _ => {
                let of_search = Footprint::of(&Components { directed: false }, store);
                of_search.page_bytes(store, matches!(self, Self::Sssp | Self::Widest))
            }
        }
    }
}

fn adsorption(seed: VertexId) -> Averaging {
    let model = Model::Adsorption { inject: INJECT, abandon: ABANDON, seeds: vec![seed] };
    let stop = Stop::Tolerance { l1: TOLERANCE, iterations_max: 1000 };
    Averaging { model, weights: Some(WeightType::U32), stop }
}

/// A store, the work over it, and the target ratio of bytes, if there is one.
type Trial = (Store, Work, Option<f64>);

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(options: &Options) -> Result<()> {
    eprintln!("expected: {EXPECTATION}");
    let Options { run_options, scale, grid, .. } = options;
    let mut outcome = Outcome::new("asynchronous", EXPECTATION);
    outcome.verified(
        "every run: all values equal to those of one thread over arrays in memory (Dijkstra's way), components the \
        same sets of vertices (union-find); ranks equal to those without, adsorption within 1e-4",
    );
    outcome.notes.push(format!(
        "{}, {} threads; an eighth: reads with O_DIRECT, an empty page buffer at the start, of an eighth of the pages \
         that are read, and no pages in a device's memory; all: all pages in memory, from a run before",
        run_options.device_name(),
        run_options.resources.threads()
    ));
    let columns = [
        "graph",
        "work",
        "buffer",
        "mode",
        "supersteps",
        "of them from disk",
        "pages processed",
        "M changes",
        "M edge visits",
        "read MB",
        "ms",
        "bytes without over with",
        "time without over with",
    ];
    let mut table = Table::new("With and without asynchronous relaxation", &columns);
    let is_asked = |work: &Work| options.only.is_empty() || options.only.contains(work);
    for (store, work, target) in trials(options)?.into_iter().filter(|(_, work, _)| is_asked(work)) {
        for buffer in [Buffer::EighthOf(work.page_bytes(&store)), Buffer::All] {
            measure(options, &store, (work, buffer, target), &mut table, &mut outcome)
                .map_err(|error| format!("{}, {}: {error}", graph::name(&store), work.name()))?;
        }
    }
    outcome.tables.push(table);
    let what = if options.store.is_empty() { format!("{scale}-{grid}") } else { options.name.clone() };
    let file = format!("asynchronous-{what}-{}.json", run_options.device_name());
    outcome.publish(Some(&run_options.resources.results.join(file)))
}

/// What is measured.
fn trials(options: &Options) -> Result<Vec<Trial>> {
    let Options { run_options, scale, grid, .. } = options;
    let mut trials = Vec::new();
    for path in &options.store {
        let works = Work::over(&Store::open(path)?);
        trials.extend(works.into_iter().map(|work| Ok((Store::open(path)?, work, None))).collect::<Result<Vec<_>>>()?);
    }
    if !options.store.is_empty() {
        return Ok(trials);
    }
    // The grid's edges are given once, and are mirrored.
    let weighted = Needs { weights: WEIGHTED.weights, undirected: false, distinct: false, ..UNDIRECTED };
    let grid = || run_options.wanted(&weighted).grid(&run_options.resources.dir, *grid);
    let rmat = |needs| run_options.wanted(needs).rmat(&run_options.resources.dir, *scale);
    for work in Work::over(&grid()?) {
        trials.push((grid()?, work, Some(GRID_TARGET).filter(|_| work.expects_fewer())));
    }
    for work in [Work::Sssp, Work::Widest, Work::Adsorption, Work::Ranks] {
        trials.push((rmat(&WEIGHTED)?, work, Some(RMAT_TARGET)));
    }
    trials.push((rmat(&UNDIRECTED)?, Work::Components, Some(RMAT_TARGET)));
    Ok(trials)
}

/// Alternates runs without and with.
fn measure(
    options: &Options,
    store: &Store,
    (work, buffer, target): (Work, Buffer, Option<f64>),
    table: &mut Table,
    outcome: &mut Outcome,
) -> Result<()> {
    let source = graph::largest_vertex(store)?;
    let mut expected = work.expected(&arrays::graph(store)?, source);
    let open = |asynchronous| options.run_options.engine(store.path(), buffer, asynchronous);
    let mut one = |engine: &Engine| -> Result<Finished> {
        let finished = work.run(engine, source)?;
        work.compare().check(&finished.values, expected.get_or_insert_with(|| finished.values.clone()))?;
        Ok(finished)
    };
    let mut rounds: Vec<[Finished; 2]> = Vec::new();
    if buffer == Buffer::All {
        let engines = [open(false)?, open(true)?];
        for engine in &engines {
            one(engine)?;
        }
        for _ in 0..options.runs {
            rounds.push([one(&engines[0])?, one(&engines[1])?]);
        }
    } else {
        for _ in 0..options.runs {
            rounds.push([one(&open(false)?)?, one(&open(true)?)?]);
        }
    }
    let bytes = |finished: &Finished| finished.report.total.disk_bytes as f64;
    let fewer = Spread::over(&rounds, |[without, with]| ratio(bytes(without), bytes(with)));
    let faster = Spread::over(&rounds, |[without, with]| ratio(without.ns, with.ns));
    let longer = Spread::over(&rounds, |[without, with]| ratio(with.ns, without.ns));
    let graph = graph::name(store);
    let room = if buffer == Buffer::All { "all" } else { "an eighth" };
    for (place, mode) in ["superstep by superstep", "asynchronous"].into_iter().enumerate() {
        let over = |value: fn(&Finished) -> f64| Spread::over(&rounds, |round| value(&round[place]));
        let ratios = if place == 1 { [fewer.into(), faster.into()] } else { ["".into(), "".into()] };
        let [fewer, faster] = ratios;
        table.row(vec![
            graph.as_str().into(),
            work.name().into(),
            room.into(),
            mode.into(),
            over(|finished| finished.report.supersteps as f64).into(),
            over(|finished| finished.report.steps.iter().filter(|step| step.disk_bytes > 0).count() as f64).into(),
            over(|finished| finished.report.total.pages as f64).into(),
            over(|finished| finished.report.total.changed as f64 / 1e6).into(),
            over(|finished| finished.report.total.edges as f64 / 1e6).into(),
            over(|finished| finished.report.total.disk_bytes as f64 / 1e6).into(),
            over(|finished| finished.ns / 1e6).into(),
            fewer,
            faster,
        ]);
    }
    let what = format!("{graph}, {}, {room} in memory", work.name());
    if let Some(target) = target.filter(|_| buffer != Buffer::All) {
        outcome.claim(format!("{what}: bytes without over bytes with"), Goal::AtLeast, target, fewer);
    }
    outcome.claim(format!("{what}: time with over time without"), Goal::AtMost, TIME_TARGET, longer);
    Ok(())
}
