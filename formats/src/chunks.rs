//! The chunks of packed pages: checksums with which a part of a page can be read, and where its units are. SPEC.md,
//! section 7, specifies `chunks.bin`.
//!
//! ```text
//!  page     │ headers, blocks, degree blocks, units │ payload: unit 0, unit 1, …              │ degrees │ zeros │
//!             └ entries of unit u: 64 bytes at a       └ unit u: between two numbers of the table
//!               place that follows from its number
//!  chunks   ├────────────┼────────────┼────────────┼────────────┼────────────┼────────────┼────────────┤
//!             a CRC-32C each; a list needs those with the entries and the payload of its units
//! ```
//!
//! The numbers of a page's lists, its degrees, are not in the table: readers of parts of pages have them from
//! `degrees.bin`.

use crate::checksum::crc32c;
use crate::directory::DirectoryEntry;
use crate::error::{Error, Result};
use crate::ids::PageId;
use crate::packed::{UNIT, table_words, unit_entries};
use crate::page::PageDefect;
use crate::values::StoredValues;
use bytemuck::{Pod, Zeroable};
use std::ops::Range;
use std::path::Path;

/// The file's name.
pub const CHUNKS: &str = "chunks.bin";
/// The first bytes of the file.
const MAGIC: [u8; 8] = *b"TSCHUNKS";
/// The smallest chunk, in bytes.
const CHUNK_BYTES_MIN: u32 = 16 << 10;
/// The largest number of chunks of a page: a set of them is one word.
const CHUNKS_MAX: u32 = 64;
/// Bytes of the file before its first value.
pub(crate) const HEADER_BYTES: u64 = size_of::<ChunksHeader>() as u64;

/// The first 32 bytes of `chunks.bin`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
struct ChunksHeader {
    magic: [u8; 8],
    version: u32,
    chunk_bytes: u32,
    pages: u64,
    tag: u32,
    reserved: u32,
}

/// Bytes of a chunk of pages of this size.
pub const fn chunk_bytes(page_bytes: u32) -> u32 {
    let least = page_bytes / CHUNKS_MAX;
    if least > CHUNK_BYTES_MIN { least } else { CHUNK_BYTES_MIN }
}

/// A set of the chunks of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ChunkSet(pub u64);

impl ChunkSet {
    /// The empty set.
    pub const NONE: Self = Self(0);

    /// Some consecutive chunks, at least one.
    pub fn of_range(chunks: Range<u32>) -> Self {
        Self(u64::MAX >> (CHUNKS_MAX - (chunks.end - chunks.start)) << chunks.start)
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The number of chunks.
    pub fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether all chunks of another set are in this one.
    pub fn contains(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }

    /// The chunks of both sets.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The chunks that are not in another set.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The runs of consecutive chunks, in ascending order.
    pub fn runs(self) -> impl Iterator<Item = Range<u32>> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            (rest != 0).then(|| {
                let start = rest.trailing_zeros();
                let end = start + (rest >> start).trailing_ones();
                rest &= u64::MAX.checked_shl(end).unwrap_or(0);
                start..end
            })
        })
    }
}

/// The table of a topology's chunks, in memory.
#[derive(Debug)]
pub struct ChunkTable {
    values: StoredValues<u32>,
    chunk_bytes: u32,
    /// Chunks of a page.
    chunks: u32,
    /// The place of each page's first unit among the values, and the end of the last page's.
    units: Vec<usize>,
}

/// What a table is checked against when it is opened.
#[derive(Clone, Copy, Debug)]
pub struct ChunkContext<'a> {
    /// The page directory.
    pub entries: &'a [DirectoryEntry],
    /// Bytes of a page.
    pub page_bytes: u32,
    /// The store's tag.
    pub tag: u32,
    /// CRC-32C of the file.
    pub crc: u32,
}

