//! Packed moves: transfers of the values of vertices with out-edges between an attribute and the exchange memory.

use crate::device::gpu::adapter::import::SharedBuffer;
use crate::device::gpu::adapter::readback::uniform;
use crate::device::gpu::compose::layout::{self, Pack as PackLayout};
use crate::device::gpu::compose::{KernelName, Resource};
use crate::device::gpu::driver::context::Context;
use crate::device::gpu::memory::buffers::Span;
use crate::error::Result;
use std::ops::Range;

/// One move by the `pack` or the `unpack` kernel, from or to an offset of a buffer: a pass for each buffer that the
/// vertices lie in.
///
/// # Errors
/// Device errors.
pub(super) fn pack(
    context: &mut Context,
    encoder: &mut wgpu::CommandEncoder,
    name: KernelName,
    (attribute, vertices): (usize, &Range<u64>),
    (packed, offset): (&SharedBuffer, u64),
) -> Result<()> {
    let first = context.graph.outgoing_among(vertices).start;
    // Graphs without edges have no list of such vertices, and nothing to send.
    let Some(outgoing) = context.graph_buffers().outgoing().cloned() else {
        return Ok(());
    };
    let declared = context.declared.attributes[attribute];
    let part = |span: Span<'_>| {
        let base = span.vertices.start - span.words(&declared).start;
        (span.buffer.clone(), base, span.vertices)
    };
    let parts: Vec<_> = context.spans(attribute, vertices).into_iter().map(part).collect();
    for (buffer, base, vertices) in parts {
        let listed = context.graph.outgoing_among(&vertices);
        if listed.is_empty() {
            continue;
        }
        let layout = PackLayout {
            first: listed.start as u32,
            count: listed.len() as u32,
            begin: (offset / 4) as u32 + (listed.start - first) as u32,
            base: base as u32,
        };
        let told = uniform(&context.home.gpu, bytemuck::bytes_of(&layout))?;
        context.pass(encoder, name, super::VISIT, layout::pack_groups(layout.count), |resource| match resource {
            Resource::Pack => Some(&told),
            Resource::Merged => Some(&buffer),
            Resource::Outgoing => Some(&outgoing),
            Resource::Sent | Resource::Received => Some(packed),
            _ => None,
        })?;
    }
    Ok(())
}
