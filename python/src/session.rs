//! Runs over a store, with one engine: pages, devices and kernels are kept from run to run.

use crate::arrays::check_same;
use crate::report::Report;
use crate::result::{RunResult, Vectors};
use crate::turns::{self, Turns};
use crate::work::{Watch, abandonable, interruptible};
use clap::{Args, Command, FromArgMatches};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use topostream::algorithms::CATALOGUE;
use topostream::algorithms::command::{Companion, Prepared, find};
use topostream::cli::{AnswerSummary, Asked, Failure, SessionArgs};
use topostream::engine::{Moment, Progress};
use topostream::predict::Rates;
use topostream::{Engine, Store};

/// A session, which its runs share.
#[pyclass(frozen)]
pub struct RunSession(Arc<Session>);

/// An engine over an open store, for any number of runs.
struct Session {
    engine: Engine,
    store: Arc<Store>,
    /// The store's folder.
    path: PathBuf,
    /// The rates of this machine, if they are known.
    rates: Option<Arc<Rates>>,
    turns: Arc<Turns>,
    progress: Arc<Progress>,
    /// Bytes of the results that are alive: they are part of the session's memory.
    held_bytes: Arc<AtomicU64>,
}

#[pymethods]
impl RunSession {
    /// Opens the store with this fingerprint for runs with these resources and settings of `topostream run`.
    #[new]
    fn new(py: Python<'_>, store: &str, fingerprint: u32, words: Vec<String>) -> PyResult<Self> {
        let turns = Arc::new(Turns::default());
        let (progress, path) = (Arc::new(Progress::default()), PathBuf::from(store));
        let (shared, cancel) = (Arc::clone(&progress), turns.engine());
        let (engine, rates) = interruptible(py, cancel, &(), || {
            let arguments = arguments(&words)?;
            arguments.resources.load_drivers();
            let store = topostream::cli::open(store, arguments.resources.memory_bytes())?;
            check_same(&store, fingerprint)?;
            store.check_ids()?;
            let rates = topostream::cli::rates(None)?;
            let options = arguments.options(cancel).with_progress(shared).with_rates(rates.clone());
            Ok((Engine::new(store, options), rates))
        })?;
        let (store, held_bytes) = (engine.shared_store(), Arc::default());
        Ok(Self(Arc::new(Session { engine, store, path, rates, turns, progress, held_bytes })))
    }

    /// Runs an algorithm of the catalogue with these options of its command, when it is its turn. `command` is what the
    /// report says was called.
    ///
    /// `progress` is called with the superstep, the pages done, the pages in all, the edges, the bytes read, and the
    /// last change or None, some times a second.
    #[pyo3(signature = (algorithm, words, command, progress=None))]
    fn run(
        &self,
        py: Python<'_>,
        algorithm: &str,
        words: Vec<String>,
        command: String,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<RunResult> {
        let (session, run, algorithm) = (Arc::clone(&self.0), Arc::new(self.0.turns.run()), algorithm.to_owned());
        let watch = RunWatch { run: &run, progress: &self.0.progress, function: progress };
        let own = Arc::clone(&run);
        abandonable(py, &*run, &watch, move || {
            // It shows nothing of the run before.
            let _turn = own.turn(|| session.progress.clear())?;
            session.run_now(&own, &algorithm, &words, command)
        })
    }
}

impl Session {
    fn run_now(
        &self,
        turn: &turns::Run,
        algorithm: &str,
        words: &[String],
        command: String,
    ) -> Result<RunResult, Failure> {
        let Prepared { runs, shown, companions, .. } = self.prepared(turn, algorithm, words)?;
        let mut files = Vec::new();
        for companion in companions {
            match companion {
                Companion::File { path, write } => files.push((topostream::cli::OutputFile::create(&path)?, write)),
                _ => {
                    let message = format!("{algorithm}: checks, levels and edge lists are for the command line only");
                    return Err(Failure::Usage(message));
                }
            }
        }
        let (vertices, columns) = (self.store.vertices(), runs.columns());
        self.engine.reserve(self.held_bytes.load(Ordering::Relaxed) + Vectors::memory_bytes(columns, vertices));
        let run = runs.run(&self.engine, &mut |_| {})?;
        for (file, write) in files {
            file.write(&turn.cancel, |out| write(&*run, &self.store, out))?;
        }
        let summary = AnswerSummary::of(&*run, &self.store, &shown, None)?;
        let report = run.report();
        let asked = Asked { path: &self.path, rates: self.rates.clone(), command, degrees: false };
        let json = topostream::cli::report_json(report, &asked.origin(&self.store)?, &summary)?;
        let text = topostream::cli::report_text(report, &summary);
        let algorithm = report.algorithm.clone();
        let vectors = Vectors::of(&*run, (columns, vertices), &self.held_bytes);
        Ok(RunResult::new(vectors, Arc::clone(&self.store), Report::new(text, json, &self.store), algorithm))
    }

    fn prepared(&self, turn: &turns::Run, algorithm: &str, words: &[String]) -> Result<Prepared, Failure> {
        let unknown = || {
            let names: Vec<_> = CATALOGUE.iter().map(|entry| entry.name).collect();
            Failure::Usage(format!("{algorithm}: no algorithm has this name; there are {}", names.join(", ")))
        };
        let entry = find(algorithm).ok_or_else(unknown)?;
        let arguments = entry.arguments.read(words.iter().map(String::as_str));
        let arguments = arguments.map_err(|error| Failure::Usage(topostream::cli::usage_text(&error)))?;
        Ok(arguments.prepare(&self.store, &turn.cancel.flag())?)
    }
}

/// The resources and settings that words name.
fn arguments(words: &[String]) -> Result<SessionArgs, Failure> {
    let command = SessionArgs::augment_args(Command::new("session").no_binary_name(true));
    let matches = command.try_get_matches_from(words);
    let arguments = matches.and_then(|matches| SessionArgs::from_arg_matches(&matches));
    arguments.map_err(|error| Failure::Usage(topostream::cli::usage_text(&error)))
}

/// Passes a run's progress on to a Python function.
struct RunWatch<'a> {
    run: &'a turns::Run,
    progress: &'a Progress,
    function: Option<Py<PyAny>>,
}

impl Watch for RunWatch<'_> {
    fn show(&self, py: Python<'_>) -> PyResult<()> {
        // A run that waits for its turn has no progress: the engine's is that of another run.
        let Some(function) = self.function.as_ref().filter(|_| self.run.has_turn()) else { return Ok(()) };
        let Moment { superstep, pages, pages_done, edges, disk_bytes, iterations, .. } = self.progress.now();
        let change = iterations.map(|(_, change)| change);
        function.call1(py, (superstep, pages_done.min(pages), pages, edges, disk_bytes, change)).map(drop)
    }
}
