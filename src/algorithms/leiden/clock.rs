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

/// Levels of which a GPU has done something.
#[derive(Clone, Copy, Debug)]
pub enum Count {
    /// Whose vertices it has moved.
    Moved,
    /// Whose edges it has made.
    Made,
}

/// Nanoseconds of each part, and numbers of levels.
#[derive(Debug, Default)]
pub struct Clock {
    parts_ns: [AtomicU64; Part::ALL.len()],
    levels: [AtomicU64; 2],
}

impl Clock {
    /// Does a part of the search.
    pub fn time<T>(&self, part: Part, work: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let done = work();
        self.parts_ns[part as usize].fetch_add(begun.elapsed().as_nanos() as u64, Relaxed);
        done
    }

    /// The time of a part, in seconds.
    pub fn seconds(&self, part: Part) -> f64 {
        self.parts_ns[part as usize].load(Relaxed) as f64 / 1e9
    }

    /// Counts a level.
    pub fn count(&self, count: Count) {
        self.levels[count as usize].fetch_add(1, Relaxed);
    }

    /// The levels that have been counted.
    pub fn levels(&self, count: Count) -> u64 {
        self.levels[count as usize].load(Relaxed)
    }
}