impl ChunkTable {
    /// Reads and checks `path`: its length and checksum, and that the units of each page ascend and are within the
    /// page.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::File`] naming the first wrong page.
    pub fn open(path: &Path, context: &ChunkContext<'_>) -> Result<Self> {
        let ChunkContext { entries, page_bytes, tag, crc } = *context;
        let chunk_bytes = chunk_bytes(page_bytes);
        let chunks = page_bytes / chunk_bytes;
        let mut units = crate::memory::vec_with_room(&path.display().to_string(), entries.len() + 1)?;
        let mut end = entries.len() * chunks as usize;
        for entry in entries {
            units.push(end);
            end += unit_values(entry.edge_count);
        }
        units.push(end);
        let values = StoredValues::open(path, HEADER_BYTES as usize, end as u64, crc)?;
        let expected = header(entries.len() as u64, tag, page_bytes);
        let found: ChunksHeader = bytemuck::pod_read_unaligned(&values.bytes()[..HEADER_BYTES as usize]);
        if found != expected {
            return Err(Error::file(path, format!("{expected:?}"), format!("{found:?}")));
        }
        let table = Self { values, chunk_bytes, chunks, units };
        for (page, entry) in (0..).zip(entries) {
            let (places, room) = (table.units(PageId(page)), payload_room(entry, page_bytes));
            let end = places.last().copied().unwrap_or(0);
            if places[0] != 0 || !places.is_sorted() || u64::from(end) > room {
                let expected = format!("units of page {page} that ascend from 0 to at most {room}");
                return Err(Error::file(path, expected, format!("{} to {end}", places[0])));
            }
        }
        Ok(table)
    }

    /// Main memory of the table, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        self.file_bytes() + size_of_val(&self.units[..]) as u64
    }

    /// Bytes of the file.
    pub fn file_bytes(&self) -> u64 {
        self.values.bytes().len() as u64
    }

    /// Bytes of a chunk.
    pub fn chunk_bytes(&self) -> u32 {
        self.chunk_bytes
    }

    /// The number of chunks of a page.
    pub fn chunk_count(&self) -> u32 {
        self.chunks
    }

    /// The payload word at which each unit of a page begins, and the end of the last one.
    pub fn units(&self, page: PageId) -> &[u32] {
        &self.values.values()[self.units[page.index()]..self.units[page.index() + 1]]
    }

    /// Checks some chunks of a page against their checksums. `bytes` are the bytes of the page; only these chunks are
    /// read.
    ///
    /// # Errors
    /// The first defect.
    pub fn check(&self, page: PageId, bytes: &[u8], chunks: ChunkSet) -> Result<(), PageDefect> {
        let first = page.index() * self.chunks as usize;
        let crcs = &self.values.values()[first..first + self.chunks as usize];
        for chunk in chunks.runs().flatten() {
            let at = chunk as usize * self.chunk_bytes as usize;
            let (crc, expected) = (crc32c(&bytes[at..at + self.chunk_bytes as usize]), crcs[chunk as usize]);
            PageDefect::unless_with(
                crc == expected,
                || format!("checksum {expected:08x} of chunk {chunk}"),
                || format!("{crc:08x}"),
            )?;
        }
        Ok(())
    }

    /// Checks the table's entries of a whole, valid page.
    pub(crate) fn check_page(&self, page: PageId, bytes: &[u8]) -> Result<(), PageDefect> {
        let stored = crate::packed::stored_units(bytes);
        if let Some((unit, (stored, place))) = (0..).zip(stored.iter().zip(self.units(page))).find(|(_, (a, b))| a != b)
        {
            return Err(PageDefect::new(format!("unit {unit} at payload word {stored}"), place.to_string()));
        }
        self.check(page, bytes, ChunkSet::of_range(0..self.chunks))
    }

    /// Where the parts of a page are.
    pub fn map(&self, page: PageId, entry: &DirectoryEntry) -> PageMap<'_> {
        let payload_at = 4 * table_words(entry.slot_count.into(), entry.edge_count.into()) as u32;
        PageMap { edges: entry.edge_count, payload_at, units: self.units(page), chunk_bytes: self.chunk_bytes }
    }
}

/// Where the parts of a packed page are, known without reading it.
#[derive(Clone, Copy, Debug)]
pub struct PageMap<'a> {
    edges: u32,
    payload_at: u32,
    units: &'a [u32],
    chunk_bytes: u32,
}

