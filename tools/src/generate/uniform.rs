//! Uniform random graphs: both ends of every edge drawn independently from all vertices (Erdős and Rényi's model,
//! with repetition).

use topostream_formats::edge::EdgeParts;
use topostream_formats::text::plural;
use topostream_formats::{Edge, EdgeSource, Error, IdSpace, Result, SourceInfo};

use super::check_vertices;
use super::chunk::Progress;
use super::random::{Stream, below};
use super::weights::{RandomWeights, Weights};

/// Purposes of streams.
const SOURCE: u64 = 0;
const DEST: u64 = 1;

/// The parameters of a uniform random graph: directed; self-loops and repeated edges occur.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Uniform {
    /// The number of vertices, up to 2^32: ids `0..vertices`.
    pub vertices: u64,
    /// The number of edges.
    pub edges: u64,
    /// The seed.
    pub seed: u64,
    /// Random weights, if any.
    pub weights: Option<RandomWeights>,
}

impl Uniform {
    /// An unweighted graph.
    pub fn new(vertices: u64, edges: u64, seed: u64) -> Self {
        Self { vertices, edges, seed, weights: None }
    }

    /// Returns the stream of this graph's edges.
    ///
    /// # Errors
    /// `Limit` for too many vertices; `Invalid` for edges without vertices or an invalid range of weights.
    pub fn generate(self) -> Result<UniformSource> {
        let Self { vertices, edges, seed, .. } = self;
        check_vertices("vertices of a uniform graph", vertices, "choose fewer vertices")?;
        if vertices == 0 && edges > 0 {
            return Err(Error::Invalid(format!(
                "a uniform graph of 0 vertices cannot have {edges} {}",
                plural(edges, "edge")
            )));
        }
        let weights = Weights::new(self.weights, seed)?;
        let info = SourceInfo {
            name: format!(
                "uniform {vertices} {}, {edges} {}, seed {seed}{}",
                plural(vertices, "vertex"),
                plural(edges, "edge"),
                weights.suffix()
            ),
            ids: IdSpace::Range { first: 0, count: vertices },
            mirror: false,
            directed: true,
            weights: weights.weight_type(),
            edges: Some(edges),
            bytes: None,
        };
        let ends = [SOURCE, DEST].map(|purpose| Stream::new(seed, purpose));
        Ok(UniformSource { info, progress: Progress::new(edges), edges: UniformEdges { vertices, ends, weights } })
    }
}

/// The edges of a uniform random graph; see [`Uniform::generate`].
#[derive(Debug)]
pub struct UniformSource {
    info: SourceInfo,
    progress: Progress,
    edges: UniformEdges,
}

impl EdgeSource for UniformSource {
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
        (size_of::<Self>() + self.info.name.capacity()) as u64
    }
}

impl EdgeParts for UniformSource {
    fn count(&self) -> u64 {
        self.progress.part_count()
    }

    fn part(&self, number: u64, ends: &mut Vec<(u32, u32)>, weights: &mut Vec<u32>) {
        let numbers = self.progress.part(number);
        self.edges.weights.fill(numbers.clone(), weights);
        ends.clear();
        ends.extend(numbers.map(|index| self.edges.ends(index)).map(|(source, dest)| (source as u32, dest as u32)));
    }
}

/// The pure function from an edge's number to the edge.
#[derive(Debug)]
struct UniformEdges {
    vertices: u64,
    ends: [Stream; 2],
    weights: Weights,
}

impl UniformEdges {
    #[inline]
    fn edge(&self, index: u64) -> Edge {
        let (source, dest) = self.ends(index);
        Edge { source, dest, weight: self.weights.at(index).into() }
    }

    #[inline]
    fn ends(&self, index: u64) -> (u64, u64) {
        self.ends.map(|stream| below(self.vertices, stream.word(index))).into()
    }
}
