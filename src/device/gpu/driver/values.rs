//! Transfers of attributes and frontiers between device and main memory: downloads at the end of a run, and saving and
//! restoring between supersteps.

use super::context::Context;
use super::plan::Plan;
use crate::device::gpu::adapter::readback::Mapped;
use crate::device::gpu::memory::buffers::{Span, chunks};
use crate::device::gpu::memory::home::DOWNLOAD_BYTES;
use crate::error::Result;
use crate::model::activations::Activations;
use crate::model::algorithm::{State, Step};
use crate::model::attributes::{Attribute, AttributeType};
use crossbeam_channel::Sender;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::AtomicU32;
use topostream_formats::huge::plain;

/// Words of one download.
const DOWNLOAD_WORDS: u64 = DOWNLOAD_BYTES / 4;
/// Downloads that the device works on at the same time.
const UNDER_WAY: usize = 2;
/// Words of one upload.
const UPLOAD_WORDS: u64 = 1 << 20;

/// The values of some vertices.
pub struct ValueChunk {
    /// The attribute, by its index in the declaration.
    pub attribute: usize,
    /// The vertices.
    pub vertices: Range<u64>,
    words: Mapped,
}

impl ValueChunk {
    /// The values, in the layout of a dense [`Move`](crate::device::exchange::Move).
    pub fn words(&self) -> &[u32] {
        bytemuck::cast_slice(&self.words)
    }
}

/// Sends the values of all of the device's own vertices, of these attributes or of all.
///
/// # Errors
/// Device errors.
pub fn send(context: &mut Context, places: Option<&[usize]>, reply: &Sender<Result<Option<ValueChunk>>>) -> Result<()> {
    let ranges = ranges_of_values(context, places).map(owned).collect();
    download(context, ranges, |(attribute, vertices), words| {
        reply.send(Ok(Some(ValueChunk { attribute, vertices, words }))).is_ok()
    })
}

/// The number of downloads that bring the results of a run to main memory, and the bytes of the largest download of any
/// kind.
pub fn downloads(context: &Context) -> (u64, u64) {
    let results = ranges_of_values(context, context.declaration.answered).count() + ranges_of_levels(context).count();
    let values = ranges_of_values(context, None).map(|(_, bytes, _)| bytes);
    let all = values.chain(ranges_of_levels(context).map(|(_, bytes, _)| bytes));
    (results as u64, all.map(|bytes| bytes.end - bytes.start).max().unwrap_or(0))
}

/// The bytes of all of the device's own vertices' values, with their attribute and vertices.
fn ranges_of_values<'a>(
    context: &'a Context,
    places: Option<&'a [usize]>,
) -> impl Iterator<Item = (&'a wgpu::Buffer, Range<u64>, (usize, Range<u64>))> {
    let wanted = move |place: &usize| places.is_none_or(|places| places.contains(place));
    let attributes = &context.declared.attributes;
    let spans = (0..attributes.len())
        .filter(wanted)
        .flat_map(|place| context.spans(place, &context.part.own).into_iter().map(move |span| (place, span)));
    spans.flat_map(|(place, span)| {
        let attribute = &attributes[place];
        pieces(attribute, &span, DOWNLOAD_WORDS).map(move |piece| {
            let words = piece.words(attribute);
            (piece.buffer.buffer(), 4 * words.start..4 * words.end, (place, piece.vertices))
        })
    })
}

/// The bytes of the device's record of when its vertices were first active, if it keeps one, with their vertices.
fn ranges_of_levels(context: &Context) -> impl Iterator<Item = (&wgpu::Buffer, Range<u64>, Range<u64>)> {
    let log2 = context.plan.chunk_vertices_log2;
    context.buffers.levels(&context.part, log2).flat_map(|(buffer, vertices)| {
        vertices.clone().step_by(2 * DOWNLOAD_WORDS as usize).map(move |first| {
            let end = vertices.end.min(first + 2 * DOWNLOAD_WORDS);
            let begin = 2 * (first - vertices.start);
            (buffer, begin..begin + (2 * (end - first)).next_multiple_of(4), first..end)
        })
    })
}

fn owned<T>((buffer, bytes, of): (&wgpu::Buffer, Range<u64>, T)) -> (wgpu::Buffer, Range<u64>, T) {
    (buffer.clone(), bytes, of)
}

