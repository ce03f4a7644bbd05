//! Adjacency tables in main memory, for algorithms that intersect neighbour lists. A table holds each vertex's
//! neighbours within one range of vertices, so a graph can be processed range by range.

use crate::error::{Error, Result};
use crate::pages::memory::{PROGRAM_BYTES, directory_bytes};
use crate::pages::scan::{TakeList, lists, memory_bytes, pages_of};
use rayon::prelude::*;
use std::iter;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use topostream_formats::huge::{plain, zeroed};
use topostream_formats::values::StoredValues;
use topostream_formats::{Direction, PageId, Store, VertexId};

/// The neighbours of every vertex `x` within a range of vertices, in either direction of the edges: ascending, without
/// duplicates, without `x` itself.
pub struct Adjacency {
    /// The neighbours of `x` are `entries[starts[x]..starts[x + 1]]`.
    pub starts: Arc<Vec<u32>>,
    /// The neighbours of all vertices, concatenated.
    pub entries: Arc<Vec<u32>>,
}

/// The neighbours that a table keeps.
#[derive(Clone, Copy)]
pub enum TableNeighbours<'a> {
    /// All neighbours.
    All,
    /// Neighbours that follow the vertex in the [degree order](comes_before).
    After(&'a StoredValues<u32>),
}

/// Returns whether a vertex precedes another in the order by degree, then by number. Lists of the neighbours that
/// follow a vertex are short even for hubs (Chiba and Nishizeki, SIAM J. Comput. 14, 1985).
#[inline(always)]
pub fn comes_before((vertex, degree): (u32, u32), (other, others_degree): (u32, u32)) -> bool {
    (degree, vertex) < (others_degree, other)
}

/// Divides vertices into ascending ranges whose sizes sum to at most `most`. A vertex whose size exceeds `most` gets a
/// range of its own.
pub fn ranges(sizes: impl Iterator<Item = u64>, most: u64) -> Vec<Range<u64>> {
    let (mut ranges, mut first, mut end, mut sum) = (Vec::new(), 0, 0, 0);
    for size in sizes {
        if sum + size > most && end > first {
            ranges.push(first..end);
            (first, sum) = (end, 0);
        }
        (sum, end) = (sum + size, end + 1);
    }
    ranges.push(first..end);
    ranges
}

/// Returns the number of edges of a vertex: its out-degree plus, if `in_degrees` is not empty, its in-degree.
pub fn degree(out_degrees: &[u32], in_degrees: &[AtomicU32], vertex: usize) -> u64 {
    let in_degree = in_degrees.get(vertex).map_or(0, |count| u64::from(count.load(Relaxed)));
    u64::from(out_degrees[vertex]) + in_degree
}

/// Returns the in-degree of every vertex. They are the lengths of the in-lists if the store has them; otherwise all
/// pages are read.
///
/// # Errors
/// The errors of [`lists`].
pub fn in_degrees(store: &Store, cancel: &AtomicBool) -> Result<Vec<AtomicU32>> {
    topostream_formats::threads::start_shared_pool()?;
    if let Some(in_lists) = store.topology(Direction::In) {
        let degrees = in_lists.degrees(store.vertices())?;
        return Ok(degrees.values().iter().map(|&degree| AtomicU32::new(degree)).collect());
    }
    let counts = zeroed::<AtomicU32>(store.vertices());
    let topology = store.topology(Direction::Out).expect("every store has out-lists");
    let pages: Vec<PageId> = (0..topology.page_count()).map(PageId).collect();
    lists(store, topology, &pages, cancel, &|_, neighbours| {
        neighbours.iter().for_each(|&neighbour| _ = counts[neighbour as usize].fetch_add(1, Relaxed));
    })?;
    Ok(counts)
}

/// Returns the main memory that a run of [`in_degrees`] needs, in bytes: the program, directories, degrees and
/// counts, and page buffers if pages are read.
pub fn in_degrees_bytes(store: &Store) -> u64 {
    let topology = store.topology(Direction::Out).expect("every store has out-lists");
    let reading_bytes = if store.topology(Direction::In).is_some() { 0 } else { memory_bytes(topology) };
    PROGRAM_BYTES + directory_bytes(store) + 8 * store.vertices() + reading_bytes
}

