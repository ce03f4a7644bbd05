//! Supersteps over all lists, or over none, of algorithms with a vertex phase. The host chooses each superstep, because
//! it adds up the sums of the vertex phase in f64; it encodes the next one while the device runs.

use super::super::context::Context;
use super::super::superstep;
use super::super::timing::{Timing, union_ns};
use super::dispatches;
use super::resident::{Place, Resident};
use crate::device::gpu::adapter::readback::{READBACK, read_buffer};
use crate::device::gpu::adapter::rounds;
use crate::device::gpu::compose::KernelName;
use crate::device::gpu::compose::layout::Counters;
use crate::device::gpu::kernels::Kernel;
use crate::device::gpu::memory::buffers::COUNTERS_BYTES;
use crate::device::gpu::memory::plan::{TOTAL_BYTES, TOTALS_MAX};
use crate::device::{PageWork, StepEnd, Transfer};
use crate::error::Result;
use crate::model::algorithm::{Step, Visit};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::sync::Arc;
use topostream_formats::Direction;

/// Maximum size of a readback's timestamps in bytes: two for each kernel and buffer of the arena.
const TIMES_BYTES: u64 = 4096;

/// A kernel and its bind groups.
type Bound = (Arc<Kernel>, Vec<wgpu::BindGroup>);

/// Supersteps that are encoded speculatively: before the host has chosen them.
#[derive(Default)]
pub(super) struct Paced {
    /// Readbacks of the current superstep and the next.
    rings: Vec<Ring>,
    next_ring: usize,
    encoded: Option<Encoded>,
    /// Bind groups by kernel, direction and place.
    bound: HashMap<(KernelName, Direction, usize), Bound>,
}

struct Ring {
    readback: wgpu::Buffer,
    timing: Timing,
}

struct Encoded {
    visit: (Direction, Visit),
    ring: usize,
    commands: wgpu::CommandBuffer,
    /// Size of the readback in bytes.
    bytes: u64,
}

/// The buffers of a superstep's kernels: resident pages, their unit rows, and the queue of long lists.
pub(super) type Over<'a> = (&'a Resident, &'a wgpu::Buffer, &'a wgpu::Buffer);

impl Paced {
    /// Drops bind groups and encoded commands, because a buffer has been replaced.
    pub fn forget(&mut self) {
        self.bound.clear();
        self.encoded = None;
    }

    /// Runs a superstep; returns its end, without the counts of pages, which the host knows, and the maximum number of
    /// parts of long lists in a launch.
    ///
    /// # Errors
    /// Shader and device errors; [`rounds::cut`] if the driver has ended loops early.
    pub fn run(&mut self, context: &mut Context, over: Over<'_>, step: &Step) -> Result<(StepEnd, u32)> {
        let visit = (step.direction, step.visit);
        let encoded = match self.encoded.take().filter(|encoded| encoded.visit == visit) {
            Some(encoded) => encoded,
            None => self.encode(context, over, visit)?,
        };
        superstep::begin(context, step);
        let submission = context.gpu().queue().submit([encoded.commands]);
        // Most supersteps are followed by one with the same visit.
        self.encoded = Some(self.encode(context, over, visit)?);
        let Ring { readback, timing } = &mut self.rings[encoded.ring];
        let bytes = read_buffer(context.gpu(), readback, submission, encoded.bytes)?;
        let (totals, rest) = bytes.split_at(TOTAL_BYTES as usize * superstep::groups(context) as usize);
        let (counters, times) = rest.split_at(COUNTERS_BYTES as usize);
        let counters: Counters = bytemuck::pod_read_unaligned(counters);
        if counters.loops_cut != 0 {
            return Err(rounds::cut(context.gpu(), context.declaration.name).into());
        }
        let spans = timing.spans(times).into_iter();
        let (mut others, mut kernels): (Vec<_>, Vec<_>) =
            spans.partition(|span| span.name == KernelName::VertexPhase.name());
        let vertex_ns = union_ns(&mut others) as u64;
        let end = StepEnd {
            summary: superstep::summary(totals, false),
            work: PageWork { compute_ns: union_ns(&mut kernels) as u64, ..PageWork::default() },
            transfer: Transfer { vertex_kernels_ns: vertex_ns, ..Transfer::default() },
            vertex_ns,
            ..StepEnd::default()
        };
        Ok((end, counters.hub_wanted))
    }

