//! Places of ids in the arrays of forests: of small ids their own number, of others a slot of a hash table.

use super::vertices::Ids;
use rayon::prelude::*;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use topostream_formats::Result;
use topostream_formats::huge::try_zeroed;

/// Words or slots that a thread takes at a time.
const PART: usize = 1 << 14;

/// The ids so far, each with a place. All threads may add ids at once.
pub(super) trait Places: Sync {
    /// The place of an id, which is added if it is new.
    #[inline(always)]
    fn insert(&self, id: u64) -> u32 {
        let place = self.place(id);
        self.note(place);
        place
    }

    /// The place of an id, which is added by this or once it is [noted](Self::note).
    fn place(&self, id: u64) -> u32;

    /// Adds the id of a place, if it is not there yet.
    fn note(&self, place: u32);

    /// The place of an id, if it was added.
    fn find(&self, id: u64) -> Option<u32>;

    /// The id at a place.
    fn id(&self, place: u32) -> u64;

    /// Passes all ids and their places, on all threads.
    fn each(&self, take: impl Fn(u64, u32) + Sync);

    /// The number of ids.
    fn count(&self) -> u64;

    /// The ids in ascending order. From here on the ids have ranks, and none may be added.
    ///
    /// # Errors
    /// [`Error::Allocation`](topostream_formats::Error::Allocation).
    fn sorted(&mut self) -> Result<Ids>;

    /// The number of smaller ids than that at a place.
    fn rank(&self, place: u32) -> u32;
}

/// Ids below a limit: each is its own place.
pub(super) struct Direct {
    /// A bit for each id.
    present: Vec<AtomicU64>,
    /// The number of ids before each block of words.
    before: Vec<u32>,
}

/// Words of a block.
const BLOCK: usize = 8;

impl Direct {
    /// Places for the ids below `span`, rounded up; at most 2^32.
    pub fn new(span: u64) -> Result<Self> {
        Ok(Self { present: try_zeroed("the ids", span.div_ceil(64))?, before: Vec::new() })
    }

    /// Ids below this have a place.
    pub fn span(&self) -> u64 {
        64 * self.present.len() as u64
    }
}

fn ones(words: &[AtomicU64]) -> u32 {
    words.iter().map(|word| word.load(Relaxed).count_ones()).sum()
}

/// The ids of a word's bits.
fn ids_of(at: usize, word: &AtomicU64) -> impl Iterator<Item = u64> {
    let mut bits = word.load(Relaxed);
    std::iter::from_fn(move || {
        let bit = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        (bit < 64).then_some(64 * at as u64 + u64::from(bit))
    })
}

impl Places for Direct {
    #[inline(always)]
    fn place(&self, id: u64) -> u32 {
        id as u32
    }

    #[inline(always)]
    fn note(&self, place: u32) {
        let (word, bit) = (&self.present[place as usize / 64], 1 << (place % 64));
        if word.load(Relaxed) & bit == 0 {
            word.fetch_or(bit, Relaxed);
        }
    }

    fn find(&self, id: u64) -> Option<u32> {
        let word = self.present.get(usize::try_from(id / 64).ok()?)?;
        (word.load(Relaxed) >> (id % 64) & 1 != 0).then_some(id as u32)
    }

    #[inline(always)]
    fn id(&self, place: u32) -> u64 {
        place.into()
    }

    fn each(&self, take: impl Fn(u64, u32) + Sync) {
        self.present.par_iter().enumerate().with_min_len(PART).for_each(|(at, word)| {
            ids_of(at, word).for_each(|id| take(id, id as u32));
        });
    }

    fn count(&self) -> u64 {
        self.present.par_chunks(PART).map(|words| u64::from(ones(words))).sum()
    }

    fn sorted(&mut self) -> Result<Ids> {
        let mut before = 0;
        let next = |words| {
            let first = before;
            before += ones(words);
            first
        };
        self.before = self.present.chunks(BLOCK).map(next).collect();
        let words = || self.present.iter().enumerate();
        let count = self.count();
        let first = words().find_map(|(at, word)| ids_of(at, word).next()).unwrap_or(0);
        let last = words().rev().find_map(|(at, word)| ids_of(at, word).last());
        Ok(match last {
            Some(last) if last - first + 1 > count => {
                Ids::List(words().flat_map(|(at, word)| ids_of(at, word)).collect())
            }
            _ => Ids::Range(first, count),
        })
    }

