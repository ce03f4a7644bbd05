//! What a store to be made is like, and what came of it.

use super::balance::{Balance, whole_weights};
use super::survey::Seen;
use std::path::PathBuf;
use topostream_formats::shard::SHARDS_MAX;
use topostream_formats::write::Layout;
use topostream_formats::{Encoding, Error, Manifest, Result, Rounding, VertexOrder};

/// Main memory in use for any graph: code, stacks, chunk buffers.
pub const BASE_BYTES: u64 = 40 << 20;

/// Which ids become vertices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdPolicy {
    /// Depends on the input's format: the ids that occur in plain edge lists, the declared ones if there is a header.
    #[default]
    Auto,
    /// Every id from 0 to the largest that occurs.
    Keep,
    /// Only the ids that occur.
    Compact,
    /// All ids below this number.
    Below(u64),
}

/// What decides how vertices are numbered, in place of a fixed order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderFrom {
    /// A file of original ids in the new order, as [`VertexList`](topostream_readers::VertexList) reads it.
    /// Vertices that it does not list follow in natural order.
    File(PathBuf),
    /// The size of some lists: [`VertexOrder::DegreeGroups`] if they make a packed store smaller, otherwise
    /// [`VertexOrder::Natural`]. Stores that are not packed have the same size in any order, and keep the natural one.
    Sample,
}

/// Merges edges with the same ends: the sum, smallest, largest or first of their weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeated {
    /// The sum of all weights. Weights of `f32` and `f64` are added in `f64`, from the smallest to the largest; a sum
    /// that the type of the weights does not hold is an error.
    Sum,
    /// The smallest weight.
    Min,
    /// The largest weight.
    Max,
    /// The weight of the edge that comes first in the input, in either direction if the graph is undirected. For
    /// weights of 32 bits, and fewer than 2^32 edges.
    First,
}

impl Repeated {
    /// The name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Min => "min",
            Self::Max => "max",
            Self::First => "first",
        }
    }
}

/// The options of a store to be made.
#[derive(Clone, Debug)]
pub struct FormatOptions {
    /// Pages, encoding, stripes. `layout.weights` is set from the source; with weights that are not
    /// packed, packed pages have at most half as many neighbours as bytes, or a quarter with weights of 8 bytes, since
    /// pages of weights have a fixed size.
    pub layout: Layout,
    /// Whether to keep the source's weights.
    pub keep_weights: bool,
    /// Whether to add the reverse of every edge that is not in the list itself: the graph becomes undirected. Edges
    /// that a seed generates have their reverses added in any case.
    pub symmetrize: bool,
    /// Whether to keep only one of several edges with the same ends: the one with the smallest weight.
    pub remove_duplicates: bool,
    /// Which weight the only one of several edges with the same ends has, if there is to be one only. The reverse of
    /// every listed edge then counts too if edges are symmetrized, whether or not it is in the list itself.
    pub repeated: Option<Repeated>,
    /// Whether to drop self-loops.
    pub remove_self_loops: bool,
    /// Whether to store the in-lists of a directed graph too.
    pub in_edges: bool,
    /// How vertices are numbered.
    pub order: VertexOrder,
    /// What decides how vertices are numbered, in place of `order`.
    pub order_from: Option<OrderFrom>,
    /// The number of shards by destination for out-lists; 1 for no grouping.
    pub shards: u32,
    /// What the shards have equal shares of, or shares in the ratio of `shard_weights`.
    pub balance: Balance,
    /// The weight of each shard, in any unit: machines and devices differ. Empty for equal ones.
    pub shard_weights: Vec<f64>,
    /// Make only this part, from 0, as `split` makes it of the store in shards. In-lists are then the lists of the
    /// part's vertices, for undirected graphs too.
    pub part: Option<u32>,
    /// Whether to [make mirrors](crate::mirrors::make_mirrors) of the store, once it is complete.
    pub mirrors: bool,
    /// Which ids become vertices.
    pub ids: IdPolicy,
    /// The memory budget, in bytes.
    pub memory_bytes: u64,
    /// The folder for temporary files; by default the store's own directory.
    pub temporary: Option<PathBuf>,
}

impl Default for FormatOptions {
    /// Packed pages of 1 MiB, and the order of vertices that a sample chooses.
    fn default() -> Self {
        let layout = Layout { encoding: Encoding::PACKED, ..Layout::default() };
        Self { layout, order_from: Some(OrderFrom::Sample), ..Self::plain() }
    }
}

impl FormatOptions {
    /// Pages that are not packed, vertices in natural order: every neighbour is a vertex id of 4 bytes.
    pub fn plain() -> Self {
        Self {
            layout: Layout::default(),
            keep_weights: true,
            symmetrize: false,
            remove_duplicates: false,
            repeated: None,
            remove_self_loops: false,
            in_edges: false,
            order: VertexOrder::Natural,
            order_from: None,
            shards: 1,
            balance: Balance::Both,
            shard_weights: Vec::new(),
            part: None,
            mirrors: false,
            ids: IdPolicy::Auto,
            memory_bytes: 1 << 30,
            temporary: None,
        }
    }

    /// Checks the number and the weights of shards, and the part to be made.
    pub(super) fn check_shards(&self) -> Result<()> {
        let shards = self.shards;
        if !(1..=SHARDS_MAX).contains(&shards) {
            return Err(Error::Invalid(format!("{shards} shards: there must be 1 to {SHARDS_MAX}")));
        }
        whole_weights(&self.shard_weights, shards)?;
        match self.part {
            Some(part) if part >= shards => {
                Err(Error::Invalid(format!("part {part}: expected 0 to {}, as there are {shards} shards", shards - 1)))
            }
            _ => Ok(()),
        }
    }
}

/// The outcome of formatting.
#[derive(Clone, Debug)]
pub struct FormatReport {
    /// The manifest that was written.
    pub manifest: Manifest,
    /// The number of self-loops dropped.
    pub self_loops_removed: u64,
    /// The number of duplicates dropped.
    pub duplicates_removed: u64,
    /// The number of edges that became part of another one with the same ends.
    pub combined: u64,
    /// The number of edges that had the same ends as another one, dropped or not; mirrored edges count.
    pub repeated: u64,
    /// What was seen in the input.
    pub seen: Seen,
    /// What the weights have lost, if they were narrowed to single precision.
    pub rounding: Rounding,
}
