//! Shards: out-lists grouped by destination range, so that a device that keeps a range of vertices reads only the pages
//! with edges into it.
//!
//! ```text
//!  destinations  0 ········· 128 ·········· 320 ········ 500
//!  pages         0 1 2 3      4 5 6 7 8      9 10 11
//!                └ lists of   └ lists of     └ lists of all vertices, with the destinations of the last shard only
//!                  all vertices
//! ```
//!
//! A topology that is not grouped has one shard, and so have the out-lists of a part of a graph.

use std::ops::Range;

/// The maximum number of shards that a store can have.
pub const SHARDS_MAX: u32 = 256;
/// Shards end at multiples of this many vertices, or after the last one, so that no word of a bit set spans two shards.
pub const SHARD_VERTICES: u64 = 64;

/// A range of destinations, and the pages with all edges to them, in order of source.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Shard {
    /// The destinations of the shard's edges; may be empty.
    pub destinations: Range<u64>,
    /// The shard's pages. They contain exactly one record of every vertex of the graph.
    pub pages: Range<u32>,
}

impl Shard {
    /// The index in `shards` of the shard that contains a page. The page must exist.
    pub fn with_page(shards: &[Self], page: u32) -> usize {
        shards.partition_point(|shard| shard.pages.end <= page)
    }

    /// The index in `shards` of the shard that contains a destination. The vertex must exist.
    pub fn with_destination(shards: &[Self], vertex: u32) -> usize {
        shards.partition_point(|shard| shard.destinations.end <= vertex.into())
    }

    /// The shard's pages as indices into the page directory.
    pub(crate) fn places(&self) -> Range<usize> {
        self.pages.start as usize..self.pages.end as usize
    }
}
