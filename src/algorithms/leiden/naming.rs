//! The answer, from the lists as they are stored: every community's connected parts, named after their first vertices,
//! and the quality of that partition, from exact sums.
//!
//! Parts of a community without an edge between them are worth more apart: the answer has no disconnected community,
//! whatever the search has left.

use super::objective::Objective;
use super::quantum::Quantum;
use crate::model::algorithm::Weights as Read;
use crate::model::algorithm::{
    Algorithm, Answer, Declaration, Ends, Graph, Groups, Kernel, List, Next, Now, Scalars, State, Step, Summary, Visit,
};
use crate::model::attributes::{Attribute, Merge, Role, U32Column};
use std::ops::{ControlFlow, Range};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use topostream_formats::Direction;
use topostream_formats::edge::WeightType;
use topostream_formats::huge::zeroed;
use topostream_tools::forest::Forest;

/// Sums below two to the power of this are exact in 64 bits.
const TOTAL_BITS: u32 = 62;
/// Sums that threads add to, each for some of the vertices.
const STRIPES: usize = 64;

/// What a partition is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quality {
    /// The resolution.
    pub resolution: f64,
    /// Modularity, or the quality of the constant Potts model, with the resolution.
    pub value: f64,
    /// The number of communities.
    pub communities: u64,
    /// The number of levels, of all iterations, whose lists were on disk.
    pub levels_on_disk: u32,
}

/// Names communities and measures their quality.
pub struct Naming {
    /// `leiden` or `louvain`.
    pub(super) name: &'static str,
    pub(super) objective: Objective,
    pub(super) resolution: f64,
    pub(super) directed: bool,
    pub(super) weights: Option<WeightType>,
    quantum: Quantum,
    /// The communities that were found.
    found: Vec<u32>,
    /// Trees of the edges within communities.
    forest: Vec<AtomicU32>,
    /// The strengths of vertices, out and in, then the strengths of communities.
    strengths: [Vec<AtomicU64>; 2],
    sums: [Vec<AtomicU64>; 2],
    /// The weight of edges within communities, from either end.
    inside: Vec<AtomicU64>,
    /// The sum of all strengths.
    total: AtomicU64,
    quality: OnceLock<Quality>,
    pub(super) levels_on_disk: u32,
    /// Main memory of the search before it, and of it itself, in bytes.
    held_bytes: u64,
}

/// The index of the label.
const LABEL: usize = 0;
/// What a superstep does: the first of its integers.
const MEASURES: u32 = 1;

impl Naming {
    /// Of communities in a graph whose largest weight has these bits, after a search that held so many bytes.
    pub fn new(
        (objective, resolution): (Objective, f64),
        (directed, edges): (bool, u64),
        (weights, largest): (Option<WeightType>, u64),
        found: Vec<u32>,
        held_bytes: u64,
    ) -> Self {
        let vertices = found.len() as u64;
        let into = if directed { vertices } else { 0 };
        Self {
            name: "leiden",
            objective,
            resolution,
            directed,
            weights,
            quantum: Quantum::of(weights, largest, 2 * edges.max(1), TOTAL_BITS),
            forest: zeroed(vertices),
            found,
            strengths: [zeroed(vertices), zeroed(into)],
            sums: [zeroed(vertices), zeroed(into)],
            inside: zeroed(STRIPES as u64),
            total: AtomicU64::new(0),
            quality: OnceLock::new(),
            levels_on_disk: 0,
            held_bytes,
        }
    }

    fn forest(&self) -> Forest<&[AtomicU32]> {
        Forest::of(&self.forest)
    }

    /// Names the community of a vertex, and adds the vertex's strength to it.
    fn name(&self, vertex: u32, label: &U32Column) -> u64 {
        let root = self.forest().root(vertex);
        label.set(vertex, root);
        let mass = |side: usize| match self.objective {
            Objective::Modularity => self.strengths[side].get(vertex as usize).map_or(0, |of| of.load(Relaxed)),
            Objective::Cpm => 1,
        };
        for (side, sums) in self.sums.iter().enumerate().filter(|(_, sums)| !sums.is_empty()) {
            sums[root as usize].fetch_add(mass(side), Relaxed);
        }
        self.strengths[0][vertex as usize].load(Relaxed)
    }

    /// What the community that is named after a vertex takes from the quality, and whether there is one.
    fn cost(&self, vertex: u32) -> Option<f64> {
        if self.forest().root(vertex) != vertex {
            return None;
        }
        let sum = |side: usize| self.sums[side].get(vertex as usize).map(|sum| sum.load(Relaxed) as f64);
        let (out, into) = (sum(0).unwrap_or(0.0), sum(1));
        Some(match self.objective {
            Objective::Modularity => {
                let total = self.total.load(Relaxed).max(1) as f64;
                (out / total) * (into.unwrap_or(out) / total)
            }
            Objective::Cpm => out * (out - 1.0),
        })
    }

