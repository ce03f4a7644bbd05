//! What all algorithms have in common: the store, resources, where results go and what is shown of them.

use super::checkpoints::{self, CheckpointArgs};
use super::companions::Companions;
use super::summary::summary;
use crate::cli::args::ResourceArgs;
use crate::cli::columnar::Columns;
use crate::cli::results::{OutputFile, ResultFile, ResultFormat, STDOUT};
use crate::cli::{Failure, Outcome, calibration, opening, print, tables};
use clap::Args;
use indicatif::ProgressBar;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use topostream::algorithms::command::{Finished, Prepared, Shown};
use topostream::predict::Rates;
use topostream::report::{RunReport, StepReport};
use topostream::trace::Timeline;
use topostream::{Engine, EngineOptions, Error, Store};
use topostream_formats::manifest::Ids;
use topostream_tools::progress::Cancel;

/// The options of all algorithms.
#[derive(Args)]
pub struct Common {
    /// The store's directory
    pub store: PathBuf,
    #[command(flatten)]
    pub resources: ResourceArgs,
    /// Write every vertex's result to a file, by original id; it appears when it is complete. `-` is standard output
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    output: Option<PathBuf>,
    /// The format of that file [default: by its name: .txt, .csv, .npy, .parquet or .arrow; text without one]
    #[arg(long, value_name = "FORMAT", requires = "output", help_heading = "Results")]
    output_format: Option<ResultFormat>,
    /// Write a timeline (reads, checks, copies, kernels) to a file that ui.perfetto.dev and chrome://tracing
    /// open; takes 40 MiB of the memory
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    trace: Option<PathBuf>,
    /// Rates of this machine, for predictions [default: those that `topostream calibrate` saved]
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    calibration: Option<PathBuf>,
    /// Process pages in memory again before others are read, where values go one way only (sssp, components, widest):
    /// more supersteps, fewer bytes from disk
    #[arg(long, help_heading = "Resources")]
    asynchronous: bool,
    /// Print the report, or the predictions, as JSON, times in nanoseconds, and nothing else
    #[arg(long, help_heading = "Results")]
    json: bool,
    #[command(flatten)]
    checkpoints: CheckpointArgs,
}

impl Common {
    /// The options of an engine, without rates.
    fn options(&self, trace: Option<Arc<Timeline>>, cancel: &Cancel) -> EngineOptions {
        self.resources.options(cancel).with_asynchronous(self.asynchronous).with_trace(trace)
    }

    /// The input of a plan: rates, and an engine as it would run the algorithm; it opens nothing except the store.
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

    /// Runs a prepared algorithm, shows its summary, and writes its results.
    pub fn run(&self, store: Store, prepared: Prepared, cancel: &Cancel) -> Outcome {
        let Prepared { runs, shown, companions, .. } = prepared;
        let companions = Companions::begin(companions, &*runs, &store, self, cancel)?;
        // What is needed at the end is looked at before the beginning.
        store.check_ids()?;
        let format = |path: &PathBuf| self.output_format.map_or_else(|| ResultFormat::of(path), Ok);
        if self.prints_results() && self.json {
            return Err(Failure::Usage("--output - and --json both write to standard output; choose one".into()));
        }
        let format = self.output.as_ref().map(format).transpose()?;
        if format == Some(ResultFormat::Npy) && store.manifest().ids.is_names() {
            let message = "--output: names do not fit in a .npy file; write .csv or text";
            return Err(Failure::Other(message.into()));
        }
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
        let run = runs.run(&engine, &mut observer).inspect_err(|error| {
            if matches!(error, Error::Interrupted) {
                checkpoints::stopped(checkpoints.as_deref());
            }
        })?;
        // The page buffer is freed before the ids are loaded: together they could exceed the budget. Several threads
        // free it faster than the end of the process. If ids need no memory, that is left to free the rest.
        engine.free_page_buffer();
        match engine.store().manifest().ids {
            Ids::Range { .. } => std::mem::forget(engine),
            Ids::File { .. } | Ids::Packed { .. } | Ids::Names { .. } => drop(engine),
        }
        let store = opening::open_within(&self.store, self.resources.memory_bytes())?;
        spinner.finish_and_clear();
        trace.map_or(Ok(()), |trace| trace.write(run.report(), cancel))?;
        let mut said = companions.finish(&*run, &store, cancel)?;
        if let Some(output) = output {
            let (answers, ids, metadata) = (run.answers(), store.ids()?, metadata(run.report(), &store));
            let columns = Columns { answers: &answers, ids: &ids, vertices: store.vertices(), metadata: &metadata };
            said += &output.write(&columns, cancel)?;
        }
        self.show(&*run, &store, &shown, &said)?;
        checkpoints::clear(checkpoints.as_deref())
    }

    /// Prints the report and the summary of a run.
    fn show(&self, run: &dyn Finished, store: &Store, shown: &Shown, said: &str) -> Outcome {
        if self.json {
            let json = serde_json::to_string_pretty(run.report()).map_err(|error| Failure::Other(error.to_string()))?;
            return print(&(json + "\n"));
        }
        let summary = summary(run, store, shown)?;
        let remark = run.remark().map_or(String::new(), |remark| remark + "\n");
        let text = tables::run_report(run.report()) + &summary + &remark + said;
        if self.prints_results() {
            // Standard output has the results alone.
            return std::io::stderr().write_all(text.as_bytes()).map_err(|error| Failure::Other(error.to_string()));
        }
        print(&text)
    }

    /// Whether results go to standard output.
    fn prints_results(&self) -> bool {
        self.output.as_deref() == Some(Path::new(STDOUT))
    }
}

/// What files of results say about the run that they are from.
fn metadata(report: &RunReport, store: &Store) -> Vec<(String, String)> {
    let command: Vec<String> = std::env::args().skip(1).collect();
    let pairs = [
        ("algorithm", report.algorithm.clone()),
        ("command", command.join(" ")),
        ("device", report.device.clone()),
        ("store", format!("{:08x}", store.manifest().tag)),
        ("version", env!("CARGO_PKG_VERSION").into()),
    ];
    pairs.into_iter().map(|(name, value)| (format!("topostream.{name}"), value)).collect()
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
