//! What the bytes of packed pages are used for.

use super::bits::block_words;
use super::layout::{BLOCK, HEADER_WORDS, table_words};
use super::page::PackedPage;
use std::ops::AddAssign;

/// The bytes of one or more packed pages by use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct PackedParts {
    /// Packed gaps.
    pub gap_bytes: u64,
    /// Exceptions: positions and high parts.
    pub exception_bytes: u64,
    /// Packed degrees and the entries of their blocks.
    pub degree_bytes: u64,
    /// Headers, and the entries of blocks and units.
    pub header_bytes: u64,
    /// Zeros behind the contents.
    pub unused_bytes: u64,
    /// The number of exceptions.
    pub exceptions: u64,
}

impl PackedParts {
    /// Bytes of whole pages.
    pub fn sum_bytes(&self) -> u64 {
        self.gap_bytes + self.exception_bytes + self.degree_bytes + self.header_bytes + self.unused_bytes
    }
}

impl AddAssign for PackedParts {
    fn add_assign(&mut self, other: Self) {
        self.gap_bytes += other.gap_bytes;
        self.exception_bytes += other.exception_bytes;
        self.degree_bytes += other.degree_bytes;
        self.header_bytes += other.header_bytes;
        self.unused_bytes += other.unused_bytes;
        self.exceptions += other.exceptions;
    }
}

impl PackedPage<'_> {
    /// What the page's bytes are used for. The page must be valid.
    pub fn parts(&self) -> PackedParts {
        let mut parts = PackedParts::default();
        for block in 0..self.block_count() {
            let (_, shape) = self.block(block);
            parts.gap_bytes += 4 * shape.packed_words() as u64;
            parts.exception_bytes += 4 * shape.exception_words() as u64;
            parts.exceptions += u64::from(shape.exceptions);
        }
        for block in 0..self.degree_block_count() {
            parts.degree_bytes += 8 + 4 * block_words(self.degree_block(block).2) as u64;
        }
        let edges = u64::from(self.header.edge_count);
        let entries = 8 * edges.div_ceil(BLOCK as u64) + 4 * u64::from(self.unit_count());
        parts.header_bytes = 4 * HEADER_WORDS as u64 + entries;
        let tables = table_words(self.header.slot_count.into(), edges);
        parts.unused_bytes = 4 * (self.words.len() as u64 - tables - u64::from(self.packed.payload_words));
        parts
    }
}
