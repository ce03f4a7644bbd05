//! A block of 128 gaps: most of them at one width, the others as exceptions (PFor; Zukowski et al., ICDE 2006).

use super::bits::{self, block_words, words_of};
use super::layout::{BLOCK, POSITION_BITS};
use crate::defect::PageDefect;

/// How the gaps of a block are written, and where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shape {
    /// The first payload word, relative to the unit's first one: 13 bits.
    pub(super) offset: u32,
    /// Bits of a packed gap: 0 to 32.
    pub(super) width: u32,
    /// The number of gaps with more bits: 0 to 127.
    pub(super) exceptions: u32,
    /// Bits of the high part of an exception: 0 without exceptions, otherwise at most 32 - `width`.
    pub(super) high: u32,
}

/// The number of gaps of a block with each number of bits.
pub(super) type Histogram = [u8; 33];

impl Shape {
    /// The second word of a block's entry.
    pub(super) fn encode(self) -> u32 {
        self.offset | self.width << 13 | self.exceptions << 19 | self.high << 26
    }

    #[inline(always)]
    pub(super) fn decode(word: u32) -> Self {
        Self { offset: word & 0x1FFF, width: word >> 13 & 63, exceptions: word >> 19 & 127, high: word >> 26 }
    }

    /// Whether widths are in their ranges.
    #[inline(always)]
    pub(super) fn is_valid(self) -> bool {
        self.width + self.high <= 32 && (self.exceptions == 0) == (self.high == 0)
    }

    /// The payload words of the packed gaps.
    #[inline(always)]
    pub(super) fn packed_words(self) -> usize {
        block_words(self.width)
    }

    /// The payload words of the exceptions.
    #[inline(always)]
    pub(super) fn exception_words(self) -> usize {
        words_of(self.exceptions as usize, POSITION_BITS + self.high)
    }

    /// All payload words.
    #[inline(always)]
    pub(super) fn words(self) -> usize {
        self.packed_words() + self.exception_words()
    }

    /// The shape with the smallest payload; of several, the one with the fewest exceptions.
    pub(super) fn smallest(histogram: &Histogram) -> Self {
        let largest = histogram.iter().rposition(|&count| count > 0).unwrap_or(0) as u32;
        let mut exceptions = 0;
        Self::best(largest, |width| {
            exceptions += u32::from(histogram[width as usize + 1]);
            exceptions
        })
    }

    /// As `smallest`, for gaps of these numbers of bits.
    pub(super) fn of_widths(widths: &[u8; BLOCK]) -> Self {
        let largest = widths.iter().fold(0, |largest, &bits| bits.max(largest));
        // At most 128, so that a byte holds the sum: sixteen are added at a time.
        let more = |width: u32| widths.iter().fold(0u8, |sum, &bits| sum + u8::from(bits > width as u8));
        Self::best(largest.into(), |width| more(width).into())
    }

    /// The shape with the smallest payload, given the bits of the largest gap. `exceptions` returns the number of gaps
    /// that have more bits than a width; it is asked of one width after another, from the largest down.
    #[inline(always)]
    fn best(largest: u32, mut exceptions: impl FnMut(u32) -> u32) -> Self {
        let mut best = Self { width: largest, ..Self::default() };
        let mut best_words = best.words();
        for width in (0..largest).rev() {
            let exceptions = exceptions(width);
            // More exceptions than their field can count; or more than could still pay, at any smaller width: each bit
            // less saves 128 bits, and costs one for each exception.
            if exceptions > 127 || words_of(exceptions as usize, POSITION_BITS + largest) >= best_words {
                break;
            }
            let shape = Self { offset: 0, width, exceptions, high: largest - width };
            if shape.words() < best_words {
                (best, best_words) = (shape, shape.words());
            }
        }
        best
    }

    /// Writes gaps in this shape into exactly as many words, which must be zeros.
    pub(super) fn pack(self, gaps: &[u32; BLOCK], words: &mut [u32]) {
        let (packed, exceptions) = words.split_at_mut(self.packed_words());
        bits::pack(gaps, self.width, packed);
        if self.exceptions == 0 {
            return;
        }
        let mut number = 0;
        for (position, &gap) in gaps.iter().enumerate() {
            let above = u64::from(gap) >> self.width;
            if above != 0 {
                bits::write(exceptions, POSITION_BITS as usize * number, POSITION_BITS, position as u32);
                bits::write(exceptions, self.high_at(number), self.high, above as u32);
                number += 1;
            }
        }
        debug_assert_eq!(number, self.exceptions as usize);
    }

    /// The bit of an exception's high part among the words of the exceptions.
    #[inline(always)]
    fn high_at(self, number: usize) -> usize {
        (POSITION_BITS * self.exceptions) as usize + self.high as usize * number
    }

    /// The bits of all exceptions.
    pub(super) fn exception_bits(self) -> usize {
        self.high_at(self.exceptions as usize)
    }

