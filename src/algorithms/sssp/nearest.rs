//! The rules of shortest paths: how a distance and a weight add up, and that the smallest distance wins.

use crate::algorithms::relaxation::Rule;
use crate::algorithms::weights::NEGATIVE_ZERO;
use crate::model::attributes::{U32Column, U64Column};
use crate::model::numbers::TOO_FAR;

/// The distance of a vertex that has not been reached, as an integer of 64 bits or in double precision: above all other
/// distances.
pub(super) const UNREACHED: u64 = u64::MAX;

/// A distance that does not fit in 64 bits.
pub(super) const TOO_FAR_LONG: u64 = u64::MAX - 1;

/// Adds a distance and a weight.
#[inline(always)]
pub(super) fn whole_sum(dist: u32, weight: u32) -> u32 {
    dist.saturating_add(weight).min(TOO_FAR)
}

/// As [`whole_sum`], with 64 bits.
#[inline(always)]
fn long_sum(dist: u64, weight: u64) -> u64 {
    dist.saturating_add(weight).min(TOO_FAR_LONG)
}

/// The sum in single precision, by the bits; `None` if there is no such sum.
#[inline(always)]
pub(super) fn float_sum(dist: u32, weight: u32) -> Option<u32> {
    let weight = match weight {
        0..0x0080_0000 | NEGATIVE_ZERO => 0.0,
        _ => f32::from_bits(weight),
    };
    (weight >= 0.0).then(|| (f32::from_bits(dist) + weight).to_bits())
}

/// Adds a distance in double precision, by its bits, and a weight: unreached if that is infinite. `None` if there is no
/// such sum.
#[inline(always)]
pub(super) fn double_sum(dist: u64, weight: f64) -> Option<u64> {
    let sum = if weight < f64::INFINITY { (f64::from_bits(dist) + weight).to_bits() } else { UNREACHED };
    (weight >= 0.0).then_some(sum)
}

/// The smallest distance of 32 bits wins.
pub struct Nearest;

impl Rule for Nearest {
    type Column = U32Column;

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

/// The smallest distance in double precision wins.
pub struct NearestDouble;

impl Rule for NearestDouble {
    type Column = U64Column;

    const IS_WIDE: bool = true;

    #[inline(always)]
    fn leads_on(dist: u64) -> bool {
        dist != UNREACHED
    }

    #[inline(always)]
    fn extended(dist: u64, weight: u32) -> u64 {
        (f64::from_bits(dist) + f64::from(weight)).to_bits()
    }

    #[inline(always)]
    fn extended_by_float(dist: u64, weight: u32) -> Option<u64> {
        double_sum(dist, f64::from(f32::from_bits(weight)))
    }

    #[inline(always)]
    fn extended_widely(dist: u64, weight: u64) -> Option<u64> {
        double_sum(dist, f64::from_bits(weight))
    }

    #[inline(always)]
    fn overflows(dist: u64) -> bool {
        dist == f64::INFINITY.to_bits()
    }

    #[inline(always)]
    fn improve(dists: &U64Column, vertex: u32, dist: u64) -> bool {
        dists.min(vertex, dist)
    }
}

/// The smallest distance as an integer of 64 bits wins.
pub struct NearestLong;

impl Rule for NearestLong {
    type Column = U64Column;

    const IS_WIDE: bool = true;

    #[inline(always)]
    fn extended(dist: u64, weight: u32) -> u64 {
        long_sum(dist, weight.into())
    }

    #[inline(always)]
    fn extended_by_float(_dist: u64, _weight: u32) -> Option<u64> {
        None
    }

    #[inline(always)]
    fn extended_widely(dist: u64, weight: u64) -> Option<u64> {
        Some(long_sum(dist, weight))
    }

    #[inline(always)]
    fn improve(dists: &U64Column, vertex: u32, dist: u64) -> bool {
        dists.min(vertex, dist)
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

    #[test]
    fn double_sums_are_told_from_what_is_unreached() {
        let sum = |dist: f64, weight: f64| double_sum(dist.to_bits(), weight);
        let of = |sum: Option<u64>| sum.map(f64::from_bits);
        assert_eq!(of(sum(1.5, 2.25)), Some(3.75));
        assert_eq!([sum(0.0, -0.0), sum(0.0, 0.0)], [Some(0); 2]);
        assert_eq!(of(sum(0.0, f32::from_bits(1).into())), Some(f32::from_bits(1).into()));
        assert_eq!(of(sum(1.0, 2f64.powi(-53))), Some(1.0));
        assert_eq!(of(sum(3e38, f32::MAX.into())), Some(3e38 + f64::from(f32::MAX)));
        assert_eq!(sum(1.0, f64::INFINITY), Some(UNREACHED));
        assert!(sum(f64::MAX, f64::MAX).is_some_and(|sum| sum < UNREACHED));
        for weight in [-1.0, -f64::MIN_POSITIVE, -f64::from_bits(1), f64::NEG_INFINITY, f64::NAN, -f64::NAN] {
            assert_eq!(sum(1.0, weight), None, "{weight}");
        }
    }
}
