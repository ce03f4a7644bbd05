//! Graph500's validation of searches: checks levels or distances without a second answer to compare with.
//!
//! ```text
//!  rule                                                             input
//!  1 parents form a tree with the source as its root                parents
//!  2 values grow along tree edges by the edge's length              parents; for distances, pages too
//!  3 values grow along edges by at most the edge's length           pages
//!  4 no edge leads from a reached vertex to an unreached one        pages
//!  5 a tree edge is an edge of the graph                            pages
//! ```
//!
//! The length of an edge is 1 for levels and its weight for distances. Rules 1, 2 and 5 prove that no value is too
//! small, rules 3 and 4 that none is too large; only one answer satisfies all of them. An edge of an undirected graph
//! is in the lists of both ends, so rules 3 and 4 are checked both ways; in a directed graph only along the edge.
//! Without parents, rules 1, 2 and 5 are replaced by a weaker condition that proves the same: every reached vertex has
//! *some* edge from a correct vertex whose value is smaller by the edge's length.
//!
//! Pages are read in file order, a few at a time. Memory is a few bits per vertex and a page per thread, so graphs
//! larger than memory can be checked. Lists are read once; without parents, edges of length 0 may require more passes
//! ([`check_sssp`]). The rules are from the benchmark's specification, section "Validation" (graph500.org).

mod pages;
mod tree;

use crate::error::{Error, Result};
pub use crate::error::{Rule, Violation};
use crate::model::algorithm::Values;
use crate::model::bits::Bits;
use crate::pages::buffers::PageBuffers;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use topostream_formats::edge::WeightType;
use topostream_formats::text::counted;
use topostream_formats::{Direction, PageId, Store, Topology, VertexId};

/// The number of hops from the source to each vertex; `None` if it is unreached.
pub type Levels<'a> = Values<'a, Option<u64>>;
/// The distance from the source to each vertex; infinity if it is unreached.
pub type Distances<'a> = Values<'a, f64>;
/// Each vertex's parent in the tree; `None` if it is unreached. The source is its own parent.
pub type Parents<'a> = Values<'a, Option<VertexId>>;

/// The options of a check.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// The memory budget of the check, in bytes, besides the answer.
    pub memory_bytes: u64,
    /// Whether distances over `f32` weights are in single precision: each may differ from the expected sum by one
    /// rounding. Otherwise they are compared with sums in double precision, bit for bit.
    pub single: bool,
    /// The largest distance: vertices that are farther away count as unreached. Infinity without a limit.
    pub cutoff: f64,
    /// Set to cancel the check.
    pub cancel: Arc<AtomicBool>,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self { memory_bytes: 1 << 30, single: false, cutoff: f64::INFINITY, cancel: Arc::default() }
    }
}

/// The figures of a check that has passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// The number of reached vertices, including the source.
    pub reached: u64,
    /// The number of page reads.
    pub pages: u64,
    /// The number of edges in these pages.
    pub edges: u64,
    /// The size of these pages, in bytes.
    pub bytes: u64,
}

/// Checks the levels of a breadth-first search, and its tree if parents are given.
///
/// # Errors
/// [`Error::Wrong`] with the first violation of a rule; [`Error::Memory`]; [`Error::Store`] if a page cannot be read;
/// [`Error::Interrupted`].
pub fn check_bfs(
    store: &Store,
    source: VertexId,
    levels: &Levels<'_>,
    parents: Option<&Parents<'_>>,
    options: &CheckOptions,
) -> Result<Checked> {
    let value = Values::new(|vertex| levels.get(vertex).map_or(f64::INFINITY, |level| level as f64));
    Search::new(store, source, &value, parents, Lengths::Hops, options)?.check()
}

