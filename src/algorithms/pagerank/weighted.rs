//! PageRank by weights: `rank[v] = (1 - d) / n + d * (sum of rank[u] * weight(u → v) / strength[u] over edges u → v
//! [+ dangling / n])`, where `strength[u]` is the sum of the weights of u's out-edges.
//!
//! It is what NetworkX computes where edges have weights. Repeated edges count each time. A vertex whose out-edges have
//! a total weight of 0 is dangling.
//!
//! The first superstep adds up every list's weights; each of the others is an iteration, which adds along out-lists.
//! Sums are in single precision: with weights their terms have no common unit in which they could be exact. A negative,
//! infinite or NaN weight ends the run with an error, and so do weights of one vertex that add up to more than 2^64.
//!
//! It keeps 12 bytes a vertex, with `f32` weights 1 bit more, and reads all out-lists in every superstep.

use super::{DanglingMass, PageRank, Stop, next_base, words};
use crate::algorithms::neighbour_sum;
use crate::algorithms::weights::{self, Stored, Weights as _};
use crate::model::Parameters;
use crate::model::algorithm::{
    Algorithm, Answer, Conclusion, Declaration, Ends, Graph, Iteration, Kernel, List, Refusal, Scalars, Shader, State,
    Step, Summary, Visit, Weights,
};
use crate::model::attributes::{Attribute, F32Column, Merge, Role};
use crate::model::bits::Bits;
use crate::model::rule::{Next, Now};
use std::ops::{ControlFlow, Range};
use topostream_formats::Direction;
use topostream_formats::edge::WeightType;

/// PageRank whose walks choose edges by weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeightedPageRank {
    /// d, the probability of following an edge.
    pub damping: f64,
    /// What happens to the rank of vertices without out-edges of positive weight.
    pub dangling: DanglingMass,
    /// When to stop.
    pub stop: Stop,
    /// The type of the store's weights.
    pub weights: WeightType,
}

/// The name in messages.
const NAME: &str = "weighted-pagerank";

/// Indices of the declared attributes: the rank for each unit of weight (the rank itself of a dangling vertex), the sum
/// of what is received, the total weight of the out-edges, and the vertices with a rejected weight.
const SHARE: usize = 0;
const SUM: usize = 1;
const STRENGTH: usize = 2;
const REFUSED: usize = 3;

/// Indices into a step's scalars, as in [`PageRank`].
const BASE: usize = 0;
const TOLERANCE: usize = 2;
const ITERATIONS_MAX: usize = 3;

/// Indices into the totals.
const DANGLING: usize = 0;
const CHANGE: usize = 1;
const REFUSALS: usize = 2;

/// The largest total weight of a list: a share of it is no subnormal number.
const STRENGTH_MAX: f32 = f32::from_bits((64 + 127) << 23);

impl WeightedPageRank {
    /// PageRank without weights, for what both have in common.
    fn plain(&self) -> PageRank {
        PageRank { damping: self.damping, dangling: self.dangling, stop: self.stop, ..PageRank::default() }
    }

    fn is_float(&self) -> bool {
        self.weights == WeightType::F32
    }

    fn step(&self, graph: &Graph, superstep: u32, dangling: f64) -> Step {
        let [base, spread] = self.plain().base(graph.vertices);
        let (tolerance, iterations_max) = self.stop.limits(1.0);
        let rounded = |number: f64| f64::from(number as f32);
        let scalars = [base + spread * dangling, self.damping, rounded(tolerance), rounded(iterations_max.into())];
        let [base, spread] = [base, spread].map(words);
        let step = Step::new(superstep, Direction::Out, Visit::All).with_scalars(scalars);
        step.with_integers([base[0], base[1], spread[0], spread[1]])
    }

    fn is_dangling(strength: f32) -> bool {
        strength < f32::MIN_POSITIVE
    }

    /// Sets a vertex's rank; returns it if the vertex is dangling, otherwise 0.
    #[inline]
    fn set_rank(state: &State, vertex: u32, rank: f64) -> f64 {
        let strength = state.attributes.f32(STRENGTH).get(vertex);
        let dangling = Self::is_dangling(strength);
        let parts = if dangling { 1.0 } else { f64::from(strength) };
        state.attributes.f32(SHARE).set(vertex, (rank / parts) as f32);
        if dangling { rank } else { 0.0 }
    }

    #[inline]
    fn rank(state: &State, vertex: u32) -> f64 {
        let strength = state.attributes.f32(STRENGTH).get(vertex);
        let parts = if Self::is_dangling(strength) { 1.0 } else { f64::from(strength) };
        f64::from(state.attributes.f32(SHARE).get(vertex)) * parts
    }

    /// Ends the first superstep at a vertex, whose weights add up to `strength`; returns whether one is rejected.
    fn begin(&self, state: &State, vertex: u32, strength: f32) -> bool {
        state.attributes.f32(STRENGTH).set(vertex, strength);
        if !self.is_float() {
            return false;
        }
        let refused = state.attributes.bits(REFUSED);
        if !(0.0..=STRENGTH_MAX).contains(&strength) {
            refused.insert(vertex);
        }
        refused.contains(vertex)
    }
}

/// Adds up a list's weights in the first superstep, and values along edges in the others.
#[doc(hidden)]
pub struct WeightedKernel<'a> {
    share: &'a F32Column,
    sum: &'a F32Column,
    refused: Option<&'a Bits>,
    weights: Stored<false>,
    /// Whether it is the first superstep.
    adds_weights: bool,
}

/// The share that a list's vertex gives for a unit of weight, or the weights so far.
#[doc(hidden)]
pub struct Carried {
    list: List,
    given: f32,
    strength: f64,
}

