//! Heat, circuits and adsorption: vertices that take on the mean of their in-neighbours' values, by weight, again and
//! again.
//!
//! ```text
//!  mean[v] = sum of weight(u → v) * x[u]  ÷  sum of weight(u → v)        over edges u → v; weights are 1 where there are none
//!
//!  heat        x'[v] = (1 - alpha) x[v] + alpha mean[v]                  sources stay as they are, all else begins at 0
//!  circuit     x'[v] = mean[v]                                           likewise
//!  adsorption  x'[v] = (1 - inject - abandon) mean[v] + inject s[v]      s is 1 at seeds and 0 elsewhere, and x begins as s
//! ```
//!
//! - Heat simulation is a kernel of CuSha (Khorasani et al., HPDC 2014) and of the systems that are measured by its
//!   list, such as AsynGraph. Here it is explicit (forward Euler) diffusion, a step of alpha at a time, where a
//!   vertex's capacity is the sum of the conductances that lead to it: a new value is between the old ones of a vertex
//!   and its in-neighbours, so that any alpha above 0 and up to 1 is stable whatever the degrees. (With equal
//!   capacities alpha would have to stay below 1 over the largest such sum.)
//! - Circuit simulation (the same list) is Jacobi's method for Kirchhoff's law: currents at a vertex add up to 0, x
//!   being voltages and weights conductances. Since everything begins at 0, it converges wherever there is a source,
//!   and to 0 where none leads; the fewer sources, and the farther away, the slower: a small change is not yet a small
//!   error.
//! - Adsorption (Baluja et al., WWW 2008) is run for one label at a time: `x[v]` is the label's mass. At each vertex a
//!   walk against the edges goes on with probability 1 - inject - abandon; at a seed it takes the label with
//!   probability inject; otherwise it is abandoned, which is the share of the dummy label. Labels are not scaled to a
//!   sum of one at each vertex, which one label alone cannot tell (as in the linear form of Talukdar and Crammer, ECML
//!   2009).
//!
//! In a directed graph values go along edges; for circuits and adsorption as published, take undirected stores. Edges
//! that stand several times count as often. A loop is an edge from the vertex itself, which slows heat and circuits
//! down and does not change where they end. A vertex that no weight leads to has no mean: in heat and circuits it stays
//! at 0, in adsorption it has what is injected.
//!
//! The first superstep adds up weights: all values are 1 in it. Sums are single-precision floats, and depend a little
//! on the order of their terms. A weight that is negative, infinite or no number ends the run with an error, wherever
//! it is, and so do weights to one vertex that add up to more than 2^96.
//!
//! It keeps 12 bytes and 1 bit a vertex, 2 bits with `f32` weights.

#[cfg(feature = "cli")]
pub mod command;

use crate::algorithms::Stop;
use crate::model::Parameters;
use crate::model::algorithm::{
    Algorithm, Answer, Graph, Kernel, List, Refusal, Scalars, Seed, Seeds, Shader, State, Step, Summary, Supersteps,
    Visit,
};
use crate::model::attributes::{Attribute, AttributeType, F32Column, Initial, Merge, Role};
use crate::model::bits::Bits;
use std::collections::HashSet;
use std::ops::{ControlFlow, Range};
use topostream_formats::edge::WeightType;
use topostream_formats::{Direction, VertexId};

/// What becomes of means.
#[derive(Clone, Debug, PartialEq)]
pub enum Model {
    /// Heat that spreads from sources.
    Heat {
        /// The step: how much of a vertex's value is renewed in an iteration.
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
        /// The probability of giving up at a vertex.
        abandon: f64,
        /// The vertices with the label.
        seeds: Vec<VertexId>,
    },
}

/// Means of in-neighbours, again and again.
#[derive(Clone, Debug, PartialEq)]
pub struct Averaging {
    /// What becomes of them.
    pub model: Model,
    /// What the weights are, as the store says; without, every edge counts 1.
    pub weights: Option<WeightType>,
    /// When to stop. A tolerance is of the mean change of a vertex (the L1 norm over the number of vertices), as a part
    /// of the largest value of a source.
    pub stop: Stop,
}

