//! A bit for every vertex, set concurrently by many threads, and fast to iterate when few are set.

mod ranks;
mod union;

pub(crate) use ranks::Ranks;
pub(crate) use union::Union;

use rayon::prelude::*;
use std::ops::{Range, RangeInclusive};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst, compiler_fence, fence};
use topostream_formats::huge::zeroed;

/// Vertices in one word.
const WORD: u64 = 64;
/// Vertices in one summary bit: the vertices of 64 words.
const BLOCK: u64 = WORD * WORD;

/// Orders the change of a vertex's value before the look whether the vertex is in a set already: whoever takes it out
/// of the set sees the value. Values change by read-modify-write operations, which x86-64 orders itself.
#[inline(always)]
fn order_values() {
    if cfg!(target_arch = "x86_64") { compiler_fence(SeqCst) } else { fence(SeqCst) }
}

/// The 32-bit words that a range of vertices touches.
pub(crate) fn bit_words(vertices: &Range<u64>) -> Range<u64> {
    vertices.start / 32..vertices.end.div_ceil(32)
}

/// The bits of a 32-bit word whose vertices are in the range.
pub(crate) fn bits_of_word(vertices: &Range<u64>, word: u32) -> u32 {
    let first = vertices.start.saturating_sub(32 * u64::from(word));
    let end = (vertices.end - 32 * u64::from(word)).min(32);
    ((1u64 << end) - 1) as u32 & (u32::MAX << first)
}

/// A bit set over `0..len` with a summary: one bit for every 4096 vertices that says whether any of them may be set.
#[derive(Debug)]
pub struct Bits {
    words: Vec<AtomicU64>,
    summary: Vec<AtomicU64>,
    len: u64,
    /// The vertices that may be inserted; others never count as missing.
    own: Range<u64>,
}

impl Bits {
    /// An empty set over `0..len`.
    pub fn new(len: u64) -> Self {
        let (words, summary) = (len.div_ceil(WORD), len.div_ceil(BLOCK).div_ceil(WORD));
        Self { words: zeroed(words), summary: zeroed(summary), len, own: 0..len }
    }

    /// An empty set over `0..len` to which edges may add these vertices only.
    pub(crate) fn of_own(len: u64, own: Range<u64>) -> Self {
        Self { own, ..Self::new(len) }
    }

    /// Main memory of a set over `0..len`, in bytes.
    pub(crate) fn memory_bytes(len: u64) -> u64 {
        len.div_ceil(WORD) * 8 + len.div_ceil(BLOCK).div_ceil(WORD) * 8
    }

    /// The number of vertices, in the set or not.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Whether a vertex is in the set.
    #[inline(always)]
    pub fn contains(&self, vertex: u32) -> bool {
        self.words[(vertex / 64) as usize].load(Relaxed) >> (vertex % 64) & 1 != 0
    }

    /// Adds a vertex, if it may be written here; returns true for exactly one of several concurrent callers. Tests
    /// before it writes: on skewed graphs most vertices are in the set already.
    #[inline(always)]
    pub fn insert(&self, vertex: u32) -> bool {
        self.own.contains(&u64::from(vertex)) && self.learn(vertex)
    }

    /// Removes a vertex.
    #[inline(always)]
    pub fn remove(&self, vertex: u32) {
        self.words[(vertex / 64) as usize].fetch_and(!(1 << (vertex % 64)), Relaxed);
    }

    /// Adds a vertex of any owner, as received from another device.
    #[inline(always)]
    pub(crate) fn learn(&self, vertex: u32) -> bool {
        let (word, bit) = (&self.words[(vertex / 64) as usize], 1 << (vertex % 64));
        order_values();
        if word.load(Relaxed) & bit != 0 {
            return false;
        }
        let before = word.fetch_or(bit, Relaxed);
        if before == 0 {
            let block = u64::from(vertex) / BLOCK;
            let (summary, bit) = (&self.summary[(block / WORD) as usize], 1 << (block % WORD));
            if summary.load(Relaxed) & bit == 0 {
                summary.fetch_or(bit, Relaxed);
            }
        }
        before & bit == 0
    }

