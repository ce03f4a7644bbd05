//! Graph500's checks of a search: whether levels or distances are right, without another answer to hold them against.
//!
//! ```text
//!  rule                                                             what is read
//!  1 the tree hangs below the source and has no cycles              parents
//!  2 a tree edge goes down one level (distances: by its weight)     parents; of distances the pages too
//!  3 no edge goes down more than that                               pages
//!  4 no edge leaves what is reached                                 pages
//!  5 a tree edge is an edge of the graph                            pages
//! ```
//!
//! 1, 2 and 5 say that nothing is nearer than it should be, 3 and 4 that nothing is farther: together they leave one
//! answer. An edge of an undirected graph stands in the lists of both ends, so that 3 and 4 hold both ways; in a
//! directed graph they hold along the edge only. Without parents the place of 1, 2 and 5 is taken by a weaker demand
//! that proves as much: every vertex that is reached has *some* edge from a vertex that is right and nearer by the
//! edge's length.
//!
//! Pages are read in file order, a few at a time: memory is a few bits a vertex and a page a thread, so that a graph
//! larger than memory is checked from disk. Lists are read once; without parents, edges of length 0 may ask for more
//! (see [`check_sssp`]). The rules are those of the benchmark's specification, section "Validation" (graph500.org).

mod pages;
mod tree;

use crate::error::{Error, Result};
pub use crate::error::{Rule, Violation};
use crate::model::answer::Values;
use crate::model::bits::Bits;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use topostream_formats::edge::WeightType;
use topostream_formats::{Direction, PageId, Store, Topology, VertexId};

/// Hops from the source to each vertex; `None` where it is not reached.
pub type Levels<'a> = Values<'a, Option<u64>>;
/// Distances from the source to each vertex; infinity where it is not reached.
pub type Distances<'a> = Values<'a, f64>;
/// Each vertex's parent in the tree; the source is its own parent, and a vertex that is not reached has none.
pub type Parents<'a> = Values<'a, Option<VertexId>>;

/// What a check may use.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// Main memory for the check, in bytes, beside what holds the answer.
    pub memory_bytes: u64,
    /// By how much a distance over `f32` weights may differ from the sum that it should be, relative to that sum. One
    /// rounding of single precision where nothing else is asked for; sums of whole weights are exact.
    pub tolerance: f64,
    /// Raised by whoever wants the check to stop.
    pub cancel: Arc<AtomicBool>,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self { memory_bytes: 1 << 30, tolerance: f64::from(f32::EPSILON), cancel: Arc::default() }
    }
}

/// What was checked and found right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Vertices that are reached, the source among them.
    pub reached: u64,
    /// Pages that were read, counted each time.
    pub pages: u64,
    /// Edges in them.
    pub edges: u64,
    /// Bytes of them.
    pub bytes: u64,
}

/// Checks levels, and the tree where there are parents, of a breadth-first search.
///
/// # Errors
/// [`Error::Wrong`] with the first case of the first rule that is broken; [`Error::Memory`]; [`Error::Store`] where a
/// page cannot be read; [`Error::Interrupted`].
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

/// Checks distances, and the tree where there are parents, of shortest paths over the store's weights. Weights below
/// 2^-126 count as 0, and an edge leads nowhere where its sum passes the largest `f32`, as in
/// [`Sssp`](crate::algorithms::Sssp).
///
/// Without parents, two vertices at the same distance with an edge of length 0 between them cannot vouch for each
/// other: pages are read again for as long as that shows further vertices to be right.
///
/// # Errors
/// As [`check_bfs`]; [`Error::Parameter`] where the store has no weights.
pub fn check_sssp(
    store: &Store,
    source: VertexId,
    distances: &Distances<'_>,
    parents: Option<&Parents<'_>>,
    options: &CheckOptions,
) -> Result<Checked> {
    let lengths = match store.manifest().weights {
        Some(WeightType::U32) => Lengths::Whole,
        Some(WeightType::F32) => Lengths::Float { tolerance: options.tolerance },
        None => return Err(Error::Parameter("distances cannot be checked: the store has no weights".into())),
    };
    Search::new(store, source, distances, parents, lengths, options)?.check()
}

