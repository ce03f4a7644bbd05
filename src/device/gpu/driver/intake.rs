//! Incoming pages: each gets a place, is checked on a worker thread, and is copied to the page arena.
//!
//! ```text
//!   take ─▶ slot or frame ─▶ check ─┬ in its frame ────────────────────────────────▶ Job, ready to be launched
//!                                   ├ slot ─▶ to copy ─▶ copying (transfer queue) ─▶ Job
//!                                   └ no slot yet: waiting
//! ```
//!
//! Owns the arena, the pages that cannot be launched yet and the copies in flight. Returns [`Job`]s that can be
//! launched, takes them back after their launch, and reports frames that are free again. Knows neither kernels nor
//! launches.

use super::batch::Job;
use super::context::Context;
use super::message::DriverMessage;
use super::plan::Plan;
use super::tally::Tally;
use super::timing::DeviceSpan;
use crate::device::gpu::adapter::transfer::{TransferTicket, TransferTime};
use crate::device::gpu::compose::units;
use crate::device::gpu::memory::arena::Arena;
use crate::device::settings::{CachePolicy, Distribution};
use crate::device::workers::panic_message;
use crate::device::{PageDone, PageTask, PageWork, Workers};
use crate::error::Result;
use crate::pages::cache::Policy;
use crate::pages::fetch::PageRef;
use crate::trace::{Detail, Lane};
use crossbeam_channel::Sender;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;
use topostream_formats::packed::PackedPage;
use topostream_formats::page::{Page, PageContext, PageDefect};
use topostream_formats::{Error as StoreError, PageId, Store};

/// Bytes of one submission to the transfer queue: enough to keep it busy, but few, so that kernels can begin early.
const COPY_BYTES: u64 = 32 << 20;
/// Maximum number of submissions to the transfer queue in flight.
const COPIES_MAX: usize = 4;

/// Pages that are not in a launch, and the arena.
pub(super) struct Intake {
    arena: Arena,
    policy: Policy,
    workers: Arc<Workers>,
    messages: Sender<DriverMessage>,
    /// Number of pages that worker threads are checking.
    checking: usize,
    /// Checked pages without a slot.
    waiting: VecDeque<Job>,
    /// Checked pages with a slot, to be copied to it.
    to_copy: VecDeque<Job>,
    copying: VecDeque<(TransferTicket, Vec<Job>)>,
    tally: Tally,
}

/// The result of taking or checking a page.
pub(super) enum Taken {
    /// The page can be launched.
    Ready(Job),
    /// The page is corrupt.
    Done(PageDone),
    /// The page is being checked, or has to be copied.
    Later,
}

/// The results of completed copies.
#[derive(Default)]
pub(super) struct Arrived {
    /// Pages that can be launched.
    pub ready: Vec<Job>,
    /// Frames that are free again.
    pub done: Vec<PageDone>,
}

impl Intake {
    /// Intake into an arena.
    pub fn new(arena: Arena, workers: Arc<Workers>, messages: Sender<DriverMessage>) -> Self {
        let (waiting, to_copy, copying) = (VecDeque::new(), VecDeque::new(), VecDeque::new());
        let (policy, tally) = (Policy::Scan, Tally::default());
        Self { arena, policy, workers, messages, checking: 0, waiting, to_copy, copying, tally }
    }

    /// The arena.
    pub fn arena(&self) -> &Arena {
        &self.arena
    }

    /// Whether a page is in the arena.
    pub fn has(&self, context: &Context, page: PageRef) -> bool {
        context.plan.slots > context.plan.stream_slots && self.arena.slot_of(page).is_some()
    }

    /// Begins a superstep over some pages. Returns jobs for those in the arena, and the other pages in order.
    pub fn start_resident(
        &mut self,
        context: &Context,
        pages: Vec<PageRef>,
        policy: Policy,
    ) -> (Vec<Job>, Vec<PageRef>) {
        // Pages that can be read in place need not evict others from the arena.
        let fixed = context.plan.in_place && context.home.settings.cache_policy == CachePolicy::Fixed;
        self.policy = if fixed { Policy::Scan } else { policy };
        let direction = pages.first().map(|page| page.direction);
        // Searches read both topologies in turn.
        let stays = fixed && policy == Policy::Lru;
        self.arena.begin(self.policy, |page| stays || Some(page.direction) == direction);
        let (mut ready, mut others) = (Vec::new(), Vec::new());
        // Without a cache, pages leave the arena after use.
        let cache = context.plan.keeps_pages();
        for page in pages {
            match self.arena.take(page) {
                Some(slot) if !cache => {
                    self.arena.release(slot);
                    others.push(page);
                }
                Some(slot) => {
                    self.tally.transfer.resident_pages += 1;
                    self.tally.work.edges += context.edges(page);
                    ready.push(Job { page, frame: None, slot: Some(slot), row: None, work: PageWork::default() });
                }
                None => others.push(page),
            }
        }
        (ready, others)
    }

