//! Heat, circuits and adsorption: each vertex repeatedly takes the weighted mean of its in-neighbours' values.
//!
//! ```text
//!  mean[v] = sum of weight(u → v) * x[u]  ÷  sum of weight(u → v)        over edges u → v; unweighted edges count 1
//!
//!  heat        x'[v] = (1 - alpha) x[v] + alpha mean[v]                  sources are fixed, all others start at 0
//!  circuit     x'[v] = mean[v]                                           likewise
//!  adsorption  x'[v] = (1 - inject - abandon) mean[v] + inject s[v]      s is 1 at seeds, 0 elsewhere; x starts as s
//! ```
//!
//! - Heat simulation is a benchmark of CuSha (Khorasani et al., HPDC 2014). Here it is explicit (forward Euler)
//!   diffusion, a step of alpha at a time, where a vertex's capacity is the sum of the conductances that lead to it. A
//!   new value lies between the old values of the vertex and its in-neighbours, so any alpha above 0 and up to 1 is
//!   stable whatever the degrees. (With equal capacities alpha would have to stay below 1 over the largest such sum.)
//! - Circuit simulation (also of CuSha) is Jacobi's method for Kirchhoff's law: the currents at a vertex add up to 0,
//!   where x are voltages and weights are conductances. Since every value starts at 0, it converges wherever a source
//!   leads, and to 0 elsewhere. It converges more slowly the fewer the sources are and the farther away they are: a
//!   small change does not yet mean a small error.
//! - Adsorption (Baluja et al., WWW 2008) is run for one label at a time: `x[v]` is the label's mass. At each vertex a
//!   walk against the edges continues with probability 1 - inject - abandon; at a seed it takes the label with
//!   probability inject; otherwise it is abandoned, which is the share of the dummy label. Labels are not normalised to
//!   a sum of one at each vertex, which a single label does not allow (as in the linear form of Talukdar and Crammer,
//!   ECML 2009).
//!
//! In a directed graph values follow edges; for circuits and adsorption as published, use undirected stores. Repeated
//! edges count each time. A loop is an edge from the vertex itself; it slows heat and circuits down but does not change
//! their limit. A vertex without incoming weight has no mean: in heat and circuits it stays at 0, in adsorption it has
//! what is injected.
//!
//! The first superstep adds up the weights: all values are 1 in it. Sums are single-precision floats and depend
//! slightly on the order of their terms. A negative, infinite or NaN weight anywhere in the graph ends the run with an
//! error, and so do weights to one vertex that add up to more than 2^96.
//!
//! It keeps 12 bytes and 1 bit a vertex, 2 bits with `f32` weights.

#[cfg(feature = "cli")]
pub mod command;

use crate::algorithms::Stop;
use crate::algorithms::neighbour_sum::{self, NeighbourSum, OWN, SUM, VALUE, neighbour_sum_wgsl};
use crate::algorithms::pagerank::words;
use crate::algorithms::weights::{self, Stored};
use crate::model::Parameters;
use crate::model::algorithm::{
    Algorithm, Answer, Conclusion, Declaration, Graph, Iteration, Refusal, Scalars, Seed, Seeds, Shader, State, Step,
    Summary, Visit, Weights,
};
use crate::model::attributes::{Attribute, Merge, Role};
use crate::model::rule::{Next, Now};
use std::collections::HashSet;
use std::ops::Range;
use topostream_formats::VertexId;
use topostream_formats::edge::WeightType;

/// How new values are computed from means.
#[derive(Clone, Debug, PartialEq)]
pub enum Model {
    /// Heat that spreads from sources.
    Heat {
        /// The step: the fraction of a vertex's value that is replaced in an iteration.
        alpha: f64,
        /// Vertices that stay at these temperatures.
        sources: Vec<(VertexId, f32)>,
    },
    /// Voltages between sources.
    Circuit {
        /// Vertices that stay at these voltages.
        sources: Vec<(VertexId, f32)>,
    },
    /// The mass of a label.
    Adsorption {
        /// The probability of taking the label at a seed.
        inject: f64,
        /// The probability of abandoning the walk at a vertex.
        abandon: f64,
        /// The vertices with the label.
        seeds: Vec<VertexId>,
    },
}

