//! The superstep in which each vertex was first active: recorded in main memory at the end of every superstep, so that
//! a traversal whose result it is (the levels of a breadth-first search) needs no attribute for it on any device.

use rayon::prelude::*;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering::Relaxed};
use topostream_formats::huge::zeroed;

/// The superstep in which each vertex of a range was first active. Two bytes a vertex, and two more once a superstep's
/// number needs them.
#[derive(Debug)]
pub struct Activations {
    vertices: Range<u64>,
    /// The lower half of the superstep's number, plus one; 0 for vertices that have not been active.
    low: Vec<AtomicU16>,
    /// The upper half.
    high: OnceLock<Vec<AtomicU16>>,
}

/// The number of vertices that one thread copies at a time.
const PIECE: u64 = 1 << 16;

impl Activations {
    /// Creates the record of a range of vertices, none of which has been active.
    pub fn new(vertices: &Range<u64>) -> Self {
        let low = zeroed(vertices.end - vertices.start);
        Self { vertices: vertices.clone(), low, high: OnceLock::new() }
    }

    /// Maximum main memory for this number of vertices, in bytes.
    pub fn memory_bytes(vertices: u64) -> u64 {
        // A search has at most as many supersteps as vertices.
        if vertices <= u16::MAX.into() { 2 * vertices } else { 4 * vertices }
    }

    /// Records that a vertex is active in a superstep, unless it has been active before.
    pub fn note(&self, vertex: u32, superstep: u32) {
        if self.superstep(vertex).is_none() {
            self.set(vertex, superstep + 1);
        }
    }

    /// Records, of 32 vertices, that the ones whose bits are set are active in a superstep, unless they have been
    /// active before; `first` is the first of the 32. Vertices outside of the range are skipped.
    #[cfg(feature = "gpu")]
    pub fn note_word(&self, first: u32, bits: u32, superstep: u32) {
        let mut left = bits;
        while left != 0 {
            let vertex = first + left.trailing_zeros();
            left &= left - 1;
            if self.vertices.contains(&u64::from(vertex)) {
                self.note(vertex, superstep);
            }
        }
    }

    /// The superstep in which a vertex was first active.
    pub fn superstep(&self, vertex: u32) -> Option<u32> {
        self.get(vertex).checked_sub(1)
    }

    /// Adds a device's record: for each vertex from `first` on, the superstep in which it was first active, plus one,
    /// or 0. The earlier superstep is kept. Vertices outside of the range are skipped.
    #[cfg(feature = "gpu")]
    pub fn merge(&self, first: u64, supersteps: &[u16]) {
        supersteps.par_chunks(PIECE as usize).enumerate().for_each(|(piece, supersteps)| {
            for (vertex, &superstep) in (first + piece as u64 * PIECE..).zip(supersteps) {
                if superstep != 0 && self.vertices.contains(&vertex) {
                    let before = self.get(vertex as u32);
                    if before == 0 || u32::from(superstep) < before {
                        self.set(vertex as u32, superstep.into());
                    }
                }
            }
        });
    }

    /// Copies the values of the vertices that both records contain.
    pub fn copy_to(&self, other: &Self) {
        let (start, end) = (self.vertices.start.max(other.vertices.start), self.vertices.end.min(other.vertices.end));
        (0..end.saturating_sub(start).div_ceil(PIECE)).into_par_iter().for_each(|piece| {
            let first = start + piece * PIECE;
            (first..end.min(first + PIECE)).for_each(|vertex| other.set(vertex as u32, self.get(vertex as u32)));
        });
    }

    /// Writes the record of some vertices, a word for each: the superstep's number plus one, or 0.
    pub fn put(&self, vertices: &Range<u64>, to: &[AtomicU32]) {
        let numbered = to.par_iter().enumerate().with_min_len(PIECE as usize);
        numbered.for_each(|(at, word)| word.store(self.get((vertices.start + at as u64) as u32), Relaxed));
    }

    /// Replaces the record of some vertices by what another one has put.
    pub fn take(&self, vertices: &Range<u64>, from: &[AtomicU32]) {
        let numbered = from.par_iter().enumerate().with_min_len(PIECE as usize);
        numbered.for_each(|(at, word)| self.set((vertices.start + at as u64) as u32, word.load(Relaxed)));
    }

    fn place(&self, vertex: u32) -> usize {
        (u64::from(vertex) - self.vertices.start) as usize
    }

    fn get(&self, vertex: u32) -> u32 {
        let at = self.place(vertex);
        let high = self.high.get().map_or(0, |high| high[at].load(Relaxed));
        u32::from(high) << 16 | u32::from(self.low[at].load(Relaxed))
    }

    fn set(&self, vertex: u32, number: u32) {
        let at = self.place(vertex);
        self.low[at].store(number as u16, Relaxed);
        if number <= u16::MAX.into() {
            if let Some(high) = self.high.get() {
                high[at].store(0, Relaxed);
            }
        } else {
            let high = self.high.get_or_init(|| zeroed(self.low.len() as u64));
            high[at].store((number >> 16) as u16, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn the_first_superstep_is_kept_for_any_number(
            notes in prop::collection::vec(
                (0u32..300, prop_oneof![0u32..5, 65_530u32..65_540, 1u32 << 17..1 << 31]),
                0..200,
            ),
        ) {
            let held = Activations::new(&(100..400));
            let mut expected = BTreeMap::new();
            for (vertex, superstep) in notes {
                held.note(100 + vertex, superstep);
                expected.entry(100 + vertex).or_insert(superstep);
            }
            #[cfg(feature = "gpu")]
            {
                let device: Vec<u16> = (50u32..450).map(|vertex| (vertex % 7 * 10_000) as u16).collect();
                held.merge(50, &device);
                for vertex in (100..400u32).filter(|vertex| vertex % 7 != 0) {
                    let earlier = expected.entry(vertex).or_insert(u32::MAX);
                    *earlier = (*earlier).min(vertex % 7 * 10_000 - 1);
                }
            }
            let all = Activations::new(&(0..500));
            held.copy_to(&all);
            for vertex in 0..500u32 {
                let known = expected.get(&vertex).copied();
                if (100..400).contains(&vertex) {
                    prop_assert_eq!(held.superstep(vertex), known);
                }
                prop_assert_eq!(all.superstep(vertex), known);
            }
        }
    }
}
