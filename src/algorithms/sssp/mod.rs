//! Single-source shortest paths: `distance[v]` is the smallest sum of weights along out-edges from the source to `v`.
//!
//! The algorithm of Bellman (Quarterly of Applied Mathematics 1958) and Ford (RAND P-923, 1956), over frontiers:
//! vertices whose distance has decreased relax their out-edges, and the smallest distance wins. Distances are stored as
//! integers with the same order, so that the minimum is one atomic operation, whatever the type of the weights.
//!
//! - Integer weights: distances are exact. Distances up to 2^32 - 3 fit; a vertex that is farther away ends the run
//!   with an error.
//! - Integer weights of 64 bits: likewise, up to 2^64 - 3; on CPUs.
//! - `f32` weights: the bits of non-negative floats have the same order as the floats. A distance is the sum from left
//!   to right along the path, each addition rounded to the nearest `f64`; rounding preserves order, so the minimum over
//!   all paths has the same bits in whatever order edges are relaxed, on any device. No sum of `f32` weights exceeds
//!   the largest `f64`. An edge with weight infinity is not followed. A negative or NaN weight ends the run with an
//!   error if it leaves a vertex that is reached; elsewhere it is ignored. A GPU needs 64-bit atomics.
//! - `f64` weights: the same, on CPUs. A path whose sum exceeds the largest `f64` ends the run with an error.
//! - `f32` weights, in [single precision](Precision::Single): each addition is rounded to the nearest `f32`, so that
//!   the error grows with the length of the path: a path of 10^6 edges of 0.1 is 100,958.34. Nor is a path followed
//!   whose sum exceeds the largest `f32`: its end counts as unreachable. Weights below 2^-126 (subnormal numbers, which
//!   some devices do not support) count as 0.
//!
//! With a [cutoff](Sssp::cutoff), paths that are longer are not followed: their ends count as unreached.
//!
//! It keeps 4 bytes a vertex with integer weights, 8 with integers of 64 bits, 8 and 1 bit with float weights, 4 and 1
//! bit in single precision, and reads the lists of the vertices whose distance has decreased.

#[cfg(feature = "cli")]
pub mod command;
mod delta_stepping;
mod nearest;
mod tree;
#[cfg(feature = "cli")]
mod width;

pub use delta_stepping::DeltaStepping;
pub use tree::{ShortestPathTree, ShortestPaths};

use crate::algorithms::relaxation::{self, Relaxation, Rule, VALUE, relaxation_wgsl};
use crate::algorithms::weights::INFINITY;
use crate::model::Parameters;
use crate::model::algorithm::{
    Algorithm, Answer, Conclusion, Declaration, Graph, Kernel, List, Refusal, Scalars, Seed, Seeds, Shader, SmallSteps,
    State, Step, Visit, Weights,
};
use crate::model::attributes::{AttributeType, Merge};
use crate::model::bits::Bits;
use crate::model::numbers::TOO_FAR;
use nearest::{Nearest, NearestDouble, NearestLong, TOO_FAR_LONG, UNREACHED};
use std::ops::ControlFlow;
use topostream_formats::edge::WeightType;
use topostream_formats::{Direction, VertexId};

/// Shortest paths from one source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sssp {
    /// The source.
    pub source: VertexId,
    /// The type of the store's weights.
    pub weights: WeightType,
    /// The precision of distances over `f32` weights.
    pub precision: Precision,
    /// The largest distance, from 0 on, if there is a limit: vertices that are farther away count as unreached.
    pub cutoff: Option<f64>,
}

/// The precision of distances over `f32` weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Sums of `f64`: 8 bytes a vertex.
    #[default]
    Double,
    /// Sums of `f32`: 4 bytes a vertex. Errors grow with the length of a path, and what is farther away than the
    /// largest `f32` counts as unreachable.
    Single,
}

/// How distances are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numbers {
    /// Integers of 32 bits.
    Whole,
    /// Integers of 64 bits.
    Long,
    /// The bits of an `f32`.
    Single,
    /// The bits of an `f64`.
    Double,
}

