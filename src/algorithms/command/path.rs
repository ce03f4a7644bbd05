//! A path from the source of a search to a vertex, read from the parents in its answer.

use super::{Figure, Finished};
use crate::model::algorithm::{Answer, AnswerValues};
use topostream_formats::VertexId;

/// The ends of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// The source of the search.
    pub source: VertexId,
    /// The last vertex.
    pub target: VertexId,
}

/// Every this many vertices of a path one is remembered: blocks between them are read again.
const BLOCK: u64 = 1 << 16;

/// A path, from a finished run whose second answer is parents. It takes little memory, however long it is.
pub struct Path {
    /// Its ends.
    pub ends: Ends,
    /// The number of its edges; `None` if the target is not reached.
    pub hops: Option<u64>,
    /// The vertices that are this many blocks from the target.
    marks: Vec<VertexId>,
}

impl Path {
    /// The path in a run's answer over a graph of this many vertices.
    pub fn of(ends: Ends, run: &dyn Finished, vertices: u64) -> Self {
        let answers = run.answers();
        let (mut vertex, mut hops, mut marks) = (ends.target, 0, Vec::new());
        loop {
            if hops % BLOCK == 0 {
                marks.push(vertex);
            }
            if vertex == ends.source {
                return Self { ends, hops: Some(hops), marks };
            }
            match parent(&answers, vertex).filter(|_| hops < vertices) {
                Some(above) => (vertex, hops) = (above, hops + 1),
                None => return Self { ends, hops: None, marks: Vec::new() },
            }
        }
    }

    /// Passes the vertices of the path from the source on, some at a time, until `take` returns false.
    ///
    /// # Errors
    /// The errors of `take`.
    pub fn each<E>(
        &self,
        run: &dyn Finished,
        mut take: impl FnMut(&[VertexId]) -> std::result::Result<bool, E>,
    ) -> std::result::Result<(), E> {
        let (answers, mut block) = (run.answers(), Vec::new());
        let Some(hops) = self.hops else { return Ok(()) };
        for (number, &mark) in self.marks.iter().enumerate().rev() {
            let length = (hops + 1 - number as u64 * BLOCK).min(BLOCK);
            block.clear();
            block.push(mark);
            while (block.len() as u64) < length {
                let last = block[block.len() - 1];
                block.push(parent(&answers, last).unwrap_or(last));
            }
            block.reverse();
            if !take(&block)? {
                break;
            }
        }
        Ok(())
    }
}

/// The parent of a vertex: the second answer.
fn parent(answers: &[Answer<'_>], vertex: VertexId) -> Option<VertexId> {
    match answers.get(1).map(|answer| &answer.values) {
        Some(AnswerValues::Vertex(parents)) => parents.get(vertex.0),
        _ => None,
    }
}

/// The value of a vertex: the first answer. `None` if it is not reached.
pub fn value(answers: &[Answer<'_>], vertex: VertexId) -> Option<Figure> {
    match &answers.first()?.values {
        AnswerValues::Integer(of) => of.get(vertex.0).map(Figure::Integer),
        AnswerValues::F64(of) => Some(of.get(vertex.0)).filter(|value| value.is_finite()).map(Figure::F64),
        AnswerValues::Vertex(_) => None,
    }
}
