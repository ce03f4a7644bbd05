//! Runs over a store, with one engine: pages, devices and kernels are kept from run to run.

use crate::result::{RunResult, Vectors};
use crate::work::{Watch, interruptible};
use clap::{Args, Command, FromArgMatches};
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use topostream::algorithms::command::{Companion, Prepared, find};
use topostream::cli::{AnswerSummary, Failure, ResourceArgs};
use topostream::engine::{Moment, Progress};
use topostream::{Engine, Store};
use topostream_tools::progress::Cancel;

/// An engine over an open store, for any number of runs.
#[pyclass(frozen)]
pub struct RunSession {
    engine: Engine,
    store: Arc<Store>,
    cancel: Cancel,
    progress: Arc<Progress>,
    /// Bytes of the results that are alive: they are part of the session's memory.
    held_bytes: Arc<AtomicU64>,
}

#[pymethods]
impl RunSession {
    /// Opens a store for runs with these options of `topostream run`.
    #[new]
    fn new(py: Python<'_>, store: &str, words: Vec<String>) -> PyResult<Self> {
        let (cancel, progress) = (Cancel::default(), Arc::new(Progress::default()));
        let shared = Arc::clone(&progress);
        let engine = interruptible(py, &cancel, &(), || {
            let resources = resources(&words)?;
            resources.load_drivers();
            let store = topostream::cli::open(store, resources.memory_bytes())?;
            store.check_ids()?;
            let rates = topostream::cli::rates(None)?;
            Ok(Engine::new(store, resources.options(&cancel).with_progress(shared).with_rates(rates)))
        })?;
        Ok(Self { store: engine.shared_store(), engine, cancel, progress, held_bytes: Arc::default() })
    }

    /// Runs an algorithm of the catalogue with these options of its command.
    ///
    /// `progress` is called with the superstep, the pages done, the pages in all, and a line of text, some times a
    /// second.
    #[pyo3(signature = (algorithm, words, progress=None))]
    fn run(
        &self,
        py: Python<'_>,
        algorithm: &str,
        words: Vec<String>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<RunResult> {
        let watch = RunWatch { progress: Arc::clone(&self.progress), function: progress };
        let outcome = interruptible(py, &self.cancel, &watch, || self.run_now(algorithm, &words));
        // The next run starts afresh.
        self.cancel.flag().store(false, Ordering::Relaxed);
        outcome
    }
}

impl RunSession {
    fn run_now(&self, algorithm: &str, words: &[String]) -> Result<RunResult, Failure> {
        let Prepared { runs, shown, companions, .. } = self.prepared(algorithm, words)?;
        let mut files = Vec::new();
        for companion in companions {
            match companion {
                Companion::File { path, write } => files.push((topostream::cli::OutputFile::create(&path)?, write)),
                _ => {
                    let message = format!("{algorithm}: checks and edge lists are for the command line only");
                    return Err(Failure::Usage(message));
                }
            }
        }
        let vertices = self.store.vertices();
        self.engine.reserve(self.held_bytes.load(Ordering::Relaxed) + Vectors::bytes_max(vertices));
        let run = runs.run(&self.engine, &mut |_| {})?;
        for (file, write) in files {
            file.write(&self.cancel, |out| write(&*run, &self.store, out))?;
        }
        let summary = AnswerSummary::of(&*run, &self.store, &shown, None)?;
        let report = run.report();
        let json = topostream::cli::report_json(report, &summary)?;
        let text = topostream::cli::report_text(report, &summary);
        let vectors = Vectors::of(&*run, vertices, &self.held_bytes);
        Ok(RunResult::new(vectors, Arc::clone(&self.store), json, text, report.algorithm.clone()))
    }

    fn prepared(&self, algorithm: &str, words: &[String]) -> Result<Prepared, Failure> {
        let unknown = || Failure::Usage(format!("{algorithm}: no algorithm has this name"));
        let entry = find(algorithm).ok_or_else(unknown)?;
        let arguments = entry.arguments.read(words.iter().map(String::as_str));
        let arguments = arguments.map_err(|error| Failure::Usage(topostream::cli::usage_text(&error)))?;
        Ok(arguments.prepare(&self.store, &self.cancel.flag())?)
    }
}

/// The options of resources that words of a command line name.
pub fn resources(words: &[String]) -> Result<ResourceArgs, Failure> {
    let command = ResourceArgs::augment_args(Command::new("session").no_binary_name(true));
    let matches = command.try_get_matches_from(words);
    let arguments = matches.and_then(|matches| ResourceArgs::from_arg_matches(&matches));
    arguments.map_err(|error| Failure::Usage(topostream::cli::usage_text(&error)))
}

/// Passes a run's progress on to a Python function.
struct RunWatch {
    progress: Arc<Progress>,
    function: Option<Py<PyAny>>,
}

impl Watch for RunWatch {
    fn show(&self, py: Python<'_>) -> PyResult<()> {
        let Some(function) = &self.function else { return Ok(()) };
        let Moment { superstep, pages, pages_done, edges, disk_bytes, iterations, .. } = self.progress.now();
        let change = iterations.map(|(_, change)| change);
        function.call1(py, (superstep, pages_done.min(pages), pages, edges, disk_bytes, change)).map(drop)
    }
}
