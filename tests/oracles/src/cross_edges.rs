//! Edges between sets of vertices.

use crate::{Answer, Arguments, Compare, Csr, EdgeList, Graph};
use std::collections::HashSet;

/// `cross-edges --from @even --to @odd`: how many edges each vertex of the first set has into the second.
pub fn answer(graph: &Graph, arguments: &Arguments<'_>) -> Answer {
    let parity = |name| match arguments.get(name) {
        Some("@even") => 0,
        Some("@odd") => 1,
        other => panic!("--{name} {other:?}: only @even and @odd are known"),
    };
    let (from, to) = (parity("from"), parity("to"));
    let counts = crossing(&graph.out_lists, |vertex| vertex % 2 == from, |vertex| vertex % 2 == to);
    Answer::of("cross_edges", counts, Compare::Exact)
}

/// How many edges of each vertex of a set lead into another.
pub fn crossing(out_lists: &Csr, from: impl Fn(u32) -> bool, to: impl Fn(u32) -> bool) -> Vec<f64> {
    // A set is looked up, not computed, edge by edge.
    let inside: Vec<bool> = (0..out_lists.vertices() as u32).map(to).collect();
    let count = |vertex: usize| out_lists.list(vertex).iter().filter(|&&neighbour| inside[neighbour as usize]).count();
    (0..out_lists.vertices()).map(|vertex| if from(vertex as u32) { count(vertex) as f64 } else { 0.0 }).collect()
}

/// Edges from one set into another, in the order of the edge vector.
pub fn cross_edges(graph: &EdgeList, from: &[u32], to: &[u32]) -> Vec<(u32, u32)> {
    let (from, to): (HashSet<u32>, HashSet<u32>) = (from.iter().copied().collect(), to.iter().copied().collect());
    graph.edges.iter().copied().filter(|(source, dest)| from.contains(source) && to.contains(dest)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tests::lists;

    #[test]
    fn of_a_path_with_a_loop() {
        let lists = lists(4, &[(0, 1, 1), (1, 2, 1), (2, 3, 1), (1, 1, 1), (3, 1, 1), (3, 1, 1)]);
        assert_eq!(crossing(&lists, |vertex| vertex > 0, |vertex| vertex < 2), [0.0, 1.0, 0.0, 2.0]);
    }
}
