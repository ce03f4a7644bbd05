//! Whether a run may take long because the graph is long: as far as that can be told before it.
//!
//! An algorithm that goes from neighbour to neighbour takes as many supersteps as there are hops between the vertices
//! that are farthest apart. In most graphs these are few. In a path they are as many as there are vertices, and every
//! superstep takes some time even if it visits one list. Degrees do not tell a path from a tree; a long list tells that
//! a graph is no path.

use crate::model::algorithm::{Declaration, SmallSteps};
use topostream_formats::Store;

/// Nanoseconds of a superstep that visits a few lists, of a vertex in a vertex phase, and of an edge, on one core:
/// docs/decisions/0035.
const SUPERSTEP_NS: f64 = 4e3;
const VERTEX_NS: f64 = 1.0;
const EDGE_NS: f64 = 5.0;

/// How often [`SmallSteps::Rounds`] read a list of a path of 10^6 shuffled vertices, at least:
/// bench/results/shapes.json.
const ROUNDS: f64 = 3.0;

/// The longest list of graphs that may be long. Lists of roads and meshes are shorter.
const DEGREE_MAX: u32 = 16;

/// The time from which on a run is long, in nanoseconds.
const LONG_NS: f64 = 10e9;

/// A run that may take long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LongPaths {
    /// The longest list of the graph.
    pub degree_max: u32,
    /// What a superstep takes in which few vertices are active.
    pub small: SmallSteps,
    /// The time of such a superstep, in nanoseconds.
    pub superstep_ns: f64,
    /// The time of as many of them as there are vertices.
    pub longest_ns: f64,
}

impl LongPaths {
    /// Returns what a run may take, if no degree of the graph speaks against long paths and these would take long.
    pub fn of(declaration: &Declaration, store: &Store) -> Option<Self> {
        Self::at_size(declaration, store, 1)
    }

    /// As [`of`](Self::of), for a graph like the store's that is this many times as large.
    pub fn at_size(declaration: &Declaration, store: &Store, times: u64) -> Option<Self> {
        let manifest = store.manifest();
        let lists = [Some(&manifest.out), manifest.in_lists.as_ref()];
        let degree_max = lists.into_iter().flatten().map(|lists| lists.degree_max).max()?;
        Self::in_graph(declaration.small_steps?, degree_max, times * store.vertices(), times * store.edges())
    }

    fn in_graph(small: SmallSteps, degree_max: u32, vertices: u64, edges: u64) -> Option<Self> {
        let superstep_ns = SUPERSTEP_NS
            + match small {
                SmallSteps::Lists | SmallSteps::Rounds => 0.0,
                SmallSteps::Vertices => VERTEX_NS * vertices as f64,
                SmallSteps::AllLists => VERTEX_NS * vertices as f64 + EDGE_NS * edges as f64,
            };
        let times = if small == SmallSteps::Rounds { ROUNDS } else { 1.0 };
        let longest_ns = times * superstep_ns * vertices as f64;
        let long = Self { degree_max, small, superstep_ns, longest_ns };
        (degree_max <= DEGREE_MAX && longest_ns > LONG_NS).then_some(long)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphs_that_may_be_long_are_noted_where_that_takes_time() {
        let takes = |small, degree_max, vertices: u64| {
            LongPaths::in_graph(small, degree_max, vertices, 2 * vertices).map(|long| (long.longest_ns / 1e9).round())
        };
        assert_eq!(takes(SmallSteps::Vertices, 2, 1_000_000), Some(1004.0));
        assert_eq!(takes(SmallSteps::AllLists, 16, 1_000_000), Some(11_004.0));
        assert_eq!(takes(SmallSteps::AllLists, 17, 1_000_000), None, "a hub");
        assert_eq!(takes(SmallSteps::Lists, 2, 1_000_000), None, "microseconds each");
        assert_eq!(takes(SmallSteps::Lists, 2, 5_000_000), Some(20.0));
        assert_eq!(takes(SmallSteps::Rounds, 2, 1_000_000), Some(12.0));
        assert_eq!(takes(SmallSteps::Vertices, 2, 50_000), None);
    }
}
