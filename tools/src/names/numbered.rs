//! A table whose names are replaced by their numbers, as edges.

use super::dictionary::{PIECE, keys_of};
use super::lookup::Lookup;
use rayon::prelude::*;
use std::sync::Arc;
use topostream_formats::edge::CHUNK_EDGES;
use topostream_formats::{Edge, EdgeSource, Error, IdSpace, Result, Rounding, SourceInfo};
use topostream_readers::{RowBatch, Table};

/// The edges of a table with names.
pub struct NumberedTable {
    table: Table,
    lookup: Arc<Lookup>,
    /// Its place among the tables whose names were collected.
    number: usize,
    info: SourceInfo,
    batches: Vec<RowBatch>,
    /// The numbers of the batches' names, two for each row.
    numbers: Vec<Vec<u32>>,
    next: (usize, usize),
    given: (usize, usize),
    /// The number of names, and the sum of their hashes.
    passed: (u64, u64),
}

impl NumberedTable {
    /// The edges of a table whose names were collected: there are `count` of them.
    pub fn new(table: Table, lookup: Arc<Lookup>, count: u64) -> Self {
        let info = SourceInfo { ids: IdSpace::Range { first: 0, count }, ..table.info().clone() };
        let (batches, numbers) = (Vec::new(), Vec::new());
        Self { table, lookup, number: 0, info, batches, numbers, next: (0, 0), given: (0, 0), passed: (0, 0) }
    }

    /// The table with this place among those whose names were collected, if it is not the first.
    #[must_use]
    pub fn at(self, number: usize) -> Self {
        Self { number, ..self }
    }

    /// Reads and looks up the next batches.
    fn advance(&mut self) -> Result<()> {
        self.next = (0, 0);
        self.table.read(&mut self.batches)?;
        if self.batches.is_empty() && self.passed != self.lookup.occurrences[self.number] {
            let found = "others: the input has changed while it was read";
            return Err(Error::file(self.table.place(), "the same ids in both passes", found));
        }
        let lookup = &*self.lookup;
        self.numbers.clear();
        for keys in keys_of(&self.batches, |name| lookup.key(name)) {
            self.passed.0 += keys.len() as u64;
            self.passed.1 = keys.iter().fold(self.passed.1, |sum, &key| sum.wrapping_add(key as u64));
            let mut numbers = vec![0; keys.len()];
            let pieces = keys.par_chunks(PIECE).zip(numbers.par_chunks_mut(PIECE));
            pieces.for_each(|(keys, numbers)| lookup.numbers(keys, numbers));
            self.numbers.push(numbers);
        }
        Ok(())
    }
}

impl EdgeSource for NumberedTable {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, chunk: &mut Vec<Edge>) -> Result<()> {
        chunk.clear();
        if self.next.0 == self.batches.len() {
            self.advance()?;
        }
        self.given = self.next;
        let Some(numbers) = self.numbers.get(self.next.0) else { return Ok(()) };
        let (rows, from, weights) = (numbers.len() / 2, self.next.1, &self.batches[self.next.0].weights);
        let to = rows.min(from + CHUNK_EDGES);
        let edge = |row: usize| Edge {
            source: numbers[2 * row].into(),
            dest: numbers[2 * row + 1].into(),
            weight: weights.get(row).copied().unwrap_or(0),
        };
        chunk.extend((from..to).map(edge));
        self.next = if to == rows { (self.next.0 + 1, 0) } else { (self.next.0, to) };
        Ok(())
    }

    fn place(&self) -> String {
        self.table.place()
    }

    fn place_of(&self, index: usize, _edge: &Edge) -> String {
        match self.batches.get(self.given.0) {
            Some(batch) => self.table.place_of(batch, self.given.1 + index),
            None => self.place(),
        }
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
        self.table.memory_bytes() + self.lookup.memory_bytes()
    }
}
