//! The times of a search, by part.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// The parts of a search.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// Local moving.
    Moving,
    /// Refinement.
    Refining,
    /// Making the next level.
    Making,
    /// Copies to a GPU.
    Sending,
    /// Compiling a GPU's kernels.
    Compiling,
}

impl Part {
    /// All of them, with their names in summaries.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Moving, "moving s"),
        (Self::Refining, "refining s"),
        (Self::Making, "levels s"),
        (Self::Sending, "transfer s"),
        (Self::Compiling, "compiling s"),
    ];
}

/// Nanoseconds of each part.
#[derive(Debug, Default)]
pub struct Clock([AtomicU64; Part::ALL.len()]);

impl Clock {
    /// Does a part of the search.
    pub fn time<T>(&self, part: Part, work: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let done = work();
        self.0[part as usize].fetch_add(begun.elapsed().as_nanos() as u64, Relaxed);
        done
    }

    /// The time of a part, in seconds.
    pub fn seconds(&self, part: Part) -> f64 {
        self.0[part as usize].load(Relaxed) as f64 / 1e9
    }
}
