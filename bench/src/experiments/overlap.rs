//! Overlap of reading and computing: a run with a small page buffer compared with the slower of reading alone and
//! computing alone.

use crate::answers::{BFS_CHECK, PAGERANK_CHECK};
use crate::error::Result;
use crate::graph;
use crate::measure::{Spread, ratio};
use crate::options::Common;
use crate::outcome::{Cell, Goal, Outcome, Table};
use crate::raw::{self, RawRead};
use crate::runs::{Arrays, Expected, Measured, Work, engine};
use std::path::{Path, PathBuf};
use topostream::Engine;
use topostream::pages::memory::FRAMES_MIN;
use topostream::report::RunReport;
use topostream_formats::{Direction, Store};

const EXPECTATION: &str = "with a page buffer of a quarter of one topology's pages, an iteration of PageRank and a \
    BFS take at most 1.10 times the longer of (a) raw O_DIRECT reads of the same bytes at the best queue depth and \
    (b) the same work with every page buffered";
const TARGET: f64 = 1.10;
/// Iterations of a PageRank run; the first fills the page buffer and is not counted.
const ITERATIONS: u32 = 4;

/// Overlap of reading and computing, compared with raw reads and with everything buffered
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// A store with in-lists, instead of R-MAT graphs
    #[arg(long, value_name = "DIR", conflicts_with = "scale")]
    pub store: Option<PathBuf>,
    /// The scales of R-MAT graphs of edge factor 16
    #[arg(long, value_delimiter = ',', default_values_t = [22, 23, 24])]
    pub scale: Vec<u32>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(options: &Options) -> Result<Outcome> {
    let mut outcome = Outcome::new("overlap", EXPECTATION);
    outcome.verified(PAGERANK_CHECK);
    outcome.verified(BFS_CHECK);
    outcome
        .notes
        .push(format!("{} threads; BFS starts at the vertex with the most out-edges", options.common.threads()));
    let columns = [
        "graph",
        "work",
        "streamed ms",
        "read MB",
        "hit rate",
        "GB/s",
        "raw ms",
        "buffered ms",
        "ratio",
        "checks' share",
        "one thread in memory ms",
    ];
    let mut table = Table::new("Overlap", &columns);
    let stores = match &options.store {
        Some(path) => vec![Store::open(path)?],
        None => {
            let wanted = options.common.wanted();
            let make = |&scale: &u32| wanted.rmat(&options.common.dir, scale);
            options.scale.iter().map(make).collect::<Result<Vec<_>>>()?
        }
    };
    for store in stores {
        one_graph(&store, &options.common, &mut table, &mut outcome)?;
    }
    outcome.tables.push(table);
    Ok(outcome)
}

/// The shared state of all rounds on a graph.
struct Fixture<'a> {
    path: &'a Path,
    buffer_bytes: u64,
    threads: usize,
    best: RawRead,
    files: Vec<PathBuf>,
    arrays: Arrays,
    buffered: Engine,
}

/// One round.
struct Round {
    streamed: Measured,
    buffered: Measured,
    raw_ns: f64,
    baseline_ns: f64,
    report: RunReport,
}

impl Round {
    fn ratio(&self) -> f64 {
        ratio(self.streamed.ns, self.raw_ns.max(self.buffered.ns))
    }
}

fn one_graph(store: &Store, common: &Common, table: &mut Table, outcome: &mut Outcome) -> Result<()> {
    let arrays = Arrays::read(store)?;
    let source = graph::largest_vertex(store)?;
    let mut expected = Expected::new(&arrays.out_lists, ITERATIONS, source);
    let pages = store.topology(Direction::In).map_or(0, |topology| topology.page_count());
    let page_bytes = store.manifest().page_bytes;
    let files = graph::page_files(store, Direction::In);
    let (path, threads) = (store.path(), common.threads());
    let fixture = Fixture {
        path,
        buffer_bytes: u64::from((pages / 4).max(FRAMES_MIN)) * u64::from(page_bytes),
        threads,
        best: raw::best(&files, page_bytes as usize)?,
        files,
        arrays,
        buffered: engine(path, None, threads)?,
    };
    let graph = graph::name(store);
    outcome.notes.push(fixture.best.note(&graph));
    let bfs = |bottom_up| Work::Bfs { source: source.0, bottom_up };
    for work in [Work::PageRank { iterations: ITERATIONS }, bfs(false), bfs(true)] {
        work.run(&fixture.buffered, &mut expected)?;
        let rounds: Vec<Round> =
            (0..common.runs).map(|_| round(work, &fixture, &mut expected)).collect::<Result<_>>()?;
        table.row(row(&graph, work, &rounds));
        let ratios = Spread::over(&rounds, Round::ratio);
        outcome.claim(format!("{graph}, {}", work.name()), Goal::AtMost, TARGET, ratios);
        rounds.last().iter().for_each(|last| outcome.report(format!("{graph}, {}", work.name()), &last.report));
    }
    Ok(())
}

fn round(work: Work, fixture: &Fixture<'_>, expected: &mut Expected) -> Result<Round> {
    let raw = raw::read(&fixture.files, fixture.best.shape)?;
    let streaming = engine(fixture.path, Some(fixture.buffer_bytes), fixture.threads)?;
    let report = work.run(&streaming, expected)?;
    drop(streaming);
    let streamed = work.measured(&report);
    let buffered = work.measured(&work.run(&fixture.buffered, expected)?);
    if buffered.disk_bytes > 0.0 {
        return Err(format!("{}: {} bytes were read with everything buffered", work.name(), buffered.disk_bytes).into());
    }
    let baseline_ns = work.baseline_ns(&fixture.arrays);
    Ok(Round { streamed, buffered, raw_ns: raw.ns_of(streamed.disk_bytes as u64), baseline_ns, report })
}

fn row(graph: &str, work: Work, rounds: &[Round]) -> Vec<Cell> {
    let over = |value: fn(&Round) -> f64| Cell::from(Spread::over(rounds, value));
    vec![
        graph.into(),
        work.name().into(),
        over(|round| round.streamed.ns / 1e6),
        over(|round| round.streamed.disk_bytes / 1e6),
        over(|round| round.streamed.hit_rate),
        over(|round| ratio(round.streamed.disk_bytes, round.streamed.ns)),
        over(|round| round.raw_ns / 1e6),
        over(|round| round.buffered.ns / 1e6),
        over(Round::ratio),
        over(|round| round.streamed.check_share),
        over(|round| round.baseline_ns / 1e6),
    ]
}
