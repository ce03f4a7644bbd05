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

use crate::checksum::Crc32c;
use crate::directory::DirectoryEntry;
use crate::edge::WeightType;
use crate::encoding::Encoding;
use crate::packed::{self, PackedPage, PackedParameters};
use crate::shard::Shard;
use bytemuck::{Pod, Zeroable};
use std::ops::Range;

pub use crate::neighbours::{Neighbours, RecordIds, RecordIdsOf, VertexIds, read_le};

/// The smallest page: 64 KiB.
pub const PAGE_BYTES_MIN: u32 = 64 << 10;
/// The largest page: 64 MiB.
pub const PAGE_BYTES_MAX: u32 = 64 << 20;
/// The default page size: 1 MiB.
pub const PAGE_BYTES_DEFAULT: u32 = 1 << 20;

/// Bytes of a slot.
const SLOT_BYTES: usize = 4;
/// Bytes of a page's header.
pub const HEADER_BYTES: usize = size_of::<PageHeader>();

/// The first 32 bytes of a page of topology.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct PageHeader {
    /// The page's number in its topology.
    pub page: u32,
    /// The store's tag (manifest), so that pages of another store are detected.
    pub tag: u32,
    /// The vertex of slot 0.
    pub start_vertex: u32,
    /// The number of vertices with a slot here; 1 in a large page.
    pub slot_count: u32,
    /// The number of neighbours in the page.
    pub edge_count: u32,
    /// 0 in a small page, 1 in a large page.
    pub large: u32,
    /// The offset of a large page in its vertex's list, in neighbours; 0 in a small page.
    pub list_offset: u64,
}

/// The first 16 bytes of a page of weights; weight `i` of 4 or 8 bytes, after them, belongs to neighbour `i` of the
/// page of topology with the same number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct WeightsHeader {
    /// The page's number in its topology.
    pub page: u32,
    /// The store's tag (manifest).
    pub tag: u32,
    /// The number of weights in the page.
    pub edge_count: u32,
    /// Zero.
    pub reserved: u32,
}

/// The capacity of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Bytes of a page of topology.
    pub page_bytes: u32,
    /// Bytes of one neighbour, in a packed page's plain image.
    pub width_bytes: u32,
    /// The number of slots that can be addressed in a page.
    pub slots_max: u64,
    /// If pages are packed, their maximum number of neighbours and the bytes of their plain images.
    packed: Option<PackedParameters>,
}

impl Capacity {
    /// Returns the capacity of pages of `page_bytes` under an encoding.
    pub fn new(page_bytes: u32, encoding: Encoding) -> Self {
        let (width_bytes, packed) = (encoding.width_bytes() as u32, PackedParameters::of(encoding));
        Self { page_bytes, width_bytes, slots_max: encoding.slots_max(), packed }
    }

    /// Whether `slots` records with `edges` neighbours in total fit in a page. Packed, they may still have too many
    /// bits.
    pub fn fits(&self, slots: u64, edges: u64) -> bool {
        let bytes =
            (slots + 1).saturating_mul(SLOT_BYTES as u64).saturating_add(edges.saturating_mul(self.width_bytes.into()));
        let image_bytes = self.packed.map_or(self.page_bytes.into(), PackedParameters::image_bytes);
        let fits = slots <= self.slots_max && bytes <= image_bytes - HEADER_BYTES as u64;
        fits && self.packed.is_none_or(|parameters| {
            edges <= parameters.edges_max.into() && 4 * packed::table_words(slots, edges) <= self.page_bytes.into()
        })
    }

    /// Whether pages are packed.
    pub fn is_packed(&self) -> bool {
        self.packed.is_some()
    }