/// Repeated means of in-neighbours' values.
#[derive(Clone, Debug, PartialEq)]
pub struct Averaging {
    /// How new values are computed from the means.
    pub model: Model,
    /// The type of the store's weights; if `None`, every edge counts 1.
    pub weights: Option<WeightType>,
    /// When to stop. A tolerance applies to the mean change of a vertex (the L1 norm over the number of vertices),
    /// relative to the largest value of a source.
    pub stop: Stop,
}

/// The sum of the weights that lead to a vertex; at a fixed vertex, its value.
const NORM: usize = OWN;
/// The sources or seeds.
const SEED: usize = OWN + 1;
/// With `f32` weights only: the vertices with an incoming edge whose weight is rejected.
const REFUSED: usize = OWN + 2;

/// Indices into a step's scalars.
const KEPT: usize = 0;
const SPREAD: usize = 1;
const GIVEN: usize = 2;

/// Indices into the totals.
const CHANGE: usize = 0;
const REFUSALS: usize = 1;

/// The largest value at which a vertex may be fixed: with the largest sum of weights, no sum exceeds the largest `f32`.
const HELD_MAX: f32 = 2_147_483_648.0;
/// The largest sum of weights: 2^96.
const NORM_MAX: f32 = f32::from_bits((96 + 127) << 23);

