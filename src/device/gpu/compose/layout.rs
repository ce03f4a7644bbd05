//! What Rust and WGSL share: structs (shaders/lib/layout.wgsl; a test holds their offsets against each other) and
//! numbers, which WGSL is given as constants.

use crate::device::exchange::message::{HEADER_WORDS, MessageLayout, blocks_of};
use bytemuck::{Pod, Zeroable};
use std::ops::Range;

/// Threads of a workgroup.
pub const WORKGROUP: u32 = 256;
/// The maximum number of workgroups in a row of a grid; further ones are in further rows.
pub const GRID_ROW_MAX: u32 = 32_768;
/// Lists of more edges than this go to the hub queue, in entries of at most this many edges.
pub const HUB_EDGES: u32 = 2048;
/// The bins of lists by their length: for a thread, for 8, for 32, and parts of long lists for a workgroup.
pub const BINS: usize = 4;
/// The longest lists of the first bin.
pub const BIN_ALONE: u32 = 7;
/// And of the second one.
pub const BIN_FEW: u32 = 63;
/// Edges of a large page that the `lists` kernel gives to a workgroup.
pub const LARGE_CHUNK: u32 = 4096;
/// The `segments` kernel keeps the slots of a unit in workgroup memory if there are at most this many.
pub const SLOTS_CACHED: u32 = 2048;

/// Consecutive edges that a thread of the `segments` kernel takes.
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

/// The beginning of a buffer of lists by their length; [`HubEntry`]s follow.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct BinsHeader {
    /// Entries of each bin.
    pub counts: [u32; BINS],
    /// Where each begins.
    pub begins: [u32; BINS],
    /// For `bin`: whether entries are written, or only counted.
    pub fills: u32,
    /// Zero.
    pub spare_0: u32,
    /// Zero.
    pub spare_1: u32,
    /// Zero.
    pub spare_2: u32,
}

/// A superstep: a uniform.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct Step {
    /// The last vertex: there may be 2^32 of them.
    pub vertices_last: u32,
    /// Counted from 0.
    pub superstep: u32,
    /// Pages of the topology that `next-pages` looks at.
    pub page_count: u32,
    /// The device's first own vertex: the vertex phase and the census are theirs.
    pub own_first: u32,
    /// The last own one; before the first where a device has none.
    pub own_last: u32,
    /// Zero.
    pub spare_0: u32,
    /// Zero.
    pub spare_1: u32,
    /// Zero.
    pub spare_2: u32,
    /// What the algorithm keeps in a step.
    pub scalars: [f32; 4],
    /// And its integers.
    pub integers: [u32; 4],
}

/// Begins a batch; one [`BatchPage`] a page follows.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct BatchHeader {
    /// Pages.
    pub page_count: u32,
    /// Units of all pages: workgroups.
    pub unit_count: u32,
    /// Which queue of a [`Course`] has the lists of these pages.
    pub queue: u32,
    /// Zero.
    pub spare: u32,
}

/// A page of a batch.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct BatchPage {
    /// Where the page begins in the bound buffer of pages, in words of 4 bytes: a multiple of 32.
    pub word: u32,
    /// Units of the pages before it.
    pub first_unit: u32,
    /// Its first vertex.
    pub start_vertex: u32,
    /// Vertices with a slot here.
    pub slot_count: u32,
    /// Neighbours that stand here.
    pub edge_count: u32,
    /// In a large page, the length of the whole list, or 2^32 - 1 if that is less; 0 in a small page.
    pub degree: u32,
    /// For `segments`: where its units' slots begin in the buffer of rows.
    pub row: u32,
    /// For `lists`: 2^this many threads take a list of a small page; at most 5.
    pub lanes_log2: u32,
}

/// Begins the hub queue; its entries follow.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct HubHeader {
    /// Entries that were asked for; zero before each batch.
    pub wanted: u32,
    /// Entries that there is room for. What finds no room is done in place.
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
    /// The page's place in the batch.
    pub page: u32,
    /// The first edge, by its number in the page.
    pub first_edge: u32,
    /// Edges; 0 in an entry that was not used.
    pub edge_count: u32,
    /// The vertex whose list it is.
    pub vertex: u32,
    /// The length of the whole list; where lists are grouped for shards, of the part for one shard.
    pub length: u32,
}

/// What page kernels count.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct Counters {
    /// The most hub entries that any batch asked for.
    pub hub_wanted: u32,
    /// Whether a driver has ended a loop early: looked for where loops are limited.
    pub loops_cut: u32,
    /// Neighbours in opened lists, added up in several places, so that workgroups do not wait for one another.
    pub edges: [EdgeCount; EDGE_COUNTS],
}

