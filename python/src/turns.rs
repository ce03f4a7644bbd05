//! Runs of a session take turns, and each of them is stopped alone.
//!
//! ```text
//!  thread A ─▶ run ═════════ computes ══════════▶ done
//!  thread B ─▶ run ─ waits ──────────────────────▶ ═══ computes ═══▶
//!              Ctrl-C here stops B only: the engine's flag is set for the run whose turn it is
//! ```
//!
//! The engine has one flag for all of its runs. A run sets it only while it is its turn, and clears it before the next.

use crate::work::Stop;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use topostream::{Error, cli::Failure};
use topostream_tools::progress::Cancel;

/// How often a waiting run looks whether it was stopped.
const LOOK: Duration = Duration::from_millis(20);

/// The turns of a session's runs.
#[derive(Default)]
pub struct Turns {
    /// Whether a run has its turn.
    taken: Mutex<bool>,
    left: Condvar,
    /// The engine's flag.
    engine: Cancel,
}

/// A run of a session, from before it waits for its turn.
pub struct Run {
    turns: Arc<Turns>,
    /// Stops this run alone.
    pub cancel: Cancel,
    has_turn: Mutex<bool>,
}

/// The turn of a run. The next run has its turn when this is dropped.
pub struct Turn<'a>(&'a Run);

impl Turns {
    /// The flag that the engine watches.
    pub fn engine(&self) -> &Cancel {
        &self.engine
    }

    /// A run that will ask for its turn.
    pub fn run(self: &Arc<Self>) -> Run {
        Run { turns: Arc::clone(self), cancel: Cancel::default(), has_turn: Mutex::default() }
    }
}

impl Run {
    /// Waits until no other run of the session has its turn, and calls `begin` before anybody sees that it has it.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if this run was stopped.
    pub fn turn(&self, begin: impl FnOnce()) -> Result<Turn<'_>, Failure> {
        let mut taken = lock(&self.turns.taken);
        while *taken && !self.cancel.is_cancelled() {
            let waited = self.turns.left.wait_timeout(taken, LOOK);
            taken = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let mut has_turn = lock(&self.has_turn);
        if self.cancel.is_cancelled() {
            return Err(Error::Interrupted.into());
        }
        begin();
        (*taken, *has_turn) = (true, true);
        Ok(Turn(self))
    }

    /// Whether it is this run's turn.
    pub fn has_turn(&self) -> bool {
        *lock(&self.has_turn)
    }
}

impl Stop for Run {
    fn stop(&self) {
        let has_turn = lock(&self.has_turn);
        self.cancel.cancel();
        if *has_turn {
            self.turns.engine.cancel();
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let turns = &self.0.turns;
        *lock(&self.0.has_turn) = false;
        turns.engine.flag().store(false, std::sync::atomic::Ordering::Relaxed);
        *lock(&turns.taken) = false;
        turns.left.notify_one();
    }
}

/// The values are replaced as a whole, so that a panic cannot leave them inconsistent: poisoning is ignored.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
