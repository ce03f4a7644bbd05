//! What a subcommand of `run` and of `plan` comes to: an algorithm, which is run or planned.

use super::common::{Common, Shown};
use crate::cli::{Failure, Outcome};
use topostream::model::algorithm::Algorithm;
use topostream::{Engine, Store};
use topostream_tools::progress::Cancel;

/// The arguments of an algorithm.
pub trait Job {
    /// What all algorithms are given.
    fn common(&self) -> &Common;

    /// Runs it over the store, and shows or writes what has come of it.
    fn run(&self, store: Store, cancel: &Cancel) -> Outcome;

    /// The algorithm as it would run over the engine's store: nothing is computed, and nothing written.
    fn planned(&self, engine: &Engine) -> Result<Box<dyn Algorithm>, Failure>;

    /// What a plan leaves out.
    fn left_out(&self) -> Option<&'static str> {
        None
    }
}

/// The arguments of an algorithm that is run as it is, with nothing before it or behind.
pub trait Plain {
    /// The algorithm.
    type Algorithm: Algorithm;

    /// What all algorithms are given.
    fn common(&self) -> &Common;

    /// What the arguments ask for, over this store.
    fn algorithm(&self, store: &Store) -> Result<Self::Algorithm, Failure>;

    /// What people want to see.
    fn shown(&self) -> Shown;
}

impl<P: Plain> Job for P {
    fn common(&self) -> &Common {
        Plain::common(self)
    }

    fn run(&self, store: Store, cancel: &Cancel) -> Outcome {
        let algorithm = self.algorithm(&store)?;
        Plain::common(self).run(store, algorithm, self.shown(), cancel)
    }

    fn planned(&self, engine: &Engine) -> Result<Box<dyn Algorithm>, Failure> {
        Ok(Box::new(self.algorithm(engine.store())?))
    }
}
