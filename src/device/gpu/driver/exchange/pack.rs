//! Packing: values of those vertices only that have out-edges, between an attribute and the exchange memory.

use super::Exchange;
use crate::device::gpu::buffers::Span;
use crate::device::gpu::compose::layout::{self, Pack as PackLayout};
use crate::device::gpu::compose::{KernelName, Resource};
use crate::device::gpu::driver::Driver;
use crate::device::gpu::superstep::uniform;
use crate::error::Result;
use std::ops::Range;

impl Driver {
    /// One move by the `pack` or the `unpack` kernel: a pass for each buffer that the vertices lie in.
    pub(super) fn pack(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        exchange: &Exchange,
        name: KernelName,
        attribute: usize,
        vertices: &Range<u64>,
        at: u64,
    ) -> Result<()> {
        let first = self.graph.outgoing_among(vertices).start;
        // Of a graph without edges there is none: nothing is told.
        let Some(outgoing) = self.home.graph.as_ref().and_then(|graph| graph.outgoing()).cloned() else {
            return Ok(());
        };
        let declared = self.declared.attributes[attribute];
        let part = |(span, _): (Span<'_>, u64)| {
            let base = span.vertices.start - span.words(&declared).start;
            (span.buffer.clone(), base, span.vertices)
        };
        let parts: Vec<_> = self.parts(attribute, vertices, at).map(part).collect();
        for (buffer, base, vertices) in parts {
            let listed = self.graph.outgoing_among(&vertices);
            if listed.is_empty() {
                continue;
            }
            let (chunk, offset) = exchange.locate(at);
            let layout = PackLayout {
                first: listed.start as u32,
                count: listed.len() as u32,
                begin: (offset / 4) as u32 + (listed.start - first) as u32,
                base: base as u32,
            };
            let told = uniform(&self.home.gpu, bytemuck::bytes_of(&layout))?;
            self.exchange_pass(encoder, name, layout::pack_groups(layout.count), |resource| match resource {
                Resource::Pack => Some(&told),
                Resource::Merged => Some(&buffer),
                Resource::Outgoing => Some(&outgoing),
                Resource::Sent | Resource::Received => Some(chunk),
                _ => None,
            })?;
        }
        Ok(())
    }
}
