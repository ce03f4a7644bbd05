//! One run at a time: each may use the whole budget, so that a second one on the same engine waits for the first.

use crate::error::{Error, Result};
use crate::pages::fetch::CANCEL_TICK;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

/// Lets one run in.
#[derive(Debug, Default)]
pub(super) struct Gate {
    /// The thread of the run that is under way.
    inside: Mutex<Option<ThreadId>>,
    left: Condvar,
}

/// A run that was let in; the next one is when this is dropped.
pub(super) struct Entered<'a>(&'a Gate);

impl Gate {
    /// Waits until no run is under way.
    ///
    /// # Errors
    /// [`Error::Interrupted`] where `cancel` is raised meanwhile; [`Error::Parameter`] where the run under way is this
    /// thread's own, as when an observer runs its engine.
    pub fn enter(&self, cancel: &AtomicBool) -> Result<Entered<'_>> {
        let own = std::thread::current().id();
        let mut inside = self.lock();
        while let Some(thread) = *inside {
            if thread == own {
                let why = "an engine cannot run an algorithm from within one of its own runs (its observer, say)";
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

    /// The value is a single word, which no panic leaves half written.
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
