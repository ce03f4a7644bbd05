//! Sources from which a run searches, one after another: all vertices, some that are drawn at random, or given ones.
//!
//! A step has the source and its place in the table of sources among its integers: [`Sources::next`] is the part of a
//! rule that moves on to the next one.

use crate::model::Parameters;
use crate::model::algorithm::{Graph, Rounds, Table};
use crate::model::rule::{Flag, Integer, Now};
use std::collections::BTreeSet;
use std::sync::Arc;
use topostream_formats::VertexId;
use topostream_formats::random::SplitMix64;

/// Follows the last source, so that GPUs find the end of the table.
const NO_SOURCE: u32 = u32::MAX;
/// The name of the table.
const TABLE: &str = "sources";

/// The sources of a run.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::algorithms) struct Sources {
    /// In ascending order, then [`NO_SOURCE`]; `None` for all vertices.
    table: Option<Arc<Vec<u32>>>,
    /// Whether a sum over these sources is an estimate of that over all, which it is scaled to.
    whole: bool,
}

impl Sources {
    /// All vertices.
    pub fn all() -> Self {
        Self { table: None, whole: true }
    }

    /// So many different vertices of a graph: the same seed gives the same ones.
    pub fn sampled(vertices: u64, count: u64, seed: u64) -> Self {
        // Floyd's sampling (Bentley and Floyd, CACM 1987): each set of vertices is as likely as any other.
        let mut chosen = BTreeSet::new();
        let mut random = SplitMix64(seed);
        for last in vertices.saturating_sub(count)..vertices {
            let drawn = ((u128::from(random.draw()) * u128::from(last + 1)) >> 64) as u32;
            if !chosen.insert(drawn) {
                chosen.insert(last as u32);
            }
        }
        Self { table: Some(ended(chosen)), whole: true }
    }

    /// These vertices; duplicates count once.
    pub fn given(sources: &[VertexId]) -> Self {
        Self { table: Some(ended(sources.iter().map(|source| source.0).collect())), whole: false }
    }

    /// The sources; none if all vertices are.
    fn list(&self) -> Option<&[u32]> {
        self.table.as_ref().map(|table| &table[..table.len() - 1])
    }

    /// Whether a vertex is one of them.
    pub fn has(&self, vertex: VertexId) -> bool {
        self.list().is_none_or(|sources| sources.binary_search(&vertex.0).is_ok())
    }

    /// Their number, if not all vertices are sources.
    pub fn count(&self) -> Option<u64> {
        self.list().map(|sources| sources.len() as u64)
    }

    /// By how much a sum over the sources is multiplied.
    pub fn scale(&self, vertices: u64) -> f64 {
        let count = self.count().unwrap_or(vertices).max(1);
        if self.whole { vertices as f64 / count as f64 } else { 1.0 }
    }

    /// Whether a sum over the sources stands for that over all vertices.
    pub fn are_whole(&self) -> bool {
        self.whole
    }

    /// Checks that there is a source, and that all exist.
    pub fn check(&self, what: &str, graph: &Graph) -> Result<(), String> {
        match self.list() {
            Some([]) => Err(format!("{what} needs a source")),
            Some([.., last]) => graph.check_vertex("source", VertexId(*last)),
            None => Ok(()),
        }?;
        self.check_numbers(what, graph.vertices)
    }

    /// Checks that the last of 2^32 vertices, whose number ends the table of sources, is none of them.
    fn check_numbers(&self, what: &str, vertices: u64) -> Result<(), String> {
        match self.list() {
            Some([.., NO_SOURCE]) => Err(format!("{what}: vertex {NO_SOURCE} of the store cannot be a source")),
            None if vertices > NO_SOURCE.into() => {
                Err(format!("{what} from all of {vertices} vertices: expected fewer than 2^32"))
            }
            _ => Ok(()),
        }
    }

    /// Adds the sources to the parameters on which an answer depends.
    pub fn parameters(&self, parameters: Parameters) -> Parameters {
        match self.list() {
            Some(sources) => parameters.with_numbers("sources", sources),
            None => parameters.with("sources", "all"),
        }
    }

    /// The table of sources, if there is one.
    pub fn tables(&self) -> Vec<Table> {
        self.table.iter().map(|table| Table::given(TABLE, table)).collect()
    }

    /// Main memory of the sources, in bytes.
    pub fn held_bytes(&self) -> u64 {
        4 * self.count().unwrap_or(0)
    }

    /// A round for each source, which reads all lists `passes` times; `source` and `place` say where a step's integers
    /// hold the source and its place.
    pub fn rounds(&self, (source, place): (usize, usize), passes: f64) -> Rounds {
        let count = self.count();
        Rounds { count, number: if count.is_some() { place } else { source }, passes }
    }

    /// The first source.
    pub fn first(&self, vertices: u64) -> Option<u32> {
        match self.list() {
            Some(sources) => sources.first().copied(),
            None => (vertices > 0).then_some(0),
        }
    }

    /// The source after one, its place in the table, and whether there is none.
    pub fn next<'a>(
        &self,
        now: Now<'a>,
        source: Integer<'a>,
        place: Integer<'a>,
    ) -> (Integer<'a>, Integer<'a>, Flag<'a>) {
        match &self.table {
            None => (source + 1, now.integer_of(0), !(source + 1).number().less(now.vertices())),
            Some(table) => {
                let source = now.lookup(TABLE, table, place + 1);
                (source, place + 1, source.equals(NO_SOURCE))
            }
        }
    }
}

/// Sources in ascending order, and their end.
fn ended(sources: BTreeSet<u32>) -> Arc<Vec<u32>> {
    Arc::new(sources.into_iter().chain([NO_SOURCE]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_2_to_the_32_vertices_is_refused() {
        let given = |last| Sources::given(&[VertexId(3), VertexId(last)]).check_numbers("it", 1 << 32);
        assert_eq!(given(NO_SOURCE - 1), Ok(()));
        assert!(given(NO_SOURCE).is_err_and(|error| error.contains("vertex 4294967295")));
        assert_eq!(Sources::all().check_numbers("it", (1 << 32) - 1), Ok(()));
        assert!(Sources::all().check_numbers("it", 1 << 32).is_err_and(|error| error.contains("fewer than 2^32")));
    }
}
