//! Launches: batches of ready pages, one dispatch each.
//!
//! Few launches are in flight: one runs, the others wait. Pages that become ready meanwhile wait for the next one, so
//! that batches grow with the load.
//!
//! Owns the ready pages, the launches in flight, and the buffers that describe batches, long lists and units. Takes
//! [`Job`]s, and returns them when their launch has completed. Does not know where pages come from or how their frames
//! are reused.

use super::batch::{BatchTable, Job, Place};
use super::context::Context;
use super::inflation::{Inflation, What};
use super::message::DriverMessage;
use super::plan::{Dispatch, Plan, Variant};
use super::tally::Tally;
use crate::device::PageTask;
use crate::device::gpu::adapter::open::Gpu;
use crate::device::gpu::compose::layout::{GRID_ROW_MAX, HubHeader};
use crate::device::gpu::compose::{KernelName, Resource};
use crate::device::gpu::memory::plan::{batch_bytes, hub_bytes};
use crate::device::gpu::memory::rows::UnitRows;
use crate::device::settings::Distribution;
use crate::error::Result;
use crossbeam_channel::Sender;
use std::collections::{HashMap, VecDeque};
use std::num::NonZeroU64;
use wgpu::BufferUsages as Usage;

/// A launch in flight.
struct Launch {
    number: u64,
    /// The index of its batch buffer.
    ring: usize,
    jobs: Vec<Job>,
}

/// The queue of parts of long lists.
struct Hubs {
    buffer: wgpu::Buffer,
    entries: u32,
}

/// Ready pages and the launches in flight.
pub(super) struct Launches {
    /// Ready pages by the buffer that holds them.
    ready: HashMap<Place, VecDeque<Job>>,
    under_way: VecDeque<Launch>,
    /// The number of launches so far.
    count: u64,
    batch_buffers: Vec<wgpu::Buffer>,
    free_rings: Vec<usize>,
    inflation: Inflation,
    hubs: Hubs,
    rows: UnitRows,
    messages: Sender<DriverMessage>,
    tally: Tally,
}

impl Launches {
    /// Allocates the buffers that describe launches.
    ///
    /// # Errors
    /// If the device is out of memory.
    pub fn new(context: &Context, rows: UnitRows, messages: Sender<DriverMessage>) -> Result<Self> {
        let (gpu, settings) = (context.gpu(), &context.home.settings);
        let (pages, launches) = (settings.batch_pages, settings.launches as usize);
        let buffer = |_| gpu.buffer("batch", batch_bytes(pages), Usage::STORAGE | Usage::COPY_DST);
        Ok(Self {
            ready: HashMap::new(),
            under_way: VecDeque::new(),
            count: 0,
            batch_buffers: (0..launches).map(buffer).collect::<Result<_>>()?,
            free_rings: (0..launches).collect(),
            inflation: Inflation::default(),
            hubs: Hubs::new(gpu, context.plan.hub_entries)?,
            rows,
            messages,
            tally: Tally::default(),
        })
    }

    /// Whether the unit row of a page's frame is this page's. Never true for a fresh page.
    pub fn has_row(&mut self, task: &PageTask) -> bool {
        let frame = task.frame.index();
        if task.fresh {
            self.rows.forget(frame);
        }
        self.rows.has(frame, task.page)
    }

    /// The unit rows of pages in slots, followed by those of pages in frames.
    pub fn rows(&self) -> &wgpu::Buffer {
        self.rows.buffer()
    }

    /// The queue of long lists. [`make_room_for_hubs`](Self::make_room_for_hubs) may replace it.
    pub fn hubs(&self) -> &wgpu::Buffer {
        &self.hubs.buffer
    }

    /// Adds a page that can be launched.
    pub fn add(&mut self, context: &Context, job: Job) {
        let place = match &job.slot {
            Some(slot) => Place::Arena(slot.buffer),
            None => {
                let frame = job.frame.as_ref().expect("in a slot or in a frame");
                Place::Frames(context.frame_place(frame.index()).0)
            }
        };
        self.ready.entry(place).or_default().push_back(job);
    }

