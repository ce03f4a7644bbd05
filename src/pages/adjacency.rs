//! Neighbours of all vertices among some, in main memory: tables for algorithms that hold lists against each other,
//! made of the store part by part.

use crate::error::{Error, Result};
use crate::model::attributes::zeroed;
use crate::pages::memory::{PROGRAM_BYTES, directory_bytes};
use crate::pages::scan::{TakeList, lists, memory_bytes, pages_of};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use topostream_formats::values::StoredValues;
use topostream_formats::{Direction, PageId, Store, VertexId};

/// For each vertex `x`, the vertices of a range that are its neighbours, whichever way the edges point: ascending, each
/// once, never `x` itself.
pub struct Adjacency {
    /// `entries[starts[x]..starts[x + 1]]` are those of `x`.
    pub starts: Arc<Vec<u32>>,
    /// The neighbours.
    pub entries: Arc<Vec<u32>>,
}

/// Which neighbours are kept.
#[derive(Clone, Copy)]
pub enum Kept<'a> {
    /// All.
    Each,
    /// Those that come behind the vertex in the [order of degrees](comes_before).
    Behind(&'a StoredValues<u32>),
}

/// Whether a vertex comes before another by their degrees, then by their numbers: lists of neighbours that come behind
/// are short, however long a hub's whole list is (Chiba and Nishizeki, SIAM J. Comput. 14, 1985).
#[inline(always)]
pub fn comes_before((vertex, degree): (u32, u32), (other, others_degree): (u32, u32)) -> bool {
    (degree, vertex) < (others_degree, other)
}

/// Ranges of vertices whose sizes are no more than `most` together, in ascending order; what is larger is a range of
/// its own.
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

/// How many edges lead from a vertex, and in directed graphs to it, whose numbers are then in `against`.
pub fn degree(out_degrees: &[u32], against: &[AtomicU32], vertex: usize) -> u64 {
    let against = against.get(vertex).map_or(0, |count| u64::from(count.load(Relaxed)));
    u64::from(out_degrees[vertex]) + against
}