impl WeightedKernel<'_> {
    #[cold]
    #[inline(never)]
    fn refuse(&self, vertex: u32) {
        if let Some(refused) = self.refused {
            refused.insert(vertex);
        }
    }
}

impl Kernel for WeightedKernel<'_> {
    type Record = Carried;

    #[inline(always)]
    fn open(&self, list: List) -> Option<Carried> {
        let given = if self.adds_weights { 0.0 } else { self.share.get(list.vertex) };
        Some(Carried { list, given, strength: 0.0 })
    }

    #[inline(always)]
    fn edge(&self, carried: &mut Carried, neighbour: u32, weight: u32) -> ControlFlow<()> {
        match self.weights.decode(weight) {
            Some(weight) if self.adds_weights => carried.strength += f64::from(weight),
            Some(weight) => self.sum.add(neighbour, weight * carried.given),
            None => self.refuse(carried.list.vertex),
        }
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn prefetch(&self, neighbour: u32) {
        if !self.adds_weights {
            self.sum.prefetch(neighbour);
        }
    }

    #[inline(always)]
    fn close(&self, carried: Carried) {
        if self.adds_weights {
            self.sum.add(carried.list.vertex, carried.strength as f32);
        }
    }
}

impl Algorithm for WeightedPageRank {
    type Kernel<'a> = WeightedKernel<'a>;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        let mut attributes = vec![
            Attribute::f32("share", Role::ReadOnly, Merge::Max),
            Attribute::f32("sum", Role::Accumulated, Merge::Add),
            Attribute::f32("strength", Role::Own, Merge::Add),
        ];
        if self.is_float() {
            attributes.push(Attribute::set("refused", Role::Accumulated));
        }
        let Self { damping, dangling, stop, weights } = self;
        let parameters = Parameters::none().with("damping", damping).with("dangling", dangling).with("stop", stop);
        let (file, text) = ("src/algorithms/pagerank/weighted.wgsl", include_str!("weighted.wgsl"));
        let shader = Shader::of_program(file, text, vec![("FLOAT", self.is_float())]);
        let constants = [("STRENGTH_MAX", STRENGTH_MAX.into()), ("SMALLEST_NORMAL", f32::MIN_POSITIVE.into())];
        let expected = PageRank::iterations_expected(self.damping, self.stop);
        Declaration {
            command: "pagerank",
            weights: Weights::Narrow,
            writes: Ends::Both.into(),
            parameters: Some(parameters.with("weights", weights)),
            shader: Some(shader.with_constants(constants)),
            supersteps: neighbour_sum::one_more(self.stop.supersteps()),
            supersteps_expected: expected.map(|iterations| iterations.saturating_add(1)),
            ..Declaration::new(NAME, attributes, vec![(Direction::Out, Visit::All)])
        }
    }

    fn check(&self, graph: &Graph) -> Result<(), String> {
        self.plain().check(graph)?;
        weights::check(NAME, Some(self.weights), graph)
    }

    fn first(&self, graph: &Graph, _totals: Scalars) -> Option<Step> {
        (graph.vertices > 0).then(|| self.step(graph, 0, 0.0))
    }

    fn kernel<'a>(&'a self, state: &'a State, step: &Step) -> WeightedKernel<'a> {
        WeightedKernel {
            share: state.attributes.f32(SHARE),
            sum: state.attributes.f32(SUM),
            refused: self.is_float().then(|| state.attributes.bits(REFUSED)),
            weights: Stored(Some(self.weights)),
            adds_weights: step.superstep == 0,
        }
    }

    fn vertex_phase(&self, state: &State, step: &Step, vertices: Range<u64>) -> Scalars {
        let mut totals = Scalars::default();
        for vertex in vertices.map(|vertex| vertex as u32) {
            let sum = state.attributes.f32(SUM).take(vertex);
            let rank = if step.superstep == 0 {
                totals[REFUSALS] += f64::from(u8::from(self.begin(state, vertex, sum)));
                1.0 / state.graph.vertices as f64
            } else {
                let rank = step.scalars[BASE] + self.damping * f64::from(sum);
                totals[CHANGE] += (rank - Self::rank(state, vertex)).abs();
                rank
            };
            totals[DANGLING] += Self::set_rank(state, vertex, rank);
        }
        totals
    }

    fn rule<'a>(&self, now: Now<'a>) -> Next<'a> {
        // The first superstep is not an iteration.
        let done = now.superstep();
        let converged = now.total(CHANGE).less(now.scalar(TOLERANCE)).and(!done.equals(0));
        let is_last = done.number().at_least(now.scalar(ITERATIONS_MAX));
        let stops = converged.or(is_last).or(now.total(REFUSALS).above(0.0));
        now.stay().with_scalar(BASE, next_base(now)).unless(stops)
    }

    fn iteration(&self, _graph: &Graph, step: &Step, summary: &Summary) -> Option<Iteration> {
        // The first superstep is not an iteration.
        let tolerance = self.stop.tolerance().map(|_| step.scalars[TOLERANCE]);
        let iteration = Iteration { iterations: step.superstep, residual: summary.totals[CHANGE], tolerance };
        (step.superstep > 0).then_some(iteration)
    }

    fn conclude(&self, state: &State) -> Result<Conclusion, Refusal> {
        let found = self.is_float().then(|| state.attributes.bits(REFUSED).next_set(0)).flatten();
        let reason = "an edge from it has a negative, infinite or NaN weight, or its edges' weights sum to more than \
                      2^64";
        Refusal::of(found.map(|vertex| vertex as u32), || reason.into())?;
        Ok(Conclusion::default())
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        vec![Answer::f64("rank", |vertex| Self::rank(state, vertex))]
    }
}