    /// Finds a place for a page. Starts a check if it is fresh or its unit row is needed. `has_row`: the row of its
    /// frame is this page's.
    pub fn take(&mut self, context: &Context, PageTask { page, frame, fresh }: PageTask, has_row: bool) -> Taken {
        let slot = self.arena.slot(self.policy);
        let in_place = slot.is_none() && context.plan.in_place;
        // A page that stays in a slot may be processed by `segments` in a later run, which needs the row.
        let needed = context.plan.keeps_pages() || context.distribution(in_place) == Distribution::Segments;
        let row_wanted = if in_place { !has_row } else { context.plan.row_words > 0 && needed };
        let job = Job { page, frame: Some(frame), slot, row: None, work: PageWork::default() };
        if fresh || row_wanted {
            self.check(context, job, fresh, row_wanted);
            return Taken::Later;
        }
        self.place(context, job)
    }

    /// Checks a page and computes its unit row on a worker thread.
    fn check(&mut self, context: &Context, mut job: Job, fresh: bool, row_wanted: bool) {
        self.checking += 1;
        let (store, messages) = (Arc::clone(&context.store), self.messages.clone());
        let (weights, trace) = (context.declaration.weights.are_read(), context.trace.clone());
        self.workers.spawn_urgent(move || {
            let started = Instant::now();
            let examined = catch_unwind(AssertUnwindSafe(|| examine(&store, &mut job, weights, fresh, row_wanted)));
            // The driver waits for an answer, even after a panic.
            let result = examined.unwrap_or_else(|panic| Err(panicked(&store, job.page, &panic_message(&*panic))));
            let ended = Instant::now();
            job.work.check_ns = (ended - started).as_nanos() as u64;
            if let Some(timeline) = trace {
                let detail = Detail::page(job.page, job.frame.as_ref().map_or(0, |frame| frame.page().len() as u64));
                timeline.span(Lane::Checks, "check", started, ended, detail);
            }
            messages.send(DriverMessage::Checked(job, result)).ok();
        });
    }

    /// Handles the result of a check.
    pub fn checked(&mut self, context: &Context, job: Job, result: Result<(), StoreError>) -> Taken {
        self.checking -= 1;
        let Err(error) = result else { return self.place(context, job) };
        let Job { page, frame, slot, .. } = job;
        if let Some(slot) = slot {
            self.arena.release(slot);
        }
        let frame = frame.expect("pages are checked in their frames");
        Taken::Done(PageDone { page, frame, kept: false, result: Err(error) })
    }

    /// Places a sound page: it is copied to its slot, read in its frame, or waits for a slot.
    fn place(&mut self, context: &Context, job: Job) -> Taken {
        match job.slot {
            Some(_) => self.to_copy.push_back(job),
            None if context.plan.in_place => return Taken::Ready(job),
            None => self.waiting.push_back(job),
        }
        Taken::Later
    }

    /// The number of pages that cannot be launched yet.
    pub fn pending(&self) -> usize {
        self.checking + self.waiting.len() + self.to_copy.len() + self.copying.len()
    }

    /// Whether copies are in flight.
    pub fn is_copying(&self) -> bool {
        !self.copying.is_empty()
    }

    /// Returns and resets the superstep's work so far.
    pub fn take_tally(&mut self) -> Tally {
        std::mem::take(&mut self.tally)
    }

    // ---- Copies -----------------------------------------------------------------------------------------------------

    /// Makes progress without waiting: gives slots to pages that wait for one, and starts copies.
    ///
    /// # Errors
    /// Device errors.
    pub fn advance(&mut self, context: &mut Context) -> Result<Arrived> {
        while let Some(job) = self.waiting.pop_front() {
            match self.arena.slot(self.policy) {
                Some(slot) => self.to_copy.push_back(Job { slot: Some(slot), ..job }),
                None => {
                    self.waiting.push_front(job);
                    break;
                }
            }
        }
        let from_frames = context.is_packed() && context.images.is_none();
        if context.home.transfer.is_none() || context.home.import.is_none() || from_frames {
            // The launch copies them itself, or inflates them.
            let ready = std::mem::take(&mut self.to_copy).into();
            return Ok(Arrived { ready, ..Arrived::default() });
        }
        let arrived = self.poll_copies(context)?;
        self.start_copies(context)?;
        Ok(arrived)
    }

