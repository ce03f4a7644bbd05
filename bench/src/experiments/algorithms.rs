//! Every algorithm: supersteps, bytes, times with all pages in memory and from disk, compared with one thread over
//! plain arrays.
//!
//! ```text
//!  entries (a table) ─▶ store of the kind it needs ─┬─▶ arrays ─▶ baseline ─▶ values ─┐
//!                       (made once, kept)           ├─▶ buffered, warm ───────────────┼─▶ compared, then a row
//!                                                   └─▶ from disk, a quarter buffered ┘
//! ```

use crate::arrays;
use crate::catalogue::{Edges, Finished, Footprint, Needs, Row};
use crate::error::Result;
use crate::graph::{Order, Wanted};
use crate::measure::{Spread, ratio, timed, wake};
use crate::outcome::{Cell, Goal, Outcome, Table};
use crate::run_options::{Buffer, RunOptions};
use std::path::{Path, PathBuf};
use topostream::Engine;
use topostream_formats::Store;
use topostream_oracles::Graph;

const EXPECTATION: &str = "with every page in the page buffer, two threads are at least as fast as one thread over \
    plain arrays in memory wherever both visit the same edges (PageRank and its kin, labels, degrees: 1.5 times), \
    and at least half as fast where the baseline uses another algorithm (Dijkstra, union-find, buckets, Tarjan, \
    Brandes); from disk, with a page buffer of a quarter of the pages that are read, runs that read all lists in every \
    superstep take at most twice as long, and searches up to five times. All answers equal the baseline's. No \
    algorithm writes more bytes per vertex than GTS's, except for exact sums (PageRank; single precision takes as \
    much)";
/// The speedup over the baseline, if both visit the same edges, and if not.
const TARGETS: [(Edges, f64); 2] = [(Edges::Visited, 1.0), (Edges::Once, 0.5)];
/// Runs that take longer are measured once.
const LONG_NS: f64 = 20e9;
/// The maximum number of supersteps that are reported one by one.
const STEPS_MAX: usize = 64;

/// Each algorithm compared with one thread over plain arrays: supersteps, bytes read, times, memory per vertex
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// The scale of the R-MAT graph of edge factor 16
    #[arg(long, default_value_t = 22, value_parser = clap::value_parser!(u32).range(4..=30))]
    pub scale: u32,
    /// A real graph instead: an edge list of any kind, from which stores are made, or a store, for the algorithms that
    /// it suits
    #[arg(long, value_name = "FILE_OR_STORE")]
    pub graph: Option<PathBuf>,
    /// Number of measurements after a warm-up
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: u32,
    /// Only these algorithms
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    pub only: Vec<String>,
    /// The orders of vertices in new stores, measured one after another
    #[arg(long, value_enum, value_delimiter = ',', default_value = "natural")]
    pub order: Vec<Order>,
    #[command(flatten)]
    pub run_options: RunOptions,
}

impl Options {
    /// The requested rows, or all.
    fn rows(&self) -> Result<Vec<Row>> {
        let rows = Row::all();
        let named = |name: &String| rows.iter().any(|row| row.name == name);
        if let Some(unknown) = self.only.iter().find(|name| !named(name)) {
            let names: Vec<&str> = rows.iter().map(|row| row.name).collect();
            return Err(format!("--only {unknown}: there are {}", names.join(", ")).into());
        }
        let asked = |row: &Row| self.only.is_empty() || self.only.iter().any(|name| row.name == name);
        Ok(rows.into_iter().filter(asked).collect())
    }

    /// The name of the graph, also in file names.
    fn graph_name(&self) -> String {
        let stem = |path: &Path| path.file_stem().map_or("graph".into(), |stem| stem.to_string_lossy().into_owned());
        self.graph.as_deref().map_or_else(|| format!("rmat-{}", self.scale), stem)
    }

