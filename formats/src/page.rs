//! The pages of a topology, plain or packed: what fits in them, and what they are checked against.

use crate::checksum::{Crc32c, crc32c};
use crate::edge::WeightType;
use crate::encoding::{Encoding, PackedParameters};
use crate::header::{DirectoryEntry, SLOT_BYTES};
use crate::packed::{PackedPage, table_words};
use crate::shard::Shard;
use std::ops::Range;

pub use crate::defect::PageDefect;
pub use crate::header::{HEADER_BYTES, PAGE_BYTES_DEFAULT, PAGE_BYTES_MAX, PAGE_BYTES_MIN, PageHeader, WeightsHeader};
pub use crate::neighbours::{Neighbours, RecordIds, VertexIds, read_le};
pub use crate::plain::Page;

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
            edges <= parameters.edges_max.into() && 4 * table_words(slots, edges) <= self.page_bytes.into()
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
    /// The errors of [`Page::open`] and [`PackedPage::inflate`].
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
            if in_range { Ok(()) } else { Err(PageDefect::outside(destinations, largest.wrapping_add(from).into())) }
        }
        Encoding::RecordId { page_bytes, slot_bytes } => {
            let ids = RecordIds::new(&sound, &[], page_bytes, slot_bytes);
            check_record_ids(&ids, edges as usize, destinations, &context.entries[context.shards[0].places()])
        }
        Encoding::Packed { .. } => unreachable!("checked above"),
    }
}

/// Checks everything about a packed page but its neighbours.
fn check_packed(bytes: &[u8], page: u32, context: &PageContext<'_>) -> Result<(), PageDefect> {
    let (crc, entry) = (crc32c(bytes), &context.entries[page as usize]);
    PageDefect::unless_with(crc == entry.crc, || format!("checksum {:08x}", entry.crc), || format!("{crc:08x}"))?;
    let packed = PackedPage::open(bytes, context.encoding, context.destinations(page))?;
    check_header(packed.header(), page, context)?;
    packed.check()
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

/// Checks that every record id names an existing slot in the first shard, which has these entries, of one of the page's
/// destinations.
fn check_record_ids(
    ids: &RecordIds<'_>,
    edges: usize,
    destinations: &Range<u64>,
    entries: &[DirectoryEntry],
) -> Result<(), PageDefect> {
    for (to, slot) in (0..edges).map(|edge| ids.record(edge)) {
        let entry = usize::try_from(to).ok().and_then(|to| entries.get(to));
        let (start, slots) = entry.map_or((0, 0), |entry| (entry.start_vertex, entry.slot_count));
        // Messages are built only for defects: they cost far more than the check.
        if slot >= u64::from(slots) {
            let expected = format!("record ids of {} pages and their slots", entries.len());
            return Err(PageDefect { expected, found: format!("page {to}, slot {slot}") });
        }
        if !destinations.contains(&(u64::from(start) + slot)) {
            return Err(PageDefect::outside(destinations, u64::from(start) + slot));
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
    let (crc, expected) = (crc32c(bytes), entry.weights_crc);
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
    #[inline]
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
