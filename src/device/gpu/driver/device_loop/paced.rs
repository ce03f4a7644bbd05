//! Supersteps over all lists, or over none, of algorithms with a vertex phase. The host chooses each superstep, because
//! it adds up the sums of the vertex phase in f64; it encodes the next one while the device runs.

use super::super::context::Context;
use super::super::executor::{Encoded, Read};
use super::super::plan::{Dispatch, Plan, Variant};
use super::super::superstep;
use super::super::timing::union_ns;
use super::dispatches::over;
use super::resident::{Place, Resident};
use crate::device::gpu::adapter::rounds;
use crate::device::gpu::compose::layout::Counters;
use crate::device::gpu::compose::{KernelName, Resource};
use crate::device::gpu::memory::buffers::COUNTERS_BYTES;
use crate::device::gpu::memory::plan::TOTAL_BYTES;
use crate::device::{PageWork, StepEnd, Transfer};
use crate::error::Result;
use crate::model::algorithm::{Step, Visit};
use crate::pages::fetch::PageRef;
use std::ops::Range;
use topostream_formats::Direction;

/// Supersteps that are encoded speculatively: before the host has chosen them.
#[derive(Default)]
pub(super) struct Paced {
    /// The next superstep, if it has the same visit.
    encoded: Option<((Direction, Visit), Encoded)>,
    /// The pages that the tables were last used for, in a run that the device shares with others.
    pub visited: Vec<PageRef>,
    /// The visit of the superstep that has begun, if only the first part of its lists has been submitted.
    pub left: Option<(Direction, Visit)>,
}

/// The buffers of a superstep's kernels: resident pages, their unit rows, and the queue of long lists.
pub(super) type Over<'a> = (&'a Resident, &'a wgpu::Buffer, &'a wgpu::Buffer);

impl Paced {
    /// Drops encoded commands, because a buffer has been replaced.
    pub fn forget(&mut self) {
        self.encoded = None;
    }

    /// Runs a superstep; returns its end, without the counts of pages, which the host knows, and the maximum number of
    /// parts of long lists in a launch.
    ///
    /// # Errors
    /// Shader and device errors; [`rounds::cut`] if the driver has ended loops early.
    pub fn run(&mut self, context: &mut Context, over: Over<'_>, step: &Step) -> Result<(StepEnd, u32)> {
        let visit = (step.direction, step.visit);
        let encoded = match self.encoded.take().filter(|(encoded, _)| *encoded == visit) {
            Some((_, encoded)) => encoded,
            None => context.encode(&whole(context, over, visit))?,
        };
        superstep::begin(context, step);
        let submitted = context.submit([encoded]);
        // Most supersteps are followed by one with the same visit.
        self.encoded = Some((visit, context.encode(&whole(context, over, visit))?));
        let Read { bytes, spans } = context.read(submitted)?;
        let (totals, counters) = bytes.split_at(bytes.len() - COUNTERS_BYTES as usize);
        let counters: Counters = bytemuck::pod_read_unaligned(counters);
        if counters.loops_cut != 0 {
            return Err(rounds::cut(context.gpu(), context.declaration.name).into());
        }
        let (mut others, mut kernels): (Vec<_>, Vec<_>) =
            spans.into_iter().partition(|span| span.name == KernelName::VertexPhase.name());
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
}

/// The kernels of a superstep, its vertex phase, and the reading of its sums.
fn whole(context: &Context, over: Over<'_>, visit: (Direction, Visit)) -> Plan<wgpu::Buffer> {
    let mut plan = Plan { times: true, ..Plan::default() };
    if visit.1 != Visit::None {
        plan_lists(context, &mut plan, over, (visit, 0..over.0.parts().count()));
    }
    let (totals, counters) = (&context.buffers.totals, &context.buffers.counters);
    plan_end(&mut plan, superstep::visits(context)[0], superstep::groups(context), (totals, counters));
    plan
}

/// Plans the vertex phase of a superstep, and the reading of its sums.
pub fn plan_end<B: Clone>(plan: &mut Plan<B>, first: (Direction, Visit), groups: u32, (totals, counters): (&B, &B)) {
    plan.run(Dispatch::new(KernelName::VertexPhase, first, 0).sized(groups));
    plan.read(totals, 0, TOTAL_BYTES * u64::from(groups));
    plan.read(counters, 0, COUNTERS_BYTES);
}

/// Plans the kernels over the lists of some parts.
pub(super) fn plan_lists(
    context: &Context,
    plan: &mut Plan<wgpu::Buffer>,
    (resident, rows, hubs): Over<'_>,
    (visit, parts): ((Direction, Visit), Range<usize>),
) {
    let read = context.topology(visit.0).direction();
    let is_read = |place: &&Place| place.direction == read && parts.contains(&place.part);
    let plurality = context.declared.plurality.is_some();
    plan_places(plan, resident.places.iter().filter(is_read), (visit, plurality), (rows, hubs));
}

/// Plans the kernels over the lists of places, one after another: lists and hubs of in-lists, segments of out-lists; or
/// the one that finds the most frequent value of lists.
pub fn plan_places<'a, B: Clone + 'a>(
    plan: &mut Plan<B>,
    places: impl Iterator<Item = &'a Place<B>>,
    (visit, plurality): ((Direction, Visit), bool),
    (rows, hubs): (&B, &B),
) {
    let segments = visit.0 == Direction::Out && !plurality;
    for place in places {
        let table = if segments { &place.by_edges } else { &place.by_lists };
        let hub_groups = (table.hub_groups, 1);
        let kernels: &[(KernelName, (u32, u32))] = match &place.bins {
            _ if plurality => &[(KernelName::Plurality, table.groups)],
            _ if segments => &[(KernelName::Segments, table.groups)],
            Some((_, groups)) => &[(KernelName::Binned, *groups)],
            None => &[(KernelName::Lists, table.groups), (KernelName::Hubs, hub_groups)],
        };
        if kernels.len() > 1 {
            plan.clear_bytes(hubs, 0, 4);
        }
        for &(name, groups) in kernels.iter().filter(|(_, groups)| groups.0 > 0) {
            let kernel = over(Dispatch::new(name, visit, 0).of(Variant::Resident), table, Some(place));
            plan.run(kernel.with(Resource::Rows, rows).with(Resource::HubQueue, hubs).sized(groups));
        }
    }
}
