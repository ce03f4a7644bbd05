//! Moves: values that this device sends to others and receives from them.
//!
//! ```text
//!   attributes ── copies ──────────▶ ┌──────────────────────────────┐ ── copies, merge ──▶ attributes
//!              ── collect ─▶ ship ─▶ │ exchange memory, imported    │ ── apply ──────────▶ attributes, next frontier
//!                                    └──────────────────────────────┘
//!                                    or a mirror of it in device memory: copied in before a round and out after it
//! ```
//!
//! | module | moves |
//! | --- | --- |
//! | `dense` | values of ranges of vertices: sent, received, merged |
//! | `pack` | values of vertices that have out-edges |
//! | `messages` | activated vertices of a traversal |
//! | `joint` | the same, in the submissions of joint supersteps |
//! | `gather` | sends by the copy engine, while the kernels receive |
//! | `early` | the same while lists are still read |
//!
//! Owns the import of the exchange memory (or its mirror) and the scratch memory of messages. Called by the driver; it
//! executes the moves that it is given and knows neither their schedule nor other devices.

mod dense;
mod early;
mod gather;
mod joint;
mod messages;
mod pack;

use super::context::Context;
use crate::device::exchange::message::{HEADER_WORDS, MessageLayout};
use crate::device::exchange::{ExchangeMemory, Move, Received, is_packed};
use crate::device::gpu::adapter::import::{SharedBuffer, device_buffer};
use crate::device::gpu::adapter::open::Gpu;
use crate::device::gpu::adapter::readback::{PATIENCE, READBACK, read_buffer};
use crate::device::gpu::adapter::transfer::TransferTicket;
use crate::device::gpu::compose::layout;
use crate::device::gpu::memory::sizes::{arrived_bytes, message_layout, packed_bytes, scratch_bytes};
use crate::error::{Error, Result};
use crate::model::algorithm::Visit;
use crate::model::attributes::{Attribute, Merge};
use dense::{is_bits, move_words};
pub(super) use early::{EarlyGather, PackedMove};
use gather::Way;
use messages::Messaging;
use pack::{Packed, Packing};
use std::collections::VecDeque;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use topostream_formats::Direction;

/// A fixed visit: kernels of moves read no lists.
const VISIT: (Direction, Visit) = (Direction::Out, Visit::All);

/// Exchange memory as one device sees it.
pub(super) struct Exchange {
    memory: Arc<ExchangeMemory>,
    /// The memory, or its mirror. No move crosses a chunk boundary.
    chunks: Vec<SharedBuffer>,
    chunk_bytes: u64,
    /// Whether `chunks` is a mirror because the device cannot import the memory.
    mirrored: bool,
    /// The layout of messages, in a traversal.
    layout: Option<MessageLayout>,
    /// Holds messages while they are collected, and aligned copies of unaligned words.
    scratch: SharedBuffer,
    /// Holds packed values until they have been copied to the exchange memory.
    packed: Option<SharedBuffer>,
    /// Holds packed values of other devices while lists are read.
    arrived: Option<SharedBuffer>,
    packing: Packing,
    messaging: Messaging,
    received: Received,
    /// Moves of a gather that will be copied, and those that are being copied.
    to_send: VecDeque<(Move, Way)>,
    sending: VecDeque<(TransferTicket, Move)>,
}

