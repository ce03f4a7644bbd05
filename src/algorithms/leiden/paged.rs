//! The graph of a level on disk: a store, of which the pages of the vertices in question are read.
//!
//! ```text
//!  vertices of a turn ─▶ by block, a page or as many as a list needs ─▶ read, decode ─▶ whole lists ─▶ decisions
//! ```

use super::gpu::Away;
use super::lists::{List, ListWeights, Lists, Weights};
use super::quantum::{Quantum, ordered};
use super::scratch::Scratch;
use super::starts::starts;
use super::tally::Tally;
use crate::error::{Error, Result};
use crate::pages::buffers::PageBuffers;
use rayon::prelude::*;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use topostream_formats::directory::DirectoryEntry;
use topostream_formats::durable::TemporaryFolder;
use topostream_formats::edge::WeightType;
use topostream_formats::huge::{plain, zeroed};
use topostream_formats::page::{Neighbours, Page, PageWeights};
use topostream_formats::store::PageReader;
use topostream_formats::{Direction, PageId, Result as StoreResult, Store, Topology, with_neighbours};

const UNPOISONED: &str = "nothing panics while it is held";

/// Where the lists of a level are.
pub enum Edges {
    /// In memory.
    Memory(Lists),
    /// On disk.
    Disk(Arc<PagedLists>),
    /// In device memory.
    #[cfg_attr(not(feature = "gpu"), expect(dead_code, reason = "only GPUs make them"))]
    Device(Away),
}

/// The lists of a level on disk.
pub struct PagedLists {
    store: Arc<Store>,
    /// What is deleted with it, unless it is the graph itself.
    _folder: Option<TemporaryFolder>,
    directions: Vec<Direction>,
    weights: Option<WeightType>,
    quantum: Quantum,
    /// The lengths of lists without loops.
    degrees: Vec<u32>,
    /// The first vertices of blocks, which have pages of their own, and the number of vertices.
    blocks: Vec<u64>,
    scratch: Scratch,
    /// What threads have read lists with before.
    rooms: Mutex<Vec<Room>>,
}

/// What a thread reads lists with.
#[derive(Default)]
struct Room {
    /// For each direction.
    buffers: Vec<PageBuffers>,
    lists: Gathered,
}

/// Whole lists, one after another.
#[derive(Default)]
struct Gathered {
    starts: Vec<usize>,
    filled: Vec<usize>,
    neighbours: Vec<u32>,
    weights: Vec<u64>,
}

impl Gathered {
    /// Makes room for lists of these lengths.
    fn begin(&mut self, lengths: impl Iterator<Item = usize>, weighted: bool) {
        self.starts.clear();
        let mut sum = 0;
        for length in lengths {
            self.starts.push(sum);
            sum += length;
        }
        self.filled.clear();
        self.filled.resize(self.starts.len(), 0);
        self.neighbours.resize(sum, 0);
        self.weights.resize(if weighted { sum } else { 0 }, 0);
    }

    fn list(&self, at: usize) -> List<'_> {
        let range = self.starts[at]..self.starts[at] + self.filled[at];
        let weights = match self.weights.get(range.clone()) {
            Some(weights) => ListWeights::Wide(weights),
            None => ListWeights::Ones,
        };
        List::new(&self.neighbours[range], weights)
    }
}

impl PagedLists {
    /// Checks that the lists of a store can be read so.
    ///
    /// # Errors
    /// [`Error::Parameter`] for stores whose lists are divided, and directed graphs without in-lists.
    pub fn check(store: &Store) -> Result<()> {
        let refused = |what: &str, advice: &str| {
            let path = store.path().display();
            Err(Error::Parameter(format!(
                "{path}: its lists do not fit in memory, and {what}: raise --memory, or {advice}"
            )))
        };
        if store.topologies().any(Topology::is_grouped) {
            return refused("are divided into shards", "reformat it with --shards 1");
        }
        if store.topology(Direction::In).is_none() {
            return refused("there are no in-lists of this directed graph", "reformat it with --in-edges");
        }
        Ok(())
    }

    /// The lists of a graph that [has been checked](Self::check), whose vertices have these numbers of neighbours,
    /// loops left out.
    pub fn of_graph(
        store: Arc<Store>,
        of_weights: (Option<WeightType>, Quantum),
        degrees: Vec<u32>,
        scratch: Scratch,
    ) -> Self {
        let directions =
            if store.manifest().directed { vec![Direction::Out, Direction::In] } else { vec![Direction::Out] };
        scratch.levels.fetch_add(1, Relaxed);
        Self::new(store, None, directions, of_weights, degrees, scratch)
    }

