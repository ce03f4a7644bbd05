//! Memory that the system may refuse.

use crate::error::{Error, Result};
use memmap2::{MmapMut, MmapOptions};

/// Asks the system whether this much memory is available, before it is allocated in many parts: maps it, never touches
/// it, and unmaps it.
///
/// Budgets are not enough for this: a limit on address space (`ulimit -v`) or strict overcommit may allow less than the
/// budget, and a small allocation that is refused later could only abort the process.
///
/// # Errors
/// [`Error::Allocation`] with the size.
pub fn probe(what: &str, bytes: u64) -> Result<()> {
    // Does not ask whether physical pages back it: a budget may exceed what is ever used.
    map_by(MmapOptions::new().no_reserve_swap(), what, bytes).map(drop)
}

/// Returns a mapping of this many zeroed bytes, at least one.
///
/// # Errors
/// [`Error::Allocation`] with the size.
pub(crate) fn map(what: &str, bytes: u64) -> Result<MmapMut> {
    map_by(&mut MmapOptions::new(), what, bytes)
}

fn map_by(options: &mut MmapOptions, what: &str, bytes: u64) -> Result<MmapMut> {
    let refused = || Error::Allocation { what: what.into(), bytes };
    let wanted = usize::try_from(bytes).ok().filter(|&bytes| bytes <= isize::MAX as usize).ok_or_else(refused)?;
    options.len(wanted.max(1)).map_anon().map_err(|_| refused())
}

/// Returns an empty vector with capacity for exactly this many values.
///
/// # Errors
/// [`Error::Allocation`] with the size.
pub fn vec_with_room<T>(what: &str, count: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    match values.try_reserve_exact(count) {
        Ok(()) => Ok(values),
        Err(_) => Err(Error::Allocation { what: what.into(), bytes: count as u64 * size_of::<T>() as u64 }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_sizes_are_errors_with_the_figure() {
        for bytes in [1 << 62, u64::MAX] {
            let error = probe("a test", bytes).unwrap_err();
            assert!(error.to_string().contains(&format!("a test: the system refuses {bytes} bytes")), "{error}");
        }
        assert!(vec_with_room::<u64>("a test", 1 << 58).is_err());
        assert!(probe("a test", 1 << 20).is_ok() && probe("a test", 0).is_ok());
    }
}
