//! An algorithm that is ready to run, and a finished run, whatever the algorithm's type.

use crate::engine::{Engine, Observer, Run};
use crate::error::Result;
use crate::model::algorithm::{Algorithm, Answer};
use crate::model::vertex_set::VertexSet;
use crate::report::RunReport;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use topostream_formats::{Store, VertexId};

/// What arguments come to over a store.
pub struct Prepared {
    /// The algorithm.
    pub runs: Box<dyn Runnable>,
    /// The summary on the terminal.
    pub shown: Shown,
    /// What is done beside the run.
    pub beside: Vec<Beside>,
    /// What the times of a plan do not include, for people.
    pub left_out: Option<&'static str>,
}

impl Prepared {
    /// An algorithm, of which no summary is shown.
    pub fn new(runs: impl Runnable + 'static) -> Self {
        Self { runs: Box::new(runs), shown: Shown::Nothing, beside: Vec::new(), left_out: None }
    }

    /// The same with a summary.
    #[must_use]
    pub fn showing(self, shown: Shown) -> Self {
        Self { shown, ..self }
    }

    /// The same with something beside the run, where it was asked for.
    #[must_use]
    pub fn with(mut self, beside: Option<Beside>) -> Self {
        self.beside.extend(beside);
        self
    }

    /// The same with what a plan leaves out.
    #[must_use]
    pub fn leaving_out(self, left_out: &'static str) -> Self {
        Self { left_out: Some(left_out), ..self }
    }
}

/// Something that runs on an engine: an algorithm, or several runs that give one answer.
pub trait Runnable {
    /// Runs it to its end.
    ///
    /// # Errors
    /// Those of [`Engine::run`].
    fn run(self: Box<Self>, engine: &Engine, observer: &mut Observer<'_>) -> Result<Box<dyn Finished>>;

    /// The algorithm as it would run on the engine; nothing is computed.
    ///
    /// # Errors
    /// Where the engine's store or devices do not allow it.
    fn planned(self: Box<Self>, engine: &Engine) -> Result<Box<dyn Algorithm>>;

    /// The algorithm, where it is known before the engine is.
    fn algorithm(&self) -> Option<&dyn Algorithm> {
        None
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
pub trait Finished {
    /// What it did.
    fn report(&self) -> &RunReport;

    /// Its results, by vertex.
    fn answers(&self) -> Vec<Answer<'_>>;

    /// A line about the whole graph.
    fn remark(&self) -> Option<String>;

    /// The algorithm; of several runs, the last one.
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

/// The summary of an answer on the terminal.
pub enum Shown {
    /// None.
    Nothing,
    /// The given number of vertices with the largest values: a table for each answer of fractions.
    Top(usize),
    /// How many vertices were reached (have a value), and the largest value.
    Reached,
    /// How many vertices have a value above 0.
    AboveZero,
    /// How many groups of equal values there are, and the size of the largest; with the plural that groups go by.
    Groups(&'static str),
    /// The largest value, and how many vertices have it.
    Largest,
    /// What the algorithm says of its own answer.
    Own(Summarize),
}

/// Makes the parts of a summary of a finished run.
pub type Summarize = Box<dyn Fn(&dyn Finished, &Store) -> Vec<SummaryItem>>;

/// A part of a summary.
pub enum SummaryItem {
    /// A line.
    Line(String),
    /// The vertices with the largest values of the first answer, as many as are given here.
    Top(usize),
    /// A table: its header, and rows of as many cells.
    Table(Vec<String>, Vec<Vec<String>>),
}

/// Writes a file from a finished run.
pub type WriteFile = Box<dyn FnOnce(&dyn Finished, &Store, &mut dyn io::Write) -> io::Result<()>>;

/// What a command does beside the run and its answer.
pub enum Beside {
    /// Writes a further file from the answer. That it can be written is made sure of before the run.
    File {
        /// Where.
        path: PathBuf,
        /// Its contents.
        write: WriteFile,
    },
    /// Writes the edges from one set of vertices into another, before the run.
    CrossingEdges {
        /// Where.
        path: PathBuf,
        /// The vertices that edges leave.
        from: Arc<VertexSet>,
        /// The vertices that they enter.
        to: Arc<VertexSet>,
    },
    /// Checks levels, and parents where they are the second answer, by Graph500's rules before they are written.
    CheckSearch {
        /// Where the search began.
        source: VertexId,
    },
    /// Checks distances by Graph500's rules before they are written.
    CheckPaths {
        /// Where the paths begin.
        source: VertexId,
    },
}
