//! A minimal perfect hash of some keys: each gets a number of its own, below their count.
//!
//! Each level is a set of bits, three times as many as there are keys left. A key whose bit no other key has is
//! numbered by the bits before it; the others go to the next level (Limasset, Rizk, Chikhi, Peterlongo: Fast and
//! scalable minimal perfect hashing for massive key sets, SEA 2017). Takes about five bits a key.

use super::Key;

/// Bits of a level for each key.
const BITS_PER_KEY: u64 = 3;
/// Bits between two counts.
const BLOCK_WORDS: usize = 8;
/// Keys that are left after this many levels are listed.
const LEVELS_MAX: u32 = 24;

/// The function. Keys that it was not made of get any number.
#[derive(Debug, Default)]
pub struct Perfect {
    words: Vec<u64>,
    /// Set bits before each block.
    ranks: Vec<u32>,
    /// The first word, and the number of bits, of each level.
    levels: Vec<(u32, u64)>,
    /// The keys that no level has, in ascending order, and the number of keys that levels have.
    rest: Vec<Key>,
    numbered: u32,
}

/// The bit of a key in a level.
#[inline]
fn place(key: Key, level: u32, bits: u64) -> u64 {
    // The upper bits have chosen the part; the lower half is independent of them.
    let mixed = (key as u64 ^ ((key >> 64) as u64).rotate_left(7 * level + 1))
        .wrapping_add(u64::from(level))
        .wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ mixed >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    ((u128::from(mixed ^ mixed >> 29) * u128::from(bits)) >> 64) as u64
}

impl Perfect {
    /// The function of distinct keys, at most 2^32.
    pub fn new(keys: &[Key]) -> Self {
        let mut perfect = Self::default();
        let mut left: Vec<Key> = keys.to_vec();
        for level in 0..LEVELS_MAX {
            if left.is_empty() {
                break;
            }
            let words = (left.len() as u64 * BITS_PER_KEY).div_ceil(64);
            let bits = 64 * words;
            let (mut once, mut twice) = (vec![0u64; words as usize], vec![0u64; words as usize]);
            for &key in &left {
                let (word, bit) = split(place(key, level, bits));
                twice[word] |= once[word] & bit;
                once[word] |= bit;
            }
            once.iter_mut().zip(&twice).for_each(|(once, twice)| *once &= !twice);
            left.retain(|&key| {
                let (word, bit) = split(place(key, level, bits));
                once[word] & bit == 0
            });
            perfect.levels.push((perfect.words.len() as u32, bits));
            perfect.words.append(&mut once);
        }
        let mut before = 0;
        for block in perfect.words.chunks(BLOCK_WORDS) {
            perfect.ranks.push(before);
            before += block.iter().map(|word| word.count_ones()).sum::<u32>();
        }
        left.sort_unstable();
        // The function is kept for long, the room of what has been numbered is not.
        left.shrink_to_fit();
        perfect.words.shrink_to_fit();
        (perfect.rest, perfect.numbered) = (left, before);
        perfect
    }

    /// The number of a key.
    #[inline]
    pub fn number(&self, key: Key) -> u32 {
        for (level, &(first, bits)) in self.levels.iter().enumerate() {
            let (word, bit) = split(place(key, level as u32, bits));
            let word = first as usize + word;
            if self.words[word] & bit != 0 {
                let block = word / BLOCK_WORDS;
                let before: u32 = self.words[block * BLOCK_WORDS..word].iter().map(|word| word.count_ones()).sum();
                return self.ranks[block] + before + (self.words[word] & (bit - 1)).count_ones();
            }
        }
        self.numbered + self.rest.partition_point(|&before| before < key) as u32
    }

    /// Main memory in use, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        let rest = self.rest.capacity() + self.levels.capacity();
        (8 * self.words.capacity() + 4 * self.ranks.capacity() + 16 * rest) as u64
    }
}

#[inline]
fn split(bit: u64) -> (usize, u64) {
    ((bit / 64) as usize, 1 << (bit % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_a_number_of_its_own() {
        for count in [0u64, 1, 2, 3, 100, 30_000] {
            let keys: Vec<Key> = (0..count).map(|at| super::super::key(&at.to_le_bytes(), 7)).collect();
            let perfect = Perfect::new(&keys);
            let mut numbers: Vec<u32> = keys.iter().map(|&key| perfect.number(key)).collect();
            numbers.sort_unstable();
            assert!(numbers.iter().enumerate().all(|(at, &number)| at as u32 == number));
            assert!(count < 1000 || 8 * perfect.memory_bytes() < 6 * count, "at most six bits a key");
            // Any other key is answered without a panic.
            perfect.number(super::super::key(b"another", 7));
        }
    }
}
