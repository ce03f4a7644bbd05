//! Degrees, and how often each occurs.

use crate::{Answer, Arguments, Compare, Csr, EdgeList, Graph};

/// `degrees`: in-degrees of a directed graph, and out-degrees.
pub fn answer(graph: &Graph, _arguments: &Arguments<'_>) -> Answer {
    let columns = match graph.directed {
        true => vec![("in_degree", in_degrees(&graph.out_lists))],
        false => Vec::new(),
    };
    Answer { columns, compare: Compare::Exact }
}

/// How many edges end at each vertex.
pub fn in_degrees(out_lists: &Csr) -> Vec<f64> {
    let mut degrees = vec![0u32; out_lists.vertices()];
    for vertex in 0..out_lists.vertices() {
        out_lists.list(vertex).iter().for_each(|&neighbour| degrees[neighbour as usize] += 1);
    }
    degrees.into_iter().map(f64::from).collect()
}

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
