//! Encodes a page, list by list, and knows at every step whether one more neighbour or slot fits.
//!
//! ```text
//!  open_list ─▶ push … ─▶ open_list ─▶ push … false: full ─▶ take_from(list) ─▶ write ─▶ the list into the next page
//! ```
//!
//! Gaps are kept until the page is written. Of complete blocks the exact size is known; that of the open block is at
//! most its gaps at the largest width, which changes rarely. Only when the page would be full by that bound is the
//! block's smallest shape computed, with each neighbour from then on.

use super::bits::{self, bits_of, block_words};
use super::block::{Histogram, Shape};
use super::{BLOCK, HEADER_WORDS, PackedHeader, PackedParameters, UNIT, UNIT_BLOCKS, table_words, zigzag};
use crate::page::{HEADER_BYTES, PageHeader};

/// A page that is being encoded.
#[derive(Debug)]
pub struct PageEncoder {
    parameters: PackedParameters,
    page_words: u64,
    /// The vertex that the value 0 stands for.
    origin: u32,
    gaps: Vec<u32>,
    degrees: Vec<u32>,
    /// The base of each block, and the shape of each complete one.
    bases: Vec<u32>,
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
    /// The list's own vertex, as a value.
    vertex: u32,
    /// The number of neighbours in the page before it.
    at: usize,
    /// The value before the page's first neighbour of the list, if it continues a list of the page before.
    before: Option<u32>,
    /// The last value.
    last: Option<u32>,
}

/// The gaps and degrees of the last blocks.
#[derive(Clone, Copy, Debug)]
struct OpenBlock {
    histogram: Histogram,
    /// Bits of the largest gap.
    bits: u32,
    /// Bits of the largest degree.
    degree_bits: u32,
    /// Whether the page is not full by the bound, so that sizes that do not change the bound need no check.
    is_bounded: bool,
}

impl Default for OpenBlock {
    fn default() -> Self {
        Self { histogram: [0; 33], bits: 0, degree_bits: 0, is_bounded: false }
    }
}

impl PageEncoder {
    /// An encoder of pages of `page_bytes`. Allocates [`memory_bytes`](Self::memory_bytes).
    pub fn new(page_bytes: u32, parameters: PackedParameters) -> Self {
        let edges = parameters.edges_max as usize;
        Self {
            parameters,
            page_words: u64::from(page_bytes) / 4,
            origin: 0,
            // Slots and neighbours share the words of an image, so of both most is never touched.
            gaps: Vec::with_capacity(edges),
            degrees: Vec::with_capacity(edges + UNIT),
            bases: Vec::with_capacity(edges / BLOCK + 1),
            shapes: Vec::with_capacity(edges / BLOCK + 1),
            degree_widths: Vec::new(),
            list: OpenList::default(),
            open: OpenBlock::default(),
            edges_max: 0,
            block_words: 0,
            degree_words: 0,
        }
    }

    /// Main memory of an encoder at most, in bytes: gaps and degrees, and blocks.
    pub fn memory_bytes(parameters: PackedParameters) -> u64 {
        let edges = u64::from(parameters.edges_max) + UNIT as u64;
        4 * edges + edges / BLOCK as u64 * (4 + size_of::<Shape>() as u64 + 2)
    }

    /// The number of neighbours in the page.
    pub fn edge_count(&self) -> u32 {
        self.gaps.len() as u32
    }

    /// Begins an empty page with values relative to `origin`.
    pub fn clear(&mut self, origin: u32) {
        self.origin = origin;
        self.gaps.clear();
        self.degrees.clear();
        self.bases.clear();
        self.shapes.clear();
        self.degree_widths.clear();
        (self.list, self.open) = (OpenList::default(), OpenBlock::default());
        (self.block_words, self.degree_words) = (0, 0);
    }

    /// Begins the list of `vertex`, if a further slot fits. `before` is the last neighbour in the page before, if this
    /// is a later page of a run.
    #[must_use]
    pub fn open_list(&mut self, vertex: u32, before: Option<u32>) -> bool {
        let (slots, saved) = (self.degrees.len(), (self.open, self.degree_words));
        if slots > 0 && slots.is_multiple_of(BLOCK) {
            self.degree_words += block_words(self.open.degree_bits) as u64;
            self.degree_widths.push(self.open.degree_bits as u8);
            self.open.degree_bits = 0;
        }
        self.degrees.push(0);
        if !self.fits() {
            self.degrees.pop();
            self.degree_widths.truncate(slots.saturating_sub(1) / BLOCK);
            (self.open, self.degree_words) = saved;
            return false;
        }
        let before = before.map(|vertex| vertex.wrapping_sub(self.origin));
        let vertex = vertex.wrapping_sub(self.origin);
        self.list = OpenList { vertex, at: self.gaps.len(), before, last: before };
        let image_words = (self.parameters.image_bytes() - HEADER_BYTES as u64) / 4;
        self.edges_max = (self.parameters.edges_max as usize).min(image_words as usize - self.degrees.len() - 1);
        true
    }

