//! The making of levels from lists on disk: in memory if it fits, otherwise as a store.
//!
//! ```text
//!  lists on disk ─▶ edges between groups ─┬─▶ bins of all groups ─▶ the next level, in memory
//!                                         └─▶ bins of some groups ─▶ sorted ─▶ pages of a store   once for each range
//!                                                                                                 of groups
//! ```
//!
//! How many edges a group has at most is known: as many as its vertices. So edges are read once for each range of
//! groups whose edges fit in memory, and nothing but the store is written.

use super::lists::{List, Lists, Weights};
use super::paged::{Edges, PagedLists};
use super::scratch::MAKING_BYTES;
use super::starts::starts;
use super::tally::Tally;
use crate::error::{Error, Result};
use rayon::prelude::*;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use topostream_formats::durable::{self, TemporaryFolder};
use topostream_formats::edge::WeightType;
use topostream_formats::huge::{plain, zeroed};
use topostream_formats::manifest::Ids;
use topostream_formats::packed::{PackedParameters, SharedLists};
use topostream_formats::page::PageWeights;
use topostream_formats::write::{Layout, StoreWriter, TopologyWriter};
use topostream_formats::{Direction, Encoding, Manifest, VertexOrder};

/// Edges between the same two groups are merged if groups have at least so many edges on average. With fewer edges, few
/// pairs of groups meet again, and repeated edges without weights are packed into less room than pairs with weights.
const MERGED_DEGREE: u64 = 1000;
/// Edges that are read at once, or one block.
const READ_EDGES: usize = 1 << 20;
/// Edges that a thread sorts at a time, or the edges of one group.
const SORTED_EDGES: u64 = 1 << 15;
/// Main memory for the edges of a range of groups that is enough for any graph: more means fewer ranges.
const BINS_BYTES_MIN: u64 = 64 << 20;

/// The graph of groups, and the groups again.
///
/// # Errors
/// Errors from reading and writing pages.
pub fn coarse(lists: &PagedLists, group_of: Vec<u32>, groups: u32) -> Result<(Edges, Vec<u32>)> {
    let merges = lists.entries() / u64::from(groups.max(1)) >= MERGED_DEGREE;
    let weighted = merges || lists.is_weighted();
    let making =
        Making { lists, group_of: &group_of, groups, merges, weighted, rooms: rooms(lists, &group_of, groups) };
    let edges = match making.in_memory()? {
        Some(made) => Edges::Memory(made),
        None => making.on_disk()?,
    };
    lists.forget();
    Ok((edges, group_of))
}

/// The main memory that making a level of a graph with these vertices needs, in bytes.
pub fn making_bytes(vertices: u64, edges: u64) -> u64 {
    writing_bytes(&layout(true), edges) + BINS_BYTES_MIN + MAKING_BYTES * vertices
}

/// Pages of levels.
fn layout(weighted: bool) -> Layout {
    Layout { encoding: Encoding::PACKED, weights: weighted.then_some(WeightType::U64), ..Layout::default() }
}

/// What pages are written with, in bytes: buffers, lists that pages refer to, and the directory.
fn writing_bytes(layout: &Layout, edges: u64) -> u64 {
    // Pages are rarely less than a quarter full; an entry has 32 bytes, in a vector that doubles.
    let pages = edges * 8 * 2 / u64::from(layout.page_bytes) + 2;
    TopologyWriter::memory_bytes(layout) + TopologyWriter::shared_bytes(layout) + 64 * pages
}

/// The most edges of each group.
fn rooms(lists: &PagedLists, group_of: &[u32], groups: u32) -> Vec<u64> {
    let rooms = zeroed::<AtomicU64>(groups.into());
    group_of.par_iter().zip(0u32..lists.vertices()).for_each(|(&group, vertex)| {
        if let Some(room) = rooms.get(group as usize) {
            room.fetch_add(lists.degree(vertex) as u64, Relaxed);
        }
    });
    plain(rooms)
}

/// Checks that levels can be put in a folder, before hours of work end at it.
///
/// # Errors
/// [`Error::Parameter`].
pub fn check_folder(folder: &Path) -> Result<()> {
    temporary(folder).map(drop)
}

