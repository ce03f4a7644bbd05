//! Distributions: how many values lie in each of a few ranges.
//!
//! Values are passed twice: the first pass finds their [`Extent`], which decides the ranges, and the second one counts.
//! Both are done part by part, by several threads, and added up.

use serde::{Deserialize, Serialize};

/// Ranges of about this number are shown.
const BINS: u32 = 48;
/// Integers up to this many are counted one by one.
const SINGLE_MAX: f64 = 64.0;
/// From this ratio of the largest to the mean value on, ranges grow with their values.
const SKEWED: f64 = 8.0;
/// Bits of the mantissa of a double.
const MANTISSA_BITS: i32 = 52;

/// How many values lie in each of a few ranges.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// The name of the values: a column, or "degree".
    pub of: String,
    /// What has them, in the plural: vertices, or groups of vertices.
    pub things: String,
    /// Whether all values are integers.
    pub integers: bool,
    /// Whether ranges grow with their values.
    pub logarithmic: bool,
    /// The ranges that are not empty, ascending. With growing ranges, zeros are in none of them.
    pub bins: Vec<Bin>,
    /// Things with value 0, if ranges grow.
    pub zeros: u64,
    /// Things without a value.
    pub none: u64,
    /// The number of values, zeros included.
    pub count: u64,
    /// The least value; 0 if there is none.
    pub min: f64,
    /// The largest value; 0 if there is none.
    pub max: f64,
    /// The mean value; 0 if there is none.
    pub mean: f64,
}

/// The values in a range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bin {
    /// The least value of the range.
    pub from: f64,
    /// The end of the range, which is not in it, except in the last range of numbers that are not integers.
    pub to: f64,
    /// The number of values.
    pub count: u64,
}

/// What is known of values before they are counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    count: u64,
    none: u64,
    zeros: u64,
    sum: f64,
    min: f64,
    max: f64,
    /// The least value above 0.
    least: f64,
}

impl Default for Extent {
    fn default() -> Self {
        let (least, most) = (f64::INFINITY, f64::NEG_INFINITY);
        Self { count: 0, none: 0, zeros: 0, sum: 0.0, min: least, max: most, least }
    }
}

impl Extent {
    /// Adds a value; `None` and values that are not finite count as none.
    #[inline]
    pub fn add(&mut self, value: Option<f64>) {
        let Some(value) = value.filter(|value| value.is_finite()) else {
            self.none += 1;
            return;
        };
        self.count += 1;
        self.zeros += u64::from(value == 0.0);
        self.sum += value;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        if value > 0.0 {
            self.least = self.least.min(value);
        }
    }

    /// The extent of this one's values and the other's.
    pub fn with(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            none: self.none + other.none,
            zeros: self.zeros + other.zeros,
            sum: self.sum + other.sum,
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            least: self.least.min(other.least),
        }
    }

    /// Ranges for these values: each integer if there are few, otherwise ranges of equal width, or ranges that grow if
    /// most values are far below the largest.
    pub fn ranges(&self, integers: bool) -> Ranges {
        let mean = self.sum / self.count.max(1) as f64;
        if self.count == 0 || self.min < 0.0 || self.max <= SKEWED * mean || integers && self.max < SINGLE_MAX {
            return self.equal(integers);
        }
        self.growing(BINS)
    }

    /// Ranges that grow with their values, for values of at least 0: at most about `bins`.
    pub fn growing(&self, bins: u32) -> Ranges {
        if !(self.least > 0.0 && self.least <= self.max) {
            return Ranges { kind: Kind::Growing { shift: MANTISSA_BITS, base: 0 }, bins: 1 };
        }
        let octaves = (self.max.log2() - self.least.log2()).max(1.0 / 32.0);
        // Each octave is divided into a power of two of ranges, or a power of two of octaves is one range.
        let each = (f64::from(bins) / octaves).log2().floor().clamp(-4.0, 5.0) as i32;
        let shift = MANTISSA_BITS - each;
        let base = self.least.to_bits() >> shift;
        Ranges { kind: Kind::Growing { shift, base }, bins: ((self.max.to_bits() >> shift) - base + 1) as usize }
    }

    fn equal(&self, integers: bool) -> Ranges {
        let (from, span) = match (self.count, integers) {
            (0, _) => (0.0, 1.0),
            (_, true) => (self.min, self.max - self.min + 1.0),
            (_, false) if self.max > self.min => (self.min, (self.max - self.min).min(f64::MAX)),
            (_, false) => (self.min, self.min.abs().max(1.0)),
        };
        let (width, bins) = match integers {
            true => {
                let width = if span <= SINGLE_MAX { 1.0 } else { (span / f64::from(BINS)).ceil() };
                (width, (span / width).ceil())
            }
            false => (span / f64::from(BINS), f64::from(BINS)),
        };
        Ranges { kind: Kind::Equal { from, width }, bins: bins.max(1.0) as usize }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Equal {
        from: f64,
        width: f64,
    },
    /// The leading bits of a positive double, less `base`: an exponent and part of the mantissa.
    Growing {
        shift: i32,
        base: u64,
    },
}