    fn rank(&self, place: u32) -> u32 {
        let word = place as usize / 64;
        let block = word / BLOCK;
        let within = self.present[word].load(Relaxed) & !(u64::MAX << (place % 64));
        self.before[block] + ones(&self.present[block * BLOCK..word]) + within.count_ones()
    }
}

/// Any ids: open addressing with linear probing, under a key of its own for each run, so that no input can be made of
/// ids that collide.
pub(super) struct Hashed {
    /// An id's successor; 0 where the slot is free. The last slot is for the largest id, which has no successor.
    keys: Vec<AtomicU64>,
    seed: u64,
    /// By slot, once they are sorted.
    ranks: Vec<AtomicU32>,
}

/// The largest id.
const LARGEST: u64 = u64::MAX;

impl Hashed {
    /// A table with this many slots, a power of two up to 2^31, and one more.
    pub fn new(slots: u64) -> Result<Self> {
        let keys = try_zeroed("the ids", slots + 1)?;
        Ok(Self { keys, seed: RandomState::new().hash_one(slots), ranks: Vec::new() })
    }

    /// The number of slots.
    pub fn slots(&self) -> u64 {
        self.keys.len() as u64 - 1
    }

    fn last(&self) -> u32 {
        self.slots() as u32
    }

    /// The first slot on an id's way that is the one.
    #[inline(always)]
    fn probe(&self, id: u64, mut is_it: impl FnMut(&AtomicU64) -> bool) -> u32 {
        let mask = self.keys.len() - 2;
        // The finalizer of MurmurHash3 (Appleby), by which every bit of an id changes every bit of its slot.
        let mut mixed = id ^ self.seed;
        for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
            mixed = (mixed ^ (mixed >> 33)).wrapping_mul(factor);
        }
        let mut slot = (mixed ^ (mixed >> 33)) as usize & mask;
        while !is_it(&self.keys[slot]) {
            slot = (slot + 1) & mask;
        }
        slot as u32
    }
}

impl Places for Hashed {
    #[inline]
    fn place(&self, id: u64) -> u32 {
        if id == LARGEST {
            self.keys[self.last() as usize].store(1, Relaxed);
            return self.last();
        }
        let key = id + 1;
        self.probe(id, |slot| match slot.load(Relaxed) {
            0 => slot.compare_exchange(0, key, Relaxed, Relaxed).map_or_else(|other| other == key, |_| true),
            other => other == key,
        })
    }

    #[inline(always)]
    fn note(&self, _place: u32) {}

    fn find(&self, id: u64) -> Option<u32> {
        let slot = match id {
            LARGEST => self.last(),
            _ => self.probe(id, |slot| [0, id + 1].contains(&slot.load(Relaxed))),
        };
        (self.keys[slot as usize].load(Relaxed) != 0).then_some(slot)
    }

    #[inline(always)]
    fn id(&self, place: u32) -> u64 {
        if place == self.last() { LARGEST } else { self.keys[place as usize].load(Relaxed) - 1 }
    }

    fn each(&self, take: impl Fn(u64, u32) + Sync) {
        self.keys.par_iter().enumerate().with_min_len(PART).for_each(|(at, key)| {
            if key.load(Relaxed) != 0 {
                take(self.id(at as u32), at as u32);
            }
        });
    }

    fn count(&self) -> u64 {
        self.keys.par_iter().with_min_len(PART).filter(|key| key.load(Relaxed) != 0).count() as u64
    }

    fn sorted(&mut self) -> Result<Ids> {
        let used = (0..=self.last()).into_par_iter().filter(|&slot| self.keys[slot as usize].load(Relaxed) != 0);
        let mut ids: Vec<u64> = used.map(|slot| self.id(slot)).collect();
        ids.par_sort_unstable();
        let ranks: Vec<AtomicU32> = try_zeroed("the order of the ids", self.keys.len() as u64)?;
        ids.par_iter().enumerate().for_each(|(rank, &id)| {
            let slot = self.find(id).expect("it is in the table");
            ranks[slot as usize].store(rank as u32, Relaxed);
        });
        self.ranks = ranks;
        Ok(Ids::of(ids))
    }

    fn rank(&self, place: u32) -> u32 {
        self.ranks[place as usize].load(Relaxed)
    }
}
