//! The driver's part in supersteps over resident lists whose values are exchanged while lists are still read.
//!
//! ```text
//!  lists 0 │ vertex phase 0, pack │ lists 1 │ vertex phase 1, pack │ … │ sums │ next values become current; unpack
//!                                 └ send, fetch what others have sent ─────────┘
//! ```
//!
//! The vertex phase of a part sets *next* values: lists of later parts, and other devices' lists of this superstep, read
//! the current ones. The engine gets the superstep's sums before the last values have arrived.

use super::context::Context;
use super::device_loop::DeviceLoop;
use super::exchange::{EarlyGather, Exchange, PackedMove};
use super::message::Ended;
use super::superstep::{self, Ending};
use super::{Driver, LOOK};
use crate::device::exchange::Gather;
use crate::device::gpu::adapter::readback::PATIENCE;
use crate::device::gpu::compose::layout::{Step as StepLayout, WORKGROUP};
use crate::device::gpu::compose::{KernelName, Resource};
use crate::device::gpu::kernels::Kernel;
use crate::device::gpu::memory::buffers::Span;
use crate::device::gpu::memory::plan::{TOTAL_BYTES, TOTALS_MAX};
use crate::error::Result;
use crossbeam_channel::Sender;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};
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
        let (buffers, graph) = (&context.buffers, context.graph_buffers());
        let find = |resource: &Resource| match resource {
            Resource::Step => &step,
            Resource::Totals => &totals,
            other => buffers.next(other).unwrap_or_else(|| buffers.find(graph, 0, direction, other)),
        };
        let bound = (0..kernel.groups()).map(|group| kernel.bind(context.gpu(), group, find)).collect();
        Ok(Self { vertices, step, totals, kernel, bound, groups })
    }

    fn encode(&self, context: &mut Context, encoder: &mut wgpu::CommandEncoder) {
        context.gpu().queue().write_buffer(
            &self.step,
            0,
            bytemuck::bytes_of(&superstep::step_of_part(context, &self.vertices)),
        );
        let stamps = context.timing.next(&context.home.gpu, KernelName::VertexPhase.name());
        self.kernel.dispatch(encoder, &self.bound.iter().collect::<Vec<_>>(), (self.groups, 1), stamps);
    }
}

/// Parts that have been submitted, in order: when their commands complete, their values are sent.
struct Submitted(Vec<(wgpu::SubmissionIndex, Vec<PackedMove>)>);

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

    /// Ends a superstep: submits its other parts, exchanges values meanwhile, replies, and exchanges the last ones.
    pub(super) fn end_overlapped(&mut self, mut early: EarlyGather, reply: &Sender<Ended>) -> Result<()> {
        let ended = self.sound().and_then(|()| self.run_parts(&mut early));
        let failed = ended.is_err();
        self.failed |= failed;
        drop(reply.send(self.explained(ended)));
        if failed {
            return Ok(());
        }
        let Self { context, exchange: Some(exchange), overlap, .. } = self else { return Ok(()) };
        let none = Submitted(Vec::new());
        exchange_while(context, exchange, &mut early, none, |early, exchange| {
            early.has_arrived() && !exchange.is_sending()
        })?;
        exchange.tell_copies(context);
        let mut encoder = context.encoder();
        for attribute in early.attributes() {
            copy_own(context, &mut encoder, attribute, |current, next| (next, current));
        }
        overlap.current = true;
        exchange.unpack_early(context, &mut encoder, &early)?;
        context.gpu().queue().submit([encoder.finish()]);
        Ok(())
    }

    /// Runs all parts, and returns the results of the superstep.
    fn run_parts(&mut self, early: &mut EarlyGather) -> Ended {
        let parts = self.device_loop.parts_left().unwrap_or_default();
        let Self { context, device_loop, launches, exchange: Some(exchange), overlap, .. } = self else {
            let health = self.context.gpu().health();
            return Err(health.fault("exchange", "a superstep in parts, of a single device").into());
        };
        overlap.prepare(context, &parts)?;
        let buffers = (launches.rows(), launches.hubs());
        let submitted = submit_parts(context, (device_loop, buffers), (exchange, early), overlap)?;
        exchange_while(context, exchange, early, submitted, |_, _| true)?;
        let mut encoder = self.context.encoder();
        let mut groups = 0;
        for phase in &self.overlap.phases {
            let (at, bytes) = (TOTAL_BYTES * u64::from(groups), TOTAL_BYTES * u64::from(phase.groups));
            encoder.copy_buffer_to_buffer(&phase.totals, 0, &self.context.buffers.totals, at, bytes);
            groups += phase.groups;
        }
        self.finish(Ending { encoder, groups })
    }
}

/// Submits the lists, the vertex phase and the packing of each part; the lists of the first one have been submitted.
fn submit_parts(
    context: &mut Context,
    (device_loop, buffers): (&mut DeviceLoop, (&wgpu::Buffer, &wgpu::Buffer)),
    (exchange, early): (&mut Exchange, &mut EarlyGather),
    overlap: &mut Overlap,
) -> Result<Submitted> {
    let (mut submitted, mut updated) = (Vec::new(), Vec::new());
    for (part, phase) in overlap.phases.iter().enumerate() {
        let mut encoder = context.encoder();
        if part > 0 {
            device_loop.encode_part(context, &mut encoder, buffers, part)?;
        } else if !overlap.current {
            // The vertex phase reads a vertex's current value.
            for attribute in early.attributes() {
                copy_own(context, &mut encoder, attribute, |current, next| (current, next));
            }
        }
        phase.encode(context, &mut encoder);
        updated.push(phase.vertices.clone());
        let packed = exchange.pack_early(context, &mut encoder, early, &updated)?;
        submitted.push((context.gpu().queue().submit([encoder.finish()]), packed));
    }
    // Until the end of this superstep, next values are ahead.
    overlap.current = false;
    Ok(Submitted(submitted))
}

/// Sends what parts have packed as soon as they have run, and fetches what others have sent, until all parts have run
/// and `is_done`.
fn exchange_while(
    context: &mut Context,
    exchange: &mut Exchange,
    early: &mut EarlyGather,
    Submitted(parts): Submitted,
    is_done: impl Fn(&EarlyGather, &Exchange) -> bool,
) -> Result<()> {
    let spin = context.gpu().poll_time(SPIN);
    // What arrives may overwrite what the superstep before has unpacked, once a part of this one has run.
    let mut fetches = parts.is_empty();
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
            let before = early.moved();
            exchange.go_on_early(context, early)?;
            moved |= early.moved() > before;
        }
        if parts.peek().is_none() && is_done(early, exchange) {
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

/// Encodes copies between the current and the next values of own vertices; `order`: from and to.
fn copy_own(
    context: &Context,
    encoder: &mut wgpu::CommandEncoder,
    attribute: usize,
    order: impl for<'a> Fn(&'a wgpu::Buffer, &'a wgpu::Buffer) -> (&'a wgpu::Buffer, &'a wgpu::Buffer),
) {
    let own = &context.part.own;
    let current: Vec<Span<'_>> = context.spans(attribute, own);
    let next = context.buffers.next_spans(attribute, own, context.plan.chunk_vertices_log2);
    for (current, next) in current.iter().zip(&next) {
        let words = current.words(&context.declared.attributes[attribute]);
        let (from, to) = order(current.buffer, next.buffer);
        encoder.copy_buffer_to_buffer(from, 4 * words.start, to, 4 * words.start, 4 * (words.end - words.start));
    }
}
