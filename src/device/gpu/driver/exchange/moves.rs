//! Moves one by one: each by copies and kernels of the compute queue, or beside them on the transfer queue.

use super::super::context::Context;
use super::super::plan::Plan;
use super::dense::{is_bits, move_words};
use super::memory::{Exchange, GpuPlan};
use super::pack;
use crate::device::exchange::Move;
use crate::device::exchange::message::HEADER_WORDS;
use crate::device::gpu::compose::layout;
use crate::error::Result;
use crate::model::attributes::Merge;

impl Exchange {
    /// Copies the results of completed moves from the mirror, if there is one, to the exchange memory, and announces
    /// them.
    pub(super) fn bring_out(&self, context: &mut Context, moves: &[Move]) -> Result<()> {
        if self.mirrored {
            self.mirror_out(context, moves)?;
        }
        moves.iter().for_each(|one| self.memory.announce(one));
        Ok(())
    }

    /// Executes the moves of a round in order, and waits for them.
    ///
    /// # Errors
    /// Device errors.
    pub fn round(&mut self, context: &mut Context, moves: &[Move]) -> Result<()> {
        moves.iter().for_each(|one| self.received.take(&self.memory, one));
        if self.mirrored {
            self.mirror_in(context, moves);
        }
        let beside: Vec<bool> = moves.iter().map(|one| self.goes_beside(context, one, moves)).collect();
        let mut plan = Plan::default();
        for (one, _) in moves.iter().zip(&beside).filter(|(_, beside)| !**beside) {
            self.plan_move(context, &mut plan, one)?;
        }
        let encoded = context.encode(&plan)?;
        let puts = moves.iter().zip(&beside).filter(|(_, beside)| **beside).map(|(one, _)| one);
        let ticket = self.put_beside(context, puts)?;
        let submitted = context.submit([encoded]);
        context.wait(&submitted, "a round of exchange did not end")?;
        if let Some(ticket) = ticket {
            self.await_copies(context, ticket)?;
        }
        self.bring_out(context, moves)
    }

    // ---- One move ---------------------------------------------------------------------------------------------------

    pub(super) fn plan_move(&self, context: &Context, plan: &mut GpuPlan, one: &Move) -> Result<()> {
        match one {
            Move::Put { attribute, vertices, at } => self.put(context, plan, *attribute, vertices, *at),
            Move::Merge { attribute, vertices, at } => {
                let operation = match context.declared.attributes[*attribute].merge {
                    Merge::Add => layout::MERGE_ADD,
                    Merge::Min => layout::MERGE_MIN,
                    Merge::Max => layout::MERGE_MAX,
                    Merge::Or | Merge::Activation => layout::MERGE_OR,
                };
                return self.merge(context, plan, operation, *attribute, vertices, *at);
            }
            // Copies on this queue would wait for those that send beside it.
            Move::Take { attribute, vertices, at } if is_bits(context, *attribute) || context.home.copies_beside() => {
                return self.merge(context, plan, layout::MERGE_REPLACE, *attribute, vertices, *at);
            }
            Move::Take { attribute, vertices, at } => self.take(context, plan, *attribute, vertices, *at),
            Move::Pack { .. } | Move::Unpack { .. } => self.plan_packed(context, plan, std::iter::once(one)),
            Move::Clear { attribute, vertices } if is_bits(context, *attribute) => {
                return self.merge(context, plan, layout::MERGE_CLEAR, *attribute, vertices, 0);
            }
            Move::Clear { attribute, vertices } => context.clear_values(plan, *attribute, vertices),
            Move::Collect { vertices, at } => self.collect_message(context, plan, vertices, *at),
            Move::Apply { vertices, at } => self.apply_message(context, plan, vertices, *at),
        }
        Ok(())
    }

    /// Plans packed moves, between attributes and the exchange memory, in one pass.
    pub(super) fn plan_packed<'m>(&self, context: &Context, plan: &mut GpuPlan, moves: impl Iterator<Item = &'m Move>) {
        let located = |one: &'m Move| pack::place(one).map(|at| (one, self.locate(at)));
        pack::plan(context, plan, moves.filter_map(located), false);
    }

    // ---- Without import ---------------------------------------------------------------------------------------------

    /// Copies the input of a round's moves to the mirror.
    pub(super) fn mirror_in(&self, context: &Context, moves: &[Move]) {
        for one in moves {
            match one {
                Move::Merge { attribute, vertices, at } | Move::Take { attribute, vertices, at } => {
                    self.copy_in(context, *at, move_words(context, *attribute, vertices));
                }
                Move::Apply { vertices, at } => {
                    self.copy_in(context, *at, self.message_words(vertices, *at));
                }
                Move::Unpack { list, vertices, at, .. } => {
                    self.copy_in(context, *at, context.told.among(*list, vertices).len() as u64);
                }
                Move::Put { .. } | Move::Pack { .. } | Move::Collect { .. } | Move::Clear { .. } => {}
            }
        }
    }

    /// Copies the output of a round's moves to the memory. Of messages, the headers come first: they have the length.
    fn mirror_out(&self, context: &mut Context, moves: &[Move]) -> Result<()> {
        let of_messages = |one: &Move| match one {
            Move::Collect { at, .. } => Some((*at, HEADER_WORDS)),
            _ => None,
        };
        self.copy_out(context, &moves.iter().filter_map(of_messages).collect::<Vec<_>>())?;
        let written = |one: &Move| match one {
            Move::Put { attribute, vertices, at } => Some((*at, move_words(context, *attribute, vertices))),
            Move::Pack { list, vertices, at, .. } => Some((*at, context.told.among(*list, vertices).len() as u64)),
            Move::Collect { vertices, at } => Some((*at, self.message_words(vertices, *at))),
            _ => None,
        };
        let written: Vec<_> = moves.iter().filter_map(written).collect();
        self.copy_out(context, &written)
    }
}
