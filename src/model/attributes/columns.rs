//! The arrays of attributes in main memory, by type: read and written by edge functions, vertex phases and answers.

use super::{Cells, LANES};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// A `u32` for every vertex that is held.
#[derive(Debug)]
pub struct U32Column(pub(super) Cells<AtomicU32>);

/// [`LANES`] values of `u32` for every vertex that is held, side by side.
#[derive(Debug)]
pub struct Row(pub(super) Cells<[AtomicU32; LANES]>);

/// An `f32` for every vertex that is held.
#[derive(Debug)]
pub struct F32Column(pub(super) Cells<AtomicU32>);

/// An `f64` for every vertex that is held.
#[derive(Debug)]
pub struct F64Column(pub(super) Cells<AtomicU64>);

/// A fixed-point sum for every vertex that is held: see [`AttributeType::Fixed63`](super::AttributeType::Fixed63).
#[derive(Debug)]
pub struct Fixed63Column(pub(super) Cells<AtomicU64>);

/// A `u64` for every vertex that is held.
#[derive(Debug)]
pub struct U64Column(pub(super) Cells<AtomicU64>);

impl U32Column {
    /// Prefetches a vertex's value.
    #[inline(always)]
    pub fn prefetch(&self, vertex: u32) {
        self.0.prefetch(vertex);
    }

    /// Atomically lowers a vertex's value; returns whether that has changed it. Tests before it writes.
    #[inline(always)]
    pub fn min(&self, vertex: u32, value: u32) -> bool {
        let Some(cell) = self.0.at(vertex) else { return false };
        value < cell.load(Relaxed) && value < cell.fetch_min(value, Relaxed)
    }

    /// Atomically raises a vertex's value; returns whether that has changed it. Tests before it writes.
    #[inline(always)]
    pub fn max(&self, vertex: u32, value: u32) -> bool {
        let Some(cell) = self.0.at(vertex) else { return false };
        value > cell.load(Relaxed) && value > cell.fetch_max(value, Relaxed)
    }

    /// The values of the vertices that are held.
    #[doc(hidden)]
    pub fn cells(&self) -> &[AtomicU32] {
        &self.0.cells
    }

    /// A vertex's value, if it is written here.
    #[inline(always)]
    pub fn find(&self, vertex: u32) -> Option<u32> {
        self.0.at(vertex).map(|cell| cell.load(Relaxed))
    }

    /// Atomically sets bits of a vertex's value; returns whether that has changed it. Tests before it writes.
    #[inline(always)]
    pub fn or(&self, vertex: u32, bits: u32) -> bool {
        let Some(cell) = self.0.at(vertex) else { return false };
        bits & !cell.load(Relaxed) != 0 && bits & !cell.fetch_or(bits, Relaxed) != 0
    }

    /// Atomically adds to a vertex's value modulo 2^32, if it may be written here. Returns the value before, or 0.
    #[inline(always)]
    pub fn add(&self, vertex: u32, term: u32) -> u32 {
        self.0.at(vertex).map_or(0, |cell| cell.fetch_add(term, Relaxed))
    }

    /// A vertex's value.
    #[inline(always)]
    pub fn get(&self, vertex: u32) -> u32 {
        self.0.known(vertex).load(Relaxed)
    }

    /// Sets a vertex's value, if it may be written here.
    #[inline(always)]
    pub fn set(&self, vertex: u32, value: u32) {
        if let Some(cell) = self.0.at(vertex) {
            cell.store(value, Relaxed);
        }
    }
}

impl Row {
    /// Prefetches a vertex's values.
    #[inline(always)]
    pub fn prefetch(&self, vertex: u32) {
        self.0.prefetch(vertex);
    }

    /// A vertex's values.
    #[inline(always)]
    pub fn get(&self, vertex: u32) -> [u32; LANES] {
        self.0.known(vertex).each_ref().map(|cell| cell.load(Relaxed))
    }

    /// Sets one of a vertex's values, if they may be written here.
    #[inline(always)]
    pub fn set(&self, vertex: u32, lane: usize, value: u32) {
        if let Some(cells) = self.0.at(vertex) {
            cells[lane].store(value, Relaxed);
        }
    }

    /// Sets a vertex's values, if they may be written here.
    #[inline(always)]
    pub fn set_all(&self, vertex: u32, values: [u32; LANES]) {
        if let Some(cells) = self.0.at(vertex) {
            cells.iter().zip(values).for_each(|(cell, value)| cell.store(value, Relaxed));
        }
    }

    /// Atomically sets bits of each of a vertex's values, if they may be written here. Tests before it writes.
    #[inline(always)]
    pub fn or(&self, vertex: u32, bits: [u32; LANES]) {
        let Some(cells) = self.0.at(vertex) else { return };
        for (cell, bits) in cells.iter().zip(bits) {
            if bits & !cell.load(Relaxed) != 0 {
                cell.fetch_or(bits, Relaxed);
            }
        }
    }
}

impl F32Column {
    /// Prefetches a vertex's value.
    #[inline(always)]
    pub fn prefetch(&self, vertex: u32) {
        self.0.prefetch(vertex);
    }

    /// A vertex's value.
    #[inline(always)]
    pub fn get(&self, vertex: u32) -> f32 {
        f32::from_bits(self.0.known(vertex).load(Relaxed))
    }

