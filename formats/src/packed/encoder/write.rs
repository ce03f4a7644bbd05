//! Writes a page whose lists and sizes are known.

use super::super::bits::{self, block_words};
use super::super::block::Shape;
use super::super::layout::{BLOCK, HEADER_WORDS, PackedHeader, UNIT_BLOCKS, table_words, zigzag};
use super::{PageEncoder, padded, width_of};
use crate::header::{HEADER_BYTES, PageHeader};

/// The place of the next neighbour and of the next list.
struct Cursor<'a> {
    encoder: &'a PageEncoder,
    /// The numbers of neighbours before the next one, of pieces before its own, and of pushed neighbours before it.
    edge: usize,
    piece: usize,
    own: usize,
    last: u32,
    /// The next list with neighbours, and its first one.
    slot: usize,
    start: usize,
}

impl<'a> Cursor<'a> {
    fn new(encoder: &'a PageEncoder) -> Self {
        let (last, mut slot, mut start) = (encoder.before.unwrap_or(0), 0, 0);
        if encoder.before.is_some() {
            // This list has begun in the page before.
            (slot, start) = (1, encoder.degrees[0] as usize);
        }
        Self { encoder, edge: 0, piece: 0, own: 0, last, slot, start }
    }

    /// The base and the gaps of the next block, of this many neighbours.
    fn block(&mut self, count: usize) -> (u32, [u32; BLOCK]) {
        let (begin, before) = (self.edge, self.last);
        let mut neighbours = [0; BLOCK];
        self.copy(&mut neighbours[..count]);
        let PageEncoder { parameters, origin, first, degrees, .. } = self.encoder;
        let (step, mut gaps) = (u32::from(parameters.step), [0; BLOCK]);
        gaps[0] = neighbours[0].wrapping_sub(before).wrapping_sub(step);
        for at in 1..BLOCK {
            gaps[at] = neighbours[at].wrapping_sub(neighbours[at - 1]).wrapping_sub(step);
        }
        gaps[count..].fill(0);
        self.skip_empty();
        let continues = self.start > begin;
        while self.start < self.edge && self.slot < degrees.len() {
            let at = self.start - begin;
            gaps[at] = match parameters.own {
                true => zigzag(neighbours[at].wrapping_sub(first.wrapping_add(self.slot as u32))),
                false => neighbours[at].wrapping_sub(*origin),
            };
            self.start += degrees[self.slot] as usize;
            self.slot += 1;
            self.skip_empty();
        }
        (if continues { before.wrapping_sub(*origin) } else { 0 }, gaps)
    }

    /// Goes to the next list that has neighbours.
    fn skip_empty(&mut self) {
        let rest = self.encoder.degrees[self.slot..].iter();
        self.slot += rest.take_while(|&&degree| degree == 0).count();
    }

    /// Takes the next neighbours.
    fn copy(&mut self, mut out: &mut [u32]) {
        let PageEncoder { pieces, own, .. } = self.encoder;
        while !out.is_empty() {
            let next = pieces.get(self.piece);
            let shared = next.filter(|piece| piece.at <= self.edge);
            let from = match (shared, next) {
                (Some(piece), _) => &piece.lists.dests[piece.range.start + (self.edge - piece.at)..piece.range.end],
                (None, Some(next)) => &own[self.own..self.own + (next.at - self.edge)],
                (None, None) => &own[self.own..],
            };
            let some = from.len().min(out.len());
            let (now, rest) = out.split_at_mut(some);
            now.copy_from_slice(&from[..some]);
            self.last = now[some - 1];
            self.edge += some;
            match shared {
                Some(piece) => self.piece += usize::from(self.edge == piece.end()),
                None => self.own += some,
            }
            out = rest;
        }
    }
}

impl PageEncoder {
    /// Writes the page, which must be zeros, with this header.
    pub fn write(&self, header: &PageHeader, page: &mut [u8]) {
        let (edges, slots) = (self.widths.len(), self.degrees.len());
        assert_eq!((header.edge_count as usize, header.slot_count as usize), (edges, slots));
        let words: &mut [u32] = bytemuck::cast_slice_mut(page);
        let (tables, payload) = words.split_at_mut(table_words(slots as u64, edges as u64) as usize);
        let (headers, tables) = tables.split_at_mut(HEADER_WORDS);
        let (blocks, tables) = tables.split_at_mut(2 * edges.div_ceil(BLOCK));
        let (degree_blocks, units) = tables.split_at_mut(2 * slots.div_ceil(BLOCK));
        let (mut word, mut cursor) = (0, Cursor::new(self));
        for (number, entry) in blocks.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            let (base, gaps) = cursor.block((edges - number * BLOCK).min(BLOCK));
            let shape = self.shapes.get(number).copied().unwrap_or_else(|| self.open_shape());
            let unit = &mut units[number / UNIT_BLOCKS];
            if number.is_multiple_of(UNIT_BLOCKS) {
                *unit = word as u32;
            }
            *entry = [base, Shape { offset: word as u32 - *unit, ..shape }.encode()];
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
