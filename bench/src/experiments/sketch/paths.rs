//! AsynGraph's sketch: paths between hubs, each edge on at most one of them.

use super::lists::Lists;
use std::cmp::Reverse;

/// The longest path.
const PATH_EDGES_MAX: usize = 16;

/// Paths between hubs, and the lists of all other edges.
pub struct Sketch {
    /// Where each path's edges begin; one more than there are paths. Path `p` has one more vertex than edges, so that
    /// its vertices begin `p` places later.
    pub offsets: Vec<u64>,
    /// The vertices of all paths, in order.
    pub vertices: Vec<u32>,
    /// The weights of their edges.
    pub weights: Vec<u32>,
    /// The other edges.
    pub cold: Lists,
    /// Whether each edge leads both ways.
    pub both_ways: bool,
}

/// What a walk has done with an edge.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Unused,
    Cold,
    Sketched,
}

impl Sketch {
    /// Finds the paths between hubs, which are this share of the vertices, those with the longest lists. A walk takes
    /// the first unused edge to a vertex that is not on it, until it reaches a hub. Edges of walks that do not reach
    /// one are not tried again.
    pub fn of(lists: &Lists, twins: Option<&[u32]>, share: f64) -> Self {
        let mut hubs: Vec<u32> = (0..lists.vertices()).collect();
        hubs.sort_by_key(|&vertex| Reverse(lists.degree(vertex)));
        hubs.truncate(((share * f64::from(lists.vertices())) as usize).max(1));
        let mut is_hub = vec![false; lists.vertices() as usize];
        hubs.iter().for_each(|&hub| is_hub[hub as usize] = true);
        let mut walks = Walks { lists, twins, is_hub, uses: vec![Use::Unused; lists.dests.len()], next: Vec::new() };
        walks.next.extend_from_slice(&lists.offsets[..lists.vertices() as usize]);
        let (mut offsets, mut vertices, mut weights) = (vec![0], Vec::new(), Vec::new());
        for hub in hubs {
            while let Some((path, edges, reached)) = walks.walk(hub) {
                if reached {
                    edges.iter().for_each(|&edge| walks.set(edge, Use::Sketched));
                    weights.extend(edges.iter().map(|&edge| lists.weights[edge]));
                    vertices.extend(path);
                    offsets.push(weights.len() as u64);
                }
            }
        }
        let cold = walks.cold();
        Self { offsets, vertices, weights, cold, both_ways: twins.is_some() }
    }

    /// The number of paths.
    pub fn paths(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The mean number of edges of a path.
    pub fn path_edges(&self) -> f64 {
        self.weights.len() as f64 / self.paths().max(1) as f64
    }

    /// The share of edges that are on paths.
    pub fn share(&self) -> f64 {
        let on_paths = self.weights.len() as f64 * if self.both_ways { 2.0 } else { 1.0 };
        on_paths / (on_paths + self.cold.edges() as f64)
    }

    /// The first edge of a path, its number of edges, and its vertices.
    #[inline(always)]
    pub fn path(&self, path: usize) -> (usize, usize, &[u32]) {
        let (first, end) = (self.offsets[path] as usize, self.offsets[path + 1] as usize);
        (first, end - first, &self.vertices[first + path..=end + path])
    }
}

/// The walks of a search for paths.
struct Walks<'a> {
    lists: &'a Lists,
    twins: Option<&'a [u32]>,
    is_hub: Vec<bool>,
    uses: Vec<Use>,
    /// The first edge of each vertex that may be unused.
    next: Vec<u64>,
}

impl Walks<'_> {
    /// Walks from a hub; returns the vertices and edges of the walk, and whether it has reached a hub. `None` if no
    /// edge is left.
    fn walk(&mut self, hub: u32) -> Option<(Vec<u32>, Vec<usize>, bool)> {
        let (mut path, mut edges) = (vec![hub], Vec::new());
        let mut at = hub;
        while edges.len() < PATH_EDGES_MAX {
            let Some(edge) = self.unused(at, &path) else { break };
            self.set(edge, Use::Cold);
            at = self.lists.dests[edge];
            edges.push(edge);
            path.push(at);
            if self.is_hub[at as usize] {
                return Some((path, edges, true));
            }
        }
        (!edges.is_empty()).then_some((path, edges, false))
    }

    /// The first unused edge of a vertex to one that is not on the path.
    fn unused(&mut self, vertex: u32, path: &[u32]) -> Option<usize> {
        let (next, end) = (&mut self.next[vertex as usize], self.lists.range(vertex).end);
        while (*next as usize) < end && self.uses[*next as usize] != Use::Unused {
            *next += 1;
        }
        (*next as usize..end).find(|&edge| self.uses[edge] == Use::Unused && !path.contains(&self.lists.dests[edge]))
    }

    fn set(&mut self, edge: usize, of: Use) {
        self.uses[edge] = of;
        if let Some(twins) = self.twins {
            self.uses[twins[edge] as usize] = of;
        }
    }

    /// The edges on no path.
    fn cold(&self) -> Lists {
        let mut cold = Lists { offsets: vec![0], dests: Vec::new(), weights: Vec::new() };
        for vertex in 0..self.lists.vertices() {
            let edges = self.lists.range(vertex).filter(|&edge| self.uses[edge] != Use::Sketched);
            for edge in edges {
                cold.dests.push(self.lists.dests[edge]);
                cold.weights.push(self.lists.weights[edge]);
            }
            cold.offsets.push(cold.dests.len() as u64);
        }
        cold
    }
}
