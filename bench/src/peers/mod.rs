//! Other engines. Their binaries are given by folder; they are not built here.

pub mod acgraph;
pub mod gap;
pub mod gridgraph;
pub mod process;

use crate::error::Result;
use process::Launch;

/// The figures that an engine prints for a search, or for one pass of PageRank.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Told {
    /// Nanoseconds.
    pub ns: f64,
    /// Bytes read from disk, if reported.
    pub disk_bytes: Option<f64>,
    /// Edges visited, if reported.
    pub edges: Option<f64>,
    /// Vertices reached, for searches.
    pub reached: Option<u64>,
}

/// Another engine.
pub trait Peer {
    /// The name in tables.
    fn name(&self) -> &'static str;
    /// Whether it reads the graph from disk during the run, and so is a competitor.
    fn is_out_of_core(&self) -> bool;
    /// Searches from a vertex.
    fn bfs(&self, launch: &Launch, source: u32) -> Result<Told>;
    /// Runs a pass of PageRank.
    fn pagerank(&self, launch: &Launch) -> Result<Told>;
}
