//! Connected components by union-find.

use crate::{Answer, Arguments, Compare, Csr, EdgeList, Graph};

/// `components`: the least vertex of each vertex's component.
pub fn answer(graph: &Graph, _arguments: &Arguments<'_>) -> Answer {
    Answer::of("component", connected(&graph.out_lists), Compare::Exact)
}

/// The least vertex of every vertex's component, whichever way edges point.
pub fn components(graph: &EdgeList) -> Vec<u64> {
    connected(&graph.graph(true).out_lists).into_iter().map(|component| component as u64).collect()
}

/// Weakly connected components by union-find with path halving: each vertex's is called by its least vertex.
pub fn connected(lists: &Csr) -> Vec<f64> {
    let mut parents: Vec<u32> = (0..lists.vertices() as u32).collect();
    fn root(parents: &mut [u32], mut vertex: u32) -> u32 {
        while parents[vertex as usize] != vertex {
            let above = parents[parents[vertex as usize] as usize];
            parents[vertex as usize] = above;
            vertex = above;
        }
        vertex
    }
    for vertex in 0..lists.vertices() {
        for &neighbour in lists.list(vertex) {
            let (one, other) = (root(&mut parents, vertex as u32), root(&mut parents, neighbour));
            parents[one.max(other) as usize] = one.min(other);
        }
    }
    (0..lists.vertices() as u32).map(|vertex| root(&mut parents, vertex).into()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tests::lists;

    #[test]
    fn two_cycles_and_a_bridge() {
        let edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3), (5, 4)];
        let lists = lists(7, &edges.map(|(source, dest)| (source, dest, 1)));
        assert_eq!(connected(&lists), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 6.0]);
    }
}
