//! PageRank by residuals: only vertices that still have something to tell are visited.
//!
//! Every rank is what has arrived at its vertex so far, beginning with (1 - d) / n, and what has arrived is passed on
//! once: d times it, shared among out-neighbours. What arrives meanwhile waits as the vertex's residual until it is
//! more than a threshold, and then is passed on in the next superstep. It is PageRank-Delta of Ligra (Shun and
//! Blelloch, PPoPP 2013) and the accumulative PageRank of Maiter (Zhang et al., TPDS 2014), with the threshold of the
//! push method (Andersen, Chung and Lang, FOCS 2006); here it goes superstep by superstep. Pages without a vertex that
//! passes something on are not read.
//!
//! Passed on like this, what is under way decays by d a superstep, and most of it travels in proportion to the ranks
//! themselves. Ranks that belong to another (1 - d) / n are the same but for a factor: so much may be taken away
//! everywhere as is passed on for each vertex with out-edges. What travels in that proportion then comes to nothing,
//! and the rest decays as in power iteration, by d times the second eigenvalue. That is done in each superstep from the
//! third on, unless what is passed on in the second is less than half (most of it came to vertices without out-edges);
//! residuals are then positive and negative. In the end ranks are scaled back.
//!
//! What is left over at the end is at most `tolerance` times what everybody began with, and what would come of it is
//! therefore at most that part of each rank: all ranks are right to within `tolerance` of themselves, and to the
//! rounding of `f32`.
//!
//! - With [`DanglingMass::Ignored`] what arrives at a vertex without out-edges stays there. With
//!   [`DanglingMass::Redistributed`] too, and ranks are scaled to a sum of one at the end, which is the same as
//!   redistributing: where the mass would be spread, it is as (1 - d) / n is, but for a factor. The sum may be as wrong
//!   as its terms, so that no more than half of the tolerance is left over.
//! - Edges that stand several times are followed as often; a loop passes a vertex's own mass back to it. Weights are
//!   not read.
//! - Residuals are summed in fixed point: the same bits on every run over a store.
//!
//! While many vertices pass something on, all lists are read, as scans go well with the page buffer. The first
//! superstep reads none.
//!
//! In asynchronous relaxation, a vertex whose list is left to a later superstep keeps its share until the list is read;
//! what arrives meanwhile waits. Ranks then differ from those of other runs, within the tolerance.
//!
//! It keeps 16 bytes and 2 bits a vertex, and reads out-lists.

#[cfg(feature = "cli")]
pub mod command;

use crate::algorithms::DanglingMass;
use crate::model::Parameters;
use crate::model::algorithm::{Algorithm, Answer, Graph, Kernel, List, Scalars, Shader, State, Step, Summary, Visit};
use crate::model::attributes::{Attribute, AttributeType, F32Column, Initial, Merge, Role, U64Column, to_fixed63};
use std::ops::{ControlFlow, Range};
use topostream_formats::Direction;

/// PageRank by residuals, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeltaPageRank {
    /// d, the probability of following an edge.
    pub damping: f64,
    /// What becomes of the rank of vertices without out-edges.
    pub dangling: DanglingMass,
    /// Which part of itself a rank may be wrong by.
    pub tolerance: f64,
}

impl Default for DeltaPageRank {
    /// Damping 0.85, dangling mass redistributed, tolerance 1e-4.
    fn default() -> Self {
        Self { damping: 0.85, dangling: DanglingMass::Redistributed, tolerance: 1e-4 }
    }
}

/// Places in the declaration.
const RANK: usize = 0;
/// What each out-neighbour is given; 0 at vertices that pass nothing on.
const SHARE: usize = 1;
const RESIDUAL: usize = 2;
/// The vertices that pass something on.
const PUSHING: usize = 3;
/// Those of them whose lists this superstep has left to later ones.
const LEFT_OUT: usize = 4;

/// Places in a step's scalars.
const THRESHOLD: usize = 0;
const DAMPING: usize = 1;
/// What arrives everywhere: what everybody begins with in the first superstep, then what is added to that or taken from
/// it.
const EVERYWHERE: usize = 2;
/// How many vertices share what is taken away; none where nothing is. For the host only.
const SHARING: usize = 3;

/// Places in totals: how many vertices pass something on, and how much.
const PUSHED: usize = 0;
const PASSED: usize = 1;

/// All lists are read while more than one vertex of so many passes something on.
const SCAN_ABOVE: f64 = 4.0;

/// Something is taken away everywhere if more than this part of what is passed on first is passed on again.
const LEVELLED_ABOVE: f64 = 0.5;
/// Once there have been so many supersteps it is no longer, so that every superstep leaves less, whatever the graph.
const LEVELLED_MAX: u32 = 64;
/// What everybody begins with does not fall below this part of (1 - d) / n, times 1 - d.
const LEVELLED_TO: f64 = 0.25;

/// 1.0 in fixed point with 63 fractional bits. Residuals are from -1 to 1: two's complements.
const ONE: f64 = (1u64 << 63) as f64;

fn to_fixed(value: f64) -> u64 {
    let of = to_fixed63(value.abs());
    if value < 0.0 { of.wrapping_neg() } else { of }
}

fn of_fixed(fixed: u64) -> f64 {
    fixed.cast_signed() as f64 / ONE
}

impl DeltaPageRank {
    fn base(&self, graph: &Graph) -> f64 {
        (1.0 - self.damping) / graph.vertices as f64
    }

