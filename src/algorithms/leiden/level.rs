//! A level in progress: its graph, and what draws its vertices to communities.

use super::graph::Graph;
use super::objective::Pull;
use crate::error::{Error, Result};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A level in progress.
pub struct Level<'a> {
    /// Its graph.
    pub graph: &'a Graph,
    /// What draws vertices to communities.
    pub pull: Pull,
    /// Whether the user has asked to stop.
    pub cancel: &'a AtomicBool,
}

impl Level<'_> {
    /// # Errors
    /// [`Error::Interrupted`] after cancellation.
    pub fn check(&self) -> Result<()> {
        if self.cancel.load(Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }
}
