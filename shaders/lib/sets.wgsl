// Sets whose vertices are few, as lists: the vertices of the set, and those that edges have touched. A workgroup
// collects vertices in its own memory and appends them together, since one number counts a list.

// The list of the set, and that of touched vertices.
const SET_LIST = 0u;
const TOUCHED_LIST = 1u;
// In a mark, whether an edge has touched the vertex since its last update.
const TOUCHED = 8u;
// Bits of a mark.
const MARK_BITS = 32u / MARKS_A_WORD;
// Maximum number of vertices that a workgroup collects.
const UNLISTED_MAX = 1024u;

var<workgroup> unlisted_count: atomic<u32>;
var<workgroup> unlisted: array<u32, UNLISTED_MAX>;
// The place in the list of the first one.
var<workgroup> unlisted_base: u32;

// Starts collecting; a barrier must follow.
fn unlisted_begin(lane: u32) {
    if lane == 0u {
        atomicStore(&unlisted_count, 0u);
    }
}

// Adds a vertex to a list, at the end of the workgroup or, if it has too many, now.
fn list_vertex(list: u32, vertex: u32) {
    let at = atomicAdd(&unlisted_count, 1u);
    if at < UNLISTED_MAX {
        unlisted[at] = vertex;
    } else {
        write_listed(list, atomicAdd(&course.listed_counts[list], 1u), vertex);
    }
}

// Writes a vertex to its place in a list. Those for which there is no room are counted only.
fn write_listed(list: u32, at: u32, vertex: u32) {
    if at < select(TOUCHED_MAX, LISTED_MAX, list == SET_LIST) {
        atomicStore(&course.listed[list * LISTED_MAX + at], vertex);
    }
}

// Appends what the workgroup has collected. In uniform control flow.
fn unlisted_end(list: u32, lane: u32) {
    workgroupBarrier();
    let count = min(atomicLoad(&unlisted_count), UNLISTED_MAX);
    if lane == 0u && count != 0u {
        unlisted_base = atomicAdd(&course.listed_counts[list], count);
    }
    workgroupBarrier();
    // rounds: 4.
    for (var at = lane; at < count; at += WORKGROUP) {
        write_listed(list, unlisted_base + at, unlisted[at]);
    }
}

// The word of a vertex's mark.
fn mark_word(vertex: u32) -> u32 {
    return course.marks + vertex / MARKS_A_WORD;
}

// The position of a vertex's mark in its word.
fn mark_shift(vertex: u32) -> u32 {
    return MARK_BITS * (vertex % MARKS_A_WORD);
}

// Lists a vertex that the superstep visits, or whose values an edge has changed, once.
fn note_touched(vertex: u32) {
    let bit = TOUCHED << mark_shift(vertex);
    let word = mark_word(vertex);
    if (atomicLoad(&course.listed[word]) & bit) != 0u || (atomicOr(&course.listed[word], bit) & bit) != 0u {
        return;
    }
    list_vertex(TOUCHED_LIST, vertex);
}

// The terms of a mark.
fn mark_terms(mark: u32) -> vec3<u32> {
    return (vec3<u32>(mark) >> vec3<u32>(0u, 1u, 2u)) & vec3<u32>(1u);
}

// Sets a vertex's mark to its terms, each 0 or 1; returns by how much they have changed, modulo 2^32.
fn remark(vertex: u32, terms: vec3<f32>) -> vec3<u32> {
    let shift = mark_shift(vertex);
    let before = (atomicLoad(&course.listed[mark_word(vertex)]) >> shift) & (2u * TOUCHED - 1u);
    let bits = vec3<u32>(terms != vec3<f32>(0.0));
    let after = bits.x | (bits.y << 1u) | (bits.z << 2u);
    if before != after {
        atomicXor(&course.listed[mark_word(vertex)], (before ^ after) << shift);
    }
    return bits - mark_terms(before);
}
