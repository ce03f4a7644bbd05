//! LDBC Graphalytics' validation: an answer is compared with the benchmark's reference output by its rules.
//!
//! ```text
//!  NAME-BFS, NAME-PR …, `vertex value` a line ─▶ vertex by id ─▶ every vertex once? ─▶ values match? ─▶ Comparison
//! ```
//!
//! The reference is read sequentially, one line at a time. Vertices are found by binary search in the store's ids, or
//! directly if the file has them in ascending order. So memory is one bit per vertex, and 8 bytes more for partitions.

use crate::error::{Error, Result};
use crate::model::algorithm::{Answer, AnswerValues};
use crate::model::bits::Bits;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use topostream_formats::text::plural;
use topostream_formats::{Error as FileError, OriginalIds, Store, VertexId};
use topostream_readers::VertexValues;

/// The level of an unreached vertex.
pub const UNREACHABLE: u64 = i64::MAX as u64;

/// The maximum difference of numbers, relative to the expected one.
pub const EPSILON: f64 = 1e-4;

/// The maximum number of mismatches that are listed.
const SHOWN_MAX: usize = 5;

/// The number of vertices between two checks for cancellation.
const CANCEL_CHECK_VERTICES: u64 = 1 << 16;

/// The size of the reader's buffers, in bytes; a decompressor may need more.
const READER_BYTES: u64 = 16 << 20;

/// The rule by which an answer matches the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Equal integers (BFS, CDLP); vertices are compared by original id.
    Exact,
    /// The same partition of vertices into groups, independent of labels (WCC).
    Partition,
    /// Numbers within [`EPSILON`] of the expected ones; infinity matches infinity only (PR, LCC, SSSP).
    Epsilon,
}

/// The result of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// The number of vertices that were compared: all of the graph.
    pub vertices: u64,
    /// The number of vertices whose values do not match.
    pub mismatches: u64,
    /// The first mismatches, in the order of the reference.
    pub first: Vec<Mismatch>,
}

/// A value that does not match.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// The vertex's original id.
    pub vertex: u64,
    /// The value in the reference.
    pub expected: String,
    /// The value in the answer.
    pub found: String,
}

impl Comparison {
    fn add(&mut self, vertex: u64, expected: impl fmt::Display, found: impl fmt::Display) {
        self.mismatches += 1;
        if self.first.len() < SHOWN_MAX {
            self.first.push(Mismatch { vertex, expected: expected.to_string(), found: found.to_string() });
        }
    }
}

/// Returns the main memory that [`compare`] needs besides the answer, in bytes.
pub fn memory_bytes(store: &Store, rule: Rule) -> u64 {
    let vertices = store.vertices();
    // Original ids, and their order if they do not ascend.
    let ids_bytes = 12 * vertices;
    let labels_bytes = if rule == Rule::Partition { 9 * vertices } else { 0 };
    ids_bytes + labels_bytes + Bits::memory_bytes(vertices) + READER_BYTES
}

/// Compares an answer over all vertices of a store with a reference output.
///
/// # Errors
/// An error with the line if the reference cannot be read or does not have every vertex of the store exactly once;
/// [`Error::Interrupted`].
pub fn compare(
    store: &Store,
    answer: &Answer<'_>,
    rule: Rule,
    reference: &Path,
    cancel: &AtomicBool,
) -> Result<Comparison> {
    let ids = store.ids()?;
    let mut lines = Lines {
        values: VertexValues::open(reference, READER_BYTES)?,
        places: Places::new(store.vertices(), &ids),
        seen: Bits::new(store.vertices()),
        count: 0,
        cancel,
    };
    match rule {
        Rule::Exact => compare_exactly(&mut lines, answer, &ids),
        Rule::Epsilon => compare_numbers(&mut lines, answer),
        Rule::Partition => compare_groups(&mut lines, answer, &ids),
    }
}

fn compare_exactly(lines: &mut Lines<'_>, answer: &Answer<'_>, ids: &OriginalIds) -> Result<Comparison> {
    let mut comparison = Comparison::default();
    while let Some((vertex, id, expected)) = lines.next_line::<u64>("a whole number")? {
        let found = whole(answer, vertex, ids)?.unwrap_or(UNREACHABLE);
        if found != expected {
            comparison.add(id, expected, found);
        }
    }
    lines.finish(comparison)
}

fn compare_numbers(lines: &mut Lines<'_>, answer: &Answer<'_>) -> Result<Comparison> {
    let mut comparison = Comparison::default();
    while let Some((vertex, id, expected)) = lines.next_line::<f64>("a number")? {
        let found = number(answer, vertex)?;
        if !is_near(expected, found) {
            comparison.add(id, format_args!("{expected:e}"), format_args!("{found:e}"));
        }
    }
    lines.finish(comparison)
}

