//! R-MAT: a recursive random graph with skewed degrees (Chakrabarti, Zhan, Faloutsos, SDM 2004).
//!
//! The adjacency matrix is divided into four quadrants, one of which is chosen with probabilities a, b, c, d, and so on
//! recursively, `scale` times; the result is one edge. Edges are independent, so self-loops and repeated edges occur.
//!
//! Where the number of vertices is no power of two, an entry of the matrix of the next one is scaled down: quadrants
//! are halves at every level, up to one vertex.

use topostream_formats::edge::EdgeParts;
use topostream_formats::text::counted;
use topostream_formats::{Edge, EdgeSource, Error, IdSpace, Result, SourceInfo};

use super::alias::{LEVELS, PathTable};
use super::chunk::Progress;
use super::random::Stream;
use super::scramble::Scramble;
use super::weights::{RandomWeights, Weights};
use super::{MAX_VERTICES, check_probability};

/// Purposes of streams: one for each word of an edge's path, and the permutation's keys.
const PATH: [u64; WORDS_MAX] = [0, 1, 2];
const SCRAMBLE: u64 = 3;

/// One random word resolves this many levels: two draws of 32 bits.
const WORD_LEVELS: u32 = 2 * LEVELS;
const SCALE_MAX: u32 = MAX_VERTICES.ilog2();
const WORDS_MAX: usize = SCALE_MAX.div_ceil(WORD_LEVELS) as usize;

/// The parameters of an R-MAT graph: directed, with vertices `0..2^scale` and `edge_factor · 2^scale` edges, or other
/// numbers of them.
///
/// The probabilities are the same at every level, without the noise that some generators add to smooth the degree
/// distribution. `d` is 1 - `a` - `b` - `c`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rmat {
    /// The logarithm of the number of vertices, 0 to 32.
    pub scale: u32,
    /// Edges for each vertex, on average.
    pub edge_factor: u64,
    /// The number of vertices, if it is not 2^`scale` but less.
    pub vertices: Option<u64>,
    /// The number of edges, if it is not `edge_factor` times the number of vertices.
    pub edges: Option<u64>,
    /// Probability of the quadrant where both ends have a 0 bit.
    pub a: f64,
    /// Probability of the quadrant where only the dest has a 1 bit.
    pub b: f64,
    /// Probability of the quadrant where only the source has a 1 bit.
    pub c: f64,
    /// The seed.
    pub seed: u64,
    /// Whether ids are permuted, so that a vertex's id does not reveal its degree.
    pub scramble: bool,
    /// Random weights, if any.
    pub weights: Option<RandomWeights>,
}

impl Rmat {
    /// Graph500's graph: a 0.57, b 0.19, c 0.19, d 0.05, scrambled ids, no weights. Its edge factor is 16.
    pub fn new(scale: u32, edge_factor: u64, seed: u64) -> Self {
        let [a, b, c] = Quadrants::Graph500.probabilities();
        Self { scale, edge_factor, vertices: None, edges: None, a, b, c, seed, scramble: true, weights: None }
    }

    /// The same of any number of vertices.
    pub fn of(vertices: u64, edge_factor: u64, seed: u64) -> Self {
        let scale = vertices.max(1).checked_next_power_of_two().map_or(u64::BITS, u64::trailing_zeros);
        Self { vertices: Some(vertices), ..Self::new(scale, edge_factor, seed) }
    }

    /// Returns the stream of this graph's edges.
    ///
    /// # Errors
    /// `Limit` if the scale or the number of edges is too large; `Invalid` if a probability is invalid, if they sum to
    /// more than 1, or if the range of weights is invalid.
    pub fn generate(self) -> Result<RmatSource> {
        let quadrants = self.quadrants()?;
        let vertices = self.vertex_count()?;
        let edges = self.edge_count(vertices)?;
        let weights = Weights::new(self.weights, self.seed)?;
        let info = SourceInfo {
            name: format!("{}{}", self.name(), weights.suffix()),
            ids: IdSpace::Range { first: 0, count: vertices },
            mirror: false,
            directed: true,
            weights: weights.weight_type(),
            edges: Some(edges),
            bytes: None,
        };
        let scramble = self.scramble.then(|| Scramble::new(self.scale, Stream::new(self.seed, SCRAMBLE)));
        let paths = Paths::new(self.scale, quadrants, self.seed);
        let names = Names { vertices, scale: self.scale, scramble };
        Ok(RmatSource { info, progress: Progress::new(edges), edges: RmatEdges { paths, names, weights } })
    }

