//! Initial values of attributes, seeds and the first frontier.

use super::context::Context;
use super::plan::{Dispatch, Plan};
use super::writes::Writes;
use crate::device::gpu::compose::layout::{Fill, WORKGROUP};
use crate::device::gpu::compose::{KernelName, Resource};
use crate::device::gpu::memory::plan::TOTALS_MAX;
use crate::error::Result;
use crate::model::algorithm::{Seeds, Summary, Visit};
use crate::model::attributes::{Attribute, AttributeType, Initial, Merge};
use crate::model::bits::Bits;
use std::collections::{BTreeMap, HashSet};
use topostream_formats::Direction;

/// Words of a set in one upload.
const PIECE_WORDS: usize = 1 << 20;

/// Sets all attributes and frontiers to their initial values.
///
/// # Errors
/// Device errors.
pub fn set(context: &mut Context) -> Result<()> {
    let mut plan = Plan::default();
    clear(context, &mut plan);
    context.run(&plan)?;
    let seeds = context.algorithm.seeds();
    planted(context, &seeds).queue(context.gpu());
    seeds.sets.iter().try_for_each(|(place, set)| plant_set(context, *place, set))
}

/// Like [`set`], as a plan, including [`plant_levels`]. For algorithms without sets of seeds.
///
/// # Errors
/// Device errors.
pub fn plan(context: &Context, plan: &mut Plan<wgpu::Buffer>) -> Result<()> {
    clear(context, plan);
    let mut writes = planted(context, &context.algorithm.seeds());
    add_levels(context, &mut writes);
    writes.plan(context.gpu(), plan)
}

fn clear(context: &Context, plan: &mut Plan<wgpu::Buffer>) {
    for place in 0..context.declared.attributes.len() {
        fill_attribute(context, plan, place);
    }
    for superstep in 0..2 {
        context.buffers.frontier(superstep).iter().for_each(|chunk| plan.clear(chunk));
    }
}

/// The initial frontier of a traversal, as the summary of a superstep before the first one.
pub fn found(context: &Context) -> Summary {
    let active: HashSet<u32> = context.algorithm.seeds().active.into_iter().collect();
    let edges = active.iter().map(|&vertex| u64::from(context.graph.out_degree(vertex))).sum();
    Summary { activated: active.len() as u64, activated_edges: edges, ..Summary::default() }
}

/// Records superstep 0 as the level of the initially active vertices; the census records later levels.
pub fn plant_levels(context: &Context) {
    let mut writes = Writes::default();
    add_levels(context, &mut writes);
    writes.queue(context.gpu());
}

fn add_levels(context: &Context, writes: &mut Writes) {
    let mut words = BTreeMap::new();
    for vertex in context.algorithm.seeds().active {
        *words.entry(vertex / 2).or_insert(0u32) |= 1 << (16 * (vertex % 2));
    }
    for (buffer, vertices) in context.buffers.levels(&context.part, context.plan.chunk_vertices_log2) {
        let here = |&(&pair, _): &(&u32, &u32)| vertices.contains(&(2 * u64::from(pair)));
        for (&pair, word) in words.iter().filter(here) {
            let at = 2 * (2 * u64::from(pair) - vertices.start);
            writes.add(buffer, at, &word.to_le_bytes());
        }
    }
}

/// Sets the initial values of an attribute. Values that will be added to the values of other devices are set only by
/// the owner of the vertex.
fn fill_attribute(context: &Context, plan: &mut Plan<wgpu::Buffer>, place: usize) {
    let Attribute { initial, merge, .. } = context.declared.attributes[place];
    let buffers = context.buffers.attribute(place, context.plan.chunk_vertices_log2);
    let buffers: Vec<_> = buffers.collect();
    let border = context.buffers.border(place).filter(|_| initial == Initial::Vertex);
    let chunk = 1 << context.plan.chunk_vertices_log2;
    // The last buffers are for the border, and for a place behind it.
    let copies = border.map_or(0, |border| (border.len() + 1).div_ceil(chunk));
    let (filled, copies) = buffers.split_at(buffers.len() - copies);
    for ((_, buffer), vertices) in copies.iter().zip(border.unwrap_or_default().chunks(chunk)) {
        context.gpu().queue().write_buffer(buffer, 0, bytemuck::cast_slice(vertices));
    }
    filled.iter().for_each(|(first, buffer)| fill(plan, buffer, initial, *first));
    if initial != Initial::Bits(0) && merge == Merge::Add {
        for others in [0..context.part.own.start, context.part.own.end..context.part.vertices] {
            context.clear_values(plan, place, &others);
        }
    }
}

