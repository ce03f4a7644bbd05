//! Vertices as arguments name them.

use crate::error::{Error, Result};
use std::cmp::Reverse;
use topostream_formats::{Store, VertexId};

/// A vertex, by its original id or by a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The vertex with this original id.
    Original(u64),
    /// The vertex with the most out-edges; of several, the first.
    MaxDegree,
}

/// Reads an id, or `max-degree`.
///
/// # Errors
/// A sentence for the user where it is neither.
pub fn source(text: &str) -> Result<Source, String> {
    match text {
        "max-degree" => Ok(Source::MaxDegree),
        _ => text.parse().map(Source::Original).map_err(|_| "expected an id (from 0 on) or max-degree".into()),
    }
}

impl Source {
    /// The vertex that `--source` names.
    ///
    /// # Errors
    /// Where the graph has no such vertex.
    pub fn vertex(self, store: &Store) -> Result<VertexId> {
        self.vertex_of("--source", store)
    }

    /// The vertex that an option names.
    ///
    /// # Errors
    /// Where the graph has no such vertex.
    pub fn vertex_of(self, option: &str, store: &Store) -> Result<VertexId> {
        if let Self::Original(id) = self {
            let missing = || Error::Parameter(format!("{option} {id}: the graph has no vertex with that id"));
            return store.ids()?.vertex(id).ok_or_else(missing);
        }
        let degrees = store.out_degrees()?;
        let degrees = degrees.values().iter().enumerate();
        let largest = degrees.max_by_key(|&(vertex, degree)| (degree, Reverse(vertex)));
        let none = || Error::Parameter(format!("{option} max-degree: the graph has no vertices"));
        largest.map(|(vertex, _)| VertexId(vertex as u32)).ok_or_else(none)
    }
}

/// The vertices that an option names, each once, ascending.
///
/// # Errors
/// Where the graph does not have one of them.
pub fn distinct(option: &str, named: &[Source], store: &Store) -> Result<Vec<VertexId>> {
    let vertices = named.iter().map(|one| one.vertex_of(option, store));
    let mut vertices = vertices.collect::<Result<Vec<_>>>()?;
    vertices.sort_unstable();
    vertices.dedup();
    Ok(vertices)
}
