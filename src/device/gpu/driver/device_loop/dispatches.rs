//! The dispatches of a superstep: which kernels run over which pages, and what they are bound to.

use super::super::context::Context;
use super::super::superstep;
use super::is_alone;
use super::resident::{Absent, Place, Resident, Table, is_queued};
use crate::device::gpu::compose::layout::{
    Dispatch, EVERY_VISIT, LISTED_EDGES_MAX, WHEN_EITHER, WHEN_EITHER_SCALED, WHEN_LISTED_END, WHEN_LISTED_SCALED,
    WHEN_QUEUED, WHEN_QUEUED_SCALED, WHEN_WALKED, WORKGROUP,
};
use crate::device::gpu::compose::{KernelName, Resource};
use crate::device::gpu::kernels::Kernel;
use crate::device::gpu::memory::plan::TOTALS_MAX;
use crate::error::Result;
use crate::model::algorithm::Visit;
use std::sync::Arc;
use topostream_formats::Direction;

/// Maximum number of workgroups of `expand`, which process units in a loop: as many as a large GPU runs concurrently.
const EXPAND_GROUPS: u32 = 2048;
/// Maximum number of workgroups of `sweep`, which process units in a loop.
const SWEEP_GROUPS: u32 = 4096;

/// A dispatch before its kernel is composed.
pub(super) struct Planned<'a> {
    pub(super) name: KernelName,
    pub(super) visit: (Direction, Visit),
    /// None for a direct dispatch of one workgroup.
    pub(super) dispatch: Option<Dispatch>,
    pub(super) pages: Option<Pages<'a>>,
}

impl Planned<'_> {
    /// The submissions that it is part of.
    pub(super) fn part_of(&self) -> PartOf {
        match (self.name, self.dispatch) {
            (KernelName::Decide, _) => PartOf::Both,
            (_, Some(Dispatch { when: WHEN_LISTED_SCALED, .. })) => PartOf::Both,
            (_, Some(Dispatch { when: WHEN_LISTED_END, .. })) => PartOf::OnlyListed,
            _ => PartOf::Every,
        }
    }
}

/// Submissions that a dispatch is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartOf {
    /// Those that run any supersteps.
    Every,
    /// Those that run listed supersteps only: dispatches that would do nothing take 1 µs each.
    OnlyListed,
    /// All submissions.
    Both,
}

/// The pages that a kernel processes: their table, and their place if they are in device memory.
#[derive(Clone, Copy)]
pub(super) struct Pages<'a> {
    pub(super) table: &'a Table,
    pub(super) place: Option<&'a Place>,
}

/// The dispatches of a superstep, in order.
pub(super) fn plan<'a>(context: &Context, resident: &'a Resident, visits: &[(Direction, Visit)]) -> Vec<Planned<'a>> {
    let numbered = || visits.iter().zip(0..).map(|(&(direction, visit), number)| (direction, visit, number));
    let topology = |direction| context.topology(direction).direction();
    let reads_some = |visit| !matches!(visit, Visit::All | Visit::None);
    let once = |name| Planned { name, visit: visits[0], dispatch: None, pages: None };
    let mut planned = Vec::new();
    for (direction, visit, number) in numbered().filter(|&(_, visit, _)| reads_some(visit)) {
        for Absent { table, .. } in resident.absent.iter().filter(|absent| absent.direction == topology(direction)) {
            let dispatch = Some(Dispatch { visit: number, when: WHEN_EITHER, x: groups(table), y: 1 });
            let pages = Some(Pages { table, place: None });
            planned.push(Planned { name: KernelName::Absent, visit: (direction, visit), dispatch, pages });
        }
    }
    if !planned.is_empty() {
        planned.push(once(KernelName::Halt));
    }
    for (direction, visit, number) in numbered().filter(|&(_, visit, _)| visit != Visit::None) {
        for place in resident.places.iter().filter(|place| place.direction == topology(direction)) {
            let mut add = |name, when, (x, y), table| {
                let (dispatch, visit) = (Some(Dispatch { visit: number, when, x, y }), (direction, visit));
                planned.push(Planned { name, visit, dispatch, pages: Some(Pages { table, place: Some(place) }) });
            };
            let Place { walked, listed, .. } = place;
            match visit {
                _ if is_queued(visit) => {
                    add(KernelName::Compact, WHEN_QUEUED, (groups(walked), 1), walked);
                    add(KernelName::Expand, WHEN_QUEUED_SCALED, (EXPAND_GROUPS, 1), walked);
                    add(KernelName::Segments, WHEN_WALKED, walked.groups, walked);
                    if is_listed(context, resident, (direction, visit)) {
                        add(KernelName::ExpandActive, WHEN_LISTED_SCALED, (LISTED_EDGES_MAX / 8, 1), walked);
                    }
                }
                Visit::Without(_) => {
                    add(KernelName::Select, WHEN_EITHER, (listed.unit_count.div_ceil(WORKGROUP), 1), listed);
                    add(KernelName::Sweep, WHEN_EITHER, (listed.unit_count.min(SWEEP_GROUPS), 1), listed);
                }
                _ => match &place.bins {
                    Some((_, groups)) if direction == Direction::In && !context.declared.traversal => {
                        add(KernelName::Binned, WHEN_EITHER, *groups, listed);
                    }
                    _ => add(KernelName::Segments, WHEN_EITHER, walked.groups, walked),
                },
            }
        }
    }
    let name = if context.declared.traversal { KernelName::Census } else { KernelName::VertexPhase };
    let scaled = context.declared.traversal || context.lists_sets();
    let when = if scaled { WHEN_EITHER_SCALED } else { WHEN_EITHER };
    let dispatch = Dispatch { visit: EVERY_VISIT, when, x: superstep::groups(context), y: 1 };
    if planned.iter().any(|one| one.name == KernelName::ExpandActive) {
        let dispatch = Dispatch { when: WHEN_LISTED_END, ..dispatch };
        planned.push(Planned { dispatch: Some(dispatch), ..once(name) });
    }
    planned.push(Planned { dispatch: Some(dispatch), ..once(name) });
    planned.push(once(KernelName::Decide));
    planned
}

