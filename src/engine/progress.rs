//! How far a run has come, for those that show it.

use crate::model::algorithm::Iteration;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// How far a run has come: written by the engine while it runs, read by any thread at any time. Figures of one moment
/// need not fit together exactly.
///
/// Where a device runs several supersteps without the engine, it is updated after each such batch.
#[derive(Debug, Default)]
pub struct Progress {
    superstep: AtomicU32,
    pages: AtomicU64,
    pages_done: AtomicU64,
    edges: AtomicU64,
    disk_bytes: AtomicU64,
    /// The bits of an `f64`: the share of the run before this superstep, above 0 once it is known.
    before: AtomicU64,
    /// The share that this superstep is.
    share: AtomicU64,
    iterations: AtomicU32,
    residual: AtomicU64,
    /// A stage of a search between runs: 1 in the highest bit, whether groups are refined, then 8 bits of the
    /// iteration, and 16 each of the level and the round.
    stage: AtomicU64,
}

/// A stage of a search in several levels, of communities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The iteration, from 0.
    pub iteration: u32,
    /// The level, from 0.
    pub level: u32,
    /// The round over the level's vertices, from 0; none while groups are refined.
    pub round: Option<u32>,
}

/// [`Progress`] at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moment {
    /// The number of the superstep, from 0.
    pub superstep: u32,
    /// The pages that it visits.
    pub pages: u64,
    /// The visited pages that the device is done with.
    pub pages_done: u64,
    /// Edges of the run so far.
    pub edges: u64,
    /// Bytes that the run has requested from disk so far.
    pub disk_bytes: u64,
    /// The part of the run that is done, from 0 to 1, where the number of supersteps is known.
    pub done: Option<f64>,
    /// The number of iterations so far, and how much the last one changed, of algorithms that iterate.
    pub iterations: Option<(u32, f64)>,
    /// Between runs, the stage of a search. Its pages are batches of vertices.
    pub stage: Option<Stage>,
}

impl Stage {
    const REFINES: u64 = 1 << 40;

    fn bits(self) -> u64 {
        let Self { iteration, level, round } = self;
        let low = |number: u32, bits: u32| u64::from(number) & ((1 << bits) - 1);
        let round = round.map_or(Self::REFINES, |round| low(round, 16));
        1 << 63 | low(iteration, 8) << 32 | low(level, 16) << 16 | round
    }

    fn of_bits(bits: u64) -> Option<Self> {
        let round = (bits & Self::REFINES == 0).then_some(bits as u32 & 0xffff);
        (bits >> 63 == 1).then_some(Self {
            iteration: (bits >> 32) as u32 & 0xff,
            level: (bits >> 16) as u32 & 0xffff,
            round,
        })
    }
}

impl Progress {
    /// Returns the current figures.
    pub fn now(&self) -> Moment {
        let number = |bits: &AtomicU64| f64::from_bits(bits.load(Relaxed));
        let (pages, pages_done) = (self.pages.load(Relaxed), self.pages_done.load(Relaxed));
        let within = if pages > 0 { pages_done.min(pages) as f64 / pages as f64 } else { 0.0 };
        let share = number(&self.share);
        let iterations = self.iterations.load(Relaxed);
        Moment {
            superstep: self.superstep.load(Relaxed),
            pages,
            pages_done,
            edges: self.edges.load(Relaxed),
            disk_bytes: self.disk_bytes.load(Relaxed),
            done: (share > 0.0).then(|| (number(&self.before) + share * within).min(1.0)),
            iterations: (iterations > 0).then(|| (iterations, number(&self.residual))),
            stage: Stage::of_bits(self.stage.load(Relaxed)),
        }
    }

    /// Forgets a run that has ended: the next one begins with nothing done.
    pub fn clear(&self) {
        self.begin(0, 0, None);
        self.edges.store(0, Relaxed);
        self.disk_bytes.store(0, Relaxed);
        self.iterations.store(0, Relaxed);
    }

    /// A superstep begins that visits this many pages. `part` is the part of the run from its beginning to its end, if
    /// that is known.
    pub(super) fn begin(&self, superstep: u32, pages: u64, part: Option<(f64, f64)>) {
        let (from, to) = part.unwrap_or_default();
        self.stage.store(0, Relaxed);
        self.superstep.store(superstep, Relaxed);
        self.pages_done.store(0, Relaxed);
        self.pages.store(pages, Relaxed);
        self.before.store(from.to_bits(), Relaxed);
        self.share.store((to - from).to_bits(), Relaxed);
    }

    /// A stage of a search begins that goes over this many batches.
    pub(crate) fn begin_stage(&self, stage: Stage, batches: u64) {
        self.pages_done.store(0, Relaxed);
        self.pages.store(batches, Relaxed);
        self.stage.store(stage.bits(), Relaxed);
    }

    /// The search is done with a batch.
    pub(crate) fn batch_done(&self) {
        self.pages_done.fetch_add(1, Relaxed);
    }

    /// The device is done with a page.
    pub(super) fn page_done(&self, edges: u64) {
        self.pages_done.fetch_add(1, Relaxed);
        self.edges.fetch_add(edges, Relaxed);
    }

    /// Bytes were requested from disk.
    pub(super) fn requested(&self, bytes: u64) {
        self.disk_bytes.fetch_add(bytes, Relaxed);
    }

    /// A superstep has ended, after this many edges of the run.
    pub(super) fn end(&self, edges: u64, iteration: Option<Iteration>) {
        self.edges.store(edges, Relaxed);
        if let Some(Iteration { iterations, residual, .. }) = iteration {
            self.residual.store(residual.to_bits(), Relaxed);
            self.iterations.store(iterations, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_told_as_they_are() {
        let progress = Progress::default();
        assert_eq!(progress.now().stage, None);
        for (iteration, level, round) in [(0, 0, Some(0)), (2, 7, Some(99)), (1, 3, None)] {
            let stage = Stage { iteration, level, round };
            progress.begin_stage(stage, 32);
            progress.batch_done();
            let now = progress.now();
            assert_eq!((now.stage, now.pages_done, now.pages), (Some(stage), 1, 32));
        }
        progress.begin(4, 10, None);
        assert_eq!(progress.now().stage, None);
    }
}
