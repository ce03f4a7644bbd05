//! Attributes as words, for the exchange between devices: see [`Move`](crate::device::exchange::Move) for the layout of
//! the words of a range.

use super::{
    Attributes, Cells, Column, F32Column, F64Column, Fixed63Column, LANES, Merge, PARALLEL_MIN, U32Column, U64Column,
};
use crate::model::bits::{Bits, bit_words, bits_of_word};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// How received words are applied.
#[derive(Clone, Copy)]
enum Take {
    Merge(Merge),
    Replace,
}

/// A word of memory that others may write, or of memory that is not written.
pub(crate) trait Word: Sync {
    /// The word's value.
    fn value(&self) -> u32;
}

impl Word for AtomicU32 {
    fn value(&self) -> u32 {
        self.load(Relaxed)
    }
}

impl Word for u32 {
    fn value(&self) -> u32 {
        *self
    }
}

impl Attributes {
    /// Writes the values of some vertices as words.
    #[doc(hidden)]
    pub fn put(&self, place: usize, vertices: &Range<u64>, to: &[AtomicU32]) {
        match &self.0[place] {
            Column::U32(U32Column(cells)) | Column::F32(F32Column(cells)) => {
                each(vertices, 1, to, |vertex, word| word[0].store(cells.known(vertex).load(Relaxed), Relaxed));
            }
            Column::Lane(row, lane) => each(vertices, 1, to, |vertex, word| {
                word[0].store(row.0.known(vertex)[*lane].load(Relaxed), Relaxed);
            }),
            Column::F64(F64Column(cells)) | Column::Fixed63(Fixed63Column(cells)) | Column::U64(U64Column(cells)) => {
                each(vertices, 2, to, |vertex, words| {
                    let wide = cells.known(vertex).load(Relaxed);
                    words[0].store(wide as u32, Relaxed);
                    words[1].store((wide >> 32) as u32, Relaxed);
                })
            }
            Column::Bit(bits) => {
                each(&bit_words(vertices), 1, to, |at, word| word[0].store(bits.half_word(at), Relaxed));
            }
        }
    }

    /// Merges values received from another device.
    #[doc(hidden)]
    pub fn merge(&self, place: usize, merge: Merge, vertices: &Range<u64>, from: &[AtomicU32]) {
        self.receive(place, Take::Merge(merge), vertices, from);
    }

    /// Replaces values by those received from another device; for vertices that are held elsewhere, replaces the copy
    /// of them.
    #[doc(hidden)]
    #[allow(private_bounds, reason = "there are no other words")]
    pub fn take<W: Word>(&self, place: usize, vertices: &Range<u64>, from: &[W]) {
        self.receive(place, Take::Replace, vertices, from);
    }

    fn receive<W: Word>(&self, place: usize, how: Take, vertices: &Range<u64>, from: &[W]) {
        match &self.0[place] {
            Column::U32(U32Column(cells)) => each(vertices, 1, from, |vertex, word| {
                let (cell, word) = (cells.place(vertex), word[0].value());
                cell.store(how.of_words(cell.load(Relaxed), word), Relaxed);
            }),
            Column::Lane(row, lane) => each(vertices, 1, from, |vertex, word| {
                let (cell, word) = (&row.0.place(vertex)[*lane], word[0].value());
                cell.store(how.of_words(cell.load(Relaxed), word), Relaxed);
            }),
            Column::F32(F32Column(cells)) => each(vertices, 1, from, |vertex, word| {
                let (cell, word) = (cells.place(vertex), word[0].value());
                cell.store(how.of_floats(cell.load(Relaxed), word), Relaxed);
            }),
            Column::F64(F64Column(cells)) => each(vertices, 2, from, |vertex, words| {
                let cell = cells.place(vertex);
                cell.store(how.of_doubles(cell.load(Relaxed), wide(words)), Relaxed);
            }),
            Column::Fixed63(Fixed63Column(cells)) | Column::U64(U64Column(cells)) => {
                each(vertices, 2, from, |vertex, words| {
                    let cell = cells.place(vertex);
                    cell.store(how.of_wide(cell.load(Relaxed), wide(words)), Relaxed);
                })
            }
            Column::Bit(bits) => each(&bit_words(vertices), 1, from, |at, word| {
                let replace = matches!(how, Take::Replace);
                bits.receive(at, bits_of_word(vertices, at), word[0].value(), replace);
            }),
        }
    }

