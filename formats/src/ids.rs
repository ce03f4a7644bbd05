//! Vertex and page numbers.

/// A vertex: `0 .. vertices`, where a graph has at most 2^32 vertices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct VertexId(pub u32);

/// A page of one topology: `0 .. pages`, in file order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct PageId(pub u32);

impl PageId {
    /// The page as an index into per-page arrays.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl VertexId {
    /// The vertex as an index into per-vertex arrays.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl std::fmt::Display for PageId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::fmt::Display for VertexId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// The maximum number of vertices of a graph: 2^32, since a vertex id has 32 bits.
pub const VERTICES_MAX: u64 = 1 << 32;
