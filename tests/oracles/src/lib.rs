//! Answers by other means: plain loops over edges in double precision, sharing no code with the engine.
//!
//! | answer | engine | here |
//! | --- | --- | --- |
//! | ranks after k iterations | pages of lists, shares in single precision | the edge vector, once an iteration |
//! | converged ranks | power iteration | Gauss-Seidel on the linear system, then scaled |
//! | ranks from seeds | pages of lists, shares in single precision | powers of a dense matrix |
//! | temperatures, voltages, masses | pages of lists, sums in single precision | a dense matrix: its powers, or Gauss's elimination |
//! | levels | bitmaps, pages | a queue |
//! | distances | frontiers, bits of 32 | a heap (Dijkstra), in double precision or rounded as single is |
//! | widths | frontiers, bits of 32 | edges from the widest down, and what they reach |
//! | components | labels that travel | union-find |
//! | clustering | lists held against each other, in ranges | every pair of neighbours among the edges |
//! | communities | labels counted in tables of hashes | a map for each vertex |
//! | betweenness | levels out and back, a source after another | distances between all pairs |
//! | core numbers | peeling | h-indices |
//! | radius | sketches that grow hop by hop | a search from each vertex that collects bits |
//! | strong components | colours | two depth-first searches |
//! | parents | any | properties that only a breadth-first tree has (Graph500's validation) |

#![allow(dead_code, reason = "each test binary uses a part")]

pub mod averaging;
pub mod betweenness;
pub mod clustering;
pub mod communities;
pub mod cross_edges;
pub mod degrees;
pub mod kcore;
pub mod least_ancestor;
pub mod neighbourhood;
pub mod personalized;
pub mod radius;
pub mod scc;
pub mod widest;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A graph as its directed edges over vertices `0..vertices`.
#[derive(Clone, Debug)]
pub struct EdgeList {
    pub vertices: u32,
    pub edges: Vec<(u32, u32)>,
}

/// What becomes of the rank of vertices without out-edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dangling {
    Spread,
    Lost,
}

impl EdgeList {
    pub fn new(vertices: u32, edges: Vec<(u32, u32)>) -> Self {
        Self { vertices, edges }
    }

    /// Every edge and its reverse, a self-loop once.
    pub fn mirrored(&self) -> Self {
        let reverse = self.edges.iter().filter(|(source, dest)| source != dest).map(|&(source, dest)| (dest, source));
        Self::new(self.vertices, self.edges.iter().copied().chain(reverse).collect())
    }

    /// The length of every vertex's out-list.
    pub fn out_degrees(&self) -> Vec<usize> {
        let mut degrees = vec![0; self.vertices as usize];
        self.edges.iter().for_each(|&(source, _)| degrees[source as usize] += 1);
        degrees
    }

    /// All lists, along the edges or against them.
    pub fn lists(&self, along: bool) -> Vec<Vec<usize>> {
        let mut lists = vec![Vec::new(); self.vertices as usize];
        for &(source, dest) in &self.edges {
            let (from, to) = if along { (source, dest) } else { (dest, source) };
            lists[from as usize].push(to as usize);
        }
        lists
    }
}

/// Ranks after some iterations from 1/n, each a loop over the edge vector.
pub fn rank_iterations(graph: &EdgeList, damping: f64, dangling: Dangling, iterations: usize) -> Vec<f64> {
    let n = graph.vertices as usize;
    let degrees = graph.out_degrees();
    let mut rank = vec![1.0 / n as f64; n];
    for _ in 0..iterations {
        let mut received = vec![0.0; n];
        for &(source, dest) in &graph.edges {
            received[dest as usize] += rank[source as usize] / degrees[source as usize] as f64;
        }
        let lost: f64 = (0..n).filter(|&v| degrees[v] == 0).map(|v| rank[v]).sum();
        let spread = if dangling == Dangling::Spread { lost / n as f64 } else { 0.0 };
        rank = received.iter().map(|sum| (1.0 - damping) / n as f64 + damping * (sum + spread)).collect();
    }
    rank
}

