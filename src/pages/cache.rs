//! Bookkeeping of the page buffer: which page is in which frame, and which frame is reused next. No I/O.
//!
//! ```text
//!           take(page): hit                       put_back(page, frame)
//!  resident ───────────────▶ in use (device) ───────────────▶ resident, or transient once the resident share is full
//!  transient ──────────────▶    ▲                                                                │
//!                               │ filled                     frame(): free first, then transient ▼
//!                            in flight (fetcher) ◀───────────────────────── then, in traversals, the oldest resident
//! ```
//!
//! A scan under plain LRU never hits if the graph is larger than the buffer. A scan here keeps a fixed share of the
//! frames resident and streams the other pages through the rest. Cached pages are visited first, so every page that the
//! last scan left is a hit. The hit rate is the number of frames over the number of pages, B / (S + L) in GTS (Kim et
//! al., SIGMOD 2016, §7.6).

use crate::pages::fetch::PageRef;
use lru::LruCache;

/// The replacement policy for frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// For a pass over all pages: resident pages stay.
    Scan,
    /// For traversals: the least recently used page is evicted.
    Lru,
}

/// Frames of type `F`, with and without pages.
#[derive(Debug)]
pub struct PageCache<F> {
    free: Vec<F>,
    resident: LruCache<PageRef, F>,
    transient: LruCache<PageRef, F>,
    resident_max: usize,
}

impl<F> PageCache<F> {
    /// Creates a cache over `frames`. A scan uses `stream_frames` of them for streaming and keeps pages in the others.
    pub fn new(frames: Vec<F>, stream_frames: usize) -> Self {
        let resident_max = frames.len().saturating_sub(stream_frames);
        Self { free: frames, resident: LruCache::unbounded(), transient: LruCache::unbounded(), resident_max }
    }

    /// Prepares for a pass under a policy. `wanted` returns whether the pass may visit a page. In a scan, resident
    /// pages that will not be visited become transient, as do the least recently used ones beyond the resident share (a
    /// traversal makes every page resident).
    pub fn begin(&mut self, policy: Policy, wanted: impl Fn(PageRef) -> bool) {
        if policy == Policy::Scan {
            let unwanted: Vec<PageRef> =
                self.resident.iter().map(|(&page, _)| page).filter(|&page| !wanted(page)).collect();
            for page in unwanted {
                let frame = self.resident.pop(&page).expect("just listed");
                self.transient.put(page, frame);
                self.transient.demote(&page);
            }
            while self.resident.len() > self.resident_max {
                let (page, frame) = self.resident.pop_lru().expect("just counted");
                self.transient.put(page, frame);
            }
        }
    }

    /// Returns whether a page, or a part of it, is in a frame. Does not count as a use.
    pub fn contains(&self, page: PageRef) -> bool {
        self.resident.contains(&page) || self.transient.contains(&page)
    }

    /// Returns whether a page is in a transient frame, which a scan reuses first.
    pub fn is_transient(&self, page: PageRef) -> bool {
        self.transient.contains(&page)
    }

    /// Returns the frame that holds a page, if there is one. Does not count as a use.
    pub fn peek(&self, page: PageRef) -> Option<&F> {
        self.resident.peek(&page).or_else(|| self.transient.peek(&page))
    }

    /// Takes out the frame that holds a page, if there is one: a hit. [`put_back`](Self::put_back) returns it.
    pub fn take(&mut self, page: PageRef) -> Option<F> {
        self.transient.pop(&page).or_else(|| self.resident.pop(&page))
    }

    /// Takes out a frame to be filled with another page, if the policy allows one.
    pub fn frame(&mut self, policy: Policy) -> Option<F> {
        let free = self.free.pop().or_else(|| self.transient.pop_lru().map(|(_, frame)| frame));
        free.or_else(|| match policy {
            Policy::Lru => self.resident.pop_lru().map(|(_, frame)| frame),
            Policy::Scan => None,
        })
    }

