//! How many supersteps the device runs in each submission.

use super::super::context::Context;
use super::batch::STEPS_MAX;
use super::suits::visits;
use super::turn::Turn;
use crate::model::algorithm::{Step, Supersteps, Visit};
use std::time::{Duration, Instant};

/// Supersteps of the first two submissions: the device runs the first while the host encodes the second. Later
/// submissions have 4, 8, 16, … supersteps.
const FIRST_STEPS: [u32; 2] = [2, 6];
/// Supersteps of the first two submissions where each superstep reads all lists: the first one tells how long they
/// take.
const FIRST_SCANS: [u32; 2] = [1, 1];
/// Maximum number of supersteps of a submission while pages are missing: those after the first one that needs a
/// missing page are encoded in vain.
const STEPS_MAX_MISSING: u32 = 16;

/// Whether each superstep of an algorithm reads all lists, or none.
fn scans(context: &Context) -> bool {
    let visits = visits(context);
    !context.declared.traversal && visits.iter().all(|(_, visit)| matches!(visit, Visit::All | Visit::None))
}

/// Supersteps of the first two submissions of an algorithm.
pub(super) fn first_steps(context: &Context) -> [u32; 2] {
    if scans(context) { FIRST_SCANS } else { FIRST_STEPS }
}

/// The sizes of submissions, in supersteps.
pub(super) struct Pace {
    first: [u32; 2],
    scans: bool,
    /// Maximum size.
    most: u32,
    /// Submissions so far, and their supersteps.
    submissions: u32,
    submitted: u32,
    /// Maximum number of supersteps until the algorithm is done.
    left: u32,
    begun: Instant,
    /// How long submissions go on.
    turn: Duration,
}

impl Pace {
    /// For a turn that begins with `step`. `complete` is whether all pages are in device memory.
    pub fn new(context: &Context, step: &Step, complete: bool) -> Self {
        let left = match context.declaration.supersteps {
            Supersteps::Exactly(most) | Supersteps::AtMost(most) => most.saturating_sub(step.superstep),
            Supersteps::Unknown => u32::MAX,
        };
        let most = if complete { STEPS_MAX } else { STEPS_MAX_MISSING };
        let (first, scans) = (first_steps(context), scans(context));
        let turn = context.home.settings.turn;
        Self { first, scans, most, submissions: 0, submitted: 0, left, begun: Instant::now(), turn }
    }

    /// Supersteps submitted so far.
    pub fn submitted(&self) -> u32 {
        self.submitted
    }

    /// Goes on after the supersteps that have run, which may be fewer than were submitted. No submission is in flight.
    pub fn go_on_after(&mut self, turn: &Turn) {
        self.submitted = turn.ahead.len() as u32;
    }

    /// The size of the next submission, if there should be one before the log of the last one has arrived.
    pub fn next(&mut self, turn: &Turn) -> Option<u32> {
        let first: u32 = self.first.iter().sum();
        let early = self.submitted < first;
        // Most searches end within the first two submissions: later ones wait for their logs.
        let read = self.scans || turn.ahead.len() as u32 >= first;
        if turn.next.is_none() || turn.misses || !early && (!read || self.begun.elapsed() >= self.turn) {
            return None;
        }
        let size = self.first.get(self.submissions as usize).copied();
        let mut size = size.unwrap_or(1 << (self.submissions.min(STEPS_MAX.ilog2()))).min(self.most);
        if self.scans {
            // A submission ends within a turn, so that a run can be cancelled and no driver gives up.
            let ns = turn.ahead.last().map_or(0, |last| last.end.work.compute_ns).max(1);
            size = size.min((self.turn.as_nanos() as u64 / ns).clamp(1, STEPS_MAX.into()) as u32);
            let left = self.left.saturating_sub(self.submitted);
            // If there are more supersteps than was said, they come one by one.
            if left == 0 && turn.ahead.len() < self.submitted as usize {
                return None;
            }
            size = size.min(left.max(1));
        }
        self.submissions += 1;
        self.submitted += size;
        Some(size)
    }
}