/// Converged ranks: solves `y = 1 + damping * (sum of y[u] / out_degree[u])` by Gauss-Seidel. Without the dangling mass
/// that is the answer but for a factor (1 - damping) / n; with it, the answer is y scaled to a sum of one.
pub fn rank_limit(graph: &EdgeList, damping: f64, dangling: Dangling) -> Vec<f64> {
    let n = graph.vertices as usize;
    let degrees = graph.out_degrees();
    let in_lists = graph.lists(false);
    let mut y = vec![1.0; n];
    loop {
        let mut change = 0.0f64;
        for v in 0..n {
            // A self-loop's own term is solved for.
            let (own, others): (Vec<usize>, Vec<usize>) = in_lists[v].iter().partition(|&&u| u == v);
            let sum: f64 = others.iter().map(|&u| y[u] / degrees[u] as f64).sum();
            let itself = damping * own.len() as f64 / degrees[v].max(1) as f64;
            let next = (1.0 + damping * sum) / (1.0 - itself);
            change = change.max((next - y[v]).abs() / next);
            y[v] = next;
        }
        if change < 1e-13 {
            break;
        }
    }
    let factor = match dangling {
        Dangling::Spread => 1.0 / y.iter().sum::<f64>(),
        Dangling::Lost => (1.0 - damping) / n as f64,
    };
    y.iter().map(|value| value * factor).collect()
}

/// Hops from a source along edges, by a queue.
pub fn levels(graph: &EdgeList, source: u32) -> Vec<Option<u64>> {
    let lists = graph.lists(true);
    let mut levels = vec![None; graph.vertices as usize];
    levels[source as usize] = Some(0);
    let mut queue = VecDeque::from([source as usize]);
    while let Some(vertex) = queue.pop_front() {
        let next = levels[vertex].map(|level| level + 1);
        for &neighbour in &lists[vertex] {
            if levels[neighbour].is_none() {
                levels[neighbour] = next;
                queue.push_back(neighbour);
            }
        }
    }
    levels
}

/// A graph whose edges have weights: whole numbers, or single-precision ones by their bits.
#[derive(Clone, Debug)]
pub struct Weighted {
    pub graph: EdgeList,
    pub weights: Vec<u32>,
    pub float: bool,
}

impl Weighted {
    /// Weights by chance: many small, some zero, few large; `float` ones with fractions.
    pub fn by_chance(graph: EdgeList, float: bool, seed: u64) -> Self {
        let mut state = seed.wrapping_mul(2) | 1 << 41 | 1;
        let mut weight = || {
            let number = draw(&mut state) >> 13;
            let whole = match number % 16 {
                0 => 0,
                1 => (number >> 8) as u32 % 1_000_000,
                _ => (number >> 8) as u32 % 256,
            };
            if float { (whole as f32 / 7.0 + (number >> 40) as f32 / 1e7).to_bits() } else { whole }
        };
        let weights = graph.edges.iter().map(|_| weight()).collect();
        Self { graph, weights, float }
    }

    /// Every edge and its reverse, of the same weight, a self-loop once.
    pub fn mirrored(&self) -> Self {
        let loops = |&(at, _): &(usize, &u32)| self.graph.edges[at].0 != self.graph.edges[at].1;
        let reverse = self.weights.iter().enumerate().filter(loops).map(|(_, &weight)| weight);
        let weights = self.weights.iter().copied().chain(reverse).collect();
        Self { graph: self.graph.mirrored(), weights, float: self.float }
    }

    /// Least distances from a source; infinity where there is no way.
    pub fn distances(&self, source: u32) -> Vec<f64> {
        let weight = |at: usize| match self.float {
            true => f64::from(f32::from_bits(self.weights[at])),
            false => f64::from(self.weights[at]),
        };
        dijkstra(&self.graph, source, |distance, edge| distance + weight(edge))
    }

    /// The same where each addition along a way is rounded to single precision.
    pub fn single_distances(&self, source: u32) -> Vec<f64> {
        let weight = |at: usize| f32::from_bits(self.weights[at]);
        dijkstra(&self.graph, source, |distance, edge| f64::from(distance as f32 + weight(edge)))
    }
}