impl Averaging {
    fn name(&self) -> &'static str {
        match self.model {
            Model::Heat { .. } => "heat",
            Model::Circuit { .. } => "circuit",
            Model::Adsorption { .. } => "adsorption",
        }
    }

    fn parameters(&self) -> Parameters {
        let parameters = match &self.model {
            Model::Heat { alpha, sources } => Parameters::none().with("alpha", alpha).with_values("sources", sources),
            Model::Circuit { sources } => Parameters::none().with_values("sources", sources),
            Model::Adsorption { inject, abandon, seeds } => {
                Parameters::none().with("inject", inject).with("abandon", abandon).with_vertices("seeds", seeds)
            }
        };
        parameters.with("weights", self.weights).with("stop", self.stop)
    }

    /// Whether seeds stay as they are.
    fn holds(&self) -> bool {
        !matches!(self.model, Model::Adsorption { .. })
    }

    fn is_float(&self) -> bool {
        self.weights == Some(WeightType::F32)
    }

    /// The sources or seeds with their first values.
    fn seeded(&self) -> Vec<(VertexId, f32)> {
        match &self.model {
            Model::Heat { sources, .. } | Model::Circuit { sources } => sources.clone(),
            Model::Adsorption { seeds, .. } => seeds.iter().map(|&seed| (seed, 1.0)).collect(),
        }
    }

    /// The largest absolute value: means never exceed the values that they are taken of.
    fn largest(&self) -> f64 {
        self.seeded().iter().fold(0.0, |largest, (_, value)| largest.max(value.abs().into()))
    }

    fn step(&self, graph: &Graph, superstep: u32) -> Step {
        let mut scalars = Scalars::default();
        (scalars[KEPT], scalars[SPREAD], scalars[GIVEN]) = match self.model {
            Model::Heat { alpha, .. } => (1.0 - alpha, alpha, 0.0),
            Model::Circuit { .. } => (0.0, 1.0, 0.0),
            Model::Adsorption { inject, abandon, .. } => (0.0, 1.0 - inject - abandon, inject),
        };
        let (tolerance, iterations_max) = self.limits(graph);
        let [low, high] = words(tolerance);
        let step = Step::new(superstep, neighbour_sum::direction(graph.has_in_lists), Visit::All);
        step.with_scalars(scalars).with_integers([low, high, iterations_max, 0])
    }

    /// The largest total change that ends the run, below 0 if none does, and the maximum number of iterations. GPUs
    /// have them in a step's integers.
    fn limits(&self, graph: &Graph) -> (f64, u32) {
        match self.stop {
            Stop::Iterations(iterations) => (-1.0, iterations),
            Stop::Tolerance { l1, iterations_max } => (l1 * self.largest() * graph.vertices as f64, iterations_max),
        }
    }

    fn check_model(&self) -> Result<(), String> {
        match self.model {
            Model::Heat { alpha, .. } if !(alpha > 0.0 && alpha <= 1.0) => {
                Err(format!("alpha {alpha}: must be above 0 and at most 1"))
            }
            Model::Adsorption { inject, abandon, .. }
                if !(inject > 0.0 && abandon >= 0.0 && inject + abandon <= 1.0) =>
            {
                Err(format!(
                    "inject {inject} and abandon {abandon}: must be above 0 and at least 0, and at most 1 together"
                ))
            }
            _ => Ok(()),
        }
    }

    fn check_seeds(&self, graph: &Graph) -> Result<(), String> {
        let what = if self.holds() { "source" } else { "seed" };
        let (seeded, mut met) = (self.seeded(), HashSet::new());
        if seeded.is_empty() {
            return Err(format!("{} needs a {what} at least", self.name()));
        }
        for (vertex, value) in seeded {
            graph.check_vertex(what, vertex)?;
            if !met.insert(vertex.0) {
                return Err(format!("duplicate {what} vertex {vertex}"));
            }
            if value.is_nan() || value.abs() > HELD_MAX {
                return Err(format!("source vertex {vertex}: {value} must be a number between -2^31 and 2^31"));
            }
        }
        Ok(())
    }

    /// Processes a vertex after the first superstep, in which all values are 1: its sum is the sum of its weights.
    /// Returns whether that is rejected.
    fn begin(&self, state: &State, vertex: u32) -> bool {
        let norm = state.attributes.f32(SUM).take(vertex);
        let is_seed = state.attributes.bits(SEED).contains(vertex);
        let (norms, values) = (state.attributes.f32(NORM), state.attributes.f32(VALUE));
        if self.holds() && is_seed {
            values.set(vertex, norms.get(vertex));
        } else {
            norms.set(vertex, norm);
            values.set(vertex, if is_seed { 1.0 } else { 0.0 });
        }
        if !self.is_float() {
            return false;
        }
        let refused = state.attributes.bits(REFUSED);
        if !(0.0..=NORM_MAX).contains(&norm) {
            refused.insert(vertex);
        }
        refused.contains(vertex)
    }

    /// Runs an iteration at a vertex; returns by how much its value changes.
    fn iterate(&self, state: &State, step: &Step, vertex: u32) -> f64 {
        let sum = f64::from(state.attributes.f32(SUM).take(vertex));
        let is_seed = state.attributes.bits(SEED).contains(vertex);
        let values = state.attributes.f32(VALUE);
        if self.holds() && is_seed {
            return 0.0;
        }
        let (before, norm) = (f64::from(values.get(vertex)), f64::from(state.attributes.f32(NORM).get(vertex)));
        // As on devices without subnormal numbers.
        let mean = if norm >= f64::from(f32::MIN_POSITIVE) { sum / norm } else { 0.0 };
        let given = if is_seed { step.scalars[GIVEN] } else { 0.0 };
        let after = (step.scalars[KEPT] * before + step.scalars[SPREAD] * mean + given) as f32;
        values.set(vertex, after);
        (f64::from(after) - before).abs()
    }
}

impl Algorithm for Averaging {
    type Kernel<'a> = NeighbourSum<'a, Stored<false>>;

