//! The inner loops of decoding, portable; `avx2` has the same ones for processors with AVX2.

use super::block::Shape;
use super::{BLOCK, UNIT, bits, unzigzag};

/// Numbers of a list that are written at once: most lists are shorter, which saves a branch that predicts badly.
const STRIDE: usize = 16;
/// The same where lists are short on average.
const SHORT_STRIDE: usize = 8;
/// The mean number of neighbours up to which lists are short.
const SHORT_MAX: usize = 5;
/// Values before and behind the unit in a [`Sums`], so that a stride may be read across its end.
const MARGIN: usize = STRIDE;

/// Gaps of a unit, then their prefix sums; zeros in front.
pub(super) type Sums = [u32; MARGIN + UNIT + MARGIN];

/// The values of a unit, and some that are overwritten.
pub(super) type Values = [u32; UNIT + STRIDE];

/// The gaps of a block of the unit.
#[inline(always)]
pub(super) fn block_of(sums: &mut Sums, block: usize) -> &mut [u32; BLOCK] {
    sums[MARGIN + block * BLOCK..].first_chunk_mut().expect("a block of the unit")
}

/// Some consecutive lists that begin in the unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lists<'a> {
    /// The number of neighbours of each.
    pub(super) degrees: &'a [u32],
    /// Where the first one begins in the unit.
    pub(super) at: usize,
    /// The value of the first list's vertex, if first neighbours are relative to it.
    pub(super) own: Option<u32>,
    /// 1 if gaps are stored less one, otherwise 0.
    pub(super) step: u32,
    /// Whether most of them are short.
    pub(super) are_short: bool,
}

/// Whether lists with as many neighbours are short.
pub(super) fn are_short(lists: usize, neighbours: u64) -> bool {
    neighbours <= (SHORT_MAX * lists) as u64
}

/// The values of the part of a list that continues from the unit before: sums and the unit's base.
pub(super) fn continue_list(sums: &Sums, base: u32, end: usize, out: &mut Values) {
    subtract::<STRIDE>(sums, base.wrapping_neg(), 0, end, out);
}