/// Places in the declaration.
const VALUE: usize = 0;
const SUM: usize = 1;
/// The sum of the weights that lead to a vertex; at a vertex that is held, the value at which it is.
const NORM: usize = 2;
/// The sources or seeds.
const SEED: usize = 3;
/// Of `f32` weights only: vertices that an edge leads to whose weight is refused.
const REFUSED: usize = 4;

/// Places in a step's scalars.
const KEPT: usize = 0;
const SPREAD: usize = 1;
const GIVEN: usize = 2;

/// Places in totals.
const CHANGE: usize = 0;
const REFUSALS: usize = 1;

/// The largest value at which a vertex may be held: with the largest sum of weights, no sum passes the largest `f32`.
const HELD_MAX: f32 = 2_147_483_648.0;
/// The largest sum of weights: 2^96.
const NORM_MAX: f32 = f32::from_bits((96 + 127) << 23);
const INFINITY: u32 = f32::INFINITY.to_bits();
const NEGATIVE_ZERO: u32 = (-0.0f32).to_bits();

impl Averaging {
    /// Whether seeds stay as they are.
    fn holds(&self) -> bool {
        !matches!(self.model, Model::Adsorption { .. })
    }

    fn is_float(&self) -> bool {
        self.weights == Some(WeightType::F32)
    }

    /// Sources or seeds, and where they begin.
    fn seeded(&self) -> Vec<(VertexId, f32)> {
        match &self.model {
            Model::Heat { sources, .. } | Model::Circuit { sources } => sources.clone(),
            Model::Adsorption { seeds, .. } => seeds.iter().map(|&seed| (seed, 1.0)).collect(),
        }
    }

    /// The largest value there is, whatever its sign: means are never beyond what they are of.
    fn largest(&self) -> f64 {
        self.seeded().iter().fold(0.0, |largest, (_, value)| largest.max(value.abs().into()))
    }

    fn step(&self, graph: &Graph, superstep: u32) -> Step {
        let direction = if graph.has_in_lists { Direction::In } else { Direction::Out };
        let mut scalars = Scalars::default();
        (scalars[KEPT], scalars[SPREAD], scalars[GIVEN]) = match self.model {
            Model::Heat { alpha, .. } => (1.0 - alpha, alpha, 0.0),
            Model::Circuit { .. } => (0.0, 1.0, 0.0),
            Model::Adsorption { inject, abandon, .. } => (0.0, 1.0 - inject - abandon, inject),
        };
        Step::new(superstep, direction, Visit::All).with_scalars(scalars)
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
            if u64::from(vertex.0) >= graph.vertices {
                return Err(format!(
                    "{what} vertex {vertex} does not exist: the graph has {} vertices",
                    graph.vertices
                ));
            }
            if !met.insert(vertex.0) {
                return Err(format!("{what} vertex {vertex} is given twice"));
            }
            if value.is_nan() || value.abs() > HELD_MAX {
                return Err(format!("source vertex {vertex}: {value} must be a number between -2^31 and 2^31"));
            }
        }
        Ok(())
    }

    /// What the first superstep, in which all values are 1, says of a vertex: the sum of its weights. Whether that is
    /// refused.
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

    /// An iteration at a vertex; by how much it changes its value.
    fn iterate(&self, state: &State, step: &Step, vertex: u32) -> f64 {
        let sum = f64::from(state.attributes.f32(SUM).take(vertex));
        let is_seed = state.attributes.bits(SEED).contains(vertex);
        let values = state.attributes.f32(VALUE);
        if self.holds() && is_seed {
            return 0.0;
        }
        let (before, norm) = (f64::from(values.get(vertex)), f64::from(state.attributes.f32(NORM).get(vertex)));
        // As on devices that know no smaller numbers.
        let mean = if norm >= f64::from(f32::MIN_POSITIVE) { sum / norm } else { 0.0 };
        let given = if is_seed { step.scalars[GIVEN] } else { 0.0 };
        let after = (step.scalars[KEPT] * before + step.scalars[SPREAD] * mean + given) as f32;
        values.set(vertex, after);
        (f64::from(after) - before).abs()
    }
}

