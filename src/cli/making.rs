//! Making a store, of edges or of a part of another store: with progress bars and a summary.

use super::failure::{Failure, Outcome};
use super::printing::say;
use super::progress::Bars;
use super::store_report;
use crate::extract::{ExtractOptions, induced, induced_needs};
use crate::model::vertex_set::VertexSet;
use crate::store::{Store, VertexId};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use topostream_formats::{EdgeSource, Error, IdSpace, SourceInfo, WeightType};
use topostream_readers::{Taken, WithWeightType};
use topostream_tools::format::{FormatOptions, FormatReport, OpenSource, format, format_with_names_of, needed_bytes};
use topostream_tools::progress::Cancel;

/// Formats, with progress bars, and prints a summary.
pub fn format_with_report(
    open: &mut OpenSource<'_>,
    store: &Path,
    options: &FormatOptions,
    cancel: &Cancel,
) -> Result<(), Failure> {
    report(|bars| format(open, store, options, bars, cancel), store, None)
}

/// A remark if the input states another number of edges than it has.
fn remark(taken: &Taken, edges: u64) -> String {
    match taken.claimed.filter(|&claimed| claimed != edges) {
        Some(claimed) => {
            format!("\nhint: the header says {claimed} edges, and {edges} were read: is the file complete?")
        }
        None => String::new(),
    }
}

/// Makes a store, with progress bars, and prints a summary, with what was taken of the input and of its vertices.
pub fn report(
    make: impl FnOnce(&Bars) -> Result<FormatReport, Error>,
    store: &Path,
    taken: Option<(&Taken, &str)>,
) -> Result<(), Failure> {
    let started = Instant::now();
    let bars = Bars::default();
    let report = make(&bars)?;
    drop(bars);
    let taken =
        taken.map(|(taken, of_vertices)| line(taken) + of_vertices + &remark(taken, report.manifest.input_edges));
    say(&store_report::format(store, &report, taken.as_deref(), started.elapsed()))
}

/// What is taken of the input, for the summary.
pub fn line(taken: &Taken) -> String {
    let files = if taken.files > 1 { format!("{} files ", taken.files) } else { String::new() };
    let text = if taken.text.is_empty() { String::new() } else { format!(": {}", taken.text) };
    format!("read {files}as {}{text}", taken.kind)
}

/// Makes a store of some vertices of another, and the edges between them, with their weights as they are or of a type.
pub fn write_store(
    path: &Path,
    store: &Arc<Store>,
    wanted: &Arc<VertexSet>,
    (options, weights): (&FormatOptions, Option<WeightType>),
    cancel: &Cancel,
) -> Outcome {
    // Half of the remaining memory, and what is needed: the other half is for sorting.
    let rest = needed_bytes(&info(store, weights), 0, 0, 0, options);
    let half = options.memory_bytes.saturating_sub(rest) / 2;
    let memory_bytes = half.max(induced_needs(store, wanted.count()));
    let reading = ExtractOptions { memory_bytes, cancel: cancel.flag() };
    let mut open = || -> Result<Box<dyn EdgeSource>, Error> {
        let subgraph = induced(Arc::clone(store), Arc::clone(wanted), &reading);
        let subgraph = subgraph.map_err(|error| match error {
            crate::error::Error::Store(error) => error,
            crate::error::Error::Memory { what, needed_bytes, budget_bytes, parts } => {
                Error::Memory { what, needed_bytes, budget_bytes, parts }
            }
            other => Error::Invalid(other.to_string()),
        })?;
        Ok(match weights {
            Some(of) => Box::new(WithWeightType::new(Box::new(subgraph), of)?),
            None => Box::new(subgraph),
        })
    };
    let ids = store.ids()?;
    let make = |bars: &Bars| match ids.names() {
        Some(names) => format_with_names_of(&mut open, names, path, options, bars, cancel),
        None => format(&mut open, path, options, bars, cancel),
    };
    report(make, path, None)
}

/// The minimum main memory for reading the lists of this many vertices and making a store of them, in bytes.
pub fn building_bytes(
    store: &Store,
    options: &FormatOptions,
    vertices: u64,
    weights: Option<WeightType>,
) -> Result<u64, Failure> {
    let reading = induced_needs(store, vertices);
    let ids = store.ids()?;
    let last = store.vertices().checked_sub(1).filter(|_| ids.is_ascending());
    let largest = last.map_or(u64::MAX, |last| ids.original(VertexId(last as u32)));
    // The edges of all vertices are known; an undirected edge is listed at both ends.
    let listed = if store.manifest().directed { store.edges() } else { store.edges() / 2 };
    let edges = (vertices == store.vertices()).then_some(listed);
    Ok(needed_bytes(&SourceInfo { edges, ..info(store, weights) }, reading, vertices, largest, options))
}

/// What is known about a subgraph before it is extracted.
fn info(store: &Store, weights: Option<WeightType>) -> SourceInfo {
    let manifest = store.manifest();
    SourceInfo {
        name: String::new(),
        ids: IdSpace::Named,
        mirror: !manifest.directed,
        directed: manifest.directed,
        weights: weights.or(manifest.weights),
        edges: None,
        bytes: None,
    }
}

/// The error of a budget that is too small for a part of a graph: `needed_bytes` are enough, or as much as that.
pub fn refusal(what: &str, needed_bytes: u64, options: &FormatOptions, how_far: &str) -> Failure {
    Failure::Store(Error::Memory {
        what: what.into(),
        needed_bytes,
        budget_bytes: options.memory_bytes,
        parts: format!("finding vertices, then reading their lists and writing: {how_far} as much"),
    })
}