    /// Adds the vertices of another set of the same length, of any owner.
    pub(crate) fn learn_all(&self, other: &Self) {
        for (at, word) in other.words.iter().enumerate() {
            let bits = word.load(Relaxed);
            if bits != 0 {
                self.words[at].fetch_or(bits, Relaxed);
                let block = at as u64 * WORD / BLOCK;
                self.summary[(block / WORD) as usize].fetch_or(1 << (block % WORD), Relaxed);
            }
        }
    }

    /// Empties the set, in time proportional to its contents.
    pub(crate) fn clear(&self) {
        for (at, summary) in self.summary.iter().enumerate() {
            let mut blocks = summary.swap(0, Relaxed);
            while blocks != 0 {
                let block = at * 64 + blocks.trailing_zeros() as usize;
                blocks &= blocks - 1;
                let words = block * 64..(block * 64 + 64).min(self.words.len());
                self.words[words].iter().for_each(|word| word.store(0, Relaxed));
            }
        }
    }

    /// The first vertex from `from` on that is in the set.
    pub fn next_set(&self, from: u64) -> Option<u64> {
        let mut at = from;
        while at < self.len {
            if at.is_multiple_of(BLOCK) {
                at = self.next_block(at / BLOCK)? * BLOCK;
            }
            let rest = self.words[(at / WORD) as usize].load(Relaxed) >> (at % WORD);
            if rest != 0 {
                return Some(at + u64::from(rest.trailing_zeros()));
            }
            at = (at / WORD + 1) * WORD;
        }
        None
    }

    /// The first block from `from` on whose summary bit is set.
    fn next_block(&self, from: u64) -> Option<u64> {
        let mut at = from;
        while ((at / WORD) as usize) < self.summary.len() {
            let rest = self.summary[(at / WORD) as usize].load(Relaxed) >> (at % WORD);
            if rest != 0 {
                return Some(at + u64::from(rest.trailing_zeros()));
            }
            at = (at / WORD + 1) * WORD;
        }
        None
    }

    /// The first vertex from `from` on that may be inserted and is not in the set.
    pub(crate) fn next_unset(&self, from: u64) -> Option<u64> {
        let mut at = from.max(self.own.start);
        while at < self.own.end {
            let rest = !self.words[(at / WORD) as usize].load(Relaxed) >> (at % WORD);
            if rest != 0 {
                let found = at + u64::from(rest.trailing_zeros());
                return (found < self.own.end).then_some(found);
            }
            at = (at / WORD + 1) * WORD;
        }
        None
    }

    /// Calls `take` for each vertex of `range` that is in the set (or, with `inverted`, that is not, and may be
    /// inserted).
    #[inline(always)]
    pub(crate) fn for_each_in(&self, range: RangeInclusive<u32>, inverted: bool, mut take: impl FnMut(u32)) {
        self.for_each_word_in(range, inverted, |at, mut rest| {
            while rest != 0 {
                take(at as u32 * 64 + rest.trailing_zeros());
                rest &= rest - 1;
            }
        });
    }

    /// Calls `take` with words of 64 vertices that have vertices of `range`, and the bits of the vertices that are in
    /// the set (or, with `inverted`, that are not, and may be inserted). Blocks of 4096 vertices of which none is in
    /// the set are passed over.
    #[inline(always)]
    pub(crate) fn for_each_word_in(
        &self,
        range: RangeInclusive<u32>,
        inverted: bool,
        mut take: impl FnMut(usize, u64),
    ) {
        let (mut first, mut last) = range.into_inner();
        if inverted {
            if self.own.is_empty() {
                return;
            }
            (first, last) = (first.max(self.own.start as u32), last.min((self.own.end - 1) as u32));
        }
        if first > last {
            return;
        }
        let flip = if inverted { u64::MAX } else { 0 };
        let mut word = first / 64;
        while word <= last / 64 {
            if !inverted && word.is_multiple_of(64) && self.is_blank(word / 64) {
                match self.next_block(u64::from(word / 64)) {
                    Some(block) => word = block as u32 * 64,
                    None => return,
                }
                continue;
            }
            let mut rest = self.words[word as usize].load(Relaxed) ^ flip;
            if word == first / 64 {
                rest &= u64::MAX << (first % 64);
            }
            if word == last / 64 {
                rest &= u64::MAX >> (63 - last % 64);
            }
            take(word as usize, rest);
            word += 1;
        }
    }

