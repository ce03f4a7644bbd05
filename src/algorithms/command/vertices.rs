//! Vertices in arguments.

use crate::error::{Error, Result};
use rayon::prelude::*;
use std::collections::HashSet;
use std::convert::Infallible;
use topostream_formats::{Store, VertexId, threads};

/// The number of degrees that a thread searches at once.
const PART: usize = 1 << 16;

/// A vertex, given by its original id or by a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The vertex with this original id, a number or a name.
    Original(String),
    /// The vertex with the most out-edges; of several, the one with the smallest id.
    MaxDegree,
}

/// Parses an id, a number or a name, or `max-degree`. What ids are like is known only when the store is opened: a name
/// may even be empty.
///
/// # Errors
/// None.
pub fn source(text: &str) -> Result<Source, Infallible> {
    Ok(Source::from(text))
}

impl From<&str> for Source {
    fn from(text: &str) -> Self {
        if text == "max-degree" { Self::MaxDegree } else { Self::Original(text.to_owned()) }
    }
}

impl Source {
    /// Returns the vertex that `--source` names.
    ///
    /// # Errors
    /// If the graph has no such vertex.
    pub fn vertex(&self, store: &Store) -> Result<VertexId> {
        self.vertex_of("--source", store)
    }

    /// Returns the vertex that an option names.
    ///
    /// # Errors
    /// If the graph has no such vertex.
    pub fn vertex_of(&self, option: &str, store: &Store) -> Result<VertexId> {
        Ok(vertices_of(option, &[self], store)?[0])
    }
}

/// Returns the vertices that an option names, in the same order. Ids are looked up together: that reads them once.
fn vertices_of(option: &str, named: &[&Source], store: &Store) -> Result<Vec<VertexId>> {
    let originals = || {
        named.iter().filter_map(|source| match source {
            Source::Original(id) => Some(id.as_str()),
            Source::MaxDegree => None,
        })
    };
    let is_id = |id: &&str| store.manifest().ids.is_names() || id.parse::<u64>().is_ok();
    if let Some(id) = originals().find(|id| !is_id(id)) {
        let message = format!("{option} {id}: expected an id of this graph (0 or larger) or max-degree");
        return Err(Error::Parameter(message));
    }
    let ids: Vec<&str> = originals().collect();
    let mut found = if ids.is_empty() { Vec::new() } else { store.vertices_of(&ids)? }.into_iter();
    let vertex = |source: &&Source| match source {
        Source::MaxDegree => max_degree(option, store),
        Source::Original(id) => {
            let missing = || Error::Parameter(format!("{option} {id}: the graph has no vertex with that id"));
            found.next().flatten().ok_or_else(missing)
        }
    };
    named.iter().map(vertex).collect()
}

/// The vertex with the largest out-degree; of several, the one with the smallest id, whatever the order of the store.
fn max_degree(option: &str, store: &Store) -> Result<VertexId> {
    threads::start_shared_pool()?;
    let degrees = store.out_degrees()?;
    let none = || Error::Parameter(format!("{option} max-degree: the graph has no vertices"));
    let first = first_largest(degrees.values()).ok_or_else(none)?;
    let largest = degrees.values()[first];
    let others = || (first + 1..degrees.values().len()).filter(|&vertex| degrees.values()[vertex] == largest);
    let found = if others().next().is_some() { smallest_id(store, first, others)? } else { first };
    // The run reads them next.
    store.keep_out_degrees(degrees);
    Ok(VertexId(found as u32))
}

