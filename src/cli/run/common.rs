//! What all algorithms have in common: the store, resources, where results go and what is shown of them.

use super::checkpoints::{self, CheckpointArgs};
use super::companions::Companions;
use super::ending::{Ending, raised, raised_failure};
use super::long::Watch;
use super::parts::{PartsFolder, own_vertices};
use super::record::{self, WholeReport};
use super::summary::AnswerSummary;
use super::tuning::RunTuning;
use crate::algorithms::command::{Finished, Prepared, Runnable, Shown};
use crate::cli::args::{self, ResourceArgs};
use crate::cli::columns::Columns;
use crate::cli::failure::{Failure, Outcome};
use crate::cli::output::{OutputFile, STDOUT};
use crate::cli::printing::{print, print_json, tell};
use crate::cli::ranking::largest;
use crate::cli::report::{self, Asked};
use crate::cli::results::{ResultFile, ResultFormat};
use crate::cli::run_report::run_report;
use crate::cli::tune::Tune;
use crate::cli::{calibration, end, opening, progress, ranks, tables, verbosity};
use crate::engine::{Engine, EngineOptions};
use crate::error::Error;
use crate::model::algorithm::{Answer, declaration_of};
use crate::predict::Rates;
use crate::report::RunReport;
use crate::store::Store;
use crate::trace::Timeline;
use clap::Args;
use indicatif::HumanDuration;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use topostream_formats::manifest::Ids;
use topostream_tools::progress::Cancel;

/// The options of all algorithms.
#[derive(Args)]
pub struct Common {
    /// The store's directory
    pub store: PathBuf,
    #[command(flatten)]
    pub resources: ResourceArgs,
    #[command(flatten)]
    tune: Tune<RunTuning>,
    /// Write every vertex's result to a file, by original id; it appears when it is complete. `-` is standard output
    #[arg(short, long, value_name = "FILE", help_heading = "Results")]
    output: Option<PathBuf>,
    /// The format of that file [default: by its name: .txt, .csv, .npy, .parquet or .arrow; text without one]
    #[arg(long, value_name = "FORMAT", requires = "output", help_heading = "Results")]
    output_format: Option<ResultFormat>,
    /// Number of vertices with the largest values to print, or of the largest groups [default: 10 of ranks and other
    /// numbers with fractions, and of groups; none of counts such as levels]
    #[arg(long, value_name = "N", help_heading = "Results")]
    top: Option<usize>,
    /// Write a page in HTML about the run: what its time was spent on, its answer, the degrees of the store; it appears
    /// when it is complete
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    report: Option<PathBuf>,
    /// Print the report and a summary of the answer, or the predictions, as JSON, times in nanoseconds, and nothing
    /// else
    #[arg(long, help_heading = "Results")]
    json: bool,
    #[command(flatten)]
    checkpoints: CheckpointArgs,
}

impl Common {
    /// The budget is measured once: what is available changes.
    fn engine_options(&self, memory_bytes: u64, cancel: &Cancel) -> EngineOptions {
        self.resources.options(&self.tune.engine, cancel).with_memory_bytes(memory_bytes)
    }

    /// The options of an engine, without rates.
    fn options(&self, memory_bytes: u64, trace: Option<Arc<Timeline>>, cancel: &Cancel) -> EngineOptions {
        self.engine_options(memory_bytes, cancel).with_asynchronous(self.tune.asynchronous).with_trace(trace)
    }

    /// The input of a plan: rates, and an engine as it would run the algorithm; it opens nothing except the store.
    pub fn planning(&self, cancel: &Cancel) -> Result<(Rates, Engine), Failure> {
        let rates = calibration::for_plan(self.tune.calibration.as_deref())?;
        let trace = self.tune.trace.is_some().then(Arc::default);
        let memory_bytes = self.resources.memory_bytes();
        let store = opening::open_within(&self.store, memory_bytes)?;
        Ok((rates, Engine::new(store, self.options(memory_bytes, trace, cancel))))
    }

    /// Whether nothing but JSON is wanted.
    pub fn json(&self) -> bool {
        self.json
    }

