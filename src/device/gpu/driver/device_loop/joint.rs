//! Supersteps of a traversal that several devices run together. Each device processes the lists of the pages that it
//! sees by the tables and kernels of its own supersteps, with the numbers of workgroups from the host; then it sends
//! messages, applies those of others, and counts its own vertices of the next frontier.

use super::super::context::Context;
use super::super::exchange::Exchange;
use super::super::superstep;
use super::super::timing::{DeviceSpan, union_ns};
use super::super::writes::Writes;
use super::batch::{COURSE_BYTES, Control};
use super::{DeviceLoop, has_kernels, number_of, resident, visits, wide};
use crate::device::exchange::Move;
use crate::device::gpu::adapter::readback::{PATIENCE, READBACK, read_buffer};
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
use topostream_formats::Topology;
use wgpu::BufferUsages as Usage;

/// The name of the span of all kernels over lists.
const LISTS: &str = "lists of a joint superstep";

impl DeviceLoop {
    /// Prepares before the run begins, if the arena still has the pages of an earlier run.
    ///
    /// # Errors
    /// Device errors.
    pub fn make_ready_jointly(&mut self, context: &mut Context, (arena, rows): (&Arena, &wgpu::Buffer)) -> Result<()> {
        if !self.is_jointly_likely(context) {
            return Ok(());
        }
        context.seen = self.resident.as_ref().and_then(|resident| resident.seen());
        let visits = visits(context);
        if let Some(resident) = self.resident.as_ref().filter(|resident| resident.serves(context, arena, &visits)) {
            self.control = Some(Control::new(context, (resident, rows), &visits)?);
        }
        Ok(())
    }

    /// Whether the device will likely run the first superstep together with others.
    pub fn is_jointly_likely(&self, context: &Context) -> bool {
        self.asked && suits(context) && self.resident.as_ref().is_some_and(|resident| resident.seen().is_some())
    }

    /// Whether supersteps are run together with other devices.
    pub fn is_joint(&self) -> bool {
        self.joint.readback.is_some()
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
        if !self.asked || !suits(context) {
            return Ok(JointEnd::default());
        }
        if context.seen.as_ref() != Some(seen) {
            context.seen = Some(Arc::clone(seen));
        }
        let visits = visits(context);
        if !self.describe(context, arena, &visits)? {
            return Ok(JointEnd::default());
        }
        let Some(resident) = &self.resident else { return Ok(JointEnd::default()) };
        if self.control.is_none() {
            self.control = Some(Control::new(context, (resident, rows), &visits)?);
        }
        let control = self.control.as_ref().expect("just made");
        let bytes = control.check_bytes();
        let mut read = Vec::new();
        if bytes > 0 {
            let readback = readback(context, self.joint.readback.take(), bytes)?;
            let mut encoder = context.encoder();
            control.encode_check(&mut encoder, step.superstep, (&readback, 0));
            let submission = context.gpu().queue().submit([encoder.finish()]);
            read = read_buffer(context.gpu(), &readback, submission, bytes)?;
            self.joint.readback = Some(readback);
        }
        Ok(JointEnd { ready: true, missing: control.missing(&read), ..JointEnd::default() })
    }

    /// Runs a superstep: the lists that it visits, this device's messages, those of others, and the census of the
    /// device's own vertices. Each half is encoded while kernels of the other one run.
    ///
    /// # Errors
    /// Device errors; [`rounds::cut`] if the driver ended loops early.
    pub fn run_jointly(
        &mut self,
        context: &mut Context,
        exchange: &mut Exchange,
        (step, found): (&Step, &Summary),
        (send, receive, arrivals): (&[Move], &[Move], u64),
    ) -> Result<JointEnd> {
        let lists = self.submit_lists(context, exchange, (step, found), send)?;
        let census = self.encode_census(context, exchange, receive)?;
        let gpu = context.gpu();
        gpu.poll_until(&lists.done)?;
        if !gpu.wait(lists.submission, PATIENCE)? {
            return Err(gpu.health().lost("a superstep did not end").into());
        }
        if !exchange.swap_messages(context, (send, receive), arrivals)? {
            // The run ends with the error of the device that has failed.
            return Ok(JointEnd::default());
        }
        let EncodedCensus { commands, results } = census;
        let submission = context.gpu().queue().submit([commands]);
        // Probably the next superstep visits lists in the same way.
        let now = context.step;
        context.step.superstep = now.superstep.wrapping_add(1);
        let next = self.encode_lists(context, exchange, (lists.visit, lists.writes), send);
        context.step = now;
        self.joint.lists = Some(next?);
        self.count(context, submission, results)
    }