    /// The position and the high part of each exception.
    #[inline(always)]
    pub(super) fn exceptions_of(self, words: &[u32]) -> impl Iterator<Item = (u32, u32)> {
        (0..self.exceptions as usize).map(move |number| {
            let position = bits::read(words, POSITION_BITS as usize * number, POSITION_BITS);
            (position, bits::read(words, self.high_at(number), self.high))
        })
    }

    /// Checks that positions ascend, that all exceptions have high parts, and that the bits behind them are zeros.
    ///
    /// # Errors
    /// The first defect of the words of the exceptions of block `block`.
    pub(super) fn check_exceptions(self, words: &[u32], block: usize) -> Result<(), PageDefect> {
        let mut next = 0;
        for (position, high) in self.exceptions_of(words) {
            PageDefect::unless_with(
                position >= next && high > 0,
                || format!("block {block} with ascending exceptions"),
                || format!("position {position} with {high}"),
            )?;
            next = position + 1;
        }
        let used = self.exception_bits();
        let behind = bits::read(words, used, (32 * words.len() - used) as u32);
        PageDefect::unless_with(behind == 0, || "zeros behind exceptions", || format!("block {block}: {behind:x}"))
    }

    /// Adds the high parts of the exceptions to unpacked gaps. Any words are safe, also too few.
    #[inline(always)]
    pub(super) fn patch(self, exceptions: &[u32], gaps: &mut [u32; BLOCK]) {
        let bytes: &[u8] = bytemuck::cast_slice(exceptions);
        let (count, mask) = (self.exceptions as usize, (1u64 << self.high) - 1);
        let (positions, highs) = bytes.split_at(count.min(bytes.len()));
        for (number, &position) in positions.iter().enumerate() {
            let bit = number * self.high as usize;
            let high = match highs.get(bit / 8..bit / 8 + 8) {
                Some(word) => u64::from_le_bytes(word.try_into().expect("8 bytes")) >> (bit % 8) & mask,
                None => bits::read(exceptions, self.high_at(number), self.high).into(),
            };
            gaps[usize::from(position) % BLOCK] |= (high as u32).wrapping_shl(self.width);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(gaps: &[u32; BLOCK]) -> Histogram {
        let mut histogram = [0; 33];
        gaps.iter().for_each(|&gap| histogram[bits::bits_of(gap) as usize] += 1);
        histogram
    }

    /// The payload of every width, by trying all of them.
    fn smallest_words(gaps: &[u32; BLOCK]) -> usize {
        let largest = gaps.iter().map(|&gap| bits::bits_of(gap)).max().unwrap();
        let words = |width: u32| {
            let exceptions = gaps.iter().filter(|&&gap| bits::bits_of(gap) > width).count();
            let high = POSITION_BITS + largest - width;
            (exceptions < BLOCK).then(|| 4 * width as usize + (exceptions * high as usize).div_ceil(32))
        };
        (0..largest).filter_map(words).chain([4 * largest as usize]).min().unwrap()
    }

    #[test]
    fn the_smallest_shape_is_chosen_and_read_as_written() {
        for seed in 0..2000u32 {
            let gaps: [u32; BLOCK] = std::array::from_fn(|i| {
                let draw = (seed * 128 + i as u32).wrapping_mul(0x9E37_79B9) ^ seed.wrapping_mul(0x85EB_CA6B);
                let draw = (draw ^ draw >> 15).wrapping_mul(0x2C1B_3C6D);
                let draw = draw ^ draw >> 13;
                // Widths and shares of exceptions of all kinds.
                if draw % 97 < seed % 50 { draw >> (seed % 31) } else { draw >> (20 + seed % 12) }
            });
            let shape = Shape::smallest(&histogram(&gaps));
            assert_eq!(shape, Shape::of_widths(&gaps.map(|gap| bits::bits_of(gap) as u8)), "{seed}");
            assert!(shape.is_valid(), "{seed}");
            assert_eq!(shape.words(), smallest_words(&gaps), "{seed}");
            assert_eq!(Shape::decode(shape.encode()), shape);
            let mut words = vec![0; shape.words()];
            shape.pack(&gaps, &mut words);
            let mut out = [0; BLOCK];
            bits::unpack(&words, shape.width, &mut out);
            shape.patch(&words[shape.packed_words()..], &mut out);
            assert_eq!(out, gaps, "{seed}");
        }
    }

    #[test]
    fn exceptions_at_every_place() {
        for at in 0..BLOCK {
            for (width, large) in [(0, 1), (0, u32::MAX), (5, 1 << 31), (31, u32::MAX)] {
                let mut gaps = [((1u64 << width) - 1) as u32; BLOCK];
                gaps[at] = large;
                let shape = Shape::smallest(&histogram(&gaps));
                let mut words = vec![0; shape.words()];
                shape.pack(&gaps, &mut words);
                let mut out = [0; BLOCK];
                bits::unpack(&words, shape.width, &mut out);
                shape.patch(&words[shape.packed_words()..], &mut out);
                assert_eq!(out, gaps, "{at} {width}");
            }
        }
    }
}
