//! Betweenness by its definition: for each pair, the share of shortest paths that lead through a vertex, from distances
//! and numbers of paths between all pairs.

use crate::EdgeList;
use std::collections::VecDeque;

/// Hops from a vertex (`usize::MAX`: none), and how many shortest paths there are.
fn paths(lists: &[Vec<usize>], from: usize) -> (Vec<usize>, Vec<f64>) {
    let (mut hops, mut count) = (vec![usize::MAX; lists.len()], vec![0.0; lists.len()]);
    (hops[from], count[from]) = (0, 1.0);
    let mut queue = VecDeque::from([from]);
    while let Some(vertex) = queue.pop_front() {
        for &neighbour in &lists[vertex] {
            if hops[neighbour] == usize::MAX {
                hops[neighbour] = hops[vertex] + 1;
                queue.push_back(neighbour);
            }
            if hops[neighbour] == hops[vertex] + 1 {
                count[neighbour] += count[vertex];
            }
        }
    }
    (hops, count)
}

/// For every vertex, the sum over these sources and all ends of the share of shortest paths that lead through it.
pub fn betweenness(graph: &EdgeList, sources: &[u32]) -> Vec<f64> {
    let lists = graph.lists(true);
    let of_sources: Vec<_> = sources.iter().map(|&source| (source as usize, paths(&lists, source as usize))).collect();
    let through = |vertex: usize| {
        let (hops, count) = paths(&lists, vertex);
        let mut sum = 0.0;
        for (source, (from_hops, from_count)) in &of_sources {
            if *source == vertex || from_hops[vertex] == usize::MAX {
                continue;
            }
            for end in (0..lists.len()).filter(|&end| end != vertex && end != *source && hops[end] != usize::MAX) {
                if from_hops[vertex] + hops[end] == from_hops[end] {
                    sum += from_count[vertex] * count[end] / from_count[end];
                }
            }
        }
        sum
    };
    (0..lists.len()).map(through).collect()
}
