//! Counts of one list's labels, in memory of the thread that reads it.

use super::SPREAD;
use std::cell::Cell;

/// Lists with more neighbours are counted in the table: a thread's memory is bounded by this, at 16 bytes a neighbour, and stays in
/// its cache.
pub const NEIGHBOURS_MAX: u64 = 1 << 14;

/// Labels by hash, each with its number.
pub struct Tally {
    /// A label and one in the upper half, how often it was counted in the lower; 0 where there is none. Twice as many places as
    /// there may be labels, a power of two, perhaps followed by others; all are empty between lists.
    places: Vec<u64>,
    /// The number of places less one.
    mask: u32,
    /// Takes a label's hash to its place.
    shift: u32,
    best: Best,
}

/// The label that was counted most often, of several the smallest: what is larger is better.
type Best = u64;

thread_local! {
    /// The thread's places, while no list has them.
    static PLACES: Cell<Vec<u64>> = const { Cell::new(Vec::new()) };
}

impl Tally {
    /// For a list of some neighbours, [`NEIGHBOURS_MAX`] at most.
    #[inline(always)]
    pub fn of(neighbours: u64) -> Self {
        let bits = (2 * neighbours).next_power_of_two().trailing_zeros().max(1);
        let mut places = PLACES.take();
        if places.len() < 1 << bits {
            places.resize(1 << bits, 0);
        }
        Self { places, mask: (1 << bits) - 1, shift: 32 - bits, best: 0 }
    }

    /// Counts a label.
    #[inline(always)]
    pub fn add(&mut self, label: u32) {
        let key = u64::from(label) + 1;
        let mut at = label.wrapping_mul(SPREAD) >> self.shift;
        loop {
            let place = &mut self.places[at as usize];
            if *place == 0 {
                *place = key << 32;
            }
            if *place >> 32 == key {
                *place += 1;
                self.best = self.best.max(*place << 32 | u64::from(!label));
                return;
            }
            at = (at + 1) & self.mask;
        }
    }

    /// The label that was counted most often, of several the smallest.
    #[inline(always)]
    pub fn finish(mut self) -> Option<u32> {
        self.places[..=self.mask as usize].fill(0);
        PLACES.set(self.places);
        (self.best > 0).then_some(!(self.best as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Also that nothing is left of the list before.
        #[test]
        fn agrees_with_a_sorted_map(lists in prop::collection::vec(prop::collection::vec(0u32..50, 1..200), 1..5), far: bool) {
            let label = |small: u32| if far { u32::MAX - 1 - small * 65_536 } else { small };
            for list in lists {
                let (mut tally, mut counts) = (Tally::of(list.len() as u64), BTreeMap::new());
                for &small in &list {
                    tally.add(label(small));
                    *counts.entry(label(small)).or_insert(0) += 1;
                }
                let most = counts.values().max().unwrap();
                let expected = counts.iter().find(|(_, count)| *count == most).map(|(&label, _)| label);
                prop_assert_eq!(tally.finish(), expected);
            }
        }
    }
}
