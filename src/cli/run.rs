//! `topostream run`: an algorithm over a store.

use super::args::ResourceArgs;
use super::check::{self, Checking};
use super::results::{self, OutputFile, ResultFile, ResultFormat};
use super::{Failure, Outcome, calibration, print, tables};
use clap::{Args, Subcommand, ValueEnum};
use indicatif::ProgressBar;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use topostream::algorithm::{Algorithm, AnswerValues};
use topostream::algorithms::{Bfs, Components, DanglingMass, PageRank, Sssp, Stop, Sums, Traffic};
use topostream::report::{RunReport, StepReport};
use topostream::trace::Timeline;
use topostream::{Engine, Run as FinishedRun, Store, VertexId};
use topostream_formats::edge::WeightType;
use topostream_tools::progress::Cancel;

/// Run an algorithm over a store, from disk, in bounded memory.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Run {
    #[command(subcommand)]
    algorithm: AlgorithmArgs,
}

const EXAMPLES: &str = "\
Examples:
  topostream run pagerank wiki --output ranks.csv
  topostream run pagerank wiki --iterations 20 --memory 2GiB --json
  topostream run bfs wiki --source 30 --parents --output tree.npy
  topostream run bfs wiki --source max-degree
  topostream run sssp roads --source 0 --output distances.csv
  topostream run bfs wiki --source 30 --parents --validate
  topostream run components wiki --output components.txt";

#[derive(Subcommand)]
enum AlgorithmArgs {
    /// PageRank: how important vertices are by who points to them
    Pagerank(PageRankArgs),
    /// Breadth-first search: how many hops vertices are from a source
    Bfs(BfsArgs),
    /// Shortest paths: how far vertices are from a source, by the weights of the edges
    ///
    /// Whole weights give whole distances of at most 2^32 - 3. With f32 weights each addition along a path is rounded to the
    /// nearest f32. Vertices that are not reached get -1 (whole) or inf. A negative weight on the way is an error.
    Sssp(SsspArgs),
    /// Connected components, whichever way the edges point
    ///
    /// A component is called by one of its vertices: the one with the smallest id, or, in a store that was made with --order, the
    /// one that this order puts first.
    #[command(visible_aliases = ["cc", "wcc"])]
    Components(ComponentsArgs),
}

#[derive(Args)]
struct PageRankArgs {
    /// The probability of following an edge, from 0 to 1
    #[arg(long, default_value_t = 0.85, value_name = "PROBABILITY")]
    damping: f64,
    /// Do exactly this many iterations
    #[arg(long, value_name = "N", conflicts_with = "tolerance")]
    iterations: Option<u32>,
    /// Stop when an iteration changes all ranks together (L1 norm) by less than this; 1e-7 at the least
    #[arg(long, default_value_t = 1e-6, value_name = "CHANGE")]
    tolerance: f64,
    /// Stop after this many iterations at the latest
    #[arg(long, default_value_t = 100, value_name = "N", conflicts_with = "iterations")]
    max_iterations: u32,
    /// What becomes of the rank of vertices without out-edges
    #[arg(long, default_value = "redistribute", value_name = "RULE")]
    dangling: DanglingName,
    /// Which lists are read
    #[arg(long, default_value = "auto", value_name = "LISTS")]
    traffic: TrafficName,
    /// How the shares that a vertex receives are added up
    #[arg(long, default_value = "exact", value_name = "NUMBERS")]
    sums: SumsName,
    /// How many vertices of highest rank to print
    #[arg(long, default_value_t = 10, value_name = "N")]
    top: usize,
    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Copy, ValueEnum)]
enum DanglingName {
    /// Spread over all vertices (NetworkX, LDBC Graphalytics)
    Redistribute,
    /// Lost (GTS, GAP)
    Ignore,
}

#[derive(Clone, Copy, ValueEnum)]
enum TrafficName {
    /// Pull where the store has in-lists, else push
    Auto,
    /// Along out-lists
    Push,
    /// Over in-lists
    Pull,
}