/// The ranges that values are counted in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranges {
    kind: Kind,
    bins: usize,
}

impl Ranges {
    /// Counts of nothing.
    pub fn counts(&self) -> Vec<u64> {
        vec![0; self.bins]
    }

    /// Counts a value; values outside of the extent, and zeros among growing ranges, are not counted.
    #[inline]
    pub fn count(&self, value: Option<f64>, counts: &mut [u64]) {
        let Some(value) = value.filter(|value| value.is_finite()) else { return };
        let place = match self.kind {
            Kind::Equal { from, width } => ((value - from) / width) as usize,
            Kind::Growing { .. } if value <= 0.0 => return,
            Kind::Growing { shift, base } => ((value.to_bits() >> shift).saturating_sub(base)) as usize,
        };
        // The largest value is the end of the last range.
        counts[place.min(self.bins - 1)] += 1;
    }

    fn edge(&self, number: usize) -> f64 {
        match self.kind {
            Kind::Equal { from, width } => from + width * number as f64,
            Kind::Growing { shift, base } => f64::from_bits((base + number as u64) << shift),
        }
    }

    /// The distribution of values with this extent and these counts. `of` is the name of the values, `things` what has
    /// them.
    pub fn distribution(
        &self,
        extent: &Extent,
        counts: &[u64],
        (of, things): (&str, &str),
        integers: bool,
    ) -> Distribution {
        let logarithmic = matches!(self.kind, Kind::Growing { .. });
        let bin = |(number, &count): (usize, &u64)| {
            let (from, to) = (self.edge(number), self.edge(number + 1));
            // Only integers lie in the range.
            let (from, to) = if integers { (from.ceil(), to.ceil()) } else { (from, to) };
            Bin { from, to, count }
        };
        let bins = counts.iter().enumerate().filter(|(_, count)| **count > 0).map(bin).collect();
        let some = |value: f64| if extent.count == 0 { 0.0 } else { value };
        Distribution {
            of: of.into(),
            things: things.into(),
            integers,
            logarithmic,
            bins,
            zeros: if logarithmic { extent.zeros } else { 0 },
            none: extent.none,
            count: extent.count,
            min: some(extent.min),
            max: some(extent.max),
            // Large numbers may have an infinite sum.
            mean: (some(extent.sum) / extent.count.max(1) as f64).clamp(f64::MIN, f64::MAX),
        }
    }
}

/// The ranges of degrees: eight for each doubling, or more.
const DEGREE_BINS: u32 = 8 * 32;

