//! Exchange memory as one device sees it, or a staged copy of it in device memory.

use super::super::context::Context;
use super::super::plan::Plan;
use crate::device::exchange::message::{HEADER_WORDS, MessageLayout, SPARSE};
use crate::device::exchange::{ExchangeMemory, Move, Received, is_listed};
use crate::device::gpu::adapter::import::{SharedBuffer, device_buffer};
use crate::device::gpu::adapter::transfer::TransferTicket;
use crate::device::gpu::memory::sizes::{arrived_bytes, message_layout, packed_bytes, scratch_bytes};
use crate::error::{Error, Result};
use crate::model::algorithm::Visit;
use crate::model::attributes::Attribute;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use topostream_formats::Direction;

/// A plan of kernels and copies on the compute queue.
pub(super) type GpuPlan = Plan<wgpu::Buffer>;

/// A fixed visit: kernels of moves read no lists.
pub(super) const VISIT: (Direction, Visit) = (Direction::Out, Visit::All);

/// Exchange memory as one device sees it.
pub struct Exchange {
    pub(super) memory: Arc<ExchangeMemory>,
    /// The memory, or its staged copy. No move crosses a chunk boundary.
    pub(super) chunks: Vec<SharedBuffer>,
    pub(super) chunk_bytes: u64,
    /// Whether `chunks` is a copy in device memory, because the device cannot import the memory.
    pub(super) staged: bool,
    /// The layout of messages, in a traversal.
    pub(super) layout: Option<MessageLayout>,
    /// Holds messages while they are collected, and aligned copies of unaligned words.
    pub(super) scratch: SharedBuffer,
    /// Holds packed values until they have been copied to the exchange memory.
    pub(super) packed: Option<SharedBuffer>,
    /// Holds packed values of other devices while lists are read.
    pub(super) arrived: Option<SharedBuffer>,
    pub(super) received: Received,
    /// Moves that will be copied, and moves that are being copied.
    pub(super) to_send: VecDeque<(Move, Way)>,
    pub(super) sending: VecDeque<(TransferTicket, Move)>,
}

impl Exchange {
    /// Imports exchange memory, or creates a copy if the device cannot import.
    ///
    /// # Errors
    /// [`Error::Parameter`] if a piece is larger than the device's maximum binding; device errors.
    pub fn new(context: &mut Context, memory: Arc<ExchangeMemory>) -> Result<Self> {
        let layout = message_layout(&context.declared, &context.part);
        let home = &mut context.home;
        let caps = home.gpu.caps().clone();
        let (piece, scratch) = (memory.piece_bytes(), scratch_bytes(&memory, layout.as_ref(), &context.part));
        let most = caps.binding_bytes_max.min(caps.buffer_bytes_max);
        // Both are powers of two.
        let step = piece.max(caps.import_alignment);
        if step.max(scratch) > most {
            let message =
                format!("{} binds at most {most} bytes at once, and exchange takes pieces of {step}", home.name());
            return Err(Error::Parameter(message));
        }
        let bytes = memory.memory().len() as u64;
        let chunk_bytes = (most / step * step).min(bytes);
        let chunks = match caps.host_import {
            true => home.import_exchange(&memory, chunk_bytes)?.chunks().to_vec(),
            false => {
                let chunk = |from| device_buffer(&home.gpu, "exchange", chunk_bytes.min(bytes - from));
                (0..bytes).step_by(chunk_bytes as usize).map(chunk).collect::<Result<_>>()?
            }
        };
        let scratch = device_buffer(&home.gpu, "exchange scratch", scratch)?;
        let packed = packed_bytes(&context.declared, &context.part, &context.vertex_lists);
        let packed = (packed > 0 && home.copies_beside()).then(|| device_buffer(&home.gpu, "packed values", packed));
        let packed = packed.transpose()?;
        let arrived = (context.plan.next_bytes > 0).then(|| {
            let is_listed = |attribute: &&Attribute| is_listed(attribute, context.declared.listed);
            let attributes = context.declared.attributes.iter().filter(is_listed).count() as u64;
            let bytes = attributes * arrived_bytes(context.vertex_lists.received(&context.part.own) as u64);
            device_buffer(&home.gpu, "arrived values", bytes.next_multiple_of(16))
        });
        let arrived = arrived.transpose()?;
        let (staged, received) = (!caps.host_import, Received::new(&memory));
        let (to_send, sending) = (VecDeque::new(), VecDeque::new());
        Ok(Self { memory, chunks, chunk_bytes, staged, layout, scratch, packed, arrived, received, to_send, sending })
    }

    /// Tells the other devices that this one has failed.
    pub fn abandon(&self) {
        self.memory.abandon();
    }

    /// The chunk that contains an offset, and the offset in it.
    pub(super) fn locate(&self, at: u64) -> (&SharedBuffer, u64) {
        (&self.chunks[(at / self.chunk_bytes) as usize], at % self.chunk_bytes)
    }

    /// The layout of messages.
    pub(super) fn layout(&self) -> &MessageLayout {
        self.layout.as_ref().expect("only traversals send messages")
    }

    /// Words of the message at offset `at`, from its header.
    pub(super) fn message_words(&self, vertices: &Range<u64>, at: u64) -> u64 {
        let [count, kind] = [0, 1].map(|word: usize| self.memory.words(at, HEADER_WORDS)[word].load(Relaxed));
        let (layout, count) = (self.layout(), u64::from(count));
        let places = if kind == SPARSE { layout.sparse(count) } else { layout.dense(vertices, count) };
        if count == 0 { HEADER_WORDS } else { places.words.min(layout.words_max(vertices)) }
    }

    /// Copies words of the memory to the staged copy, before all later submissions.
    pub(super) fn copy_in(&self, context: &Context, at: u64, words: u64) {
        let values: Vec<u32> = self.memory.words(at, words).iter().map(|word| word.load(Relaxed)).collect();
        let (chunk, offset) = self.locate(at);
        context.gpu().queue().write_buffer(chunk, offset, bytemuck::cast_slice(&values));
    }

    /// Copies words of the staged copy to the memory. `parts`: offsets and numbers of words.
    pub(super) fn copy_out(&self, context: &mut Context, parts: &[(u64, u64)]) -> Result<()> {
        let mut plan = GpuPlan::default();
        for &(at, words) in parts.iter().filter(|(_, words)| *words > 0) {
            let (chunk, offset) = self.locate(at);
            plan.read(chunk, offset, 4 * words);
        }
        if plan.work.is_empty() {
            return Ok(());
        }
        let submitted = context.run(&plan)?;
        let mut values = bytemuck::pod_collect_to_vec::<u8, u32>(&context.read(submitted)?.bytes).into_iter();
        for &(at, words) in parts {
            let cells = self.memory.words(at, words).iter();
            cells.zip(&mut values).for_each(|(cell, value)| cell.store(value, Relaxed));
        }
        Ok(())
    }
}

/// How a move is sent.
pub(super) enum Way {
    /// By kernels and copies of the compute queue.
    Kernels,
    /// By a copy on the transfer queue.
    Copy,
    /// By a copy on the transfer queue, after the kernel has packed the values at this offset of the buffer for packed
    /// values.
    Packed(u64),
}
