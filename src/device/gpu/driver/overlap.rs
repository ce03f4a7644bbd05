//! The driver's part in supersteps over resident lists whose values are exchanged while lists are still read.
//!
//! ```text
//!  lists 0 │ vertex phase 0, pack │ lists 1 │ vertex phase 1, pack │ … │ next values become current, unpack
//!                                 └ send, fetch what others have sent … ┘
//! ```
//!
//! The vertex phase of a part sets *next* values: lists of later parts, and other devices' lists of this superstep,
//! read the current ones.

use super::context::Context;
use super::device_loop::DeviceLoop;
use super::exchange::{EarlyGather, Exchange, PackedMove};
use super::message::Ended;
use super::superstep::{self, Readback, Superstep};
use super::{Driver, LOOK};
use crate::device::exchange::Gather;
use crate::device::gpu::adapter::readback::{PATIENCE, uniform};
use crate::device::gpu::compose::layout::{self, Merge as MergeLayout, Step as StepLayout, WORKGROUP};
use crate::device::gpu::compose::{KernelName, Resource};
use crate::device::gpu::kernels::Kernel;
use crate::device::gpu::memory::buffers::Span;
use crate::device::gpu::memory::plan::{TOTAL_BYTES, TOTALS_MAX};
use crate::error::Result;
use crate::model::algorithm::Visit;
use crossbeam_channel::Sender;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};
use topostream_formats::Direction;
use wgpu::BufferUsages as Usage;

/// How long to poll before sleeping.
const SPIN: Duration = Duration::from_millis(1);

/// The vertex phases of a superstep's parts: superstep after superstep they are the same.
#[derive(Default)]
pub(super) struct Overlap {
    phases: Vec<Phase>,
    /// Whether next values are those that the device's own vertices have now.
    current: bool,
}

/// The vertex phase of a part.
struct Phase {
    vertices: Range<u64>,
    step: wgpu::Buffer,
    totals: wgpu::Buffer,
    kernel: Arc<Kernel>,
    bound: Vec<wgpu::BindGroup>,
    groups: u32,
}

impl Overlap {
    /// Whether the last superstep was made in parts.
    pub fn is_under_way(&self) -> bool {
        self.current
    }

    /// Another vertex phase sets the current values.
    pub fn forget_values(&mut self) {
        self.current = false;
    }

    /// Makes the vertex phases of parts with these vertices.
    fn prepare(&mut self, context: &mut Context, parts: &[Range<u64>]) -> Result<()> {
        if !self.phases.iter().map(|phase| &phase.vertices).eq(parts) {
            let most = TOTALS_MAX / parts.len() as u32;
            let phase = |vertices: &Range<u64>| Phase::new(context, vertices.clone(), most);
            self.phases = parts.iter().map(phase).collect::<Result<_>>()?;
        }
        Ok(())
    }
}

impl Phase {
    fn new(context: &mut Context, vertices: Range<u64>, groups_max: u32) -> Result<Self> {
        let gpu = &context.home.gpu;
        let step = gpu.buffer("step of a part", size_of::<StepLayout>() as u64, Usage::UNIFORM | Usage::COPY_DST)?;
        // The first block begins with a multiple of 64.
        let blocks = (vertices.end - vertices.start + 63).div_ceil(WORKGROUP.into());
        let groups = blocks.clamp(1, groups_max.into()) as u32;
        let totals = TOTAL_BYTES * u64::from(groups);
        let totals = gpu.buffer("totals of a part", totals, Usage::STORAGE | Usage::COPY_SRC)?;
        let (direction, visit) = superstep::visits(context)[0];
        let kernel = context.kernel(KernelName::VertexPhase, direction, visit, false)?;
        let bound = context.bound(&kernel, direction, |resource| match resource {
            Resource::Step => Some(&step),
            Resource::Totals => Some(&totals),
            other => context.buffers.next(other),
        });
        Ok(Self { vertices, step, totals, kernel, bound, groups })
    }

