//! An algorithm that is ready to run, and a finished run, independent of the algorithm's type.

use super::Path;
use crate::engine::{Engine, Observer, Run};
use crate::error::Result;
use crate::model::algorithm::{Algorithm, Answer};
use crate::model::vertex_set::VertexSet;
use crate::report::RunReport;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use topostream_formats::{Store, VertexId};

/// A prepared run over a store.
pub struct Prepared {
    /// The algorithm.
    pub runs: Box<dyn Runnable>,
    /// The summary on the terminal.
    pub shown: Shown,
    /// Additional work of the command.
    pub companions: Vec<Companion>,
    /// For people: a note on work that is not part of a plan's figures.
    pub plan_note: Option<&'static str>,
    /// For people: what takes less time, where a run takes hours.
    pub shorter: Option<&'static str>,
}

impl Prepared {
    /// A run without a summary.
    pub fn new(runs: impl Runnable + 'static) -> Self {
        Self { runs: Box::new(runs), shown: Shown::Nothing, companions: Vec::new(), plan_note: None, shorter: None }
    }

    /// Adds a summary.
    #[must_use]
    pub fn showing(self, shown: Shown) -> Self {
        Self { shown, ..self }
    }

    /// Adds work of the command, if requested.
    #[must_use]
    pub fn with(mut self, companion: Option<Companion>) -> Self {
        self.companions.extend(companion);
        self
    }

    /// Adds what takes less time.
    #[must_use]
    pub fn with_shorter(self, shorter: &'static str) -> Self {
        Self { shorter: Some(shorter), ..self }
    }

    /// Adds a note on work that is not part of a plan's figures.
    #[must_use]
    pub fn with_plan_note(self, note: &'static str) -> Self {
        Self { plan_note: Some(note), ..self }
    }
}

/// An algorithm, or several runs with one answer.
pub trait Runnable: Send {
    /// Runs to the end.
    ///
    /// # Errors
    /// The errors of [`Engine::run`].
    fn run(self: Box<Self>, engine: &Engine, observer: &mut Observer<'_>) -> Result<Box<dyn Finished>>;

    /// Returns the algorithm as it would run on the engine; computes nothing.
    ///
    /// # Errors
    /// If the engine's store or devices do not support it.
    fn planned(self: Box<Self>, engine: &Engine) -> Result<Box<dyn Algorithm>>;

    /// Returns the algorithm, if it is known without the engine.
    fn algorithm(&self) -> Option<&dyn Algorithm> {
        None
    }

    /// The main memory of answers in addition to the algorithm's own, in bytes.
    fn beside_bytes(&self, _store: &Store) -> u64 {
        0
    }
}

impl<A: Algorithm> Runnable for A {
    fn run(self: Box<Self>, engine: &Engine, observer: &mut Observer<'_>) -> Result<Box<dyn Finished>> {
        Ok(Box::new(engine.run_observed(*self, observer)?))
    }

    fn planned(self: Box<Self>, _engine: &Engine) -> Result<Box<dyn Algorithm>> {
        Ok(self)
    }

    fn algorithm(&self) -> Option<&dyn Algorithm> {
        Some(self)
    }
}

/// A finished run.
pub trait Finished: Send + Sync {
    /// Its report.
    fn report(&self) -> &RunReport;

    /// Its results, by vertex.
    fn answers(&self) -> Vec<Answer<'_>>;

    /// A result about the whole graph, as a line of text.
    fn remark(&self) -> Option<String>;

    /// The algorithm; the last one of several runs.
    fn algorithm(&self) -> &dyn Algorithm;
}

impl<A: Algorithm> Finished for Run<A> {
    fn report(&self) -> &RunReport {
        &self.report
    }

    fn answers(&self) -> Vec<Answer<'_>> {
        Run::answers(self)
    }

    fn remark(&self) -> Option<String> {
        Run::remark(self)
    }

    fn algorithm(&self) -> &dyn Algorithm {
        let algorithm: &A = Run::algorithm(self);
        algorithm
    }
}

impl<F: Finished + ?Sized> Finished for Box<F> {
    fn report(&self) -> &RunReport {
        (**self).report()
    }

    fn answers(&self) -> Vec<Answer<'_>> {
        (**self).answers()
    }

    fn remark(&self) -> Option<String> {
        (**self).remark()
    }

    fn algorithm(&self) -> &dyn Algorithm {
        (**self).algorithm()
    }
}

/// How an answer is summarised, in addition to the vertices with the largest values.
pub enum Shown {
    /// No summary.
    Nothing,
    /// Only the vertices with the largest values.
    Top,
    /// The number of vertices with a value (the reached ones), and the largest value.
    Reached,
    /// The number of vertices with a value above 0.
    AboveZero,
    /// The number of groups of equal values and the largest of them; with the plural noun for a group.
    Groups(&'static str),
    /// The largest value, and the number of vertices that have it.
    Largest,
    /// By the algorithm's own function.
    Own(Summarize),
}

/// Summarises a finished run.
pub type Summarize = Box<dyn Fn(&dyn Finished, &Store) -> Vec<SummaryItem> + Send>;

/// An item of a summary.
pub enum SummaryItem {
    /// Figures about the whole graph, with their names: on the terminal a line.
    Figures(Vec<(&'static str, Figure)>),
    /// The vertices with the largest values of the first answer.
    Top,
    /// The number of vertices with a value (the reached ones), and the largest value.
    Reached,
    /// A path from the source of a search to a vertex.
    Path(Path),
    /// A table of counts.
    Counts {
        /// The headings, that of the labels first.
        header: Vec<String>,
        /// A label and its counts, one for each further heading.
        rows: Vec<(String, Vec<u64>)>,
    },
}

/// A number of a summary.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub enum Figure {
    /// A count, a level, a degree.
    Integer(u64),
    /// A rank, a distance, a share.
    F64(f64),
    /// The same in single precision.
    F32(f32),
}

impl Figure {
    /// A number of a column.
    pub fn of(answer: &Answer<'_>, value: f64) -> Self {
        if answer.is_single { Self::F32(value as f32) } else { Self::F64(value) }
    }
}

/// Writes a file from a finished run.
pub type WriteFile = Box<dyn FnOnce(&dyn Finished, &Store, &mut dyn io::Write) -> io::Result<()> + Send>;

/// Work of a command in addition to the run and its answer.
pub enum Companion {
    /// Writes another file from the answer. Checks before the run whether the file can be written.
    File {
        /// Its path.
        path: PathBuf,
        /// Its contents.
        write: WriteFile,
    },
    /// Writes the edges from one set of vertices into another, before the run.
    CrossingEdges {
        /// The path of the file.
        path: PathBuf,
        /// The vertices that the edges leave.
        from: Arc<VertexSet>,
        /// The vertices that the edges enter.
        to: Arc<VertexSet>,
    },
    /// Checks levels (and parents, if they are the second answer) by Graph500's rules before they are written.
    CheckSearch {
        /// The source of the search.
        source: VertexId,
    },
    /// Checks distances (and parents, if they are the second answer) by Graph500's rules before they are written.
    CheckPaths {
        /// The source of the paths.
        source: VertexId,
        /// Whether distances over float weights are in single precision.
        single: bool,
        /// The largest distance, if there is a limit.
        cutoff: Option<f64>,
    },
}
