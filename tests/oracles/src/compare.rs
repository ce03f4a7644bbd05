//! Whether two answers are the same.

use std::collections::HashMap;

/// How two answers must be alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compare {
    /// Every value is the same.
    Exact,
    /// Vertices have the same value in one where they have the same in the other.
    Groups,
    /// Every value is right to within this part of itself, or to within a millionth of that part of the largest.
    Within(f64),
}

/// Below this part of the largest value only the absolute difference counts.
const SMALL: f64 = 1e-6;

impl Compare {
    /// For outcomes.
    pub fn name(self) -> String {
        match self {
            Self::Exact => "equal".into(),
            Self::Groups => "equal up to names".into(),
            Self::Within(part) => format!("within {part:e} on every vertex"),
        }
    }

    /// Holds values against what was expected.
    ///
    /// # Errors
    /// With the first vertex that is wrong.
    pub fn check(self, found: &[f64], expected: &[f64]) -> Result<(), String> {
        assert_eq!(found.len(), expected.len(), "a value for each vertex");
        let wrong = match self {
            Self::Exact => (0..found.len()).find(|&vertex| found[vertex] != expected[vertex]),
            Self::Groups => wrong_group(found, expected),
            Self::Within(part) => {
                let largest = expected.iter().copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
                let near = |found: f64, expected: f64| {
                    let off = (found - expected).abs();
                    found == expected || (expected.is_finite() && off <= part * expected.abs().max(SMALL * largest))
                };
                (0..found.len()).find(|&vertex| !near(found[vertex], expected[vertex]))
            }
        };
        let say =
            |vertex: usize| format!("wrong answer: vertex {vertex} has {}, not {}", found[vertex], expected[vertex]);
        wrong.map_or(Ok(()), |vertex| Err(say(vertex)))
    }
}

/// A vertex whose group in one answer is not its group in the other.
fn wrong_group(found: &[f64], expected: &[f64]) -> Option<usize> {
    let (mut there, mut back) = (HashMap::new(), HashMap::new());
    (0..found.len()).find(|&vertex| {
        let (one, other) = (found[vertex].to_bits(), expected[vertex].to_bits());
        *there.entry(one).or_insert(other) != other || *back.entry(other).or_insert(one) != one
    })
}

/// The largest error relative to the expected value.
pub fn relative_error(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let errors = found.iter().zip(expected).map(|(found, expected)| (found - expected).abs() / expected);
    errors.fold(0.0, |largest: f64, error| if error.is_nan() { f64::INFINITY } else { largest.max(error) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_noticed() {
        let none = f64::INFINITY;
        let sound = |compare: Compare, found: &[f64], expected: &[f64]| compare.check(found, expected).is_ok();
        assert!(sound(Compare::Exact, &[1.0, none], &[1.0, none]) && !sound(Compare::Exact, &[1.0], &[2.0]));
        assert!(sound(Compare::Groups, &[5.0, 5.0, 7.0], &[1.0, 1.0, 2.0]));
        assert!(!sound(Compare::Groups, &[5.0, 5.0, 7.0], &[1.0, 2.0, 3.0]));
        assert!(!sound(Compare::Groups, &[5.0, 6.0, 7.0], &[1.0, 1.0, 3.0]));
        assert!(sound(Compare::Within(0.01), &[1.009, none], &[1.0, none]));
        assert!(!sound(Compare::Within(0.01), &[1.011], &[1.0]) && !sound(Compare::Within(0.01), &[1.0], &[none]));
        assert!(!sound(Compare::Within(0.01), &[f64::NAN], &[1.0]));
        assert!(sound(Compare::Within(0.01), &[1e-9, 1.0], &[0.0, 1.0]));
    }
}
