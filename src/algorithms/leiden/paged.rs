//! The graph of a level on disk: a store, of which the pages of the vertices in question are read.
//!
//! ```text
//!  vertices of a turn ─▶ by block, a page or as many as a list needs ─▶ read, decode ─▶ whole lists ─▶ decisions
//!  groups ─▶ edges between groups ─▶ formatter ─▶ a store ─┬─▶ the next level, on disk
//!                                                          └─▶ in memory, if it fits
//! ```

use super::lists::{List, ListWeights, Lists, Weights};
use super::quantum::{Quantum, ordered};
use super::scratch::{MAKING_BYTES, Scratch, level_bytes};
use super::tally::Tally;
use crate::error::{Error, Result};
use crate::pages::buffers::PageBuffers;
use rayon::prelude::*;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use topostream_formats::durable::TemporaryFolder;
use topostream_formats::edge::{CHUNK_EDGES, Edge, EdgeSource, IdSpace, SourceInfo, WeightType};
use topostream_formats::huge::zeroed;
use topostream_formats::page::{Neighbours, Page, PageWeights};
use topostream_formats::store::PageReader;
use topostream_formats::{
    Direction, Error as StoreError, PageId, Result as StoreResult, Store, Topology, with_neighbours,
};
use topostream_tools::format::{FormatOptions, OpenSource, Repeated, format, needed_bytes};
use topostream_tools::progress::Quiet;

/// Edges between groups become one for each pair if groups have so many on average: fewer are left in a tenth of the
/// room then. Otherwise they hardly meet, and edges without weights take less room than pairs with weights.
const MERGED_DEGREE: u64 = 1000;

const UNPOISONED: &str = "nothing panics while it is held";

/// Where the lists of a level are.
pub enum Edges {
    /// In memory.
    Memory(Lists),
    /// On disk.
    Disk(Arc<PagedLists>),
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
    buffers: Vec<PageBuffers>,
    starts: Vec<usize>,
    filled: Vec<usize>,
    neighbours: Vec<u32>,
    weights: Vec<u64>,
    tally: Tally,
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

    /// The edges of the block that has most.
    fn largest_block(&self) -> usize {
        let edges = |block: &[u64]| (block[0]..block[1]).map(|vertex| self.degree(vertex as u32)).sum();
        self.blocks.windows(2).map(edges).max().unwrap_or(0)
    }

    fn topologies(&self) -> impl Iterator<Item = &Topology> {
        self.directions.iter().map(|&direction| self.store.topology(direction).expect("checked when it was opened"))
    }

