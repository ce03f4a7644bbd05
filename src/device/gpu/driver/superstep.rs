//! The beginning and the end of a superstep: kernels over vertices and page directories, and one readback.
//!
//! The readback consists of the sums of the vertex phase (or the census of the next frontier), the counters, a bit for
//! each page that the next superstep may visit, and the timestamps.
//!
//! Owns the record of when vertices became active. The end has two parts, [`begin_end`] and
//! [`finish`](Superstep::finish), so that moves can be planned between them; it knows neither the moves nor the pages.

use super::context::Context;
use super::executor::{Read, Submitted};
use super::inflation;
use super::message::NextPages;
use super::notes::Notes;
use super::plan::{IN_PLACE, Plan};
use super::tally::Tally;
use super::timing::{DeviceSpan, overlap_ns, union_ns};
use super::values;
use super::writes::Writes;
use crate::device::StepEnd;
use crate::device::gpu::adapter::rounds;
use crate::device::gpu::compose::layout::{self, CensusTotal, Counters, Step as StepLayout};
use crate::device::gpu::compose::{KernelName, Resource};
use crate::device::gpu::memory::buffers::{COUNTERS_BYTES, chunks};
use crate::device::gpu::memory::plan::{TOTAL_BYTES, TOTALS_MAX};
use crate::device::gpu::memory::sizes::bit_bytes;
use crate::error::Result;
use crate::model::activations::Activations;
use crate::model::algorithm::{Scalars, Step, Summary, Visit};
use crate::trace::Lane;
use std::ops::Range;
use std::sync::Arc;
use topostream_formats::Direction;

/// The lanes of a workgroup.
const WORKGROUP: u64 = layout::WORKGROUP as u64;
/// Pages that a workgroup of `next-pages` processes in parallel.
const PAGES_A_GROUP: u32 = 8;

/// Kernels over pages: their time counts as computing.
const OVER_PAGES: [&str; 7] = [
    KernelName::Lists.name(),
    KernelName::Segments.name(),
    KernelName::Hubs.name(),
    KernelName::Binned.name(),
    KernelName::Plurality.name(),
    KernelName::InflateSlots.name(),
    KernelName::Inflate.name(),
];

/// The end of a superstep.
pub(super) struct Superstep {
    /// The record of when the device's own vertices were first active, if wanted, and the host's thread that writes it:
    /// all of it, or only what the device does not record.
    notes: Option<(Arc<Activations>, Notes)>,
}

/// The results of a superstep.
pub(super) struct Found {
    /// Sums, work and transfers.
    pub end: StepEnd,
    /// The pages of possible next supersteps.
    pub next_pages: NextPages,
    /// Maximum number of parts of long lists in a launch.
    pub hubs_wanted: u32,
}

/// The superstep before the first one, as if it had activated the initial frontier.
pub(super) fn before_first() -> Step {
    Step::new(u32::MAX, Direction::Out, Visit::All)
}

/// Begins a superstep.
pub(super) fn begin(context: &mut Context, step: &Step) {
    let mut writes = Writes::default();
    add_begin(context, step, &mut writes);
    writes.queue(context.gpu());
}

/// Begins a superstep for the host; adds what is to be written for kernels.
pub(super) fn add_begin(context: &mut Context, step: &Step, writes: &mut Writes) {
    context.step = *step;
    writes.add(&context.buffers.step, 0, bytemuck::bytes_of(&step_layout(context, step.direction)));
    writes.add(&context.buffers.counters, 0, &[0; COUNTERS_BYTES as usize]);
}

/// Sets the superstep's numbers, on the host and for kernels.
pub(super) fn set(context: &mut Context, step: Step) {
    context.step = step;
    let layout = step_layout(context, step.direction);
    context.gpu().queue().write_buffer(&context.buffers.step, 0, bytemuck::bytes_of(&layout));
}

/// Defers the active vertices of some pages, a bit each, to the next superstep.
///
/// # Errors
/// Device errors.
pub(super) fn defer(context: &mut Context, direction: Direction, pages: &[u32]) -> Result<()> {
    let graph = context.graph_buffers();
    let groups = graph.pages(direction).div_ceil(PAGES_A_GROUP).clamp(1, TOTALS_MAX);
    context.gpu().queue().write_buffer(graph.next_pages(direction), 0, bytemuck::cast_slice(pages));
    let mut plan = Plan::default();
    plan.run(context.dispatch(KernelName::Defer, (direction, context.step.visit)).sized(groups));
    context.run(&plan)?;
    Ok(())
}

