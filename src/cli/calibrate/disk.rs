//! The rate at which the engine's fetcher reads pages, with no work on them.

use crate::cli::failure::Failure;
use crate::cli::opening;
use crate::pages::fetch::{self, CANCEL_TICK, FetcherKind, Frame, IN_FLIGHT_MAX, PagePool, PageRead, PageRef};
use crate::pages::parts::Parts;
use crate::predict::disks;
use crate::store::Store;
use std::future::poll_fn;
use std::path::Path;
use std::time::{Duration, Instant};
use topostream_formats::PageId;
use topostream_formats::chunks::{ChunkSet, chunk_bytes};
use topostream_formats::random::GOLDEN;
use topostream_tools::progress::Cancel;

/// Duration of the measurement.
const READING: Duration = Duration::from_secs(1);
/// Maximum bytes of frames in flight.
const IN_FLIGHT_BYTES: u64 = 64 << 20;

/// The measured rate.
pub struct Disk {
    /// Bytes a second of one disk.
    pub bytes_per_s: f64,
    /// Nanoseconds that the read of a chunk takes, with many in flight, beyond the time of its bytes at that rate.
    pub request_ns: f64,
    /// Whether reads bypassed the system's page cache.
    pub direct: bool,
}

/// The smallest figure for a read, in nanoseconds: shorter ones are noise.
const REQUEST_NS_MIN: f64 = 100.0;

/// Reads the pages of a store, in turn, for the duration, and then a chunk of each.
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
    let reading = Reading { store: &store, kind, pages: &pages, cancel };
    let (bytes_per_s, direct, frames) = runtime.block_on(reading.run(frames, |_| Parts::Whole))?;
    // Chunks of different places, so that the disk has no use for reading ahead.
    let chunks = page_bytes / chunk_bytes(page_bytes);
    let chunk = |number: u64| {
        let first = (number.wrapping_mul(GOLDEN) >> 32) as u32 % chunks;
        Parts::Chunks(ChunkSet::of_range(first..first + 1))
    };
    let (small_bytes_per_s, ..) = runtime.block_on(reading.run(frames, chunk))?;
    let disks = disks(&store);
    let byte_ns = 1e9 / small_bytes_per_s - 1e9 / bytes_per_s;
    let request_ns = (byte_ns * f64::from(chunk_bytes(page_bytes))).max(REQUEST_NS_MIN);
    Ok(Disk { bytes_per_s: bytes_per_s / disks, request_ns, direct })
}

/// The input of a measurement.
struct Reading<'a> {
    store: &'a Store,
    kind: FetcherKind,
    pages: &'a [PageRef],
    cancel: &'a Cancel,
}

impl Reading<'_> {
    /// Reads a part of each page in turn; returns bytes a second, whether reads were direct, and the frames.
    async fn run(&self, mut free: Vec<Frame>, part: impl Fn(u64) -> Parts) -> Result<(f64, bool, Vec<Frame>), Failure> {
        let Self { store, kind, pages, cancel } = *self;
        let (page_bytes, chunk_bytes) = (store.manifest().page_bytes, chunk_bytes(store.manifest().page_bytes));
        let pool = std::sync::Arc::clone(free[0].pool());
        let mut fetcher = fetch::open(kind, store, &pool, false)?;
        let (mut next, mut bytes, mut failed) = ((0..).zip(pages.iter().cycle()), 0, None);
        let started = Instant::now();
        loop {
            let more = failed.is_none() && started.elapsed() < READING && !cancel.is_cancelled();
            while more && let Some(mut frame) = free.pop() {
                let (number, &page) = next.next().expect("there are pages");
                frame.request(part(number));
                fetcher.submit(PageRead { page, frame });
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
                bytes += page.frame.requested().bytes(page_bytes.into(), chunk_bytes.into());
                failed = failed.or(page.result.err());
                free.push(page.frame);
            }
        }
        let seconds = started.elapsed().as_secs_f64();
        cancel.check()?;
        match failed {
            Some(error) => Err(Failure::Other(error.to_string())),
            None => Ok((bytes as f64 / seconds, fetcher.direct(), free)),
        }
    }
}
