//! Edges as they are listed, whatever the header says about their direction.

use topostream_formats::edge::{Edge, EdgeSource, Rounding, SourceInfo};
use topostream_formats::error::Result;

/// The edges of an undirected graph as directed ones.
pub(super) struct Directed {
    info: SourceInfo,
    edges: Box<dyn EdgeSource>,
}

impl Directed {
    pub(super) fn new(edges: Box<dyn EdgeSource>) -> Self {
        let info = SourceInfo { directed: true, mirror: false, ..edges.info().clone() };
        Self { info, edges }
    }
}

impl EdgeSource for Directed {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, chunk: &mut Vec<Edge>) -> Result<()> {
        self.edges.read(chunk)
    }

    fn extra_vertices(&mut self, ids: &mut Vec<u64>) -> Result<()> {
        self.edges.extra_vertices(ids)
    }

    fn declared_vertices(&mut self, take: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<bool> {
        self.edges.declared_vertices(take)
    }

    fn place(&self) -> String {
        self.edges.place()
    }

    fn place_of(&self, index: usize, edge: &Edge) -> String {
        self.edges.place_of(index, edge)
    }

    fn note(&self) -> Option<String> {
        self.edges.note()
    }

    fn claimed_edges(&self) -> Option<u64> {
        self.edges.claimed_edges()
    }

    fn rounding(&self) -> Rounding {
        self.edges.rounding()
    }

    fn is_read_once(&self) -> bool {
        self.edges.is_read_once()
    }

    fn bytes_read(&self) -> u64 {
        self.edges.bytes_read()
    }

    fn memory_bytes(&self) -> u64 {
        self.edges.memory_bytes()
    }
}