/// How many edges lead to each vertex: the lengths of the in-lists, where a store has them; else all pages are read.
///
/// # Errors
/// As of [`lists`].
pub fn count_against(store: &Store, cancel: &AtomicBool) -> Result<Vec<AtomicU32>> {
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

/// Main memory while [`count_against`] counts, in bytes: the program, directories, degrees and counts, pages where they
/// are read.
pub fn counting_bytes(store: &Store) -> u64 {
    let topology = store.topology(Direction::Out).expect("every store has out-lists");
    let reading_bytes = if store.topology(Direction::In).is_some() { 0 } else { memory_bytes(topology) };
    PROGRAM_BYTES + directory_bytes(store) + 8 * store.vertices() + reading_bytes
}

/// Main memory that a table's making takes beside its entries, in bytes: the program, degrees, directories, ends,
/// lengths and starts of lists, and pages that are read.
pub fn making_bytes(store: &Store) -> u64 {
    let topology = store.topology(Direction::Out).expect("every store has out-lists");
    // Degrees are here and with the caller; lengths exist twice while they are brought together.
    let words = 2 + (1 + 2 + 1);
    PROGRAM_BYTES + directory_bytes(store) + 4 * words * (store.vertices() + 1) + memory_bytes(topology)
}

impl Adjacency {
    /// Reads the store twice: all of it where the graph is directed, otherwise the pages of the range.
    ///
    /// # Errors
    /// As of [`lists`]; [`Error::Parameter`] with a vertex that has an edge twice.
    ///
    /// # Panics
    /// Where there are 2^32 neighbours: ranges are to be chosen smaller.
    pub fn among(store: &Store, range: &Range<u64>, kept: Kept<'_>, cancel: &AtomicBool) -> Result<Self> {
        topostream_formats::threads::start_shared_pool()?;
        let topology = store.topology(Direction::Out).expect("every store has out-lists");
        let directed = store.manifest().directed;
        let all = 0..store.vertices();
        let pages = pages_of(topology, if directed { &all } else { range });
        let place = |vertex: u32, one: u32| {
            range.contains(&u64::from(one))
                && vertex != one
                && match kept {
                    Kept::Each => true,
                    Kept::Behind(degrees) => {
                        let with_degree = |vertex: u32| (vertex, degrees.values()[vertex as usize]);
                        comes_before(with_degree(vertex), with_degree(one))
                    }
                }
        };
        let each = |take: &(dyn Fn(u32, u32) + Sync), look: &TakeList<'_>| {
            lists(store, topology, &pages, cancel, &|vertex, neighbours| {
                look(vertex, neighbours);
                for &neighbour in neighbours {
                    if place(neighbour, vertex) {
                        take(neighbour, vertex);
                    }
                    if directed && place(vertex, neighbour) {
                        take(vertex, neighbour);
                    }
                }
            })
        };
        let repeated = AtomicU64::new(u64::MAX);
        let (out_degrees, parts) = (store.out_degrees()?, Mutex::new(Vec::new()));
        let ends = zeroed::<AtomicU32>(store.vertices() + 1);
        each(&|vertex, _| _ = ends[vertex as usize].fetch_add(1, Relaxed), &|vertex, neighbours| {
            // Lists ascend.
            if neighbours.windows(2).any(|pair| pair[0] == pair[1]) {
                repeated.fetch_min(vertex.into(), Relaxed);
            }
            if neighbours.len() < out_degrees.values()[vertex as usize] as usize {
                let ends = (vertex, neighbours[0], neighbours[neighbours.len() - 1]);
                parts.lock().expect("nothing panics while it is held").push(ends);
            }
        })?;
        // Where one page's part of a long list ends, and the next one's begins.
        let mut parts = parts.into_inner().expect("nothing panicked while it was held");
        parts.sort_unstable();
        for pair in parts.windows(2).filter(|pair| pair[0].0 == pair[1].0 && pair[0].2 == pair[1].1) {
            repeated.fetch_min(pair[0].0.into(), Relaxed);
        }
        if let Some(vertex) = Some(repeated.into_inner()).filter(|&vertex| vertex != u64::MAX) {
            return Err(several_edges(store, VertexId(vertex as u32))?);
        }
        let mut sum = 0u32;
        for end in &ends {
            let count = end.swap(sum, Relaxed);
            sum = sum.checked_add(count).expect("ranges of fewer than 2^32 neighbours");
        }
        let entries = zeroed::<AtomicU32>(sum.into());
        // Each vertex's beginning moves on to its end.
        each(
            &|vertex, one| {
                let at = ends[vertex as usize].fetch_add(1, Relaxed);
                entries[at as usize].store(one, Relaxed);
            },
            &|_, _| {},
        )?;
        let ends: Vec<u32> = ends.into_iter().map(AtomicU32::into_inner).collect();
        let entries: Vec<u32> = entries.into_iter().map(AtomicU32::into_inner).collect();
        Ok(sorted(&ends, entries))
    }
}

fn several_edges(store: &Store, vertex: VertexId) -> Result<Error> {
    let id = store.ids()?.original(vertex);
    let message = format!("vertex {id} has several edges to the same vertex: format with --remove-duplicates");
    Ok(Error::Parameter(message))
}

/// Vertices whose entries a thread sorts at a time.
const BLOCK: usize = 1 << 14;

/// Sorts each vertex's entries, which end where `ends` says, and keeps one of several that are the same.
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
    // What was given twice is gone, and so is its memory.
    entries.truncate(to as usize);
    entries.shrink_to_fit();
    Adjacency { starts: Arc::new(starts), entries: Arc::new(entries) }
}

/// Sorts a list and brings its distinct entries to the front; returns how many there are.
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
