//! The mapping from the ids of a source to vertices, if only the ids that occur are vertices.
//!
//! The mapping is ascending, so edges sorted by original id are sorted by vertex as well. Ids below 2^32 are kept in a
//! bit set with running counts, which grows as far as the budget allows; other ids are in a sorted list.

use super::distinct::Distinct;
use super::options::BASE_BYTES;
use rayon::prelude::*;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use topostream_formats::huge::plain;
use topostream_formats::{Error, Result};

/// Bits of a counted block.
const BLOCK_WORDS: usize = 8;

/// Collects the ids that occur.
pub struct IdCollector {
    words: Vec<AtomicU64>,
    high: Vec<u64>,
    /// Ids from here on go into the list: 2^32, or the limit at which the bit set could not grow any further.
    high_from: u64,
    memory_bytes: u64,
    /// Set when the list is full: from then on all ids of the list are only counted, so that the error can state the
    /// memory that would suffice.
    counted: Option<Counted>,
}

/// The number of ids that did not fit.
struct Counted {
    ids: Distinct,
    least: u64,
    largest: u64,
}

impl Counted {
    fn insert(&mut self, id: u64) {
        self.ids.insert(id);
        (self.least, self.largest) = (self.least.min(id), self.largest.max(id));
    }
}

/// The maximum memory of the map, of a total budget: as much as a sort.
pub fn share_of(budget_bytes: u64) -> u64 {
    budget_bytes.saturating_sub(BASE_BYTES) / 3
}

/// The total budget with which the map may take this much.
pub fn budget_for(bytes: u64) -> u64 {
    BASE_BYTES + 3 * bytes
}

/// Maximum main memory of the finished map, in bytes.
pub fn map_bytes(ids: u64, largest: u64) -> u64 {
    bit_set_bytes(largest).min(10 * ids)
}

/// The maximum memory that a collector of this many ids needs, in bytes: a growing list takes three times its size, and
/// half of the memory is reserved for the bit set if there are ids for it.
pub fn collecting_bytes(ids: u64, least: u64, largest: u64) -> u64 {
    let list_bytes = if least >= 1 << 32 { 24 * ids } else { 48 * ids };
    // The old words and the new ones exist at the same time.
    list_bytes.min(bit_set_bytes(largest).saturating_mul(3)).max(LIST_BYTES_MIN)
}

/// The initial list.
const LIST_BYTES_MIN: u64 = 64 << 10;

/// A bit set with room for an id, with its counts; larger than any budget for ids of more than 32 bits.
fn bit_set_bytes(largest: u64) -> u64 {
    if largest >= 1 << 32 { u64::MAX } else { 9 * (largest / 64 + 1).next_power_of_two() }
}

/// The mapping from ids to vertices and back.
pub struct IdMap {
    words: Vec<u64>,
    /// The number of ids before each block.
    ranks: Vec<u32>,
    low_count: u64,
    high: Vec<u64>,
    high_from: u64,
    /// Where the ids of `high` begin whose difference from the first has these upper bits: scattered ids are found in
    /// one or two steps.
    starts: Vec<u32>,
    shift: u32,
}

/// Ids of the list for each start.
const IDS_PER_START: usize = 4;

/// The starts of parts of an ascending list of at most 2^32 ids.
fn starts_of(high: &[u64]) -> (Vec<u32>, u32) {
    let (Some(&first), Some(&last)) = (high.first(), high.last()) else { return (Vec::new(), 0) };
    if high.len() < 8 || high.len() > u32::MAX as usize {
        return (Vec::new(), 0);
    }
    let bits = (high.len() / IDS_PER_START).ilog2();
    let shift = (64 - (last - first).leading_zeros()).saturating_sub(bits);
    let mut starts = vec![0u32; (((last - first) >> shift) + 2) as usize];
    high.iter().for_each(|&id| starts[((id - first) >> shift) as usize + 1] += 1);
    let mut before = 0;
    for start in &mut starts {
        before += *start;
        *start = before;
    }
    (starts, shift)
}

impl IdCollector {
    /// Creates a collector that takes at most `memory_bytes`, including the finished map.
    pub fn new(memory_bytes: u64) -> Self {
        Self { words: Vec::new(), high: Vec::new(), high_from: 1 << 32, memory_bytes, counted: None }
    }

    /// Its memory limit, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    /// Adds an id for which there is room, on any thread. Returns false if it has to be [inserted](Self::insert).
    #[inline]
    pub fn note(&self, id: u64) -> bool {
        let Some(word) = self.words.get((id / 64) as usize).filter(|_| id < self.high_from) else { return false };
        let bit = 1 << (id % 64);
        // Most ids have occurred before.
        if word.load(Relaxed) & bit == 0 {
            word.fetch_or(bit, Relaxed);
        }
        true
    }