/// The distance of a vertex that has not been reached, as an integer of 32 bits.
const UNREACHED_WHOLE: u32 = u32::MAX;

impl Sssp {
    /// Shortest paths over a store's weights, in double precision where these are floats.
    pub fn new(source: VertexId, weights: WeightType) -> Self {
        Self { source, weights, precision: Precision::default(), cutoff: None }
    }

    /// Sets single precision for distances over float weights.
    #[must_use]
    pub fn in_single(self) -> Self {
        Self { precision: Precision::Single, ..self }
    }

    /// Sets the largest distance.
    #[must_use]
    pub fn within(self, cutoff: f64) -> Self {
        Self { cutoff: Some(cutoff), ..self }
    }

    /// The largest distance within the cutoff, by its bits; above all distances if there is no cutoff.
    fn limit(&self) -> u64 {
        // Without the sign of -0.
        let Some(cutoff) = self.cutoff.map(f64::abs) else { return u64::MAX };
        match self.numbers() {
            Numbers::Whole => u64::from(cutoff as u32),
            Numbers::Long => cutoff as u64,
            Numbers::Single => {
                let nearest = cutoff as f32;
                let below = if f64::from(nearest) > cutoff { nearest.next_down() } else { nearest };
                below.to_bits().into()
            }
            Numbers::Double => cutoff.to_bits(),
        }
    }

    /// The largest distance within the cutoff as the last two integers of every step, low word first.
    fn limit_words(&self) -> [u32; 2] {
        [self.limit() as u32, (self.limit() >> 32) as u32]
    }

    /// The switches of its shader. In a `traversal` the vertices that improve are active next.
    fn switches(&self, traversal: bool) -> Vec<(&'static str, bool)> {
        let mut switches = relaxation::switches(self.weights, traversal);
        switches.push(("CUTOFF", self.cutoff.is_some()));
        switches
    }

    fn parameters(&self) -> Parameters {
        let Self { source, weights, precision, cutoff } = self;
        let mut parameters = Parameters::none().with("source", source.0).with("weights", weights);
        if *weights == WeightType::F32 {
            parameters = parameters.with("precision", precision);
        }
        match cutoff {
            Some(cutoff) => parameters.with("cutoff", cutoff),
            None => parameters,
        }
    }

    fn shader(&self) -> Option<Shader> {
        let (file, text) = match self.numbers() {
            _ if self.weights.is_wide() => return None,
            Numbers::Whole | Numbers::Single => {
                ("src/algorithms/sssp/sssp.wgsl", concat!(include_str!("sssp.wgsl"), relaxation_wgsl!()))
            }
            Numbers::Long | Numbers::Double => {
                ("src/algorithms/sssp/double.wgsl", concat!(include_str!("double.wgsl"), relaxation_wgsl!()))
            }
        };
        Some(Shader::of_program(file, text, self.switches(true)))
    }

    /// Checks that integer distances are not too large for their type.
    fn check_distances(&self, state: &State) -> Result<(), Refusal> {
        let mut vertices = (0..state.graph.vertices).map(|vertex| vertex as u32);
        let (vertex, largest, remedy) = match self.numbers() {
            Numbers::Long => {
                let dist = state.attributes.u64(VALUE);
                let vertex = vertices.find(|&vertex| dist.get(vertex) == TOO_FAR_LONG);
                (vertex, TOO_FAR_LONG - 1, "f64 weights (format --weight-type f64)")
            }
            _ => {
                let dist = state.attributes.u32(VALUE);
                let vertex = vertices.find(|&vertex| dist.get(vertex) == TOO_FAR);
                (vertex, u64::from(TOO_FAR) - 1, "weights of 64 bits (format --weight-type u64)")
            }
        };
        Refusal::of(vertex, || format!("its distance is more than {largest}; use {remedy}"))
    }

    fn numbers(&self) -> Numbers {
        match (self.weights, self.precision) {
            (WeightType::U32, _) => Numbers::Whole,
            (WeightType::U64, _) => Numbers::Long,
            (WeightType::F32, Precision::Single) => Numbers::Single,
            (WeightType::F32, Precision::Double) | (WeightType::F64, _) => Numbers::Double,
        }
    }