    fn readers(&self) -> Result<Vec<PageReader<'_>>> {
        Ok(self.topologies().map(PageReader::open).collect::<StoreResult<_>>()?)
    }

    /// Passes the lists of vertices in ascending order, each with its place among these, on all threads. Those of a
    /// block come one after another, with a value of their own; these are returned in the order of the blocks.
    ///
    /// # Errors
    /// Those of reading pages; [`Error::Interrupted`].
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
            let mut tally = std::mem::take(&mut room.tally);
            for (at, &vertex) in wanted.iter().enumerate() {
                take(&mut value, &mut tally, part.start + at, vertex, &self.list(&room, at));
            }
            room.tally = tally;
            self.rooms.lock().expect(UNPOISONED).push(room);
            Ok(value)
        };
        // Of several errors, the one of the first page is reported, independent of thread timing.
        let results: Vec<Result<V>> = parts.into_par_iter().with_max_len(1).map(part).collect();
        results.into_iter().collect()
    }

    fn list<'a>(&self, room: &'a Room, at: usize) -> List<'a> {
        let range = room.starts[at]..room.starts[at] + room.filled[at];
        let weights = match self.weights {
            None => ListWeights::Ones,
            Some(_) => ListWeights::Wide(&room.weights[range.clone()]),
        };
        List::new(&room.neighbours[range], weights)
    }

    /// Reads the whole lists of vertices of a block.
    fn gather(&self, readers: &[PageReader<'_>], wanted: &[u32], room: &mut Room) -> Result<()> {
        room.starts.clear();
        let mut sum = 0;
        for &vertex in wanted {
            room.starts.push(sum);
            sum += self.degree(vertex);
        }
        room.filled.clear();
        room.filled.resize(wanted.len(), 0);
        room.neighbours.resize(sum, 0);
        room.weights.resize(if self.weights.is_some() { sum } else { 0 }, 0);
        let (Some(&first), Some(&last)) = (wanted.first(), wanted.last()) else { return Ok(()) };
        for (side, (topology, reader)) in self.topologies().zip(readers).enumerate() {
            if room.buffers.len() == side {
                room.buffers.push(PageBuffers::new(topology, self.weights.is_some()));
            }
            let entries = topology.directory().entries();
            let begin = entries.partition_point(|entry| entry.start_vertex + entry.slot_count <= first);
            for (page, entry) in (begin..).zip(&entries[begin..]).take_while(|(_, entry)| entry.start_vertex <= last) {
                let from = wanted.partition_point(|&vertex| vertex < entry.start_vertex);
                if wanted.get(from).is_none_or(|&vertex| vertex - entry.start_vertex >= entry.slot_count) {
                    continue;
                }
                if self.scratch.cancel.load(Relaxed) {
                    return Err(Error::Interrupted);
                }
                let mut buffers = room.buffers.swap_remove(side);
                let done = self.add_page((topology, reader), PageId(page as u32), &mut buffers, (wanted, from), room);
                room.buffers.push(buffers);
                let last = room.buffers.len() - 1;
                room.buffers.swap(side, last);
                done?;
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
        room: &mut Room,
    ) -> Result<()> {
        buffers.fill(reader, &self.store, topology, number)?;
        let (page, weights) = buffers.open(&self.store, topology, number)?;
        let starts = topology.directory().starts();
        with_neighbours!(&page, self.store.manifest().encoding, starts, |neighbours| {
            self.add(&page, neighbours, weights, (wanted, from), room)
        });
        Ok(())
    }

    fn add(
        &self,
        page: &Page<'_>,
        neighbours: impl Neighbours,
        weights: PageWeights<'_>,
        (wanted, from): (&[u32], usize),
        room: &mut Room,
    ) {
        let (start, slots) = (page.header().start_vertex, page.header().slot_count);
        for (at, &vertex) in (from..).zip(&wanted[from..]).take_while(|(_, vertex)| **vertex - start < slots) {
            let end = room.starts[at] + self.degree(vertex);
            let mut place = room.starts[at] + room.filled[at];
            for edge in page.record(vertex - start) {
                let neighbour = neighbours.vertex(edge);
                if neighbour == vertex || place == end {
                    continue;
                }
                room.neighbours[place] = neighbour;
                if let Some(of) = self.weights {
                    // Weights that are none were found when the strengths were added up.
                    room.weights[place] = self.quantum.whole(ordered(of, weights.get(edge)).unwrap_or(0));
                }
                place += 1;
            }
            room.filled[at] = place - room.starts[at];
        }
    }

    /// The graph of groups, and the groups again: a store, or in memory if it fits.
    ///
    /// # Errors
    /// Those of reading and writing pages.
    pub fn coarse(self: &Arc<Self>, group_of: Vec<u32>, groups: u32) -> Result<(Edges, Vec<u32>)> {
        let entries: u64 = self.degrees.par_iter().map(|&degree| u64::from(degree)).sum();
        let merges = entries / u64::from(groups.max(1)) >= MERGED_DEGREE;
        let weights = (merges || self.weights.is_some()).then_some(WeightType::U64);
        let group_of = Arc::new(group_of);
        let folder =
            TemporaryFolder::create(&self.scratch.parent, "leiden").map_err(unwritable(&self.scratch.parent))?;
        let path = folder.path().join("level");
        let held_bytes = MAKING_BYTES * self.degrees.len() as u64;
        let options = FormatOptions {
            repeated: merges.then_some(Repeated::Sum),
            memory_bytes: self.scratch.budget_bytes.saturating_sub(held_bytes),
            temporary: Some(folder.path().to_owned()),
            ..packed_in_order()
        };
        let open: &mut OpenSource<'_> =
            &mut || Ok(Box::new(GroupEdges::new(Arc::clone(self), Arc::clone(&group_of), groups, (weights, merges))));
        format(open, &path, &options, &Quiet, &Arc::clone(&self.scratch.cancel).into())?;
        self.rooms.lock().expect(UNPOISONED).clear();
        let store = Arc::new(Store::open(&path)?);
        let degrees = store.out_degrees()?.values().to_vec();
        let quantum = if weights.is_some() { Quantum::Whole(0) } else { Quantum::One };
        let scratch = self.scratch.clone();
        let made = Self::new(store, Some(folder), vec![Direction::Out], (weights, quantum), degrees, scratch);
        let edges = if made.fits() {
            Edges::Memory(made.load()?)
        } else {
            self.scratch.levels.fetch_add(1, Relaxed);
            Edges::Disk(Arc::new(made))
        };
        Ok((edges, Arc::try_unwrap(group_of).unwrap_or_else(|shared| shared.to_vec())))
    }

    /// Whether there is memory for the lists and those of the level after it.
    fn fits(&self) -> bool {
        let bytes = level_bytes(self.vertices().into(), self.store.edges(), self.weights.is_some());
        bytes <= self.scratch.budget_bytes.min(self.scratch.lists_bytes_max)
    }

    /// The lists in memory.
    fn load(&self) -> Result<Lists> {
        let mut starts = Vec::with_capacity(self.degrees.len() + 1);
        starts.push(0);
        let mut sum = 0;
        starts.extend(self.degrees.iter().map(|&degree| {
            sum += u64::from(degree);
            sum
        }));
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
        let neighbours = neighbours.into_iter().map(AtomicU32::into_inner).collect();
        let weights = match self.weights {
            None => Weights::Ones,
            Some(_) => Weights::Wide(weights.into_iter().map(AtomicU64::into_inner).collect()),
        };
        Ok(Lists { starts, neighbours, weights, ..Lists::default() })
    }
}

/// The main memory that making a level of at most so many vertices needs, from a graph with these pages, in bytes.
pub fn making_bytes(vertices: u64, topology: &Topology) -> u64 {
    let info = group_info(vertices, Some(WeightType::U64));
    let options = FormatOptions { repeated: Some(Repeated::Sum), ..packed_in_order() };
    let most = topology.directory().entries().iter().map(|entry| u64::from(entry.edge_count)).max().unwrap_or(0);
    let largest = vertices.saturating_sub(1);
    needed_bytes(&info, reading_bytes(most, true), vertices, largest, &options)
}

/// Packed pages, whose vertices are groups in order.
fn packed_in_order() -> FormatOptions {
    FormatOptions { order_from: None, ..FormatOptions::default() }
}

/// What is known of the edges between groups.
fn group_info(groups: u64, weights: Option<WeightType>) -> SourceInfo {
    SourceInfo {
        name: "groups".into(),
        ids: IdSpace::Range { first: 0, count: groups },
        mirror: false,
        directed: true,
        weights,
        edges: None,
        bytes: None,
    }
}

/// Main memory of edges that are read, of blocks with at most so many; vectors may double as they grow.
fn reading_bytes(most: u64, weighted: bool) -> u64 {
    2 * (READ_EDGES as u64).max(most) * if weighted { 12 } else { 4 }
}

/// The error of a folder in which no level can be put.
fn unwritable(folder: &Path) -> impl FnOnce(io::Error) -> Error {
    let folder = folder.to_owned();
    move |error| {
        Error::Parameter(format!(
            "{}: a level does not fit in memory, and no folder for it can be made here: {error}; choose another with \
             --temporary",
            folder.display()
        ))
    }
}

/// The edges between groups, in the order of the vertices of a level.
struct GroupEdges {
    lists: Arc<PagedLists>,
    group_of: Arc<Vec<u32>>,
    groups: u32,
    info: SourceInfo,
    merges: bool,
    /// The next block.
    block: usize,
    ready: Vec<Ready>,
}

/// The edges of a block: those of a list after those of another.
#[derive(Default)]
struct Ready {
    /// The group of a list, and the number of edges up to its end.
    lists: Vec<(u32, usize)>,
    dests: Vec<u32>,
    /// Empty if edges have none.
    weights: Vec<u64>,
}

impl Ready {
    /// Moves the last edges to the chunk, as many as it has room for.
    fn give(&mut self, chunk: &mut Vec<Edge>) {
        while let Some(&(group, _)) = self.lists.last()
            && chunk.len() < CHUNK_EDGES
        {
            let begin = self.lists.iter().rev().nth(1).map_or(0, |list| list.1);
            let from = begin.max(self.dests.len().saturating_sub(CHUNK_EDGES - chunk.len()));
            let weight_at = |at: usize| self.weights.get(at).copied().unwrap_or(0);
            let edge =
                |(at, &dest): (usize, &u32)| Edge { source: group.into(), dest: dest.into(), weight: weight_at(at) };
            chunk.extend((from..).zip(&self.dests[from..]).map(edge));
            self.dests.truncate(from);
            self.weights.truncate(from);
            if from == begin {
                self.lists.pop();
            }
        }
    }
}

/// Edges that are read at once, or one block.
const READ_EDGES: usize = 1 << 20;

impl GroupEdges {
    fn new(
        lists: Arc<PagedLists>,
        group_of: Arc<Vec<u32>>,
        groups: u32,
        (weights, merges): (Option<WeightType>, bool),
    ) -> Self {
        let info = group_info(groups.into(), weights);
        Self { lists, group_of, groups, info, merges, block: 0, ready: Vec::new() }
    }

    /// Reads some blocks; returns whether there were any.
    fn load(&mut self) -> Result<bool> {
        let Self { lists, group_of, merges, .. } = &*self;
        let groups = self.groups;
        let (mut block, mut edges, mut vertices) = (self.block, 0, Vec::new());
        while block + 1 < lists.blocks.len() && edges < READ_EDGES {
            let of_block = (lists.blocks[block]..lists.blocks[block + 1]).map(|vertex| vertex as u32);
            vertices.extend(of_block.filter(|&vertex| lists.degree(vertex) > 0).inspect(|&vertex| {
                edges += lists.degree(vertex);
            }));
            block += 1;
        }
        if self.block == block {
            return Ok(false);
        }
        let weighted = self.info.weights.is_some();
        let found = lists.visit(&vertices, |ready: &mut Ready, tally, _, vertex, list| {
            let group = group_of[vertex as usize];
            let between = |neighbour: u32| Some(group_of[neighbour as usize]).filter(|&other| other != group);
            let mut add = |other: u32, weight| {
                ready.dests.push(other);
                if weighted {
                    ready.weights.push(weight);
                }
            };
            if *merges {
                list.sum_by(group_of, (tally, groups), between, |_| ());
                tally.drain(add);
            } else {
                list.each(group_of, |neighbour, weight| {
                    if let Some(other) = between(neighbour) {
                        add(other, weight);
                    }
                });
            }
            ready.lists.push((group, ready.dests.len()));
        })?;
        (self.block, self.ready) = (block, found);
        Ok(true)
    }
}

impl EdgeSource for GroupEdges {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, chunk: &mut Vec<Edge>) -> StoreResult<()> {
        chunk.clear();
        while chunk.is_empty() {
            let Some(last) = self.ready.last_mut() else {
                let more = self.load().map_err(|error| match error {
                    Error::Store(error) => error,
                    Error::Interrupted => StoreError::Interrupted,
                    other => StoreError::Invalid(other.to_string()),
                });
                if !more? {
                    return Ok(());
                }
                continue;
            };
            last.give(chunk);
            if last.lists.is_empty() {
                self.ready.pop();
            }
        }
        Ok(())
    }

    fn memory_bytes(&self) -> u64 {
        reading_bytes(self.lists.largest_block() as u64, self.info.weights.is_some())
    }
}
