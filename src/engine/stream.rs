//! The pages of a superstep: requested as frames become free, handed to the device, and kept or evicted when it is
//! done.
//!
//! A page that cannot be read or fails its check is tried three times in all; then the run ends with an error that
//! names the file and the page. When a run ends early, it waits up to five seconds for reads in flight; frames that the
//! kernel still holds then are never freed.

use super::ahead::{ReadAhead, Upcoming};
use super::progress::Progress;
use super::waits::Intervals;
use crate::device::{Device, PageDone, PageTask};
use crate::error::{Error, Result};
use crate::model::algorithm::Step;
use crate::pages::backlog::Backlog;
use crate::pages::cache::{PageCache, Policy};
use crate::pages::fetch::{CANCEL_TICK, Fetcher, Frame, PageFilled, PageRead, PageRef, SHUT_DOWN_TIMEOUT, Unfilled};
use crate::pages::memory::MemoryPlan;
use crate::pages::meters::StripeMeters;
use crate::pages::parts::{Parts, WantedParts};
use crate::pages::read_sizes::ReadSizes;
use crate::pages::{PagePlan, StripeReport};
use crate::report::StepReport;
use crate::trace::EngineSpans;
use std::collections::{HashMap, HashSet};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Instant;
use tokio::time::Interval;
use topostream_formats::Store;

/// The number of times that a page is read before the run ends with an error.
const TRIES_MAX: u32 = 3;

/// The fetcher of a run, and the frames that pages are read into.
pub(super) struct PageStream {
    cache: PageCache<Frame>,
    ahead: ReadAhead,
    fetcher: Box<dyn Fetcher>,
    sizes: ReadSizes,
    stripes: usize,
    in_flight_max: usize,
    stripe_in_flight_max: usize,
    /// Whether frames of pages that the device keeps are used for others at once, in traversals too.
    leaves_kept: bool,
    /// For each page that has failed: the number of tries since it last succeeded.
    tries: HashMap<PageRef, u32>,
    retries: u64,
    meters: StripeMeters,
    progress: Option<Arc<Progress>>,
    /// Ends waits at intervals, so that a run can be cancelled if its disk or device does not respond.
    tick: Interval,
}

/// The pages of one superstep in progress.
struct Visit<'a> {
    stream: &'a mut PageStream,
    device: &'a mut dyn Device,
    spans: &'a mut EngineSpans,
    policy: Policy,
    backlog: Backlog,
    /// The number of pages that the device is working on.
    in_device: usize,
    /// The pages that the device is not done with: they wait, are being read, or are on the device.
    left: HashSet<PageRef>,
    /// The parts of pages that are not read whole.
    parts: WantedParts,
    /// The superstep, if pages of the next one are to be read, and those pages.
    next: Option<&'a Step>,
    upcoming: Upcoming,
    report: StepReport,
    intervals: Intervals,
    /// When the last event was accounted for.
    since: Instant,
}

enum Event {
    Filled(Vec<PageFilled>),
    Done(Vec<PageDone>),
    /// No event for [`CANCEL_TICK`].
    Tick,
}

/// The part of a page that a superstep needs.
fn wanted_of(parts: &WantedParts, page: PageRef) -> Parts {
    parts.get(&page).map_or(Parts::Whole, |part| Parts::Chunks(part.chunks))
}

fn cleared(mut frame: Frame) -> Frame {
    frame.clear();
    frame
}

impl PageStream {
    /// Creates a stream over the frames of `cache`. Must be called within the run's runtime.
    pub fn new(
        store: &Store,
        plan: &MemoryPlan,
        cache: PageCache<Frame>,
        fetcher: Box<dyn Fetcher>,
        progress: Option<Arc<Progress>>,
    ) -> Self {
        Self {
            cache,
            ahead: ReadAhead::default(),
            fetcher,
            sizes: ReadSizes::new(store, plan),
            stripes: plan.stripes as usize,
            in_flight_max: plan.in_flight_max(),
            stripe_in_flight_max: plan.stripe_in_flight_max(),
            leaves_kept: false,
            tries: HashMap::new(),
            retries: 0,
            meters: StripeMeters::new(store),
            progress,
            tick: tokio::time::interval(CANCEL_TICK),
        }
    }

    /// Leaves pages to the device that it keeps: it has room for all, and no other run follows. Few frames are used
    /// then, again and again, so that most of a large page buffer is never touched.
    pub fn leave_kept(&mut self) {
        self.leaves_kept = true;
    }

    /// Returns the fetcher.
    pub fn fetcher(&self) -> &dyn Fetcher {
        &*self.fetcher
    }

