//! Shards: what out-lists are grouped by, so that a device which keeps a range of vertices reads only the pages that
//! touch it.
//!
//! ```text
//!  destinations  0 ········· 128 ·········· 320 ········ 500
//!  pages         0 1 2 3      4 5 6 7 8      9 10 11
//!                └ lists of   └ lists of     └ lists of all vertices, with the destinations of the last shard only
//!                  all vertices
//! ```
//!
//! Lists that are not grouped are one shard.

use crate::manifest::TopologyManifest;
use std::ops::Range;

/// The maximum number of shards that a store can have.
pub const SHARDS_MAX: u32 = 256;
/// Shards end at multiples of this many vertices, or behind the last one: a word of every bit set is one shard's.
pub const SHARD_VERTICES: u64 = 64;

/// A range of destinations, and the pages with the edges that lead there: the parts of all lists, vertex after vertex.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Shard {
    /// The vertices that the shard's edges lead to; may be empty.
    pub destinations: Range<u64>,
    /// The shard's pages. In them every vertex of the graph has its record once.
    pub pages: Range<u32>,
}

impl Shard {
    /// The shards of a topology, at least one: in order, they partition all vertices and all pages. The summary must be
    /// sound.
    pub fn of(summary: &TopologyManifest, vertices: u64) -> Vec<Self> {
        let Some(shards) = &summary.shards else {
            return vec![Self { destinations: 0..vertices, pages: 0..summary.pages as u32 }];
        };
        let (mut vertex, mut page) = (0, 0);
        let shard = shards.iter().map(|shard| {
            let pages = page..page + shard.pages as u32;
            let destinations = vertex..shard.end;
            (vertex, page) = (shard.end, pages.end);
            Self { destinations, pages }
        });
        shard.collect()
    }

    /// The place in `shards` of the one with a page that exists.
    pub fn with_page(shards: &[Self], page: u32) -> usize {
        shards.partition_point(|shard| shard.pages.end <= page)
    }

    /// The place in `shards` of the one with a destination that exists.
    pub fn with_destination(shards: &[Self], vertex: u32) -> usize {
        shards.partition_point(|shard| shard.destinations.end <= vertex.into())
    }

    /// The shard's pages as places in the page directory.
    pub(crate) fn places(&self) -> Range<usize> {
        self.pages.start as usize..self.pages.end as usize
    }
}
