//! Reads lists outside of a run, page by page, in bounded memory: for tables that are built before a run.

use crate::error::{Error, Result};
use crate::pages::buffers::PageBuffers;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use topostream_formats::page::{Neighbours, Page, PageWeights};
use topostream_formats::store::PageReader;
use topostream_formats::with_neighbours;
use topostream_formats::{PageId, Store, Topology};

/// Pages per thread in one batch. Errors are checked after each batch, so a defect ends the scan early.
const PAGES_A_THREAD: usize = 8;

/// Receives a list, or the part of it on one page: the vertex and its neighbours in stored order.
pub type TakeList<'a> = dyn Fn(u32, &[u32]) + Sync + 'a;

/// Receives a list, or the part of it on one page: the vertex, its neighbours in stored order, and the weights of its
/// edges.
pub type TakeWeighted<'a> = dyn Fn(u32, &[u32], PageWeights<'_>) + Sync + 'a;

/// Reads and checks the given pages of a topology and passes their lists to `take`, on all threads and in any order.
///
/// # Errors
/// [`Error::Store`] for the first page that cannot be read or is not valid; [`Error::Interrupted`] after cancellation.
pub fn lists(
    store: &Store,
    topology: &Topology,
    pages: &[PageId],
    cancel: &AtomicBool,
    take: &TakeList<'_>,
) -> Result<()> {
    let take: &TakeWeighted<'_> = &|vertex, neighbours, _| take(vertex, neighbours);
    scan(&Scan { store, topology, reader: &PageReader::open(topology)?, cancel, weights: false, take }, pages)
}

/// As [`lists`], with the weights of edges.
///
/// # Errors
/// The errors of [`lists`].
pub fn weighted_lists(
    store: &Store,
    topology: &Topology,
    pages: &[PageId],
    cancel: &AtomicBool,
    take: &TakeWeighted<'_>,
) -> Result<()> {
    scan(&Scan { store, topology, reader: &PageReader::open(topology)?, cancel, weights: true, take }, pages)
}

fn scan(scan: &Scan<'_>, pages: &[PageId]) -> Result<()> {
    let room = || (PageBuffers::new(scan.topology, scan.weights), Vec::new());
    for some in pages.chunks(PAGES_A_THREAD * rayon::current_num_threads()) {
        let one_page = |(buffers, list): &mut (PageBuffers, Vec<u32>), &page| scan.page(page, buffers, list);
        // Of several errors, the one of the first page is reported, independent of thread timing.
        let results: Vec<Result<()>> = some.par_iter().map_init(room, one_page).collect();
        results.into_iter().collect::<Result<()>>()?;
    }
    Ok(())
}

/// Returns the maximum memory that [`lists`] needs, in bytes: for each thread a page and its longest list, in a vector
/// that doubles when it grows, and the page numbers.
pub fn memory_bytes(topology: &Topology) -> u64 {
    bytes_of(topology, false)
}

/// Returns the maximum memory that [`weighted_lists`] needs, in bytes.
pub fn weighted_memory_bytes(topology: &Topology) -> u64 {
    bytes_of(topology, true)
}

fn bytes_of(topology: &Topology, weights: bool) -> u64 {
    let threads = rayon::current_num_threads() as u64;
    let page_bytes = PageBuffers::memory_bytes(topology, weights);
    let list_bytes = 2 * topology.image_bytes().max(topology.page_bytes().into());
    threads * (page_bytes + list_bytes) + 4 * u64::from(topology.page_count())
}

/// Returns the pages that contain lists of vertices in a range, in file order.
pub fn pages_of(topology: &Topology, vertices: &std::ops::Range<u64>) -> Vec<PageId> {
    let entries = topology.directory().entries();
    let has = |first: u64, slots: u32| first < vertices.end && vertices.start < first + u64::from(slots);
    let wanted = entries.iter().enumerate().filter(|(_, entry)| has(entry.start_vertex.into(), entry.slot_count));
    wanted.map(|(page, _)| PageId(page as u32)).collect()
}

struct Scan<'a> {
    store: &'a Store,
    topology: &'a Topology,
    reader: &'a PageReader<'a>,
    cancel: &'a AtomicBool,
    weights: bool,
    take: &'a TakeWeighted<'a>,
}

impl Scan<'_> {
    fn page(&self, number: PageId, buffers: &mut PageBuffers, list: &mut Vec<u32>) -> Result<()> {
        if self.cancel.load(Relaxed) {
            return Err(Error::Interrupted);
        }
        buffers.fill(self.reader, self.store, self.topology, number)?;
        let (page, weights) = buffers.open(self.store, self.topology, number)?;
        let starts = self.topology.directory().starts();
        with_neighbours!(&page, self.store.manifest().encoding, starts, |neighbours| self
            .each(&page, neighbours, weights, list));
        Ok(())
    }

    fn each(&self, page: &Page<'_>, neighbours: impl Neighbours, weights: PageWeights<'_>, list: &mut Vec<u32>) {
        for slot in 0..page.header().slot_count {
            let record = page.record(slot);
            if record.is_empty() {
                continue;
            }
            let weights = weights.part(record.clone());
            list.clear();
            list.extend(record.map(|at| neighbours.vertex(at)));
            (self.take)(page.header().start_vertex + slot, list, weights);
        }
    }
}
