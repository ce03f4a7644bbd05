//! The next chunk of a stream of numbered edges, made by all cores.

use rayon::prelude::*;
use std::ops::Range;
use topostream_formats::Edge;
use topostream_formats::edge::{CHUNK_EDGES, PART_EDGES};

/// The number of edges of a task: 96 KiB, some tens of microseconds.
const BLOCK_EDGES: usize = 1 << 12;

/// The position in a stream of edges `0..end`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    next: u64,
    end: u64,
}

impl Progress {
    /// Before the first of `edges` edges.
    pub(super) fn new(edges: u64) -> Self {
        Self { next: 0, end: edges }
    }

    /// Fills `chunk` with the next edges, each made by `edge` from its number, and advances.
    pub(super) fn read(&mut self, chunk: &mut Vec<Edge>, edge: impl Fn(u64) -> Edge + Sync) {
        self.read_blocks(chunk, |first, edges| edges.iter_mut().zip(first..).for_each(|(slot, at)| *slot = edge(at)));
    }

    /// As [`Self::read`], with consecutive edges made by `make` from the number of the first.
    pub(super) fn read_blocks(&mut self, chunk: &mut Vec<Edge>, make: impl Fn(u64, &mut [Edge]) + Sync) {
        let count = (self.end - self.next).min(CHUNK_EDGES as u64);
        // Every edge is overwritten below, so existing ones are not cleared first.
        chunk.resize(count as usize, Edge::default());
        fill(self.next, chunk, make);
        self.next += count;
    }

    /// The number of parts of the whole stream.
    pub(super) fn part_count(&self) -> u64 {
        self.end.div_ceil(PART_EDGES as u64)
    }

    /// The numbers of a part's edges.
    pub(super) fn part(&self, number: u64) -> Range<u64> {
        let first = number * PART_EDGES as u64;
        first..(first + PART_EDGES as u64).min(self.end)
    }
}

/// Sets the edges to those with the numbers `first`, `first + 1`, …
fn fill(first: u64, edges: &mut [Edge], make: impl Fn(u64, &mut [Edge]) + Sync) {
    let blocks = edges.par_chunks_mut(BLOCK_EDGES).enumerate();
    blocks.for_each(|(block, edges)| make(first + (block * BLOCK_EDGES) as u64, edges));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(index: u64) -> Edge {
        Edge { source: index, dest: index * index, weight: index }
    }

    #[test]
    fn any_cut_gives_the_same_edges() {
        let all: Vec<Edge> = (0..20_000).map(numbered).collect();
        for cut in [0, 1, 4095, 4096, 4097, 12_345, 19_999, 20_000] {
            let mut edges = vec![Edge::default(); 20_000];
            let (head, tail) = edges.split_at_mut(cut);
            let make = |first: u64, edges: &mut [Edge]| {
                edges.iter_mut().zip(first..).for_each(|(edge, at)| *edge = numbered(at));
            };
            fill(cut as u64, tail, make);
            fill(0, head, make);
            assert_eq!(edges, all, "cut at {cut}");
        }
    }

    #[test]
    fn chunks_end_exactly() {
        for edges in [0, 1, CHUNK_EDGES as u64, CHUNK_EDGES as u64 + 1] {
            let (mut progress, mut chunk) = (Progress::new(edges), vec![numbered(7); 3]);
            let mut index = 0;
            while {
                progress.read(&mut chunk, numbered);
                !chunk.is_empty()
            } {
                assert!(chunk.len() <= CHUNK_EDGES && chunk.iter().zip(index..).all(|(&edge, i)| edge == numbered(i)));
                index += chunk.len() as u64;
            }
            assert_eq!(index, edges);
        }
    }
}