    /// The file for results: partial results do not replace the complete ones.
    fn file_name(&self) -> String {
        let parts = [vec!["algorithms".into(), self.graph_name(), self.run_options.device_name()], self.only.clone()];
        let orders = match self.order[..] {
            [Order::Natural] => Vec::new(),
            _ => self.order.iter().map(|order| order.name().to_owned()).collect(),
        };
        [parts.concat(), orders].concat().join("-") + ".json"
    }

    /// The graph in a store of some kind; a given store is used as it is.
    fn store(&self, needs: &Needs, order: Order) -> Result<Store> {
        let wanted = Wanted { order, ..self.run_options.wanted(needs) };
        let folder = &self.run_options.resources.dir;
        match &self.graph {
            None => wanted.rmat(folder, self.scale),
            Some(path) if path.join("graph.json").exists() => {
                let store = Store::open(path)?;
                match order == Order::Natural || store.manifest().order == order.vertices() {
                    true => Ok(store),
                    false => Err(format!("{}: --order is for stores that are made", path.display()).into()),
                }
            }
            Some(file) => wanted.file(folder, file),
        }
    }
}

/// A graph in one kind of store, and as arrays.
struct Case {
    needs: Needs,
    order: Order,
    store: Store,
    graph: Graph,
}

impl Case {
    fn new(options: &Options, needs: Needs, order: Order) -> Result<Self> {
        let store = options.store(&needs, order)?;
        let graph = arrays::graph(&store)?;
        if graph.vertices() < 2 {
            return Err(format!("{}: a graph of two vertices at least", store.path().display()).into());
        }
        Ok(Self { needs, order, store, graph })
    }
}

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(options: &Options) -> Result<()> {
    let rows = options.rows()?;
    eprintln!("expected: {EXPECTATION}");
    let mut bench = Bench::new(options);
    let mut case: Option<Case> = None;
    for (order, row) in options.order.iter().flat_map(|&order| rows.iter().map(move |&row| (order, row))) {
        let same = |case: &Case| case.order == order && case.needs.same_store(&row.sample.needs);
        let now = match case.take().filter(same) {
            Some(case) => case,
            None => Case::new(options, row.sample.needs, order)?,
        };
        match row.sample.needs.obstacle(&now.store, || now.graph.is_distinct()) {
            Some(obstacle) => bench.outcome.notes.push(format!("{}: skipped: {obstacle}", row.name)),
            None if order != Order::Natural && row.name == "communities" => bench.outcome.notes.push(format!(
                "{}: not measured in {} order: of labels that are equally frequent the one with the smallest original \
                 id wins, and the baseline knows no original ids",
                row.name,
                order.name()
            )),
            None => {
                let (took, measured) = timed(|| bench.measure(row, &now));
                measured.map_err(|error| format!("{}: {error}", row.name))?;
                eprintln!("{}: {:.1} s", row.name, took.as_secs_f64());
            }
        }
        case = Some(now);
    }
    let orders = (options.order.len() > 1).then(|| bench.orders());
    let Bench { mut outcome, times, memory, .. } = bench;
    outcome.tables.extend([times, memory]);
    outcome.tables.extend(orders);
    outcome.publish(Some(&options.run_options.resources.results.join(options.file_name())))
}

struct Bench<'a> {
    options: &'a Options,
    outcome: Outcome,
    times: Table,
    memory: Table,
    /// Milliseconds with all pages buffered and from disk, for each algorithm and order.
    by_order: Vec<(&'static str, Order, Spread, Spread)>,
}

/// Runs of one round.
struct Round {
    baseline_ns: f64,
    buffered_ns: f64,
    disk_ns: f64,
}

