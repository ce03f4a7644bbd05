//! Progress and cancellation of long-running work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use topostream_formats::{Error, Result};

/// The unit of a stage's progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Edges.
    Edges,
    /// Pages.
    Pages,
    /// Bytes of input.
    Bytes,
}

/// An observer of progress, for example a progress bar.
pub trait Progress: Sync {
    /// A stage begins; `total` if it is known.
    fn begin(&self, stage: &str, total: Option<u64>, unit: Unit);
    /// The stage has reached `position`.
    fn position(&self, position: u64);
    /// The stage has ended.
    fn end(&self);
}

/// No observer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Progress for Quiet {
    fn begin(&self, _stage: &str, _total: Option<u64>, _unit: Unit) {}
    fn position(&self, _position: u64) {}
    fn end(&self) {}
}

/// A flag that cancels long-running work; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl From<Arc<AtomicBool>> for Cancel {
    /// Returns a handle to the same flag.
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }
}

impl Cancel {
    /// Requests cancellation.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// The flag itself, for code that does not know this type.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// Whether cancellation was requested.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Called inside loops.
    ///
    /// # Errors
    /// [`Error::Interrupted`] once cancellation was requested.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::Interrupted) } else { Ok(()) }
    }
}
