//! Degrees and how often each occurs: the ends of the edges, sorted, and counted as they stand beside each other.

use super::EdgeList;

/// How many of the ends of edges each vertex is.
pub fn degrees(graph: &EdgeList, incoming: bool) -> Vec<u64> {
    let mut ends: Vec<u32> = graph.edges.iter().map(|&(source, dest)| if incoming { dest } else { source }).collect();
    ends.sort_unstable();
    let count = |vertex: u32| ends.partition_point(|&end| end <= vertex) - ends.partition_point(|&end| end < vertex);
    (0..graph.vertices).map(|vertex| count(vertex) as u64).collect()
}

/// Each value that occurs, ascending, and how often.
pub fn counts(values: &[u64]) -> Vec<(u64, u64)> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.chunk_by(|a, b| a == b).map(|alike| (alike[0], alike.len() as u64)).collect()
}
