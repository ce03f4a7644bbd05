//! Structs and numbers that Rust and WGSL share. The structs are also in shaders/lib/layout.wgsl (a test compares
//! offsets); the numbers become constants of modules.

use crate::device::exchange::message::{HEADER_WORDS, MessageLayout, blocks_of};
use bytemuck::{Pod, Zeroable};
use std::ops::Range;

mod course;

pub use course::*;

/// Threads of a workgroup.
pub const WORKGROUP: u32 = 256;
/// The maximum number of workgroups in a row of a grid; further ones are in further rows.
pub const GRID_ROW_MAX: u32 = 32_768;
/// Lists of more edges than this go to the hub queue, in entries of at most this many edges.
pub const HUB_EDGES: u32 = 2048;
/// Bins of lists by length: for 1, 8 and 32 threads, and parts of long lists for a workgroup.
pub const BINS: usize = 4;
/// Maximum length of lists in the first bin.
pub const BIN_ALONE: u32 = 7;
/// Maximum length of lists in the second bin.
pub const BIN_FEW: u32 = 63;
/// Edges of a large page for one workgroup of the `lists` kernel.
pub const LARGE_CHUNK: u32 = 4096;
/// The `segments` kernel keeps the slots of a unit in workgroup memory if there are at most this many.
pub const SLOTS_CACHED: u32 = 2048;

/// Edges of a thread of the `segments` kernel.
pub const fn edges_per_thread(weights: bool) -> u32 {
    if weights { 8 } else { 16 }
}

/// Edges of a unit of the `segments` kernel.
pub const fn edges_per_unit(weights: bool) -> u32 {
    WORKGROUP * edges_per_thread(weights)
}

/// Workgroups in x and y for this many units.
pub const fn grid(units: u32) -> [u32; 2] {
    if units <= GRID_ROW_MAX { [units, 1] } else { [GRID_ROW_MAX, units.div_ceil(GRID_ROW_MAX)] }
}

/// The header of a buffer of lists sorted by length; [`HubEntry`]s follow.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct BinsHeader {
    /// Number of entries in each bin.
    pub counts: [u32; BINS],
    /// Index of the first entry of each bin.
    pub begins: [u32; BINS],
    /// For `bin`: whether to write entries or only count them.
    pub fills: u32,
    /// Zero.
    pub spare_0: u32,
    /// Zero.
    pub spare_1: u32,
    /// Zero.
    pub spare_2: u32,
}

/// A superstep; a uniform.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct Step {
    /// The last vertex; the number of vertices may be 2^32.
    pub vertices_last: u32,
    /// The superstep's number, from 0.
    pub superstep: u32,
    /// Pages of the topology, for `next-pages`.
    pub page_count: u32,
    /// The device's first own vertex. The vertex phase and the census process own vertices.
    pub own_first: u32,
    /// The last own vertex; less than the first if there are none.
    pub own_last: u32,
    /// The first vertex that a dispatch of the vertex phase updates.
    pub part_first: u32,
    /// The last one; less than the first if there are none.
    pub part_last: u32,
    /// Zero.
    pub spare: u32,
    /// The algorithm's scalars.
    pub scalars: [f32; 4],
    /// The algorithm's integers.
    pub integers: [u32; 4],
}

/// The header of a batch; a [`BatchPage`] for each page follows.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct BatchHeader {
    /// Pages.
    pub page_count: u32,
    /// Units of all pages: workgroups.
    pub unit_count: u32,
    /// The queue of a [`Course`] for the lists of these pages.
    pub queue: u32,
    /// Number of pages in tables before this one.
    pub first_page: u32,
}

/// A page of a batch.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct BatchPage {
    /// The page's offset in the bound buffer, in words of 4 bytes: a multiple of 32.
    pub word: u32,
    /// Units of the pages before it.
    pub first_unit: u32,
    /// Its first vertex.
    pub start_vertex: u32,
    /// Vertices with a slot here.
    pub slot_count: u32,
    /// Neighbours on the page.
    pub edge_count: u32,
    /// In a large page, the length of the whole list, at most 2^32 - 1; 0 in a small page.
    pub degree: u32,
    /// For `segments`: the index of the page's row in the buffer of rows.
    pub row: u32,
    /// For `lists`: base-2 logarithm of the threads for a list of a small page; at most 5.
    pub lanes_log2: u32,
}

