//! Columns of results as vectors, of a type that the caller chooses.

use crate::error::{Error, Result};
use crate::model::algorithm::{Answer, AnswerValues, Values};
use rayon::prelude::*;
use std::ops::{Deref, Index};
use topostream_formats::{OriginalIds, VertexId, memory};

/// The number of vertices that are converted at a time.
const CHUNK: usize = 1 << 12;

/// A column of a run's results for all vertices, in the order of the store: the index of a value is its [`VertexId`].
///
/// It dereferences to a slice of its values, and can be read by original id:
///
/// ```no_run
/// # use topostream::{Engine, EngineOptions, Store, algorithms::PageRank};
/// # let engine = Engine::new(Store::open("graph")?, EngineOptions::default());
/// let ranks = engine.run(PageRank::default())?.column::<f32>("rank")?;
/// let largest = ranks.iter().copied().fold(0.0, f32::max);
/// for (id, rank) in ranks.by_id(&engine.store().ids()?) {
///     println!("{id} {}", rank / largest);
/// }
/// # Ok::<(), topostream::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Column<T>(Vec<T>);

impl<T> Column<T> {
    /// Returns the value of a vertex; `None` if the graph has no such vertex.
    pub fn get(&self, vertex: VertexId) -> Option<&T> {
        self.0.get(vertex.0 as usize)
    }

    /// Returns original ids and values, in the order of the store.
    pub fn by_id<'a>(&'a self, ids: &'a OriginalIds) -> impl ExactSizeIterator<Item = (u64, &'a T)> + 'a {
        self.0.iter().enumerate().map(|(vertex, value)| (ids.original(VertexId(vertex as u32)), value))
    }

    /// Returns the values.
    pub fn into_vec(self) -> Vec<T> {
        self.0
    }
}

impl<T> Deref for Column<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> Index<VertexId> for Column<T> {
    type Output = T;

    /// Returns the value of a vertex.
    ///
    /// # Panics
    /// If the graph has no such vertex.
    fn index(&self, vertex: VertexId) -> &T {
        &self.0[vertex.0 as usize]
    }
}

/// A type that results can be read as.
///
/// | results | can be read as |
/// | --- | --- |
/// | numbers (`f64`) | `f64`; `f32`, rounded to the nearest |
/// | integers (`Option<u64>`) | `Option<u64>`, `Option<u32>`; `u64`, `u32` if every vertex has a value |
/// | vertices (`Option<VertexId>`) | `Option<VertexId>`; `VertexId` if every vertex has a value |
///
/// An integer that does not fit in 32 bits is an error.
pub trait ColumnValue: Copy + Default + Send + sealed::Read {}

mod sealed {
    use crate::model::algorithm::AnswerValues;

    /// The reason why a column cannot be read as a type.
    pub enum Misfit {
        /// Its values are of another kind.
        Type,
        /// A vertex has no value.
        Missing(u32),
        /// The integer of a vertex has more than 32 bits.
        Large(u32, u64),
    }

    pub trait Read: Sized {
        const NAME: &'static str;