/// Graphalytics' rule: if 0 is expected, the answer must be 0; NaN matches nothing.
fn is_near(expected: f64, found: f64) -> bool {
    let both_finite = found.is_finite() && expected.is_finite();
    found == expected || both_finite && (found - expected).abs() <= EPSILON * expected
}

/// Checks that every group of the answer has one label in the reference, and that no two groups have the same label.
fn compare_groups(lines: &mut Lines<'_>, answer: &Answer<'_>, ids: &OriginalIds) -> Result<Comparison> {
    let vertices = lines.places.vertices;
    // The label of each of the answer's groups, by the vertex that names the group; only valid for those in `labelled`.
    let (mut labels, labelled) = (vec![0u64; vertices as usize], Bits::new(vertices));
    let mut comparison = Comparison::default();
    while let Some((vertex, id, expected)) = lines.next_line::<u64>("a whole number")? {
        let group = group(answer, vertex)?;
        if labelled.insert(group) {
            labels[group as usize] = expected;
        } else if labels[group as usize] != expected {
            let (label, group) = (labels[group as usize], ids.original(VertexId(group)));
            comparison.add(id, expected, format_args!("{label}, like other vertices of the group of vertex {group}"));
        }
    }
    let mut groups: Vec<u32> = Vec::new();
    let mut next = labelled.next_set(0);
    while let Some(group) = next {
        groups.push(group as u32);
        next = labelled.next_set(group + 1);
    }
    groups.sort_unstable_by_key(|&group| (labels[group as usize], group));
    for pair in groups.windows(2) {
        let (label, other) = (labels[pair[0] as usize], labels[pair[1] as usize]);
        if label == other {
            let (vertex, group) = (ids.original(VertexId(pair[1])), ids.original(VertexId(pair[0])));
            let expected = format!("{label}, in the group of vertex {group}");
            comparison.add(vertex, expected, "a group of its own");
        }
    }
    lines.finish(comparison)
}

/// Returns a vertex's value in an answer of integers or vertices (as original ids); `None` if it has none.
fn whole(answer: &Answer<'_>, vertex: u32, ids: &OriginalIds) -> Result<Option<u64>> {
    match &answer.values {
        AnswerValues::Integer(of) => Ok(of.get(vertex)),
        AnswerValues::Vertex(of) => Ok(of.get(vertex).map(|vertex| ids.original(vertex))),
        AnswerValues::F64(_) => Err(unfit(answer, "whole numbers")),
    }
}

/// Returns a vertex's value in an answer of numbers; infinity if it has none.
fn number(answer: &Answer<'_>, vertex: u32) -> Result<f64> {
    match &answer.values {
        AnswerValues::F64(of) => Ok(of.get(vertex)),
        AnswerValues::Integer(of) => Ok(of.get(vertex).map_or(f64::INFINITY, |value| value as f64)),
        AnswerValues::Vertex(_) => Err(unfit(answer, "numbers")),
    }
}

/// Returns the vertex that names a vertex's group.
fn group(answer: &Answer<'_>, vertex: u32) -> Result<u32> {
    match &answer.values {
        AnswerValues::Vertex(of) => Ok(of.get(vertex).map_or(vertex, |group| group.0)),
        _ => Err(unfit(answer, "groups")),
    }
}

fn unfit(answer: &Answer<'_>, wanted: &str) -> Error {
    Error::Parameter(format!("the answer {:?} does not consist of {wanted}", answer.name))
}

