//! The labels of one list, counted in memory of the thread that reads it.

use std::cell::Cell;

/// Spreads labels over places (Knuth's multiplicative hash).
pub(super) const SPREAD: u32 = 2_654_435_761;

/// Longer lists are counted in the table, unless equal labels follow one another: this bounds a thread's memory, at 36
/// bytes a neighbour, so that it stays in its cache.
pub const NEIGHBOURS_MAX: u64 = 1 << 14;

/// The labels of a list.
pub struct Tally {
    labels: Vec<u32>,
    /// The bitwise or of all labels.
    any: u32,
    /// The bits of labels that count.
    mask: u32,
    /// The labels that have left `labels`, if equal ones follow one another.
    runs: Option<Runs>,
}

thread_local! {
    /// The thread's empty tallies that no list is using.
    static LABELS: Cell<Vec<u32>> = const { Cell::new(Vec::new()) };
    static PLACES: Cell<Vec<u64>> = const { Cell::new(Vec::new()) };
}

impl Tally {
    /// Creates a tally for a list of this many neighbours, at most [`NEIGHBOURS_MAX`]: of any number if equal labels
    /// follow one another (`in_runs`).
    #[inline(always)]
    pub fn new(neighbours: u64, mask: u32, in_runs: bool) -> Self {
        let mut labels = LABELS.take();
        labels.reserve(neighbours.min(NEIGHBOURS_MAX) as usize);
        Self { labels, any: 0, mask, runs: in_runs.then(Runs::default) }
    }

    /// Adds a neighbour's label.
    #[inline(always)]
    pub fn add(&mut self, label: u32) {
        self.any |= label;
        if self.labels.len() == self.labels.capacity() {
            self.make_room();
        }
        self.labels.push(label);
    }

    #[cold]
    fn make_room(&mut self) {
        self.count_runs();
        self.labels.reserve(1);
    }

    /// Counts the labels and drops them, if they are in runs.
    fn count_runs(&mut self) {
        if let Some(runs) = &mut self.runs {
            self.labels.drain(..).for_each(|label| runs.add(label & self.mask));
        }
    }

    /// Whether any label has one of these bits.
    #[inline(always)]
    pub fn has(&self, bits: u32) -> bool {
        self.any & bits != 0
    }

    /// Returns the most frequent label, the smallest of several. Without `count` there is none.
    #[inline(always)]
    pub fn finish(mut self, count: bool) -> Option<u32> {
        self.count_runs();
        let most = match &self.runs {
            _ if !count => None,
            Some(runs) => runs.most(),
            None => most(&self.labels, self.mask),
        };
        self.labels.clear();
        LABELS.set(self.labels);
        most
    }
}

/// Counts of labels of which equal ones follow one another.
#[derive(Default)]
struct Runs {
    label: u32,
    count: u32,
    /// The largest count so far and the complement of its label, 0 before the first: the larger pair wins.
    best: u64,
}

impl Runs {
    #[inline(always)]
    fn add(&mut self, label: u32) {
        self.count = if label == self.label { self.count + 1 } else { 1 };
        self.label = label;
        self.best = self.best.max(u64::from(self.count) << 32 | u64::from(!label));
    }

    /// The most frequent label, the smallest of several.
    fn most(&self) -> Option<u32> {
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
                let (mut tally, mut counts) = (Tally::new(list.len() as u64, mask, false), BTreeMap::new());
                for &small in &list {
                    tally.add(label(small) | if small == 7 { high } else { 0 });
                    *counts.entry(label(small)).or_insert(0) += 1;
                }
                prop_assert_eq!(tally.has(high), list.contains(&7));
                let most = counts.values().max().unwrap();
                let expected = counts.iter().find(|(_, count)| *count == most).map(|(&label, _)| label);
                prop_assert_eq!(tally.finish(true), expected);
                prop_assert_eq!(Tally::new(1, mask, false).finish(true), None);
                prop_assert_eq!(Tally::new(1, mask, true).finish(true), None);
            }
        }

        /// Lists that fit in the memory of a tally, and longer ones.
        #[test]
        fn runs_are_counted_in_bounded_memory(runs in prop::collection::vec(1u32..20_000, 1..6), descending: bool) {
            let labels = 0..runs.len() as u32;
            let label = |at: u32| if descending { 1000 - at } else { at };
            let mut tally = Tally::new(runs.iter().map(|&count| u64::from(count)).sum(), u32::MAX, true);
            labels.clone().for_each(|at| (0..runs[at as usize]).for_each(|_| tally.add(label(at))));
            prop_assert!(tally.labels.capacity() <= 2 * NEIGHBOURS_MAX as usize);
            let most = labels.map(|at| (runs[at as usize], std::cmp::Reverse(label(at)))).max().unwrap();
            prop_assert_eq!(tally.finish(true), Some(most.1.0));
        }
    }
}
