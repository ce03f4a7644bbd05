//! A check of communities by the stored edges alone: that none is disconnected, and what they are worth together.
//!
//! ```text
//!  rule                                                                     input
//!  1 a community is named after one of its vertices                        labels
//!  2 edges within a community lead from any of its vertices to any other   pages, union-find
//!  3 the quality is as in the definition                                   pages, sums in double precision
//! ```
//!
//! Pages are read once. The sums are independent of the search's, which are whole numbers.

use crate::algorithms::leiden::{Objective, Quality};
use crate::error::{Error, Result};
use crate::model::algorithm::Values;
use crate::pages::scan;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use topostream_formats::edge::WeightType;
use topostream_formats::huge::zeroed;
use topostream_formats::page::PageWeights;
use topostream_formats::{Direction, PageId, Store, Topology, VertexId};
use topostream_tools::forest::Forest;

/// How far the quality may be from what it is recomputed as, relative to its two terms.
const TOLERANCE: f64 = 1e-9;

/// Communities that are checked.
pub struct Partition<'a> {
    /// The names of the algorithm and of the column, which errors mention.
    pub name: (&'a str, &'a str),
    /// The vertex that each vertex's community is named after.
    pub labels: &'a Values<'a, Option<VertexId>>,
    /// What the quality is.
    pub objective: Objective,
    /// Whether edges count by their weights.
    pub weights: bool,
    /// The quality that was found, and the resolution.
    pub quality: Quality,
}

/// The figures of a check that has passed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Checked {
    /// The number of communities.
    pub communities: u64,
    /// The quality, recomputed.
    pub quality: f64,
    /// The number of edges that were read.
    pub edges: u64,
    /// The size of their pages, in bytes.
    pub bytes: u64,
}

/// Checks communities.
///
/// # Errors
/// [`Error::Column`] with a vertex whose community is disconnected or badly named, or with a quality that differs from
/// the definition; [`Error::Store`] if a page cannot be read; [`Error::Interrupted`].
pub fn check_communities(store: &Store, partition: &Partition<'_>, cancel: &AtomicBool) -> Result<Checked> {
    topostream_formats::threads::start_shared_pool()?;
    partition.check_names(store)?;
    let sums = Sums::of(store, partition)?;
    let topology = out_lists(store);
    let pages: Vec<PageId> = (0..topology.page_count()).map(PageId).collect();
    let take: &scan::TakeWeighted<'_> = &|vertex, neighbours, weights| sums.add(vertex, neighbours, weights);
    match sums.weights {
        Some(_) => scan::weighted_lists(store, topology, &pages, cancel, take)?,
        None => scan::lists(store, topology, &pages, cancel, &|vertex, neighbours| {
            take(vertex, neighbours, PageWeights::None);
        })?,
    }
    sums.check_connected(store)?;
    let (quality, terms) = sums.quality();
    let found = partition.quality.value;
    if (quality - found).abs() > TOLERANCE * terms {
        return partition.wrong(format!("its quality is {quality:.12}, not {found:.12}"));
    }
    let weights_bytes = if sums.weights.is_some() { topology.weights_file_bytes() } else { 0 };
    Ok(Checked {
        communities: vertices(store).filter(|&vertex| partition.label(vertex) == Some(vertex)).count() as u64,
        quality,
        edges: store.edges(),
        bytes: u64::from(topology.page_count()) * u64::from(topology.page_bytes()) + weights_bytes,
    })
}

/// The main memory that a check needs besides the answer, in bytes.
pub fn memory_bytes(store: &Store, weights: bool) -> u64 {
    let sides = if store.manifest().directed { 2 } else { 1 };
    let topology = out_lists(store);
    let scan_bytes = if weights { scan::weighted_memory_bytes(topology) } else { scan::memory_bytes(topology) };
    (4 + 8 * sides) * store.vertices() + scan_bytes
}

fn out_lists(store: &Store) -> &Topology {
    store.topology(Direction::Out).expect("every store has out-lists")
}

fn vertices(store: &Store) -> impl Iterator<Item = u32> + use<> {
    (0..store.vertices()).map(|vertex| vertex as u32)
}

impl Partition<'_> {
    fn label(&self, vertex: u32) -> Option<u32> {
        self.labels.get(vertex).map(|label| label.0)
    }

    fn wrong<T>(&self, message: String) -> Result<T> {
        let (algorithm, column) = (self.name.0.into(), self.name.1.into());
        Err(Error::Column { algorithm, column, message })
    }

    /// Every community is named after one of its vertices.
    fn check_names(&self, store: &Store) -> Result<()> {
        let is_wrong = |&vertex: &u32| {
            let label = self.label(vertex);
            label.is_none_or(|label| u64::from(label) >= store.vertices() || self.label(label) != Some(label))
        };
        match vertices(store).find(is_wrong) {
            Some(vertex) => {
                let vertex = &store.ids_of(&[VertexId(vertex)])?[0];
                self.wrong(format!("the community of vertex {vertex} is not named after one of its vertices"))
            }
            None => Ok(()),
        }
    }
}

