//! Exchanges: values are put by the copy engine, piece after piece, while kernels take the values of other devices.
//!
//! ```text
//!  vertex phase ─▶ pack ─▶ │ put │ put │ put │ …         transfer queue; each piece is announced when it is there
//!                                │ unpack │ unpack │ …   compute queue, as others announce theirs
//! ```
//!
//! Messages, and what is set to zero once it has been sent, are put by kernels; so is everything without a transfer
//! queue. It is announced all at once.

use super::super::context::Context;
use super::super::plan::Plan;
use super::memory::{Exchange, GpuPlan, Way};
use super::moves::bytes_of;
use super::pack;
use crate::device::exchange::{Move, Values, VertexList, Wait};
use crate::device::gpu::adapter::readback::PATIENCE;
use crate::device::gpu::adapter::transfer::TransferTicket;
use crate::error::Result;
use std::time::Duration;

/// How long to poll for the next values before sleeping.
const SPIN: Duration = Duration::from_millis(1);
/// The same between joint supersteps: devices of one speed end their lists within a millisecond.
const SPIN_JOINT: Duration = Duration::from_millis(5);
/// Maximum number of copies in flight: enough to keep the queue busy.
pub(super) const COPIES_MAX: usize = 4;

impl Exchange {
    pub(super) fn ways(&self, context: &Context, moves: &[Move]) -> Vec<Way> {
        let mut used = 0;
        let room = self.packed.as_ref().map_or(0, |packed| packed.size());
        let beside = context.home.copies_beside();
        let clears = |attribute| moves.iter().any(|one| matches!(one, Move::Clear(of) if of.attribute == attribute));
        let cleared: Vec<bool> = (0..context.declared.attributes.len()).map(clears).collect();
        let mut way = |one: &Move| match one {
            // What is set to zero is copied by the queue of kernels, before.
            Move::Put { values, .. } if !beside || cleared[values.attribute] => Way::Kernels,
            Move::Put { values, .. } if values.list == VertexList::All => Way::Copy,
            Move::Put { values, .. } => {
                let bytes = bytes_of(context, values);
                let at = used;
                used += bytes.next_multiple_of(16);
                if bytes > 0 && at + bytes <= room { Way::Packed(at) } else { Way::Kernels }
            }
            _ => Way::Kernels,
        };
        moves.iter().map(&mut way).collect()
    }

    /// Plans what the kernels have to do for moves that write to the exchange memory. Call [`send`](Self::send) when
    /// that has completed.
    ///
    /// # Errors
    /// If there is no kernel for a move.
    pub fn plan(&self, context: &Context, plan: &mut GpuPlan, moves: &[Move]) -> Result<()> {
        let ways = self.ways(context, moves);
        let by_kernels = moves.iter().zip(&ways).filter(|(_, way)| matches!(way, Way::Kernels));
        by_kernels.map(|(one, _)| one).try_for_each(|one| self.plan_move(context, plan, one))?;
        let beside = moves.iter().zip(&ways).filter_map(|(one, way)| match way {
            Way::Packed(at) => Some((one, (self.packed.as_ref()?, *at))),
            _ => None,
        });
        pack::plan(context, plan, beside, false);
        Ok(())
    }

    /// Sends what has been [planned](Self::plan), once the kernels have completed.
    /// [`go_on_sending`](Self::go_on_sending) starts the copies.
    ///
    /// # Errors
    /// Device errors.
    pub fn send(&mut self, context: &mut Context, moves: &[Move]) -> Result<()> {
        let ways = self.ways(context, moves);
        let by_kernels = moves.iter().zip(&ways).filter(|(_, way)| matches!(way, Way::Kernels));
        let by_kernels: Vec<Move> = by_kernels.map(|(one, _)| one.clone()).collect();
        self.bring_out(context, &by_kernels)?;
        let copied = moves.iter().zip(ways).filter(|(_, way)| !matches!(way, Way::Kernels));
        self.to_send.extend(copied.map(|(one, way)| (one.clone(), way)));
        self.go_on_sending(context)
    }

    /// Whether not everything has been sent.
    pub fn is_sending(&self) -> bool {
        !(self.to_send.is_empty() && self.sending.is_empty())
    }

