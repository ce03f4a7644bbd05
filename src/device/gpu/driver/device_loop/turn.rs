//! Supersteps that the device has run by itself, as the host follows them.

use super::super::context::Context;
use super::batch::{Batch, Log};
use super::resident;
use super::suits::visits;
use crate::device::gpu::adapter::rounds;
use crate::device::gpu::compose::layout::{Logged, MODE_LISTED, MODE_WALKED};
use crate::device::{Ahead, PageWork, StepEnd, Transfer};
use crate::error::{Error, Result};
use crate::model::algorithm::{Step, Summary, Visit};
use std::time::Instant;

/// The supersteps so far.
pub(super) struct Turn {
    /// They.
    pub ahead: Vec<Ahead>,
    /// The superstep that comes next; none if the algorithm is done.
    pub next: Option<Step>,
    /// Whether `next` needs a page that is not in device memory.
    pub misses: bool,
    /// Whether all supersteps of the last submission were [`MODE_LISTED`], so that the next ones probably are.
    pub listed: bool,
    /// When the host's part of the next superstep's time began.
    since: Instant,
    /// When the last superstep ended, by the device's clock.
    until_ns: Option<f64>,
}

impl Turn {
    /// A turn that begins with this superstep.
    pub fn new(first: Step, since: Instant) -> Self {
        Self { ahead: Vec::new(), next: Some(first), misses: false, listed: false, since, until_ns: None }
    }

    /// Reads the log of a submission.
    ///
    /// # Errors
    /// Device errors; [`rounds::cut`] if the driver ended loops early; if host and device disagree.
    pub fn digest(&mut self, context: &mut Context, batch: Batch) -> Result<()> {
        let steps = batch.steps;
        let Log { logged: log, spans, done, misses } = batch.read(context)?;
        let waited = self.since.elapsed().as_nanos() as f64;
        let device_ns: f64 = spans.iter().map(|span| span.end_ns - span.begin_ns).sum();
        for (at, logged) in log.iter().enumerate() {
            if logged.loops_cut != 0 {
                return Err(rounds::cut(context.gpu(), context.declaration.name).into());
            }
            let Some(step) = self.next.take() else { return Err(disagree(context, "went on")) };
            // A gap between two supersteps counts towards the second one.
            let span = spans.get(at);
            let (ns, compute_ns) = match (span, self.until_ns) {
                (Some(span), Some(until)) => (span.end_ns - until, span.end_ns - span.begin_ns),
                // Includes the host's part.
                (Some(span), None) => ((waited - device_ns) + span.end_ns - span.begin_ns, span.end_ns - span.begin_ns),
                (None, _) => (waited / log.len() as f64, waited / log.len() as f64),
            };
            self.until_ns = span.map(|span| span.end_ns);
            let summary = summary(logged, context.declared.traversal);
            self.ahead.push(Ahead {
                step,
                end: end(context, &step, logged, summary, compute_ns),
                pages: pages(context, &step, logged),
                wall_ns: ns.max(compute_ns) as u64,
            });
            self.next = context.next(&step, &summary);
            if let (Some(next), Some(following)) = (&self.next, log.get(at + 1))
                && visits(context)[following.visit as usize] != (next.direction, next.visit)
            {
                return Err(disagree(context, "went another way"));
            }
        }
        if self.until_ns.is_none() {
            self.since = Instant::now();
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