    /// Returns the four probabilities, checked. A sum above 1 by no more than decimal rounding leaves 0 for d.
    fn quadrants(&self) -> Result<[f64; 4]> {
        check_probability("a", self.a)?;
        check_probability("b", self.b)?;
        check_probability("c", self.c)?;
        let sum = self.a + self.b + self.c;
        if sum > 1.0 + 1e-9 {
            return Err(Error::Invalid(format!("probabilities a, b and c sum to {sum}; they may not exceed 1")));
        }
        Ok([self.a, self.b, self.c, (1.0 - sum).max(0.0)])
    }

    fn vertex_count(&self) -> Result<u64> {
        let too_many = |what: &str, found: u64, limit: u64| Error::Limit {
            what: what.into(),
            found,
            limit,
            hint: "a graph has at most 2^32 vertices".into(),
        };
        let vertices = self.vertices.unwrap_or(0);
        if vertices > MAX_VERTICES {
            return Err(too_many("vertices of an R-MAT graph", vertices, MAX_VERTICES));
        }
        if self.scale > SCALE_MAX {
            return Err(too_many("R-MAT scale", self.scale.into(), SCALE_MAX.into()));
        }
        match self.vertices {
            None => Ok(1 << self.scale),
            Some(0) => Err(Error::Invalid("an R-MAT graph has at least 1 vertex, not 0".into())),
            Some(vertices) if vertices > 1 << self.scale => {
                Err(Error::Invalid(format!("{vertices} vertices are more than 2^{}, the scale", self.scale)))
            }
            Some(vertices) => Ok(vertices),
        }
    }

    fn edge_count(&self, vertices: u64) -> Result<u64> {
        let times = || self.edge_factor.checked_mul(vertices);
        self.edges.or_else(times).ok_or_else(|| Error::Limit {
            what: format!("R-MAT edge factor at scale {}", self.scale),
            found: self.edge_factor,
            limit: u64::MAX / vertices,
            hint: "choose a smaller edge factor or scale".into(),
        })
    }

    fn name(&self) -> String {
        let Self { scale, edge_factor, a, b, c, seed, .. } = self;
        let order = if self.scramble { "scrambled ids" } else { "unscrambled ids" };
        let vertices = self.vertices.map_or(format!("scale {scale}"), |vertices| counted(vertices, "vertex"));
        let edges = self.edges.map_or(format!("edge factor {edge_factor}"), |edges| counted(edges, "edge"));
        format!("rmat {vertices}, {edges}, seed {seed}, a {a} b {b} c {c}, {order}")
    }
}

/// Probabilities of the quadrants by name: those that programs have by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quadrants {
    /// Graph500's and GAP's.
    #[default]
    Graph500,
    /// PaRMAT's (Khorasani, Gupta and Bhuyan, PACT 2015, generate their graphs by it).
    Parmat,
    /// GTgraph's (Madduri and Bader).
    Gtgraph,
    /// Ligra's (Shun and Blelloch, PPoPP 2013).
    Ligra,
}

impl Quadrants {
    /// a, b and c.
    pub fn probabilities(self) -> [f64; 3] {
        match self {
            Self::Graph500 => [0.57, 0.19, 0.19],
            Self::Parmat => [0.45, 0.22, 0.22],
            Self::Gtgraph => [0.45, 0.15, 0.15],
            Self::Ligra => [0.5, 0.1, 0.1],
        }
    }
}

/// The edges of an R-MAT graph; see [`Rmat::generate`].
#[derive(Debug)]
pub struct RmatSource {
    info: SourceInfo,
    progress: Progress,
    edges: RmatEdges,
}

