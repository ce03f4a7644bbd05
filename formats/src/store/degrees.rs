//! The degrees of a topology: those in `degrees.bin`, or in the pages if these are packed. Then there is no
//! `degrees.bin`, as the pages hold them in fewer bits.
//!
//! ```text
//!  page  │ headers │ … │ degree blocks │ … │ gaps … │ packed degrees │      read: headers, blocks, degrees
//!                                                          └─▶ added up over the list's pages and shards
//! ```
//!
//! A few percent of the bytes of each page are read, by several threads. They are checked by the checksum of all
//! degrees in the manifest: the pages' own checksums would need whole pages.

use super::reader::PageReader;
use super::topology::Topology;
use crate::buffer::AlignedBuffer;
use crate::checksum::crc32c;
use crate::directory::DirectoryEntry;
use crate::error::{Error, Result};
use crate::filenames::MANIFEST;
use crate::ids::PageId;
use crate::packed::add_degrees;
use crate::page::{PageDefect, PageHeader};
use crate::values::StoredValues;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// The maximum number of threads that read.
const READERS_MAX: usize = 8;
/// Pages of a part that a thread takes.
const PART_PAGES: usize = 32;

impl Topology {
    /// The length of the list of each of the graph's `vertices` vertices, unless they are in memory: there is at most
    /// one copy. For an out-list of a part it is the length in the whole graph. Reads and checks `degrees.bin`, or the
    /// degrees in packed pages.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::File`] if the file contradicts the manifest; [`Error::Page`] for a defect of a page.
    pub fn degrees(&self, vertices: u64) -> Result<StoredValues<u32>> {
        self.degrees.get(|| match self.has_degrees_file {
            true => StoredValues::open(&self.folder.join("degrees.bin"), 0, vertices, self.summary().degrees_crc),
            false => of_packed_pages(self, vertices),
        })
    }
}

/// Reads and adds up the degrees in all pages.
///
/// # Errors
/// [`Error::Io`]; [`Error::Page`]; [`Error::File`] if pages are sound and the degrees do not match the manifest;
/// [`Error::Allocation`].
fn of_packed_pages(topology: &Topology, vertices: u64) -> Result<StoredValues<u32>> {
    let reader = PageReader::open(topology)?;
    let mut bytes = AlignedBuffer::try_new("the degrees of all vertices", 4 * vertices)?;
    let degrees: &mut [u32] = if vertices > 0 { bytemuck::cast_slice_mut(&mut bytes) } else { &mut [] };
    for shard in topology.shards() {
        add_shard(&reader, topology, shard.pages.start as usize..shard.pages.end as usize, degrees)?;
    }
    let (expected, found) = (topology.summary().degrees_crc, crc32c(&bytes));
    if found != expected {
        (0..topology.page_count()).try_for_each(|page| check_whole(&reader, topology, PageId(page)))?;
        let expected = format!("degrees in the pages with checksum {expected:08x}");
        return Err(Error::file(topology.store_folder().join(MANIFEST), expected, format!("{found:08x}")));
    }
    Ok(StoredValues::from_buffer(bytes))
}

/// Adds the degrees in the pages of a shard, which cover all vertices.
fn add_shard(reader: &PageReader<'_>, topology: &Topology, pages: Range<usize>, degrees: &mut [u32]) -> Result<()> {
    let parts = parts(topology.directory().entries(), pages, degrees);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(READERS_MAX).min(parts.len());
    let parts = Mutex::new(parts.into_iter());
    let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
    let read = || {
        while let Some((pages, degrees)) = next() {
            add_part(reader, topology, pages, degrees)?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        // Where the system refuses threads, those that there are read all parts.
        let spawn = |_| std::thread::Builder::new().spawn_scoped(scope, read).ok();
        let others: Vec<_> = (1..threads).map_while(spawn).collect();
        let own = read();
        others.into_iter().fold(own, |result, other| result.and(other.join().expect("a reader does not panic")))
    })
}

/// Parts of a shard's pages, with the degrees of their vertices. No list is in two of them.
fn parts<'a>(
    entries: &[DirectoryEntry],
    pages: Range<usize>,
    mut degrees: &'a mut [u32],
) -> Vec<(Range<usize>, &'a mut [u32])> {
    let (mut parts, mut start, mut vertex) = (Vec::new(), pages.start, 0);
    while start < pages.end {
        let mut end = (start + PART_PAGES).min(pages.end);
        while end < pages.end && entries[end - 1].run > 1 {
            end += 1;
        }
        let next = entries.get(end).filter(|_| end < pages.end).map(|entry| entry.start_vertex as usize);
        let (part, rest) = degrees.split_at_mut(next.map_or(degrees.len(), |next| next - vertex));
        parts.push((start..end, part));
        (start, vertex, degrees) = (end, vertex + parts[parts.len() - 1].1.len(), rest);
    }
    parts
}

/// Adds the degrees in some pages; `degrees` begins with the first page's first vertex.
fn add_part(reader: &PageReader<'_>, topology: &Topology, pages: Range<usize>, degrees: &mut [u32]) -> Result<()> {
    let entries = topology.directory().entries();
    let first = entries[pages.start].start_vertex;
    for page in pages {
        let entry = &entries[page];
        let from = (entry.start_vertex - first) as usize;
        let degrees = &mut degrees[from..from + entry.slot_count as usize];
        match degrees {
            [degree] => *degree = degree.wrapping_add(entry.edge_count),
            _ if entry.edge_count == 0 => {}
            _ => add_page(reader, topology, PageId(page as u32), degrees)?,
        }
    }
    Ok(())
}

/// Adds the degrees in a small page.
fn add_page(reader: &PageReader<'_>, topology: &Topology, page: PageId, degrees: &mut [u32]) -> Result<()> {
    let entry = &topology.directory().entries()[page.index()];
    let expected = PageHeader {
        page: page.0,
        tag: topology.tag(),
        start_vertex: entry.start_vertex,
        slot_count: entry.slot_count,
        edge_count: entry.edge_count,
        large: 0,
        list_offset: 0,
    };
    let read = |word: u64, words: &mut [u32]| {
        reader.read_part(page, 4 * word, bytemuck::cast_slice_mut(words)).map_err(Fault::Error)
    };
    match add_degrees(&expected, u64::from(topology.page_bytes()) / 4, read, degrees) {
        Ok(()) => Ok(()),
        Err(Fault::Error(error)) => Err(error),
        // Usually the checksum fails, too, which says more.
        Err(Fault::Defect(defect)) => {
            check_whole(reader, topology, page).and_then(|()| Err(topology.page_error(page, false, defect)))
        }
    }
}

/// Reads a whole page and checks it.
fn check_whole(reader: &PageReader<'_>, topology: &Topology, page: PageId) -> Result<()> {
    let mut bytes = AlignedBuffer::try_new("a page to check", topology.page_bytes().into())?;
    reader.read(page, &mut bytes, &mut [])?;
    topology.check(page, &bytes, None, &topology.page_context())
}

/// Why the degrees of a page cannot be read.
enum Fault {
    Error(Error),
    Defect(PageDefect),
}

impl From<PageDefect> for Fault {
    fn from(defect: PageDefect) -> Self {
        Self::Defect(defect)
    }
}
