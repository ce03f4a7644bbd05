//! Vertex attributes: what an algorithm keeps for every vertex, declared as data so that any device can lay it out.

use crate::bits::Bits;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// The type of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeType {
    /// Unsigned 32-bit integers.
    U32,
    /// Single-precision floats.
    F32,
    /// Sums of non-negative numbers below 2 as 64-bit fixed point with 63 fractional bits: exact addition, so that a sum is
    /// the same bits in whatever order its terms come.
    Fixed63,
    /// One bit.
    Bit,
}

/// What the edge function does with an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Written, or read at random: it must be resident on the device (GTS: WA).
    Writable,
    /// Only read, at random: it must be resident on the device, but need not be merged.
    Gathered,
    /// Only read, and only of the vertex whose list it is: it may be streamed with its page (GTS: RA).
    ReadOnly,
}

/// How the values that two devices hold of an attribute become one at the end of a superstep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merge {
    /// Their sum.
    Add,
    /// The smaller.
    Min,
    /// The larger.
    Max,
    /// Either bit.
    Or,
}

/// The first value of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initial {
    /// The same bits for every vertex; 0 for [`AttributeType::Fixed63`] and [`AttributeType::Bit`].
    Bits(u32),
    /// Each vertex's own number; of [`AttributeType::U32`] only.
    Vertex,
}

impl Initial {
    /// The bits of a vertex's first value.
    pub fn of(self, vertex: u32) -> u32 {
        match self {
            Self::Bits(bits) => bits,
            Self::Vertex => vertex,
        }
    }
}

/// The declaration of one attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// For messages, and for the accessors that shaders get.
    pub name: &'static str,
    /// Its type.
    pub of: AttributeType,
    /// What happens to it within a superstep.
    pub role: Role,
    /// How two devices' values become one.
    pub merge: Merge,
    /// What it is at first.
    pub initial: Initial,
}

impl Attribute {
    /// Main memory for `vertices` values, in bytes.
    pub fn memory_bytes(&self, vertices: u64) -> u64 {
        match self.of {
            AttributeType::U32 | AttributeType::F32 => 4 * vertices,
            AttributeType::Fixed63 => 8 * vertices,
            AttributeType::Bit => Bits::memory_bytes(vertices),
        }
    }
}

/// The attributes of a run on the CPU device, in the order of their declaration.
#[derive(Debug)]
pub struct Attributes(Vec<Column>);

#[derive(Debug)]
enum Column {
    U32(U32Column),
    F32(F32Column),
    Fixed63(Fixed63Column),
    Bit(Bits),
}

/// A `u32` for every vertex.
#[derive(Debug)]
pub struct U32Column(Vec<AtomicU32>);

/// An `f32` for every vertex.
#[derive(Debug)]
pub struct F32Column(Vec<AtomicU32>);

/// A fixed-point sum for every vertex: see [`AttributeType::Fixed63`].
#[derive(Debug)]
pub struct Fixed63Column(Vec<AtomicU64>);

impl Attributes {
    /// Allocates the attributes, zeroed.
    pub fn new(declared: &[Attribute], vertices: u64) -> Self {
        let column = |attribute: &Attribute| match attribute.of {
            AttributeType::U32 => Column::U32(U32Column(zeroed(vertices))),
            AttributeType::F32 => Column::F32(F32Column(zeroed(vertices))),
            AttributeType::Fixed63 => Column::Fixed63(Fixed63Column(zeroed(vertices))),
            AttributeType::Bit => Column::Bit(Bits::new(vertices)),
        };
        Self(declared.iter().map(column).collect())
    }

    /// Sets the first values of some vertices, as declared.
    pub fn set_initial(&self, declared: &[Attribute], vertices: Range<u64>) {
        for (column, attribute) in self.0.iter().zip(declared) {
            if attribute.initial != Initial::Bits(0) {
                let numbers = vertices.clone().map(|vertex| vertex as u32);
                numbers.for_each(|vertex| column.set_bits(vertex, attribute.initial.of(vertex)));
            }
        }
    }

    /// Sets values as a device with memory of its own has them: 32-bit words, from a word on.
    pub fn set_words(&self, place: usize, first: u64, words: &[u32]) {
        let at = first as usize;
        match &self.0[place] {
            Column::U32(U32Column(values)) | Column::F32(F32Column(values)) => {
                values[at..].iter().zip(words).for_each(|(value, &word)| value.store(word, Relaxed));
            }
            Column::Fixed63(Fixed63Column(values)) => {
                let (pairs, _) = words.as_chunks::<2>();
                let wide = |&[low, high]: &[u32; 2]| u64::from(high) << 32 | u64::from(low);
                values[at / 2..].iter().zip(pairs).for_each(|(value, pair)| value.store(wide(pair), Relaxed));
            }
            Column::Bit(bits) => bits.set_words(at, words),
        }
    }

    /// Sets one value by its bits.
    pub fn set_bits(&self, place: usize, vertex: u32, bits: u32) {
        self.0[place].set_bits(vertex, bits);
    }

    /// The attribute that was declared at `place` as [`AttributeType::U32`].
    pub fn u32(&self, place: usize) -> &U32Column {
        match &self.0[place] {
            Column::U32(column) => column,
            other => panic!("attribute {place} is declared otherwise: {}", other.name()),
        }
    }

