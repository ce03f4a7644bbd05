//! What a plan assumes in place of a property of the store: another size of the graph, other groups of lists.

use super::Workload;

/// The size of a graph that need not exist.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GraphSize {
    /// Vertices, at least 1.
    pub vertices: u64,
    /// Edges, at least 1.
    pub edges: u64,
    /// Bytes of pages for each edge, with weights if they are read; `None` for the bytes of the store.
    pub bytes_per_edge: Option<f64>,
}

/// What is assumed in place of a property of the store.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Assumed {
    /// The size of the graph.
    pub graph: Option<GraphSize>,
    /// The number of groups of out-lists by destination.
    pub shards: Option<u64>,
}

/// What the parts of a store are multiplied by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    pub vertices: f64,
    pub edges: f64,
    pub pages: f64,
}

impl Assumed {
    /// The factors for a store with this work.
    pub(super) fn scale(&self, work: &Workload) -> Scale {
        let Some(GraphSize { vertices, edges, bytes_per_edge }) = self.graph else {
            return Scale { vertices: 1.0, edges: 1.0, pages: 1.0 };
        };
        let edge_ratio = edges as f64 / (work.edges as f64).max(1.0);
        let pages = match bytes_per_edge {
            // Directions differ little in size.
            Some(bytes) => edges as f64 * bytes / work.page_bytes / work.pages.max(1.0),
            None => edge_ratio,
        };
        Scale { vertices: vertices as f64 / (work.vertices as f64).max(1.0), edges: edge_ratio, pages }
    }
}

impl Workload {
    /// Returns the same work over the graph that a plan assumes: visits, edges and activated vertices grow with the
    /// graph, supersteps stay as they are.
    #[must_use]
    pub fn assuming(mut self, assumed: &Assumed) -> Self {
        let scale = assumed.scale(&self);
        if let Some(graph) = assumed.graph {
            self.vertices = graph.vertices;
            self.edges = graph.edges;
            self.directory_pages = (self.directory_pages as f64 * scale.pages).ceil() as u64;
            self.pages *= scale.pages;
        }
        for phase in &mut self.phases {
            phase.visits *= scale.pages;
            phase.pages *= scale.pages;
            phase.edges *= scale.edges;
            phase.lists *= scale.vertices;
            phase.activated *= scale.vertices;
        }
        self.shards = assumed.shards.unwrap_or(self.shards);
        self
    }
}