impl Distribution {
    /// The distribution of degrees.
    pub fn of_degrees(degrees: &[u32]) -> Self {
        let mut extent = Extent::default();
        degrees.iter().for_each(|&degree| extent.add(Some(degree.into())));
        let ranges = extent.growing(DEGREE_BINS);
        let mut counts = ranges.counts();
        degrees.iter().for_each(|&degree| ranges.count(Some(degree.into()), &mut counts));
        ranges.distribution(&extent, &counts, ("degree", "vertices"), true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn distribution(values: &[Option<f64>], integers: bool) -> Distribution {
        // In two parts, as by two threads.
        let extent = |part: &[Option<f64>]| {
            let mut extent = Extent::default();
            part.iter().for_each(|value| extent.add(*value));
            extent
        };
        let (left, right) = values.split_at(values.len() / 2);
        let extent = extent(left).with(extent(right));
        let ranges = extent.ranges(integers);
        let mut counts = ranges.counts();
        values.iter().for_each(|value| ranges.count(*value, &mut counts));
        ranges.distribution(&extent, &counts, ("value", "vertices"), integers)
    }

    /// Every value is in the range that the lookup returns, and in no other, by the ends of all ranges.
    fn holds(found: &Distribution, values: &[Option<f64>]) {
        let finite: Vec<f64> = values.iter().flatten().copied().filter(|value| value.is_finite()).collect();
        assert_eq!((found.count, found.none), (finite.len() as u64, (values.len() - finite.len()) as u64));
        let counted = |bin: &Bin, last: bool| {
            let within = |value: &&f64| {
                let shown = !found.logarithmic || **value > 0.0;
                shown && bin.from <= **value && (**value < bin.to || last && **value <= bin.to)
            };
            finite.iter().filter(within).count() as u64
        };
        let bins = found.bins.len();
        for (number, bin) in found.bins.iter().enumerate() {
            // Sums of widths are rounded.
            let near =
                |edge: f64| finite.iter().any(|&value| value != edge && (value - edge).abs() < 1e-9 * edge.abs());
            if !(near(bin.from) || near(bin.to)) {
                assert_eq!(bin.count, counted(bin, number + 1 == bins && !found.integers), "{bin:?} of {found:?}");
            }
        }
        let zeros = finite.iter().filter(|value| **value == 0.0).count() as u64;
        assert_eq!(found.zeros, if found.logarithmic { zeros } else { 0 });
        assert_eq!(found.bins.iter().map(|bin| bin.count).sum::<u64>() + found.zeros, found.count);
        assert!(found.bins.windows(2).all(|pair| pair[0].to <= pair[1].from), "{found:?}");
        assert!(found.bins.len() <= 2 * SINGLE_MAX as usize, "{} ranges", found.bins.len());
    }

    #[test]
    fn levels_are_counted_one_by_one() {
        let values = [Some(0.0), Some(1.0), Some(1.0), Some(3.0), None, Some(f64::INFINITY)];
        let found = distribution(&values, true);
        let expected = [(0.0, 1.0, 1), (1.0, 2.0, 2), (3.0, 4.0, 1)].map(|(from, to, count)| Bin { from, to, count });
        assert_eq!((found.bins.as_slice(), found.none, found.logarithmic), (expected.as_slice(), 2, false));
        assert_eq!((found.min, found.max, found.mean), (0.0, 3.0, 1.25));
    }

    #[test]
    fn nothing_and_a_single_value_have_distributions() {
        let nothing = distribution(&[], false);
        assert_eq!((nothing.count, nothing.bins.len(), nothing.max), (0, 0, 0.0));
        assert_eq!(distribution(&[None, None], true).none, 2);
        for value in [0.0, 1.0, -7.5, 1e-300, 1e300] {
            let found = distribution(&[Some(value); 5], false);
            assert_eq!((found.bins.len(), found.bins[0].count), (1, 5), "{value}");
        }
        assert_eq!(Distribution::of_degrees(&[]).bins, []);
        assert_eq!(Distribution::of_degrees(&[0, 0]).zeros, 2);
    }

    #[test]
    fn small_degrees_are_counted_one_by_one_and_large_ones_in_ranges_that_grow() {
        let degrees: Vec<u32> = (0..=1000).chain([70_000, u32::MAX]).collect();
        let found = Distribution::of_degrees(&degrees);
        for bin in &found.bins {
            let expected =
                degrees.iter().filter(|degree| bin.from <= f64::from(**degree) && f64::from(**degree) < bin.to);
            assert_eq!(bin.count, expected.count() as u64, "{bin:?}");
            assert!(bin.to - bin.from <= (bin.from / 8.0).max(1.0), "{bin:?}");
        }
        assert_eq!(found.bins.iter().map(|bin| bin.count).sum::<u64>(), 1002);
        assert_eq!(found.zeros, 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn integers_are_in_their_ranges(
            values in prop::collection::vec(prop::option::of(0u64..1 << 20), 0..200),
            small: bool,
        ) {
            let fold = |value: u64| if small { value % 50 } else { (value * value) >> 20 };
            let values: Vec<_> = values.into_iter().map(|value| value.map(|value| fold(value) as f64)).collect();
            holds(&distribution(&values, true), &values);
        }

        #[test]
        fn numbers_are_in_their_ranges(
            values in prop::collection::vec(prop::option::of(-30.0..30f64), 0..200),
            skewed: bool,
        ) {
            let value = |value: f64| if skewed { value.exp2() } else { value };
            let values: Vec<_> = values.into_iter().map(|of| of.map(value)).collect();
            holds(&distribution(&values, false), &values);
        }
    }
}
