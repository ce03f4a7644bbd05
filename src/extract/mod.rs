//! Parts of a graph, as streams of edges: what lies among some vertices, or goes from some to others.
//!
//! ```text
//!  file of ids ──▶ VertexSet ─┐
//!  engine: some hops ────────▶├─▶ which pages have lists of these vertices? ─▶ read, check ─▶ edges that are wanted ─▶ a new
//!                             ┘        (page directory)                  a page a thread       by their original ids     store, a file
//! ```
//!
//! A [`Subgraph`] is an [`EdgeSource`](topostream_formats::EdgeSource): whatever makes stores or edge lists of edges
//! makes them of these. It reads the pages that have wanted lists and no others, in file order, once; memory is a page
//! a thread beside the sets, so that parts of a graph larger than memory come from disk.
//!
//! ```no_run
//! use std::{path::Path, sync::Arc};
//! use topostream::extract::{ExtractOptions, induced};
//! use topostream::{Store, VertexSet};
//! use topostream_formats::EdgeSource;
//!
//! let store = Arc::new(Store::open("graph")?);
//! let wanted = Arc::new(VertexSet::read(Path::new("ids.txt"), &store)?);
//! let mut edges = induced(store, wanted, &ExtractOptions::default())?;
//! let mut chunk = Vec::new();
//! edges.read(&mut chunk)?;
//! # Ok::<(), topostream::Error>(())
//! ```

mod ego;
mod subgraph;

pub use ego::{Hops, within_hops, within_hops_needs};
pub use subgraph::{Subgraph, induced_needs};

use crate::error::Result;
use crate::model::vertex_set::VertexSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use subgraph::Wanted;
use topostream_formats::Store;

/// What an extraction may use.
#[derive(Clone, Debug)]
pub struct ExtractOptions {
    /// Main memory, in bytes, the sets included.
    pub memory_bytes: u64,
    /// Raised by whoever wants it to stop.
    pub cancel: Arc<AtomicBool>,
}

impl Default for ExtractOptions {
    fn default() -> Self {
        Self { memory_bytes: 1 << 30, cancel: Arc::default() }
    }
}

/// The subgraph that vertices induce: these vertices, those without edges too, and every edge between two of them, with
/// its weight, as often as the graph has it. An undirected edge comes once.
///
/// # Errors
/// [`Error::Memory`](crate::Error::Memory); [`Error::Parameter`](crate::Error::Parameter) for a set of another graph;
/// [`Error::Store`](crate::Error::Store) where the file of ids is damaged.
pub fn induced(store: Arc<Store>, vertices: Arc<VertexSet>, options: &ExtractOptions) -> Result<Subgraph> {
    Subgraph::new(store, Wanted::Among(vertices), options)
}

/// The edges that leave a vertex of one set and enter one of another, with their weights: those that
/// [`CrossEdges`](crate::algorithms::CrossEdges) counts, each as often. All of them are directed, and vertices without
/// such edges are no part of it.
///
/// # Errors
/// As [`induced`].
pub fn crossing(
    store: Arc<Store>,
    from: Arc<VertexSet>,
    to: Arc<VertexSet>,
    options: &ExtractOptions,
) -> Result<Subgraph> {
    Subgraph::new(store, Wanted::Across(from, to), options)
}
