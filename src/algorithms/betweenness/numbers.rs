//! The numbers that betweenness counts paths in: single precision, or double precision on the CPU only.

use crate::model::algorithm::Answer;
use crate::model::attributes::{AttributeType, Attributes, F32Column, F64Column};
use std::ops::{Add, AddAssign, Div, Mul};

/// A number of paths, or a sum of shares of them: `f32` or `f64`.
pub trait Number:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + AddAssign
    + Mul<Output = Self>
    + Div<Output = Self>
    + From<f32>
    + Into<f64>
    + Send
    + Sync
    + 'static
{
    /// One for each vertex.
    type Column: NumberColumn<Self>;
    /// The name of the algorithm with these numbers: its speed depends on them.
    const ALGORITHM: &'static str;
    /// The name of the precision.
    const PRECISION: &'static str;
    /// The type of the attributes.
    const TYPE: AttributeType;
    /// Whether WGSL has these numbers.
    const ON_GPUS: bool;
    /// The binary logarithm of the largest number of paths. Its inverse is a normal number, and so are shares of it.
    const PATHS_MAX_LOG2: u32;

    /// Creates a column of the answer from numbers of this precision.
    fn answer<'a>(name: &'static str, value: impl Fn(u32) -> f64 + Sync + 'a) -> Answer<'a>;

    /// Whether a number of paths, which is not negative, is above the largest one: infinity and NaN are, too.
    fn is_too_many(self) -> bool;

    /// The attribute that was declared at `place` with this [`TYPE`](Self::TYPE).
    fn column(attributes: &Attributes, place: usize) -> &Self::Column;
}

/// A number for every vertex that is held.
pub trait NumberColumn<N>: Sync + 'static {
    /// A vertex's value.
    fn get(&self, vertex: u32) -> N;
    /// Sets a vertex's value, if it may be written here.
    fn set(&self, vertex: u32, value: N);
    /// Atomically adds to a vertex's value, if it may be written here.
    fn add(&self, vertex: u32, term: N);
    /// Returns a vertex's value and resets it to zero.
    fn take(&self, vertex: u32) -> N;
}

impl Number for f32 {
    type Column = F32Column;
    const ALGORITHM: &'static str = "betweenness";
    const PRECISION: &'static str = "single";
    const TYPE: AttributeType = AttributeType::F32;
    const ON_GPUS: bool = true;
    const PATHS_MAX_LOG2: u32 = 120;

    #[inline(always)]
    fn is_too_many(self) -> bool {
        self.to_bits() > PATHS_MAX
    }

    fn answer<'a>(name: &'static str, value: impl Fn(u32) -> f64 + Sync + 'a) -> Answer<'a> {
        Answer::f32(name, move |vertex| value(vertex) as f32)
    }

    fn column(attributes: &Attributes, place: usize) -> &F32Column {
        attributes.f32(place)
    }
}

impl Number for f64 {
    type Column = F64Column;
    const ALGORITHM: &'static str = "betweenness-double";
    const PRECISION: &'static str = "double";
    const TYPE: AttributeType = AttributeType::F64;
    const ON_GPUS: bool = false;
    const PATHS_MAX_LOG2: u32 = 1000;

    #[inline(always)]
    fn is_too_many(self) -> bool {
        // As for `f32`: the exponent's bias, and the bits below the exponent.
        self.to_bits() > ((1023 + Self::PATHS_MAX_LOG2) as u64) << 52
    }

    fn answer<'a>(name: &'static str, value: impl Fn(u32) -> f64 + Sync + 'a) -> Answer<'a> {
        Answer::f64(name, value)
    }

    fn column(attributes: &Attributes, place: usize) -> &F64Column {
        attributes.f64(place)
    }
}

/// The largest number of paths in single precision, by its bits: numbers that are not negative have the order of their
/// bits.
pub(super) const PATHS_MAX: u32 = (127 + f32::PATHS_MAX_LOG2) << 23;

/// The columns have these methods themselves.
macro_rules! number_column {
    ($column:ident, $number:ident) => {
        impl NumberColumn<$number> for $column {
            #[inline(always)]
            fn get(&self, vertex: u32) -> $number {
                self.get(vertex)
            }

            #[inline(always)]
            fn set(&self, vertex: u32, value: $number) {
                self.set(vertex, value);
            }

            #[inline(always)]
            fn add(&self, vertex: u32, term: $number) {
                self.add(vertex, term);
            }

            #[inline(always)]
            fn take(&self, vertex: u32) -> $number {
                self.take(vertex)
            }
        }
    };
}

number_column!(F32Column, f32);
number_column!(F64Column, f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits() {
        let (single, double) = (2.0f32.powi(f32::PATHS_MAX_LOG2 as i32), 2.0f64.powi(f64::PATHS_MAX_LOG2 as i32));
        assert!(![0.0, 1.0, single].into_iter().any(Number::is_too_many));
        assert!([single.next_up(), f32::INFINITY, f32::NAN].into_iter().all(Number::is_too_many));
        assert!(![0.0, 1.0, double].into_iter().any(Number::is_too_many));
        assert!([double.next_up(), f64::INFINITY, f64::NAN].into_iter().all(Number::is_too_many));
        assert!((1.0 / single).is_normal() && (1.0 / double).is_normal());
    }
}
