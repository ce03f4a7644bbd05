//! Early exchanges, in more parts than one: packed values that are sent, and arrive, while lists are still read.
//!
//! ```text
//!  compute queue    lists 0 │ update, pack 0 │ lists 1 │ update, pack 1 │ … │ unpack
//!  transfer queue                            │ put 0   │ fetch the others' 0 │ …
//! ```
//!
//! Lists read the values of the superstep before, so that kernels set next values, which are packed; and what other
//! devices have put is copied to a buffer in device memory, until no list is left to be read.

use super::super::context::Context;
use super::super::plan::Plan;
use super::memory::{Exchange, GpuPlan, Way};
use super::moves::bytes_of;
use super::pack;
use super::transfers::COPIES_MAX;
use crate::device::exchange::{ExchangeMemory, Move, Moves, Values};
use crate::device::gpu::adapter::transfer::TransferTicket;
use crate::error::Result;
use std::collections::VecDeque;
use std::ops::Range;

/// A move that sends packed values, and their offset in the buffer of packed values.
pub type PackedMove = (Move, u64);

/// An exchange that is under way while lists are read.
pub struct EarlyExchange {
    /// The moves that send, and have not been packed.
    put: Vec<PackedMove>,
    /// The moves that receive, each with the offset of its values among those that have arrived.
    take: Vec<(Move, u64)>,
    /// The receiving moves whose values are not being copied yet, by index in `take`.
    waiting: Vec<usize>,
    /// Copies of what others have put.
    fetching: VecDeque<TransferTicket>,
}

impl Exchange {
    /// An exchange that is made while lists are read. None if its values are not all packed, or if there is no room.
    pub fn early(&self, context: &Context, moves: &Moves) -> Option<EarlyExchange> {
        let arrived = self.arrived.as_ref()?;
        let put = moves.put.iter().zip(self.ways(context, &moves.put)).map(|(one, way)| match way {
            Way::Packed(at) => Some((one.clone(), at)),
            Way::Kernels if is_empty(context, one) => Some((one.clone(), 0)),
            Way::Kernels | Way::Copy => None,
        });
        let put = put.collect::<Option<Vec<_>>>()?;
        let mut used = 0;
        let take = moves.take.iter().map(|one| {
            let at = used;
            used += bytes_of(context, pack::listed(one)?).next_multiple_of(16);
            Some((one.clone(), at))
        });
        let take = take.collect::<Option<Vec<_>>>()?;
        let waiting = (0..take.len()).collect();
        let early = EarlyExchange { put, take, waiting, fetching: VecDeque::new() };
        (used <= arrived.size()).then_some(early)
    }

    /// Plans the packing of all moves whose vertices are among those that have been updated, in ranges; returns these
    /// moves, to [send](Self::send_early) them once the plan has been executed.
    pub fn pack_early(
        &self,
        context: &Context,
        plan: &mut GpuPlan,
        early: &mut EarlyExchange,
        updated: &[Range<u64>],
    ) -> Vec<PackedMove> {
        let is_ready = |(one, _): &PackedMove| {
            let Some(Values { vertices, .. }) = one.values() else { return false };
            let length =
                |range: &Range<u64>| range.end.min(vertices.end).saturating_sub(range.start.max(vertices.start));
            updated.iter().map(length).sum::<u64>() == vertices.end - vertices.start
        };
        let (ready, later) = std::mem::take(&mut early.put).into_iter().partition::<Vec<_>, _>(is_ready);
        early.put = later;
        let moves = ready.iter().filter_map(|(one, at)| Some((one, (self.packed.as_ref()?, *at))));
        pack::plan(context, plan, moves, true);
        ready
    }

    /// Sends moves that have been [packed](Self::pack_early).
    pub fn send_early(&mut self, context: &Context, moves: Vec<PackedMove>) {
        for (one, at) in moves {
            match is_empty(context, &one) {
                true => self.memory.announce(&one),
                false => self.to_send.push_back((one, Way::Packed(at))),
            }
        }
    }

    /// The number of moves whose values have been packed and not been sent, or have not arrived.
    pub fn left_early(&self, early: &EarlyExchange) -> usize {
        self.to_send.len() + self.sending.len() + early.waiting.len() + early.fetching.len()
    }

    /// Makes progress without waiting: starts copies of own values and of values that others have announced.
    ///
    /// # Errors
    /// Device errors.
    pub fn go_on_early(&mut self, context: &mut Context, early: &mut EarlyExchange) -> Result<()> {
        self.go_on_sending(context)?;
        let transfer = context.home.transfer.as_mut().expect("it sends beside kernels");
        while let Some(&ticket) = early.fetching.front()
            && transfer.poll(ticket)?
        {
            early.fetching.pop_front();
        }
        let mut at = 0;
        while at < early.waiting.len() && early.fetching.len() < COPIES_MAX {
            let (one, to) = &early.take[early.waiting[at]];
            if !self.received.arrives(&self.memory, one) {
                at += 1;
                continue;
            }
            early.waiting.remove(at);
            early.fetching.extend(self.fetch(context, one, *to)?);
        }
        Ok(())
    }

    /// Starts the copy of values that another device has put; none if there are none.
    fn fetch(&self, context: &mut Context, one: &Move, to: u64) -> Result<Option<TransferTicket>> {
        let (Move::Take { values, at }, Some(dest)) = (one, &self.arrived) else { return Ok(None) };
        let bytes = bytes_of(context, values);
        if bytes == 0 {
            return Ok(None);
        }
        let mut plan = Plan::default();
        plan.copy(self.locate(*at), (dest, to), bytes);
        context.beside(&plan)
    }

    /// Plans the unpacking of the values that have arrived.
    pub fn unpack_early(&self, context: &Context, plan: &mut GpuPlan, early: &EarlyExchange) {
        let moves = early.take.iter().filter_map(|(one, at)| Some((one, (self.arrived.as_ref()?, *at))));
        pack::plan(context, plan, moves, false);
    }

    /// The memory through which devices exchange values.
    pub fn memory(&self) -> &ExchangeMemory {
        &self.memory
    }
}

fn is_empty(context: &Context, one: &Move) -> bool {
    pack::listed(one).is_some_and(|values| bytes_of(context, values) == 0)
}
