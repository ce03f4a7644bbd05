//! Parts of pages: what a superstep reads of a page of which it visits few lists.
//!
//! ```text
//!  bits of visited vertices ─┐
//!  degrees in memory ────────┼─▶ units of the visited lists ─▶ chunks ─▶ fewer than pay? ─ no ─▶ the whole page
//!  the table of chunks ──────┘                                              └ yes ─▶ runs of chunks, a read each
//! ```
//!
//! Where the lists are follows from what is in memory, so that nothing has to be read before. That takes packed pages,
//! which have a table of chunks, lists that are not grouped, and degrees: the degrees of the out-lists, which are also
//! the in-lists of undirected graphs. Other pages are read whole, and so are pages with a part of a single list.
//!
//! A part is read if it is predicted to take less than three quarters of the page's time. Pages are also read whole for
//! scans, with weights, by GPUs and teams, and in asynchronous runs. Chunks have checksums of their own. The frame
//! knows which it holds: other lists of the page complete it later.

use super::fetch::PageRef;
use super::unit_lists::UnitLists;
use crate::model::algorithm::{State, Step, Visit};
use crate::model::bits::Bits;
use std::collections::HashMap;
use std::sync::OnceLock;
use topostream_formats::chunks::ChunkSet;
use topostream_formats::{Direction, Store, Topology};

/// The part of a page that is read, or that a frame holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// The page, and its weights if the run reads weights.
    Whole,
    /// Some chunks of the page.
    Chunks(ChunkSet),
}

impl Parts {
    /// No part.
    pub const NONE: Self = Self::Chunks(ChunkSet::NONE);

    /// Whether there is no part.
    pub fn is_none(self) -> bool {
        self == Self::NONE
    }

    /// Whether another part is within this one. A page of which all chunks are there is not a whole page: it has not
    /// been checked as one.
    pub fn contains(self, other: Self) -> bool {
        match (self, other) {
            (Self::Whole, _) => true,
            (Self::Chunks(_), Self::Whole) => false,
            (Self::Chunks(held), Self::Chunks(wanted)) => held.contains(wanted),
        }
    }

    /// Both parts.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Chunks(held), Self::Chunks(more)) => Self::Chunks(held.with(more)),
            _ => Self::Whole,
        }
    }

    /// What has to be read for this part where another one is held.
    #[must_use]
    pub fn without(self, held: Self) -> Self {
        match (self, held) {
            _ if held.contains(self) => Self::NONE,
            (Self::Chunks(wanted), Self::Chunks(held)) => Self::Chunks(wanted.without(held)),
            _ => self,
        }
    }

    /// The number of reads.
    pub fn reads(self) -> u64 {
        match self {
            Self::Whole => 1,
            Self::Chunks(chunks) => chunks.runs().count() as u64,
        }
    }

    /// Bytes of this part: `whole_bytes`, or `chunk_bytes` for each of its chunks.
    pub fn bytes(self, whole_bytes: u64, chunk_bytes: u64) -> u64 {
        match self {
            Self::Whole => whole_bytes,
            Self::Chunks(chunks) => u64::from(chunks.len()) * chunk_bytes,
        }
    }
}

/// The part of a page that a superstep needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WantedPart {
    /// The chunks.
    pub chunks: ChunkSet,
    /// Bytes of the units of the visited lists, which are in these chunks.
    pub bytes: u64,
}

/// For each page that is not read whole, the part that is.
pub type WantedParts = HashMap<PageRef, WantedPart>;

/// The time of a read at depth: a fixed part, and one for each byte.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReadCost {
    /// Nanoseconds of a read, besides its bytes.
    pub request_ns: f64,
    /// Nanoseconds of a byte.
    pub byte_ns: f64,
}

/// Parts are read if they take at most this share of the time of the page. The page is of use to later supersteps.
const SHARE_MAX: f64 = 0.75;

impl ReadCost {
    /// The time of reads with these bytes in all, in nanoseconds.
    pub fn ns(self, reads: u64, bytes: u64) -> f64 {
        self.request_ns * reads as f64 + self.byte_ns * bytes as f64
    }

    /// The chunks to read for some wanted ones: gaps are read where that is faster than another read. `None` if the
    /// whole page is to be read.
    fn choose(self, wanted: ChunkSet, chunk_bytes: u64, page_bytes: u64) -> Option<ChunkSet> {
        let gap_max = self.request_ns / (self.byte_ns * chunk_bytes as f64);
        let (mut chunks, mut end) = (wanted, None);
        for run in wanted.runs() {
            if let Some(end) = end
                && f64::from(run.start - end) <= gap_max
            {
                chunks = chunks.with(ChunkSet::of_range(end..run.start));
            }
            end = Some(run.end);
        }
        let bytes = u64::from(chunks.len()) * chunk_bytes;
        let part_ns = self.ns(chunks.runs().count() as u64, bytes);
        (part_ns <= SHARE_MAX * self.ns(1, page_bytes)).then_some(chunks)
    }
}

