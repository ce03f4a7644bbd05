//! The options by which a search shows a path, and writes it to a file.

use super::path::value;
use super::{Companion, Ends, Figure, Finished, Path, Shown, Source, SummaryItem, WriteFile, source};
use crate::error::Result;
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

/// Shows how much of the graph is reached, and the path.
pub fn shown(ends: Ends) -> Shown {
    Shown::Own(Box::new(move |run, store| {
        vec![SummaryItem::Reached, SummaryItem::Path(Path::of(ends, run, store.vertices()))]
    }))
}

/// Writes the path as CSV; only a header if there is none.
fn write(ends: Ends, run: &dyn Finished, store: &Store, out: &mut dyn Write) -> io::Result<()> {
    let answers = run.answers();
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(["vertex", answers.first().map_or("value", |answer| &*answer.name)])?;
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
