//! Names that occurred recently: names of hubs need not be written to disk again and again.

use super::Key;

/// Bytes of a slot.
const SLOT_BYTES: usize = 32;
/// Names of at most this many bytes are in their slot. Of longer ones a slot has 248 bits of two hashes.
const INLINE_MAX: usize = SLOT_BYTES - 2;
/// The tag of a slot with a longer name.
const LONG: u8 = 255;

/// The first size of a table, in bytes: as long as it has room, it is in a cache.
const FIRST_BYTES: u64 = 4 << 20;
/// How much larger a table becomes that is too small.
const GROWTH: usize = 8;

/// What is in slots without a name: the tag of no name.
const EMPTY: u8 = 128;

/// Slots without names. They are written: pages that are read first, as zeros, and then written would be mapped twice,
/// and other threads interrupted.
fn empty(bytes: usize) -> Vec<u8> {
    vec![EMPTY; bytes]
}

/// A table of names, each in the only slot that its hash allows.
pub struct Recent {
    slots: Vec<u8>,
    bytes_max: u64,
    /// Names that were not in the table since it has this size.
    missed: usize,
    seed: u64,
}

impl Recent {
    /// A table that takes at most `memory_bytes`, for hashes with a seed.
    pub fn new(memory_bytes: u64, seed: u64) -> Self {
        let bytes_max = 1 << memory_bytes.max(2 * SLOT_BYTES as u64).ilog2();
        Self { slots: empty(bytes_max.min(FIRST_BYTES) as usize), bytes_max, missed: 0, seed }
    }

    /// Where the slot of a name begins.
    #[inline]
    fn slot(&self, key: Key) -> usize {
        // The upper bits choose the part on disk: names of a part are spread over all slots.
        (key as usize & (self.slots.len() / SLOT_BYTES - 1)) * SLOT_BYTES
    }

    /// Reads the slots of some names, so that they are in a cache when they are needed: waiting for one of them is
    /// waiting for all.
    #[inline]
    pub fn touch(&self, keys: impl Iterator<Item = Key>) {
        let touched = keys.fold(0, |touched, key| touched ^ self.slots[self.slot(key)]);
        std::hint::black_box(touched);
    }

    /// Whether a name is in the table; it is afterwards.
    #[inline]
    pub fn insert(&mut self, name: &[u8], key: Key) -> bool {
        let mut wanted = [0; SLOT_BYTES];
        if name.len() <= INLINE_MAX {
            wanted[..name.len()].copy_from_slice(name);
            wanted[SLOT_BYTES - 1] = name.len() as u8 + 1;
        } else {
            let second = super::key(name, !self.seed);
            wanted[..16].copy_from_slice(&key.to_le_bytes());
            wanted[16..31].copy_from_slice(&second.to_le_bytes()[..15]);
            wanted[SLOT_BYTES - 1] = LONG;
        }
        let slot = self.slot(key);
        let slot = &mut self.slots[slot..slot + SLOT_BYTES];
        if *slot == wanted {
            return true;
        }
        slot.copy_from_slice(&wanted);
        self.missed += 1;
        if self.missed > self.slots.len() / SLOT_BYTES {
            self.grow();
        }
        false
    }

    /// Makes a larger table if that is allowed. It begins empty: names come again, and are found when they are
    /// compared.
    #[cold]
    fn grow(&mut self) {
        self.missed = 0;
        let bytes = (self.slots.len() * GROWTH).min(self.bytes_max as usize);
        if bytes > self.slots.len() {
            // The old one is freed before.
            self.slots = Vec::new();
            self.slots = empty(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_share_a_slot_are_told_apart() {
        let mut recent = Recent::new(64, 1);
        let names: [&[u8]; 6] = [b"", b"\0", b"a", &[7; 30], &[7; 31], &[7; 32]];
        for name in names {
            // All of them with one hash: only their bytes differ, or the second hash.
            assert!(!recent.insert(name, 5) && recent.insert(name, 5), "{name:?}");
        }
    }

    #[test]
    fn tables_grow_up_to_their_limit() {
        let mut recent = Recent::new((40 << 20) + 5, 1);
        for at in 0..3_000_000u64 {
            let name = at.to_le_bytes();
            recent.insert(&name, super::super::key(&name, 1));
        }
        assert_eq!(recent.slots.len(), 32 << 20);
    }
}