/// Whether this processor has the faster kernels.
pub(super) fn has_fast() -> bool {
    #[cfg(target_arch = "x86_64")]
    return super::avx2::is_there();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Unpacks the gaps of a block. `words` are at least those of the pack.
#[inline(always)]
pub(super) fn unpack(fast: bool, words: &[u32], width: u32, out: &mut [u32; BLOCK]) {
    #[cfg(target_arch = "x86_64")]
    if fast && super::avx2::unpack(words, width, out) {
        return;
    }
    let _ = fast;
    bits::unpack(words, width, out);
}

/// Adds the high parts of a block's exceptions. `words` are at least those of the exceptions, or the page is damaged.
#[inline(always)]
pub(super) fn patch(fast: bool, words: &[u32], shape: Shape, gaps: &mut [u32; BLOCK]) {
    #[cfg(target_arch = "x86_64")]
    if fast && super::avx2::patch(words, shape, gaps) {
        return;
    }
    let _ = fast;
    shape.patch(words, gaps);
}

/// Replaces the first `blocks` blocks of gaps by their prefix sums, adding `step` to each gap.
#[inline(always)]
pub(super) fn scan(fast: bool, sums: &mut Sums, blocks: usize, step: u32) {
    #[cfg(target_arch = "x86_64")]
    if fast {
        return super::avx2::scan(sums, blocks, step);
    }
    let _ = fast;
    scan_portable(sums, blocks, step);
}

/// The values of lists from prefix sums; returns the number of lists and where the next one begins. Stops at the end of
/// the unit, with a list that may go on behind it: its degree is counted in full.
#[inline(always)]
pub(super) fn rebase(fast: bool, sums: &Sums, lists: Lists<'_>, out: &mut Values) -> (usize, usize) {
    #[cfg(target_arch = "x86_64")]
    if fast {
        return super::avx2::rebase(sums, lists, out);
    }
    let _ = fast;
    rebase_any(sums, lists, out)
}

/// Writes the vertices of values, which begin at `origin`; returns whether all values are at most `last`.
#[inline(always)]
pub(super) fn finish(fast: bool, values: &[u32], (origin, last): (u32, u32), out: &mut [u32]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if fast {
        return super::avx2::finish(values, (origin, last), out);
    }
    let _ = fast;
    finish_any(values, (origin, last), out)
}

/// Prefix sums, four at a time.
fn scan_portable(sums: &mut Sums, blocks: usize, step: u32) {
    let mut before = 0u32;
    for four in sums[MARGIN..MARGIN + blocks * BLOCK].as_chunks_mut::<4>().0 {
        let [a, b, c, d] = four.map(|gap| gap.wrapping_add(step));
        let (ab, cd) = (a.wrapping_add(b), c.wrapping_add(d));
        let abc = ab.wrapping_add(c);
        let all = ab.wrapping_add(cd);
        *four = [a, ab, abc, all].map(|sum| before.wrapping_add(sum));
        before = before.wrapping_add(all);
    }
}

/// The values of one list, or a part of it: sums less a number. Writes up to a stride less one behind `end`, which the
/// lists after it overwrite.
#[inline(always)]
fn subtract<const STRIDE: usize>(sums: &Sums, less: u32, at: usize, end: usize, out: &mut Values) {
    let mut at = at;
    loop {
        // Always below; the compiler then knows that a stride is within both arrays.
        let first = at % UNIT;
        let from: &[u32; STRIDE] = sums[MARGIN + first..].first_chunk().expect("a margin behind the unit");
        let out: &mut [u32; STRIDE] = out[first..].first_chunk_mut().expect("a margin behind the unit");
        *out = from.map(|sum| sum.wrapping_sub(less));
        at += STRIDE;
        if at >= end {
            return;
        }
    }
}

#[inline(always)]
pub(super) fn rebase_any(sums: &Sums, lists: Lists<'_>, out: &mut Values) -> (usize, usize) {
    match lists.are_short {
        true => rebase_by::<SHORT_STRIDE>(sums, lists, out),
        false => rebase_by::<STRIDE>(sums, lists, out),
    }
}

#[inline(always)]
fn rebase_by<const STRIDE: usize>(sums: &Sums, lists: Lists<'_>, out: &mut Values) -> (usize, usize) {
    let Lists { degrees, mut at, own, step, .. } = lists;
    for (number, &degree) in degrees.iter().enumerate() {
        if at >= UNIT {
            return (number, at);
        }
        // The value of the first neighbour is its gap, so that the sum before it is subtracted.
        let before = sums[MARGIN - 1 + at % UNIT];
        let less = match own {
            None => before.wrapping_add(step),
            Some(own) => {
                let sum = sums[MARGIN + at % UNIT];
                let gap = sum.wrapping_sub(before).wrapping_sub(step);
                sum.wrapping_sub(own.wrapping_add(number as u32).wrapping_add(unzigzag(gap)))
            }
        };
        let end = at + degree as usize;
        subtract::<STRIDE>(sums, less, at, end.min(UNIT), out);
        at = end;
    }
    (degrees.len(), at)
}

#[inline(always)]
pub(super) fn finish_any(values: &[u32], (origin, last): (u32, u32), out: &mut [u32]) -> bool {
    // Below 2^31, a value is too large if it or its distance to the last one has the highest bit. That takes fewer
    // instructions than comparisons of unsigned numbers where vectors have none.
    let mut signs = 0;
    for (&value, out) in values.iter().zip(out) {
        signs |= value | last.wrapping_sub(value);
        *out = value.wrapping_add(origin);
    }
    if last >> 31 == 0 { signs >> 31 == 0 } else { values.iter().all(|&value| value <= last) }
}