    /// The largest number of neighbours of a page: the longest list that fits, and the number of neighbours of a full
    /// large page. Packed, such a list may have too many bits.
    pub fn list_max(&self) -> u64 {
        let image_bytes = self.packed.map_or(self.page_bytes.into(), PackedParameters::image_bytes);
        let list = (image_bytes - HEADER_BYTES as u64 - 2 * SLOT_BYTES as u64) / u64::from(self.width_bytes);
        self.packed.map_or(list, |parameters| list.min(parameters.edges_max.into()))
    }

    /// Bytes of a page of weights of a type. With weights of 4 bytes: the page size, or twice that if neighbours take
    /// less than 4 bytes; of packed pages, the size of a plain image. With weights of 8 bytes: twice as many.
    pub fn weight_page_bytes(&self, of: WeightType) -> u32 {
        let bytes = match self.packed {
            Some(parameters) => parameters.image_bytes() as u32,
            None if self.width_bytes < 4 => 2 * self.page_bytes,
            None => self.page_bytes,
        };
        if of.is_wide() { 2 * bytes } else { bytes }
    }
}

/// A defect of a page: expected and found, for [`Error::Page`](crate::Error::Page).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageDefect {
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub found: String,
}

impl PageDefect {
    pub(crate) fn new(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { expected: expected.into(), found: found.into() }
    }

    pub(crate) fn unless(holds: bool, expected: impl Into<String>, found: impl Into<String>) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self::new(expected, found)) }
    }

    /// As `unless`, without the cost of messages for sound pages.
    #[inline(always)]
    pub(crate) fn unless_with<E: Into<String>>(
        holds: bool,
        expected: impl FnOnce() -> E,
        found: impl FnOnce() -> String,
    ) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self::new(expected(), found())) }
    }
}

/// What a topology's pages are checked against.
#[derive(Clone, Copy, Debug)]
pub struct PageContext<'a> {
    /// The encoding of neighbours.
    pub encoding: Encoding,
    /// The shards of the topology: neighbours are destinations of their page's shard.
    pub shards: &'a [Shard],
    /// The store's tag.
    pub tag: u32,
    /// The entries of the topology's page directory, one per page; record ids refer to them too.
    pub entries: &'a [DirectoryEntry],
}

impl PageContext<'_> {
    /// The vertices that may be neighbours in a page: the destinations of its shard.
    pub fn destinations(&self, page: u32) -> &Range<u64> {
        &self.shard(page).destinations
    }

    /// The header of a page of the topology, which must exist, as the page directory implies it.
    pub fn header(&self, page: u32) -> PageHeader {
        let DirectoryEntry { start_vertex, slot_count, edge_count, run, .. } = self.entries[page as usize];
        let (tag, large) = (self.tag, u32::from(run != 0));
        let list_offset = list_offset(page, self.shard(page), self.entries);
        PageHeader { page, tag, start_vertex, slot_count, edge_count, large, list_offset }
    }

    /// Opens a page that has passed [`check_page`] before: itself or, if pages are packed, the plain image that is
    /// decoded into `image`, a buffer of [`Encoding::plain_bytes`]. Read it with the encoding
    /// [`plain`](Encoding::plain).
    ///
    /// # Errors
    /// Those of [`Page::open`] and [`PackedPage::inflate`].
    pub fn open_plain<'b>(&self, bytes: &'b [u8], page: u32, image: &'b mut [u8]) -> Result<Page<'b>, PageDefect> {
        if !self.encoding.is_packed() {
            return Page::open(bytes, self.encoding);
        }
        PackedPage::open(bytes, self.encoding, self.destinations(page))?.inflate(image)?;
        Page::open(image, self.encoding.plain())
    }

    /// The shard of a page.
    fn shard(&self, page: u32) -> &Shard {
        &self.shards[Shard::with_page(self.shards, page)]
    }
}

/// A page of topology with a valid header and valid slots.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    bytes: &'a [u8],
    header: PageHeader,
    width_bytes: usize,
}