    /// Which part of what everybody begins with may be left over at a vertex.
    fn leftover(&self) -> f64 {
        match self.dangling {
            DanglingMass::Redistributed => self.tolerance / 2.0,
            DanglingMass::Ignored => self.tolerance,
        }
    }

    /// A superstep at whose end `everywhere` arrives, so that `base` is what everybody has begun with.
    fn step(&self, superstep: u32, visit: Visit, (everywhere, base): (f64, f64), sharing: f64) -> Step {
        let scalars = [self.leftover() * base, self.damping, everywhere, sharing];
        Step::new(superstep, Direction::Out, visit).with_scalars(scalars)
    }

    /// What has arrived at a vertex: passed on or not.
    fn arrived(state: &State, vertex: u32) -> f64 {
        f64::from(state.attributes.f32(RANK).get(vertex)) + of_fixed(state.attributes.u64(RESIDUAL).get(vertex))
    }

    /// What ranks have to be multiplied with.
    fn scale(&self, state: &State) -> f64 {
        let vertices = || (0..state.graph.vertices).map(|vertex| vertex as u32);
        match self.dangling {
            DanglingMass::Redistributed => 1.0 / vertices().map(|vertex| Self::arrived(state, vertex)).sum::<f64>(),
            // What everybody has begun with is what has arrived, less what was passed on of it.
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
    /// What each neighbour is given.
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

    fn name(&self) -> &'static str {
        "delta-pagerank"
    }

    fn attributes(&self, _has_in_lists: bool) -> Vec<Attribute> {
        use AttributeType::{Bit, F32, U64};
        let attribute = |name, of, role, merge| Attribute { name, of, role, merge, initial: Initial::Bits(0) };
        vec![
            // Not even read by edges: the role that takes least telling between devices.
            attribute("rank", F32, Role::Own, Merge::Add),
            attribute("share", F32, Role::ReadOnly, Merge::Max),
            attribute("residual", U64, Role::Accumulated, Merge::Add),
            attribute("pushing", Bit, Role::Gathered, Merge::Or),
            attribute("left_out", Bit, Role::ReadOnly, Merge::Or),
        ]
    }

    fn is_monotone(&self) -> bool {
        true
    }

    fn left_out(&self) -> Option<usize> {
        Some(LEFT_OUT)
    }

    fn parameters(&self) -> Option<Parameters> {
        let Self { damping, dangling, tolerance } = self;
        Some(Parameters::none().with("damping", damping).with("dangling", dangling).with("tolerance", tolerance))
    }

    fn visits(&self, _has_in_lists: bool) -> Vec<(Direction, Visit)> {
        vec![(Direction::Out, Visit::All), (Direction::Out, Visit::Within(PUSHING))]
    }

    fn shader(&self) -> Option<Shader> {
        let text = include_str!("delta_pagerank.wgsl");
        Some(Shader::of_program("src/algorithms/delta_pagerank/delta_pagerank.wgsl", text, Vec::new()))
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
        // Nobody has anything to pass on yet.
        let base = self.base(graph);
        (graph.vertices > 0).then(|| self.step(0, Visit::None, (base, base), 0.0))
    }

    fn kernel<'a>(&'a self, state: &'a State, _step: &Step) -> DeltaKernel<'a> {
        DeltaKernel { share: state.attributes.f32(SHARE), residual: state.attributes.u64(RESIDUAL) }
    }

    fn vertex_phase(&self, state: &State, step: &Step, vertices: Range<u64>) -> Scalars {
        let (ranks, shares) = (state.attributes.f32(RANK), state.attributes.f32(SHARE));
        let (residuals, pushing) = (state.attributes.u64(RESIDUAL), state.attributes.bits(PUSHING));
        let left_out = state.attributes.bits(LEFT_OUT);
        let everywhere = to_fixed(step.scalars[EVERYWHERE]);
        let mut totals = Scalars::default();
        for vertex in vertices.map(|vertex| vertex as u32) {
            let waiting = residuals.get(vertex).wrapping_add(everywhere);
            if left_out.contains(vertex) {
                left_out.remove(vertex);
                residuals.set(vertex, waiting);
                totals[PUSHED] += 1.0;
                continue;
            }
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

    fn next(&self, graph: &Graph, step: &Step, summary: &Summary) -> Option<Step> {
        let (pushed, passed) = (summary.totals[PUSHED], summary.totals[PASSED]);
        if pushed == 0.0 {
            return None;
        }
        let scans = SCAN_ABOVE * pushed > graph.vertices as f64;
        let visit = if scans { Visit::All } else { Visit::Within(PUSHING) };
        let base = step.scalars[THRESHOLD] / self.leftover();
        let sharing = match (step.superstep, step.scalars[SHARING]) {
            // Everybody with out-edges.
            (0, _) => pushed,
            (1, sharing) if passed < LEVELLED_ABOVE * sharing * self.damping * base => 0.0,
            (LEVELLED_MAX.., _) => 0.0,
            (_, sharing) => sharing,
        };
        let less = if step.superstep > 0 && sharing > 0.0 { passed / sharing } else { 0.0 };
        let least = LEVELLED_TO * (1.0 - self.damping) * self.base(graph);
        let less = if base - less >= least { less } else { 0.0 };
        Some(self.step(step.superstep + 1, visit, (-less, base - less), sharing))
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let scale = self.scale(state);
        vec![Answer::f64("rank", move |vertex| scale * Self::arrived(state, vertex))]
    }
}
