//! PageRank by residuals: only vertices with a residual above the threshold are visited.
//!
//! A rank is the sum of everything that has arrived at its vertex so far, starting with (1 - d) / n. What has arrived
//! is passed on once: d times it, shared among out-neighbours. Further contributions accumulate as the vertex's
//! residual until it exceeds a threshold, and are passed on in the next superstep. This is PageRank-Delta of Ligra
//! (Shun and Blelloch, PPoPP 2013) and the accumulative PageRank of Maiter (Zhang et al., TPDS 2014), with the
//! threshold of the push method (Andersen, Chung and Lang, FOCS 2006), one superstep at a time. Pages without a vertex
//! that passes something on are not read.
//!
//! Without correction, the residual mass decays by d a superstep, and most of it is distributed in proportion to the
//! ranks themselves. Ranks for another value of (1 - d) / n differ by a constant factor only: each superstep may
//! therefore subtract from every vertex the mean that is passed on for each vertex with out-edges. The part in
//! proportion to the ranks then cancels, and the rest decays as in power iteration, by d times the second eigenvalue.
//! This is done in each superstep from the third on, unless what is passed on in the second is less than half (most of
//! it arrived at vertices without out-edges); residuals are then positive and negative. Finally ranks are scaled back.
//!
//! The residual left over at the end is at most `tolerance` times the start value of a vertex, so its effect on each
//! rank is at most that fraction of the rank: all ranks are within a relative error of `tolerance`, and the rounding of
//! `f32`.
//!
//! - With [`DanglingMass::Ignored`] what arrives at a vertex without out-edges stays there. With
//!   [`DanglingMass::Redistributed`] too, and ranks are scaled to a sum of one at the end. That is equivalent to
//!   redistributing: the mass would be spread in the same way as (1 - d) / n, up to a factor. The sum may have the same
//!   relative error as its terms, so at most half of the tolerance is left over.
//! - Repeated edges are followed each time; a loop passes a vertex's own mass back to it. Weights are not read.
//! - Residuals are summed in fixed point: the same bits on every run over a store.
//!
//! While many vertices pass something on, all lists are read, because sequential scans use the page buffer well. The
//! first superstep reads none.
//!
//! It keeps 16 bytes and a bit a vertex, and reads out-lists.

#[cfg(feature = "cli")]
pub mod command;

use crate::algorithms::DanglingMass;
use crate::algorithms::pagerank::words;
use crate::model::Parameters;
use crate::model::algorithm::{
    Algorithm, Answer, Constant, Declaration, Graph, Iteration, Kernel, List, Scalars, Shader, State, Step, Summary,
    Table, Visit,
};
use crate::model::attributes::{Attribute, AttributeType, F32Column, Merge, Role, U64Column, to_fixed63};
use crate::model::rule::{Next, Now};
use std::io::Read;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use topostream_formats::Direction;

/// PageRank by residuals, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeltaPageRank {
    /// d, the probability of following an edge.
    pub damping: f64,
    /// What happens to the rank of vertices without out-edges.
    pub dangling: DanglingMass,
    /// Maximum relative error of a rank.
    pub tolerance: f64,
}

impl Default for DeltaPageRank {
    /// Damping 0.85, dangling mass redistributed, tolerance 1e-4.
    fn default() -> Self {
        Self { damping: 0.85, dangling: DanglingMass::Redistributed, tolerance: 1e-4 }
    }
}

/// Indices of the declared attributes.
const RANK: usize = 0;
/// The share that each out-neighbour receives; 0 at vertices that pass nothing on.
const SHARE: usize = 1;
const RESIDUAL: usize = 2;
/// The vertices that pass something on.
const PUSHING: usize = 3;

/// Indices into a step's scalars.
const THRESHOLD: usize = 0;
const DAMPING: usize = 1;
/// The amount that every vertex receives: the start value in the first superstep, then the amount added to or
/// subtracted from it.
const EVERYWHERE: usize = 2;

/// Indices into the totals: the number of vertices that pass something on, and the amount.
const PUSHED: usize = 0;
const PASSED: usize = 1;

/// All lists are read while more than one in this many vertices passes something on.
const SCAN_ABOVE: f64 = 4.0;

/// The common part is subtracted if more than this fraction of what is passed on first is passed on again.
const LEVELLED_ABOVE: f64 = 0.5;
/// After this many supersteps it is no longer subtracted, so that every superstep reduces the residual, whatever the
/// graph.
const LEVELLED_MAX: u32 = 64;
/// The start value does not fall below this fraction of (1 - d) / n, times 1 - d.
const LEVELLED_TO: f64 = 0.25;

/// 1.0 in fixed point with 63 fractional bits. Residuals are from -1 to 1, in two's complement.
const ONE: f64 = (1u64 << 63) as f64;

fn to_fixed(value: f64) -> u64 {
    let of = to_fixed63(value.abs());
    if value < 0.0 { of.wrapping_neg() } else { of }
}

fn of_fixed(fixed: u64) -> f64 {
    fixed.cast_signed() as f64 / ONE
}

