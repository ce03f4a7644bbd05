//! Work without the interpreter: on a thread of its own, until it is done or the user presses Ctrl-C.

use crate::errors::{exception, of_failure};
use pyo3::prelude::*;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;
use topostream::cli::Failure;
use topostream_formats::Error;
use topostream_tools::progress::Cancel;

/// How often signals are looked for, and progress is passed on.
const LOOK: Duration = Duration::from_millis(50);

/// Something that progress is passed on to while work is done.
pub trait Watch {
    /// Passes on how far the work has come.
    ///
    /// # Errors
    /// What the Python function that shows it raises: this ends the work.
    fn show(&self, py: Python<'_>) -> PyResult<()>;
}

/// No progress is passed on.
impl Watch for () {
    fn show(&self, _py: Python<'_>) -> PyResult<()> {
        Ok(())
    }
}

/// What ends work early.
pub trait Stop {
    /// Makes the work end at its next check.
    fn stop(&self);
}

impl Stop for Cancel {
    fn stop(&self) {
        self.cancel();
    }
}

/// Does work on another thread. After Ctrl-C, or an exception of `watch`, the work is stopped, and the exception is
/// raised once the work has ended: it has then left nothing unfinished.
///
/// # Errors
/// The failure of the work as an exception; `KeyboardInterrupt`; `ForkError` in a forked process.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    stop: &(impl Stop + Sync),
    watch: &(impl Watch + Sync),
    work: impl FnOnce() -> Result<T, Failure> + Send,
) -> PyResult<T> {
    interruptible_or(py, stop, watch, work, of_failure)
}

/// Does work like [`interruptible`]; `raise` makes the exception of a failure.
///
/// # Errors
/// Those of [`interruptible`].
pub fn interruptible_or<T: Send>(
    py: Python<'_>,
    stop: &(impl Stop + Sync),
    watch: &(impl Watch + Sync),
    work: impl FnOnce() -> Result<T, Failure> + Send,
    raise: impl FnOnce(Python<'_>, &Failure) -> PyErr,
) -> PyResult<T> {
    check_not_forked(py)?;
    let outcome = py.detach(|| {
        thread::scope(|scope| {
            let (ended, end) = channel::<()>();
            let work = move || {
                let outcome = work();
                drop(ended);
                outcome
            };
            let worker = match thread::Builder::new().spawn_scoped(scope, work) {
                Ok(worker) => worker,
                Err(source) => {
                    let error = Error::Threads { what: "topostream".into(), wanted: 1, source };
                    return Ok(Err(error.into()));
                }
            };
            let mut raised = None;
            while let Err(RecvTimeoutError::Timeout) = end.recv_timeout(LOOK) {
                if raised.is_none() {
                    let seen = Python::attach(|py| py.check_signals().and_then(|()| watch.show(py)));
                    raised = seen.inspect_err(|_| stop.stop()).err();
                }
            }
            let outcome = worker.join().unwrap_or_else(|panic| resume_unwind(panic));
            raised.map_or(Ok(outcome), Err)
        })
    })?;
    outcome.map_err(|failure| raise(py, &failure))
}

/// The process in which work was done first.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Threads and devices do not survive a fork: without this, the first parallel work of the child would wait forever.
fn check_not_forked(py: Python<'_>) -> PyResult<()> {
    let here = std::process::id();
    match PROCESS.compare_exchange(0, here, Ordering::Relaxed, Ordering::Relaxed) {
        Err(first) if first != here => {
            let message = format!(
                "topostream was used in process {first} before process {here} was forked from it, and its threads do \
                 not survive that: start processes with multiprocessing's \"spawn\" or \"forkserver\" method"
            );
            Err(exception(py, "ForkError", &message))
        }
        _ => Ok(()),
    }
}
