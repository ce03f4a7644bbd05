//! The engine with all pages buffered, compared with plain arrays: without a disk, the cost of paging shows.

use crate::answers::{
    BFS_CHECK, COMPONENTS_CHECK, ComponentCheck, PAGERANK_CHECK, TRIANGLES_CHECK, check_coefficients,
};
use crate::error::Result;
use crate::graph::{self, Order, Wanted};
use crate::measure::{Spread, ratio, timed};
use crate::options::Common;
use crate::outcome::{Goal, Outcome, Table};
use crate::peers::gap::Gap;
use crate::runs::{Arrays, Expected, Measured, Work, engine};
use std::path::PathBuf;
use topostream::Engine;
use topostream::algorithms::{Clustering, UnionFind};
use topostream_formats::encoding::PLAIN_PAGES;
use topostream_formats::{Direction, Encoding};
use topostream_oracles::clustering::coefficients;
use topostream_oracles::components::connected;

const EXPECTATION: &str = "with every page buffered, two threads do an iteration of PageRank (pull) and a top-down \
    BFS at least 1.7 times as fast as one thread over plain arrays in memory; on the same graph, PageRank, \
    direction-optimizing BFS and components have at least half of GAP's speed with as many threads";
const BASELINE_TARGET: f64 = 1.7;
const GAP_TARGET: f64 = 0.5;
const ITERATIONS: u32 = 4;

/// All pages buffered: compared with one thread over plain arrays, and with GAP
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// The scale of the R-MAT graph of edge factor 16
    #[arg(long, default_value_t = 22)]
    pub scale: u32,
    /// The directory with GAP's `pr_spmv`, `bfs`, `cc` and `tc` (source: <https://github.com/sbeamer/gapbs>)
    #[arg(long, value_name = "DIR", requires = "graph")]
    pub gapbs: Option<PathBuf>,
    /// A graph in GAP's serialized format, instead of the R-MAT graph
    #[arg(long, value_name = "FILE.sg")]
    pub graph: Option<PathBuf>,
    /// Run only these, separated by commas: triangles take far longer than the others
    #[arg(long, value_delimiter = ',', value_name = "WORK")]
    pub only: Vec<Name>,
    /// Plain pages in natural order, instead of packed ones in the order that a sample chooses, as `topostream format`
    /// makes them
    #[arg(long)]
    pub plain: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// What can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Name {
    /// An iteration of PageRank
    Pagerank,
    /// Searches, top-down and in both ways
    Bfs,
    /// Connected components
    Components,
    /// Triangles of each vertex, of an undirected graph without repeated edges
    Triangles,
}

/// A row of the table.
#[derive(Clone, Copy)]
enum Task {
    Run(Work),
    /// Connected components by union-find.
    Components,
    /// Triangles and coefficients, with the table of neighbours that they take; GAP counts those of the whole graph.
    Triangles,
}

impl Task {
    fn of(name: Name, source: u32) -> Vec<Self> {
        let bfs = |bottom_up| Self::Run(Work::Bfs { source, bottom_up });
        match name {
            Name::Pagerank => vec![Self::Run(Work::PageRank { iterations: ITERATIONS })],
            Name::Bfs => vec![bfs(false), bfs(true)],
            Name::Components => vec![Self::Components],
            Name::Triangles => vec![Self::Triangles],
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Run(work) => work.name(),
            Self::Components => "components",
            Self::Triangles => "triangles",
        }
    }
}

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(options: &Options) -> Result<Outcome> {
    let mut outcome = Outcome::new("buffered", EXPECTATION);
    let names = match &options.only[..] {
        [] => &[Name::Pagerank, Name::Bfs, Name::Components],
        only => only,
    };
    for name in names {
        outcome.verified(match name {
            Name::Pagerank => PAGERANK_CHECK,
            Name::Bfs => BFS_CHECK,
            Name::Components => COMPONENTS_CHECK,
            Name::Triangles => TRIANGLES_CHECK,
        });
    }
    let (common, plain) = (&options.common, options.common.wanted());
    let wanted = match options.plain {
        true => plain,
        false => {
            let (encoding, order) = (Encoding::packed(plain.page_bytes, PLAIN_PAGES)?, Order::Auto);
            Wanted { encoding, order, ..plain }
        }
    };
    let store = match &options.graph {
        Some(file) => wanted.file(&common.dir, file)?,
        None => wanted.rmat(&common.dir, options.scale)?,
    };
    let threads = common.threads.unwrap_or(2);
    let (arrays, source) = (Arrays::read(&store)?, graph::largest_vertex(&store)?);
    let engines = [engine(store.path(), None, threads)?, engine(store.path(), None, 1)?];
    let gap = options.gapbs.as_ref().zip(options.graph.as_ref()).map(|(folder, file)| Gap::new(folder, file, threads));
    let columns = [
        "work",
        "ms",
        "M edges/s",
        "one of our threads ms",
        "one thread over arrays ms",
        "speed-up",
        "GAP ms",
        "speed of GAP's",
    ];
    let mut table = Table::new(format!("{}, {threads} threads", graph::name(&store)), &columns);
    let expected = Expected::new(&arrays.out_lists, ITERATIONS, source);
    let components = ComponentCheck::new(&arrays.out_lists);
    // GAP has the vertices as they are in the file.
    let source_id = store.ids()?.id(source)?.to_string();
    let (gap, triangles) = (gap.as_ref(), None);
    let mut trial = Trial { engines: &engines, arrays: &arrays, gap, source_id, expected, components, triangles };
    for task in names.iter().flat_map(|&name| Task::of(name, source.0)) {
        engines.iter().try_for_each(|engine| trial.measure(task, engine).map(drop))?;
        let rounds = (0..common.runs).map(|_| trial.round(task)).collect::<Result<Vec<_>>>()?;
        record(task, &rounds, &mut table, &mut outcome);
    }
    outcome.tables.push(table);
    Ok(outcome)
}