/// A folder for a level.
fn temporary(parent: &Path) -> Result<TemporaryFolder> {
    let made = durable::outside_of_stores(parent).and_then(|()| TemporaryFolder::create(parent, "leiden"));
    made.map_err(|error| {
        Error::Parameter(format!(
            "{}: a level does not fit in memory, and no folder for it can be made here: {error}; choose another with \
             --temporary",
            parent.display()
        ))
    })
}

/// A level in the making.
struct Making<'a> {
    lists: &'a PagedLists,
    group_of: &'a [u32],
    groups: u32,
    merges: bool,
    weighted: bool,
    rooms: Vec<u64>,
}

/// The edges of a range of groups, in no order.
struct Bins {
    /// The first group.
    first: u32,
    /// Where the edges of each group begin, and the end of the last.
    starts: Vec<u64>,
    filled: Vec<AtomicU32>,
    dests: Vec<AtomicU32>,
    /// Empty without weights.
    weights: Vec<AtomicU64>,
}

impl Bins {
    fn of(rooms: &[u64], first: u32, weighted: bool) -> Self {
        let starts = starts(rooms.len(), |group| rooms[group]);
        let sum = starts[rooms.len()];
        let weights = zeroed(if weighted { sum } else { 0 });
        Self { first, starts, filled: zeroed(rooms.len() as u64), dests: zeroed(sum), weights }
    }

    /// The bytes of a group's edges.
    fn memory_bytes(room: u64, weighted: bool) -> u64 {
        12 + if weighted { 12 } else { 4 } * room
    }

    /// The range of the groups.
    fn groups(&self) -> Range<u32> {
        self.first..self.first + self.filled.len() as u32
    }

    /// Takes room for edges of a group; returns where.
    fn take(&self, group: u32, count: usize) -> usize {
        let number = (group - self.first) as usize;
        self.starts[number] as usize + self.filled[number].fetch_add(count as u32, Relaxed) as usize
    }

    #[inline(always)]
    fn put(&self, at: usize, dest: u32, weight: u64) {
        self.dests[at].store(dest, Relaxed);
        if let Some(place) = self.weights.get(at) {
            place.store(weight, Relaxed);
        }
    }

    fn edges_of(&self, number: usize) -> Range<usize> {
        let start = self.starts[number] as usize;
        start..start + self.filled[number].load(Relaxed) as usize
    }

    /// The lists of some groups, each in the order of dests; equal ones become one if they are to be merged.
    fn sorted(&self, numbers: Range<usize>, merges: bool) -> Sorted {
        let mut sorted = Sorted::default();
        let mut pairs = Vec::new();
        for number in numbers {
            let (edges, before) = (self.edges_of(number), sorted.lists.dests.len());
            if self.weights.is_empty() {
                sorted.lists.dests.extend(self.dests[edges].iter().map(|dest| dest.load(Relaxed)));
                sorted.lists.dests[before..].sort_unstable();
            } else {
                pairs.clear();
                pairs.extend(edges.map(|at| (self.dests[at].load(Relaxed), self.weights[at].load(Relaxed))));
                pairs.sort_unstable();
                if merges {
                    merge(&mut pairs);
                }
                sorted.lists.dests.extend(pairs.iter().map(|pair| pair.0));
                sorted.weights.extend(pairs.iter().map(|pair| pair.1));
            }
            let length = sorted.lists.dests.len() - before;
            if length > 0 {
                sorted.lists.lengths.push((self.first + number as u32, length as u32));
            }
        }
        sorted
    }
}

/// Makes neighbouring edges with the same dest one.
fn merge(pairs: &mut Vec<(u32, u64)>) {
    pairs.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        if is_same {
            kept.1 += next.1;
        }
        is_same
    });
}

/// Lists of some groups.
#[derive(Default)]
struct Sorted {
    lists: SharedLists,
    weights: Vec<u64>,
}