/// Returns the main memory that building a table needs besides its entries, in bytes: the program, degrees,
/// directories, the ends, lengths and starts of lists, and page buffers.
pub fn building_bytes(store: &Store) -> u64 {
    let topology = store.topology(Direction::Out).expect("every store has out-lists");
    // The caller holds a copy of the degrees. Lengths exist twice while the threads' results are concatenated.
    let words = 2 + (1 + 2 + 1);
    PROGRAM_BYTES + directory_bytes(store) + 4 * words * (store.vertices() + 1) + memory_bytes(topology)
}

impl Adjacency {
    /// Builds a table of the neighbours within a range. Reads the whole store twice if the graph is directed, otherwise
    /// the pages of the range twice.
    ///
    /// # Errors
    /// The errors of [`lists`]; [`Error::Parameter`] that names a vertex if a list contains a neighbour twice.
    ///
    /// # Panics
    /// If the table would have 2^32 neighbours or more. Callers choose smaller ranges.
    pub fn among(store: &Store, range: &Range<u64>, keeps: TableNeighbours<'_>, cancel: &AtomicBool) -> Result<Self> {
        topostream_formats::threads::start_shared_pool()?;
        let topology = store.topology(Direction::Out).expect("every store has out-lists");
        let directed = store.manifest().directed;
        let all = 0..store.vertices();
        let pages = pages_of(topology, if directed { &all } else { range });
        let place = |vertex: u32, one: u32| {
            range.contains(&u64::from(one))
                && vertex != one
                && match keeps {
                    TableNeighbours::All => true,
                    TableNeighbours::After(degrees) => {
                        let with_degree = |vertex: u32| (vertex, degrees.values()[vertex as usize]);
                        comes_before(with_degree(vertex), with_degree(one))
                    }
                }
        };
        // In an undirected graph, a list holds all neighbours of its vertex, in order. But if only the lists of a range
        // are read, each of them must also tell its vertex to the neighbours in it. The lists of a part are not whole,
        // so that the same holds for them.
        let is_whole = !directed && *range == all && store.manifest().part.is_none();
        let each = |take: &(dyn Fn(u32, &mut dyn Iterator<Item = u32>) + Sync), look: &TakeList<'_>| {
            lists(store, topology, &pages, cancel, &|vertex, neighbours| {
                look(vertex, neighbours);
                if is_whole || directed {
                    take(vertex, &mut neighbours.iter().copied().filter(|&neighbour| place(vertex, neighbour)));
                }
                if !is_whole {
                    for &neighbour in neighbours.iter().filter(|&&neighbour| place(neighbour, vertex)) {
                        take(neighbour, &mut iter::once(vertex));
                    }
                }
            })
        };
        let out_degrees = store.out_degrees()?;
        let repeats = Repeats::default();
        let ends = zeroed::<AtomicU32>(store.vertices() + 1);
        let count = |vertex: u32, found: &mut dyn Iterator<Item = u32>| {
            ends[vertex as usize].fetch_add(found.count() as u32, Relaxed);
        };
        each(&count, &|vertex, neighbours| repeats.look(vertex, neighbours, out_degrees.values()[vertex as usize]))?;
        if let Some(vertex) = repeats.first() {
            return Err(several_edges(store, vertex)?);
        }
        let mut sum = 0u32;
        for end in &ends {
            let count = end.swap(sum, Relaxed);
            sum = sum.checked_add(count).expect("ranges of fewer than 2^32 neighbours");
        }
        let entries = zeroed::<AtomicU32>(sum.into());
        // `ends` holds the starts of lists here; each start advances to the end of its list.
        let put = |vertex: u32, found: &mut dyn Iterator<Item = u32>| {
            for one in found {
                let at = ends[vertex as usize].fetch_add(1, Relaxed);
                entries[at as usize].store(one, Relaxed);
            }
        };
        each(&put, &|_, _| {})?;
        let ends: Vec<u32> = plain(ends);
        let entries: Vec<u32> = plain(entries);
        Ok(sorted(&ends, entries))
    }
}

