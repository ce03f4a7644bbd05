//! The labels of one list, counted by the thread that reads it.

use std::cell::Cell;

/// Spreads labels over places (Knuth's multiplicative hash).
pub(super) const SPREAD: u32 = 2_654_435_761;

/// Longer lists are counted in the table: this bounds a thread's memory, at 36 bytes a neighbour, so that it stays in
/// its cache.
pub const NEIGHBOURS_MAX: u64 = 1 << 14;

/// The labels of a list.
pub struct Tally {
    labels: Vec<u32>,
    /// The bitwise or of all labels.
    any: u32,
}

thread_local! {
    /// The thread's empty tallies that no list is using.
    static LABELS: Cell<Vec<u32>> = const { Cell::new(Vec::new()) };
    static PLACES: Cell<Vec<u64>> = const { Cell::new(Vec::new()) };
}

impl Tally {
    /// Creates a tally for a list of this many neighbours, at most [`NEIGHBOURS_MAX`].
    #[inline(always)]
    pub fn of(neighbours: u64) -> Self {
        let mut labels = LABELS.take();
        labels.reserve(neighbours as usize);
        Self { labels, any: 0 }
    }

    /// Adds a neighbour's label.
    #[inline(always)]
    pub fn add(&mut self, label: u32) {
        self.labels.push(label);
        self.any |= label;
    }

    /// Whether any label has one of these bits.
    #[inline(always)]
    pub fn has(&self, bits: u32) -> bool {
        self.any & bits != 0
    }

    /// Returns the most frequent label under `mask`, the smallest of several. Without `count` there is none.
    #[inline(always)]
    pub fn finish(mut self, mask: u32, count: bool) -> Option<u32> {
        let most = if count { most(&self.labels, mask) } else { None };
        self.labels.clear();
        LABELS.set(self.labels);
        most
    }
}

/// The labels of a list in which equal ones follow one another.
#[derive(Default)]
pub struct Runs {
    label: u32,
    count: u32,
    /// The largest count so far and the complement of its label, 0 before the first: the larger pair wins.
    best: u64,
}

impl Runs {
    /// Adds a neighbour's label.
    #[inline(always)]
    pub fn add(&mut self, label: u32) {
        self.count = if label == self.label { self.count + 1 } else { 1 };
        self.label = label;
        self.best = self.best.max(u64::from(self.count) << 32 | u64::from(!label));
    }

    /// Returns the most frequent label, the smallest of several.
    #[inline(always)]
    pub fn finish(self) -> Option<u32> {
        (self.best > 0).then_some(!(self.best as u32))
    }
}

fn most(labels: &[u32], mask: u32) -> Option<u32> {
    // Twice the maximum number of labels, rounded up to a power of two.
    let bits = (2 * labels.len()).next_power_of_two().trailing_zeros().max(1);
    let mut all = PLACES.take();
    if all.len() < 1 << bits {
        all.resize(1 << bits, 0);
    }
    let places = &mut all[..1 << bits];
    // A label's count, then its complement: the larger pair wins.
    let mut best = 0;
    for label in labels.iter().map(|label| label & mask) {
        let mut at = (label.wrapping_mul(SPREAD) >> (32 - bits)) as usize;
        // A place has a label in its upper half and its count in the lower; 0 if it is empty.
        let key = u64::from(label) + 1;
        while places[at] != 0 && places[at] >> 32 != key {
            at = (at + 1) & (places.len() - 1);
        }
        let place = places[at].max(key << 32) + 1;
        places[at] = place;
        best = best.max(place << 32 | u64::from(!label));
    }
    places.fill(0);
    PLACES.set(all);
    (best > 0).then_some(!(best as u32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Also tests that nothing of the previous list is left.
        #[test]
        fn agrees_with_a_sorted_map(
            lists in prop::collection::vec(prop::collection::vec(0u32..50, 1..200), 1..5),
            far: bool,
        ) {
            let (high, mask) = (1 << 31, u32::MAX >> 1);
            let label = |small: u32| if far { mask - 1 - small * 65_536 } else { small };
            for list in lists {
                let (mut tally, mut counts) = (Tally::of(list.len() as u64), BTreeMap::new());
                for &small in &list {
                    tally.add(label(small) | if small == 7 { high } else { 0 });
                    *counts.entry(label(small)).or_insert(0) += 1;
                }
                prop_assert_eq!(tally.has(high), list.contains(&7));
                let most = counts.values().max().unwrap();
                let expected = counts.iter().find(|(_, count)| *count == most).map(|(&label, _)| label);
                prop_assert_eq!(tally.finish(mask, true), expected);
                prop_assert_eq!(Tally::of(1).finish(mask, true), None);
                let mut runs = Runs::default();
                counts.iter().for_each(|(&label, &count)| (0..count).for_each(|_| runs.add(label)));
                prop_assert_eq!(runs.finish(), expected);
            }
            prop_assert_eq!(Runs::default().finish(), None);
        }
    }
}
