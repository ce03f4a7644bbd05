//! Fetchers: page numbers in, filled frames out.
//!
//! ```text
//!  engine ── PageRead { page, frame } ──▶ Fetcher ──▶ PageFilled { page, frame, result } ──▶ engine
//!              bounded by the engine       uring: O_DIRECT, registered buffers and files
//!                                          threads: positioned reads, any system
//!                                          simulated: latency, order and faults from a seed
//!                                          stripes: one of these for each stripe
//!                                          unpacking: packed weights, after they have been read
//! ```
//!
//! A fetcher completes reads in any order. It continues short reads itself, and retries for a limited time after
//! transient errors of the system. Other errors of a read are returned with the page; the engine decides how often a
//! page is retried. An error after which no read can complete ends the run.

mod open;
mod pool;
mod simulated;
mod stripes;
mod threads;
mod unpacking;
#[cfg(target_os = "linux")]
mod uring;

pub use open::PageFiles;
pub use pool::{Frame, PagePool};
pub use simulated::{Faults, SimulatedFetcher};
pub use stripes::StripedFetcher;
pub use threads::ThreadsFetcher;
pub use unpacking::UnpackingFetcher;
#[cfg(target_os = "linux")]
pub use uring::UringFetcher;

use crate::error::Result;
use std::cell::OnceCell;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use topostream_formats::{Direction, PageId, Store};

/// A page of one of a store's topologies. If the out-lists serve as in-lists too, their pages have the direction `Out`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageRef {
    /// The topology's direction.
    pub direction: Direction,
    /// The page's number in the topology.
    pub page: PageId,
}

impl PageRef {
    /// Returns the number of the stripe that the page is in, out of `stripes`.
    pub fn stripe(self, stripes: usize) -> usize {
        self.page.index() % stripes
    }
}

/// A request to read a page into a frame.
#[derive(Debug)]
pub struct PageRead {
    /// The page.
    pub page: PageRef,
    /// The destination, which says what is [requested](Frame::requested) of the page: all of it, or a part, which may
    /// be empty. The fetcher owns the frame until it returns it in a [`PageFilled`].
    pub frame: Frame,
}

/// The outcome of a [`PageRead`].
#[derive(Debug)]
pub struct PageFilled {
    /// The page.
    pub page: PageRef,
    /// The frame, with what was requested if the result is `Ok`. Its contents have not been checked.
    pub frame: Frame,
    /// The result of the read.
    pub result: std::result::Result<(), Unfilled>,
}

/// Why a frame has not been filled.
#[derive(Debug, thiserror::Error)]
pub enum Unfilled {
    /// The read has failed.
    #[error(transparent)]
    Read(#[from] std::io::Error),
    /// What has been read cannot be unpacked.
    #[error(transparent)]
    Defect(topostream_formats::Error),
}

/// Reads pages.
pub trait Fetcher: Send {
    /// Returns the kind of fetcher, for reports.
    fn name(&self) -> &'static str;

    /// Returns whether reads bypass the system's page cache.
    fn direct(&self) -> bool;

    /// Why pages are not read by io_uring, if the system has refused it.
    fn refusal(&self) -> Option<&str> {
        None
    }

    /// Accepts a read. Never blocks. The caller bounds the number of reads in flight.
    fn submit(&mut self, read: PageRead);

    /// Appends completed reads to `filled`; pending if there are none. Must only be called with reads in flight.
    ///
    /// # Errors
    /// [`Error::Fetcher`](crate::Error::Fetcher) if the fetcher has failed and cannot complete any read.
    fn poll_filled(&mut self, context: &mut Context<'_>, filled: &mut Vec<PageFilled>) -> Poll<Result<()>>;

    /// The number of reads in flight.
    fn in_flight(&self) -> usize;

    /// Abandons all reads. Waits until the system no longer writes to their frames, but not beyond the time `until`.
    /// Frames that the system may still write to then are leaked. Nothing may be submitted afterwards.
    fn shut_down(&mut self, until: Instant);
}

/// The kind of fetcher to open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FetcherKind {
    /// io_uring if the system has and allows it, otherwise threads.
    #[default]
    Auto,
    /// io_uring; an error if it is not available.
    Uring,
    /// Positioned reads on threads.
    Threads,
    /// Positioned reads with latency, order and faults from a seed, for tests.
    #[doc(hidden)]
    Simulated(Faults),
}

/// The maximum number of reads in flight on one stripe.
pub const IN_FLIGHT_MAX: usize = 64;

/// The interval at which a wait for pages checks for cancellation.
pub const CANCEL_TICK: Duration = Duration::from_millis(100);

/// The maximum wait for reads in flight when a run ends early.
pub const SHUT_DOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// Opens a fetcher of the given kind, with one ring or a share of the threads for each stripe. It reads packed weights
/// as they are: [`UnpackingFetcher`] unpacks them. Must be called within a tokio runtime with I/O and time enabled.
///
/// # Errors
/// If a page file cannot be opened, if io_uring was requested explicitly and is not available, or if no thread can be
/// started.
pub fn open(kind: FetcherKind, store: &Store, pool: &Arc<PagePool>, weights: bool) -> Result<Box<dyn Fetcher>> {
    let all = |open: &dyn Fn(PageFiles) -> Result<Box<dyn Fetcher>>| {
        let stripe = |stripe| open(PageFiles::open(store, stripe, weights, pool.place_bytes())?);
        (0..store.stripe_count()).map(stripe).collect::<Result<Vec<_>>>()
    };
    let refusal = OnceCell::new();
    let rings =
        |files| uring(files, pool).inspect_err(|error| _ = refusal.set(error.to_string())).map_err(uring_refused);
    let threads = |files| -> Result<Box<dyn Fetcher>> {
        // Systems other than Linux have no io_uring that they could refuse.
        let refusal = refusal.get().filter(|_| cfg!(target_os = "linux"));
        Ok(Box::new(ThreadsFetcher::new(files)?.with_refusal(refusal.cloned())))
    };
    let mut fetchers = match kind {
        FetcherKind::Threads => all(&threads)?,
        FetcherKind::Simulated(faults) => all(&|files| Ok(Box::new(SimulatedFetcher::new(files, faults))))?,
        FetcherKind::Uring => all(&rings)?,
        // If one stripe cannot have a ring, all use threads, so that they are equally fast.
        FetcherKind::Auto => all(&rings).or_else(|_| all(&threads))?,
    };
    match fetchers.len() {
        1 => Ok(fetchers.remove(0)),
        _ => Ok(Box::new(StripedFetcher::new(fetchers))),
    }
}

#[cfg(target_os = "linux")]
fn uring(files: PageFiles, pool: &Arc<PagePool>) -> io::Result<Box<dyn Fetcher>> {
    UringFetcher::new(files, pool).map(|fetcher| Box::new(fetcher) as _)
}

#[cfg(not(target_os = "linux"))]
fn uring(_: PageFiles, _: &Arc<PagePool>) -> io::Result<Box<dyn Fetcher>> {
    Err(io::ErrorKind::Unsupported.into())
}

fn uring_refused(error: io::Error) -> crate::error::Error {
    crate::error::Error::Fetcher(format!(
        "io_uring is not available: {error}; `--tune fetcher=threads` works on every system"
    ))
}
