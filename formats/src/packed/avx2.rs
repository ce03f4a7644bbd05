//! The kernels for processors with AVX2: eight numbers at a time.
//!
//! Eight numbers of `width` bits have `width` bytes, so that the same byte shuffle and the same shifts unpack every
//! eight of a block. A shuffle works within 16 bytes: the lower four numbers and the upper four are loaded separately.

use super::bits;
use super::block::Shape;
use super::layout::{BLOCK, Bases};
use crate::encoding::UNIT;
use std::arch::x86_64::*;

/// The widest numbers that lie in four bytes wherever they begin.
const WIDTH_MAX: usize = 25;

/// For each width, the bytes of each of eight numbers, and the bits before it in them.
static SHUFFLES: [([u8; 32], [u32; 8]); WIDTH_MAX + 1] = shuffles();

const fn shuffles() -> [([u8; 32], [u32; 8]); WIDTH_MAX + 1] {
    let mut all = [([0; 32], [0; 8]); WIDTH_MAX + 1];
    let mut width = 0;
    while width <= WIDTH_MAX {
        let mut number = 0;
        while number < 8 {
            // The upper four begin at the byte with their first bit.
            let first = if number < 4 { 0 } else { 4 * width / 8 * 8 };
            let bit = number * width - first;
            let mut byte = 0;
            while byte < 4 {
                all[width].0[4 * number + byte] = (bit / 8 + byte) as u8;
                byte += 1;
            }
            all[width].1[number] = (bit % 8) as u32;
            number += 1;
        }
        width += 1;
    }
    all
}

/// Says that the processor has AVX2: there is none otherwise.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2(());

impl Avx2 {
    /// Looks for AVX2.
    pub(super) fn detect() -> Option<Self> {
        is_x86_feature_detected!("avx2").then_some(Self(()))
    }
}

/// Unpacks a block, if its width and the words behind it allow.
#[inline(always)]
pub(super) fn unpack(_: Avx2, words: &[u32], width: u32, out: &mut [u32; BLOCK]) -> bool {
    // The last load is of 16 bytes and begins within the block.
    if width as usize > WIDTH_MAX || words.len() < bits::block_words(width) + 4 {
        return false;
    }
    #[allow(unsafe_code)]
    // SAFETY: an `Avx2` says that the processor has it.
    unsafe {
        unpack_avx2(words, width as usize, out);
    }
    true
}

#[target_feature(enable = "avx2")]
fn unpack_avx2(words: &[u32], width: usize, out: &mut [u32; BLOCK]) {
    assert!(width <= WIDTH_MAX && words.len() >= 4 * width + 4);
    let (shuffle, shift) = &SHUFFLES[width];
    let (bytes, upper) = (words.as_ptr().cast::<u8>(), 4 * width / 8);
    let mask = _mm256_set1_epi32(((1u64 << width) - 1) as i32);
    #[allow(unsafe_code)]
    // SAFETY: both arrays have 32 bytes. The last load begins at byte 15 × width + width / 2, less than the 16 × width
    // of the block, and 16 bytes are behind the block. Stores are of eight of the 128 numbers each.
    unsafe {
        let shuffle = _mm256_loadu_si256(shuffle.as_ptr().cast());
        let shift = _mm256_loadu_si256(shift.as_ptr().cast());
        for group in 0..BLOCK / 8 {
            let from = bytes.add(group * width);
            let lower = _mm256_castsi128_si256(_mm_loadu_si128(from.cast()));
            let both = _mm256_inserti128_si256::<1>(lower, _mm_loadu_si128(from.add(upper).cast()));
            let numbers = _mm256_srlv_epi32(_mm256_shuffle_epi8(both, shuffle), shift);
            _mm256_storeu_si256(out.as_mut_ptr().add(8 * group).cast(), _mm256_and_si256(numbers, mask));
        }
    }
}

/// Adds the high parts of exceptions, which begin at the first byte behind the positions, to gaps, if their width and
/// the words behind them allow.
#[inline(always)]
pub(super) fn patch(_: Avx2, exceptions: &[u32], shape: Shape, gaps: &mut [u32; BLOCK]) -> bool {
    let bytes = shape.exceptions as usize + (shape.exceptions * shape.high).div_ceil(8) as usize;
    // Eight are unpacked at a time, and the last load begins among the bytes of the last eight.
    if shape.high as usize > WIDTH_MAX || 4 * exceptions.len() < bytes + shape.high as usize + 16 {
        return false;
    }
    #[allow(unsafe_code)]
    // SAFETY: an `Avx2` says that the processor has it.
    unsafe {
        patch_avx2(exceptions, shape, gaps);
    }
    true
}