/// Writes an answer in Graphalytics' format: lines of `vertex value`, by ascending id.
///
/// # Errors
/// The errors of `out`; [`io::ErrorKind::Interrupted`] once `cancel` is set.
pub fn write(
    out: &mut impl Write,
    answer: &Answer<'_>,
    ids: &OriginalIds,
    vertices: u64,
    cancel: &AtomicBool,
) -> io::Result<()> {
    let places = Places::new(vertices, ids);
    for place in 0..vertices {
        if place.is_multiple_of(CANCEL_CHECK_VERTICES) && cancel.load(Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let vertex = places.vertex(place);
        write!(out, "{} ", ids.original(VertexId(vertex)))?;
        match &answer.values {
            AnswerValues::F64(of) => write_number(out, of.get(vertex))?,
            AnswerValues::Integer(of) => write!(out, "{}", of.get(vertex).unwrap_or(UNREACHABLE))?,
            AnswerValues::Vertex(of) => {
                let value = of.get(vertex).map(|vertex| ids.original(vertex));
                write!(out, "{}", value.unwrap_or(UNREACHABLE))?;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Writes a number in a form that Java parses.
fn write_number(out: &mut impl Write, value: f64) -> io::Result<()> {
    if value.is_infinite() { out.write_all(b"Infinity") } else { write!(out, "{value:e}") }
}

/// The vertices by ascending original id.
struct Places<'a> {
    vertices: u64,
    ids: &'a OriginalIds,
    /// The vertices by ascending id; `None` if ids ascend with the vertices.
    order: Option<Vec<u32>>,
    /// The place after the one that was found last: the next one in ascending files.
    next: u64,
}

impl<'a> Places<'a> {
    fn new(vertices: u64, ids: &'a OriginalIds) -> Self {
        let order = (!ids.is_ascending()).then(|| {
            let mut order: Vec<u32> = (0..vertices).map(|vertex| vertex as u32).collect();
            order.sort_unstable_by_key(|&vertex| ids.original(VertexId(vertex)));
            order
        });
        Self { vertices, ids, order, next: 0 }
    }

    /// Returns the vertex whose id is at this place of the ascending order.
    fn vertex(&self, place: u64) -> u32 {
        self.order.as_ref().map_or(place as u32, |order| order[place as usize])
    }

    /// Returns the vertex with an id.
    fn find(&mut self, id: u64) -> Option<u32> {
        let id_at = |place| self.ids.original(VertexId(self.vertex(place)));
        let place = match self.next < self.vertices && id_at(self.next) == id {
            true => self.next,
            false => {
                let (mut low, mut high) = (0, self.vertices);
                while low < high {
                    let middle = low + (high - low) / 2;
                    (low, high) = if id_at(middle) < id { (middle + 1, high) } else { (low, middle) };
                }
                low
            }
        };
        if place >= self.vertices || id_at(place) != id {
            return None;
        }
        self.next = place + 1;
        Some(self.vertex(place))
    }
}

/// The lines of a reference, in which each vertex of the store may occur once.
struct Lines<'a> {
    values: VertexValues,
    places: Places<'a>,
    seen: Bits,
    count: u64,
    cancel: &'a AtomicBool,
}

impl Lines<'_> {
    /// Returns the next line's vertex, its original id and its value.
    fn next_line<T: FromStr>(&mut self, expected: &str) -> Result<Option<(u32, u64, T)>> {
        if self.count.is_multiple_of(CANCEL_CHECK_VERTICES) && self.cancel.load(Relaxed) {
            return Err(Error::Interrupted);
        }
        let Some((id, value)) = self.values.next_value(expected)? else { return Ok(None) };
        let Some(vertex) = self.places.find(id) else {
            let vertices = self.places.vertices;
            return Err(self.values.error(format!("one of the graph's {vertices} vertices")).into());
        };
        if !self.seen.insert(vertex) {
            return Err(self.values.error(format!("every vertex once, but vertex {id} occurs twice")).into());
        }
        self.count += 1;
        Ok(Some((vertex, id, value)))
    }

    /// Checks that every vertex has occurred.
    fn finish(&self, comparison: Comparison) -> Result<Comparison> {
        let vertices = self.places.vertices;
        let missing = (0..vertices).map(|place| self.places.vertex(place)).find(|&vertex| !self.seen.contains(vertex));
        let Some(missing) = missing else { return Ok(Comparison { vertices, ..comparison }) };
        let missing = self.places.ids.original(VertexId(missing));
        let expected = format!("a line for each of the graph's {vertices} {}", plural(vertices, "vertex"));
        let found = format!("{} {}, and none for vertex {missing}", self.count, plural(self.count, "line"));
        Err(FileError::file(self.values.path(), expected, found).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_match_by_the_benchmarks_rule() {
        let (far, none) = (f64::INFINITY, f64::NAN);
        for (expected, found) in
            [(0.0, 0.0), (1.0, 1.00009), (1.0, 0.99991), (far, far), (2e-9, 2.0001e-9), (0.0, -0.0)]
        {
            assert!(is_near(expected, found), "{expected} and {found}");
        }
        let wrong =
            [(0.0, 1e-300), (1.0, 1.00011), (1.0, 0.9998), (far, 1e300), (1e300, far), (1.0, none), (none, none)];
        for (expected, found) in wrong {
            assert!(!is_near(expected, found), "{expected} and {found}");
        }
        assert!(!is_near(far, -far) && !is_near(-far, far) && !is_near(far, none) && !is_near(none, 1.0));
    }

    #[test]
    fn numbers_are_written_as_java_reads_them() {
        let text = |value| {
            let mut out = Vec::new();
            write_number(&mut out, value).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!((text(f64::INFINITY), text(0.25)), ("Infinity".into(), "2.5e-1".into()));
        assert_eq!(text(1.0 / 3.0).parse::<f64>().unwrap(), 1.0 / 3.0);
    }
}