    /// Announces the moves whose copies have completed, and starts the next copies.
    ///
    /// # Errors
    /// Device errors.
    pub fn go_on_sending(&mut self, context: &mut Context) -> Result<()> {
        let Some(transfer) = context.home.transfer.as_mut() else { return Ok(()) };
        while let Some((ticket, one)) = self.sending.front()
            && transfer.poll(*ticket)?
        {
            self.memory.announce(one);
            self.sending.pop_front();
        }
        while self.sending.len() < COPIES_MAX
            && let Some((one, way)) = self.to_send.pop_front()
        {
            let ticket = match (&one, way) {
                (Move::Put { values, at }, Way::Packed(from)) => self.copy_packed(context, (values, from), *at)?,
                (Move::Put { values, at }, _) => self.copy_beside(context, values, *at)?,
                _ => None,
            };
            match ticket {
                Some(ticket) => self.sending.push_back((ticket, one)),
                None => self.memory.announce(&one),
            }
        }
        Ok(())
    }

    /// Starts the copy of packed values.
    fn copy_packed(
        &self,
        context: &mut Context,
        (values, from): (&Values, u64),
        at: u64,
    ) -> Result<Option<TransferTicket>> {
        let (source, bytes) = (self.packed.as_ref().expect("it has room"), bytes_of(context, values));
        let mut plan = Plan::default();
        plan.copy((source, from), self.locate(at), bytes);
        context.beside(&plan)
    }

    /// Puts values and messages: waits for the kernels that write them, and starts the copies.
    ///
    /// # Errors
    /// If there is no kernel for a move; device errors.
    pub fn put(&mut self, context: &mut Context, moves: &[Move]) -> Result<()> {
        if moves.is_empty() {
            return Ok(());
        }
        let mut plan = Plan::default();
        self.plan(context, &mut plan, moves)?;
        // Copies on the transfer queue read what kernels before them write.
        let submitted = if plan.work.is_empty() { context.submit([]) } else { context.run(&plan)? };
        context.wait(&submitted, "what a device puts for others was not written")?;
        self.send(context, moves)
    }

    /// Takes what others put, as soon as it is there, without waiting for the kernels; and completes the device's own
    /// copies.
    ///
    /// # Errors
    /// Device errors.
    pub fn take(&mut self, context: &mut Context, moves: &[Move]) -> Result<()> {
        let mut wait = Wait::new(context.gpu().poll_time(SPIN));
        let (mut left, mut goes_on) = (moves, true);
        while goes_on && (!left.is_empty() || self.is_sending()) {
            let before = self.to_send.len() + self.sending.len();
            self.go_on_sending(context)?;
            let count = left.iter().take_while(|one| self.received.arrives(&self.memory, one)).count();
            let (ready, later) = left.split_at(count);
            left = later;
            self.take_now(context, ready)?;
            let found = count > 0 || self.to_send.len() + self.sending.len() < before;
            goes_on = wait.goes_on(&self.memory, found);
            if self.is_sending() && wait.idle() > PATIENCE {
                return Err(context.gpu().health().lost("copies to other devices did not end").into());
            }
        }
        self.tell_copies(context);
        Ok(())
    }

    fn take_now(&mut self, context: &mut Context, moves: &[Move]) -> Result<()> {
        let moves: Vec<Move> = moves.iter().filter(|one| !self.is_empty_message(one)).cloned().collect();
        if moves.is_empty() {
            return Ok(());
        }
        if self.staged {
            self.stage_in(context, &moves);
        }
        let mut plan = Plan::default();
        let mut of_ranges = moves.iter().filter(|one| pack::listed(one).is_none());
        of_ranges.try_for_each(|one| self.plan_move(context, &mut plan, one))?;
        // Values of lists are unpacked in one pass.
        self.plan_packed(context, &mut plan, moves.iter());
        context.run(&plan)?;
        Ok(())
    }

    /// Waits for the messages of others, which commands that have been encoded apply. False if a device has failed.
    pub fn wait(&mut self, context: &Context, messages: &[Move]) -> bool {
        let there = self.received.wait(&self.memory, messages, context.gpu().poll_time(SPIN_JOINT));
        if there && self.staged {
            self.stage_in(context, messages);
        }
        there
    }
}
