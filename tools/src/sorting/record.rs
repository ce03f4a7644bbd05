//! The records of the external sort: an edge as a key, without a weight or with one of 4 or 8 bytes.

use bytemuck::{Pod, Zeroable};
use rdst::{RadixKey, RadixSort};
use topostream_formats::WeightType;

/// An edge in the order of its lists: by source, then destination, then weight.
pub trait Record: Pod + RadixKey + Ord + Send + Sync {
    /// Bytes of a weight, 0 without weights.
    const WEIGHT_BYTES: usize;
    /// Builds a record from vertices and a weight's sortable bits.
    fn new(source: u32, dest: u32, weight: u64) -> Self;
    /// Returns source, destination, and the weight's sortable bits.
    fn parts(self) -> (u32, u32, u64);
}

/// An edge without weight: 8 bytes.
pub type Plain = u64;

impl Record for Plain {
    const WEIGHT_BYTES: usize = 0;

    #[inline]
    fn new(source: u32, dest: u32, _weight: u64) -> Self {
        u64::from(source) << 32 | u64::from(dest)
    }

    #[inline]
    fn parts(self) -> (u32, u32, u64) {
        ((self >> 32) as u32, self as u32, 0)
    }
}

/// An edge with a weight of 4 bytes: 12 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct Weighted {
    source: u32,
    dest: u32,
    weight: u32,
}

impl Record for Weighted {
    const WEIGHT_BYTES: usize = 4;

    #[inline]
    fn new(source: u32, dest: u32, weight: u64) -> Self {
        Self { source, dest, weight: weight as u32 }
    }

    #[inline]
    fn parts(self) -> (u32, u32, u64) {
        (self.source, self.dest, self.weight.into())
    }
}

impl RadixKey for Weighted {
    const LEVELS: usize = 12;

    #[inline]
    fn get_level(&self, level: usize) -> u8 {
        let word = [self.weight, self.dest, self.source][level / 4];
        (word >> (8 * (level % 4))) as u8
    }
}

/// An edge with a weight of 8 bytes: 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct Wide {
    source: u32,
    dest: u32,
    weight: u64,
}

impl Record for Wide {
    const WEIGHT_BYTES: usize = 8;

    #[inline]
    fn new(source: u32, dest: u32, weight: u64) -> Self {
        Self { source, dest, weight }
    }

    #[inline]
    fn parts(self) -> (u32, u32, u64) {
        (self.source, self.dest, self.weight)
    }
}

impl RadixKey for Wide {
    const LEVELS: usize = 16;

    #[inline]
    fn get_level(&self, level: usize) -> u8 {
        let ends = u64::from(self.source) << 32 | u64::from(self.dest);
        ([self.weight, ends][level / 8] >> (8 * (level % 8))) as u8
    }
}

/// Sorts records in place, on all cores.
pub fn radix_sort<R: Record>(records: &mut [R]) {
    records.radix_sort_builder().with_low_mem_tuner().sort();
}

/// Returns the bits of a weight, mapped such that their unsigned order is the order of weights.
#[inline]
pub fn sortable(bits: u64, of: WeightType) -> u64 {
    let sign = 1 << (8 * of.bytes() - 1);
    match of {
        WeightType::U32 | WeightType::U64 => bits,
        WeightType::F32 | WeightType::F64 if bits & sign == 0 => bits | sign,
        WeightType::F32 => u64::from(!(bits as u32)),
        WeightType::F64 => !bits,
    }
}

/// The inverse of [`sortable`].
#[inline]
pub fn unsortable(bits: u64, of: WeightType) -> u64 {
    let sign = 1 << (8 * of.bytes() - 1);
    match of {
        WeightType::U32 | WeightType::U64 => bits,
        WeightType::F32 | WeightType::F64 if bits & sign != 0 => bits & !sign,
        WeightType::F32 => u64::from(!(bits as u32)),
        WeightType::F64 => !bits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_sort_as_numbers() {
        let ascending = [f32::NEG_INFINITY, -2.5, -1e-40, -0.0, 0.0, 1e-40, 1.0, 3.5, f32::INFINITY];
        let of = WeightType::F32;
        let keys: Vec<u64> = ascending.iter().map(|x| sortable(x.to_bits().into(), of)).collect();
        assert!(keys.windows(2).all(|pair| pair[0] < pair[1]), "{keys:?}");
        assert!(keys.iter().all(|&key| u32::try_from(key).is_ok()), "{keys:?}");
        for x in ascending {
            assert_eq!(unsortable(sortable(x.to_bits().into(), of), of), u64::from(x.to_bits()));
        }
        let ascending = [f64::NEG_INFINITY, -1e300, -0.1, -5e-324, -0.0, 0.0, 5e-324, 0.1, f64::MAX, f64::INFINITY];
        let keys: Vec<u64> = ascending.iter().map(|x| sortable(x.to_bits(), WeightType::F64)).collect();
        assert!(keys.windows(2).all(|pair| pair[0] < pair[1]), "{keys:?}");
        for x in ascending {
            assert_eq!(unsortable(sortable(x.to_bits(), WeightType::F64), WeightType::F64), x.to_bits());
        }
    }

    #[test]
    fn radix_levels_agree_with_order() {
        let mut state = 1u32;
        let mut draw = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 28
        };
        let records: Vec<Weighted> =
            (0..5000).map(|_| Weighted::new(draw() << 20, draw(), u64::from(draw()) << 28)).collect();
        let (mut radix, mut compared) = (records.clone(), records);
        radix.radix_sort_unstable();
        compared.sort_unstable();
        assert_eq!(radix, compared);
        let records: Vec<Wide> =
            (0..5000).map(|_| Wide::new(draw() << 20, draw(), u64::from(draw()) << 60 | u64::from(draw()))).collect();
        let (mut radix, mut compared) = (records.clone(), records);
        radix.radix_sort_unstable();
        compared.sort_unstable();
        assert_eq!(radix, compared);
    }
}
