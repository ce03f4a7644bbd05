//! Numbers and functions that several algorithms share, in Rust and in WGSL (shaders/lib).

/// The largest integer distance: reached, but farther away than 32 bits can express. WGSL: `TOO_FAR` of
/// lib/weights.wgsl.
pub const TOO_FAR: u32 = u32::MAX - 1;

/// Factors of the finalizer of MurmurHash3.
pub const MURMUR_FACTORS: [u32; 2] = [0x85eb_ca6b, 0xc2b2_ae35];

/// The finalizer of MurmurHash3 (Appleby): a permutation of the 32-bit numbers, in which each bit depends on all bits.
/// WGSL: `mixed` of lib/hash.wgsl.
#[inline(always)]
pub fn mixed(number: u32) -> u32 {
    let mut x = number;
    x = (x ^ x >> 16).wrapping_mul(MURMUR_FACTORS[0]);
    x = (x ^ x >> 13).wrapping_mul(MURMUR_FACTORS[1]);
    x ^ x >> 16
}

/// The inverse of [`mixed`].
pub fn unmixed(number: u32) -> u32 {
    let mut x = number ^ number >> 16;
    x = x.wrapping_mul(inverse(MURMUR_FACTORS[1]));
    x = x ^ x >> 13 ^ x >> 26;
    x = x.wrapping_mul(inverse(MURMUR_FACTORS[0]));
    x ^ x >> 16
}

/// The inverse of an odd number modulo 2^32, by Newton's iteration: each round doubles the number of correct bits.
const fn inverse(odd: u32) -> u32 {
    let mut x = odd;
    let mut right = 3;
    while right < 32 {
        x = x.wrapping_mul(2u32.wrapping_sub(odd.wrapping_mul(x)));
        right *= 2;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn mixing_can_be_undone(number: u32) {
            prop_assert_eq!(unmixed(mixed(number)), number);
        }
    }
}
