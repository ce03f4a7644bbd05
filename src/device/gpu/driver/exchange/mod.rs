//! What this device tells others, and hears from them: the moves of a round, in one submission.
//!
//! ```text
//!   attributes ── copies ──────────▶ ┌──────────────────────────────┐ ── copies, merge ──▶ attributes
//!              ── collect ─▶ ship ─▶ │ exchange memory, imported    │ ── apply ──────────▶ attributes, next frontier
//!                                    └──────────────────────────────┘
//!                                    or a mirror of it in device memory: brought in before a round, and out behind it
//! ```
//!
//! | module | what |
//! | --- | --- |
//! | `dense` | values of ranges of vertices: told, heard, merged |
//! | `pack` | values of those vertices only that have out-edges |
//! | `messages` | what a traversal has activated |

mod dense;
mod messages;
mod pack;

use super::compose::layout::{self, collected_words};
use super::compose::{Declared, KernelName, Resource};
use super::driver::Driver;
use super::home::Home;
use super::import::{SharedBuffer, device_buffer};
use super::launch::dispatch_pass;
use super::open::{Caps, Gpu};
use super::superstep::{PATIENCE, read_buffer};
use crate::device::exchange::message::{BLOCK_VERTICES, HEADER_WORDS, MessageLayout};
use crate::device::exchange::{ExchangeMemory, Move};
use crate::error::{Error, Result};
use crate::model::Part;
use crate::model::algorithm::Visit;
use crate::model::attributes::Merge;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use topostream_formats::Direction;

/// Exchange memory as one device sees it.
pub(super) struct Exchange {
    memory: Arc<ExchangeMemory>,
    /// The memory, or its mirror: no move crosses a chunk.
    chunks: Vec<SharedBuffer>,
    chunk_bytes: u64,
    /// Whether the device cannot reach the memory itself.
    mirrored: bool,
    /// What messages carry, in a traversal.
    layout: Option<MessageLayout>,
    /// Where messages are collected, and what lies askew is brought first.
    scratch: SharedBuffer,
}

/// Device memory of an exchange, in bytes.
pub(super) fn device_bytes(caps: &Caps, memory: &ExchangeMemory, declared: &Declared, part: &Part) -> u64 {
    let mirror = if caps.host_import { 0 } else { memory.memory().len() as u64 };
    mirror + scratch_bytes(memory, layout_of(declared, part).as_ref(), part)
}

fn layout_of(declared: &Declared, part: &Part) -> Option<MessageLayout> {
    declared.traversal.then(|| MessageLayout::new(&declared.attributes, part.sharded))
}

/// One piece, and what the longest message needs beyond that.
fn scratch_bytes(memory: &ExchangeMemory, layout: Option<&MessageLayout>, part: &Part) -> u64 {
    let longest = layout.map_or(0, |layout| {
        let blocks = layout.blocks_max(memory.piece_bytes()).min(part.vertices.div_ceil(BLOCK_VERTICES));
        4 * collected_words(layout, &(0..blocks * BLOCK_VERTICES))
    });
    longest.max(memory.piece_bytes()).next_multiple_of(16)
}

impl Exchange {
    /// Imports exchange memory, or makes a mirror of it where the device cannot import.
    ///
    /// # Errors
    /// [`Error::Parameter`] where a piece is more than the device binds; what the driver says.
    pub fn new(home: &mut Home, memory: Arc<ExchangeMemory>, declared: &Declared, part: &Part) -> Result<Self> {
        let caps = home.gpu.caps().clone();
        let layout = layout_of(declared, part);
        let (piece, scratch) = (memory.piece_bytes(), scratch_bytes(&memory, layout.as_ref(), part));
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
        Ok(Self { memory, chunks, chunk_bytes, mirrored: !caps.host_import, layout, scratch })
    }

    /// The chunk with a place, and where in it.
    pub(super) fn locate(&self, at: u64) -> (&SharedBuffer, u64) {
        (&self.chunks[(at / self.chunk_bytes) as usize], at % self.chunk_bytes)
    }

    /// Brings words of the memory into the mirror, before anything that is submitted from here on.
    fn bring_in(&self, gpu: &Gpu, at: u64, words: u64) {
        let values: Vec<u32> = self.memory.words(at, words).iter().map(|word| word.load(Relaxed)).collect();
        let (chunk, offset) = self.locate(at);
        gpu.queue().write_buffer(chunk, offset, bytemuck::cast_slice(&values));
    }

