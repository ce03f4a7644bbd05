//! Encodes a page, list by list, and knows at every step whether one more neighbour or slot fits.
//!
//! ```text
//!  open_list ─▶ push … ─▶ open_list ─▶ push … false: full ─▶ take_from(list) ─▶ write ─▶ the list into the next page
//!  extend: many lists at once, as long as they surely fit
//! ```
//!
//! Where a page ends depends on how many bits its gaps have, and on nothing else. So the encoder keeps these, and the
//! sizes of blocks; neighbours are only read when the page is written, by another thread. Neighbours in [`SharedLists`]
//! stay where they are until then.
//!
//! The exact size of complete blocks is known; the size of the open block is at most its gaps at the largest width,
//! which changes rarely. Only when the page would be full by that bound is the block's smallest shape computed, with
//! each neighbour from then on.

mod extend;
mod shared;
mod write;

pub use shared::SharedLists;

use super::bits::{bits_of, block_words};
use super::block::Shape;
use super::layout::{BLOCK, table_words, zigzag};
use crate::encoding::{PackedParameters, UNIT};
use crate::header::HEADER_BYTES;
use shared::Piece;

/// A page that is being encoded.
#[derive(Debug)]
pub struct PageEncoder {
    parameters: PackedParameters,
    page_words: u64,
    /// The vertex that the value 0 stands for.
    origin: u32,
    /// The vertex of the first slot.
    first: u32,
    /// The neighbour before the page's first one, if the page continues a list.
    before: Option<u32>,
    /// Bits of each gap.
    widths: Vec<u8>,
    /// Neighbours that were pushed.
    own: Vec<u32>,
    /// Neighbours in shared lists, in order; all others are `own`.
    pieces: Vec<Piece>,
    degrees: Vec<u32>,
    /// The shape of each complete block.
    shapes: Vec<Shape>,
    /// The widths of complete degree blocks.
    degree_widths: Vec<u8>,
    list: OpenList,
    open: OpenBlock,
    /// The maximum number of neighbours with as many slots.
    edges_max: usize,
    /// Payload words of complete blocks and of complete degree blocks.
    block_words: u64,
    degree_words: u64,
}

/// The last list, which may get more neighbours.
#[derive(Clone, Copy, Debug, Default)]
struct OpenList {
    vertex: u32,
    /// The number of neighbours in the page before it.
    at: usize,
    /// The last neighbour, in the page before if there is none in this one.
    last: Option<u32>,
}

/// The gaps and degrees of the last blocks.
#[derive(Clone, Copy, Debug, Default)]
struct OpenBlock {
    /// Bits of the largest gap.
    bits: u32,
    /// Bits of the largest degree.
    degree_bits: u32,
    /// Whether the page is not full by the bound, so that sizes that do not change the bound need no check.
    is_bounded: bool,
}

impl PageEncoder {
    /// An encoder of pages of `page_bytes`. Allocates [`memory_bytes`](Self::memory_bytes).
    pub fn new(page_bytes: u32, parameters: PackedParameters) -> Self {
        let edges = parameters.edges_max as usize;
        Self {
            parameters,
            page_words: u64::from(page_bytes) / 4,
            origin: 0,
            first: 0,
            before: None,
            // Slots and neighbours share the words of an image, so of both most is never touched.
            widths: Vec::with_capacity(edges),
            own: Vec::with_capacity(edges),
            pieces: Vec::new(),
            degrees: Vec::with_capacity(edges + UNIT),
            shapes: Vec::with_capacity(edges / BLOCK + 1),
            degree_widths: Vec::new(),
            list: OpenList::default(),
            open: OpenBlock::default(),
            edges_max: 0,
            block_words: 0,
            degree_words: 0,
        }
    }

    /// Main memory of an encoder at most, in bytes: neighbours, or degrees, and bits of gaps, and blocks.
    pub fn memory_bytes(parameters: PackedParameters) -> u64 {
        let edges = u64::from(parameters.edges_max) + UNIT as u64;
        5 * edges + edges / BLOCK as u64 * (size_of::<Shape>() as u64 + 2)
    }

    /// The number of neighbours in the page.
    pub fn edge_count(&self) -> u32 {
        self.widths.len() as u32
    }

    /// The number of neighbours of each slot.
    pub fn degrees(&self) -> &[u32] {
        &self.degrees
    }

    /// Begins an empty page with values relative to `origin`.
    pub fn clear(&mut self, origin: u32) {
        self.origin = origin;
        self.before = None;
        self.widths.clear();
        self.own.clear();
        self.pieces.clear();
        self.degrees.clear();
        self.shapes.clear();
        self.degree_widths.clear();
        (self.list, self.open) = (OpenList::default(), OpenBlock::default());
        (self.block_words, self.degree_words) = (0, 0);
    }