#[target_feature(enable = "avx2")]
fn patch_avx2(exceptions: &[u32], shape: Shape, gaps: &mut [u32; BLOCK]) {
    let (count, width) = (shape.exceptions as usize, shape.high as usize);
    let bytes: &[u8] = bytemuck::cast_slice(exceptions);
    let (positions, highs) = bytes.split_at(count);
    let groups = count.div_ceil(8);
    assert!(width <= WIDTH_MAX && highs.len() >= groups * width + 16 && groups <= BLOCK / 8);
    let (shuffle, shift) = &SHUFFLES[width];
    let (mask, left) = (_mm256_set1_epi32(((1u64 << width) - 1) as i32), _mm_cvtsi32_si128(shape.width as i32));
    for (group, positions) in positions.chunks(8).enumerate() {
        let mut numbers = [0u32; 8];
        #[allow(unsafe_code)]
        // SAFETY: both arrays have 32 bytes. Loads begin within the first groups × width bytes, behind which there are
        // 16. The store is of eight numbers.
        unsafe {
            let shuffle = _mm256_loadu_si256(shuffle.as_ptr().cast());
            let shift = _mm256_loadu_si256(shift.as_ptr().cast());
            let from = highs.as_ptr().add(group * width);
            let lower = _mm256_castsi128_si256(_mm_loadu_si128(from.cast()));
            let both = _mm256_inserti128_si256::<1>(lower, _mm_loadu_si128(from.add(4 * width / 8).cast()));
            let unpacked = _mm256_and_si256(_mm256_srlv_epi32(_mm256_shuffle_epi8(both, shuffle), shift), mask);
            _mm256_storeu_si256(numbers.as_mut_ptr().cast(), _mm256_sll_epi32(unpacked, left));
        }
        for (&position, number) in positions.iter().zip(numbers) {
            gaps[usize::from(position) % BLOCK] |= number;
        }
    }
}

/// For each set of heads among eight neighbours, the head of each one's list; -1 if it is none of them.
static HEADS: [[i8; 8]; 256] = heads();

const fn heads() -> [[i8; 8]; 256] {
    let mut all = [[-1; 8]; 256];
    let mut set = 0;
    while set < 256 {
        let (mut number, mut head) = (0, -1);
        while number < 8 {
            if set >> number & 1 != 0 {
                head = number as i8;
            }
            all[set][number] = head;
            number += 1;
        }
        set += 1;
    }
    all
}

/// Vertices from gaps.
#[inline(always)]
pub(super) fn sum(
    _: Avx2,
    gaps: &[u32; UNIT],
    heads: &[u8; UNIT],
    count: usize,
    bases: Bases,
    out: &mut [u32; UNIT],
) -> bool {
    #[allow(unsafe_code)]
    // SAFETY: an `Avx2` says that the processor has it.
    unsafe {
        sum_avx2(gaps, heads, count, bases, out)
    }
}

#[target_feature(enable = "avx2")]
fn sum_avx2(gaps: &[u32; UNIT], heads: &[u8; UNIT], count: usize, bases: Bases, out: &mut [u32; UNIT]) -> bool {
    let (gaps_of, heads_of) = (gaps.as_chunks::<8>().0, heads.as_chunks::<8>().0);
    let [step, origin, last] = [bases.step, bases.origin, bases.last].map(|number| _mm256_set1_epi32(number as i32));
    // What is subtracted from sums that continue a list: less its last value.
    let mut less = _mm256_set1_epi32(bases.before.wrapping_neg() as i32);
    let mut largest = _mm256_setzero_si256();
    let (whole, seventh) = (count / 8, _mm256_set1_epi32(7));
    for ((gaps, heads), out) in gaps_of.iter().zip(heads_of).zip(out.as_chunks_mut::<8>().0).take(whole) {
        #[allow(unsafe_code)]
        // SAFETY: loads of eight numbers and of eight bytes, from as many.
        let (gaps, heads) =
            unsafe { (_mm256_loadu_si256(gaps.as_ptr().cast()), _mm_loadl_epi64(heads.as_ptr().cast())) };
        let set = _mm_movemask_epi8(heads) as usize & 0xFF;
        #[allow(unsafe_code)]
        // SAFETY: a load of eight bytes from eight bytes.
        let head = _mm256_cvtepi8_epi32(unsafe { _mm_loadl_epi64(HEADS[set].as_ptr().cast()) });
        let one = _mm256_add_epi32(gaps, step);
        let two = _mm256_add_epi32(one, _mm256_slli_si256::<4>(one));
        let four = _mm256_add_epi32(two, _mm256_slli_si256::<8>(two));
        // The sum of the lower four goes to each of the upper four.
        let lower = _mm256_permute2x128_si256::<0x08>(four, four);
        let sums = _mm256_add_epi32(four, _mm256_shuffle_epi32::<0xFF>(lower));
        // The value of a head is its gap: what is in the sum before it, and its step, is subtracted.
        let of_head = _mm256_permutevar8x32_epi32(_mm256_sub_epi32(sums, gaps), head);
        let less_each = _mm256_blendv_epi8(of_head, less, _mm256_srai_epi32::<31>(head));
        let values = _mm256_sub_epi32(sums, less_each);
        less = _mm256_permutevar8x32_epi32(_mm256_sub_epi32(less_each, sums), seventh);
        largest = _mm256_max_epu32(largest, values);
        #[allow(unsafe_code)]
        // SAFETY: a store of eight numbers to eight numbers.
        unsafe {
            _mm256_storeu_si256(out.as_mut_ptr().cast(), _mm256_add_epi32(values, origin));
        }
    }
    let mut sound = _mm256_movemask_epi8(_mm256_cmpeq_epi32(_mm256_max_epu32(largest, last), last)) == -1;
    let mut before = _mm256_extract_epi32::<0>(less).wrapping_neg() as u32;
    for at in 8 * whole..count {
        let gap = gaps[at];
        before = if heads[at] == 0 { before.wrapping_add(bases.step).wrapping_add(gap) } else { gap };
        sound &= before <= bases.last;
        out[at] = before.wrapping_add(bases.origin);
    }
    sound
}
