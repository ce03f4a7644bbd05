//! Decoding: a unit of 1,024 neighbours from anywhere, or the whole page to its plain image.

use super::degrees::DegreeCursor;
use super::kernels::{self, Lists, Unit};
use super::layout::{BLOCK, Bases, UNIT_BLOCKS};
use super::page::PackedPage;
use crate::defect::PageDefect;
use crate::encoding::UNIT;
use crate::header::HEADER_BYTES;

/// Decodes units of a page. Units in ascending order need no search for their first list.
#[derive(Debug)]
pub struct UnitDecoder<'a> {
    page: PackedPage<'a>,
    unit: Unit,
    degrees: DegreeCursor<'a>,
    /// The unit that the state is for, and its neighbours that continue a list of the unit before.
    next: u32,
    left: u64,
}

impl<'a> UnitDecoder<'a> {
    /// A decoder for a page.
    pub fn new(page: &PackedPage<'a>) -> Self {
        Self { page: *page, unit: Unit::default(), degrees: DegreeCursor::default(), next: u32::MAX, left: 0 }
    }

    /// Takes the degrees of all slots from here instead of from the page.
    pub(super) fn with_degrees(self, degrees: &'a [u32]) -> Self {
        Self { degrees: DegreeCursor::over(degrees), ..self }
    }

    /// Decodes a unit, which must exist, to vertex numbers; returns how many there are: 1,024, or fewer in the last
    /// unit. What is behind them is undefined.
    ///
    /// # Errors
    /// A defect, if the bytes are none of a valid page, or a neighbour is not among the page's destinations.
    pub fn decode(&mut self, unit: u32, out: &mut [u32; UNIT]) -> Result<usize, PageDefect> {
        assert!(unit < self.page.unit_count(), "unit {unit} of {}", self.page.unit_count());
        if unit != self.next {
            self.seek(unit)?;
        }
        self.next = u32::MAX;
        let page = self.page;
        let count = UNIT.min(page.header.edge_count as usize - unit as usize * UNIT);
        let first = unit as usize * UNIT_BLOCKS;
        for block in 0..count.div_ceil(BLOCK) {
            page.unpack_block(unit, first + block, self.unit.block(block))?;
        }
        let bases = Bases {
            before: page.block(first).0,
            step: page.parameters.step.into(),
            origin: page.first_dest,
            // A shard without destinations has no neighbours either.
            last: page.dest_count.saturating_sub(1) as u32,
        };
        let mut at = self.left.min(UNIT as u64) as usize;
        self.left -= at as u64;
        self.unit.begin(page.fast, count.div_ceil(BLOCK), at, bases);
        // The value of slot 0's own vertex.
        let start = page.header.start_vertex.wrapping_sub(page.first_dest);
        while at < count {
            self.degrees.fill(&page)?;
            let own = page.parameters.own.then(|| start.wrapping_add(self.degrees.slot() as u32));
            let (degrees, are_short) = (self.degrees.rest(), self.degrees.are_short());
            let used;
            (used, at) = self.unit.add(page.fast, Lists { degrees, at, own, step: bases.step, are_short });
            self.degrees.advance(used);
        }
        self.left += at.saturating_sub(UNIT) as u64;
        self.next = unit + 1;
        let sound = self.unit.finish(page.fast, count, bases, out);
        if sound && page.dest_count > 0 { Ok(count) } else { Err(page.out_of_range(&out[..count])) }
    }

    /// Finds the list that a unit begins in or with.
    fn seek(&mut self, unit: u32) -> Result<(), PageDefect> {
        let edge = unit * UNIT as u32;
        let (start, end) = self.degrees.seek(&self.page, edge)?;
        // The list of a later page of a run began in an earlier page.
        let continued = start < edge.into() || (self.page.header.list_offset > 0 && self.degrees.slot() == 0);
        self.left = 0;
        if continued {
            self.left = end - u64::from(edge);
            self.degrees.advance(1);
        }
        Ok(())
    }
}