/// The number of places where neighbours are counted: a power of two.
pub const EDGE_COUNTS: usize = 64;
/// The bits of a workgroup's neighbours that go to [`EdgeCount::low`].
pub const EDGE_COUNT_BITS: u32 = 12;

/// A sum of the neighbours in opened lists, in two parts that need no carry: a workgroup adds the low bits of its
/// number to one and the others to the other.
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

/// A page as the `next-pages` kernel sees it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct DirectoryPage {
    /// Its first vertex.
    pub start_vertex: u32,
    /// Vertices with a slot in it.
    pub slot_count: u32,
}

/// What the `fill` kernel writes: a uniform.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Fill {
    /// The first word's value.
    pub value: u32,
    /// Words.
    pub words: u32,
    /// By how much a word's value is above that of the one before it.
    pub increment: u32,
    /// Zero.
    pub spare: u32,
}

/// What the `merge` kernel does: a uniform.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Merge {
    /// One of [`MERGE_ADD`] and those below it.
    pub operation: u32,
    /// One of [`WORDS_U32`] and those below it.
    pub kind: u32,
    /// Words of 4 bytes: two for each number of 64 bits.
    pub words: u32,
    /// The first of them in the bound buffer that is written.
    pub to: u32,
    /// The first of them in the bound exchange memory: a multiple of 4.
    pub begin: u32,
    /// For bits: which of the first word.
    pub first_mask: u32,
    /// For bits: which of the last word. Where that is the first one too, those that both masks have.
    pub last_mask: u32,
    /// Zero.
    pub spare: u32,
}

/// What `pack` and `unpack` do: a uniform.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Pack {
    /// The first vertex, by its place in the list of those with out-edges.
    pub first: u32,
    /// How many vertices.
    pub count: u32,
    /// The word of the first one in the bound exchange memory.
    pub begin: u32,
    /// The vertex whose value is the first word of the bound attribute.
    pub base: u32,
}

/// Workgroups of `pack` and `unpack` for this many vertices.
pub const fn pack_groups(vertices: u32) -> u32 {
    let groups = vertices.div_ceil(WORKGROUP);
    if groups < 4096 { groups } else { 4096 }
}

/// A [`Merge`]'s operation: their sum.
pub const MERGE_ADD: u32 = 0;
/// The smaller.
pub const MERGE_MIN: u32 = 1;
/// The larger.
pub const MERGE_MAX: u32 = 2;
/// Either bit.
pub const MERGE_OR: u32 = 3;
/// What is received.
pub const MERGE_REPLACE: u32 = 4;
/// Zero, whatever is received.
pub const MERGE_CLEAR: u32 = 5;

/// A [`Merge`]'s kind of words: unsigned numbers.
pub const WORDS_U32: u32 = 0;
/// Floats.
pub const WORDS_F32: u32 = 1;
/// Numbers of 64 bits, of two words each, the low one first.
pub const WORDS_WIDE: u32 = 2;
/// A bit for each of 32 vertices.
pub const WORDS_BIT: u32 = 3;

/// The vertices and place of a message: a uniform.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct MessageParams {
    /// The first vertex that it is about: a multiple of
    /// [`BLOCK_VERTICES`](crate::device::exchange::message::BLOCK_VERTICES).
    pub first: u32,
    /// The last one.
    pub last: u32,
    /// Its first word in the bound exchange memory.
    pub begin: u32,
    /// The maximum number of vertices of a sparse one: [`sparse_max`].
    pub sparse_max: u32,
}

/// The maximum number of vertices of a sparse message about these; beyond it a dense one takes fewer words.
pub fn sparse_max(layout: &MessageLayout, vertices: &Range<u64>) -> u32 {
    let dense = layout.dense(vertices, 0).words - HEADER_WORDS;
    let each = 1 + u64::from(!layout.bits.is_empty());
    (dense / each) as u32
}

/// Words of [`Resource::Collected`](super::Resource::Collected) for messages about these vertices.
pub fn collected_words(layout: &MessageLayout, vertices: &Range<u64>) -> u64 {
    let listed = (1 + u64::from(!layout.bits.is_empty())) * u64::from(sparse_max(layout, vertices));
    let values = layout.values.len() as u64 * (vertices.end - vertices.start);
    HEADER_WORDS + blocks_of(vertices) + listed + values
}

/// Workgroups of `ship` and `apply`, and at most of `collect`: whatever is in a message.
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
/// Lists of at most this many edges are expanded by 32 threads each, from the second region. Longer ones are cut into
/// parts of [`HUB_EDGES`] edges, one for each workgroup, in the third region.
pub const MIDDLE_EDGES: u32 = 1024;
/// Lists of in-neighbours are searched for this many edges by one thread before others help.
pub const ALONE_EDGES: u32 = 16;
/// Threads that share a page where visited lists are looked for: 32 in pages of 64 KiB, more in larger ones.
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

