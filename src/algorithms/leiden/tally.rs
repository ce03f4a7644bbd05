//! The weight of a vertex's edges to each of its neighbours' communities.

use std::cell::Cell;

/// Spreads communities over places (Knuth's multiplicative hash).
const SPREAD: u32 = 2_654_435_761;

/// A hash table that is used for one list after another: memory of the thread that reads them.
#[derive(Default)]
pub struct Tally {
    /// A community and its sum, which is 0 in empty places.
    places: Vec<(u32, u64)>,
    /// The places that are taken.
    taken: Vec<u32>,
    spread: u32,
    shift: u32,
}

thread_local! {
    /// A thread's table, unless it is in use.
    static OWN: Cell<Tally> = Cell::default();
}

impl Tally {
    /// Passes the table that this thread has used before, which is empty.
    pub fn borrow<R>(use_it: impl FnOnce(&mut Self) -> R) -> R {
        // Whoever comes while it is in use, since a thread takes other work when it waits, gets a new one.
        let mut tally = OWN.take();
        let result = use_it(&mut tally);
        OWN.set(tally);
        result
    }

    /// Makes room for a list of this many neighbours, in communities below `end`: where most of those may occur, each
    /// has a place of its own.
    #[inline(always)]
    pub fn begin(&mut self, neighbours: usize, end: u32) {
        debug_assert!(self.taken.is_empty(), "sums are drained");
        let bits = (2 * neighbours).next_power_of_two().trailing_zeros().max(4);
        let bits_of_all = u32::BITS - end.saturating_sub(1).leading_zeros();
        self.spread = if bits < bits_of_all { SPREAD } else { 1 << (32 - bits_of_all.clamp(1, 31)) };
        let bits = bits.min(bits_of_all.max(4));
        if self.places.len() < 1 << bits {
            self.places.resize(1 << bits, (0, 0));
        }
        self.shift = 32 - bits;
    }

    #[inline(always)]
    fn place(&self, community: u32) -> usize {
        let mask = u32::MAX >> self.shift;
        let mut at = community.wrapping_mul(self.spread) >> self.shift;
        loop {
            let (key, sum) = self.places[at as usize];
            if sum == 0 || key == community {
                return at as usize;
            }
            at = (at + 1) & mask;
        }
    }

    /// Adds an edge to a community; returns whether it is the first.
    #[inline(always)]
    pub fn add(&mut self, community: u32, weight: u64) -> bool {
        if weight == 0 {
            return false;
        }
        let at = self.place(community);
        let place = &mut self.places[at];
        let is_first = place.1 == 0;
        if is_first {
            place.0 = community;
            self.taken.push(at as u32);
        }
        place.1 += weight;
        is_first
    }

    /// The sum of a community.
    #[inline(always)]
    pub fn get(&self, community: u32) -> u64 {
        self.places[self.place(community)].1
    }

    /// The number of communities with a sum.
    pub fn len(&self) -> usize {
        self.taken.len()
    }

    /// The sum of all.
    pub fn sum(&self) -> u64 {
        self.taken.iter().map(|&at| self.places[at as usize].1).sum()
    }

    /// Passes every community and its sum, and empties the table.
    #[inline(always)]
    pub fn drain(&mut self, mut take: impl FnMut(u32, u64)) {
        for &at in &self.taken {
            let (community, sum) = std::mem::take(&mut self.places[at as usize]);
            take(community, sum);
        }
        self.taken.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// One list after another: nothing of the one before is left.
        #[test]
        fn agrees_with_a_sorted_map(
            lists in prop::collection::vec(prop::collection::vec((0u32..40, 0u64..9), 0..100), 1..5),
            far: bool,
        ) {
            let mut tally = Tally::default();
            for list in lists {
                let mut sums = BTreeMap::new();
                tally.begin(list.len(), if far { u32::MAX } else { 40 });
                for (small, weight) in list {
                    let community = if far { u32::MAX - small * 65_536 } else { small };
                    tally.add(community, weight);
                    if weight > 0 {
                        *sums.entry(community).or_insert(0) += weight;
                    }
                    prop_assert_eq!(tally.get(community), sums.get(&community).copied().unwrap_or(0));
                }
                let mut drained = BTreeMap::new();
                tally.drain(|community, sum| assert!(drained.insert(community, sum).is_none()));
                prop_assert_eq!(drained, sums);
            }
        }
    }
}