    /// Takes out a frame to be filled ahead of time: a free or transient one, or the frame of the least recently used
    /// page that need not be kept.
    pub fn frame_beside(&mut self, keep: impl Fn(PageRef) -> bool) -> Option<F> {
        if !self.free.is_empty() {
            return self.free.pop();
        }
        let oldest = |pages: &LruCache<PageRef, F>| pages.iter().rev().map(|(&page, _)| page).find(|&page| !keep(page));
        let page = oldest(&self.transient).or_else(|| oldest(&self.resident))?;
        self.take(page)
    }

    /// Puts back a frame that holds a page.
    pub fn put_back(&mut self, page: PageRef, frame: F, policy: Policy) {
        if policy == Policy::Lru || self.resident.len() < self.resident_max {
            self.resident.put(page, frame);
        } else {
            self.transient.put(page, frame);
        }
    }

    /// Puts back a frame that holds a part of a page. Its frame is reused before frames of whole pages.
    pub fn put_back_part(&mut self, page: PageRef, frame: F) {
        self.transient.put(page, frame);
    }

    /// Puts back all frames whose pages are not of use, without their pages.
    pub fn release_if(&mut self, useless: impl Fn(&F) -> bool) {
        for pages in [&mut self.resident, &mut self.transient] {
            let gone: Vec<PageRef> = pages.iter().filter(|(_, frame)| useless(frame)).map(|(&page, _)| page).collect();
            self.free.extend(gone.iter().map(|page| pages.pop(page).expect("just listed")));
        }
    }

    /// Puts back a frame that holds no page.
    pub fn release(&mut self, frame: F) {
        self.free.push(frame);
    }

    /// Returns any frame that is in the cache.
    pub fn any(&self) -> Option<&F> {
        let held = self.resident.iter().chain(self.transient.iter()).map(|(_, frame)| frame);
        self.free.iter().chain(held).next()
    }

