//! Records that have been sorted in the memory that they take.

use super::record::Record;
use std::ops::Range;
use topostream_formats::Result;

/// Sorted records: pieces of one allocation, in order.
pub struct Pieces<R> {
    records: Vec<R>,
    pieces: Vec<Range<usize>>,
}

impl<R: Record> Pieces<R> {
    /// Pieces of an allocation, which do not overlap.
    pub fn new(records: Vec<R>, pieces: Vec<Range<usize>>) -> Self {
        Self { records, pieces }
    }

    /// Main memory in use, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        (size_of_val(&self.records[..]) + size_of_val(&self.pieces[..])) as u64
    }

    /// The number of records in all pieces.
    pub fn records(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.len() as u64).sum()
    }

    /// The records of all pieces, in any order, in the same allocation.
    pub fn into_records(self) -> Vec<R> {
        let Self { mut records, mut pieces } = self;
        pieces.sort_unstable_by_key(|piece| piece.start);
        let mut end = 0;
        for piece in pieces {
            let count = piece.len();
            if piece.start > end {
                records.copy_within(piece, end);
            }
            end += count;
        }
        records.truncate(end);
        records
    }

    /// The allocation, empty.
    pub fn into_memory(mut self) -> Vec<R> {
        self.records.clear();
        self.records
    }

    /// Passes all records in ascending order.
    pub fn for_each(&self, mut take: impl FnMut(&[R]) -> Result<()>) -> Result<()> {
        self.pieces.iter().try_for_each(|piece| take(&self.records[piece.clone()]))
    }
}
