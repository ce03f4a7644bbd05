//! Dense moves: values of ranges of vertices between attributes and the exchange memory, by copies and by the `merge` kernel.

use super::Exchange;
use crate::device::exchange::Move;
use crate::device::gpu::buffers::Span;
use crate::device::gpu::compose::layout::{self, Merge as MergeLayout};
use crate::device::gpu::compose::{KernelName, Resource};
use crate::device::gpu::driver::Driver;
use crate::device::gpu::superstep::{PATIENCE, uniform};
use crate::device::gpu::timing::DeviceSpan;
use crate::device::gpu::transfer::{Copy, TransferTicket, TransferTime};
use crate::error::Result;
use crate::model::attributes::{Attribute, AttributeType};
use crate::trace::Lane;
use std::ops::Range;

impl Driver {
    pub(super) fn is_bits(&self, attribute: usize) -> bool {
        self.declared.attributes[attribute].of == AttributeType::Bit
    }

    /// Words of a dense move.
    pub(super) fn move_words(&self, attribute: usize, vertices: &Range<u64>) -> u64 {
        let declared = &self.declared.attributes[attribute];
        match declared.of {
            AttributeType::Bit => vertices.end.div_ceil(32) - vertices.start / 32,
            _ => words_before(declared, vertices.start, vertices.end),
        }
    }

    /// The parts of a move, by buffer, and where each lies in the exchange memory.
    pub(super) fn parts(
        &self,
        attribute: usize,
        vertices: &Range<u64>,
        at: u64,
    ) -> impl Iterator<Item = (Span<'_>, u64)> {
        let declared = self.declared.attributes[attribute];
        let spans = self.buffers.spans(attribute, vertices, self.plan.chunk_vertices_log2);
        let first = vertices.start;
        spans.into_iter().map(move |span| {
            let words = words_before(&declared, first, span.vertices.start);
            (span, at + 4 * words)
        })
    }

    pub(super) fn put(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        exchange: &Exchange,
        attribute: usize,
        vertices: &Range<u64>,
        at: u64,
    ) {
        for (span, at) in self.parts(attribute, vertices, at) {
            let words = span.words(&self.declared.attributes[attribute]);
            let (chunk, offset) = exchange.locate(at);
            encoder.copy_buffer_to_buffer(span.buffer, 4 * words.start, chunk, offset, 4 * (words.end - words.start));
        }
    }

    /// Replaces values of whole words.
    pub(super) fn take(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        exchange: &Exchange,
        attribute: usize,
        vertices: &Range<u64>,
        at: u64,
    ) {
        for (span, at) in self.parts(attribute, vertices, at) {
            let words = span.words(&self.declared.attributes[attribute]);
            let (chunk, offset) = exchange.locate(at);
            encoder.copy_buffer_to_buffer(chunk, offset, span.buffer, 4 * words.start, 4 * (words.end - words.start));
        }
    }

    /// Sets values of whole words to zero.
    pub(in crate::device::gpu) fn clear_values(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        attribute: usize,
        vertices: &Range<u64>,
    ) {
        for (span, _) in self.parts(attribute, vertices, 0) {
            let words = span.words(&self.declared.attributes[attribute]);
            encoder.clear_buffer(span.buffer, 4 * words.start, Some(4 * (words.end - words.start)));
        }
    }

    /// Merges words of the exchange memory into values, or replaces them.
    pub(super) fn merge(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        exchange: &Exchange,
        operation: u32,
        attribute: usize,
        vertices: &Range<u64>,
        at: u64,
    ) -> Result<()> {
        let declared = self.declared.attributes[attribute];
        let kind = match declared.of {
            AttributeType::U32 => layout::WORDS_U32,
            AttributeType::F32 => layout::WORDS_F32,
            AttributeType::Fixed63 | AttributeType::U64 => layout::WORDS_WIDE,
            AttributeType::Bit => layout::WORDS_BIT,
        };
        let parts: Vec<_> = self
            .parts(attribute, vertices, at)
            .map(|(span, at)| (span.buffer.clone(), span.words(&declared), span.vertices, at))
            .collect();
        for (buffer, words, vertices, at) in parts {
            let (mut chunk, mut offset) = exchange.locate(at);
            let bytes = 4 * (words.end - words.start);
            if operation != layout::MERGE_CLEAR && !offset.is_multiple_of(16) {
                // Behind the border of an attribute's chunk, words need not lie as the kernel reads them.
                encoder.copy_buffer_to_buffer(chunk, offset, &exchange.scratch, 0, bytes);
                (chunk, offset) = (&exchange.scratch, 0);
            }
            let last = 31 - (vertices.end - 1) % 32;
            let layout = MergeLayout {
                operation,
                kind,
                words: (words.end - words.start) as u32,
                to: words.start as u32,
                begin: (offset / 4) as u32,
                first_mask: u32::MAX << (vertices.start % 32),
                last_mask: u32::MAX >> last,
                spare: 0,
            };
            let told = uniform(&self.home.gpu, bytemuck::bytes_of(&layout))?;
            let groups = layout::merge_groups(layout.words);
            self.exchange_pass(encoder, KernelName::Merge, groups, |resource| match resource {
                Resource::Merge => Some(&told),
                Resource::Merged => Some(&buffer),
                Resource::Received => Some(chunk),
                _ => None,
            })?;
        }
        Ok(())
    }

