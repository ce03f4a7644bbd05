//! Renumbering vertices by degree.

use rayon::prelude::*;
use topostream_formats::VertexOrder;

/// Collects what an order needs to know about every vertex.
pub struct Degrees {
    counts: Vec<u32>,
    order: VertexOrder,
}

/// Maximum main memory of renumbering, in bytes: the keys (8 per vertex) and the two numberings (4 each), and the
/// original ids if they are listed individually.
pub fn memory_bytes(vertices: u64, listed: bool) -> u64 {
    if listed { 24 * vertices } else { 16 * vertices }
}

impl Degrees {
    pub fn new(vertices: u64, order: VertexOrder) -> Self {
        Self { counts: vec![0; vertices as usize], order }
    }

    /// Counts an edge. Counts saturate at 2^32 - 1.
    #[inline]
    pub fn count(&mut self, source: u32, dest: u32) {
        let mut add = |vertex: u32| {
            let count = &mut self.counts[vertex as usize];
            *count = count.saturating_add(1);
        };
        add(source);
        if self.order == VertexOrder::Degree {
            add(dest);
        }
    }

    /// Returns the order (`order[new] = old`) and its inverse (`numbers[old] = new`).
    pub fn finish(self) -> (Vec<u32>, Vec<u32>) {
        let class = |count: u32| match self.order {
            VertexOrder::Degree => u32::MAX - count,
            VertexOrder::OutFirst => u32::from(count == 0),
            VertexOrder::Natural => 0,
        };
        let mut keys: Vec<u64> = self
            .counts
            .into_par_iter()
            .enumerate()
            .map(|(v, count)| u64::from(class(count)) << 32 | v as u64)
            .collect();
        keys.par_sort_unstable();
        let order: Vec<u32> = keys.iter().map(|&key| key as u32).collect();
        drop(keys);
        let mut numbers = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            numbers[old as usize] = new as u32;
        }
        (order, numbers)
    }
}