/// Whether supersteps with a visit may be over listed vertices: no page may be missing.
pub(super) fn is_listed(context: &Context, resident: &Resident, (direction, visit): (Direction, Visit)) -> bool {
    let read = context.topology(direction).direction();
    let has_pages = resident.absent.is_empty() && resident.places.iter().any(|place| place.direction == read);
    lists(context, visit) && has_pages && is_alone(context)
}

/// Whether the vertices of a visit may be listed.
fn lists(context: &Context, visit: Visit) -> bool {
    match visit {
        Visit::Frontier => context.declared.traversal,
        Visit::Within(_) => context.lists_sets(),
        Visit::All | Visit::Without(_) | Visit::None => false,
    }
}

/// The kernels over lists that [`plan`] will probably use for a visit: that it has room for the sorted lists of
/// `binned` is not known before the pages are there.
pub(super) fn kernels(
    context: &Context,
    (direction, visit): (Direction, Visit),
) -> Vec<(KernelName, Direction, Visit)> {
    let names: &[KernelName] = match visit {
        Visit::None => &[],
        _ if lists(context, visit) => {
            &[KernelName::Compact, KernelName::Expand, KernelName::Segments, KernelName::ExpandActive]
        }
        _ if is_queued(visit) => &[KernelName::Compact, KernelName::Expand, KernelName::Segments],
        Visit::Without(_) => &[KernelName::Select, KernelName::Sweep],
        _ if direction == Direction::In && !context.declared.traversal => &[KernelName::Binned],
        _ => &[KernelName::Segments],
    };
    names.iter().map(|&name| (name, direction, visit)).collect()
}

/// Workgroups that process all pages of a table in parallel, up to [`TOTALS_MAX`].
fn groups(table: &Table) -> u32 {
    table.pages.div_ceil(table.pages_a_group).clamp(1, TOTALS_MAX)
}

/// Composes a kernel; returns its bind groups for even and for odd supersteps.
pub(super) fn bind(
    context: &mut Context,
    name: KernelName,
    (direction, visit): (Direction, Visit),
    pages: Option<Pages<'_>>,
    [course, arguments, dispatches, rows]: [&wgpu::Buffer; 4],
) -> Result<(Arc<Kernel>, [Vec<wgpu::BindGroup>; 2])> {
    let kernel = context.kernel_of_loop(name, direction, visit)?;
    let place = || pages.and_then(|pages| pages.place).expect("kernels over lists have a place");
    let find = |superstep: u32, resource: &Resource| match *resource {
        Resource::Course => course.clone(),
        Resource::Arguments => arguments.clone(),
        Resource::Dispatches => dispatches.clone(),
        Resource::NextStep => context.buffers.step.clone(),
        Resource::Pages => context.arena_buffers[place().buffer as usize].buffer().clone(),
        Resource::Batch => pages.expect("kernels over pages have a table").table.buffer.clone(),
        Resource::Units => pages.expect("kernels over pages have a table").table.units.clone(),
        Resource::Bins => place().bins.as_ref().expect("sorted lists").0.clone(),
        Resource::Swept => place().swept.clone().expect("lists that are swept"),
        Resource::Queue => place().queue.clone().expect("lists that are queued have a queue"),
        Resource::Rows => rows.clone(),
        _ => context.buffers.find(context.graph_buffers(), superstep, direction, resource).clone(),
    };
    let bind_group = |superstep: u32, group| {
        let of_group: Vec<(Resource, wgpu::Buffer)> =
            kernel.resources(group).map(|resource| (resource, find(superstep, &resource))).collect();
        kernel.bind(context.gpu(), group, |resource| {
            &of_group.iter().find(|(one, _)| one == resource).expect("every resource of the group was found").1
        })
    };
    let bound = [0, 1].map(|superstep| (0..kernel.groups()).map(|group| bind_group(superstep, group)).collect());
    Ok((kernel, bound))
}

/// Composes a kernel over all lists of a place, with its bind groups, for algorithms that are not traversals.
///
/// # Errors
/// Shader errors.
pub(super) fn bind_paced(
    context: &mut Context,
    name: KernelName,
    (direction, visit): (Direction, Visit),
    (place, table): (&Place, &Table),
    (rows, hubs): (&wgpu::Buffer, &wgpu::Buffer),
) -> Result<(Arc<Kernel>, Vec<wgpu::BindGroup>)> {
    let kernel = context.kernel_of_loop(name, direction, visit)?;
    let bind = |group| {
        kernel.bind(context.gpu(), group, |resource| match resource {
            Resource::Pages => context.arena_buffers[place.buffer as usize].buffer(),
            Resource::Batch => &table.buffer,
            Resource::Units => &table.units,
            Resource::Rows => rows,
            Resource::HubQueue => hubs,
            Resource::Bins => &place.bins.as_ref().expect("sorted lists").0,
            _ => context.buffers.find(context.graph_buffers(), 0, direction, resource),
        })
    };
    let bound = (0..kernel.groups()).map(bind).collect();
    Ok((kernel, bound))
}
