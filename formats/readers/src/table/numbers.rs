//! Tables whose ids are integers, or are replaced by numbers, as edges.

use super::rows::{Ids, RowBatch};
use super::source::Table;
use rayon::prelude::*;
use topostream_formats::edge::{CHUNK_EDGES, Edge, EdgeSource, IdSpace, Rounding, SourceInfo};
use topostream_formats::error::{Error, Result};

/// Rows that one thread passes on.
const ROWS_MIN: usize = 1 << 12;

/// Replaces the names of batches by numbers, [`Ids::Integers`]. Called once more at the end of the table, with no
/// batches. Error messages name the table.
pub type Numbering = Box<dyn FnMut(&Table, &mut [RowBatch]) -> Result<()> + Send>;

/// The edges of a table with integers for ids.
pub struct Numbers {
    table: Table,
    info: SourceInfo,
    /// What numbers names, and its main memory in bytes.
    numbering: Option<(Numbering, u64)>,
    batches: Vec<RowBatch>,
    /// The batch and the row to be passed on next.
    next: (usize, usize),
    /// The batch and the row that the chunk that was read last begins with.
    given: (usize, usize),
}

impl Numbers {
    /// The edges of a table.
    pub fn new(table: Table) -> Self {
        let info = table.info().clone();
        Self { table, info, numbering: None, batches: Vec::new(), next: (0, 0), given: (0, 0) }
    }

    /// The edges of a table of names, which `numbering` makes numbers below `count`. It takes `memory_bytes`.
    pub fn of_names(table: Table, count: u64, memory_bytes: u64, numbering: Numbering) -> Self {
        let of_table = Self::new(table);
        let info = SourceInfo { ids: IdSpace::Range { first: 0, count }, ..of_table.info };
        Self { info, numbering: Some((numbering, memory_bytes)), ..of_table }
    }
}

impl EdgeSource for Numbers {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, chunk: &mut Vec<Edge>) -> Result<()> {
        chunk.clear();
        if self.next.0 == self.batches.len() {
            self.table.read(&mut self.batches)?;
            if let Some((number, _)) = &mut self.numbering {
                number(&self.table, &mut self.batches)?;
            }
            self.next = (0, 0);
        }
        self.given = self.next;
        while let Some(batch) = self.batches.get(self.next.0)
            && chunk.len() < CHUNK_EDGES
        {
            let Ids::Integers(pairs) = &batch.ids else {
                return Err(Error::Invalid(format!("{}: ids are names, not integers", self.table.place())));
            };
            let from = self.next.1;
            let to = pairs.len().min(from + CHUNK_EDGES - chunk.len());
            let weight = |row: usize| batch.weights.get(row).copied().unwrap_or(0);
            let edge = |row: usize| Edge { source: pairs[row][0], dest: pairs[row][1], weight: weight(row) };
            chunk.par_extend((from..to).into_par_iter().with_min_len(ROWS_MIN).map(edge));
            self.next = if to == pairs.len() { (self.next.0 + 1, 0) } else { (self.next.0, to) };
        }
        Ok(())
    }

    fn place(&self) -> String {
        self.table.place()
    }

    fn place_of(&self, index: usize, _edge: &Edge) -> String {
        let mut row = self.given.1 + index;
        for batch in self.batches.iter().skip(self.given.0) {
            let rows = batch.ids.rows();
            if row < rows {
                return self.table.place_of(batch, row);
            }
            row -= rows;
        }
        self.place()
    }

    fn rounding(&self) -> Rounding {
        self.table.rounding()
    }

    fn left_out(&self) -> u64 {
        self.table.left_out()
    }

    fn is_read_once(&self) -> bool {
        self.table.is_read_once()
    }

    fn bytes_read(&self) -> u64 {
        self.table.bytes_read()
    }

    fn memory_bytes(&self) -> u64 {
        self.table.memory_bytes() + self.numbering.as_ref().map_or(0, |(_, memory_bytes)| *memory_bytes)
    }
}

/// Edges between the vertices of a table, whose ids are integers.
pub struct WithVertices {
    edges: Box<dyn EdgeSource>,
    vertices: Option<Table>,
}

impl WithVertices {
    /// Edges between the vertices whose ids are the sources of a table.
    pub fn new(edges: Box<dyn EdgeSource>, vertices: Table) -> Self {
        Self { edges, vertices: Some(vertices) }
    }
}

impl EdgeSource for WithVertices {
    fn info(&self) -> &SourceInfo {
        self.edges.info()
    }

    fn read(&mut self, chunk: &mut Vec<Edge>) -> Result<()> {
        self.edges.read(chunk)
    }

    fn declared_vertices(&mut self, take: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<bool> {
        let Some(mut vertices) = self.vertices.take() else { return Ok(false) };
        let (mut batches, mut ids) = (Vec::new(), Vec::new());
        loop {
            vertices.read(&mut batches)?;
            if batches.is_empty() {
                return Ok(true);
            }
            for batch in &batches {
                let Ids::Integers(pairs) = &batch.ids else {
                    let expected = "integers, as the ids of the edges";
                    return Err(Error::file(vertices.place(), expected, vertices.id_type().plural()));
                };
                ids.clear();
                ids.extend(pairs.iter().map(|pair| pair[0]));
                take(&ids)?;
            }
        }
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

    fn left_out(&self) -> u64 {
        self.edges.left_out()
    }

    fn is_read_once(&self) -> bool {
        self.edges.is_read_once()
    }

    fn bytes_read(&self) -> u64 {
        self.edges.bytes_read()
    }

    fn memory_bytes(&self) -> u64 {
        self.edges.memory_bytes() + self.vertices.as_ref().map_or(0, Table::memory_bytes)
    }
}
