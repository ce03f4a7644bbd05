//! Dense moves: transfers of the values of vertex ranges between attributes and the exchange memory, by copies and by
//! the `merge` kernel.

use super::super::context::Context;
use super::super::plan::Plan;
use super::super::timing::DeviceSpan;
use super::memory::{Exchange, GpuPlan, VISIT};
use crate::device::exchange::Values;
use crate::device::gpu::adapter::transfer::{TransferTicket, TransferTime};
use crate::device::gpu::compose::layout::{self, Merge as MergeLayout};
use crate::device::gpu::compose::{KernelName, Resource};
use crate::device::gpu::memory::buffers::Span;
use crate::error::{Error, Result};
use crate::model::attributes::{Attribute, AttributeType};
use crate::trace::Lane;

pub(super) fn is_bits(context: &Context, attribute: usize) -> bool {
    context.declared.attributes[attribute].of == AttributeType::Bit
}

/// The parts of values, one for each buffer, with their offsets in the exchange memory.
fn parts<'a>(context: &'a Context, values: &Values, at: u64) -> impl Iterator<Item = (Span<'a>, u64)> + use<'a> {
    let (declared, first) = (context.declared.attributes[values.attribute], values.vertices.start);
    context.spans(values.attribute, &values.vertices).into_iter().map(move |span| {
        debug_assert!(!span.is_border, "values of a border are packed, or in messages");
        let words = words_before(&declared, first, span.vertices.start);
        (span, at + 4 * words)
    })
}

impl Exchange {
    /// Copies values to the exchange memory.
    pub(super) fn plan_put(&self, context: &Context, plan: &mut GpuPlan, values: &Values, at: u64) {
        for (span, at) in parts(context, values, at) {
            let words = span.words(&context.declared.attributes[values.attribute]);
            let (chunk, offset) = self.locate(at);
            plan.copy((span.buffer, 4 * words.start), (chunk, offset), 4 * (words.end - words.start));
        }
    }

    /// Replaces values of whole words.
    pub(super) fn plan_take(&self, context: &Context, plan: &mut GpuPlan, values: &Values, at: u64) {
        for (span, at) in parts(context, values, at) {
            let words = span.words(&context.declared.attributes[values.attribute]);
            let (chunk, offset) = self.locate(at);
            plan.copy((chunk, offset), (span.buffer, 4 * words.start), 4 * (words.end - words.start));
        }
    }

    /// Merges words of the exchange memory into values, or replaces them.
    pub(super) fn plan_merge(
        &self,
        context: &Context,
        plan: &mut GpuPlan,
        operation: u32,
        values: &Values,
        at: u64,
    ) -> Result<()> {
        let declared = context.declared.attributes[values.attribute];
        let kind = match declared.of {
            AttributeType::U32 => layout::WORDS_U32,
            AttributeType::F32 => layout::WORDS_F32,
            AttributeType::Fixed63 | AttributeType::U64 => layout::WORDS_WIDE,
            // Algorithms with shaders have none.
            AttributeType::F64 => return Err(Error::Parameter(format!("{}: GPUs have no doubles", declared.name))),
            AttributeType::Bit => layout::WORDS_BIT,
        };
        for (span, at) in parts(context, values, at) {
            let (words, vertices) = (span.words(&declared), &span.vertices);
            let (mut chunk, mut offset) = self.locate(at);
            let bytes = 4 * (words.end - words.start);
            if operation != layout::MERGE_CLEAR && !offset.is_multiple_of(16) {
                // After a chunk boundary of an attribute, words may not have the alignment that the kernel reads with.
                plan.copy((chunk, offset), (&self.scratch, 0), bytes);
                (chunk, offset) = (&self.scratch, 0);
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
            let kernel = context.dispatch(KernelName::Merge, VISIT).told(Resource::Merge, &layout);
            let kernel = kernel.with(Resource::Merged, span.buffer).with(Resource::Received, chunk);
            plan.run(kernel.sized(layout::merge_groups(layout.words)));
        }
        Ok(())
    }

    /// Starts the copy of values on the transfer queue. What it reads must have been written. None if there is nothing
    /// to copy.
    pub(super) fn copy_beside(
        &self,
        context: &mut Context,
        values: &Values,
        at: u64,
    ) -> Result<Option<TransferTicket>> {
        let mut plan = Plan::default();
        let declared = &context.declared.attributes[values.attribute];
        let log2 = context.plan.chunk_vertices_log2;
        for span in context.buffers.spans(values.attribute, &values.vertices, log2) {
            let words = span.words(declared);
            let before = words_before(declared, values.vertices.start, span.vertices.start);
            let to = self.locate(at + 4 * before);
            plan.copy((span.buffer, 4 * words.start), to, 4 * (words.end - words.start));
        }
        context.beside(&plan)
    }

    /// Records the times of completed copies in the timeline.
    pub fn tell_copies(&self, context: &mut Context) {
        let Some(transfer) = context.home.transfer.as_mut() else { return };
        let span =
            |time: TransferTime| DeviceSpan { name: "put", begin_ns: time.begin_ns as f64, end_ns: time.end_ns as f64 };
        let spans: Vec<DeviceSpan> = transfer.finished().into_iter().map(span).collect();
        context.tell(Lane::Copies, &spans);
    }
}

/// Word offset of a vertex in a dense move that begins with vertex `first`.
fn words_before(attribute: &Attribute, first: u64, vertex: u64) -> u64 {
    let begin = |vertex: u64| attribute.of.word_range(&(vertex..vertex)).start;
    begin(vertex) - begin(first)
}
