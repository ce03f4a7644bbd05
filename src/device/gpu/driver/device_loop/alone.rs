//! Supersteps that the device chooses.

use super::super::context::Context;
use super::super::executor::Encoded;
use super::super::plan::{Plan, Variant};
use super::super::writes::Writes;
use super::super::{initial, superstep};
use super::batch::{BATCHES, Batch, Control, Steps};
use super::dispatches;
use super::pace::{self, Pace};
use super::residency::{DeviceLoop, Goal, Residency, Start};
use super::resident::Resident;
use super::suits::{facts, number_of, suits, visits};
use super::turn::Turn;
use crate::device::RunAhead;
use crate::device::gpu::compose::KernelName;
use crate::device::gpu::memory::arena::Arena;
use crate::error::Result;
use crate::model::algorithm::{Scalars, Step, Summary, Visit};
use std::collections::VecDeque;
use std::time::Instant;

impl DeviceLoop {
    /// Prepares before the run begins, if the arena still has the pages of an earlier run.
    ///
    /// # Errors
    /// Device errors.
    pub fn make_ready(&mut self, context: &mut Context, (arena, rows): (&Arena, &wgpu::Buffer)) -> Result<()> {
        let alone = self.is_likely(context);
        if !alone && !self.is_jointly_likely(context) {
            return Ok(());
        }
        if !alone {
            context.seen = self.residency.tables().and_then(Resident::seen);
        }
        if !self.serves(context, arena) {
            return Ok(());
        }
        self.enter(context, if alone { Goal::Alone(rows) } else { Goal::Joint(rows) }, None)?;
        if let Residency::Alone(resident, control, first) = &mut self.residency {
            control.prepare(context, &pace::first_steps(context))?;
            *first = start(context, resident, control)?;
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
        let (facts, visits) = (facts(context), visits(context));
        let vertices = if facts.traversal { KernelName::Census } else { KernelName::VertexPhase };
        let of_visit = |&visit: &_| dispatches::kernels(&facts, visit).into_iter().map(move |name| (name, visit));
        let lists = visits.iter().flat_map(of_visit);
        // The last one is compiled first.
        let kernels = lists.chain([(vertices, visits[0]), (KernelName::Decide, visits[0])]);
        let kernels: Vec<_> = kernels.map(|(name, visit)| (name, visit, Variant::Resident)).collect();
        context.compile_ahead(&kernels);
    }

    /// The beginning of the run, encoded before it.
    fn start(&mut self) -> Option<&mut Option<Start>> {
        match &mut self.residency {
            Residency::Alone(_, _, start) => Some(start),
            _ => None,
        }
    }

    /// Whether commands that set the run's initial values are encoded.
    pub fn has_start(&self) -> bool {
        matches!(self.residency, Residency::Alone(_, _, Some(_)))
    }

    /// Whether they also begin this superstep.
    pub fn starts_with(&self, step: &Step) -> bool {
        matches!(&self.residency, Residency::Alone(_, _, Some(start)) if start.step == *step)
    }

    /// Drops the commands encoded before the run. Returns whether there were any.
    pub fn give_up_start(&mut self) -> bool {
        self.start().and_then(Option::take).is_some()
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
        let mut first: Option<Encoded> = self.start().and_then(Option::take).map(|start| start.encoded);
        if first.is_none() {
            let Some(visit) = self.prepare(context, (arena, rows), step)? else {
                return Ok(RunAhead::default());
            };
            let Residency::Alone(resident, control, _) = &self.residency else { return Ok(RunAhead::default()) };
            let mut writes = Writes::default();
            if !control.begin(context, &resident.room, step, (visit, found), &mut writes) {
                return Ok(RunAhead::default());
            }
            superstep::add_begin(context, step, &mut writes);
            writes.queue(context.gpu());
            first = control.clear_marks(context)?;
        }
        context.step = *step;
        let Residency::Alone(resident, control, _) = &mut self.residency else { return Ok(RunAhead::default()) };
        let mut turn = Turn::new(*step, begun);
        let complete = resident.absent.is_empty();
        let (mut pace, mut under_way) = (Pace::new(context, step, complete), VecDeque::new());
        loop {
            let superstep = step.superstep.wrapping_add(pace.submitted());
            // Listed supersteps only, which may stop early, are followed by others when all of them are read.
            let only_listed = turn.listed;
            let follows = only_listed || under_way.iter().all(|batch: &Batch| !batch.steps.only_listed);
            if under_way.len() < BATCHES
                && follows
                && let Some(count) = pace.next(&turn)
            {
                let steps = Steps { superstep, count, only_listed };
                under_way.push_back(control.submit(context, first.take(), steps)?);
                continue;
            }
            let Some(batch) = under_way.pop_front() else { break };
            turn.digest(context, batch)?;
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
        if !self.describe(context, arena)? {
            return Ok(None);
        }
        self.sort(context, &visits, false)?;
        let read = context.topology(step.direction).direction();
        let complete = self.residency.tables().is_some_and(|tables| tables.is_complete(read));
        if step.visit == Visit::All && !complete {
            return Ok(None);
        }
        self.enter(context, Goal::Alone(rows), None)?;
        Ok(Some(visit))
    }
}

/// Encodes the initial values and the first superstep's numbers of a traversal. None if any of its pages are missing.
///
/// # Errors
/// Device errors.
fn start(context: &mut Context, resident: &Resident, control: &Control) -> Result<Option<Start>> {
    let first = context.algorithm.first(&context.graph, Scalars::default());
    let Some(step) = first.filter(|_| context.declared.traversal && context.algorithm.seeds().sets.is_empty()) else {
        return Ok(None);
    };
    let Some(visit) = number_of(&visits(context), &step) else { return Ok(None) };
    let (mut writes, found) = (Writes::default(), initial::found(context));
    if !control.begin(context, &resident.room, &step, (visit, &found), &mut writes) {
        return Ok(None);
    }
    let mut plan = Plan::default();
    initial::plan(context, &mut plan)?;
    superstep::add_begin(context, &step, &mut writes);
    writes.plan(context.gpu(), &mut plan)?;
    // The superstep has not begun: if a page is missing, the host determines the pages of the initial frontier.
    context.step = superstep::before_first();
    Ok(Some(Start { step, encoded: context.encode(&plan)? }))
}
