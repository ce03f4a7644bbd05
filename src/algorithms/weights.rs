//! The weights of a store, as most algorithms read them: 32 bits for each edge. The engine runs these over no weights
//! of 64 bits.

use crate::model::algorithm::Graph;
use topostream_formats::edge::WeightType;

/// Infinity, by its bits: the largest value of a float.
pub(super) const INFINITY: u32 = f32::INFINITY.to_bits();
pub(super) const NEGATIVE_ZERO: u32 = (-0.0f32).to_bits();

/// Checks that the weights an algorithm has been set up for match the store's.
///
/// # Errors
/// A sentence for the user.
pub(super) fn check(name: &str, weights: Option<WeightType>, graph: &Graph) -> Result<(), String> {
    match (weights, graph.weights) {
        (Some(asked), Some(found)) if asked != found => {
            Err(format!("{name}: expected {asked:?} weights, the store has {found:?}"))
        }
        _ => Ok(()),
    }
}

/// How an algorithm decodes the weight of an edge.
pub trait Weights {
    /// Decodes a weight from its bits; `None` if it is rejected.
    fn decode(&self, bits: u32) -> Option<f32>;
}

/// Every edge counts 1.
pub struct Ones;

impl Weights for Ones {
    #[inline(always)]
    fn decode(&self, _bits: u32) -> Option<f32> {
        Some(1.0)
    }
}

/// The store's weights, or 1 for every edge if there are none. Infinite and NaN weights are rejected, and negative
/// weights unless `SIGNED`.
pub struct Stored<const SIGNED: bool>(pub(super) Option<WeightType>);

impl<const SIGNED: bool> Weights for Stored<SIGNED> {
    #[inline(always)]
    fn decode(&self, bits: u32) -> Option<f32> {
        match (self.0, bits) {
            (None, _) => Some(1.0),
            (Some(WeightType::U32), _) => Some(bits as f32),
            (Some(WeightType::F32), _) if SIGNED => Some(f32::from_bits(bits)).filter(|weight| weight.is_finite()),
            // One comparison for almost every edge: in one pattern with -0 it would be two.
            (Some(WeightType::F32), 0..INFINITY) => Some(f32::from_bits(bits)),
            (Some(WeightType::F32), NEGATIVE_ZERO) => Some(0.0),
            (Some(WeightType::F32 | WeightType::U64 | WeightType::F64), _) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_rejected_by_sign_only_where_they_must_not_be_negative() {
        let (signed, unsigned) = (Stored::<true>(Some(WeightType::F32)), Stored::<false>(Some(WeightType::F32)));
        for weight in [0.0, -0.0, f32::from_bits(1), 1.5, f32::MAX] {
            assert_eq!([signed.decode(weight.to_bits()), unsigned.decode(weight.to_bits())], [Some(weight); 2]);
        }
        for weight in [-f32::from_bits(1), -1.5, f32::MIN] {
            assert_eq!(signed.decode(weight.to_bits()), Some(weight));
            assert_eq!(unsigned.decode(weight.to_bits()), None);
        }
        for weight in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -f32::NAN] {
            assert_eq!([signed.decode(weight.to_bits()), unsigned.decode(weight.to_bits())], [None; 2], "{weight}");
        }
        assert_eq!(Stored::<false>(Some(WeightType::U32)).decode(u32::MAX), Some(4_294_967_296.0));
        assert_eq!(Stored::<false>(None).decode(u32::MAX), Some(1.0));
    }
}
