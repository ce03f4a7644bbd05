//! The order of vertices by their ids, which decides between labels.

use crate::error::Result;
use crate::model::groups::inverted;
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topostream_formats::{Store, VertexId};

/// Vertices by ascending original id, and the rank of each.
pub(super) struct Ranks {
    pub(super) vertices: Vec<u32>,
    pub(super) rank_of: Arc<Vec<u32>>,
}

impl Ranks {
    /// Whether vertices are ranked by their ids. They are not if they are in the order of their ids.
    pub(super) fn are_needed(store: &Store) -> bool {
        let ids = &store.manifest().ids;
        ids.is_names() || !ids.is_ascending()
    }

    /// Ranks the vertices of a store, if they are to be.
    pub(super) fn of(store: &Store, cancel: &AtomicBool) -> Result<Option<Self>> {
        if !Self::are_needed(store) {
            return Ok(None);
        }
        let ids = store.ids()?;
        let vertices = match ids.names() {
            Some(names) => names.ascending(cancel)?,
            None => {
                let mut vertices: Vec<u32> = (0..store.vertices()).map(|vertex| vertex as u32).collect();
                vertices.par_sort_unstable_by_key(|&vertex| ids.original(VertexId(vertex)));
                vertices
            }
        };
        let rank_of = Arc::new(inverted(&vertices));
        Ok(Some(Self { vertices, rank_of }))
    }
}
