//! Supersteps of a traversal that several devices run together. Each device processes the lists of the pages that it
//! sees by the tables and kernels of its own supersteps, with the numbers of workgroups from the host; then it sends
//! messages, applies the messages of others, and counts its own vertices of the next frontier.

use super::super::context::Context;
use super::super::exchange::Exchange;
use super::super::executor::{Encoded, Read, Submitted};
use super::super::plan::Plan;
use super::super::superstep;
use super::super::timing::{DeviceSpan, union_ns};
use super::super::writes::Writes;
use super::batch::{COURSE_BYTES, Control};
use super::residency::{DeviceLoop, EncodedLists, Goal, Joint, Residency};
use super::resident::{Resident, is_queued};
use super::suits::{number_of, suits_jointly, visits};
use super::turn::wide;
use crate::device::exchange::{Move, Moves};
use crate::device::gpu::adapter::rounds;
use crate::device::gpu::compose::KernelName;
use crate::device::gpu::compose::layout::{Counters, Course, MODE_WALKED};
use crate::device::gpu::memory::arena::Arena;
use crate::device::gpu::memory::buffers::COUNTERS_BYTES;
use crate::device::joint::{JointEnd, SeenPages};
use crate::device::{ExchangeWork, PageWork, StepEnd, Transfer};
use crate::error::Result;
use crate::model::algorithm::{Step, Summary, Visit};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use wgpu::BufferUsages as Usage;

/// The name of the span of all kernels over lists.
const LISTS: &str = "lists of a joint superstep";

impl DeviceLoop {
    /// Whether the next superstep is run together with other devices, probably.
    pub fn is_joint(&self) -> bool {
        matches!(&self.residency, Residency::Joint(_, _, Joint { lists: Some(_), .. }))
    }

    /// Prepares for all visits that the algorithm declares, from superstep `step` on.
    ///
    /// # Errors
    /// Shader and device errors.
    pub fn prepare_jointly(
        &mut self,
        context: &mut Context,
        (arena, rows): (&Arena, &wgpu::Buffer),
        (step, seen): (&Step, &Arc<SeenPages>),
    ) -> Result<JointEnd> {
        if !self.asked || !suits_jointly(context) {
            return Ok(JointEnd::default());
        }
        if context.seen.as_ref() != Some(seen) {
            context.seen = Some(Arc::clone(seen));
        }
        if !self.describe(context, arena)? {
            return Ok(JointEnd::default());
        }
        self.enter(context, Goal::Joint(rows), None)?;
        let (_, control, _) = self.joint(context)?;
        let (mut plan, mut read) = (Plan::default(), Vec::new());
        control.plan_check(&mut plan, step.superstep);
        if !plan.work.is_empty() {
            let submitted = context.run(&plan)?;
            read = context.read(submitted)?.bytes;
        }
        Ok(JointEnd { ready: true, missing: control.missing(&read), ..JointEnd::default() })
    }

    /// The state of joint supersteps.
    fn joint(&mut self, context: &Context) -> Result<(&Resident, &Control, &mut Joint)> {
        match &mut self.residency {
            Residency::Joint(resident, control, joint) => Ok((resident, control, joint)),
            _ => Err(context.gpu().health().fault("a joint superstep", "it was not prepared").into()),
        }
    }

    /// Runs a superstep: the lists that it visits, this device's messages, the messages of others, and the census of
    /// the device's own vertices. Each half is encoded while kernels of the other one run.
    ///
    /// # Errors
    /// Device errors; [`rounds::cut`] if the driver ended loops early.
    pub fn run_jointly(
        &mut self,
        context: &mut Context,
        exchange: &mut Exchange,
        (step, found): (&Step, &Summary),
        messages: &Moves,
    ) -> Result<JointEnd> {
        let lists = self.submit_lists(context, exchange, (step, found), &messages.put)?;
        let census = self.encode_census(context, exchange, &messages.take)?;
        context.gpu().poll_until(&lists.done)?;
        context.wait(&lists.submitted, "a superstep did not end")?;
        exchange.bring_out(context, &messages.put)?;
        if !exchange.wait(context, &messages.take) {
            // The run ends with the error of the device that has failed.
            return Ok(JointEnd::default());
        }
        let submitted = context.submit([census]);
        // Probably the next superstep visits lists in the same way.
        let now = context.step;
        context.step.superstep = now.superstep.wrapping_add(1);
        let next = self.encode_lists(context, exchange, (lists.visit, lists.writes), &messages.put);
        context.step = now;
        self.joint(context)?.2.lists = Some(next?);
        self.count(context, submitted)
    }

    /// Forgets what has been encoded for a superstep that will not run.
    pub fn forget_lists(&mut self, context: &mut Context) {
        if let Residency::Joint(_, _, joint) = &mut self.residency
            && let Some(lists) = joint.lists.take()
        {
            context.drop_encoded(lists.encoded);
        }
    }

