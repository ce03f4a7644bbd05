//! The neighbours of a page as vertices, whatever the encoding.

use crate::plain::Page;
use std::ops::Range;

/// An unsigned little-endian number of up to 8 bytes.
#[inline(always)]
pub fn read_le(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// Passes the neighbours of a page to an expression as [`Neighbours`] of the type for the encoding: the expression is
/// compiled once per encoding.
///
/// `with_neighbours!(&page, encoding, starts, |neighbours| expression)`; `starts[page]` is the first vertex of each
/// page.
#[macro_export]
macro_rules! with_neighbours {
    ($page:expr, $encoding:expr, $starts:expr, |$neighbours:ident| $body:expr) => {{
        use $crate::neighbours::{RecordIds, VertexIds};
        let (page, starts) = ($page, $starts);
        match $encoding {
            // Packed pages are read as their plain images.
            $crate::encoding::Encoding::VertexId | $crate::encoding::Encoding::Packed { .. } => {
                let $neighbours = VertexIds::new(page);
                $body
            }
            $crate::encoding::Encoding::RecordId { page_bytes, slot_bytes } => {
                let $neighbours = RecordIds::new(page, starts, page_bytes, slot_bytes);
                $body
            }
        }
    }};
}

/// The neighbours of a page as vertex ids, over which an algorithm's edge loop iterates.
pub trait Neighbours: Copy + Sync {
    /// The vertex of neighbour `edge` of the page.
    fn vertex(&self, edge: usize) -> u32;

    /// The vertices of consecutive neighbours, such as a record's.
    #[inline(always)]
    fn vertices(&self, edges: Range<usize>) -> impl Iterator<Item = u32> {
        edges.map(|edge| self.vertex(edge))
    }
}

/// Neighbours under [`Encoding::VertexId`](crate::Encoding::VertexId).
#[derive(Clone, Copy, Debug)]
pub struct VertexIds<'a>(&'a [u32]);

impl<'a> VertexIds<'a> {
    /// The neighbours of a page in the vertex-id encoding.
    pub fn new(page: &Page<'a>) -> Self {
        Self(bytemuck::cast_slice(page.neighbour_bytes()))
    }
}

impl Neighbours for VertexIds<'_> {
    #[inline(always)]
    fn vertex(&self, edge: usize) -> u32 {
        self.0[edge]
    }

    #[inline(always)]
    fn vertices(&self, edges: Range<usize>) -> impl Iterator<Item = u32> {
        self.0[edges].iter().copied()
    }
}

/// Neighbours under [`Encoding::RecordId`](crate::Encoding::RecordId), which earlier versions wrote.
#[derive(Clone, Copy, Debug)]
pub struct RecordIds<'a> {
    bytes: &'a [u8],
    starts: &'a [u32],
    page_bytes: u8,
    slot_bytes: u8,
}

impl<'a> RecordIds<'a> {
    /// The neighbours of a page in the record-id encoding; `starts[page]` is the first vertex of each page.
    pub fn new(page: &Page<'a>, starts: &'a [u32], page_bytes: u8, slot_bytes: u8) -> Self {
        Self { bytes: page.neighbour_bytes(), starts, page_bytes, slot_bytes }
    }

    /// The page and the slot of neighbour `edge`.
    #[inline]
    pub fn record(&self, edge: usize) -> (u64, u64) {
        let width = usize::from(self.page_bytes) + usize::from(self.slot_bytes);
        let at = edge * width;
        // Whole words wherever they do not go beyond the last neighbour: much faster than single bytes.
        let word = match self.bytes[at..].first_chunk::<8>() {
            Some(word) => u64::from_le_bytes(*word),
            None => read_le(&self.bytes[at..at + width]),
        };
        let low = |word: u64, bytes: u8| word & (u64::MAX >> (64 - 8 * u32::from(bytes)));
        (low(word, self.page_bytes), low(word >> (8 * u32::from(self.page_bytes)), self.slot_bytes))
    }
}

impl Neighbours for RecordIds<'_> {
    #[inline]
    fn vertex(&self, edge: usize) -> u32 {
        let (page, slot) = self.record(edge);
        self.starts[page as usize].wrapping_add(slot as u32)
    }
}
