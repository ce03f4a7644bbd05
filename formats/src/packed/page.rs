//! A packed page in memory: its headers and tables, checked as far as memory safety needs.

use super::block::Shape;
use super::kernels::{self, Fast};
use super::layout::{BLOCK, HEADER_WORDS, PackedHeader, table_words};
use crate::defect::PageDefect;
use crate::encoding::{EDGES_MAX_MAX, Encoding, IMAGE_EXTRA_BYTES, PackedParameters, UNIT};
use crate::header::{DirectoryEntry, HEADER_BYTES, PageHeader};
use std::ops::Range;

/// A packed page whose header and tables are within its bytes.
#[derive(Clone, Copy, Debug)]
pub struct PackedPage<'a> {
    pub(super) words: &'a [u32],
    pub(super) header: PageHeader,
    pub(super) packed: PackedHeader,
    /// The payload word at which each unit begins.
    pub(super) units: &'a [u32],
    pub(super) parameters: PackedParameters,
    /// The vertices that may be neighbours.
    pub(super) first_dest: u32,
    pub(super) dest_count: u64,
    /// Whether the processor's vector instructions are used.
    pub(super) fast: Fast,
}

impl<'a> PackedPage<'a> {
    /// Interprets the bytes of a page. `destinations` are the destinations of the page's shard, all vertices if lists
    /// are not grouped. Only checks what memory safety needs; [`check`](Self::check) does the rest.
    ///
    /// # Errors
    /// A defect, if the encoding is not packed, or if headers and tables do not describe a page of this size.
    pub fn open(bytes: &'a [u8], encoding: Encoding, destinations: &Range<u64>) -> Result<Self, PageDefect> {
        let parameters = PackedParameters::of(encoding);
        let parameters = parameters.ok_or_else(|| PageDefect::new("a packed encoding", encoding.to_string()))?;
        let whole = bytes.len() >= 4 * HEADER_WORDS && bytes.len().is_multiple_of(4);
        PageDefect::unless_with(whole, || "a packed page", || format!("{} bytes", bytes.len()))?;
        let aligned = bytes.as_ptr().align_offset(align_of::<u32>()) == 0;
        PageDefect::unless_with(aligned, || "a page in aligned memory", || format!("address {:p}", bytes.as_ptr()))?;
        let words: &[u32] = bytemuck::cast_slice(bytes);
        let header: PageHeader = bytemuck::pod_read_unaligned(&bytes[..HEADER_BYTES]);
        let packed: PackedHeader = bytemuck::pod_read_unaligned(&bytes[HEADER_BYTES..4 * HEADER_WORDS]);
        PageDefect::unless(header.slot_count > 0, "at least one slot", "none")?;
        let need = table_words(header.slot_count.into(), header.edge_count.into()) + u64::from(packed.payload_words);
        let room = || format!("at most {} words of tables and payload", words.len());
        PageDefect::unless_with(need <= words.len() as u64, room, || need.to_string())?;
        let fits = header.edge_count <= parameters.edges_max && image_bytes(&header) <= parameters.image_bytes();
        let room = || format!("a plain image of at most {} bytes", parameters.image_bytes());
        PageDefect::unless_with(fits, room, || image_bytes(&header).to_string())?;
        let (first_dest, dest_count) = (destinations.start as u32, destinations.end - destinations.start);
        let end = (need - u64::from(packed.payload_words)) as usize;
        let units = &words[end - header.edge_count.div_ceil(UNIT as u32) as usize..end];
        Ok(Self { words, header, packed, units, parameters, first_dest, dest_count, fast: kernels::fast() })
    }

    /// The same page, decoded without the processor's vector instructions: for tests and measurements.
    #[must_use]
    pub fn portable(self) -> Self {
        Self { fast: None, ..self }
    }

    /// The header, as in a plain page.
    pub fn header(&self) -> &PageHeader {
        &self.header
    }

    /// The second header.
    pub fn packed_header(&self) -> &PackedHeader {
        &self.packed
    }

    /// The number of units: 1,024 neighbours each, the last one fewer.
    pub fn unit_count(&self) -> u32 {
        self.header.edge_count.div_ceil(UNIT as u32)
    }

    /// Bytes of this page's plain image: a multiple of 4, and at most [`Encoding::plain_bytes`].
    pub fn image_bytes(&self) -> usize {
        image_bytes(&self.header) as usize
    }

    /// The vertex that the page's first gap is relative to, if the page continues a list: the last neighbour of the
    /// page before.
    pub fn continued_from(&self) -> Option<u32> {
        let continues = self.header.list_offset > 0 && self.header.edge_count > 0;
        continues.then(|| self.block(0).0.wrapping_add(self.first_dest))
    }

    pub(super) fn block_count(&self) -> usize {
        self.header.edge_count.div_ceil(BLOCK as u32) as usize
    }

    pub(super) fn degree_block_count(&self) -> usize {
        self.header.slot_count.div_ceil(BLOCK as u32) as usize
    }

    /// The base and the shape of a block, which must exist.
    #[inline(always)]
    pub(super) fn block(&self, block: usize) -> (u32, Shape) {
        let at = HEADER_WORDS + 2 * block;
        (self.words[at], Shape::decode(self.words[at + 1]))
    }

    /// The number of neighbours before a degree block, which must exist, and the offset and width of its degrees.
    #[inline(always)]
    pub(super) fn degree_block(&self, block: usize) -> (u32, usize, u32) {
        let at = HEADER_WORDS + 2 * (self.block_count() + block);
        let entry = self.words[at + 1];
        (self.words[at], (entry & 0x3FF_FFFF) as usize, entry >> 26)
    }

    /// The payload word at which a unit, which must exist, begins.
    #[inline(always)]
    pub(super) fn unit_at(&self, unit: usize) -> usize {
        self.units[unit] as usize
    }

    /// The index of the payload's first word.
    pub(super) fn payload_at(&self) -> usize {
        table_words(self.header.slot_count.into(), self.header.edge_count.into()) as usize
    }

    /// All words of the page from a payload word on; none behind the payload. Decoders may read, and ignore, what is
    /// behind a block.
    #[inline(always)]
    pub(super) fn payload_from(&self, word: usize) -> &'a [u32] {
        self.words.get(self.payload_at() + word..).unwrap_or(&[])
    }
}

/// The smallest `edges_max` with which plain images hold all of these pages.
pub fn edges_max_of(pages: &[DirectoryEntry]) -> u32 {
    let needed = |page: &DirectoryEntry| {
        let (edge_count, slot_count) = (page.edge_count, page.slot_count);
        let image_bytes = image_bytes(&PageHeader { edge_count, slot_count, ..PageHeader::default() });
        u64::from(edge_count).max(image_bytes.saturating_sub(IMAGE_EXTRA_BYTES).div_ceil(4))
    };
    let needed = pages.iter().map(needed).max().unwrap_or(0).max(1);
    needed.next_multiple_of(UNIT as u64).min(EDGES_MAX_MAX.into()) as u32
}

/// Bytes of the plain image of a page.
fn image_bytes(header: &PageHeader) -> u64 {
    HEADER_BYTES as u64 + 4 * (u64::from(header.edge_count) + u64::from(header.slot_count) + 1)
}
