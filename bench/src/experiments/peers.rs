//! Comparison with other engines on the same graph and disk, with page buffers of the same size.
//!
//! A peer's time is what it reports for its algorithm, without loading; ours is that of the run report.

use crate::answers::{BFS_CHECK, PAGERANK_CHECK};
use crate::arrays;
use crate::error::Result;
use crate::graph;
use crate::measure::{Spread, ratio};
use crate::options::{Common, size};
use crate::outcome::{Cell, Goal, Outcome, Table};
use crate::peers::acgraph::AcGraph;
use crate::peers::gap::Gap;
use crate::peers::gridgraph::GridGraph;
use crate::peers::process::Launch;
use crate::peers::{Peer, Told};
use crate::runs::{Expected, Work, engine};
use std::path::PathBuf;
use topostream_formats::{Direction, Store, VertexId};

const EXPECTATION: &str = "with a page buffer of 128 MiB for all engines, BFS and a pass of PageRank are at least \
    twice as fast as the best of the engines that read from disk";
const TARGET: f64 = 2.0;
const ITERATIONS: u32 = 10;

/// Comparison with other engines on the same graph
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// The graph in GAP's serialized format, from which our store is made
    #[arg(long, value_name = "FILE.sg")]
    pub graph: PathBuf,
    /// ACGraph's directory, with `build/bfs` and `build/pr` (source: <https://github.com/CUHK-DBGroup/ACGraph>)
    #[arg(long, value_name = "DIR", requires = "acgraph_data")]
    pub acgraph: Option<PathBuf>,
    /// The graph in ACGraph's format
    #[arg(long, value_name = "DIR")]
    pub acgraph_data: Option<PathBuf>,
    /// GridGraph's directory, with `bin/bfs` and `bin/pagerank` (source: <https://github.com/thu-pacman/GridGraph>;
    /// it takes memory in whole GiB unless its `atol` is made an `atof`)
    #[arg(long, value_name = "DIR", requires = "gridgraph_data")]
    pub gridgraph: Option<PathBuf>,
    /// The graph in GridGraph's format
    #[arg(long, value_name = "DIR")]
    pub gridgraph_data: Option<PathBuf>,
    /// GAP's directory, with `bfs`, `pr` and `pr_spmv` (source: <https://github.com/sbeamer/gapbs>)
    #[arg(long, value_name = "DIR")]
    pub gapbs: Option<PathBuf>,
    /// Sources of searches [default: the vertex with the most edges]
    #[arg(long, value_delimiter = ',')]
    pub source: Vec<u32>,
    /// The page buffer of every engine
    #[arg(long, value_name = "SIZE", default_value = "128MiB", value_parser = size)]
    pub buffer: u64,
    /// Leave the system's page cache as it is
    #[arg(long)]
    pub keep_page_cache: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(options: &Options) -> Result<Outcome> {
    let mut outcome = Outcome::new("peers", EXPECTATION);
    outcome.verified(PAGERANK_CHECK);
    outcome.verified(format!("{BFS_CHECK}; peers that report it must reach as many vertices"));
    let store = options.common.wanted().file(&options.common.dir, &options.graph)?;
    let launch = Launch::new(!options.keep_page_cache);
    outcome.notes.push(launch.note());
    outcome.notes.push(format!("{} threads, except that GridGraph uses all cores; {NOTE}", threads(options)));
    let peers = peers(options);
    let sources = match options.source[..] {
        [] => vec![graph::largest_vertex(&store)?.0],
        ref given => given.to_vec(),
    };
    let columns = ["work", "engine", "ms", "M edges/s", "read MB", "M edges looked at", "our speed over its"];
    let mut table = Table::new(graph::name(&store), &columns);
    let out_lists = arrays::lists(&store, Direction::Out)?;
    let bfs = sources.iter().map(|&source| Work::Bfs { source, bottom_up: true });
    for work in bfs.chain([Work::PageRank { iterations: ITERATIONS }]) {
        let source = if let Work::Bfs { source, .. } = work { source } else { sources[0] };
        let iterations = if let Work::PageRank { iterations } = work { iterations } else { 0 };
        let mut expected = Expected::new(&out_lists, iterations, VertexId(source));
        let contest = Contest { store: &store, work, peers: &peers, launch: &launch, options };
        let rounds = (0..options.common.runs).map(|_| contest.round(&mut expected)).collect::<Result<Vec<_>>>()?;
        contest.record(&rounds, &mut table, &mut outcome);
    }
    outcome.tables.push(table);
    Ok(outcome)
}