impl PageMap<'_> {
    /// The bytes of the page that hold some consecutive units: the entries of their blocks, and their payload.
    pub fn bytes_of(&self, units: Range<u32>) -> [Range<u32>; 2] {
        let [first, end] = [units.start, units.end].map(|unit| self.payload_at + 4 * self.units[unit as usize]);
        [unit_entries(units, self.edges), first..end]
    }

    /// The chunks that hold some consecutive units.
    pub fn chunks_of(&self, units: Range<u32>) -> ChunkSet {
        let mut chunks = ChunkSet::NONE;
        for bytes in self.bytes_of(units).into_iter().filter(|bytes| !bytes.is_empty()) {
            let range = bytes.start / self.chunk_bytes..bytes.end.div_ceil(self.chunk_bytes);
            chunks = chunks.with(ChunkSet::of_range(range));
        }
        chunks
    }

    /// The units that hold some neighbours of the page.
    pub fn units_of(edges: Range<u32>) -> Range<u32> {
        if edges.is_empty() { 0..0 } else { edges.start / UNIT as u32..edges.end.div_ceil(UNIT as u32) }
    }
}

/// The values of a page's units.
fn unit_values(edges: u32) -> usize {
    edges.div_ceil(UNIT as u32) as usize + 1
}

/// The words of a page behind its tables.
fn payload_room(entry: &DirectoryEntry, page_bytes: u32) -> u64 {
    u64::from(page_bytes / 4).saturating_sub(table_words(entry.slot_count.into(), entry.edge_count.into()))
}

fn header(pages: u64, tag: u32, page_bytes: u32) -> ChunksHeader {
    let chunk_bytes = chunk_bytes(page_bytes);
    ChunksHeader { magic: MAGIC, version: 3, chunk_bytes, pages, tag, reserved: 0 }
}

/// Main memory of the table of a directory with this many pages and neighbours at most, in bytes; also the size of the
/// file, within a few bytes a page.
pub fn memory_bytes(pages: u64, edges: u64, page_bytes: u32) -> u64 {
    let a_page = 4 * u64::from(page_bytes / chunk_bytes(page_bytes)) + 2 * 4 + size_of::<usize>() as u64;
    pages.saturating_mul(a_page).saturating_add(edges / UNIT as u64 * 4).saturating_add(HEADER_BYTES)
}

/// What the table has about a page.
#[derive(Clone, Debug, Default)]
pub struct PageChunks {
    crcs: Vec<u32>,
    units: Vec<u32>,
}

impl PageChunks {
    /// Finds the chunks of a page, which must be a valid packed page.
    pub fn of(page: &[u8]) -> Self {
        let chunk_bytes = chunk_bytes(page.len() as u32) as usize;
        Self { crcs: page.chunks(chunk_bytes).map(crc32c).collect(), units: crate::packed::stored_units(page) }
    }
}

/// Collects the table while pages are written, in any order.
#[derive(Debug, Default)]
pub struct ChunkTableWriter {
    pages: Vec<PageChunks>,
}

impl ChunkTableWriter {
    /// Sets what the table has about a page.
    pub fn set(&mut self, page: usize, chunks: PageChunks) {
        if self.pages.len() <= page {
            self.pages.resize(page + 1, PageChunks::default());
        }
        self.pages[page] = chunks;
    }

    /// Returns the bytes of the file, and their checksum.
    pub fn encode(&self, pages: u64, tag: u32, page_bytes: u32) -> (Vec<u8>, u32) {
        let mut bytes = bytemuck::bytes_of(&header(pages, tag, page_bytes)).to_vec();
        let (crcs, units) = (self.pages.iter().map(|page| &page.crcs), self.pages.iter().map(|page| &page.units));
        crcs.chain(units).for_each(|part| bytes.extend_from_slice(bytemuck::cast_slice(part)));
        let crc = crc32c(&bytes);
        (bytes, crc)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_chunks() {
        for mask in [0, 1, 1 << 63, u64::MAX, 0b1101_1100, 0xF000_0000_0000_000F, 0x5555_5555_5555_5555] {
            let set = ChunkSet(mask);
            let runs: Vec<_> = set.runs().collect();
            assert!(runs.windows(2).all(|pair| pair[0].end < pair[1].start) && runs.iter().all(|run| !run.is_empty()));
            assert_eq!(runs.into_iter().fold(ChunkSet::NONE, |all, run| all.with(ChunkSet::of_range(run))), set);
            assert!(set.contains(ChunkSet::NONE) && set.contains(set) && set.without(set).is_empty());
        }
        assert_eq!(ChunkSet(0b0110).without(ChunkSet(0b0011)), ChunkSet(0b0100));
        assert_eq!(chunk_bytes(64 << 10), 16 << 10);
        assert_eq!((chunk_bytes(1 << 20), chunk_bytes(64 << 20)), (16 << 10, 1 << 20));
    }
}
