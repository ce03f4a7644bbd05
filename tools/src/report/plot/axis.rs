//! Axes: their range, and ticks at round numbers.

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use std::ops::Range;

/// An axis. On a logarithmic one, positions are logarithms to base 10.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What it shows, with the unit.
    pub title: String,
    /// The first and the last position.
    pub range: (f64, f64),
    /// The positions of ticks.
    pub ticks: Vec<f64>,
    logarithmic: bool,
    labels: fn(f64) -> String,
}

/// Ticks that fit next to each other.
const TICKS_MAX: usize = 6;

impl Axis {
    /// From `from` to at least `to`, in steps of 1, 2 or 5 times a power of ten.
    pub fn linear(title: &str, (from, to): (f64, f64), labels: fn(f64) -> String) -> Self {
        let to = if to > from && to.is_finite() { to } else { from + 1.0 };
        let step = step(to - from, 0.0);
        Self::of_steps(title, (from, (to / step).ceil() * step), step, labels)
    }

    /// For numbers of supersteps: half a step of room on both sides, ticks at integers.
    pub fn integers(title: &str, (first, last): (f64, f64), labels: fn(f64) -> String) -> Self {
        Self::of_steps(title, (first - 0.5, last + 0.5), step(last - first + 1.0, 1.0), labels)
    }

    fn of_steps(title: &str, range: (f64, f64), step: f64, labels: fn(f64) -> String) -> Self {
        let (first, last) = ((range.0 / step - 1e-9).ceil() as i64, (range.1 / step + 1e-9).floor() as i64);
        let ticks = (first..=last).map(|number| number as f64 * step).collect();
        Self { title: title.into(), range, ticks, logarithmic: false, labels }
    }

    /// From a power of ten at or below `from` to one at or above `to`, for numbers above 0; of short ranges, also
    /// from and to 2 or 5 times a power.
    pub fn logarithmic(title: &str, (from, to): (f64, f64), labels: fn(f64) -> String) -> Self {
        let from = from.max(f64::MIN_POSITIVE);
        let to = to.max(1.5 * from);
        let (low, high) = ((from.log10() + 1e-9).floor(), (to.log10() - 1e-9).ceil());
        let powers = low as i32..=(high.max(low + 1.0) as i32);
        let mut ticks: Vec<f64> = match powers.clone().count() {
            0..=3 => powers.flat_map(|power| [1.0, 2.0, 5.0].map(|of: f64| f64::from(power) + of.log10())).collect(),
            count => powers.step_by(count.div_ceil(TICKS_MAX + 1)).map(f64::from).collect(),
        };
        let low = ticks.iter().copied().filter(|&tick| tick <= from.log10() + 1e-9).fold(ticks[0], f64::max);
        let high = ticks.iter().copied().filter(|&tick| tick >= to.log10() - 1e-9).fold(f64::INFINITY, f64::min);
        let high = if high.is_finite() && high > low { high } else { to.log10().max(low + 0.3) };
        ticks.retain(|tick| (low - 1e-9..=high + 1e-9).contains(tick));
        Self { title: title.into(), range: (low, high), ticks, logarithmic: true, labels }
    }

    /// Adds room for bars of the least value.
    pub fn with_room_below(mut self) -> Self {
        self.range.0 -= 0.06 * (self.range.1 - self.range.0);
        self
    }

    /// The position of a value, or the end that is nearest to it.
    pub fn position(&self, value: f64) -> f64 {
        let position = if self.logarithmic { value.log10() } else { value };
        // Not a number: the logarithm of one below 0.
        if position.is_nan() { self.range.0 } else { position.clamp(self.range.0, self.range.1) }
    }

    /// The label of a position.
    pub fn label(&self, position: f64) -> String {
        (self.labels)(if self.logarithmic { 10f64.powf(position) } else { position })
    }
}

/// plotters' interface: values are positions.
impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, position: &f64, (from, to): (i32, i32)) -> i32 {
        let share = (position - self.range.0) / (self.range.1 - self.range.0);
        from + (f64::from(to - from) * share).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // There are no lines between ticks.
        if hint.weight().allow_light_points() { Vec::new() } else { self.ticks.clone() }
    }

    fn range(&self) -> Range<f64> {
        self.range.0..self.range.1
    }
}

/// A step of 1, 2 or 5 times a power of ten, of which a span has at most [`TICKS_MAX`]; at least `least`.
fn step(span: f64, least: f64) -> f64 {
    let about = (span / TICKS_MAX as f64).max(least).max(f64::MIN_POSITIVE);
    let power = 10f64.powf(about.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= about * 0.999_999);
    factor.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::numbers::short;

    #[test]
    fn ticks_are_round_and_few() {
        let linear = |to| Axis::linear("", (0.0, to), short);
        assert_eq!(linear(9.5).ticks, [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!((linear(0.0).range, linear(f64::NAN).range), ((0.0, 1.0), (0.0, 1.0)));
        for to in [1e-9, 0.013, 0.99, 1.0, 3.0, 7.7, 59.0, 1e6, 123_456_789.0] {
            let axis = linear(to);
            assert!(axis.range.1 >= to && (3..=8).contains(&axis.ticks.len()), "{axis:?}");
        }
        let steps = Axis::integers("", (0.0, 0.0), short);
        assert_eq!((steps.range, steps.ticks), ((-0.5, 0.5), vec![0.0]));
        assert_eq!(Axis::integers("", (0.0, 9.0), short).ticks, [0.0, 2.0, 4.0, 6.0, 8.0]);
    }

    #[test]
    fn logarithmic_ticks_are_powers_or_parts_of_them() {
        for (from, to) in [(1.0, 1.0), (3.0, 4.0), (1.0, 2e5), (1e-12, 1e-3), (0.5, 7e9), (1.0, 1e18), (0.0, 0.0)] {
            let axis = Axis::logarithmic("", (from, to), short);
            assert!((2..=9).contains(&axis.ticks.len()), "{axis:?}");
            let (low, high) = axis.range;
            assert!(
                low < high && low <= from.max(f64::MIN_POSITIVE).log10() + 1e-6 && high >= axis.position(to) - 1e-6,
                "{axis:?}"
            );
        }
        let axis = Axis::logarithmic("", (1.0, 2e5), short);
        let labels: Vec<String> = axis.ticks.iter().map(|&tick| axis.label(tick).replace('\u{a0}', " ")).collect();
        assert_eq!(labels, ["1", "10", "100", "1 k", "10 k", "100 k", "1 M"]);
    }
}
