//! Messages in the submissions of joint supersteps, which hold other kernels too, and the wait for those of others.

use super::super::context::Context;
use super::super::executor::LOOK;
use super::memory::{Exchange, GpuPlan};
use crate::device::exchange::Move;
use crate::device::gpu::adapter::readback::PATIENCE;
use crate::error::Result;
use std::time::{Duration, Instant};

/// How long to poll for the others before sleeping: devices of one speed end their lists within a millisecond.
const SPIN: Duration = Duration::from_millis(5);

impl Exchange {
    /// Plans messages to others, or the application of those of others.
    ///
    /// # Errors
    /// If there is no kernel for a move.
    pub fn plan_messages(&self, context: &Context, plan: &mut GpuPlan, moves: &[Move]) -> Result<()> {
        moves.iter().try_for_each(|one| self.plan_move(context, plan, one))
    }

    /// Makes messages available to others, once the kernels that write them have completed, and waits until all
    /// devices have. Returns whether they have: no, if one has failed.
    ///
    /// # Errors
    /// Device errors.
    pub fn swap_messages(
        &self,
        context: &mut Context,
        (sent, received): (&[Move], &[Move]),
        arrivals: u64,
    ) -> Result<bool> {
        self.bring_out(context, sent)?;
        self.memory.arrive();
        let (since, spin) = (Instant::now(), context.gpu().poll_time(SPIN));
        while self.memory.arrivals() < arrivals {
            if self.memory.is_abandoned() {
                return Ok(false);
            }
            let waited = since.elapsed();
            if waited > PATIENCE {
                return Err(context.gpu().health().lost("messages of another device did not arrive").into());
            }
            if waited < spin {
                std::hint::spin_loop();
            } else {
                std::thread::sleep(LOOK);
            }
        }
        if self.staged {
            self.stage_in(context, received);
        }
        Ok(true)
    }
}