impl<'a> Page<'a> {
    /// Interprets bytes that have passed [`check_page`] before. Repeats only the checks that memory safety needs.
    ///
    /// Packed pages are interpreted by [`PackedPage`]; their plain images are opened here, in the encoding
    /// [`plain`](Encoding::plain).
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
    fn slots_backward(&self) -> &'a [u32] {
        let bytes = (self.header.slot_count as usize + 1) * SLOT_BYTES;
        bytemuck::cast_slice(&self.bytes[self.bytes.len() - bytes..])
    }

    /// The neighbours of a slot, as a range within the page; empty for a slot that does not exist.
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

    /// Checks that the slots ascend from 0 to the page's edge count.
    fn check_slots(&self) -> Result<(), PageDefect> {
        let slots = self.slots_backward();
        PageDefect::unless(slots[slots.len() - 1] == 0, "slot 0 to be 0", slots[slots.len() - 1].to_string())?;
        let total = self.header.edge_count;
        PageDefect::unless(slots[0] == total, format!("the last slot to be {total}"), slots[0].to_string())?;
        let ascend = slots.windows(2).fold(true, |sound, pair| sound & (pair[0] >= pair[1]));
        PageDefect::unless(ascend, "ascending slots", "a slot below the one before it")
    }
}

/// Checks everything about a page that has been read: checksum, identity, slots, and the range of every neighbour. The
/// neighbours of a packed page are not decoded: their range is checked when they are.
///
/// The checksum and the range of vertex ids are computed in one pass over chunks that stay in the first-level cache.
///
/// # Errors
/// The first defect.
pub fn check_page(bytes: &[u8], page: u32, context: &PageContext<'_>) -> Result<(), PageDefect> {
    if context.encoding.is_packed() {
        return check_packed(bytes, page, context);
    }
    let (entry, destinations) = (&context.entries[page as usize], &context.shard(page).destinations);
    let sound = Page::open(bytes, context.encoding);
    // If the checksum is wrong, the contents are not examined.
    let (edges, from) = (if sound.is_ok() { entry.edge_count } else { 0 }, destinations.start as u32);
    let (crc, largest) = checksum_and_largest(bytes, edges, from, context.encoding);
    PageDefect::unless(crc == entry.crc, format!("checksum {:08x}", entry.crc), format!("{crc:08x}"))?;
    let sound = sound?;
    check_header(sound.header(), page, context)?;
    sound.check_slots()?;
    match context.encoding {
        Encoding::VertexId => {
            let in_range = edges == 0 || u64::from(largest) < destinations.end - destinations.start;
            if in_range { Ok(()) } else { Err(outside(destinations, largest.wrapping_add(from).into())) }
        }
        Encoding::RecordId { page_bytes, slot_bytes } => {
            check_record_ids(&sound, page_bytes, slot_bytes, destinations, context)
        }
        Encoding::Packed { .. } => unreachable!("checked above"),
    }
}

/// Checks everything about a packed page but its neighbours.
fn check_packed(bytes: &[u8], page: u32, context: &PageContext<'_>) -> Result<(), PageDefect> {
    let (crc, entry) = (crate::checksum::crc32c(bytes), &context.entries[page as usize]);
    PageDefect::unless_with(crc == entry.crc, || format!("checksum {:08x}", entry.crc), || format!("{crc:08x}"))?;
    let packed = PackedPage::open(bytes, context.encoding, context.destinations(page))?;
    check_header(packed.header(), page, context)?;
    packed.check()
}

/// A neighbour that is not among its shard's destinations.
pub(crate) fn outside(destinations: &Range<u64>, found: u64) -> PageDefect {
    let expected = match destinations.start {
        0 => format!("neighbours below {}", destinations.end),
        from => format!("neighbours from {from} on and below {}", destinations.end),
    };
    PageDefect { expected, found: found.to_string() }
}

