//! The dispatches of a superstep: which kernels run over which pages, and what they are bound to.

use super::super::plan::{Dispatch, Size, Variant};
use super::resident::{Absent, AllPages, Place, Table, is_queued};
use crate::device::gpu::compose::layout::{
    self, EVERY_VISIT, LISTED_EDGES_MAX, WHEN_EITHER, WHEN_EITHER_SCALED, WHEN_LISTED_END, WHEN_LISTED_SCALED,
    WHEN_QUEUED, WHEN_QUEUED_SCALED, WHEN_WALKED, WORKGROUP,
};
use crate::device::gpu::compose::{KernelName, Resource};
use crate::device::gpu::memory::plan::TOTALS_MAX;
use crate::model::algorithm::Visit;
use topostream_formats::Direction;

/// Maximum number of workgroups of `expand`, which process units in a loop: as many as a large GPU runs concurrently.
const EXPAND_GROUPS: u32 = 2048;
/// Maximum number of workgroups of `sweep`, which process units in a loop.
const SWEEP_GROUPS: u32 = 4096;

/// The dispatches that end a superstep: the census or the vertex phase, and `decide`.
const END_PARTS: usize = 2;

/// A dispatch before its kernel is composed.
pub struct Planned<'a, B> {
    pub name: KernelName,
    pub visit: (Direction, Visit),
    /// None for a direct dispatch of one workgroup.
    pub dispatch: Option<layout::Dispatch>,
    pub pages: Option<Pages<'a, B>>,
}

impl<B> Planned<'_, B> {
    /// The submissions that it is part of.
    pub(super) fn part_of(&self) -> PartOf {
        match (self.name, self.dispatch) {
            (KernelName::Decide, _) => PartOf::Both,
            (_, Some(layout::Dispatch { when: WHEN_LISTED_SCALED, .. })) => PartOf::Both,
            (_, Some(layout::Dispatch { when: WHEN_LISTED_END, .. })) => PartOf::OnlyListed,
            _ => PartOf::Every,
        }
    }
}

/// Submissions that a dispatch is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartOf {
    /// Submissions that run any supersteps.
    Every,
    /// Submissions that run listed supersteps only: dispatches that would do nothing take 1 µs each.
    OnlyListed,
    /// All submissions.
    Both,
}

/// The pages that a kernel processes: their table, and their place if they are in device memory.
pub struct Pages<'a, B> {
    table: &'a Table<B>,
    place: Option<&'a Place<B>>,
}

impl<B> Clone for Pages<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for Pages<'_, B> {}

/// What the dispatches of a superstep depend on, beside the pages.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Whether the algorithm is a traversal.
    pub traversal: bool,
    /// Whether the device may list the vertices of a set.
    pub lists_sets: bool,
    /// Whether a kernel finds the most frequent value of lists.
    pub plurality: bool,
    /// Whether it shares neither the graph nor the run with others.
    pub alone: bool,
    /// Whether one topology serves both directions.
    pub undirected: bool,
    /// The workgroups of kernels over vertices.
    pub groups: u32,
}

impl Facts {
    /// The direction of the topology that is read.
    pub fn read(&self, direction: Direction) -> Direction {
        if self.undirected { Direction::Out } else { direction }
    }
}

