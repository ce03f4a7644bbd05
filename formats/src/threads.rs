//! Threads that the system may refuse to start.

use crate::error::{Error, Result};
use std::error::Error as _;
use std::ffi::OsStr;
use std::sync::OnceLock;
use std::thread::{Builder, JoinHandle};

/// The environment variable with the number of threads of the shared pool, which is rayon's.
const VARIABLE: &str = "RAYON_NUM_THREADS";
/// The most threads of the shared pool, unless there are more processors.
const THREADS_MAX: usize = 1024;

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
/// The errors of [`start`]; later calls return the same error. [`Error::Invalid`] if the environment asks for what is
/// not a number of threads.
pub fn start_shared_pool() -> Result<()> {
    static STARTED: OnceLock<Option<(Option<i32>, String)>> = OnceLock::new();
    // Rayon itself would start as many threads as the variable says, however many.
    let threads = shared_threads(std::env::var_os(VARIABLE).as_deref())?;
    let outcome = STARTED.get_or_init(|| {
        let error = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().err()?;
        // An error without a cause: another caller has started the pool.
        error.source()?;
        let cause = cause(&error);
        Some((cause.raw_os_error(), cause.to_string()))
    });
    let Some((number, text)) = outcome else { return Ok(()) };
    let source = number.map_or_else(|| std::io::Error::other(text.clone()), std::io::Error::from_raw_os_error);
    Err(refused("parallel work", threads, source))
}

/// The number of threads of the shared pool, by the variable that sets it.
fn shared_threads(asked: Option<&OsStr>) -> Result<usize> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let most = THREADS_MAX.max(processors);
    match asked.map(|text| text.to_str().map(str::parse)) {
        None | Some(Some(Ok(0))) => Ok(processors),
        Some(Some(Ok(threads))) if threads <= most => Ok(threads),
        _ => Err(Error::Invalid(format!(
            "{VARIABLE}={}: expected a number of threads from 1 to {most}, or 0 for one a processor; correct it, or \
             unset it",
            asked.unwrap_or_default().display()
        ))),
    }
}

/// The system's error.
fn cause(error: &rayon::ThreadPoolBuildError) -> std::io::Error {
    let number = error.source().and_then(|source| source.downcast_ref::<std::io::Error>()?.raw_os_error());
    number.map_or_else(|| std::io::Error::other(error.to_string()), std::io::Error::from_raw_os_error)
}

fn refused(what: &str, wanted: usize, source: std::io::Error) -> Error {
    Error::Threads { what: what.into(), wanted, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_is_no_number_of_threads() {
        let processors = std::thread::available_parallelism().unwrap().get();
        let of = |text: &str| shared_threads(Some(OsStr::new(text)));
        assert_eq!(shared_threads(None).unwrap(), processors);
        assert_eq!(of("0").unwrap(), processors);
        assert_eq!((of("1").unwrap(), of("1024").unwrap()), (1, 1024));
        for text in ["", "x", "-1", "1.5", "1000000", "99999999999", "99999999999999999999"] {
            let error = of(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("RAYON_NUM_THREADS={text}: expected a number of threads")), "{error}");
        }
    }
}
