//! How many vertices of a set come before each of them.

use super::{Bits, WORD};
use std::sync::atomic::Ordering::Relaxed;

/// The ranks of a set that does not change meanwhile: a number for every 64 vertices, so that they stay in a cache.
pub(crate) struct Ranks<'a> {
    set: &'a Bits,
    /// How many there are before each word.
    before: Vec<u32>,
    count: u64,
}

impl<'a> Ranks<'a> {
    /// Of a set of at most 2^32 vertices.
    pub fn of(set: &'a Bits) -> Self {
        let mut count = 0;
        let before = set.words.iter().map(|word| {
            let before = count as u32;
            count += u64::from(word.load(Relaxed).count_ones());
            before
        });
        Self { set, before: before.collect(), count }
    }

    /// The number of vertices in the set.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many vertices of the set are smaller than this one.
    #[inline(always)]
    pub fn rank(&self, vertex: u32) -> u32 {
        let at = u64::from(vertex) / WORD;
        let below = self.set.words[at as usize].load(Relaxed) & !(u64::MAX << (u64::from(vertex) % WORD));
        self.before[at as usize] + below.count_ones()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn ranks_are_those_of_a_sorted_set(vertices in prop::collection::btree_set(0u32..700, 0..300)) {
            let vertices: BTreeSet<u32> = vertices;
            let set = Bits::new(700);
            vertices.iter().for_each(|&vertex| _ = set.insert(vertex));
            let ranks = Ranks::of(&set);
            prop_assert_eq!(ranks.count(), vertices.len() as u64);
            for vertex in 0..700 {
                prop_assert_eq!(ranks.rank(vertex) as usize, vertices.range(..vertex).count());
            }
        }
    }
}
