//! `merge` compared with the CPU device.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::gpu;
use super::gpu::Gpu;
use super::graph::Chance;
use topostream::Direction;
use topostream::device::gpu::compose::layout::{self, merge_groups};
use topostream::device::gpu::compose::{Declared, KernelName, ModuleOptions, Resource, compose};
use topostream::model::Part;
use topostream::model::algorithm::{Shader, Visit};
use topostream::model::attributes::{Attribute, AttributeType, Attributes, Initial, Merge, Role};
use topostream_formats::Encoding;

const VERTICES: u64 = 3000;
const BEGIN: u32 = 20;

const TYPES: [(AttributeType, u32); 5] = [
    (AttributeType::U32, layout::WORDS_U32),
    (AttributeType::F32, layout::WORDS_F32),
    (AttributeType::Fixed63, layout::WORDS_WIDE),
    (AttributeType::U64, layout::WORDS_WIDE),
    (AttributeType::Bit, layout::WORDS_BIT),
];

const OPERATIONS: [(Option<Merge>, u32); 6] = [
    (Some(Merge::Add), layout::MERGE_ADD),
    (Some(Merge::Min), layout::MERGE_MIN),
    (Some(Merge::Max), layout::MERGE_MAX),
    (Some(Merge::Or), layout::MERGE_OR),
    (None, layout::MERGE_REPLACE),
    (None, layout::MERGE_CLEAR),
];

/// The words of some vertices: index of the first, and number.
fn words_of(of: AttributeType, vertices: &Range<u64>) -> (u64, u64) {
    let count = vertices.end - vertices.start;
    match of {
        AttributeType::Bit => (vertices.start / 32, vertices.end.div_ceil(32) - vertices.start / 32),
        AttributeType::F64 | AttributeType::Fixed63 | AttributeType::U64 => (2 * vertices.start, 2 * count),
        _ => (vertices.start, count),
    }
}

fn numbers(of: AttributeType, count: u64, seed: u64) -> Vec<u32> {
    let mut chance = Chance(seed);
    let number = |_| match of {
        AttributeType::F32 => (chance.below(1 << 20) as f32 / 64.0 - 5000.0).to_bits(),
        // Many high words are equal, so that low words matter.
        AttributeType::F64 | AttributeType::Fixed63 | AttributeType::U64 => chance.next() as u32 | 0xf000_0000,
        _ => chance.next() as u32,
    };
    let mut words: Vec<u32> = (0..count).map(number).collect();
    if of.is_wide() {
        words.iter_mut().skip(1).step_by(2).for_each(|high| *high &= 3);
    }
    words
}

/// The result on the CPU device.
fn expected(
    of: AttributeType,
    merge: (Option<Merge>, u32),
    vertices: &Range<u64>,
    old: &[u32],
    other: &[u32],
) -> Vec<u32> {
    let attribute =
        Attribute { name: "any", of, role: Role::Writable, merge: Merge::Add, initial: Initial::Bits(0), lane: None };
    let attributes = Attributes::new(&[attribute], &Part::whole(VERTICES));
    attributes.set_words(0, &(0..VERTICES), old);
    let other: Vec<_> = other.iter().map(|&word| AtomicU32::new(word)).collect();
    match merge {
        (Some(merge), _) => attributes.merge(0, merge, vertices, &other),
        (None, layout::MERGE_CLEAR) => attributes.clear(0, vertices),
        (None, _) => attributes.take(0, vertices, &other),
    }
    let words: Vec<_> = (0..old.len()).map(|_| AtomicU32::new(0)).collect();
    attributes.put(0, &(0..VERTICES), &words);
    words.iter().map(|word| word.load(Relaxed)).collect()
}

fn merged(
    gpu: &Gpu,
    of: (AttributeType, u32),
    operation: u32,
    vertices: &Range<u64>,
    old: &[u32],
    other: &[u32],
) -> Vec<u32> {
    let (to, words) = words_of(of.0, vertices);
    let last = (32 - vertices.end % 32) % 32;
    let merge = layout::Merge {
        operation,
        kind: of.1,
        words: words as u32,
        to: to as u32,
        begin: BEGIN,
        first_mask: u32::MAX << (vertices.start % 32),
        last_mask: u32::MAX >> last,
        spare: 0,
    };
    let options = ModuleOptions {
        encoding: Encoding::VertexId,
        page_bytes: 64 << 10,
        weights: false,
        direction: Direction::Out,
        visit: Visit::All,
        attribute_chunk_vertices_log2: 20,
        vertices: VERTICES,
        grouped: false,
        sharded: false,
        held_vertices: VERTICES,
        bordering: None,
        float_atomics: false,
        wide_integers: false,
        subgroups: false,
        in_place: false,
        unpacks: false,
        loops_limited: false,
        levels: 0,
        clears: false,
        lists: false,
        tabled: false,
    };
    let shader = Shader::new("none.wgsl", "");
    let declared = Declared::new("none", shader, Vec::new(), false);
    let mut received = vec![0x5555_5555; BEGIN as usize];
    received.extend(other);
    received.resize(received.len().next_multiple_of(4) + 4, 0x5555_5555);
    let buffers = HashMap::from([
        (Resource::Merge, gpu.buffer(bytemuck::cast_slice(&[merge]))),
        (Resource::Merged, gpu.buffer(old)),
        (Resource::Received, gpu.buffer(&received)),
    ]);
    let groups = if words > 1000 { 1 } else { merge_groups(words as u32) };
    gpu.run(&compose(&declared, KernelName::Merge, &options), &buffers, [groups, 1]);
    gpu.read(&buffers[&Resource::Merged])
}

#[test]
fn words_are_merged() {
    let Some(gpu) = gpu() else { return };
    for of in TYPES {
        for merge in OPERATIONS {
            // Sets support only bitwise operations.
            if of.0 == AttributeType::Bit && merge.1 < layout::MERGE_OR {
                continue;
            }
            for vertices in [0..VERTICES, 5..6, 33..1001, 64..96, 40..50, 95..97, 1..VERTICES - 1, 2047..2050] {
                let old = numbers(of.0, words_of(of.0, &(0..VERTICES)).1, 3);
                let other = numbers(of.0, words_of(of.0, &vertices).1, 4);
                let mut old = old;
                if of.0 == AttributeType::Bit {
                    *old.last_mut().unwrap() &= u32::MAX >> ((32 - VERTICES % 32) % 32);
                }
                let expected = expected(of.0, merge, &vertices, &old, &other);
                assert!(
                    expected != old || vertices.end - vertices.start < 10,
                    "{of:?} {merge:?} {vertices:?} changes nothing"
                );
                assert!(merged(gpu, of, merge.1, &vertices, &old, &other) == expected, "{of:?} {merge:?} {vertices:?}");
            }
        }
    }
}
