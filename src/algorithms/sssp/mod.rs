//! Single-source shortest paths: `distance[v]` is the smallest sum of weights along out-edges from the source to `v`.
//!
//! The algorithm of Bellman (Quarterly of Applied Mathematics 1958) and Ford (RAND P-923, 1956), over frontiers:
//! vertices whose distance has decreased relax their out-edges, and the smallest distance wins. A distance is stored as
//! 32 bits whose order as integers is that of the distances, so that the minimum is one atomic operation, whatever the
//! type of the weights.
//!
//! - Integer weights: distances are exact. Distances up to 2^32 - 3 fit; a vertex that is farther away ends the run
//!   with an error.
//! - `f32` weights: the bits of non-negative floats have the same order as the floats. A distance is the sum from left
//!   to right along the path, each addition rounded to the nearest `f32`; rounding preserves order, so the minimum over
//!   all paths has the same bits in whatever order edges are relaxed, on any device. An edge with weight infinity is
//!   not followed, nor is a path whose sum exceeds the largest `f32`; weights below 2^-126 (subnormal numbers, which
//!   some devices do not support) count as 0. A negative or NaN weight ends the run with an error if it leaves a vertex
//!   that is reached; elsewhere it is ignored.
//!
//! It keeps 4 bytes a vertex, and 1 bit with `f32` weights, and reads the lists of the vertices whose distance has
//! decreased.

#[cfg(feature = "cli")]
pub mod command;
mod delta_stepping;

pub use delta_stepping::DeltaStepping;

use crate::algorithms::relaxation::{self, Relaxation, Rule, VALUE, relaxation_wgsl};
use crate::algorithms::weights::{INFINITY, NEGATIVE_ZERO};
use crate::model::Parameters;
use crate::model::algorithm::{Algorithm, Answer, Graph, Refusal, Seed, Seeds, Shader, State, Step, Visit};
use crate::model::attributes::{Attribute, Merge, U32Column};
use crate::model::numbers::TOO_FAR;
use topostream_formats::edge::WeightType;
use topostream_formats::{Direction, VertexId};

/// Shortest paths from one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sssp {
    /// The source.
    pub source: VertexId,
    /// The type of the store's weights.
    pub weights: WeightType,
}

/// The integer distance of a vertex that has not been reached.
const UNREACHED: u32 = u32::MAX;

impl Sssp {
    fn is_float(&self) -> bool {
        self.weights == WeightType::F32
    }

    fn unreached(&self) -> u32 {
        if self.is_float() { INFINITY } else { UNREACHED }
    }
}

/// Adds a distance and a weight.
#[inline(always)]
fn whole_sum(dist: u32, weight: u32) -> u32 {
    dist.saturating_add(weight).min(TOO_FAR)
}

/// The same for floats, by their bits; `None` if there is no such sum.
#[inline(always)]
fn float_sum(dist: u32, weight: u32) -> Option<u32> {
    let weight = match weight {
        0..0x0080_0000 | NEGATIVE_ZERO => 0.0,
        _ => f32::from_bits(weight),
    };
    (weight >= 0.0).then(|| (f32::from_bits(dist) + weight).to_bits())
}

/// The smallest distance wins.
pub struct Nearest;

impl Rule for Nearest {
    #[inline(always)]
    fn extended(dist: u32, weight: u32) -> u32 {
        whole_sum(dist, weight)
    }

    #[inline(always)]
    fn extended_by_float(dist: u32, weight: u32) -> Option<u32> {
        float_sum(dist, weight)
    }

    #[inline(always)]
    fn improve(dists: &U32Column, vertex: u32, dist: u32) -> bool {
        dists.min(vertex, dist)
    }
}

impl Algorithm for Sssp {
    type Kernel<'a> = Relaxation<'a, Nearest>;

