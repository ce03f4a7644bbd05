//! What all algorithms have in common: the store, resources, where results go and what is shown of them.

use super::checkpoints::{self, CheckpointArgs};
use crate::cli::args::ResourceArgs;
use crate::cli::check::Checking;
use crate::cli::results::{self, OutputFile, ResultFile, ResultFormat};
use crate::cli::{Failure, Outcome, calibration, opening, print, tables};
use clap::Args;
use indicatif::ProgressBar;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use topostream::engine::Observer;
use topostream::model::algorithm::{Algorithm, AnswerValues};
use topostream::predict::Rates;
use topostream::report::{RunReport, StepReport};
use topostream::trace::Timeline;
use topostream::{Engine, EngineOptions, Error, Run as FinishedRun, Store, VertexId};
use topostream_tools::progress::Cancel;

/// What all algorithms are given.
#[derive(Args)]
pub struct Common {
    /// The store's directory
    pub store: PathBuf,
    #[command(flatten)]
    pub resources: ResourceArgs,
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
    /// Process pages in memory again before others are read, where values go one way only (sssp, components, widest): more supersteps,
    /// fewer bytes from disk
    #[arg(long, help_heading = "Resources")]
    asynchronous: bool,
    /// Print the report, or the predictions, as JSON, times in nanoseconds, and nothing else
    #[arg(long, help_heading = "Results")]
    json: bool,
    #[command(flatten)]
    checkpoints: CheckpointArgs,
}

/// A vertex that the user calls by its original id or by what it is.
#[derive(Clone, Copy)]
pub enum Source {
    Original(u64),
    MaxDegree,
}

/// Reads an id, or `max-degree`.
pub fn source(text: &str) -> Result<Source, String> {
    match text {
        "max-degree" => Ok(Source::MaxDegree),
        _ => text.parse().map(Source::Original).map_err(|_| "expected an id (from 0 on) or max-degree".into()),
    }
}

impl Source {
    /// The vertex that is meant by `--source`.
    pub fn vertex(self, store: &Store) -> Result<VertexId, Failure> {
        self.vertex_of("--source", store)
    }

    /// The vertex that is meant by an option.
    pub fn vertex_of(self, option: &str, store: &Store) -> Result<VertexId, Failure> {
        if let Self::Original(id) = self {
            let missing = || Failure::Other(format!("{option} {id}: the graph has no vertex with that id"));
            return store.ids()?.vertex(id).ok_or_else(missing);
        }
        let degrees = store.out_degrees()?;
        let degrees = degrees.values().iter().enumerate();
        let largest = degrees.max_by_key(|&(vertex, degree)| (degree, std::cmp::Reverse(vertex)));
        let none = || Failure::Other(format!("{option} max-degree: the graph has no vertices"));
        largest.map(|(vertex, _)| VertexId(vertex as u32)).ok_or_else(none)
    }
}

impl Common {
    /// The options of an engine, without rates.
    fn options(&self, trace: Option<Arc<Timeline>>, cancel: &Cancel) -> EngineOptions {
        self.resources.options(cancel).with_asynchronous(self.asynchronous).with_trace(trace)
    }

    /// What a plan is made with: rates, and an engine as it would run the algorithm, which opens nothing but the store.
    pub fn planning(&self, cancel: &Cancel) -> Result<(Rates, Engine), Failure> {
        let rates = calibration::for_plan(self.calibration.as_deref())?;
        let trace = self.trace.is_some().then(Arc::default);
        Ok((
            rates,
            Engine::new(opening::open_within(&self.store, self.resources.memory_bytes())?, self.options(trace, cancel)),
        ))
    }

    /// Whether nothing but JSON is wanted.
    pub fn json(&self) -> bool {
        self.json
    }

    pub fn run<A: Algorithm>(&self, store: Store, algorithm: A, shown: Shown, cancel: &Cancel) -> Outcome {
        self.run_checked(store, algorithm, shown, None, cancel)
    }

    /// The same with a check of the answer before anything is written.
    pub fn run_checked<A: Algorithm>(
        &self,
        store: Store,
        algorithm: A,
        shown: Shown,
        checking: Option<Checking<A>>,
        cancel: &Cancel,
    ) -> Outcome {
        let check = |run: &_, store: &_| checking.map_or(Ok(String::new()), |checking| checking.run(run, store));
        self.run_and(store, algorithm, shown, check, cancel)
    }

    /// The same with something that is done with the answer before it is written, and what people are to read of that.
    pub fn run_and<A: Algorithm>(
        &self,
        store: Store,
        algorithm: A,
        shown: Shown,
        then: impl FnOnce(&FinishedRun<A>, &Store) -> Result<String, Failure>,
        cancel: &Cancel,
    ) -> Outcome {
        self.run_by(store, |engine, observer| engine.run_observed(algorithm, observer), shown, then, cancel)
    }

