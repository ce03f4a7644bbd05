//! A slotted page: whole records of consecutive vertices, or a slice of one vertex's list.
//!
//! ```text
//!  0            32                                                            page_bytes
//!  ┌────────────┬──────────┬──────────┬───┬ ─ ─ ─ ─ ─ ─ ─ ┬──────┬───┬──────┬──────┐
//!  │ PageHeader │ record 0 │ record 1 │ … │     zeros     │ s[k] │ … │ s[1] │ s[0] │
//!  └────────────┴──────────┴──────────┴───┴ ─ ─ ─ ─ ─ ─ ─ ┴──────┴───┴──────┴──────┘
//!    neighbours, `width` bytes each, grow forward ──▶       ◀── slots, u32, grow backward
//! ```
//!
//! Slot `i` belongs to vertex `start_vertex + i` and holds the number of neighbours before its record, so record `i` is
//! neighbours `s[i] .. s[i+1]`; the slot after the last (`s[k]`) holds their total. The slots are therefore also the
//! prefix sum of degrees: a binary search in them finds the beginning of an equal share of edges, so balanced work
//! distribution needs no further data.
//!
//! A *large page* has one slot and holds neighbours `list_offset ..` of a list that fits in no page.

use crate::defect::PageDefect;
use crate::encoding::Encoding;
use crate::header::{HEADER_BYTES, PageHeader, SLOT_BYTES};
use std::ops::Range;

/// A page of topology with a valid header and valid slots.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    bytes: &'a [u8],
    header: PageHeader,
    width_bytes: usize,
}

impl<'a> Page<'a> {
    /// Interprets bytes that have passed [`check_page`](crate::page::check_page) before. Repeats only the checks that
    /// memory safety needs.
    ///
    /// Packed pages are interpreted by [`PackedPage`](crate::packed::PackedPage); their plain images are opened here,
    /// in the encoding [`plain`](Encoding::plain).
    ///
    /// # Errors
    /// A defect, if header and slots do not describe a page of this size, or pages are packed.
    pub fn open(bytes: &'a [u8], encoding: Encoding) -> Result<Self, PageDefect> {
        let plain = !encoding.is_packed();
        PageDefect::unless_with(plain, || "a page that is not packed, or a plain image", || "a packed page".into())?;
        let whole = bytes.len() >= HEADER_BYTES + 2 * SLOT_BYTES && bytes.len().is_multiple_of(SLOT_BYTES);
        PageDefect::unless_with(whole, || "a page", || format!("{} bytes", bytes.len()))?;
        let aligned = bytes.as_ptr().align_offset(align_of::<u32>()) == 0;
        PageDefect::unless_with(aligned, || "a page in aligned memory", || format!("address {:p}", bytes.as_ptr()))?;
        let header: PageHeader = bytemuck::pod_read_unaligned(&bytes[..HEADER_BYTES]);
        let page = Self { bytes, header, width_bytes: encoding.width_bytes() };
        let need = HEADER_BYTES as u64
            + u64::from(header.edge_count) * page.width_bytes as u64
            + (u64::from(header.slot_count) + 1) * SLOT_BYTES as u64;
        let room = || format!("at most {} bytes of records and slots", bytes.len());
        PageDefect::unless_with(need <= bytes.len() as u64, room, || need.to_string())?;
        Ok(page)
    }

    /// The header.
    pub fn header(&self) -> &PageHeader {
        &self.header
    }

    /// The slots as stored: slot 0 last.
    #[inline]
    fn slots_backward(&self) -> &'a [u32] {
        let bytes = (self.header.slot_count as usize + 1) * SLOT_BYTES;
        bytemuck::cast_slice(&self.bytes[self.bytes.len() - bytes..])
    }

    /// The neighbours of a slot, as a range within the page; empty for a slot that does not exist.
    #[inline]
    pub fn record(&self, slot: u32) -> Range<usize> {
        let slots = self.slots_backward();
        let last = slots.len() - 1;
        match last.checked_sub(slot as usize) {
            Some(at) if at > 0 => slots[at] as usize..slots[at - 1] as usize,
            _ => 0..0,
        }
    }

    /// All neighbours, as encoded bytes.
    pub fn neighbour_bytes(&self) -> &'a [u8] {
        &self.bytes[HEADER_BYTES..HEADER_BYTES + self.header.edge_count as usize * self.width_bytes]
    }

    /// The first slot whose record begins at neighbour `edge` or later, by binary search; the slot count if there is
    /// none. Used to cut equal shares of edges.
    pub fn first_slot_from(&self, edge: u32) -> u32 {
        let slots = self.slots_backward();
        let records = &slots[1..];
        (records.len() - records.partition_point(|&start| start >= edge)) as u32
    }

    /// The first slot for which the edges and the slots before it are `count` or more together; the slot count if there
    /// is none. Used to cut equal shares of work: an empty list takes about as long as an edge.
    pub fn first_slot_after(&self, count: u32) -> u32 {
        let slots = self.slots_backward();
        let last = slots.len() - 1;
        let is_before = |slot: usize| u64::from(slots[last - slot]) + (slot as u64) < u64::from(count);
        let (mut low, mut high) = (0, last);
        while low < high {
            let middle = low.midpoint(high);
            if is_before(middle) { low = middle + 1 } else { high = middle }
        }
        low as u32
    }

    /// Checks that the slots ascend from 0 to the page's edge count.
    pub(crate) fn check_slots(&self) -> Result<(), PageDefect> {
        let slots = self.slots_backward();
        PageDefect::unless(slots[slots.len() - 1] == 0, "slot 0 to be 0", slots[slots.len() - 1].to_string())?;
        let total = self.header.edge_count;
        PageDefect::unless(slots[0] == total, format!("the last slot to be {total}"), slots[0].to_string())?;
        let ascend = slots.windows(2).fold(true, |sound, pair| sound & (pair[0] >= pair[1]));
        PageDefect::unless(ascend, "ascending slots", "a slot below the one before it")
    }
}
