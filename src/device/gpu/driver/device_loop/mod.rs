//! Supersteps that the device runs without the host, if all pages that they visit are in device memory.
//!
//! ```text
//!  one submission:  for each of 8 to 64 supersteps
//!      absent ─▶ halt             if a visited list is in a missing page, the host takes over
//!      compact ─▶ expand          lists of a small frontier, queued by length
//!      segments                   lists of a large frontier, or all lists: reads whole pages
//!      expand-active              lists of a tiny frontier or set, of vertices that the superstep before has listed
//!      sweep                      lists of vertices outside a set
//!      census                     counts the next frontier, writes levels, clears the old frontier
//!      vertex-phase               of other algorithms: updates vertices, all or those that a tiny set has touched
//!      decide                     logs the superstep and chooses the next one
//! ```
//!
//! Once all supersteps of a submission were over such lists, the next submission has `expand-active`, `census` or
//! `vertex-phase`, and `decide` only. It does nothing from the first superstep on that is not over lists.
//!
//! All kernels but `halt` and `decide` are dispatched indirectly: `decide` sets the number of workgroups of each
//! dispatch, which is zero if the next superstep does not need it, or if the algorithm is done. The host reads the log
//! after each submission, and evaluates [the rule](crate::model::algorithm::Algorithm::rule) with the same
//! results: it must end in the same superstep as the device. The next submission is made before the
//! log of the last one has arrived.
//!
//! Owns the tables of resident pages, the queues and the control buffers. Does not know intake or launches: pages in
//! the arena are not moved, and nothing else runs at the same time. docs/decisions/0020 has the reasons,
//! bench/notes/0020 the measurements.
//!
//! Searches, shortest and widest paths, components, k-core, strongly connected components, PageRank, power iteration,
//! label propagation, radius, betweenness and neighbourhoods run so. Sums over vertices are added in integers, so that
//! the host would have chosen the same superstep, bit for bit. Other scans are paced by the host, which encodes the
//! next one while the device works (`paced`).

mod batch;
mod bins;
mod dispatches;
mod joint;
mod pace;
mod paced;
mod resident;
mod scans;

use super::context::Context;
use super::writes::Writes;
use super::{initial, superstep};
use crate::device::gpu::adapter::rounds;
use crate::device::gpu::compose::KernelName;
use crate::device::gpu::compose::layout::{Logged, MODE_LISTED, MODE_WALKED};
use crate::device::gpu::memory::arena::Arena;
use crate::device::{Ahead, PageWork, RunAhead, StepEnd, Transfer};
use crate::error::{Error, Result};
use crate::model::algorithm::{Scalars, Step, Summary, Visit};
use crate::pages::fetch::PageRef;
use batch::{BATCHES, Batch, Control, Steps};
use joint::Joint;
use pace::{Pace, STEPS_MAX};
use paced::Paced;
use resident::Resident;
use std::any::Any;
use std::collections::VecDeque;
use std::time::Instant;
use topostream_formats::{Direction, Topology};

/// The largest graph, in edges, for a driver that ends loops early.
const LIMITED_EDGES_MAX: u64 = 1 << 20;

/// What the device needs to run supersteps without the host.
pub(super) struct DeviceLoop {
    resident: Option<Resident>,
    control: Option<Control>,
    /// Supersteps chosen by the host.
    paced: Paced,
    /// The arena's version before the last superstep.
    seen: Option<u64>,
    /// The pages that the tables were last used for, in a run that the device shares with others.
    visited: Vec<PageRef>,
    /// The visit of the superstep that has begun, if only the first part of its lists has been submitted.
    left: Option<(Direction, Visit)>,
    /// Whether the engine lets the device run ahead.
    asked: bool,
    /// The beginning of a run, encoded before it.
    start: Option<Start>,
    /// Supersteps that devices run together.
    joint: Joint,
    /// Whether the pages of the next superstep have not been determined.
    pub pages_unknown: bool,
}

/// The commands that set initial values and begin the first superstep.
struct Start {
    step: Step,
    commands: wgpu::CommandBuffer,
}

impl DeviceLoop {
    /// Reuses the tables of an earlier run.
    pub fn new(context: &mut Context, asked: bool) -> Self {
        let left = context.home.left.take().and_then(|left| left.downcast().ok());
        Self {
            resident: left.map(|resident| *resident),
            control: None,
            paced: Paced::default(),
            seen: None,
            visited: Vec::new(),
            left: None,
            asked,
            start: None,
            joint: Joint::default(),
            pages_unknown: false,
        }
    }