/// This superstep's parameters for a vertex phase over a part of the device's own vertices.
pub(super) fn step_of_part(context: &Context, part: &Range<u64>) -> StepLayout {
    let (part_first, part_last) = first_and_last(part);
    StepLayout { part_first, part_last, ..step_layout(context, context.step.direction) }
}

/// The first and the last vertex of a range. An empty one starts after its end.
fn first_and_last(vertices: &Range<u64>) -> (u32, u32) {
    if vertices.is_empty() { (1, 0) } else { (vertices.start as u32, (vertices.end - 1) as u32) }
}

/// This superstep's parameters for kernels over one topology's pages.
fn step_layout(context: &Context, direction: Direction) -> StepLayout {
    let Step { superstep, scalars, integers, .. } = context.step;
    let (own_first, own_last) = first_and_last(&context.part.own);
    StepLayout {
        vertices_last: (context.graph.vertices.max(1) - 1) as u32,
        superstep,
        page_count: context.graph_buffers().pages(direction),
        own_first,
        own_last,
        part_first: own_first,
        part_last: own_last,
        spare: 0,
        scalars: scalars.map(|scalar| scalar as f32),
        integers,
    }
}

/// The vertex phase, or the census of a traversal, and the number of workgroups that write partial sums. Without a
/// phase only a census is planned.
pub(super) fn begin_end(context: &Context, phase: Option<KernelName>) -> (Plan<wgpu::Buffer>, u32) {
    let (mut plan, groups) = (Plan::default(), groups(context));
    if let Some(name) = if context.declared.traversal { Some(KernelName::Census) } else { phase } {
        plan.run(context.dispatch(name, visits(context)[0]).sized(groups));
    }
    (plan, groups)
}

impl Superstep {
    /// `notes`, if given, records activated vertices.
    pub fn new(notes: Option<(Arc<Activations>, Notes)>) -> Self {
        Self { notes }
    }

    /// Waits until all activated vertices are recorded, and ends the recording thread.
    ///
    /// # Errors
    /// Device errors.
    pub fn finish_notes(&mut self, context: &mut Context) -> Result<()> {
        let Some((noted, notes)) = self.notes.take() else { return Ok(()) };
        notes.finish();
        values::merge_levels(context, &noted)
    }

    /// Waits until the vertices activated so far are recorded.
    ///
    /// # Errors
    /// Device errors.
    pub fn settle_notes(&self, context: &mut Context) -> Result<()> {
        let Some((noted, notes)) = &self.notes else { return Ok(()) };
        notes.settle();
        values::merge_levels(context, noted)
    }

    /// Whether the host records the vertices that a superstep activates: the device does not, or its 16-bit levels are
    /// too narrow.
    fn host_notes(&self, context: &Context) -> bool {
        let level = context.step.superstep.wrapping_add(2);
        self.notes.is_some() && (context.plan.levels_bytes == 0 || level > u16::MAX.into())
    }

    /// Adds the search for the next pages and the reads to a plan, executes it and waits for it. `groups` workgroups
    /// write partial sums.
    ///
    /// # Errors
    /// Device errors; [`rounds::cut`] if the driver ended loops early.
    pub fn finish(
        &self,
        context: &mut Context,
        mut plan: Plan<wgpu::Buffer>,
        groups: u32,
        tally: Tally,
    ) -> Result<Found> {
        self.plan_results(context, &mut plan, groups);
        let submitted = context.run(&plan)?;
        self.read(context, submitted, groups, tally)
    }

    /// Adds the search for the pages of each possible next superstep, and the reads, after kernels of which this many
    /// workgroups write partial sums.
    pub fn plan_results(&self, context: &Context, plan: &mut Plan<wgpu::Buffer>, groups: u32) {
        plan.read(&context.buffers.totals, 0, TOTAL_BYTES * u64::from(groups));
        plan.read(&context.buffers.counters, 0, COUNTERS_BYTES);
        if self.host_notes(context) {
            activated(context, |buffer, words| plan.read(buffer, 4 * words.start, 4 * (words.end - words.start)));
        }
        let graph = context.graph_buffers();
        for (direction, visit) in partial(context) {
            let (marks, pages) = (graph.next_pages(direction), graph.pages(direction));
            plan.clear(marks);
            if pages > 0 {
                let next = context.dispatch(KernelName::NextPages, (direction, visit));
                let next = next.told(Resource::Step, &step_layout(context, direction));
                plan.run(next.sized(pages.div_ceil(PAGES_A_GROUP).min(TOTALS_MAX)));
            }
            plan.read(marks, 0, page_bits_bytes(context, direction));
        }
        plan.times = true;
        if context.declared.traversal {
            context.buffers.frontier(context.step.superstep).iter().for_each(|chunk| plan.clear(chunk));
        }
    }

