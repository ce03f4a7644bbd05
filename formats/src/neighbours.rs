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
        use $crate::neighbours::{RecordIds, RecordIdsOf, VertexIds};
        let (page, starts) = ($page, $starts);
        match $encoding {
            // Packed pages are read as their plain images.
            $crate::encoding::Encoding::VertexId | $crate::encoding::Encoding::Packed { .. } => {
                let $neighbours = VertexIds::new(page);
                $body
            }
            $crate::encoding::Encoding::RecordId { page_bytes: 2, slot_bytes: 2 } => {
                let $neighbours = RecordIdsOf::<2, 2>::new(page, starts);
                $body
            }
            $crate::encoding::Encoding::RecordId { page_bytes: 3, slot_bytes: 3 } => {
                let $neighbours = RecordIdsOf::<3, 3>::new(page, starts);
                $body
            }
            $crate::encoding::Encoding::RecordId { page_bytes: 4, slot_bytes: 2 } => {
                let $neighbours = RecordIdsOf::<4, 2>::new(page, starts);
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

/// Neighbours under [`Encoding::RecordId`](crate::Encoding::RecordId), p bytes of page id and q of slot.
#[derive(Clone, Copy, Debug)]
pub struct RecordIds<'a> {
    bytes: &'a [u8],
    starts: &'a [u32],
    p: usize,
    q: usize,
}

impl<'a> RecordIds<'a> {
    /// The neighbours of a page in the record-id encoding; `starts[page]` is the first vertex of each page.
    pub fn new(page: &Page<'a>, starts: &'a [u32], p: u8, q: u8) -> Self {
        Self { bytes: page.neighbour_bytes(), starts, p: p.into(), q: q.into() }
    }
}

impl Neighbours for RecordIds<'_> {
    #[inline(always)]
    fn vertex(&self, edge: usize) -> u32 {
        let at = edge * (self.p + self.q);
        let id = &self.bytes[at..at + self.p + self.q];
        let (page, slot) = (read_le(&id[..self.p]), read_le(&id[self.p..]));
        self.starts[page as usize].wrapping_add(slot as u32)
    }
}

/// Neighbours under [`Encoding::RecordId`](crate::Encoding::RecordId) with widths known at compile time: the common
/// ones decode several times faster.
#[derive(Clone, Copy, Debug)]
pub struct RecordIdsOf<'a, const P: usize, const Q: usize>(RecordIds<'a>);

impl<'a, const P: usize, const Q: usize> RecordIdsOf<'a, P, Q> {
    /// The neighbours of a page in the record-id encoding of these widths.
    pub fn new(page: &Page<'a>, starts: &'a [u32]) -> Self {
        Self(RecordIds::new(page, starts, P as u8, Q as u8))
    }
}

impl<const P: usize, const Q: usize> Neighbours for RecordIdsOf<'_, P, Q> {
    #[inline(always)]
    fn vertex(&self, edge: usize) -> u32 {
        let at = edge * (P + Q);
        let id = &self.0.bytes[at..at + P + Q];
        let (page, slot) = (read_le(&id[..P]), read_le(&id[P..]));
        self.0.starts[page as usize].wrapping_add(slot as u32)
    }
}