    /// The same for what runs an engine by itself.
    pub fn run_by<A: Algorithm>(
        &self,
        store: Store,
        run: impl FnOnce(&Engine, &mut Observer<'_>) -> Result<FinishedRun<A>, Error>,
        shown: Shown,
        then: impl FnOnce(&FinishedRun<A>, &Store) -> Result<String, Failure>,
        cancel: &Cancel,
    ) -> Outcome {
        // What is needed at the end is looked at before the beginning.
        store.ids()?;
        let output = self.output.as_deref().map(|path| ResultFile::create(path, self.output_format)).transpose()?;
        let trace = self.trace.as_deref().map(TraceFile::create).transpose()?;
        let spinner = ProgressBar::new_spinner();
        let checkpoints = self.checkpoints.open(&spinner)?;
        let mut observer = |step: &StepReport| {
            let (edges, read) = (tables::count(step.edges), tables::bytes(step.disk_bytes));
            spinner.set_message(format!("superstep {}: {edges} edges, {read} read", step.superstep));
            spinner.tick();
        };
        let timeline = trace.as_ref().map(|trace| Arc::clone(&trace.timeline));
        let rates = calibration::for_run(self.calibration.as_deref())?;
        let options = self.options(timeline, cancel).with_rates(rates).with_checkpoints(checkpoints.clone());
        let engine = Engine::new(store, options);
        let run = run(&engine, &mut observer).inspect_err(|error| {
            if matches!(error, Error::Interrupted) {
                checkpoints::stopped(checkpoints.as_deref());
            }
        })?;
        // The page buffer goes before the ids come: both together may be more than the budget.
        drop(engine);
        let store = opening::open_within(&self.store, self.resources.memory_bytes())?;
        spinner.finish_and_clear();
        trace.map_or(Ok(()), |trace| trace.write(&run.report, cancel))?;
        let said = then(&run, &store)?;
        if let Some(output) = output {
            output.write(&run.answers(), &store.ids()?, store.vertices(), cancel)?;
        }
        self.show(&run, &store, shown, &said)?;
        checkpoints::clear(checkpoints.as_deref())
    }

    /// Shows what a run did, and what people want to see of its results.
    fn show<A: Algorithm>(&self, run: &FinishedRun<A>, store: &Store, shown: Shown, said: &str) -> Outcome {
        if self.json {
            let json = serde_json::to_string_pretty(&run.report).map_err(|error| Failure::Other(error.to_string()))?;
            return print(&(json + "\n"));
        }
        let summary = summary(run, store, shown)?;
        let remark = run.remark().map_or(String::new(), |remark| remark + "\n");
        print(&(tables::run_report(&run.report) + &summary + &remark + said))
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
pub enum Shown {
    /// Nothing but what is told of the run.
    Nothing,
    /// So many vertices with the largest values.
    Top(usize),
    /// How many vertices were reached, and how far they are.
    Reached,
    /// How many vertices have values above 0.
    Wide,
    /// How many components there are, and how large.
    Components,
    /// How many communities there are, and how large.
    Communities,
    /// So many vertices with the largest coefficients, their mean, and all triangles.
    Clustering(usize),
    /// The largest value, and how many vertices have it.
    Largest,
}

fn summary<A: Algorithm>(run: &FinishedRun<A>, store: &Store, shown: Shown) -> Result<String, Failure> {
    let vertices = store.vertices();
    let answers = run.answers();
    let Some(answer) = answers.first() else { return Ok(String::new()) };
    Ok(match (shown, &answer.values) {
        (Shown::Top(top), AnswerValues::F64(_)) if top > 0 => {
            let top = results::top(answer, top, &store.ids()?, store.vertices());
            let rows = top.into_iter().map(|(id, value)| vec![id.to_string(), format!("{value:.6e}")]);
            tables::table(&["vertex", answer.name], rows)
        }
        (Shown::Reached, AnswerValues::Integer(of)) => {
            let (count, largest) = extent(of.iter(vertices).flatten());
            reached(count, store.vertices(), answer.name, &largest.unwrap_or(0).to_string())
        }
        (Shown::Reached, AnswerValues::F64(of)) => {
            let (count, largest) = extent(of.iter(vertices).filter(|value| value.is_finite()));
            let largest = format!("{:.6e}", largest.unwrap_or(0.0));
            reached(count, store.vertices(), answer.name, &largest)
        }
        (Shown::Clustering(top), AnswerValues::F64(of)) => {
            let rows = results::top(answer, top, &store.ids()?, store.vertices());
            let rows = rows.into_iter().map(|(id, value)| vec![id.to_string(), format!("{value:.6e}")]);
            let mean = of.iter(vertices).sum::<f64>() / store.vertices().max(1) as f64;
            let triangles = match answers.get(1).map(|answer| &answer.values) {
                Some(AnswerValues::Integer(of)) => of.iter(vertices).flatten().sum::<u64>() / 3,
                _ => {
                    return Ok(
                        tables::table(&["vertex", answer.name], rows) + &format!("mean coefficient: {mean:.6}\n")
                    );
                }
            };
            let triangles = tables::count(triangles);
            tables::table(&["vertex", answer.name], rows)
                + &format!("mean coefficient: {mean:.6}; triangles: {triangles}\n")
        }
        (Shown::Wide, AnswerValues::Integer(of)) => {
            wide(of.iter(vertices).flatten().filter(|&value| value > 0).count(), store.vertices())
        }
        (Shown::Wide, AnswerValues::F64(of)) => {
            wide(of.iter(vertices).filter(|&value| value > 0.0).count(), store.vertices())
        }
        (Shown::Largest, AnswerValues::Integer(of)) => {
            let (_, largest) = extent(of.iter(vertices).flatten());
            let count = of.iter(vertices).filter(|&value| value == largest).count() as u64;
            let (name, largest) = (answer.name, tables::count(largest.unwrap_or(0)));
            format!("largest {name} {largest}, of {} vertices\n", tables::count(count))
        }
        (Shown::Components | Shown::Communities, AnswerValues::Vertex(of)) => {
            let noun = if let Shown::Communities = shown { "communities" } else { "components" };
            let (components, largest) =
                component_sizes(of.iter(vertices).flatten().map(|component| component.0), vertices);
            let (components, largest) = (tables::count(components), tables::count(largest));
            format!("{noun}: {components}; vertices of the largest: {largest}\n")
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

fn wide(count: usize, vertices: u64) -> String {
    format!("reached {} of {} vertices\n", tables::count(count as u64), tables::count(vertices))
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
