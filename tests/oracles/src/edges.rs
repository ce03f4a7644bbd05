//! Graphs as vectors of edges, and random ones.

use crate::{Graph, Weights, sssp};
use std::collections::HashMap;

/// A graph as its directed edges over vertices `0..vertices`.
#[derive(Clone, Debug)]
pub struct EdgeList {
    /// The number of vertices.
    pub vertices: u32,
    /// Source and destination of each edge.
    pub edges: Vec<(u32, u32)>,
}

impl EdgeList {
    /// A graph of edges.
    pub fn new(vertices: u32, edges: Vec<(u32, u32)>) -> Self {
        Self { vertices, edges }
    }

    /// Every edge and its reverse, a self-loop once.
    pub fn mirrored(&self) -> Self {
        let reverse = self.edges.iter().filter(|(source, dest)| source != dest).map(|&(source, dest)| (dest, source));
        Self::new(self.vertices, self.edges.iter().copied().chain(reverse).collect())
    }

    /// Every edge and its reverse, each as often as in the direction that has it more often; a self-loop as it is.
    pub fn symmetrized(&self) -> Self {
        let mut counts = HashMap::new();
        self.edges.iter().for_each(|&edge| *counts.entry(edge).or_insert(0usize) += 1);
        let mut edges = self.edges.clone();
        for &(source, dest) in &self.edges {
            let back = counts.entry((dest, source)).or_insert(0);
            if source != dest && *back > 0 {
                *back -= 1;
            } else if source != dest {
                edges.push((dest, source));
            }
        }
        Self::new(self.vertices, edges)
    }

    /// The edges of [`Self::symmetrized`], each in one direction.
    pub fn once(&self) -> Self {
        let edges = self.symmetrized().edges.into_iter().filter(|(source, dest)| source <= dest);
        Self::new(self.vertices, edges.collect())
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

    /// The same graph as arrays, directed or with every edge in the lists of both ends already.
    pub fn graph(&self, directed: bool) -> Graph {
        Graph::of_edges(self, None, directed)
    }
}

/// A graph whose edges have weights: integers, or single-precision ones by their bits.
#[derive(Clone, Debug)]
pub struct Weighted {
    /// The edges.
    pub graph: EdgeList,
    /// The weight of each edge, by its bits.
    pub weights: Vec<u32>,
    /// Whether they are `f32`.
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
        sssp::distances(&self.graph(true), source, false)
    }

    /// Distances where each addition along a way is rounded to single precision.
    pub fn single_distances(&self, source: u32) -> Vec<f64> {
        sssp::distances(&self.graph(true), source, true)
    }

    /// The same graph as arrays.
    pub fn graph(&self, directed: bool) -> Graph {
        let weights = if self.float { Weights::F32 } else { Weights::U32 };
        Graph::of_edges(&self.graph, Some((&self.weights, weights)), directed)
    }
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