    /// Whether the engine asks for supersteps without it.
    pub fn is_asked(&self) -> bool {
        self.asked
    }

    /// Prepares before the run begins, if the arena still has the pages of an earlier run.
    ///
    /// # Errors
    /// Device errors.
    pub fn make_ready(&mut self, context: &mut Context, (arena, rows): (&Arena, &wgpu::Buffer)) -> Result<()> {
        if !self.is_likely(context) {
            return self.make_ready_jointly(context, (arena, rows));
        }
        let visits = visits(context);
        if let Some(resident) = self.resident.as_ref().filter(|resident| resident.serves(context, arena, &visits)) {
            let mut control = Control::new(context, (resident, rows), &visits)?;
            control.prepare(context, &pace::first_steps(context));
            self.start = start(context, resident, &control, &visits)?;
            self.control = Some(control);
        }
        Ok(())
    }

    /// Starts compiling the kernels of the device's own supersteps, if it will run them once all pages are in its
    /// memory: `decide` alone takes 0.2 s for algorithms with 64-bit floats, if the disk has no compiled one.
    pub fn compile_ahead(&self, context: &mut Context) {
        let pages: u64 = context.store.topologies().map(|topology| u64::from(topology.page_count())).sum();
        if !self.asked || !suits(context) || u64::from(context.plan.slots) < pages {
            return;
        }
        let visits = visits(context);
        let (direction, visit) = visits[0];
        let vertices = if context.declared.traversal { KernelName::Census } else { KernelName::VertexPhase };
        let mut kernels: Vec<_> = visits.iter().flat_map(|&visit| dispatches::kernels(context, visit)).collect();
        // The last one is compiled first.
        kernels.extend([(vertices, direction, visit), (KernelName::Decide, direction, visit)]);
        context.compile_loop_ahead(&kernels);
    }

    /// Whether commands that set the run's initial values are encoded.
    pub fn has_start(&self) -> bool {
        self.start.is_some()
    }

    /// Whether they also begin this superstep.
    pub fn starts_with(&self, step: &Step) -> bool {
        self.start.as_ref().is_some_and(|start| start.step == *step)
    }

    /// Drops the commands encoded before the run. Returns whether there were any.
    pub fn give_up_start(&mut self) -> bool {
        self.start.take().is_some()
    }

    /// Drops bind groups, because the queue of long lists has been replaced.
    pub fn forget_bound(&mut self) {
        self.paced.forget();
    }

    /// Whether the device will likely run the first superstep without the host.
    pub fn is_likely(&self, context: &Context) -> bool {
        self.asked && self.resident.is_some() && suits(context)
    }

    /// The tables, for a later run.
    pub fn into_left(self) -> Option<Box<dyn Any + Send>> {
        self.resident.map(|resident| Box::new(resident) as Box<dyn Any + Send>)
    }

    /// Runs supersteps from `step` on, for a [turn](crate::device::settings::GpuSettings::turn) or until the algorithm
    /// is done. `found` has the results of the superstep before. Returns no supersteps if the device cannot run this
    /// one.
    ///
    /// # Errors
    /// Device errors; [`rounds::cut`] if the driver ended loops early.
    pub fn run(
        &mut self,
        context: &mut Context,
        (arena, rows): (&Arena, &wgpu::Buffer),
        step: &Step,
        found: &Summary,
    ) -> Result<RunAhead> {
        let (begun, before) = (Instant::now(), context.step);
        let mut first = self.start.take().map(|start| start.commands);
        if first.is_none() {
            let Some(visit) = self.prepare(context, (arena, rows), step)? else {
                return Ok(RunAhead::default());
            };
            let resident = self.resident.as_ref().expect("prepared");
            let control = self.control.as_ref().expect("prepared");
            let mut writes = Writes::default();
            if !control.begin(context, &resident.room, step, (visit, found), &mut writes) {
                return Ok(RunAhead::default());
            }
            superstep::add_begin(context, step, &mut writes);
            writes.queue(context.gpu());
            first = control.clear_marks(context);
        }
        context.step = *step;
        let control = self.control.as_mut().expect("prepared");
        let mut turn = Turn::new(*step, begun);
        let complete = self.resident.as_ref().is_some_and(|resident| resident.absent.is_empty());
        let (mut pace, mut under_way) = (Pace::new(context, step, complete), VecDeque::new());
        loop {
            let superstep = step.superstep.wrapping_add(pace.submitted());
            // Listed supersteps only, which may stop early, are followed by others when all of them are read.
            let only_listed = turn.listed;
            let follows = only_listed || under_way.iter().all(|batch: &Batch| !batch.steps().only_listed);
            if under_way.len() < BATCHES
                && follows
                && let Some(count) = pace.next(&turn)
            {
                let steps = Steps { superstep, count, only_listed };
                under_way.push_back(control.submit(context, first.take(), steps));
                continue;
            }
            let Some(batch) = under_way.pop_front() else { break };
            turn.digest(context, control, &batch)?;
            if under_way.is_empty() {
                pace.go_on_after(&turn);
            }
        }
        self.pages_unknown |= !turn.ahead.is_empty();
        let last = turn.ahead.last().map_or(before, |ahead| ahead.step);
        superstep::set(context, last);
        Ok(RunAhead { supersteps: turn.ahead, next: turn.next })
    }