    /// Forgets what has been encoded for a superstep that will not run.
    pub fn forget_lists(&mut self, context: &mut Context) {
        if let Some(lists) = self.joint.lists.take() {
            context.timing.take_back(lists.launches);
        }
    }

    /// Submits the kernels over lists, and those that send messages.
    fn submit_lists(
        &mut self,
        context: &mut Context,
        exchange: &mut Exchange,
        (step, found): (&Step, &Summary),
        send: &[Move],
    ) -> Result<SubmittedLists> {
        let (Some(resident), Some(control)) = (&self.resident, &self.control) else { return Err(unprepared(context)) };
        let Some(visit) = number_of(&visits(context), step) else { return Err(unprepared(context)) };
        let mut writes = Writes::default();
        if !control.begin(context, &resident.room, step, (visit, found), &mut writes) {
            return Err(unprepared(context));
        }
        superstep::add_begin(context, step, &mut writes);
        let fits = |lists: &EncodedLists| {
            let asked = (lists.superstep, lists.visit) == (step.superstep, visit);
            asked && lists.send == send && lists.writes.is_like(&writes)
        };
        let lists = match self.joint.lists.take_if(|lists| fits(lists)) {
            Some(lists) => lists,
            None => {
                self.forget_lists(context);
                self.encode_lists(context, exchange, (visit, writes.clone()), send)?
            }
        };
        writes.fill(context.gpu(), self.joint.inbox.as_ref().expect("the commands read it"));
        let (submission, done) = context.gpu().submit_marked(lists.commands);
        Ok(SubmittedLists { submission, done, visit, writes })
    }

    /// Encodes the same for the context's superstep. The bytes of `writes` do not matter yet, only their places.
    fn encode_lists(
        &mut self,
        context: &mut Context,
        exchange: &mut Exchange,
        (visit, writes): (u32, Writes),
        send: &[Move],
    ) -> Result<EncodedLists> {
        let Some(control) = &self.control else { return Err(unprepared(context)) };
        let inbox = match self.joint.inbox.take().filter(|inbox| inbox.size() >= writes.len()) {
            Some(inbox) => inbox,
            None => context.gpu().buffer("joint inbox", writes.len(), Usage::COPY_SRC | Usage::COPY_DST)?,
        };
        let (superstep, before) = (context.step.superstep, context.timing.launches());
        let mut encoder = context.encoder();
        writes.encode_from(&mut encoder, &inbox);
        self.joint.inbox = Some(inbox);
        context.timed_pass(&mut encoder, LISTS, |pass| control.encode_lists(pass, superstep, visit));
        exchange.encode_messages(context, &mut encoder, send)?;
        let launches = context.timing.launches() - before;
        Ok(EncodedLists { superstep, visit, send: send.to_vec(), writes, launches, commands: encoder.finish() })
    }

    /// Encodes the application of the others' messages, the census and the readback.
    fn encode_census(
        &mut self,
        context: &mut Context,
        exchange: &mut Exchange,
        receive: &[Move],
    ) -> Result<EncodedCensus> {
        let Some(control) = &self.control else { return Err(unprepared(context)) };
        let superstep = context.step.superstep;
        let mut encoder = context.encoder();
        exchange.encode_messages(context, &mut encoder, receive)?;
        let name = KernelName::Census.name();
        context.timed_pass(&mut encoder, name, |pass| control.encode_census(pass, superstep));
        // The census clears the words of own vertices only.
        context.buffers.frontier(superstep).iter().for_each(|chunk| encoder.clear_buffer(chunk, 0, None));
        let found = COURSE_BYTES + COUNTERS_BYTES;
        let times = (found + control.check_bytes()).next_multiple_of(8);
        let bytes = times + context.timing.bytes();
        let readback = readback(context, self.joint.readback.take(), bytes)?;
        encoder.copy_buffer_to_buffer(control.course(), 0, &readback, 0, COURSE_BYTES);
        encoder.copy_buffer_to_buffer(&context.buffers.counters, 0, &readback, COURSE_BYTES, COUNTERS_BYTES);
        control.encode_check(&mut encoder, superstep.wrapping_add(1), (&readback, found));
        context.timing.resolve(&mut encoder, &readback, times);
        let results = CensusResults { readback, found, times, bytes };
        Ok(EncodedCensus { commands: encoder.finish(), results })
    }