    /// Writes the values of these vertices consecutively, for an attribute of one word a vertex.
    pub(crate) fn pack(&self, place: usize, vertices: &[u32], to: &[AtomicU32]) {
        let words = self.words(place);
        let pairs = vertices.par_iter().zip(&to[..vertices.len()]).with_min_len(PARALLEL_MIN);
        pairs.for_each(|(&vertex, word)| word.store(words.known(vertex).load(Relaxed), Relaxed));
    }

    /// Replaces values by those packed by another device; for vertices that are held elsewhere, replaces the copy of
    /// them.
    pub(crate) fn unpack(&self, place: usize, vertices: &[u32], from: &[AtomicU32]) {
        let words = self.words(place);
        let pairs = vertices.par_iter().zip(&from[..vertices.len()]).with_min_len(PARALLEL_MIN);
        pairs.for_each(|(&vertex, word)| words.place(vertex).store(word.load(Relaxed), Relaxed));
    }

    /// Sets the values of some vertices to zero.
    #[doc(hidden)]
    pub fn clear(&self, place: usize, vertices: &Range<u64>) {
        let none: &[AtomicU32] = &[];
        match &self.0[place] {
            Column::U32(U32Column(cells)) | Column::F32(F32Column(cells)) => {
                each(vertices, 0, none, |vertex, _| cells.place(vertex).store(0, Relaxed));
            }
            Column::Lane(row, lane) => {
                each(vertices, 0, none, |vertex, _| row.0.place(vertex)[*lane].store(0, Relaxed));
            }
            Column::F64(F64Column(cells)) | Column::Fixed63(Fixed63Column(cells)) | Column::U64(U64Column(cells)) => {
                each(vertices, 0, none, |vertex, _| cells.place(vertex).store(0, Relaxed));
            }
            Column::Bit(bits) => {
                each(&bit_words(vertices), 0, none, |at, _| bits.receive(at, bits_of_word(vertices, at), 0, true));
            }
        }
    }

    /// Copies the values of some vertices to attributes that hold all vertices.
    pub(crate) fn copy(&self, place: usize, vertices: &Range<u64>, to: &Self) {
        const PIECE: u64 = 1 << 16;
        let (first, end) = (vertices.start, vertices.end);
        (0..(end - first).div_ceil(PIECE)).into_par_iter().for_each(|number| {
            let piece = first + number * PIECE..(first + (number + 1) * PIECE).min(end);
            // A value of 64 bits takes two words, and a range of bits may begin within one.
            let words: Vec<AtomicU32> = (0..2 * PIECE + 2).map(|_| AtomicU32::new(0)).collect();
            self.put(place, &piece, &words);
            to.take(place, &piece, &words);
        });
    }

    /// Sets the values of some vertices from words of a device's own memory, in the layout of a `Move::Put`.
    #[doc(hidden)]
    pub fn set_words(&self, place: usize, vertices: &Range<u64>, words: &[u32]) {
        self.take(place, vertices, words);
    }

    /// A value's bits, of an attribute of one word a vertex or of 64-bit integers.
    pub(crate) fn value(&self, place: usize, vertex: u32) -> u64 {
        match &self.0[place] {
            Column::U64(U64Column(cells)) => cells.known(vertex).load(Relaxed),
            _ => self.words(place).known(vertex).load(Relaxed).into(),
        }
    }

    /// Applies another device's [value](Self::value): merged if the vertex is held here, otherwise stored in the copy.
    pub(crate) fn meet(&self, place: usize, merge: Merge, vertex: u32, value: u64) {
        let merge = Take::Merge(merge);
        if let Column::U64(U64Column(cells)) = &self.0[place] {
            let Some(cell) = cells.at(vertex) else { return cells.seen[vertex as usize].store(value, Relaxed) };
            cell.fetch_update(Relaxed, Relaxed, |old| Some(merge.of_wide(old, value))).ok();
            return;
        }
        let (words, value) = (self.words(place), value as u32);
        let Some(cell) = words.at(vertex) else { return words.place(vertex).store(value, Relaxed) };
        let of = |old: u32| match &self.0[place] {
            Column::F32(_) => merge.of_floats(old, value),
            _ => merge.of_words(old, value),
        };
        cell.fetch_update(Relaxed, Relaxed, |old| Some(of(old))).ok();
    }