    /// The quality, by what all communities cost.
    fn quality(&self, cost: f64, communities: u64) -> Quality {
        let inside: u64 = self.inside.iter().map(|sum| sum.load(Relaxed)).sum();
        let total = self.total.load(Relaxed);
        let value = match self.objective {
            Objective::Modularity if total == 0 => 0.0,
            Objective::Modularity => inside as f64 / total as f64 - self.resolution * cost,
            Objective::Cpm => {
                let value = self.quantum.value(inside as f64) - self.resolution * cost;
                if self.directed { value } else { value / 2.0 }
            }
        };
        Quality { resolution: self.resolution, value, communities, levels_on_disk: self.levels_on_disk }
    }

    /// The quality, at the end.
    pub fn measured(&self) -> Quality {
        self.quality.get().copied().unwrap_or_default()
    }
}

/// Joins the ends of edges within communities.
pub struct NamingKernel<'a> {
    naming: &'a Naming,
    label: &'a U32Column,
}

/// A list: its vertex, the community of that, and sums.
pub struct Named {
    vertex: u32,
    community: u32,
    strength: u64,
    inside: u64,
}

impl NamingKernel<'_> {
    #[inline(always)]
    fn add(&self, list: &mut Named, neighbour: u32, bits: u64) {
        let naming = self.naming;
        let weight = naming.quantum.whole(bits);
        // A loop of an undirected graph is stored once, and has two ends.
        let ends = if neighbour == list.vertex && !naming.directed { 2 } else { 1 };
        list.strength += ends * weight;
        if self.label.get(neighbour) == list.community {
            list.inside += ends * weight;
            naming.forest().link(list.vertex, neighbour, |one, other| one < other);
        }
        if let Some(into) = naming.strengths[1].get(neighbour as usize) {
            into.fetch_add(weight, Relaxed);
        }
    }
}

impl Kernel for NamingKernel<'_> {
    type Record = Named;
    const IS_WIDE: bool = true;
    const SKIPS_EMPTY: bool = true;
    const DIVIDES: bool = true;

    #[inline(always)]
    fn open(&self, List { vertex, .. }: List) -> Option<Named> {
        Some(Named { vertex, community: self.label.get(vertex), strength: 0, inside: 0 })
    }

    #[inline(always)]
    fn edge(&self, list: &mut Named, neighbour: u32, weight: u32) -> ControlFlow<()> {
        self.add(list, neighbour, weight.into());
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn wide_edge(&self, list: &mut Named, neighbour: u32, weight: u64) -> ControlFlow<()> {
        self.add(list, neighbour, weight);
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn prefetch(&self, neighbour: u32) {
        self.label.prefetch(neighbour);
    }

    #[inline(always)]
    fn close(&self, list: Named) {
        self.naming.strengths[0][list.vertex as usize].fetch_add(list.strength, Relaxed);
        self.naming.inside[list.vertex as usize % STRIPES].fetch_add(list.inside, Relaxed);
    }
}

impl Algorithm for Naming {
    type Kernel<'a> = NamingKernel<'a>;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        let label = Attribute::u32("community", Role::Gathered, Merge::Min);
        Declaration {
            command: self.name,
            alone: true,
            on_cpu: true,
            weights: if self.weights.is_some() { Read::Wide } else { Read::None },
            writes: Ends::Both.into(),
            held_bytes: self.held_bytes,
            groups: Some(Groups { label: LABEL, vertex_of: |label| label, is_smallest: true }),
            ..Declaration::new(self.name, vec![label], vec![(Direction::Out, Visit::All)])
        }
    }

    fn initialise(&self, state: &State, vertices: Range<u64>) -> Scalars {
        let label = state.attributes.u32(LABEL);
        vertices.for_each(|vertex| label.set(vertex as u32, self.found[vertex as usize]));
        Scalars::default()
    }

    fn first(&self, _graph: &Graph, _totals: Scalars) -> Option<Step> {
        Some(Step::new(0, Direction::Out, Visit::All))
    }

    fn kernel<'a>(&'a self, state: &'a State, _step: &Step) -> NamingKernel<'a> {
        NamingKernel { naming: self, label: state.attributes.u32(LABEL) }
    }

    /// After all edges, names communities; then, without pages, sums what they cost.
    fn vertex_phase(&self, state: &State, step: &Step, vertices: Range<u64>) -> Scalars {
        let vertices = vertices.map(|vertex| vertex as u32);
        if step.integers[0] != MEASURES {
            let label = state.attributes.u32(LABEL);
            self.total.fetch_add(vertices.map(|vertex| self.name(vertex, label)).sum(), Relaxed);
            return Scalars::default();
        }
        let mut sums = [0.0; 4];
        for cost in vertices.filter_map(|vertex| self.cost(vertex)) {
            sums[0] += cost;
            sums[1] += 1.0;
        }
        sums
    }

    fn rule<'a>(&self, now: Now<'a>) -> Next<'a> {
        now.without_pages().with_integer(0, MEASURES).unless(now.integer(0).equals(MEASURES))
    }

    fn observe(&self, step: &Step, summary: &Summary) {
        if step.integers[0] == MEASURES {
            let quality = self.quality(summary.totals[0], summary.totals[1] as u64);
            self.quality.set(quality).ok();
        }
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let label = state.attributes.u32(LABEL);
        vec![Answer::vertex("community", move |vertex| Some(label.get(vertex)))]
    }
}