impl EdgeSource for RmatSource {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, chunk: &mut Vec<Edge>) -> Result<()> {
        let Self { progress, edges, .. } = self;
        progress.read(chunk, |index| edges.edge(index));
        Ok(())
    }

    fn parts(&self) -> Option<&dyn EdgeParts> {
        Some(self)
    }

    fn memory_bytes(&self) -> u64 {
        (size_of::<Self>() + self.info.name.capacity()) as u64 + self.edges.paths.table.memory_bytes()
    }
}

impl EdgeParts for RmatSource {
    fn count(&self) -> u64 {
        self.progress.part_count()
    }

    fn part(&self, number: u64, ends: &mut Vec<(u32, u32)>, weights: &mut Vec<u32>) {
        let (numbers, edges) = (self.progress.part(number), &self.edges);
        edges.weights.fill(numbers.clone(), weights);
        ends.clear();
        // The number of words as a constant: the loop over them unrolls.
        match edges.paths.words {
            1 => ends.extend(numbers.map(|index| edges.ends::<1>(index))),
            2 => ends.extend(numbers.map(|index| edges.ends::<2>(index))),
            _ => ends.extend(numbers.map(|index| edges.ends::<WORDS_MAX>(index))),
        }
    }
}

/// The pure function from an edge's number to the edge.
#[derive(Debug)]
struct RmatEdges {
    paths: Paths,
    names: Names,
    weights: Weights,
}

impl RmatEdges {
    #[inline]
    fn edge(&self, index: u64) -> Edge {
        let (source, dest) = self.paths.ends(index);
        let (source, dest) = (self.names.of(source), self.names.of(dest));
        Edge { source, dest, weight: self.weights.at(index).into() }
    }

    /// Source and dest of an edge whose path has at most `WORDS` words.
    #[inline(always)]
    fn ends<const WORDS: usize>(&self, index: u64) -> (u32, u32) {
        let (source, dest) = self.paths.ends_of::<WORDS>(index);
        (self.names.of(source) as u32, self.names.of(dest) as u32)
    }
}

/// The vertices of rows and columns.
#[derive(Debug)]
struct Names {
    vertices: u64,
    scale: u32,
    scramble: Option<Scramble>,
}

impl Names {
    /// The vertex of a row or column of the matrix of 2^scale.
    #[inline(always)]
    fn of(&self, row: u64) -> u64 {
        let vertex = (row * self.vertices) >> self.scale;
        let Some(scramble) = &self.scramble else { return vertex };
        // A permutation of fewer than 2^scale: from vertex to vertex of the larger one, until one of these comes.
        let mut name = scramble.apply(vertex);
        while name >= self.vertices {
            name = scramble.apply(name);
        }
        name
    }
}

/// The path from the whole matrix down to one of its entries.
#[derive(Debug)]
struct Paths {
    table: PathTable,
    streams: [Stream; WORDS_MAX],
    words: usize,
    /// The number of levels that the words resolve beyond `scale`: the lowest ones are dropped.
    excess: u32,
}

impl Paths {
    fn new(scale: u32, quadrants: [f64; 4], seed: u64) -> Self {
        let words = scale.div_ceil(WORD_LEVELS);
        let streams = PATH.map(|purpose| Stream::new(seed, purpose));
        let table = PathTable::new(quadrants);
        Self { table, streams, words: words as usize, excess: words * WORD_LEVELS - scale }
    }

    /// Returns the source and dest of edge number `index`, before scrambling.
    #[inline]
    fn ends(&self, index: u64) -> (u64, u64) {
        self.ends_of::<WORDS_MAX>(index)
    }