    /// Runs a prepared algorithm, shows its summary, and writes its results.
    pub fn run(&self, store: Store, prepared: Prepared, cancel: &Cancel) -> Outcome {
        let Prepared { runs, shown, companions, shorter, .. } = prepared;
        // Of several ranks, the first shows and writes the results.
        let first = ranks::is_first();
        let companions = if first { companions } else { Vec::new() };
        let format = self.checked_format(&store)?;
        let memory_bytes = self.resources.memory_bytes();
        let ending_bytes = self.ending(&store, &*runs, &shown, (format, !companions.is_empty())).bytes();
        let engine_options = self.engine_options(memory_bytes, cancel);
        let settings = (&engine_options, self.output_format.or(format).unwrap_or(ResultFormat::Parquet));
        let companions = Companions::begin(companions, &*runs, (&store, &self.store), settings, cancel)
            .map_err(|failure| raised_failure(failure, memory_bytes, ending_bytes))?;
        warn_of_hours(&*runs, &store, shorter);
        let (folder, output) = self.create_output(format)?;
        let trace = self.tune.trace.as_deref().filter(|_| first).map(TraceFile::create).transpose()?;
        let page = self.report.as_deref().filter(|_| first).map(OutputFile::create).transpose()?;
        let progress = Arc::default();
        let spinner = progress::of_run(Arc::clone(&progress));
        let checkpoints = self.checkpoints.open(&spinner)?;
        let timeline = trace.as_ref().map(|trace| Arc::clone(&trace.timeline));
        let rates = calibration::for_run(self.tune.calibration.as_deref())?;
        let options = self.options(memory_bytes, timeline, cancel).with_rates(rates.clone());
        let options = options.with_checkpoints(checkpoints.clone()).with_progress(progress);
        let options = options.with_cluster(ranks::shared()).with_single_run(true);
        let manifest = store.manifest().clone();
        let engine = Engine::new(store, options);
        self.ending(engine.store(), &*runs, &shown, (format, !companions.is_empty())).check(&engine)?;
        let mut watch = Watch::begin(runs.algorithm_on(&engine)?, engine.store());
        let run =
            runs.run(&engine, &mut |step| watch.see(step)).map_err(|error| raised(error, memory_bytes, ending_bytes));
        let run = run.inspect_err(|error| {
            if matches!(error, Error::Interrupted) {
                checkpoints::stopped(checkpoints.as_deref());
            }
        })?;
        if !first && output.is_none() {
            return checkpoints::clear(checkpoints.as_deref());
        }
        // The page buffer is freed before all ids are loaded, or vertices are counted by group: together they could
        // exceed the budget. Several threads free it faster than the end of the process. Otherwise the devices, one of
        // which may hold it, are closed meanwhile, which takes some 50 ms for a GPU.
        engine.free_page_buffer();
        let loads_ids = match engine.store().manifest().ids {
            Ids::Range { .. } => false,
            Ids::Packed { .. } => output.is_some() || !companions.is_empty(),
            Ids::File { .. } | Ids::Names { .. } => true,
        };
        if loads_ids || page.is_some() || matches!(shown, Shown::Groups(..)) {
            drop(engine);
        } else {
            end::leave(engine);
        }
        let store = opening::open_after(&self.store, memory_bytes, &manifest)?;
        spinner.finish_and_clear();
        trace.map_or(Ok(()), |trace| trace.write(run.report(), cancel))?;
        let mut said = companions.finish(&*run, &store, cancel)?;
        if let Some(output) = output {
            said += &self.write(output, &*run, &store, cancel)?;
        }
        folder.map_or(Ok(()), PartsFolder::complete)?;
        if !first {
            return checkpoints::clear(checkpoints.as_deref());
        }
        let command = format!("topostream {}", args::words().join(" "));
        let asked = Asked { path: &self.store, rates, command, degrees: page.is_some() };
        self.show(&*run, &store, &shown, said, (page, &asked, cancel))?;
        checkpoints::clear(checkpoints.as_deref())
    }

