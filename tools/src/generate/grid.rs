//! Two-dimensional grids with random diagonals: high diameter and even degrees, as road networks have.
//!
//! ```text
//!  0 ── 1 ── 2     vertex = y · width + x
//!  │  ╲ │    │     each cell of four vertices has, with the given probability, one diagonal,
//!  3 ── 4 ── 5     down-right or down-left with even odds
//! ```
//!
//! Edges come by vertex: right, down, then the diagonal of the cell to its lower right. A cell's diagonal is a pure
//! function of the seed and the vertex at the cell's upper left.

use std::ops::Range;

use rayon::prelude::*;
use topostream_formats::edge::{CHUNK_EDGES, EdgeParts};
use topostream_formats::{Edge, EdgeSource, IdSpace, Result, SourceInfo};

use super::random::Stream;
use super::weights::{RandomWeights, Weights};
use super::{check_probability, check_vertices};

/// The purpose of the diagonals' stream.
const DIAGONALS: u64 = 0;

/// The maximum number of edges that a vertex contributes: right, down, diagonal.
const VERTEX_EDGES: u64 = 3;
const CHUNK_VERTICES: u64 = CHUNK_EDGES as u64 / VERTEX_EDGES;
/// The number of vertices of a task.
const BLOCK_VERTICES: u64 = 1 << 11;

/// The parameters of a grid: undirected, each edge given once. No self-loops, no repeated edges, connected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// Vertices in a row.
    pub width: u64,
    /// Vertices in a column; `width · height` is at most 2^32.
    pub height: u64,
    /// The probability that a cell has a diagonal.
    pub diagonal_probability: f64,
    /// The seed.
    pub seed: u64,
    /// Random weights, if any.
    pub weights: Option<RandomWeights>,
}

impl Grid {
    /// An unweighted grid without diagonals.
    pub fn new(width: u64, height: u64) -> Self {
        Self { width, height, diagonal_probability: 0.0, seed: 0, weights: None }
    }

    /// Returns the stream of this graph's edges.
    ///
    /// # Errors
    /// `Limit` for too many vertices; `Invalid` for an invalid probability or range of weights.
    pub fn generate(self) -> Result<GridSource> {
        let Self { width, height, diagonal_probability: probability, seed, .. } = self;
        check_vertices("vertices of a grid", width.saturating_mul(height), "choose a smaller width or height")?;
        check_probability("of a diagonal", probability)?;
        let weights = Weights::new(self.weights, seed)?;
        let suffix = weights.suffix();
        let info = SourceInfo {
            name: format!("grid {width} by {height}, diagonal probability {probability}, seed {seed}{suffix}"),
            ids: IdSpace::Range { first: 0, count: width * height },
            mirror: true,
            directed: false,
            weights: weights.weight_type(),
            edges: self.edge_count(),
            bytes: None,
        };
        let coins = Coins { stream: Stream::new(seed, DIAGONALS), below: (probability * 2f64.powi(63)) as u64 };
        Ok(GridSource { info, next_vertex: 0, edges: GridEdges { width, height, coins, weights } })
    }

    /// The number of edges, if it does not depend on the seed.
    fn edge_count(&self) -> Option<u64> {
        let (columns, rows) = (self.width.saturating_sub(1), self.height.saturating_sub(1));
        let straight = columns * self.height + self.width * rows;
        let cells = columns * rows;
        match self.diagonal_probability {
            0.0 => Some(straight),
            1.0 => Some(straight + cells),
            _ => (cells == 0).then_some(straight),
        }
    }
}

/// The edges of a grid; see [`Grid::generate`].
#[derive(Debug)]
pub struct GridSource {
    info: SourceInfo,
    next_vertex: u64,
    edges: GridEdges,
}

impl EdgeSource for GridSource {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    /// Only the last vertex contributes no edge, so an empty chunk means the end.
    fn read(&mut self, chunk: &mut Vec<Edge>) -> Result<()> {
        let end = (self.next_vertex + CHUNK_VERTICES).min(self.edges.width * self.edges.height);
        self.edges.read(self.next_vertex..end, chunk);
        self.next_vertex = end;
        Ok(())
    }

    fn parts(&self) -> Option<&dyn EdgeParts> {
        Some(self)
    }

    fn memory_bytes(&self) -> u64 {
        let block_bytes = size_of::<Range<u64>>() + size_of::<usize>() + size_of::<&mut [Edge]>();
        let blocks_bytes = CHUNK_VERTICES.div_ceil(BLOCK_VERTICES) * block_bytes as u64;
        (size_of::<Self>() + self.info.name.capacity()) as u64 + blocks_bytes
    }
}

impl EdgeParts for GridSource {
    fn count(&self) -> u64 {
        (self.edges.width * self.edges.height).div_ceil(BLOCK_VERTICES)
    }