    fn encode(&self, context: &mut Context, encoder: &mut wgpu::CommandEncoder) {
        let step = superstep::step_of_part(context, &self.vertices);
        context.gpu().queue().write_buffer(&self.step, 0, bytemuck::bytes_of(&step));
        let stamps = context.timing.next(&context.home.gpu, KernelName::VertexPhase.name());
        self.kernel.dispatch(encoder, &self.bound.iter().collect::<Vec<_>>(), (self.groups, 1), stamps);
    }
}

/// Commands of a part that have been submitted: when they complete, these values are sent.
type SubmittedPart = (wgpu::SubmissionIndex, Vec<PackedMove>);

/// The parts of a superstep, in order, and the readback that the last one ends with.
struct Submitted {
    parts: Vec<SubmittedPart>,
    readback: Readback,
}

impl Driver {
    /// The gather that ends the superstep, if only the first part of its lists has been submitted, and values can be
    /// exchanged while the others are read.
    pub(super) fn early(&self, gather: &Gather) -> Option<EarlyGather> {
        self.device_loop.parts_left()?;
        self.exchange.as_ref()?.early(&self.context, gather)
    }

    /// Submits all lists of the superstep that have been left for the end.
    pub(super) fn submit_left(&mut self) -> Result<()> {
        let buffers = (self.launches.rows(), self.launches.hubs());
        self.device_loop.submit_left(&mut self.context, buffers)
    }

    /// Ends a superstep: submits its other parts, and exchanges values until all have arrived. Replies while the device
    /// takes them.
    pub(super) fn end_overlapped(&mut self, early: EarlyGather, reply: &Sender<Ended>) {
        let ended = self.sound().and_then(|()| self.run_parts(early));
        self.failed |= ended.is_err();
        drop(reply.send(self.explained(ended)));
    }

    fn run_parts(&mut self, mut early: EarlyGather) -> Ended {
        let parts = self.device_loop.parts_left().unwrap_or_default();
        let Self { context, device_loop, launches, superstep, exchange: Some(exchange), overlap, .. } = self else {
            let health = self.context.gpu().health();
            return Err(health.fault("exchange", "a superstep in parts, of a single device").into());
        };
        overlap.prepare(context, &parts)?;
        let lists = (device_loop, (launches.rows(), launches.hubs()));
        let submitted = submit_parts(context, lists, (exchange, &mut early), (overlap, superstep))?;
        let Submitted { parts, readback } = submitted;
        // Encoded while the device works.
        let mut encoder = context.encoder();
        for attribute in context.buffers.with_next() {
            copy_own(context, &mut encoder, attribute, Copied::ToCurrent)?;
        }
        exchange.unpack_early(context, &mut encoder, &early)?;
        let commands = encoder.finish();
        let last = parts[parts.len() - 1].0.clone();
        exchange_during(context, exchange, &mut early, parts)?;
        context.gpu().queue().submit([commands]);
        overlap.current = true;
        exchange.tell_copies(context);
        let tally = self.tally();
        let found = self.superstep.read(&mut self.context, readback, last, tally)?;
        Ok(self.ended(found))
    }
}

/// Submits the lists, the vertex phase and the packing of each part, and the readback of the sums after the last one;
/// the lists of the first one have been submitted.
fn submit_parts(
    context: &mut Context,
    (device_loop, buffers): (&mut DeviceLoop, (&wgpu::Buffer, &wgpu::Buffer)),
    (exchange, early): (&mut Exchange, &mut EarlyGather),
    (overlap, superstep): (&mut Overlap, &mut Superstep),
) -> Result<Submitted> {
    let (mut parts, mut updated, mut readback, mut groups) = (Vec::new(), Vec::new(), None, 0);
    for (part, phase) in overlap.phases.iter().enumerate() {
        let mut encoder = context.encoder();
        if part > 0 {
            device_loop.encode_part(context, &mut encoder, buffers, part)?;
        } else if !overlap.current {
            // The vertex phase reads a vertex's current value.
            for attribute in context.buffers.with_next() {
                copy_own(context, &mut encoder, attribute, Copied::ToNext)?;
            }
        }
        phase.encode(context, &mut encoder);
        updated.push(phase.vertices.clone());
        let packed = exchange.pack_early(context, &mut encoder, early, &updated)?;
        let (at, bytes) = (TOTAL_BYTES * u64::from(groups), TOTAL_BYTES * u64::from(phase.groups));
        encoder.copy_buffer_to_buffer(&phase.totals, 0, &context.buffers.totals, at, bytes);
        groups += phase.groups;
        if part + 1 == overlap.phases.len() {
            readback = Some(superstep.encode_results(context, &mut encoder, groups)?);
        }
        parts.push((context.gpu().queue().submit([encoder.finish()]), packed));
    }
    // Until the end of this superstep, next values are ahead.
    overlap.current = false;
    Ok(Submitted { parts, readback: readback.expect("there are parts") })
}

