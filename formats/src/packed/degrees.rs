//! Packed degrees: how many neighbours of the page each slot has.

use super::bits::{self, block_words};
use super::kernels;
use super::layout::BLOCK;
use super::page::PackedPage;
use crate::defect::PageDefect;
use std::ops::Range;

/// The degrees of one degree block, of which some have been used.
#[derive(Clone, Debug)]
pub(super) struct DegreeCursor<'a> {
    /// The degrees of all slots, if they are not unpacked from the page.
    given: Option<&'a [u32]>,
    /// A block of them, and their sum before it.
    passed: (usize, u64),
    /// The block after the one in `degrees`.
    next: usize,
    degrees: [u32; BLOCK],
    /// The block's slots: the used ones, and all.
    used: usize,
    count: usize,
    /// Whether the lists of the block are short on average.
    are_short: bool,
}

impl Default for DegreeCursor<'_> {
    fn default() -> Self {
        let degrees = [0; BLOCK];
        Self { given: None, passed: (0, 0), next: 0, degrees, used: 0, count: 0, are_short: false }
    }
}

impl<'a> DegreeCursor<'a> {
    /// A cursor over the degrees of all slots of a page, which are not read from it.
    pub(super) fn over(degrees: &'a [u32]) -> Self {
        Self { given: Some(degrees), ..Self::default() }
    }

    /// The degrees of the block that have not been used.
    #[inline(always)]
    pub(super) fn rest(&self) -> &[u32] {
        &self.degrees[self.used..self.count]
    }

    /// Loads the next block if all degrees of this one have been used.
    ///
    /// # Errors
    /// A defect if there are no more.
    #[inline(always)]
    pub(super) fn fill(&mut self, page: &PackedPage<'_>) -> Result<(), PageDefect> {
        while self.used == self.count {
            // Blocks without neighbours are passed over without being unpacked.
            match page.degree_block_count() {
                blocks if self.next >= blocks => return Err(too_few()),
                _ if self.given.is_none() && page.degree_block(self.next).2 == 0 => self.next += 1,
                _ => self.load(page, self.next)?,
            }
        }
        Ok(())
    }

    /// Whether the lists of the block are short on average.
    #[inline(always)]
    pub(super) fn are_short(&self) -> bool {
        self.are_short
    }

    /// Uses some of the rest.
    #[inline(always)]
    pub(super) fn advance(&mut self, slots: usize) {
        self.used += slots;
    }

    /// The slot of the first degree that has not been used.
    #[inline(always)]
    pub(super) fn slot(&self) -> usize {
        self.next.wrapping_sub(1).wrapping_mul(BLOCK).wrapping_add(self.used)
    }

    fn load(&mut self, page: &PackedPage<'_>, block: usize) -> Result<(), PageDefect> {
        if let Some(given) = self.given {
            self.load_given(given, block);
            return Ok(());
        }
        page.unpack_degrees(block, &mut self.degrees)?;
        (self.next, self.used, self.count) = (block + 1, 0, page.slots_of(block));
        let end =
            if self.next < page.degree_block_count() { page.degree_block(self.next).0 } else { page.header.edge_count };
        let neighbours = end.saturating_sub(page.degree_block(block).0);
        self.are_short = kernels::are_short(self.count, neighbours.into());
        Ok(())
    }

    fn load_given(&mut self, given: &[u32], block: usize) {
        let degrees = &given[block * BLOCK..given.len().min((block + 1) * BLOCK)];
        self.degrees[..degrees.len()].copy_from_slice(degrees);
        (self.next, self.used, self.count) = (block + 1, 0, degrees.len());
        self.are_short = kernels::are_short(self.count, sum(degrees));
    }

    /// The block of given degrees with neighbour `edge`, and the number of neighbours before the block. The search goes
    /// on from the last one, if that is not behind.
    fn block_of_given(&mut self, given: &[u32], edge: u32) -> (usize, u64) {
        let (mut block, mut first) = if self.passed.1 <= edge.into() { self.passed } else { (0, 0) };
        for degrees in given[block * BLOCK..].chunks(BLOCK) {
            let end = first + sum(degrees);
            if end > edge.into() {
                break;
            }
            (block, first) = (block + 1, end);
        }
        self.passed = (block, first);
        self.passed
    }

    /// Moves to the list that contains neighbour `edge` of the page; returns where it begins and ends.
    pub(super) fn seek(&mut self, page: &PackedPage<'_>, edge: u32) -> Result<(u64, u64), PageDefect> {
        let (block, mut start) = match self.given {
            Some(given) => self.block_of_given(given, edge),
            None => {
                let block = page.degree_blocks_until(|first| first <= edge).checked_sub(1).ok_or_else(too_few)?;
                (block, page.degree_block(block).0.into())
            }
        };
        if block >= page.degree_block_count() {
            return Err(too_few());
        }
        self.load(page, block)?;
        while self.used < self.count {
            let end = start + u64::from(self.degrees[self.used]);
            if end > edge.into() {
                return Ok((start, end));
            }
            (start, self.used) = (end, self.used + 1);
        }
        Err(too_few())
    }
}

