//! The page directory (GTS's RVT): for each page its first vertex, its counts, and its checksums.

use crate::checksum::crc32c;
use crate::error::{Error, Result};
use crate::ids::{PageId, VertexId};
use crate::memory;
use crate::page::Capacity;
use crate::shard::Shard;
use crate::values::StoredValues;
use bytemuck::{Pod, Zeroable};
use std::path::Path;

pub use crate::header::DirectoryEntry;

/// The first bytes of `directory.bin`.
const MAGIC: [u8; 8] = *b"TSPAGES\0";

/// Bytes of a directory file before its first entry.
pub(crate) const HEADER_BYTES: u64 = size_of::<DirectoryHeader>() as u64;

/// The first 32 bytes of `directory.bin`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
struct DirectoryHeader {
    magic: [u8; 8],
    version: u32,
    entry_bytes: u32,
    pages: u64,
    tag: u32,
    page_bytes: u32,
}

/// The page directory of one topology, in memory.
#[derive(Debug)]
pub struct Directory {
    entries: StoredValues<DirectoryEntry>,
    starts: Vec<u32>,
    shards: Vec<Shard>,
}

/// What a directory is checked against when it is opened; all of it is in the manifest.
#[derive(Clone, Copy, Debug)]
pub struct DirectoryContext<'a> {
    /// Pages of the topology.
    pub pages: u64,
    /// The shards of the topology, which partition its pages.
    pub shards: &'a [Shard],
    /// Vertices of the graph.
    pub vertices: u64,
    /// Neighbours in all lists.
    pub edges: u64,
    /// The store's tag.
    pub tag: u32,
    /// The capacity of a page.
    pub capacity: Capacity,
    /// CRC-32C of the file.
    pub crc: u32,
}

impl Directory {
    /// Reads and checks `path`: its checksum, and that the entries cover every edge exactly once, and every vertex in
    /// each shard.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::File`] naming the first wrong entry.
    pub fn open(path: &Path, context: &DirectoryContext<'_>) -> Result<Self> {
        let entries = StoredValues::open(path, size_of::<DirectoryHeader>(), context.pages, context.crc)?;
        let version = version_of(context.capacity.is_packed(), context.shards.len() > 1);
        let expected = header(context.pages, context.tag, context.capacity.page_bytes, version);
        let found: DirectoryHeader = bytemuck::pod_read_unaligned(&entries.bytes()[..size_of::<DirectoryHeader>()]);
        if found != expected {
            return Err(Error::file(path, format!("{expected:?}"), format!("{found:?}")));
        }
        check_entries(path, entries.values(), context)?;
        let mut starts = memory::vec_with_room(&path.display().to_string(), entries.values().len())?;
        starts.extend(entries.values().iter().map(|entry| entry.start_vertex));
        Ok(Self { entries, starts, shards: context.shards.to_vec() })
    }

    /// The entries, one per page.
    pub fn entries(&self) -> &[DirectoryEntry] {
        self.entries.values()
    }

    /// The first vertex of each page, which decodes record ids.
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// The number of pages.
    pub fn len(&self) -> u32 {
        self.starts.len() as u32
    }

    /// Whether there are no pages, as in a graph without vertices.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The shards by which lists are grouped; a single one if they are not grouped.
    pub fn shards(&self) -> &[Shard] {
        &self.shards
    }

    /// Returns the page with a vertex's record in a shard; the first of its pages if the list is large. `vertex` must
    /// exist.
    pub fn page_of(&self, shard: &Shard, vertex: VertexId) -> PageId {
        let starts = &self.starts[shard.places()];
        let behind = starts.partition_point(|&start| start <= vertex.0);
        let start = starts[behind - 1];
        PageId(shard.pages.start + starts[..behind].partition_point(|&before| before < start) as u32)
    }