    /// As `ends`, for at most `WORDS` words.
    #[inline(always)]
    fn ends_of<const WORDS: usize>(&self, index: u64) -> (u64, u64) {
        let (mut source, mut dest) = (0, 0);
        for stream in self.streams[..WORDS].iter().take(self.words) {
            let word = stream.word(index);
            for bits in [(word >> 32) as u32, word as u32] {
                let path = u64::from(self.table.draw(bits));
                source = (source << LEVELS) | (path >> LEVELS);
                dest = (dest << LEVELS) | (path & ((1 << LEVELS) - 1));
            }
        }
        (source >> self.excess, dest >> self.excess)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stream_is_the_function_of_the_number() {
        let weights = Some(RandomWeights::U32 { min: 1, max: 9 });
        let mut source = Rmat { weights, ..Rmat::new(15, 17, 3) }.generate().unwrap();
        let (mut chunk, mut index) = (Vec::new(), 0);
        while {
            source.read(&mut chunk).unwrap();
            !chunk.is_empty()
        } {
            assert!(chunk.iter().zip(index..).all(|(edge, index)| *edge == source.edges.edge(index)));
            index += chunk.len() as u64;
        }
        assert_eq!(index, 17 << 15);
    }

    #[test]
    fn parts_are_the_stream() {
        for scale in [0, 9, 13, 25] {
            let weights = Some(RandomWeights::U32 { min: 1, max: 9 });
            let mut source = Rmat { weights, ..Rmat::new(scale, 1, 3) }.generate().unwrap();
            let (mut chunk, mut ends, mut weights) = (Vec::new(), Vec::new(), Vec::new());
            source.read(&mut chunk).unwrap();
            for number in 0..source.count().min(4) {
                source.part(number, &mut ends, &mut weights);
                for ((edge, &(from, to)), &weight) in chunk.drain(..ends.len()).zip(&ends).zip(&weights) {
                    assert_eq!(
                        edge,
                        Edge { source: from.into(), dest: to.into(), weight: weight.into() },
                        "scale {scale}"
                    );
                }
            }
            assert!(chunk.is_empty() || source.count() > 4);
        }
    }

    #[test]
    fn any_number_of_vertices() {
        let edges = |rmat: Rmat| {
            let (mut source, mut chunk) = (rmat.generate().unwrap(), Vec::new());
            source.read(&mut chunk).unwrap();
            chunk
        };
        // A power of two is a scale.
        assert_eq!(edges(Rmat::of(1 << 12, 3, 5)), edges(Rmat::new(12, 3, 5)));
        for vertices in [1, 3, 1000, 3 << 10, (1 << 13) - 1] {
            let plain = edges(Rmat { scramble: false, edges: Some(7 * vertices), ..Rmat::of(vertices, 1, 5) });
            let named = edges(Rmat { edges: Some(7 * vertices), ..Rmat::of(vertices, 1, 5) });
            assert_eq!(plain.len() as u64, 7 * vertices);
            // One name a vertex, and none twice.
            let mut names = std::collections::BTreeMap::new();
            for (one, other) in plain.iter().zip(&named) {
                for (vertex, name) in [(one.source, other.source), (one.dest, other.dest)] {
                    assert!(vertex < vertices && name < vertices);
                    assert_eq!(*names.entry(vertex).or_insert(name), name);
                }
            }
            let distinct: std::collections::BTreeSet<u64> = names.values().copied().collect();
            assert_eq!(distinct.len(), names.len());
        }
        // Halves of a matrix of three quarters of a power of two: the upper one has a + b of the edges.
        let half = edges(Rmat { scramble: false, ..Rmat::of(3 << 10, 16, 5) });
        let upper = half.iter().filter(|edge| edge.source < 3 << 9).count() as f64 / half.len() as f64;
        assert!((upper - 0.76).abs() < 0.01, "{upper}");
        Rmat::of(0, 1, 5).generate().unwrap_err();
        Rmat::of((1 << 32) + 1, 1, 5).generate().unwrap_err();
    }

    #[test]
    fn scale_cuts_off_the_lowest_levels_only() {
        let ends = |scale, index| Paths::new(scale, [0.57, 0.19, 0.19, 0.05], 1).ends(index);
        for index in [0, 1, 99] {
            let (source, dest) = ends(24, index);
            assert_eq!(ends(13, index), (source >> 11, dest >> 11));
        }
        assert_eq!(ends(0, 5), (0, 0));
    }
}
