//! Pages in: a place for each one, its check on a worker thread, and its copy to the page arena.
//!
//! ```text
//!   take ─▶ slot or frame ─▶ check ─┬ in its frame ────────────────────────────────▶ Job, ready to be launched
//!                                   ├ slot ─▶ to copy ─▶ copying (transfer queue) ─▶ Job
//!                                   └ no slot yet: waiting
//! ```
//!
//! Owns the arena, the pages on their way and the copies under way. Hands on [`Job`]s that a launch may begin with, and
//! takes them back when launches are done; both ways it reports frames that are free again. Knows neither kernels nor
//! launches.

use super::batch::Job;
use super::context::Context;
use super::message::DriverMessage;
use super::tally::Tally;
use super::timing::DeviceSpan;
use crate::device::gpu::adapter::transfer::{Copy, TransferTicket, TransferTime};
use crate::device::gpu::compose::units;
use crate::device::gpu::memory::arena::Arena;
use crate::device::settings::CachePolicy;
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
use topostream_formats::page::Page;
use topostream_formats::{Error as StoreError, Store};

/// Bytes of one submission to the transfer queue: enough to keep it busy, few enough that kernels can begin soon.
const COPY_BYTES: u64 = 32 << 20;
/// Submissions to the transfer queue that may be under way.
const COPIES_MAX: usize = 4;

/// The owner of pages that are not in a launch.
pub(super) struct Intake {
    arena: Arena,
    policy: Policy,
    workers: Arc<Workers>,
    messages: Sender<DriverMessage>,
    /// Pages that are with the worker threads.
    checking: usize,
    /// Pages that have no slot yet.
    waiting: VecDeque<Job>,
    /// Pages that are checked and have a slot, but are not in it yet.
    to_copy: VecDeque<Job>,
    copying: VecDeque<(TransferTicket, Vec<Job>)>,
    tally: Tally,
}

/// What becomes of a page that has been taken or checked.
pub(super) enum Taken {
    /// It can be launched.
    Ready(Job),
    /// It is not sound.
    Done(PageDone),
    /// It is being checked, or has to be copied.
    Later,
}

/// Copies that are done.
#[derive(Default)]
pub(super) struct Arrived {
    /// Pages that can be launched.
    pub ready: Vec<Job>,
    /// Frames that are free again.
    pub done: Vec<PageDone>,
}

impl Intake {
    /// Takes pages into an arena.
    pub fn new(arena: Arena, workers: Arc<Workers>, messages: Sender<DriverMessage>) -> Self {
        let (waiting, to_copy, copying) = (VecDeque::new(), VecDeque::new(), VecDeque::new());
        let (policy, tally) = (Policy::Scan, Tally::default());
        Self { arena, policy, workers, messages, checking: 0, waiting, to_copy, copying, tally }
    }

    /// The arena.
    pub fn arena(&self) -> &Arena {
        &self.arena
    }

    /// Whether a superstep would find a page in the arena.
    pub fn has(&self, context: &Context, page: PageRef) -> bool {
        context.plan.slots > context.plan.stream_slots && self.arena.slot_of(page).is_some()
    }

