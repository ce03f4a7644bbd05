//! The size that a packed store would have in other orders of vertices, from a sample of its lists.
//!
//! ```text
//!  lists of pages that are spread evenly ─▶ their vertices ─▶ how many vertices come before each ─▶ bits per edge
//! ```
//!
//! The number that a vertex would have is the number of vertices with a smaller key: the keys of all vertices are
//! compared with those of the sample, and no table of new numbers is made. Whole lists are sampled: the gaps of a part
//! of a list would be larger in another order. Lists of several pages are left out; they are small in any order.

use rayon::prelude::*;
use serde::Serialize;
use std::cmp::Reverse;
use std::ops::Range;
use topostream_formats::buffer::AlignedBuffer;
use topostream_formats::packed::{PackedEstimate, PackedPage, PackedParameters};
use topostream_formats::page::Page;
use topostream_formats::random::hash;
use topostream_formats::store::PageReader;
use topostream_formats::{Direction, Manifest, PageId, Result, Store, Topology, VertexId, threads};

/// The maximum number of pages that are read.
const PAGES_MAX: u64 = 64;
/// Windows of consecutive lists over all pages, at least one a page.
const WINDOWS: usize = 512;
/// The expected number of sampled edges, if the graph has more.
const EDGES: u64 = 1 << 17;
/// No page is added to a sample of more edges.
const EDGES_MAX: usize = 1 << 20;
/// Larger graphs are not sampled: degrees and ids take 20 bytes a vertex, and all vertices are compared with the
/// sample.
const VERTICES_MAX: u64 = 1 << 24;
/// Vertices that a thread compares at a time.
const VERTICES_PER_STEP: u64 = 1 << 18;

/// Bits per edge of sampled lists under several numberings: of gaps, exceptions, degrees and the tables of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OrderSizes {
    /// The number of sampled edges.
    pub edges: u64,
    /// In the store's own order.
    pub stored: f64,
    /// In natural order.
    pub natural: f64,
    /// By descending degree.
    pub degree: f64,
    /// By degree groups.
    pub degree_groups: f64,
}

/// Estimates the sizes. None without edges, if lists are grouped by shard, if in-degrees are unknown because the graph
/// is directed and has no in-lists, for graphs that are too large, and if the system refuses threads.
///
/// # Errors
/// Errors from reading and checking pages, degrees and ids.
pub fn estimate(store: &Store) -> Result<Option<OrderSizes>> {
    let manifest = store.manifest();
    let out = store.topology(Direction::Out).expect("every store has out-lists");
    let parameters = PackedParameters::of(manifest.encoding);
    let unknown = manifest.directed && manifest.in_lists.is_none();
    let (Some(parameters), false) = (parameters, unknown || out.is_grouped() || manifest.edges == 0) else {
        return Ok(None);
    };
    if manifest.vertices > VERTICES_MAX {
        return Ok(None);
    }
    // What is not essential needs no threads.
    if threads::start_shared_pool().is_err() {
        return Ok(None);
    }
    let edges = sample(store, out)?;
    let mut vertices: Vec<u32> = edges.iter().flat_map(|&(source, dest)| [source, dest]).collect();
    vertices.par_sort_unstable();
    vertices.dedup();
    let degrees = degrees(store, manifest)?;
    let ids = store.ids()?;
    let id = |vertex: u32| ids.original(VertexId(vertex));
    let groups = |vertex: u32| Reverse(degrees[vertex as usize].checked_ilog2());
    let bits = |numbers: Option<Vec<u32>>| bits_per_edge(parameters, &edges, &vertices, numbers.as_deref());
    Ok(Some(OrderSizes {
        edges: edges.len() as u64,
        stored: bits(None),
        natural: bits(Some(numbers(manifest.vertices, &vertices, |vertex| (0, id(vertex))))),
        degree: bits(Some(numbers(manifest.vertices, &vertices, |vertex| {
            (Reverse(degrees[vertex as usize]), id(vertex))
        }))),
        degree_groups: bits(Some(numbers(manifest.vertices, &vertices, |vertex| (groups(vertex), id(vertex))))),
    }))
}

/// Reads pages that are spread evenly, and takes the same share of the lists of each, so that every list that fits in a
/// page is as likely as any other. Returns their edges.
fn sample(store: &Store, out: &Topology) -> Result<Vec<(u32, u32)>> {
    let (context, reader) = (store.page_context(out), PageReader::open(out)?);
    let (count, entries) = (u64::from(out.page_count()), out.directory().entries());
    let pages = count.min(PAGES_MAX);
    let pages: Vec<u64> = (0..pages).map(|number| (2 * number + 1) * count / (2 * pages)).collect();
    let total: u64 = pages.iter().map(|&page| u64::from(entries[page as usize].edge_count)).sum();
    let strata = (WINDOWS / pages.len().max(1)).max(1) as u64;
    let share = (EDGES as f64 / total.max(1) as f64).min(1.0);
    let mut bytes = AlignedBuffer::try_new("a page to examine", out.page_bytes().into())?;
    let mut image = AlignedBuffer::try_new("a decoded page", context.encoding.plain_bytes(out.page_bytes()))?;
    let mut edges = Vec::new();
    for number in pages {
        let entry = &entries[number as usize];
        if entry.run > 0 || edges.len() > EDGES_MAX {
            continue;
        }
        let page = PageId(number as u32);
        reader.read(page, &mut bytes, &mut [])?;
        out.check(page, &bytes, None, &context)?;
        let wrong = |defect| out.page_error(page, false, defect);
        let packed = PackedPage::open(&bytes, context.encoding, context.destinations(page.0)).map_err(wrong)?;
        packed.inflate(&mut image).map_err(wrong)?;
        let plain = Page::open(&image, context.encoding.plain()).map_err(wrong)?;
        for slot in windows(number, entry.slot_count, strata, share).flatten() {
            let record = plain.record(slot);
            let neighbours = plain.neighbour_bytes()[4 * record.start..4 * record.end].as_chunks().0;
            let source = plain.header().start_vertex + slot;
            edges.extend(neighbours.iter().map(|&dest| (source, u32::from_le_bytes(dest))));
        }
    }
    Ok(edges)
}

