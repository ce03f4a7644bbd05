//! Moves of the values of a list's vertices, between attributes and the exchange memory, by kernels that pack and
//! unpack them.

use super::super::context::Context;
use super::super::plan::Dispatch;
use super::memory::{GpuPlan, VISIT};
use crate::device::exchange::{Move, Values, VertexList};
use crate::device::gpu::adapter::import::SharedBuffer;
use crate::device::gpu::compose::layout::{self, Pack as PackLayout};
use crate::device::gpu::compose::{KernelName, Resource};
use crate::device::gpu::memory::buffers::Span;

/// The values of a move, if they are of the vertices of a list: these are packed and unpacked.
pub(super) fn listed(one: &Move) -> Option<&Values> {
    one.values().filter(|values| values.list != VertexList::All)
}

/// Plans packed moves by the `pack` or the `unpack` kernel, in one pass, between attributes, or their `next` values,
/// and offsets of buffers.
pub(super) fn plan<'a>(
    context: &Context,
    plan: &mut GpuPlan,
    moves: impl Iterator<Item = (&'a Move, (&'a SharedBuffer, u64))>,
    next: bool,
) {
    let kernels: Vec<_> = moves.flat_map(|(one, place)| dispatches(context, one, place, next)).collect();
    plan.pass(kernels.first().map(|first| first.kernel.name()), kernels);
}

/// The dispatches of a move: one for each buffer that the vertices lie in.
fn dispatches(
    context: &Context,
    one: &Move,
    (packed, at): (&SharedBuffer, u64),
    next: bool,
) -> Vec<Dispatch<wgpu::Buffer>> {
    let Some(Values { attribute, list, vertices }) = listed(one) else { return Vec::new() };
    let (name, attribute) = (if one.reads().is_some() { KernelName::Unpack } else { KernelName::Pack }, *attribute);
    let first = context.vertex_lists.among(*list, vertices).start;
    // Graphs without edges have no list of such vertices, and nothing to send.
    let Some(lists) = context.graph_buffers().lists() else { return Vec::new() };
    let declared = context.declared.attributes[attribute];
    let dispatch = |span: Span<'_>| {
        // The number that is the buffer's first word's, and the part of the list whose values are in it.
        let base = span.vertices.start - span.words(&declared).start;
        let bordering = context.buffers.border(attribute).filter(|_| span.is_border);
        let vertices = match bordering.map(|border| &border[span.vertices.start as usize..span.vertices.end as usize]) {
            Some([first, .., last] | [first @ last]) => u64::from(*first)..u64::from(*last) + 1,
            Some([]) => 0..0,
            None => span.vertices.clone(),
        };
        let listed = context.vertex_lists.among(*list, &vertices);
        let layout = PackLayout {
            first: listed.start as u32,
            count: listed.len() as u32,
            begin: (at / 4) as u32 + (listed.start - first) as u32,
            base: base as u32,
        };
        let kernel = Dispatch::<wgpu::Buffer>::new(name, VISIT, 0)
            .told(Resource::Pack, &layout)
            .with(Resource::Merged, span.buffer);
        let kernel = kernel.with(Resource::VertexList, lists).sized(layout::pack_groups(layout.count));
        let kernel = kernel.with(Resource::Sent, packed).with(Resource::Received, packed);
        (!listed.is_empty()).then_some(kernel)
    };
    let log2 = context.plan.chunk_vertices_log2;
    let spans = match next {
        true => context.buffers.next_spans(attribute, vertices, log2),
        false => context.spans(attribute, vertices),
    };
    spans.into_iter().filter_map(dispatch).collect()
}
