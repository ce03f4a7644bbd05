//! Packed original ids: SPEC.md, section 9.
//!
//! ```text
//!  ids      5 9 12 … │ 3 4 7 … │ 1 2 6 …      `listed` ids in blocks of 128, as gaps or as differences to the smallest
//!           degree 8+  degree 4+  the rest    the rest: what is left of a range of numbers, ascending, takes no bytes
//! ```
//!
//! Vertices that are numbered by degree in groups have ascending ids within each group. The last group, of vertices
//! without edges, is often the largest.

mod single;
#[cfg(test)]
mod tests;

pub use single::{find, look_up};

use super::bits::{self, block_words, words_of};
use super::layout::{BLOCK, POSITION_BITS};
use crate::defect::PageDefect;
use std::io::Read;

/// The words before the first block: how many ids are listed, and where the range of all ids begins, a u64 each.
const HEADER_WORDS: usize = 4;
/// The maximum number of words of a block: its header, a smallest id, and 128 numbers of 64 bits. Exceptions replace
/// more bits than they take.
const BLOCK_WORDS_MAX: usize = 3 + 2 * BLOCK;

/// How the numbers of a block are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct IdShape {
    /// Bits of a packed number: 0 to 64.
    width: u32,
    /// The number of numbers with more bits: 0 to 127.
    exceptions: u32,
    /// Bits of the high part of an exception: 0 without exceptions, otherwise at most 64 - `width`.
    high: u32,
    /// Whether numbers are differences to the block's smallest id, not gaps.
    is_frame: bool,
}

impl IdShape {
    fn encode(self) -> u32 {
        self.width | self.exceptions << 7 | self.high << 14 | u32::from(self.is_frame) << 21
    }

    fn decode(word: u32) -> Result<Self, PageDefect> {
        let (width, exceptions, high) = (word & 127, word >> 7 & 127, word >> 14 & 127);
        let shape = Self { width, exceptions, high, is_frame: word >> 21 & 1 == 1 };
        let sound = width + high <= 64 && (exceptions == 0) == (high == 0) && word >> 22 == 0;
        PageDefect::unless_with(sound, || "widths of up to 64 bits", || format!("{word:#010x}"))?;
        let fits = shape.words() <= BLOCK_WORDS_MAX;
        PageDefect::unless_with(fits, || "a block that is smaller than its ids", || format!("{word:#010x}"))?;
        Ok(shape)
    }

    fn packed_words(self) -> usize {
        block_words(self.width)
    }

    fn exception_words(self) -> usize {
        words_of(self.exceptions as usize, POSITION_BITS + self.high)
    }

    /// All words after the header.
    fn words(self) -> usize {
        2 * usize::from(self.is_frame) + self.packed_words() + self.exception_words()
    }

    /// The smallest shape of numbers.
    fn smallest(numbers: &[u64; BLOCK], is_frame: bool) -> Self {
        let mut counts = [0u32; 65];
        numbers.iter().for_each(|&number| counts[bits_of(number) as usize] += 1);
        let largest = counts.iter().rposition(|&count| count > 0).unwrap_or(0) as u32;
        let mut best = Self { width: largest, is_frame, ..Self::default() };
        let mut exceptions = 0;
        for width in (0..largest).rev() {
            exceptions += counts[width as usize + 1];
            if exceptions > 127 {
                break;
            }
            let shape = Self { width, exceptions, high: largest - width, is_frame };
            if shape.words() < best.words() {
                best = shape;
            }
        }
        best
    }

    /// Writes numbers into as many words, which must be zeros.
    fn pack(self, numbers: &[u64; BLOCK], words: &mut [u32]) {
        let (packed, exceptions) = words.split_at_mut(self.packed_words());
        let (mut number, highs) = (0, (POSITION_BITS * self.exceptions) as usize);
        for (position, &value) in numbers.iter().enumerate() {
            write(packed, position * self.width as usize, self.width, value);
            if self.exceptions > 0 && value >> self.width != 0 {
                bits::write(exceptions, POSITION_BITS as usize * number, POSITION_BITS, position as u32);
                write(exceptions, highs + self.high as usize * number, self.high, value >> self.width);
                number += 1;
            }
        }
    }

