//! Supersteps that the device has run by itself, as the host follows them.

use super::super::context::Context;
use super::super::timing::DeviceSpan;
use super::batch::{Batch, Log};
use super::resident;
use super::suits::visits;
use crate::device::gpu::adapter::rounds;
use crate::device::gpu::compose::layout::{Logged, MODE_LISTED, MODE_WALKED};
use crate::device::{Ahead, PageWork, StepEnd, Transfer};
use crate::error::{Error, Result};
use crate::model::algorithm::{Step, Summary, Visit};
use std::iter;
use std::time::Instant;

/// The supersteps so far.
pub(super) struct Turn {
    /// The supersteps.
    pub ahead: Vec<Ahead>,
    /// The superstep that comes next; none if the algorithm is done.
    pub next: Option<Step>,
    /// Whether `next` needs a page that is not in device memory.
    pub misses: bool,
    /// Whether all supersteps of the last submission were [`MODE_LISTED`], so that the next ones probably are.
    pub listed: bool,
    /// When the host read the log of the submission before, or began the turn.
    since: Instant,
}

impl Turn {
    /// A turn that begins with this superstep.
    pub fn new(first: Step, since: Instant) -> Self {
        Self { ahead: Vec::new(), next: Some(first), misses: false, listed: false, since }
    }

    /// Reads the log of a submission.
    ///
    /// # Errors
    /// Device errors; [`rounds::cut`] if the driver ended loops early; if host and device disagree.
    pub fn digest(&mut self, context: &mut Context, batch: Batch) -> Result<()> {
        let steps = batch.steps;
        let Log { logged: log, spans, done, misses } = batch.read(context)?;
        let now = Instant::now();
        let walls_ns = walls_ns((now - self.since).as_nanos() as f64, &spans, log.len());
        self.since = now;
        for (at, logged) in log.iter().enumerate() {
            if logged.loops_cut != 0 {
                return Err(rounds::cut(context.gpu(), context.declaration.name).into());
            }
            let Some(step) = self.next.take() else { return Err(disagree(context, "went on")) };
            let wall_ns = walls_ns[at];
            let compute_ns = spans.get(at).map_or(wall_ns, |span| span.end_ns - span.begin_ns);
            let summary = summary(logged, context.declared.traversal);
            self.ahead.push(Ahead {
                step,
                end: end(context, &step, logged, summary, compute_ns),
                pages: pages(context, &step, logged),
                wall_ns: wall_ns as u64,
            });
            self.next = context.next(&step, &summary);
            if let (Some(next), Some(following)) = (&self.next, log.get(at + 1))
                && visits(context)[following.visit as usize] != (next.direction, next.visit)
            {
                return Err(disagree(context, "went another way"));
            }
        }
        self.misses |= misses;
        let whole = log.len() == steps.count as usize;
        self.listed = whole && log.iter().all(|logged| logged.mode == MODE_LISTED);
        match self.next {
            Some(_) if done => Err(disagree(context, "ended")),
            _ => Ok(()),
        }
    }
}

/// Divides the time that the host waited for a submission among its supersteps, in nanoseconds. By the device's clock
/// (`spans`, one a superstep or none at all) a gap between two supersteps counts towards the second one, and what the
/// device did not see counts towards the first. The host's clock bounds the sum, whatever the device's says: a
/// submission may have begun while the log of the one before was still being read.
fn walls_ns(waited_ns: f64, spans: &[DeviceSpan], supersteps: usize) -> Vec<f64> {
    let [first, ..] = spans else { return vec![waited_ns / supersteps as f64; supersteps] };
    let gaps = spans.windows(2).map(|pair| pair[1].end_ns - pair[0].end_ns);
    let mut walls: Vec<f64> = iter::once(first.end_ns - first.begin_ns).chain(gaps).collect();
    let device_ns: f64 = walls.iter().sum();
    if device_ns <= waited_ns {
        walls[0] += waited_ns - device_ns;
    } else {
        walls.iter_mut().for_each(|wall| *wall *= waited_ns / device_ns);
    }
    walls
}

/// The error if device and host disagree on the last superstep.
fn disagree(context: &Context, what: &str) -> Error {
    let name = context.declaration.name;
    let message = format!("{name}: the device {what}, and the host did not, by the same rule");
    context.gpu().health().fault("a superstep", &message).into()
}

/// A number of two words.
pub(super) fn wide([low, high]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn summary(logged: &Logged, traversal: bool) -> Summary {
    let mut summary = Summary::default();
    if traversal {
        (summary.activated, summary.activated_edges) = (wide(logged.activated), wide(logged.activated_edges));
    } else {
        summary.totals = std::array::from_fn(|at| f64::from_bits(wide([logged.sums_low[at], logged.sums_high[at]])));
    }
    summary
}

/// The number of pages that a superstep visited.
fn pages(context: &Context, step: &Step, logged: &Logged) -> u64 {
    if step.visit == Visit::None {
        return 0;
    }
    if logged.mode != MODE_WALKED && resident::is_queued(step.visit) {
        return logged.pages.into();
    }
    context.topology(step.direction).page_count().into()
}

fn end(context: &Context, step: &Step, logged: &Logged, summary: Summary, compute_ns: f64) -> StepEnd {
    let entries = || context.topology(step.direction).directory().entries().iter();
    let edges = match step.visit {
        Visit::All => entries().map(|entry| u64::from(entry.edge_count)).sum(),
        _ => wide(logged.edges),
    };
    let work = PageWork { edges, compute_ns: compute_ns as u64, ..PageWork::default() };
    let (resident_pages, listed_steps) = (pages(context, step, logged), u64::from(logged.mode == MODE_LISTED));
    let transfer = Transfer { resident_pages, listed_steps, ..Transfer::default() };
    StepEnd { summary, work, transfer, ..StepEnd::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(ends: &[(f64, f64)]) -> Vec<DeviceSpan> {
        ends.iter().map(|&(begin_ns, end_ns)| DeviceSpan { name: "superstep", begin_ns, end_ns }).collect()
    }

    #[test]
    fn the_time_of_a_submission_is_divided() {
        assert_eq!(walls_ns(90.0, &[], 3), [30.0; 3]);
        let three = spans(&[(10.0, 20.0), (25.0, 40.0), (40.0, 45.0)]);
        assert_eq!(walls_ns(100.0, &three, 3), [75.0, 20.0, 5.0]);
        // The host began to wait when the device was half done.
        assert_eq!(walls_ns(17.5, &three, 3), [5.0, 10.0, 2.5]);
    }
}
