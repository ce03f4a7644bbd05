//! Katz centrality: the number of walks that end at a vertex, discounted by length (Katz, Psychometrika 1953).
//!
//! `x[v] = alpha * (sum of x[u] over edges u → v) + beta`, iterated from 0 until the sum of all changes is below the
//! tolerance times the number of vertices; then divided by its Euclidean norm. This is what NetworkX's
//! `katz_centrality` computes, with the same defaults. A directed edge counts for the vertex that it leads to. Repeated
//! edges count each time; weights are not read.
//!
//! The iteration converges if alpha is below 1 over the largest eigenvalue of the adjacency matrix. Otherwise values
//! grow without bound, and the run ends with an error when one of them is no longer finite.
//!
//! Cost: all lists in every superstep. 8 bytes a vertex. Sums are in single precision.

#[cfg(feature = "cli")]
pub mod command;

use crate::algorithms::Stop;
use crate::algorithms::neighbour_sum::{self, NeighbourSum, SUM, VALUE, neighbour_sum_wgsl};
use crate::algorithms::weights::Ones;
use crate::model::Parameters;
use crate::model::algorithm::{
    Algorithm, Answer, Conclusion, Declaration, Graph, Iteration, Refusal, Scalars, Shader, State, Step, Summary, Visit,
};
use crate::model::rule::{Next, Now};
use std::ops::Range;
use topostream_formats::Direction;

/// Katz centrality with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Katz {
    /// The factor by which a walk is discounted for each of its edges.
    pub alpha: f64,
    /// The value of every vertex without in-neighbours; above 0.
    pub beta: f64,
    /// When to stop. A tolerance applies to the mean change of a vertex.
    pub stop: Stop,
}

impl Default for Katz {
    /// As NetworkX: alpha 0.1, beta 1, a mean change of 1e-6, at most 1000 iterations.
    fn default() -> Self {
        Self { alpha: 0.1, beta: 1.0, stop: Stop::Tolerance { l1: 1e-6, iterations_max: 1000 } }
    }
}

/// Indices into a step's scalars. In the last superstep, which reads no pages, `SCALE` is above 0: values are
/// multiplied by it.
const ALPHA: usize = 0;
const BETA: usize = 1;
const SCALE: usize = 2;

/// Indices into the totals.
const CHANGE: usize = 0;
const SQUARES: usize = 1;

/// No value of a vector of norm 1 is larger, whatever the rounding: a larger value was not scaled, because its
/// iteration diverged.
const LARGEST: f32 = 1.001;

impl Katz {
    fn step(&self, graph: &Graph, superstep: u32) -> Step {
        let mut step = Step::new(superstep, neighbour_sum::direction(graph.has_in_lists), Visit::All);
        (step.scalars[ALPHA], step.scalars[BETA]) = (self.alpha, self.beta);
        step.integers = neighbour_sum::limits(self.stop, graph);
        step
    }
}

impl Algorithm for Katz {
    type Kernel<'a> = NeighbourSum<'a, Ones>;

    fn declare(&self, has_in_lists: bool) -> Declaration {
        let Self { alpha, beta, stop } = self;
        let text = concat!(include_str!("katz.wgsl"), neighbour_sum_wgsl!());
        let switches = neighbour_sum::switches::<true>(None);
        let (attributes, visits) = (neighbour_sum::attributes(has_in_lists, 0.0), neighbour_sum::visits(has_in_lists));
        Declaration {
            parameters: Some(Parameters::none().with("alpha", alpha).with("beta", beta).with("stop", stop)),
            shader: Some(Shader::of_program("src/algorithms/katz/katz.wgsl", text, switches)),
            supersteps: neighbour_sum::one_more(self.stop.supersteps()),
            ..Declaration::new("katz", attributes, visits)
        }
    }

    fn check(&self, _graph: &Graph) -> Result<(), String> {
        if !(self.alpha > 0.0 && self.alpha.is_finite()) {
            return Err(format!("alpha {}: must be a number above 0", self.alpha));
        }
        if !(self.beta > 0.0 && self.beta.is_finite()) {
            return Err(format!("beta {}: must be a number above 0", self.beta));
        }
        neighbour_sum::check_stop(self.stop)
    }

    fn first(&self, graph: &Graph, _totals: Scalars) -> Option<Step> {
        (graph.vertices > 0).then(|| self.step(graph, 0))
    }

    fn kernel<'a>(&'a self, state: &'a State, step: &Step) -> Self::Kernel<'a> {
        NeighbourSum::unweighted(state, step)
    }

    fn vertex_phase(&self, state: &State, step: &Step, vertices: Range<u64>) -> Scalars {
        let (values, sums) = (state.attributes.f32(VALUE), state.attributes.f32(SUM));
        let [alpha, beta, scale, _] = step.scalars;
        let mut totals = Scalars::default();
        for vertex in vertices.map(|vertex| vertex as u32) {
            let before = f64::from(values.get(vertex));
            if scale > 0.0 {
                values.set(vertex, (before * scale) as f32);
                continue;
            }
            let after = (alpha * f64::from(sums.take(vertex)) + beta) as f32;
            values.set(vertex, after);
            totals[CHANGE] += (f64::from(after) - before).abs();
            totals[SQUARES] += f64::from(after).powi(2);
        }
        totals
    }

    fn rule<'a>(&self, now: Now<'a>) -> Next<'a> {
        let squares = now.total(SQUARES);
        // There is no sum of squares after the last superstep, nor if values have diverged.
        let has_ended = now.is(Direction::Out, Visit::None).or(!squares.is_finite());
        let last = now.without_pages().with_scalar(SCALE, now.number_of(1.0) / squares.root());
        let is_done = neighbour_sum::is_done(now, now.superstep() + 1, now.total(CHANGE));
        is_done.select(last, now.stay()).unless(has_ended)
    }

    fn iteration(&self, graph: &Graph, step: &Step, summary: &Summary) -> Option<Iteration> {
        let iterations = step.superstep + 1;
        let scaled = step.visit == Visit::None;
        (!scaled).then(|| neighbour_sum::iteration(self.stop, graph, iterations, summary.totals[CHANGE]))
    }

    fn conclude(&self, state: &State) -> Result<Conclusion, Refusal> {
        let values = state.attributes.f32(VALUE);
        let diverged = |vertex: &u32| !(-LARGEST..=LARGEST).contains(&values.get(*vertex));
        let alpha = self.alpha;
        Refusal::of((0..state.graph.vertices).map(|vertex| vertex as u32).find(diverged), || {
            let limit = "must be below 1 over the largest eigenvalue of the graph";
            format!("its value grows without bound; alpha {alpha} {limit}")
        })?;
        Ok(Conclusion::default())
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let value = state.attributes.f32(VALUE);
        vec![Answer::f32("centrality", |vertex| value.get(vertex))]
    }
}
