//! A run, and a finished run, independent of the algorithm's type.

use crate::engine::{Engine, Observer, Run};
use crate::error::{Error, Result};
use crate::model::algorithm::{Algorithm, Answer};
use crate::report::RunReport;
use topostream_formats::Store;

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

    /// Returns the algorithm as it would run on the engine, if that is known without computing anything.
    ///
    /// # Errors
    /// Errors from opening the devices.
    fn algorithm_on(&self, _engine: &Engine) -> Result<Option<&dyn Algorithm>> {
        Ok(self.algorithm())
    }

    /// Returns the minimum budget of the run on an engine, in bytes. What depends on the budget is known only where it
    /// is too small: otherwise 0.
    ///
    /// # Errors
    /// Errors from opening the devices.
    fn needed_bytes(&self, engine: &Engine) -> Result<u64>;

    /// The most columns of its answer.
    fn columns(&self) -> u64 {
        3
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

    fn needed_bytes(&self, engine: &Engine) -> Result<u64> {
        engine.needed_bytes(self)
    }
}

/// The budget that a plan, or a check, needs if it is refused, in bytes.
pub fn refused_bytes<T>(planned: Result<T>) -> u64 {
    match planned {
        Err(Error::Memory { needed_bytes, .. }) => needed_bytes,
        // Other errors are left to the run.
        Ok(_) | Err(_) => 0,
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

/// A number of a summary.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub enum Figure {
    /// A count, a level, a degree.
    Integer(u64),
    /// A rank, a distance, a share.
    F64(f64),
    /// A rank, a distance or a share in single precision.
    F32(f32),
}

impl Figure {
    /// A number of a column.
    pub fn of(answer: &Answer<'_>, value: f64) -> Self {
        if answer.is_single { Self::F32(value as f32) } else { Self::F64(value) }
    }
}
