//! Inference in a neural network whose neurons are the vertices: every vertex's value repeatedly becomes an activation
//! function of the weighted sum of its in-neighbours' values, until the largest change is below a tolerance (NN of
//! Khorasani, Gupta and Bhuyan, PACT 2015).
//!
//! `x'[v] = f(sum of weight(u → v) * x[u] over edges u → v)`. All vertices start with the same value (1 by default);
//! inputs are fixed at values of their own. Weights are 1 if the store has none, and may be negative; repeated edges
//! count each time. A vertex without in-edges takes on f(0) in the first iteration.
//!
//! Networks with cycles need not converge: the number of iterations is bounded. With an unbounded activation function
//! values may grow without bound, which ends the run with an error.
//!
//! Cost: all lists in every superstep. 8 bytes and 1 bit a vertex, 2 bits with `f32` weights. Sums are in single
//! precision.

#[cfg(feature = "cli")]
pub mod command;

use crate::algorithms::Stop;
use crate::algorithms::neighbour_sum::{self, NeighbourSum, OWN, SUM, VALUE, neighbour_sum_wgsl};
use crate::algorithms::weights::{self, Stored};
use crate::model::Parameters;
use crate::model::algorithm::{
    Algorithm, Answer, Conclusion, Declaration, Graph, Iteration, Refusal, Scalars, Seed, Seeds, Shader, State, Step,
    Summary, Visit, Weights,
};
use crate::model::attributes::{Attribute, Role};
use crate::model::rule::{Next, Now};
use std::ops::Range;
use topostream_formats::VertexId;
use topostream_formats::edge::WeightType;

/// The activation function that is applied to a sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Activation {
    /// The hyperbolic tangent: from -1 to 1.
    #[default]
    Tanh,
    /// 1 / (1 + exp(-x)): from 0 to 1.
    Sigmoid,
    /// max(x, 0).
    Relu,
}

impl Activation {
    /// Applies the function.
    fn of(self, sum: f64) -> f64 {
        match self {
            Self::Tanh => sum.tanh(),
            Self::Sigmoid => 1.0 / (1.0 + (-sum).exp()),
            Self::Relu => sum.max(0.0),
        }
    }
}

/// A neural network with its inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct NeuralNetwork {
    /// The activation function of every vertex.
    pub activation: Activation,
    /// The initial value of the vertices.
    pub initial: f32,
    /// Vertices that are fixed at these values.
    pub inputs: Vec<(VertexId, f32)>,
    /// The type of the store's weights; if `None`, every edge counts 1.
    pub weights: Option<WeightType>,
    /// When to stop. A tolerance applies to the largest change of a vertex.
    pub stop: Stop,
}

/// The name in messages.
const NAME: &str = "neural-network";

/// The vertices that are fixed.
const HELD: usize = OWN;
/// With `f32` weights only.
const REFUSED: usize = OWN + 1;

/// The index of the tolerance in a step's scalars.
const TOLERANCE: usize = 0;
const ACTIVATION_NAMES: [&str; 3] = ["TANH", "SIGMOID", "RELU"];

/// Indices into the totals: the number of vertices that change by the tolerance or more, and the number of those whose
/// values are too large or that have a rejected weight.
const CHANGED: usize = 0;
const REFUSALS: usize = 1;

/// The largest value: its products with sums of weights up to 10^20 are finite.
const LARGEST: f32 = 1e18;

impl NeuralNetwork {
    fn is_float(&self) -> bool {
        self.weights == Some(WeightType::F32)
    }

    fn step(&self, graph: &Graph, superstep: u32) -> Step {
        let mut step = Step::new(superstep, neighbour_sum::direction(graph.has_in_lists), Visit::All);
        let converges = u32::from(matches!(self.stop, Stop::Tolerance { .. }));
        step.integers = [self.activation as u32, self.stop.limits(1.0).1, converges, 0];
        step.scalars[TOLERANCE] = match self.stop {
            Stop::Iterations(_) => 0.0,
            Stop::Tolerance { l1, .. } => l1,
        };
        step
    }
}

impl Algorithm for NeuralNetwork {
    type Kernel<'a> = NeighbourSum<'a, Stored<true>>;