    /// Whether pages wait for a launch.
    pub fn is_waiting(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Whether launches are in flight.
    pub fn is_running(&self) -> bool {
        !self.under_way.is_empty()
    }

    /// Counts work on pages that were not launched here.
    pub fn count(&mut self, tally: Tally) {
        self.tally.add(tally);
    }

    /// Returns and resets the superstep's work so far.
    pub fn take_tally(&mut self) -> Tally {
        std::mem::take(&mut self.tally)
    }

    /// Launches ready pages until as many launches are in flight as may be.
    ///
    /// # Errors
    /// Shader and device errors.
    pub fn launch(&mut self, context: &mut Context) -> Result<()> {
        while !self.free_rings.is_empty() {
            // The buffer with the most pages goes first.
            let Some((&place, _)) = self.ready.iter().max_by_key(|(_, jobs)| jobs.len()) else { return Ok(()) };
            let jobs = self.ready.get_mut(&place).expect("just seen");
            // Packed pages are a dimension of a grid.
            let most = context.home.settings.batch_pages.min(GRID_ROW_MAX);
            let most = if context.images.is_some() { most.min(context.plan.images) } else { most };
            let count = jobs.len().min(most as usize);
            let batch: Vec<Job> = jobs.drain(..count).collect();
            if jobs.is_empty() {
                self.ready.remove(&place);
            }
            self.launch_batch(context, place, batch)?;
        }
        Ok(())
    }

    fn launch_batch(&mut self, context: &mut Context, place: Place, mut jobs: Vec<Job>) -> Result<()> {
        let ring = self.free_rings.pop().expect("asked by the caller");
        // A device that will hold all pages stays awake until it has them.
        if context.plan.stream_slots > 0 {
            context.home.rest();
        }
        let table = self.table(context, place, &mut jobs);
        let mut plan = Plan::default();
        if !context.is_packed() || context.images.is_some() {
            self.plan_copies(context, &mut plan, &jobs)?;
        }
        let segments = context.distribution(matches!(place, Place::Frames(_))) == Distribution::Segments;
        if context.is_packed() {
            // Segments decode neighbours themselves if pages are packed where they are.
            let what = if segments && context.images.is_some() { What::Slots } else { What::Everything };
            self.tally.transfer.copied_bytes += self.inflation.plan(context, &mut plan, &jobs, (ring, what))?;
        }
        context.gpu().queue().write_buffer(&self.batch_buffers[ring], 0, &table.bytes(0, 0));
        let (x, y) = table.groups();
        if x > 0 {
            let kernels = match context.declared.plurality {
                Some(_) => OfBatch::Plurality,
                None if segments => OfBatch::Segments,
                None => OfBatch::Lists { hub_groups: table.hub_groups() },
            };
            plan_batch(&mut plan, &self.over(context, place, ring)?, &self.hubs.buffer, ((x, y), kernels));
        }
        self.count += 1;
        self.tally.transfer.batches += 1;
        let (number, messages) = (self.count, self.messages.clone());
        context.run(&plan)?;
        context.when_done(move || drop(messages.send(DriverMessage::Completed(number))));
        self.under_way.push_back(Launch { number, ring, jobs });
        Ok(())
    }

    /// The table of a batch; uploads its new unit rows.
    fn table(&mut self, context: &Context, place: Place, jobs: &mut [Job]) -> BatchTable {
        let mut table = BatchTable::new(
            context.distribution(matches!(place, Place::Frames(_))),
            context.declaration.weights.are_read(),
        );
        let plan = &context.plan;
        for (at, job) in (0..).zip(jobs) {
            let topology = context.topology(job.page.direction);
            let entry = topology.directory().entries()[job.page.page.index()];
            let degree = if entry.run == 0 { 0 } else { topology.directory().run_degree(job.page.page) };
            let (offset, place) = match (&job.slot, &job.frame) {
                (Some(slot), _) => (u64::from(slot.index) * plan.slot_bytes, slot.number),
                (None, Some(frame)) => (context.frame_place(frame.index()).1, plan.slots + frame.index()),
                (None, None) => unreachable!("a job has a slot or a frame"),
            };
            let offset = if context.images.is_some() { at * plan.image_bytes } else { offset };
            if let Some(words) = job.row.take() {
                let frame = job.slot.is_none().then(|| (place - plan.slots, job.page));
                self.rows.write(context.gpu().queue(), place, &words, frame);
            }
            if job.slot.is_none() {
                self.tally.transfer.in_place_bytes += plan.frame_bytes;
            }
            table.add(&entry, offset, self.rows.begin(place), degree);
        }
        table
    }

    /// Plans copies of pages from their frames to their slots, before the kernel of the same launch.
    fn plan_copies(&mut self, context: &Context, plan: &mut Plan<wgpu::Buffer>, jobs: &[Job]) -> Result<()> {
        let bytes = context.plan.slot_bytes;
        for job in jobs {
            let (Some(frame), Some(slot)) = (&job.frame, &job.slot) else { continue };
            let (dest, to) = (&context.arena_buffers[slot.buffer as usize], u64::from(slot.index) * bytes);
            if context.home.import.is_some() {
                let (chunk, from) = context.frame_place(frame.index());
                plan.copy((context.import().chunk(chunk as usize)?, from), (dest, to), bytes);
            } else {
                let size = NonZeroU64::new(bytes).expect("pages have bytes");
                if let Some(mut view) = context.gpu().queue().write_buffer_with(dest, to, size) {
                    let page = frame.page();
                    view.slice(..page.len()).copy_from_slice(page);
                    view.slice(page.len()..).copy_from_slice(frame.weights());
                }
            }
            self.tally.transfer.copied_bytes += bytes;
        }
        Ok(())
    }

    /// A kernel over a batch.
    fn over(&self, context: &Context, place: Place, ring: usize) -> Result<Dispatch<wgpu::Buffer>> {
        let variant = if matches!(place, Place::Frames(_)) { Variant::InPlace } else { Variant::Plain };
        let source = context.page_buffer(place)?;
        let pages = context.images.as_ref().unwrap_or(source);
        let lists = (context.step.direction, context.step.visit);
        let kernel = context.dispatch(KernelName::Segments, lists).of(variant);
        let kernel = kernel.with(Resource::Pages, pages).with(Resource::Frames, source);
        let kernel = kernel.with(Resource::Batch, &self.batch_buffers[ring]).with(Resource::Rows, self.rows.buffer());
        let kernel = kernel.with(Resource::HubQueue, &self.hubs.buffer);
        Ok(match self.inflation.table(ring, place) {
            Some(table) => kernel.with(Resource::Inflation, table),
            None => kernel,
        })
    }

    /// The pages of a completed launch.
    pub fn completed(&mut self, number: u64) -> Vec<Job> {
        let Some(at) = self.under_way.iter().position(|launch| launch.number == number) else { return Vec::new() };
        let Launch { ring, jobs, .. } = self.under_way.remove(at).expect("just found");
        self.free_rings.push(ring);
        jobs
    }

    /// Just-enough allocation: grows the queue to as many parts of long lists as the superstep had. Lists that did not
    /// fit were processed in place, which is slower. True if the queue is a new buffer.
    pub fn make_room_for_hubs(&mut self, gpu: &Gpu, wanted: u32) -> bool {
        if wanted <= self.hubs.entries {
            return false;
        }
        let mut entries = wanted.checked_next_power_of_two().unwrap_or(1 << 31);
        while hub_bytes(entries) > gpu.caps().binding_bytes_max {
            entries /= 2;
        }
        if entries > self.hubs.entries
            && let Ok(hubs) = Hubs::new(gpu, entries)
        {
            self.hubs = hubs;
            return true;
        }
        false
    }

    /// All remaining pages at the end of a run, and the unit rows.
    pub fn into_parts(self) -> (Vec<Job>, UnitRows) {
        let under_way = self.under_way.into_iter().flat_map(|launch| launch.jobs);
        (under_way.chain(self.ready.into_values().flatten()).collect(), self.rows)
    }
}

/// The kernels over a batch.
#[derive(Clone, Copy, Debug)]
pub(super) enum OfBatch {
    /// Equal shares of edges.
    Segments,
    /// Lists and, where they may be long, the parts of the lists that were queued, with this many workgroups.
    Lists { hub_groups: u32 },
    /// The most frequent value of lists.
    Plurality,
}

/// Plans the kernels over a batch.
pub(super) fn plan_batch<B: Clone>(
    plan: &mut Plan<B>,
    over: &Dispatch<B>,
    hubs: &B,
    (groups, kernels): ((u32, u32), OfBatch),
) {
    let kernel = |kernel| Dispatch { kernel, ..over.clone() };
    let hub_groups = match kernels {
        OfBatch::Segments => return plan.run(kernel(KernelName::Segments).sized(groups)),
        OfBatch::Plurality => return plan.run(kernel(KernelName::Plurality).sized(groups)),
        OfBatch::Lists { hub_groups } => hub_groups,
    };
    // The count; the room for entries comes after it.
    plan.clear_bytes(hubs, 0, 4);
    plan.run(kernel(KernelName::Lists).sized(groups));
    if hub_groups > 0 {
        plan.run(kernel(KernelName::Hubs).sized(hub_groups));
    }
}

impl Hubs {
    fn new(gpu: &Gpu, entries: u32) -> Result<Self> {
        let buffer = gpu.buffer("hubs", hub_bytes(entries), Usage::STORAGE | Usage::COPY_DST)?;
        let header = HubHeader { capacity: entries, ..HubHeader::default() };
        gpu.queue().write_buffer(&buffer, 0, bytemuck::bytes_of(&header));
        Ok(Self { buffer, entries })
    }
}