    /// Appends a neighbour to the open list, if it fits.
    #[must_use]
    #[inline]
    pub fn push(&mut self, neighbour: u32) -> bool {
        let value = neighbour.wrapping_sub(self.origin);
        let gap = match self.list.last {
            Some(last) => value.wrapping_sub(last).wrapping_sub(self.parameters.step.into()),
            None if self.parameters.own => zigzag(value.wrapping_sub(self.list.vertex)),
            None => value,
        };
        let (bits, edges) = (bits_of(gap), self.gaps.len());
        if edges == self.edges_max {
            return false;
        }
        let degree = (edges - self.list.at) as u32 + 1;
        let open = &self.open;
        let fits = open.is_bounded && bits <= open.bits && bits_of(degree) <= open.degree_bits;
        if (!fits || edges.is_multiple_of(BLOCK)) && !self.admit(gap, degree) {
            return false;
        }
        self.open.histogram[bits as usize] += 1;
        self.gaps.push(gap);
        *self.degrees.last_mut().expect("a list is open") = degree;
        self.list.last = Some(value);
        if self.gaps.len().is_multiple_of(BLOCK) {
            self.close_block();
        }
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

    /// Appends neighbours that change neither the open block's largest width nor that of degrees, within the block: the
    /// page is not full with them.
    fn push_bounded(&mut self, neighbours: &[u32]) -> usize {
        let (edges, open) = (self.gaps.len(), &mut self.open);
        let Some(mut last) = self.list.last.filter(|_| open.is_bounded && !edges.is_multiple_of(BLOCK)) else {
            return 0;
        };
        let degree_max = ((1u64 << open.degree_bits) - 1).min(u32::MAX.into()) as usize;
        let room = (BLOCK - 1 - edges % BLOCK).min(self.edges_max - edges).min(degree_max - (edges - self.list.at));
        let (origin, step, bits_max) = (self.origin, u32::from(self.parameters.step), open.bits);
        let mut count = 0;
        for &neighbour in &neighbours[..room.min(neighbours.len())] {
            let value = neighbour.wrapping_sub(origin);
            let gap = value.wrapping_sub(last).wrapping_sub(step);
            let bits = bits_of(gap);
            if bits > bits_max {
                break;
            }
            open.histogram[bits as usize] += 1;
            self.gaps.push(gap);
            last = value;
            count += 1;
        }
        self.list.last = Some(last);
        *self.degrees.last_mut().expect("a list is open") = (edges + count - self.list.at) as u32;
        count
    }

    /// Makes room for a gap, which is added by the caller, and for the degree that the list has with it.
    fn admit(&mut self, gap: u32, degree: u32) -> bool {
        let (edges, saved) = (self.gaps.len(), self.open);
        let bits = bits_of(gap);
        self.open.bits = saved.bits.max(bits);
        self.open.degree_bits = saved.degree_bits.max(bits_of(degree));
        self.open.histogram[bits as usize] += 1;
        let fits = self.fits_with(edges as u64 + 1);
        self.open.histogram[bits as usize] -= 1;
        if !fits {
            self.open = saved;
            return false;
        }
        if edges.is_multiple_of(BLOCK) {
            self.bases.push(self.list.last.unwrap_or(0));
        }
        true
    }

    fn fits(&mut self) -> bool {
        self.fits_with(self.gaps.len() as u64)
    }

    /// Whether the page is large enough for its slots, this many neighbours and the open blocks.
    fn fits_with(&mut self, edges: u64) -> bool {
        let slots = self.degrees.len() as u64;
        let image = HEADER_BYTES as u64 + 4 * (edges + slots + 1);
        let others = table_words(slots, edges)
            + self.block_words
            + self.degree_words
            + block_words(self.open.degree_bits) as u64;
        self.open.is_bounded = others + block_words(self.open.bits) as u64 <= self.page_words;
        let fits =
            self.open.is_bounded || others + Shape::smallest(&self.open.histogram).words() as u64 <= self.page_words;
        fits && image <= self.parameters.image_bytes()
    }

    fn close_block(&mut self) {
        let shape = Shape::smallest(&self.open.histogram);
        self.block_words += shape.words() as u64;
        self.shapes.push(shape);
        (self.open.histogram, self.open.bits) = ([0; 33], 0);
    }

    /// The last neighbour of the open list, if it has any.
    pub fn last(&self) -> Option<u32> {
        self.list.last.map(|value| value.wrapping_add(self.origin))
    }

    /// Removes the open list's neighbours from neighbour `edge` of the page on, which must be among them, and returns
    /// them. If none are left, the list itself is removed.
    pub fn take_from(&mut self, edge: u32) -> Vec<u32> {
        let (edge, at) = (edge as usize, self.list.at);
        assert!((at..=self.gaps.len()).contains(&edge), "neighbour {edge} of a list from {at} on");
        let (mut last, mut taken) = (self.list.before, Vec::with_capacity(self.gaps.len() - edge));
        for (number, &gap) in self.gaps[at..].iter().enumerate() {
            let value = match last {
                Some(last) => last.wrapping_add(gap).wrapping_add(self.parameters.step.into()),
                None if self.parameters.own => self.list.vertex.wrapping_add(super::unzigzag(gap)),
                None => gap,
            };
            if at + number >= edge {
                taken.push(value.wrapping_add(self.origin));
            } else {
                self.list.last = Some(value);
            }
            last = Some(value);
        }
        self.gaps.truncate(edge);
        self.bases.truncate(edge.div_ceil(BLOCK));
        self.shapes.truncate(edge / BLOCK);
        self.block_words = self.shapes.iter().map(|shape| shape.words() as u64).sum();
        self.open = OpenBlock::default();
        for &gap in &self.gaps[edge / BLOCK * BLOCK..] {
            self.open.histogram[bits_of(gap) as usize] += 1;
            self.open.bits = self.open.bits.max(bits_of(gap));
        }
        *self.degrees.last_mut().expect("a list is open") = (edge - at) as u32;
        if edge == at {
            self.degrees.pop();
        }
        self.reopen_degrees();
        taken
    }

    /// Restores the state of the last degree block.
    fn reopen_degrees(&mut self) {
        let complete = self.degrees.len().saturating_sub(1) / BLOCK;
        self.degree_widths.truncate(complete);
        self.degree_words = self.degree_widths.iter().map(|&width| block_words(width.into()) as u64).sum();
        self.open.degree_bits = width_of(&self.degrees[complete * BLOCK..]);
    }

    /// Writes the page, which must be zeros, with this header.
    pub fn write(&self, header: &PageHeader, page: &mut [u8]) {
        let (edges, slots) = (self.gaps.len(), self.degrees.len());
        assert_eq!((header.edge_count as usize, header.slot_count as usize), (edges, slots));
        let words: &mut [u32] = bytemuck::cast_slice_mut(page);
        let (tables, payload) = words.split_at_mut(table_words(slots as u64, edges as u64) as usize);
        let (headers, tables) = tables.split_at_mut(HEADER_WORDS);
        let (blocks, tables) = tables.split_at_mut(2 * edges.div_ceil(BLOCK));
        let (degree_blocks, units) = tables.split_at_mut(2 * slots.div_ceil(BLOCK));
        let mut word = 0;
        for (number, entry) in blocks.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            let gaps = padded(&self.gaps[number * BLOCK..]);
            let shape = match self.shapes.get(number) {
                Some(&shape) => shape,
                None => Shape::smallest(&self.open.histogram),
            };
            let unit = &mut units[number / UNIT_BLOCKS];
            if number.is_multiple_of(UNIT_BLOCKS) {
                *unit = word as u32;
            }
            *entry = [self.bases[number], Shape { offset: word as u32 - *unit, ..shape }.encode()];
            shape.pack(&gaps, &mut payload[word..word + shape.words()]);
            word += shape.words();
        }
        let degrees_at = word;
        let mut sum = 0;
        for (entry, degrees) in degree_blocks.as_chunks_mut::<2>().0.iter_mut().zip(self.degrees.chunks(BLOCK)) {
            let width = width_of(degrees);
            *entry = [sum, (word - degrees_at) as u32 | width << 26];
            bits::pack(&padded(degrees), width, &mut payload[word..word + block_words(width)]);
            word += block_words(width);
            sum += degrees.iter().sum::<u32>();
        }
        let packed = PackedHeader {
            origin: self.origin,
            degrees_at: degrees_at as u32,
            payload_words: word as u32,
            reserved: 0,
        };
        headers[..HEADER_BYTES / 4].copy_from_slice(bytemuck::cast_slice(bytemuck::bytes_of(header)));
        headers[HEADER_BYTES / 4..].copy_from_slice(bytemuck::cast_slice(bytemuck::bytes_of(&packed)));
    }
}

/// Bits of the largest degree.
fn width_of(degrees: &[u32]) -> u32 {
    degrees.iter().map(|&degree| bits_of(degree)).max().unwrap_or(0)
}

/// The first numbers as a block, with zeros behind them if there are fewer.
fn padded(numbers: &[u32]) -> [u32; BLOCK] {
    let mut block = [0; BLOCK];
    let count = numbers.len().min(BLOCK);
    block[..count].copy_from_slice(&numbers[..count]);
    block
}