    /// Prepares for all visits that the algorithm declares; returns the index of `step`'s visit among them, or none if
    /// the device cannot run `step`.
    fn prepare(
        &mut self,
        context: &mut Context,
        (arena, rows): (&Arena, &wgpu::Buffer),
        step: &Step,
    ) -> Result<Option<u32>> {
        if !suits(context) {
            return Ok(None);
        }
        let visits = visits(context);
        let Some(visit) = number_of(&visits, step) else { return Ok(None) };
        if !self.describe(context, arena, &visits)? {
            return Ok(None);
        }
        self.sort(context, &visits, false)?;
        let read = context.topology(step.direction).direction();
        let reads_all = step.visit == Visit::All;
        let Some(resident) = self.resident.as_ref().filter(|one| !reads_all || one.is_complete(read)) else {
            return Ok(None);
        };
        if self.control.is_none() {
            self.control = Some(Control::new(context, (resident, rows), &visits)?);
        }
        Ok(Some(visit))
    }
}

/// The index of a superstep's visit.
fn number_of(visits: &[(Direction, Visit)], step: &Step) -> Option<u32> {
    let same = |&(direction, visit): &(Direction, Visit)| {
        visit == step.visit && (visit == Visit::None || direction == step.direction)
    };
    visits.iter().position(same).map(|number| number as u32)
}

/// Encodes the initial values and the first superstep's numbers of a traversal. None if any of its pages are missing.
///
/// # Errors
/// Device errors.
fn start(
    context: &mut Context,
    resident: &Resident,
    control: &Control,
    visits: &[(Direction, Visit)],
) -> Result<Option<Start>> {
    let first = context.algorithm.first(&context.graph, Scalars::default());
    let Some(step) = first.filter(|_| context.declared.traversal && context.algorithm.seeds().sets.is_empty()) else {
        return Ok(None);
    };
    let Some(visit) = number_of(visits, &step) else { return Ok(None) };
    let (mut writes, found) = (Writes::default(), initial::found(context));
    if !control.begin(context, &resident.room, &step, (visit, &found), &mut writes) {
        return Ok(None);
    }
    let mut encoder = context.encoder();
    initial::encode(context, &mut encoder)?;
    superstep::add_begin(context, &step, &mut writes);
    writes.encode(context.gpu(), &mut encoder)?;
    // The superstep has not begun: if a page is missing, the host determines the pages of the initial frontier.
    context.step = superstep::before_first();
    Ok(Some(Start { step, commands: encoder.finish() }))
}

impl DeviceLoop {
    /// Describes the pages in the arena, unless it is still being filled. Returns whether the tables are up to date.
    fn describe(&mut self, context: &Context, arena: &Arena, visits: &[(Direction, Visit)]) -> Result<bool> {
        if self.resident.as_ref().is_some_and(|resident| resident.serves(context, arena, visits)) {
            return Ok(true);
        }
        // Tables of an arena that is still being filled would be outdated in the next superstep.
        let unchanged = self.seen.replace(arena.version()).is_none_or(|seen| seen == arena.version());
        if !context.plan.keeps_pages() || !unchanged && arena.pages() != resident::pages(context, visits) {
            return Ok(false);
        }
        self.describe_now(context, arena, visits)
    }

