//! Without GPUs, every search is the CPU's.

use super::level::Level;
use super::turns::Turns;
use crate::engine::Engine;
use crate::error::Result;

/// There is none.
pub enum Searcher {}

impl Searcher {
    /// # Errors
    /// None.
    pub fn of(_engine: &Engine) -> Result<Option<Self>> {
        Ok(None)
    }

    /// The adapter's name.
    pub fn name(&self) -> &str {
        match *self {}
    }

    /// # Errors
    /// None.
    pub fn level(&self, _level: &Level<'_>, _turns: &Turns, _is: (bool, bool)) -> Result<Option<OnGpu<'_>>> {
        match *self {}
    }
}

/// There is none.
pub struct OnGpu<'a>(Searcher, std::marker::PhantomData<&'a ()>);

impl OnGpu<'_> {
    /// # Errors
    /// None.
    pub fn moved(&self, _communities: &[u32], _seed: u64) -> Result<(Vec<u32>, bool)> {
        match self.0 {}
    }

    /// # Errors
    /// None.
    pub fn refined(&self, _communities: &[u32], _seed: u64) -> Result<Vec<u32>> {
        match self.0 {}
    }
}
