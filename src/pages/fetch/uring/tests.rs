//! Tests of a ring whose requests the kernel refuses, transiently or permanently.

use super::*;
use std::fs::File;
use std::future::poll_fn;
use std::sync::atomic::{AtomicU32, Ordering};
use topostream_formats::patience::Patience;
use topostream_formats::{Direction, MemorySource, PageId, Store};
use topostream_tools::format::{FormatOptions, format};
use topostream_tools::progress::{Cancel, Quiet};

const PAGES: u32 = 12;

/// A fetcher over a small store, with a read of each page submitted and not yet polled.
struct Rig {
    fetcher: UringFetcher,
    store: Store,
    _folder: tempfile::TempDir,
}

impl Rig {
    /// Returns `None` if the system has no io_uring.
    fn new() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("graph");
        let edges: Vec<(u32, u32)> = (0..200_000).map(|number| (number % 1000, number / 1000)).collect();
        let mut options = FormatOptions { memory_bytes: 256 << 20, ..FormatOptions::plain() };
        options.layout.page_bytes = 64 << 10;
        let mut source = || Ok(Box::new(MemorySource::pairs(1000, &edges)) as _);
        format(&mut source, &path, &options, &Quiet, &Cancel::default()).unwrap();
        let store = Store::open(&path).unwrap();
        let frames = PagePool::frames(PAGES, 64 << 10, 0).unwrap();
        let files = PageFiles::open(&store, 0, false, 0).unwrap();
        let Ok(mut fetcher) = UringFetcher::new(files, frames[0].pool()) else {
            eprintln!("skipped: io_uring is not available");
            return None;
        };
        for (page, frame) in (0..).zip(frames) {
            fetcher.submit(PageRead { page: PageRef { direction: Direction::Out, page: PageId(page) }, frame });
        }
        Some(Self { fetcher, store, _folder: folder })
    }

    /// Polls until all pages are filled or an error is returned, and checks the pages.
    async fn all(&mut self) -> error::Result<()> {
        let mut filled = Vec::new();
        while self.fetcher.in_flight() > 0 {
            poll_fn(|context| self.fetcher.poll_filled(context, &mut filled)).await?;
        }
        let topology = self.store.topology(Direction::Out).unwrap();
        for PageFilled { page, frame, result } in filled {
            result.unwrap();
            topology.check(page.page, frame.page(), None, &self.store.page_context(topology)).unwrap();
        }
        Ok(())
    }
}

/// Runs a test in a runtime, with a timeout: a fetcher that waits forever fails the test.
fn run(test: impl AsyncFnOnce(Rig)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let Some(rig) = Rig::new() else { return };
        tokio::time::timeout(Duration::from_secs(20), test(rig)).await.expect("the test ends within the timeout");
    });
}

/// Frames that are filled repeatedly are registered, and reads into them stay correct.
#[test]
fn frames_are_registered_once_they_have_been_filled_twice() {
    run(async |mut rig| {
        if !rig.fetcher.registration.is_possible() {
            eprintln!("skipped: the kernel registers no buffers");
            return;
        }
        for fills in 1..6 {
            let mut filled = Vec::new();
            while rig.fetcher.in_flight() > 0 {
                poll_fn(|context| rig.fetcher.poll_filled(context, &mut filled)).await.unwrap();
            }
            let topology = rig.store.topology(Direction::Out).unwrap();
            let refused = !rig.fetcher.registration.is_possible();
            assert!(refused || rig.fetcher.registration.buffer(0).is_some() == (fills > 2), "{fills} fills");
            for PageFilled { page, frame, result } in filled {
                result.unwrap();
                topology.check(page.page, frame.page(), None, &rig.store.page_context(topology)).unwrap();
                rig.fetcher.submit(PageRead { page, frame });
            }
        }
    });
}

fn refuse(number: i32) -> Result<usize> {
    Err(Error::from_raw_os_error(number))
}

#[test]
fn a_lasting_error_of_the_ring_ends_in_a_typed_error() {
    for submit in
        [|_: &IoUring| refuse(libc::EPERM), |_: &IoUring| refuse(libc::EIO), |_: &IoUring| refuse(libc::ENOMEM)]
    {
        run(async |mut rig| {
            rig.fetcher.submit = submit;
            let error = rig.all().await.unwrap_err();
            let text = error.to_string();
            assert!(matches!(error, error::Error::Fetcher(_)) && text.contains("--tune fetcher=threads"), "{text}");
            // Later polls return the error too.
            assert!(rig.all().await.is_err());
            rig.fetcher.shut_down(Instant::now() + SHUT_DOWN_TIMEOUT);
            assert_eq!((rig.fetcher.in_ring, rig.fetcher.in_flight()), (0, 0));
        });
    }
}