    /// The length of the list of which a large page holds a part, in the page's shard: the sum over the list's pages.
    /// For a small page, its number of neighbours.
    pub fn run_degree(&self, page: PageId) -> u64 {
        let (entries, entry) = (self.entries(), &self.entries()[page.index()]);
        if entry.run == 0 {
            return entry.edge_count.into();
        }
        let shard = &self.shards[Shard::with_page(&self.shards, page.0)];
        let first = self.page_of(shard, VertexId(entry.start_vertex)).index();
        let last = &entries[page.index() + entry.run as usize - 1];
        last.first_edge + u64::from(last.edge_count) - entries[first].first_edge
    }
}

/// Main memory of a directory of this many pages, in bytes.
pub fn memory_bytes(pages: u64) -> u64 {
    HEADER_BYTES + pages.saturating_mul((size_of::<DirectoryEntry>() + size_of::<u32>()) as u64)
}

/// Returns the bytes of a directory file of a version of its own, and their checksum.
pub fn encode(entries: &[DirectoryEntry], tag: u32, page_bytes: u32, version: u32) -> (Vec<u8>, u32) {
    let mut bytes = Vec::with_capacity(size_of::<DirectoryHeader>() + size_of_val(entries));
    bytes.extend_from_slice(bytemuck::bytes_of(&header(entries.len() as u64, tag, page_bytes, version)));
    bytes.extend_from_slice(bytemuck::cast_slice(entries));
    let crc = crc32c(&bytes);
    (bytes, crc)
}

/// The version of a directory file: of packed pages or others, and with or without grouped lists.
pub fn version_of(packed: bool, grouped: bool) -> u32 {
    match (packed, grouped) {
        (true, _) => 3,
        (false, true) => 2,
        (false, false) => 1,
    }
}

fn header(pages: u64, tag: u32, page_bytes: u32, version: u32) -> DirectoryHeader {
    let entry_bytes = size_of::<DirectoryEntry>() as u32;
    DirectoryHeader { magic: MAGIC, version, entry_bytes, pages, tag, page_bytes }
}

/// Checks shard by shard; the count of edges continues from one to the next.
fn check_entries(path: &Path, entries: &[DirectoryEntry], context: &DirectoryContext<'_>) -> Result<()> {
    let mut edge = 0;
    for shard in context.shards {
        edge = check_shard(path, entries, shard, edge, context)?;
    }
    Ok(())
}

/// Checks a shard's entries against the vertex and the edge at which each must begin; returns the edge after them.
fn check_shard(
    path: &Path,
    entries: &[DirectoryEntry],
    shard: &Shard,
    first_edge: u64,
    context: &DirectoryContext<'_>,
) -> Result<u64> {
    let (mut vertex, mut edge, mut run_left) = (0u64, first_edge, 0u32);
    for (page, entry) in shard.places().zip(&entries[shard.places()]) {
        let wrong = |what: &str, expected: u64, found: u64| {
            Err(Error::file(path, format!("page {page} with {what} {expected}"), found.to_string()))
        };
        if u64::from(entry.start_vertex) != vertex {
            return wrong("first vertex", vertex, entry.start_vertex.into());
        }
        if entry.first_edge != edge {
            return wrong("first edge", edge, entry.first_edge);
        }
        if run_left > 0 && entry.run != run_left {
            return wrong("large-page run", run_left.into(), entry.run.into());
        }
        if entry.run > 0 && entry.slot_count != 1 {
            return wrong("slots", 1, entry.slot_count.into());
        }
        if entry.slot_count == 0 || !context.capacity.fits(entry.slot_count.into(), entry.edge_count.into()) {
            return wrong("records that fit in bytes", context.capacity.page_bytes.into(), entry.edge_count.into());
        }
        run_left = entry.run.saturating_sub(1);
        edge += u64::from(entry.edge_count);
        if run_left == 0 {
            vertex += u64::from(entry.slot_count);
        }
    }
    let last = u64::from(shard.pages.end) == context.pages;
    let (found, expected) = ((vertex, edge, run_left), (context.vertices, if last { context.edges } else { edge }, 0));
    if found != expected {
        let expected = format!("vertices, edges, open run {expected:?} at page {}", shard.pages.end);
        return Err(Error::file(path, expected, format!("{found:?}")));
    }
    Ok(edge)
}