impl<'a> Bench<'a> {
    fn new(options: &'a Options) -> Self {
        let mut outcome = Outcome::new("algorithms", EXPECTATION);
        outcome.verified(
            "every run: its answer compared with that of one thread over arrays in memory, which shares no code with \
             the engine; the column `answer` has the deviation",
        );
        let run_options = &options.run_options;
        outcome.notes.push(format!("{}, {} threads", run_options.device_name(), run_options.resources.threads()));
        outcome.notes.push(
            "buffered, on GPUs: after two seconds of warm-up with the same work; from disk: with O_DIRECT, and a page \
             buffer of a quarter of the pages that are read, empty at the start of a run on the CPU; on GPUs, which \
             cache no pages, it has the pages of the previous run; edges are the visited ones, or those of the graph \
             once if the baseline uses another algorithm; for clustering and communities, times include the building \
             of tables, bytes do not"
                .into(),
        );
        let columns = [
            "algorithm",
            "store",
            "order",
            "supersteps",
            "read MB",
            "buffered ms",
            "from disk ms",
            "M edges/s buffered",
            "edges",
            "one thread ms",
            "times as fast, buffered",
            "times as fast, from disk",
            "answer",
        ];
        let graph = options.graph_name();
        let times = Table::new(format!("{graph}: beside one thread over arrays"), &columns);
        let columns = [
            "algorithm",
            "written (WA)",
            "only read (RA)",
            "frontiers",
            "together",
            "noted in main memory",
            "GTS's WA, table 4",
            "tables",
        ];
        let memory = Table::new("Bytes of a vertex", &columns);
        Self { options, outcome, times, memory, by_order: Vec::new() }
    }

    fn measure(&mut self, row: Row, case: &Case) -> Result<()> {
        let run_options = &self.options.run_options;
        let (took, expected) = timed(|| row.oracle(&case.graph));
        let first_ns = took.as_nanos() as f64;
        let run = |engine: &Engine| -> Result<Finished> {
            let finished = row.run(engine, &run_options.resources.dir)?;
            row.compare(&finished.values, &expected)?;
            Ok(finished)
        };
        let engine = run_options.engine(case.store.path(), Buffer::All, false)?;
        // The second run reads the lists that the first, which had to read pages, avoided.
        run(&engine)?;
        let warm = run(&engine)?;
        let page_bytes = warm.footprint.page_bytes(&case.store, row.sample.needs.weights.is_some());
        let runs = if warm.ns < LONG_NS { self.options.runs } else { 1 };
        let mut in_memory = Vec::new();
        for round in 0..runs {
            let again = round > 0 && first_ns < LONG_NS;
            let baseline = || timed(|| row.oracle(&case.graph)).0.as_nanos() as f64;
            let baseline_ns = if again { baseline() } else { first_ns };
            if !run_options.is_cpu() {
                wake(|| row.run(&engine, &run_options.resources.dir).map(drop))?;
            }
            let finished = run(&engine)?;
            if finished.report.total.disk_bytes > 0 {
                return Err("pages were read with everything buffered".into());
            }
            in_memory.push((baseline_ns, finished));
        }
        drop(engine);
        let open = || run_options.engine(case.store.path(), Buffer::QuarterOf(page_bytes), false);
        let streamed = self.streamed(runs, open, run)?;
        let round = |((baseline_ns, buffered), streamed): (&(f64, Finished), &Finished)| Round {
            baseline_ns: *baseline_ns,
            buffered_ns: buffered.ns,
            disk_ns: streamed.ns,
        };
        let rounds: Vec<Round> = in_memory.iter().zip(&streamed).map(round).collect();
        if let (Some((_, in_memory)), Some(streamed)) = (in_memory.last(), streamed.last()) {
            self.record((row, &expected.compare.name()), case, &rounds, in_memory, streamed);
        }
        Ok(())
    }

    /// Runs from disk. On the CPU each begins with an empty page buffer; on GPUs an unmeasured run first compiles the
    /// kernels.
    fn streamed(
        &self,
        runs: u32,
        open: impl Fn() -> Result<Engine>,
        run: impl Fn(&Engine) -> Result<Finished>,
    ) -> Result<Vec<Finished>> {
        if self.options.run_options.is_cpu() {
            return (0..runs).map(|_| run(&open()?)).collect();
        }
        let engine = open()?;
        run(&engine)?;
        (0..runs).map(|_| run(&engine)).collect()
    }