    /// Returns whether a vertex has been reached.
    fn reached(self, state: &State) -> impl Fn(u32) -> bool + Sync {
        let numbers = self.numbers();
        move |vertex| match numbers {
            Numbers::Whole => state.attributes.u32(VALUE).get(vertex) != UNREACHED_WHOLE,
            Numbers::Single => state.attributes.u32(VALUE).get(vertex) != INFINITY,
            Numbers::Long | Numbers::Double => state.attributes.u64(VALUE).get(vertex) != UNREACHED,
        }
    }

    /// The kernel of a superstep of a traversal, or one that adds the vertices whose distance has decreased to a set.
    fn relaxing<'a>(&self, state: &'a State, superstep: u32, pending: Option<&'a Bits>) -> Relaxing<'a> {
        fn of<'a, R: Rule>(
            state: &'a State,
            superstep: u32,
            pending: Option<&'a Bits>,
            weights: WeightType,
        ) -> Relaxation<'a, R> {
            match pending {
                Some(pending) => Relaxation::collecting(state, pending, weights),
                None => Relaxation::traversal(state, superstep, weights),
            }
        }
        match self.numbers() {
            Numbers::Whole | Numbers::Single => {
                Relaxing::Word(of(state, superstep, pending, self.weights).within(self.limit() as u32))
            }
            Numbers::Long => Relaxing::Long(of(state, superstep, pending, self.weights).within(self.limit())),
            Numbers::Double => Relaxing::Double(of(state, superstep, pending, self.weights).within(self.limit())),
        }
    }
}