/// Sums over edges, and the trees of edges within communities.
struct Sums<'a> {
    partition: &'a Partition<'a>,
    directed: bool,
    weights: Option<WeightType>,
    forest: Forest,
    /// By community, the strengths of its vertices: out, and of directed graphs in. Bits of numbers.
    strengths: [Vec<AtomicU64>; 2],
    inside: AtomicU64,
    total: AtomicU64,
}

impl<'a> Sums<'a> {
    fn of(store: &Store, partition: &'a Partition<'a>) -> Result<Self> {
        let (directed, count) = (store.manifest().directed, store.vertices());
        let weights = store.manifest().weights.filter(|_| partition.weights);
        let sums = Self {
            partition,
            directed,
            weights,
            forest: Forest::new(count)?,
            strengths: [zeroed(count), zeroed(if directed { count } else { 0 })],
            inside: AtomicU64::new(0),
            total: AtomicU64::new(0),
        };
        if partition.objective == Objective::Cpm {
            vertices(store).for_each(|vertex| sums.add_strength(0, vertex, 1.0));
        }
        Ok(sums)
    }

    fn add_strength(&self, side: usize, vertex: u32, weight: f64) {
        let label = self.partition.label(vertex).expect("names were checked");
        if let Some(sum) = self.strengths[side].get(label as usize) {
            add(sum, weight);
        }
    }

    /// Adds a list, or a part of one.
    fn add(&self, vertex: u32, neighbours: &[u32], weights: PageWeights<'_>) {
        let (mut inside, mut total) = (0.0, 0.0);
        let (label, is_modularity) = (self.partition.label(vertex), self.partition.objective == Objective::Modularity);
        for (at, &neighbour) in neighbours.iter().enumerate() {
            let weight = match self.weights {
                None => 1.0,
                Some(WeightType::U32 | WeightType::U64) => weights.get(at) as f64,
                Some(WeightType::F32) => f32::from_bits(weights.get(at) as u32).into(),
                Some(WeightType::F64) => f64::from_bits(weights.get(at)),
            };
            // A loop of an undirected graph is stored once, and has two ends.
            let weight = if vertex == neighbour && !self.directed { 2.0 * weight } else { weight };
            total += weight;
            if self.partition.label(neighbour) == label {
                inside += weight;
                self.forest.link(vertex, neighbour, |one, other| one < other);
            }
            if self.directed && is_modularity {
                self.add_strength(1, neighbour, weight);
            }
        }
        if is_modularity {
            self.add_strength(0, vertex, total);
        }
        add(&self.inside, inside);
        add(&self.total, total);
    }

    /// Every vertex is in the tree of the vertex that its community is named after.
    fn check_connected(&self, store: &Store) -> Result<()> {
        let is_apart = |&vertex: &u32| {
            let label = self.partition.label(vertex).expect("names were checked");
            self.forest.root(vertex) != self.forest.root(label)
        };
        let Some(vertex) = vertices(store).find(is_apart) else { return Ok(()) };
        let label = self.partition.label(vertex).expect("names were checked");
        let ids = store.ids_of(&[vertex, label].map(VertexId))?;
        let (vertex, label) = (&ids[0], &ids[1]);
        self.partition.wrong(format!("no path within the community of vertex {label} leads to its vertex {vertex}"))
    }

    /// The quality by its definition, and the sum of the sizes of its two terms.
    fn quality(&self) -> (f64, f64) {
        let Partition { objective, quality: Quality { resolution, .. }, .. } = *self.partition;
        let (inside, total) = (value(&self.inside), value(&self.total));
        let sum = |side: usize, at: usize| self.strengths[side].get(at).map(value);
        let expected = |cost: &dyn Fn(f64, f64) -> f64| -> f64 {
            let of = |at: usize| (sum(0, at).unwrap_or(0.0), sum(1, at));
            (0..self.strengths[0].len()).map(of).map(|(out, into)| cost(out, into.unwrap_or(out))).sum()
        };
        let (gain, cost) = match objective {
            Objective::Modularity if total == 0.0 => (0.0, 0.0),
            Objective::Modularity => (inside / total, resolution * expected(&|out, into| out / total * (into / total))),
            Objective::Cpm => {
                let ends = if self.directed { 1.0 } else { 2.0 };
                (inside / ends, resolution * expected(&|size, _| size * (size - 1.0)) / ends)
            }
        };
        (gain - cost, gain + cost)
    }
}

fn value(bits: &AtomicU64) -> f64 {
    f64::from_bits(bits.load(Relaxed))
}

fn add(sum: &AtomicU64, more: f64) {
    let added = |bits| Some((f64::from_bits(bits) + more).to_bits());
    sum.fetch_update(Relaxed, Relaxed, added).expect("there is always a sum");
}