impl Exchange {
    /// Imports exchange memory, or creates a mirror if the device cannot import.
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
        let packed = packed_bytes(&context.declared, &context.part, &context.told);
        let packed = (packed > 0 && home.copies_beside()).then(|| device_buffer(&home.gpu, "packed values", packed));
        let packed = packed.transpose()?;
        let arrived = (context.plan.next_bytes > 0).then(|| {
            let is_packed = |attribute: &&Attribute| is_packed(attribute, context.declared.packed);
            let attributes = context.declared.attributes.iter().filter(is_packed).count() as u64;
            let bytes = attributes * arrived_bytes(context.told.received(&context.part.own) as u64);
            device_buffer(&home.gpu, "arrived values", bytes.next_multiple_of(16))
        });
        let arrived = arrived.transpose()?;
        let (mirrored, received) = (!caps.host_import, Received::new(&memory));
        let (to_send, sending) = (VecDeque::new(), VecDeque::new());
        let (packing, messaging) = (Packing::default(), Messaging::default());
        Ok(Self {
            memory,
            chunks,
            chunk_bytes,
            mirrored,
            layout,
            scratch,
            packed,
            arrived,
            packing,
            messaging,
            received,
            to_send,
            sending,
        })
    }

    /// Tells the other devices that this one has failed.
    pub fn abandon(&self) {
        self.memory.abandon();
    }

    /// The chunk that contains an offset, and the offset in it.
    pub(super) fn locate(&self, at: u64) -> (&SharedBuffer, u64) {
        (&self.chunks[(at / self.chunk_bytes) as usize], at % self.chunk_bytes)
    }

    /// Copies words of the memory to the mirror, before all later submissions.
    fn copy_in(&self, gpu: &Gpu, at: u64, words: u64) {
        let values: Vec<u32> = self.memory.words(at, words).iter().map(|word| word.load(Relaxed)).collect();
        let (chunk, offset) = self.locate(at);
        gpu.queue().write_buffer(chunk, offset, bytemuck::cast_slice(&values));
    }

    /// Copies words of the mirror to the memory. `parts`: offsets and numbers of words.
    fn copy_out(&self, gpu: &Gpu, parts: &[(u64, u64)]) -> Result<()> {
        let bytes = parts.iter().map(|(_, words)| 4 * words).sum::<u64>();
        if bytes == 0 {
            return Ok(());
        }
        let staging = gpu.buffer("exchange staging", bytes.next_multiple_of(8), READBACK)?;
        let mut encoder = gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut to = 0;
        for &(at, words) in parts {
            let (chunk, offset) = self.locate(at);
            encoder.copy_buffer_to_buffer(chunk, offset, &staging, to, 4 * words);
            to += 4 * words;
        }
        let submission = gpu.queue().submit([encoder.finish()]);
        let read: Vec<u32> = bytemuck::pod_collect_to_vec(&read_buffer(gpu, &staging, submission, bytes)?);
        let mut values = read.into_iter();
        for &(at, words) in parts {
            let cells = self.memory.words(at, words).iter();
            cells.zip(&mut values).for_each(|(cell, value)| cell.store(value, Relaxed));
        }
        Ok(())
    }
}

impl Exchange {
    /// Copies the results of completed moves from the mirror, if there is one, to the exchange memory, and announces
    /// them.
    fn bring_out(&self, context: &Context, moves: &[Move]) -> Result<()> {
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
        let mut encoder = context.encoder();
        for (one, _) in moves.iter().zip(&beside).filter(|(_, beside)| !**beside) {
            self.encode_move(context, &mut encoder, one)?;
        }
        let puts = moves.iter().zip(&beside).filter(|(_, beside)| **beside).map(|(one, _)| one);
        let ticket = self.put_beside(context, puts)?;
        let gpu = context.gpu();
        if !gpu.wait(gpu.queue().submit([encoder.finish()]), PATIENCE)? {
            return Err(gpu.health().lost("a round of exchange did not end").into());
        }
        if let Some(ticket) = ticket {
            self.await_copies(context, ticket)?;
        }
        self.bring_out(context, moves)
    }

    // ---- One move ---------------------------------------------------------------------------------------------------