    /// Begins a superstep over some pages. Those that are in the arena are ready; the others are returned beside them,
    /// in order.
    pub fn start_resident(
        &mut self,
        context: &Context,
        pages: Vec<PageRef>,
        policy: Policy,
    ) -> (Vec<Job>, Vec<PageRef>) {
        // Where a page can be read in place, none has to leave the arena for it.
        let fixed = context.plan.in_place && context.home.settings.cache_policy == CachePolicy::Fixed;
        self.policy = if fixed { Policy::Scan } else { policy };
        let direction = pages.first().map(|page| page.direction);
        self.arena.begin(self.policy, |page| Some(page.direction) == direction);
        let (mut ready, mut others) = (Vec::new(), Vec::new());
        // Without a cache, pages only pass through the arena.
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

    /// Finds a place for a page; has it checked where it is fresh, or where its unit row is needed. `has_row` says
    /// whether the row of its frame is this page's.
    pub fn take(&mut self, context: &Context, PageTask { page, frame, fresh }: PageTask, has_row: bool) -> Taken {
        let slot = self.arena.slot(self.policy);
        // A page that stays in a slot may be shared out by segments later on, in another run.
        let row_wanted = match slot.is_none() && context.plan.in_place {
            true => !has_row,
            false => context.plan.row_words > 0,
        };
        let job = Job { page, frame: Some(frame), slot, row: None, work: PageWork::default() };
        if fresh || row_wanted {
            self.check(context, job, fresh, row_wanted);
            return Taken::Later;
        }
        self.place(context, job)
    }

    /// Has a page checked and its unit row computed on a worker thread.
    fn check(&mut self, context: &Context, mut job: Job, fresh: bool, row_wanted: bool) {
        self.checking += 1;
        let (store, messages) = (Arc::clone(&context.store), self.messages.clone());
        let (weights, trace) = (context.algorithm.needs_weights(), context.trace.clone());
        self.workers.spawn_urgent(move || {
            let started = Instant::now();
            let examined = catch_unwind(AssertUnwindSafe(|| examine(&store, &mut job, weights, fresh, row_wanted)));
            // Without an answer the driver would wait for ever.
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

    /// Takes a page back from the worker threads.
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

    /// A page that is known to be sound is copied to its slot, read in its frame, or waits for a slot.
    fn place(&mut self, context: &Context, job: Job) -> Taken {
        match job.slot {
            Some(_) => self.to_copy.push_back(job),
            None if context.plan.in_place => return Taken::Ready(job),
            None => self.waiting.push_back(job),
        }
        Taken::Later
    }

    /// Pages that are not launched yet, as far as they are here.
    pub fn pending(&self) -> usize {
        self.checking + self.waiting.len() + self.to_copy.len() + self.copying.len()
    }

    /// Whether copies are under way.
    pub fn is_copying(&self) -> bool {
        !self.copying.is_empty()
    }

    /// The superstep's work so far, which is then counted anew.
    pub fn take_tally(&mut self) -> Tally {
        std::mem::take(&mut self.tally)
    }

    // ---- Copies -----------------------------------------------------------------------------------------------------

    /// Does what can be done without waiting: gives slots to pages that wait for one, and copies.
    ///
    /// # Errors
    /// What the device says.
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
        if context.home.transfer.is_none() || context.home.import.is_none() {
            // The launch copies them itself.
            let ready = std::mem::take(&mut self.to_copy).into();
            return Ok(Arrived { ready, ..Arrived::default() });
        }
        let arrived = self.poll_copies(context)?;
        self.start_copies(context)?;
        Ok(arrived)
    }

    fn start_copies(&mut self, context: &mut Context) -> Result<()> {
        let Context { home, plan, arena_buffers, .. } = context;
        let (Some(transfer), Some(import)) = (&mut home.transfer, &home.import) else { return Ok(()) };
        let (bytes, by_submission) = (plan.slot_bytes, (COPY_BYTES / plan.slot_bytes).max(1) as usize);
        while !self.to_copy.is_empty() && self.copying.len() < COPIES_MAX {
            let jobs: Vec<Job> = self.to_copy.drain(..self.to_copy.len().min(by_submission)).collect();
            let copy = |job: &Job| -> Result<Copy<'_>> {
                let (frame, slot) = (job.frame.as_ref().expect("not copied yet"), job.slot.as_ref().expect("has one"));
                let (chunk, source_offset) = import.locate(u64::from(frame.index()) * bytes);
                let (source, dest) = (import.chunk(chunk)?, &arena_buffers[slot.buffer as usize]);
                Ok(Copy { source, source_offset, dest, dest_offset: self.arena.offset(slot), bytes })
            };
            let ticket = transfer.submit(&jobs.iter().map(copy).collect::<Result<Vec<_>>>()?)?;
            self.tally.transfer.copied_bytes += bytes * jobs.len() as u64;
            self.copying.push_back((ticket, jobs));
        }
        Ok(())
    }

    /// Pages that have arrived in their slots can be launched, and their frames are free again.
    ///
    /// # Errors
    /// What the device says.
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

    /// Takes back the pages of a launch that is done, and reports those whose frames were needed until now.
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

    /// Reports a page whose frame is not needed any more.
    fn release(&self, context: &Context, job: &mut Job) -> Option<PageDone> {
        let frame = job.frame.take()?;
        job.work.edges = context.edges(job.page);
        Some(PageDone { page: job.page, frame, kept: self.stays(context, job), result: Ok(job.work) })
    }

    /// Whether the arena will keep a page once it has been used.
    fn stays(&self, context: &Context, job: &Job) -> bool {
        let streams = context.plan.stream_slots > 0 && self.policy == Policy::Scan;
        let cache = context.plan.slots > context.plan.stream_slots;
        job.slot.is_some() && cache && !streams
    }

    /// The arena at the end of a run, without the pages that were on their way, some of which were `launched`. None
    /// where slots are lost: those of pages that are still with the worker threads, or were when the run failed.
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

/// The error of a page whose check has panicked.
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
        let page = Page::open(frame.page(), store.manifest().encoding)
            .map_err(|defect| topology.page_error(job.page.page, false, defect))?;
        let mut row = Vec::new();
        units::append_rows(&page, weights, &mut row);
        job.row = Some(row);
    }
    Ok(())
}
