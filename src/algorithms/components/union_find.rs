//! Connected components by union-find with sampling, for one CPU device (Afforest: Sutton, Ben-Nun and Barak, IPDPS
//! 2018; variants with other samples: ConnectIt, Dhulipala, Hong and Shun, VLDB 2020).
//!
//! ```text
//!  measure, select   vertex phases: a degree from which on lists have a fifth of the edges, and their vertices
//!  link few          two neighbours of every vertex   or, where pages have to be read and there are
//!  link hubs         such long lists, these alone: fewer pages, the parts of them that they are in
//!                    phase: trees flattened; the most frequent root of 1,024 vertices is the giant component's;
//!                    selects the vertices outside it
//!  link rest         all neighbours of those: out-lists, then, of directed graphs, in-lists
//!  name              phase: the root becomes the label
//! ```
//!
//! An edge is read from one of its ends at least, unless both are in the giant component: if each edge is in the lists
//! of both ends, or out- and in-lists are there. Otherwise *link all* reads every list once. A root is the vertex of
//! its tree with the smallest number, so the answer depends neither on the sample nor on the order of edges; which
//! lists are read depends on the graph alone.
//!
//! 4 bytes a vertex for the parent, then the label; a bit for the selection.

use crate::model::algorithm::{
    Algorithm, Alternative, Answer, Declaration, Ends, Graph, Groups, Kernel, List, Next, Now, Scalars, State, Step,
    Summary, Visit,
};
use crate::model::attributes::{Attribute, Merge, Role, U32Column};
use std::collections::HashMap;
use std::ops::{ControlFlow, Range};
use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;
use topostream_formats::Direction;
use topostream_tools::forest::Forest;

/// Connected components, for one CPU device.
#[derive(Clone, Debug)]
pub struct UnionFind {
    /// Whether an edge is stored in one list only.
    directed: bool,
    /// Whether the store has in-lists.
    in_lists: bool,
    /// The root of the giant component, once the sample is taken.
    giant: OnceLock<u32>,
}

/// Indices in the declaration.
const PARENT: usize = 0;
const SELECTED: usize = 1;

/// What a superstep does: the first of its integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Measure,
    Select,
    LinkFew,
    LinkHubs,
    LinkRest,
    LinkAll,
    Name,
}

const MODES: [Mode; 7] =
    [Mode::Measure, Mode::Select, Mode::LinkFew, Mode::LinkHubs, Mode::LinkRest, Mode::LinkAll, Mode::Name];

/// The second one: the exponent of the degree that makes a hub, see [`hub_degree`].
const EXPONENT: usize = 1;

/// The edges of the graph: the first of a superstep's numbers.
const EDGES: usize = 0;

/// The neighbours of each vertex that are linked first. Afforest's figures are best with two.
const NEIGHBOURS: u32 = 2;

/// The part of the edges that lists of hubs have at most, and at least to be worth a superstep.
const HUBS_MAX: f64 = 0.2;
const HUBS_MIN: f64 = 0.02;

/// The part of the time of an edge that is linked for one that is only decoded.
const DECODING: f64 = 0.25;

/// Vertices of the sample.
const SAMPLE: u64 = 1024;

/// The least degree of hubs: 4, 16, 64 or 256 times the mean.
fn hub_degree(graph: &Graph, exponent: u32) -> u64 {
    graph.edges.div_ceil(graph.vertices.max(1)).max(1) << (2 * (exponent + 1))
}

/// Links the ends of edges.
#[doc(hidden)]
pub struct LinkKernel<'a> {
    forest: Forest<&'a [AtomicU32]>,
    parent: &'a U32Column,
    neighbours: u32,
}

/// A list: its vertex, what is above that, and how many neighbours are still to be linked.
#[doc(hidden)]
pub struct Linked {
    vertex: u32,
    parent: u32,
    left: u32,
}

impl Kernel for LinkKernel<'_> {
    type Record = Linked;
    const SKIPS_EMPTY: bool = true;

    #[inline(always)]
    fn open(&self, list: List) -> Option<Linked> {
        Some(Linked { vertex: list.vertex, parent: self.forest.parent(list.vertex), left: self.neighbours })
    }

    #[inline(always)]
    fn edge(&self, list: &mut Linked, neighbour: u32, _weight: u32) -> ControlFlow<()> {
        // Most neighbours are in the tree already, right below its root.
        if self.forest.parent(neighbour) != list.parent {
            self.forest.link(list.vertex, neighbour, |one, other| one < other);
            list.parent = self.forest.parent(list.vertex);
        }
        list.left -= 1;
        if list.left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    #[inline(always)]
    fn prefetch(&self, neighbour: u32) {
        if self.neighbours > NEIGHBOURS {
            self.parent.prefetch(neighbour);
        }
    }
}