    /// Whether the summary says that no vertex of a block is in the set.
    #[inline(always)]
    fn is_blank(&self, block: u32) -> bool {
        self.summary[block as usize / 64].load(Relaxed) >> (block % 64) & 1 == 0
    }

    /// The number of vertices of a range that are in the set, and the sum of `value` over them; `None` if there are
    /// more than `count`. Takes time proportional to `count`.
    pub(crate) fn few_of(
        &self,
        count: u64,
        range: RangeInclusive<u32>,
        value: impl Fn(u32) -> u64,
    ) -> Option<(u64, u64)> {
        let (first, last) = range.into_inner();
        let (mut at, mut found, mut sum) = (u64::from(first), 0, 0);
        while let Some(vertex) = self.next_set(at).filter(|&vertex| vertex <= last.into()) {
            if found == count {
                return None;
            }
            (at, found, sum) = (vertex + 1, found + 1, sum + value(vertex as u32));
        }
        Some((found, sum))
    }

    /// The number of these vertices that are in the set.
    pub(crate) fn count(&self, vertices: Range<u64>) -> u64 {
        let mut count = 0;
        if !vertices.is_empty() {
            let range = vertices.start as u32..=(vertices.end - 1) as u32;
            self.for_each_word_in(range, false, |_, bits| count += u64::from(bits.count_ones()));
        }
        count
    }

    /// Corrects the summary of a block from which vertices have been removed. Nobody may add vertices of the block
    /// meanwhile.
    fn settle(&self, block: u64) {
        let words = (block * WORD) as usize..((block + 1) * WORD).min(self.words.len() as u64) as usize;
        if self.words[words].iter().all(|word| word.load(Relaxed) == 0) {
            self.summary[(block / WORD) as usize].fetch_and(!(1 << (block % WORD)), Relaxed);
        }
    }

    /// Adds the vertices of a range that are in another set of the same length.
    pub(crate) fn learn_from(&self, other: &Self, range: RangeInclusive<u32>) {
        let (first, last) = range.into_inner();
        for word in first / 64..=last / 64 {
            let mut bits = other.words[word as usize].load(Relaxed);
            if word == first / 64 {
                bits &= u64::MAX << (first % 64);
            }
            if word == last / 64 {
                bits &= u64::MAX >> (63 - last % 64);
            }
            if bits != 0 && self.words[word as usize].fetch_or(bits, Relaxed) == 0 {
                let block = u64::from(word) * 64 / BLOCK;
                self.summary[(block / WORD) as usize].fetch_or(1 << (block % WORD), Relaxed);
            }
        }
    }

    /// Moves the vertices of a range from another set of the same length to this one; returns how many of them were not
    /// in this one. Other threads may insert vertices into that set meanwhile: whoever finds a vertex here sees what
    /// they wrote before they inserted it.
    pub(crate) fn take_from(&self, other: &Self, range: RangeInclusive<u32>) -> u64 {
        let mut new = 0;
        other.for_each_word_in(range, false, |at, bits| {
            if bits == 0 {
                return;
            }
            let bits = bits & other.words[at].fetch_and(!bits, SeqCst);
            let before = self.words[at].fetch_or(bits, Relaxed);
            new += u64::from((bits & !before).count_ones());
            if before == 0 {
                let block = at as u64 * WORD / BLOCK;
                self.summary[(block / WORD) as usize].fetch_or(1 << (block % WORD), Relaxed);
            }
        });
        order_values();
        new
    }

    /// Adds the bits of 32-bit words; the first of them is the set's 32-bit word `first`.
    #[doc(hidden)]
    pub fn set_words(&self, first: usize, words: &[u32]) {
        for (at, &bits) in (first..).zip(words).filter(|(_, bits)| **bits != 0) {
            self.words[at / 2].fetch_or(u64::from(bits) << (at % 2 * 32), Relaxed);
            let block = at as u64 * 32 / BLOCK;
            self.summary[(block / WORD) as usize].fetch_or(1 << (block % WORD), Relaxed);
        }
    }