/// Returns the checksum of the page and, under the vertex-id encoding, the largest neighbour relative to `from`;
/// smaller neighbours wrap to large numbers.
fn checksum_and_largest(bytes: &[u8], edge_count: u32, from: u32, encoding: Encoding) -> (u32, u32) {
    const PIECE_BYTES: usize = 16 << 10;
    let ids_end = match encoding {
        Encoding::VertexId => bytes.len().min(HEADER_BYTES + edge_count as usize * 4),
        Encoding::RecordId { .. } | Encoding::Packed { .. } => HEADER_BYTES,
    };
    let mut crc = Crc32c::default();
    let mut largest = 0;
    for (number, piece) in bytes.chunks(PIECE_BYTES).enumerate() {
        crc.update(piece);
        let start = number * PIECE_BYTES;
        let begin = HEADER_BYTES.saturating_sub(start).min(piece.len());
        let end = ids_end.saturating_sub(start).min(piece.len());
        if begin < end {
            let ids: &[u32] = bytemuck::cast_slice(&piece[begin..end]);
            largest = ids.iter().fold(largest, |a: u32, &b| a.max(b.wrapping_sub(from)));
        }
    }
    (crc.value(), largest)
}

fn check_header(header: &PageHeader, page: u32, context: &PageContext<'_>) -> Result<(), PageDefect> {
    let (entry, tag) = (&context.entries[page as usize], context.tag);
    PageDefect::unless(header.tag == tag, format!("store tag {tag:08x}"), format!("{:08x}", header.tag))?;
    PageDefect::unless(header.page == page, format!("page id {page}"), header.page.to_string())?;
    let expected = (entry.start_vertex, entry.slot_count, entry.edge_count, u32::from(entry.run != 0));
    let found = (header.start_vertex, header.slot_count, header.edge_count, header.large);
    PageDefect::unless(
        expected == found,
        format!("start, slots, edges, large {expected:?} as in the page directory"),
        format!("{found:?}"),
    )?;
    let offset = list_offset(page, context.shard(page), context.entries);
    PageDefect::unless(header.list_offset == offset, format!("list offset {offset}"), header.list_offset.to_string())
}

/// The number of neighbours of a large page's list in earlier pages; 0 for a small page.
fn list_offset(page: u32, shard: &Shard, entries: &[DirectoryEntry]) -> u64 {
    let entry = &entries[page as usize];
    if entry.run == 0 {
        return 0;
    }
    let earlier = &entries[shard.pages.start as usize..=page as usize];
    let first = earlier.partition_point(|before| before.start_vertex < entry.start_vertex);
    entry.first_edge - earlier[first].first_edge
}

/// Checks that every record id names an existing slot in the first shard, of one of the page's destinations. Compiled
/// for the usual widths, which makes it several times faster.
fn check_record_ids(
    page: &Page<'_>,
    p: u8,
    q: u8,
    destinations: &Range<u64>,
    context: &PageContext<'_>,
) -> Result<(), PageDefect> {
    let ids = page.neighbour_bytes();
    let (p, q) = (usize::from(p), usize::from(q));
    let context = (destinations, &context.entries[context.shards[0].places()]);
    match (p, q) {
        (2, 2) => check_records(ids.chunks_exact(4).map(|id| (read_le(&id[..2]), read_le(&id[2..]))), context),
        (3, 3) => check_records(ids.chunks_exact(6).map(|id| (read_le(&id[..3]), read_le(&id[3..]))), context),
        (4, 2) => check_records(ids.chunks_exact(6).map(|id| (read_le(&id[..4]), read_le(&id[4..]))), context),
        _ => check_records(ids.chunks_exact(p + q).map(|id| (read_le(&id[..p]), read_le(&id[p..]))), context),
    }
}

