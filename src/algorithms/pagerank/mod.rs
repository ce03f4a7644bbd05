//! PageRank: `rank[v] = (1 - d) / n + d * (sum of rank[u] / out_degree[u] over edges u → v  [+ dangling / n])`.
//!
//! Starts from 1/n. The bracketed term applies with [`DanglingMass::Redistributed`] (NetworkX, LDBC Graphalytics) and
//! not with [`DanglingMass::Ignored`] (GTS, Kim et al. 2016; GAP). Push adds along out-lists, in fixed point with 63
//! fractional bits. Pull sums each list over its in-neighbours in double precision, in the order of the list, and adds
//! the parts of a list of several pages in fixed point. Neither depends on the order of threads or pages: every run
//! over a store gives the same bits. A rank is stored as the `f32` share that each out-neighbour receives (the rank
//! itself if there is none).
//!
//! With [`Sums::Single`] sums are single-precision floats instead, half the size: they take less memory and, on GPUs,
//! additions are cheaper. A sum then depends slightly on the order of its terms, and each addition loses a little
//! precision.
//!
//! It keeps 12 bytes a vertex, 8 with [`Sums::Single`], and reads every list in each iteration. The measure is from
//! Page, Brin, Motwani and Winograd (Stanford, 1999), and is computed by power iteration.
//!
//! Weights are not read; [`WeightedPageRank`] reads them. `PersonalizedPageRank` is the same with walks that restart at
//! seeds only, and shares all of this code.

#[cfg(feature = "cli")]
pub mod command;
mod weighted;

pub use weighted::WeightedPageRank;

use crate::model::Parameters;
use crate::model::algorithm::{
    Algorithm, Answer, Conclusion, Declaration, Graph, Iteration, Kernel, List, Refusal, Scalars, Shader, State, Step,
    Summary, Supersteps, Visit,
};
use crate::model::attributes::{Attribute, AttributeType, F32Column, Fixed63Column, Merge, Role, to_fixed63};
use crate::model::rule::{Next, Now, Number};
use std::ops::{ControlFlow, Range};
use topostream_formats::Direction;
use topostream_formats::edge::WeightType;

/// What happens to the rank of vertices without out-edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DanglingMass {
    /// It is spread evenly over all vertices.
    #[default]
    Redistributed,
    /// It is lost.
    Ignored,
}

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stop {
    /// After this many iterations.
    Iterations(u32),
    /// When ranks change by less than this in total (L1 norm), but after at most `iterations_max` iterations.
    Tolerance {
        /// The sum of absolute changes.
        l1: f64,
        /// The maximum number of iterations.
        iterations_max: u32,
    },
}

/// The lists that are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Traffic {
    /// Pull if the store has in-lists, otherwise push.
    #[default]
    Auto,
    /// Along out-lists.
    Push,
    /// Over in-lists.
    Pull,
}

/// How the contributions to a rank are summed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sums {
    /// In fixed point with 63 fractional bits: the same bits on every run.
    #[default]
    Exact,
    /// In single precision: 4 bytes a vertex instead of 8. Ranks differ between runs in their last digits, and if a
    /// vertex has millions of in-neighbours the sum may be off by one part in a thousand.
    Single,
}

/// PageRank with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageRank {
    /// d, the probability of following an edge.
    pub damping: f64,
    /// What happens to the rank of vertices without out-edges.
    pub dangling: DanglingMass,
    /// When to stop.
    pub stop: Stop,
    /// The lists that are read.
    pub traffic: Traffic,
    /// How shares are added up.
    pub sums: Sums,
}

impl Stop {
    /// The condition that command lines state: a number of iterations, or else a tolerance.
    #[cfg(feature = "cli")]
    pub(in crate::algorithms) fn after(iterations: Option<u32>, l1: f64, iterations_max: u32) -> Self {
        iterations.map_or(Self::Tolerance { l1, iterations_max }, Self::Iterations)
    }

    /// The tolerance times `scale`, which no change is below if there is none, and the maximum number of iterations.
    pub(in crate::algorithms) fn limits(self, scale: f64) -> (f64, u32) {
        match self {
            Self::Iterations(iterations) => (0.0, iterations),
            Self::Tolerance { l1, iterations_max } => (l1 * scale, iterations_max),
        }
    }

    /// The tolerance, if there is one.
    pub(in crate::algorithms) fn tolerance(self) -> Option<f64> {
        match self {
            Self::Iterations(_) => None,
            Self::Tolerance { l1, .. } => Some(l1),
        }
    }

    /// The number of iterations, as far as it is known.
    pub(in crate::algorithms) fn supersteps(self) -> Supersteps {
        match self {
            Self::Iterations(iterations) => Supersteps::Exactly(iterations),
            Self::Tolerance { iterations_max, .. } => Supersteps::AtMost(iterations_max),
        }
    }
}

