//! Packed pages: lists of gaps in blocks of 128, bit-packed, decoded from any 1,024th neighbour on. SPEC.md, section 7,
//! specifies them.
//!
//! ```text
//!  ┌────────────┬──────────────┬────────┬───────────────┬───────┬──────────────┬──────────────┬───────┐
//!  │ PageHeader │ PackedHeader │ blocks │ degree blocks │ units │ packed gaps  │ packed       │ zeros │
//!  │ 32 bytes   │ 16 bytes     │ 8 each │ 8 each        │ 4 each│ + exceptions │ degrees      │       │
//!  └────────────┴──────────────┴────────┴───────────────┴───────┴──────────────┴──────────────┴───────┘
//!
//!  lists    3 7 9 │ 4 │ │ 5 6 8 8        a unit of neighbours ─▶ unpack, add exceptions ─▶ prefix sums of the whole
//!  gaps     3 4 2   4     5 1 2 0                              ─▶ less the sum before each list
//! ```
//!
//! Blocks belong to the page and not to lists, so that short lists cost no headers. A list may begin anywhere in a
//! block: the prefix sum runs over all lists, and the sum before a list is subtracted from its values, eight at a
//! time, without a branch for each neighbour. [`PackedPage::inflate`] writes the *plain image*, the same page in the
//! vertex-id encoding, over which every reader of plain pages works.
//!
//! [`PackedPage::check`] takes time proportional to blocks and slots. Decoding is safe for any bytes: offsets are
//! checked where they are used, and neighbours against the page's destinations.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod bits;
mod block;
mod check;
mod decode;
mod degrees;
mod encoder;
mod estimate;
pub mod ids;
mod kernels;
mod page_degrees;
mod partial;
mod parts;
pub mod weights;

pub use decode::UnitDecoder;
pub use encoder::{PageEncoder, SharedLists};
pub use estimate::PackedEstimate;
pub(crate) use page_degrees::add_degrees;
pub use partial::PartialPage;
pub(crate) use partial::{stored_units, unit_entries};
pub use parts::PackedParts;

use crate::directory::DirectoryEntry;
use crate::encoding::Encoding;
use crate::page::{HEADER_BYTES, PageDefect, PageHeader};
use block::Shape;
use bytemuck::{Pod, Zeroable};
use std::ops::Range;

/// Neighbours, or slots, of a block.
pub const BLOCK: usize = 128;
/// Neighbours of a unit: decoding can begin at any unit.
pub const UNIT: usize = 1024;
/// Blocks of a unit.
const UNIT_BLOCKS: usize = UNIT / BLOCK;
/// Bits of an exception's position in its block.
const POSITION_BITS: u32 = 8;
/// Words before the tables.
const HEADER_WORDS: usize = (HEADER_BYTES + size_of::<PackedHeader>()) / 4;
/// Bytes of a plain image beyond its neighbours: header and slots. A memory page, so that images and pages of weights
/// can be read and imported directly.
const IMAGE_EXTRA_BYTES: u64 = 4096;
/// The largest `edges_max`.
const EDGES_MAX_MAX: u32 = (1 << 28) - UNIT as u32;

/// The 16 bytes after a packed page's [`PageHeader`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct PackedHeader {
    /// The vertex that the value 0 stands for: the first destination of the page's shard.
    pub origin: u32,
    /// The payload word at which packed degrees begin.
    pub degrees_at: u32,
    /// The number of payload words.
    pub payload_words: u32,
    /// Zero.
    pub reserved: u32,
}

/// The parameters of the encoding, as in the manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedParameters {
    /// The maximum number of neighbours of a page: a multiple of 1,024.
    pub edges_max: u32,
    /// Whether gaps are stored less one.
    pub step: bool,
    /// Whether a list's first neighbour is relative to the list's own vertex.
    pub own: bool,
}

