//! Random geometric graphs: points in the unit square, an edge between any two that are near each other: low degrees, a
//! large diameter, and neighbours with neighbours in common (Penrose, *Random Geometric Graphs*, 2003; rgg of DIMACS'
//! tenth challenge).
//!
//! ```text
//!  ┌───┬───┬───┐     cells at least as wide as the radius; vertices are numbered cell by cell
//!  │   │ v·│·  │     v has edges with later vertices of its cell, and with vertices of the
//!  ├───┼───┼───┤     next cells: right, and below on the left, in the middle, on the right
//!  │  ·│·  │  ·│
//!  └───┴───┴───┘
//! ```
//!
//! How many points a cell has is counted by drawing a cell for every point; where they are within it is a pure function
//! of the seed and the vertex.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;
use topostream_formats::edge::{CHUNK_EDGES, EdgeParts};
use topostream_formats::huge::zeroed;
use topostream_formats::text::counted;
use topostream_formats::{Edge, EdgeSource, Error, IdSpace, Result, SourceInfo};

use super::check_vertices;
use super::random::{Stream, below};
use super::weights::{RandomWeights, Weights};

/// Purposes of streams.
const CELL: u64 = 0;
const POINT: u64 = 1;
/// Points of a cell on average, at least: so cells take little memory.
const CELL_POINTS: u64 = 4;
/// Edges of a block of vertices on average, and the most vertices of one.
const BLOCK_EDGES: f64 = (1 << 15) as f64;
const BLOCK_VERTICES: u64 = 1 << 11;
/// Blocks that are made together.
const BLOCKS: u64 = 32;
/// The largest average degree.
const DEGREE_MAX: f64 = 100_000.0;

/// The parameters of a random geometric graph: undirected, each edge given once. No self-loops, no repeated edges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geometric {
    /// The number of vertices, up to 2^32.
    pub vertices: u64,
    /// The largest distance of neighbours, in a square with sides of 1.
    pub radius: f64,
    /// The seed.
    pub seed: u64,
    /// Random weights, if any.
    pub weights: Option<RandomWeights>,
}

impl Geometric {
    /// An unweighted graph whose vertices have so many neighbours on average; those at the border have fewer, and so
    /// have all of few vertices.
    pub fn of_degree(vertices: u64, degree: f64, seed: u64) -> Self {
        let radius = (degree / (std::f64::consts::PI * vertices.max(1) as f64)).sqrt();
        Self { vertices, radius: radius.min(1.0), seed, weights: None }
    }

    /// Returns the stream of this graph's edges.
    ///
    /// # Errors
    /// `Limit` for too many vertices; `Invalid` for a radius that is no number above 0 and up to 1, or that gives
    /// vertices too many neighbours, or an invalid range of weights.
    pub fn generate(self) -> Result<GeometricSource> {
        let Self { vertices, radius, seed, .. } = self;
        check_vertices("vertices of a geometric graph", vertices, "choose fewer vertices")?;
        if !(radius > 0.0 && radius <= 1.0) {
            return Err(Error::Invalid(format!("a radius of {radius}: expected a number above 0, at most 1")));
        }
        let degree = std::f64::consts::PI * radius * radius * vertices as f64;
        if degree > DEGREE_MAX {
            let message = format!("a radius of {radius} gives vertices {degree:.0} neighbours: at most {DEGREE_MAX}");
            return Err(Error::Invalid(message));
        }
        let weights = Weights::new(self.weights, seed)?;
        let suffix = weights.suffix();
        let info = SourceInfo {
            name: format!("geometric {}, radius {radius}, seed {seed}{suffix}", counted(vertices, "vertex")),
            ids: IdSpace::Range { first: 0, count: vertices },
            mirror: true,
            directed: false,
            weights: weights.weight_type(),
            edges: None,
            bytes: None,
        };
        let block = ((BLOCK_EDGES / (1.0 + degree)) as u64).clamp(1, BLOCK_VERTICES);
        let side = ((1.0 / radius) as u64).min((vertices / CELL_POINTS).isqrt()).max(1);
        let starts = starts(side * side, vertices, Stream::new(seed, CELL));
        let near = radius * side as f64;
        let points = Points { side, starts, near: near * near, stream: Stream::new(seed, POINT) };
        Ok(GeometricSource { info, next: 0, block, waiting: Vec::new(), edges: Edges { vertices, points, weights } })
    }
}

