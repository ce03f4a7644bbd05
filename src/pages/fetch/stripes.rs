//! One fetcher for each stripe, polled together. Each SSD has its own queue and its own ring or share of the threads.
//!
//! ```text
//!                        ┌─ stripe 0: ring ─ pages 0, 3, 6, …
//!  engine ── PageRead ──▶┼─ stripe 1: ring ─ pages 1, 4, 7, …   ──▶ PageFilled, in any order
//!                        └─ stripe 2: ring ─ pages 2, 5, 8, …
//! ```
//!
//! A slow or broken stripe delays only its own reads.
//!
//! Each stripe may have a full queue of 64 reads or 64 MiB, up to half of the frames in all. If the limit on locked
//! memory forbids a ring to register frames, it reads without registration.

use super::{Fetcher, PageFilled, PageRead};
use crate::error::Result;
use std::task::{Context, Poll};
use std::time::Instant;

/// A fetcher over several stripes.
pub struct StripedFetcher {
    /// The fetchers, by stripe number.
    fetchers: Vec<Box<dyn Fetcher>>,
}

impl StripedFetcher {
    /// Creates a fetcher from one fetcher for each stripe.
    pub fn new(fetchers: Vec<Box<dyn Fetcher>>) -> Self {
        assert!(!fetchers.is_empty(), "a store has at least one stripe");
        Self { fetchers }
    }
}

impl Fetcher for StripedFetcher {
    /// Returns the first name that differs from stripe 0's, or the name that all share.
    fn name(&self) -> &'static str {
        let first = self.fetchers[0].name();
        self.fetchers.iter().map(|fetcher| fetcher.name()).find(|&name| name != first).unwrap_or(first)
    }

    fn direct(&self) -> bool {
        self.fetchers.iter().all(|fetcher| fetcher.direct())
    }

    fn refusal(&self) -> Option<&str> {
        self.fetchers.iter().find_map(|fetcher| fetcher.refusal())
    }

    fn submit(&mut self, read: PageRead) {
        let stripe = read.page.stripe(self.fetchers.len());
        self.fetchers[stripe].submit(read);
    }

    fn poll_filled(&mut self, context: &mut Context<'_>, filled: &mut Vec<PageFilled>) -> Poll<Result<()>> {
        // All fetchers are polled every time: a ring submits its waiting requests when it is polled.
        let mut outcome = Poll::Pending;
        for fetcher in self.fetchers.iter_mut().filter(|fetcher| fetcher.in_flight() > 0) {
            match fetcher.poll_filled(context, filled) {
                Poll::Pending => {}
                Poll::Ready(Ok(())) if matches!(outcome, Poll::Ready(Err(_))) => {}
                ready => outcome = ready,
            }
        }
        outcome
    }

    fn in_flight(&self) -> usize {
        self.fetchers.iter().map(|fetcher| fetcher.in_flight()).sum()
    }

    fn shut_down(&mut self, until: Instant) {
        self.fetchers.iter_mut().for_each(|fetcher| fetcher.shut_down(until));
    }
}