/// Whether the lists of a topology can be found without reading their pages.
pub fn are_possible(topology: &Topology) -> bool {
    topology.chunks().is_some() && topology.direction() == Direction::Out && !topology.is_grouped()
}

/// Finds the parts of pages that supersteps of a run visit.
#[derive(Debug)]
pub struct PartFinder {
    cost: ReadCost,
    /// The lists of the out-lists' units, found at the first use.
    lists: OnceLock<UnitLists>,
}

impl PartFinder {
    /// A finder for reads at this cost.
    pub fn new(cost: ReadCost) -> Self {
        Self { cost, lists: OnceLock::new() }
    }

    /// Main memory of a finder for a topology, in bytes; 0 if its pages are read whole.
    pub fn memory_bytes(topology: &Topology, edges: u64, vertices: u64) -> u64 {
        let pages = topology.page_count().into();
        if are_possible(topology) { UnitLists::memory_bytes(pages, edges, vertices) } else { 0 }
    }

    /// Finds the lists of units, on the calling thread's pool. Needed once, and done by the first use otherwise.
    pub fn prepare(&self, store: &Store, degrees: &[u32]) {
        let topology = store.topology(Direction::Out).expect("every store has out-lists");
        self.lists.get_or_init(|| UnitLists::new(topology, degrees));
    }

    /// Whether [`prepare`](Self::prepare) has been called.
    pub fn is_prepared(&self) -> bool {
        self.lists.get().is_some()
    }

    /// Returns the pages of a superstep of which parts are read, and these parts.
    pub(super) fn find(&self, store: &Store, state: &State, step: &Step, pages: &[PageRef]) -> WantedParts {
        let topology = store.topology(step.direction).expect("algorithms visit topologies that exist");
        let visited = match step.visit {
            Visit::Frontier => (state.frontier(step.superstep), false),
            Visit::Within(attribute) => (state.attributes.bits(attribute), false),
            Visit::Without(attribute) => (state.attributes.bits(attribute), true),
            Visit::All | Visit::None => return WantedParts::new(),
        };
        if !are_possible(topology) {
            return WantedParts::new();
        }
        let lists = self.lists.get_or_init(|| UnitLists::new(topology, state.graph.out_degrees.values()));
        let part = |&page: &PageRef| Some((page, self.part(topology, lists, page, visited)?));
        pages.iter().filter_map(part).collect()
    }

    /// The part of a page to read; `None` for the whole page.
    fn part(
        &self,
        topology: &Topology,
        lists: &UnitLists,
        page: PageRef,
        visited: (&Bits, bool),
    ) -> Option<WantedPart> {
        let entry = &topology.directory().entries()[page.page.index()];
        let table = topology.chunks()?;
        if entry.run > 0 {
            return None;
        }
        let map = table.map(page.page, entry);
        let mut part = WantedPart { chunks: ChunkSet::NONE, bytes: 0 };
        lists.each_visited(page.page.index(), entry.start_vertex, visited, |unit| {
            let units = unit..unit + 1;
            part.bytes += map.bytes_of(units.clone()).iter().map(|range| range.len() as u64).sum::<u64>();
            part.chunks = part.chunks.with(map.chunks_of(units));
        });
        let chunks = self.cost.choose(part.chunks, table.chunk_bytes().into(), topology.page_bytes().into())?;
        Some(WantedPart { chunks, ..part })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_whole_pages() {
        let [a, b, both] = [0b0110, 0b1100, 0b1110].map(|chunks| Parts::Chunks(ChunkSet(chunks)));
        let all = Parts::Chunks(ChunkSet(u64::MAX));
        assert!(both.contains(a) && !a.contains(b) && all.contains(both) && Parts::Whole.contains(all));
        assert!(!all.contains(Parts::Whole), "all chunks are not a checked page");
        assert_eq!((a.with(b), a.with(Parts::Whole)), (both, Parts::Whole));
        assert_eq!((both.without(a), a.without(both)), (Parts::Chunks(ChunkSet(0b1000)), Parts::NONE));
        assert_eq!((Parts::Whole.without(all), all.without(Parts::Whole)), (Parts::Whole, Parts::NONE));
        assert_eq!((both.reads(), both.bytes(9, 2), Parts::Whole.bytes(9, 2)), (1, 6, 9));
    }

    /// A read costs as much as a chunk and a half.
    #[test]
    fn gaps_are_read_where_that_is_faster() {
        let cost = ReadCost { request_ns: 1.5, byte_ns: 1.0 };
        let choose = |chunks| cost.choose(ChunkSet(chunks), 1, 64).map(|chosen| chosen.0);
        assert_eq!(choose(0b101), Some(0b111), "a gap of one");
        assert_eq!(choose(0b1001), Some(0b1001), "a gap of two");
        assert_eq!(choose(0), Some(0));
        assert_eq!(choose(u64::MAX >> 17), Some(u64::MAX >> 17), "47 chunks and a read of 65.5");
        assert_eq!(choose(u64::MAX >> 15), None, "49 chunks: the page is better");
    }
}