impl PackedParameters {
    /// The parameters of an encoding, if it is packed.
    pub fn of(encoding: Encoding) -> Option<Self> {
        match encoding {
            Encoding::Packed { edges_max, step, own } => Some(Self { edges_max, step, own }),
            _ => None,
        }
    }

    /// Whether `edges_max` is allowed.
    pub(crate) fn is_valid(self) -> bool {
        self.edges_max.is_multiple_of(UNIT as u32) && (UNIT as u32..=EDGES_MAX_MAX).contains(&self.edges_max)
    }

    /// Words of a plain image behind its header: neighbours and slots.
    pub(crate) fn image_words(self) -> u64 {
        (self.image_bytes() - HEADER_BYTES as u64) / 4
    }

    /// Bytes of a plain image, and of a page of weights.
    pub(crate) fn image_bytes(self) -> u64 {
        4 * u64::from(self.edges_max) + IMAGE_EXTRA_BYTES
    }
}

/// The words of headers and tables: the smallest page with this many slots and neighbours.
pub(crate) fn table_words(slots: u64, edges: u64) -> u64 {
    let (block, unit) = (BLOCK as u64, UNIT as u64);
    HEADER_WORDS as u64 + 2 * edges.div_ceil(block) + 2 * slots.div_ceil(block) + edges.div_ceil(unit)
}

/// A packed page whose header and tables are within its bytes.
#[derive(Clone, Copy, Debug)]
pub struct PackedPage<'a> {
    words: &'a [u32],
    header: PageHeader,
    packed: PackedHeader,
    /// The payload word at which each unit begins.
    units: &'a [u32],
    parameters: PackedParameters,
    /// The vertices that may be neighbours.
    first_dest: u32,
    dest_count: u64,
    /// Whether the processor's vector instructions are used.
    fast: kernels::Fast,
}

impl<'a> PackedPage<'a> {
    /// Interprets the bytes of a page. `destinations` are those of the page's shard, all vertices if lists are not
    /// grouped. Only checks what memory safety needs; [`check`](Self::check) does the rest.
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

    fn block_count(&self) -> usize {
        self.header.edge_count.div_ceil(BLOCK as u32) as usize
    }

    fn degree_block_count(&self) -> usize {
        self.header.slot_count.div_ceil(BLOCK as u32) as usize
    }

    /// The base and the shape of a block, which must exist.
    #[inline(always)]
    fn block(&self, block: usize) -> (u32, Shape) {
        let at = HEADER_WORDS + 2 * block;
        (self.words[at], Shape::decode(self.words[at + 1]))
    }

    /// The number of neighbours before a degree block, which must exist, and the offset and width of its degrees.
    #[inline(always)]
    fn degree_block(&self, block: usize) -> (u32, usize, u32) {
        let at = HEADER_WORDS + 2 * (self.block_count() + block);
        let entry = self.words[at + 1];
        (self.words[at], (entry & 0x3FF_FFFF) as usize, entry >> 26)
    }

    /// The payload word at which a unit, which must exist, begins.
    #[inline(always)]
    fn unit_at(&self, unit: usize) -> usize {
        self.units[unit] as usize
    }

    /// The index of the payload's first word.
    fn payload_at(&self) -> usize {
        table_words(self.header.slot_count.into(), self.header.edge_count.into()) as usize
    }

    /// All words of the page from a payload word on; none behind the payload. Decoders may read, and ignore, what is
    /// behind a block.
    #[inline(always)]
    fn payload_from(&self, word: usize) -> &'a [u32] {
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

/// A number of either sign, close to 0 modulo 2^32, as a small number.
#[inline(always)]
const fn zigzag(difference: u32) -> u32 {
    difference << 1 ^ ((difference as i32) >> 31) as u32
}

/// The inverse of [`zigzag`].
#[inline(always)]
const fn unzigzag(number: u32) -> u32 {
    number >> 1 ^ (number & 1).wrapping_neg()
}