/// Adds values by weight, along or against edges.
#[doc(hidden)]
pub struct AveragingKernel<'a> {
    value: &'a F32Column,
    sum: &'a F32Column,
    /// Of `f32` weights.
    refused: Option<&'a Bits>,
    weights: Option<WeightType>,
    pull: bool,
}

/// What a list's owner gives each neighbour (push), or has received so far (pull).
#[doc(hidden)]
pub struct Carried {
    list: List,
    given: f32,
    received: f64,
}

impl AveragingKernel<'_> {
    /// A weight by its bits; none where it is refused.
    #[inline(always)]
    fn weight(&self, bits: u32) -> Option<f32> {
        match (self.weights, bits) {
            (None, _) => Some(1.0),
            (Some(WeightType::U32), _) => Some(bits as f32),
            (Some(WeightType::F32), 0..INFINITY) => Some(f32::from_bits(bits)),
            (Some(WeightType::F32), NEGATIVE_ZERO) => Some(0.0),
            (Some(WeightType::F32), _) => None,
        }
    }
}

impl Kernel for AveragingKernel<'_> {
    type Record = Carried;

    #[inline(always)]
    fn open(&self, list: List) -> Option<Carried> {
        let given = if self.pull { 0.0 } else { self.value.get(list.vertex) };
        Some(Carried { list, given, received: 0.0 })
    }

    #[inline(always)]
    fn edge(&self, carried: &mut Carried, neighbour: u32, weight: u32) -> ControlFlow<()> {
        match (self.weight(weight), self.refused) {
            (Some(weight), _) if self.pull => {
                carried.received += f64::from(weight) * f64::from(self.value.get(neighbour));
            }
            (Some(weight), _) => self.sum.add(neighbour, weight * carried.given),
            (None, Some(refused)) => {
                refused.insert(if self.pull { carried.list.vertex } else { neighbour });
            }
            (None, None) => {}
        }
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn prefetch(&self, neighbour: u32) {
        let column = if self.pull { self.value } else { self.sum };
        column.prefetch(neighbour);
    }

    #[inline(always)]
    fn close(&self, carried: Carried) {
        match carried.list {
            _ if !self.pull => {}
            List { vertex, whole: true, .. } => self.sum.set(vertex, carried.received as f32),
            List { vertex, .. } => self.sum.add(vertex, carried.received as f32),
        }
    }
}

impl Algorithm for Averaging {
    type Kernel<'a> = AveragingKernel<'a>;