        /// Fills the slice with the values of consecutive vertices, from `first` on.
        fn read(values: &AnswerValues<'_>, first: u32, into: &mut [Self]) -> Result<(), Misfit>;
    }
}

use sealed::Misfit;

/// Reads values through a buffer and converts them.
fn convert<S: Copy, T>(
    values: &Values<'_, S>,
    (first, into): (u32, &mut [T]),
    none: S,
    of: impl Fn(u32, S) -> Result<T, Misfit>,
) -> Result<(), Misfit> {
    let mut buffer = [none; 64];
    for (chunk, into) in into.chunks_mut(buffer.len()).enumerate() {
        let first = first + (chunk * buffer.len()) as u32;
        let read = &mut buffer[..into.len()];
        values.read(first, read);
        for (place, (&value, into)) in read.iter().zip(into).enumerate() {
            *into = of(first + place as u32, value)?;
        }
    }
    Ok(())
}

fn narrow(vertex: u32, value: u64) -> Result<u32, Misfit> {
    value.try_into().map_err(|_| Misfit::Large(vertex, value))
}

/// Implements a type that is read from one kind of column, by a function of vertex and value.
macro_rules! column_value {
    ($type:ty, $name:literal, $kind:ident, |$vertex:ident, $value:ident| $of:expr) => {
        impl sealed::Read for $type {
            const NAME: &'static str = $name;

            fn read(values: &AnswerValues<'_>, first: u32, into: &mut [Self]) -> Result<(), Misfit> {
                let AnswerValues::$kind(values) = values else { return Err(Misfit::Type) };
                convert(values, (first, into), Default::default(), |$vertex, $value| $of)
            }
        }

        impl ColumnValue for $type {}
    };
}

column_value!(f64, "f64", F64, |_vertex, value| Ok(value));
column_value!(f32, "f32", F64, |_vertex, value| Ok(value as f32));
column_value!(Option<u64>, "Option<u64>", Integer, |_vertex, value| Ok(value));
column_value!(Option<u32>, "Option<u32>", Integer, |vertex, value| {
    value.map(|value| narrow(vertex, value)).transpose()
});
column_value!(u64, "u64", Integer, |vertex, value| value.ok_or(Misfit::Missing(vertex)));
column_value!(u32, "u32", Integer, |vertex, value| { narrow(vertex, value.ok_or(Misfit::Missing(vertex))?) });
column_value!(Option<VertexId>, "Option<VertexId>", Vertex, |_vertex, value| Ok(value));
column_value!(VertexId, "VertexId", Vertex, |vertex, value| value.ok_or(Misfit::Missing(vertex)));

/// Reads a column by its name from an algorithm's results over `vertices` vertices, on all threads.
pub(super) fn read<T: ColumnValue>(
    algorithm: &str,
    answers: &[Answer<'_>],
    column: &str,
    vertices: u64,
) -> Result<Column<T>> {
    let failed = |message| Error::Column { algorithm: algorithm.to_owned(), column: column.to_owned(), message };
    let Some(answer) = answers.iter().find(|answer| answer.name == column) else {
        return Err(failed(format!("there is no such column; there are: {}", list(answers))));
    };
    let misfit = |misfit| {
        failed(match misfit {
            Misfit::Type => format!("it cannot be read as {}; the columns are: {}", T::NAME, list(answers)),
            Misfit::Missing(vertex) => {
                format!("vertex {vertex} (by number in the store) has no value; read it as Option<{}>", T::NAME)
            }
            Misfit::Large(vertex, value) => {
                format!("the value {value} of vertex {vertex} (by number in the store) does not fit in {}", T::NAME)
            }
        })
    };
    memory::probe(&format!("column {column:?}"), vertices * size_of::<T>() as u64)?;
    let mut values = vec![T::default(); vertices as usize];
    let chunks = values.par_chunks_mut(CHUNK).enumerate();
    let read = chunks.map(|(chunk, into)| T::read(&answer.values, (chunk * CHUNK) as u32, into));
    // Of several vertices that do not fit, the first is reported, whichever thread is faster.
    let results: Vec<_> = read.collect();
    results.into_iter().collect::<Result<(), Misfit>>().map_err(misfit)?;
    Ok(Column(values))
}

/// Lists the names and types of columns, for a message.
fn list(answers: &[Answer<'_>]) -> String {
    answers.iter().map(|answer| format!("{answer:?}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERTICES: u64 = 3 * CHUNK as u64 + 77;

    fn answers() -> Vec<Answer<'static>> {
        vec![
            Answer::f64("number", |vertex| 1.0 / f64::from(vertex + 1)),
            Answer::integer("some", |vertex| (vertex % 5 > 0).then_some(u64::from(vertex) * 3)),
            Answer::integer("large", |vertex| Some(u64::from(vertex) << 20)),
            Answer::vertex("other", |vertex| Some(vertex / 2)),
        ]
    }

    fn column<T: ColumnValue>(name: &str) -> Result<Column<T>> {
        read("test", &answers(), name, VERTICES)
    }

    fn error<T: ColumnValue + std::fmt::Debug>(name: &str) -> String {
        column::<T>(name).unwrap_err().to_string()
    }

    #[test]
    fn every_vertex_has_its_value() {
        let numbers: Vec<f64> = (1..=VERTICES).map(|divisor| 1.0 / divisor as f64).collect();
        assert_eq!(column::<f64>("number").unwrap().into_vec(), numbers);
        assert!(
            column::<f32>("number").unwrap().iter().zip(&numbers).all(|(&found, &expected)| found == expected as f32)
        );
        let some = |vertex: u64| (!vertex.is_multiple_of(5)).then_some(vertex * 3);
        assert!((0..VERTICES).map(some).eq(column::<Option<u64>>("some").unwrap().iter().copied()));
        let narrow = |vertex| some(vertex).map(|value| value as u32);
        assert!((0..VERTICES).map(narrow).eq(column::<Option<u32>>("some").unwrap().iter().copied()));
        assert!((0..VERTICES).map(|vertex| vertex << 20).eq(column::<u64>("large").unwrap().iter().copied()));
        let other = column::<VertexId>("other").unwrap();
        assert_eq!((other[VertexId(4099)], other.get(VertexId(VERTICES as u32))), (VertexId(2049), None));
        assert_eq!(column::<Option<VertexId>>("other").unwrap()[VertexId(9)], Some(VertexId(4)));
    }

    #[test]
    fn columns_that_cannot_be_read_are_errors() {
        let text = error::<f32>("rank");
        let columns = "number (f64), some (Option<u64>), large (Option<u64>), other (Option<VertexId>)";
        assert!(text.contains("test: column \"rank\"") && text.contains(columns), "{text}");
        for text in [error::<f64>("some"), error::<u64>("number"), error::<u64>("other"), error::<VertexId>("large")] {
            assert!(text.contains("cannot be read as") && text.contains(columns), "{text}");
        }
        assert!(error::<u64>("some").contains("has no value; read it as Option<u64>"));
        assert!(error::<u32>("some").contains("has no value; read it as Option<u32>"));
        assert!(
            error::<Option<u32>>("large").contains("vertex 4096 (by number in the store) does not fit in Option<u32>")
        );
    }
}
