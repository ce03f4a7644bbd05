//! The results of an algorithm: named columns with one value for every vertex, of three types.
//!
//! An algorithm provides a function from vertices to values. It is compiled together with the loop over the vertices,
//! so that columns are read in chunks, as slices:
//!
//! ```
//! use topostream::model::algorithm::{Answer, AnswerValues};
//!
//! let squares = Answer::f64("square", |vertex| f64::from(vertex).powi(2));
//! let AnswerValues::F64(values) = &squares.values else { unreachable!() };
//! let mut chunk = [0.0; 3];
//! values.read(4, &mut chunk);
//! assert_eq!(chunk, [16.0, 25.0, 36.0]);
//! ```

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use topostream_formats::VertexId;

/// The number of values that an iterator reads at a time.
const CHUNK: usize = 1 << 12;

/// A column of an algorithm's results.
pub struct Answer<'a> {
    /// The column's name, also used in files.
    pub name: Cow<'static, str>,
    /// The values.
    pub values: AnswerValues<'a>,
    /// Whether numbers are of single precision: files of text then have the digits that an `f32` needs.
    pub is_single: bool,
}

/// The values of a column, by type.
pub enum AnswerValues<'a> {
    /// Numbers.
    F64(Values<'a, f64>),
    /// Integers; `None` is written as -1.
    Integer(Values<'a, Option<u64>>),
    /// Vertices, written as their original ids; `None` is written as -1.
    Vertex(Values<'a, Option<VertexId>>),
}

impl<'a> Answer<'a> {
    /// Creates a column of numbers.
    pub fn f64(name: impl Into<Cow<'static, str>>, value: impl Fn(u32) -> f64 + Sync + 'a) -> Self {
        Self { name: name.into(), values: AnswerValues::F64(Values::new(value)), is_single: false }
    }

    /// Creates a column of numbers of single precision, which are read as `f64`.
    pub fn f32(name: impl Into<Cow<'static, str>>, value: impl Fn(u32) -> f32 + Sync + 'a) -> Self {
        let values = AnswerValues::F64(Values::new(move |vertex| f64::from(value(vertex))));
        Self { name: name.into(), values, is_single: true }
    }

    /// Creates a column of integers, which may be missing for some vertices.
    pub fn integer(name: impl Into<Cow<'static, str>>, value: impl Fn(u32) -> Option<u64> + Sync + 'a) -> Self {
        Self { name: name.into(), values: AnswerValues::Integer(Values::new(value)), is_single: false }
    }

    /// Creates a column of vertices, which may be missing for some vertices.
    pub fn vertex(name: impl Into<Cow<'static, str>>, value: impl Fn(u32) -> Option<u32> + Sync + 'a) -> Self {
        let values = AnswerValues::Vertex(Values::new(move |vertex| value(vertex).map(VertexId)));
        Self { name: name.into(), values, is_single: false }
    }
}

impl AnswerValues<'_> {
    /// The Rust type of the values.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::F64(_) => "f64",
            Self::Integer(_) => "Option<u64>",
            Self::Vertex(_) => "Option<VertexId>",
        }
    }
}

impl fmt::Debug for Answer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.values.type_name())
    }
}

/// The values of a column, for any thread. They are computed when they are read: a column uses no memory of its own.
pub struct Values<'a, T>(Box<dyn Source<T> + 'a>);

/// Reads one value or many; the loop over many is compiled together with the function.
trait Source<T>: Sync {
    fn get(&self, vertex: u32) -> T;
    fn read(&self, first: u32, into: &mut [T]);
}

impl<T, F: Fn(u32) -> T + Sync> Source<T> for F {
    fn get(&self, vertex: u32) -> T {
        self(vertex)
    }

    fn read(&self, first: u32, into: &mut [T]) {
        // A range from `first` on would overflow after the last of 2^32 vertices.
        for (place, value) in into.iter_mut().enumerate() {
            *value = self(first + place as u32);
        }
    }
}

impl<'a, T> Values<'a, T> {
    /// Creates values from a function.
    #[doc(hidden)]
    pub fn new(value: impl Fn(u32) -> T + Sync + 'a) -> Self {
        Self(Box::new(value))
    }

    /// The value of one vertex.
    pub fn get(&self, vertex: u32) -> T {
        self.0.get(vertex)
    }

    /// The values of the first vertices, read in chunks.
    pub fn iter(&self, vertices: u64) -> impl Iterator<Item = T>
    where
        T: Clone + Default,
    {
        self.iter_range(0..vertices)
    }

    /// The values of consecutive vertices, read in chunks.
    pub fn iter_range(&self, vertices: Range<u64>) -> impl Iterator<Item = T>
    where
        T: Clone + Default,
    {
        let end = vertices.end;
        vertices.step_by(CHUNK).flat_map(move |first| {
            let mut chunk = vec![T::default(); CHUNK.min((end - first) as usize)];
            self.read(first as u32, &mut chunk);
            chunk
        })
    }

    /// Passes the values of consecutive vertices in slices, each with its first vertex. Faster than an iterator.
    pub fn for_each_slice(&self, vertices: Range<u64>, mut take: impl FnMut(u32, &[T]))
    where
        T: Clone + Default,
    {
        let mut values = vec![T::default(); CHUNK];
        for first in vertices.clone().step_by(CHUNK) {
            let here = &mut values[..CHUNK.min((vertices.end - first) as usize)];
            self.read(first as u32, here);
            take(first as u32, here);
        }
    }

    /// Writes the values of consecutive vertices, beginning with `first`, until the slice is full.
    pub fn read(&self, first: u32, into: &mut [T]) {
        self.0.read(first, into);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_hold_the_values_of_their_vertices() {
        let values = Values::new(|vertex| (vertex % 3 > 0).then_some(u64::from(vertex)));
        let mut chunk = [None; 5];
        values.read(u32::MAX - 4, &mut chunk);
        for (vertex, value) in (u32::MAX - 4..=u32::MAX).zip(chunk) {
            assert_eq!(value, values.get(vertex));
        }
        values.read(7, &mut []);
        for vertices in [0, 1, 4096, 10_000] {
            assert!(values.iter(vertices).eq((0..vertices as u32).map(|vertex| values.get(vertex))));
            let from = vertices / 3;
            let each = (from as u32..vertices as u32).map(|vertex| values.get(vertex));
            assert!(values.iter_range(from..vertices).eq(each));
            let mut passed = Vec::new();
            values.for_each_slice(from..vertices, |first, values| passed.extend((first..).zip(values.to_vec())));
            assert!(passed.into_iter().eq((from as u32..vertices as u32).map(|vertex| (vertex, values.get(vertex)))));
        }
    }
}