/// Sends what parts have packed as soon as they have run, and fetches what others have sent, until all parts have run
/// and everything has been sent and has arrived.
fn exchange_during(
    context: &mut Context,
    exchange: &mut Exchange,
    early: &mut EarlyGather,
    parts: Vec<SubmittedPart>,
) -> Result<()> {
    let spin = context.gpu().poll_time(SPIN);
    // What arrives may overwrite what the superstep before has unpacked, once a part of this one has run.
    let mut fetches = false;
    let mut parts = parts.into_iter().peekable();
    let mut since = Instant::now();
    loop {
        let mut moved = false;
        while let Some((submission, _)) = parts.peek()
            && context.gpu().wait(submission.clone(), Duration::ZERO)?
        {
            let (_, packed) = parts.next().expect("it was seen");
            exchange.send_early(context, packed);
            (fetches, moved) = (true, true);
        }
        if fetches {
            let before = exchange.left_early(early);
            exchange.go_on_early(context, early)?;
            moved |= exchange.left_early(early) < before;
        }
        if parts.peek().is_none() && exchange.left_early(early) == 0 {
            return Ok(());
        }
        if moved {
            since = Instant::now();
        } else if parts.peek().is_none() && exchange.is_abandoned() {
            // The run ends with the error of the device that has failed.
            return Ok(());
        } else if since.elapsed() > PATIENCE {
            return Err(context.gpu().health().lost("a part of a superstep did not end").into());
        } else if since.elapsed() < spin {
            std::hint::spin_loop();
        } else {
            std::thread::sleep(LOOK);
        }
    }
}

/// Which values of a vertex are copied to which.
#[derive(Clone, Copy, PartialEq)]
enum Copied {
    /// Current values become next ones.
    ToNext,
    /// Next values become current ones.
    ToCurrent,
}

/// Encodes a copy between the current and the next values of own vertices. By a kernel: a copy on the compute queue
/// moves 100 GB/s. Up to three values before the first own one are copied too; lists read
/// what other devices' vertices have afterwards.
fn copy_own(context: &mut Context, encoder: &mut wgpu::CommandEncoder, attribute: usize, copied: Copied) -> Result<()> {
    let own = context.part.own.clone();
    let declared = context.declared.attributes[attribute];
    let current: Vec<Span<'_>> = context.spans(attribute, &own);
    let next = context.buffers.next_spans(attribute, &own, context.plan.chunk_vertices_log2);
    let copies: Vec<_> = current
        .iter()
        .zip(&next)
        .map(|(current, next)| {
            let words = current.words(&declared);
            let begin = (words.start / 4 * 4) as u32;
            let layout = MergeLayout {
                operation: layout::MERGE_REPLACE,
                kind: layout::WORDS_U32,
                words: words.end as u32 - begin,
                to: begin,
                begin,
                first_mask: u32::MAX,
                last_mask: u32::MAX,
                spare: 0,
            };
            let (from, to) = if copied == Copied::ToNext { (current, next) } else { (next, current) };
            (layout, from.buffer.clone(), to.buffer.clone())
        })
        .collect();
    for (layout, from, to) in copies {
        let told = uniform(context.gpu(), bytemuck::bytes_of(&layout))?;
        let visit = (Direction::Out, Visit::All);
        context.pass(
            encoder,
            KernelName::Merge,
            visit,
            layout::merge_groups(layout.words),
            |resource| match resource {
                Resource::Merge => Some(&told),
                Resource::Merged => Some(&to),
                Resource::Received => Some(&from),
                _ => None,
            },
        )?;
    }
    Ok(())
}