impl Default for PageRank {
    fn default() -> Self {
        let stop = Stop::Tolerance { l1: 1e-6, iterations_max: 100 };
        Self {
            damping: 0.85,
            dangling: DanglingMass::default(),
            stop,
            traffic: Traffic::default(),
            sums: Sums::default(),
        }
    }
}

/// Indices of the declared attributes.
pub(in crate::algorithms) const SHARE: usize = 0;
const SUM: usize = 1;

/// Indices into a step's scalars: the base rank, the damping, the tolerance and the maximum number of iterations, both
/// rounded to `f32` as GPUs have them.
const BASE: usize = 0;
const DAMPING: usize = 1;
const TOLERANCE: usize = 2;
const ITERATIONS_MAX: usize = 3;

/// Indices into the totals.
const DANGLING: usize = 0;
const CHANGE: usize = 1;

/// What an iteration leaves of the change of the one before it, over the damping. Measured on R-MAT graphs of scales 12
/// and 16, damping 0.5 to 0.95, tolerances 1e-3 to 1e-7; in a grid it comes close to 1.
const MIXING: f64 = 0.4;

impl PageRank {
    /// The number of iterations after which a tolerance is probably met over a graph of small diameter; `None` if their
    /// number is given.
    pub(in crate::algorithms) fn iterations_expected(damping: f64, stop: Stop) -> Option<u32> {
        let Stop::Tolerance { l1, iterations_max } = stop else { return None };
        let iterations = 1.0 + (l1.ln() / (MIXING * damping).ln()).ceil();
        // A damping of 0 leaves no change.
        Some((iterations.max(2.0) as u32).min(iterations_max))
    }

    /// PageRank by weights of this type, along out-lists, with sums in single precision.
    #[must_use]
    pub fn weighted(self, weights: WeightType) -> WeightedPageRank {
        let Self { damping, dangling, stop, .. } = self;
        WeightedPageRank { damping, dangling, stop, weights }
    }

    fn direction(&self, has_in_lists: bool) -> Direction {
        match self.traffic {
            Traffic::Push => Direction::Out,
            Traffic::Pull => Direction::In,
            Traffic::Auto if has_in_lists => Direction::In,
            Traffic::Auto => Direction::Out,
        }
    }

    /// The rank that each restart vertex has regardless of its in-neighbours, and its part of each unit of dangling
    /// rank; restart vertices are all vertices or the seeds.
    fn base(&self, among: u64) -> [f64; 2] {
        let spread = match self.dangling {
            DanglingMass::Redistributed => self.damping,
            DanglingMass::Ignored => 0.0,
        };
        [1.0 - self.damping, spread].map(|part| part / among as f64)
    }

    /// The first superstep. Its integers are the bits of [`base`](Self::base), low words first, from which the base
    /// rank of the next superstep is computed.
    fn step(&self, graph: &Graph, among: u64, dangling: f64) -> Step {
        let direction = self.direction(graph.has_in_lists);
        let [base, spread] = self.base(among);
        let (tolerance, iterations_max) = self.stop.limits(1.0);
        let rounded = |number: f64| f64::from(number as f32);
        let scalars = [base + spread * dangling, self.damping, rounded(tolerance), rounded(iterations_max.into())];
        let [base, spread] = [base, spread].map(words);
        let integers = [base[0], base[1], spread[0], spread[1]];
        Step::new(0, direction, Visit::All).with_scalars(scalars).with_integers(integers)
    }

    /// The first superstep, with this number of restart vertices.
    pub(in crate::algorithms) fn first_among(&self, graph: &Graph, among: u64, totals: Scalars) -> Option<Step> {
        let none = self.stop == Stop::Iterations(0) || graph.vertices == 0;
        (!none).then(|| self.step(graph, among, totals[DANGLING]))
    }

    /// The state after an iteration.
    pub(in crate::algorithms) fn iterated(&self, step: &Step, summary: &Summary) -> Iteration {
        // As GPUs have it.
        let tolerance = self.stop.tolerance().map(|_| step.scalars[TOLERANCE]);
        Iteration { iterations: step.superstep + 1, residual: summary.totals[CHANGE], tolerance }
    }

    /// The shader, with seeds or without.
    pub(in crate::algorithms) fn shader_for(&self, personal: bool) -> Shader {
        let text = include_str!("pagerank.wgsl");
        let switches = vec![("EXACT", self.sums == Sums::Exact), ("PERSONAL", personal)];
        Shader::of_program("src/algorithms/pagerank/pagerank.wgsl", text, switches)
    }