    fn declare(&self, has_in_lists: bool) -> Declaration {
        let mut attributes = neighbour_sum::attributes(has_in_lists, self.initial);
        attributes.push(Attribute::set("held", Role::Own));
        if self.is_float() {
            attributes.push(neighbour_sum::refused(has_in_lists));
        }
        let Self { activation, initial, inputs, weights, stop } = self;
        let parameters = Parameters::none().with("activation", activation).with("initial", initial);
        let parameters = parameters.with_values("inputs", inputs).with("weights", weights).with("stop", stop);
        let text = concat!(include_str!("neural_network.wgsl"), neighbour_sum_wgsl!());
        let switches = neighbour_sum::switches::<true>(self.weights);
        let shader = Shader::of_program("src/algorithms/neural_network/neural_network.wgsl", text, switches);
        Declaration {
            weights: Weights::narrow_if(self.weights.is_some()),
            parameters: Some(parameters),
            shader: Some(shader.with_modes(ACTIVATION_NAMES).with_constants([("LARGEST", LARGEST.into())])),
            supersteps: self.stop.supersteps(),
            ..Declaration::new(NAME, attributes, neighbour_sum::visits(has_in_lists))
        }
    }

    fn check(&self, graph: &Graph) -> Result<(), String> {
        neighbour_sum::check_stop(self.stop)?;
        let values = self.inputs.iter().map(|&(_, value)| value).chain([self.initial]);
        if let Some(value) = values.into_iter().find(|value| !(-LARGEST..=LARGEST).contains(value)) {
            return Err(format!("{value}: the values of vertices must be numbers between -1e18 and 1e18"));
        }
        self.inputs.iter().try_for_each(|&(vertex, _)| graph.check_vertex("input", vertex))?;
        weights::check(NAME, self.weights, graph)
    }

    fn seeds(&self) -> Seeds<'_> {
        let values = self.inputs.iter().flat_map(|&(VertexId(vertex), value)| {
            [Seed { attribute: VALUE, vertex, bits: value.to_bits() }, Seed { attribute: HELD, vertex, bits: 1 }]
        });
        Seeds { values: values.collect(), ..Seeds::default() }
    }

    fn first(&self, graph: &Graph, _totals: Scalars) -> Option<Step> {
        (graph.vertices > 0).then(|| self.step(graph, 0))
    }

    fn kernel<'a>(&'a self, state: &'a State, step: &Step) -> Self::Kernel<'a> {
        NeighbourSum::weighted(state, step, self.weights, REFUSED)
    }

    fn vertex_phase(&self, state: &State, step: &Step, vertices: Range<u64>) -> Scalars {
        let [values, sums] = [VALUE, SUM].map(|place| state.attributes.f32(place));
        let held = state.attributes.bits(HELD);
        let refused = self.is_float().then(|| state.attributes.bits(REFUSED));
        let mut totals = Scalars::default();
        for vertex in vertices.map(|vertex| vertex as u32) {
            let sum = f64::from(sums.take(vertex));
            if refused.is_some_and(|refused| refused.contains(vertex)) {
                totals[REFUSALS] += 1.0;
            }
            if held.contains(vertex) {
                continue;
            }
            let (before, after) = (values.get(vertex), self.activation.of(sum) as f32);
            values.set(vertex, after);
            totals[CHANGED] += f64::from(u8::from(f64::from((after - before).abs()) >= step.scalars[TOLERANCE]));
            totals[REFUSALS] += f64::from(u8::from(!(-LARGEST..=LARGEST).contains(&after)));
        }
        totals
    }

    fn rule<'a>(&self, now: Now<'a>) -> Next<'a> {
        let [_, iterations_max, converges, _] = [0, 1, 2, 3].map(|place| now.integer(place));
        let converged = (!converges.equals(0)).and(!now.total(CHANGED).above(0.0));
        let is_last = (now.superstep() + 1).at_least(iterations_max);
        now.stay().unless(converged.or(is_last).or(now.total(REFUSALS).above(0.0)))
    }

    fn iteration(&self, graph: &Graph, step: &Step, summary: &Summary) -> Option<Iteration> {
        // The vertices that changed by more than the tolerance: none, once it has converged.
        let tolerance = self.stop.tolerance().map(|_| 0.0);
        let residual = summary.totals[CHANGED] / graph.vertices.max(1) as f64;
        Some(Iteration { iterations: step.superstep + 1, residual, tolerance })
    }

    fn conclude(&self, state: &State) -> Result<Conclusion, Refusal> {
        let refused = self.is_float().then(|| state.attributes.bits(REFUSED).next_set(0)).flatten();
        let reason = "an edge to it has a weight that is infinite or not a number";
        Refusal::of(refused.map(|vertex| vertex as u32), || reason.into())?;
        let values = state.attributes.f32(VALUE);
        let diverged = |vertex: &u32| !(-LARGEST..=LARGEST).contains(&values.get(*vertex));
        let vertex = (0..state.graph.vertices).map(|vertex| vertex as u32).find(diverged);
        let reason = "its value grows without bound: use an activation function with bounds, or smaller weights";
        Refusal::of(vertex, || reason.into())?;
        Ok(Conclusion::default())
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let value = state.attributes.f32(VALUE);
        vec![Answer::f32("value", |vertex| value.get(vertex))]
    }
}