fn sum(degrees: &[u32]) -> u64 {
    degrees.iter().map(|&degree| u64::from(degree)).sum()
}

fn too_few() -> PageDefect {
    PageDefect::new("degrees of all neighbours", "too few of them")
}

impl PackedPage<'_> {
    /// The number of slots of a degree block, which must exist.
    pub(super) fn slots_of(&self, block: usize) -> usize {
        (self.header.slot_count as usize - block * BLOCK).min(BLOCK)
    }

    /// The degrees of a degree block, which must exist.
    pub(super) fn unpack_degrees(&self, block: usize, out: &mut [u32; BLOCK]) -> Result<(), PageDefect> {
        let (_, offset, width) = self.degree_block(block);
        let words = self.payload_from(self.packed.degrees_at as usize + offset);
        let expected = || format!("degree block {block} within the page");
        let sound = width <= 32 && words.len() >= block_words(width);
        PageDefect::unless_with(sound, expected, || format!("{} words for a width of {width}", words.len()))?;
        bits::unpack(words, width, out);
        Ok(())
    }

    /// The neighbours of a slot, as a range within the page; empty for a slot that does not exist. Unpacks the degrees
    /// of one degree block.
    ///
    /// # Errors
    /// A defect, if the bytes are none of a valid page.
    pub fn record(&self, slot: u32) -> Result<Range<usize>, PageDefect> {
        if slot >= self.header.slot_count {
            return Ok(0..0);
        }
        let (block, number) = (slot as usize / BLOCK, slot as usize % BLOCK);
        let mut degrees = [0; BLOCK];
        self.unpack_degrees(block, &mut degrees)?;
        let before = degrees[..number].iter().map(|&degree| u64::from(degree)).sum::<u64>();
        let begin = u64::from(self.degree_block(block).0) + before;
        let end = begin + u64::from(degrees[number]);
        let edges = self.header.edge_count;
        let room = || format!("at most {edges} neighbours before slot {}", slot + 1);
        PageDefect::unless_with(end <= edges.into(), room, || end.to_string())?;
        Ok(begin as usize..end as usize)
    }

    /// The first slot whose record begins at neighbour `edge` or later, by binary search; the slot count if there is
    /// none. Used to cut equal shares of edges.
    ///
    /// # Errors
    /// A defect, if the bytes are none of a valid page.
    pub fn first_slot_from(&self, edge: u32) -> Result<u32, PageDefect> {
        let after = self.degree_blocks_until(|first| first < edge);
        let Some(block) = after.checked_sub(1) else { return Ok(0) };
        let mut degrees = [0; BLOCK];
        self.unpack_degrees(block, &mut degrees)?;
        let mut first = u64::from(self.degree_block(block).0);
        for (slot, &degree) in degrees[..self.slots_of(block)].iter().enumerate() {
            if first >= edge.into() {
                return Ok((block * BLOCK + slot) as u32);
            }
            first += u64::from(degree);
        }
        Ok(self.header.slot_count.min((after * BLOCK) as u32))
    }

    /// The number of degree blocks, from the first on, whose numbers of neighbours before them satisfy a condition that
    /// holds up to some number.
    fn degree_blocks_until(&self, holds: impl Fn(u32) -> bool) -> usize {
        let (mut low, mut high) = (0, self.degree_block_count());
        while low < high {
            let middle = (low + high) / 2;
            if holds(self.degree_block(middle).0) { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// The slot whose record contains neighbour `edge` of the page, which must exist.
    ///
    /// # Errors
    /// A defect, if the degrees are none of a valid page.
    pub fn slot_of(&self, edge: u32) -> Result<u32, PageDefect> {
        let mut cursor = DegreeCursor::default();
        cursor.seek(self, edge)?;
        Ok(cursor.slot() as u32)
    }

    /// Passes the first neighbour of each slot, in order. Checks that the blocks' first words are the sums of the
    /// degrees before, and that all degrees add up to the number of neighbours.
    pub(super) fn each_slot(&self, mut take: impl FnMut(usize, u32)) -> Result<(), PageDefect> {
        let (mut sum, mut degrees) = (0u64, [0; BLOCK]);
        for block in 0..self.degree_block_count() {
            let first = self.degree_block(block).0;
            let expected = || format!("degree block {block} with {sum} neighbours before it");
            PageDefect::unless_with(u64::from(first) == sum, expected, || first.to_string())?;
            self.unpack_degrees(block, &mut degrees)?;
            for (slot, &degree) in degrees[..self.slots_of(block)].iter().enumerate() {
                take(block * BLOCK + slot, sum as u32);
                sum += u64::from(degree);
            }
        }
        let total = self.header.edge_count;
        PageDefect::unless_with(
            sum == u64::from(total),
            || format!("degrees with a sum of {total}"),
            || sum.to_string(),
        )
    }
}