/// Sets the initial values of one buffer of an attribute, which begins with `first_vertex`.
fn fill(plan: &mut Plan<wgpu::Buffer>, buffer: &wgpu::Buffer, initial: Initial, first_vertex: u64) {
    if initial == Initial::Bits(0) {
        return plan.clear(buffer);
    }
    let words = (buffer.size() / 4) as u32;
    let (value, increment) = (initial.of(first_vertex as u32), u32::from(initial == Initial::Vertex));
    let fill = Fill { value, words, increment, ..Fill::default() };
    let dispatch = Dispatch::new(KernelName::Fill, (Direction::Out, Visit::All), 0);
    let dispatch = dispatch.with(Resource::Filled, buffer).told(Resource::Fill, &fill);
    plan.pass(None, vec![dispatch.sized(words.div_ceil(WORKGROUP).clamp(1, TOTALS_MAX))]);
}

/// The seeds of vertices that the device holds, or whose owners' values it mirrors.
fn planted(context: &Context, seeds: &Seeds<'_>) -> Writes {
    let (attributes, part) = (&context.declared.attributes, &context.part);
    // By attribute (none: the frontier), by whether the value is written here (which may differ between the bits of a
    // word), and by word.
    let mut words = BTreeMap::new();
    for seed in &seeds.values {
        let Attribute { of, merge, role, .. } = attributes[seed.attribute];
        if merge == Merge::Add && !part.owns(seed.vertex) {
            continue;
        }
        let vertex = u64::from(seed.vertex);
        let here = !role.is_written() || part.writable().contains(&vertex);
        match of {
            AttributeType::Bit => {
                let (_, bits) = words.entry((Some(seed.attribute), here, vertex / 32)).or_insert((vertex, 0u32));
                *bits |= (seed.bits & 1) << (vertex % 32);
            }
            _ => drop(words.insert((Some(seed.attribute), here, vertex), (vertex, seed.bits))),
        }
    }
    for vertex in seeds.active.iter().copied().map(u64::from) {
        let (_, bits) = words.entry((None, true, vertex / 32)).or_insert((vertex, 0));
        *bits |= 1 << (vertex % 32);
    }
    let (mut writes, log2) = (Writes::default(), context.plan.chunk_vertices_log2);
    for ((attribute, _, _), (vertex, value)) in words {
        let Some(place) = attribute else {
            let word = (vertex & ((1 << log2) - 1)) / 32;
            let chunk = &context.buffers.frontier(0)[(vertex >> log2) as usize];
            writes.add(chunk, 4 * word, &value.to_le_bytes());
            continue;
        };
        for span in context.spans(place, &(vertex..vertex + 1)) {
            let words = span.words(&attributes[place]);
            words.for_each(|word| writes.add(span.buffer, 4 * word, &value.to_le_bytes()));
        }
    }
    writes
}

/// Sets the bits of an attribute that edges do not write: the device holds the values of all vertices.
fn plant_set(context: &Context, place: usize, set: &Bits) -> Result<()> {
    let attribute = &context.declared.attributes[place];
    assert!(!attribute.role.is_written(), "sets are planted where edges do not write");
    for span in context.spans(place, &(0..context.part.vertices)) {
        let words = span.words(attribute);
        for begin in words.clone().step_by(PIECE_WORDS) {
            let piece = begin..words.end.min(begin + PIECE_WORDS as u64);
            let bits: Vec<u32> = piece.map(|word| set.half_word((span.first / 32 + word) as u32)).collect();
            context.gpu().queue().write_buffer(span.buffer, 4 * begin, bytemuck::cast_slice(&bits));
            context.flush()?;
        }
    }
    Ok(())
}
