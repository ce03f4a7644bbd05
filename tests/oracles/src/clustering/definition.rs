//! Clustering coefficients by the definition: every pair of neighbours is looked up among the edges.

use crate::EdgeList;
use std::collections::{BTreeSet, HashSet};

/// For each vertex, the share of ordered pairs of neighbours with an edge, and how many of them have one.
pub fn clustering(graph: &EdgeList) -> Vec<(f64, u64)> {
    let mut neighbours = vec![BTreeSet::new(); graph.vertices as usize];
    for &(source, dest) in graph.edges.iter().filter(|(source, dest)| source != dest) {
        neighbours[source as usize].insert(dest);
        neighbours[dest as usize].insert(source);
    }
    let edges: HashSet<(u32, u32)> = graph.edges.iter().copied().collect();
    let of = |neighbours: &BTreeSet<u32>| {
        let pairs = neighbours.iter().flat_map(|&one| neighbours.iter().map(move |&other| (one, other)));
        let linked = pairs.filter(|pair| pair.0 != pair.1 && edges.contains(pair)).count() as u64;
        let all = neighbours.len() as f64 * (neighbours.len() as f64 - 1.0);
        (if neighbours.len() < 2 { 0.0 } else { linked as f64 / all }, linked)
    };
    neighbours.iter().map(of).collect()
}
