//! Eigenvector centrality: the centrality of a vertex is proportional to the sum over its in-neighbours (Bonacich,
//! Journal of Mathematical Sociology 1972).
//!
//! The centralities are the entries of the eigenvector of the largest eigenvalue of the transposed adjacency matrix,
//! scaled to a Euclidean norm of 1. They are found by power iteration on A^T + I, which has the same eigenvectors and
//! does not oscillate on bipartite graphs: `x' = (x + sum of x[u] over edges u → v) / norm`, from the same value at
//! every vertex, until the sum of all changes is below the tolerance times the number of vertices. This is what
//! NetworkX's `eigenvector_centrality` computes, with the same defaults. Repeated edges count each time; weights are
//! not read.
//!
//! A superstep only has the norm of the previous vector: the new vector is stored before it is divided by its norm,
//! beside the last one after division. The change of an iteration is therefore known one superstep later, and a run
//! takes one superstep more than there are iterations.
//!
//! Cost: all lists in every superstep. 12 bytes a vertex. Sums are in single precision.

#[cfg(feature = "cli")]
pub mod command;

use crate::algorithms::Stop;
use crate::algorithms::neighbour_sum::{self, NeighbourSum, OWN, SUM, VALUE, neighbour_sum_wgsl};
use crate::algorithms::weights::Ones;
use crate::model::Parameters;
use crate::model::algorithm::{
    Algorithm, Answer, Declaration, Graph, Iteration, Scalars, Shader, State, Step, Summary, Visit,
};
use crate::model::attributes::{Attribute, Merge, Role};
use crate::model::rule::{Next, Now};
use std::ops::Range;

/// Eigenvector centrality with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Eigenvector {
    /// When to stop. A tolerance applies to the mean change of a vertex.
    pub stop: Stop,
}

impl Default for Eigenvector {
    /// As NetworkX: a mean change of 1e-6, at most 100 iterations.
    fn default() -> Self {
        Self { stop: Stop::Tolerance { l1: 1e-6, iterations_max: 100 } }
    }
}

/// The vector of the last iteration, of norm 1. `value` is the next one, before it is scaled.
const CENTRALITY: usize = OWN;

/// Indices into a step's scalars: 1 over the norm of `value`.
const SCALE: usize = 0;

/// Indices into the totals.
const CHANGE: usize = 0;
const SQUARES: usize = 1;

impl Eigenvector {
    fn step(&self, graph: &Graph, superstep: u32, scale: f64) -> Step {
        let mut step = Step::new(superstep, neighbour_sum::direction(graph.has_in_lists), Visit::All);
        step.scalars[SCALE] = scale;
        step.integers = neighbour_sum::limits(self.stop, graph);
        step
    }
}

impl Algorithm for Eigenvector {
    type Kernel<'a> = NeighbourSum<'a, Ones>;

    fn declare(&self, has_in_lists: bool) -> Declaration {
        let mut attributes = neighbour_sum::attributes(has_in_lists, 1.0);
        attributes.push(Attribute::f32("centrality", Role::Own, Merge::Add));
        let text = concat!(include_str!("eigenvector.wgsl"), neighbour_sum_wgsl!());
        let switches = neighbour_sum::switches::<true>(None);
        Declaration {
            parameters: Some(Parameters::none().with("stop", self.stop)),
            shader: Some(Shader::of_program("src/algorithms/eigenvector/eigenvector.wgsl", text, switches)),
            supersteps: neighbour_sum::one_more(self.stop.supersteps()),
            ..Declaration::new("eigenvector", attributes, neighbour_sum::visits(has_in_lists))
        }
    }

    fn check(&self, _graph: &Graph) -> Result<(), String> {
        neighbour_sum::check_stop(self.stop)
    }

    fn first(&self, graph: &Graph, _totals: Scalars) -> Option<Step> {
        // Entries that add up to 1, as in NetworkX.
        (graph.vertices > 0).then(|| self.step(graph, 0, 1.0 / graph.vertices as f64))
    }

    fn kernel<'a>(&'a self, state: &'a State, step: &Step) -> Self::Kernel<'a> {
        NeighbourSum::unweighted(state, step)
    }

    fn vertex_phase(&self, state: &State, step: &Step, vertices: Range<u64>) -> Scalars {
        let [values, sums, centralities] = [VALUE, SUM, CENTRALITY].map(|place| state.attributes.f32(place));
        let mut totals = Scalars::default();
        for vertex in vertices.map(|vertex| vertex as u32) {
            let (value, sum) = (f64::from(values.get(vertex)), f64::from(sums.take(vertex)));
            let centrality = (step.scalars[SCALE] * value) as f32;
            let next = (step.scalars[SCALE] * (value + sum)) as f32;
            totals[CHANGE] += f64::from(centrality - centralities.get(vertex)).abs();
            totals[SQUARES] += f64::from(next).powi(2);
            centralities.set(vertex, centrality);
            values.set(vertex, next);
        }
        totals
    }

    fn rule<'a>(&self, now: Now<'a>) -> Next<'a> {
        // The iteration whose result this superstep has scaled; the first one scales the start values.
        let done = now.superstep();
        let stops = neighbour_sum::is_done(now, done, now.total(CHANGE)).and(!done.equals(0));
        now.stay().with_scalar(SCALE, now.number_of(1.0) / now.total(SQUARES).root()).unless(stops)
    }

    fn iteration(&self, graph: &Graph, step: &Step, summary: &Summary) -> Option<Iteration> {
        let iterations = step.superstep;
        (iterations > 0).then(|| neighbour_sum::iteration(self.stop, graph, iterations, summary.totals[CHANGE]))
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let centrality = state.attributes.f32(CENTRALITY);
        vec![Answer::f32("centrality", |vertex| centrality.get(vertex))]
    }
}