    /// Sets the first ranks of vertices.
    pub(in crate::algorithms) fn begin(state: &State, vertices: Range<u64>, rank: impl Fn(u32) -> f64) -> Scalars {
        let dangling = vertices.map(|vertex| Self::set_rank(state, vertex as u32, rank(vertex as u32))).sum();
        [dangling, 0.0, 0.0, 0.0]
    }

    /// Sets the next ranks of vertices; the base rank is added where `begins` returns true.
    pub(in crate::algorithms) fn update(
        &self,
        state: &State,
        step: &Step,
        vertices: Range<u64>,
        begins: impl Fn(u32) -> bool,
    ) -> Scalars {
        let (base, damping) = (step.scalars[BASE], step.scalars[DAMPING]);
        let sum = SumColumn::of(state, self.sums);
        let (mut dangling, mut change) = (0.0, 0.0);
        for vertex in vertices {
            let vertex = vertex as u32;
            let base = if begins(vertex) { base } else { 0.0 };
            let rank = base + damping * sum.take(vertex);
            change += (rank - Self::rank(state, vertex)).abs();
            dangling += Self::set_rank(state, vertex, rank);
        }
        let mut totals = Scalars::default();
        (totals[DANGLING], totals[CHANGE]) = (dangling, change);
        totals
    }

    /// Sets a vertex's rank; returns it if the vertex is dangling, otherwise 0.
    #[inline]
    fn set_rank(state: &State, vertex: u32, rank: f64) -> f64 {
        let degree = state.graph.out_degree(vertex);
        state.attributes.f32(SHARE).set(vertex, (rank / f64::from(degree.max(1))) as f32);
        if degree == 0 { rank } else { 0.0 }
    }

    #[inline]
    fn rank(state: &State, vertex: u32) -> f64 {
        f64::from(state.attributes.f32(SHARE).get(vertex)) * f64::from(state.graph.out_degree(vertex).max(1))
    }
}

/// The bits of a number, low word first: how a step's integers hold it for GPUs.
pub(in crate::algorithms) fn words(number: f64) -> [u32; 2] {
    [number.to_bits() as u32, (number.to_bits() >> 32) as u32]
}

