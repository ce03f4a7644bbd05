//! Single-source widest paths: `width[v]` is the largest, over all paths along out-edges from the source to `v`, of the
//! smallest weight on the path (Pollack 1960; the bottleneck of a network).
//!
//! Frontier-based like shortest paths: vertices whose width has increased relax their out-edges, and the largest width
//! wins. Nothing is added or rounded, so widths are exact, whatever the type of the weights: each is the source's own
//! or the weight of some edge.
//!
//! - The source has the maximum width: 2^32 - 1 with integer weights, infinity with `f32` weights.
//! - A vertex that is not reached has width 0, and so has one that can be reached over edges of weight 0 only: these
//!   have no capacity and are not followed.
//! - `f32` widths are stored as the bits of non-negative floats, which have the same order. A negative or NaN weight
//!   ends the run with an error if it leaves a vertex that is reached; elsewhere it is ignored. -0 is 0; infinity is a
//!   valid width.
//! - Of repeated edges the widest counts; loops change nothing. In an undirected graph edges can be followed in both
//!   directions.
//!
//! It keeps 4 bytes a vertex, and 1 bit with `f32` weights.

#[cfg(feature = "cli")]
pub mod command;

use crate::algorithms::relaxation::{self, Relaxation, Rule, VALUE, relaxation_wgsl};
use crate::algorithms::weights::{INFINITY, NEGATIVE_ZERO};
use crate::model::Parameters;
use crate::model::algorithm::{
    Algorithm, Answer, Conclusion, Declaration, Graph, Refusal, Seed, Seeds, Shader, SmallSteps, State, Step, Visit,
    Weights,
};
use crate::model::attributes::{AttributeType, Merge, U32Column};
use topostream_formats::edge::WeightType;
use topostream_formats::{Direction, VertexId};

/// Widest paths from one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Widest {
    /// The source.
    pub source: VertexId,
    /// The type of the store's weights.
    pub weights: WeightType,
}

impl Widest {
    fn is_float(&self) -> bool {
        self.weights == WeightType::F32
    }

    fn width_of_source(&self) -> u32 {
        if self.is_float() { INFINITY } else { u32::MAX }
    }
}

/// The bits of a float's width; `None` if it is negative or NaN.
#[inline(always)]
fn float_width(weight: u32) -> Option<u32> {
    match weight {
        0..=INFINITY => Some(weight),
        NEGATIVE_ZERO => Some(0),
        _ => None,
    }
}

/// The largest width wins.
pub struct Broadest;

impl Rule for Broadest {
    type Column = U32Column;

    #[inline(always)]
    fn extended(width: u32, weight: u32) -> u32 {
        width.min(weight)
    }

    #[inline(always)]
    fn extended_by_float(width: u32, weight: u32) -> Option<u32> {
        float_width(weight).map(|weight| width.min(weight))
    }

    #[inline(always)]
    fn improve(widths: &U32Column, vertex: u32, width: u32) -> bool {
        widths.max(vertex, width)
    }
}

impl Algorithm for Widest {
    type Kernel<'a> = Relaxation<'a, Broadest>;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        let attributes = relaxation::attributes(("width", AttributeType::U32, Merge::Max), 0, self.weights);
        let text = concat!(include_str!("widest.wgsl"), relaxation_wgsl!());
        let switches = relaxation::switches(self.weights, true);
        Declaration {
            monotone: true,
            ends_only: true,
            weights: Weights::Narrow,
            parameters: Some(Parameters::none().with("source", self.source.0).with("weights", self.weights)),
            shader: Some(Shader::of_program("src/algorithms/widest/widest.wgsl", text, switches)),
            small_steps: Some(SmallSteps::Lists),
            ..Declaration::new("widest", attributes, vec![(Direction::Out, Visit::Frontier)])
        }
    }

    fn check(&self, graph: &Graph) -> Result<(), String> {
        relaxation::check("widest", self.source, self.weights, graph)
    }

    fn seeds(&self) -> Seeds<'_> {
        let vertex = self.source.0;
        let values = vec![Seed { attribute: VALUE, vertex, bits: self.width_of_source() }];
        Seeds { active: vec![vertex], values, ..Seeds::default() }
    }

    fn kernel<'a>(&'a self, state: &'a State, step: &Step) -> Self::Kernel<'a> {
        Relaxation::traversal(state, step.superstep, self.weights)
    }

    /// The traversed edges are the out-edges of the reached vertices.
    fn conclude(&self, state: &State) -> Result<Conclusion, Refusal> {
        relaxation::check_weights(state, self.weights, "widest paths")?;
        let width = state.attributes.u32(VALUE);
        let traversed_edges = relaxation::traversed_edges(&state.graph, |vertex| width.get(vertex) > 0);
        Ok(Conclusion { traversed_edges: Some(traversed_edges), ..Conclusion::default() })
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let width = state.attributes.u32(VALUE);
        if self.is_float() {
            vec![Answer::f32("width", move |vertex| f32::from_bits(width.get(vertex)))]
        } else {
            vec![Answer::integer("width", move |vertex| Some(width.get(vertex).into()))]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn float_widths_are_of_numbers_from_0_on() {
        let width = |weight: f32| float_width(weight.to_bits()).map(f32::from_bits);
        for weight in [0.0, f32::from_bits(1), 1.5, f32::MAX, f32::INFINITY] {
            assert_eq!(width(weight), Some(weight));
        }
        assert_eq!(width(-0.0).map(f32::to_bits), Some(0));
        for weight in [-1.0, -f32::from_bits(1), f32::NEG_INFINITY, f32::NAN, -f32::NAN] {
            assert_eq!(width(weight), None, "{weight}");
        }
    }
}