    /// Sets a vertex's value, if it may be written here.
    #[inline(always)]
    pub fn set(&self, vertex: u32, value: f32) {
        if let Some(cell) = self.0.at(vertex) {
            cell.store(value.to_bits(), Relaxed);
        }
    }

    /// Atomically adds to a vertex's value, if it may be written here.
    #[inline(always)]
    pub fn add(&self, vertex: u32, term: f32) {
        let sum = |bits: u32| Some((f32::from_bits(bits) + term).to_bits());
        if let Some(cell) = self.0.at(vertex) {
            cell.fetch_update(Relaxed, Relaxed, sum).ok();
        }
    }

    /// Returns a vertex's value and resets it to zero.
    #[inline(always)]
    pub fn take(&self, vertex: u32) -> f32 {
        let value = self.get(vertex);
        self.set(vertex, 0.0);
        value
    }
}

impl F64Column {
    /// Prefetches a vertex's value.
    #[inline(always)]
    pub fn prefetch(&self, vertex: u32) {
        self.0.prefetch(vertex);
    }

    /// A vertex's value.
    #[inline(always)]
    pub fn get(&self, vertex: u32) -> f64 {
        f64::from_bits(self.0.known(vertex).load(Relaxed))
    }

    /// Sets a vertex's value, if it may be written here.
    #[inline(always)]
    pub fn set(&self, vertex: u32, value: f64) {
        if let Some(cell) = self.0.at(vertex) {
            cell.store(value.to_bits(), Relaxed);
        }
    }

    /// Atomically adds to a vertex's value, if it may be written here.
    #[inline(always)]
    pub fn add(&self, vertex: u32, term: f64) {
        let sum = |bits: u64| Some((f64::from_bits(bits) + term).to_bits());
        if let Some(cell) = self.0.at(vertex) {
            cell.fetch_update(Relaxed, Relaxed, sum).ok();
        }
    }

    /// Returns a vertex's value and resets it to zero.
    #[inline(always)]
    pub fn take(&self, vertex: u32) -> f64 {
        let value = self.get(vertex);
        self.set(vertex, 0.0);
        value
    }
}

/// 1.0 in fixed point with 63 fractional bits.
const ONE: f64 = (1u64 << 63) as f64;

/// A number from 0 to 2 in fixed point, rounded to the nearest.
#[inline(always)]
pub fn to_fixed63(value: f64) -> u64 {
    (value * ONE + 0.5) as u64
}

impl Fixed63Column {
    /// A vertex's sum.
    #[inline(always)]
    pub fn get(&self, vertex: u32) -> f64 {
        self.0.known(vertex).load(Relaxed) as f64 / ONE
    }

    /// Returns a vertex's sum and resets it to zero.
    #[inline(always)]
    pub fn take(&self, vertex: u32) -> f64 {
        let cell = self.0.known(vertex);
        let sum = cell.load(Relaxed);
        cell.store(0, Relaxed);
        sum as f64 / ONE
    }

    /// Atomically adds to a vertex's sum, if it may be written here.
    #[inline(always)]
    pub fn add(&self, vertex: u32, fixed: u64) {
        if let Some(cell) = self.0.at(vertex) {
            cell.fetch_add(fixed, Relaxed);
        }
    }

    /// Prefetches a vertex's sum.
    #[inline(always)]
    pub fn prefetch(&self, vertex: u32) {
        self.0.prefetch(vertex);
    }

    /// Sets a vertex's sum, if it may be written here: for callers that have all of its terms.
    #[inline(always)]
    pub fn set(&self, vertex: u32, fixed: u64) {
        if let Some(cell) = self.0.at(vertex) {
            cell.store(fixed, Relaxed);
        }
    }
}

impl U64Column {
    /// The values of the vertices that are held.
    #[doc(hidden)]
    pub fn cells(&self) -> &[AtomicU64] {
        &self.0.cells
    }

    /// Atomically lowers a vertex's value; returns whether that has changed it. Tests before it writes.
    #[inline(always)]
    pub fn min(&self, vertex: u32, value: u64) -> bool {
        let Some(cell) = self.0.at(vertex) else { return false };
        value < cell.load(Relaxed) && value < cell.fetch_min(value, Relaxed)
    }

    /// Atomically raises a vertex's value; returns whether that has changed it. Tests before it writes.
    #[inline(always)]
    pub fn max(&self, vertex: u32, value: u64) -> bool {
        let Some(cell) = self.0.at(vertex) else { return false };
        value > cell.load(Relaxed) && value > cell.fetch_max(value, Relaxed)
    }

    /// A vertex's value.
    #[inline(always)]
    pub fn get(&self, vertex: u32) -> u64 {
        self.0.known(vertex).load(Relaxed)
    }

    /// Atomically adds to a vertex's value modulo 2^64, if it may be written here.
    #[inline(always)]
    pub fn add(&self, vertex: u32, term: u64) {
        if let Some(cell) = self.0.at(vertex) {
            cell.fetch_add(term, Relaxed);
        }
    }

    /// Sets a vertex's value, if it may be written here.
    #[inline(always)]
    pub fn set(&self, vertex: u32, value: u64) {
        if let Some(cell) = self.0.at(vertex) {
            cell.store(value, Relaxed);
        }
    }

    /// Prefetches a vertex's value.
    #[inline(always)]
    pub fn prefetch(&self, vertex: u32) {
        self.0.prefetch(vertex);
    }
}