    /// Returns whether a page is in the page buffer, as a whole.
    pub fn contains(&self, page: PageRef) -> bool {
        self.missing(page, Parts::Whole).is_none()
    }

    /// Returns what is not in the page buffer of a part of a page.
    fn missing(&self, page: PageRef, wanted: Parts) -> Parts {
        self.cache.peek(page).map_or(wanted, |frame| wanted.without(frame.held()))
    }

    /// Returns the reads and bytes that a superstep over these pages would take.
    pub fn missing_of(&self, pages: impl Iterator<Item = PageRef>, parts: &WantedParts) -> (u64, u64) {
        pages.fold((0, 0), |(reads, bytes), page| {
            let missing = self.missing(page, wanted_of(parts, page));
            (reads + missing.reads(), bytes + self.sizes.of(page, missing))
        })
    }

    /// Returns the number of reads that were repeated.
    pub fn retries(&self) -> u64 {
        self.retries
    }

    /// Returns the reads of each stripe.
    pub fn stripe_reports(&self) -> Vec<StripeReport> {
        self.meters.reports()
    }

    /// Returns the bytes that were read ahead since the last superstep began.
    pub fn unvisited_bytes(&mut self) -> u64 {
        self.ahead.take_reads() * self.sizes.mean()
    }

    /// Waits for reads in flight that no superstep has requested, at most for [`SHUT_DOWN_TIMEOUT`].
    ///
    /// # Errors
    /// [`Error::Fetcher`].
    pub async fn settle(&mut self) -> Result<()> {
        let (begun, mut filled) = (Instant::now(), Vec::new());
        while self.fetcher.in_flight() > 0 && begun.elapsed() < SHUT_DOWN_TIMEOUT {
            poll_fn(|context| match self.fetcher.poll_filled(context, &mut filled) {
                Poll::Ready(result) => Poll::Ready(result),
                Poll::Pending => self.tick.poll_tick(context).map(|_| Ok(())),
            })
            .await?;
            for PageFilled { page, frame, .. } in filled.drain(..) {
                self.ahead.adopt(page);
                self.meters.read_ends(page);
                self.cache.release(frame);
            }
        }
        Ok(())
    }

    /// Returns the page buffer, for the next run.
    pub fn into_cache(mut self) -> PageCache<Frame> {
        self.ahead.forget(&mut self.cache);
        self.cache.release_if(|frame| frame.held() != Parts::Whole);
        self.cache
    }

    /// Reads pages and passes them to the device, until it is done with all of them. Meanwhile, if `next` is the
    /// superstep, pages of the next one are requested as far as they are known and frames allow.
    ///
    /// # Errors
    /// [`Error::Read`] or [`Error::Store`] with the page that failed [`TRIES_MAX`] times; [`Error::Fetcher`]; errors of
    /// the device; [`Error::Interrupted`] once `cancel` is set. After an error, reads in flight are waited for, at most
    /// for [`SHUT_DOWN_TIMEOUT`].
    pub async fn visit(
        &mut self,
        device: &mut dyn Device,
        spans: &mut EngineSpans,
        (cancel, next): (Option<&AtomicBool>, Option<&Step>),
        plan: PagePlan,
        report: StepReport,
    ) -> Result<(StepReport, Intervals)> {
        let result = Visit::begin(self, device, spans, plan, (report, next)).until_done(cancel).await;
        if result.is_err() {
            // The kernel may still write to frames, which must not be freed before.
            self.fetcher.shut_down(Instant::now() + SHUT_DOWN_TIMEOUT);
        }
        result
    }
}

