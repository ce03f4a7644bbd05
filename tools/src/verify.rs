//! Verifying a store: every byte of it, and that the parts agree with one another.

use crate::progress::{Cancel, Progress, Unit};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use topostream_formats::buffer::AlignedBuffer;
use topostream_formats::page::{Neighbours, Page, RecordIds, VertexIds, weights};
use topostream_formats::store::PageReader;
use topostream_formats::{Direction, Encoding, Error, PageId, Result, Store, Topology};

/// What was verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Pages that were read and found sound, of all topologies.
    pub pages: u64,
    /// Neighbours in them.
    pub edges: u64,
    /// Bytes that were read.
    pub bytes: u64,
}

/// What one page adds up to. Sums of hashes do not depend on the order of edges, so that in-lists can be held against
/// out-lists without sorting.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    along: u64,
    against: u64,
}

/// Reads every page of a store and checks: checksums, ids, slots, neighbours in range and in ascending order, degrees as in
/// `degrees.bin`, and that in-lists (or, in an undirected graph, the out-lists themselves) hold the same edges turned
/// round. Opening the store has already checked the manifest, the directories and the lengths of files.
///
/// # Errors
/// The first thing that is wrong, by file and page; [`Error::Interrupted`].
pub fn verify(store: &Store, memory_bytes: u64, progress: &dyn Progress, cancel: &Cancel) -> Result<VerifyReport> {
    check_memory(store, memory_bytes)?;
    store.ids()?;
    let mut report = VerifyReport::default();
    let mut sums = Vec::new();
    for topology in store.topologies() {
        let direction = topology.direction();
        let stage = if direction == Direction::Out { "verify out-lists" } else { "verify in-lists" };
        progress.begin(stage, Some(topology.page_count().into()), Unit::Pages);
        sums.push(verify_topology(store, topology, progress, cancel)?);
        progress.end();
        let page_bytes = u64::from(topology.page_bytes()) + u64::from(topology.weight_page_bytes());
        report.pages += u64::from(topology.page_count());
        report.edges += store.edges();
        report.bytes += u64::from(topology.page_count()) * page_bytes;
    }
    let agree = match sums[..] {
        [out, in_lists] => out.along == in_lists.against,
        [out] if !store.manifest().directed => out.along == out.against,
        _ => true,
    };
    if agree {
        return Ok(report);
    }
    let expected =
        if store.manifest().directed { "in-lists with the edges of the out-lists" } else { "every edge both ways" };
    Err(Error::file(store.path(), expected, "edges without their counterpart"))
}

/// One buffer a thread.
fn check_memory(store: &Store, memory_bytes: u64) -> Result<()> {
    let topology = store.topologies().next().expect("every store has out-lists");
    let a_thread = u64::from(topology.page_bytes()) + u64::from(topology.weight_page_bytes());
    let needed_bytes = rayon::current_num_threads() as u64 * a_thread + (32 << 20);
    if needed_bytes <= memory_bytes {
        return Ok(());
    }
    let parts = format!("a page of {a_thread} bytes for each of {} threads", rayon::current_num_threads());
    Err(Error::Memory { what: "verifying".into(), needed_bytes, budget_bytes: memory_bytes, parts })
}

fn verify_topology(store: &Store, topology: &Topology, progress: &dyn Progress, cancel: &Cancel) -> Result<Sums> {
    let reader = PageReader::open(topology)?;
    let degrees = topology.degrees(store.vertices())?;
    let done = AtomicU64::new(0);
    let buffers = || {
        let page = AlignedBuffer::new(topology.page_bytes() as usize);
        (page, AlignedBuffer::new(topology.weight_page_bytes() as usize))
    };
    let one_page = |(page, weights): &mut (AlignedBuffer, AlignedBuffer), number: u32| -> Result<Sums> {
        cancel.check()?;
        reader.read(PageId(number), page, weights)?;
        let sums = verify_page(store, topology, PageId(number), page, weights, degrees.values())?;
        progress.position(1 + done.fetch_add(1, Ordering::Relaxed));
        Ok(sums)
    };
    // Of several defects, the one in the first page is reported, whichever thread is faster.
    let add =
        |a: Sums, b: Sums| Sums { along: a.along.wrapping_add(b.along), against: a.against.wrapping_add(b.against) };
    let results: Vec<Result<Sums>> = (0..topology.page_count()).into_par_iter().map_init(buffers, one_page).collect();
    results.into_iter().try_fold(Sums::default(), |sums, next| Ok(add(sums, next?)))
}

fn verify_page(
    store: &Store,
    topology: &Topology,
    number: PageId,
    bytes: &[u8],
    weight_bytes: &[u8],
    degrees: &[u32],
) -> Result<Sums> {
    let context = store.page_context(topology);
    let weighted = (!weight_bytes.is_empty()).then_some(weight_bytes);
    topology.check(number, bytes, weighted, &context)?;
    let page = Page::open(bytes, context.encoding).map_err(|defect| topology.page_error(number, false, defect))?;
    let weights = weighted.map_or(&[][..], |bytes| weights(bytes, page.header().edge_count));
    let sums = match context.encoding {
        Encoding::VertexId => page_sums(&page, VertexIds::new(&page), weights),
        Encoding::RecordId { page_bytes, slot_bytes } => {
            let starts = topology.directory().starts();
            page_sums(&page, RecordIds::new(&page, starts, page_bytes, slot_bytes), weights)
        }
    };
    let wrong = |expected: String, found: String| {
        topology.page_error(number, false, topostream_formats::page::PageDefect { expected, found })
    };
    let sums =
        sums.map_err(|vertex| wrong(format!("the list of vertex {vertex} in ascending order"), "another".into()))?;
    let header = page.header();
    for slot in 0..header.slot_count {
        let vertex = header.start_vertex + slot;
        let found = match header.large {
            0 => page.record(slot).len() as u64,
            _ if header.list_offset > 0 => continue,
            _ => topology.directory().run_degree(number),
        };
        let expected = degrees[vertex as usize];
        if found != u64::from(expected) {
            return Err(wrong(format!("vertex {vertex} with degree {expected} as in degrees.bin"), found.to_string()));
        }
    }
    Ok(sums)
}

/// Adds up the page's edges; `Err` names a vertex whose list does not ascend.
fn page_sums(page: &Page<'_>, neighbours: impl Neighbours, weights: &[u32]) -> Result<Sums, u32> {
    let mut sums = Sums::default();
    for slot in 0..page.header().slot_count {
        let vertex = page.header().start_vertex + slot;
        let mut last = 0;
        for edge in page.record(slot) {
            let neighbour = neighbours.vertex(edge);
            if neighbour < last {
                return Err(vertex);
            }
            last = neighbour;
            let weight = weights.get(edge).copied().unwrap_or(0);
            sums.along = sums.along.wrapping_add(hash(vertex, neighbour, weight));
            sums.against = sums.against.wrapping_add(hash(neighbour, vertex, weight));
        }
    }
    Ok(sums)
}

/// A hash of an edge such that sums of hashes tell sets of edges apart.
#[inline]
fn hash(source: u32, dest: u32, weight: u32) -> u64 {
    let mixed = (u64::from(source) << 32 | u64::from(dest)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ mixed >> 32 ^ u64::from(weight)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    mixed ^ mixed >> 32
}
