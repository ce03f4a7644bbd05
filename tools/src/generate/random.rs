//! Random bits by number: a keyed function from a counter to 64 bits, with no state to advance.
//!
//! ```text
//!  counter ─× golden, + first key─▶ xorshift, × ─▶ second key ─▶ xorshift, × ─▶ xorshift ─▶ 64 bits
//! ```
//!
//! This is the output function of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014, with Stafford's "mix 13" constants),
//! which passes BigCrush on consecutive counters,
//! with a second key between its two rounds. Without that key all streams would be windows of one sequence, and two of
//! them might overlap; with it each stream is its own permutation of the 64-bit numbers. Every step is a bijection, so
//! no two counters of a stream collide. The cost is three multiplications, and consecutive counters overlap in the
//! pipeline.
//!
//! It is not a cipher: the keys can be derived from the output.

use topostream_formats::random::{GOLDEN, mix};

/// A sequence of random words: words for different purposes are independent although they share a seed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    first_key: u64,
    second_key: u64,
}

impl Stream {
    /// Returns the stream of `seed` for one purpose; callers number their own purposes.
    pub(super) fn new(seed: u64, purpose: u64) -> Self {
        let keys = Self { first_key: mix(seed.wrapping_add(GOLDEN), 0), second_key: 0 };
        let at = purpose.wrapping_mul(2);
        Self { first_key: keys.word(at), second_key: keys.word(at.wrapping_add(1)) }
    }

    /// Returns the 64 random bits of number `counter`.
    #[inline]
    pub(super) fn word(&self, counter: u64) -> u64 {
        mix(counter.wrapping_mul(GOLDEN).wrapping_add(self.first_key), self.second_key)
    }
}

/// Returns a number in `0..range` from 64 random bits: the high half of their product (Lemire's reduction without
/// rejection). For ranges up to 2^32 each value's probability is off by a factor of at most 1 ± 2^-32.
#[inline]
pub(super) fn below(range: u64, word: u64) -> u64 {
    ((u128::from(word) * u128::from(range)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUNDS: u64 = 1 << 16;

    /// How often each of 64 output bits flips between `word(i)` of two streams or counters, over [`ROUNDS`] pairs.
    fn flips(pair: impl Fn(u64) -> (u64, u64)) -> [u64; 64] {
        let mut counts = [0; 64];
        for round in 0..ROUNDS {
            let (x, y) = pair(round);
            for (bit, count) in counts.iter_mut().enumerate() {
                *count += ((x ^ y) >> bit) & 1;
            }
        }
        counts
    }

    fn assert_half(counts: [u64; 64], what: &str) {
        let six_sigma = 3.0 * (ROUNDS as f64).sqrt();
        for (bit, count) in counts.into_iter().enumerate() {
            let off = (count as f64 - ROUNDS as f64 / 2.0).abs();
            assert!(off < six_sigma, "{what}: output bit {bit} flips {count} times in {ROUNDS}");
        }
    }

    /// Returns `number` with a 0 bit inserted at position `bit`.
    fn with_zero_at(bit: u32, number: u64) -> u64 {
        let low = number & ((1 << bit) - 1);
        ((number ^ low) << 1) | low
    }

    #[test]
    fn every_counter_bit_flips_half_of_the_output() {
        let stream = Stream::new(7, 3);
        for bit in 0..64 {
            let pair = |i| (stream.word(with_zero_at(bit, i)), stream.word(with_zero_at(bit, i) | (1 << bit)));
            assert_half(flips(pair), &format!("counter bit {bit}"));
        }
    }

    #[test]
    fn seeds_and_purposes_give_unrelated_streams() {
        for bit in 0..64 {
            let (x, y) = (Stream::new(7, 3), Stream::new(7 ^ (1 << bit), 3));
            assert_half(flips(|i| (x.word(i), y.word(i))), &format!("seed bit {bit}"));
        }
        let (x, y) = (Stream::new(7, 3), Stream::new(7, 4));
        assert_half(flips(|i| (x.word(i), y.word(i))), "purpose");
        let y = Stream { second_key: y.second_key, ..x };
        assert_half(flips(|i| (x.word(i), y.word(i))), "second key alone");
    }

    #[test]
    fn reduction_stays_below_its_range() {
        for range in [1, 2, 3, 1 << 32] {
            assert_eq!(below(range, 0), 0);
            assert_eq!(below(range, u64::MAX), range - 1);
        }
    }
}