/// Checks the distances of shortest paths over the store's weights, and their tree if parents are given. As in
/// [`Sssp`](crate::algorithms::Sssp), an edge of infinite weight is ignored; and in single precision one whose sum
/// exceeds the largest `f32`, and weights below 2^-126 count as 0.
///
/// Without parents, two vertices at the same distance with an edge of length 0 between them cannot prove each other
/// correct. Pages are then read again for as long as a pass proves more vertices correct.
///
/// # Errors
/// The errors of [`check_bfs`]; [`Error::Parameter`] if the store has no weights, or integers of 64 bits.
pub fn check_sssp(
    store: &Store,
    source: VertexId,
    distances: &Distances<'_>,
    parents: Option<&Parents<'_>>,
    options: &CheckOptions,
) -> Result<Checked> {
    let lengths = match store.manifest().weights {
        Some(WeightType::U32) => Lengths::Whole,
        Some(WeightType::F32) => Lengths::Float { single: options.single },
        Some(WeightType::F64) => Lengths::Double,
        Some(WeightType::U64) => {
            let message = "distances over u64 weights cannot be checked: sums are checked as f64";
            return Err(Error::Parameter(message.into()));
        }
        None => return Err(Error::Parameter("distances cannot be checked: the store has no weights".into())),
    };
    Search::new(store, source, distances, parents, lengths, options)?.check()
}

/// Returns the main memory that a check needs besides the answer, in bytes.
pub fn memory_bytes(store: &Store, weights: bool) -> u64 {
    let topology = out_lists(store);
    let a_thread = PageBuffers::memory_bytes(topology, weights);
    let directory = 36 * u64::from(topology.page_count());
    rayon::current_num_threads() as u64 * a_thread + 2 * Bits::memory_bytes(store.vertices()) + directory
}

/// Vertices that a thread takes at a time.
const CHUNK_VERTICES: u64 = 1 << 16;

fn out_lists(store: &Store) -> &Topology {
    store.topology(Direction::Out).expect("every store has out-lists")
}

/// The lengths of edges.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lengths {
    /// Every edge has length 1.
    Hops,
    /// The length is the weight, an integer.
    Whole,
    /// The length is the weight, an `f32`, and distances are rounded, to double or to single precision.
    Float { single: bool },
    /// The length is the weight, an `f64`.
    Double,
}

impl Lengths {
    fn has_weights(self) -> bool {
        self != Self::Hops
    }

    fn tolerance(self) -> f64 {
        if self == (Self::Float { single: true }) { f32::EPSILON.into() } else { 0.0 }
    }

    /// Returns the length of an edge from the bits of its weight; `None` if the weight is negative or NaN.
    #[inline(always)]
    fn of(self, weight: u64) -> Option<f64> {
        match self {
            Self::Hops => Some(1.0),
            Self::Whole => Some(weight as f64),
            Self::Double => Some(f64::from_bits(weight)).filter(|&weight| weight >= 0.0),
            Self::Float { single } => match f32::from_bits(weight as u32) {
                weight if single && weight.abs() < f32::MIN_POSITIVE => {
                    (weight.is_sign_positive() || weight == 0.0).then_some(0.0)
                }
                weight => (weight >= 0.0).then_some(weight.into()),
            },
        }
    }

    /// The noun for a value in messages.
    fn noun(self) -> &'static str {
        if self == Self::Hops { "level" } else { "distance" }
    }
}

/// An answer that is checked. Levels are distances over edges of length 1.
struct Search<'a> {
    store: &'a Store,
    source: u32,
    value: &'a Distances<'a>,
    parent: Option<&'a Parents<'a>>,
    lengths: Lengths,
    /// The largest value.
    cutoff: f64,
    cancel: &'a AtomicBool,
}

/// A violation of a rule, with the store's own vertex numbers.
#[derive(Debug)]
struct Broken {
    rule: Rule,
    vertex: u32,
    other: Option<u32>,
    reason: String,
    page: Option<PageId>,
}

