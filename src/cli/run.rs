//! `topostream run`: an algorithm over a store.

use super::args::ResourceArgs;
use super::results::{self, ResultFormat};
use super::{Failure, Outcome, print, tables};
use clap::{Args, Subcommand, ValueEnum};
use indicatif::ProgressBar;
use std::fmt::Write;
use std::path::PathBuf;
use topostream::algorithm::{Algorithm, AnswerValues};
use topostream::algorithms::{Bfs, DanglingMass, PageRank, Stop, Traffic};
use topostream::report::StepReport;
use topostream::{Engine, Run as FinishedRun, Store, VertexId};
use topostream_tools::progress::Cancel;

/// Run an algorithm over a store, from disk, in bounded memory.
#[derive(Args)]
pub struct Run {
    #[command(subcommand)]
    algorithm: AlgorithmArgs,
}

#[derive(Subcommand)]
enum AlgorithmArgs {
    /// PageRank: how important vertices are by who points to them
    Pagerank(PageRankArgs),
    /// Breadth-first search: how many hops vertices are from a source
    Bfs(BfsArgs),
}

#[derive(Args)]
struct PageRankArgs {
    #[command(flatten)]
    common: Common,
    /// The probability of following an edge
    #[arg(long, default_value_t = 0.85)]
    damping: f64,
    /// Do exactly this many iterations
    #[arg(long, conflicts_with = "tolerance")]
    iterations: Option<u32>,
    /// Stop when ranks change by less than this in all (L1 norm)
    #[arg(long, default_value_t = 1e-6)]
    tolerance: f64,
    /// Stop after this many iterations at the latest
    #[arg(long, default_value_t = 100, conflicts_with = "iterations")]
    max_iterations: u32,
    /// What becomes of the rank of vertices without out-edges
    #[arg(long, default_value = "redistribute")]
    dangling: DanglingName,
    /// Which lists are read
    #[arg(long, default_value = "auto")]
    traffic: TrafficName,
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

#[derive(Args)]
struct BfsArgs {
    #[command(flatten)]
    common: Common,
    /// Where to start: an original id, or `max-degree` for the vertex with the most out-edges
    #[arg(long, value_name = "ID")]
    source: String,
    /// Keep parents too
    #[arg(long)]
    parents: bool,
    /// Never read in-lists: top-down only
    #[arg(long)]
    top_down: bool,
}

#[derive(Args)]
struct Common {
    /// The store
    store: PathBuf,
    #[command(flatten)]
    resources: ResourceArgs,
    /// Write every vertex's result to a file
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The format of that file [default: by its name: .csv, .npy, else text]
    #[arg(long, requires = "output")]
    output_format: Option<ResultFormat>,
    /// How many top vertices to print
    #[arg(long, default_value_t = 10)]
    top: usize,
    /// Print the report as JSON, and nothing else
    #[arg(long)]
    json: bool,
}

impl Run {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        match self.algorithm {
            AlgorithmArgs::Pagerank(args) => {
                let algorithm = args.algorithm();
                let engine = args.common.engine(cancel)?;
                args.common.run(&engine, algorithm)
            }
            AlgorithmArgs::Bfs(args) => {
                let engine = args.common.engine(cancel)?;
                let source = source(&args.source, engine.store())?;
                args.common.run(&engine, Bfs { source, parents: args.parents, bottom_up: !args.top_down })
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
        }
    }
}

/// The vertex that a source names.
fn source(text: &str, store: &Store) -> Result<VertexId, Failure> {
    if text == "max-degree" {
        let degrees = store.out_degrees()?;
        let largest =
            degrees.values().iter().enumerate().max_by_key(|&(vertex, degree)| (degree, std::cmp::Reverse(vertex)));
        let none = || Failure::Other("the graph has no vertices".into());
        return largest.map(|(vertex, _)| VertexId(vertex as u32)).ok_or_else(none);
    }
    let id: u64 =
        text.parse().map_err(|_| Failure::Other(format!("--source {text:?}: expected an id or max-degree")))?;
    let missing = || Failure::Other(format!("--source {id}: the graph has no vertex with that id"));
    store.ids()?.vertex(id).ok_or_else(missing)
}

impl Common {
    fn engine(&self, cancel: &Cancel) -> Result<Engine, Failure> {
        Ok(Engine::new(Store::open(&self.store)?, self.resources.options(cancel)))
    }

    fn run<A: Algorithm>(&self, engine: &Engine, algorithm: A) -> Outcome {
        let spinner = ProgressBar::new_spinner();
        let mut observer = |step: &StepReport| {
            let (edges, read) = (tables::count(step.edges), tables::bytes(step.disk_bytes));
            spinner.set_message(format!("superstep {}: {edges} edges, {read} read", step.superstep));
            spinner.tick();
        };
        let run = engine.run(algorithm, &mut observer)?;
        spinner.finish_and_clear();
        self.write_results(&run, engine.store())?;
        if self.json {
            let json = serde_json::to_string_pretty(&run.report).map_err(|error| Failure::Other(error.to_string()))?;
            return print(&(json + "\n"));
        }
        let top = self.top(&run, engine.store())?;
        print(&(tables::run_report(&run.report) + &top))
    }

    fn write_results<A: Algorithm>(&self, run: &FinishedRun<A>, store: &Store) -> Outcome {
        let Some(path) = &self.output else { return Ok(()) };
        let format = self.output_format.unwrap_or_else(|| ResultFormat::of(path));
        results::write(path, format, &run.answers(), &store.ids()?, store.vertices())
    }

    /// What people want to see of the results.
    fn top<A: Algorithm>(&self, run: &FinishedRun<A>, store: &Store) -> Result<String, Failure> {
        let mut text = String::new();
        for answer in run.answers() {
            match &answer.values {
                AnswerValues::F64(_) => {
                    let ids = store.ids()?;
                    let top = results::top(&answer, self.top, &ids, store.vertices());
                    let rows = top.into_iter().map(|(id, value)| vec![id.to_string(), format!("{value:.6e}")]);
                    text += &tables::table(&["vertex", answer.name], rows);
                }
                AnswerValues::Integer(of) => {
                    let reached = (0..store.vertices()).filter_map(|vertex| of(vertex as u32));
                    let (count, largest) =
                        reached.fold((0, 0), |(count, largest), value| (count + 1, value.max(largest)));
                    let (count, all) = (tables::count(count), tables::count(store.vertices()));
                    writeln!(text, "reached {count} of {all} vertices; largest {} {largest}", answer.name).ok();
                }
                AnswerValues::Vertex(_) => {}
            }
        }
        Ok(text)
    }
}