    /// The bits of 32 vertices.
    pub(crate) fn half_word(&self, at: u32) -> u32 {
        (self.words[at as usize / 2].load(Relaxed) >> (at % 2 * 32)) as u32
    }

    /// The bits of some vertices, in the 32-bit words that they touch; the bits of other vertices are 0.
    pub(crate) fn words_of(&self, vertices: &Range<u64>) -> impl ExactSizeIterator<Item = u32> {
        let (words, vertices) = (bit_words(vertices), vertices.clone());
        (words.start as u32..words.end as u32).map(move |at| self.half_word(at) & bits_of_word(&vertices, at))
    }

    /// Adds vertices of a range, whose bits are in the 32-bit words that it touches.
    pub(crate) fn add_words(&self, vertices: &Range<u64>, words: &[u32]) {
        let own = (vertices.start / 32..).zip(words).map(|(at, word)| word & bits_of_word(vertices, at as u32));
        self.set_words((vertices.start / 32) as usize, &own.collect::<Vec<u32>>());
    }

    /// Of 32 vertices, removes the ones whose bits are set.
    pub(crate) fn forget(&self, at: u32, bits: u32) {
        self.words[at as usize / 2].fetch_and(!(u64::from(bits) << (at % 2 * 32)), Relaxed);
    }

    /// The number of vertices in the set, and the sum of `value` over them.
    pub(crate) fn census(&self, value: impl Fn(u32) -> u64 + Sync) -> (u64, u64) {
        self.census_of(0..self.len, value, |count| count())
    }

    /// The number of these vertices that are in the set, and the sum of `value` over them. Large ranges are counted by
    /// parallel iterators within `install`, which runs its argument on a pool of threads.
    pub(crate) fn census_of(
        &self,
        vertices: Range<u64>,
        value: impl Fn(u32) -> u64 + Sync,
        install: impl FnOnce(&(dyn Fn() -> (u64, u64) + Sync)) -> (u64, u64),
    ) -> (u64, u64) {
        if vertices.is_empty() {
            return (0, 0);
        }
        let block = |block: u64| {
            let (mut count, mut sum) = (0, 0);
            let first = (block * BLOCK).max(vertices.start);
            let last = ((block + 1) * BLOCK).min(vertices.end) - 1;
            self.for_each_in(first as u32..=last as u32, false, |vertex| {
                count += 1;
                sum += value(vertex);
            });
            (count, sum)
        };
        let mut blocks = Vec::new();
        let mut at = self.next_block(vertices.start / BLOCK);
        while let Some(found) = at.filter(|found| found * BLOCK < vertices.end) {
            blocks.push(found);
            at = self.next_block(found + 1);
        }
        let add = |a: (u64, u64), b: (u64, u64)| (a.0 + b.0, a.1 + b.1);
        if blocks.len() < BLOCKS_MIN {
            return blocks.into_iter().map(block).fold((0, 0), add);
        }
        install(&|| blocks.par_iter().map(|&at| block(at)).reduce(|| (0, 0), add))
    }
}

/// Up to this many vertices of a word are visited one by one, not with all others of the word.
const FEW: u32 = 8;