    /// Encodes the kernels of a superstep, its vertex phase, and the readback of its sums.
    fn encode(&mut self, context: &mut Context, over: Over<'_>, visit: (Direction, Visit)) -> Result<Encoded> {
        while self.rings.len() < 2 {
            let bytes = TOTAL_BYTES * u64::from(TOTALS_MAX) + COUNTERS_BYTES + TIMES_BYTES;
            let (readback, timing) = (context.gpu().buffer("sums", bytes, READBACK)?, Timing::new(context.gpu()));
            self.rings.push(Ring { readback, timing });
        }
        let ring = self.next_ring;
        self.next_ring = (ring + 1) % self.rings.len();
        let mut encoder = context.encoder();
        if visit.1 != Visit::None {
            let mut timing = std::mem::replace(&mut self.rings[ring].timing, Timing::new(context.gpu()));
            let all = 0..over.0.parts().count();
            let encoded = self.encode_lists(context, over, (visit, all), (&mut encoder, &mut timing));
            self.rings[ring].timing = timing;
            encoded?;
        }
        let Ring { readback, timing } = &mut self.rings[ring];
        let first = superstep::visits(context)[0];
        let kernel = context.kernel(KernelName::VertexPhase, first.0, first.1, false)?;
        let graph = context.graph_buffers();
        let find =
            |group| kernel.bind(context.gpu(), group, |resource| context.buffers.find(graph, 0, first.0, resource));
        let bound: Vec<_> = (0..kernel.groups()).map(find).collect();
        let groups = superstep::groups(context);
        let stamps = timing.next(context.gpu(), KernelName::VertexPhase.name());
        kernel.dispatch(&mut encoder, &bound.iter().collect::<Vec<_>>(), (groups, 1), stamps);
        let sums = TOTAL_BYTES * u64::from(groups);
        encoder.copy_buffer_to_buffer(&context.buffers.totals, 0, readback, 0, sums);
        encoder.copy_buffer_to_buffer(&context.buffers.counters, 0, readback, sums, COUNTERS_BYTES);
        let bytes = sums + COUNTERS_BYTES + timing.bytes();
        timing.resolve(&mut encoder, readback, sums + COUNTERS_BYTES);
        Ok(Encoded { visit, ring, commands: encoder.finish(), bytes })
    }

    /// Encodes the kernels over the lists of some parts; the end of the superstep reads their times.
    ///
    /// # Errors
    /// Shader and device errors.
    pub fn encode_parts(
        &mut self,
        context: &mut Context,
        encoder: &mut wgpu::CommandEncoder,
        over: Over<'_>,
        (visit, parts): ((Direction, Visit), Range<usize>),
    ) -> Result<()> {
        let none = Timing::new(context.gpu());
        let mut timing = std::mem::replace(&mut context.timing, none);
        let encoded = self.encode_lists(context, over, (visit, parts), (encoder, &mut timing));
        context.timing = timing;
        encoded
    }

    /// Submits the kernels over the lists of some parts; the end of the superstep reads their times.
    ///
    /// # Errors
    /// Shader and device errors.
    pub fn submit_lists(
        &mut self,
        context: &mut Context,
        over: Over<'_>,
        lists: ((Direction, Visit), Range<usize>),
    ) -> Result<()> {
        let mut encoder = context.encoder();
        self.encode_parts(context, &mut encoder, over, lists)?;
        context.gpu().queue().submit([encoder.finish()]);
        Ok(())
    }

    /// Encodes the kernels over the lists of each place: lists and hubs of in-lists, segments of out-lists.
    fn encode_lists(
        &mut self,
        context: &mut Context,
        (resident, rows, hubs): Over<'_>,
        ((direction, visit), parts): ((Direction, Visit), Range<usize>),
        (encoder, timing): (&mut wgpu::CommandEncoder, &mut Timing),
    ) -> Result<()> {
        let segments = direction == Direction::Out;
        let read = context.topology(direction).direction();
        let is_read = |place: &Place| place.direction == read && parts.contains(&place.part);
        for (at, place) in resident.places.iter().enumerate().filter(|(_, place)| is_read(place)) {
            let names: &[KernelName] = match &place.bins {
                _ if segments => &[KernelName::Segments],
                Some(_) => &[KernelName::Binned],
                None => &[KernelName::Lists, KernelName::Hubs],
            };
            if names.contains(&KernelName::Hubs) {
                encoder.clear_buffer(hubs, 0, Some(4));
            }
            for &name in names {
                let table = if segments { &place.walked } else { &place.listed };
                let groups = match (name, &place.bins) {
                    (KernelName::Hubs, _) => (table.hub_groups, 1),
                    (KernelName::Binned, Some((_, groups))) => *groups,
                    _ => table.groups,
                };
                if groups.0 == 0 {
                    continue;
                }
                let (kernel, bound) = match self.bound.entry((name, direction, at)) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(vacant) => {
                        let visit = (direction, visit);
                        vacant.insert(dispatches::bind_paced(context, name, visit, (place, table), (rows, hubs))?)
                    }
                };
                let stamps = timing.next(&context.home.gpu, name.name());
                kernel.dispatch(encoder, &bound.iter().collect::<Vec<_>>(), groups, stamps);
            }
        }
        Ok(())
    }
}