const NOTE: &str = "ours: whole runs from an empty page buffer, BFS direction-optimizing, PageRank ten iterations \
    over ten, so that later ones find a part of the pages buffered, dangling rank spread; ACGraph: its buffer is for \
    edge blocks alone, PageRank is one asynchronous pass that pushes residuals; GridGraph: ten passes over ten \
    without counting degrees; GAP: everything in memory, so it is shown but does not compete; M edges/s: for BFS the \
    edges of the part that is reached, for PageRank all";

/// The threads of every engine: two by default.
fn threads(options: &Options) -> usize {
    options.common.threads.unwrap_or(2)
}

fn peers(options: &Options) -> Vec<Box<dyn Peer>> {
    let threads = threads(options);
    let mut peers: Vec<Box<dyn Peer>> = Vec::new();
    if let (Some(folder), Some(data)) = (&options.acgraph, &options.acgraph_data) {
        peers.push(Box::new(AcGraph::new(folder, data, threads, options.buffer)));
    }
    if let (Some(folder), Some(data)) = (&options.gridgraph, &options.gridgraph_data) {
        peers.push(Box::new(GridGraph::new(folder, data, options.buffer, ITERATIONS)));
    }
    if let Some(folder) = &options.gapbs {
        peers.push(Box::new(Gap::new(folder, &options.graph, threads)));
    }
    peers
}

/// One kind of work, done by all engines.
struct Contest<'a> {
    store: &'a Store,
    work: Work,
    peers: &'a [Box<dyn Peer>],
    launch: &'a Launch,
    options: &'a Options,
}

/// The figures of our engine and then of each peer, and the number of edges for rates.
struct Round {
    told: Vec<Told>,
    edges: f64,
    report: topostream::report::RunReport,
}

impl Contest<'_> {
    fn round(&self, expected: &mut Expected) -> Result<Round> {
        let reached = expected.reached();
        self.launch.cold();
        let engine = engine(self.store.path(), Some(self.options.buffer), threads(self.options))?;
        let report = self.work.run(&engine, expected)?;
        drop(engine);
        let parts = if let Work::PageRank { iterations } = self.work { f64::from(iterations) } else { 1.0 };
        let ours = Told {
            ns: report.wall_ns as f64 / parts,
            disk_bytes: Some(report.total.disk_bytes as f64 / parts),
            edges: Some(report.total.edges as f64 / parts),
            reached: Some(reached),
        };
        let edges = report.traversed_edges.unwrap_or(self.store.edges()) as f64;
        let mut told = vec![ours];
        for peer in self.peers {
            told.push(self.peer(&**peer, reached)?);
        }
        Ok(Round { told, edges, report })
    }

    fn peer(&self, peer: &dyn Peer, reached: u64) -> Result<Told> {
        let told = match self.work {
            Work::Bfs { source, .. } => peer.bfs(self.launch, source)?,
            Work::PageRank { .. } => peer.pagerank(self.launch)?,
        };
        match told.reached {
            Some(found) if found != reached => {
                Err(format!("{} reaches {found} vertices, not {reached}", peer.name()).into())
            }
            _ => Ok(told),
        }
    }

    fn record(&self, rounds: &[Round], table: &mut Table, outcome: &mut Outcome) {
        let work = match self.work {
            Work::Bfs { source, .. } => format!("BFS from {source}"),
            Work::PageRank { .. } => "PageRank pass".into(),
        };
        let names = std::iter::once("topostream").chain(self.peers.iter().map(|peer| peer.name()));
        for (place, name) in names.enumerate() {
            let over = |value: &dyn Fn(&Round) -> f64| Cell::from(Spread::over(rounds, value));
            let told = |value: &dyn Fn(&Told) -> Option<f64>| {
                let values: Vec<f64> = rounds.iter().filter_map(|round| value(&round.told[place])).collect();
                Cell::from(Spread::over(&values, |value| value / 1e6))
            };
            table.row(vec![
                work.as_str().into(),
                name.into(),
                over(&|round| round.told[place].ns / 1e6),
                over(&|round| ratio(1e3 * round.edges, round.told[place].ns)),
                told(&|told| told.disk_bytes),
                told(&|told| told.edges),
                over(&|round| ratio(round.told[place].ns, round.told[0].ns)),
            ]);
        }
        rounds.last().iter().for_each(|last| outcome.report(work.as_str(), &last.report));
        let rivals: Vec<usize> = (0..self.peers.len()).filter(|&peer| self.peers[peer].is_out_of_core()).collect();
        if rivals.is_empty() {
            return;
        }
        let best = |round: &Round| rivals.iter().map(|&peer| round.told[peer + 1].ns).fold(f64::INFINITY, f64::min);
        let speed = Spread::over(rounds, |round| ratio(best(round), round.told[0].ns));
        outcome.claim(format!("{work}: speed over the best peer's"), Goal::AtLeast, TARGET, speed);
    }
}