    fn name(&self) -> &'static str {
        "sssp"
    }

    fn attributes(&self, _has_in_lists: bool) -> Vec<Attribute> {
        relaxation::attributes("dist", Merge::Min, self.unreached(), self.weights)
    }

    fn is_monotone(&self) -> bool {
        true
    }

    fn reads_ends_only(&self) -> bool {
        true
    }

    fn needs_weights(&self) -> bool {
        true
    }

    fn check(&self, graph: &Graph) -> Result<(), String> {
        relaxation::check(self.name(), self.source, self.weights, graph)
    }

    fn parameters(&self) -> Option<Parameters> {
        let Self { source, weights } = self;
        Some(Parameters::none().with("source", source.0).with("weights", weights))
    }

    fn visits(&self, _has_in_lists: bool) -> Vec<(Direction, Visit)> {
        vec![(Direction::Out, Visit::Frontier)]
    }

    fn shader(&self) -> Option<Shader> {
        let text = concat!(include_str!("sssp.wgsl"), relaxation_wgsl!(), include_str!("../relaxation/step_next.wgsl"));
        Some(Shader::of_program("src/algorithms/sssp/sssp.wgsl", text, relaxation::switches(self.weights, true)))
    }

    fn seeds(&self) -> Seeds {
        let vertex = self.source.0;
        Seeds { active: vec![vertex], values: vec![Seed { attribute: VALUE, vertex, bits: 0 }] }
    }

    fn kernel<'a>(&'a self, state: &'a State, step: &Step) -> Self::Kernel<'a> {
        Relaxation::traversal(state, step.superstep, self.weights)
    }

    fn verdict(&self, state: &State) -> Result<(), Refusal> {
        if self.is_float() {
            return relaxation::verdict(state, self.weights, "shortest paths");
        }
        let dist = state.attributes.u32(VALUE);
        let too_far = (0..state.graph.vertices).find(|&vertex| dist.get(vertex as u32) == TOO_FAR);
        let Some(vertex) = too_far else { return Ok(()) };
        let reason = format!("its distance is more than {}; use f32 weights (format --weight-type f32)", TOO_FAR - 1);
        Err(Refusal { vertex: VertexId(vertex as u32), reason })
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let dist = state.attributes.u32(VALUE);
        if self.is_float() {
            vec![Answer::f64("distance", move |vertex| f32::from_bits(dist.get(vertex)).into())]
        } else {
            let reached = move |vertex| Some(dist.get(vertex)).filter(|&dist| dist != UNREACHED).map(u64::from);
            vec![Answer::integer("distance", reached)]
        }
    }

    /// Graph500's m: the input edges with both ends in the reached part; the engine counts an undirected edge once.
    fn traversed_edges(&self, state: &State) -> Option<u64> {
        Some(relaxation::traversed_edges(state, self.unreached()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_sums_stop_below_unreached() {
        assert_eq!(whole_sum(3, 4), 7);
        assert_eq!(whole_sum(u32::MAX - 3, 1), u32::MAX - 2);
        for (dist, weight) in [(u32::MAX - 3, 2), (u32::MAX - 3, 3), (TOO_FAR, 0), (TOO_FAR, u32::MAX), (5, u32::MAX)] {
            assert_eq!(whole_sum(dist, weight), TOO_FAR, "{dist} and {weight}");
        }
    }

    #[test]
    fn float_sums_are_of_what_is_a_length() {
        let sum = |dist: f32, weight: f32| float_sum(dist.to_bits(), weight.to_bits()).map(f32::from_bits);
        assert_eq!(sum(1.5, 2.25), Some(3.75));
        assert_eq!(sum(1.5, -0.0), Some(1.5));
        assert_eq!(sum(0.0, -0.0).map(f32::to_bits), Some(0));
        assert_eq!(sum(0.0, f32::from_bits(1)).map(f32::to_bits), Some(0));
        assert_eq!(sum(0.0, f32::MIN_POSITIVE), Some(f32::MIN_POSITIVE));
        assert_eq!(sum(1.0, f32::INFINITY), Some(f32::INFINITY));
        assert_eq!(sum(f32::MAX, f32::MAX), Some(f32::INFINITY));
        for weight in [-1.0, -f32::MIN_POSITIVE, -f32::from_bits(1), f32::NEG_INFINITY, f32::NAN, -f32::NAN] {
            assert_eq!(sum(1.0, weight), None, "{weight}");
        }
    }
}
