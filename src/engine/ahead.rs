//! Read-ahead: pages of the next frontier are read while the device still processes the current superstep.
//!
//! ```text
//!  upcoming ─▶ a free frame, or the frame of a page not upcoming ────▶ reading ─▶ page buffer, not checked
//!                                                                         │                │
//!  the next superstep visits the page:                   passed to the device when filled  └ passed as a fresh page
//! ```
//!
//! Pages that were read ahead are checked when they are visited, like all pages. A page that cannot be read is read
//! again if it is visited. The bytes count in the superstep that visits the pages.

use crate::pages::cache::PageCache;
use crate::pages::fetch::{Frame, PageRef};
use std::collections::HashSet;

/// The device is asked for upcoming pages again once it has processed at least this many pages, and at least one in
/// `ASK_PART` of the known ones. Before that, the next frontier has hardly grown.
const ASK_EVERY: usize = 32;
const ASK_PART: usize = 16;

/// Pages that were requested ahead of the superstep that visits them.
#[derive(Debug, Default)]
pub(super) struct ReadAhead {
    /// Reads in flight that no superstep has requested yet.
    reading: HashSet<PageRef>,
    /// Pages in the page buffer that have not been checked.
    unchecked: HashSet<PageRef>,
    /// The number of reads since the last superstep began.
    reads: u64,
}

impl ReadAhead {
    /// Begins a superstep: returns the number of reads since the last one began.
    pub fn take_reads(&mut self) -> u64 {
        std::mem::take(&mut self.reads)
    }

    /// The number of reads in flight that no superstep has requested.
    pub fn in_flight(&self) -> usize {
        self.reading.len()
    }

    /// The pages of these reads.
    pub fn reading(&self) -> impl Iterator<Item = PageRef> {
        self.reading.iter().copied()
    }

    /// Whether a page is being read ahead.
    pub fn is_reading(&self, page: PageRef) -> bool {
        self.reading.contains(&page)
    }

    /// Records that a read has begun.
    pub fn begin(&mut self, page: PageRef) {
        // Its frame may have been reused since it was read ahead before.
        self.unchecked.remove(&page);
        self.reading.insert(page);
        self.reads += 1;
    }

    /// Whether a page that is not in the page buffer is being read ahead. If it is, the caller takes over the read.
    pub fn adopt(&mut self, page: PageRef) -> bool {
        self.unchecked.remove(&page);
        self.reading.remove(&page)
    }

    /// Records that a page is in the page buffer.
    pub fn filled(&mut self, page: PageRef) {
        self.unchecked.insert(page);
    }

    /// Whether a page in the page buffer must still be checked. The caller then lets the device check it.
    pub fn is_fresh(&mut self, page: PageRef) -> bool {
        self.unchecked.remove(&page)
    }

    /// Removes all pages that have not been checked from the page buffer, for the next run.
    pub fn forget(&mut self, cache: &mut PageCache<Frame>) {
        for page in self.unchecked.drain() {
            if let Some(frame) = cache.take(page) {
                cache.release(frame);
            }
        }
    }
}

/// The upcoming pages of a superstep in progress.
#[derive(Debug, Default)]
pub(super) struct Upcoming {
    /// All known pages.
    known: HashSet<PageRef>,
    /// The pages whose read has not begun.
    waiting: HashSet<PageRef>,
    /// The number of pages that the device has completed since it was last asked; `None` before that.
    done: Option<usize>,
}

impl Upcoming {
    /// Records that the device has completed a page.
    pub fn page_done(&mut self) {
        self.done = self.done.map(|done| done + 1);
    }

    /// Whether the device should be asked.
    pub fn is_due(&self) -> bool {
        let enough = ASK_EVERY.max(self.known.len() / ASK_PART);
        self.waiting.is_empty() && self.done.is_none_or(|done| done >= enough)
    }

    /// Adds the pages that the device has reported. Returns the new ones for which `is_missing` holds, to be read.
    pub fn take(&mut self, pages: Vec<PageRef>, is_missing: impl Fn(PageRef) -> bool) -> Vec<PageRef> {
        self.done = Some(0);
        let missing: Vec<PageRef> = pages.iter().copied().filter(|&page| is_missing(page)).collect();
        self.known = pages.into_iter().collect();
        self.waiting = missing.iter().copied().collect();
        missing
    }

    /// Whether a page must stay in the page buffer, since the next superstep visits it.
    pub fn contains(&self, page: PageRef) -> bool {
        self.known.contains(&page)
    }

    /// Whether a page is to be read for the next superstep.
    pub fn is_waiting(&self, page: PageRef) -> bool {
        self.waiting.contains(&page)
    }

    /// Records that a read has begun.
    pub fn begin(&mut self, page: PageRef) {
        self.waiting.remove(&page);
    }

    /// Drops the pages that have not been requested, and returns them.
    pub fn give_up(&mut self) -> HashSet<PageRef> {
        std::mem::take(&mut self.waiting)
    }
}