    fn words(&self, place: usize) -> Words<'_> {
        match &self.0[place] {
            Column::U32(U32Column(cells)) | Column::F32(F32Column(cells)) => Words::Column(cells),
            Column::Lane(row, lane) => Words::Lane(&row.0, *lane),
            other => panic!("attribute {place} does not have one word for each vertex: {}", other.name()),
        }
    }
}

/// The cells of an attribute of one word a vertex.
#[derive(Clone, Copy)]
enum Words<'a> {
    Column(&'a Cells<AtomicU32>),
    Lane(&'a Cells<[AtomicU32; LANES]>, usize),
}

impl<'a> Words<'a> {
    fn at(self, vertex: u32) -> Option<&'a AtomicU32> {
        match self {
            Self::Column(cells) => cells.at(vertex),
            Self::Lane(cells, lane) => cells.at(vertex).map(|row| &row[lane]),
        }
    }

    fn known(self, vertex: u32) -> &'a AtomicU32 {
        match self {
            Self::Column(cells) => cells.known(vertex),
            Self::Lane(cells, lane) => &cells.known(vertex)[lane],
        }
    }

    fn place(self, vertex: u32) -> &'a AtomicU32 {
        match self {
            Self::Column(cells) => cells.place(vertex),
            Self::Lane(cells, lane) => &cells.place(vertex)[lane],
        }
    }
}

impl<T> Cells<T> {
    /// The place that a value received from another device is stored in.
    fn place(&self, vertex: u32) -> &T {
        self.at(vertex).unwrap_or_else(|| &self.seen[vertex as usize])
    }
}

impl Take {
    fn of_words(self, old: u32, word: u32) -> u32 {
        match self {
            Self::Replace => word,
            Self::Merge(Merge::Add) => old.wrapping_add(word),
            Self::Merge(Merge::Min) => old.min(word),
            Self::Merge(Merge::Max) => old.max(word),
            Self::Merge(Merge::Or | Merge::Activation) => old | word,
        }
    }

    fn of_floats(self, old: u32, word: u32) -> u32 {
        let (a, b) = (f32::from_bits(old), f32::from_bits(word));
        match self {
            Self::Replace => word,
            Self::Merge(Merge::Add) => (a + b).to_bits(),
            Self::Merge(Merge::Min) => a.min(b).to_bits(),
            Self::Merge(Merge::Max) => a.max(b).to_bits(),
            Self::Merge(Merge::Or | Merge::Activation) => old | word,
        }
    }

    fn of_doubles(self, old: u64, wide: u64) -> u64 {
        let (a, b) = (f64::from_bits(old), f64::from_bits(wide));
        match self {
            Self::Replace => wide,
            Self::Merge(Merge::Add) => (a + b).to_bits(),
            Self::Merge(Merge::Min) => a.min(b).to_bits(),
            Self::Merge(Merge::Max) => a.max(b).to_bits(),
            Self::Merge(Merge::Or | Merge::Activation) => old | wide,
        }
    }

    fn of_wide(self, old: u64, wide: u64) -> u64 {
        match self {
            Self::Replace => wide,
            Self::Merge(Merge::Add) => old.wrapping_add(wide),
            Self::Merge(Merge::Min) => old.min(wide),
            Self::Merge(Merge::Max) => old.max(wide),
            Self::Merge(Merge::Or | Merge::Activation) => old | wide,
        }
    }
}

/// A value of two words, the low one first.
fn wide<W: Word>(words: &[W]) -> u64 {
    u64::from(words[1].value()) << 32 | u64::from(words[0].value())
}

impl Bits {
    /// Merges the masked bits of a 32-bit word, or replaces them.
    fn receive(&self, at: u32, mask: u32, word: u32, replace: bool) {
        if replace {
            self.forget(at, mask & !word);
        }
        self.set_words(at as usize, &[word & mask]);
    }
}

/// Calls `act` for every item with its words.
fn each<W: Sync>(items: &Range<u64>, words: usize, all: &[W], act: impl Fn(u32, &[W]) + Sync) {
    let count = (items.end - items.start) as usize;
    (0..count).into_par_iter().with_min_len(PARALLEL_MIN).for_each(|number| {
        let vertex = (items.start + number as u64) as u32;
        act(vertex, &all[number * words..(number + 1) * words]);
    });
}
