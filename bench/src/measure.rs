//! Repeated measurements: medians with their spread, ratios taken within a round.

use serde::Serialize;
use std::time::{Duration, Instant};

/// The median and the range of measurements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// The median; the mean of the two middle values if their number is even.
    pub median: f64,
    /// The minimum.
    pub min: f64,
    /// The maximum.
    pub max: f64,
    /// The number of measurements.
    pub runs: usize,
}

impl Spread {
    /// Summarises measurements; all zero if there are none.
    pub fn of(measured: &[f64]) -> Self {
        let mut sorted = measured.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (Some(&min), Some(&max)) = (sorted.first(), sorted.last()) else { return Self::default() };
        let middle = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 };
        Self { median, min, max, runs: sorted.len() }
    }

    /// Summarises one value of each measurement.
    pub fn over<T>(measured: &[T], value: impl Fn(&T) -> f64) -> Self {
        Self::of(&measured.iter().map(value).collect::<Vec<_>>())
    }
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { median, min, max, runs } = *self;
        match runs {
            0 => f.write_str("-"),
            1 => f.write_str(&digits(median)),
            _ => write!(f, "{} ({}–{})", digits(median), digits(min), digits(max)),
        }
    }
}

/// A number with at least three digits.
pub fn digits(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// The duration of `work`, and its result.
pub fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let started = Instant::now();
    let result = work();
    (started.elapsed(), result)
}

/// Duration of the warm-up of a GPU. After 1.5 s without work, its kernels take three to five times as long, and a
/// third of a second of work does not restore its speed.
const AWAKE: Duration = Duration::from_secs(2);

/// Repeats `run`, at least once, until a GPU is warmed up.
///
/// # Errors
/// Those of `run`.
pub fn wake<E>(mut run: impl FnMut() -> Result<(), E>) -> Result<(), E> {
    let started = Instant::now();
    loop {
        run()?;
        if started.elapsed() > AWAKE {
            return Ok(());
        }
    }
}

/// Nanoseconds as milliseconds.
pub fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

/// Bytes in MiB; 0 if unknown.
pub fn mib(bytes: Option<u64>) -> f64 {
    bytes.unwrap_or(0) as f64 / f64::from(1 << 20)
}

/// `part` over `whole`; 0 if `whole` is 0.
pub fn ratio(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_spread() {
        let spread = |measured: &[f64]| Spread::of(measured);
        assert_eq!(spread(&[3.0, 1.0, 2.0]), Spread { median: 2.0, min: 1.0, max: 3.0, runs: 3 });
        assert_eq!(spread(&[4.0, 1.0, 2.0, 3.0]), Spread { median: 2.5, min: 1.0, max: 4.0, runs: 4 });
        assert_eq!(spread(&[7.0]), Spread { median: 7.0, min: 7.0, max: 7.0, runs: 1 });
        assert_eq!(spread(&[]), Spread::default());
        assert_eq!(Spread::over(&[(1, 2.0), (1, 4.0)], |pair| pair.1).median, 3.0);
    }

    #[test]
    fn spreads_are_written_with_three_digits() {
        assert_eq!(Spread::of(&[1.2345, 123.45, 12.345]).to_string(), "12.3 (1.23–123)");
        assert_eq!(Spread::of(&[0.12345]).to_string(), "0.123");
        assert_eq!(Spread::of(&[]).to_string(), "-");
    }

    #[test]
    fn nothing_is_divided_by_zero() {
        assert_eq!((ratio(3.0, 2.0), ratio(3.0, 0.0), ms(2_500_000)), (1.5, 0.0, 2.5));
    }
}
