//! A seeded permutation of the ids `0..2^bits`, computed and not stored.
//!
//! R-MAT's hubs are the ids with the fewest one bits; in real graphs a vertex's id does not reveal its degree. Each
//! round multiplies by an odd number, adds, and folds the high half into the low half. All three are invertible modulo
//! 2^bits, so the whole is a permutation.

use super::random::Stream;

const ROUNDS: usize = 3;

/// A permutation of `0..2^bits`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scramble {
    mask: u64,
    shift: u32,
    rounds: [Round; ROUNDS],
}

/// The keys of one round.
#[derive(Clone, Copy, Debug)]
struct Round {
    factor: u64,
    offset: u64,
}

impl Scramble {
    /// Creates the permutation of `0..2^bits` (`bits` up to 32) for these keys.
    pub(super) fn new(bits: u32, keys: Stream) -> Self {
        let round = |n: usize| Round { factor: keys.word(2 * n as u64) | 1, offset: keys.word(2 * n as u64 + 1) };
        Self { mask: (1 << bits) - 1, shift: bits.div_ceil(2).max(1), rounds: std::array::from_fn(round) }
    }

    /// Returns the image of `id`.
    #[inline]
    pub(super) fn apply(&self, mut id: u64) -> u64 {
        for Round { factor, offset } in self.rounds {
            id = id.wrapping_mul(factor).wrapping_add(offset) & self.mask;
            id ^= id >> self.shift;
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_small_scale_is_a_permutation() {
        for bits in 0..=16 {
            for seed in 0..4 {
                let scramble = Scramble::new(bits, Stream::new(seed, 0));
                let mut seen = vec![false; 1 << bits];
                for id in 0..1 << bits {
                    let to = scramble.apply(id) as usize;
                    assert!(!std::mem::replace(&mut seen[to], true), "{bits} bits, seed {seed}: {to} comes twice");
                }
            }
        }
    }

    /// The inverse of an odd number modulo 2^64, by Newton's iteration.
    fn inverse(odd: u64) -> u64 {
        (0..6).fold(odd, |x, _| x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x))))
    }

    #[test]
    fn every_round_has_an_inverse_at_large_scales() {
        for bits in 17..=32 {
            let scramble = Scramble::new(bits, Stream::new(5, 0));
            for id in (0..1u64 << bits).step_by((1 << bits) / 1009) {
                let mut back = scramble.apply(id);
                for Round { factor, offset } in scramble.rounds.into_iter().rev() {
                    back ^= back >> scramble.shift;
                    back = back.wrapping_sub(offset).wrapping_mul(inverse(factor)) & scramble.mask;
                }
                assert_eq!(back, id, "{bits} bits");
            }
        }
    }

    #[test]
    fn hubs_are_scattered() {
        // The ids with at most one bit set, R-MAT's largest hubs, are distributed about evenly over halves and low
        // bits.
        let bits = 20;
        let mut high_or_low = [0; 2];
        for seed in 0..200 {
            let scramble = Scramble::new(bits, Stream::new(seed, 0));
            for id in std::iter::once(0).chain((0..bits).map(|bit| 1 << bit)) {
                high_or_low[0] += scramble.apply(id) >> (bits - 1);
                high_or_low[1] += scramble.apply(id) & 1;
            }
        }
        let ids = 200.0 * f64::from(bits + 1);
        for count in high_or_low {
            assert!((count as f64 - ids / 2.0).abs() < 2.5 * ids.sqrt(), "{count} of {ids}");
        }
    }
}
