//! Edges on their way into a store: what readers and generators produce and the formatter consumes.
//!
//! ```text
//!  text, binary, generator ──▶ EdgeSource ──▶ chunks of Edge (ids as given) ──▶ formatter
//!                                 └── SourceInfo: what is known before the first edge
//! ```

use crate::error::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// An edge as its source gives it: ids are the *original* ids (64 bits, possibly sparse).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    /// The vertex that the edge leaves.
    pub source: u64,
    /// The vertex that the edge enters.
    pub dest: u64,
    /// The weight's bits, according to [`SourceInfo::weights`]: an integer, or the result of `f32::to_bits` or
    /// `f64::to_bits`; 0 without weights.
    pub weight: u64,
}

/// The type of an edge weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WeightType {
    /// Unsigned 32-bit integers.
    U32,
    /// IEEE 754 single precision.
    F32,
    /// Unsigned 64-bit integers.
    U64,
    /// IEEE 754 double precision.
    F64,
}

impl WeightType {
    /// All types, in the order in which help texts list them.
    pub const ALL: [Self; 4] = [Self::U32, Self::F32, Self::U64, Self::F64];

    /// The name in manifests and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::U32 => "u32",
            Self::F32 => "f32",
            Self::U64 => "u64",
            Self::F64 => "f64",
        }
    }

    /// Bytes of a weight: 4 or 8.
    pub const fn bytes(self) -> usize {
        if self.is_wide() { 8 } else { 4 }
    }

    /// Whether a weight has 64 bits.
    pub const fn is_wide(self) -> bool {
        matches!(self, Self::U64 | Self::F64)
    }

    /// Whether packed pages have packed weights of this type. Pages of other weights have a size that follows from the
    /// layout.
    pub const fn is_packable(self) -> bool {
        matches!(self, Self::U32)
    }

    /// Whether weights are floating-point numbers.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// A weight as text that is read back exactly. Floating-point numbers have a point or an exponent.
    pub const fn text(self, bits: u64) -> WeightText {
        WeightText(self, bits)
    }
}

impl FromStr for WeightType {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|of| of.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::Invalid(format!("{name:?} is not a weight type: choose from {names}"))
        })
    }
}

/// A weight as decimal text: [`WeightType::text`].
#[derive(Clone, Copy, Debug)]
pub struct WeightText(WeightType, u64);

impl fmt::Display for WeightText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            WeightType::U32 | WeightType::U64 => write!(f, "{}", self.1),
            WeightType::F32 => write!(f, "{:?}", f32::from_bits(self.1 as u32)),
            WeightType::F64 => write!(f, "{:?}", f64::from_bits(self.1)),
        }
    }
}

/// Weights that were narrowed to single precision, and how many of them it does not hold exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rounding {
    /// The number of narrowed weights.
    pub weights: u64,
    /// The number of narrowed weights that changed.
    pub rounded: u64,
    /// The first one that changed, as it was.
    pub example: f64,
}

impl Rounding {
    /// Rounds a weight to `f32`. Takes and returns the bits of the numbers.
    #[inline]
    pub fn narrow(&mut self, bits: u64) -> u64 {
        let value = f64::from_bits(bits);
        let narrow = value as f32;
        self.count(value, f64::from(narrow) == value);
        narrow.to_bits().into()
    }

    /// Counts a narrowed weight.
    #[inline]
    pub fn count(&mut self, value: f64, is_exact: bool) {
        self.weights += 1;
        if !is_exact {
            if self.rounded == 0 {
                self.example = value;
            }
            self.rounded += 1;
        }
    }

    /// This, and what was narrowed after it.
    #[must_use]
    pub fn and(self, later: Self) -> Self {
        let example = if self.rounded > 0 { self.example } else { later.example };
        Self { weights: self.weights + later.weights, rounded: self.rounded + later.rounded, example }
    }

    /// What the example became, with the digits that tell one `f32` from another.
    pub fn example_narrowed(&self) -> f64 {
        format!("{:.8e}", self.example as f32).parse().unwrap_or(self.example)
    }
}

/// How the ids of a source name vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdSpace {
    /// Exactly the ids `first .. first + count` exist, whether or not an edge names them.
    Range {
        /// The smallest id: 0, or 1 for formats that count from one.
        first: u64,
        /// The number of vertices.
        count: u64,
    },
    /// Ids start at 0 and end at the largest id of an edge (the convention of GAP's files).
    UpToLargest,
    /// Only ids named by an edge, or by the source's vertex list, are vertices.
    Named,
}

/// What a source knows about its graph before the first edge is read.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceInfo {
    /// For messages and the manifest: a file name, or a generator with its parameters.
    pub name: String,
    /// Which vertices exist.
    pub ids: IdSpace,
    /// Whether the graph is undirected and each edge is given once, in one direction only.
    pub mirror: bool,
    /// False if the graph is undirected (each edge given once with `mirror`, or in both directions without).
    pub directed: bool,
    /// The type of the weights, if any.
    pub weights: Option<WeightType>,
    /// The number of edges, if known.
    pub edges: Option<u64>,
    /// The number of input bytes, if known: for progress.
    pub bytes: Option<u64>,
}