    fn part(&self, number: u64, ends: &mut Vec<(u32, u32)>, weights: &mut Vec<u32>) {
        let (first, end) = (number * BLOCK_VERTICES, self.edges.width * self.edges.height);
        let has_weights = self.info.weights.is_some();
        ends.clear();
        weights.clear();
        self.edges.each(first..(first + BLOCK_VERTICES).min(end), |edge| {
            ends.push((edge.source as u32, edge.dest as u32));
            if has_weights {
                weights.push(edge.weight as u32);
            }
        });
    }
}

/// The pure function from a vertex to the edges that it contributes.
#[derive(Debug)]
struct GridEdges {
    width: u64,
    height: u64,
    coins: Coins,
    weights: Weights,
}

impl GridEdges {
    /// Fills `chunk` with the edges of these vertices: counts each block's edges, then makes each block in its place.
    fn read(&self, vertices: Range<u64>, chunk: &mut Vec<Edge>) {
        let starts = vertices.clone().step_by(BLOCK_VERTICES as usize);
        let blocks: Vec<Range<u64>> = starts.map(|start| start..(start + BLOCK_VERTICES).min(vertices.end)).collect();
        let counts: Vec<usize> = blocks.par_iter().map(|block| self.count(block.clone())).collect();
        chunk.resize(counts.iter().sum(), Edge::default());
        let parts = split(chunk, &counts);
        parts.into_par_iter().zip(blocks).for_each(|(edges, block)| self.fill(block, edges));
    }

    fn count(&self, vertices: Range<u64>) -> usize {
        let mut count = 0;
        self.each(vertices, |_| count += 1);
        count
    }

    fn fill(&self, vertices: Range<u64>, edges: &mut [Edge]) {
        let mut slots = edges.iter_mut();
        self.each(vertices, |edge| {
            if let Some(slot) = slots.next() {
                *slot = edge;
            }
        });
    }

    /// Passes every edge of these vertices to `emit`, in order.
    #[inline]
    fn each(&self, vertices: Range<u64>, mut emit: impl FnMut(Edge)) {
        let (mut x, mut y) = (vertices.start % self.width.max(1), vertices.start / self.width.max(1));
        for vertex in vertices {
            let (has_right, has_below) = (x + 1 < self.width, y + 1 < self.height);
            if has_right {
                emit(self.edge(vertex, 0, vertex, vertex + 1));
            }
            if has_below {
                emit(self.edge(vertex, 1, vertex, vertex + self.width));
            }
            if has_right && has_below {
                match self.coins.diagonal(vertex) {
                    Some(Diagonal::DownRight) => emit(self.edge(vertex, 2, vertex, vertex + self.width + 1)),
                    Some(Diagonal::DownLeft) => emit(self.edge(vertex, 2, vertex + 1, vertex + self.width)),
                    None => {}
                }
            }
            (x, y) = if has_right { (x + 1, y) } else { (0, y + 1) };
        }
    }

    /// The edge of the given kind that `vertex` contributes; its number, which determines its weight, encodes both.
    #[inline]
    fn edge(&self, vertex: u64, kind: u64, source: u64, dest: u64) -> Edge {
        Edge { source, dest, weight: self.weights.at(vertex * VERTEX_EDGES + kind).into() }
    }
}

/// Cuts `edges` into consecutive slices of these lengths.
fn split<'a>(mut edges: &'a mut [Edge], counts: &[usize]) -> Vec<&'a mut [Edge]> {
    counts.iter().filter_map(|&count| edges.split_off_mut(..count)).collect()
}

/// The direction of a diagonal.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Diagonal {
    DownRight,
    DownLeft,
}

/// Decides about the diagonals: the word's lowest bit is the direction; there is a diagonal if the other 63 bits are
/// below `below`.
#[derive(Debug)]
struct Coins {
    stream: Stream,
    below: u64,
}

impl Coins {
    #[inline]
    fn diagonal(&self, vertex: u64) -> Option<Diagonal> {
        let word = self.stream.word(vertex);
        let direction = if word & 1 == 0 { Diagonal::DownRight } else { Diagonal::DownLeft };
        (word >> 1 < self.below).then_some(direction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_cut_gives_the_same_edges() {
        let weights = Some(RandomWeights::F32 { min: 0.0, max: 1.0 });
        let grid = Grid { diagonal_probability: 0.4, seed: 9, weights, ..Grid::new(101, 77) };
        let edges = grid.generate().unwrap().edges;
        let mut all = Vec::new();
        edges.each(0..101 * 77, |edge| all.push(edge));
        for cut in [0, 1, 100, 101, 2048, 2049, 5555, 7776, 7777] {
            let (mut head, mut tail) = (Vec::new(), Vec::new());
            edges.read(cut..101 * 77, &mut tail);
            edges.read(0..cut, &mut head);
            assert_eq!([head, tail].concat(), all, "cut at {cut}");
        }
    }
}