/// How PageRank adds up.
#[derive(Clone, Copy, ValueEnum)]
pub enum SumsName {
    /// In fixed point: the same bits on every run
    Exact,
    /// In single precision: half the memory, faster on GPUs, less accurate
    Single,
}

impl From<SumsName> for Sums {
    fn from(name: SumsName) -> Self {
        match name {
            SumsName::Exact => Self::Exact,
            SumsName::Single => Self::Single,
        }
    }
}

#[derive(Args)]
struct BfsArgs {
    /// Where to start: an original id, or `max-degree` for the vertex with the most out-edges
    #[arg(long, value_name = "ID", value_parser = source)]
    source: Source,
    /// Also keep each vertex's parent in the search tree; `--output` writes it
    #[arg(long)]
    parents: bool,
    /// Never read in-lists, even where the store has them: top-down only
    #[arg(long)]
    top_down: bool,
    /// Check levels, and parents where they are kept, by Graph500's rules before they are written: reads the store once more
    #[arg(long)]
    validate: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
struct SsspArgs {
    /// Where to start: an original id, or `max-degree` for the vertex with the most out-edges
    #[arg(long, value_name = "ID", value_parser = source)]
    source: Source,
    /// Check distances by Graph500's rules before they are written: reads the store once more
    #[arg(long)]
    validate: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
struct ComponentsArgs {
    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Copy)]
enum Source {
    Original(u64),
    MaxDegree,
}

fn source(text: &str) -> Result<Source, String> {
    match text {
        "max-degree" => Ok(Source::MaxDegree),
        _ => text.parse().map(Source::Original).map_err(|_| "expected an id (from 0 on) or max-degree".into()),
    }
}

#[derive(Args)]
struct Common {
    /// The store's directory
    store: PathBuf,
    #[command(flatten)]
    resources: ResourceArgs,
    /// Write every vertex's result to a file, by original id; it appears when it is complete
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    output: Option<PathBuf>,
    /// The format of that file [default: by its name: .csv, .npy, else text]
    #[arg(long, value_name = "FORMAT", requires = "output", help_heading = "Results")]
    output_format: Option<ResultFormat>,
    /// Write what happened when (reads, checks, copies, kernels) to a file that ui.perfetto.dev and chrome://tracing open;
    /// takes 40 MiB of the memory
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    trace: Option<PathBuf>,
    /// Rates of this machine, for predictions [default: what `topostream calibrate` has kept]
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    calibration: Option<PathBuf>,
    /// Print the report as JSON, times in nanoseconds, and nothing else
    #[arg(long, help_heading = "Results")]
    json: bool,
}

impl Run {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        match self.algorithm {
            AlgorithmArgs::Pagerank(args) => {
                let store = Store::open(&args.common.store)?;
                args.common.run(store, args.algorithm(), Shown::Top(args.top), cancel)
            }
            AlgorithmArgs::Bfs(args) => {
                let store = Store::open(&args.common.store)?;
                let source = args.source.vertex(&store)?;
                let bfs = Bfs { source, parents: args.parents, bottom_up: !args.top_down };
                let checking = |engine: &_| Checking::new(check::bfs, source, &bfs, &store, engine);
                let checking = args.validate.then(|| checking(&args.common.resources.options(cancel))).transpose()?;
                args.common.run_checked(store, bfs, Shown::Reached, checking, cancel)
            }
            AlgorithmArgs::Sssp(args) => {
                let store = Store::open(&args.common.store)?;
                let source = args.source.vertex(&store)?;
                // Where there are no weights the engine says so.
                let weights = store.manifest().weights.unwrap_or(WeightType::U32);
                let sssp = Sssp { source, weights };
                let checking = |engine: &_| Checking::new(check::sssp, source, &sssp, &store, engine);
                let checking = args.validate.then(|| checking(&args.common.resources.options(cancel))).transpose()?;
                args.common.run_checked(store, sssp, Shown::Reached, checking, cancel)
            }
            AlgorithmArgs::Components(args) => {
                let store = Store::open(&args.common.store)?;
                let directed = store.manifest().directed;
                args.common.run(store, Components { directed }, Shown::Components, cancel)
            }
        }
    }
}

