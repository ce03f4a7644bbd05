//! How long work says how far it is, and hears that it should stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use topostream_formats::{Error, Result};

/// What a stage counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Edges.
    Edges,
    /// Pages.
    Pages,
    /// Bytes of input.
    Bytes,
}

/// Somebody who watches: a progress bar, or nobody.
pub trait Progress: Sync {
    /// A stage begins; `total` where it is known.
    fn begin(&self, stage: &str, total: Option<u64>, unit: Unit);
    /// The stage has come to `position`.
    fn position(&self, position: u64);
    /// The stage is over.
    fn end(&self);
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Progress for Quiet {
    fn begin(&self, _stage: &str, _total: Option<u64>, _unit: Unit) {}
    fn position(&self, _position: u64) {}
    fn end(&self) {}
}

/// A flag by which long work is asked to stop; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl From<Arc<AtomicBool>> for Cancel {
    /// The same flag.
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }
}

impl Cancel {
    /// Asks for a stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// The flag itself, for who knows nothing of this type.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// Whether a stop was asked for.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// For the inside of loops.
    ///
    /// # Errors
    /// [`Error::Interrupted`] once a stop was asked for.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::Interrupted) } else { Ok(()) }
    }
}
