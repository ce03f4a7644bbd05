//! Admits one run at a time. A run may use the engine's whole budget, so a second run on the same engine waits for the
//! first.

use crate::error::{Error, Result};
use crate::pages::fetch::CANCEL_TICK;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

/// Admits one run at a time.
#[derive(Debug, Default)]
pub(super) struct Gate {
    /// The thread of the run in progress.
    inside: Mutex<Option<ThreadId>>,
    left: Condvar,
}

/// The admission of a run. The next run is admitted when this is dropped.
pub(super) struct Entered<'a>(&'a Gate);

impl Gate {
    /// Waits until no run is in progress.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if `cancel` is set while waiting; [`Error::Parameter`] if the run in progress is on the
    /// same thread, as when an observer calls [`Engine::run`](super::Engine::run).
    pub fn enter(&self, cancel: &AtomicBool) -> Result<Entered<'_>> {
        let own = std::thread::current().id();
        let mut inside = self.lock();
        while let Some(thread) = *inside {
            if thread == own {
                let why = "an engine cannot start a run from within one of its own runs (for example in an observer)";
                return Err(Error::Parameter(why.into()));
            }
            if cancel.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let waited = self.left.wait_timeout(inside, CANCEL_TICK);
            inside = waited.map_or_else(|poisoned| poisoned.into_inner().0, |(inside, _)| inside);
        }
        *inside = Some(own);
        Ok(Entered(self))
    }

    /// The value is replaced as a whole, so a panic cannot leave it inconsistent and poisoning is ignored.
    fn lock(&self) -> MutexGuard<'_, Option<ThreadId>> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        *self.0.lock() = None;
        self.0.left.notify_one();
    }
}
