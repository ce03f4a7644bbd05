//! A stream of the edges of a part of a graph, read page by page.

use crate::error::{Error, Result};
use crate::model::bits::Bits;
use crate::model::vertex_set::VertexSet;
use crate::pages::buffers::PageBuffers;
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use topostream_formats::edge::CHUNK_EDGES;
use topostream_formats::page::{Neighbours, Page, PageWeights};
use topostream_formats::store::PageReader;
use topostream_formats::with_neighbours;
use topostream_formats::{
    Direction, Edge, EdgeSource, Error as StoreError, IdSpace, OriginalIds, PageId, Result as StoreResult, SourceInfo,
    Store, Topology, VertexId,
};

/// The options of an extraction.
#[derive(Clone, Debug)]
pub struct ExtractOptions {
    /// The memory budget, in bytes, including the sets.
    pub memory_bytes: u64,
    /// Set to cancel the extraction.
    pub cancel: Arc<AtomicBool>,
}

impl Default for ExtractOptions {
    fn default() -> Self {
        Self { memory_bytes: 1 << 30, cancel: Arc::default() }
    }
}

/// The edges that are wanted.
#[derive(Debug)]
pub(super) enum Wanted {
    /// The edges between vertices of a set.
    Among(Arc<VertexSet>),
    /// The edges from one set to another.
    Across(Arc<VertexSet>, Arc<VertexSet>),
}

/// A part of a graph as a source of edges with original ids, made by [`induced`](super::induced) or
/// [`crossing`](super::crossing).
pub struct Subgraph {
    store: Arc<Store>,
    ids: OriginalIds,
    wanted: Wanted,
    info: SourceInfo,
    memory_bytes: u64,
    cancel: Arc<AtomicBool>,
    /// The pages with wanted lists, and the number of them that have been read.
    pages: Vec<u32>,
    pages_read: usize,
    /// The pages that were read last, in the first `filled` buffers.
    buffers: Vec<PageBuffers>,
    filled: usize,
    place: Place,
}

/// The position of the next edge.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// The number of the buffer.
    buffer: usize,
    /// The slot of the buffer's page.
    slot: u32,
    /// The index of the edge on the page; an index before the slot's first edge stands for that edge.
    edge: usize,
}

impl Wanted {
    fn sources(&self) -> &VertexSet {
        match self {
            Self::Among(vertices) | Self::Across(vertices, _) => vertices,
        }
    }

    fn dests(&self) -> &VertexSet {
        match self {
            Self::Among(vertices) | Self::Across(_, vertices) => vertices,
        }
    }

    fn name(&self, store: &Store) -> String {
        let of = &store.manifest().origin;
        match self {
            Self::Among(vertices) => format!("{} vertices of {of}", vertices.count()),
            Self::Across(from, to) => format!("edges from {} to {} vertices of {of}", from.count(), to.count()),
        }
    }
}

impl Subgraph {
    pub(super) fn new(store: Arc<Store>, wanted: Wanted, options: &ExtractOptions) -> Result<Self> {
        topostream_formats::threads::start_shared_pool()?;
        for set in [wanted.sources(), wanted.dests()] {
            if set.vertices() != store.vertices() {
                let (of, vertices) = (set.vertices(), store.vertices());
                return Err(Error::Parameter(format!("a set is over {of} vertices, but the graph has {vertices}")));
            }
        }
        let topology = out_lists(&store);
        let page_bytes = PageBuffers::memory_bytes(topology, true);
        let fixed_bytes = fixed_bytes(&store, &wanted);
        let threads = rayon::current_num_threads() as u64;
        let at_once = (options.memory_bytes.saturating_sub(fixed_bytes) / page_bytes).min(threads);
        if at_once == 0 {
            return Err(Error::Memory {
                what: "extraction".into(),
                needed_bytes: fixed_bytes + page_bytes,
                budget_bytes: options.memory_bytes,
                parts: format!("{fixed_bytes} for vertices, ids and edges, {page_bytes} for a page"),
            });
        }
        let pages = pages_with(wanted.sources().bits(), topology);
        let (manifest, undirected) =
            (store.manifest(), matches!(wanted, Wanted::Among(_)) && !store.manifest().directed);
        let info = SourceInfo {
            name: wanted.name(&store),
            ids: IdSpace::Named,
            mirror: undirected,
            directed: !undirected,
            weights: manifest.weights,
            edges: None,
            bytes: Some(pages.len() as u64 * (page_bytes - topology.image_bytes())),
        };
        let buffers = (0..at_once.min(pages.len() as u64)).map(|_| PageBuffers::new(topology, true)).collect();
        Ok(Self {
            ids: store.ids()?,
            wanted,
            info,
            memory_bytes: fixed_bytes + at_once * page_bytes,
            cancel: Arc::clone(&options.cancel),
            pages,
            pages_read: 0,
            buffers,
            filled: 0,
            place: Place::default(),
            store,
        })
    }

    /// Reads the next pages, one for each buffer. Returns whether there were any.
    fn load(&mut self) -> StoreResult<bool> {
        if self.cancel.load(Relaxed) {
            return Err(StoreError::Interrupted);
        }
        let Self { store, pages, pages_read, buffers, .. } = self;
        let topology = out_lists(store);
        let next = &pages[*pages_read..pages.len().min(*pages_read + buffers.len())];
        let reader = PageReader::open(topology)?;
        let fill = |(buffers, &page): (&mut PageBuffers, &u32)| buffers.fill(&reader, store, topology, PageId(page));
        // Of several errors, the one of the first page is reported, independent of thread timing.
        let results: Vec<StoreResult<()>> = buffers.par_iter_mut().zip(next).map(fill).collect();
        results.into_iter().collect::<StoreResult<()>>()?;
        self.filled = next.len();
        self.pages_read += self.filled;
        self.place = Place::default();
        Ok(self.filled > 0)
    }

