//! Lists of a shard in vertex order, from pages that are read and decoded some at a time, side by side.

use crate::progress::Cancel;
use rayon::prelude::*;
use std::ops::Range;
use topostream_formats::buffer::AlignedBuffer;
use topostream_formats::directory::DirectoryEntry;
use topostream_formats::packed::PackedPage;
use topostream_formats::page::{Page, PageWeights};
use topostream_formats::store::PageReader;
use topostream_formats::{PageId, Result, Shard, Store, Topology, VertexId};

/// The lists of a shard, from some vertex on. Neighbours are vertex ids or packed.
pub struct ShardLists<'a> {
    store: &'a Store,
    topology: &'a Topology,
    reader: PageReader<'a>,
    cancel: &'a Cancel,
    /// The page with the next list, and the one after the shard's last.
    page: u32,
    end: u32,
    /// The pages that have been read: the first one, and their number.
    first: u32,
    loaded: u32,
    buffers: Vec<Buffers>,
}

/// A page as it is read, and as it is used.
struct Buffers {
    page: AlignedBuffer,
    weights: AlignedBuffer,
    image: AlignedBuffer,
}

/// A list, or the part of it in one page: neighbours, and weights if the graph has any.
type Piece<'a> = (&'a [u32], PageWeights<'a>);

/// Main memory of a page with its weights and its plain image, in bytes.
pub fn page_bytes(topology: &Topology) -> u64 {
    u64::from(topology.page_bytes()) + u64::from(topology.weight_page_bytes()) + topology.image_bytes()
}

impl<'a> ShardLists<'a> {
    /// Opens a shard of `topology` from the page with this vertex on, to read `at_once` pages side by side.
    ///
    /// # Errors
    /// If a file cannot be opened, or the system grants no memory.
    pub fn open(
        store: &'a Store,
        topology: &'a Topology,
        shard: &Shard,
        from: u64,
        at_once: usize,
        cancel: &'a Cancel,
    ) -> Result<Self> {
        let at_once = at_once.min(shard.pages.len()).max(1);
        let is_there = from < store.vertices() && !shard.pages.is_empty();
        let page =
            if is_there { topology.directory().page_of(shard, VertexId(from as u32)).0 } else { shard.pages.end };
        let buffers = (0..at_once).map(|_| Buffers::new(topology)).collect::<Result<_>>()?;
        let (reader, end) = (PageReader::open(topology)?, shard.pages.end);
        Ok(Self { store, topology, reader, cancel, page, end, first: page, loaded: 0, buffers })
    }

    /// Passes the lists of these vertices, which must not be before those passed already, without empty ones, page by
    /// page: a list of several pages in as many pieces. `passed` is called for every page.
    ///
    /// # Errors
    /// Errors from reading and checking a page; [`Error::Interrupted`](topostream_formats::Error::Interrupted).
    pub fn each(
        &mut self,
        vertices: Range<u64>,
        mut passed: impl FnMut(),
        mut take: impl FnMut(u32, Piece<'_>) -> Result<()>,
    ) -> Result<()> {
        while self.page < self.end && u64::from(self.entry().start_vertex) < vertices.end {
            self.load()?;
            let (page, weights) = self.open_page()?;
            let neighbours: &[u32] = bytemuck::cast_slice(page.neighbour_bytes());
            for slot in 0..page.header().slot_count {
                let (vertex, record) = (page.header().start_vertex + slot, page.record(slot));
                if !record.is_empty() && vertices.contains(&vertex.into()) {
                    take(vertex, (&neighbours[record.clone()], weights.part(record)))?;
                }
            }
            self.page += 1;
            passed();
        }
        Ok(())
    }

    /// Passes the list of a vertex, which must not be before the one passed last, in as many pieces as it has pages.
    ///
    /// # Errors
    /// The errors of [`each`](Self::each).
    pub fn list(&mut self, vertex: u32, mut take: impl FnMut(Piece<'_>) -> Result<()>) -> Result<()> {
        while self.page < self.end {
            let &DirectoryEntry { start_vertex, slot_count, run, .. } = self.entry();
            if u64::from(start_vertex) + u64::from(slot_count) <= u64::from(vertex) {
                self.page += 1;
                continue;
            }
            self.load()?;
            let (page, weights) = self.open_page()?;
            let neighbours: &[u32] = bytemuck::cast_slice(page.neighbour_bytes());
            let record = page.record(vertex - start_vertex);
            take((&neighbours[record.clone()], weights.part(record)))?;
            if run <= 1 {
                break;
            }
            self.page += 1;
        }
        Ok(())
    }

    fn entry(&self) -> &DirectoryEntry {
        &self.topology.directory().entries()[self.page as usize]
    }

    /// Reads the next pages, unless the page is among those that have been read.
    fn load(&mut self) -> Result<()> {
        if (self.first..self.first + self.loaded).contains(&self.page) {
            return Ok(());
        }
        self.cancel.check()?;
        let (store, topology, reader, first) = (self.store, self.topology, &self.reader, self.page);
        let count = (self.end - first).min(self.buffers.len() as u32);
        let fill = |(number, buffers): (u32, &mut Buffers)| buffers.fill(reader, store, topology, PageId(number));
        let pages = (first..first + count).into_par_iter().zip(&mut self.buffers[..count as usize]);
        // Of several errors, the one of the first page is reported, independent of thread timing.
        let results: Vec<Result<()>> = pages.map(fill).collect();
        results.into_iter().collect::<Result<()>>()?;
        (self.first, self.loaded) = (first, count);
        Ok(())
    }

    /// The page and its weights, none without weights.
    fn open_page(&self) -> Result<(Page<'_>, PageWeights<'_>)> {
        let buffers = &self.buffers[(self.page - self.first) as usize];
        let encoding = self.store.manifest().encoding;
        let bytes = if encoding.is_packed() { &buffers.image } else { &buffers.page };
        let page = Page::open(bytes, encoding.plain());
        let page = page.map_err(|defect| self.topology.page_error(PageId(self.page), false, defect))?;
        let edge_count = page.header().edge_count;
        Ok((page, self.topology.weights_of(&buffers.weights, edge_count)))
    }
}

impl Buffers {
    fn new(topology: &Topology) -> Result<Self> {
        Ok(Self {
            page: AlignedBuffer::try_new("a page to split", topology.page_bytes().into())?,
            weights: AlignedBuffer::try_new("a page of weights to split", topology.weight_page_bytes().into())?,
            image: AlignedBuffer::try_new("a decoded page to split", topology.image_bytes())?,
        })
    }

    /// Reads, checks and decodes a page.
    fn fill(&mut self, reader: &PageReader<'_>, store: &Store, topology: &Topology, number: PageId) -> Result<()> {
        reader.read(number, &mut self.page, &mut self.weights)?;
        let context = store.page_context(topology);
        let weighted = (!self.weights.is_empty()).then_some(&self.weights[..]);
        topology.check(number, &self.page, weighted, &context)?;
        if !context.encoding.is_packed() {
            return Ok(());
        }
        let packed = PackedPage::open(&self.page, context.encoding, context.destinations(number.0));
        let inflated = packed.and_then(|packed| packed.inflate(&mut self.image));
        inflated.map(drop).map_err(|defect| topology.page_error(number, false, defect))
    }
}