/// Reads ranges of bytes of buffers, each with what `take` needs to know of it, until `take` returns false. The device
/// copies ahead of what is taken.
fn download<T>(
    context: &mut Context,
    ranges: Vec<(wgpu::Buffer, Range<u64>, T)>,
    mut take: impl FnMut(T, Mapped) -> bool,
) -> Result<()> {
    let (mut under_way, mut ranges) = (VecDeque::new(), ranges.into_iter());
    loop {
        while under_way.len() < UNDER_WAY
            && let Some((from, Range { start, end }, of)) = ranges.next()
        {
            let buffer = context.home.staging.buffer(context.gpu())?;
            let mut plan = Plan::default();
            plan.copy((&from, start), (&buffer, 0), end - start);
            under_way.push_back((buffer, context.run(&plan)?, end - start, of));
        }
        let Some((buffer, submitted, bytes, of)) = under_way.pop_front() else { return Ok(()) };
        if !take(of, context.home.staging.map(context.gpu(), buffer, submitted.index, bytes)?) {
            return Ok(());
        }
    }
}

/// A superstep's frontier: the words of the device's own vertices.
///
/// # Errors
/// Device errors.
pub fn frontier(context: &mut Context, superstep: u32) -> Result<Vec<u32>> {
    let own = context.part.own_words();
    let chunks = frontier_chunks(context, superstep).filter_map(|(buffer, vertices)| {
        let here = own.start.max(vertices.start)..own.end.min(vertices.end);
        let first = (here.start.max(vertices.start) - vertices.start) / 32;
        let bytes = || 4 * ((here.end - vertices.start).div_ceil(32) - first);
        (here.start < here.end).then(|| (buffer.clone(), 4 * first, bytes()))
    });
    let mut words = Vec::with_capacity((own.end - own.start).div_ceil(32) as usize);
    for (buffer, at, bytes) in chunks.collect::<Vec<_>>() {
        let mut plan = Plan::default();
        plan.read(&buffer, at, bytes);
        let submitted = context.run(&plan)?;
        words.extend(bytemuck::pod_collect_to_vec::<u8, u32>(&context.read(submitted)?.bytes));
    }
    Ok(words)
}

/// Merges the device's record of when its vertices were first active, if it keeps one, into the host's.
///
/// # Errors
/// Device errors.
pub fn merge_levels(context: &mut Context, noted: &Activations) -> Result<()> {
    let ranges = ranges_of_levels(context).map(owned).collect();
    download(context, ranges, |vertices, bytes| {
        let supersteps: &[u16] = bytemuck::cast_slice(&bytes);
        noted.merge(vertices.start, &supersteps[..(vertices.end - vertices.start) as usize]);
        true
    })
}

/// Restores the values that this device needs before a superstep.
///
/// # Errors
/// Device errors.
pub fn restore(context: &mut Context, next: &Step, state: &State) -> Result<()> {
    let log2 = context.plan.chunk_vertices_log2;
    let mut plan = Plan::<wgpu::Buffer>::default();
    for place in 0..context.declared.attributes.len() {
        context.buffers.attribute(place, log2).for_each(|(_, buffer)| plan.clear(buffer));
    }
    for superstep in 0..2 {
        context.buffers.frontier(superstep).iter().for_each(|chunk| plan.clear(chunk));
    }
    context.run(&plan)?;
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
    match context.buffers.border(place).filter(|_| piece.is_border) {
        Some(border) => {
            let places = piece.vertices.start as usize..piece.vertices.end as usize;
            state.attributes.pack(place, &border[places], &values);
        }
        None => state.attributes.put(place, &piece.vertices, &values),
    }
    let mut values = plain(values);
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
    context.flush()
}

/// Splits a span into pieces of at most `words` words, at word boundaries.
fn pieces<'a>(attribute: &Attribute, span: &Span<'a>, words: u64) -> impl Iterator<Item = Span<'a>> + use<'a> {
    let size = attribute.of.vertices_in(words);
    let Span { buffer, first, vertices: Range { start, end }, is_border } = span.clone();
    (start / size..end.div_ceil(size)).map(move |number| Span {
        buffer,
        first,
        vertices: start.max(number * size)..end.min((number + 1) * size),
        is_border,
    })
}