    /// Adds an id. [`finish`](Self::finish) reports whether all ids fitted.
    #[inline]
    pub fn insert(&mut self, id: u64) {
        if id < self.high_from {
            let word = (id / 64) as usize;
            if word >= self.words.len() {
                self.grow_words(word);
            }
            if self.note(id) {
                return;
            }
        }
        if self.high.len() == self.high.capacity() {
            self.grow_high(id);
        }
        if self.counted.is_none() {
            self.high.push(id);
        }
    }

    /// Makes room for a word of the bit set, or ends the bit set if half of the budget is too small; the other half is
    /// for the list.
    fn grow_words(&mut self, word: usize) {
        let words = (word + 1).next_power_of_two();
        // While it grows, the old words and the new ones exist at the same time.
        if (words + self.words.len()) as u64 * 9 <= self.memory_bytes / 2 {
            self.words.resize_with(words, AtomicU64::default);
        } else {
            self.high_from = self.words.len() as u64 * 64;
        }
    }

    /// Makes room in the list. If it may not grow, this id and all further ones are counted instead.
    #[cold]
    fn grow_high(&mut self, id: u64) {
        if let Some(counted) = &mut self.counted {
            counted.insert(id);
            return;
        }
        self.high.par_sort_unstable();
        self.high.dedup();
        if self.high.len() >= self.high.capacity() / 2 {
            let more = self.high.len().max(1 << 12);
            let needed_bytes = 8 * (2 * self.high.len() + more) as u64 + 9 * self.words.len() as u64;
            if needed_bytes > self.memory_bytes {
                let mut counted = Counted { ids: Distinct::default(), least: id, largest: id };
                // The list is closed, however many ids follow.
                std::mem::take(&mut self.high).into_iter().chain([id]).for_each(|id| counted.insert(id));
                self.counted = Some(counted);
                return;
            }
            self.high.reserve_exact(more);
        }
    }

    /// Returns the memory that would suffice for the ids so far, in bytes.
    fn needed_bytes(&self, counted: &Counted) -> (u64, u64) {
        let low: u64 = self.words.iter().map(|word| u64::from(word.load(Relaxed).count_ones())).sum();
        let ids = counted.ids.at_most() + low;
        let list_only = 24 * counted.ids.at_most() + 36 * self.words.len() as u64;
        let wide = counted.least >= 1 << 32;
        let bytes = collecting_bytes(ids, counted.least, counted.largest);
        (ids, if wide { bytes.max(list_only) } else { bytes })
    }

    /// Returns the mapping.
    ///
    /// # Errors
    /// [`Error::Memory`] if the ids did not fit, with the total budget that would suffice.
    pub fn finish(mut self) -> Result<IdMap> {
        if let Some(counted) = &self.counted {
            let (ids, bytes) = self.needed_bytes(counted);
            return Err(Error::Memory {
                what: "formatting".into(),
                needed_bytes: budget_for(bytes),
                budget_bytes: budget_for(self.memory_bytes),
                parts: format!(
                    "the map from about {ids} original ids to vertices {bytes}, at most a third of the rest"
                ),
            });
        }
        self.high.par_sort_unstable();
        self.high.dedup();
        let mut low_count = 0u64;
        let count = |block: &[u64]| {
            let before = low_count;
            low_count += block.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
            before as u32
        };
        let words: Vec<u64> = plain(self.words);
        let ranks = words.chunks(BLOCK_WORDS).map(count).collect();
        let (starts, shift) = starts_of(&self.high);
        Ok(IdMap { words, ranks, low_count, high: self.high, high_from: self.high_from, starts, shift })
    }
}

