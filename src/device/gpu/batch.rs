//! Batches: pages in one buffer that one launch works through.

use super::arena::Slot;
use super::compose::{EDGES_PER_UNIT, LARGE_CHUNK_EDGES};
use crate::device::Work;
use crate::device::settings::Distribution;
use crate::fetch::{Frame, PageRef};
use bytemuck::{Pod, Zeroable};
use topostream_formats::directory::DirectoryEntry;

/// The lanes of a workgroup.
pub const WORKGROUP: u32 = 256;
/// The most workgroups of a launch in its first dimension; more make further rows.
const GROUPS_X: u32 = 32768;

/// A page on its way through the device.
#[derive(Debug)]
pub struct Job {
    /// The page.
    pub page: PageRef,
    /// The frame that it came in; none once it is in a slot.
    pub frame: Option<Frame>,
    /// Where it lies in the arena, or will; none for a page that is read in its frame.
    pub slot: Option<Slot>,
    /// The unit row, where it has to be uploaded.
    pub row: Option<Vec<u32>>,
    /// What was done for it so far.
    pub work: Work,
}

/// Which buffer a page lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// One of the arena's.
    Arena(u32),
    /// One of the imported page buffer's.
    Frames(u32),
}

/// A batch as kernels see it: a header, and an entry for each page. The layout is that of `Batch` in shaders/lib.
#[derive(Debug, Default)]
pub struct BatchTable {
    entries: Vec<BatchPage>,
    units: u32,
}

/// One page of a batch, 32 bytes.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct BatchPage {
    word: u32,
    first_unit: u32,
    start_vertex: u32,
    slot_count: u32,
    edge_count: u32,
    degree: u32,
    row: u32,
    lanes_log2: u32,
}

impl BatchTable {
    /// Adds a page that begins at byte `offset` of the batch's buffer and has its unit row at `row`. `degree` is the length
    /// of the list in a large page, 0 in a small one.
    pub fn add(&mut self, entry: &DirectoryEntry, distribution: Distribution, offset: u64, row: u64, degree: u64) {
        let lanes_log2 = lanes_log2(entry, distribution);
        let units = units(entry, distribution, lanes_log2);
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
    }

    /// The workgroups to launch, in two dimensions; none for a batch without work.
    pub fn groups(&self) -> (u32, u32) {
        let x = self.units.min(GROUPS_X);
        (x, if x == 0 { 0 } else { self.units.div_ceil(x) })
    }

    /// The bytes that kernels read.
    pub fn bytes(&self) -> Vec<u8> {
        let header = [self.entries.len() as u32, self.units, 0, 0];
        [bytemuck::bytes_of(&header), bytemuck::cast_slice(&self.entries)].concat()
    }
}

/// The lanes that share a list, as a power of two.
fn lanes_log2(entry: &DirectoryEntry, distribution: Distribution) -> u32 {
    match distribution {
        Distribution::Vertex | Distribution::Segments => 0,
        Distribution::Warp(lanes) => lanes.ilog2(),
        // As many as a list has edges on average.
        Distribution::Auto | Distribution::Hybrid => (entry.edge_count / entry.slot_count.max(1)).clamp(1, 32).ilog2(),
    }
}

/// How many workgroups a page takes.
fn units(entry: &DirectoryEntry, distribution: Distribution, lanes_log2: u32) -> u32 {
    match distribution {
        Distribution::Segments => entry.edge_count.div_ceil(EDGES_PER_UNIT),
        _ if entry.run > 0 => entry.edge_count.div_ceil(LARGE_CHUNK_EDGES),
        _ => entry.slot_count.div_ceil(WORKGROUP >> lanes_log2),
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
            let mut table = BatchTable::default();
            table.add(entry, distribution, 0, 0, 0);
            table.units
        };
        assert_eq!(units(&small, Distribution::Vertex), 4);
        assert_eq!(units(&small, Distribution::Warp(32)), 125);
        assert_eq!(units(&small, Distribution::Hybrid), 63);
        assert_eq!(units(&large, Distribution::Vertex), 16_000u32.div_ceil(LARGE_CHUNK_EDGES));
        for entry in [&small, &large] {
            assert_eq!(units(entry, Distribution::Segments), 16_000u32.div_ceil(EDGES_PER_UNIT));
        }
    }

    #[test]
    fn many_workgroups_make_rows() {
        let groups = |units| BatchTable { entries: Vec::new(), units }.groups();
        assert_eq!(groups(0), (0, 0));
        assert_eq!(groups(7), (7, 1));
        assert_eq!(groups(GROUPS_X), (GROUPS_X, 1));
        let (x, y) = groups(3 * GROUPS_X + 1);
        assert_eq!((x, y), (GROUPS_X, 4));
    }
}