    /// Reads numbers from as many words.
    fn unpack(self, words: &[u32], numbers: &mut [u64; BLOCK]) -> Result<(), PageDefect> {
        let (packed, exceptions) = words.split_at(self.packed_words());
        if self.width <= 32 {
            let mut narrow = [0; BLOCK];
            bits::unpack(packed, self.width, &mut narrow);
            numbers.iter_mut().zip(narrow).for_each(|(number, narrow)| *number = narrow.into());
        } else {
            let numbers = numbers.iter_mut().enumerate();
            numbers.for_each(|(i, number)| *number = read(packed, i * self.width as usize, self.width));
        }
        let (highs, mut least) = ((POSITION_BITS * self.exceptions) as usize, 0);
        for number in 0..self.exceptions as usize {
            let position = bits::read(exceptions, POSITION_BITS as usize * number, POSITION_BITS) as usize;
            let above = read(exceptions, highs + self.high as usize * number, self.high);
            let sound = (least..BLOCK).contains(&position) && above > 0;
            PageDefect::unless(sound, "exceptions in ascending places", "others")?;
            numbers[position] |= above << self.width;
            least = position + 1;
        }
        let end = highs + (self.high * self.exceptions) as usize;
        let rest = read(exceptions, end, (32 * exceptions.len() - end) as u32);
        PageDefect::unless(rest == 0, "zeros behind exceptions", "others")
    }
}

const fn bits_of(value: u64) -> u32 {
    64 - value.leading_zeros()
}

/// Reads up to 64 bits from bit `at` on.
fn read(words: &[u32], at: usize, width: u32) -> u64 {
    let low = u64::from(bits::read(words, at, width.min(32)));
    if width > 32 { low | u64::from(bits::read(words, at + 32, width - 32)) << 32 } else { low }
}

/// Writes up to 64 bits of a value into zeros from bit `at` on.
fn write(words: &mut [u32], at: usize, width: u32, value: u64) {
    bits::write(words, at, width.min(32), value as u32);
    if width > 32 {
        bits::write(words, at + 32, width - 32, (value >> 32) as u32);
    }
}

/// What a writer must know about all ids before it lists the first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdsSummary {
    /// Whether the ids ascend.
    pub(crate) ascending: bool,
    /// The number of ids that have to be listed; the others follow from these.
    listed: u64,
    /// The smallest id, if not all are listed.
    first: u64,
}

impl IdsSummary {
    /// Examines ids, which must be distinct.
    pub(crate) fn of(ids: impl Iterator<Item = u64>) -> Self {
        let (mut count, mut run_start, mut last) = (0u64, 0, None);
        let (mut min, mut max) = (u64::MAX, 0);
        for id in ids {
            if last.is_some_and(|last| id < last) {
                run_start = count;
            }
            (min, max, last, count) = (min.min(id), max.max(id), Some(id), count + 1);
        }
        let is_range = count > 0 && max - min == count - 1;
        let (listed, first) = if is_range { (run_start, min) } else { (count, 0) };
        Self { ascending: run_start == 0, listed, first }
    }
}

/// Passes the file's words, some at a time.
pub(crate) fn encode<E>(
    summary: &IdsSummary,
    ids: impl Iterator<Item = u64>,
    mut take: impl FnMut(&[u32]) -> Result<(), E>,
) -> Result<(), E> {
    let both = |number: u64| [number as u32, (number >> 32) as u32];
    take(&both(summary.listed))?;
    take(&both(summary.first))?;
    let (mut ids, mut before, mut left) = (ids, u64::MAX, summary.listed);
    let mut words = Vec::with_capacity(BLOCK_WORDS_MAX);
    while left > 0 {
        let (mut gaps, mut frame) = ([0; BLOCK], [0; BLOCK]);
        let count = left.min(BLOCK as u64) as usize;
        let mut least = u64::MAX;
        for (gap, id) in gaps.iter_mut().zip(&mut frame).take(count) {
            *id = ids.next().expect("as many ids as were counted");
            *gap = id.wrapping_sub(before).wrapping_sub(1);
            (before, least) = (*id, least.min(*id));
        }
        frame[..count].iter_mut().for_each(|id| *id -= least);
        let shapes = (IdShape::smallest(&gaps, false), IdShape::smallest(&frame, true));
        let (shape, numbers) = if shapes.1.words() < shapes.0.words() { (shapes.1, frame) } else { (shapes.0, gaps) };
        words.clear();
        words.push(shape.encode());
        words.extend(both(least).iter().filter(|_| shape.is_frame));
        let at = words.len();
        words.resize(1 + shape.words(), 0);
        shape.pack(&numbers, &mut words[at..]);
        take(&words)?;
        left -= count as u64;
    }
    Ok(())
}

