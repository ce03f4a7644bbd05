//! The portable fetcher: positioned reads on a few threads.

use super::{Fetcher, PageFiles, PageFilled, PageRead};
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread::JoinHandle;
use tokio::sync::mpsc;

/// How many reads of a stripe the system sees at once. They sleep in the kernel: more than cores is right.
const THREADS: usize = 16;
/// The most threads of all stripes together, as long as each has one.
const THREADS_MAX: usize = 64;

/// Positioned reads on threads.
#[derive(Debug)]
pub struct ThreadsFetcher {
    reads: Option<Sender<PageRead>>,
    filled: mpsc::UnboundedReceiver<PageFilled>,
    threads: Vec<JoinHandle<()>>,
    in_flight: usize,
    direct: bool,
}

impl ThreadsFetcher {
    /// A fetcher over these files.
    pub fn new(files: PageFiles) -> Self {
        let (reads, take) = unbounded();
        let (give, filled) = mpsc::unbounded_channel();
        let threads = (THREADS_MAX / files.stripes()).clamp(1, THREADS);
        let (direct, files) = (files.direct(), Arc::new(files));
        let start = |_| {
            let (files, take, give) = (Arc::clone(&files), take.clone(), give.clone());
            std::thread::spawn(move || serve(&files, &take, &give))
        };
        Self { reads: Some(reads), filled, threads: (0..threads).map(start).collect(), in_flight: 0, direct }
    }
}

fn serve(files: &PageFiles, take: &Receiver<PageRead>, give: &mpsc::UnboundedSender<PageFilled>) {
    for PageRead { page, mut frame } in take {
        let result = files.read(page, &mut frame);
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

    fn submit(&mut self, read: PageRead) {
        self.in_flight += 1;
        self.reads.as_ref().expect("open until dropped").send(read).expect("threads end only after this sender");
    }

    fn poll_filled(&mut self, context: &mut Context<'_>, filled: &mut Vec<PageFilled>) -> Poll<()> {
        let poll = self.filled.poll_recv_many(context, filled, self.in_flight.max(1));
        poll.map(|count| self.in_flight -= count)
    }

    fn in_flight(&self) -> usize {
        self.in_flight
    }
}

impl Drop for ThreadsFetcher {
    fn drop(&mut self) {
        self.reads = None;
        for thread in self.threads.drain(..) {
            thread.join().ok();
        }
    }
}
