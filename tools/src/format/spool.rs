//! A temporary file of edges whose input cannot be read again.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use topostream_formats::{Edge, Error, Result};

/// Source, dest, weight.
const EDGE_BYTES: usize = 24;
const BUFFER_BYTES: usize = 1 << 20;
/// Edges that are passed at a time: a MiB of the file.
const CHUNK_EDGES: usize = BUFFER_BYTES / EDGE_BYTES;

/// A temporary file of edges. It has no name: it disappears with the process.
pub struct Spool {
    folder: PathBuf,
    /// The name of the input, for errors.
    input: String,
    file: BufWriter<File>,
    edges: u64,
}

impl Spool {
    /// Creates an empty file in `folder`.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be created.
    pub fn new(folder: &Path, input: String) -> Result<Self> {
        let file = tempfile::tempfile_in(folder).map_err(Error::io(folder, "make a temporary file in"))?;
        Ok(Self { folder: folder.to_owned(), input, file: BufWriter::with_capacity(BUFFER_BYTES, file), edges: 0 })
    }

    /// The name of the edges' input.
    pub fn input(&self) -> &str {
        &self.input
    }

    /// Appends an edge.
    ///
    /// # Errors
    /// [`Error::Io`], for example if the disk is full.
    pub fn push(&mut self, edge: &Edge) -> Result<()> {
        let mut bytes = [0; EDGE_BYTES];
        bytes[..8].copy_from_slice(&edge.source.to_le_bytes());
        bytes[8..16].copy_from_slice(&edge.dest.to_le_bytes());
        bytes[16..].copy_from_slice(&edge.weight.to_le_bytes());
        self.file.write_all(&bytes).map_err(|error| self.write_error(&error))?;
        self.edges += 1;
        Ok(())
    }

    /// Passes every edge in input order, some at a time.
    ///
    /// # Errors
    /// [`Error::Io`], and the errors of `take`.
    pub fn for_each_chunk(mut self, mut take: impl FnMut(&[Edge]) -> Result<()>) -> Result<()> {
        self.file.flush().map_err(|error| self.write_error(&error))?;
        let mut file = self.file.get_ref();
        file.rewind().map_err(Error::io(&self.folder, "read a temporary file in"))?;
        let mut file = BufReader::with_capacity(BUFFER_BYTES, file);
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        let mut chunk = Vec::with_capacity(CHUNK_EDGES);
        for left in (0..self.edges).rev() {
            let mut bytes = [0; EDGE_BYTES];
            file.read_exact(&mut bytes).map_err(Error::io(&self.folder, "read a temporary file in"))?;
            chunk.push(Edge { source: word(&bytes[..8]), dest: word(&bytes[8..16]), weight: word(&bytes[16..]) });
            if chunk.len() == CHUNK_EDGES || left == 0 {
                take(&chunk)?;
                chunk.clear();
            }
        }
        Ok(())
    }

    fn write_error(&self, error: &std::io::Error) -> Error {
        let found = format!(
            "{error}, after {} edges of {}, which has ids of more than 32 bits and cannot be read twice; --temporary \
             names another folder",
            self.edges, self.input
        );
        let error = std::io::Error::new(error.kind(), found);
        Error::io(&self.folder, "write the edges to a temporary file in")(error)
    }
}
