//! Numbers from 0 for vertices.

use crate::store::VertexId;
use topostream_formats::OriginalIds;

/// The numbers of vertices: their places in ascending order of their ids, or, of names, in the order of the store.
pub struct Numbering {
    /// The ids of edges' ends, ascending: original ids, or the numbers of vertices with names.
    ids: Vec<u64>,
}

impl Numbering {
    pub fn new(vertices: impl Iterator<Item = VertexId>, ids: &OriginalIds) -> Self {
        let mut ids: Vec<u64> = vertices.map(|vertex| ids.original(vertex)).collect();
        ids.sort_unstable();
        Self { ids }
    }

    /// The number of vertices.
    pub fn count(&self) -> u64 {
        self.ids.len() as u64
    }

    /// The ids, by number.
    pub fn ids(&self) -> &[u64] {
        &self.ids
    }

    /// The number of an edge's end.
    pub fn number(&self, id: u64) -> u64 {
        // Most graphs have all ids from the first one on.
        let guess = id.wrapping_sub(self.ids[0]);
        if self.ids.get(guess as usize) == Some(&id) {
            return guess;
        }
        self.ids.binary_search(&id).expect("edges are between these vertices") as u64
    }
}
