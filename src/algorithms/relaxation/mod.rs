//! Code shared by the algorithms that relax weighted edges ([`Sssp`](super::Sssp),
//! [`DeltaStepping`](super::DeltaStepping), [`Widest`](super::Widest)): a 32-bit value for every vertex, whose order as
//! integers is that of the distances or widths, whatever the type of the weights; and the set of vertices with an
//! incoming edge whose `f32` weight is negative or NaN.

use crate::algorithms::bfs::check_sources;
use crate::model::algorithm::{Graph, Refusal, State};
use crate::model::attributes::{Attribute, AttributeType, Initial, Merge, Role};
use crate::model::bits::Bits;
use topostream_formats::VertexId;
use topostream_formats::edge::WeightType;

/// Indices of the declared attributes.
pub(super) const VALUE: usize = 0;
/// With `f32` weights only.
const REFUSED: usize = 1;

/// Infinity, by its bits: the largest value of a float.
pub(super) const INFINITY: u32 = f32::INFINITY.to_bits();
pub(super) const NEGATIVE_ZERO: u32 = (-0.0f32).to_bits();

/// Checks that the source exists and that the weights are those of the store.
pub(super) fn check(name: &str, source: VertexId, weights: WeightType, graph: &Graph) -> Result<(), String> {
    check_sources(&[source], graph)?;
    match graph.weights {
        Some(found) if found != weights => {
            Err(format!("{name} was asked for over {weights:?} weights, and the store's are {found:?}"))
        }
        _ => Ok(()),
    }
}

/// The value and, with `f32` weights, the set of vertices with a rejected weight.
pub(super) fn attributes(name: &'static str, merge: Merge, first: u32, weights: WeightType) -> Vec<Attribute> {
    let (of, role, initial) = (AttributeType::U32, Role::Writable, Initial::Bits(first));
    let value = Attribute { name, of, role, merge, initial };
    let (of, role, initial) = (AttributeType::Bit, Role::Accumulated, Initial::Bits(0));
    let refused = Attribute { name: "refused", of, role, merge: Merge::Or, initial };
    if weights == WeightType::F32 { vec![value, refused] } else { vec![value] }
}

/// The set of vertices with a rejected weight, if weights are `f32`.
pub(super) fn refused(state: &State, weights: WeightType) -> Option<&Bits> {
    (weights == WeightType::F32).then(|| state.attributes.bits(REFUSED))
}

/// Returns an error if a vertex is in that set; `what` names the computed values, in the plural.
pub(super) fn verdict(state: &State, weights: WeightType, what: &str) -> Result<(), Refusal> {
    let Some(vertex) = refused(state, weights).and_then(|refused| refused.next_set(0)) else { return Ok(()) };
    let reason =
        format!("an edge to it has a weight that is negative or no number; {what} are found over weights from 0 on");
    Err(Refusal { vertex: VertexId(vertex as u32), reason })
}