impl PageRankArgs {
    fn algorithm(&self) -> PageRank {
        PageRank {
            damping: self.damping,
            dangling: match self.dangling {
                DanglingName::Redistribute => DanglingMass::Redistributed,
                DanglingName::Ignore => DanglingMass::Ignored,
            },
            stop: match self.iterations {
                Some(iterations) => Stop::Iterations(iterations),
                None => Stop::Tolerance { l1: self.tolerance, iterations_max: self.max_iterations },
            },
            traffic: match self.traffic {
                TrafficName::Auto => Traffic::Auto,
                TrafficName::Push => Traffic::Push,
                TrafficName::Pull => Traffic::Pull,
            },
            sums: self.sums.into(),
        }
    }
}

impl Source {
    /// The vertex that is meant.
    fn vertex(self, store: &Store) -> Result<VertexId, Failure> {
        if let Self::Original(id) = self {
            let missing = || Failure::Other(format!("--source {id}: the graph has no vertex with that id"));
            return store.ids()?.vertex(id).ok_or_else(missing);
        }
        let degrees = store.out_degrees()?;
        let degrees = degrees.values().iter().enumerate();
        let largest = degrees.max_by_key(|&(vertex, degree)| (degree, std::cmp::Reverse(vertex)));
        let none = || Failure::Other("--source max-degree: the graph has no vertices".into());
        largest.map(|(vertex, _)| VertexId(vertex as u32)).ok_or_else(none)
    }
}

impl Common {
    fn run<A: Algorithm>(&self, store: Store, algorithm: A, shown: Shown, cancel: &Cancel) -> Outcome {
        self.run_checked(store, algorithm, shown, None, cancel)
    }

    /// The same with a check of the answer before anything is written.
    fn run_checked<A: Algorithm>(
        &self,
        store: Store,
        algorithm: A,
        shown: Shown,
        checking: Option<Checking<A>>,
        cancel: &Cancel,
    ) -> Outcome {
        // What is needed at the end is looked at before the beginning.
        store.ids()?;
        let output = self.output.as_deref().map(|path| ResultFile::create(path, self.output_format)).transpose()?;
        let trace = self.trace.as_deref().map(TraceFile::create).transpose()?;
        let spinner = ProgressBar::new_spinner();
        let mut observer = |step: &StepReport| {
            let (edges, read) = (tables::count(step.edges), tables::bytes(step.disk_bytes));
            spinner.set_message(format!("superstep {}: {edges} edges, {read} read", step.superstep));
            spinner.tick();
        };
        let mut options = self.resources.options(cancel);
        options.rates = calibration::for_run(self.calibration.as_deref())?;
        options.trace = trace.as_ref().map(|trace| Arc::clone(&trace.timeline));
        let engine = Engine::new(store, options);
        let run = engine.run(algorithm, &mut observer)?;
        // The page buffer goes before the ids come: both together may be more than the budget.
        drop(engine);
        let store = Store::open(&self.store)?;
        spinner.finish_and_clear();
        trace.map_or(Ok(()), |trace| trace.write(&run.report, cancel))?;
        let checked = checking.map_or(Ok(String::new()), |checking| checking.run(&run, &store))?;
        if let Some(output) = output {
            output.write(&run.answers(), &store.ids()?, store.vertices(), cancel)?;
        }
        if self.json {
            let json = serde_json::to_string_pretty(&run.report).map_err(|error| Failure::Other(error.to_string()))?;
            return print(&(json + "\n"));
        }
        let summary = summary(&run, &store, shown)?;
        print(&(tables::run_report(&run.report) + &summary + &checked))
    }
}

