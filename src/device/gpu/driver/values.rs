//! Transfers of attributes and frontiers between device and main memory: downloads at the end of a run, and saving and
//! restoring between supersteps.

use super::context::Context;
use crate::device::gpu::adapter::open::Gpu;
use crate::device::gpu::adapter::readback::{READBACK, read_buffer, read_by};
use crate::device::gpu::memory::buffers::{Span, chunks};
use crate::error::Result;
use crate::model::activations::Activations;
use crate::model::algorithm::{State, Step};
use crate::model::attributes::{Attribute, AttributeType};
use crossbeam_channel::Sender;
use std::ops::Range;
use std::sync::atomic::AtomicU32;

/// Words of one download: heaps keep memory of this size, so that the system need not provide it for every download.
const DOWNLOAD_WORDS: u64 = 1 << 18;
/// Words of one upload.
const UPLOAD_WORDS: u64 = 1 << 20;

/// The values of some vertices.
pub struct ValueChunk {
    /// The attribute, by its index in the declaration.
    pub attribute: usize,
    /// The vertices.
    pub vertices: Range<u64>,
    /// The values, in the layout of a dense [`Move`](crate::device::exchange::Move).
    pub words: Vec<AtomicU32>,
}

/// Sends the values of all of the device's own vertices.
///
/// # Errors
/// Device errors.
pub fn send(context: &Context, places: Option<&[usize]>, reply: &Sender<Result<Option<ValueChunk>>>) -> Result<()> {
    let gpu = context.gpu();
    // One download is copied by the device while the one before it is read.
    let (mut spare, mut under_way): (Vec<wgpu::Buffer>, Option<Download<'_>>) = (Vec::new(), None);
    let attributes = context.declared.attributes.iter().enumerate();
    for (place, attribute) in attributes.filter(|(place, _)| places.is_none_or(|places| places.contains(place))) {
        for span in context.spans(place, &context.part.own) {
            for piece in pieces(attribute, &span, DOWNLOAD_WORDS) {
                let words = piece.words(attribute);
                let bytes = 4 * (words.end - words.start);
                let fits = |buffer: &wgpu::Buffer| buffer.size() >= bytes.next_multiple_of(8);
                let buffer = match spare.pop().filter(fits) {
                    Some(buffer) => buffer,
                    None => gpu.buffer("download", bytes.next_multiple_of(8), READBACK)?,
                };
                let mut encoder = context.encoder();
                encoder.copy_buffer_to_buffer(piece.buffer, 4 * words.start, &buffer, 0, bytes);
                let submission = gpu.queue().submit([encoder.finish()]);
                let before = under_way.replace(Download { place, piece, bytes, buffer, submission });
                if let Some(download) = before {
                    let Some(buffer) = download.deliver(gpu, reply)? else { return Ok(()) };
                    spare.push(buffer);
                }
            }
        }
    }
    under_way.map_or(Ok(()), |download| download.deliver(gpu, reply).map(drop))
}

/// A piece that the device copies to a staging buffer.
struct Download<'a> {
    /// The attribute, by its index in the declaration.
    place: usize,
    piece: Span<'a>,
    bytes: u64,
    buffer: wgpu::Buffer,
    submission: wgpu::SubmissionIndex,
}

impl Download<'_> {
    /// Waits for the copy and sends the values. Returns the buffer; `None` if the receiver is gone.
    fn deliver(self, gpu: &Gpu, reply: &Sender<Result<Option<ValueChunk>>>) -> Result<Option<wgpu::Buffer>> {
        let word = |bytes: &[u8]| AtomicU32::new(u32::from_le_bytes(bytes.try_into().expect("four bytes")));
        let words = |bytes: &[u8]| bytes.chunks_exact(4).map(word).collect();
        let words = read_by(gpu, &self.buffer, self.submission, self.bytes, words)?;
        let chunk = ValueChunk { attribute: self.place, vertices: self.piece.vertices, words };
        Ok(reply.send(Ok(Some(chunk))).is_ok().then_some(self.buffer))
    }
}

/// A superstep's frontier: the words of the device's own vertices.
///
/// # Errors
/// Device errors.
pub fn frontier(context: &Context, superstep: u32) -> Result<Vec<u32>> {
    let (gpu, own) = (context.gpu(), context.part.own_words());
    let mut words = Vec::with_capacity((own.end - own.start).div_ceil(32) as usize);
    for (buffer, vertices) in frontier_chunks(context, superstep) {
        let here = own.start.max(vertices.start)..own.end.min(vertices.end);
        if here.start >= here.end {
            continue;
        }
        let first = (here.start - vertices.start) / 32;
        let bytes = 4 * ((here.end - vertices.start).div_ceil(32) - first);
        let staging = gpu.buffer("frontier download", bytes.next_multiple_of(8), READBACK)?;
        let mut encoder = context.encoder();
        encoder.copy_buffer_to_buffer(buffer, 4 * first, &staging, 0, bytes);
        let submission = gpu.queue().submit([encoder.finish()]);
        let read = read_buffer(gpu, &staging, submission, bytes)?;
        words.extend(read.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))));
    }
    Ok(words)
}