impl UnionFind {
    /// For a store that is directed or not, with in-lists or without.
    pub fn new(directed: bool, in_lists: bool) -> Self {
        Self { directed, in_lists, giant: OnceLock::new() }
    }

    /// Whether some lists may be left out: each edge can be read from either end.
    fn samples(&self) -> bool {
        !self.directed || self.in_lists
    }

    fn mode(step: &Step) -> Mode {
        MODES[step.integers[0] as usize]
    }

    fn forest(state: &State) -> Forest<&[AtomicU32]> {
        Forest::of(state.attributes.u32(PARENT).cells())
    }

    /// The most frequent root of a sample; of several, the smallest.
    fn giant(&self, forest: &Forest<&[AtomicU32]>, vertices: u64) -> u32 {
        *self.giant.get_or_init(|| {
            let mut counts = HashMap::new();
            for place in 0..SAMPLE {
                *counts.entry(forest.root((place * vertices / SAMPLE) as u32)).or_insert(0u32) += 1;
            }
            let most = counts.into_iter().max_by_key(|&(root, count)| (count, std::cmp::Reverse(root)));
            most.map_or(0, |(root, _)| root)
        })
    }

    /// Sums of degrees from each of the degrees on that may make hubs.
    fn measure(graph: &Graph, vertices: impl Iterator<Item = u32>) -> Scalars {
        let least = [0, 1, 2, 3].map(|exponent| hub_degree(graph, exponent));
        let mut sums = [0; 4];
        for degree in vertices.map(|vertex| u64::from(graph.out_degree(vertex))).filter(|degree| *degree >= least[0]) {
            for (sum, least) in sums.iter_mut().zip(least) {
                *sum += if degree >= least { degree } else { 0 };
            }
        }
        sums.map(|sum| sum as f64)
    }

    /// Selects hubs; returns the sum of their degrees.
    fn select(state: &State, exponent: u32, vertices: impl Iterator<Item = u32>) -> Scalars {
        let (graph, selected) = (&state.graph, state.attributes.bits(SELECTED));
        let least = hub_degree(graph, exponent);
        let mut sum = 0;
        for vertex in vertices {
            let degree = u64::from(graph.out_degree(vertex));
            if degree >= least {
                selected.insert(vertex);
                sum += degree;
            }
        }
        [sum as f64, 0.0, 0.0, 0.0]
    }

    /// Flattens trees, and selects the vertices outside the giant component that may have neighbours; returns their
    /// number.
    fn select_outside(&self, state: &State, vertices: impl Iterator<Item = u32>) -> Scalars {
        let (forest, selected) = (Self::forest(state), state.attributes.bits(SELECTED));
        let giant = self.giant(&forest, state.graph.vertices);
        let mut outside = 0;
        for vertex in vertices {
            let root = forest.root(vertex);
            forest.set_parent(vertex, root);
            if root != giant && (self.directed || state.graph.out_degree(vertex) > 0) {
                selected.insert(vertex);
                outside += 1;
            } else if selected.contains(vertex) {
                selected.remove(vertex);
            }
        }
        [outside as f64, 0.0, 0.0, 0.0]
    }
}

