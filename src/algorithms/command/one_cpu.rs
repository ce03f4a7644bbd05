//! An algorithm with a variant for one CPU.

use super::{Finished, Runnable};
use crate::engine::{Engine, Observer};
use crate::error::Result;
use crate::model::algorithm::Algorithm;

/// One of two algorithms with the same answer: `alone` on one CPU where that pays, unless pages are reprocessed or
/// checkpoints are written; `otherwise` what several devices share, and what can be resumed on any device.
pub struct OneCpu<A, B> {
    /// Has no shader.
    pub alone: A,
    /// Runs on all devices.
    pub otherwise: B,
    /// Whether the first is the faster one.
    pub pays: fn(&Engine, &A) -> Result<bool>,
}

impl<A: Algorithm, B: Algorithm> OneCpu<A, B> {
    fn is_alone(&self, engine: &Engine) -> Result<bool> {
        let options = engine.options();
        let may = !options.asynchronous && options.checkpoints.is_none() && engine.is_one_cpu()?;
        Ok(may && (self.pays)(engine, &self.alone)?)
    }
}

impl<A: Algorithm, B: Algorithm> Runnable for OneCpu<A, B> {
    fn run(self: Box<Self>, engine: &Engine, observer: &mut Observer<'_>) -> Result<Box<dyn Finished>> {
        if self.is_alone(engine)? {
            Box::new(self.alone).run(engine, observer)
        } else {
            Box::new(self.otherwise).run(engine, observer)
        }
    }

    fn planned(self: Box<Self>, engine: &Engine) -> Result<Box<dyn Algorithm>> {
        Ok(if self.is_alone(engine)? { Box::new(self.alone) } else { Box::new(self.otherwise) })
    }

    fn algorithm(&self) -> Option<&dyn Algorithm> {
        Some(&self.otherwise)
    }

    fn algorithm_on(&self, engine: &Engine) -> Result<Option<&dyn Algorithm>> {
        Ok(Some(if self.is_alone(engine)? { &self.alone } else { &self.otherwise }))
    }

    fn needed_bytes(&self, engine: &Engine) -> Result<u64> {
        if self.is_alone(engine)? { engine.needed_bytes(&self.alone) } else { engine.needed_bytes(&self.otherwise) }
    }
}