/// A stream of edges. Sources work in parallel internally, but their edges come in a fixed order.
pub trait EdgeSource: Send {
    /// What is known about the graph.
    fn info(&self) -> &SourceInfo;

    /// Replaces the contents of `chunk` with the next edges (at most [`CHUNK_EDGES`]). An empty chunk means the end.
    ///
    /// # Errors
    /// Defects of the input, by file and line.
    fn read(&mut self, chunk: &mut Vec<Edge>) -> Result<()>;

    /// Appends the ids of vertices that exist although no edge may name them (vertex files, isolated vertices). Called
    /// once, after the last edge; only sources with [`IdSpace::Named`] have any.
    ///
    /// # Errors
    /// Defects of the input, by file and line.
    fn extra_vertices(&mut self, _ids: &mut Vec<u64>) -> Result<()> {
        Ok(())
    }

    /// Passes the ids of all vertices in chunks, if a file lists them; returns false otherwise. Called before the first
    /// edge, if at all; [`Self::extra_vertices`] returns none of them afterwards.
    ///
    /// # Errors
    /// Defects of the input, by file and line; errors of `take`.
    fn declared_vertices(&mut self, _take: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<bool> {
        Ok(false)
    }

    /// The name of the whole input in messages: its path.
    fn place(&self) -> String {
        self.info().name.clone()
    }

    /// The location of `edge`, at `index` of the chunk that was read last, for messages: file and line, or record.
    fn place_of(&self, _index: usize, _edge: &Edge) -> String {
        self.place()
    }

    /// What a user should know about how the input is taken, if there is anything.
    fn note(&self) -> Option<String> {
        None
    }

    /// The number of edges that the input states without being relied on: files are shortened by hand, and comments
    /// stay.
    fn claimed_edges(&self) -> Option<u64> {
        None
    }

    /// What reading has rounded so far: weights of single precision that the input has with more digits.
    fn rounding(&self) -> Rounding {
        Rounding::default()
    }

    /// The number of rows so far that were left out, since they do not meet conditions.
    fn left_out(&self) -> u64 {
        0
    }

    /// Whether the input is a pipe, so that it cannot be opened again.
    fn is_read_once(&self) -> bool {
        false
    }

    /// The number of input bytes consumed so far (compressed bytes if the input is compressed).
    fn bytes_read(&self) -> u64 {
        0
    }

    /// The edges by parts, if any thread can make any part of them again at any time: those that a seed generates.
    fn parts(&self) -> Option<&dyn EdgeParts> {
        None
    }

    /// Maximum main memory of the source, in bytes.
    fn memory_bytes(&self) -> u64;
}

/// Edges that can be made again, part by part, by any thread. Ids have 32 bits.
pub trait EdgeParts: Sync {
    /// The number of parts.
    fn count(&self) -> u64;

    /// Replaces the contents of `ends` with the sources and dests of a part's edges, and the contents of `weights` with
    /// their weights; none if the graph has no weights. Parts have at most [`PART_EDGES`] edges.
    fn part(&self, number: u64, ends: &mut Vec<(u32, u32)>, weights: &mut Vec<u32>);
}

/// The maximum number of edges of a part: they stay in a core's cache.
pub const PART_EDGES: usize = 1 << 13;

/// The maximum number of edges of a chunk: large enough to share among cores, small enough to stay in a cache.
pub const CHUNK_EDGES: usize = 1 << 18;

/// A source of edges in memory: for tests and small graphs.
pub struct MemorySource {
    info: SourceInfo,
    edges: Vec<Edge>,
    extra: Vec<u64>,
    at: usize,
}

impl MemorySource {
    /// Creates a source of `edges`, described by `info`.
    pub fn new(info: SourceInfo, edges: Vec<Edge>) -> Self {
        Self { info, edges, extra: Vec::new(), at: 0 }
    }

    /// Creates a directed, unweighted source whose vertices are `0..vertices`.
    pub fn pairs(vertices: u64, pairs: &[(u32, u32)]) -> Self {
        let edges: Vec<Edge> =
            pairs.iter().map(|&(u, v)| Edge { source: u.into(), dest: v.into(), weight: 0 }).collect();
        let info = SourceInfo {
            name: "memory".into(),
            ids: IdSpace::Range { first: 0, count: vertices },
            mirror: false,
            directed: true,
            weights: None,
            edges: Some(edges.len() as u64),
            bytes: None,
        };
        Self::new(info, edges)
    }

    /// Adds vertices that no edge names.
    pub fn with_extra_vertices(mut self, ids: Vec<u64>) -> Self {
        self.extra = ids;
        self
    }
}

impl EdgeSource for MemorySource {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, chunk: &mut Vec<Edge>) -> Result<()> {
        let end = (self.at + CHUNK_EDGES).min(self.edges.len());
        chunk.clear();
        chunk.extend_from_slice(&self.edges[self.at..end]);
        self.at = end;
        Ok(())
    }

    fn extra_vertices(&mut self, ids: &mut Vec<u64>) -> Result<()> {
        ids.append(&mut self.extra);
        Ok(())
    }

    fn memory_bytes(&self) -> u64 {
        (self.edges.len() * size_of::<Edge>()) as u64
    }
}
