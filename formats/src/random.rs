//! SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014), with the
//! constants of Stafford's "mix 13": pseudorandom numbers from a seed, and a hash of 64-bit numbers. Not a cipher.

/// The odd number nearest to 2^64 divided by the golden ratio: spreads consecutive numbers over all bits.
pub const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// A permutation of the 64-bit numbers for each key, in which every output bit depends on every input bit. SplitMix64
/// has the key 0.
#[inline(always)]
pub const fn mix(number: u64, key: u64) -> u64 {
    let z = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ key ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A hash of a number: the first output of a sequence with this seed.
#[inline(always)]
pub const fn hash(number: u64) -> u64 {
    mix(number.wrapping_add(GOLDEN), 0)
}

/// A sequence of pseudorandom numbers, by its state, which starts at the seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    /// The next number.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output of the reference implementation (splitmix64.c, Vigna 2015).
    #[test]
    fn the_sequence_is_the_published_one() {
        let mut numbers = SplitMix64(1_234_567);
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(expected.map(|_| numbers.draw()), expected);
        assert_eq!(hash(1_234_567), expected[0]);
    }
}
