//! Commands of the program: formatting, generating, extracting, plans, information.

use crate::errors::{of_edges, of_failure, of_input, of_target};
use crate::work::{Watch, interruptible_or};
use pyo3::prelude::*;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};
use topostream::cli;
use topostream_tools::progress::{Cancel, Progress, Unit};

/// Runs a command of the program, given by its words without the program's name, and returns what it prints.
///
/// `progress` is called with the stage, the position, the total or None, and the unit, some times a second.
#[pyfunction]
#[pyo3(signature = (words, progress=None))]
pub fn call(py: Python<'_>, words: Vec<String>, progress: Option<Py<PyAny>>) -> PyResult<String> {
    let (cancel, stage) = (Cancel::default(), Arc::new(Stage::default()));
    let watch = StageWatch { stage: Arc::clone(&stage), function: progress };
    let command = words.first().cloned().unwrap_or_default();
    let makes = ["format", "generate", "extract", "reformat"].contains(&command.as_str());
    let store = words.last().filter(|_| makes).cloned();
    interruptible_or(
        py,
        &cancel,
        &watch,
        || cli::call(words, &cancel, stage),
        |py, failure| match &store {
            Some(store) if command == "format" => of_input(py, failure, store),
            Some(store) => of_target(py, failure, store).unwrap_or_else(|| of_failure(py, failure)),
            None if command == "components" => of_edges(py, failure),
            None => of_failure(py, failure),
        },
    )
}

/// Runs the program with these words, without its name, and returns its exit code. Ctrl-C is the program's from then
/// on: the process is to end with this code.
#[pyfunction]
pub fn main(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| cli::main_of(std::iter::once("topostream".into()).chain(words)))
}

/// How far a command has come.
#[derive(Default)]
pub struct Stage(Mutex<Option<Position>>);

#[derive(Clone)]
struct Position {
    stage: String,
    position: u64,
    total: Option<u64>,
    unit: Unit,
}

impl Stage {
    fn with(&self, act: impl FnOnce(&mut Option<Position>)) {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Progress for Stage {
    fn begin(&self, stage: &str, total: Option<u64>, unit: Unit) {
        self.with(|now| *now = Some(Position { stage: stage.into(), position: 0, total, unit }));
    }

    fn position(&self, position: u64) {
        self.with(|now| now.iter_mut().for_each(|now| now.position = position));
    }

    fn end(&self) {}
}

/// Passes a command's progress on to a Python function.
pub struct StageWatch {
    pub stage: Arc<Stage>,
    pub function: Option<Py<PyAny>>,
}

impl Watch for StageWatch {
    fn show(&self, py: Python<'_>) -> PyResult<()> {
        let Some(function) = &self.function else { return Ok(()) };
        let mut now = None;
        self.stage.with(|position| now.clone_from(position));
        let Some(Position { stage, position, total, unit }) = now else { return Ok(()) };
        let unit = match unit {
            Unit::Bytes => "B",
            Unit::Edges => "edges",
            Unit::Pages => "pages",
        };
        function.call1(py, (stage, position, total, unit)).map(drop)
    }
}