    /// What is made of the answer when the run has ended.
    fn ending<'a>(
        &self,
        store: &'a Store,
        runs: &'a dyn Runnable,
        shown: &Shown,
        (output, has_companions): (Option<ResultFormat>, bool),
    ) -> Ending<'a> {
        Ending {
            store,
            runs,
            output,
            has_companions,
            listed: self.top.into_iter().chain(self.tune.order_by_value).max().unwrap_or(0) as u64,
            has_groups: matches!(shown, Shown::Groups(..)),
            has_page: self.report.is_some(),
        }
    }

    /// The format of results. Checks output requirements before the run.
    fn checked_format(&self, store: &Store) -> Result<Option<ResultFormat>, Failure> {
        store.check_ids()?;
        let format = |path: &PathBuf| match self.output_format {
            Some(format) => Ok(format),
            None if self.tune.output_parts => Ok(ResultFormat::Parquet),
            None => ResultFormat::of(path),
        };
        if self.prints_results() && self.json {
            return Err(Failure::Usage("--output - and --json both write to standard output; choose one".into()));
        }
        if self.prints_results() && self.tune.output_parts {
            let message = "--tune output-parts: --output names a folder, not standard output";
            return Err(Failure::Usage(message.into()));
        }
        if self.output.is_none() && (self.tune.output_parts || self.tune.order_by_value.is_some()) {
            let key = if self.tune.output_parts { "output-parts" } else { "order-by-value" };
            return Err(Failure::Usage(format!("--tune {key}: goes with --output FILE")));
        }
        let format = self.output.as_ref().map(format).transpose()?;
        if format == Some(ResultFormat::Npy) && store.manifest().ids.is_names() {
            let message = "--output: names do not fit in a .npy file; write .csv or text";
            return Err(Failure::Other(message.into()));
        }
        Ok(format)
    }

    /// Makes sure that results can be written: to a file by the first rank, or to a folder by all.
    fn create_output(
        &self,
        format: Option<ResultFormat>,
    ) -> Result<(Option<PartsFolder>, Option<ResultFile>), Failure> {
        let (Some(path), Some(format)) = (&self.output, format) else { return Ok((None, None)) };
        if self.tune.output_parts {
            let (folder, file) = PartsFolder::create(path, format)?;
            return Ok((Some(folder), Some(file)));
        }
        let file = ranks::is_first().then(|| ResultFile::create(path, Some(format))).transpose()?;
        Ok((None, file))
    }

    /// Writes the results; returns a one-line summary.
    fn write(&self, output: ResultFile, run: &dyn Finished, store: &Store, cancel: &Cancel) -> Result<String, Failure> {
        let (answers, ids, metadata) = (run.answers(), store.ids()?, metadata(run.report(), store));
        let chosen = match (self.tune.order_by_value, answers.first()) {
            (Some(count), Some(answer)) => Some(ranked(answer, count, store)?),
            _ if self.tune.output_parts => {
                Some(own_vertices(run.report(), store.vertices()).map(|vertex| vertex as u32).collect())
            }
            _ => None,
        };
        let (answers, chosen) = (&answers[..], chosen.as_deref());
        let columns = Columns { answers, ids: &ids, vertices: store.vertices(), chosen, metadata: &metadata };
        output.write(&columns, cancel)
    }

    /// Prints the report and the summary of a run, and writes its page.
    fn show(
        &self,
        run: &dyn Finished,
        store: &Store,
        shown: &Shown,
        mut said: String,
        (page, asked, cancel): (Option<OutputFile>, &Asked<'_>, &Cancel),
    ) -> Outcome {
        warn_of_values(run.report());
        if !self.json && page.is_none() && verbosity::is_quiet() {
            return Ok(());
        }
        let mut answer = AnswerSummary::brief(run, store, shown, self.top)?;
        if self.json || page.is_some() {
            answer.describe(run);
            let origin = asked.origin(store)?;
            if self.json {
                print_json(&WholeReport { run: run.report(), origin: &origin, answer: &answer })?;
            }
            if let (Some(page), Some(path)) = (page, &self.report) {
                let html = record::page(run.report(), origin, &answer.for_page())?;
                said += &report::write(page, path, &html, cancel)?;
            }
            if self.json || verbosity::is_quiet() {
                return Ok(());
            }
        }
        for text in answer.pieces().chain([run_report(run.report()) + &said]) {
            if self.prints_results() {
                // Standard output has the results alone.
                tell(text.trim_end());
            } else {
                print(&text)?;
            }
        }
        Ok(())
    }

    /// Whether results go to standard output.
    fn prints_results(&self) -> bool {
        self.output.as_deref() == Some(Path::new(STDOUT))
    }
}

/// Edges that a few cores visit in a second: what a warning about the time is based on before a run.
const EDGES_PER_S: f64 = 1e8;
/// The time from which on there is a warning, in seconds.
const LONG_S: f64 = 3600.0;

/// Says on stderr that a run will take hours, if that is known before.
fn warn_of_hours(runs: &dyn Runnable, store: &Store, shorter: Option<&str>) {
    let passes = runs.algorithm().and_then(|algorithm| declaration_of(algorithm, store).passes(store.vertices()));
    let Some(passes) = passes.filter(|_| !verbosity::is_quiet()) else { return };
    let s = passes * store.edges() as f64 / EDGES_PER_S;
    if s > LONG_S {
        let time = HumanDuration(Duration::from_secs_f64(s.min(1e15)));
        let shorter = shorter.map_or(String::new(), |shorter| format!("; {shorter}"));
        tell(&format!("note: this visits all edges up to {passes:.0} times: about {time} at 100 M edges/s{shorter}"));
    }
}

/// Says on stderr, also with `--quiet`, that values have not converged.
fn warn_of_values(report: &RunReport) {
    if let Some(sentence) = report.unconverged() {
        let remedy = "a higher --max-iterations lets it go on, a larger --tolerance accepts this";
        tell(&format!("warning: {sentence}; {remedy}"));
    }
}

/// The vertices with the largest values.
fn ranked(answer: &Answer<'_>, count: usize, store: &Store) -> Result<Vec<u32>, Failure> {
    let ranked = largest(answer, count, store)?.ok_or_else(|| {
        Failure::Other(format!("order-by-value: the values of {} are vertices, which have no order", answer.name))
    })?;
    Ok(ranked.into_iter().map(|(vertex, _)| vertex).collect())
}

/// What files of results say about the run that they are from.
fn metadata(report: &RunReport, store: &Store) -> Vec<(String, String)> {
    let pairs = [
        ("algorithm", report.algorithm.clone()),
        ("command", args::words().join(" ")),
        ("device", report.device.clone()),
        ("store", format!("{:08x}", store.manifest().tag)),
        ("version", env!("CARGO_PKG_VERSION").into()),
    ];
    let converged = report.converged.map(|converged| ("converged", converged.to_string()));
    pairs.into_iter().chain(converged).map(|(name, value)| (format!("topostream.{name}"), value)).collect()
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
            let dropped = tables::counted(dropped, "span");
            tell(&format!("the trace ends early: {dropped} did not fit"));
        }
        Ok(())
    }
}