/// Reads all ids from a file's bytes. Safe for any bytes; reads no more than it needs.
///
/// # Errors
/// A defect, if the bytes are no file of this many ids, or cannot be read.
pub fn decode(from: impl Read, ids: &mut [u64]) -> Result<(), PageDefect> {
    let mut blocks = Blocks::open(from, ids.len() as u64)?;
    let (listed, first) = (blocks.listed as usize, blocks.first);
    for block in ids[..listed].chunks_mut(BLOCK) {
        block.copy_from_slice(blocks.read()?);
    }
    blocks.end()?;
    if listed < ids.len() { fill_rest(ids, listed, first) } else { Ok(()) }
}

/// Passes all ids of a file's bytes in order, some at a time, until `take` returns false: a bit of memory for each of
/// the `all` vertices. Safe for any bytes.
///
/// # Errors
/// The errors of [`decode`].
pub fn each(from: impl Read, all: u64, mut take: impl FnMut(&[u64]) -> bool) -> Result<(), PageDefect> {
    let mut blocks = Blocks::open(from, all)?;
    let (listed, first) = (blocks.listed, blocks.first);
    let mut taken = Taken::new(first, if listed < all { all } else { 0 });
    while blocks.left > 0 {
        let ids = blocks.read()?;
        if taken.count > 0 {
            ids.iter().try_for_each(|&id| taken.add(id))?;
        }
        if !take(ids) {
            return Ok(());
        }
    }
    blocks.end()?;
    let mut left = taken.left().ids().take((all - listed) as usize);
    let mut ids = Vec::with_capacity(EACH);
    loop {
        ids.clear();
        ids.extend(left.by_ref().take(EACH));
        if ids.is_empty() || !take(&ids) {
            return Ok(());
        }
    }
}

/// Unlisted ids that are passed at a time.
const EACH: usize = 1 << 12;

/// The listed ids of a file, in blocks.
struct Blocks<R> {
    from: R,
    /// The number of listed ids.
    listed: u64,
    /// The smallest of all ids, if not all are listed.
    first: u64,
    /// How many have not been read.
    left: u64,
    before: u64,
    numbers: [u64; BLOCK],
    words: [u32; BLOCK_WORDS_MAX],
}

impl<R: Read> Blocks<R> {
    /// Reads the header of a file with `all` ids.
    fn open(mut from: R, all: u64) -> Result<Self, PageDefect> {
        let mut words = [0u32; BLOCK_WORDS_MAX];
        fill(&mut from, &mut words[..HEADER_WORDS])?;
        let (listed, first) = (both(&words), both(&words[2..]));
        PageDefect::unless_with(listed <= all, || format!("at most {all} ids"), || listed.to_string())?;
        let in_range = if listed == all { first == 0 } else { first.checked_add(all - 1).is_some() };
        PageDefect::unless_with(in_range, || "the first of all ids, 0 if all are listed", || first.to_string())?;
        Ok(Self { from, listed, first, left: listed, before: u64::MAX, numbers: [0; BLOCK], words })
    }

    /// The ids of the next block; there must be one.
    fn read(&mut self) -> Result<&[u64], PageDefect> {
        let count = self.left.min(BLOCK as u64) as usize;
        self.left -= count as u64;
        fill(&mut self.from, &mut self.words[..1])?;
        let shape = IdShape::decode(self.words[0])?;
        let words = &mut self.words[..shape.words()];
        fill(&mut self.from, words)?;
        shape.unpack(&words[2 * usize::from(shape.is_frame)..], &mut self.numbers)?;
        let (ids, rest) = self.numbers.split_at_mut(count);
        PageDefect::unless(rest.iter().all(|&number| number == 0), "zeros behind the last id", "others")?;
        let least = if shape.is_frame { both(words) } else { 0 };
        for id in &mut *ids {
            *id = id.wrapping_add(if shape.is_frame { least } else { self.before.wrapping_add(1) });
            self.before = *id;
        }
        Ok(ids)
    }