/// Merges the device's record of when its vertices were first active, if it keeps one, into the host's.
///
/// # Errors
/// Device errors.
pub fn levels(context: &Context, noted: &Activations) -> Result<()> {
    let (gpu, log2) = (context.gpu(), context.plan.chunk_vertices_log2);
    for (buffer, vertices) in context.buffers.levels(&context.part, log2) {
        for first in vertices.clone().step_by(2 * DOWNLOAD_WORDS as usize) {
            let end = vertices.end.min(first + 2 * DOWNLOAD_WORDS);
            let bytes = (2 * (end - first)).next_multiple_of(4);
            let staging = gpu.buffer("levels download", bytes.next_multiple_of(8), READBACK)?;
            let mut encoder = context.encoder();
            encoder.copy_buffer_to_buffer(buffer, 2 * (first - vertices.start), &staging, 0, bytes);
            let submission = gpu.queue().submit([encoder.finish()]);
            let read = read_buffer(gpu, &staging, submission, bytes)?;
            noted.merge(first, &bytemuck::pod_collect_to_vec(&read)[..(end - first) as usize]);
        }
    }
    Ok(())
}

/// Restores the values that this device needs before a superstep.
///
/// # Errors
/// Device errors.
pub fn restore(context: &Context, next: &Step, state: &State) -> Result<()> {
    let log2 = context.plan.chunk_vertices_log2;
    let mut encoder = context.encoder();
    for place in 0..context.declared.attributes.len() {
        context.buffers.attribute(place, log2).for_each(|(_, buffer)| encoder.clear_buffer(buffer, 0, None));
    }
    for superstep in 0..2 {
        context.buffers.frontier(superstep).iter().for_each(|chunk| encoder.clear_buffer(chunk, 0, None));
    }
    context.gpu().queue().submit([encoder.finish()]);
    for (place, attribute) in context.declared.attributes.iter().enumerate() {
        for span in context.spans(place, &context.part.recalled(attribute)) {
            for piece in pieces(attribute, &span, UPLOAD_WORDS) {
                upload(context, (place, attribute), &piece, state)?;
            }
        }
    }
    if context.declared.traversal { upload_frontier(context, next.superstep, state) } else { Ok(()) }
}

fn upload(context: &Context, (place, attribute): (usize, &Attribute), piece: &Span<'_>, state: &State) -> Result<()> {
    let words = piece.words(attribute);
    let values: Vec<AtomicU32> = words.clone().map(|_| AtomicU32::new(0)).collect();
    state.attributes.put(place, &piece.vertices, &values);
    let mut values: Vec<u32> = values.into_iter().map(AtomicU32::into_inner).collect();
    if attribute.of == AttributeType::Bit
        && let Some(last) = values.len().checked_sub(1)
    {
        // The first and the last word may have bits of other devices' vertices.
        values[0] &= u32::MAX << (piece.vertices.start % 32);
        values[last] &= u32::MAX >> (31 - (piece.vertices.end - 1) % 32);
    }
    write_words(context, piece.buffer, words.start, &values)
}

fn upload_frontier(context: &Context, superstep: u32, state: &State) -> Result<()> {
    let active = state.frontier(superstep);
    for (buffer, vertices) in frontier_chunks(context, superstep) {
        let (first, end) = (vertices.start / 32, vertices.end.div_ceil(32));
        for begin in (first..end).step_by(UPLOAD_WORDS as usize) {
            let piece = begin..end.min(begin + UPLOAD_WORDS);
            let words: Vec<u32> = piece.map(|word| active.half_word(word as u32)).collect();
            write_words(context, buffer, begin - first, &words)?;
        }
    }
    Ok(())
}

/// The buffers of a superstep's frontier and their vertices.
fn frontier_chunks(context: &Context, superstep: u32) -> impl Iterator<Item = (&wgpu::Buffer, Range<u64>)> {
    let vertices = chunks(&(0..context.part.vertices), context.plan.chunk_vertices_log2);
    context.buffers.frontier(superstep).iter().zip(vertices)
}

fn write_words(context: &Context, buffer: &wgpu::Buffer, first: u64, words: &[u32]) -> Result<()> {
    context.gpu().queue().write_buffer(buffer, 4 * first, bytemuck::cast_slice(words));
    // Submitting frees the staging memory of each piece.
    context.gpu().queue().submit([]);
    Ok(context.gpu().poll()?)
}

/// Splits a span into pieces of at most `words` words, at word boundaries.
fn pieces<'a>(attribute: &Attribute, span: &Span<'a>, words: u64) -> impl Iterator<Item = Span<'a>> + use<'a> {
    let size = attribute.of.vertices_in(words);
    let Span { buffer, first, vertices: Range { start, end } } = span.clone();
    (start / size..end.div_ceil(size)).map(move |number| Span {
        buffer,
        first,
        vertices: start.max(number * size)..end.min((number + 1) * size),
    })
}
