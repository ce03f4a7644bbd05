//! Checkpoints of a run: how it starts from one, and when one is written.

use super::session::Session;
use crate::checkpoint::{Checkpoints, Moment, Reader};
use crate::cluster::Wish;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::model::algorithm::{Declaration, Step, Visit};
use crate::report::RunReport;
use std::sync::Arc;
use std::time::Instant;

impl Session<'_> {
    /// Initialises the run, or restores it from a checkpoint. Returns the first superstep and the number of its active
    /// vertices.
    pub(super) fn start(&mut self) -> Result<(Option<Step>, u64)> {
        if let Some(checkpoints) = self.options.checkpoints.clone()
            && let Some(start) = self.resume(&checkpoints)?
        {
            return Ok(start);
        }
        let totals = self.device.initialise()?;
        let step = self.algorithm.first(&self.graph, totals);
        let active = match step {
            Some(Step { visit: Visit::All, .. }) => self.graph.vertices,
            _ => self.algorithm.seeds().active.len() as u64,
        };
        Ok((step, active))
    }

    fn resume(&mut self, checkpoints: &Checkpoints) -> Result<Option<(Option<Step>, u64)>> {
        let declaration = Arc::clone(&self.declaration);
        let run = (self.store, self.options.asynchronous);
        let Some(mut found) = checkpoints.take(run, &*self.algorithm, &declaration)? else { return Ok(None) };
        let (algorithm, step) = (Arc::clone(&self.algorithm), found.step);
        self.device.restore(&step, &mut |state, complete| found.load(&*algorithm, &declaration, state, complete))?;
        Ok(Some((Some(step), found.active)))
    }

    /// Called before each superstep. Writes a checkpoint if one is due, and ends the run if it is to stop. With
    /// checkpoints or other ranks, cancellation takes effect only between supersteps.
    pub(super) fn between(&mut self, next: &Step, active: u64, report: &RunReport) -> Result<()> {
        let is_patient = self.options.checkpoints.is_some() || self.options.ranks().is_some();
        let stopping = is_patient && self.is_stopping();
        if let Some(checkpoints) = self.options.checkpoints.clone() {
            let due = match self.options.ranks() {
                Some(cluster) => cluster.is_agreed(Wish::Checkpoint),
                None => checkpoints.is_due(0, stopping),
            };
            if due {
                self.write_checkpoint(&checkpoints, next, active, report)?;
            }
        }
        if stopping { Err(Error::Interrupted) } else { Ok(()) }
    }

    fn write_checkpoint(
        &mut self,
        checkpoints: &Checkpoints,
        next: &Step,
        active: u64,
        report: &RunReport,
    ) -> Result<()> {
        let (algorithm, declaration) = (Arc::clone(&self.algorithm), Arc::clone(&self.declaration));
        let moment = Moment {
            store: self.store,
            algorithm: &*algorithm,
            asynchronous: self.options.asynchronous,
            declaration: &declaration,
            step: next,
            active,
            edges: report.total.edges,
            disk_bytes: report.total.disk_bytes,
        };
        let (begun, mut written) = (Instant::now(), Ok(()));
        self.device.save(next, &mut |state, range| written = checkpoints.write(&moment, state, range))?;
        self.spans.phase("checkpoint", begun, 0);
        if let Some(cluster) = self.options.ranks() {
            cluster.fulfil(Wish::Checkpoint);
        }
        written
    }
}

impl Engine {
    /// Returns a reader of the data that an algorithm has kept in the checkpoint from which the next run resumes, if
    /// there is one, and its length in bytes.
    pub(crate) fn kept(&self, algorithm: &str) -> Result<Option<(Reader, u64)>> {
        self.settled()?.map_or(Ok(None), |checkpoints| checkpoints.kept(algorithm))
    }

    /// Returns the checkpoints, once all ranks have chosen the one to resume from.
    fn settled(&self) -> Result<Option<&Checkpoints>> {
        let Some(checkpoints) = self.options.checkpoints.as_deref() else { return Ok(None) };
        checkpoints.settle()?;
        Ok(Some(checkpoints))
    }

    /// Checks whether the next run can resume from the checkpoint, if there is one. Algorithms with long preparations
    /// call this first.
    pub(crate) fn check_checkpoint(&self, declaration: &Declaration) -> Result<()> {
        let Some(checkpoints) = self.settled()? else { return Ok(()) };
        checkpoints.check((&self.store, self.options.asynchronous), declaration)
    }
}