    /// Begins the list of `vertex`, if a further slot fits. `before` is the last neighbour in the page before, if this
    /// is a later page of a run.
    #[must_use]
    pub fn open_list(&mut self, vertex: u32, before: Option<u32>) -> bool {
        let slots = self.degrees.len();
        let saved = (self.open, self.degree_words);
        if slots > 0 && slots.is_multiple_of(BLOCK) {
            self.close_degrees(self.open.degree_bits);
            self.open.degree_bits = 0;
        }
        self.degrees.push(0);
        if !self.fits_with(self.widths.len() as u64) {
            self.degrees.pop();
            self.degree_widths.truncate(slots.saturating_sub(1) / BLOCK);
            (self.open, self.degree_words) = saved;
            return false;
        }
        self.begin_list(vertex, before);
        true
    }

    /// Notes that the last slot's list is open.
    fn begin_list(&mut self, vertex: u32, before: Option<u32>) {
        let slots = self.degrees.len();
        if slots == 1 {
            (self.first, self.before) = (vertex, before);
        }
        self.list = OpenList { vertex, at: self.widths.len(), last: before };
        self.edges_max = (self.parameters.edges_max as usize).min(self.parameters.image_words() as usize - slots - 1);
    }

    /// Appends a neighbour to the open list, if it fits.
    #[must_use]
    #[inline]
    pub fn push(&mut self, neighbour: u32) -> bool {
        let gap = match self.list.last {
            Some(last) => neighbour.wrapping_sub(last).wrapping_sub(self.parameters.step.into()),
            None if self.parameters.own => zigzag(neighbour.wrapping_sub(self.list.vertex)),
            None => neighbour.wrapping_sub(self.origin),
        };
        let is_room = self.push_width(bits_of(gap));
        if is_room {
            self.own.push(neighbour);
            self.list.last = Some(neighbour);
        }
        is_room
    }

    /// Appends a gap of this many bits, if it fits.
    #[inline]
    fn push_width(&mut self, bits: u32) -> bool {
        let edges = self.widths.len();
        if edges == self.edges_max {
            return false;
        }
        let degree = (edges - self.list.at) as u32 + 1;
        let open = &self.open;
        let fits = open.is_bounded && bits <= open.bits && bits_of(degree) <= open.degree_bits;
        if (!fits || edges.is_multiple_of(BLOCK)) && !self.admit(bits, degree) {
            return false;
        }
        self.widths.push(bits as u8);
        *self.degrees.last_mut().expect("a list is open") = degree;
        self.close_blocks();
        true
    }

    /// Appends neighbours to the open list, as many as fit; returns their number.
    pub fn push_all(&mut self, neighbours: &[u32]) -> usize {
        let mut done = 0;
        while done < neighbours.len() {
            if !self.push(neighbours[done]) {
                break;
            }
            done += 1;
            done += self.push_bounded(&neighbours[done..]);
        }
        done
    }

    /// Appends neighbours that change neither the open block's largest width nor the largest width of degrees, within
    /// the block: the page is not full with them.
    fn push_bounded(&mut self, neighbours: &[u32]) -> usize {
        let (edges, open) = (self.widths.len(), &self.open);
        let Some(mut last) = self.list.last.filter(|_| open.is_bounded && !edges.is_multiple_of(BLOCK)) else {
            return 0;
        };
        let degree_max = ((1u64 << open.degree_bits) - 1).min(u32::MAX.into()) as usize;
        let room = (BLOCK - 1 - edges % BLOCK).min(self.edges_max - edges).min(degree_max - (edges - self.list.at));
        let (step, bits_max, mut count) = (u32::from(self.parameters.step), open.bits, 0);
        for &neighbour in &neighbours[..room.min(neighbours.len())] {
            let bits = bits_of(neighbour.wrapping_sub(last).wrapping_sub(step));
            if bits > bits_max {
                break;
            }
            self.widths.push(bits as u8);
            last = neighbour;
            count += 1;
        }
        self.own.extend_from_slice(&neighbours[..count]);
        self.list.last = Some(last);
        *self.degrees.last_mut().expect("a list is open") = (edges + count - self.list.at) as u32;
        count
    }

    /// Makes room for a gap, which is added by the caller, and for the degree that the list has with it.
    fn admit(&mut self, bits: u32, degree: u32) -> bool {
        let saved = self.open;
        self.open.bits = saved.bits.max(bits);
        self.open.degree_bits = saved.degree_bits.max(bits_of(degree));
        self.widths.push(bits as u8);
        let fits = self.fits_with(self.widths.len() as u64);
        self.widths.pop();
        if !fits {
            self.open = saved;
        }
        fits
    }

