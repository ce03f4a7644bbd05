//! The records of the external sort: an edge as a key, with or without a weight.

use bytemuck::{Pod, Zeroable};
use rdst::RadixKey;
use topostream_formats::WeightType;

/// An edge in the order of its lists: by source, then destination, then weight.
pub trait Record: Pod + RadixKey + Ord + Send + Sync {
    /// Whether there are weights.
    const WEIGHTED: bool;
    /// Builds a record from vertices and a weight's sortable bits.
    fn new(source: u32, dest: u32, weight: u32) -> Self;
    /// Returns source, destination, and the weight's sortable bits.
    fn parts(self) -> (u32, u32, u32);
}

/// An edge without weight: 8 bytes.
pub type Plain = u64;

impl Record for Plain {
    const WEIGHTED: bool = false;

    #[inline]
    fn new(source: u32, dest: u32, _weight: u32) -> Self {
        u64::from(source) << 32 | u64::from(dest)
    }

    #[inline]
    fn parts(self) -> (u32, u32, u32) {
        ((self >> 32) as u32, self as u32, 0)
    }
}

/// An edge with a weight: 12 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct Weighted {
    source: u32,
    dest: u32,
    weight: u32,
}

impl Record for Weighted {
    const WEIGHTED: bool = true;

    #[inline]
    fn new(source: u32, dest: u32, weight: u32) -> Self {
        Self { source, dest, weight }
    }

    #[inline]
    fn parts(self) -> (u32, u32, u32) {
        (self.source, self.dest, self.weight)
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

/// Returns the bits of a weight, mapped such that their unsigned order is the order of weights.
#[inline]
pub fn sortable(bits: u32, of: WeightType) -> u32 {
    match of {
        WeightType::U32 => bits,
        WeightType::F32 if bits >> 31 == 1 => !bits,
        WeightType::F32 => bits | 1 << 31,
    }
}

/// The inverse of [`sortable`].
#[inline]
pub fn unsortable(bits: u32, of: WeightType) -> u32 {
    match of {
        WeightType::U32 => bits,
        WeightType::F32 if bits >> 31 == 1 => bits & !(1 << 31),
        WeightType::F32 => !bits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_sort_as_numbers() {
        let ascending = [f32::NEG_INFINITY, -2.5, -1e-40, -0.0, 0.0, 1e-40, 1.0, 3.5, f32::INFINITY];
        let keys: Vec<u32> = ascending.iter().map(|x| sortable(x.to_bits(), WeightType::F32)).collect();
        assert!(keys.windows(2).all(|pair| pair[0] < pair[1]), "{keys:?}");
        for x in ascending {
            assert_eq!(unsortable(sortable(x.to_bits(), WeightType::F32), WeightType::F32), x.to_bits());
        }
    }

    #[test]
    fn radix_levels_agree_with_order() {
        use rdst::RadixSort;
        let mut state = 1u32;
        let mut draw = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 28
        };
        let records: Vec<Weighted> = (0..5000).map(|_| Weighted::new(draw() << 20, draw(), draw() << 28)).collect();
        let (mut radix, mut compared) = (records.clone(), records);
        radix.radix_sort_unstable();
        compared.sort_unstable();
        assert_eq!(radix, compared);
    }
}