    /// Waits for what [`plan_results`](Self::plan_results) has added to a plan.
    ///
    /// # Errors
    /// The errors of [`finish`](Self::finish).
    pub fn read(&self, context: &mut Context, submitted: Submitted, groups: u32, tally: Tally) -> Result<Found> {
        let read = context.read(submitted)?;
        self.digest(context, read, groups, tally)
    }

    fn digest(&self, context: &Context, read: Read, groups: u32, tally: Tally) -> Result<Found> {
        let Read { bytes, spans } = read;
        let (totals, rest) = bytes.split_at(TOTAL_BYTES as usize * groups as usize);
        let (counters, mut rest) = rest.split_at(COUNTERS_BYTES as usize);
        let counters: Counters = bytemuck::pod_read_unaligned(&counters[..size_of::<Counters>()]);
        if counters.loops_cut != 0 {
            return Err(rounds::cut(context.gpu(), context.declaration.name).into());
        }
        inflation::check(context, &counters)?;
        let summary = summary(totals, context.declared.traversal);
        rest = self.note_activated(context, rest, summary.activated);
        let mut next_pages = NextPages::new();
        for (direction, visit) in partial(context) {
            let (bits, more) = rest.split_at(page_bits_bytes(context, direction) as usize);
            next_pages.insert((direction, visit), bits.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect());
            rest = more;
        }
        let Tally { mut work, mut transfer, mut copies } = tally;
        if context.step.visit != Visit::All {
            work.edges += counters.edges();
        }
        let over_pages = |span: &DeviceSpan| OVER_PAGES.contains(&span.name.trim_end_matches(IN_PLACE));
        let (mut kernels, mut others): (Vec<_>, Vec<_>) = spans.into_iter().partition(over_pages);
        context.tell(Lane::Kernels, &kernels);
        context.tell(Lane::Kernels, &others);
        context.tell(Lane::Copies, &copies);
        work.compute_ns += union_ns(&mut kernels) as u64;
        let in_place = kernels.iter().filter(|span| span.name.ends_with(IN_PLACE));
        transfer.in_place_ns = union_ns(&mut in_place.copied().collect::<Vec<_>>()) as u64;
        transfer.vertex_kernels_ns = union_ns(&mut others) as u64;
        transfer.overlap_ns = overlap_ns(&kernels, &copies) as u64;
        transfer.copy_ns = union_ns(&mut copies) as u64;
        let vertex_ns = transfer.vertex_kernels_ns;
        let deferred = counters.deferred.into();
        let end = StepEnd { summary, work, transfer, vertex_ns, deferred, ..StepEnd::default() };
        Ok(Found { end, next_pages, hubs_wanted: counters.hub_wanted })
    }

    /// Records the activated vertices if they have been read back; returns the bytes after them.
    fn note_activated<'a>(&self, context: &Context, bytes: &'a [u8], count: u64) -> &'a [u8] {
        let Some((_, notes)) = self.notes.as_ref().filter(|_| self.host_notes(context)) else { return bytes };
        let own = context.part.own_words();
        // Chunks end at word boundaries, so that the words of all chunks are consecutive.
        let (bits, rest) = bytes.split_at(bit_bytes(own.end - own.start) as usize);
        if count > 0 {
            notes.take(context.step.superstep.wrapping_add(1), bits);
        }
        rest
    }
}

/// Calls `take` with the ranges of words of the device's own vertices in the next frontier.
fn activated(context: &Context, mut take: impl FnMut(&wgpu::Buffer, Range<u64>)) {
    let own = context.part.own_words();
    let frontier = context.buffers.frontier(context.step.superstep.wrapping_add(1));
    let chunks = chunks(&(0..context.part.vertices), context.plan.chunk_vertices_log2);
    for (chunk, vertices) in frontier.iter().zip(chunks) {
        let here = own.start.max(vertices.start)..own.end.min(vertices.end);
        if here.start < here.end {
            take(chunk, (here.start - vertices.start) / 32..(here.end - vertices.start).div_ceil(32));
        }
    }
}

