//! What the host is told between two supersteps, and gives back to a run that goes on.

use super::NextPages;
use super::buffers::{Span, chunks};
use super::download::Piece;
use super::driver::Driver;
use super::superstep::read_buffer;
use crate::error::Result;
use crate::model::algorithm::{State, Step};
use crate::model::attributes::{Attribute, AttributeType};
use crossbeam_channel::Sender;
use std::sync::atomic::AtomicU32;

/// Words that are uploaded at once.
const PIECE_WORDS: u64 = 1 << 20;

impl Driver {
    /// Sends the values of all of this device's own vertices, and none behind them, when all notes so far are taken.
    pub(super) fn save(&mut self, reply: &Sender<Result<Option<Piece>>>) {
        let last = self.sound().and_then(|()| self.send_pieces(reply)).map(|()| None);
        if let Some(notes) = &self.notes {
            notes.settle();
        }
        reply.send(self.explained(last)).ok();
    }

    /// The words of those of its own vertices that are active in a superstep.
    pub(super) fn read_frontier(&mut self, superstep: u32) -> Result<Vec<u32>> {
        self.sound()?;
        let (gpu, own) = (&self.home.gpu, self.part.own_words());
        let mut words = Vec::with_capacity((own.end - own.start).div_ceil(32) as usize);
        let frontier = self.buffers.frontier(superstep).iter();
        for (buffer, vertices) in frontier.zip(chunks(&(0..self.part.vertices), self.plan.chunk_vertices_log2)) {
            let here = own.start.max(vertices.start)..own.end.min(vertices.end);
            if here.start >= here.end {
                continue;
            }
            let first = (here.start - vertices.start) / 32;
            let bytes = 4 * ((here.end - vertices.start).div_ceil(32) - first);
            let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
            let staging = gpu.buffer("frontier download", bytes.next_multiple_of(8), usage)?;
            let mut encoder = self.encoder();
            encoder.copy_buffer_to_buffer(buffer, 4 * first, &staging, 0, bytes);
            let submission = gpu.queue().submit([encoder.finish()]);
            let read = read_buffer(gpu, &staging, submission, bytes)?;
            words.extend(read.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))));
        }
        Ok(words)
    }

    /// Goes on with a superstep: sets the values that this device has to have, and finds the pages that the superstep may visit.
    pub(super) fn restore(&mut self, next: &Step, state: &State) -> Result<NextPages> {
        let log2 = self.plan.chunk_vertices_log2;
        let mut encoder = self.encoder();
        for place in 0..self.declared.attributes.len() {
            self.buffers.attribute(place, log2).for_each(|(_, buffer)| encoder.clear_buffer(buffer, 0, None));
        }
        for superstep in 0..2 {
            self.buffers.frontier(superstep).iter().for_each(|chunk| encoder.clear_buffer(chunk, 0, None));
        }
        self.home.gpu.queue().submit([encoder.finish()]);
        for (place, attribute) in self.declared.attributes.iter().enumerate() {
            for span in self.buffers.spans(place, &self.part.recalled(attribute), log2) {
                pieces(attribute, &span).for_each(|piece| self.upload(place, attribute, &piece, state));
            }
        }
        if self.declared.traversal {
            self.upload_frontier(next.superstep, state);
        }
        // As if the superstep before had just ended.
        self.step = Step { superstep: next.superstep.wrapping_sub(1), ..*next };
        self.write_step();
        self.vertices(None, &[])?;
        Ok(std::mem::take(&mut self.next_pages))
    }

    fn upload(&self, place: usize, attribute: &Attribute, piece: &Span<'_>, state: &State) {
        let words = piece.words(attribute);
        let values: Vec<AtomicU32> = words.clone().map(|_| AtomicU32::new(0)).collect();
        state.attributes.put(place, &piece.vertices, &values);
        let mut values: Vec<u32> = values.into_iter().map(AtomicU32::into_inner).collect();
        if attribute.of == AttributeType::Bit
            && let Some(last) = values.len().checked_sub(1)
        {
            // Of others' vertices in the first and the last word nothing is held here.
            values[0] &= u32::MAX << (piece.vertices.start % 32);
            values[last] &= u32::MAX >> (31 - (piece.vertices.end - 1) % 32);
        }
        self.write_words(piece.buffer, words.start, &values);
    }

    fn upload_frontier(&self, superstep: u32, state: &State) {
        let active = state.frontier(superstep);
        let frontier = self.buffers.frontier(superstep).iter();
        for (buffer, vertices) in frontier.zip(chunks(&(0..self.part.vertices), self.plan.chunk_vertices_log2)) {
            let (first, end) = (vertices.start / 32, vertices.end.div_ceil(32));
            for begin in (first..end).step_by(PIECE_WORDS as usize) {
                let piece = begin..end.min(begin + PIECE_WORDS);
                let words: Vec<u32> = piece.map(|word| active.half_word(word as u32)).collect();
                self.write_words(buffer, begin - first, &words);
            }
        }
    }

    fn write_words(&self, buffer: &wgpu::Buffer, first: u64, words: &[u32]) {
        self.home.gpu.queue().write_buffer(buffer, 4 * first, bytemuck::cast_slice(words));
        // Staging memory is given back piece by piece.
        self.home.gpu.queue().submit([]);
        self.home.gpu.device().poll(wgpu::PollType::Poll).ok();
    }
}

/// A span in pieces, cut between words.
fn pieces<'a>(attribute: &Attribute, span: &Span<'a>) -> impl Iterator<Item = Span<'a>> + use<'a> {
    let size = attribute.of.vertices_in(PIECE_WORDS);
    let Span { buffer, first, ref vertices } = *span;
    let (start, end) = (vertices.start, vertices.end);
    (start / size..end.div_ceil(size)).map(move |number| Span {
        buffer,
        first,
        vertices: start.max(number * size)..end.min((number + 1) * size),
    })
}