    /// Submits the kernels over lists, and the kernels that send messages.
    fn submit_lists(
        &mut self,
        context: &mut Context,
        exchange: &Exchange,
        (step, found): (&Step, &Summary),
        send: &[Move],
    ) -> Result<SubmittedLists> {
        let (resident, control, joint) = self.joint(context)?;
        let visit = number_of(&visits(context), step);
        let mut writes = Writes::default();
        let begins = |visit: &u32| control.begin(context, &resident.room, step, (*visit, found), &mut writes);
        let Some(visit) = visit.filter(begins) else {
            return Err(context.gpu().health().fault("a joint superstep", "its pages are missing").into());
        };
        superstep::add_begin(context, step, &mut writes);
        let fits = |lists: &mut EncodedLists| {
            let asked = (lists.superstep, lists.visit) == (step.superstep, visit);
            asked && lists.send == send && lists.writes.is_like(&writes)
        };
        let lists = match joint.lists.take_if(fits) {
            Some(lists) => lists,
            None => {
                self.forget_lists(context);
                self.encode_lists(context, exchange, (visit, writes.clone()), send)?
            }
        };
        let inbox = self.joint(context)?.2.inbox.clone();
        writes.fill(context.gpu(), &inbox.expect("the commands read it"));
        let submitted = context.submit([lists.encoded]);
        Ok(SubmittedLists { submitted, done: context.mark(), visit, writes })
    }

    /// Encodes the same for the context's superstep. The bytes of `writes` do not matter yet, only their places.
    fn encode_lists(
        &mut self,
        context: &mut Context,
        exchange: &Exchange,
        (visit, writes): (u32, Writes),
        send: &[Move],
    ) -> Result<EncodedLists> {
        let (_, control, joint) = self.joint(context)?;
        let inbox = match joint.inbox.take().filter(|inbox| inbox.size() >= writes.len()) {
            Some(inbox) => inbox,
            None => context.gpu().buffer("joint inbox", writes.len(), Usage::COPY_SRC | Usage::COPY_DST)?,
        };
        let (superstep, mut plan) = (context.step.superstep, Plan::default());
        writes.plan_from(&mut plan, &inbox);
        joint.inbox = Some(inbox);
        plan.pass(Some(LISTS), control.lists(superstep, visit));
        send.iter().try_for_each(|one| exchange.plan_move(context, &mut plan, one))?;
        Ok(EncodedLists { superstep, visit, send: send.to_vec(), writes, encoded: context.encode(&plan)? })
    }

    /// Encodes the application of the others' messages, the census and the reading of its results.
    fn encode_census(&mut self, context: &mut Context, exchange: &Exchange, receive: &[Move]) -> Result<Encoded> {
        let (_, control, _) = self.joint(context)?;
        let (superstep, mut plan) = (context.step.superstep, Plan { times: true, ..Plan::default() });
        receive.iter().try_for_each(|one| exchange.plan_move(context, &mut plan, one))?;
        plan.run(control.census(superstep));
        // The census clears the words of own vertices only.
        context.buffers.frontier(superstep).iter().for_each(|chunk| plan.clear(chunk));
        plan.read(control.course(), 0, COURSE_BYTES);
        plan.read(&context.buffers.counters, 0, COUNTERS_BYTES);
        control.plan_check(&mut plan, superstep.wrapping_add(1));
        context.encode(&plan)
    }

    /// Waits for a submitted census, and reads its results.
    fn count(&mut self, context: &mut Context, submitted: Submitted) -> Result<JointEnd> {
        self.pages_unknown = true;
        let (resident, control, _) = self.joint(context)?;
        let read = context.read(submitted)?;
        let direction = context.topology(context.step.direction).direction();
        let places = resident.places.iter().filter(|place| place.direction == direction);
        let all_pages = places.map(|place| u64::from(place.by_edges.pages)).sum();
        let missing = control.missing(&read.bytes[(COURSE_BYTES + COUNTERS_BYTES) as usize..]);
        Ok(JointEnd { missing, ..digest(context, read, all_pages)? })
    }
}

/// The first half of a superstep, submitted.
struct SubmittedLists {
    submitted: Submitted,
    done: Arc<AtomicBool>,
    visit: u32,
    writes: Writes,
}

/// The results of a superstep.
fn digest(context: &Context, Read { bytes, spans }: Read, all_pages: u64) -> Result<JointEnd> {
    let (course, counters) = bytes.split_at(COURSE_BYTES as usize);
    let course: Course = bytemuck::pod_read_unaligned(course);
    let counters: Counters = bytemuck::pod_read_unaligned(&counters[..size_of::<Counters>()]);
    if counters.loops_cut != 0 {
        return Err(rounds::cut(context.gpu(), context.declaration.name).into());
    }
    let [low, high, edges_low, edges_high] = course.found;
    let summary =
        Summary { activated: wide([low, high]), activated_edges: wide([edges_low, edges_high]), ..Summary::default() };
    let (mut lists, others): (Vec<DeviceSpan>, Vec<_>) = spans.into_iter().partition(|span| span.name == LISTS);
    let census = KernelName::Census.name();
    let mut messages: Vec<DeviceSpan> = others.iter().copied().filter(|span| span.name != census).collect();
    let visit = context.step.visit;
    let queued = course.mode != MODE_WALKED && is_queued(visit);
    let pages = match queued {
        true => course.queues.iter().map(|queue| u64::from(queue.pages)).sum(),
        false if visit == Visit::None => 0,
        false => all_pages,
    };
    let edges = if visit == Visit::All { 0 } else { counters.edges() };
    let work = PageWork { edges, compute_ns: union_ns(&mut lists) as u64, ..PageWork::default() };
    let vertex_kernels_ns = union_ns(&mut others.clone()) as u64;
    let transfer = Transfer { resident_pages: pages, vertex_kernels_ns, ..Transfer::default() };
    let exchange = ExchangeWork { bytes: 0, ns: union_ns(&mut messages) as u64 };
    let end = StepEnd { summary, work, transfer, exchange, vertex_ns: vertex_kernels_ns, ..StepEnd::default() };
    Ok(JointEnd { end, pages, ..JointEnd::default() })
}