impl Making<'_> {
    /// Reads the lists of vertices that pass a test.
    fn read(&self, passes: impl Fn(u32) -> bool, take: impl Fn(&mut Tally, u32, &List<'_>) + Sync) -> Result<()> {
        let Self { lists, group_of, .. } = *self;
        let (mut edges, mut vertices) = (0, Vec::new());
        for block in 0..lists.blocks() {
            for vertex in lists.block(block) {
                let degree = lists.degree(vertex);
                if degree > 0 && passes(group_of[vertex as usize]) {
                    edges += degree;
                    vertices.push(vertex);
                }
            }
            if edges >= READ_EDGES || block + 1 == lists.blocks() {
                lists.visit(&vertices, |(), tally, _, vertex, list| take(tally, group_of[vertex as usize], list))?;
                (edges, vertices) = (0, Vec::new());
            }
        }
        Ok(())
    }

    /// The group of a neighbour, if it is another one.
    #[inline(always)]
    fn other(&self, group: u32, neighbour: u32) -> Option<u32> {
        Some(self.group_of[neighbour as usize]).filter(|&other| other != group)
    }

    /// The edges of a range of groups.
    fn bins(&self, groups: Range<u32>) -> Result<Bins> {
        let bins = Bins::of(&self.rooms[groups.start as usize..groups.end as usize], groups.start, self.weighted);
        self.read(
            |group| groups.contains(&group),
            |tally, group, list| {
                if self.merges {
                    list.sum_by(self.group_of, (tally, self.groups), |of| self.other(group, of), |_| ());
                    let mut at = bins.take(group, tally.len());
                    tally.drain(|other, weight| {
                        bins.put(at, other, weight);
                        at += 1;
                    });
                    return;
                }
                // Edges of weight 0 are left out, as sums leave them out.
                let other = |of, weight| self.other(group, of).filter(|_| weight > 0);
                let mut count = 0;
                list.each(self.group_of, |of, weight| count += usize::from(other(of, weight).is_some()));
                let mut at = bins.take(group, count);
                list.each(self.group_of, |of, weight| {
                    if let Some(other) = other(of, weight) {
                        bins.put(at, other, weight);
                        at += 1;
                    }
                });
            },
        )?;
        Ok(bins)
    }

    /// The level in memory, if there is room for all edges that it may have.
    fn in_memory(&self) -> Result<Option<Lists>> {
        let edges = self.rooms.iter().sum();
        let largest = self.rooms.iter().max().copied().unwrap_or(0);
        if !self.lists.scratch().fits(self.groups.into(), edges, self.weighted) || largest > u32::MAX.into() {
            return Ok(None);
        }
        let Bins { starts, filled, dests, weights, .. } = self.bins(0..self.groups)?;
        let weights = match self.weighted {
            true => Weights::Wide(plain(weights)),
            false => Weights::Ones,
        };
        let neighbours = plain(dests);
        let lengths = filled.into_iter().map(|length| length.into_inner().into()).collect();
        Ok(Some(Lists { starts, lengths, neighbours, weights }))
    }

    /// The level as a store.
    fn on_disk(&self) -> Result<Edges> {
        let scratch = self.lists.scratch();
        let folder = temporary(&scratch.parent)?;
        let (path, layout) = (folder.path().join("level"), layout(self.weighted));
        let mut writer = StoreWriter::create(&path, layout.clone(), scratch.levels.load(Relaxed))?;
        let mut written = Written { pages: writer.topology(Direction::Out)?, edges: 0 };
        let held_bytes = writing_bytes(&layout, self.lists.entries()) + MAKING_BYTES * u64::from(self.lists.vertices());
        let bins_bytes =
            scratch.budget_bytes.saturating_sub(held_bytes).max(BINS_BYTES_MIN).min(scratch.lists_bytes_max);
        let mut first = 0;
        while first < self.groups {
            let end = self.end_of_range(first, bins_bytes);
            if end == first {
                self.write_one(first, bins_bytes / 8, &mut written)?;
                first += 1;
            } else {
                written.add(&self.bins(first..end)?, self.merges)?;
                first = end;
            }
        }
        let (out, _) = written.pages.finish(self.groups.into())?;
        let manifest = Manifest {
            tag: writer.tag(),
            created_by: concat!("topostream ", env!("CARGO_PKG_VERSION")).into(),
            origin: "groups".into(),
            vertices: self.groups.into(),
            edges: written.edges,
            input_edges: written.edges,
            directed: true,
            weights: layout.weights,
            encoding: layout.encoding,
            page_bytes: layout.page_bytes,
            order: VertexOrder::Natural,
            ids: Ids::Range { first: 0 },
            stripes: layout.stripes,
            out,
            in_lists: None,
            part: None,
        };
        writer.finish(&manifest)?;
        let made = PagedLists::of_level(&path, folder, layout.weights, scratch.clone())?;
        if made.fits() {
            return Ok(Edges::Memory(made.load()?));
        }
        scratch.levels.fetch_add(1, Relaxed);
        Ok(Edges::Disk(Arc::new(made)))
    }

    /// The end of the groups from `first` on whose edges fit.
    fn end_of_range(&self, first: u32, bins_bytes: u64) -> u32 {
        let mut bytes = 0;
        let rooms = &self.rooms[first as usize..];
        let fits = |room: &&u64| {
            bytes += Bins::memory_bytes(**room, self.weighted);
            bytes <= bins_bytes && **room <= u32::MAX.into()
        };
        first + rooms.iter().take_while(fits).count() as u32
    }

    /// Writes the list of a group whose edges do not fit: sums of `window` neighbours at a time.
    fn write_one(&self, group: u32, window: u64, written: &mut Written) -> Result<()> {
        for from in (0..self.groups).step_by(window.min(u32::MAX.into()) as usize) {
            let sums = zeroed::<AtomicU64>(window.min((self.groups - from).into()));
            self.read(
                |of| of == group,
                |_, _, list| {
                    list.each(self.group_of, |neighbour, weight| {
                        let other = self.other(group, neighbour);
                        if let Some(sum) = other.and_then(|of| sums.get(of.checked_sub(from)? as usize)) {
                            sum.fetch_add(weight, Relaxed);
                        }
                    });
                },
            )?;
            written.add_sums(group, from, &sums, self.weighted)?;
        }
        Ok(())
    }
}

