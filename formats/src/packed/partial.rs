//! Pages of which only some chunks have been read: lists are decoded from the entries and the payload of their units,
//! with what the chunk table, the page directory and `degrees.bin` say about the rest.

use super::decode::UnitDecoder;
use super::kernels;
use super::layout::{BLOCK, HEADER_WORDS, PackedHeader, UNIT_BLOCKS, table_words};
use super::page::PackedPage;
use crate::defect::PageDefect;
use crate::encoding::{Encoding, PackedParameters, UNIT};
use crate::header::{HEADER_BYTES, PageHeader};
use std::ops::Range;

/// The bytes of a page that hold the entries of the blocks of some units, in a page of `edges` neighbours.
pub(crate) fn unit_entries(units: Range<u32>, edges: u32) -> Range<u32> {
    let blocks = edges.div_ceil(BLOCK as u32);
    let at = |unit: u32| 4 * HEADER_WORDS as u32 + 8 * (unit * UNIT_BLOCKS as u32).min(blocks);
    at(units.start)..at(units.end)
}

/// The payload word at which each unit of a whole, valid page begins, and the end of the last one.
pub(crate) fn stored_units(page: &[u8]) -> Vec<u32> {
    let header: PageHeader = bytemuck::pod_read_unaligned(&page[..HEADER_BYTES]);
    let packed: PackedHeader = bytemuck::pod_read_unaligned(&page[HEADER_BYTES..4 * HEADER_WORDS]);
    let end = 4 * table_words(header.slot_count.into(), header.edge_count.into()) as usize;
    let units = &page[end - 4 * header.edge_count.div_ceil(UNIT as u32) as usize..end];
    units.chunks_exact(4).map(bytemuck::pod_read_unaligned).chain([packed.degrees_at]).collect()
}

impl PackedPage<'_> {
    /// The payload word at which each unit begins, and the end of the last one: the page's numbers in the chunk table.
    pub fn unit_places(&self) -> Vec<u32> {
        self.units.iter().copied().chain([self.packed.degrees_at]).collect()
    }
}

/// A packed page of which only some chunks are in memory, and valid.
///
/// Nothing is read but the entries and the payload of units that are requested; the caller makes sure that these have
/// been read ([`PageMap`](crate::chunks::PageMap)).
#[derive(Clone, Copy, Debug)]
pub struct PartialPage<'a> {
    page: PackedPage<'a>,
    /// Where each unit begins, and the end of the last one.
    units: &'a [u32],
    /// The number of neighbours of each slot.
    degrees: &'a [u32],
}

impl<'a> PartialPage<'a> {
    /// Interprets the bytes of a page. `header` is the one that the page directory implies, `units` come from the
    /// [chunk table](crate::chunks::ChunkTable::units), and `degrees` are the degrees of the page's vertices in
    /// `degrees.bin`.
    ///
    /// # Errors
    /// A defect, if the encoding is not packed, these do not describe a page of this size, or the degrees do not add up
    /// to the number of neighbours.
    pub fn open(
        bytes: &'a [u8],
        encoding: Encoding,
        destinations: &Range<u64>,
        header: PageHeader,
        units: &'a [u32],
        degrees: &'a [u32],
    ) -> Result<Self, PageDefect> {
        let parameters = PackedParameters::of(encoding);
        let parameters = parameters.ok_or_else(|| PageDefect::new("a packed encoding", encoding.to_string()))?;
        let words: &[u32] = bytemuck::try_cast_slice(bytes)
            .map_err(|error| PageDefect::new("whole words in aligned memory", error.to_string()))?;
        let counts = (header.slot_count as usize, header.edge_count.div_ceil(UNIT as u32) as usize + 1);
        PageDefect::unless_with(
            (degrees.len(), units.len()) == counts && header.slot_count > 0,
            || format!("slots and units {counts:?}"),
            || format!("{:?}", (degrees.len(), units.len())),
        )?;
        let end = units[units.len() - 1];
        let need = table_words(header.slot_count.into(), header.edge_count.into()) + u64::from(end);
        let room = || format!("at most {} words of tables and payload", words.len());
        PageDefect::unless_with(need <= words.len() as u64, room, || need.to_string())?;
        let sum = degrees.iter().map(|&degree| u64::from(degree)).sum::<u64>();
        let total = || format!("degrees with a sum of {}", header.edge_count);
        PageDefect::unless_with(sum == u64::from(header.edge_count), total, || sum.to_string())?;
        let (first_dest, dest_count) = (destinations.start as u32, destinations.end - destinations.start);
        let packed = PackedHeader { origin: first_dest, degrees_at: end, payload_words: end, reserved: 0 };
        let fast = kernels::fast();
        let page = PackedPage { words, header, packed, units, parameters, first_dest, dest_count, fast };
        Ok(Self { page, units, degrees })
    }

    /// Writes the header and the slots of the plain image, as [`PackedPage::inflate_slots`] does.
    pub fn inflate_slots(&self, out: &mut [u8]) {
        let header = self.page.header;
        assert!(out.len() >= self.page.image_bytes(), "{} bytes for an image", out.len());
        out[..HEADER_BYTES].copy_from_slice(bytemuck::bytes_of(&header));
        let words: &mut [u32] = bytemuck::cast_slice_mut(&mut out[HEADER_BYTES..]);
        let mut sum = 0;
        for (slot, &degree) in words.iter_mut().rev().zip(self.degrees) {
            *slot = sum;
            sum += degree;
        }
        let last = words.len() - 1;
        words[last - header.slot_count as usize] = header.edge_count;
    }

    /// Writes the neighbours of some units of the plain image, as [`PackedPage::inflate_units`] does.
    ///
    /// # Errors
    /// A defect, if the entries or the payload of these units are none of a valid page, or a neighbour is not among the
    /// page's destinations.
    pub fn inflate_units(&self, out: &mut [u8], units: impl IntoIterator<Item = u32>) -> Result<(), PageDefect> {
        let mut decoder = UnitDecoder::new(&self.page).with_degrees(self.degrees);
        let checked = units.into_iter().map(|unit| self.check(unit).map(|()| unit));
        self.page.inflate_by(&mut decoder, out, checked)
    }

    /// Checks that the blocks of a unit follow one another, from where the table says that it begins to its end.
    fn check(&self, unit: u32) -> Result<(), PageDefect> {
        let (begin, end) = (self.units[unit as usize], self.units[unit as usize + 1]);
        let first = unit as usize * UNIT_BLOCKS;
        let mut offset = 0;
        for block in first..(first + UNIT_BLOCKS).min(self.page.block_count()) {
            let (_, shape) = self.page.block(block);
            PageDefect::unless_with(
                shape.is_valid() && shape.offset as usize == offset,
                || format!("block {block} at payload word {}", begin as usize + offset),
                || format!("{shape:?}"),
            )?;
            offset += shape.words();
        }
        PageDefect::unless_with(
            offset == (end - begin) as usize,
            || format!("unit {unit} with {} words, as in the chunk table", end - begin),
            || offset.to_string(),
        )
    }
}
