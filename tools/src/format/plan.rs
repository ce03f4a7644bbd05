//! How edges are sorted by distribution in a given memory: ranges, threads, blocks; and whether they are spilt.

use super::blocks::RecordLayout;
use super::distribute::{Lists, WINDOW_EXTRA, block_count};
use super::ranges::Ranges;
use topostream_formats::edge::PART_EDGES;

/// The smallest and the largest block of edges in memory.
const BLOCK_BYTES_MIN: u64 = 2 << 10;
const BLOCK_BYTES_MAX: u64 = 64 << 10;
/// Threads fill at most about one part in this many of the memory in part.
const OPEN_PART: u64 = 16;
/// The number of buckets that a thread fills in part, for the size of blocks.
const OPEN_BUCKETS: u64 = 1 << 10;
/// Lists of pages that are not written yet take at most one part in this many of the memory. Otherwise pages copy them.
const SHARED_PART: u64 = 4;
/// One core in this many packs and writes.
const CORES_PER_PACKER: usize = 8;
/// Edges of a part as they are made, mirrored and read, for each one that the source has.
const MADE_EDGES: usize = 3;
/// Nanoseconds in which a thread makes an edge while all others do, and the disk's bytes a nanosecond, for choosing
/// between making edges again and spilling them: with two threads, spilling is faster from the second range on; with
/// 16, from the sixth.
const MAKE_NS: f64 = 30.0;
const WRITE_BYTES_NS: f64 = 1.0;
const READ_BYTES_NS: f64 = 3.0;

/// The edges to be sorted.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    pub vertices: u64,
    pub weighted: bool,
    /// Edges by step of their sources.
    pub steps: &'a [u64],
    /// Bytes of a record while it is sorted.
    pub record_bytes: usize,
}

/// How edges are sorted.
#[derive(Debug)]
pub struct Plan {
    pub ranges: Ranges,
    pub threads: usize,
    pub block_bytes: usize,
    /// The memory of all blocks, in bytes.
    pub memory_bytes: u64,
    /// Whether pages refer to sorted lists until they are written, instead of copying them.
    pub shares: bool,
}

impl Plan {
    /// Plans for `left_bytes` of memory, with fewer threads if they would need most of it; none if it is too little for
    /// the largest buckets. Lists of pages that are not written yet may take `shared_bytes`, if pages can refer to
    /// them at all.
    pub fn new(shape: Shape<'_>, left_bytes: u64, shared_bytes: Option<u64>) -> Option<Self> {
        let shared_bytes = shared_bytes.filter(|&bytes| bytes <= left_bytes / SHARED_PART);
        let left_bytes = left_bytes - shared_bytes.unwrap_or(0);
        // The packer and the writers of pages need cores, too.
        let mut threads = rayon::current_num_threads();
        threads -= threads / CORES_PER_PACKER;
        loop {
            if let Some(plan) = Self::with_threads(shape, left_bytes, threads) {
                return Some(Self { shares: shared_bytes.is_some(), ..plan });
            }
            threads = Some(threads / 2).filter(|&threads| threads > 0)?;
        }
    }

    fn with_threads(shape: Shape<'_>, left_bytes: u64, threads: usize) -> Option<Self> {
        let made_bytes = (threads * PART_EDGES * MADE_EDGES * (size_of::<(u32, u32)>() + size_of::<u32>())) as u64;
        let open = left_bytes / (OPEN_PART * OPEN_BUCKETS * threads as u64);
        let block_bytes = (open.next_power_of_two() / 2).clamp(BLOCK_BYTES_MIN, BLOCK_BYTES_MAX) as usize;
        let weight_bytes = if shape.weighted { 4 } else { 0 };
        let mut sort_bytes = 0;
        // The bytes of an edge depend on the ranges, and so does the memory for sorting: each is tried twice.
        for key_bytes in (3..=8).flat_map(|bytes| [bytes; 2]) {
            let blocks = left_bytes.checked_sub(made_bytes + sort_bytes)? / block_bytes as u64;
            let capacity = ((block_bytes - 8) / (key_bytes + weight_bytes)) as u64;
            let records_max =
                |buckets: usize| blocks.saturating_sub(block_count(0, buckets.max(1), 1, threads)) * capacity;
            if records_max(1) == 0 {
                return None;
            }
            let ranges = Ranges::new(shape.vertices, shape.steps, records_max);
            let needed = sorting_bytes(&ranges, shape.record_bytes, threads);
            let plan = Self { ranges, threads, block_bytes, memory_bytes: 0, shares: false };
            let most = (0..plan.ranges.ranges.len()).map(|range| plan.blocks(shape, range, plan.ranges.records(range)));
            let memory_bytes = most.max().unwrap_or(0) * block_bytes as u64;
            if memory_bytes + needed + made_bytes <= left_bytes {
                return Some(Self { memory_bytes, ..plan });
            }
            sort_bytes = sort_bytes.max(needed);
        }
        None
    }

    /// The blocks of a range if it has this many edges.
    pub fn blocks(&self, shape: Shape<'_>, range: usize, records: u64) -> u64 {
        let layout = self.ranges.bucket_layout(range, shape.vertices, shape.weighted);
        let capacity = layout.capacity(self.block_bytes) as u64;
        block_count(records, self.ranges.ranges[range].len(), capacity, self.threads)
    }

    /// Whether spilling the edges is predicted to take less time than making them again for each range, on a disk with
    /// so much free space.
    pub fn spills(&self, shape: Shape<'_>, records: u64, free_bytes: u64) -> bool {
        let ranges = self.ranges.ranges.len();
        let layout = |range| self.ranges.range_layout(range, shape.vertices, shape.weighted);
        let bytes = (0..ranges).map(layout).map(RecordLayout::record_bytes).max().unwrap_or(0) as f64 * records as f64;
        let making = ranges.saturating_sub(1) as f64 * records as f64 * MAKE_NS / self.threads as f64;
        // The store itself takes less.
        ranges > 1 && 2.0 * bytes < free_bytes as f64 && bytes / WRITE_BYTES_NS + bytes / READ_BYTES_NS < making
    }
}

/// Memory of buckets while they are sorted, and of lists until they are packed, in bytes: one of them in part.
fn sorting_bytes(ranges: &Ranges, record_bytes: usize, threads: usize) -> u64 {
    2 * record_bytes as u64 * ranges.largest(threads) + Lists::RECORD_BYTES * ranges.largest(threads + WINDOW_EXTRA + 1)
}