/// The dispatches of a superstep, in order.
pub fn plan<'a, B>(
    facts: &Facts,
    (places, absent): AllPages<'a, B>,
    visits: &[(Direction, Visit)],
) -> Vec<Planned<'a, B>> {
    let numbered = || visits.iter().zip(0..).map(|(&(direction, visit), number)| (direction, visit, number));
    let reads_some = |visit| !matches!(visit, Visit::All | Visit::None);
    let once = |name| Planned { name, visit: visits[0], dispatch: None, pages: None };
    let mut planned = Vec::new();
    for (direction, visit, number) in numbered().filter(|&(_, visit, _)| reads_some(visit)) {
        for Absent { table, .. } in absent.iter().filter(|absent| absent.direction == facts.read(direction)) {
            let dispatch = Some(layout::Dispatch { visit: number, when: WHEN_EITHER, x: groups(table), y: 1 });
            let pages = Some(Pages { table, place: None });
            planned.push(Planned { name: KernelName::Absent, visit: (direction, visit), dispatch, pages });
        }
    }
    if !planned.is_empty() {
        planned.push(once(KernelName::Halt));
    }
    for (direction, visit, number) in numbered().filter(|&(_, visit, _)| visit != Visit::None) {
        for place in places.iter().filter(|place| place.direction == facts.read(direction)) {
            let mut add = |name, when, (x, y), table| {
                let (dispatch, visit) = (Some(layout::Dispatch { visit: number, when, x, y }), (direction, visit));
                planned.push(Planned { name, visit, dispatch, pages: Some(Pages { table, place: Some(place) }) });
            };
            let Place { by_edges, by_lists, .. } = place;
            match visit {
                _ if is_queued(visit) => {
                    add(KernelName::Compact, WHEN_QUEUED, (groups(by_edges), 1), by_edges);
                    add(KernelName::Expand, WHEN_QUEUED_SCALED, (EXPAND_GROUPS, 1), by_edges);
                    add(KernelName::Segments, WHEN_WALKED, by_edges.groups, by_edges);
                    if is_listed(facts, (places, absent), (direction, visit)) {
                        add(KernelName::ExpandActive, WHEN_LISTED_SCALED, (LISTED_EDGES_MAX / 8, 1), by_edges);
                    }
                }
                Visit::Without(_) => {
                    add(KernelName::Select, WHEN_EITHER, (by_lists.unit_count.div_ceil(WORKGROUP), 1), by_lists);
                    add(KernelName::Sweep, WHEN_EITHER, (by_lists.unit_count.min(SWEEP_GROUPS), 1), by_lists);
                }
                _ if facts.plurality => add(KernelName::Plurality, WHEN_EITHER, by_lists.groups, by_lists),
                _ => match &place.bins {
                    Some((_, groups)) if direction == Direction::In && !facts.traversal => {
                        add(KernelName::Binned, WHEN_EITHER, *groups, by_lists);
                    }
                    _ => add(KernelName::Segments, WHEN_EITHER, by_edges.groups, by_edges),
                },
            }
        }
    }
    let name = if facts.traversal { KernelName::Census } else { KernelName::VertexPhase };
    let scaled = facts.traversal || facts.lists_sets;
    let when = if scaled { WHEN_EITHER_SCALED } else { WHEN_EITHER };
    let dispatch = layout::Dispatch { visit: EVERY_VISIT, when, x: facts.groups, y: 1 };
    if planned.iter().any(|one| one.name == KernelName::ExpandActive) {
        let dispatch = layout::Dispatch { when: WHEN_LISTED_END, ..dispatch };
        planned.push(Planned { dispatch: Some(dispatch), ..once(name) });
    }
    planned.push(Planned { dispatch: Some(dispatch), ..once(name) });
    planned.push(once(KernelName::Decide));
    planned
}

/// Whether supersteps with a visit may be over listed vertices: no page may be missing.
pub(super) fn is_listed<B>(
    facts: &Facts,
    (places, absent): AllPages<'_, B>,
    (direction, visit): (Direction, Visit),
) -> bool {
    let has_pages = absent.is_empty() && places.iter().any(|place| place.direction == facts.read(direction));
    are_listed(facts, visit) && has_pages && facts.alone
}

/// Whether the vertices of a visit may be listed.
fn are_listed(facts: &Facts, visit: Visit) -> bool {
    match visit {
        Visit::Frontier => facts.traversal,
        Visit::Within(_) => facts.lists_sets,
        Visit::All | Visit::Without(_) | Visit::None => false,
    }
}

/// The kernels over lists that [`plan`] will probably use for a visit: that it has room for the sorted lists of
/// `binned` is not known before the pages are there.
pub(super) fn kernels(facts: &Facts, (direction, visit): (Direction, Visit)) -> Vec<KernelName> {
    let names: &[KernelName] = match visit {
        Visit::None => &[],
        _ if are_listed(facts, visit) => {
            &[KernelName::Compact, KernelName::Expand, KernelName::Segments, KernelName::ExpandActive]
        }
        _ if is_queued(visit) => &[KernelName::Compact, KernelName::Expand, KernelName::Segments],
        Visit::Without(_) => &[KernelName::Select, KernelName::Sweep],
        _ if facts.plurality => &[KernelName::Plurality],
        _ if direction == Direction::In && !facts.traversal => &[KernelName::Binned],
        _ => &[KernelName::Segments],
    };
    names.to_vec()
}