    /// Appends wanted edges of the next page to `chunk`, until it is full. Returns whether the page has no more.
    fn pick(&mut self, chunk: &mut Vec<Edge>) -> StoreResult<bool> {
        let topology = out_lists(&self.store);
        let number = PageId(self.pages[self.pages_read - self.filled + self.place.buffer]);
        let (page, weights) = self.buffers[self.place.buffer].open(&self.store, topology, number)?;
        let starts = topology.directory().starts();
        let mut place = self.place;
        let encoding = self.store.manifest().encoding;
        let done = with_neighbours!(&page, encoding, starts, |neighbours| {
            self.pick_of(&mut place, &page, neighbours, weights, chunk)
        });
        self.place = if done { Place { buffer: place.buffer + 1, ..Place::default() } } else { place };
        Ok(done)
    }

    fn pick_of(
        &self,
        place: &mut Place,
        page: &Page<'_>,
        neighbours: impl Neighbours,
        weights: PageWeights<'_>,
        chunk: &mut Vec<Edge>,
    ) -> bool {
        let (header, sources, dests) = (page.header(), self.wanted.sources(), self.wanted.dests());
        for slot in place.slot..header.slot_count {
            let source = VertexId(header.start_vertex + slot);
            if !sources.contains(source) {
                continue;
            }
            let record = page.record(slot);
            for at in record.start.max(place.edge)..record.end {
                let dest = VertexId(neighbours.vertex(at));
                // An undirected edge is in the lists of both ends.
                if !dests.contains(dest) || (self.info.mirror && dest < source) {
                    continue;
                }
                if chunk.len() == CHUNK_EDGES {
                    (place.slot, place.edge) = (slot, at);
                    return false;
                }
                let (source, dest) = (self.ids.original(source), self.ids.original(dest));
                chunk.push(Edge { source, dest, weight: weights.get(at) });
            }
        }
        true
    }
}

impl EdgeSource for Subgraph {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, chunk: &mut Vec<Edge>) -> StoreResult<()> {
        chunk.clear();
        loop {
            while self.place.buffer < self.filled {
                if !self.pick(chunk)? {
                    return Ok(());
                }
            }
            if !self.load()? {
                return Ok(());
            }
        }
    }

    fn extra_vertices(&mut self, ids: &mut Vec<u64>) -> StoreResult<()> {
        if let Wanted::Among(vertices) = &self.wanted {
            ids.extend(vertices.iter().map(|vertex| self.ids.original(vertex)));
        }
        Ok(())
    }

    fn bytes_read(&self) -> u64 {
        let pages = self.pages.len().max(1) as u64;
        self.info.bytes.unwrap_or(0) / pages * self.pages_read as u64
    }

    fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }
}

fn out_lists(store: &Store) -> &Topology {
    store.topology(Direction::Out).expect("every store has out-lists")
}

/// Returns the minimum memory budget of [`induced`](super::induced) for a set of `vertices` vertices, in bytes.
pub fn induced_needs(store: &Store, vertices: u64) -> u64 {
    let topology = out_lists(store);
    among_bytes(store, vertices) + rest_bytes(store) + PageBuffers::memory_bytes(topology, true)
}

/// Returns the main memory besides pages, in bytes.
fn fixed_bytes(store: &Store, wanted: &Wanted) -> u64 {
    let wanted_bytes = match wanted {
        Wanted::Among(vertices) => among_bytes(store, vertices.count()),
        Wanted::Across(..) => 2 * VertexSet::memory_bytes(store.vertices()),
    };
    wanted_bytes + rest_bytes(store)
}

/// Returns the bytes of a set and of the original ids of its vertices.
fn among_bytes(store: &Store, vertices: u64) -> u64 {
    VertexSet::memory_bytes(store.vertices()) + 8 * vertices
}

/// Returns the bytes of original ids, the page directory and a chunk of edges.
fn rest_bytes(store: &Store) -> u64 {
    let ids_bytes = store.manifest().ids.memory_bytes(store.vertices());
    let directory_bytes = 40 * u64::from(out_lists(store).page_count());
    ids_bytes + directory_bytes + (CHUNK_EDGES * size_of::<Edge>()) as u64
}

/// Returns the pages with edges of a set of vertices, in file order.
fn pages_with(vertices: &Bits, topology: &Topology) -> Vec<u32> {
    // The last query and its result: the first vertex of the set from `asked` on.
    let (mut asked, mut found) = (u64::MAX, None);
    let mut holds = |first: u64, end: u64| {
        // Vertices start from 0 again in each shard.
        if first < asked || found.is_some_and(|found| found < first) {
            (asked, found) = (first, vertices.next_set(first));
        }
        found.is_some_and(|found| found < end)
    };
    let entries = (0..).zip(topology.directory().entries());
    let wanted = entries.filter(|(_, entry)| {
        let first = u64::from(entry.start_vertex);
        entry.edge_count > 0 && holds(first, first + u64::from(entry.slot_count))
    });
    wanted.map(|(page, _)| page).collect()
}