/// Divides the slots of a page into strata, and takes the same share of each: consecutive slots from a place that a
/// hash chooses. Strata keep the vertices of large degree, which are next to one another in some orders, at their
/// share.
fn windows(page: u64, slots: u32, strata: u64, share: f64) -> impl Iterator<Item = Range<u32>> {
    let strata = strata.min(slots.into());
    let border = move |stratum: u64| (stratum * u64::from(slots) / strata) as u32;
    (0..strata).map(move |stratum| {
        let (begin, end) = (border(stratum), border(stratum + 1));
        let seed = 2 * (page * WINDOWS as u64 + stratum);
        // A fraction of a list is a list in the same fraction of all cases.
        let fraction = hash(seed) as f64 / u64::MAX as f64;
        let taken = ((f64::from(end - begin) * share + fraction) as u32).min(end - begin);
        let first = begin + (hash(seed + 1) % u64::from(end - begin - taken + 1)) as u32;
        first..first + taken
    })
}

/// Edges at each vertex, out and in.
fn degrees(store: &Store, manifest: &Manifest) -> Result<Vec<u32>> {
    let out = store.out_degrees()?;
    let add = |a: &u32, b: &u32| a.saturating_add(*b);
    Ok(match store.topology(Direction::In).filter(|_| manifest.in_lists.is_some()) {
        Some(lists) => {
            let lists = lists.degrees(manifest.vertices)?;
            out.values().par_iter().zip(lists.values()).map(|(a, b)| add(a, b)).collect()
        }
        None => out.values().par_iter().map(|degree| add(degree, degree)).collect(),
    })
}

/// The number of vertices before each of some vertices in the order of a key, which is different for every vertex.
fn numbers<K: Ord + Copy + Send + Sync>(vertices: u64, sampled: &[u32], key: impl Fn(u32) -> K + Sync) -> Vec<u32> {
    let mut sorted: Vec<(K, u32)> = (0..).zip(sampled).map(|(at, &vertex)| (key(vertex), at)).collect();
    sorted.par_sort_unstable();
    let count = |mut counts: Vec<u32>, step: u64| {
        for vertex in step * VERTICES_PER_STEP..vertices.min((step + 1) * VERTICES_PER_STEP) {
            let key = key(vertex as u32);
            counts[sorted.partition_point(|sampled| sampled.0 <= key)] += 1;
        }
        counts
    };
    let sum = |mut a: Vec<u32>, b: Vec<u32>| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        a
    };
    let none = || vec![0u32; sorted.len() + 1];
    let steps = (0..vertices.div_ceil(VERTICES_PER_STEP)).into_par_iter();
    let counts = steps.fold(none, count).reduce(none, sum);
    let (mut numbers, mut before) = (vec![0; sampled.len()], 0);
    for (&(_, at), count) in sorted.iter().zip(counts) {
        before += count;
        numbers[at as usize] = before;
    }
    numbers
}

/// The size of lists under new numbers of `vertices`, which ascend, or under those that they have.
fn bits_per_edge(parameters: PackedParameters, edges: &[(u32, u32)], vertices: &[u32], numbers: Option<&[u32]>) -> f64 {
    let number = |vertex: u32| match numbers {
        Some(numbers) => numbers[vertices.partition_point(|&before| before < vertex)],
        None => vertex,
    };
    let mut edges: Vec<(u32, u32)> = edges.par_iter().map(|&(source, dest)| (number(source), number(dest))).collect();
    edges.par_sort_unstable();
    PackedEstimate::of(parameters, &edges).bits_per_edge()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_ranks() {
        for vertices in [1, 2, 1000, VERTICES_PER_STEP + 7] {
            let sampled: Vec<u32> = (0..vertices as u32).filter(|&vertex| vertex % 3 != 1).collect();
            let key = |vertex: u32| (hash(vertex.into()) % 5, Reverse(vertex));
            let mut order: Vec<u32> = (0..vertices as u32).collect();
            order.sort_by_key(|&vertex| key(vertex));
            let mut ranks = vec![0; order.len()];
            (0..).zip(&order).for_each(|(rank, &vertex)| ranks[vertex as usize] = rank);
            let expected: Vec<u32> = sampled.iter().map(|&vertex| ranks[vertex as usize]).collect();
            assert_eq!(numbers(vertices, &sampled, key), expected, "{vertices}");
        }
    }
}
