//! The engine with all pages buffered, compared with one thread over plain arrays and with GAP: without a disk, the
//! cost of paging shows.

use crate::answers::{
    BFS_CHECK, COMPONENTS_CHECK, ComponentCheck, PAGERANK_CHECK, ROWS_CHECK, TRIANGLES_CHECK, check_coefficients,
};
use crate::arrays;
use crate::catalogue::{Row, UNDIRECTED};
use crate::error::Result;
use crate::graph::{self, Order, Wanted};
use crate::measure::{Spread, ratio, timed};
use crate::options::Common;
use crate::outcome::{Cell, Goal, Outcome, Table};
use crate::peers::gap::{Gap, TRIALS};
use crate::runs::{Arrays, Expected, Measured, Work, engine};
use clap::ValueEnum;
use std::path::PathBuf;
use topostream::Engine;
use topostream::algorithms::{Clustering, UnionFind};
use topostream_formats::encoding::PLAIN_PAGES;
use topostream_formats::{Direction, Encoding, Store, WeightType};
use topostream_oracles::clustering::coefficients;
use topostream_oracles::components::connected;
use topostream_oracles::{Answer, Graph};

const EXPECTATION: &str = "with every page buffered, two threads do an iteration of PageRank (pull) and a top-down \
    BFS at least 1.7 times as fast as one thread over plain arrays in memory; on the same graph, every algorithm that \
    GAP has is at least as fast as GAP's with as many threads";
const BASELINE_TARGET: f64 = 1.7;
const GAP_TARGET: f64 = 1.0;
const ITERATIONS: u32 = 4;
/// What takes longer is measured once: a baseline in all, the engine in a round.
const LONG_NS: f64 = 2e9;

/// All pages buffered: compared with one thread over plain arrays, and with GAP
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// The scale of the R-MAT graph of edge factor 16
    #[arg(long, default_value_t = 22)]
    pub scale: u32,
    /// The directory with GAP's programs (source: <https://github.com/sbeamer/gapbs>)
    #[arg(long, value_name = "DIR", requires = "graph")]
    pub gapbs: Option<PathBuf>,
    /// A graph in GAP's serialized format, instead of the R-MAT graph
    #[arg(long, value_name = "FILE.sg")]
    pub graph: Option<PathBuf>,
    /// The same graph with weights, for shortest paths; otherwise these run on random weights, without GAP
    #[arg(long, value_name = "FILE.wsg", requires = "graph")]
    pub weighted: Option<PathBuf>,
    /// Run only these, separated by commas: triangles, which take far longer than the others, run only here
    #[arg(long, value_delimiter = ',', value_name = "WORK")]
    pub only: Vec<Name>,
    /// Measure with each of these numbers of threads, instead of with --threads [default: 2]
    #[arg(long, value_delimiter = ',', value_name = "COUNT,…", conflicts_with = "threads")]
    pub thread_counts: Vec<usize>,
    /// Plain pages in natural order, instead of packed ones in the order that a sample chooses, as `topostream format`
    /// makes them
    #[arg(long)]
    pub plain: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

impl Options {
    fn names(&self) -> Vec<Name> {
        match &self.only[..] {
            [] => Name::value_variants().iter().copied().filter(|&name| name != Name::Triangles).collect(),
            only => only.to_vec(),
        }
    }

    fn thread_counts(&self) -> Vec<usize> {
        match &self.thread_counts[..] {
            [] => vec![self.common.threads.unwrap_or(2)],
            counts => counts.to_vec(),
        }
    }

    /// The graph in a store, with or without weights.
    fn store(&self, weighted: bool) -> Result<Store> {
        let (common, plain) = (&self.common, self.common.wanted());
        let wanted = match self.plain {
            true => plain,
            false => {
                let (encoding, order) = (Encoding::packed(plain.page_bytes, PLAIN_PAGES)?, Order::Auto);
                Wanted { encoding, order, ..plain }
            }
        };
        let wanted = Wanted { weights: weighted.then_some(WeightType::U32), ..wanted };
        match self.file(weighted) {
            Some(file) => wanted.file(&common.dir, file),
            None => wanted.rmat(&common.dir, self.scale),
        }
    }

    /// The file of the graph, if it is one.
    fn file(&self, weighted: bool) -> Option<&PathBuf> {
        self.weighted.as_ref().filter(|_| weighted).or(self.graph.as_ref())
    }

    /// GAP's programs, for the same graph.
    fn gap(&self, weighted: bool, threads: usize) -> Option<Gap> {
        let file = if weighted { self.weighted.as_ref() } else { self.graph.as_ref() };
        self.gapbs.as_ref().zip(file).map(|(folder, file)| Gap::new(folder, file, threads))
    }
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
    /// Shortest paths from a vertex
    Sssp,
    /// Betweenness, from one source
    Betweenness,
    /// Core numbers, which GAP does not have
    Kcore,
    /// Triangles of each vertex, of an undirected graph without repeated edges
    Triangles,
}