    /// Waits for a submitted census, and reads its results.
    fn count(
        &mut self,
        context: &mut Context,
        submission: wgpu::SubmissionIndex,
        results: CensusResults,
    ) -> Result<JointEnd> {
        let (Some(resident), Some(control)) = (&self.resident, &self.control) else { return Err(unprepared(context)) };
        let CensusResults { readback, found, times, bytes } = results;
        let read = read_buffer(context.gpu(), &readback, submission, bytes)?;
        self.joint.readback = Some(readback);
        self.pages_unknown = true;
        let direction = context.topology(context.step.direction).direction();
        let places = resident.places.iter().filter(|place| place.direction == direction);
        let all_pages = places.map(|place| u64::from(place.walked.pages)).sum();
        let (before, spans) = read.split_at(times as usize);
        let (found, checked) = before.split_at(found as usize);
        let missing = control.missing(&checked[..control.check_bytes() as usize]);
        Ok(JointEnd { missing, ..digest(context, (found, spans), all_pages)? })
    }
}

/// What is kept from one joint superstep to the next.
#[derive(Default)]
pub(super) struct Joint {
    /// None before the first superstep.
    readback: Option<wgpu::Buffer>,
    /// The numbers of a superstep, which its commands copy to where kernels read them.
    inbox: Option<wgpu::Buffer>,
    /// The lists of the next superstep, if it is as expected.
    lists: Option<EncodedLists>,
}

/// The first half of a superstep, encoded before its numbers are known.
struct EncodedLists {
    superstep: u32,
    visit: u32,
    send: Vec<Move>,
    /// For its places.
    writes: Writes,
    /// The number of launches that have timestamps.
    launches: usize,
    commands: wgpu::CommandBuffer,
}

/// The same, submitted.
struct SubmittedLists {
    submission: wgpu::SubmissionIndex,
    done: Arc<AtomicBool>,
    visit: u32,
    writes: Writes,
}

/// The second half of a superstep, encoded.
struct EncodedCensus {
    commands: wgpu::CommandBuffer,
    results: CensusResults,
}

/// Where the results of a census are.
struct CensusResults {
    readback: wgpu::Buffer,
    /// Bytes of the readback before the checks for missing pages, before the timestamps, and in all.
    found: u64,
    times: u64,
    bytes: u64,
}

/// A buffer of at least this size.
fn readback(context: &Context, kept: Option<wgpu::Buffer>, bytes: u64) -> Result<wgpu::Buffer> {
    match kept.filter(|kept| kept.size() >= bytes) {
        Some(kept) => Ok(kept),
        None => context.gpu().buffer("joint readback", bytes.next_multiple_of(4096), READBACK),
    }
}

/// The results of a superstep from the two parts of its readback: counts and timestamps.
fn digest(context: &mut Context, (found, times): (&[u8], &[u8]), all_pages: u64) -> Result<JointEnd> {
    let (course, counters) = found.split_at(COURSE_BYTES as usize);
    let course: Course = bytemuck::pod_read_unaligned(course);
    let counters: Counters = bytemuck::pod_read_unaligned(&counters[..size_of::<Counters>()]);
    if counters.loops_cut != 0 {
        return Err(rounds::cut(context.gpu(), context.declaration.name).into());
    }
    let [low, high, edges_low, edges_high] = course.found;
    let summary =
        Summary { activated: wide([low, high]), activated_edges: wide([edges_low, edges_high]), ..Summary::default() };
    let spans = context.timing.spans(times);
    let (mut lists, others): (Vec<DeviceSpan>, Vec<_>) = spans.into_iter().partition(|span| span.name == LISTS);
    let census = KernelName::Census.name();
    let mut messages: Vec<DeviceSpan> = others.iter().copied().filter(|span| span.name != census).collect();
    let visit = context.step.visit;
    let queued = course.mode != MODE_WALKED && resident::is_queued(visit);
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

/// Whether the device can run the algorithm's supersteps together with others, if it has the pages that it sees.
fn suits(context: &Context) -> bool {
    let grouped = context.store.topologies().any(Topology::is_grouped);
    context.shares && context.declared.traversal && !grouped && has_kernels(context)
}

/// The error if a superstep begins that [`DeviceLoop::prepare_jointly`] has not allowed.
fn unprepared(context: &Context) -> crate::error::Error {
    context.gpu().health().fault("a joint superstep", "it was not prepared").into()
}
