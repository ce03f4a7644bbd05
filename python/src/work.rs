//! Work without the interpreter: on a thread of its own, until it is done or the user presses Ctrl-C.

use crate::errors::{exception, of_failure};
use pyo3::prelude::*;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use topostream::cli::Failure;
use topostream_formats::{Error, threads};
use topostream_tools::progress::Cancel;

/// How often signals are looked for, and progress is passed on.
const LOOK: Duration = Duration::from_millis(50);
/// How long a run that was stopped may take to end: Ctrl-C is to be answered within a second.
const PATIENCE: Duration = Duration::from_millis(600);

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
            let worker = thread::Builder::new().spawn_scoped(scope, move || {
                // Here and not in the first parallel work, which would panic.
                let outcome = threads::start_shared_pool().map_err(Failure::from).and_then(|()| work());
                drop(ended);
                outcome
            });
            let worker = match worker {
                Ok(worker) => worker,
                Err(source) => return Ok(Err(refused(source))),
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

/// Work that a user has stopped and that has not ended in [`PATIENCE`]: their channels close when it has.
static ABANDONED: Mutex<Vec<Receiver<()>>> = Mutex::new(Vec::new());

/// Does work on another thread like [`interruptible`]. Work that does not end soon after it was stopped is left alone:
/// it ends by itself, and its outcome is dropped. What it must not share with later work, it has to lock.
///
/// # Errors
/// Those of [`interruptible`].
pub fn abandonable<T: Send + 'static>(
    py: Python<'_>,
    stop: &(impl Stop + Sync),
    watch: &(impl Watch + Sync),
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    check_not_forked(py)?;
    let outcome = py.detach(|| {
        let (ended, end) = channel::<()>();
        let worker = thread::Builder::new().spawn(move || {
            let outcome = threads::start_shared_pool().map_err(Failure::from).and_then(|()| work());
            drop(ended);
            outcome
        });
        let worker = match worker {
            Ok(worker) => worker,
            Err(source) => return Ok(Err(refused(source))),
        };
        let mut raised: Option<(PyErr, Instant)> = None;
        while let Err(RecvTimeoutError::Timeout) = end.recv_timeout(LOOK) {
            match raised {
                None => {
                    let seen = Python::attach(|py| py.check_signals().and_then(|()| watch.show(py)));
                    raised = seen.inspect_err(|_| stop.stop()).err().map(|error| (error, Instant::now()));
                }
                Some((error, since)) if since.elapsed() > PATIENCE => {
                    ABANDONED.lock().unwrap_or_else(PoisonError::into_inner).push(end);
                    return Err(error);
                }
                waits => raised = waits,
            }
        }
        let outcome = worker.join().unwrap_or_else(|panic| resume_unwind(panic));
        raised.map_or(Ok(outcome), |(error, _)| Err(error))
    })?;
    outcome.map_err(|failure| of_failure(py, &failure))
}

/// Waits until abandoned work has ended: at the end of the process, where drivers of GPUs take down what it uses.
///
/// # Errors
/// What signals raise: then it does not wait any longer.
#[pyfunction]
pub fn settle(py: Python<'_>) -> PyResult<()> {
    let abandoned = std::mem::take(&mut *ABANDONED.lock().unwrap_or_else(PoisonError::into_inner));
    if forked().is_some() {
        // Its threads are the parent's.
        return Ok(());
    }
    py.detach(move || {
        for end in abandoned {
            while let Err(RecvTimeoutError::Timeout) = end.recv_timeout(LOOK) {
                Python::attach(|py| py.check_signals())?;
            }
        }
        Ok(())
    })
}

fn refused(source: std::io::Error) -> Failure {
    Error::Threads { what: "work".into(), wanted: 1, source }.into()
}

/// The process in which work was done first.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Threads and devices do not survive a fork: without this, the first parallel work of the child would wait forever.
///
/// # Errors
/// `ForkError`.
pub fn check_not_forked(py: Python<'_>) -> PyResult<()> {
    PROCESS.compare_exchange(0, std::process::id(), Ordering::Relaxed, Ordering::Relaxed).ok();
    forked().map_or(Ok(()), |message| Err(exception(py, "ForkError", &message)))
}

/// Why no work can be done in this process, if it was forked from one in which some was.
#[pyfunction]
pub fn forked() -> Option<String> {
    let (first, here) = (PROCESS.load(Ordering::Relaxed), std::process::id());
    (first != 0 && first != here).then(|| {
        format!(
            "topostream was used in process {first} before process {here} was forked from it, and its threads do not \
             survive that: start processes with multiprocessing's \"spawn\" or \"forkserver\" method"
        )
    })
}