    fn declare(&self, has_in_lists: bool) -> Declaration {
        let mut attributes = neighbour_sum::attributes(has_in_lists, 1.0);
        attributes.extend([Attribute::f32("norm", Role::Own, Merge::Add), Attribute::set("seed", Role::Own)]);
        if self.is_float() {
            attributes.push(neighbour_sum::refused(has_in_lists));
        }
        let text = concat!(include_str!("averaging.wgsl"), neighbour_sum_wgsl!());
        let mut switches = neighbour_sum::switches::<false>(self.weights);
        switches.push(("HELD", self.holds()));
        let constants = [("NORM_MAX", NORM_MAX.into()), ("SMALLEST_NORMAL", f32::MIN_POSITIVE.into())];
        let shader = Shader::of_program("src/algorithms/averaging/averaging.wgsl", text, switches);
        Declaration {
            weights: Weights::narrow_if(self.weights.is_some()),
            parameters: Some(self.parameters()),
            shader: Some(shader.with_constants(constants)),
            // The first superstep is not an iteration.
            supersteps: neighbour_sum::one_more(self.stop.supersteps()),
            ..Declaration::new(self.name(), attributes, neighbour_sum::visits(has_in_lists))
        }
    }

    fn check(&self, graph: &Graph) -> Result<(), String> {
        self.check_model()?;
        self.check_seeds(graph)?;
        if let Stop::Tolerance { l1, .. } = self.stop
            && (l1.is_nan() || l1 < 1e-6)
        {
            return Err(format!("tolerance {l1}: must be at least 1e-6, which single precision can tell from none"));
        }
        weights::check(self.name(), self.weights, graph)
    }

    fn seeds(&self) -> Seeds<'_> {
        let values = self.seeded().into_iter().flat_map(|(VertexId(vertex), value)| {
            let held = self.holds().then_some(Seed { attribute: NORM, vertex, bits: value.to_bits() });
            held.into_iter().chain([Seed { attribute: SEED, vertex, bits: 1 }])
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
        let mut totals = Scalars::default();
        for vertex in vertices.map(|vertex| vertex as u32) {
            if step.superstep == 0 {
                totals[REFUSALS] += f64::from(u8::from(self.begin(state, vertex)));
            } else {
                totals[CHANGE] += self.iterate(state, step, vertex);
            }
        }
        totals
    }

    fn rule<'a>(&self, now: Now<'a>) -> Next<'a> {
        // The first superstep is not an iteration.
        let done = now.superstep();
        let converged = now.total(CHANGE).at_most(now.number(0)).and(!done.equals(0));
        let stops = converged.or(done.at_least(now.integer(2))).or(now.total(REFUSALS).above(0.0));
        now.stay().unless(stops)
    }

    fn iteration(&self, graph: &Graph, step: &Step, summary: &Summary) -> Option<Iteration> {
        let iterations = step.superstep;
        let residual = summary.totals[CHANGE] / (self.largest() * graph.vertices as f64).max(f64::MIN_POSITIVE);
        let tolerance = self.stop.tolerance();
        // As the rule decides, whatever the division rounds to.
        let ended = summary.totals[CHANGE] <= self.limits(graph).0;
        let residual = tolerance.filter(|_| ended).map_or(residual, |tolerance| residual.min(tolerance));
        (iterations > 0).then_some(Iteration { iterations, residual, tolerance })
    }

    fn conclude(&self, state: &State) -> Result<Conclusion, Refusal> {
        let found = self.is_float().then(|| state.attributes.bits(REFUSED).next_set(0)).flatten();
        let reason =
            "an edge to it has a negative, infinite or NaN weight, or its edges' weights sum to more than 2^96";
        Refusal::of(found.map(|vertex| vertex as u32), || reason.into())?;
        Ok(Conclusion::default())
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let value = state.attributes.f32(VALUE);
        let name = match self.model {
            Model::Heat { .. } => "temperature",
            Model::Circuit { .. } => "voltage",
            Model::Adsorption { .. } => "mass",
        };
        vec![Answer::f32(name, |vertex| value.get(vertex))]
    }
}