    /// The lists of a level, with the folder that its store is in. A level has no loops.
    ///
    /// # Errors
    /// Errors from opening the store.
    pub fn of_level(
        path: &Path,
        folder: TemporaryFolder,
        weights: Option<WeightType>,
        scratch: Scratch,
    ) -> Result<Self> {
        let store = Arc::new(Store::open(path)?);
        let degrees = store.out_degrees()?.values().to_vec();
        let quantum = if weights.is_some() { Quantum::Whole(0) } else { Quantum::One };
        Ok(Self::new(store, Some(folder), vec![Direction::Out], (weights, quantum), degrees, scratch))
    }

    fn new(
        store: Arc<Store>,
        folder: Option<TemporaryFolder>,
        directions: Vec<Direction>,
        (weights, quantum): (Option<WeightType>, Quantum),
        degrees: Vec<u32>,
        scratch: Scratch,
    ) -> Self {
        let topology = store.topology(Direction::Out).expect("every store has out-lists");
        let mut blocks: Vec<u64> =
            topology.directory().entries().iter().map(|entry| u64::from(entry.start_vertex)).collect();
        blocks.insert(0, 0);
        blocks.dedup();
        blocks.push(degrees.len() as u64);
        let rooms = Mutex::default();
        Self { store, _folder: folder, directions, weights, quantum, degrees, blocks, scratch, rooms }
    }

    /// The number of vertices.
    pub fn vertices(&self) -> u32 {
        self.degrees.len() as u32
    }

    /// The length of a vertex's list.
    #[inline(always)]
    pub fn degree(&self, vertex: u32) -> usize {
        self.degrees[vertex as usize] as usize
    }

    /// The sum of the lengths of lists.
    pub fn entries(&self) -> u64 {
        self.degrees.par_iter().map(|&degree| u64::from(degree)).sum()
    }

