//! The address of every vertex's record, from which record ids are made.

use crate::directory::DirectoryEntry;

/// Maps vertices to the page and slot of their records, for writing record ids.
#[derive(Clone, Debug)]
pub struct Targets {
    /// First vertex and number of every page that begins a list or has small records, ascending.
    firsts: Vec<(u32, u32)>,
    /// For every block of `1 << shift` vertices, the index in `firsts` of the page with the block's first vertex.
    blocks: Vec<u32>,
    shift: u32,
}

impl Targets {
    /// Targets for the entries of a page directory; of the first shard, if lists are grouped.
    pub fn new(entries: &[DirectoryEntry], vertices: u64) -> Self {
        let mut firsts: Vec<(u32, u32)> = Vec::with_capacity(entries.len());
        for (page, entry) in entries.iter().enumerate() {
            if firsts.last().is_none_or(|last| last.0 != entry.start_vertex) {
                firsts.push((entry.start_vertex, page as u32));
            }
        }
        let mut shift = 0;
        while vertices >> shift > 4 * firsts.len() as u64 {
            shift += 1;
        }
        let block = |number: u64| firsts.partition_point(|first| u64::from(first.0) <= number << shift) as u32 - 1;
        let blocks = if vertices == 0 { Vec::new() } else { (0..=(vertices - 1) >> shift).map(block).collect() };
        Self { firsts, blocks, shift }
    }

    /// The page and the slot of a vertex. The vertex must exist.
    #[inline]
    pub fn record(&self, vertex: u32) -> (u32, u32) {
        let mut at = self.blocks[(vertex >> self.shift) as usize] as usize;
        while self.firsts.get(at + 1).is_some_and(|next| next.0 <= vertex) {
            at += 1;
        }
        let (start, page) = self.firsts[at];
        (page, vertex - start)
    }

    /// Main memory in use, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        (self.firsts.len() * 8 + self.blocks.len() * 4) as u64
    }
}