/// The ring's descriptor is replaced by another file, so the kernel itself refuses every request.
#[test]
fn a_ring_without_its_descriptor_ends_in_a_typed_error() {
    run(async |mut rig| {
        let null = File::open("/dev/null").unwrap();
        #[allow(unsafe_code)]
        // SAFETY: both descriptors are open and belong to this test; the ring's descriptor stays open, on another file.
        let made = unsafe { libc::dup2(null.as_raw_fd(), rig.fetcher.ring.as_raw_fd()) };
        assert!(made >= 0);
        assert!(matches!(rig.all().await, Err(error::Error::Fetcher(_))));
    });
}

/// The ring dies after the kernel has taken some reads: `shut_down` waits for them.
#[test]
fn reads_that_the_kernel_has_taken_are_waited_for() {
    run(async |mut rig| {
        rig.fetcher.enter().unwrap();
        assert_eq!((rig.fetcher.queued.len(), rig.fetcher.in_ring), (0, PAGES as usize));
        rig.fetcher.submit = |_| refuse(libc::EIO);
        rig.fetcher.die(Error::from_raw_os_error(libc::EIO));
        let waited = Instant::now();
        rig.fetcher.shut_down(waited + SHUT_DOWN_TIMEOUT);
        assert!(waited.elapsed() < SHUT_DOWN_TIMEOUT, "the kernel has released every frame");
        assert_eq!(rig.fetcher.filled.len(), PAGES as usize);
        assert!(rig.fetcher.reads.iter().all(Option::is_none));
    });
}

/// Without time to wait, frames that the kernel may write to are not freed.
#[test]
fn reads_that_are_not_waited_for_keep_their_frames() {
    run(async |mut rig| {
        rig.fetcher.enter().unwrap();
        let pool = Arc::downgrade(rig.fetcher.reads[0].as_ref().unwrap().frame.pool());
        // The deadline has passed already, so no completion is waited for.
        rig.fetcher.shut_down(Instant::now());
        let kept = PAGES as usize - rig.fetcher.filled.len();
        drop(rig);
        assert_eq!(pool.upgrade().is_some(), kept > 0, "{kept} frames were not released");
    });
}

#[test]
fn transient_errors_are_retried() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    run(async |mut rig| {
        rig.fetcher.submit = |ring| match CALLS.fetch_add(1, Ordering::Relaxed) {
            0 | 2 => refuse(libc::EAGAIN),
            1 | 3 => refuse(libc::EINTR),
            // Not known to be transient, but tolerated unless it is the third in a row.
            5 => refuse(libc::EIO),
            _ => ring.submit(),
        };
        rig.all().await.unwrap();
        assert!(CALLS.load(Ordering::Relaxed) > 4);
    });
}

#[test]
fn lasting_transient_errors_end_in_a_typed_error() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    run(async |mut rig| {
        rig.fetcher.submit = |_| {
            CALLS.fetch_add(1, Ordering::Relaxed);
            refuse(libc::EAGAIN)
        };
        let (begun, longest) = (Instant::now(), Duration::from_millis(300));
        rig.fetcher.refusals = Patience::of(longest);
        let error = rig.all().await.unwrap_err();
        assert!(matches!(&error, error::Error::Fetcher(_)) && error.to_string().contains("for 0.3 s"), "{error}");
        assert!(begun.elapsed() >= longest);
        let calls = CALLS.load(Ordering::Relaxed);
        assert!(calls < 100, "{calls} calls without pauses");
    });
}

/// The pool is for another store: the page would overwrite the next frame.
#[test]
fn a_page_that_is_larger_than_its_frame_is_refused() {
    run(async |mut rig| {
        rig.all().await.unwrap();
        let frame = PagePool::frames(2, 4096, 0).unwrap().remove(0);
        rig.fetcher.submit(PageRead { page: PageRef { direction: Direction::Out, page: PageId(0) }, frame });
        let mut filled = Vec::new();
        poll_fn(|context| rig.fetcher.poll_filled(context, &mut filled)).await.unwrap();
        let refused =
            |error: &Unfilled| matches!(error, Unfilled::Read(error) if error.kind() == ErrorKind::InvalidInput);
        assert!(filled.remove(0).result.is_err_and(|error| refused(&error)));
        assert_eq!(rig.fetcher.in_flight(), 0);
    });
}
