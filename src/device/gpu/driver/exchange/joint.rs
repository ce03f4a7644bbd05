//! Messages in the submissions of joint supersteps, which hold other kernels too.

use super::Exchange;
use crate::device::exchange::Move;
use crate::device::gpu::driver::context::Context;
use crate::error::Result;

impl Exchange {
    /// Encodes messages to others, or those of others, which are in the exchange memory.
    ///
    /// # Errors
    /// Shader and device errors.
    pub fn encode_messages(
        &mut self,
        context: &mut Context,
        encoder: &mut wgpu::CommandEncoder,
        moves: &[Move],
    ) -> Result<()> {
        if self.mirrored {
            self.mirror_in(context, moves);
        }
        moves.iter().try_for_each(|one| self.encode_move(context, encoder, one))
    }

    /// Makes messages available to others, once the kernels that write them have completed.
    ///
    /// # Errors
    /// Device errors.
    pub fn messages_sent(&self, context: &Context, moves: &[Move]) -> Result<()> {
        self.bring_out(context, moves)
    }
}
