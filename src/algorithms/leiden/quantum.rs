//! Weights as whole numbers, so that sums are the same in any order.

use topostream_formats::edge::WeightType;

/// How the bits of a weight become a whole number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantum {
    /// Every edge counts 1.
    One,
    /// Whole numbers, divided by two to the power of this, and rounded.
    Whole(u32),
    /// Numbers of this precision, times two to the power of this, and rounded.
    Real(WeightType, i32),
}

impl Quantum {
    /// Such that the sum of this many weights, of which the largest has these [`ordered`] bits, is below two to the
    /// power of `total_bits`. Whole numbers stay what they are if they can.
    pub fn of(weights: Option<WeightType>, largest: u64, edges: u64, total_bits: u32) -> Self {
        let Some(weights) = weights else { return Self::One };
        // The largest may be rounded up.
        let room = total_bits as i32 - (u64::BITS - edges.leading_zeros()) as i32 - 1;
        match weights {
            WeightType::U32 | WeightType::U64 => {
                let bits = (u64::BITS - largest.leading_zeros()) as i32;
                Self::Whole((bits - room).max(0) as u32)
            }
            WeightType::F32 | WeightType::F64 => {
                let value = real(weights, largest);
                // A power of two above the largest.
                let above = if value > 0.0 { value.log2().floor() as i32 + 1 } else { 0 };
                Self::Real(weights, room - above)
            }
        }
    }

    /// The whole number of a weight's bits. Only 0 becomes 0.
    #[inline(always)]
    pub fn whole(self, bits: u64) -> u64 {
        match self {
            Self::One => 1,
            Self::Whole(0) => bits,
            Self::Whole(shift) => {
                let rounded = (u128::from(bits) + (1 << (shift - 1))) >> shift;
                (rounded as u64).max(u64::from(bits > 0))
            }
            Self::Real(weights, exponent) => {
                let value = real(weights, bits);
                // Two steps: a power of two may be beyond the range where the product is not.
                let scaled = value * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2);
                (scaled.round() as u64).max(u64::from(value > 0.0))
            }
        }
    }

    /// What a whole number stands for.
    pub fn value(self, whole: f64) -> f64 {
        match self {
            Self::One => whole,
            Self::Whole(shift) => whole * 2f64.powi(shift as i32),
            Self::Real(_, exponent) => whole * 2f64.powi(-(exponent / 2)) * 2f64.powi(exponent / 2 - exponent),
        }
    }
}

fn real(weights: WeightType, bits: u64) -> f64 {
    match weights {
        WeightType::F32 => f32::from_bits(bits as u32).into(),
        _ => f64::from_bits(bits),
    }
}

/// The bits of a weight if it is a finite number of at least 0: such bits are in the order of the numbers.
#[inline(always)]
pub fn ordered(weights: WeightType, bits: u64) -> Option<u64> {
    match weights {
        WeightType::U32 | WeightType::U64 => Some(bits),
        WeightType::F32 | WeightType::F64 => {
            let value = real(weights, bits);
            (value >= 0.0 && value.is_finite()).then_some(if value == 0.0 { 0 } else { bits })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_stay_where_their_sum_fits() {
        let small = Quantum::of(Some(WeightType::U32), 255, 1 << 20, 46);
        assert_eq!((small, small.whole(7)), (Quantum::Whole(0), 7));
        let large = Quantum::of(Some(WeightType::U64), u64::MAX, 1 << 10, 46);
        assert!(large.whole(u64::MAX) << 10 < 1 << 46 && large.whole(1) == 1 && large.whole(0) == 0);
    }

    #[test]
    fn real_numbers_keep_their_ratios() {
        for scale in [1e-30f32, 1.0, 1e30] {
            let quantum = Quantum::of(Some(WeightType::F32), u64::from((3.0 * scale).to_bits()), 1000, 46);
            let [one, three] = [scale, 3.0 * scale].map(|value| quantum.whole(value.to_bits().into()));
            assert!(three * 1000 < 1 << 46 && (three as f64 / one as f64 - 3.0).abs() < 1e-6, "{one} {three}");
            assert!((quantum.value(one as f64) / f64::from(scale) - 1.0).abs() < 1e-6);
        }
        let tiny = Quantum::of(Some(WeightType::F64), 1f64.to_bits(), 1000, 46);
        assert_eq!((tiny.whole(1e-300f64.to_bits()), tiny.whole(0)), (1, 0));
    }

    #[test]
    fn what_is_no_weight_is_told() {
        assert_eq!(ordered(WeightType::F32, (-0.0f32).to_bits().into()), Some(0));
        for value in [-1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(ordered(WeightType::F64, value.to_bits()), None);
        }
    }
}