#[inline(always)]
fn check_records(
    ids: impl Iterator<Item = (u64, u64)>,
    (destinations, entries): (&Range<u64>, &[DirectoryEntry]),
) -> Result<(), PageDefect> {
    for (to, slot) in ids {
        let entry = usize::try_from(to).ok().and_then(|to| entries.get(to));
        let (start, slots) = entry.map_or((0, 0), |entry| (entry.start_vertex, entry.slot_count));
        // Messages are built only for defects: they cost far more than the check.
        if slot >= u64::from(slots) {
            let expected = format!("record ids of {} pages and their slots", entries.len());
            return Err(PageDefect { expected, found: format!("page {to}, slot {slot}") });
        }
        if !destinations.contains(&(u64::from(start) + slot)) {
            return Err(outside(destinations, u64::from(start) + slot));
        }
    }
    Ok(())
}

/// Checks a page of weights of a type.
///
/// # Errors
/// The first defect.
pub fn check_weights(bytes: &[u8], of: WeightType, page: u32, context: &PageContext<'_>) -> Result<(), PageDefect> {
    let entry = &context.entries[page as usize];
    check_weights_crc(bytes, entry)?;
    PageDefect::unless(
        bytes.len() >= size_of::<WeightsHeader>(),
        "a page of weights",
        format!("{} bytes", bytes.len()),
    )?;
    let header: WeightsHeader = bytemuck::pod_read_unaligned(&bytes[..size_of::<WeightsHeader>()]);
    let expected = WeightsHeader { page, tag: context.tag, edge_count: entry.edge_count, reserved: 0 };
    PageDefect::unless(header == expected, format!("{expected:?}"), format!("{header:?}"))?;
    let need = size_of::<WeightsHeader>() + entry.edge_count as usize * of.bytes();
    PageDefect::unless(need <= bytes.len(), format!("at most {} bytes", bytes.len()), need.to_string())
}

/// Checks the checksum of a page of weights.
///
/// # Errors
/// The defect.
pub(crate) fn check_weights_crc(bytes: &[u8], entry: &DirectoryEntry) -> Result<(), PageDefect> {
    let (crc, expected) = (crate::checksum::crc32c(bytes), entry.weights_crc);
    PageDefect::unless_with(crc == expected, || format!("weights checksum {expected:08x}"), || format!("{crc:08x}"))
}

/// The weights of 4 bytes of a page that has passed [`check_weights`], `edge_count` of them.
pub fn weights(bytes: &[u8], edge_count: u32) -> &[u32] {
    let start = size_of::<WeightsHeader>();
    bytemuck::cast_slice(&bytes[start..start + edge_count as usize * 4])
}

/// Weights of consecutive neighbours, as they are stored.
#[derive(Clone, Copy, Debug)]
pub enum PageWeights<'a> {
    /// There are none.
    None,
    /// Of 4 bytes.
    Words(&'a [u32]),
    /// Of 8 bytes.
    Longs(&'a [u64]),
}

impl<'a> PageWeights<'a> {
    /// The weights of a page that has passed [`check_weights`], `edge_count` of them.
    pub fn of(bytes: &'a [u8], of: WeightType, edge_count: u32) -> Self {
        let start = size_of::<WeightsHeader>();
        let weights = &bytes[start..start + edge_count as usize * of.bytes()];
        match of.is_wide() {
            true => Self::Longs(bytemuck::cast_slice(weights)),
            false => Self::Words(bytemuck::cast_slice(weights)),
        }
    }

    /// The bits of the weight of neighbour `at`, 0 without weights.
    #[inline(always)]
    pub fn get(self, at: usize) -> u64 {
        match self {
            Self::None => 0,
            Self::Words(weights) => weights[at].into(),
            Self::Longs(weights) => weights[at],
        }
    }

    /// The weights of some of the neighbours.
    #[must_use]
    pub fn part(self, range: Range<usize>) -> Self {
        match self {
            Self::None => Self::None,
            Self::Words(weights) => Self::Words(&weights[range]),
            Self::Longs(weights) => Self::Longs(&weights[range]),
        }
    }

    /// Whether there are no weights.
    pub fn is_none(self) -> bool {
        matches!(self, Self::None)
    }
}
