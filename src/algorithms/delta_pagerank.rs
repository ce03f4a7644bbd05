//! PageRank by residuals: only vertices that still have something to tell are visited.
//!
//! Every rank is what has arrived at its vertex so far, beginning with (1 - d) / n, and what has arrived is passed on once: d
//! times it, shared among out-neighbours. What arrives meanwhile waits as the vertex's residual until it is more than
//! `tolerance` times (1 - d) / n, and then is passed on in the next superstep. It is PageRank-Delta of Ligra (Shun and
//! Blelloch, PPoPP 2013) and the accumulative PageRank of Maiter (Zhang et al., TPDS 2014), with the threshold of the push
//! method (Andersen, Chung and Lang, FOCS 2006); here it goes superstep by superstep. Pages without a vertex that passes
//! something on are not read.
//!
//! What is left over at the end is at most `tolerance` times what everybody began with, and what would come of it is therefore
//! at most that part of each rank: all ranks are right to within `tolerance` of themselves, and to the rounding of `f32`.
//!
//! - With [`DanglingMass::Ignored`] what arrives at a vertex without out-edges stays there. With
//!   [`DanglingMass::Redistributed`] too, and ranks are scaled to a sum of one at the end, which is the same as redistributing:
//!   where the mass would be spread, it is as (1 - d) / n is, but for a factor.
//! - Edges that stand several times are followed as often; a loop passes a vertex's own mass back to it. Weights are not read.
//! - Residuals are summed in fixed point: the same bits on every run over a store.
//!
//! While many vertices pass something on, all lists are read, as scans go well with the page buffer. The first superstep reads
//! none.
//!
//! In asynchronous relaxation, a vertex whose list is left to a later superstep keeps its share until the list is read; what arrives
//! meanwhile waits. Ranks then differ from those of other runs, within the tolerance.
//!
//! It keeps 16 bytes and 2 bits a vertex, and reads out-lists.

use crate::algorithm::{
    Algorithm, Answer, AnswerValues, Graph, Kernel, List, Scalars, Shader, State, Step, Summary, Visit,
};
use crate::algorithms::DanglingMass;
use crate::attributes::{Attribute, AttributeType, F32Column, Fixed63Column, Initial, Merge, Role, to_fixed63};
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
/// What arrives everywhere in the first superstep.
const BASE: usize = 2;

/// The place in totals of the number of vertices that pass something on.
const PUSHED: usize = 0;

/// All lists are read while more than one vertex of so many passes something on.
const SCAN_ABOVE: f64 = 4.0;

impl DeltaPageRank {
    fn step(&self, graph: &Graph, superstep: u32, visit: Visit) -> Step {
        let base = (1.0 - self.damping) / graph.vertices as f64;
        let mut scalars = Scalars::default();
        (scalars[THRESHOLD], scalars[DAMPING]) = (self.tolerance * base, self.damping);
        scalars[BASE] = if superstep == 0 { base } else { 0.0 };
        Step { superstep, direction: Direction::Out, visit, scalars }
    }

    /// What has arrived at a vertex: passed on or not.
    fn arrived(state: &State, vertex: u32) -> f64 {
        f64::from(state.attributes.f32(RANK).get(vertex)) + state.attributes.fixed63(RESIDUAL).get(vertex)
    }
}

/// Passes shares on.
pub struct DeltaKernel<'a> {
    share: &'a F32Column,
    residual: &'a Fixed63Column,
}

impl Kernel for DeltaKernel<'_> {
    /// What each neighbour is given.
    type Record = u64;

    #[inline(always)]
    fn open(&self, list: List) -> Option<u64> {
        let share = self.share.get(list.vertex);
        (share > 0.0).then(|| to_fixed63(share.into()))
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
        use AttributeType::{Bit, F32, Fixed63};
        let attribute = |name, of, role, merge| Attribute { name, of, role, merge, initial: Initial::Bits(0) };
        vec![
            // Not even read by edges: the role that takes least telling between devices.
            attribute("rank", F32, Role::Own, Merge::Add),
            attribute("share", F32, Role::ReadOnly, Merge::Max),
            attribute("residual", Fixed63, Role::Accumulated, Merge::Add),
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

    fn visits(&self, _has_in_lists: bool) -> Vec<(Direction, Visit)> {
        vec![(Direction::Out, Visit::All), (Direction::Out, Visit::Within(PUSHING))]
    }

    fn shader(&self) -> Option<Shader> {
        let text = include_str!("../../shaders/algorithms/delta_pagerank.wgsl");
        Some(Shader { file: "shaders/algorithms/delta_pagerank.wgsl", text, switches: Vec::new() })
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
        (graph.vertices > 0).then(|| self.step(graph, 0, Visit::Within(PUSHING)))
    }

    fn kernel<'a>(&'a self, state: &'a State, _step: &Step) -> DeltaKernel<'a> {
        DeltaKernel { share: state.attributes.f32(SHARE), residual: state.attributes.fixed63(RESIDUAL) }
    }

    fn vertex_phase(&self, state: &State, step: &Step, vertices: Range<u64>) -> Scalars {
        let (ranks, shares) = (state.attributes.f32(RANK), state.attributes.f32(SHARE));
        let (residuals, pushing) = (state.attributes.fixed63(RESIDUAL), state.attributes.bits(PUSHING));
        let left_out = state.attributes.bits(LEFT_OUT);
        let mut totals = Scalars::default();
        for vertex in vertices.map(|vertex| vertex as u32) {
            if left_out.contains(vertex) {
                left_out.remove(vertex);
                totals[PUSHED] += 1.0;
                continue;
            }
            let residual = residuals.get(vertex) + step.scalars[BASE];
            let taken = if residual > step.scalars[THRESHOLD] {
                residuals.set(vertex, 0);
                residual
            } else {
                0.0
            };
            if taken > 0.0 {
                ranks.set(vertex, (f64::from(ranks.get(vertex)) + taken) as f32);
            }
            let degree = state.graph.out_degree(vertex);
            let share = (step.scalars[DAMPING] * taken / f64::from(degree.max(1))) as f32;
            let share = if degree > 0 { share } else { 0.0 };
            shares.set(vertex, share);
            if share > 0.0 {
                pushing.insert(vertex);
                totals[PUSHED] += 1.0;
            } else {
                pushing.remove(vertex);
            }
        }
        totals
    }

    fn next(&self, graph: &Graph, step: &Step, summary: &Summary) -> Option<Step> {
        let pushed = summary.totals[PUSHED];
        let scans = SCAN_ABOVE * pushed > graph.vertices as f64;
        let visit = if scans { Visit::All } else { Visit::Within(PUSHING) };
        (pushed > 0.0).then(|| self.step(graph, step.superstep + 1, visit))
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let vertices = || (0..state.graph.vertices).map(|vertex| vertex as u32);
        let scale = match self.dangling {
            DanglingMass::Redistributed => 1.0 / vertices().map(|vertex| Self::arrived(state, vertex)).sum::<f64>(),
            DanglingMass::Ignored => 1.0,
        };
        let rank = move |vertex| scale * Self::arrived(state, vertex);
        vec![Answer { name: "rank", values: AnswerValues::F64(Box::new(rank)) }]
    }
}