impl<'a> Visit<'a> {
    /// Passes the cached pages to the device, first those whose frames are reused first.
    fn begin(
        stream: &'a mut PageStream,
        device: &'a mut dyn Device,
        spans: &'a mut EngineSpans,
        PagePlan { pages, policy, parts }: PagePlan,
        (mut report, next): (StepReport, Option<&'a Step>),
    ) -> Self {
        let (since, left) = (Instant::now(), pages.iter().copied().collect());
        let PageStream { cache, ahead, .. } = stream;
        let direction = pages.first().map(|page| page.direction);
        cache.begin(policy, |page| Some(page.direction) == direction);
        let reading: Vec<PageRef> = ahead.reading().collect();
        let is_cached =
            |page: &PageRef| cache.peek(*page).is_some_and(|frame| frame.held().contains(wanted_of(&parts, *page)));
        let (mut cached, missing): (Vec<_>, Vec<_>) = pages.into_iter().partition(is_cached);
        cached.sort_by_key(|&page| !cache.is_transient(page));
        for &page in &cached {
            let frame = cache.take(page).expect("just seen in the cache");
            let fresh = ahead.is_fresh(page);
            report.pages_cached += u64::from(!fresh);
            device.submit(PageTask { page, frame: Arc::new(frame), fresh });
        }
        let ahead_bytes = ahead.take_reads() * stream.sizes.mean();
        report.disk_bytes += ahead_bytes;
        report.wanted_bytes += ahead_bytes;
        let missing = missing.into_iter().filter(|&page| !ahead.adopt(page)).collect();
        let mut backlog = Backlog::new(missing, stream.stripes, stream.in_flight_max, stream.stripe_in_flight_max);
        reading.into_iter().for_each(|page| backlog.adopt(page));
        let (intervals, upcoming, in_device) = (Intervals::default(), Upcoming::default(), cached.len());
        Self {
            stream,
            device,
            spans,
            policy,
            backlog,
            in_device,
            left,
            parts,
            next,
            upcoming,
            report,
            intervals,
            since,
        }
    }

    async fn until_done(mut self, cancel: Option<&AtomicBool>) -> Result<(StepReport, Intervals)> {
        loop {
            if cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
                return Err(Error::Interrupted);
            }
            let starved = self.request();
            let in_flight = self.stream.fetcher.in_flight();
            let (reads, device) = (in_flight > self.stream.ahead.in_flight(), self.in_device > 0);
            if self.left.is_empty() {
                self.account(reads, device, starved);
                return Ok((self.report, self.intervals));
            }
            assert!(in_flight > 0 || device, "pages are missing, but none of the idle frames may be reused");
            let event = self.event().await?;
            self.account(reads, device, starved);
            match event {
                Event::Filled(filled) => filled.into_iter().try_for_each(|fill| self.on_filled(fill))?,
                Event::Done(done) => done.into_iter().try_for_each(|done| self.on_done(done))?,
                Event::Tick => {}
            }
        }
    }

    /// Requests missing pages while there are frames for them, then upcoming ones. Returns whether a page has to wait
    /// for a frame.
    fn request(&mut self) -> bool {
        loop {
            self.look_ahead();
            let Some(page) = self.backlog.next() else { return false };
            let ahead = self.upcoming.is_waiting(page);
            let (cache, upcoming) = (&mut self.stream.cache, &self.upcoming);
            // A part of the page may be in a frame already.
            let found = cache.take(page).or_else(|| match ahead {
                true => cache.frame_beside(|page| upcoming.contains(page)).map(cleared),
                false => cache.frame(self.policy).map(cleared),
            });
            let Some(mut frame) = found else {
                if ahead {
                    let gone = self.upcoming.give_up();
                    self.backlog.remove(|page| gone.contains(&page));
                    continue;
                }
                return true;
            };
            // The parts belong to this superstep.
            let wanted = if ahead { Parts::Whole } else { wanted_of(&self.parts, page) };
            let missing = wanted.without(frame.held());
            let bytes = self.stream.sizes.of(page, missing);
            frame.request(missing);
            if ahead {
                self.upcoming.begin(page);
                self.stream.ahead.begin(page);
            } else {
                self.report.disk_bytes += bytes;
                self.report.wanted_bytes += self.parts.get(&page).map_or(bytes, |part| part.bytes.min(bytes));
            }
            self.backlog.begin(page);
            self.stream.meters.read_begins(page, bytes);
            self.stream.progress.iter().for_each(|progress| progress.requested(bytes));
            self.intervals.requested_bytes += bytes;
            self.intervals.partial_reads += if missing == Parts::Whole { 0 } else { missing.reads() };
            self.spans.read_begins(page);
            self.stream.fetcher.submit(PageRead { page, frame });
        }
    }

    /// Adds pages of the next superstep to the backlog once every page of this one has been requested. Nothing is done
    /// in supersteps that find all pages in memory: the next one probably does, too.
    fn look_ahead(&mut self) {
        let Some(step) = self.next.filter(|_| self.in_device > 0 && self.policy == Policy::Lru) else { return };
        if self.report.disk_bytes == 0 || !self.backlog.is_empty() || !self.upcoming.is_due() {
            return;
        }
        let pages = self.device.upcoming(step);
        let (PageStream { cache, ahead, .. }, left) = (&*self.stream, &self.left);
        let is_whole = |page| cache.peek(page).is_some_and(|frame| frame.held() == Parts::Whole);
        let is_missing = |page| !is_whole(page) && !ahead.is_reading(page) && !left.contains(&page);
        let missing = self.upcoming.take(pages, is_missing);
        missing.into_iter().for_each(|page| self.backlog.append(page));
    }

