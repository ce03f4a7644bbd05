//! What this device tells others, and hears from them: the moves of a round, in one submission.
//!
//! ```text
//!   attributes ── copies ──────────▶ ┌──────────────────────────────┐ ── copies, merge ──▶ attributes
//!              ── collect ─▶ ship ─▶ │ exchange memory, imported    │ ── apply ──────────▶ attributes, next frontier
//!                                    └──────────────────────────────┘
//!                                    or a mirror of it in device memory: brought in before a round, and out behind it
//! ```

use super::buffers::Span;
use super::compose::layout::{self, Merge as MergeLayout, Message as MessageUniform};
use super::compose::{Declared, KernelName, Resource};
use super::driver::Driver;
use super::home::Home;
use super::import::{SharedBuffer, device_buffer};
use super::launch::dispatch_pass;
use super::open::{Caps, Gpu};
use super::superstep::{PATIENCE, read_buffer, uniform};
use super::timing::DeviceSpan;
use super::transfer::{Copy, TransferTicket, TransferTime};
use crate::algorithm::{Algorithm, Visit};
use crate::attributes::{Attribute, AttributeType, Merge};
use crate::error::{Error, Result};
use crate::strategy::message::{BLOCK_VERTICES, HEADER_WORDS, MessageLayout, SPARSE};
use crate::strategy::{ExchangeMemory, Move, Part};
use crate::trace::Lane;
use std::ops::Range;
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
        4 * layout::collected_words(layout, &(0..blocks * BLOCK_VERTICES))
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

    fn layout(&self) -> &MessageLayout {
        self.layout.as_ref().expect("messages are traversals'")
    }

    /// Words of the message at a place, once its header has been written.
    fn message_words(&self, vertices: &Range<u64>, at: u64) -> u64 {
        let [count, kind] = [0, 1].map(|word: usize| self.memory.words(at, HEADER_WORDS)[word].load(Relaxed));
        let (layout, count) = (self.layout(), u64::from(count));
        let places = if kind == SPARSE { layout.sparse(count) } else { layout.dense(vertices, count) };
        if count == 0 { HEADER_WORDS } else { places.words.min(layout.words_max(vertices)) }
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

impl<A: Algorithm> Driver<A> {
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

    // ---- Beside the kernels -----------------------------------------------------------------------------------------

    /// Whether a move of a round is a copy for the queue of copies, to run while others read: the bus goes both ways. No other
    /// move of the round may change what it reads.
    fn goes_beside(&self, exchange: &Exchange, one: &Move, round: &[Move]) -> bool {
        let Move::Put { attribute, vertices, .. } = one else { return false };
        let changed = |other: &Move| match other {
            Move::Merge { attribute: of, vertices: those, .. }
            | Move::Take { attribute: of, vertices: those, .. }
            | Move::Unpack { attribute: of, vertices: those, .. }
            | Move::Clear { attribute: of, vertices: those } => {
                // Bits of neighbours are in one word.
                let (begin, end) = (vertices.start / 32 * 32, vertices.end.next_multiple_of(32));
                of == attribute && those.start < end && begin < those.end
            }
            Move::Apply { .. } => true,
            Move::Put { .. } | Move::Pack { .. } | Move::Collect { .. } => false,
        };
        let reads = |other: &Move| matches!(other, Move::Merge { .. } | Move::Take { .. });
        let queue = self.home.transfer.is_some() && !exchange.mirrored;
        queue && round.iter().any(reads) && !round.iter().any(changed)
    }

    /// Starts these copies on the queue of copies.
    fn put_beside<'m>(
        &mut self,
        exchange: &Exchange,
        puts: impl Iterator<Item = (&'m Move, &'m bool)>,
    ) -> Result<Option<TransferTicket>> {
        let mut copies = Vec::new();
        for (one, _) in puts {
            let Move::Put { attribute, vertices, at } = one else { continue };
            let declared = &self.declared.attributes[*attribute];
            let spans = self.buffers.spans(*attribute, vertices, self.plan.chunk_vertices_log2);
            copies.extend(spans.into_iter().map(|span| {
                let (words, before) =
                    (span.words(declared), words_before(declared, vertices.start, span.vertices.start));
                let (dest, dest_offset) = exchange.locate(at + 4 * before);
                let (source, source_offset) = (span.buffer, 4 * words.start);
                Copy { source, source_offset, dest, dest_offset, bytes: 4 * (words.end - words.start) }
            }));
        }
        let Some(transfer) = self.home.transfer.as_mut().filter(|_| !copies.is_empty()) else { return Ok(None) };
        // What they read may still be under way.
        let gpu = &self.home.gpu;
        if !gpu.wait(gpu.queue().submit([]), PATIENCE)? {
            return Err(gpu.health().lost("kernels before a round of exchange did not end").into());
        }
        Ok(Some(transfer.submit(&copies)?))
    }

    fn await_copies(&mut self, ticket: TransferTicket) -> Result<()> {
        let transfer = self.home.transfer.as_mut().expect("it was submitted there");
        if !transfer.wait(ticket, PATIENCE)? {
            return Err(self.home.gpu.health().lost("copies of a round of exchange did not end").into());
        }
        let span =
            |time: TransferTime| DeviceSpan { name: "put", begin_ns: time.begin_ns as f64, end_ns: time.end_ns as f64 };
        let spans: Vec<DeviceSpan> = transfer.finished().into_iter().map(span).collect();
        if let Some(timeline) = &self.trace {
            self.timing.tell(timeline, Lane::Copies, &spans);
        }
        Ok(())
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

    fn is_bits(&self, attribute: usize) -> bool {
        self.declared.attributes[attribute].of == AttributeType::Bit
    }

    // ---- Dense moves ------------------------------------------------------------------------------------------------

    /// The parts of a move, by buffer, and where each lies in the exchange memory.
    pub(super) fn parts(
        &self,
        attribute: usize,
        vertices: &Range<u64>,
        at: u64,
    ) -> impl Iterator<Item = (Span<'_>, u64)> {
        let declared = self.declared.attributes[attribute];
        let spans = self.buffers.spans(attribute, vertices, self.plan.chunk_vertices_log2);
        let first = vertices.start;
        spans.into_iter().map(move |span| {
            let words = words_before(&declared, first, span.vertices.start);
            (span, at + 4 * words)
        })
    }

    fn put(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        exchange: &Exchange,
        attribute: usize,
        vertices: &Range<u64>,
        at: u64,
    ) {
        for (span, at) in self.parts(attribute, vertices, at) {
            let words = span.words(&self.declared.attributes[attribute]);
            let (chunk, offset) = exchange.locate(at);
            encoder.copy_buffer_to_buffer(span.buffer, 4 * words.start, chunk, offset, 4 * (words.end - words.start));
        }
    }

    /// Replaces values of whole words.
    fn take(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        exchange: &Exchange,
        attribute: usize,
        vertices: &Range<u64>,
        at: u64,
    ) {
        for (span, at) in self.parts(attribute, vertices, at) {
            let words = span.words(&self.declared.attributes[attribute]);
            let (chunk, offset) = exchange.locate(at);
            encoder.copy_buffer_to_buffer(chunk, offset, span.buffer, 4 * words.start, 4 * (words.end - words.start));
        }
    }

    /// Sets values of whole words to zero.
    pub(super) fn clear_values(&self, encoder: &mut wgpu::CommandEncoder, attribute: usize, vertices: &Range<u64>) {
        for (span, _) in self.parts(attribute, vertices, 0) {
            let words = span.words(&self.declared.attributes[attribute]);
            encoder.clear_buffer(span.buffer, 4 * words.start, Some(4 * (words.end - words.start)));
        }
    }

    /// Merges words of the exchange memory into values, or replaces them.
    fn merge(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        exchange: &Exchange,
        operation: u32,
        attribute: usize,
        vertices: &Range<u64>,
        at: u64,
    ) -> Result<()> {
        let declared = self.declared.attributes[attribute];
        let kind = match declared.of {
            AttributeType::U32 => layout::WORDS_U32,
            AttributeType::F32 => layout::WORDS_F32,
            AttributeType::Fixed63 => layout::WORDS_FIXED63,
            AttributeType::Bit => layout::WORDS_BIT,
        };
        let parts: Vec<_> = self
            .parts(attribute, vertices, at)
            .map(|(span, at)| (span.buffer.clone(), span.words(&declared), span.vertices, at))
            .collect();
        for (buffer, words, vertices, at) in parts {
            let (mut chunk, mut offset) = exchange.locate(at);
            let bytes = 4 * (words.end - words.start);
            if operation != layout::MERGE_CLEAR && !offset.is_multiple_of(16) {
                // Behind the border of an attribute's chunk, words need not lie as the kernel reads them.
                encoder.copy_buffer_to_buffer(chunk, offset, &exchange.scratch, 0, bytes);
                (chunk, offset) = (&exchange.scratch, 0);
            }
            let last = 31 - (vertices.end - 1) % 32;
            let layout = MergeLayout {
                operation,
                kind,
                words: (words.end - words.start) as u32,
                to: words.start as u32,
                begin: (offset / 4) as u32,
                first_mask: u32::MAX << (vertices.start % 32),
                last_mask: u32::MAX >> last,
                spare: 0,
            };
            let told = uniform(&self.home.gpu, bytemuck::bytes_of(&layout))?;
            let groups = layout::merge_groups(layout.words);
            self.exchange_pass(encoder, KernelName::Merge, groups, |resource| match resource {
                Resource::Merge => Some(&told),
                Resource::Merged => Some(&buffer),
                Resource::Received => Some(chunk),
                _ => None,
            })?;
        }
        Ok(())
    }

    // ---- Messages ---------------------------------------------------------------------------------------------------

    fn collect_message(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        exchange: &Exchange,
        vertices: &Range<u64>,
        at: u64,
    ) -> Result<()> {
        let (chunk, offset) = exchange.locate(at);
        if vertices.is_empty() {
            encoder.clear_buffer(chunk, offset, Some(4 * HEADER_WORDS));
            return Ok(());
        }
        let told = self.message(exchange, vertices, offset)?;
        encoder.clear_buffer(&exchange.scratch, 0, Some(4 * HEADER_WORDS));
        for name in [KernelName::Collect, KernelName::Ship] {
            let groups = layout::message_groups(vertices);
            self.exchange_pass(encoder, name, groups, |resource| match resource {
                Resource::Message => Some(&told),
                Resource::Collected => Some(&exchange.scratch),
                Resource::Sent => Some(chunk),
                _ => None,
            })?;
        }
        Ok(())
    }

    fn apply_message(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        exchange: &Exchange,
        vertices: &Range<u64>,
        at: u64,
    ) -> Result<()> {
        if vertices.is_empty() {
            return Ok(());
        }
        let (chunk, offset) = exchange.locate(at);
        let told = self.message(exchange, vertices, offset)?;
        self.exchange_pass(encoder, KernelName::Apply, layout::message_groups(vertices), |resource| match resource {
            Resource::Message => Some(&told),
            Resource::Received => Some(chunk),
            _ => None,
        })
    }

    fn message(&self, exchange: &Exchange, vertices: &Range<u64>, offset: u64) -> Result<wgpu::Buffer> {
        let message = MessageUniform {
            first: vertices.start as u32,
            last: (vertices.end - 1) as u32,
            begin: (offset / 4) as u32,
            sparse_max: layout::sparse_max(exchange.layout(), vertices),
        };
        uniform(&self.home.gpu, bytemuck::bytes_of(&message))
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

    /// Words of a dense move.
    fn move_words(&self, attribute: usize, vertices: &Range<u64>) -> u64 {
        let declared = &self.declared.attributes[attribute];
        match declared.of {
            AttributeType::Bit => vertices.end.div_ceil(32) - vertices.start / 32,
            _ => words_before(declared, vertices.start, vertices.end),
        }
    }
}

/// Words of a dense move from vertex `first` on that come before that of a vertex.
fn words_before(attribute: &Attribute, first: u64, vertex: u64) -> u64 {
    match attribute.of {
        AttributeType::U32 | AttributeType::F32 => vertex - first,
        AttributeType::Fixed63 => 2 * (vertex - first),
        AttributeType::Bit => vertex / 32 - first / 32,
    }
}