/// A packed page to inflate.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct InflatePage {
    /// The packed page's offset in the bound frames, in words.
    pub packed: u32,
    /// The offset of its plain image in the bound slots, in words: a multiple of 32.
    pub image: u32,
    /// Its number in its topology.
    pub number: u32,
    /// Its first vertex.
    pub start_vertex: u32,
    /// Vertices with a slot here.
    pub slot_count: u32,
    /// Neighbours on the page.
    pub edge_count: u32,
    /// 1 if its first neighbour continues the list of the page before, otherwise 0.
    pub continues: u32,
    /// The vertex of the value 0: the first that may be a neighbour.
    pub origin: u32,
    /// The value of the last vertex that may be a neighbour.
    pub value_max: u32,
}

/// The header of the hub queue; its entries follow.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct HubHeader {
    /// Entries requested; zero before each batch.
    pub wanted: u32,
    /// Capacity in entries. Lists that do not fit are processed by `lists`.
    pub capacity: u32,
    /// Zero.
    pub spare_0: u32,
    /// Zero.
    pub spare_1: u32,
}

/// A part of a long list.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct HubEntry {
    /// The page's index in the batch.
    pub page: u32,
    /// The first edge, by its number in the page.
    pub first_edge: u32,
    /// Edges; 0 in an unused entry.
    pub edge_count: u32,
    /// The vertex of the list.
    pub vertex: u32,
    /// The length of the whole list or, if lists are grouped for shards, of its part in one shard.
    pub length: u32,
}

/// The counters of page kernels.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct Counters {
    /// Maximum number of hub entries requested by a batch.
    pub hub_wanted: u32,
    /// Whether a driver has ended a loop early; only set if loops are limited.
    pub loops_cut: u32,
    /// 1 + the number of a packed page with a neighbour that is not among its destinations; 0 if there is none.
    pub defect: u32,
    /// Own vertices that `defer` has deferred to the next superstep.
    pub deferred: u32,
    /// Neighbours in opened lists, in several counters to reduce contention between workgroups.
    pub edges: [EdgeCount; EDGE_COUNTS],
}

/// The number of counters of neighbours: a power of two.
pub const EDGE_COUNTS: usize = 64;
/// The bits of a workgroup's neighbours that go to [`EdgeCount::low`].
pub const EDGE_COUNT_BITS: u32 = 12;

/// A counter of neighbours in opened lists, in two parts without a carry: a workgroup adds the low bits of its count to
/// one and the high bits to the other.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct EdgeCount {
    /// The sum of the low bits: 2^20 workgroups may add to it.
    pub low: u32,
    /// The sum of the rest.
    pub high: u32,
}

impl Counters {
    /// Neighbours in opened lists.
    pub fn edges(&self) -> u64 {
        self.edges.iter().map(|one| (u64::from(one.high) << EDGE_COUNT_BITS) + u64::from(one.low)).sum()
    }
}

/// A page for the `next-pages` kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct DirectoryPage {
    /// Its first vertex.
    pub start_vertex: u32,
    /// Vertices with a slot in it.
    pub slot_count: u32,
}

/// The parameters of `fill`; a uniform.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Fill {
    /// The first word's value.
    pub value: u32,
    /// Words.
    pub words: u32,
    /// The difference between consecutive words.
    pub increment: u32,
    /// Zero.
    pub spare: u32,
}

/// The parameters of `merge`; a uniform.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Merge {
    /// One of [`MERGE_ADD`] and those below it.
    pub operation: u32,
    /// One of [`WORDS_U32`] and those below it.
    pub kind: u32,
    /// Words of 4 bytes: two for each 64-bit number.
    pub words: u32,
    /// Index of the first word in the output.
    pub to: u32,
    /// Index of the first word in exchange memory: a multiple of 4.
    pub begin: u32,
    /// For bits: mask of the first word.
    pub first_mask: u32,
    /// For bits: mask of the last word. If that is also the first word, both masks apply.
    pub last_mask: u32,
    /// Zero.
    pub spare: u32,
}

