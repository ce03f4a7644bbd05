//! The inner loops of decoding, portable; `avx2` has others for processors with AVX2.
//!
//! Portable: prefix sums of all gaps, from which the sum before each list is subtracted, list by list. With AVX2 lists
//! only mark their first neighbours, and one pass sums the gaps since the last mark: lists of any length cost the same,
//! and no branch depends on them.

use super::bits;
use super::block::Shape;
use super::layout::{BLOCK, Bases, unzigzag};
use crate::encoding::UNIT;

/// Numbers of a list that are written at once: most lists are shorter, which saves a branch that predicts badly.
const STRIDE: usize = 16;
/// As `STRIDE`, where lists are short on average.
const SHORT_STRIDE: usize = 8;
/// The mean number of neighbours up to which lists are short.
const SHORT_MAX: usize = 5;
/// Values before and behind the unit in a [`Sums`], so that a stride may be read across its end.
const MARGIN: usize = STRIDE;

/// The prefix sums of a unit's gaps; zeros in front.
type Sums = [u32; MARGIN + UNIT + MARGIN];

/// The values of a unit, and some that are overwritten.
type Values = [u32; UNIT + STRIDE];

/// A unit that is being decoded.
#[derive(Debug)]
pub(super) struct Unit {
    /// Gaps; without the faster kernels, their prefix sums take their place.
    sums: Sums,
    /// Without the faster kernels, the values of the lists so far.
    values: Values,
    /// With the faster kernels, which neighbours begin a list: all bits of their bytes are set, and no bits of other
    /// bytes.
    heads: [u8; UNIT],
}

impl Default for Unit {
    fn default() -> Self {
        Self { sums: [0; size_of::<Sums>() / 4], values: [0; size_of::<Values>() / 4], heads: [0; UNIT] }
    }
}

impl Unit {
    /// The gaps of a block.
    #[inline(always)]
    pub(super) fn block(&mut self, block: usize) -> &mut [u32; BLOCK] {
        self.sums[MARGIN + block * BLOCK..].first_chunk_mut().expect("a block of the unit")
    }

    /// Begins with lists, after the gaps of `blocks` blocks: the first `continued` neighbours continue the list of the
    /// unit before.
    #[inline(always)]
    pub(super) fn begin(&mut self, fast: Fast, blocks: usize, continued: usize, bases: Bases) {
        if fast.is_some() {
            return self.heads.fill(0);
        }
        scan(&mut self.sums, blocks, bases.step);
        if continued > 0 {
            subtract::<STRIDE>(&self.sums, bases.before.wrapping_neg(), 0, continued, &mut self.values);
        }
    }

    /// Adds consecutive lists; returns their number and where the next one begins. Stops at the end of the unit, with a
    /// list that may go on behind it: its degree is counted in full.
    #[inline(always)]
    pub(super) fn add(&mut self, fast: Fast, lists: Lists<'_>) -> (usize, usize) {
        match (fast.is_some(), lists.own) {
            (false, _) if lists.are_short => rebase::<SHORT_STRIDE>(&self.sums, lists, &mut self.values),
            (false, _) => rebase::<STRIDE>(&self.sums, lists, &mut self.values),
            (true, None) => mark(lists, &mut self.heads),
            (true, Some(own)) => mark_own(lists, own, &mut self.heads, &mut self.sums),
        }
    }

    /// Writes the vertices of the first `count` gaps after all lists; what is written behind them is undefined. Returns
    /// whether all values are sound.
    #[inline(always)]
    pub(super) fn finish(&mut self, fast: Fast, count: usize, bases: Bases, out: &mut [u32; UNIT]) -> bool {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = fast {
            let gaps: &[u32; UNIT] = self.sums[MARGIN..].first_chunk().expect("a unit");
            return super::avx2::sum(avx2, gaps, &self.heads, count, bases, out);
        }
        let _ = fast;
        finish(&self.values[..count], bases, out)
    }
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

/// The faster kernels, if this processor has them.
#[cfg(target_arch = "x86_64")]
pub(super) type Fast = Option<super::avx2::Avx2>;
#[cfg(not(target_arch = "x86_64"))]
pub(super) type Fast = Option<std::convert::Infallible>;

/// Looks for the faster kernels.
pub(super) fn fast() -> Fast {
    #[cfg(target_arch = "x86_64")]
    return super::avx2::Avx2::detect();
    #[cfg(not(target_arch = "x86_64"))]
    None
}

/// Unpacks the gaps of a block. `words` are at least the words of the pack.
#[inline(always)]
pub(super) fn unpack(fast: Fast, words: &[u32], width: u32, out: &mut [u32; BLOCK]) {
    #[cfg(target_arch = "x86_64")]
    if fast.is_some_and(|avx2| super::avx2::unpack(avx2, words, width, out)) {
        return;
    }
    let _ = fast;
    bits::unpack(words, width, out);
}

/// Adds the high parts of a block's exceptions. `words` are at least the words of the exceptions, or the page is
/// damaged.
#[inline(always)]
pub(super) fn patch(fast: Fast, words: &[u32], shape: Shape, gaps: &mut [u32; BLOCK]) {
    #[cfg(target_arch = "x86_64")]
    if fast.is_some_and(|avx2| super::avx2::patch(avx2, words, shape, gaps)) {
        return;
    }
    let _ = fast;
    shape.patch(words, gaps);
}

/// Replaces the first `blocks` blocks of gaps by their prefix sums, four at a time, adding `step` to each gap.
fn scan(sums: &mut Sums, blocks: usize, step: u32) {
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

/// The values of lists from prefix sums.
#[inline(always)]
fn rebase<const STRIDE: usize>(sums: &Sums, lists: Lists<'_>, out: &mut Values) -> (usize, usize) {
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

/// Marks the first neighbours of lists.
#[inline(always)]
fn mark(lists: Lists<'_>, heads: &mut [u8; UNIT]) -> (usize, usize) {
    let Lists { degrees, mut at, .. } = lists;
    for (number, &degree) in degrees.iter().enumerate() {
        // A list that is empty marks the beginning of the next one.
        let Some(head) = heads.get_mut(at) else { return (number, at) };
        *head = u8::MAX;
        at += degree as usize;
    }
    (degrees.len(), at)
}

/// As `mark`, where first neighbours are relative to their list's vertex: replaces their gaps by their values.
#[inline(always)]
fn mark_own(lists: Lists<'_>, own: u32, heads: &mut [u8; UNIT], gaps: &mut Sums) -> (usize, usize) {
    let Lists { degrees, mut at, .. } = lists;
    for (number, &degree) in degrees.iter().enumerate() {
        let Some(head) = heads.get_mut(at) else { return (number, at) };
        if degree > 0 {
            let gap = &mut gaps[MARGIN + at];
            *gap = own.wrapping_add(number as u32).wrapping_add(unzigzag(*gap));
            *head = u8::MAX;
        }
        at += degree as usize;
    }
    (degrees.len(), at)
}

fn finish(values: &[u32], Bases { origin, last, .. }: Bases, out: &mut [u32]) -> bool {
    // Below 2^31, a value is too large if it or its distance to the last one has the highest bit. That takes fewer
    // instructions than comparisons of unsigned numbers where vectors have none.
    let mut signs = 0;
    for (&value, out) in values.iter().zip(out) {
        signs |= value | last.wrapping_sub(value);
        *out = value.wrapping_add(origin);
    }
    if last >> 31 == 0 { signs >> 31 == 0 } else { values.iter().all(|&value| value <= last) }
}