/// A row of the table.
#[derive(Clone, Copy)]
enum Task {
    Run(Work),
    /// Connected components by union-find.
    Components,
    /// An algorithm as the catalogue has it, with its oracle as the baseline.
    Row(Row),
    /// Triangles and coefficients, with the table of neighbours that they take; GAP counts those of the whole graph.
    Triangles,
}

impl Task {
    fn of(name: Name, source: u32) -> Vec<Self> {
        let bfs = |bottom_up| Self::Run(Work::Bfs { source, bottom_up });
        let row = |name| vec![Self::Row(Row::named(name))];
        match name {
            Name::Pagerank => vec![Self::Run(Work::PageRank { iterations: ITERATIONS })],
            Name::Bfs => vec![bfs(false), bfs(true)],
            Name::Components => vec![Self::Components],
            Name::Sssp => row("sssp"),
            Name::Betweenness => row("betweenness"),
            Name::Kcore => row("kcore"),
            Name::Triangles => vec![Self::Triangles],
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Run(work) => work.name(),
            Self::Components => "components",
            Self::Row(row) => row.name,
            Self::Triangles => "triangles",
        }
    }

    /// Why it cannot run over a graph.
    fn obstacle(self, store: &Store, graph: &Graph) -> Option<&'static str> {
        match self {
            Self::Row(row) => row.sample.needs.obstacle(store, || graph.is_distinct()),
            Self::Triangles => UNDIRECTED.obstacle(store, || graph.is_distinct()),
            Self::Run(_) | Self::Components => None,
        }
    }
}

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(options: &Options) -> Result<Outcome> {
    let mut outcome = Outcome::new("buffered", EXPECTATION);
    let names = options.names();
    for name in &names {
        outcome.verified(match name {
            Name::Pagerank => PAGERANK_CHECK,
            Name::Bfs => BFS_CHECK,
            Name::Components => COMPONENTS_CHECK,
            Name::Sssp | Name::Betweenness | Name::Kcore => ROWS_CHECK,
            Name::Triangles => TRIANGLES_CHECK,
        });
    }
    outcome.verified.dedup();
    let mut titles = Vec::new();
    let mut rows = Vec::new();
    for weighted in [false, true] {
        let names: Vec<Name> = names.iter().copied().filter(|&name| (name == Name::Sssp) == weighted).collect();
        if names.is_empty() {
            continue;
        }
        let store = options.store(weighted)?;
        titles.push(graph::name(&store));
        let mut known = Known::new(&store, weighted)?;
        let mut tasks: Vec<Task> = names.into_iter().flat_map(|name| Task::of(name, known.source)).collect();
        tasks.retain(|task| match task.obstacle(&store, &known.graph) {
            None => true,
            Some(obstacle) => {
                outcome.notes.push(format!("{}: skipped: {obstacle}", task.name()));
                false
            }
        });
        for threads in options.thread_counts() {
            let engine = engine(store.path(), None, threads)?;
            let gap = options.gap(weighted, threads);
            for &task in &tasks {
                known.baseline_ns(task);
                known.measure(task, &engine)?;
                let rounds = (0..options.common.runs).map(|_| known.round(task, &engine, gap.as_ref()));
                let rounds = rounds.collect::<Result<Vec<_>>>()?;
                rows.push((threads, row(task, threads, &rounds, &mut outcome)));
            }
        }
    }
    rows.sort_by_key(|(threads, _)| *threads);
    let columns =
        ["threads", "work", "ms", "M edges/s", "one thread over arrays ms", "speed-up", "GAP ms", "speed of GAP's"];
    let mut table = Table::new(titles.join("; "), &columns);
    rows.into_iter().for_each(|(_, cells)| table.row(cells));
    outcome.tables.push(table);
    Ok(outcome)
}

