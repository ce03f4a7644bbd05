//! Defects of pages.

use std::ops::Range;

/// A defect of a page: expected and found, for [`Error::Page`](crate::Error::Page).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageDefect {
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub found: String,
}

impl PageDefect {
    pub(crate) fn new(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { expected: expected.into(), found: found.into() }
    }

    pub(crate) fn unless(holds: bool, expected: impl Into<String>, found: impl Into<String>) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self::new(expected, found)) }
    }

    /// As `unless`, without the cost of messages for sound pages.
    #[inline(always)]
    pub(crate) fn unless_with<E: Into<String>>(
        holds: bool,
        expected: impl FnOnce() -> E,
        found: impl FnOnce() -> String,
    ) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self::new(expected(), found())) }
    }

    /// A neighbour that is not among its shard's destinations.
    pub(crate) fn outside(destinations: &Range<u64>, found: u64) -> Self {
        let expected = match destinations.start {
            0 => format!("neighbours below {}", destinations.end),
            from => format!("neighbours from {from} on and below {}", destinations.end),
        };
        Self { expected, found: found.to_string() }
    }
}