impl<'a> Search<'a> {
    fn new(
        store: &'a Store,
        source: VertexId,
        value: &'a Distances<'a>,
        parent: Option<&'a Parents<'a>>,
        lengths: Lengths,
        options: &'a CheckOptions,
    ) -> Result<Self> {
        topostream_formats::threads::start_shared_pool()?;
        if u64::from(source.0) >= store.vertices() {
            let all = counted(store.vertices(), "vertex");
            return Err(Error::Parameter(format!("source vertex {source} does not exist: the graph has {all}")));
        }
        let needed_bytes = memory_bytes(store, lengths.has_weights());
        if needed_bytes > options.memory_bytes {
            return Err(Error::Memory {
                what: format!("checking {}s", lengths.noun()),
                needed_bytes,
                budget_bytes: options.memory_bytes,
                parts: format!(
                    "a page for each of {} threads, two bits for each of {} vertices",
                    rayon::current_num_threads(),
                    store.vertices()
                ),
            });
        }
        Ok(Self { store, source: source.0, value, parent, lengths, cutoff: options.cutoff, cancel: &options.cancel })
    }

    fn check(&self) -> Result<Checked> {
        let reached = self.check_vertices()?;
        if let Some(parent) = self.parent {
            // Where values grow along all tree edges there is no cycle.
            if !self.grows(parent)? {
                self.check_cycles(parent)?;
            }
            self.check_tree_edges(parent)?;
        }
        let mut checked = Checked { reached, ..Checked::default() };
        match self.parent {
            Some(parent) => self.check_with_tree(parent, &mut checked)?,
            None => self.check_without_tree(&mut checked)?,
        }
        Ok(checked)
    }

    fn is_reached(&self, vertex: u32) -> bool {
        self.value.get(vertex) < f64::INFINITY
    }

    /// Returns the parent of a vertex in the answer.
    fn above(parent: &Parents<'_>, vertex: u32) -> Option<u32> {
        parent.get(vertex).map(|parent| parent.0)
    }

    /// Returns all vertices but the source.
    fn others(&self) -> impl Iterator<Item = u32> {
        let vertices = (0..self.store.vertices()).map(|vertex| vertex as u32);
        vertices.filter(|&vertex| vertex != self.source)
    }

    /// Returns the first vertex but the source that is reached and fails a test; all threads look.
    fn first_reached(&self, fails: impl Fn(u32) -> bool + Sync) -> Result<Option<u32>> {
        let fails = |&vertex: &u32| vertex != self.source && self.is_reached(vertex) && fails(vertex);
        let found = self.by_chunk(|vertices| vertices.map(|vertex| vertex as u32).find(fails))?;
        Ok(found.into_iter().flatten().next())
    }

    /// Returns what a function makes of ranges of vertices, in order; all threads work.
    fn by_chunk<T: Send>(&self, of: impl Fn(Range<u64>) -> T + Sync) -> Result<Vec<T>> {
        let vertices = self.store.vertices();
        let of_chunk = |chunk: usize| -> Result<T> {
            self.check_cancel()?;
            let first = chunk as u64 * CHUNK_VERTICES;
            Ok(of(first..vertices.min(first + CHUNK_VERTICES)))
        };
        (0..vertices.div_ceil(CHUNK_VERTICES) as usize).into_par_iter().map(of_chunk).collect()
    }

    fn check_cancel(&self) -> Result<()> {
        if self.cancel.load(Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Returns the error for a violation, with original ids.
    fn wrong(&self, broken: Broken) -> Error {
        // A parent may not exist; the reason states it.
        let other = broken.other.filter(|&other| u64::from(other) < self.store.vertices());
        let named: Vec<VertexId> = [broken.vertex].into_iter().chain(other).map(VertexId).collect();
        let mut ids = match self.store.ids_of(&named) {
            Ok(ids) => ids.into_iter(),
            Err(error) => return error.into(),
        };
        let vertex = ids.next().expect("an id for each vertex");
        let other = ids.next();
        let topology = out_lists(self.store);
        let file = |page| topology.page_files()[topology.place(page).stripe].clone();
        Error::Wrong(Box::new(Violation {
            rule: broken.rule,
            vertex,
            other,
            reason: broken.reason,
            page: broken.page.map(|page| (file(page), page)),
        }))
    }
}