/// Blocks of 4096 vertices from which on it pays to wake other threads.
pub(crate) const BLOCKS_MIN: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn agrees_with_a_sorted_set(
            len in 1u64..20_000,
            draws in prop::collection::vec(any::<u32>(), 0..300),
            bounds in (any::<u32>(), any::<u32>()),
        ) {
            let bits = Bits::new(len);
            let mut set = BTreeSet::new();
            for draw in draws {
                let vertex = draw % len as u32;
                prop_assert_eq!(bits.insert(vertex), set.insert(vertex));
            }
            let walk = |next: &dyn Fn(u64) -> Option<u64>| {
                let (mut found, mut at) = (BTreeSet::new(), 0);
                while let Some(vertex) = next(at) {
                    found.insert(vertex as u32);
                    at = vertex + 1;
                }
                found
            };
            let others: BTreeSet<u32> = (0..len as u32).filter(|vertex| !set.contains(vertex)).collect();
            prop_assert_eq!(&walk(&|at| bits.next_set(at)), &set);
            prop_assert_eq!(&walk(&|at| bits.next_unset(at)), &others);
            let (a, b) = (bounds.0 % len as u32, bounds.1 % len as u32);
            let range = a..=b;
            for (inverted, expected) in [(false, &set), (true, &others)] {
                let mut found = BTreeSet::new();
                bits.for_each_in(range.clone(), inverted, |vertex| { found.insert(vertex); });
                prop_assert_eq!(found, expected.iter().copied().filter(|v| range.contains(v)).collect());
            }
            if a <= b {
                let copy = Bits::new(len);
                copy.learn_from(&bits, range.clone());
                let mut found = BTreeSet::new();
                let mut at = 0;
                while let Some(vertex) = copy.next_set(at) {
                    found.insert(vertex as u32);
                    at = vertex + 1;
                }
                prop_assert_eq!(found, set.iter().copied().filter(|v| range.contains(v)).collect());
            }
            let some: Vec<u64> = set.range(a.min(b)..=a.max(b)).map(|&vertex| vertex.into()).collect();
            let within = some.len() as u64;
            for count in [0, 1, within.saturating_sub(1), within, within + 1] {
                let expected = (count >= within).then(|| (within, some.iter().sum()));
                prop_assert_eq!(bits.few_of(count, a.min(b)..=a.max(b), u64::from), expected);
            }
            let sum: u64 = set.iter().map(|&vertex| u64::from(vertex)).sum();
            prop_assert_eq!(bits.census(u64::from), (set.len() as u64, sum));
            bits.clear();
            prop_assert_eq!(bits.next_set(0), None);
        }

        /// Runs cover the vertices of all sets in a range, and little else; removed vertices are forgotten by the
        /// summary, and added ones are not.
        #[test]
        fn unions_are_visited_by_runs(
            len in 1u64..40_000,
            draws in prop::collection::vec((any::<u32>(), any::<bool>()), 0..60),
            bounds in (any::<u64>(), any::<u64>()),
            keep: bool,
        ) {
            let sets = [Bits::new(len), Bits::new(len)];
            let mut all = BTreeSet::new();
            for (draw, second) in draws {
                let vertex = draw % len as u32;
                sets[usize::from(second)].insert(vertex);
                all.insert(u64::from(vertex));
            }
            let (a, b) = (bounds.0 % len, bounds.1 % len);
            let range = a.min(b)..a.max(b) + 1;
            let union = Union(sets.iter().collect());
            let mut found = BTreeSet::new();
            for block in union.blocks(&range) {
                union.for_each_run(block, &range, |run| {
                    for vertex in run {
                        let word = all.range(vertex / WORD * WORD..(vertex / WORD + 1) * WORD).count();
                        let near = all.contains(&vertex) || word > FEW as usize;
                        assert!(near && found.insert(vertex), "{vertex}");
                        sets.iter().for_each(|set| set.remove(vertex as u32));
                        if keep {
                            sets[1].insert(vertex as u32);
                        }
                    }
                });
            }
            let expected: BTreeSet<u64> = all.range(range.clone()).copied().collect();
            prop_assert!(found.is_superset(&expected) && found.iter().all(|vertex| range.contains(vertex)));
            if !keep {
                all.retain(|vertex| !found.contains(vertex));
            }
            let blocks: BTreeSet<u64> = all.iter().map(|vertex| vertex / BLOCK).collect();
            let near = range.start / BLOCK..range.end.div_ceil(BLOCK);
            let left: Vec<u64> = blocks.into_iter().filter(|block| near.contains(block)).collect();
            prop_assert_eq!(union.blocks(&range), left);
            if keep {
                found.iter().for_each(|&vertex| assert_eq!(sets[1].next_set(vertex), Some(vertex)));
            }
        }
    }
}