impl Algorithm for UnionFind {
    type Kernel<'a> = LinkKernel<'a>;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        let attributes =
            vec![Attribute::u32("component", Role::Writable, Merge::Min), Attribute::set("selected", Role::ReadOnly)];
        let mut visits = vec![(Direction::Out, Visit::All)];
        if self.samples() {
            visits.push((Direction::Out, Visit::Within(SELECTED)));
        }
        if self.samples() && self.directed {
            visits.push((Direction::In, Visit::Within(SELECTED)));
        }
        Declaration {
            alone: true,
            monotone: true,
            writes: Ends::Both.into(),
            groups: Some(Groups { label: PARENT, vertex_of: |label| label, is_smallest: true }),
            ..Declaration::new("components", attributes, visits)
        }
    }

    fn first(&self, graph: &Graph, _totals: Scalars) -> Option<Step> {
        let step = |step: Step, mode: Mode| {
            let step = step.with_integers([mode as u32, 0, 0, 0]);
            Some(step.with_scalars([graph.edges as f64, 0.0, 0.0, 0.0]))
        };
        match (graph.edges, self.samples()) {
            (0, _) => step(Step::without_pages(0), Mode::Name),
            (_, true) => step(Step::without_pages(0), Mode::Measure),
            (_, false) => step(Step::new(0, Direction::Out, Visit::All), Mode::LinkAll),
        }
    }

    fn kernel<'a>(&'a self, state: &'a State, step: &Step) -> LinkKernel<'a> {
        let neighbours = if Self::mode(step) == Mode::LinkFew { NEIGHBOURS } else { u32::MAX };
        LinkKernel { forest: Self::forest(state), parent: state.attributes.u32(PARENT), neighbours }
    }

    fn vertex_phase(&self, state: &State, step: &Step, vertices: Range<u64>) -> Scalars {
        let vertices = vertices.map(|vertex| vertex as u32);
        let forest = Self::forest(state);
        match Self::mode(step) {
            Mode::Measure => return Self::measure(&state.graph, vertices),
            Mode::Select => return Self::select(state, step.integers[EXPONENT], vertices),
            Mode::LinkFew | Mode::LinkHubs => return self.select_outside(state, vertices),
            Mode::LinkRest | Mode::LinkAll => {
                vertices.for_each(|vertex| forest.set_parent(vertex, forest.root(vertex)))
            }
            // Nothing else reads parents now.
            Mode::Name => {
                let label = state.attributes.u32(PARENT);
                vertices.for_each(|vertex| label.set(vertex, forest.parent(vertex)));
            }
        }
        Scalars::default()
    }

    fn rule<'a>(&self, now: Now<'a>) -> Next<'a> {
        let is = |mode: Mode| now.integer(0).equals(mode as u32);
        let set = |next: Next<'a>, mode: Mode| next.with_integer(0, mode as u32);
        let name = set(now.without_pages(), Mode::Name).unless(is(Mode::Name));
        if !self.samples() {
            return name;
        }
        let few = |place: usize| now.total(place).at_most(now.scalar(EDGES) * HUBS_MAX);
        let exponent = few(0).select(0, few(1).select(1, few(2).select(2, 3)));
        let select = set(now.without_pages(), Mode::Select).with_integer(EXPONENT, exponent);
        let sample = set(now.visit(Direction::Out, Visit::All), Mode::LinkFew);
        let outside = now.visit(Direction::Out, Visit::Within(SELECTED)).of(now.total(0));
        let rest = now.total(0).above(0.0).select(set(outside, Mode::LinkRest), name);
        let sampled = is(Mode::LinkFew).or(is(Mode::LinkHubs));
        let linked = if self.directed {
            let against = now.visit(Direction::In, Visit::Within(SELECTED)).of_the_same();
            is(Mode::LinkRest).and(now.is(Direction::Out, Visit::Within(SELECTED))).select(against, name)
        } else {
            name
        };
        is(Mode::Measure).select(select, is(Mode::Select).select(sample, sampled.select(rest, linked)))
    }

    fn changed(&self, graph: &Graph, step: &Step, _summary: &Summary) -> u64 {
        // These only measure and mark.
        if matches!(Self::mode(step), Mode::Measure | Mode::Select) { 0 } else { graph.vertices }
    }

    fn alternatives(&self, graph: &Graph, step: &Step, summary: &Summary) -> Vec<Alternative> {
        let [hub_edges, ..] = summary.totals;
        if Self::mode(step) != Mode::LinkFew || hub_edges < HUBS_MIN * graph.edges as f64 {
            return Vec::new();
        }
        let hubs = Step { visit: Visit::Within(SELECTED), ..*step };
        let hubs = hubs.with_integers([Mode::LinkHubs as u32, 0, 0, 0]);
        vec![
            // All lists are decoded.
            Alternative { step: *step, edges: (graph.edges as f64) * DECODING },
            Alternative { step: hubs, edges: hub_edges },
        ]
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let label = state.attributes.u32(PARENT);
        vec![Answer::vertex("component", move |vertex| Some(label.get(vertex)))]
    }
}