/// Workgroups that process all pages of a table in parallel, up to [`TOTALS_MAX`].
fn groups<B>(table: &Table<B>) -> u32 {
    table.pages.div_ceil(table.pages_a_group).clamp(1, TOTALS_MAX)
}

/// The buffers that control supersteps which the device runs by itself.
pub struct Controls<B> {
    /// The state of the superstep.
    pub course: B,
    /// The workgroups of indirect dispatches.
    pub arguments: B,
    /// The table of dispatches.
    pub dispatches: B,
    /// The unit rows of resident pages.
    pub rows: B,
}

/// A dispatch of a superstep.
#[derive(Clone)]
pub struct StepDispatch<B> {
    pub kernel: Dispatch<B>,
    pub part_of: PartOf,
    /// Its entry in the table that `decide` reads: where it is, and what it says. None for a dispatch of one workgroup.
    pub entry: Option<(usize, layout::Dispatch)>,
}

/// Binds the dispatches of a superstep.
pub fn bound<B: Clone>(planned: &[Planned<'_, B>], controls: &Controls<B>) -> Vec<StepDispatch<B>> {
    let mut entries = 0;
    let step = |planned: &Planned<'_, B>| {
        let kernel = Dispatch::new(planned.name, planned.visit, 0).of(Variant::Resident);
        let kernel = kernel.with(Resource::Course, &controls.course).with(Resource::Arguments, &controls.arguments);
        let kernel = kernel.with(Resource::Dispatches, &controls.dispatches).with(Resource::Rows, &controls.rows);
        let mut kernel = match planned.pages {
            Some(Pages { table, place }) => over(kernel, table, place),
            None => kernel,
        };
        let entry = planned.dispatch.map(|dispatch| (entries, dispatch));
        if let Some((at, _)) = entry {
            kernel.size = Size::Indirect(controls.arguments.clone(), 12 * at as u64);
            entries += 1;
        }
        StepDispatch { kernel, part_of: planned.part_of(), entry }
    };
    planned.iter().map(step).collect()
}

/// A kernel over the pages of a table, which are in a place or missing.
pub(super) fn over<B: Clone>(kernel: Dispatch<B>, table: &Table<B>, place: Option<&Place<B>>) -> Dispatch<B> {
    let kernel = kernel.with(Resource::Batch, &table.buffer).with(Resource::Units, &table.units);
    let Some(place) = place else { return kernel };
    let mut kernel = kernel.with(Resource::Pages, &place.pages);
    kernel.bound.extend(place.bins.iter().map(|(bins, _)| (Resource::Bins, bins.clone())));
    kernel.bound.extend(place.swept.iter().map(|swept| (Resource::Swept, swept.clone())));
    kernel.bound.extend(place.queue.iter().map(|queue| (Resource::Queue, queue.clone())));
    kernel
}

/// The kernels over the lists that a superstep visits, if no page is missing.
pub fn lists<B: Clone>(steps: &[StepDispatch<B>], superstep: u32, visit: u32) -> Vec<Dispatch<B>> {
    let lists = &steps[..steps.len() - END_PARTS];
    let of_visit = |step: &&StepDispatch<B>| step.kernel.kernel != KernelName::Absent && step.is_of(visit);
    lists.iter().filter(of_visit).map(|step| step.in_superstep(superstep)).collect()
}

/// The census of a superstep.
pub fn census<B: Clone>(steps: &[StepDispatch<B>], superstep: u32) -> Dispatch<B> {
    steps[steps.len() - END_PARTS].in_superstep(superstep)
}

impl<B: Clone> StepDispatch<B> {
    /// Its kernel in a superstep.
    pub fn in_superstep(&self, superstep: u32) -> Dispatch<B> {
        Dispatch { superstep, ..self.kernel.clone() }
    }

    /// Whether it is part of supersteps with a visit only.
    pub(super) fn is_of(&self, visit: u32) -> bool {
        self.entry.is_some_and(|(_, entry)| entry.visit == visit)
    }
}
