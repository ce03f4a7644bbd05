//! Messages of a traversal: collected in scratch memory, copied to the exchange memory, and applied by the receivers.

use super::Exchange;
use crate::device::exchange::message::{HEADER_WORDS, MessageLayout, SPARSE};
use crate::device::gpu::adapter::readback::uniform;
use crate::device::gpu::compose::layout::{self, MessageParams as MessageUniform};
use crate::device::gpu::compose::{KernelName, Resource};
use crate::device::gpu::driver::context::Context;
use crate::error::Result;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

impl Exchange {
    fn layout(&self) -> &MessageLayout {
        self.layout.as_ref().expect("only traversals send messages")
    }

    /// Words of the message at offset `at`, from its header.
    pub(super) fn message_words(&self, vertices: &Range<u64>, at: u64) -> u64 {
        let [count, kind] = [0, 1].map(|word: usize| self.memory.words(at, HEADER_WORDS)[word].load(Relaxed));
        let (layout, count) = (self.layout(), u64::from(count));
        let places = if kind == SPARSE { layout.sparse(count) } else { layout.dense(vertices, count) };
        if count == 0 { HEADER_WORDS } else { places.words.min(layout.words_max(vertices)) }
    }
}

impl Exchange {
    /// Writes the message for a range of vertices.
    pub(super) fn collect_message(
        &self,
        context: &mut Context,
        encoder: &mut wgpu::CommandEncoder,
        vertices: &Range<u64>,
        at: u64,
    ) -> Result<()> {
        let (chunk, offset) = self.locate(at);
        if vertices.is_empty() {
            encoder.clear_buffer(chunk, offset, Some(4 * HEADER_WORDS));
            return Ok(());
        }
        let told = self.message(context, vertices, offset)?;
        encoder.clear_buffer(&self.scratch, 0, Some(4 * HEADER_WORDS));
        for name in [KernelName::Collect, KernelName::Ship] {
            let groups = layout::message_groups(vertices);
            context.pass(encoder, name, super::VISIT, groups, |resource| match resource {
                Resource::Message => Some(&told),
                Resource::Collected => Some(&self.scratch),
                Resource::Sent => Some(chunk),
                _ => None,
            })?;
        }
        Ok(())
    }

    /// Applies a message of another device.
    pub(super) fn apply_message(
        &self,
        context: &mut Context,
        encoder: &mut wgpu::CommandEncoder,
        vertices: &Range<u64>,
        at: u64,
    ) -> Result<()> {
        if vertices.is_empty() {
            return Ok(());
        }
        let (chunk, offset) = self.locate(at);
        let told = self.message(context, vertices, offset)?;
        let groups = layout::message_groups(vertices);
        context.pass(encoder, KernelName::Apply, super::VISIT, groups, |resource| match resource {
            Resource::Message => Some(&told),
            Resource::Received => Some(chunk),
            _ => None,
        })
    }

    fn message(&self, context: &Context, vertices: &Range<u64>, offset: u64) -> Result<wgpu::Buffer> {
        let message = MessageUniform {
            first: vertices.start as u32,
            last: (vertices.end - 1) as u32,
            begin: (offset / 4) as u32,
            sparse_max: layout::sparse_max(self.layout(), vertices),
        };
        let MessageUniform { first, last, begin, sparse_max } = message;
        let key = [first, last, begin, sparse_max];
        if let Some(known) = self.uniforms.borrow().get(&key) {
            return Ok(known.clone());
        }
        let made = uniform(&context.home.gpu, bytemuck::bytes_of(&message))?;
        self.uniforms.borrow_mut().insert(key, made.clone());
        Ok(made)
    }
}
