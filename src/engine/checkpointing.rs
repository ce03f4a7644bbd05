//! Checkpoints of a run: how it starts from one, and when one is written.

use super::session::Session;
use crate::checkpoint::{Checkpoints, Moment, Reader};
use crate::cluster::Wish;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::model::Part;
use crate::model::algorithm::{Algorithm, Declaration, State, Step, Visit, declaration_of};
use crate::report::{CheckpointReport, RunReport};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use topostream_formats::Direction;

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

/// A run of an algorithm whose work is not in supersteps: the state between its parts is what it
/// [keeps](Algorithm::keep).
pub(crate) struct KeptRun<'a> {
    engine: &'a Engine,
    state: State,
}

impl KeptRun<'_> {
    /// Passes what was kept to an algorithm, if there is a checkpoint to resume from.
    ///
    /// # Errors
    /// [`Error::Checkpoint`].
    pub fn resume<A: Algorithm>(&self, algorithm: &A) -> Result<()> {
        let (store, declaration) = (&*self.engine.store, declaration_of(algorithm, &self.engine.store));
        let Some(checkpoints) = self.engine.settled()? else { return Ok(()) };
        let Some(mut found) = checkpoints.take((store, false), algorithm, &declaration)? else { return Ok(()) };
        found.load(algorithm, &declaration, &self.state, &|_, _| Ok(()))
    }

    /// Writes a checkpoint after a part, if one is due.
    ///
    /// # Errors
    /// The errors of a checkpoint.
    pub fn save<A: Algorithm>(&self, algorithm: &A) -> Result<()> {
        let Some(checkpoints) = &self.engine.options.checkpoints else { return Ok(()) };
        checkpoints.superstep_done();
        if !checkpoints.is_due(0, false) {
            return Ok(());
        }
        let (store, declaration) = (&*self.engine.store, declaration_of(algorithm, &self.engine.store));
        let step = Step::new(0, Direction::Out, Visit::None);
        let (declaration, active) = (&declaration, 0);
        let moment =
            Moment { store, algorithm, asynchronous: false, declaration, step: &step, active, edges: 0, disk_bytes: 0 };
        checkpoints.write(&moment, &self.state, 0..store.vertices())
    }

    /// The report of checkpoints, if they are written.
    pub fn report(&self) -> Option<CheckpointReport> {
        self.engine.options.checkpoints.as_ref().map(|checkpoints| checkpoints.report())
    }
}

impl Engine {
    /// Begins a run of an algorithm that keeps its state by itself.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] if there is a checkpoint of another run.
    pub(crate) fn keep_run<A: Algorithm>(&self, algorithm: &A) -> Result<KeptRun<'_>> {
        let declaration = declaration_of(algorithm, &self.store);
        self.check_checkpoint(&declaration)?;
        let graph = Arc::new(self.graph(algorithm, &declaration)?);
        let part = Part::whole(self.store.vertices());
        Ok(KeptRun { engine: self, state: State::new(graph, &[], false, part) })
    }

    /// An engine over the same store whose runs write no checkpoints, since they are parts of a larger one.
    pub(crate) fn without_checkpoints(&self) -> Self {
        let engine = Self::over(Arc::clone(&self.store), self.options.clone().with_checkpoints(None));
        engine.reserve(self.reserved_bytes.load(Ordering::Relaxed) + self.options.checkpoint_bytes());
        engine
    }

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