/// Looks for lists with a neighbour twice.
struct Repeats {
    /// The first vertex with such a list.
    vertex: AtomicU64,
    /// The vertex, and the first and last neighbour, of every part of a list.
    parts: Mutex<Vec<(u32, u32, u32)>>,
}

impl Default for Repeats {
    fn default() -> Self {
        Self { vertex: AtomicU64::new(u64::MAX), parts: Mutex::default() }
    }
}

impl Repeats {
    /// Looks at a list, or a part of it. Lists ascend.
    fn look(&self, vertex: u32, neighbours: &[u32], degree: u32) {
        if neighbours.windows(2).any(|pair| pair[0] == pair[1]) {
            self.vertex.fetch_min(vertex.into(), Relaxed);
        }
        if neighbours.len() < degree as usize {
            let ends = (vertex, neighbours[0], neighbours[neighbours.len() - 1]);
            self.parts.lock().expect("nothing panics while it is held").push(ends);
        }
    }

    /// The first vertex with a neighbour twice.
    fn first(self) -> Option<VertexId> {
        // A long list spans pages: compare the last neighbour on a page with the first on the next.
        let mut parts = self.parts.into_inner().expect("nothing panicked while it was held");
        parts.sort_unstable();
        let across = parts.windows(2).filter(|pair| pair[0].0 == pair[1].0 && pair[0].2 == pair[1].1);
        let across = across.map(|pair| pair[0].0.into()).min().unwrap_or(u64::MAX);
        let vertex = across.min(self.vertex.into_inner());
        (vertex != u64::MAX).then_some(VertexId(vertex as u32))
    }
}

fn several_edges(store: &Store, vertex: VertexId) -> Result<Error> {
    let id = store.ids()?.id(vertex)?;
    let manifest = store.manifest();
    let kept = if manifest.directed && manifest.in_lists.is_some() { " --in-edges" } else { "" };
    Ok(Error::Parameter(format!(
        "vertex {id} has several edges to the same vertex: `topostream reformat {} NEW --remove-duplicates{kept}` \
         makes a store without them, from this one alone",
        store.path().display()
    )))
}

/// The number of vertices whose entries a thread sorts at a time.
const BLOCK: usize = 1 << 14;

/// Sorts the entries of each vertex and removes duplicates. `ends[x]` is the end of the entries of `x`.
fn sorted(ends: &[u32], mut entries: Vec<u32>) -> Adjacency {
    let vertices = ends.len() - 1;
    let (mut blocks, mut rest, mut begin) = (Vec::new(), &mut entries[..], 0);
    for ends in ends[..vertices].chunks(BLOCK) {
        let end = *ends.last().expect("chunks are not empty");
        let (block, behind) = rest.split_at_mut((end - begin) as usize);
        blocks.push((block, ends, begin));
        (rest, begin) = (behind, end);
    }
    let lengths: Vec<u32> = blocks
        .into_par_iter()
        .flat_map_iter(|(block, ends, begin)| {
            let mut from = begin;
            let lengths: Vec<u32> = ends
                .iter()
                .map(|&end| {
                    let list = &mut block[(from - begin) as usize..(end - begin) as usize];
                    from = end;
                    distinct(list)
                })
                .collect();
            lengths
        })
        .collect();
    let (mut starts, mut to, mut from) = (Vec::with_capacity(vertices + 1), 0, 0);
    for (&length, &end) in lengths.iter().zip(ends) {
        starts.push(to);
        entries.copy_within(from as usize..(from + length) as usize, to as usize);
        to += length;
        from = end;
    }
    starts.push(to);
    // Return the memory of the removed duplicates.
    entries.truncate(to as usize);
    entries.shrink_to_fit();
    Adjacency { starts: Arc::new(starts), entries: Arc::new(entries) }
}

/// Sorts a list, moves its distinct entries to the front and returns their number.
fn distinct(list: &mut [u32]) -> u32 {
    list.sort_unstable();
    let mut kept = 0;
    for at in 0..list.len() {
        if at == 0 || list[at] != list[kept - 1] {
            list[kept] = list[at];
            kept += 1;
        }
    }
    kept as u32
}
