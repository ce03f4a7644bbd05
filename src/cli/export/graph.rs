//! What all formats write: a graph whose edges can be read several times.

use super::numbering::Numbering;
use crate::cli::failure::Failure;
use crate::store::VertexId;
use std::io;
use std::path::Path;
use topostream_formats::edge::WeightType;
use topostream_formats::{Edge, EdgeSource, Error as StoreError, OriginalIds};
use topostream_tools::progress::Cancel;

/// A graph to write: its edges can be read several times.
pub struct Export<'a> {
    /// Begins to read the edges.
    pub open: &'a mut dyn FnMut() -> Result<Box<dyn EdgeSource>, Failure>,
    /// The vertices, ascending.
    pub vertices: &'a dyn Fn() -> Box<dyn Iterator<Item = VertexId> + 'a>,
    pub ids: &'a OriginalIds,
    pub directed: bool,
    pub weights: Option<WeightType>,
    /// Main memory for lists of neighbours, in bytes.
    pub list_bytes: u64,
    /// All of the command's, in bytes.
    pub memory_bytes: u64,
    pub cancel: &'a Cancel,
}

impl Export<'_> {
    /// Passes all edges, a chunk at a time. An undirected edge is passed once.
    pub fn each_chunk(&mut self, mut take: impl FnMut(&[Edge]) -> io::Result<()>) -> Result<(), Failure> {
        let mut source = (self.open)()?;
        let mut chunk = Vec::new();
        loop {
            self.cancel.check()?;
            source.read(&mut chunk)?;
            if chunk.is_empty() {
                return Ok(());
            }
            take(&chunk).map_err(|error| Failure::Other(format!("writing edges: {error}")))?;
        }
    }

    /// The numbers of the vertices in formats that have no ids.
    pub fn numbering(&self) -> Numbering {
        Numbering::new((self.vertices)(), self.ids)
    }

    pub fn failure(path: &Path, source: io::Error) -> Failure {
        Failure::Engine(crate::error::Error::Output { path: path.to_owned(), source })
    }

    /// The error for lists that need more than [`list_bytes`](Self::list_bytes).
    pub fn refused_memory(&self, list_bytes: u64) -> Failure {
        Failure::Store(StoreError::Memory {
            what: "extraction".into(),
            // Of more memory, half is for lists.
            needed_bytes: self.memory_bytes + 2 * (list_bytes - self.list_bytes),
            budget_bytes: self.memory_bytes,
            parts: format!("{list_bytes} for the longest list of neighbours"),
        })
    }

    pub fn refused(message: String) -> Failure {
        Failure::Store(StoreError::Invalid(message))
    }
}