/// Dijkstra's algorithm: `add` is the length of a way that goes on by an edge.
fn dijkstra(graph: &EdgeList, source: u32, add: impl Fn(f64, usize) -> f64) -> Vec<f64> {
    let mut lists = vec![Vec::new(); graph.vertices as usize];
    graph.edges.iter().enumerate().for_each(|(edge, &(source, _))| lists[source as usize].push(edge));
    let mut distances = vec![f64::INFINITY; graph.vertices as usize];
    distances[source as usize] = 0.0;
    // From 0 on, bits order as numbers do.
    let mut heap = BinaryHeap::from([Reverse((0u64, source))]);
    while let Some(Reverse((bits, vertex))) = heap.pop() {
        let distance = f64::from_bits(bits);
        if distance > distances[vertex as usize] {
            continue;
        }
        for &edge in &lists[vertex as usize] {
            let (dest, through) = (graph.edges[edge].1, add(distance, edge));
            if through < distances[dest as usize] {
                distances[dest as usize] = through;
                heap.push(Reverse((through.to_bits(), dest)));
            }
        }
    }
    distances
}

/// The least vertex of everybody's component, whichever way edges point.
pub fn components(graph: &EdgeList) -> Vec<u64> {
    let mut above: Vec<u32> = (0..graph.vertices).collect();
    fn root(above: &mut [u32], mut vertex: u32) -> u32 {
        while above[vertex as usize] != vertex {
            above[vertex as usize] = above[above[vertex as usize] as usize];
            vertex = above[vertex as usize];
        }
        vertex
    }
    for &(source, dest) in &graph.edges {
        let (a, b) = (root(&mut above, source), root(&mut above, dest));
        above[a.max(b) as usize] = a.min(b);
    }
    (0..graph.vertices).map(|vertex| root(&mut above, vertex).into()).collect()
}

/// Graph500's five checks of a breadth-first tree, for directed graphs too: they need no reference answer.
///
/// Every reached vertex but the source has a reached parent one level up, so all of them hang below the source (1, 2);
/// no edge skips a level or leaves the reached part, so that part is all there is to reach (3, 4); tree edges exist (5).
pub fn check_tree(
    graph: &EdgeList,
    source: u32,
    levels: &[Option<u64>],
    parents: &[Option<u64>],
) -> Result<(), String> {
    if (levels[source as usize], parents[source as usize]) != (Some(0), Some(source.into())) {
        return Err(format!("the source {source} is not the root"));
    }
    let mut has_edge = vec![false; graph.vertices as usize];
    for &(from, to) in &graph.edges {
        has_edge[to as usize] |= parents[to as usize] == Some(from.into());
    }
    for vertex in (0..graph.vertices).filter(|&vertex| vertex != source) {
        match (levels[vertex as usize], parents[vertex as usize]) {
            (None, None) => {}
            (Some(level), Some(parent)) => {
                let above = levels.get(parent as usize).copied().flatten();
                if level == 0 || above != Some(level - 1) {
                    return Err(format!("vertex {vertex} at level {level} has parent {parent} at level {above:?}"));
                }
                if !has_edge[vertex as usize] {
                    return Err(format!("no edge leads from parent {parent} to {vertex}"));
                }
            }
            (level, parent) => return Err(format!("vertex {vertex} has level {level:?} and parent {parent:?}")),
        }
    }
    for &(from, to) in &graph.edges {
        match (levels[from as usize], levels[to as usize]) {
            (Some(_), None) => return Err(format!("edge {from} → {to} leaves the reached part")),
            (Some(near), Some(far)) if far > near + 1 => return Err(format!("edge {from} → {to} skips a level")),
            _ => {}
        }
    }
    Ok(())
}

/// The largest error relative to the expected value.
pub fn relative_error(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let errors = found.iter().zip(expected).map(|(found, expected)| (found - expected).abs() / expected);
    errors.fold(0.0, |largest: f64, error| if error.is_nan() { f64::INFINITY } else { largest.max(error) })
}

/// The next number of an xorshift sequence: the tests' own source of chance.
pub fn draw(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    state.wrapping_mul(0x2545_F491_4F6C_DD1D)
}

/// Edges between random vertices of a range.
pub fn random_edges(vertices: std::ops::Range<u32>, edges: usize, seed: u64) -> Vec<(u32, u32)> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1) | 1 << 40;
    let span = u64::from(vertices.end - vertices.start);
    let mut vertex = || vertices.start + (draw(&mut state) >> 20) as u32 % span as u32;
    (0..edges).map(|_| (vertex(), vertex())).collect()
}