/// Of several vertices, given in ascending order, the one with the smallest id: number, or name by its bytes.
fn smallest_id<I: Iterator<Item = usize>>(store: &Store, first: usize, others: impl Fn() -> I) -> Result<usize> {
    let mut found = first;
    if store.manifest().ids.is_names() {
        let ids = store.ids()?;
        let name = |vertex: usize| ids.names().map(|names| names.with_name(VertexId(vertex as u32), <[u8]>::to_vec));
        let mut smallest = name(first).transpose()?;
        for other in others() {
            let name = name(other).transpose()?;
            if name < smallest {
                (found, smallest) = (other, name);
            }
        }
    } else if !store.manifest().ids.is_ascending() {
        let (mut passed, mut smallest) = (0, u64::MAX);
        let mut wanted = std::iter::once(first).chain(others()).peekable();
        store.each_id(|ids| {
            while let Some(vertex) = wanted.next_if(|&vertex| vertex < passed + ids.len()) {
                let id = ids[vertex - passed];
                if id < smallest {
                    (found, smallest) = (vertex, id);
                }
            }
            passed += ids.len();
            wanted.peek().is_some()
        })?;
    }
    Ok(found)
}

/// The first vertex with the largest degree; `None` without vertices.
fn first_largest(degrees: &[u32]) -> Option<usize> {
    let largest = |part: &[u32]| part.iter().copied().max().expect("parts are not empty");
    let parts: Vec<u32> = degrees.par_chunks(PART).map(largest).collect();
    let largest = parts.iter().copied().max()?;
    let part = PART * parts.iter().position(|&of_part| of_part == largest)?;
    degrees[part..].iter().position(|&degree| degree == largest).map(|at| part + at)
}

/// Returns the distinct vertices that an option names, ascending.
///
/// # Errors
/// If the graph lacks one of them.
pub fn distinct(option: &str, named: &[Source], store: &Store) -> Result<Vec<VertexId>> {
    let mut vertices = vertices_of(option, &named.iter().collect::<Vec<_>>(), store)?;
    vertices.sort_unstable();
    vertices.dedup();
    Ok(vertices)
}

/// A vertex and its fixed value.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// The vertex.
    pub vertex: Source,
    /// The value.
    pub value: f32,
}

/// Parses `ID=VALUE`.
///
/// # Errors
/// A message for the user.
pub fn held_at(text: &str) -> Result<Held, String> {
    let (vertex, value) = text.rsplit_once('=').ok_or("expected ID=VALUE")?;
    if vertex.is_empty() {
        return Err("expected an id before `=`".into());
    }
    let value = value.parse().map_err(|_| format!("{value}: expected a number after `=`"))?;
    Ok(Held { vertex: vertex.into(), value })
}

/// Parses `ID=VALUE`, or `ID` for a value of 1.
///
/// # Errors
/// A message for the user.
pub fn held(text: &str) -> Result<Held, String> {
    if text.contains('=') { held_at(text) } else { Ok(Held { vertex: text.into(), value: 1.0 }) }
}

/// Returns the vertices that an option names, with their values.
///
/// # Errors
/// If the graph lacks one of them, or one is given twice.
pub fn held_vertices(option: &str, held: &[Held], store: &Store) -> Result<Vec<(VertexId, f32)>> {
    let (mut vertices, mut met) = (Vec::new(), HashSet::new());
    let named: Vec<&Source> = held.iter().map(|one| &one.vertex).collect();
    for (one, vertex) in held.iter().zip(vertices_of(option, &named, store)?) {
        if !met.insert(vertex) {
            let ids = store.ids_of(&[vertex])?;
            return Err(Error::Parameter(format!(
                "{option} {}: duplicate vertex, which can be held at one value only",
                ids[0]
            )));
        }
        vertices.push((vertex, one.value));
    }
    Ok(vertices)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_the_largest_degrees_is_found_in_any_part() {
        assert_eq!(first_largest(&[]), None);
        assert_eq!(first_largest(&[0]), Some(0));
        let mut degrees = vec![1; 2 * PART + 3];
        assert_eq!(first_largest(&degrees), Some(0));
        for at in [2 * PART + 2, PART + 5, PART, PART - 1, 7] {
            degrees[at] = 9;
            assert_eq!(first_largest(&degrees), Some(at), "larger places have it too");
        }
    }
}