/// The base rank of the next superstep, from the numbers in the step's integers.
pub(in crate::algorithms) fn next_base(now: Now<'_>) -> Number<'_> {
    now.number(0) + now.number(2) * now.total(DANGLING)
}

/// The column of sums.
enum SumColumn<'a> {
    Exact(&'a Fixed63Column),
    Single(&'a F32Column),
}

impl<'a> SumColumn<'a> {
    fn of(state: &'a State, sums: Sums) -> Self {
        match sums {
            Sums::Exact => Self::Exact(state.attributes.fixed63(SUM)),
            Sums::Single => Self::Single(state.attributes.f32(SUM)),
        }
    }

    /// The bits of a term or a sum.
    #[inline(always)]
    fn bits(&self, value: f64) -> u64 {
        match self {
            Self::Exact(_) => to_fixed63(value),
            Self::Single(_) => (value as f32).to_bits().into(),
        }
    }

    #[inline(always)]
    fn add(&self, vertex: u32, bits: u64) {
        match self {
            Self::Exact(column) => column.add(vertex, bits),
            Self::Single(column) => column.add(vertex, f32::from_bits(bits as u32)),
        }
    }

    #[inline(always)]
    fn set(&self, vertex: u32, bits: u64) {
        match self {
            Self::Exact(column) => column.set(vertex, bits),
            Self::Single(column) => column.set(vertex, f32::from_bits(bits as u32)),
        }
    }

    #[inline(always)]
    fn prefetch(&self, vertex: u32) {
        match self {
            Self::Exact(column) => column.prefetch(vertex),
            Self::Single(column) => column.prefetch(vertex),
        }
    }

    fn take(&self, vertex: u32) -> f64 {
        match self {
            Self::Exact(column) => column.take(vertex),
            Self::Single(column) => column.take(vertex).into(),
        }
    }
}

/// Adds values along or against edges.
#[doc(hidden)]
pub struct PageRankKernel<'a> {
    share: &'a F32Column,
    sum: SumColumn<'a>,
    pull: bool,
}

/// The value that a list's vertex gives to each neighbour (push), or the sum of what it has received so far (pull).
#[doc(hidden)]
pub struct Carried {
    list: List,
    /// Two sums, each of every second share, so that an addition does not depend on the previous one.
    received: (f64, f64),
    given: u64,
}

impl Kernel for PageRankKernel<'_> {
    type Record = Carried;

    #[inline(always)]
    fn open(&self, list: List) -> Option<Carried> {
        let given = if self.pull { 0 } else { self.sum.bits(self.share.get(list.vertex).into()) };
        Some(Carried { list, received: (0.0, 0.0), given })
    }

    #[inline(always)]
    fn edge(&self, carried: &mut Carried, neighbour: u32, _weight: u32) -> ControlFlow<()> {
        if self.pull {
            let (waiting, latest) = carried.received;
            carried.received = (latest, waiting + f64::from(self.share.get(neighbour)));
        } else {
            self.sum.add(neighbour, carried.given);
        }
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn prefetch(&self, neighbour: u32) {
        if self.pull {
            self.share.prefetch(neighbour);
        } else {
            self.sum.prefetch(neighbour);
        }
    }

    #[inline(always)]
    fn close(&self, carried: Carried) {
        let received = carried.received.0 + carried.received.1;
        match carried.list {
            _ if !self.pull => {}
            List { vertex, whole: true, .. } => self.sum.set(vertex, self.sum.bits(received)),
            List { vertex, .. } => self.sum.add(vertex, self.sum.bits(received)),
        }
    }
}

impl Algorithm for PageRank {
    type Kernel<'a> = PageRankKernel<'a>;

    fn declare(&self, has_in_lists: bool) -> Declaration {
        let direction = self.direction(has_in_lists);
        let (role, sum_role) = match direction {
            Direction::Out => (Role::ReadOnly, Role::Accumulated),
            Direction::In => (Role::Gathered, Role::Own),
        };
        let of = match self.sums {
            Sums::Exact => AttributeType::Fixed63,
            Sums::Single => AttributeType::F32,
        };
        let share = Attribute::f32("share", role, Merge::Max);
        let attributes = vec![share, Attribute::new("sum", of, sum_role, Merge::Add)];
        let Self { damping, dangling, stop, traffic, sums } = self;
        let parameters = Parameters::none().with("damping", damping).with("dangling", dangling).with("stop", stop);
        Declaration {
            parameters: Some(parameters.with("traffic", traffic).with("sums", sums)),
            shader: Some(self.shader_for(false)),
            supersteps: self.stop.supersteps(),
            supersteps_expected: Self::iterations_expected(self.damping, self.stop),
            answered: Some(&[SHARE]),
            ..Declaration::new("pagerank", attributes, vec![(direction, Visit::All)])
        }
    }

    fn check(&self, graph: &Graph) -> Result<(), String> {
        if !(0.0..1.0).contains(&self.damping) {
            return Err(format!("damping {}: must be at least 0 and below 1", self.damping));
        }
        if let Stop::Tolerance { l1, .. } = self.stop
            && (l1.is_nan() || l1 < 1e-7)
        {
            return Err(format!("tolerance {l1}: must be at least 1e-7, the accuracy of single-precision ranks"));
        }
        if self.traffic == Traffic::Pull && !graph.has_in_lists {
            return Err("pull needs in-lists: `topostream reformat STORE NEW --in-edges` adds them; or use push".into());
        }
        Ok(())
    }

    fn initialise(&self, state: &State, vertices: Range<u64>) -> Scalars {
        let rank = 1.0 / state.graph.vertices as f64;
        Self::begin(state, vertices, |_| rank)
    }

    fn first(&self, graph: &Graph, totals: Scalars) -> Option<Step> {
        self.first_among(graph, graph.vertices, totals)
    }

    fn kernel<'a>(&'a self, state: &'a State, step: &Step) -> PageRankKernel<'a> {
        let (share, sum) = (state.attributes.f32(SHARE), SumColumn::of(state, self.sums));
        PageRankKernel { share, sum, pull: step.direction == Direction::In }
    }

    fn vertex_phase(&self, state: &State, step: &Step, vertices: Range<u64>) -> Scalars {
        self.update(state, step, vertices, |_| true)
    }

    fn rule<'a>(&self, now: Now<'a>) -> Next<'a> {
        let converged = now.total(CHANGE).less(now.scalar(TOLERANCE));
        let is_last = (now.superstep() + 1).number().at_least(now.scalar(ITERATIONS_MAX));
        now.stay().with_scalar(BASE, next_base(now)).unless(converged.or(is_last))
    }

    fn iteration(&self, _graph: &Graph, step: &Step, summary: &Summary) -> Option<Iteration> {
        Some(self.iterated(step, summary))
    }

    fn conclude(&self, state: &State) -> Result<Conclusion, Refusal> {
        let unused = "the store's weights were not used: every edge counts the same; --weights uses them";
        Ok(Conclusion { remark: state.graph.weights.map(|_| unused.into()), ..Conclusion::default() })
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        vec![Answer::f64("rank", |vertex| Self::rank(state, vertex))]
    }
}