/// The most queues of a [`Course`]: one for each buffer that pages of out-lists are in.
pub const QUEUES_MAX: usize = 16;

/// Entries of a queue: what `compact` has found.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Queued {
    /// Short lists.
    pub short: u32,
    /// Longer ones.
    pub middle: u32,
    /// Parts of the longest ones.
    pub long: u32,
    /// Pages with a list that is visited.
    pub pages: u32,
    /// Units with lists to sweep.
    pub units: u32,
}

/// The state of a device that runs supersteps by itself. One [`Logged`] for each superstep of a submission follows.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Course {
    /// 1 once there is no next superstep.
    pub done: u32,
    /// Supersteps in the log.
    pub logged: u32,
    /// What the superstep under way visits, by its place among the visits that the algorithm declares.
    pub visit: u32,
    /// 1 if the visited lists are queued, 0 if pages are walked through.
    pub queued: u32,
    /// The most vertices that a superstep may queue: entries of the first and of the second region of a queue.
    pub queue_vertices_max: u32,
    /// The most edges of queued lists.
    pub queue_edges_max: u32,
    /// Entries of a [`Dispatch`] table.
    pub dispatches: u32,
    /// Workgroups of the vertex phase or the census, which leave that many partial sums.
    pub totals: u32,
    /// Visits that the algorithm declares.
    pub visits: u32,
    /// A bit for each of them: whether all of its pages are in device memory.
    pub complete: u32,
    /// 1 once a superstep needs a page that is not in device memory: the host runs that one.
    pub missing: u32,
    /// The vertices of the set that is visited, at most; `u32::MAX` where that is not known.
    pub vertices: u32,
    /// What the census has counted: vertices and edges, low and high halves.
    pub found: [u32; 4],
    /// What the queues have.
    pub queues: [Queued; QUEUES_MAX],
}

/// A superstep that the device has run by itself.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct Logged {
    /// What it visited, by its place among the visits that the algorithm declares.
    pub visit: u32,
    /// 1 if its lists were queued.
    pub queued: u32,
    /// Pages with a visited list, if they were queued.
    pub pages: u32,
    /// Whether the driver has ended a loop early.
    pub loops_cut: u32,
    /// Vertices that it has activated: low and high half.
    pub activated: [u32; 2],
    /// The lengths of their out-lists, added up: low and high half.
    pub activated_edges: [u32; 2],
    /// Neighbours in the lists that it opened: low and high half.
    pub edges: [u32; 2],
    /// Zero.
    pub spare: [u32; 2],
    /// The sums of its vertex phase.
    pub sums: [f32; 4],
    /// What rounding has taken from them.
    pub rounded: [f32; 4],
}

/// A dispatch of every superstep that a device runs by itself: whether it happens is decided on the device.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Dispatch {
    /// The visit that it belongs to, or [`EVERY_VISIT`].
    pub visit: u32,
    /// 0 if it walks through pages, 1 if it is for queued lists, 2 if it is for both, 3 if it is for queued lists and
    /// its workgroups are as many as they need.
    pub when: u32,
    /// Workgroups of it, at most.
    pub x: u32,
    /// Likewise.
    pub y: u32,
}

/// The visit of a [`Dispatch`] that belongs to all of them.
pub const EVERY_VISIT: u32 = u32::MAX;
/// A [`Dispatch`] that walks through pages.
pub const WHEN_WALKED: u32 = 0;
/// A [`Dispatch`] for queued lists.
pub const WHEN_QUEUED: u32 = 1;
/// A [`Dispatch`] for both.
pub const WHEN_EITHER: u32 = 2;
/// A [`Dispatch`] for queued lists, with as many workgroups as they need.
pub const WHEN_QUEUED_SCALED: u32 = 3;

impl Dispatch {
    /// The workgroups of it in a superstep that visits `visit` and queues its lists or not: of `vertices` vertices with
    /// `edges` edges. The same as in shaders/kernels/decide.wgsl.
    pub fn groups(&self, visit: u32, queued: bool, vertices: u64, edges: u64) -> [u32; 3] {
        let fits = match self.when {
            WHEN_WALKED => !queued,
            WHEN_EITHER => true,
            _ => queued,
        };
        if !fits || (self.visit != visit && self.visit != EVERY_VISIT) {
            return [0; 3];
        }
        if self.when == WHEN_QUEUED_SCALED {
            let wanted = u32::try_from(1 + vertices / 8 + edges / 256).unwrap_or(u32::MAX);
            return [wanted.min(self.x), 1, 1];
        }
        [self.x, self.y, 1]
    }
}

/// The result of a workgroup of `census`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct CensusTotal {
    /// Vertices in the set: low and high half.
    pub vertices: [u32; 2],
    /// The lengths of their out-lists, added up: low and high half.
    pub edges: [u32; 2],
}