    fn encode_move(&mut self, context: &mut Context, encoder: &mut wgpu::CommandEncoder, one: &Move) -> Result<()> {
        match one {
            Move::Put { attribute, vertices, at } => self.put(context, encoder, *attribute, vertices, *at),
            Move::Merge { attribute, vertices, at } => {
                let operation = match context.declared.attributes[*attribute].merge {
                    Merge::Add => layout::MERGE_ADD,
                    Merge::Min => layout::MERGE_MIN,
                    Merge::Max => layout::MERGE_MAX,
                    Merge::Or | Merge::Activation => layout::MERGE_OR,
                };
                return self.merge(context, encoder, operation, *attribute, vertices, *at);
            }
            // Copies on this queue would wait for those that send beside it.
            Move::Take { attribute, vertices, at } if is_bits(context, *attribute) || context.home.copies_beside() => {
                return self.merge(context, encoder, layout::MERGE_REPLACE, *attribute, vertices, *at);
            }
            Move::Take { attribute, vertices, at } => self.take(context, encoder, *attribute, vertices, *at),
            Move::Pack { .. } | Move::Unpack { .. } => {
                return self.encode_packed(context, encoder, slice::from_ref(one));
            }
            Move::Clear { attribute, vertices } if is_bits(context, *attribute) => {
                return self.merge(context, encoder, layout::MERGE_CLEAR, *attribute, vertices, 0);
            }
            Move::Clear { attribute, vertices } => context.clear_values(encoder, *attribute, vertices),
            Move::Collect { vertices, at } => return self.collect_message(context, encoder, vertices, *at),
            Move::Apply { vertices, at } => return self.apply_message(context, encoder, vertices, *at),
        }
        Ok(())
    }

    /// Encodes packed moves, between attributes and the exchange memory, in one pass for each chunk of it.
    fn encode_packed(
        &mut self,
        context: &mut Context,
        encoder: &mut wgpu::CommandEncoder,
        moves: &[Move],
    ) -> Result<()> {
        let (chunks, chunk_bytes) = (&self.chunks, self.chunk_bytes);
        let packed = moves.iter().filter_map(|one| {
            let packed = Packed::of(one)?;
            let (number, at) = (packed.at / chunk_bytes, packed.at % chunk_bytes);
            Some((Packed { at, chunk: Some(number), ..packed }, &chunks[number as usize]))
        });
        self.packing.encode(context, encoder, packed)
    }

    // ---- Without import ---------------------------------------------------------------------------------------------

    /// Copies the input of a round's moves to the mirror.
    fn mirror_in(&self, context: &Context, moves: &[Move]) {
        for one in moves {
            match one {
                Move::Merge { attribute, vertices, at } | Move::Take { attribute, vertices, at } => {
                    self.copy_in(context.gpu(), *at, move_words(context, *attribute, vertices));
                }
                Move::Apply { vertices, at } => {
                    self.copy_in(context.gpu(), *at, self.message_words(vertices, *at));
                }
                Move::Unpack { list, vertices, at, .. } => {
                    self.copy_in(context.gpu(), *at, context.told.among(*list, vertices).len() as u64);
                }
                Move::Put { .. } | Move::Pack { .. } | Move::Collect { .. } | Move::Clear { .. } => {}
            }
        }
    }

    /// Copies the output of a round's moves to the memory. Of messages, the headers come first: they have the length.
    fn mirror_out(&self, context: &Context, moves: &[Move]) -> Result<()> {
        let of_messages = |one: &Move| match one {
            Move::Collect { at, .. } => Some((*at, HEADER_WORDS)),
            _ => None,
        };
        self.copy_out(context.gpu(), &moves.iter().filter_map(of_messages).collect::<Vec<_>>())?;
        let written = |one: &Move| match one {
            Move::Put { attribute, vertices, at } => Some((*at, move_words(context, *attribute, vertices))),
            Move::Pack { list, vertices, at, .. } => Some((*at, context.told.among(*list, vertices).len() as u64)),
            Move::Collect { vertices, at } => Some((*at, self.message_words(vertices, *at))),
            _ => None,
        };
        self.copy_out(context.gpu(), &moves.iter().filter_map(written).collect::<Vec<_>>())
    }
}