    /// Whether edges have weights.
    pub fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }

    /// Where levels are put.
    pub fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks.len() - 1
    }

    /// The vertices of a block.
    pub fn block(&self, block: usize) -> impl Iterator<Item = u32> {
        (self.blocks[block]..self.blocks[block + 1]).map(|vertex| vertex as u32)
    }

    /// Frees what threads have read lists with.
    pub fn forget(&self) {
        self.rooms.lock().expect(UNPOISONED).clear();
    }

    fn topologies(&self) -> impl Iterator<Item = &Topology> {
        self.directions.iter().map(|&direction| self.store.topology(direction).expect("checked when it was opened"))
    }

    fn readers(&self) -> Result<Vec<PageReader<'_>>> {
        Ok(self.topologies().map(PageReader::open).collect::<StoreResult<_>>()?)
    }

    /// Passes the lists of vertices in ascending order, on all threads, each with its index in `vertices`. The lists of
    /// a block are passed in turn, with one value for the block; the values are returned in the order of the blocks.
    ///
    /// # Errors
    /// Errors from reading pages; [`Error::Interrupted`].
    pub fn visit<V: Default + Send>(
        &self,
        vertices: &[u32],
        take: impl Fn(&mut V, &mut Tally, usize, u32, &List<'_>) + Sync,
    ) -> Result<Vec<V>> {
        let (mut parts, mut at) = (Vec::new(), 0);
        while at < vertices.len() {
            let block = self.blocks.partition_point(|&first| first <= vertices[at].into());
            let next = self.blocks.get(block).copied().unwrap_or(u64::MAX);
            let end = at + vertices[at..].partition_point(|&vertex| u64::from(vertex) < next);
            parts.push(at..end);
            at = end;
        }
        let readers = self.readers()?;
        let part = |part: Range<usize>| -> Result<V> {
            let (wanted, mut value) = (&vertices[part.clone()], V::default());
            let mut room = self.rooms.lock().expect(UNPOISONED).pop().unwrap_or_default();
            self.gather(&readers, wanted, &mut room)?;
            Tally::borrow(|tally| {
                for (at, &vertex) in wanted.iter().enumerate() {
                    take(&mut value, tally, part.start + at, vertex, &room.lists.list(at));
                }
            });
            self.rooms.lock().expect(UNPOISONED).push(room);
            Ok(value)
        };
        // Of several errors, the one of the first page is reported, independent of thread timing.
        let results: Vec<Result<V>> = parts.into_par_iter().with_max_len(1).map(part).collect();
        results.into_iter().collect()
    }

    /// Reads the whole lists of vertices of a block.
    fn gather(&self, readers: &[PageReader<'_>], wanted: &[u32], Room { buffers, lists }: &mut Room) -> Result<()> {
        lists.begin(wanted.iter().map(|&vertex| self.degree(vertex)), self.weights.is_some());
        let (Some(&first), Some(&last)) = (wanted.first(), wanted.last()) else { return Ok(()) };
        buffers.extend(
            self.topologies().skip(buffers.len()).map(|topology| PageBuffers::new(topology, self.weights.is_some())),
        );
        for ((topology, reader), buffers) in self.topologies().zip(readers).zip(buffers) {
            let entries = topology.directory().entries();
            let end = |entry: &DirectoryEntry| u64::from(entry.start_vertex) + u64::from(entry.slot_count);
            let begin = entries.partition_point(|entry| end(entry) <= first.into());
            for (page, entry) in (begin..).zip(&entries[begin..]).take_while(|(_, entry)| entry.start_vertex <= last) {
                let from = wanted.partition_point(|&vertex| vertex < entry.start_vertex);
                if wanted.get(from).is_none_or(|&vertex| vertex - entry.start_vertex >= entry.slot_count) {
                    continue;
                }
                if self.scratch.cancel.load(Relaxed) {
                    return Err(Error::Interrupted);
                }
                self.add_page((topology, reader), PageId(page as u32), buffers, (wanted, from), lists)?;
            }
        }
        Ok(())
    }

    fn add_page(
        &self,
        (topology, reader): (&Topology, &PageReader<'_>),
        number: PageId,
        buffers: &mut PageBuffers,
        (wanted, from): (&[u32], usize),
        lists: &mut Gathered,
    ) -> Result<()> {
        buffers.fill(reader, &self.store, topology, number)?;
        let (page, weights) = buffers.open(&self.store, topology, number)?;
        let starts = topology.directory().starts();
        with_neighbours!(&page, self.store.manifest().encoding, starts, |neighbours| {
            self.add(&page, neighbours, weights, (wanted, from), lists)
        });
        Ok(())
    }

    fn add(
        &self,
        page: &Page<'_>,
        neighbours: impl Neighbours,
        weights: PageWeights<'_>,
        (wanted, from): (&[u32], usize),
        lists: &mut Gathered,
    ) {
        let (start, slots) = (page.header().start_vertex, page.header().slot_count);
        for (at, &vertex) in (from..).zip(&wanted[from..]).take_while(|(_, vertex)| **vertex - start < slots) {
            let end = lists.starts[at] + self.degree(vertex);
            let mut place = lists.starts[at] + lists.filled[at];
            for edge in page.record(vertex - start) {
                let neighbour = neighbours.vertex(edge);
                if neighbour == vertex || place == end {
                    continue;
                }
                lists.neighbours[place] = neighbour;
                if let Some(of) = self.weights {
                    // Weights that are none were found when the strengths were added up.
                    lists.weights[place] = self.quantum.whole(ordered(of, weights.get(edge)).unwrap_or(0));
                }
                place += 1;
            }
            lists.filled[at] = place - lists.starts[at];
        }
    }

    /// Whether there is memory for the lists of this level and of the level after it.
    pub fn fits(&self) -> bool {
        self.scratch.fits(self.vertices().into(), self.store.edges(), self.weights.is_some())
    }

    /// The lists in memory.
    pub fn load(&self) -> Result<Lists> {
        let starts = starts(self.degrees.len(), |vertex| self.degrees[vertex].into());
        let sum = starts[self.degrees.len()];
        let neighbours = zeroed::<AtomicU32>(sum);
        let weights = zeroed::<AtomicU64>(if self.weights.is_some() { sum } else { 0 });
        let all: Vec<u32> = (0..self.vertices()).filter(|&vertex| self.degree(vertex) > 0).collect();
        self.visit(&all, |(), _, _, vertex, list| {
            let mut at = starts[vertex as usize] as usize;
            list.each::<u8>(&[], |neighbour, weight| {
                neighbours[at].store(neighbour, Relaxed);
                if let Some(place) = weights.get(at) {
                    place.store(weight, Relaxed);
                }
                at += 1;
            });
        })?;
        // In place: `into_par_iter` would take as much again.
        let neighbours = plain(neighbours);
        let weights = match self.weights {
            None => Weights::Ones,
            Some(_) => Weights::Wide(plain(weights)),
        };
        Ok(Lists { starts, neighbours, weights, ..Lists::default() })
    }
}
