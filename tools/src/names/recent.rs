//! Names that occurred recently: those of hubs need not be written to disk again and again.

use super::Key;

/// Bytes of a slot.
const SLOT_BYTES: usize = 32;
/// Names of at most this many bytes are in their slot. Of longer ones a slot has 248 bits of two hashes.
const INLINE_MAX: usize = SLOT_BYTES - 2;
/// The tag of a slot with a longer name.
const LONG: u8 = 255;

/// A table of names, each in the only slot that its hash allows.
pub struct Recent {
    /// Zeroed by the system, so that memory is taken as slots are used.
    slots: Vec<u8>,
    seed: u64,
}

impl Recent {
    /// A table that takes at most `memory_bytes`, for hashes with a seed.
    pub fn new(memory_bytes: u64, seed: u64) -> Self {
        let slots = (memory_bytes / SLOT_BYTES as u64).max(2).ilog2();
        Self { slots: vec![0; SLOT_BYTES << slots], seed }
    }

    /// Whether a name is in the table; it is afterwards.
    #[inline]
    pub fn insert(&mut self, name: &[u8], key: Key) -> bool {
        // The upper bits choose the part on disk: names of a part are spread over all slots.
        let slot = (key as usize & (self.slots.len() / SLOT_BYTES - 1)) * SLOT_BYTES;
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
        let slot = &mut self.slots[slot..slot + SLOT_BYTES];
        if slot == wanted {
            return true;
        }
        slot.copy_from_slice(&wanted);
        false
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
}