/// The edges of a random geometric graph; see [`Geometric::generate`].
#[derive(Debug)]
pub struct GeometricSource {
    info: SourceInfo,
    /// The first vertex whose edges have not been made.
    next: u64,
    /// Vertices of a block.
    block: u64,
    /// Edges that have been made and not been read, in reverse.
    waiting: Vec<Edge>,
    edges: Edges,
}

impl EdgeSource for GeometricSource {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, chunk: &mut Vec<Edge>) -> Result<()> {
        chunk.clear();
        while self.waiting.is_empty() && self.next < self.edges.vertices {
            let first = self.next / self.block;
            let of_block = |block: u64| {
                let mut made = Vec::new();
                self.edges.each(self.vertices(block), |edge| made.push(edge));
                made
            };
            let made: Vec<Vec<Edge>> = (first..first + BLOCKS).into_par_iter().map(of_block).collect();
            self.waiting = made.concat();
            self.waiting.reverse();
            self.next = (first + BLOCKS) * self.block;
        }
        let left = self.waiting.len().saturating_sub(CHUNK_EDGES);
        chunk.extend(self.waiting.drain(left..).rev());
        Ok(())
    }

    fn parts(&self) -> Option<&dyn EdgeParts> {
        Some(self)
    }

    fn memory_bytes(&self) -> u64 {
        let cells = 8 * self.edges.points.starts.len();
        // Blocks have more edges than on average where points are dense.
        let blocks = 4.0 * BLOCKS as f64 * BLOCK_EDGES * size_of::<Edge>() as f64;
        (size_of::<Self>() + self.info.name.capacity() + cells) as u64 + blocks as u64
    }
}

impl GeometricSource {
    fn vertices(&self, block: u64) -> Range<u64> {
        let all = self.edges.vertices;
        (block * self.block).min(all)..((block + 1) * self.block).min(all)
    }
}

impl EdgeParts for GeometricSource {
    fn count(&self) -> u64 {
        self.edges.vertices.div_ceil(self.block)
    }

    fn part(&self, number: u64, ends: &mut Vec<(u32, u32)>, weights: &mut Vec<u32>) {
        ends.clear();
        weights.clear();
        let has_weights = self.info.weights.is_some();
        self.edges.each(self.vertices(number), |edge| {
            ends.push((edge.source as u32, edge.dest as u32));
            if has_weights {
                weights.push(edge.weight as u32);
            }
        });
    }
}

/// The pure function from a vertex to its edges with later ones.
#[derive(Debug)]
struct Edges {
    vertices: u64,
    points: Points,
    weights: Weights,
}

impl Edges {
    /// Passes every edge of these vertices to `emit`, in order.
    #[inline]
    fn each(&self, vertices: Range<u64>, mut emit: impl FnMut(Edge)) {
        let points = &self.points;
        let mut cell = points.cell(vertices.start);
        for source in vertices {
            while points.starts[cell as usize + 1] <= source {
                cell += 1;
            }
            let at = points.at(source, cell);
            for (other, is_own) in points.next_to(cell) {
                let of = points.vertices(other);
                let from = if is_own { source + 1 } else { of.start };
                for dest in (from..of.end).filter(|&dest| points.are_near(at, points.at(dest, other))) {
                    // Of a pair of vertices: its number determines the weight.
                    let weight = self.weights.at(source << 32 | dest).into();
                    emit(Edge { source, dest, weight });
                }
            }
        }
    }
}

/// Where vertices are: in a square of `side` cells by `side`.
#[derive(Debug)]
struct Points {
    side: u64,
    /// The first vertex of each cell, and the number of all.
    starts: Vec<u64>,
    /// The square of the largest distance, in sides of a cell.
    near: f64,
    stream: Stream,
}

impl Points {
    /// The cell of a vertex.
    fn cell(&self, vertex: u64) -> u64 {
        self.starts.partition_point(|&start| start <= vertex).saturating_sub(1) as u64
    }

    fn vertices(&self, cell: u64) -> Range<u64> {
        self.starts[cell as usize]..self.starts[cell as usize + 1]
    }

    /// Where a vertex of a cell is, in sides of a cell.
    #[inline]
    fn at(&self, vertex: u64, cell: u64) -> [f64; 2] {
        let word = self.stream.word(vertex);
        let within = |half: u32| f64::from(half) / 2f64.powi(32);
        [(cell % self.side) as f64 + within((word >> 32) as u32), (cell / self.side) as f64 + within(word as u32)]
    }

