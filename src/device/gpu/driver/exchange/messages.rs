//! Messages of a traversal: collected in scratch memory, copied to the exchange memory, and applied by the receivers.

use super::super::context::Context;
use super::super::plan::{Dispatch, Plan};
use super::memory::{Exchange, GpuPlan, VISIT};
use crate::device::exchange::Move;
use crate::device::exchange::message::HEADER_WORDS;
use crate::device::gpu::compose::layout::{self, MessageParams};
use crate::device::gpu::compose::{KernelName, Resource};
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

impl Exchange {
    /// Writes the message for a range of vertices.
    pub(super) fn collect_message(&self, context: &Context, plan: &mut GpuPlan, vertices: &Range<u64>, at: u64) {
        if vertices.is_empty() {
            let (chunk, offset) = self.locate(at);
            return plan.clear_bytes(chunk, offset, 4 * HEADER_WORDS);
        }
        plan.clear_bytes(&self.scratch, 0, 4 * HEADER_WORDS);
        self.message_pass(context, plan, &[KernelName::Collect, KernelName::Ship], vertices, at);
    }

    /// Applies a message of another device.
    pub(super) fn apply_message(&self, context: &Context, plan: &mut GpuPlan, vertices: &Range<u64>, at: u64) {
        if !vertices.is_empty() {
            self.message_pass(context, plan, &[KernelName::Apply], vertices, at);
        }
    }

    /// Whether a move applies a message without vertices.
    pub(super) fn is_empty_message(&self, one: &Move) -> bool {
        matches!(one, Move::Apply { at, .. } if self.memory.words(*at, HEADER_WORDS)[0].load(Relaxed) == 0)
    }

    /// Plans kernels over a message, one after another.
    fn message_pass(
        &self,
        context: &Context,
        plan: &mut GpuPlan,
        names: &[KernelName],
        vertices: &Range<u64>,
        at: u64,
    ) {
        let (chunk, offset) = self.locate(at);
        let params = MessageParams {
            first: vertices.start as u32,
            last: (vertices.end - 1) as u32,
            begin: (offset / 4) as u32,
            sparse_max: layout::sparse_max(self.layout(), vertices),
        };
        let sized = (params, layout::message_groups(vertices));
        plan_message(plan, names, context.step.superstep, sized, (&self.scratch, chunk));
    }
}

/// Plans kernels over a message in exchange memory.
pub fn plan_message<B: Clone>(
    plan: &mut Plan<B>,
    names: &[KernelName],
    superstep: u32,
    (params, groups): (MessageParams, u32),
    (collected, exchange): (&B, &B),
) {
    let kernel = |&name: &KernelName| {
        let kernel = Dispatch::new(name, VISIT, superstep).told(Resource::Message, &params);
        let kernel = kernel.with(Resource::Collected, collected).with(Resource::Sent, exchange);
        kernel.with(Resource::Received, exchange).sized(groups)
    };
    plan.pass(Some(names[0].name()), names.iter().map(kernel).collect());
}