/// Where the timeline of a run will go.
struct TraceFile {
    file: OutputFile,
    timeline: Arc<Timeline>,
}

impl TraceFile {
    fn create(path: &Path) -> Result<Self, Failure> {
        Ok(Self { file: OutputFile::create(path)?, timeline: Arc::default() })
    }

    fn write(self, report: &RunReport, cancel: &Cancel) -> Outcome {
        let title = format!("topostream: {} on {}", report.algorithm, report.device);
        self.file.write(cancel, |out| self.timeline.write_json(&title, out))?;
        let dropped = self.timeline.dropped();
        if dropped > 0 {
            let dropped = tables::count(dropped);
            writeln!(std::io::stderr(), "the trace ends early: {dropped} spans did not fit").ok();
        }
        Ok(())
    }
}

/// What people want to see of the results.
#[derive(Clone, Copy)]
enum Shown {
    /// So many vertices with the largest values.
    Top(usize),
    /// How many vertices were reached, and how far they are.
    Reached,
    /// How many components there are, and how large.
    Components,
}

fn summary<A: Algorithm>(run: &FinishedRun<A>, store: &Store, shown: Shown) -> Result<String, Failure> {
    let vertices = || (0..store.vertices()).map(|vertex| vertex as u32);
    let answers = run.answers();
    let Some(answer) = answers.first() else { return Ok(String::new()) };
    Ok(match (shown, &answer.values) {
        (Shown::Top(top), AnswerValues::F64(_)) if top > 0 => {
            let top = results::top(answer, top, &store.ids()?, store.vertices());
            let rows = top.into_iter().map(|(id, value)| vec![id.to_string(), format!("{value:.6e}")]);
            tables::table(&["vertex", answer.name], rows)
        }
        (Shown::Reached, AnswerValues::Integer(of)) => {
            let (count, largest) = extent(vertices().filter_map(of));
            reached(count, store.vertices(), answer.name, &largest.unwrap_or(0).to_string())
        }
        (Shown::Reached, AnswerValues::F64(of)) => {
            let (count, largest) = extent(vertices().map(of).filter(|value| value.is_finite()));
            let largest = format!("{:.6e}", largest.unwrap_or(0.0));
            reached(count, store.vertices(), answer.name, &largest)
        }
        (Shown::Components, AnswerValues::Vertex(of)) => {
            let (components, largest) = component_sizes(vertices().filter_map(of), store.vertices());
            let (components, largest) = (tables::count(components), tables::count(largest));
            format!("components: {components}; vertices of the largest: {largest}\n")
        }
        _ => String::new(),
    })
}

/// How many values there are, and the largest.
fn extent<T: PartialOrd>(values: impl Iterator<Item = T>) -> (u64, Option<T>) {
    values.fold((0, None), |(count, largest), value| match largest {
        Some(largest) if largest > value => (count + 1, Some(largest)),
        _ => (count + 1, Some(value)),
    })
}

fn reached(count: u64, vertices: u64, name: &str, largest: &str) -> String {
    let (count, all) = (tables::count(count), tables::count(vertices));
    format!("reached {count} of {all} vertices; largest {name} {largest}\n")
}

/// How many components there are, and the size of the largest. The page buffer has gone: there is room for the counts.
fn component_sizes(components: impl Iterator<Item = u32>, vertices: u64) -> (u64, u64) {
    let mut sizes = vec![0u32; vertices as usize];
    // What a count cannot hold is a component of 2^32 vertices: all there are.
    components.for_each(|component| sizes[component as usize] = sizes[component as usize].saturating_add(1));
    let count = sizes.iter().filter(|&&size| size > 0).count() as u64;
    let largest = if count == 1 { vertices } else { sizes.into_iter().max().unwrap_or(0).into() };
    (count, largest)
}
