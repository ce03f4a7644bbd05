//! Graphs as compressed sparse rows.

use crate::EdgeList;

/// Compressed sparse rows: the list of vertex `v` is `neighbours[offsets[v]..offsets[v + 1]]`.
#[derive(Clone, Debug)]
pub struct Csr {
    offsets: Vec<u64>,
    neighbours: Vec<u32>,
    /// Bits of weights; empty if there are none.
    weights: Vec<u32>,
}

/// The type of weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weights {
    /// Whole numbers.
    U32,
    /// Single-precision numbers, by their bits.
    F32,
}

/// A graph as plain arrays.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The out-lists, with weights where the graph has them.
    pub out_lists: Csr,
    against: Option<Csr>,
    /// False where every edge stands in the lists of both of its ends.
    pub directed: bool,
    /// The type of the weights, if there are any.
    pub weights: Option<Weights>,
    hub: u32,
}

impl Graph {
    /// A graph of lists; those against the edges only where it is directed.
    pub fn new(out_lists: Csr, against: Option<Csr>, directed: bool, weights: Option<Weights>) -> Self {
        let hub = (0..out_lists.vertices()).rev().max_by_key(|&vertex| out_lists.degree(vertex));
        Self { hub: hub.unwrap_or(0) as u32, out_lists, against, directed, weights }
    }

    /// A graph of edges, with their weights.
    pub fn of_edges(graph: &EdgeList, weights: Option<(&[u32], Weights)>, directed: bool) -> Self {
        let of_edge = |edge: usize| weights.map_or(0, |(weights, _)| weights[edge]);
        let edges = || graph.edges.iter().enumerate();
        let out: Vec<_> = edges().map(|(edge, &(source, dest))| (source, dest, of_edge(edge))).collect();
        let against = || edges().map(|(edge, &(source, dest))| (dest, source, of_edge(edge))).collect();
        let against = directed.then(|| Csr::of(graph.vertices, against(), weights.is_some()));
        let out = Csr::of(graph.vertices, out, weights.is_some());
        Self::new(out, against, directed, weights.map(|(_, of)| of))
    }

    /// The lists against the edges; of an undirected graph they are the others.
    ///
    /// # Panics
    /// Where the graph is directed and has none.
    pub fn in_lists(&self) -> &Csr {
        match &self.against {
            Some(lists) => lists,
            None => {
                assert!(!self.directed, "the graph has no in-lists");
                &self.out_lists
            }
        }
    }

    /// The number of vertices.
    pub fn vertices(&self) -> usize {
        self.out_lists.vertices()
    }

    /// The vertex with the most out-edges; of several, the first.
    pub fn hub(&self) -> u32 {
        self.hub
    }

    /// Whether there are no repeated edges and no loops.
    pub fn is_distinct(&self) -> bool {
        // Lists ascend.
        let distinct = |(vertex, list): (usize, &[u32])| {
            !list.contains(&(vertex as u32)) && list.windows(2).all(|pair| pair[0] < pair[1])
        };
        (0..self.vertices()).map(|vertex| (vertex, self.out_lists.list(vertex))).all(distinct)
    }
}

impl Csr {
    /// Lists from their parts: `offsets` has one more than there are vertices, `weights` are bits, or empty.
    pub fn new(offsets: Vec<u64>, neighbours: Vec<u32>, weights: Vec<u32>) -> Self {
        assert!(weights.is_empty() || weights.len() == neighbours.len(), "a weight for each edge, or none");
        Self { offsets, neighbours, weights }
    }

    /// Lists of edges, each (list's vertex, neighbour, bits of the weight).
    pub fn of(vertices: u32, edges: Vec<(u32, u32, u32)>, weighted: bool) -> Self {
        let mut offsets = vec![0; vertices as usize + 1];
        edges.iter().for_each(|&(vertex, ..)| offsets[vertex as usize + 1] += 1);
        (0..vertices as usize).for_each(|vertex| offsets[vertex + 1] += offsets[vertex]);
        // Each list is sorted by itself: sorting all edges at once takes longer than most runs.
        let (mut next, mut lists) = (offsets.clone(), vec![(0, 0); edges.len()]);
        for (vertex, neighbour, weight) in edges {
            lists[next[vertex as usize] as usize] = (neighbour, weight);
            next[vertex as usize] += 1;
        }
        offsets.windows(2).for_each(|list| lists[list[0] as usize..list[1] as usize].sort_unstable());
        let neighbours = lists.iter().map(|&(neighbour, _)| neighbour).collect();
        let weights = lists.iter().filter(|_| weighted).map(|&(_, weight)| weight).collect();
        Self { offsets, neighbours, weights }
    }

    /// The number of vertices.
    pub fn vertices(&self) -> usize {
        self.offsets.len() - 1
    }

    /// A vertex's neighbours.
    #[inline(always)]
    pub fn list(&self, vertex: usize) -> &[u32] {
        &self.neighbours[self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize]
    }

    /// A vertex's neighbours, each with its weight's bits.
    #[inline(always)]
    pub fn weighted(&self, vertex: usize) -> impl Iterator<Item = (u32, u32)> {
        let range = self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize;
        self.neighbours[range.clone()].iter().copied().zip(self.weights[range].iter().copied())
    }

    /// The number of edges.
    pub fn edges(&self) -> usize {
        self.neighbours.len()
    }

    /// How long a vertex's list is.
    pub fn degree(&self, vertex: usize) -> u32 {
        (self.offsets[vertex + 1] - self.offsets[vertex]) as u32
    }
}

/// Graphs for the tests of oracles.
#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::random_edges;

    /// Lists from edges with weights, each once along itself.
    pub(crate) fn lists(vertices: u32, edges: &[(u32, u32, u32)]) -> Csr {
        Csr::of(vertices, edges.to_vec(), true)
    }

    /// An undirected graph: each edge in the lists of both ends.
    pub(crate) fn undirected(vertices: u32, edges: &[(u32, u32)]) -> Graph {
        EdgeList::new(vertices, edges.to_vec()).mirrored().graph(false)
    }

    /// Small random graphs with repeated edges, loops and vertices without edges, for a check against a definition.
    pub(crate) fn random_graphs() -> impl Iterator<Item = EdgeList> {
        (1..20).map(|seed| EdgeList::new(40, random_edges(0..30, 12 * seed as usize, seed)))
    }
}