/// Pages in the making.
struct Written {
    pages: TopologyWriter,
    edges: u64,
}

impl Written {
    /// Writes the lists of a range of groups, which are sorted by all threads.
    fn add(&mut self, bins: &Bins, merges: bool) -> Result<()> {
        let mut chunks = Vec::new();
        let (mut first, end) = (0, bins.groups().len());
        for number in 0..end {
            if bins.starts[number + 1] - bins.starts[first] >= SORTED_EDGES || number + 1 == end {
                chunks.push(first..number + 1);
                first = number + 1;
            }
        }
        let parameters = PackedParameters::of(Encoding::PACKED).expect("these pages are packed");
        for some in chunks.chunks(4 * rayon::current_num_threads()) {
            let sort = |numbers: &Range<usize>| {
                let mut sorted = bins.sorted(numbers.clone(), merges);
                if sorted.weights.is_empty() {
                    sorted.lists.measure(parameters, 0, None);
                }
                sorted
            };
            let sorted: Vec<Sorted> = some.par_iter().map(sort).collect();
            for Sorted { lists, weights } in sorted {
                self.edges += lists.dests.len() as u64;
                if weights.is_empty() {
                    self.pages.push_lists(&Arc::new(lists))?;
                    continue;
                }
                let mut at = 0;
                for (group, length) in lists.lengths {
                    let list = at..at + length as usize;
                    self.pages.push_list(
                        group,
                        &lists.dests[list.clone()],
                        PageWeights::Longs(&weights[list.clone()]),
                    )?;
                    at = list.end;
                }
            }
        }
        Ok(())
    }

    /// Writes the edges of a group to neighbours from `from` on, by the sums of their weights. Without weights, an edge
    /// is there several times.
    fn add_sums(&mut self, group: u32, from: u32, sums: &[AtomicU64], weighted: bool) -> Result<()> {
        for (dest, sum) in (from..).zip(sums) {
            let sum = sum.load(Relaxed);
            if weighted {
                if sum > 0 {
                    self.pages.push(group, dest, sum)?;
                    self.edges += 1;
                }
                continue;
            }
            (0..sum).try_for_each(|_| self.pages.push(group, dest, 0))?;
            self.edges += sum;
        }
        Ok(())
    }
}