/// What rounds need.
struct Trial<'a> {
    engines: &'a [Engine; 2],
    arrays: &'a Arrays,
    gap: Option<&'a Gap>,
    source_id: String,
    expected: Expected,
    components: ComponentCheck,
    /// The coefficients by plain loops, once they have been found.
    triangles: Option<Vec<f64>>,
}

struct Round {
    ours: Measured,
    one_thread: Measured,
    baseline_ns: f64,
    gap_ns: Option<f64>,
}

impl Trial<'_> {
    fn round(&mut self, task: Task) -> Result<Round> {
        let engines = self.engines;
        let baseline_ns = match task {
            Task::Run(work) => work.baseline_ns(self.arrays),
            Task::Components => timed(|| connected(&self.arrays.out_lists)).0.as_nanos() as f64,
            Task::Triangles => {
                let (time, found) = timed(|| coefficients(&self.arrays.out_lists));
                self.triangles = Some(found);
                time.as_nanos() as f64
            }
        };
        let (ours, one_thread) = (self.measure(task, &engines[0])?, self.measure(task, &engines[1])?);
        if ours.disk_bytes > 0.0 {
            return Err(format!("{}: pages were read with everything buffered", task.name()).into());
        }
        let gap_ns = self.gap.map(|gap| match task {
            Task::Run(Work::PageRank { .. }) => gap.pagerank_ns("pr_spmv"),
            Task::Run(Work::Bfs { .. }) => gap.bfs_ns(&self.source_id),
            Task::Components => gap.components_ns(),
            Task::Triangles => gap.triangles_ns(),
        });
        let gap_ns = gap_ns.transpose()?.map(|trials| Spread::of(&trials).median);
        Ok(Round { ours, one_thread, baseline_ns, gap_ns })
    }

    /// Runs it, and checks the answer.
    fn measure(&mut self, task: Task, engine: &Engine) -> Result<Measured> {
        match task {
            Task::Run(work) => Ok(work.measured(&work.run(engine, &mut self.expected)?)),
            Task::Components => {
                let store = engine.store();
                let in_lists = store.topology(Direction::In).is_some();
                let run = engine.run(UnionFind::new(store.manifest().directed, in_lists))?;
                self.components.check(&run)?;
                Ok(Measured::of_run(&run.report))
            }
            Task::Triangles => {
                let (time, run) = timed(|| Clustering::run(engine, None, &mut |_| {}));
                let run = run?;
                let expected = self.triangles.get_or_insert_with(|| coefficients(&self.arrays.out_lists));
                check_coefficients(&run, expected)?;
                Ok(Measured { ns: time.as_nanos() as f64, ..Measured::of_run(&run.report) })
            }
        }
    }
}

fn record(task: Task, rounds: &[Round], table: &mut Table, outcome: &mut Outcome) {
    let over = |value: fn(&Round) -> f64| Spread::over(rounds, value);
    let speed_up = over(|round| ratio(round.baseline_ns, round.ours.ns));
    let with_gap: Vec<(f64, f64)> = rounds.iter().filter_map(|round| Some((round.gap_ns?, round.ours.ns))).collect();
    let of_gap = Spread::over(&with_gap, |(gap, ours)| ratio(*gap, *ours));
    table.row(vec![
        task.name().into(),
        over(|round| round.ours.ns / 1e6).into(),
        over(|round| ratio(1e3 * round.ours.edges, round.ours.ns)).into(),
        over(|round| round.one_thread.ns / 1e6).into(),
        over(|round| round.baseline_ns / 1e6).into(),
        speed_up.into(),
        Spread::over(&with_gap, |(gap, _)| gap / 1e6).into(),
        of_gap.into(),
    ]);
    if matches!(task, Task::Run(Work::PageRank { .. } | Work::Bfs { bottom_up: false, .. })) {
        outcome.claim(format!("{}: speed-up over one thread", task.name()), Goal::AtLeast, BASELINE_TARGET, speed_up);
    }
    if of_gap.runs > 0 && !matches!(task, Task::Run(Work::Bfs { bottom_up: false, .. })) {
        outcome.claim(format!("{}: speed of GAP's", task.name()), Goal::AtLeast, GAP_TARGET, of_gap);
    }
}
