//! Downloads: attributes brought to main memory, piece by piece.

use super::buffers::Span;
use super::driver::Driver;
use super::superstep::read_buffer;
use crate::error::Result;
use crate::model::attributes::Attribute;
use crossbeam_channel::Sender;
use std::ops::Range;

/// Bytes of a piece.
const PIECE_BYTES: u64 = 64 << 20;

/// The values of some vertices.
pub struct Piece {
    /// The attribute, by its place in the declaration.
    pub attribute: usize,
    /// Whose values.
    pub vertices: Range<u64>,
    /// The values, as a dense [`Move`](crate::device::exchange::Move) has them.
    pub words: Vec<u32>,
}

impl Driver {
    /// Sends the values of all of this device's own vertices, and none behind them, when all notes are taken.
    pub(super) fn download(&mut self, reply: &Sender<Result<Option<Piece>>>) {
        let last = self.sound().and_then(|()| self.send_pieces(reply)).map(|()| None);
        if let Some(notes) = self.notes.take() {
            notes.finish();
        }
        reply.send(self.explained(last)).ok();
    }

    pub(super) fn send_pieces(&self, reply: &Sender<Result<Option<Piece>>>) -> Result<()> {
        let (gpu, own) = (&self.home.gpu, &self.part.own);
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let mut staging: Option<wgpu::Buffer> = None;
        for (place, attribute) in self.declared.attributes.iter().enumerate() {
            for span in self.buffers.spans(place, own, self.plan.chunk_vertices_log2) {
                for piece in pieces(attribute, &span) {
                    let words = piece.words(attribute);
                    let bytes = 4 * (words.end - words.start);
                    let fits = |buffer: &wgpu::Buffer| buffer.size() >= bytes.next_multiple_of(8);
                    let buffer = match staging.take().filter(fits) {
                        Some(buffer) => buffer,
                        None => gpu.buffer("download", bytes.next_multiple_of(8), usage)?,
                    };
                    let mut encoder = self.encoder();
                    encoder.copy_buffer_to_buffer(piece.buffer, 4 * words.start, &buffer, 0, bytes);
                    let submission = gpu.queue().submit([encoder.finish()]);
                    let read = read_buffer(gpu, &buffer, submission, bytes)?;
                    let words = bytemuck::pod_collect_to_vec(&read);
                    staging = Some(buffer);
                    let piece = Piece { attribute: place, vertices: piece.vertices, words };
                    if reply.send(Ok(Some(piece))).is_err() {
                        // Nobody wants the others.
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }
}

/// A span in pieces, cut between words.
fn pieces<'a>(attribute: &Attribute, span: &Span<'a>) -> impl Iterator<Item = Span<'a>> {
    let size = attribute.of.vertices_in(PIECE_BYTES / 4);
    let Span { buffer, first, ref vertices } = *span;
    let Range { start, end } = *vertices;
    (start / size..end.div_ceil(size)).map(move |number| Span {
        buffer,
        first,
        vertices: start.max(number * size)..end.min((number + 1) * size),
    })
}
