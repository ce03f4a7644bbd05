//! A path from the source of a search to a vertex, read from the parents in its answer.

use super::{Companion, Figure, Finished, Source, SummaryItem, WriteFile, source};
use crate::error::Result;
use crate::model::algorithm::{Answer, AnswerValues};
use clap::Args;
use std::io::{self, Write};
use std::path::PathBuf;
use topostream_formats::{Store, VertexId};

/// The target of a path.
#[derive(Args)]
pub struct PathArgs {
    /// Show a path from the source to this vertex, by its original id; also keeps parents
    #[arg(long, value_name = "ID", value_parser = source)]
    target: Option<Source>,
    /// Write that path to a CSV file: its vertices in order, each with its value
    #[arg(long, value_name = "FILE", requires = "target")]
    path: Option<PathBuf>,
}

impl PathArgs {
    /// Whether a path is requested, so that parents are needed.
    pub fn is_asked(&self) -> bool {
        self.target.is_some()
    }

    /// The ends of the path that is requested.
    ///
    /// # Errors
    /// If the graph has no such vertex.
    pub fn ends(&self, from: VertexId, store: &Store) -> Result<Option<Ends>> {
        let target = self.target.as_ref().map(|target| target.vertex_of("--target", store)).transpose()?;
        Ok(target.map(|target| Ends { source: from, target }))
    }

    /// The file of the path, if one is requested.
    pub fn file(&self, ends: Option<Ends>) -> Option<Companion> {
        let (path, ends) = (self.path.clone()?, ends?);
        let write: WriteFile = Box::new(move |run, store, out| write(ends, run, store, out));
        Some(Companion::File { path, write })
    }
}

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
    /// Those of `take`.
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

/// Shows how much of the graph is reached, and the path.
pub fn shown(ends: Ends) -> super::Shown {
    super::Shown::Own(Box::new(move |run, store| {
        vec![SummaryItem::Reached, SummaryItem::Path(Path::of(ends, run, store.vertices()))]
    }))
}

/// Writes the path as CSV; only a header if there is none.
fn write(ends: Ends, run: &dyn Finished, store: &Store, out: &mut dyn Write) -> io::Result<()> {
    let answers = run.answers();
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(["vertex", answers.first().map_or("value", |answer| answer.name)])?;
    Path::of(ends, run, store.vertices()).each(run, |vertices| {
        let ids = store.ids_of(vertices).map_err(io::Error::other)?;
        for (id, &vertex) in ids.iter().zip(vertices) {
            let value = match value(&answers, vertex) {
                Some(Figure::Integer(value)) => value.to_string(),
                Some(Figure::F64(value)) => format!("{value:?}"),
                Some(Figure::F32(value)) => format!("{value:?}"),
                None => String::new(),
            };
            csv.write_record([id.to_string(), value])?;
        }
        Ok::<_, io::Error>(true)
    })?;
    csv.flush()
}
