//! Random edge weights.

use std::fmt;
use std::ops::Range;

use topostream_formats::{Error, Result, WeightType};

use super::random::{Stream, below};

/// The weights' purpose among a seed's streams; the generators' own purposes are smaller.
const WEIGHTS: u64 = 1 << 32;

/// How the edges of a generated graph are weighted: uniformly over a range, each by its own number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RandomWeights {
    /// Integers, both ends included. Zero is allowed for algorithms that accept it.
    U32 {
        /// The smallest weight.
        min: u32,
        /// The largest weight.
        max: u32,
    },
    /// Real numbers, both ends included: 2^32 evenly spaced values, rounded to the nearest `f32`.
    F32 {
        /// The smallest weight; finite.
        min: f32,
        /// The largest weight; finite.
        max: f32,
    },
}

impl RandomWeights {
    /// The type of these weights.
    pub fn weight_type(self) -> WeightType {
        match self {
            Self::U32 { .. } => WeightType::U32,
            Self::F32 { .. } => WeightType::F32,
        }
    }

    /// Refuses an empty range, and ends that are not finite.
    pub(super) fn check(self) -> Result<()> {
        let valid = match self {
            Self::U32 { min, max } => min <= max,
            Self::F32 { min, max } => min.is_finite() && max.is_finite() && min <= max,
        };
        if valid {
            return Ok(());
        }
        Err(Error::Invalid(format!("{self}: the smallest weight must not be above the largest, and both finite")))
    }

    /// Returns the weight that 64 random bits choose, as an [`Edge`](topostream_formats::Edge) carries it.
    #[inline]
    fn pick(self, word: u64) -> u32 {
        match self {
            Self::U32 { min, max } => min + below(u64::from(max - min) + 1, word) as u32,
            Self::F32 { min, max } => {
                let at = (word >> 32) as f64 / f64::from(u32::MAX);
                let weight = f64::from(min) * (1.0 - at) + f64::from(max) * at;
                (weight as f32).clamp(min, max).to_bits()
            }
        }
    }
}

impl fmt::Display for RandomWeights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::U32 { min, max } => write!(f, "u32 weights {min} to {max}"),
            Self::F32 { min, max } => write!(f, "f32 weights {min} to {max}"),
        }
    }
}

/// The weights of a graph: none, or a range and its stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weights {
    range: Option<RandomWeights>,
    stream: Stream,
}

impl Weights {
    /// Returns the weights of the graph with this seed.
    ///
    /// # Errors
    /// `Invalid` if the range is empty or not finite.
    pub(super) fn new(range: Option<RandomWeights>, seed: u64) -> Result<Self> {
        range.map_or(Ok(()), RandomWeights::check)?;
        Ok(Self { range, stream: Stream::new(seed, WEIGHTS) })
    }

    /// The type, for the source's info.
    pub(super) fn weight_type(&self) -> Option<WeightType> {
        self.range.map(RandomWeights::weight_type)
    }

    /// The part of a graph's name about its weights, to be appended.
    pub(super) fn suffix(&self) -> String {
        self.range.map_or_else(String::new, |range| format!(", {range}"))
    }

    /// Replaces the contents of `weights` with the weights of the edges with these numbers; with nothing without
    /// weights.
    pub(super) fn fill(&self, numbers: Range<u64>, weights: &mut Vec<u32>) {
        weights.clear();
        if let Some(range) = self.range {
            weights.extend(numbers.map(|index| range.pick(self.stream.word(index))));
        }
    }

    /// Returns the weight of edge number `index`; 0 without weights.
    #[inline]
    pub(super) fn at(&self, index: u64) -> u32 {
        self.range.map_or(0, |range| range.pick(self.stream.word(index)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extreme_words_give_both_ends() {
        for (min, max) in [(0, 0), (1, 255), (0, u32::MAX), (u32::MAX, u32::MAX)] {
            let range = RandomWeights::U32 { min, max };
            assert_eq!((range.pick(0), range.pick(u64::MAX)), (min, max));
        }
        for (min, max) in [(0.0, 1.0), (-1e30, 1.0), (f32::MIN, f32::MAX), (2.5, 2.5)] {
            let range = RandomWeights::F32 { min, max };
            let ends = (f32::from_bits(range.pick(0)), f32::from_bits(range.pick(u64::MAX)));
            assert_eq!(ends, (min, max));
        }
    }

    #[test]
    fn bad_ranges_are_refused() {
        let (nan, inf) = (f32::NAN, f32::INFINITY);
        assert!(RandomWeights::U32 { min: 2, max: 1 }.check().is_err());
        for (min, max) in [(2.0, 1.0), (nan, 1.0), (0.0, nan), (0.0, inf), (-inf, 0.0)] {
            assert!(RandomWeights::F32 { min, max }.check().is_err(), "{min} to {max}");
        }
    }
}