    // ---- Beside the kernels -----------------------------------------------------------------------------------------

    /// Whether a move of a round is a copy for the queue of copies, to run while others read: the bus goes both ways. No other
    /// move of the round may change what it reads.
    pub(super) fn goes_beside(&self, exchange: &Exchange, one: &Move, round: &[Move]) -> bool {
        let Move::Put { attribute, vertices, .. } = one else { return false };
        let changed = |other: &Move| match other {
            Move::Merge { attribute: of, vertices: those, .. }
            | Move::Take { attribute: of, vertices: those, .. }
            | Move::Unpack { attribute: of, vertices: those, .. }
            | Move::Clear { attribute: of, vertices: those } => {
                // Bits of neighbours are in one word.
                let (begin, end) = (vertices.start / 32 * 32, vertices.end.next_multiple_of(32));
                of == attribute && those.start < end && begin < those.end
            }
            Move::Apply { .. } => true,
            Move::Put { .. } | Move::Pack { .. } | Move::Collect { .. } => false,
        };
        let reads = |other: &Move| matches!(other, Move::Merge { .. } | Move::Take { .. });
        let queue = self.home.transfer.is_some() && !exchange.mirrored;
        queue && round.iter().any(reads) && !round.iter().any(changed)
    }

    /// Starts these copies on the queue of copies.
    pub(super) fn put_beside<'m>(
        &mut self,
        exchange: &Exchange,
        puts: impl Iterator<Item = (&'m Move, &'m bool)>,
    ) -> Result<Option<TransferTicket>> {
        let mut copies = Vec::new();
        for (one, _) in puts {
            let Move::Put { attribute, vertices, at } = one else { continue };
            let declared = &self.declared.attributes[*attribute];
            let spans = self.buffers.spans(*attribute, vertices, self.plan.chunk_vertices_log2);
            copies.extend(spans.into_iter().map(|span| {
                let (words, before) =
                    (span.words(declared), words_before(declared, vertices.start, span.vertices.start));
                let (dest, dest_offset) = exchange.locate(at + 4 * before);
                let (source, source_offset) = (span.buffer, 4 * words.start);
                Copy { source, source_offset, dest, dest_offset, bytes: 4 * (words.end - words.start) }
            }));
        }
        let Some(transfer) = self.home.transfer.as_mut().filter(|_| !copies.is_empty()) else { return Ok(None) };
        // What they read may still be under way.
        let gpu = &self.home.gpu;
        if !gpu.wait(gpu.queue().submit([]), PATIENCE)? {
            return Err(gpu.health().lost("kernels before a round of exchange did not end").into());
        }
        Ok(Some(transfer.submit(&copies)?))
    }

    pub(super) fn await_copies(&mut self, ticket: TransferTicket) -> Result<()> {
        let transfer = self.home.transfer.as_mut().expect("it was submitted there");
        if !transfer.wait(ticket, PATIENCE)? {
            return Err(self.home.gpu.health().lost("copies of a round of exchange did not end").into());
        }
        let span =
            |time: TransferTime| DeviceSpan { name: "put", begin_ns: time.begin_ns as f64, end_ns: time.end_ns as f64 };
        let spans: Vec<DeviceSpan> = transfer.finished().into_iter().map(span).collect();
        if let Some(timeline) = &self.trace {
            self.timing.tell(timeline, Lane::Copies, &spans);
        }
        Ok(())
    }
}

/// Words of a dense move from vertex `first` on that come before that of a vertex.
fn words_before(attribute: &Attribute, first: u64, vertex: u64) -> u64 {
    let begin = |vertex: u64| attribute.of.word_range(&(vertex..vertex)).start;
    begin(vertex) - begin(first)
}