    /// The attribute that was declared at `place` as [`AttributeType::F32`].
    pub fn f32(&self, place: usize) -> &F32Column {
        match &self.0[place] {
            Column::F32(column) => column,
            other => panic!("attribute {place} is declared otherwise: {}", other.name()),
        }
    }

    /// The attribute that was declared at `place` as [`AttributeType::Fixed63`].
    pub fn fixed63(&self, place: usize) -> &Fixed63Column {
        match &self.0[place] {
            Column::Fixed63(column) => column,
            other => panic!("attribute {place} is declared otherwise: {}", other.name()),
        }
    }

    /// The attribute that was declared at `place` as [`AttributeType::Bit`].
    pub fn bits(&self, place: usize) -> &Bits {
        match &self.0[place] {
            Column::Bit(column) => column,
            other => panic!("attribute {place} is declared otherwise: {}", other.name()),
        }
    }
}

/// Zeros for every vertex.
pub(crate) fn zeroed<T: Default>(count: u64) -> Vec<T> {
    let mut zeros = crate::huge::vec_with_capacity(count as usize);
    zeros.resize_with(count as usize, T::default);
    zeros
}

impl Column {
    fn set_bits(&self, vertex: u32, bits: u32) {
        match self {
            Self::U32(column) => column.set(vertex, bits),
            Self::F32(column) => column.set(vertex, f32::from_bits(bits)),
            Self::Bit(column) => {
                if bits != 0 {
                    column.insert(vertex);
                }
            }
            Self::Fixed63(_) => panic!("sums begin at zero"),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::U32(_) => "u32",
            Self::F32(_) => "f32",
            Self::Fixed63(_) => "fixed63",
            Self::Bit(_) => "bit",
        }
    }
}

impl U32Column {
    /// Asks for a vertex's value ahead of its use.
    #[inline(always)]
    pub fn prefetch(&self, vertex: u32) {
        crate::prefetch::line_of(&self.0, vertex as usize);
    }

    /// Lowers a vertex's value, whoever else does at the same time; whether that has changed it. Tests before it writes.
    #[inline(always)]
    pub fn min(&self, vertex: u32, value: u32) -> bool {
        let cell = &self.0[vertex as usize];
        value < cell.load(Relaxed) && value < cell.fetch_min(value, Relaxed)
    }

    /// A vertex's value.
    #[inline(always)]
    pub fn get(&self, vertex: u32) -> u32 {
        self.0[vertex as usize].load(Relaxed)
    }

    /// Sets a vertex's value.
    #[inline(always)]
    pub fn set(&self, vertex: u32, value: u32) {
        self.0[vertex as usize].store(value, Relaxed);
    }
}

impl F32Column {
    /// Asks for a vertex's value ahead of its use.
    #[inline(always)]
    pub fn prefetch(&self, vertex: u32) {
        crate::prefetch::line_of(&self.0, vertex as usize);
    }

    /// A vertex's value.
    #[inline(always)]
    pub fn get(&self, vertex: u32) -> f32 {
        f32::from_bits(self.0[vertex as usize].load(Relaxed))
    }

    /// Sets a vertex's value.
    #[inline(always)]
    pub fn set(&self, vertex: u32, value: f32) {
        self.0[vertex as usize].store(value.to_bits(), Relaxed);
    }

    /// Adds to a vertex's value, whoever else does at the same time.
    #[inline(always)]
    pub fn add(&self, vertex: u32, term: f32) {
        let sum = |bits: u32| Some((f32::from_bits(bits) + term).to_bits());
        self.0[vertex as usize].fetch_update(Relaxed, Relaxed, sum).ok();
    }

    /// A vertex's value; it is zero from here on.
    #[inline(always)]
    pub fn take(&self, vertex: u32) -> f32 {
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
        self.0[vertex as usize].load(Relaxed) as f64 / ONE
    }

    /// A vertex's sum; it is zero from here on.
    #[inline(always)]
    pub fn take(&self, vertex: u32) -> f64 {
        let column = &self.0[vertex as usize];
        let sum = column.load(Relaxed);
        column.store(0, Relaxed);
        sum as f64 / ONE
    }

    /// Adds to a vertex's sum, whoever else does at the same time.
    #[inline(always)]
    pub fn add(&self, vertex: u32, fixed: u64) {
        self.0[vertex as usize].fetch_add(fixed, Relaxed);
    }

    /// Asks for a vertex's sum ahead of its use.
    #[inline(always)]
    pub fn prefetch(&self, vertex: u32) {
        crate::prefetch::line_of(&self.0, vertex as usize);
    }

    /// Sets a vertex's sum: for whoever has all of its terms.
    #[inline(always)]
    pub fn set(&self, vertex: u32, fixed: u64) {
        self.0[vertex as usize].store(fixed, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn fixed_point_sums_do_not_depend_on_order(mut terms in prop::collection::vec(0.0f64..0.01, 0..100), seed: u64) {
            let add_all = |terms: &[f64]| {
                let column = Fixed63Column(vec![AtomicU64::new(0)]);
                terms.iter().for_each(|&term| column.add(0, to_fixed63(term)));
                column.get(0)
            };
            let exact: f64 = terms.iter().sum();
            let sum = add_all(&terms);
            prop_assert!((sum - exact).abs() <= 1e-15);
            let at = seed as usize % terms.len().max(1);
            terms.rotate_left(at);
            terms.reverse();
            prop_assert_eq!(add_all(&terms).to_bits(), sum.to_bits());
        }
    }
}
