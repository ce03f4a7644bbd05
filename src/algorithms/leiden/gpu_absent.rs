//! Without GPUs, every search is the CPU's.

use super::graph::Graph;
use super::level::Level;
use super::lists::Lists;
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
    pub fn level(&self, _level: &Level<'_>, _turns: &Turns, _refines: bool) -> Result<Option<OnGpu<'_>>> {
        match *self {}
    }

    /// # Errors
    /// None.
    pub fn coarse(&self, _graph: &Graph, _groups: (&[u32], u32)) -> Result<Option<Graph>> {
        match *self {}
    }
}

/// There is none.
#[derive(Default)]
pub struct DeviceCopy;

/// There are none.
pub enum Away {}

impl Away {
    /// The number of vertices.
    pub fn vertices(&self) -> u32 {
        match *self {}
    }

    /// The length of a vertex's list.
    pub fn degree(&self, _vertex: u32) -> usize {
        match *self {}
    }

    /// # Errors
    /// None.
    pub fn fetched(&self) -> Result<&Lists> {
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
