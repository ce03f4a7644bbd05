//! Messages of a traversal: collected in scratch memory, copied to the exchange memory, and applied by the receivers.

use super::Exchange;
use crate::device::exchange::message::{HEADER_WORDS, MessageLayout, SPARSE};
use crate::device::gpu::adapter::readback::uniform;
use crate::device::gpu::compose::layout::{self, MessageParams};
use crate::device::gpu::compose::{KernelName, Resource};
use crate::device::gpu::driver::context::Context;
use crate::device::gpu::kernels::Kernel;
use crate::error::Result;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
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

/// The bindings of messages, which are the same in every other superstep: frontiers take turns.
#[derive(Default)]
pub(super) struct Messaging(HashMap<Message, Bound>);

/// A kernel over a message.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Message {
    name: KernelName,
    vertices: Range<u64>,
    /// The message's offset in the exchange memory.
    at: u64,
    odd: bool,
}

/// A kernel with its bind groups.
#[derive(Clone)]
struct Bound {
    kernel: Arc<Kernel>,
    groups: Arc<[wgpu::BindGroup]>,
}

impl Exchange {
    /// Writes the message for a range of vertices.
    pub(super) fn collect_message(
        &mut self,
        context: &mut Context,
        encoder: &mut wgpu::CommandEncoder,
        vertices: &Range<u64>,
        at: u64,
    ) -> Result<()> {
        if vertices.is_empty() {
            let (chunk, offset) = self.locate(at);
            encoder.clear_buffer(chunk, offset, Some(4 * HEADER_WORDS));
            return Ok(());
        }
        encoder.clear_buffer(&self.scratch, 0, Some(4 * HEADER_WORDS));
        self.message_pass(context, encoder, &[KernelName::Collect, KernelName::Ship], vertices, at)
    }

    /// Applies a message of another device.
    pub(super) fn apply_message(
        &mut self,
        context: &mut Context,
        encoder: &mut wgpu::CommandEncoder,
        vertices: &Range<u64>,
        at: u64,
    ) -> Result<()> {
        if vertices.is_empty() {
            return Ok(());
        }
        self.message_pass(context, encoder, &[KernelName::Apply], vertices, at)
    }

    /// Encodes kernels over a message, one after another.
    fn message_pass(
        &mut self,
        context: &mut Context,
        encoder: &mut wgpu::CommandEncoder,
        names: &[KernelName],
        vertices: &Range<u64>,
        at: u64,
    ) -> Result<()> {
        let bound = names.iter().map(|&name| self.bound(context, name, vertices, at)).collect::<Result<Vec<_>>>()?;
        context.timed_pass(encoder, names[0].name(), |pass| {
            for Bound { kernel, groups } in bound {
                kernel.dispatch_groups_in(pass, &groups, layout::message_groups(vertices));
            }
        });
        Ok(())
    }

    fn bound(&mut self, context: &mut Context, name: KernelName, vertices: &Range<u64>, at: u64) -> Result<Bound> {
        let message = Message { name, vertices: vertices.clone(), at, odd: context.step.superstep % 2 == 1 };
        if let Some(known) = self.messaging.0.get(&message) {
            return Ok(known.clone());
        }
        let (chunk, offset) = self.locate(at);
        let params = MessageParams {
            first: vertices.start as u32,
            last: (vertices.end - 1) as u32,
            begin: (offset / 4) as u32,
            sparse_max: layout::sparse_max(self.layout(), vertices),
        };
        let params = uniform(&context.home.gpu, bytemuck::bytes_of(&params))?;
        let (kernel, groups) = context.bind(name, super::VISIT, |resource| match resource {
            Resource::Message => Some(&params),
            Resource::Collected => Some(&self.scratch),
            Resource::Sent | Resource::Received => Some(chunk),
            _ => None,
        })?;
        let bound = Bound { kernel, groups: groups.into() };
        self.messaging.0.insert(message, bound.clone());
        Ok(bound)
    }
}
