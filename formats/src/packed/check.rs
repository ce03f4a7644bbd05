//! Checks of a packed page that take time proportional to its blocks and slots, not to its neighbours.

use super::bits::block_words;
use super::layout::{BLOCK, PackedHeader, UNIT_BLOCKS, table_words};
use super::page::PackedPage;
use crate::defect::PageDefect;
use crate::encoding::UNIT;
use crate::plain::Page;

impl PackedPage<'_> {
    /// Checks the second header, the places and shapes of all blocks, and all degrees.
    ///
    /// # Errors
    /// The first defect.
    pub fn check(&self) -> Result<(), PageDefect> {
        let PackedHeader { origin, degrees_at, payload_words, reserved } = self.packed;
        PageDefect::unless_with(
            (origin, reserved) == (self.first_dest, 0),
            || format!("values relative to vertex {}, and a zero", self.first_dest),
            || format!("{origin} and {reserved}"),
        )?;
        let mut word = 0;
        for block in 0..self.block_count() {
            let (_, shape) = self.block(block);
            let unit = self.unit_at(block / UNIT_BLOCKS);
            PageDefect::unless_with(
                shape.is_valid() && unit + shape.offset as usize == word && (block % UNIT_BLOCKS > 0 || unit == word),
                || format!("block {block} at payload word {word}"),
                || format!("unit at {unit}, {shape:?}"),
            )?;
            word += shape.words();
        }
        PageDefect::unless_with(
            word == degrees_at as usize,
            || format!("degrees at payload word {word}"),
            || degrees_at.to_string(),
        )?;
        for block in 0..self.degree_block_count() {
            let (_, offset, width) = self.degree_block(block);
            PageDefect::unless_with(
                width <= 32 && degrees_at as usize + offset == word,
                || format!("degree block {block} at payload word {word}"),
                || format!("{} with a width of {width}", degrees_at as usize + offset),
            )?;
            word += block_words(width);
        }
        PageDefect::unless_with(
            word == payload_words as usize,
            || format!("{word} words of payload"),
            || payload_words.to_string(),
        )?;
        self.each_slot(|_, _| {})
    }

    /// Checks what decoding ignores, given the page's plain image: the bases of blocks, and that exceptions ascend and
    /// unused bits are zeros. For verifiers.
    ///
    /// # Errors
    /// The first defect.
    pub fn check_details(&self, image: &Page<'_>) -> Result<(), PageDefect> {
        let neighbours: &[u32] = bytemuck::cast_slice(image.neighbour_bytes());
        for block in 0..self.block_count() {
            self.check_exceptions(block)?;
            let edge = block * BLOCK;
            let slot = image.first_slot_from(edge as u32);
            let begins = image.header().slot_count > slot && image.record(slot).start == edge;
            let expected = match edge.checked_sub(1) {
                Some(before) if !begins => neighbours[before].wrapping_sub(self.first_dest),
                // The value before is in the run's page before this one.
                None if self.header.list_offset > 0 => continue,
                _ => 0,
            };
            let base = self.block(block).0;
            let wanted = || format!("block {block} with the base {expected}");
            PageDefect::unless_with(base == expected, wanted, || base.to_string())?;
        }
        let end = table_words(self.header.slot_count.into(), self.header.edge_count.into()) as usize;
        let rest = &self.words[end + self.packed.payload_words as usize..];
        let zeros = rest.iter().all(|&word| word == 0) && self.has_zeros_behind_last()?;
        PageDefect::unless_with(zeros, || "zeros behind the page's contents", || "other bits".into())
    }

    /// Whether the numbers behind the last neighbour and the last slot are zeros.
    fn has_zeros_behind_last(&self) -> Result<bool, PageDefect> {
        let mut degrees = [0; BLOCK];
        if let Some(last) = self.degree_block_count().checked_sub(1) {
            self.unpack_degrees(last, &mut degrees)?;
            if degrees[self.slots_of(last)..].iter().any(|&degree| degree != 0) {
                return Ok(false);
            }
        }
        let mut gaps = [0; BLOCK];
        if let Some(last) = self.block_count().checked_sub(1) {
            self.unpack_block((last / UNIT_BLOCKS) as u32, last, &mut gaps)?;
        }
        let used = self.header.edge_count as usize % UNIT % BLOCK;
        Ok(used == 0 || gaps[used..].iter().all(|&gap| gap == 0))
    }

    /// Checks that the positions of a block's exceptions ascend, that they have high parts, and that the bits behind
    /// them are zeros.
    fn check_exceptions(&self, block: usize) -> Result<(), PageDefect> {
        let (_, shape) = self.block(block);
        let words = self.payload_from(self.unit_at(block / UNIT_BLOCKS) + shape.offset as usize);
        shape.check_exceptions(words.get(shape.packed_words()..shape.words()).unwrap_or(&[]), block)
    }
}