/// The parameters of `pack` and `unpack`; a uniform.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Pack {
    /// Index of the first vertex in the list of vertices with out-edges.
    pub first: u32,
    /// Number of vertices.
    pub count: u32,
    /// Index of the first word in exchange memory.
    pub begin: u32,
    /// The vertex whose value is the first word of the bound attribute.
    pub base: u32,
}

/// Workgroups of `pack` and `unpack` for this many vertices.
pub const fn pack_groups(vertices: u32) -> u32 {
    let groups = vertices.div_ceil(WORKGROUP);
    if groups < 4096 { groups } else { 4096 }
}

/// A [`Merge`] operation: the sum.
pub const MERGE_ADD: u32 = 0;
/// The minimum.
pub const MERGE_MIN: u32 = 1;
/// The maximum.
pub const MERGE_MAX: u32 = 2;
/// Bitwise or.
pub const MERGE_OR: u32 = 3;
/// The received value.
pub const MERGE_REPLACE: u32 = 4;
/// Zero.
pub const MERGE_CLEAR: u32 = 5;

/// A [`Merge`] kind of words: unsigned numbers.
pub const WORDS_U32: u32 = 0;
/// Floats.
pub const WORDS_F32: u32 = 1;
/// 64-bit numbers of two words each, low word first.
pub const WORDS_WIDE: u32 = 2;
/// A bit for each of 32 vertices.
pub const WORDS_BIT: u32 = 3;

/// The vertices and the location of a message; a uniform.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct MessageParams {
    /// The first vertex of its range: a multiple of
    /// [`BLOCK_VERTICES`](crate::device::exchange::message::BLOCK_VERTICES).
    pub first: u32,
    /// The last vertex of its range.
    pub last: u32,
    /// Index of its first word in exchange memory.
    pub begin: u32,
    /// The maximum number of vertices of a sparse message: [`sparse_max`].
    pub sparse_max: u32,
}

/// The maximum number of activated vertices in a sparse message for a range; with more, a dense one is shorter.
pub fn sparse_max(layout: &MessageLayout, vertices: &Range<u64>) -> u32 {
    let dense = layout.dense(vertices, 0).words - HEADER_WORDS;
    let each = 1 + u64::from(!layout.bits.is_empty());
    (dense / each) as u32
}

/// Words of [`Resource::Collected`](super::Resource::Collected) for messages for a range.
pub fn collected_words(layout: &MessageLayout, vertices: &Range<u64>) -> u64 {
    let listed = (1 + u64::from(!layout.bits.is_empty())) * u64::from(sparse_max(layout, vertices));
    let values = layout.values.len() as u64 * (vertices.end - vertices.start);
    HEADER_WORDS + blocks_of(vertices) + listed + values
}

/// Workgroups of `ship` and `apply`, and the maximum for `collect`, for any message.
pub fn message_groups(vertices: &Range<u64>) -> u32 {
    (4 * blocks_of(vertices)).clamp(1, 1024) as u32
}

/// Workgroups of `merge` for this many words.
pub const fn merge_groups(words: u32) -> u32 {
    let groups = words.div_ceil(4 * WORKGROUP);
    if groups < 1024 { groups } else { 1024 }
}

/// Lists of at most this many edges are expanded by [`SHORT_LANES`] threads each, from the first region of a queue.
pub const SHORT_EDGES: u32 = 32;
/// Threads that share a short list.
pub const SHORT_LANES: u32 = 8;
/// Lists of at most this many edges are expanded by 32 threads each, from the second region. Longer ones are split into
/// parts of [`HUB_EDGES`] edges, one for each workgroup, in the third region.
pub const MIDDLE_EDGES: u32 = 1024;
/// Lists of in-neighbours are searched for this many edges by one thread before others help.
pub const ALONE_EDGES: u32 = 16;
/// Threads that search a page for visited lists: 32 for pages of 64 KiB, more for larger ones.
pub const fn page_lanes(page_bytes: u32) -> u32 {
    let lanes = page_bytes / 2048;
    if lanes < 32 {
        32
    } else if lanes > WORKGROUP {
        WORKGROUP
    } else {
        lanes
    }
}

/// The result of a workgroup of `census`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct CensusTotal {
    /// Vertices in the set: low and high half.
    pub vertices: [u32; 2],
    /// The total length of their out-lists: low and high half.
    pub edges: [u32; 2],
}