/// The two numbers in a step's integers: the start value and the number of vertices that share.
fn numbers(step: &Step) -> [f64; 2] {
    let [base_low, base_high, sharing_low, sharing_high] = step.integers.map(u64::from);
    [base_high << 32 | base_low, sharing_high << 32 | sharing_low].map(f64::from_bits)
}

impl DeltaPageRank {
    fn base(&self, graph: &Graph) -> f64 {
        (1.0 - self.damping) / graph.vertices as f64
    }

    /// The largest residual that may be left over at a vertex, as a fraction of the start value.
    fn leftover(&self) -> f64 {
        match self.dangling {
            DanglingMass::Redistributed => self.tolerance / 2.0,
            DanglingMass::Ignored => self.tolerance,
        }
    }

    /// A superstep after which every vertex receives `everywhere`, for a total start value of `base`. `sharing` is the
    /// number of vertices that share the subtracted amount; 0 if there is none. Its integers are the bits of `base` and
    /// `sharing`, low words first, from which a GPU computes the integers of the next superstep by the same operations.
    fn step(&self, superstep: u32, visit: Visit, (everywhere, base): (f64, f64), sharing: f64) -> Step {
        let scalars = [self.leftover() * base, self.damping, everywhere, 0.0];
        let (base, sharing) = (words(base), words(sharing));
        let step = Step::new(superstep, Direction::Out, visit).with_scalars(scalars);
        step.with_integers([base[0], base[1], sharing[0], sharing[1]])
    }

    /// The numbers that all supersteps share, for GPUs.
    fn limits(&self) -> Vec<u32> {
        let rest = 1.0 - self.damping;
        [self.leftover(), self.damping, rest, LEVELLED_TO * rest].map(words).concat()
    }

    /// The sum of everything that has arrived at a vertex, passed on or not.
    fn arrived(state: &State, vertex: u32) -> f64 {
        f64::from(state.attributes.f32(RANK).get(vertex)) + of_fixed(state.attributes.u64(RESIDUAL).get(vertex))
    }

    /// The factor by which ranks are multiplied.
    fn scale(&self, state: &State) -> f64 {
        let vertices = || (0..state.graph.vertices).map(|vertex| vertex as u32);
        match self.dangling {
            DanglingMass::Redistributed => 1.0 / vertices().map(|vertex| Self::arrived(state, vertex)).sum::<f64>(),
            // The start values are what has arrived, less the part of it that was passed on.
            DanglingMass::Ignored => {
                let begun = |vertex| {
                    let passes = state.graph.out_degree(vertex) > 0;
                    let rank = f64::from(state.attributes.f32(RANK).get(vertex));
                    Self::arrived(state, vertex) - if passes { self.damping * rank } else { 0.0 }
                };
                (1.0 - self.damping) / vertices().map(begun).sum::<f64>()
            }
        }
    }
}

/// Passes shares on.
#[doc(hidden)]
pub struct DeltaKernel<'a> {
    share: &'a F32Column,
    residual: &'a U64Column,
}

impl Kernel for DeltaKernel<'_> {
    /// The share that each neighbour receives.
    type Record = u64;

    #[inline(always)]
    fn open(&self, list: List) -> Option<u64> {
        let share = self.share.get(list.vertex);
        (share != 0.0).then(|| to_fixed(share.into()))
    }

    #[inline(always)]
    fn edge(&self, &mut share: &mut u64, neighbour: u32, _weight: u32) -> ControlFlow<()> {
        self.residual.add(neighbour, share);
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn prefetch(&self, neighbour: u32) {
        self.residual.prefetch(neighbour);
    }

    #[inline(always)]
    fn close(&self, _share: u64) {}
}

