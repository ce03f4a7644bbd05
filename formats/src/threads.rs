//! Threads that the system may refuse to start.

use crate::error::{Error, Result};
use std::error::Error as _;
use std::sync::OnceLock;
use std::thread::{Builder, JoinHandle};

/// Starts one of `wanted` threads.
///
/// # Errors
/// [`Error::Threads`] if the system refuses.
pub fn start<T: Send + 'static>(
    name: &str,
    wanted: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>> {
    Builder::new().name(name.into()).spawn(work).map_err(|source| refused(name, wanted, source))
}

/// A pool of this many threads.
///
/// # Errors
/// The errors of [`start`].
pub fn pool(name: &'static str, threads: usize) -> Result<rayon::ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).thread_name(move |_| name.into()).build();
    pool.map_err(|error| refused(name, threads, cause(&error)))
}

/// Starts the pool that all parallel iterators of the process share, unless it is running. To be called before the
/// first parallel iterator, which would panic if the system refuses the threads.
///
/// # Errors
/// Those of [`start`]; later calls return the same error.
pub fn start_shared_pool() -> Result<()> {
    static STARTED: OnceLock<Option<(Option<i32>, String)>> = OnceLock::new();
    let outcome = STARTED.get_or_init(|| {
        let error = rayon::ThreadPoolBuilder::new().build_global().err()?;
        // An error without a cause: another caller has started the pool.
        error.source()?;
        let cause = cause(&error);
        Some((cause.raw_os_error(), cause.to_string()))
    });
    let Some((number, text)) = outcome else { return Ok(()) };
    let source = number.map_or_else(|| std::io::Error::other(text.clone()), std::io::Error::from_raw_os_error);
    Err(refused("parallel work", shared_threads(), source))
}

/// The number of threads of the shared pool.
fn shared_threads() -> usize {
    let asked =
        std::env::var("RAYON_NUM_THREADS").ok().and_then(|text| text.parse().ok()).filter(|&threads| threads > 0);
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// The system's error.
fn cause(error: &rayon::ThreadPoolBuildError) -> std::io::Error {
    let number = error.source().and_then(|source| source.downcast_ref::<std::io::Error>()?.raw_os_error());
    number.map_or_else(|| std::io::Error::other(error.to_string()), std::io::Error::from_raw_os_error)
}

fn refused(what: &str, wanted: usize, source: std::io::Error) -> Error {
    Error::Threads { what: what.into(), wanted, source }
}