    /// Checks that nothing is behind the last block.
    fn end(&mut self) -> Result<(), PageDefect> {
        let ended = self.from.read(&mut [0]).is_ok_and(|read| read == 0);
        PageDefect::unless(ended, "the end behind the last id", "more bytes")
    }
}

/// A number of 64 bits, from its low and its high word.
fn both(words: &[u32]) -> u64 {
    u64::from(words[0]) | u64::from(words[1]) << 32
}

/// The ids of a range of `count` numbers that are listed.
struct Taken {
    first: u64,
    count: u64,
    /// A bit for each number; those behind the last number are set.
    bits: Vec<u64>,
}

impl Taken {
    fn new(first: u64, count: u64) -> Self {
        let mut bits = vec![0; count.div_ceil(64) as usize];
        if let Some(last) = bits.last_mut().filter(|_| !count.is_multiple_of(64)) {
            *last = u64::MAX << (count % 64);
        }
        Self { first, count, bits }
    }

    fn add(&mut self, id: u64) -> Result<(), PageDefect> {
        let (first, at) = (self.first, id.wrapping_sub(self.first));
        let expected = || format!("ids from {first} to {}, each once", first + (self.count - 1));
        let is_new = at < self.count && self.bits[at as usize / 64] >> (at % 64) & 1 == 0;
        PageDefect::unless_with(is_new, expected, || id.to_string())?;
        self.bits[at as usize / 64] |= 1 << (at % 64);
        Ok(())
    }

    /// The other ids of the range.
    fn left(&self) -> Left<'_> {
        Left { of: self, word: 0, passed: 0 }
    }
}

/// The ids of a range that are not listed, in ascending order.
struct Left<'a> {
    of: &'a Taken,
    /// The word to look at next.
    word: usize,
    /// The number of ids in the words before.
    passed: u64,
}

impl<'a> Left<'a> {
    /// The id with this rank; ranks must not descend from call to call.
    fn at(&mut self, rank: u64) -> Option<u64> {
        loop {
            let bits = *self.of.bits.get(self.word)?;
            let here = u64::from(bits.count_zeros());
            if rank < self.passed + here {
                let mut left = !bits;
                (self.passed..rank).for_each(|_| left &= left - 1);
                return Some(self.of.first + 64 * self.word as u64 + u64::from(left.trailing_zeros()));
            }
            (self.word, self.passed) = (self.word + 1, self.passed + here);
        }
    }

    /// The ids in order.
    fn ids(&self) -> impl Iterator<Item = u64> + use<'a> {
        let Taken { first, bits, .. } = self.of;
        (0u64..).zip(bits).flat_map(move |(word, bits)| {
            let mut left = !bits;
            std::iter::from_fn(move || {
                let place = (left != 0).then(|| u64::from(left.trailing_zeros()))?;
                left &= left - 1;
                Some(first + 64 * word + place)
            })
        })
    }
}

/// Gives the vertices after the listed ones the ids that are left of the range of all ids.
fn fill_rest(ids: &mut [u64], listed: usize, first: u64) -> Result<(), PageDefect> {
    let mut taken = Taken::new(first, ids.len() as u64);
    ids[..listed].iter().try_for_each(|&id| taken.add(id))?;
    ids[listed..].iter_mut().zip(taken.left().ids()).for_each(|(into, id)| *into = id);
    Ok(())
}

/// Fills words from a file.
fn fill(from: &mut impl Read, words: &mut [u32]) -> Result<(), PageDefect> {
    let read = from.read_exact(bytemuck::cast_slice_mut(words));
    read.map_err(|error| PageDefect::new("further ids", error.to_string()))
}

/// Main memory for reading packed ids, without the ids themselves, in bytes: a bit for each, and a buffer.
pub(crate) const fn reading_bytes(vertices: u64) -> u64 {
    vertices.div_ceil(64) * 8 + READ_BYTES as u64
}

/// Bytes that are read at a time.
pub(crate) const READ_BYTES: usize = 1 << 16;
