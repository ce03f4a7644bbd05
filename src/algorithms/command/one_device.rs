//! An algorithm with a variant for one device.

use super::{Finished, Runnable};
use crate::engine::{Engine, Observer};
use crate::error::Result;
use crate::model::algorithm::Algorithm;
use topostream_formats::Direction;

/// One of two with the same answer: `alone` on one device where that pays, unless checkpoints are written, or pages are
/// reprocessed whose order counts for it; `otherwise` on several devices, and what can be resumed on any device.
pub struct OneDevice<A, B> {
    /// Is not shared.
    pub alone: A,
    /// Runs on all devices, or has a variant for another one.
    pub otherwise: B,
    /// Whether an engine has the one device of the first, which is the faster one there.
    pub pays: fn(&Engine, &A) -> Result<bool>,
}

impl<A: Algorithm, B: Runnable> OneDevice<A, B> {
    fn is_alone(&self, engine: &Engine) -> Result<bool> {
        let options = engine.options();
        let in_any_order = || {
            let declaration = self.alone.declare(engine.store().topology(Direction::In).is_some());
            declaration.monotone || !declaration.traversal
        };
        Ok((!options.asynchronous || in_any_order())
            && options.checkpoints.is_none()
            && (self.pays)(engine, &self.alone)?)
    }
}

impl<A: Algorithm, B: Runnable> Runnable for OneDevice<A, B> {
    fn run(self: Box<Self>, engine: &Engine, observer: &mut Observer<'_>) -> Result<Box<dyn Finished>> {
        if self.is_alone(engine)? {
            Box::new(self.alone).run(engine, observer)
        } else {
            Box::new(self.otherwise).run(engine, observer)
        }
    }

    fn planned(self: Box<Self>, engine: &Engine) -> Result<Box<dyn Algorithm>> {
        if self.is_alone(engine)? { Ok(Box::new(self.alone)) } else { Box::new(self.otherwise).planned(engine) }
    }

    fn algorithm(&self) -> Option<&dyn Algorithm> {
        self.otherwise.algorithm()
    }

    fn algorithm_on(&self, engine: &Engine) -> Result<Option<&dyn Algorithm>> {
        if self.is_alone(engine)? { Ok(Some(&self.alone)) } else { self.otherwise.algorithm_on(engine) }
    }

    fn needed_bytes(&self, engine: &Engine) -> Result<u64> {
        if self.is_alone(engine)? { engine.needed_bytes(&self.alone) } else { self.otherwise.needed_bytes(engine) }
    }
}
