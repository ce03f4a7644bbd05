//! The room for levels that are made while a graph's lists are on disk.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};

/// Main memory of a vertex at a level, in bytes.
pub const VERTEX_BYTES: u64 = 60;
/// Main memory of an edge at the level after it, from either end, in bytes.
pub const LEVEL_EDGE_BYTES: u64 = 16;
/// Of a vertex, while the level after it is made.
pub const MAKING_BYTES: u64 = 20;

/// Where levels are put, and how much memory there is.
#[derive(Clone, Debug)]
pub struct Scratch {
    /// The folder of the levels on disk.
    pub parent: PathBuf,
    /// Main memory for levels in memory, or for making one on disk.
    pub budget_bytes: u64,
    /// The most bytes of a level in memory.
    pub lists_bytes_max: u64,
    /// Whether the user has asked to stop.
    pub cancel: Arc<AtomicBool>,
    /// The number of levels on disk so far, the graph among them.
    pub levels: Arc<AtomicU32>,
}

impl Scratch {
    /// Whether there is memory for a level, and for the lists of the level after it.
    pub fn fits(&self, vertices: u64, edges: u64, weights: bool) -> bool {
        let edge_bytes = if weights { 12 } else { 4 } + LEVEL_EDGE_BYTES;
        let level_bytes = (VERTEX_BYTES + 12) * vertices + edge_bytes * edges;
        level_bytes <= self.budget_bytes.min(self.lists_bytes_max)
    }
}
