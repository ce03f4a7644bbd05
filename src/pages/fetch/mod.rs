//! Fetchers: page numbers in, filled frames out.
//!
//! ```text
//!  engine ── PageRead { page, frame } ──▶ Fetcher ──▶ PageFilled { page, frame, result } ──▶ engine
//!              bounded by the engine       uring: O_DIRECT, registered buffers and files
//!                                          threads: positioned reads, any system
//!                                          simulated: seeded latency, order and faults
//!                                          stripes: one of these for each stripe
//! ```
//!
//! A fetcher completes reads in any order. It repeats short reads itself, and for a while what the system refuses for a
//! moment; an error of a read is reported with the page and left to the engine, which knows how often a page may be
//! tried. An error after which no read will come any more ends the run.

mod open;
mod pool;
mod simulated;
mod stripes;
mod threads;
#[cfg(target_os = "linux")]
mod uring;

pub use open::PageFiles;
pub use pool::{Frame, PagePool};
pub use simulated::{Faults, SimulatedFetcher};
pub use stripes::StripedFetcher;
pub use threads::ThreadsFetcher;
#[cfg(target_os = "linux")]
pub use uring::UringFetcher;

use crate::error::Result;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use topostream_formats::{Direction, PageId, Store};

/// A page of one of a store's topologies. Where the out-lists serve as in-lists, their pages are called by `Out`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageRef {
    /// Which topology.
    pub direction: Direction,
    /// Which page of it.
    pub page: PageId,
}

impl PageRef {
    /// In which of `stripes` stripes it lies.
    pub fn stripe(self, stripes: usize) -> usize {
        self.page.index() % stripes
    }
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
    ///
    /// # Errors
    /// [`Error::Fetcher`](crate::Error::Fetcher) where no page will come any more, whichever is asked for.
    fn poll_filled(&mut self, context: &mut Context<'_>, filled: &mut Vec<PageFilled>) -> Poll<Result<()>>;

    /// How many reads are in flight.
    fn in_flight(&self) -> usize;

    /// Gives up all reads. Waits until the system does not write to their frames any more, or until then: the memory of
    /// frames that it has not let go of is never used for anything else. Nothing may be submitted afterwards.
    fn let_go(&mut self, until: Instant);
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

/// The most reads that a stripe's fetcher is given at once.
pub const IN_FLIGHT_MAX: usize = 64;

/// How long a wait for pages may last before whoever waits looks whether the run has been cancelled.
pub const CANCEL_TICK: Duration = Duration::from_millis(100);

/// How long reads in flight are waited for when a run ends before its time.
pub const LET_GO: Duration = Duration::from_secs(5);

/// Opens the fetcher that was asked for, one ring or share of threads a stripe. Must be called within a tokio runtime
/// with I/O and time.
///
/// # Errors
/// Where a page file cannot be opened, io_uring was asked for by name and is refused, or no threads can be started.
pub fn open(kind: FetcherKind, store: &Store, pool: &Arc<PagePool>, weights: bool) -> Result<Box<dyn Fetcher>> {
    let all = |open: &dyn Fn(PageFiles) -> Result<Box<dyn Fetcher>>| {
        let stripe = |stripe| open(PageFiles::open(store, stripe, weights)?);
        (0..store.stripe_count()).map(stripe).collect::<Result<Vec<_>>>()
    };
    let threads = |files| -> Result<Box<dyn Fetcher>> { Ok(Box::new(ThreadsFetcher::new(files)?)) };
    let mut fetchers = match kind {
        FetcherKind::Threads => all(&threads)?,
        FetcherKind::Simulated(faults) => all(&|files| Ok(Box::new(SimulatedFetcher::new(files, faults))))?,
        FetcherKind::Uring => all(&|files| uring(files, pool))?,
        // What one stripe is refused, all do without, so that they are equally fast.
        FetcherKind::Auto => all(&|files| uring(files, pool)).or_else(|_| all(&threads))?,
    };
    match fetchers.len() {
        1 => Ok(fetchers.remove(0)),
        _ => Ok(Box::new(StripedFetcher::new(fetchers))),
    }
}

#[cfg(target_os = "linux")]
fn uring(files: PageFiles, pool: &Arc<PagePool>) -> Result<Box<dyn Fetcher>> {
    UringFetcher::new(files, pool).map_err(uring_refused).map(|fetcher| Box::new(fetcher) as _)
}

#[cfg(not(target_os = "linux"))]
fn uring(_: PageFiles, _: &Arc<PagePool>) -> Result<Box<dyn Fetcher>> {
    Err(uring_refused(std::io::ErrorKind::Unsupported.into()))
}

fn uring_refused(error: std::io::Error) -> crate::error::Error {
    crate::error::Error::Fetcher(format!("io_uring is refused here ({error}); `--fetcher threads` works everywhere"))
}
