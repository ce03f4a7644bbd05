//! Gathers: values sent after a vertex phase by the copy engine, in parts, while kernels receive those of other
//! devices.
//!
//! ```text
//!  vertex phase ─▶ pack ─▶ │ put │ put │ put │ …         transfer queue; each part is announced when it is there
//!                                │ unpack │ unpack │ …   compute queue, as others announce theirs
//! ```
//!
//! Without a transfer queue the kernels put, and everything is announced at once.

use super::super::context::Context;
use super::super::executor::LOOK;
use super::super::plan::Plan;
use super::memory::{Exchange, GpuPlan, Way};
use super::moves::bytes_of;
use super::pack;
use crate::device::exchange::{Move, VertexList};
use crate::device::gpu::adapter::readback::PATIENCE;
use crate::device::gpu::adapter::transfer::TransferTicket;
use crate::error::Result;
use std::time::{Duration, Instant};

/// How long to poll for the next values before sleeping.
const SPIN: Duration = Duration::from_millis(1);
/// Maximum number of copies in flight: enough to keep the queue busy.
pub(super) const COPIES_MAX: usize = 4;

impl Exchange {
    pub(super) fn ways(&self, context: &Context, moves: &[Move]) -> Vec<Way> {
        let mut used = 0;
        let room = self.packed.as_ref().map_or(0, |packed| packed.size());
        let beside = context.home.copies_beside();
        let mut way = |one: &Move| match one {
            Move::Put { values, .. } if beside && values.list == VertexList::All => Way::Copy,
            Move::Put { values, .. } if beside => {
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
            let ticket = match way {
                Way::Packed(from) => self.copy_packed(context, &one, from)?,
                _ => self.copy_beside(context, std::iter::once(&one))?,
            };
            match ticket {
                Some(ticket) => self.sending.push_back((ticket, one)),
                None => self.memory.announce(&one),
            }
        }
        Ok(())
    }

    /// Starts the copy of packed values.
    fn copy_packed(&self, context: &mut Context, one: &Move, from: u64) -> Result<Option<TransferTicket>> {
        let Move::Put { values, at } = one else { return Ok(None) };
        let (source, bytes) = (self.packed.as_ref().expect("it has room"), bytes_of(context, values));
        let mut plan = Plan::default();
        plan.copy((source, from), self.locate(*at), bytes);
        context.beside(&plan)
    }

    /// Executes moves that do not write to the exchange memory as soon as what they read is there, without waiting for
    /// them; and completes the device's own sends.
    ///
    /// # Errors
    /// Device errors.
    pub fn receive(&mut self, context: &mut Context, moves: &[Move]) -> Result<()> {
        let spin = context.gpu().poll_time(SPIN);
        let mut since = Instant::now();
        let mut left = moves;
        while !left.is_empty() || self.is_sending() {
            let before = self.to_send.len() + self.sending.len();
            self.go_on_sending(context)?;
            let memory = &self.memory;
            let count = left.iter().take_while(|one| self.received.arrives(memory, one)).count();
            let (ready, later) = left.split_at(count);
            left = later;
            if !ready.is_empty() {
                self.receive_now(context, ready)?;
            }
            if !ready.is_empty() || self.to_send.len() + self.sending.len() < before {
                since = Instant::now();
            } else if self.memory.is_abandoned() {
                // The run ends with the error of the device that has failed.
                break;
            } else if since.elapsed() > PATIENCE {
                return Err(context.gpu().health().lost("values of another device did not arrive").into());
            } else if since.elapsed() < spin {
                std::hint::spin_loop();
            } else {
                // Another device still computes, perhaps on this thread's core.
                std::thread::sleep(LOOK);
            }
        }
        self.tell_copies(context);
        Ok(())
    }

    fn receive_now(&mut self, context: &mut Context, moves: &[Move]) -> Result<()> {
        if self.staged {
            self.stage_in(context, moves);
        }
        let mut plan = Plan::default();
        moves
            .iter()
            .filter(|one| pack::listed(one).is_none())
            .try_for_each(|one| self.plan_move(context, &mut plan, one))?;
        self.plan_packed(context, &mut plan, moves.iter());
        context.run(&plan)?;
        Ok(())
    }
}
