//! The rate at which the engine's fetcher reads pages, with no work on them.

use crate::cli::{Failure, opening};
use std::future::poll_fn;
use std::path::Path;
use std::time::{Duration, Instant};
use topostream::Store;
use topostream::pages::fetch::{self, CANCEL_TICK, FetcherKind, Frame, IN_FLIGHT_MAX, PagePool, PageRead, PageRef};
use topostream::predict::disks;
use topostream_formats::PageId;
use topostream_tools::progress::Cancel;

/// Duration of the measurement.
const READING: Duration = Duration::from_secs(1);
/// Maximum bytes of frames in flight.
const IN_FLIGHT_BYTES: u64 = 64 << 20;

/// The measured rate.
pub struct Disk {
    /// Bytes a second of one disk.
    pub bytes_per_s: f64,
    /// Whether reads bypassed the system's page cache.
    pub direct: bool,
}

/// Reads the pages of a store, in turn, for the duration.
pub fn measure(path: impl AsRef<Path>, kind: FetcherKind, cancel: &Cancel) -> Result<Disk, Failure> {
    let store = opening::open(path)?;
    let topologies = store.topologies().map(|of| (of.direction(), of.page_count())).collect::<Vec<_>>();
    let all = topologies
        .iter()
        .flat_map(|&(direction, count)| (0..count).map(move |page| PageRef { direction, page: PageId(page) }));
    let pages: Vec<PageRef> = all.collect();
    if pages.is_empty() {
        return Err(Failure::Other(format!("{}: there are no pages to read", store.path().display())));
    }
    let page_bytes = store.manifest().page_bytes;
    let frames = (IN_FLIGHT_BYTES / u64::from(page_bytes)).clamp(2, IN_FLIGHT_MAX as u64) as u32;
    let frames = PagePool::frames(frames, page_bytes, 0)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::Other(format!("the runtime cannot start: {error}")))?;
    runtime.block_on(read(&store, kind, &pages, frames, cancel))
}

async fn read(
    store: &Store,
    kind: FetcherKind,
    pages: &[PageRef],
    mut free: Vec<Frame>,
    cancel: &Cancel,
) -> Result<Disk, Failure> {
    let pool = std::sync::Arc::clone(free[0].pool());
    let mut fetcher = fetch::open(kind, store, &pool, false)?;
    let (mut next, mut count, mut failed) = (pages.iter().cycle(), 0u64, None);
    let started = Instant::now();
    loop {
        let more = failed.is_none() && started.elapsed() < READING && !cancel.is_cancelled();
        while more && let Some(frame) = free.pop() {
            fetcher.submit(PageRead { page: *next.next().expect("there are pages"), frame });
        }
        if fetcher.in_flight() == 0 {
            break;
        }
        let mut filled = Vec::new();
        let event = poll_fn(|context| fetcher.poll_filled(context, &mut filled));
        match tokio::time::timeout(CANCEL_TICK, event).await {
            Ok(outcome) => outcome?,
            // A disk that does not answer: the fetcher gives the reads up when it goes.
            Err(_) => cancel.check()?,
        }
        for page in filled {
            count += 1;
            failed = failed.or(page.result.err());
            free.push(page.frame);
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    cancel.check()?;
    if let Some(error) = failed {
        return Err(Failure::Other(error.to_string()));
    }
    let bytes = count as f64 * f64::from(store.manifest().page_bytes);
    Ok(Disk { bytes_per_s: bytes / seconds / disks(store), direct: fetcher.direct() })
}