    /// The number of pages in frames.
    pub fn pages(&self) -> usize {
        self.resident.len() + self.transient.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use topostream_formats::{Direction, PageId};

    fn page(number: u32) -> PageRef {
        PageRef { direction: Direction::Out, page: PageId(number) }
    }

    /// Makes one pass over pages `0..pages`, cached ones first, with at most `in_use_max` frames out at a time. Returns
    /// the number of hits.
    fn scan(cache: &mut PageCache<u32>, pages: u32, policy: Policy, in_use_max: usize) -> u32 {
        cache.begin(policy, |_| true);
        let (mut cached, missing): (Vec<u32>, Vec<u32>) = (0..pages).partition(|&p| cache.contains(page(p)));
        cached.sort_by_key(|&p| !cache.is_transient(page(p)));
        let mut hits = 0;
        for p in cached {
            if let Some(frame) = cache.take(page(p)) {
                hits += 1;
                cache.put_back(page(p), frame, policy);
            }
        }
        let mut in_use = Vec::new();
        for p in missing {
            if in_use.len() == in_use_max {
                let (p, frame) = in_use.remove(0);
                cache.put_back(page(p), frame, policy);
            }
            in_use.push((p, cache.frame(policy).expect("a frame is free: at most the streaming ones are in use")));
        }
        in_use.into_iter().for_each(|(p, frame)| cache.put_back(page(p), frame, policy));
        hits
    }

    /// GTS's claim, for buffers from 1% to 100% of the graph: the hit rate of a scan is at least 0.9 B / (S + L).
    #[test]
    fn scans_hit_their_share() {
        for (buffer, pages) in [(4, 400), (20, 400), (100, 400), (200, 400), (399, 400), (400, 400), (500, 400)] {
            let stream = (buffer / 10).clamp(2, 16);
            let mut cache = PageCache::new((0..buffer).collect(), stream as usize);
            scan(&mut cache, pages, Policy::Scan, stream as usize);
            for pass in 0..3 {
                let hits = scan(&mut cache, pages, Policy::Scan, stream as usize);
                let share = f64::from(hits) / f64::from(pages);
                let expected = 0.9 * f64::from(buffer.min(pages)) / f64::from(pages);
                assert!(share >= expected, "buffer {buffer}, pass {pass}: {share} < {expected}");
            }
        }
    }

    /// Scans need their own policy: in file order, LRU never hits.
    #[test]
    fn a_scan_in_file_order_under_lru_hits_nothing() {
        let mut cache = PageCache::new((0..100).collect(), 10);
        let mut hits = 0;
        for p in (0..3).flat_map(|_| 0..101) {
            let frame = cache.take(page(p)).inspect(|_| hits += 1).or_else(|| cache.frame(Policy::Lru)).unwrap();
            cache.put_back(page(p), frame, Policy::Lru);
        }
        assert_eq!(hits, 0);
    }

    #[test]
    fn traversals_keep_the_pages_used_last() {
        let mut cache = PageCache::new(vec![0, 1, 2], 1);
        for p in [10, 11, 12, 10, 13] {
            let frame = cache.take(page(p)).or_else(|| cache.frame(Policy::Lru)).unwrap();
            cache.put_back(page(p), frame, Policy::Lru);
        }
        let held: Vec<bool> = [10, 11, 12, 13].map(|p| cache.contains(page(p))).into();
        assert_eq!(held, [true, false, true, true]);
    }

    #[test]
    fn pages_that_are_wanted_stay_when_others_are_read_ahead() {
        let mut cache = PageCache::new(vec![0, 1, 2], 1);
        for p in [10, 11, 12] {
            let frame = cache.frame(Policy::Lru).unwrap();
            cache.put_back(page(p), frame, Policy::Lru);
        }
        let keep = |wanted: PageRef| [10, 12].contains(&wanted.page.0);
        assert!(cache.frame_beside(keep).is_some());
        assert_eq!(cache.frame_beside(keep), None);
        assert_eq!([10, 11, 12].map(|p| cache.contains(page(p))), [true, false, true]);
    }

    #[test]
    fn frames_with_parts_are_reused_first_and_released_at_the_end() {
        let mut cache = PageCache::new(vec![0, 1, 2], 1);
        for p in [10, 11, 12] {
            let frame = cache.frame(Policy::Lru).unwrap();
            if p == 11 { cache.put_back_part(page(p), frame) } else { cache.put_back(page(p), frame, Policy::Lru) }
        }
        assert_eq!(cache.frame(Policy::Lru), Some(1), "the frame of page 11");
        assert!(cache.contains(page(10)) && !cache.contains(page(11)));
        cache.put_back_part(page(11), 1);
        cache.release_if(|&frame| frame == 1);
        assert!(cache.contains(page(10)) && cache.contains(page(12)) && !cache.contains(page(11)));
        assert_eq!(cache.frame(Policy::Scan), Some(1), "free");
    }

    #[test]
    fn frames_are_neither_lost_nor_doubled() {
        let mut cache = PageCache::new((0..8).collect(), 2);
        scan(&mut cache, 30, Policy::Scan, 2);
        scan(&mut cache, 30, Policy::Lru, 2);
        scan(&mut cache, 5, Policy::Scan, 2);
        let mut all: Vec<u32> = std::iter::from_fn(|| cache.frame(Policy::Lru)).collect();
        all.sort_unstable();
        assert_eq!(all, (0..8).collect::<Vec<_>>());
    }

    /// A scan of another topology replaces the resident pages.
    #[test]
    fn resident_pages_of_another_topology_are_replaced() {
        let mut cache = PageCache::new((0..10).collect(), 2);
        scan(&mut cache, 10, Policy::Scan, 2);
        let incoming = |number| PageRef { direction: Direction::In, page: PageId(number) };
        cache.begin(Policy::Scan, |page| page.direction == Direction::In);
        for p in 0..8 {
            let frame = cache.frame(Policy::Scan).expect("unwanted resident pages are transient now");
            cache.put_back(incoming(p), frame, Policy::Scan);
        }
        assert!((0..8).all(|p| cache.contains(incoming(p))));
    }
}