impl PackedPage<'_> {
    /// Decodes a unit, which must exist, like [`UnitDecoder::decode`]. For several units a decoder is faster.
    ///
    /// # Errors
    /// The errors of [`UnitDecoder::decode`].
    pub fn decode_unit(&self, unit: u32, out: &mut [u32; UNIT]) -> Result<usize, PageDefect> {
        UnitDecoder::new(self).decode(unit, out)
    }

    /// Writes the plain image of the page: the same page in the vertex-id encoding, for
    /// [`Page::open`](crate::page::Page::open) with [`Encoding::plain`](crate::Encoding::plain). Slots begin at the end
    /// of `out`; bytes between neighbours and slots stay as they are.
    ///
    /// `out` must be aligned to 4 bytes, a multiple of 4 bytes, and at least [`image_bytes`](Self::image_bytes) long.
    ///
    /// # Errors
    /// A defect, if the bytes are none of a valid page, or a neighbour is not among the page's destinations.
    pub fn inflate(&self, out: &mut [u8]) -> Result<(), PageDefect> {
        self.inflate_slots(out)?;
        self.inflate_units(out, 0..self.unit_count())
    }

    /// Writes the header and the slots of the plain image only, as [`inflate`](Self::inflate) does.
    ///
    /// # Errors
    /// A defect, if the bytes are none of a valid page.
    pub fn inflate_slots(&self, out: &mut [u8]) -> Result<(), PageDefect> {
        assert!(out.len() >= self.image_bytes(), "{} bytes for an image of {}", out.len(), self.image_bytes());
        out[..HEADER_BYTES].copy_from_slice(bytemuck::bytes_of(&self.header));
        let words: &mut [u32] = bytemuck::cast_slice_mut(&mut out[HEADER_BYTES..]);
        let slots = &mut words[self.header.edge_count as usize..];
        let last = slots.len() - 1;
        self.each_slot(|slot, first| slots[last - slot] = first)?;
        slots[last - self.header.slot_count as usize] = self.header.edge_count;
        Ok(())
    }

    /// Writes the neighbours of some units of the plain image only, as [`inflate`](Self::inflate) does. Consecutive
    /// units are decoded faster.
    ///
    /// # Errors
    /// The errors of [`inflate`](Self::inflate).
    pub fn inflate_units(&self, out: &mut [u8], units: impl IntoIterator<Item = u32>) -> Result<(), PageDefect> {
        self.inflate_by(&mut UnitDecoder::new(self), out, units.into_iter().map(Ok))
    }

    /// Writes the neighbours of some units of the plain image, up to the first defect.
    pub(super) fn inflate_by(
        &self,
        decoder: &mut UnitDecoder<'_>,
        out: &mut [u8],
        units: impl Iterator<Item = Result<u32, PageDefect>>,
    ) -> Result<(), PageDefect> {
        assert!(out.len() >= self.image_bytes(), "{} bytes for an image of {}", out.len(), self.image_bytes());
        let words: &mut [u32] = bytemuck::cast_slice_mut(&mut out[HEADER_BYTES..]);
        let (whole, rest) = words[..self.header.edge_count as usize].as_chunks_mut::<UNIT>();
        for number in units {
            let number = number?;
            match whole.get_mut(number as usize) {
                Some(unit) => _ = decoder.decode(number, unit)?,
                None => {
                    let mut unit = [0; UNIT];
                    decoder.decode(number, &mut unit)?;
                    rest.copy_from_slice(&unit[..rest.len()]);
                }
            }
        }
        Ok(())
    }

    /// The gaps of a block, which must exist.
    #[inline(always)]
    pub(super) fn unpack_block(&self, unit: u32, block: usize, out: &mut [u32; BLOCK]) -> Result<(), PageDefect> {
        let (_, shape) = self.block(block);
        let words = self.payload_from(self.unit_at(unit as usize) + shape.offset as usize);
        if !shape.is_valid() || words.len() < shape.words() {
            let found = format!("{} words for {shape:?}", words.len());
            return Err(PageDefect::new(format!("block {block} within the page"), found));
        }
        kernels::unpack(self.fast, words, shape.width, out);
        if shape.exceptions > 0 {
            kernels::patch(self.fast, &words[shape.packed_words()..], shape, out);
        }
        Ok(())
    }

    /// The defect of vertices of which one is out of range: the one that is farthest from the first.
    #[cold]
    fn out_of_range(&self, vertices: &[u32]) -> PageDefect {
        let distances = vertices.iter().map(|&vertex| vertex.wrapping_sub(self.first_dest));
        let (first, largest) = (u64::from(self.first_dest), distances.max().unwrap_or(0));
        PageDefect::outside(&(first..first + self.dest_count), first + u64::from(largest))
    }
}