    fn record(
        &mut self,
        (row, compared): (Row, &str),
        case: &Case,
        rounds: &[Round],
        buffered: &Finished,
        streamed: &Finished,
    ) {
        let over = |value: fn(&Round) -> f64| Spread::over(rounds, value);
        let edges = match row.sample.edges {
            Edges::Visited => buffered.report.total.edges as f64,
            Edges::Once => case.store.edges() as f64,
        };
        let speed_up = over(|round| ratio(round.baseline_ns, round.buffered_ns));
        let long = rounds[0].baseline_ns >= LONG_NS;
        let baseline = Spread::over(&rounds[..if long { 1 } else { rounds.len() }], |round| round.baseline_ns / 1e6);
        self.times.row(vec![
            row.name.into(),
            row.sample.needs.name.into(),
            case.order.name().into(),
            streamed.report.supersteps.to_string().into(),
            (streamed.report.total.disk_bytes as f64 / 1e6).into(),
            over(|round| round.buffered_ns / 1e6).into(),
            over(|round| round.disk_ns / 1e6).into(),
            Spread::over(rounds, |round| ratio(1e3 * edges, round.buffered_ns)).into(),
            row.sample.edges.name().into(),
            baseline.into(),
            speed_up.into(),
            over(|round| ratio(round.baseline_ns, round.disk_ns)).into(),
            compared.into(),
        ]);
        let (buffered_ms, disk_ms) = (over(|round| round.buffered_ns / 1e6), over(|round| round.disk_ns / 1e6));
        self.by_order.push((row.name, case.order, buffered_ms, disk_ms));
        if case.order == self.options.order[0] {
            self.memory.row(memory_row(row, &buffered.footprint));
        }
        let target = TARGETS.iter().find(|(edges, _)| *edges == row.sample.edges).map_or(1.0, |&(_, target)| target);
        let name = match case.order {
            Order::Natural => row.name.to_owned(),
            other => format!("{}, {} order", row.name, other.name()),
        };
        self.outcome.claim(format!("{name}: times as fast, buffered"), Goal::AtLeast, target, speed_up);
        if !streamed.report.direct_io {
            self.outcome.notes.push(format!("{}: page files were not read past the system's cache", row.name));
        }
        for (how, finished) in [("buffered", buffered), ("from disk", streamed)] {
            let mut report = finished.report.clone();
            // The supersteps of a long run would fill the file.
            report.steps.truncate(STEPS_MAX);
            self.outcome.report(format!("{name}, {how}"), &report);
        }
    }

    /// A comparison of the orders: how many times as fast the others are as the first.
    fn orders(&self) -> Table {
        let first = self.options.order[0];
        let columns = ["algorithm", "order", "buffered ms", "from disk ms", "times as fast, buffered", "from disk"];
        let mut table = Table::new(format!("Orders, beside {}", first.name()), &columns);
        for &(name, order, buffered, disk) in &self.by_order {
            let beside = self.by_order.iter().find(|row| row.0 == name && row.1 == first);
            let times = |of: fn(&(&str, Order, Spread, Spread)) -> f64, now: Spread| {
                Cell::from(beside.map_or(0.0, |beside| ratio(of(beside), now.median)))
            };
            let faster = [times(|row| row.2.median, buffered), times(|row| row.3.median, disk)];
            table.row([vec![name.into(), order.name().into(), buffered.into(), disk.into()], faster.into()].concat());
        }
        table
    }
}

fn memory_row(row: Row, footprint: &Footprint) -> Vec<Cell> {
    let frontier_bits = if footprint.frontiers { 2 } else { 0 };
    let bytes = |bits: u64| -> Cell { format!("{}", bits as f64 / 8.0).into() };
    vec![
        row.name.into(),
        bytes(footprint.written_bits),
        bytes(footprint.read_bits),
        bytes(frontier_bits),
        bytes(footprint.written_bits + footprint.read_bits + frontier_bits),
        bytes(if footprint.noted { 16 } else { 0 }),
        row.sample.gts_bytes.map_or(Cell::from("-"), |bytes| bytes.to_string().into()),
        footprint.tables.as_str().into(),
    ]
}