    fn name(&self) -> &'static str {
        match self.model {
            Model::Heat { .. } => "heat",
            Model::Circuit { .. } => "circuit",
            Model::Adsorption { .. } => "adsorption",
        }
    }

    fn attributes(&self, has_in_lists: bool) -> Vec<Attribute> {
        use AttributeType::{Bit, F32};
        let (value, sum) = if has_in_lists { (Role::Gathered, Role::Own) } else { (Role::ReadOnly, Role::Accumulated) };
        let attribute = |name, of, role, merge| Attribute { name, of, role, merge, initial: Initial::Bits(0) };
        let mut declared = vec![
            Attribute { initial: Initial::Bits(1f32.to_bits()), ..attribute("value", F32, value, Merge::Max) },
            attribute("sum", F32, sum, Merge::Add),
            // Not even read by edges: the role that takes least telling between devices.
            attribute("norm", F32, Role::Own, Merge::Add),
            attribute("seed", Bit, Role::Own, Merge::Or),
        ];
        if self.is_float() {
            declared.push(attribute("refused", Bit, sum, Merge::Or));
        }
        declared
    }

    fn needs_weights(&self) -> bool {
        self.weights.is_some()
    }

    fn parameters(&self) -> Option<Parameters> {
        let parameters = match &self.model {
            Model::Heat { alpha, sources } => Parameters::none().with("alpha", alpha).with_values("sources", sources),
            Model::Circuit { sources } => Parameters::none().with_values("sources", sources),
            Model::Adsorption { inject, abandon, seeds } => {
                Parameters::none().with("inject", inject).with("abandon", abandon).with_vertices("seeds", seeds)
            }
        };
        Some(parameters.with("weights", self.weights).with("stop", self.stop))
    }

    fn visits(&self, has_in_lists: bool) -> Vec<(Direction, Visit)> {
        vec![(if has_in_lists { Direction::In } else { Direction::Out }, Visit::All)]
    }

    fn shader(&self) -> Option<Shader> {
        let text = include_str!("averaging.wgsl");
        let switches = vec![("HELD", self.holds()), ("WEIGHTED", self.weights.is_some()), ("FLOAT", self.is_float())];
        let constants = [("NORM_MAX", NORM_MAX.into()), ("SMALLEST_NORMAL", f32::MIN_POSITIVE.into())];
        Some(Shader::of_program("src/algorithms/averaging/averaging.wgsl", text, switches).with_constants(constants))
    }

    fn check(&self, graph: &Graph) -> Result<(), String> {
        self.check_model()?;
        self.check_seeds(graph)?;
        if let Stop::Tolerance { l1, .. } = self.stop
            && (l1.is_nan() || l1 < 1e-6)
        {
            return Err(format!("tolerance {l1}: must be at least 1e-6, which single precision can tell from none"));
        }
        match (self.weights, graph.weights) {
            (Some(asked), Some(found)) if asked != found => {
                Err(format!("{} was asked for over {asked:?} weights, and the store's are {found:?}", self.name()))
            }
            _ => Ok(()),
        }
    }

    fn seeds(&self) -> Seeds {
        let values = self.seeded().into_iter().flat_map(|(VertexId(vertex), value)| {
            let held = self.holds().then_some(Seed { attribute: NORM, vertex, bits: value.to_bits() });
            held.into_iter().chain([Seed { attribute: SEED, vertex, bits: 1 }])
        });
        Seeds { active: Vec::new(), values: values.collect() }
    }

    fn supersteps(&self) -> Supersteps {
        // The first one is no iteration.
        match self.stop.supersteps() {
            Supersteps::Exactly(iterations) => Supersteps::Exactly(iterations.saturating_add(1)),
            Supersteps::AtMost(iterations) => Supersteps::AtMost(iterations.saturating_add(1)),
            Supersteps::Unknown => Supersteps::Unknown,
        }
    }

    fn first(&self, graph: &Graph, _totals: Scalars) -> Option<Step> {
        (graph.vertices > 0).then(|| self.step(graph, 0))
    }

    fn kernel<'a>(&'a self, state: &'a State, step: &Step) -> AveragingKernel<'a> {
        AveragingKernel {
            value: state.attributes.f32(VALUE),
            sum: state.attributes.f32(SUM),
            refused: self.is_float().then(|| state.attributes.bits(REFUSED)),
            weights: self.weights,
            pull: step.direction == Direction::In,
        }
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

    fn next(&self, graph: &Graph, step: &Step, summary: &Summary) -> Option<Step> {
        // The first superstep is no iteration.
        let done = step.superstep;
        let stop = match self.stop {
            Stop::Iterations(iterations) => done >= iterations,
            Stop::Tolerance { l1, iterations_max } => {
                let small = l1 * self.largest() * graph.vertices as f64;
                done > 0 && summary.totals[CHANGE] <= small || done >= iterations_max
            }
        };
        (!stop && summary.totals[REFUSALS] == 0.0).then(|| self.step(graph, done + 1))
    }

    fn verdict(&self, state: &State) -> Result<(), Refusal> {
        let found = self.is_float().then(|| state.attributes.bits(REFUSED).next_set(0)).flatten();
        let reason = "an edge to it has a weight that is negative, infinite or no number, or all of their weights are more than 2^96 together";
        found.map_or(Ok(()), |vertex| Err(Refusal { vertex: VertexId(vertex as u32), reason: reason.into() }))
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let value = state.attributes.f32(VALUE);
        let name = match self.model {
            Model::Heat { .. } => "temperature",
            Model::Circuit { .. } => "voltage",
            Model::Adsorption { .. } => "mass",
        };
        vec![Answer::f64(name, |vertex| value.get(vertex).into())]
    }
}