    fn start_copies(&mut self, context: &mut Context) -> Result<()> {
        let bytes = context.plan.slot_bytes;
        let by_submission = (COPY_BYTES / bytes).max(1) as usize;
        while !self.to_copy.is_empty() && self.copying.len() < COPIES_MAX {
            let jobs: Vec<Job> = self.to_copy.drain(..self.to_copy.len().min(by_submission)).collect();
            let mut plan = Plan::default();
            for job in &jobs {
                let (frame, slot) = (job.frame.as_ref().expect("not copied yet"), job.slot.as_ref().expect("has one"));
                let (chunk, from) = context.import().locate(u64::from(frame.index()) * bytes);
                let dest = &context.arena_buffers[slot.buffer as usize];
                plan.copy((context.import().chunk(chunk)?, from), (dest, self.arena.offset(slot)), bytes);
            }
            let ticket = context.beside(&plan)?.expect("there is a transfer queue");
            self.tally.transfer.copied_bytes += bytes * jobs.len() as u64;
            self.copying.push_back((ticket, jobs));
        }
        Ok(())
    }

    /// Collects completed copies: their pages can be launched, and their frames are free again.
    ///
    /// # Errors
    /// Device errors.
    pub fn poll_copies(&mut self, context: &mut Context) -> Result<Arrived> {
        let mut arrived = Arrived::default();
        while let Some((ticket, _)) = self.copying.front() {
            let Some(transfer) = &mut context.home.transfer else { break };
            let done = transfer.poll(*ticket)?;
            let span = |time: TransferTime| DeviceSpan {
                name: "copy",
                begin_ns: time.begin_ns as f64,
                end_ns: time.end_ns as f64,
            };
            self.tally.copies.extend(transfer.finished().into_iter().map(span));
            if !done {
                break;
            }
            let (_, jobs) = self.copying.pop_front().expect("just seen");
            for mut job in jobs {
                arrived.done.extend(self.release(context, &mut job));
                arrived.ready.push(job);
            }
        }
        Ok(arrived)
    }

    // ---- Pages out --------------------------------------------------------------------------------------------------

    /// Takes back the pages of a completed launch, and reports those that the kernels read in their frames.
    pub fn take_back(&mut self, context: &Context, jobs: Vec<Job>) -> Vec<PageDone> {
        let mut done = Vec::new();
        for mut job in jobs {
            done.extend(self.release(context, &mut job));
            if let Some(slot) = job.slot {
                self.arena.put_back(job.page, slot, self.policy);
            }
        }
        done
    }

    /// Reports a page whose frame is no longer needed.
    fn release(&self, context: &Context, job: &mut Job) -> Option<PageDone> {
        let frame = job.frame.take()?;
        job.work.edges = context.edges(job.page);
        Some(PageDone { page: job.page, frame, kept: self.stays(context, job), result: Ok(job.work) })
    }

    /// Whether the arena keeps a page after its use.
    fn stays(&self, context: &Context, job: &Job) -> bool {
        let streams = context.plan.stream_slots > 0 && self.policy == Policy::Scan;
        let cache = context.plan.slots > context.plan.stream_slots;
        job.slot.is_some() && cache && !streams
    }

    /// The arena at the end of a run, without the pages in intake and the `launched` ones. None if slots are lost:
    /// worker threads are still checking pages, or the run failed.
    pub fn into_arena(mut self, launched: Vec<Job>, failed: bool) -> Option<Arena> {
        let copying = self.copying.into_iter().flat_map(|(_, jobs)| jobs);
        for job in launched.into_iter().chain(copying).chain(self.waiting).chain(self.to_copy) {
            if let Some(slot) = job.slot {
                self.arena.release(slot);
            }
        }
        (self.checking == 0 && !failed).then_some(self.arena)
    }
}

/// The error for a page whose check panicked.
fn panicked(store: &Store, page: PageRef, message: &str) -> StoreError {
    let (expected, found) = ("a page that can be checked".into(), format!("a panic: {message}"));
    StoreError::Page { path: store.path().to_owned(), page: page.page.0, expected, found }
}

/// Checks a page and computes its unit row.
fn examine(store: &Store, job: &mut Job, weights: bool, fresh: bool, row_wanted: bool) -> Result<(), StoreError> {
    let topology = store.topology(job.page.direction).expect("pages of topologies that exist");
    let frame = job.frame.as_ref().expect("pages are checked in their frames");
    if fresh {
        let weights = weights.then(|| frame.weights());
        topology.check(job.page.page, frame.page(), weights, &store.page_context(topology))?;
    }
    if row_wanted {
        let row = unit_row(frame.page(), &store.page_context(topology), job.page.page, weights);
        job.row = Some(row.map_err(|defect| topology.page_error(job.page.page, false, defect))?);
    }
    Ok(())
}

/// The unit row of a page.
fn unit_row(bytes: &[u8], context: &PageContext<'_>, page: PageId, weights: bool) -> Result<Vec<u32>, PageDefect> {
    let mut row = Vec::new();
    if context.encoding.is_packed() {
        let page = PackedPage::open(bytes, context.encoding, context.destinations(page.0))?;
        units::append_packed_rows(&page, weights, &mut row)?;
    } else {
        units::append_rows(&Page::open(bytes, context.encoding)?, weights, &mut row);
    }
    Ok(row)
}