    #[inline]
    fn are_near(&self, one: [f64; 2], other: [f64; 2]) -> bool {
        let [x, y] = [one[0] - other[0], one[1] - other[1]];
        x * x + y * y <= self.near
    }

    /// A cell and the cells that come after it and touch it, each with whether it is the cell itself.
    #[inline]
    fn next_to(&self, cell: u64) -> impl Iterator<Item = (u64, bool)> {
        let (x, side) = (cell % self.side, self.side);
        let (has_left, has_right, has_below) = (x > 0, x + 1 < side, cell / side + 1 < side);
        let all = [
            (cell, true),
            (cell + 1, has_right),
            (cell + side - 1, has_below && has_left),
            (cell + side, has_below),
            (cell + side + 1, has_below && has_right),
        ];
        all.into_iter().filter(|&(_, is_there)| is_there).map(move |(other, _)| (other, other == cell))
    }
}

/// The number of points before each cell, and of all.
fn starts(cells: u64, vertices: u64, stream: Stream) -> Vec<u64> {
    let counts = zeroed::<AtomicU32>(cells);
    (0..vertices).into_par_iter().for_each(|point| {
        counts[below(cells, stream.word(point)) as usize].fetch_add(1, Relaxed);
    });
    let mut before = 0;
    let ends = counts.into_iter().map(|count| {
        before += u64::from(count.into_inner());
        before
    });
    std::iter::once(0).chain(ends).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut source: GeometricSource) -> Vec<Edge> {
        let (mut all, mut chunk) = (Vec::new(), Vec::new());
        while {
            source.read(&mut chunk).unwrap();
            !chunk.is_empty()
        } {
            assert!(chunk.len() <= CHUNK_EDGES);
            all.extend_from_slice(&chunk);
        }
        all
    }

    /// Every pair is looked at, without cells.
    #[test]
    fn pairs_that_are_near_have_an_edge() {
        for (vertices, radius) in [(1, 0.5), (2, 1.0), (700, 0.05), (700, 0.3), (300, 1.0), (3, 1e-6)] {
            let source = Geometric { vertices, radius, seed: 5, weights: None }.generate().unwrap();
            let points = &source.edges.points;
            let at: Vec<[f64; 2]> = (0..vertices)
                .map(|vertex| points.at(vertex, points.cell(vertex)).map(|at| at / points.side as f64))
                .collect();
            assert!(at.iter().flatten().all(|at| (0.0..1.0).contains(at)));
            let distance = |one: u64, other: u64| {
                let [one, other] = [one, other].map(|vertex| at[vertex as usize]);
                (one[0] - other[0]).hypot(one[1] - other[1])
            };
            let pairs = (0..vertices).flat_map(|one| (one + 1..vertices).map(move |other| (one, other)));
            let mut expected: Vec<(u64, u64)> = pairs.filter(|&(one, other)| distance(one, other) <= radius).collect();
            let mut found: Vec<(u64, u64)> = all(source).iter().map(|edge| (edge.source, edge.dest)).collect();
            expected.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, expected, "{vertices} vertices, radius {radius}");
        }
    }

    #[test]
    fn parts_are_the_stream() {
        let weights = Some(RandomWeights::U32 { min: 1, max: 9 });
        let geometric = Geometric { weights, ..Geometric::of_degree(40_000, 30.0, 3) };
        let expected = all(geometric.generate().unwrap());
        let source = geometric.generate().unwrap();
        let (mut ends, mut weights, mut at) = (Vec::new(), Vec::new(), 0);
        for number in 0..source.count() {
            source.part(number, &mut ends, &mut weights);
            for (&(from, to), &weight) in ends.iter().zip(&weights) {
                assert_eq!(expected[at], Edge { source: from.into(), dest: to.into(), weight: weight.into() });
                at += 1;
            }
        }
        assert_eq!(at, expected.len());
        // The border takes some: 4/(3π) · r of the neighbours at each of the four sides.
        let degree = 2.0 * at as f64 / 40_000.0;
        assert!((29.0..30.2).contains(&degree), "{degree}");
    }

    #[test]
    fn what_is_no_radius_is_refused() {
        for radius in [0.0, -1.0, 1.5, f64::NAN, f64::INFINITY] {
            Geometric { vertices: 9, radius, seed: 0, weights: None }.generate().unwrap_err();
        }
        Geometric { vertices: 1 << 32, radius: 1.0, seed: 0, weights: None }.generate().unwrap_err();
        assert!(all(Geometric { vertices: 0, radius: 1.0, seed: 0, weights: None }.generate().unwrap()).is_empty());
    }
}