fn page_bits_bytes(context: &Context, direction: Direction) -> u64 {
    bit_bytes(context.graph_buffers().pages(direction).into()).max(4)
}

/// Workgroups of the vertex phase or the census: each writes a partial sum.
pub(super) fn groups(context: &Context) -> u32 {
    let own = context.part.own_words();
    let vertices = own.end - own.start;
    let items = if context.declared.traversal { vertices.div_ceil(32) } else { vertices };
    items.div_ceil(WORKGROUP).clamp(1, TOTALS_MAX.into()) as u32
}

/// The visits that the algorithm declares for this store.
pub(super) fn visits(context: &Context) -> Vec<(Direction, Visit)> {
    context.declaration.visits.clone()
}

/// The possible supersteps that visit some of a traversal's pages; the others visit all.
pub(super) fn partial(context: &Context) -> Vec<(Direction, Visit)> {
    let some = |&(_, visit): &(Direction, Visit)| match visit {
        Visit::All | Visit::None => false,
        Visit::Within(_) => true,
        Visit::Frontier | Visit::Without(_) => context.declared.traversal,
    };
    visits(context).into_iter().filter(some).collect()
}

/// The sums of a vertex phase, or the census of a frontier.
pub(super) fn summary(totals: &[u8], traversal: bool) -> Summary {
    let partials = totals.chunks_exact(TOTAL_BYTES as usize);
    if !traversal {
        return Summary { totals: sums(partials.map(bytemuck::pod_read_unaligned::<[f32; 4]>)), ..Summary::default() };
    }
    let mut summary = Summary::default();
    for partial in partials {
        let partial: CensusTotal = bytemuck::pod_read_unaligned(partial);
        let wide = |[low, high]: [u32; 2]| u64::from(high) << 32 | u64::from(low);
        summary.activated += wide(partial.vertices);
        summary.activated_edges += wide(partial.edges);
    }
    summary
}

/// Adds partial sums as `sum_totals` and `total_of` in shaders/kernels/decide.wgsl do, so that both have the same bits:
/// as integers, in units of 2^-27 of the last bit of the largest one. Up to 4096 of them fit. Infinite ones have no
/// sum.
fn sums(partials: impl Iterator<Item = [f32; 4]> + Clone) -> Scalars {
    let exponent = |term: f32| (term.to_bits() >> 23 & 0xff).max(1);
    std::array::from_fn(|at| {
        let terms = partials.clone().map(|partial| partial[at]);
        let largest = terms.clone().map(exponent).max().unwrap_or(1);
        if largest == 0xff {
            return f64::NAN;
        }
        let units = |term: f32| {
            let implicit = u32::from(term.is_normal()) << 23;
            let mantissa = i64::from(term.to_bits() & 0x7f_ffff | implicit) << 27;
            let magnitude = mantissa.checked_shr(largest - exponent(term)).unwrap_or(0);
            if term.is_sign_negative() { -magnitude } else { magnitude }
        };
        terms.map(units).sum::<i64>() as f64 * f64::from(largest as i32 - 177).exp2()
    })
}

#[cfg(test)]
mod tests {
    use super::sums;

    /// Magnitudes far apart, both signs, zeros and subnormal numbers.
    #[test]
    fn partial_sums_are_added_in_double_precision() {
        let term = |at: u32| (f32::from_bits(at.wrapping_mul(2_654_435_761) >> 9 | 0x3f80_0000) - 1.5) * 0.37;
        let partials = (0..4096).map(|at| [term(at), 1e-7 * term(at), (at % 3) as f32, f32::from_bits(at % 5)]);
        let mut expected = [0.0; 4];
        for partial in partials.clone() {
            expected.iter_mut().zip(partial).for_each(|(sum, term)| *sum += f64::from(term));
        }
        let found = sums(partials);
        let near = |(found, expected): (f64, f64)| (found - expected).abs() <= 1e-12 * expected.abs().max(1e-12);
        assert!(found.into_iter().zip(expected).all(near), "{found:?}, not {expected:?}");
        assert_eq!(found[2..], expected[2..]);
        assert_eq!(sums([[f32::MAX, -1.0, f32::INFINITY, 1.0], [f32::MAX, 1e-30, 0.0, -1.0]].into_iter())[3], 0.0);
        assert!(sums(std::iter::once([f32::INFINITY; 4]))[0].is_nan());
    }
}
