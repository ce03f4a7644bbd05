//! Fetchers: page numbers in, filled frames out.
//!
//! ```text
//!  engine ── PageRead { page, frame } ──▶ Fetcher ──▶ PageFilled { page, frame, result } ──▶ engine
//!              bounded by the engine       uring: O_DIRECT, registered buffers and files
//!                                          threads: positioned reads, any system
//!                                          simulated: seeded latency, order and faults
//! ```
//!
//! A fetcher completes reads in any order. It repeats short reads itself; an error of the system is reported with the page
//! and left to the engine, which knows how often a page may be tried.

mod open;
mod pool;
mod simulated;
mod threads;
#[cfg(target_os = "linux")]
mod uring;

pub use open::PageFiles;
pub use pool::{Frame, PagePool};
pub use simulated::{Faults, SimulatedFetcher};
pub use threads::ThreadsFetcher;
#[cfg(target_os = "linux")]
pub use uring::UringFetcher;

use crate::error::Result;
use std::sync::Arc;
use std::task::{Context, Poll};
use topostream_formats::{Direction, PageId, Store};

/// A page of one of a store's topologies. Where the out-lists serve as in-lists, their pages are called by `Out`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageRef {
    /// Which topology.
    pub direction: Direction,
    /// Which page of it.
    pub page: PageId,
}

/// A page that is wanted in a frame.
#[derive(Debug)]
pub struct PageRead {
    /// The page.
    pub page: PageRef,
    /// Where it goes. The fetcher owns the frame until it reports.
    pub frame: Frame,
}

/// What became of a [`PageRead`].
#[derive(Debug)]
pub struct PageFilled {
    /// The page.
    pub page: PageRef,
    /// The frame, filled where the result is `Ok`. Nothing in it has been checked.
    pub frame: Frame,
    /// The system's answer.
    pub result: std::io::Result<()>,
}

/// Reads pages.
pub trait Fetcher: Send {
    /// For reports: what kind of fetcher this is.
    fn name(&self) -> &'static str;

    /// Whether it reads past the system's page cache.
    fn direct(&self) -> bool;

    /// Takes a read. Never blocks; how many are in flight is the caller's to bound.
    fn submit(&mut self, read: PageRead);

    /// Appends what has been filled; pending while there is nothing. Must not be called with nothing in flight.
    fn poll_filled(&mut self, context: &mut Context<'_>, filled: &mut Vec<PageFilled>) -> Poll<()>;

    /// How many reads are in flight.
    fn in_flight(&self) -> usize;
}

/// Which fetcher to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FetcherKind {
    /// io_uring where the system has and allows it, else threads.
    #[default]
    Auto,
    /// io_uring, or an error.
    Uring,
    /// Positioned reads on threads.
    Threads,
    /// Positioned reads with seeded latency, order and faults: for tests.
    Simulated(Faults),
}

/// The most reads that a fetcher is given at once.
pub const IN_FLIGHT_MAX: usize = 64;

/// Opens the fetcher that was asked for. Must be called within a tokio runtime.
///
/// # Errors
/// Where a page file cannot be opened, or io_uring was asked for by name and is refused.
pub fn open(kind: FetcherKind, store: &Store, pool: &Arc<PagePool>, weights: bool) -> Result<Box<dyn Fetcher>> {
    let files = PageFiles::open(store, weights)?;
    match kind {
        FetcherKind::Threads => Ok(Box::new(ThreadsFetcher::new(files))),
        FetcherKind::Simulated(faults) => Ok(Box::new(SimulatedFetcher::new(files, faults))),
        #[cfg(target_os = "linux")]
        FetcherKind::Uring => UringFetcher::new(files, pool).map_err(uring_refused).map(|f| Box::new(f) as _),
        #[cfg(target_os = "linux")]
        FetcherKind::Auto => match UringFetcher::new(files, pool) {
            Ok(fetcher) => Ok(Box::new(fetcher)),
            Err(_) => Ok(Box::new(ThreadsFetcher::new(PageFiles::open(store, weights)?))),
        },
        #[cfg(not(target_os = "linux"))]
        FetcherKind::Auto => {
            let _ = pool;
            Ok(Box::new(ThreadsFetcher::new(files)))
        }
        #[cfg(not(target_os = "linux"))]
        FetcherKind::Uring => Err(uring_refused(std::io::ErrorKind::Unsupported.into())),
    }
}

fn uring_refused(error: std::io::Error) -> crate::error::Error {
    crate::error::Error::Fetcher(format!("io_uring is refused here ({error}); `--fetcher threads` works everywhere"))
}