impl Algorithm for DeltaPageRank {
    type Kernel<'a> = DeltaKernel<'a>;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        let attributes = vec![
            // Edges do not even read it: the role that needs the least communication between devices.
            Attribute::f32("rank", Role::Own, Merge::Add),
            Attribute::f32("share", Role::ReadOnly, Merge::Max),
            Attribute::new("residual", AttributeType::U64, Role::Accumulated, Merge::Add),
            Attribute::set("pushing", Role::Gathered),
        ];
        let visits = vec![(Direction::Out, Visit::All), (Direction::Out, Visit::Within(PUSHING))];
        let Self { damping, dangling, tolerance } = self;
        let parameters = Parameters::none().with("damping", damping).with("dangling", dangling);
        let (file, text) = ("src/algorithms/delta_pagerank/delta_pagerank.wgsl", include_str!("delta_pagerank.wgsl"));
        let [above, levelled] = [SCAN_ABOVE, LEVELLED_ABOVE].map(|number| Constant::F32(number as f32));
        let constants = [("SCAN_ABOVE", above), ("LEVELLED_ABOVE", levelled), ("LEVELLED_MAX", LEVELLED_MAX.into())];
        Declaration {
            tables: vec![Table::given("limits", &Arc::new(self.limits()))],
            parameters: Some(parameters.with("tolerance", tolerance)),
            shader: Some(Shader::of_program(file, text, Vec::new()).with_constants(constants)),
            ..Declaration::new("delta-pagerank", attributes, visits)
        }
    }

    fn recall(&self, _state: &State, step: &Step, _kept: &mut dyn Read) -> Result<(), String> {
        let [base, sharing] = numbers(step);
        // Checkpoints of earlier versions have other numbers.
        let fits = base > 0.0 && base <= 1.0 && (0.0..=(1u64 << 32) as f64).contains(&sharing);
        if fits { Ok(()) } else { Err(format!("start value {base}, shared by {sharing} vertices")) }
    }

    fn check(&self, _graph: &Graph) -> Result<(), String> {
        if !(0.0..1.0).contains(&self.damping) {
            return Err(format!("damping {}: must be at least 0 and below 1", self.damping));
        }
        if !(1e-6..=0.5).contains(&self.tolerance) {
            return Err(format!("tolerance {}: must be at least 1e-6 and at most 0.5", self.tolerance));
        }
        Ok(())
    }

    fn first(&self, graph: &Graph, _totals: Scalars) -> Option<Step> {
        // No vertex has anything to pass on yet.
        let base = self.base(graph);
        (graph.vertices > 0).then(|| self.step(0, Visit::None, (base, base), 0.0))
    }

    fn kernel<'a>(&'a self, state: &'a State, _step: &Step) -> DeltaKernel<'a> {
        DeltaKernel { share: state.attributes.f32(SHARE), residual: state.attributes.u64(RESIDUAL) }
    }

    fn vertex_phase(&self, state: &State, step: &Step, vertices: Range<u64>) -> Scalars {
        let (ranks, shares) = (state.attributes.f32(RANK), state.attributes.f32(SHARE));
        let (residuals, pushing) = (state.attributes.u64(RESIDUAL), state.attributes.bits(PUSHING));
        let everywhere = to_fixed(step.scalars[EVERYWHERE]);
        let mut totals = Scalars::default();
        for vertex in vertices.map(|vertex| vertex as u32) {
            let waiting = residuals.get(vertex).wrapping_add(everywhere);
            let residual = of_fixed(waiting);
            let mut share = 0.0;
            if residual.abs() > step.scalars[THRESHOLD] {
                residuals.set(vertex, 0);
                ranks.set(vertex, (f64::from(ranks.get(vertex)) + residual) as f32);
                let degree = state.graph.out_degree(vertex);
                if degree > 0 {
                    let passed = step.scalars[DAMPING] * residual;
                    totals[PASSED] += passed;
                    share = (passed / f64::from(degree)) as f32;
                }
            } else {
                residuals.set(vertex, waiting);
            }
            if share != 0.0 {
                shares.set(vertex, share);
                pushing.insert(vertex);
                totals[PUSHED] += 1.0;
            } else if pushing.contains(vertex) {
                shares.set(vertex, 0.0);
                pushing.remove(vertex);
            }
        }
        totals
    }

    fn rule<'a>(&self, now: Now<'a>) -> Next<'a> {
        let limits = Arc::new(self.limits());
        let limit = |place: u32| {
            now.number_of_words([0, 1].map(|word| now.lookup("limits", &limits, now.integer_of(2 * place + word))))
        };
        let [leftover, damping, rest, least] = [0, 1, 2, 3].map(limit);
        let (pushed, passed, superstep) = (now.total(PUSHED), now.total(PASSED), now.superstep());
        let scans = (pushed * SCAN_ABOVE).above(now.vertices());
        let (base, sharing) = (now.number(0), now.number(2));
        let few = superstep.equals(1).and(passed.less(sharing * LEVELLED_ABOVE * damping * base));
        let sharing = few.or(superstep.at_least(LEVELLED_MAX)).select(0.0, sharing);
        // First, all vertices with out-edges.
        let sharing = superstep.equals(0).select(pushed, sharing);
        let subtracts = sharing.above(0.0).and(!superstep.equals(0));
        let less = subtracts.select(passed / sharing, 0.0);
        let keeps = (least * (rest / now.vertices())).at_most(base - less);
        let less = keeps.select(less, 0.0);
        let base = base - less;
        let within = now.visit(Direction::Out, Visit::Within(PUSHING)).of(pushed);
        let next = scans.select(now.visit(Direction::Out, Visit::All), within).unless(pushed.at_most(0.0));
        let next = next.with_number(0, base).with_number(2, sharing);
        next.with_scalar(THRESHOLD, leftover * base).with_scalar(EVERYWHERE, -less)
    }

    fn iteration(&self, graph: &Graph, step: &Step, summary: &Summary) -> Option<Iteration> {
        // The vertices that still pass on a residual: none, once it has converged.
        let residual = summary.totals[PUSHED] / graph.vertices.max(1) as f64;
        Some(Iteration { iterations: step.superstep + 1, residual, tolerance: Some(0.0) })
    }

    fn changed(&self, _graph: &Graph, _step: &Step, summary: &Summary) -> u64 {
        summary.totals[PUSHED] as u64
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let scale = self.scale(state);
        vec![Answer::f64("rank", move |vertex| scale * Self::arrived(state, vertex))]
    }
}
