//! A level in progress: its graph, and what draws its vertices to communities.

use super::clock::Clock;
use super::graph::Graph;
use super::objective::Pull;
use crate::engine::{Progress, Stage};
use crate::error::{Error, Result};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A level in progress.
pub struct Level<'a> {
    /// Its graph.
    pub graph: &'a Graph,
    /// What draws vertices to communities.
    pub pull: Pull,
    /// Its number.
    pub number: u64,
    /// Who watches.
    pub watch: Watch<'a>,
}

/// Who watches a search: users see how far it is, and may stop it.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Whether the user has asked to stop.
    pub cancel: &'a AtomicBool,
    /// What shows how far it is.
    pub progress: Option<&'a Progress>,
    /// The iteration.
    pub iteration: u32,
    /// The times of parts.
    pub clock: &'a Clock,
}

impl Level<'_> {
    /// A round over so many batches begins; none if groups are refined.
    pub fn begin_round(&self, round: Option<u64>, batches: usize) {
        let Watch { progress, iteration, .. } = self.watch;
        if let Some(progress) = progress {
            let stage = Stage { iteration, level: self.number as u32, round: round.map(|round| round as u32) };
            progress.begin_stage(stage, batches as u64);
        }
    }

    /// A batch ends.
    ///
    /// # Errors
    /// [`Error::Interrupted`] after cancellation.
    pub fn end_batch(&self) -> Result<()> {
        if let Some(progress) = self.watch.progress {
            progress.batch_done();
        }
        self.check()
    }

    /// # Errors
    /// [`Error::Interrupted`] after cancellation.
    pub fn check(&self) -> Result<()> {
        if self.watch.cancel.load(Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }
}