impl IdMap {
    /// Main memory in use, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        (8 * (self.words.len() + self.high.len()) + 4 * (self.ranks.len() + self.starts.len())) as u64
    }

    /// The number of vertices.
    pub fn count(&self) -> u64 {
        self.low_count + self.high.len() as u64
    }

    /// A number that all ids are below, if they are all in the bit set.
    pub fn span(&self) -> Option<u64> {
        let words = self.words.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1);
        self.high.is_empty().then_some(64 * words as u64)
    }

    /// The number of ids of the list that are smaller.
    #[inline]
    fn place(&self, id: u64) -> usize {
        let Some(part) = self.high.first().and_then(|&first| id.checked_sub(first)) else { return 0 };
        let part = (part >> self.shift) as usize;
        match self.starts.get(part..) {
            Some(&[start, end, ..]) => {
                let part = &self.high[start as usize..end as usize];
                start as usize + part.partition_point(|&before| before < id)
            }
            _ if self.starts.is_empty() => self.high.partition_point(|&before| before < id),
            _ => self.high.len(),
        }
    }

    /// Returns the vertex of an id that was inserted.
    #[inline]
    pub fn vertex(&self, id: u64) -> u64 {
        if id >= self.high_from {
            return self.low_count + self.place(id) as u64;
        }
        let word = (id / 64) as usize;
        let block = word / BLOCK_WORDS;
        let before = self.words[block * BLOCK_WORDS..word].iter().map(|word| word.count_ones()).sum::<u32>();
        let within = (self.words[word] & ((1 << (id % 64)) - 1)).count_ones();
        u64::from(self.ranks[block]) + u64::from(before + within)
    }

    /// Returns the vertex of an id, if the id was inserted.
    #[inline]
    pub fn get(&self, id: u64) -> Option<u64> {
        let known = match id < self.high_from {
            true => self.words.get((id / 64) as usize).is_some_and(|word| word >> (id % 64) & 1 != 0),
            false => self.high.get(self.place(id)) == Some(&id),
        };
        known.then(|| self.vertex(id))
    }

    /// Returns the ids in vertex order.
    pub fn ids(&self) -> impl Iterator<Item = u64> + '_ {
        let low = self.words.iter().enumerate().flat_map(|(at, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros();
                rest &= rest.wrapping_sub(1);
                (bit < 64).then_some(at as u64 * 64 + u64::from(bit))
            })
        });
        low.chain(self.high.iter().copied())
    }

    /// Returns the first id if the ids are consecutive: no file of ids is needed then.
    pub fn consecutive_from(&self) -> Option<u64> {
        let first = self.ids().next().unwrap_or(0);
        let last = self.high.last().copied().or_else(|| {
            let (at, word) = self.words.iter().enumerate().rev().find(|(_, word)| **word != 0)?;
            Some(at as u64 * 64 + 63 - u64::from(word.leading_zeros()))
        });
        match last {
            // A range that ends at 2^64 has no end that fits in 64 bits: such ids are listed like scattered ones.
            Some(u64::MAX) => None,
            Some(last) => (last - first == self.count() - 1).then_some(first),
            None => Some(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn agrees_with_a_sorted_set(
            low in prop::collection::vec(0u64..5000, 0..200),
            high in prop::collection::vec(any::<u64>(), 0..50),
            small: bool,
            edges in prop::collection::vec(
                prop::sample::select(vec![0, 63, 64, 511, 512, (1 << 32) - 1, 1 << 32, u64::MAX]),
                0..4,
            ),
        ) {
            let all: BTreeSet<u64> = low.iter().chain(&high).chain(&edges).copied().collect();
            // With the smaller budget most low ids go into the list too; neither budget allows 2^32 bits.
            let mut collector = IdCollector::new(if small { 70_000 } else { 64 << 20 });
            low.iter().chain(&high).chain(&edges).for_each(|&id| collector.insert(id));
            let map = collector.finish().unwrap();
            prop_assert_eq!(map.ids().collect::<Vec<_>>(), all.iter().copied().collect::<Vec<_>>());
            for (vertex, &id) in all.iter().enumerate() {
                prop_assert_eq!(map.vertex(id), vertex as u64);
            }
            let consecutive = match (all.first(), all.last()) {
                (Some(&first), Some(&last)) => (last - first == all.len() as u64 - 1).then_some(first),
                _ => Some(0),
            };
            prop_assert_eq!(map.consecutive_from(), consecutive);
        }
    }

    #[test]
    fn bits_end_at_32() {
        let ids = [u64::MAX, 1 << 32, (1 << 32) - 1, 0];
        let mut collector = IdCollector::new(u64::MAX);
        ids.iter().for_each(|&id| collector.insert(id));
        assert_eq!(collector.high, [u64::MAX, 1 << 32]);
        let map = collector.finish().unwrap();
        assert!(map.ids().eq(ids.into_iter().rev()));
        assert_eq!(ids.map(|id| map.vertex(id)), [3, 2, 1, 0]);
    }

    /// The budget in an error suffices, and is at most twice the smallest one that does.
    #[test]
    fn keeps_to_its_budget() {
        let low = |id: u64| id * 1_000_003 % (1 << 32);
        let wide = |id: u64| (id << 32) + (1 << 40);
        let mixed = |id: u64| if id.is_multiple_of(3) { id } else { id << 33 };
        for (name, of) in [("low", &low as &dyn Fn(u64) -> u64), ("wide", &wide), ("mixed", &mixed)] {
            for ids in [2_000u64, 50_000] {
                let collect = |memory_bytes: u64| {
                    let mut collector = IdCollector::new(memory_bytes);
                    (0..ids).chain(0..ids).for_each(|id| collector.insert(of(id)));
                    let counted = collector.counted.as_ref().map(|counted| collector.needed_bytes(counted).1);
                    (counted, collector.finish())
                };
                let (needed, refused) = collect(10_000);
                assert!(matches!(refused, Err(Error::Memory { .. })), "{name}");
                let (none, map) = collect(needed.unwrap());
                assert!(none.is_none() && map.unwrap().count() == ids, "{name}: {needed:?} for {ids}");
            }
        }
    }
}
