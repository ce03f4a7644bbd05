//! The worker threads of a run: one pool that all of its devices share.
//!
//! A CPU device runs edge functions and vertex phases on it, a GPU device checks pages on it. A pool for each device
//! would start several times as many threads as the run may use, and idle threads of one device could not help another.
//!
//! Jobs run in order of submission, except that [urgent](Workers::spawn_urgent) ones come first: a check is short, and
//! a GPU must not wait for it behind the pages of a CPU.
//!
//! A run also has the calling thread, one that feeds each GPU, one for each GPU that records when vertices were
//! activated (if the algorithm needs that), and the threads of a fetcher that reads on threads. None of them computes.

use crate::error::Result;
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::any::Any;
use topostream_formats::threads;

/// The name of the pool's threads.
pub const THREAD_NAME: &str = "worker";

type Job = Box<dyn FnOnce() + Send>;

/// A pool of threads with two queues.
pub struct Workers {
    pool: rayon::ThreadPool,
    urgent: Sender<Job>,
    take: Receiver<Job>,
}

impl Workers {
    /// Starts this many threads, at least one.
    ///
    /// # Errors
    /// [`Error::Threads`](topostream_formats::Error::Threads) if the system refuses them.
    pub fn new(threads: usize) -> Result<Self> {
        let (urgent, take) = unbounded();
        Ok(Self { pool: threads::pool(THREAD_NAME, threads.max(1))?, urgent, take })
    }

    /// The number of threads.
    pub fn count(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Queues a job after all others. It must not panic.
    pub fn spawn(&self, job: impl FnOnce() + Send + 'static) {
        let urgent = self.take.clone();
        self.pool.spawn(move || {
            urgent.try_iter().for_each(|before| before());
            job();
        });
    }

    /// Queues a job before all jobs that are not urgent. It must not panic.
    pub fn spawn_urgent(&self, job: impl FnOnce() + Send + 'static) {
        self.urgent.send(Box::new(job)).expect("the receiving end is here too");
        let urgent = self.take.clone();
        // Another urgent job may have run this one already.
        self.pool.spawn(move || urgent.try_recv().into_iter().for_each(|job| job()));
    }

    /// Runs work on one of the threads and waits for it; parallel iterators in it use all of them.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }
}

/// The message of a panic.
pub fn panic_message(payload: &(dyn Any + Send)) -> String {
    let message = payload.downcast_ref::<String>().map(String::as_str);
    message.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urgent_jobs_go_first() {
        let workers = Workers::new(0).unwrap();
        assert_eq!(workers.count(), 1);
        let (report, done) = unbounded();
        let (go, wait) = unbounded::<()>();
        workers.spawn(move || wait.recv().unwrap_or(()));
        for number in 0..3 {
            let report = report.clone();
            workers.spawn(move || report.send(number).unwrap());
        }
        for number in 3..5 {
            let report = report.clone();
            workers.spawn_urgent(move || report.send(number).unwrap());
        }
        drop((go, report));
        assert_eq!(done.iter().collect::<Vec<_>>(), [3, 4, 0, 1, 2]);
    }

    #[test]
    fn panics_have_messages() {
        let message = |work: fn()| panic_message(&*std::panic::catch_unwind(work).unwrap_err());
        assert_eq!(message(|| panic!("words")), "words");
        assert_eq!(message(|| panic!("number {}", 1)), "number 1");
        assert_eq!(message(|| std::panic::panic_any(1)), "a panic without a message");
    }
}