    /// Sleeps until the next event, at most for [`CANCEL_TICK`].
    async fn event(&mut self) -> Result<Event> {
        let device_busy = self.in_device > 0;
        let (mut filled, mut done) = (Vec::new(), Vec::new());
        poll_fn(|context| {
            if self.stream.fetcher.in_flight() > 0
                && let Poll::Ready(result) = self.stream.fetcher.poll_filled(context, &mut filled)
            {
                return Poll::Ready(result.map(|()| Event::Filled(std::mem::take(&mut filled))));
            }
            if device_busy && let Poll::Ready(result) = self.device.poll_done(context, &mut done) {
                return Poll::Ready(result.map(|()| Event::Done(std::mem::take(&mut done))));
            }
            self.stream.tick.poll_tick(context).map(|_| Ok(Event::Tick))
        })
        .await
    }

    /// Adds the time since the last event to counters, by whether reads were in flight, whether the device had pages,
    /// and whether a page waited for a frame.
    fn account(&mut self, reads: bool, device: bool, starved: bool) {
        let now = Instant::now();
        let ns = (now - self.since).as_nanos() as u64;
        self.since = now;
        self.intervals.add(ns, reads, device);
        self.report.disk_ns += if reads { ns } else { 0 };
        self.report.wait_disk_ns += if reads && !device { ns } else { 0 };
        self.report.wait_frames_ns += if starved { ns } else { 0 };
    }

    /// Handles the end of a read.
    fn on_filled(&mut self, PageFilled { page, mut frame, result }: PageFilled) -> Result<()> {
        self.backlog.end(page);
        self.stream.meters.read_ends(page);
        let bytes = self.stream.sizes.of(page, frame.requested());
        self.spans.read_ends(page, bytes, result.is_ok());
        let ahead = self.stream.ahead.adopt(page);
        if result.is_ok() {
            frame.arrived();
        }
        match result {
            Ok(()) if ahead => {
                self.stream.cache.put_back(page, frame, self.policy);
                self.stream.ahead.filled(page);
                Ok(())
            }
            // It is read again if it is visited.
            Err(_) if ahead => {
                self.stream.cache.release(frame);
                self.stream.retries += 1;
                self.stream.meters.retried(page);
                Ok(())
            }
            Ok(()) => {
                self.in_device += 1;
                self.device.submit(PageTask { page, frame: Arc::new(frame), fresh: true });
                Ok(())
            }
            Err(unfilled) => {
                self.stream.cache.release(frame);
                self.try_again(page, |tries| match unfilled {
                    Unfilled::Read(source) => Error::Read { page: page.page, tries, source },
                    Unfilled::Defect(error) => Error::Store(error),
                })
            }
        }
    }

    /// Handles a page that the device is done with.
    fn on_done(&mut self, PageDone { page, frame, kept, result }: PageDone) -> Result<()> {
        self.in_device -= 1;
        self.upcoming.page_done();
        let mut frame = Arc::into_inner(frame).expect("a device drops its frame before it reports the page");
        match result {
            Ok(work) => {
                frame.accept();
                self.left.remove(&page);
                self.stream.progress.iter().for_each(|progress| progress.page_done(work.edges));
                self.report.add_work(work);
                self.stream.tries.remove(&page);
                // In scans, a page that the device keeps need not be in the page buffer too. In traversals, the device
                // keeps the pages that were used last, and pages that it evicts are read faster from here than from
                // disk; it may also have room for all of them.
                let gone = kept && (self.policy == Policy::Scan || self.stream.leaves_kept);
                match frame.held() {
                    Parts::Whole if gone => self.stream.cache.release(frame),
                    Parts::Whole => self.stream.cache.put_back(page, frame, self.policy),
                    Parts::NONE => self.stream.cache.release(frame),
                    Parts::Chunks(_) => self.stream.cache.put_back_part(page, frame),
                }
                Ok(())
            }
            Err(error) => {
                self.stream.cache.release(frame);
                self.try_again(page, |_| Error::Store(error))
            }
        }
    }

    /// Schedules another read of a page, or returns the error after [`TRIES_MAX`] tries.
    fn try_again(&mut self, page: PageRef, error: impl FnOnce(u32) -> Error) -> Result<()> {
        let tries = self.stream.tries.entry(page).or_insert(0);
        *tries += 1;
        if *tries >= TRIES_MAX {
            return Err(error(*tries));
        }
        self.stream.retries += 1;
        self.stream.meters.retried(page);
        self.backlog.again(page);
        Ok(())
    }
}