    /// Brings words of the mirror, by place and number, out to the memory.
    fn bring_out(&self, gpu: &Gpu, parts: &[(u64, u64)]) -> Result<()> {
        let bytes = parts.iter().map(|(_, words)| 4 * words).sum::<u64>();
        if bytes == 0 {
            return Ok(());
        }
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let staging = gpu.buffer("exchange staging", bytes.next_multiple_of(8), usage)?;
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

impl Driver {
    /// Does the moves of a round, in order. What they write is there for everybody when this returns.
    pub(super) fn round(&mut self, moves: &[Move]) -> Result<()> {
        self.with_exchange(|driver, exchange| driver.make(exchange, moves))
    }

    /// Runs what needs the exchange memory, which a run has that is shared.
    fn with_exchange<T>(&mut self, work: impl FnOnce(&mut Self, &Exchange) -> Result<T>) -> Result<T> {
        let Some(exchange) = self.exchange.take() else {
            let message = "a round without memory that is shared with other devices";
            return Err(self.home.gpu.health().fault("exchange", message).into());
        };
        let result = work(self, &exchange);
        self.exchange = Some(exchange);
        result
    }

    /// Makes moves that write nothing to the exchange memory, without waiting for them.
    pub(super) fn hear(&mut self, moves: &[Move]) -> Result<()> {
        self.with_exchange(|driver, exchange| {
            if exchange.mirrored {
                driver.mirror_in(exchange, moves);
            }
            let mut encoder = driver.encoder();
            moves.iter().try_for_each(|one| driver.encode_move(&mut encoder, exchange, one))?;
            driver.home.gpu.queue().submit([encoder.finish()]);
            Ok(())
        })
    }

    /// Encodes moves that write to the exchange memory; what they write is [brought out](Self::bring_out) when they are done.
    pub(super) fn encode_moves(&mut self, encoder: &mut wgpu::CommandEncoder, moves: &[Move]) -> Result<()> {
        if moves.is_empty() {
            return Ok(());
        }
        self.with_exchange(|driver, exchange| {
            moves.iter().try_for_each(|one| driver.encode_move(encoder, exchange, one))
        })
    }

    /// What moves have written that are done: where the device cannot write to the exchange memory itself.
    pub(super) fn bring_out(&mut self, moves: &[Move]) -> Result<()> {
        if moves.is_empty() {
            return Ok(());
        }
        self.with_exchange(|driver, exchange| match exchange.mirrored {
            true => driver.mirror_out(exchange, moves),
            false => Ok(()),
        })
    }

    fn make(&mut self, exchange: &Exchange, moves: &[Move]) -> Result<()> {
        if exchange.mirrored {
            self.mirror_in(exchange, moves);
        }
        let beside: Vec<bool> = moves.iter().map(|one| self.goes_beside(exchange, one, moves)).collect();
        let mut encoder = self.encoder();
        for (one, _) in moves.iter().zip(&beside).filter(|(_, beside)| !**beside) {
            self.encode_move(&mut encoder, exchange, one)?;
        }
        let ticket = self.put_beside(exchange, moves.iter().zip(&beside).filter(|(_, beside)| **beside))?;
        let submission = self.home.gpu.queue().submit([encoder.finish()]);
        self.await_queue(submission)?;
        if let Some(ticket) = ticket {
            self.await_copies(ticket)?;
        }
        if exchange.mirrored { self.mirror_out(exchange, moves) } else { Ok(()) }
    }

    fn await_queue(&self, submission: wgpu::SubmissionIndex) -> Result<()> {
        let gpu = &self.home.gpu;
        let done = gpu.wait(submission, PATIENCE)?;
        if done { Ok(()) } else { Err(gpu.health().lost("a round of exchange did not end").into()) }
    }

    // ---- One move ---------------------------------------------------------------------------------------------------

    fn encode_move(&mut self, encoder: &mut wgpu::CommandEncoder, exchange: &Exchange, one: &Move) -> Result<()> {
        match one {
            Move::Put { attribute, vertices, at } => self.put(encoder, exchange, *attribute, vertices, *at),
            Move::Merge { attribute, vertices, at } => {
                let operation = match self.declared.attributes[*attribute].merge {
                    Merge::Add => layout::MERGE_ADD,
                    Merge::Min => layout::MERGE_MIN,
                    Merge::Max => layout::MERGE_MAX,
                    Merge::Or => layout::MERGE_OR,
                };
                return self.merge(encoder, exchange, operation, *attribute, vertices, *at);
            }
            Move::Take { attribute, vertices, at } if self.is_bits(*attribute) => {
                return self.merge(encoder, exchange, layout::MERGE_REPLACE, *attribute, vertices, *at);
            }
            Move::Take { attribute, vertices, at } => self.take(encoder, exchange, *attribute, vertices, *at),
            Move::Pack { attribute, vertices, at } => {
                return self.pack(encoder, exchange, KernelName::Pack, *attribute, vertices, *at);
            }
            Move::Unpack { attribute, vertices, at } => {
                return self.pack(encoder, exchange, KernelName::Unpack, *attribute, vertices, *at);
            }
            Move::Clear { attribute, vertices } if self.is_bits(*attribute) => {
                return self.merge(encoder, exchange, layout::MERGE_CLEAR, *attribute, vertices, 0);
            }
            Move::Clear { attribute, vertices } => self.clear_values(encoder, *attribute, vertices),
            Move::Collect { vertices, at } => return self.collect_message(encoder, exchange, vertices, *at),
            Move::Apply { vertices, at } => return self.apply_message(encoder, exchange, vertices, *at),
        }
        Ok(())
    }

    /// One pass of a kernel that binds what `find` gives, and what is the run's.
    pub(super) fn exchange_pass<'b>(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        name: KernelName,
        groups: u32,
        find: impl Fn(&Resource) -> Option<&'b wgpu::Buffer>,
    ) -> Result<()> {
        let kernel = self.kernel(name, Direction::Out, Visit::All, false)?;
        let graph = self.home.graph.as_ref().expect("prepared with the run");
        let run = |resource: &Resource| self.buffers.find(graph, self.step.superstep, Direction::Out, resource);
        let bind =
            |group| kernel.bind(&self.home.gpu, group, |resource| find(resource).unwrap_or_else(|| run(resource)));
        let bound: Vec<_> = (0..kernel.groups()).map(bind).collect();
        let stamps = self.timing.next(&self.home.gpu, name.name());
        dispatch_pass(encoder, &kernel, &bound.iter().collect::<Vec<_>>(), (groups, 1), stamps);
        Ok(())
    }

    // ---- Without import ---------------------------------------------------------------------------------------------

    /// Brings what a round's moves read to the mirror.
    fn mirror_in(&self, exchange: &Exchange, moves: &[Move]) {
        for one in moves {
            match one {
                Move::Merge { attribute, vertices, at } | Move::Take { attribute, vertices, at } => {
                    exchange.bring_in(&self.home.gpu, *at, self.move_words(*attribute, vertices));
                }
                Move::Apply { vertices, at } => {
                    exchange.bring_in(&self.home.gpu, *at, exchange.message_words(vertices, *at));
                }
                Move::Unpack { vertices, at, .. } => {
                    exchange.bring_in(&self.home.gpu, *at, self.graph.outgoing_among(vertices).len() as u64);
                }
                Move::Put { .. } | Move::Pack { .. } | Move::Collect { .. } | Move::Clear { .. } => {}
            }
        }
    }

    /// Brings what a round's moves have written out of the mirror: of messages the headers first, which say how long they are.
    fn mirror_out(&self, exchange: &Exchange, moves: &[Move]) -> Result<()> {
        let of_messages = |one: &Move| match one {
            Move::Collect { at, .. } => Some((*at, HEADER_WORDS)),
            _ => None,
        };
        exchange.bring_out(&self.home.gpu, &moves.iter().filter_map(of_messages).collect::<Vec<_>>())?;
        let written = |one: &Move| match one {
            Move::Put { attribute, vertices, at } => Some((*at, self.move_words(*attribute, vertices))),
            Move::Pack { vertices, at, .. } => Some((*at, self.graph.outgoing_among(vertices).len() as u64)),
            Move::Collect { vertices, at } => Some((*at, exchange.message_words(vertices, *at))),
            _ => None,
        };
        exchange.bring_out(&self.home.gpu, &moves.iter().filter_map(written).collect::<Vec<_>>())
    }
}
