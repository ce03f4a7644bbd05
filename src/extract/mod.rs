//! Parts of a graph as streams of edges: the edges among the vertices of a set, or from one set to another.
//!
//! ```text
//!  file of ids ──▶ VertexSet ─┐
//!  engine: some hops ────────▶├─▶ pages with lists of these vertices ─▶ read, check ─▶ wanted edges, ─▶ a new store,
//!                             ┘        (page directory)             a page a thread   original ids     a file
//! ```
//!
//! A [`Subgraph`] is an [`EdgeSource`](topostream_formats::EdgeSource): a store or an edge list can be made from it. It
//! reads only the pages with wanted lists, once and in file order. It needs memory for the sets and one page per
//! thread, so parts of graphs larger than memory can be extracted.
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

pub use ego::{HopDirection, within_hops, within_hops_needs};
pub use subgraph::{ExtractOptions, Subgraph, induced_needs};

use crate::error::Result;
use crate::model::vertex_set::VertexSet;
use std::sync::Arc;
use subgraph::Wanted;
use topostream_formats::Store;

/// Returns the subgraph induced by a set of vertices: all of these vertices, including those without edges, and every
/// edge between two of them, with its weight. Multiple edges are kept. An undirected edge is returned once.
///
/// # Errors
/// [`Error::Memory`](crate::Error::Memory); [`Error::Parameter`](crate::Error::Parameter) if the set is of a graph with
/// another number of vertices; [`Error::Store`](crate::Error::Store) if the file of ids is damaged.
pub fn induced(store: Arc<Store>, vertices: Arc<VertexSet>, options: &ExtractOptions) -> Result<Subgraph> {
    Subgraph::new(store, Wanted::Among(vertices), options)
}

/// Returns the edges from one set of vertices to another, with their weights: the edges that
/// [`CrossEdges`](crate::algorithms::CrossEdges) counts, with the same multiplicity. All of them are directed. Vertices
/// without such edges are not included.
///
/// # Errors
/// The errors of [`induced`].
pub fn crossing(
    store: Arc<Store>,
    from: Arc<VertexSet>,
    to: Arc<VertexSet>,
    options: &ExtractOptions,
) -> Result<Subgraph> {
    Subgraph::new(store, Wanted::Across(from, to), options)
}