/// Main memory that a check needs beside the answer, in bytes.
pub fn memory_bytes(store: &Store, weights: bool) -> u64 {
    let topology = out_lists(store);
    let weight_page_bytes = if weights { topology.weight_page_bytes() } else { 0 };
    let a_thread = u64::from(topology.page_bytes()) + u64::from(weight_page_bytes);
    let directory = 36 * u64::from(topology.page_count());
    rayon::current_num_threads() as u64 * a_thread + 2 * Bits::memory_bytes(store.vertices()) + directory
}

fn out_lists(store: &Store) -> &Topology {
    store.topology(Direction::Out).expect("every store has out-lists")
}

/// How long edges are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lengths {
    /// Each is 1.
    Hops,
    /// As long as its weight.
    Whole,
    /// The same, with distances that are rounded.
    Float { tolerance: f64 },
}

impl Lengths {
    fn has_weights(self) -> bool {
        self != Self::Hops
    }

    fn tolerance(self) -> f64 {
        if let Self::Float { tolerance } = self { tolerance } else { 0.0 }
    }

    /// The length of an edge by its weight's bits; none where the weight is negative or no number.
    #[inline(always)]
    fn of(self, weight: u32) -> Option<f64> {
        match self {
            Self::Hops => Some(1.0),
            Self::Whole => Some(weight.into()),
            Self::Float { .. } => match f32::from_bits(weight) {
                weight if weight.abs() < f32::MIN_POSITIVE => {
                    (weight.is_sign_positive() || weight == 0.0).then_some(0.0)
                }
                weight => (weight > 0.0).then_some(weight.into()),
            },
        }
    }

    /// What a value is called.
    fn noun(self) -> &'static str {
        if self == Self::Hops { "level" } else { "distance" }
    }
}

/// An answer to check. Levels are distances over edges of length 1.
struct Search<'a> {
    store: &'a Store,
    source: u32,
    value: &'a Distances<'a>,
    parent: Option<&'a Parents<'a>>,
    lengths: Lengths,
    cancel: &'a AtomicBool,
}

/// A rule that is broken, by the store's own numbers.
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
            let vertices = store.vertices();
            return Err(Error::Parameter(format!(
                "source vertex {source} does not exist: the graph has {vertices} vertices"
            )));
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
        Ok(Self { store, source: source.0, value, parent, lengths, cancel: &options.cancel })
    }

    fn check(&self) -> Result<Checked> {
        let reached = self.check_vertices()?;
        if let Some(parent) = self.parent {
            self.check_cycles(parent)?;
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

    /// The parent of a vertex, as the answer has it.
    fn above(parent: &Parents<'_>, vertex: u32) -> Option<u32> {
        parent.get(vertex).map(|parent| parent.0)
    }

    /// All vertices but the source.
    fn others(&self) -> impl Iterator<Item = u32> {
        let vertices = (0..self.store.vertices()).map(|vertex| vertex as u32);
        vertices.filter(|&vertex| vertex != self.source)
    }

    fn check_cancel(&self) -> Result<()> {
        if self.cancel.load(Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// The error that says so, by original ids.
    fn wrong(&self, broken: Broken) -> Error {
        let ids = match self.store.ids() {
            Ok(ids) => ids,
            Err(error) => return error.into(),
        };
        let original = |vertex| ids.original(VertexId(vertex));
        let topology = out_lists(self.store);
        let file = |page| topology.page_files()[topology.place(page).stripe].clone();
        Error::Wrong(Box::new(Violation {
            rule: broken.rule,
            vertex: original(broken.vertex),
            // A parent may be no vertex at all: the reason says so.
            other: broken.other.filter(|&other| u64::from(other) < self.store.vertices()).map(original),
            reason: broken.reason,
            page: broken.page.map(|page| (file(page), page)),
        }))
    }
}
