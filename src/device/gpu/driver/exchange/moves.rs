//! Moves one by one, by copies and kernels of the compute queue.

use super::super::context::Context;
use super::dense::is_bits;
use super::memory::{Exchange, GpuPlan};
use super::pack;
use crate::device::exchange::message::HEADER_WORDS;
use crate::device::exchange::{Move, Values};
use crate::device::gpu::compose::layout;
use crate::error::Result;
use crate::model::attributes::Merge;

impl Exchange {
    /// Announces what completed moves have written; before, copies it to the exchange memory if that is staged.
    ///
    /// # Errors
    /// Device errors.
    pub fn bring_out(&self, context: &mut Context, moves: &[Move]) -> Result<()> {
        if self.staged {
            self.stage_out(context, moves)?;
        }
        moves.iter().for_each(|one| self.memory.announce(one));
        Ok(())
    }

    /// Plans a move.
    ///
    /// # Errors
    /// If there is no kernel for it.
    pub fn plan_move(&self, context: &Context, plan: &mut GpuPlan, one: &Move) -> Result<()> {
        match one {
            one if pack::listed(one).is_some() => self.plan_packed(context, plan, std::iter::once(one)),
            Move::Put { values, at } => self.plan_put(context, plan, values, *at),
            Move::Merge { values, at } => {
                let operation = match context.declared.attributes[values.attribute].merge {
                    Merge::Add => layout::MERGE_ADD,
                    Merge::Min => layout::MERGE_MIN,
                    Merge::Max => layout::MERGE_MAX,
                    Merge::Or | Merge::Activation => layout::MERGE_OR,
                };
                return self.plan_merge(context, plan, operation, values, *at);
            }
            // Copies on this queue would wait for those that send beside it.
            Move::Take { values, at } if is_bits(context, values.attribute) || context.home.copies_beside() => {
                return self.plan_merge(context, plan, layout::MERGE_REPLACE, values, *at);
            }
            Move::Take { values, at } => self.plan_take(context, plan, values, *at),
            Move::Clear(values) if is_bits(context, values.attribute) => {
                return self.plan_merge(context, plan, layout::MERGE_CLEAR, values, 0);
            }
            Move::Clear(values) => context.clear_values(plan, values.attribute, &values.vertices),
            Move::Collect { vertices, at } => self.collect_message(context, plan, vertices, *at),
            Move::Apply { vertices, at } => self.apply_message(context, plan, vertices, *at),
        }
        Ok(())
    }

    /// Plans packed moves, between attributes and the exchange memory, in one pass.
    pub(super) fn plan_packed<'m>(&self, context: &Context, plan: &mut GpuPlan, moves: impl Iterator<Item = &'m Move>) {
        let located = |one: &'m Move| Some((one, self.locate(one.writes().or(one.reads())?)));
        pack::plan(context, plan, moves.filter_map(located), false);
    }

    // ---- Without import ---------------------------------------------------------------------------------------------

    /// Copies what moves read to the staged memory.
    pub(super) fn stage_in(&self, context: &Context, moves: &[Move]) {
        for (one, at) in moves.iter().filter_map(|one| Some((one, one.reads()?))) {
            self.copy_in(context, at, self.words_of(context, one));
        }
    }

    /// Copies what moves have written to the exchange memory. Of messages, the headers come first: they have the
    /// length.
    fn stage_out(&self, context: &mut Context, moves: &[Move]) -> Result<()> {
        let written = || moves.iter().filter_map(|one| Some((one, one.writes()?)));
        let headers = written().filter(|(one, _)| one.values().is_none()).map(|(_, at)| (at, HEADER_WORDS));
        self.copy_out(context, &headers.collect::<Vec<_>>())?;
        let all: Vec<_> = written().map(|(one, at)| (at, self.words_of(context, one))).collect();
        self.copy_out(context, &all)
    }

    /// The number of words that a move writes or reads; of a message, as its header says.
    fn words_of(&self, context: &Context, one: &Move) -> u64 {
        match one {
            Move::Collect { vertices, at } | Move::Apply { vertices, at } => self.message_words(vertices, *at),
            Move::Put { values, .. } | Move::Merge { values, .. } | Move::Take { values, .. } | Move::Clear(values) => {
                words_of(context, values)
            }
        }
    }
}

fn words_of(context: &Context, values: &Values) -> u64 {
    values.words(&context.declared.attributes, &context.graph)
}

/// Bytes of values in the exchange memory.
pub(super) fn bytes_of(context: &Context, values: &Values) -> u64 {
    4 * words_of(context, values)
}
