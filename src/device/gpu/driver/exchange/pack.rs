//! Packed moves: transfers of the values of vertices with out-edges between an attribute and the exchange memory.

use crate::device::exchange::Move;
use crate::device::gpu::adapter::import::SharedBuffer;
use crate::device::gpu::adapter::readback::uniform;
use crate::device::gpu::compose::layout::{self, Pack as PackLayout};
use crate::device::gpu::compose::{KernelName, Resource};
use crate::device::gpu::driver::context::Context;
use crate::device::gpu::kernels::Kernel;
use crate::device::gpu::memory::buffers::Span;
use crate::error::Result;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::sync::Arc;

/// A dispatch of `pack` or `unpack`, with its bind groups and number of workgroups.
struct Dispatch {
    kernel: Arc<Kernel>,
    bound: Vec<wgpu::BindGroup>,
    groups: u32,
}

/// The dispatches of packed moves: superstep after superstep they are the same.
#[derive(Default)]
pub(super) struct Packing(HashMap<Packed, Vec<Dispatch>>);

/// A packed move.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Packed {
    /// `pack` or `unpack`.
    pub name: KernelName,
    /// The attribute, by its place in the declaration.
    pub attribute: usize,
    /// The list of vertices.
    pub list: u32,
    /// The range of vertices.
    pub vertices: Range<u64>,
    /// The chunk of the exchange memory that the values are packed in; none for the buffer of packed values, or of
    /// those that have arrived.
    pub chunk: Option<u64>,
    /// The byte offset in it.
    pub at: u64,
    /// Whether the attribute's next values are packed.
    pub next: bool,
}

impl Packed {
    /// A move between an attribute, or its next values, and this offset of the buffer of packed values, or of those
    /// that have arrived. None for other moves.
    pub fn beside(one: &Move, at: u64, next: bool) -> Option<Self> {
        Some(Self { at, next, ..Self::of(one)? })
    }

    /// A move between an attribute and a buffer, at the move's own offset. None for other moves.
    pub fn of(one: &Move) -> Option<Self> {
        let (name, &attribute, &list, vertices, &at) = match one {
            Move::Pack { attribute, list, vertices, at } => (KernelName::Pack, attribute, list, vertices, at),
            Move::Unpack { attribute, list, vertices, at } => (KernelName::Unpack, attribute, list, vertices, at),
            _ => return None,
        };
        Some(Self { name, attribute, list, vertices: vertices.clone(), chunk: None, at, next: false })
    }
}

impl Packing {
    /// Encodes moves by the `pack` or the `unpack` kernel, in one pass, between attributes and these buffers.
    ///
    /// # Errors
    /// Device errors.
    pub fn encode<'b>(
        &mut self,
        context: &mut Context,
        encoder: &mut wgpu::CommandEncoder,
        moves: impl Iterator<Item = (Packed, &'b SharedBuffer)>,
    ) -> Result<()> {
        let mut keys = Vec::new();
        for (one, buffer) in moves {
            if let Entry::Vacant(vacant) = self.0.entry(one.clone()) {
                vacant.insert(dispatches(context, &one, buffer)?);
            }
            keys.push(one);
        }
        let Some(name) = keys.first().map(|first| first.name.name()) else { return Ok(()) };
        context.timed_pass(encoder, name, |pass| {
            for Dispatch { kernel, bound, groups } in keys.iter().flat_map(|key| &self.0[key]) {
                kernel.dispatch_groups_in(pass, bound, *groups);
            }
        });
        Ok(())
    }
}

/// The dispatches of a move: one for each buffer that the vertices lie in.
fn dispatches(context: &mut Context, one: &Packed, packed: &SharedBuffer) -> Result<Vec<Dispatch>> {
    let Packed { name, attribute, list, vertices, at, next, .. } = one;
    let first = context.told.among(*list, vertices).start;
    // Graphs without edges have no list of such vertices, and nothing to send.
    let Some(vertices_told) = context.graph_buffers().told().cloned() else {
        return Ok(Vec::new());
    };
    let declared = context.declared.attributes[*attribute];
    // The buffer, the number that is its first word's, and the part of the list whose values are in it.
    let part = |span: Span<'_>| {
        let base = span.vertices.start - span.words(&declared).start;
        let bordering = context.buffers.border(*attribute).filter(|_| span.is_border);
        let vertices = match bordering.map(|border| &border[span.vertices.start as usize..span.vertices.end as usize]) {
            Some([first, .., last] | [first @ last]) => u64::from(*first)..u64::from(*last) + 1,
            Some([]) => 0..0,
            None => span.vertices.clone(),
        };
        let listed = context.told.among(*list, &vertices);
        (span.buffer.clone(), base, listed)
    };
    let spans = match next {
        true => context.buffers.next_spans(*attribute, vertices, context.plan.chunk_vertices_log2),
        false => context.spans(*attribute, vertices),
    };
    let parts: Vec<_> = spans.into_iter().map(part).collect();
    let kernel = context.kernel(*name, super::VISIT.0, super::VISIT.1, false)?;
    let mut dispatches = Vec::new();
    for (buffer, base, listed) in parts {
        if listed.is_empty() {
            continue;
        }
        let layout = PackLayout {
            first: listed.start as u32,
            count: listed.len() as u32,
            begin: (at / 4) as u32 + (listed.start - first) as u32,
            base: base as u32,
        };
        let told = uniform(context.gpu(), bytemuck::bytes_of(&layout))?;
        let find = |resource: &Resource| match resource {
            Resource::Pack => &told,
            Resource::Merged => &buffer,
            Resource::Told => &vertices_told,
            Resource::Sent | Resource::Received => packed.buffer(),
            other => context.buffers.find(context.graph_buffers(), 0, super::VISIT.0, other),
        };
        let bound = (0..kernel.groups()).map(|group| kernel.bind(context.gpu(), group, find)).collect();
        dispatches.push(Dispatch { kernel: Arc::clone(&kernel), bound, groups: layout::pack_groups(layout.count) });
    }
    Ok(dispatches)
}