    /// Whether the page is large enough for its slots, this many neighbours and the open blocks.
    fn fits_with(&mut self, edges: u64) -> bool {
        let slots = self.degrees.len() as u64;
        let image = HEADER_BYTES as u64 + 4 * (edges + slots + 1);
        let others = self.words_with(slots, edges) + block_words(self.open.degree_bits) as u64;
        self.open.is_bounded = others + block_words(self.open.bits) as u64 <= self.page_words;
        let fits = self.open.is_bounded || others + self.open_shape().words() as u64 <= self.page_words;
        fits && image <= self.parameters.image_bytes()
    }

    /// Words with this many slots and neighbours, but without the payload of the open blocks.
    fn words_with(&self, slots: u64, edges: u64) -> u64 {
        table_words(slots, edges) + self.block_words + self.degree_words
    }

    /// The smallest shape of the block behind the complete ones.
    fn open_shape(&self) -> Shape {
        Shape::of_widths(&padded(&self.widths[self.shapes.len() * BLOCK..]))
    }

    /// Completes the blocks that are full.
    #[inline]
    fn close_blocks(&mut self) {
        while let Some(widths) = self.widths[self.shapes.len() * BLOCK..].first_chunk::<BLOCK>() {
            let shape = Shape::of_widths(widths);
            self.block_words += shape.words() as u64;
            self.shapes.push(shape);
            self.open.bits = 0;
        }
    }

    /// Completes a degree block of this many bits.
    fn close_degrees(&mut self, bits: u32) {
        self.degree_words += block_words(bits) as u64;
        self.degree_widths.push(bits as u8);
    }

    /// The last neighbour of the open list, if it has any.
    pub fn last(&self) -> Option<u32> {
        self.list.last
    }

    /// Removes the open list's neighbours from neighbour `edge` of the page on, which must be among them, and returns
    /// them. If none are left, the list itself is removed. They must have been pushed.
    pub fn take_from(&mut self, edge: u32) -> Vec<u32> {
        let taken = self.widths.len() - edge as usize;
        assert!(self.own.len() >= taken && self.pieces.last().is_none_or(|piece| piece.end() <= edge as usize));
        let moved = self.own.split_off(self.own.len() - taken);
        self.remove_from(edge as usize);
        moved
    }

    /// Removes the open list's neighbours from neighbour `edge` of the page on, except from where they are.
    fn remove_from(&mut self, edge: usize) {
        let at = self.list.at;
        assert!((at..=self.widths.len()).contains(&edge), "neighbour {edge} of a list from {at} on");
        self.widths.truncate(edge);
        self.shapes.truncate(edge / BLOCK);
        self.block_words = self.shapes.iter().map(|shape| shape.words() as u64).sum();
        self.open.bits = largest(&self.widths[edge / BLOCK * BLOCK..]);
        self.open.is_bounded = false;
        self.list.last = if edge > at { self.last_neighbour() } else { self.before.filter(|_| at == 0) };
        *self.degrees.last_mut().expect("a list is open") = (edge - at) as u32;
        if edge == at {
            self.degrees.pop();
        }
        self.reopen_degrees();
    }

    /// The last neighbour of the page, if there is any.
    fn last_neighbour(&self) -> Option<u32> {
        let shared = self.pieces.last().filter(|piece| piece.end() == self.widths.len());
        match shared {
            Some(piece) => piece.lists.dests[..piece.range.end].last().copied(),
            None => self.own.last().copied(),
        }
    }

    /// Restores the state of the last degree block.
    fn reopen_degrees(&mut self) {
        let complete = self.degrees.len().saturating_sub(1) / BLOCK;
        self.degree_widths.truncate(complete);
        self.degree_words = self.degree_widths.iter().map(|&width| block_words(width.into()) as u64).sum();
        self.open.degree_bits = width_of(&self.degrees[complete * BLOCK..]);
    }
}

/// Bits of the largest gap.
fn largest(widths: &[u8]) -> u32 {
    widths.iter().fold(0, |largest, &bits| bits.max(largest)).into()
}

/// Bits of the largest degree.
fn width_of(degrees: &[u32]) -> u32 {
    bits_of(degrees.iter().fold(0, |all, &degree| all | degree))
}

/// The first numbers as a block, with zeros behind them if there are fewer.
fn padded<T: Copy + Default>(numbers: &[T]) -> [T; BLOCK] {
    let mut block = [T::default(); BLOCK];
    let count = numbers.len().min(BLOCK);
    block[..count].copy_from_slice(&numbers[..count]);
    block
}