    /// Describes the pages in the arena, which is not being filled. Returns whether there are any.
    fn describe_now(&mut self, context: &Context, arena: &Arena, visits: &[(Direction, Visit)]) -> Result<bool> {
        if let Some(resident) = &mut self.resident
            && resident.update(context, arena, visits)
        {
            self.paced.forget();
            self.control.iter_mut().for_each(|control| control.update(context, resident, visits));
            return Ok(true);
        }
        (self.resident, self.control) = (None, None);
        self.paced.forget();
        self.resident = Resident::new(context, arena, visits)?;
        Ok(self.resident.is_some())
    }

    /// Sorts the in-lists in the tables by length, if supersteps visit all of them: if no page is missing, or for
    /// supersteps that visit `only` these pages.
    fn sort(&mut self, context: &mut Context, visits: &[(Direction, Visit)], only: bool) -> Result<()> {
        let Some(resident) = &mut self.resident else { return Ok(()) };
        if context.plan.bins_bytes == 0 || !visits.contains(&(Direction::In, Visit::All)) {
            return Ok(());
        }
        let read = context.topology(Direction::In).direction();
        if !only && !resident.is_complete(read) {
            return Ok(());
        }
        for place in resident.places.iter_mut().filter(|place| place.direction == read && place.bins.is_none()) {
            // Bind groups and encoded commands use other kernels.
            (self.control, self.start) = (None, None);
            self.paced.forget();
            bins::sort(context, place)?;
        }
        Ok(())
    }
}

/// Whether the device shares neither the graph nor the run with others, and lists are not grouped for shards.
fn is_alone(context: &Context) -> bool {
    let grouped = context.store.topologies().any(Topology::is_grouped);
    !grouped
        && context.part.own == (0..context.part.vertices)
        && !context.part.sharded
        && !context.shares
        && context.home.is_alone()
}

/// Whether the device can run the algorithm's supersteps by itself, if their pages are in device memory.
fn suits(context: &Context) -> bool {
    is_alone(context) && has_kernels(context)
}

/// Whether there are kernels and memory for the algorithm's supersteps.
fn has_kernels(context: &Context) -> bool {
    let (caps, edges) = (context.gpu().caps(), context.store.edges());
    let levels = !context.declaration.keeps_activations || context.plan.levels_bytes > 0;
    let fits = !caps.loops_limited || edges <= LIMITED_EDGES_MAX;
    let known = visits(context).into_iter().all(|visit| is_known(context, visit));
    context.declared.decides() && context.plan.loop_bytes > 0 && levels && fits && known
}

/// The possible visits of supersteps: those that the algorithm declares, and the one without lists.
fn visits(context: &Context) -> Vec<(Direction, Visit)> {
    let declared = superstep::visits(context).into_iter();
    declared.chain([(Direction::Out, Visit::None)]).collect()
}

/// Whether there are kernels for a visit. The census counts out-edges only, so frontiers must visit out-lists.
fn is_known(context: &Context, (direction, visit): (Direction, Visit)) -> bool {
    let out = context.topology(direction).direction() == Direction::Out;
    match visit {
        Visit::Frontier => out,
        // Without lists sorted by length, the host's kernels are faster.
        Visit::All => out || context.declared.traversal || context.plan.bins_bytes > 0,
        Visit::Without(_) | Visit::Within(_) | Visit::None => true,
    }
}

/// The supersteps so far.
struct Turn {
    ahead: Vec<Ahead>,
    /// The superstep that comes next; none if the algorithm is done.
    next: Option<Step>,
    /// Whether `next` needs a page that is not in device memory.
    misses: bool,
    /// Whether all supersteps of the last submission were [`MODE_LISTED`], so that the next ones probably are.
    listed: bool,
    /// When the host's part of the next superstep's time began.
    since: Instant,
    /// When the last superstep ended, by the device's clock.
    until_ns: Option<f64>,
}

impl Turn {
    fn new(first: Step, since: Instant) -> Self {
        Self { ahead: Vec::new(), next: Some(first), misses: false, listed: false, since, until_ns: None }
    }

    /// Reads the log of a submission.
    fn digest(&mut self, context: &mut Context, control: &mut Control, batch: &Batch) -> Result<()> {
        let (log, spans) = control.read(context, batch)?;
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
        self.misses |= batch.misses();
        let whole = log.len() == batch.steps().count as usize;
        self.listed = whole && log.iter().all(|logged| logged.mode == MODE_LISTED);
        match self.next {
            Some(_) if batch.done() => Err(disagree(context, "ended")),
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

fn wide([low, high]: [u32; 2]) -> u64 {
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
