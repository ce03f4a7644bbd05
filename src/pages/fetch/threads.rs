//! The portable fetcher: positioned reads on a few threads.

use super::open::THREADS;
use super::{Fetcher, PageFiles, PageFilled, PageRead, SHUT_DOWN_TIMEOUT, Unfilled};
use crate::error::{Error, Result};
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use topostream_formats::threads;

/// The maximum number of threads of all stripes together. Every stripe has at least one.
const THREADS_MAX: usize = 64;

/// Positioned reads on threads.
#[derive(Debug)]
pub struct ThreadsFetcher {
    reads: Option<Sender<PageRead>>,
    filled: mpsc::UnboundedReceiver<PageFilled>,
    threads: Vec<JoinHandle<()>>,
    /// Set when reads that have not begun are abandoned.
    abandoned: Arc<AtomicBool>,
    in_flight: usize,
    direct: bool,
    refusal: Option<String>,
}

impl ThreadsFetcher {
    /// Creates a fetcher over page files. It works with fewer threads than planned if the system starts no more.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn new(files: PageFiles) -> Result<Self> {
        let (reads, take) = unbounded();
        let (give, filled) = mpsc::unbounded_channel();
        let wanted = (THREADS_MAX / files.stripes()).clamp(1, THREADS);
        let (direct, files, abandoned) = (files.direct(), Arc::new(files), Arc::new(AtomicBool::new(false)));
        let mut started = Vec::new();
        for thread in 0..wanted {
            let (files, take, give) = (Arc::clone(&files), take.clone(), give.clone());
            let abandoned = Arc::clone(&abandoned);
            match threads::start("page reader", wanted, move || serve((thread, &files), &take, &give, &abandoned)) {
                Ok(thread) => started.push(thread),
                Err(_) if !started.is_empty() => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Self { reads: Some(reads), filled, threads: started, abandoned, in_flight: 0, direct, refusal: None })
    }

    /// Notes why the system has refused io_uring, which would have been used instead.
    pub fn with_refusal(mut self, refusal: Option<String>) -> Self {
        self.refusal = refusal;
        self
    }
}

fn serve(
    (thread, files): (usize, &PageFiles),
    take: &Receiver<PageRead>,
    give: &mpsc::UnboundedSender<PageFilled>,
    abandoned: &AtomicBool,
) {
    for PageRead { page, mut frame } in take {
        if abandoned.load(Ordering::Relaxed) {
            return;
        }
        let result = files.read(thread, page, &mut frame).map_err(Unfilled::Read);
        if give.send(PageFilled { page, frame, result }).is_err() {
            return;
        }
    }
}

impl Fetcher for ThreadsFetcher {
    fn name(&self) -> &'static str {
        "threads"
    }

    fn direct(&self) -> bool {
        self.direct
    }

    fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }

    fn submit(&mut self, read: PageRead) {
        self.in_flight += 1;
        let reads = self.reads.as_ref().expect("nothing is submitted after the end");
        // If all threads have ended, the next poll returns an error.
        reads.send(read).ok();
    }

    fn poll_filled(&mut self, context: &mut Context<'_>, filled: &mut Vec<PageFilled>) -> Poll<Result<()>> {
        match ready!(self.filled.poll_recv_many(context, filled, self.in_flight.max(1))) {
            0 => Poll::Ready(Err(Error::Fetcher("all threads that read pages have ended".into()))),
            count => {
                self.in_flight -= count;
                Poll::Ready(Ok(()))
            }
        }
    }

    fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// A thread in a read owns its frame, and the frame owns a reference to its pool. Both stay allocated until the
    /// thread returns from the read, even after `until`.
    fn shut_down(&mut self, until: Instant) {
        self.abandoned.store(true, Ordering::Relaxed);
        self.reads = None;
        while self.threads.iter().any(|thread| !thread.is_finished()) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        for thread in self.threads.drain(..).filter(JoinHandle::is_finished) {
            thread.join().ok();
        }
        self.in_flight = 0;
    }
}

impl Drop for ThreadsFetcher {
    fn drop(&mut self) {
        self.shut_down(Instant::now() + SHUT_DOWN_TIMEOUT);
    }
}