/// The edge function, for distances of 32 or of 64 bits.
pub enum Relaxing<'a> {
    /// Integers, or single precision.
    Word(Relaxation<'a, Nearest>),
    /// Integers of 64 bits.
    Long(Relaxation<'a, NearestLong>),
    /// Double precision.
    Double(Relaxation<'a, NearestDouble>),
}

impl Kernel for Relaxing<'_> {
    /// The distance of the list's vertex.
    type Record = u64;

    const IS_WIDE: bool = true;

    #[inline(always)]
    fn open(&self, list: List) -> Option<u64> {
        match self {
            Self::Word(kernel) => kernel.open(list).map(u64::from),
            Self::Long(kernel) => kernel.open(list),
            Self::Double(kernel) => kernel.open(list),
        }
    }

    #[inline(always)]
    fn edge(&self, dist: &mut u64, neighbour: u32, weight: u32) -> ControlFlow<()> {
        match self {
            Self::Word(kernel) => kernel.edge(&mut (*dist as u32), neighbour, weight),
            Self::Long(kernel) => kernel.edge(dist, neighbour, weight),
            Self::Double(kernel) => kernel.edge(dist, neighbour, weight),
        }
    }

    #[inline(always)]
    fn wide_edge(&self, dist: &mut u64, neighbour: u32, weight: u64) -> ControlFlow<()> {
        match self {
            Self::Word(kernel) => kernel.wide_edge(&mut (*dist as u32), neighbour, weight),
            Self::Long(kernel) => kernel.wide_edge(dist, neighbour, weight),
            Self::Double(kernel) => kernel.wide_edge(dist, neighbour, weight),
        }
    }
}

impl Algorithm for Sssp {
    type Kernel<'a> = Relaxing<'a>;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        let (of, unreached) = match self.numbers() {
            Numbers::Whole => (AttributeType::U32, UNREACHED_WHOLE),
            Numbers::Single => (AttributeType::U32, INFINITY),
            // Of both halves.
            Numbers::Long | Numbers::Double => (AttributeType::U64, u32::MAX),
        };
        let attributes = relaxation::attributes(("dist", of, Merge::Min), unreached, self.weights);
        Declaration {
            monotone: true,
            ends_only: true,
            weights: Weights::Wide,
            parameters: Some(self.parameters()),
            shader: self.shader(),
            small_steps: Some(SmallSteps::Lists),
            ..Declaration::new("sssp", attributes, vec![(Direction::Out, Visit::Frontier)])
        }
    }

    fn check(&self, graph: &Graph) -> Result<(), String> {
        if (self.weights, self.precision) == (WeightType::F64, Precision::Single) {
            return Err("single precision (--single) needs f32 weights; the store has f64".into());
        }
        if let Some(cutoff) = self.cutoff.filter(|cutoff| cutoff.is_nan() || *cutoff < 0.0) {
            return Err(format!("cutoff {cutoff}: expected a distance, a number from 0 on"));
        }
        relaxation::check("sssp", self.source, self.weights, graph)
    }

    fn seeds(&self) -> Seeds<'_> {
        let vertex = self.source.0;
        Seeds { active: vec![vertex], values: vec![Seed { attribute: VALUE, vertex, bits: 0 }], ..Seeds::default() }
    }

    fn first(&self, _graph: &Graph, _totals: Scalars) -> Option<Step> {
        let [low, high] = self.limit_words();
        Some(Step::new(0, Direction::Out, Visit::Frontier).with_integers([0, 0, low, high]))
    }

    fn kernel<'a>(&'a self, state: &'a State, step: &Step) -> Self::Kernel<'a> {
        self.relaxing(state, step.superstep, None)
    }

    /// The traversed edges are Graph500's m: the input edges with both ends in the reached part; the engine counts an
    /// undirected edge once. With a cutoff, edges lead out of that part.
    fn conclude(&self, state: &State) -> Result<Conclusion, Refusal> {
        if self.weights.is_float() {
            relaxation::check_weights(state, self.weights, "shortest paths")?;
        } else {
            self.check_distances(state)?;
        }
        let traversed = || relaxation::traversed_edges(&state.graph, self.reached(state));
        Ok(Conclusion { traversed_edges: self.cutoff.is_none().then(traversed), ..Conclusion::default() })
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let attributes = &state.attributes;
        vec![match self.numbers() {
            Numbers::Whole => {
                let dist = attributes.u32(VALUE);
                let reached = move |vertex| Some(dist.get(vertex)).filter(|&dist| dist != UNREACHED_WHOLE);
                Answer::integer("distance", move |vertex| reached(vertex).map(u64::from))
            }
            Numbers::Long => {
                let dist = attributes.u64(VALUE);
                Answer::integer("distance", move |vertex| Some(dist.get(vertex)).filter(|&dist| dist != UNREACHED))
            }
            Numbers::Single => {
                let dist = attributes.u32(VALUE);
                Answer::f64("distance", move |vertex| f32::from_bits(dist.get(vertex)).into())
            }
            Numbers::Double => {
                let dist = attributes.u64(VALUE);
                Answer::f64("distance", move |vertex| match dist.get(vertex) {
                    UNREACHED => f64::INFINITY,
                    dist => f64::from_bits(dist),
                })
            }
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_the_largest_distances_within() {
        let of = |weights, cutoff| Sssp::new(VertexId(0), weights).within(cutoff);
        for (cutoff, limit) in [(0.0, 0), (-0.0, 0), (7.9, 7), (1e300, u32::MAX), (f64::INFINITY, u32::MAX)] {
            assert_eq!(of(WeightType::U32, cutoff).limit(), u64::from(limit), "{cutoff}");
        }
        let tenth = f32::from_bits(0.1f32.to_bits() - 1);
        for (cutoff, limit) in [(0.1, tenth), (1.5, 1.5), (1e300, f32::MAX), (f64::INFINITY, f32::INFINITY)] {
            assert_eq!(of(WeightType::F32, cutoff).in_single().limit(), u64::from(limit.to_bits()), "{cutoff}");
        }
        assert_eq!(of(WeightType::F32, 0.1).limit(), 0.1f64.to_bits());
        assert_eq!(of(WeightType::F32, 0.1).limit_words(), [0x9999_999a, 0x3fb9_9999]);
        assert_eq!(Sssp::new(VertexId(0), WeightType::U32).limit(), u64::MAX);
    }
}
