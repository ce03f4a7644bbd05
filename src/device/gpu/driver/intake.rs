//! Pages in: where each one goes, its check, and copies to the arena.

use super::Message;
use super::batch::{Job, Place};
use super::compose::units;
use super::driver::Driver;
use super::timing::DeviceSpan;
use super::transfer::Copy;
use crate::device::workers::panic_message;
use crate::device::{PageDone, PageTask, Work};
use crate::error::Result;
use crate::model::algorithm::Visit;
use crate::pages::cache::Policy;
use crate::pages::fetch::PageRef;
use crate::trace::{Detail, Lane};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;
use topostream_formats::page::Page;
use topostream_formats::{Error as StoreError, Store};

/// Bytes of one submission to the transfer queue: enough to keep it busy, few enough that kernels can begin soon.
const COPY_BYTES: u64 = 32 << 20;

impl Driver {
    pub(super) fn start_resident(&mut self, pages: Vec<PageRef>, policy: Policy) -> Vec<PageRef> {
        // Where a page can be read in place, none has to go for it.
        self.policy = if self.in_place() { Policy::Scan } else { policy };
        let policy = self.policy;
        let direction = pages.first().map(|page| page.direction);
        self.arena().begin(policy, |page| Some(page.direction) == direction);
        let mut others = Vec::new();
        // Where there is no cache, pages only pass through.
        let cache = self.plan.slots > self.plan.stream_slots;
        for page in pages {
            match self.arena().take(page) {
                Some(slot) if !cache => {
                    self.arena().give_up(slot);
                    others.push(page);
                }
                Some(slot) => {
                    self.transfer.resident_pages += 1;
                    self.work.edges += self.edges(page);
                    let job = Job { page, frame: None, slot: Some(slot), row: None, work: Work::default() };
                    self.make_ready(job);
                }
                None => others.push(page),
            }
        }
        others
    }

    /// Finds a place for a page; then has it checked where it is fresh, or its unit row is wanted.
    pub(super) fn take_page(&mut self, PageTask { page, frame, fresh }: PageTask) {
        let policy = self.policy;
        let slot = self.arena().slot(policy);
        let index = frame.index() as usize;
        if fresh {
            self.home.frame_rows[index] = None;
        }
        // What stays in a slot may be shared out by segments later on, in another run.
        let row_wanted = match slot.is_none() && self.in_place() {
            true => self.home.frame_rows[index] != Some(page),
            false => self.plan.row_words > 0,
        };
        let job = Job { page, frame: Some(frame), slot, row: None, work: Work::default() };
        if fresh || row_wanted {
            self.check(job, fresh, row_wanted);
        } else {
            self.checked(job, Ok(()));
        }
    }

