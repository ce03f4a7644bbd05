//! Batches: the pages of one buffer that one launch processes.

use crate::device::PageWork;
use crate::device::gpu::compose::layout::{
    BatchHeader, BatchPage, HUB_EDGES, LARGE_CHUNK, WORKGROUP, edges_per_unit, grid,
};
use crate::device::gpu::memory::arena::Slot;
use crate::device::settings::Distribution;
use crate::pages::fetch::{Frame, PageRef};
use std::sync::Arc;
use topostream_formats::directory::DirectoryEntry;

/// Maximum number of workgroups of `hubs`; each processes parts of long lists in a loop.
const HUB_GROUPS: u32 = 1024;

/// A page on its way through the device.
#[derive(Debug)]
pub struct Job {
    /// The page.
    pub page: PageRef,
    /// The frame that it was read into; none once it is in a slot.
    pub frame: Option<Arc<Frame>>,
    /// Its slot in the arena, before or after the copy; none for a page that is read in its frame.
    pub slot: Option<Slot>,
    /// The unit row, if it has to be uploaded.
    pub row: Option<Vec<u32>>,
    /// The work done for it so far.
    pub work: PageWork,
}

/// The buffer that holds a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// A buffer of the arena, by index.
    Arena(u32),
    /// A buffer of the imported page buffer, by index.
    Frames(u32),
}

/// A batch as kernels see it: a header, and an entry for each page. The layout matches `Batch` in shaders/lib.
#[derive(Clone, Debug)]
pub struct BatchTable {
    entries: Vec<BatchPage>,
    units: u32,
    /// Maximum number of parts that the batch's long lists are split into.
    hub_parts_max: u32,
    distribution: Distribution,
    weights: bool,
}

impl BatchTable {
    /// An empty batch.
    pub fn new(distribution: Distribution, weights: bool) -> Self {
        Self { entries: Vec::new(), units: 0, hub_parts_max: 0, distribution, weights }
    }

    /// Adds a page that begins at byte `offset` of the batch's buffer and has its unit row at `row`. `degree` is the
    /// length of the list in a large page, 0 in a small one.
    pub fn add(&mut self, entry: &DirectoryEntry, offset: u64, row: u64, degree: u64) {
        let lanes_log2 = lanes_log2(entry, self.distribution);
        let units = self.units_of(entry);
        self.entries.push(BatchPage {
            word: (offset / 4) as u32,
            first_unit: self.units,
            start_vertex: entry.start_vertex,
            slot_count: entry.slot_count,
            edge_count: entry.edge_count,
            degree: u32::try_from(degree).unwrap_or(u32::MAX),
            row: row as u32,
            lanes_log2,
        });
        self.units += units;
        self.hub_parts_max = self.hub_parts_max.saturating_add(hub_parts_max(entry));
    }

    /// The number of pages.
    pub fn pages(&self) -> u32 {
        self.entries.len() as u32
    }

    /// The page of each unit, by its place in the batch.
    pub fn unit_pages(&self) -> Vec<u32> {
        let ends = self.entries.iter().skip(1).map(|entry| entry.first_unit).chain([self.units]);
        let pages = self.entries.iter().zip(ends).zip(0..);
        pages.flat_map(|((entry, end), page)| (entry.first_unit..end).map(move |_| page)).collect()
    }

    /// Units of a page: one workgroup each.
    fn units_of(&self, entry: &DirectoryEntry) -> u32 {
        match self.distribution {
            Distribution::Segments => entry.edge_count.div_ceil(edges_per_unit(self.weights)),
            _ if entry.run > 0 => entry.edge_count.div_ceil(LARGE_CHUNK),
            _ => entry.slot_count.div_ceil(WORKGROUP),
        }
    }

    /// The workgroups to launch, in two dimensions; 0 for a batch without work.
    pub fn groups(&self) -> (u32, u32) {
        grid(self.units).into()
    }

    /// Workgroups of `hubs`: at most one for each part of a long list, 0 if no list is long.
    pub fn hub_groups(&self) -> u32 {
        self.hub_parts_max.min(HUB_GROUPS)
    }

    /// The number of units.
    pub fn units(&self) -> u32 {
        self.units
    }

    /// The number of bytes that kernels read.
    pub fn bytes_len(&self) -> u64 {
        (size_of::<BatchHeader>() + size_of_val(&*self.entries)) as u64
    }

    /// The bytes that kernels read; `queue` is the number of the queue of these pages, and `first_page` the number of
    /// pages in tables before this one.
    pub fn bytes(&self, queue: u32, first_page: u32) -> Vec<u8> {
        let (page_count, unit_count) = (self.entries.len() as u32, self.units);
        let header = BatchHeader { page_count, unit_count, queue, first_page };
        [bytemuck::bytes_of(&header), bytemuck::cast_slice(&self.entries)].concat()
    }
}

/// Maximum number of parts of long lists in a page: a list of n > [`HUB_EDGES`] edges has fewer than 2n / [`HUB_EDGES`]
/// parts. 0 for large pages, which are split into chunks.
fn hub_parts_max(entry: &DirectoryEntry) -> u32 {
    if entry.run > 0 || entry.edge_count <= HUB_EDGES { 0 } else { entry.edge_count / (HUB_EDGES / 2) }
}

/// Base-2 logarithm of the number of lanes that share a list.
fn lanes_log2(entry: &DirectoryEntry, distribution: Distribution) -> u32 {
    match distribution {
        Distribution::Vertex | Distribution::Segments => 0,
        Distribution::Warp(lanes) => lanes.ilog2(),
        // The average number of edges of a list.
        Distribution::Auto | Distribution::Hybrid => (entry.edge_count / entry.slot_count.max(1)).clamp(1, 32).ilog2(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_edge_or_slot_has_a_workgroup() {
        let small = DirectoryEntry { slot_count: 1000, edge_count: 16_000, ..DirectoryEntry::default() };
        let large = DirectoryEntry { slot_count: 1, edge_count: 16_000, run: 2, ..DirectoryEntry::default() };
        let units = |entry: &DirectoryEntry, distribution| {
            let mut table = BatchTable::new(distribution, false);
            table.add(entry, 0, 0, 0);
            table.units
        };
        assert_eq!(units(&small, Distribution::Vertex), 4);
        assert_eq!(units(&small, Distribution::Warp(32)), 4);
        assert_eq!(units(&small, Distribution::Hybrid), 4);
        assert_eq!(units(&large, Distribution::Vertex), 16_000u32.div_ceil(LARGE_CHUNK));
        for entry in [&small, &large] {
            assert_eq!(units(entry, Distribution::Segments), 16_000u32.div_ceil(edges_per_unit(false)));
        }
    }

    #[test]
    fn every_part_of_a_long_list_may_have_a_workgroup() {
        let groups = |edge_count, run| {
            let mut table = BatchTable::new(Distribution::Hybrid, false);
            table.add(&DirectoryEntry { slot_count: 9, edge_count, run, ..DirectoryEntry::default() }, 0, 0, 0);
            table.hub_groups()
        };
        assert_eq!((groups(HUB_EDGES, 0), groups(100 * HUB_EDGES, 1)), (0, 0));
        for (lists, length) in [(1, HUB_EDGES + 1), (9, HUB_EDGES + 1), (1, 2 * HUB_EDGES + 1), (3, 5 * HUB_EDGES)] {
            let parts = lists * length.div_ceil(HUB_EDGES);
            assert!((parts..=2 * parts).contains(&groups(lists * length, 0)), "{lists} lists of {length} edges");
        }
        assert_eq!(groups(u32::MAX, 0), HUB_GROUPS);
    }
}
