//! The size of lists as packed pages, without writing pages.

use super::bits::{bits_of, block_words};
use super::block::{Histogram, Shape};
use super::layout::{BLOCK, zigzag};
use crate::encoding::{PackedParameters, UNIT};

/// Counts the bytes that lists take in packed pages: blocks, degrees and their tables, as if all were in one page, and
/// without headers of pages. So lists may be estimated that no page would hold.
#[derive(Clone, Debug)]
pub struct PackedEstimate {
    parameters: PackedParameters,
    histogram: Histogram,
    edges: u64,
    slots: u64,
    /// Bits of the largest degree of the open degree block.
    degree_bits: u32,
    /// Payload words of complete blocks and degree blocks.
    words: u64,
}

impl PackedEstimate {
    /// No lists yet.
    pub fn new(parameters: PackedParameters) -> Self {
        Self { parameters, histogram: [0; 33], edges: 0, slots: 0, degree_bits: 0, words: 0 }
    }

    /// The lists of edges (source, destination) in ascending order. Vertices without edges are left out.
    pub fn of(parameters: PackedParameters, edges: &[(u32, u32)]) -> Self {
        let mut estimate = Self::new(parameters);
        for list in edges.chunk_by(|a, b| a.0 == b.0) {
            estimate.add(list[0].0, list.iter().map(|edge| edge.1));
        }
        estimate
    }

    /// Adds the list of a vertex: neighbours in ascending order.
    pub fn add(&mut self, vertex: u32, neighbours: impl Iterator<Item = u32>) {
        let (mut last, before) = (None, self.edges);
        for neighbour in neighbours {
            let gap = match last.replace(neighbour) {
                Some(last) => neighbour.wrapping_sub(last).wrapping_sub(self.parameters.step.into()),
                None if self.parameters.own => zigzag(neighbour.wrapping_sub(vertex)),
                None => neighbour,
            };
            self.histogram[bits_of(gap) as usize] += 1;
            self.edges += 1;
            if self.edges.is_multiple_of(BLOCK as u64) {
                self.words += Shape::smallest(&self.histogram).words() as u64;
                self.histogram = [0; 33];
            }
        }
        self.degree_bits = self.degree_bits.max(bits_of((self.edges - before).min(u32::MAX.into()) as u32));
        self.slots += 1;
        if self.slots.is_multiple_of(BLOCK as u64) {
            self.words += block_words(self.degree_bits) as u64;
            self.degree_bits = 0;
        }
    }

    /// The number of neighbours so far.
    pub fn edges(&self) -> u64 {
        self.edges
    }

    /// The bytes of all lists so far.
    pub fn bytes(&self) -> u64 {
        let block = BLOCK as u64;
        let open = Shape::smallest(&self.histogram).words() + block_words(self.degree_bits);
        let tables = 2 * (self.edges.div_ceil(block) + self.slots.div_ceil(block)) + self.edges.div_ceil(UNIT as u64);
        4 * (self.words + open as u64 + tables)
    }

    /// Bits per neighbour; 0 without neighbours.
    pub fn bits_per_edge(&self) -> f64 {
        if self.edges == 0 { 0.0 } else { 8.0 * self.bytes() as f64 / self.edges as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PackedPage, PageEncoder};
    use super::*;
    use crate::buffer::AlignedBuffer;
    use crate::encoding::Encoding;
    use crate::header::PageHeader;
    use crate::random::SplitMix64;

    /// The estimate is what a page of the same lists uses.
    #[test]
    fn pages_use_what_was_estimated() {
        const PAGE_BYTES: u32 = 1 << 20;
        for (seed, vertices, degree_max) in [(1, 0, 1), (2, 100, 9), (3, 256, 1), (4, 1000, 300), (5, 4096, 20)] {
            for (step, own) in [(false, false), (true, false), (false, true), (true, true)] {
                let parameters = PackedParameters { edges_max: 1 << 20, step, own };
                let (mut draws, mut estimate) = (SplitMix64(seed), PackedEstimate::new(parameters));
                let mut encoder = PageEncoder::new(PAGE_BYTES, parameters);
                encoder.clear(0);
                for vertex in 0..=vertices {
                    let degree = draws.draw() % degree_max;
                    let mut list: Vec<u32> = (0..degree).map(|_| (draws.draw() % (1 << 24)) as u32).collect();
                    list.sort_unstable();
                    list.dedup();
                    estimate.add(vertex, list.iter().copied());
                    assert!(encoder.open_list(vertex, None) && list.iter().all(|&dest| encoder.push(dest)));
                }
                let header =
                    PageHeader { slot_count: vertices + 1, edge_count: encoder.edge_count(), ..PageHeader::default() };
                let mut bytes = AlignedBuffer::try_new("a page", PAGE_BYTES.into()).unwrap();
                encoder.write(&header, &mut bytes);
                let encoding = Encoding::Packed { edges_max: 1 << 20, step, own };
                let page = PackedPage::open(&bytes, encoding, &(0..1 << 24)).unwrap();
                let used = page.parts().sum_bytes() - page.parts().unused_bytes;
                let headers = 4 * super::super::layout::HEADER_WORDS as u64;
                assert_eq!((estimate.bytes(), estimate.edges()), (used - headers, u64::from(encoder.edge_count())));
            }
        }
    }
}
