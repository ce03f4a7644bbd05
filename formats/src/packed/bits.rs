//! Packs of numbers: `width` bits each, from the lowest bit of the first word on.

use super::layout::BLOCK;

/// The number of words of `count` numbers of `width` bits.
pub(super) const fn words_of(count: usize, width: u32) -> usize {
    (count * width as usize).div_ceil(32)
}

/// The words of a pack of a block.
pub(super) const fn block_words(width: u32) -> usize {
    words_of(BLOCK, width)
}

/// The number of bits of a value: 0 for 0.
#[inline(always)]
pub(super) const fn bits_of(value: u32) -> u32 {
    32 - value.leading_zeros()
}

/// Reads `width` bits, at most 32, from bit `at` on. Bits beyond the words are zeros.
#[inline(always)]
pub(super) fn read(words: &[u32], at: usize, width: u32) -> u32 {
    let word = |index: usize| u64::from(words.get(index).copied().unwrap_or(0));
    let both = word(at / 32) | word(at / 32 + 1) << 32;
    ((both >> (at % 32)) & ((1 << width) - 1)) as u32
}

/// Writes the lowest `width` bits of a value into zeros from bit `at` on. They must be within the words.
#[inline(always)]
pub(super) fn write(words: &mut [u32], at: usize, width: u32, value: u32) {
    let both = (u64::from(value) & ((1 << width) - 1)) << (at % 32);
    if both as u32 != 0 {
        words[at / 32] |= both as u32;
    }
    if both >> 32 != 0 {
        words[at / 32 + 1] |= (both >> 32) as u32;
    }
}

/// Packs the lowest `width` bits of each value into exactly [`block_words`] words.
pub(super) fn pack(values: &[u32; BLOCK], width: u32, words: &mut [u32]) {
    assert_eq!(words.len(), block_words(width));
    if width == 0 {
        return;
    }
    let mask = ((1u64 << width) - 1) as u32;
    let (mut open, mut bits, mut words) = (0u64, 0, words.iter_mut());
    for &value in values {
        open |= u64::from(value & mask) << bits;
        bits += width;
        if bits >= 32 {
            *words.next().expect("as many words as bits") = open as u32;
            open >>= 32;
            bits -= 32;
        }
    }
}

/// Unpacks a block. Words must be at least [`block_words`].
pub(super) fn unpack(words: &[u32], width: u32, out: &mut [u32; BLOCK]) {
    macro_rules! by_width {
        ($($width:literal)*) => {
            match width {
                0 => out.fill(0),
                $($width => unpack_width::<$width>(words, out),)*
                _ => panic!("a width of {width} bits"),
            }
        };
    }
    by_width!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32);
}

/// Unpacks numbers of a width known at compile time: 32 of them are in `WIDTH` words, at shifts that are constants.
#[inline(never)]
fn unpack_width<const WIDTH: usize>(words: &[u32], out: &mut [u32; BLOCK]) {
    let mask = ((1u64 << WIDTH) - 1) as u32;
    let (packs, _) = words[..4 * WIDTH].as_chunks::<WIDTH>();
    let (groups, _) = out.as_chunks_mut::<32>();
    for (pack, group) in packs.iter().zip(groups) {
        macro_rules! each {
            ($($at:literal)*) => {$(
                let (word, shift) = ($at * WIDTH / 32, $at * WIDTH % 32);
                let mut value = pack[word] >> shift;
                if shift + WIDTH > 32 {
                    value |= pack[word + 1] << (32 - shift);
                }
                group[$at] = value & mask;
            )*};
        }
        each!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(seed: u32) -> [u32; BLOCK] {
        std::array::from_fn(|i| (i as u32 + seed).wrapping_mul(0x9E37_79B9))
    }

    #[test]
    fn every_width_is_unpacked_as_packed() {
        for width in 0..=32 {
            let mask = ((1u64 << width) - 1) as u32;
            let mut words = vec![0; block_words(width)];
            pack(&values(width), width, &mut words);
            let mut out = [7; BLOCK];
            unpack(&words, width, &mut out);
            assert_eq!(out, values(width).map(|value| value & mask), "{width}");
            let each: Vec<u32> = (0..BLOCK).map(|i| read(&words, i * width as usize, width)).collect();
            assert_eq!(each, out, "{width}");
            let mut again = vec![0; words.len()];
            out.iter().enumerate().for_each(|(i, &value)| write(&mut again, i * width as usize, width, value));
            assert_eq!(again, words, "{width}");
        }
    }
}