    /// Has a page checked, and its unit row found, on a thread of its own.
    fn check(&mut self, mut job: Job, fresh: bool, row_wanted: bool) {
        self.checking += 1;
        let (store, messages) = (Arc::clone(&self.store), self.messages.clone());
        let (weights, trace) = (self.algorithm.needs_weights(), self.trace.clone());
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
            messages.send(Message::Checked(job, result)).ok();
        });
    }

    pub(super) fn checked(&mut self, job: Job, result: std::result::Result<(), StoreError>) {
        if let Err(error) = result {
            let Job { page, frame, slot, .. } = job;
            if let Some(slot) = slot {
                self.arena().give_up(slot);
            }
            let frame = frame.expect("pages are checked in their frames");
            self.done.send(Some(vec![PageDone { page, frame, kept: false, result: Err(error) }])).ok();
            return;
        }
        match job.slot {
            Some(_) => self.to_copy.push_back(job),
            None if self.in_place() => self.make_ready(job),
            None => self.waiting.push_back(job),
        }
    }

    pub(super) fn make_ready(&mut self, job: Job) {
        let place = match &job.slot {
            Some(slot) => Place::Arena(slot.buffer),
            None => Place::Frames(self.frame_place(job.frame.as_ref().expect("in a slot or in a frame").index()).0),
        };
        self.ready.entry(place).or_default().push_back(job);
    }

    /// Which buffer of the import a frame lies in, and where in it.
    pub(super) fn frame_place(&self, frame: u32) -> (u32, u64) {
        let (_, import) = self.home.import.as_ref().expect("frames are read in place only where they are imported");
        let (chunk, offset) = import.locate(u64::from(frame) * self.plan.slot_bytes);
        (chunk as u32, offset)
    }

    // ---- Copies -----------------------------------------------------------------------------------------------------

    /// Does what can be done without waiting.
    pub(super) fn advance(&mut self) -> Result<()> {
        self.home.gpu.poll()?;
        while let Some(job) = self.waiting.pop_front() {
            let policy = self.policy;
            match self.arena().slot(policy) {
                Some(slot) => self.to_copy.push_back(Job { slot: Some(slot), ..job }),
                None => {
                    self.waiting.push_front(job);
                    break;
                }
            }
        }
        if self.home.transfer.is_some() && self.home.import.is_some() {
            self.poll_copies()?;
            self.start_copies()?;
        } else {
            // The launch copies them itself.
            std::mem::take(&mut self.to_copy).into_iter().for_each(|job| self.make_ready(job));
        }
        self.launch()
    }

    fn start_copies(&mut self) -> Result<()> {
        let transfer = self.home.transfer.as_mut().expect("asked by the caller");
        let (_, import) = self.home.import.as_ref().expect("asked by the caller");
        let arena = self.home.arena.as_ref().expect("prepared with the run");
        let (bytes, by_submission) = (self.plan.slot_bytes, (COPY_BYTES / self.plan.slot_bytes).max(1) as usize);
        while !self.to_copy.is_empty() && self.copying.len() < 4 {
            let jobs: Vec<Job> = self.to_copy.drain(..self.to_copy.len().min(by_submission)).collect();
            let copy = |job: &Job| {
                let (frame, slot) = (job.frame.as_ref().expect("not copied yet"), job.slot.as_ref().expect("has one"));
                let (chunk, source_offset) = import.locate(u64::from(frame.index()) * bytes);
                let (source, dest) = (&import.chunks()[chunk], &arena.buffers()[slot.buffer as usize]);
                Copy { source, source_offset, dest, dest_offset: arena.offset(slot), bytes }
            };
            let copies: Vec<Copy<'_>> = jobs.iter().map(copy).collect();
            let ticket = transfer.submit(&copies)?;
            self.transfer.copied_bytes += bytes * jobs.len() as u64;
            self.copying.push_back((ticket, jobs));
        }
        Ok(())
    }

    /// Frames whose pages have arrived in their slots are free again.
    pub(super) fn poll_copies(&mut self) -> Result<()> {
        while let Some((ticket, _)) = self.copying.front() {
            let Some(transfer) = &mut self.home.transfer else { return Ok(()) };
            let arrived = transfer.poll(*ticket)?;
            let span = |time: super::transfer::TransferTime| DeviceSpan {
                name: "copy",
                begin_ns: time.begin_ns as f64,
                end_ns: time.end_ns as f64,
            };
            self.copy_spans.extend(transfer.finished().into_iter().map(span));
            if !arrived {
                return Ok(());
            }
            let (_, jobs) = self.copying.pop_front().expect("just seen");
            let mut done = Vec::new();
            for mut job in jobs {
                done.extend(self.release(&mut job));
                self.make_ready(job);
            }
            self.done.send(Some(done)).ok();
        }
        Ok(())
    }

    /// Reports a page whose frame is not needed any more.
    pub(super) fn release(&mut self, job: &mut Job) -> Option<PageDone> {
        let frame = job.frame.take()?;
        let entry_edges = self.edges(job.page);
        job.work.edges = entry_edges;
        Some(PageDone { page: job.page, frame, kept: self.stays(job), result: Ok(job.work) })
    }

    /// Whether the arena will keep a page once it has been used.
    pub(super) fn stays(&self, job: &Job) -> bool {
        let streams = self.plan.stream_slots > 0 && self.policy == Policy::Scan;
        let cache = self.plan.slots > self.plan.stream_slots;
        job.slot.is_some() && cache && !streams
    }

    /// Neighbours in a page, where all lists are visited; else the device counts.
    pub(super) fn edges(&self, page: PageRef) -> u64 {
        let topology = self.store.topology(page.direction).expect("pages of topologies that exist");
        let all = self.step.visit == Visit::All;
        if all { topology.directory().entries()[page.page.index()].edge_count.into() } else { 0 }
    }
}

/// The error of a page whose check has panicked.
fn panicked(store: &Store, page: PageRef, words: &str) -> StoreError {
    let (expected, found) = ("a page that can be checked".into(), format!("a panic: {words}"));
    StoreError::Page { path: store.path().to_owned(), page: page.page.0, expected, found }
}

/// Checks a page and finds its unit row.
fn examine(
    store: &Store,
    job: &mut Job,
    weights: bool,
    fresh: bool,
    row_wanted: bool,
) -> std::result::Result<(), StoreError> {
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
