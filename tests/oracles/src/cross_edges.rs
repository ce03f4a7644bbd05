//! Edges between sets of vertices, one by one.

use super::EdgeList;
use std::collections::HashSet;

/// Edges from one set into another, in the order of the edge vector.
pub fn cross_edges(graph: &EdgeList, from: &[u32], to: &[u32]) -> Vec<(u32, u32)> {
    let (from, to): (HashSet<u32>, HashSet<u32>) = (from.iter().copied().collect(), to.iter().copied().collect());
    graph.edges.iter().copied().filter(|(source, dest)| from.contains(source) && to.contains(dest)).collect()
}
