//! The rows and columns of a file of results.

use crate::model::algorithm::{Answer, Values};
use topostream_formats::OriginalIds;

/// What is written: columns, and the vertices whose values they have.
#[derive(Clone, Copy)]
pub struct Columns<'a> {
    pub answers: &'a [Answer<'a>],
    pub ids: &'a OriginalIds,
    /// The number of vertices of the graph.
    pub vertices: u64,
    /// The vertices of the rows, in order; `None` for all of them.
    pub chosen: Option<&'a [u32]>,
    /// The run: names and values.
    pub metadata: &'a [(String, String)],
}

/// Consecutive rows: their vertices.
#[derive(Clone, Copy)]
pub enum Rows<'a> {
    /// The first vertex, and the number of rows.
    Range(u32, usize),
    Chosen(&'a [u32]),
}

impl Columns<'_> {
    /// The number of rows.
    pub fn rows(&self) -> u64 {
        self.chosen.map_or(self.vertices, |chosen| chosen.len() as u64)
    }

    /// All rows, at most `count` at a time.
    pub fn batches(&self, count: u64) -> impl Iterator<Item = Rows<'_>> {
        (0..self.rows()).step_by(count as usize).map(move |first| {
            let count = count.min(self.rows() - first) as usize;
            match self.chosen {
                Some(chosen) => Rows::Chosen(&chosen[first as usize..first as usize + count]),
                None => Rows::Range(first as u32, count),
            }
        })
    }
}

impl Rows<'_> {
    /// The number of rows.
    pub fn count(&self) -> usize {
        match self {
            Self::Range(_, count) => *count,
            Self::Chosen(vertices) => vertices.len(),
        }
    }

    /// The vertex of a row.
    pub fn vertex(&self, row: usize) -> u32 {
        match self {
            Self::Range(first, _) => first + row as u32,
            Self::Chosen(vertices) => vertices[row],
        }
    }

    /// The vertices, in order.
    pub fn vertices(&self) -> impl Iterator<Item = u32> {
        (0..self.count()).map(|row| self.vertex(row))
    }

    /// The values of a column.
    pub fn values<T: Clone + Default>(&self, of: &Values<'_, T>) -> Vec<T> {
        match self {
            Self::Range(first, count) => {
                let mut values = vec![T::default(); *count];
                of.read(*first, &mut values);
                values
            }
            Self::Chosen(vertices) => vertices.iter().map(|&vertex| of.get(vertex)).collect(),
        }
    }
}
