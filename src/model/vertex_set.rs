//! Sets of vertices of one graph: from a file of original ids, or from the result of a run.

use crate::error::{Error, Result};
use crate::model::bits::Bits;
use std::path::Path;
use topostream_formats::{OriginalIds, Store, VertexId};
use topostream_readers::{InputFile, NameLines, VertexValues};

/// A set of vertices: one bit for each vertex of the graph.
#[derive(Debug)]
pub struct VertexSet {
    bits: Bits,
}

/// Main memory for reading a file of ids.
const READING_BYTES: u64 = 4 << 20;

/// The number of ids that are looked up together if that takes a pass over all vertices.
const IDS_AT_ONCE: usize = 1 << 20;

impl VertexSet {
    /// Creates an empty set of vertices of a graph with this number of vertices.
    pub fn new(vertices: u64) -> Self {
        Self { bits: Bits::new(vertices) }
    }

    /// The vertices below `vertices` for which a function returns true.
    pub fn of(vertices: u64, mut is_in: impl FnMut(u32) -> bool) -> Self {
        let set = Self::new(vertices);
        for vertex in (0..vertices).map(|vertex| vertex as u32) {
            if is_in(vertex) {
                set.bits.learn(vertex);
            }
        }
        set
    }

    /// Reads a file of original ids, one per line, plain or compressed, with `#` and `%` for comments
    /// unless ids are names; ids may be
    /// repeated. Takes some megabytes besides the set, however long the file is.
    ///
    /// # Errors
    /// An error with the line if the file contains anything else, and with the id if the graph has no such vertex. If
    /// several ids are missing, it need not be the first in the file.
    pub fn read(path: &Path, store: &Store) -> Result<Self> {
        Self::read_file(&InputFile::new(path), store)
    }

    /// Reads a file of original ids, like [`read`](Self::read); it may be a pipe.
    ///
    /// # Errors
    /// The errors of [`Self::read`].
    #[doc(hidden)]
    pub fn read_file(file: &InputFile, store: &Store) -> Result<Self> {
        let (path, set, ids) = (file.path(), Self::new(store.vertices()), store.ids()?);
        if let Some(names) = ids.names() {
            let mut lines = NameLines::open(file, READING_BYTES)?;
            while let Some(name) = lines.next_name()? {
                match names.find_text(&name)? {
                    Some(vertex) => set.bits.learn(vertex.0),
                    None => return Err(lines.error("the id of a vertex of the graph").into()),
                };
            }
            return Ok(set);
        }
        let mut file = VertexValues::open_file(file, READING_BYTES)?;
        let mut waiting = Vec::new();
        while let Some(id) = file.next_id()? {
            if !ids.is_ascending() {
                waiting.push(id);
            } else if let Some(vertex) = ids.vertex(id) {
                set.bits.learn(vertex.0);
            } else {
                return Err(file.error("the id of a vertex of the graph").into());
            }
            if waiting.len() == IDS_AT_ONCE {
                set.insert_all(&mut waiting, &ids, path)?;
            }
        }
        set.insert_all(&mut waiting, &ids, path)?;
        Ok(set)
    }

    /// Adds vertices by their original ids, in one pass over all vertices.
    fn insert_all(&self, waiting: &mut Vec<u64>, ids: &OriginalIds, path: &Path) -> Result<()> {
        if waiting.is_empty() {
            return Ok(());
        }
        waiting.sort_unstable();
        waiting.dedup();
        let found = Bits::new(waiting.len() as u64);
        for vertex in 0..self.bits.len() {
            if let Ok(at) = waiting.binary_search(&ids.original(VertexId(vertex as u32))) {
                found.learn(at as u32);
                self.bits.learn(vertex as u32);
            }
        }
        if let Some(missing) = found.next_unset(0) {
            let id = waiting[missing as usize];
            return Err(Error::Parameter(format!("{}: the graph has no vertex with id {id}", path.display())));
        }
        waiting.clear();
        Ok(())
    }

    /// Main memory that [`read`](Self::read) takes besides the set and the original ids, in bytes.
    #[doc(hidden)]
    pub fn reading_bytes() -> u64 {
        READING_BYTES + 8 * IDS_AT_ONCE as u64
    }

    /// Main memory of a set, in bytes.
    #[doc(hidden)]
    pub fn memory_bytes(vertices: u64) -> u64 {
        Bits::memory_bytes(vertices)
    }

    /// Adds a vertex; returns whether it was not in the set.
    ///
    /// # Panics
    /// If the graph has no such vertex; likewise in [`contains`](Self::contains).
    pub fn insert(&self, vertex: VertexId) -> bool {
        self.bits.learn(vertex.0)
    }

    /// Whether a vertex is in the set.
    #[inline(always)]
    pub fn contains(&self, vertex: VertexId) -> bool {
        self.bits.contains(vertex.0)
    }

    /// The number of vertices in the set.
    pub fn count(&self) -> u64 {
        self.bits.census(|_| 0).0
    }

    /// The number of vertices of the graph.
    pub fn vertices(&self) -> u64 {
        self.bits.len()
    }

    /// The vertices in the set, ascending.
    pub fn iter(&self) -> impl Iterator<Item = VertexId> {
        let next = |from: u64| self.bits.next_set(from);
        let after = move |vertex: &u64| next(vertex + 1);
        std::iter::successors(next(0), after).map(|vertex| VertexId(vertex as u32))
    }

    /// The bits.
    pub(crate) fn bits(&self) -> &Bits {
        &self.bits
    }
}