/// A graph as arrays, and the answers that are expected on it: each once it is needed.
struct Known {
    arrays: Arrays,
    source: u32,
    /// The id of the source in the file, which GAP has.
    source_id: String,
    graph: Graph,
    expected: Expected,
    components: ComponentCheck,
    /// Answers of oracles, by name.
    answers: Vec<(&'static str, Answer)>,
    /// The coefficients by plain loops, once they have been found.
    triangles: Option<Vec<f64>>,
    /// Baselines that take long, by the names of their rows.
    long: Vec<(&'static str, f64)>,
}

struct Round {
    ours: Measured,
    baseline_ns: f64,
    gap_ns: Option<f64>,
}

impl Known {
    fn new(store: &Store, weighted: bool) -> Result<Self> {
        let (arrays, source) = (Arrays::read(store)?, graph::largest_vertex(store)?);
        // Nothing runs over weights that needs ranks.
        let iterations = if weighted { 0 } else { ITERATIONS };
        Ok(Self {
            source: source.0,
            source_id: store.ids()?.id(source)?.to_string(),
            graph: arrays::graph(store)?,
            expected: Expected::new(&arrays.out_lists, iterations, source),
            components: ComponentCheck::new(&arrays.out_lists),
            answers: Vec::new(),
            triangles: None,
            long: Vec::new(),
            arrays,
        })
    }

    fn round(&mut self, task: Task, engine: &Engine, gap: Option<&Gap>) -> Result<Round> {
        let baseline_ns = self.baseline_ns(task);
        let mut trials = Vec::new();
        while trials.len() < TRIALS && trials.iter().map(|trial: &Measured| trial.ns).sum::<f64>() < LONG_NS {
            trials.push(self.measure(task, engine)?);
        }
        if trials.iter().any(|trial| trial.disk_bytes > 0.0) {
            return Err(format!("{}: pages were read with everything buffered", task.name()).into());
        }
        trials.sort_by(|one, other| one.ns.total_cmp(&other.ns));
        let ours = trials.swap_remove(trials.len() / 2);
        let source = &self.source_id;
        let gap_ns = gap.and_then(|gap| match (task, task.name()) {
            (Task::Run(Work::PageRank { .. }), _) => Some(gap.pagerank_ns("pr_spmv")),
            (Task::Run(Work::Bfs { .. }), _) => Some(gap.bfs_ns(source)),
            (Task::Components, _) => Some(gap.components_ns()),
            (Task::Row(_), "sssp") => Some(gap.sssp_ns(source)),
            (Task::Row(_), "betweenness") => Some(gap.betweenness_ns(source)),
            (Task::Row(_), _) => None,
            (Task::Triangles, _) => Some(gap.triangles_ns()),
        });
        let gap_ns = gap_ns.transpose()?.map(|trials| Spread::of(&trials).median);
        Ok(Round { ours, baseline_ns, gap_ns })
    }

    /// Nanoseconds of one thread over plain arrays.
    fn baseline_ns(&mut self, task: Task) -> f64 {
        if let Some((_, ns)) = self.long.iter().find(|(name, _)| *name == task.name()) {
            return *ns;
        }
        let ns = match task {
            Task::Run(work) => work.baseline_ns(&self.arrays),
            Task::Components => timed(|| connected(&self.arrays.out_lists)).0.as_nanos() as f64,
            Task::Row(row) => {
                let (time, answer) = timed(|| row.oracle(&self.graph));
                self.answers.retain(|(name, _)| *name != row.name);
                self.answers.push((row.name, answer));
                time.as_nanos() as f64
            }
            Task::Triangles => timed(|| coefficients(&self.arrays.out_lists)).0.as_nanos() as f64,
        };
        if ns > LONG_NS {
            self.long.push((task.name(), ns));
        }
        ns
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
            Task::Row(row) => {
                let run = row.run(engine, &std::env::temp_dir())?;
                let answer = self.answers.iter().find(|(name, _)| *name == row.name);
                row.compare(&run.values, &answer.expect("baselines are measured first").1)?;
                Ok(Measured { ns: run.ns, ..Measured::of_run(&run.report) })
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

/// The cells of a row, and what it claims.
fn row(task: Task, threads: usize, rounds: &[Round], outcome: &mut Outcome) -> Vec<Cell> {
    let over = |value: fn(&Round) -> f64| Spread::over(rounds, value);
    let speed_up = over(|round| ratio(round.baseline_ns, round.ours.ns));
    let with_gap: Vec<(f64, f64)> = rounds.iter().filter_map(|round| Some((round.gap_ns?, round.ours.ns))).collect();
    let of_gap = Spread::over(&with_gap, |(gap, ours)| ratio(*gap, *ours));
    let what = format!("{}, {threads} threads", task.name());
    if matches!(task, Task::Run(Work::PageRank { .. } | Work::Bfs { bottom_up: false, .. })) {
        outcome.claim(format!("{what}: speed-up over one thread"), Goal::AtLeast, BASELINE_TARGET, speed_up);
    }
    if of_gap.runs > 0 && !matches!(task, Task::Run(Work::Bfs { bottom_up: false, .. })) {
        outcome.claim(format!("{what}: speed of GAP's"), Goal::AtLeast, GAP_TARGET, of_gap);
    }
    vec![
        threads.to_string().into(),
        task.name().into(),
        over(|round| round.ours.ns / 1e6).into(),
        over(|round| ratio(1e3 * round.ours.edges, round.ours.ns)).into(),
        over(|round| round.baseline_ns / 1e6).into(),
        speed_up.into(),
        Spread::over(&with_gap, |(gap, _)| gap / 1e6).into(),
        of_gap.into(),
    ]
}
