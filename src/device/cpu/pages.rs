//! Pages on the worker threads: a page is checked if it is fresh, split into segments if it has many edges or lists,
//! and processed by the edge function.
//!
//! ```text
//!   submit ─▶ page: check ─┬ few edges: its lists ──────────────────────────▶ PageDone
//!                          └ many: segment 0, 1, 2 … on all worker threads ─▶ PageDone, by the last one
//! ```
//!
//! Of a packed page, each thread decodes what it visits into a buffer of its own, the plain image. If frames have room
//! for plain images, a page is decoded once, in its frame.
//!
//! Called by the CPU device only. Jobs report to the device by a channel, including panics.

use super::lists::{Lengths, PageLists, Selection, held_units, visited_units};
use crate::device::workers::{Workers, panic_message};
use crate::device::{PageDone, PageTask, PageWork};
use crate::model::algorithm::{Algorithm, Kernel, State, Step, Visit};
use crate::pages::parts::Parts;
use crate::trace::{Detail, Lane, Timeline};
use crossbeam_channel::Sender;
use std::convert::Infallible;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;
use tokio::sync::mpsc;
use topostream_formats::buffer::AlignedBuffer;
use topostream_formats::chunks::ChunkSet;
use topostream_formats::directory::DirectoryEntry;
use topostream_formats::packed::{PackedPage, PartialPage, UNIT};
use topostream_formats::page::{Page, PageDefect, PageWeights};
use topostream_formats::with_neighbours;
use topostream_formats::{Direction, Encoding, Error, Result, Store, Topology};

/// Edges of a segment of a long list; lists that are more than twice as long are split.
const PART_EDGES: u32 = 1 << 18;
/// Edges and lists of a segment of a page with several lists; pages with more than twice as many are split. Where each
/// segment has to decode the slots of its page first, they are as large as parts.
const SEGMENT: u32 = 1 << 16;
/// The same where lists are cut: then one long list is work for several threads.
const CUT_SEGMENT: u32 = 1 << 15;

/// An algorithm with its compiled edge function. All else about pages is compiled once for all algorithms.
pub(super) trait Compiled: Algorithm {
    /// Whether the edges of a list may be visited in parts.
    fn divides(&self) -> bool;

    /// Runs the step's edge function over lists; returns the number of their edges. `topology` has the encoding of
    /// pages and the first vertex of each.
    fn run_lists(&self, state: &State, step: &Step, lists: &PageLists<'_>, topology: (Encoding, &[u32])) -> u64;
}

impl<A: Algorithm> Compiled for A {
    fn divides(&self) -> bool {
        <A::Kernel<'_> as Kernel>::DIVIDES
    }

    fn run_lists(&self, state: &State, step: &Step, lists: &PageLists<'_>, topology: (Encoding, &[u32])) -> u64 {
        let kernel = self.kernel(state, step);
        let (encoding, starts) = topology;
        with_neighbours!(&lists.page, encoding, starts, |neighbours| lists.run(&kernel, neighbours))
    }
}

/// The shared state of a device's jobs.
pub(super) struct Shared {
    pub algorithm: Arc<dyn Compiled>,
    /// The algorithm's name.
    pub name: &'static str,
    pub state: State,
    pub store: Arc<Store>,
    pub weights: bool,
    /// Whether vertices that are activated in a superstep may be visited in it.
    pub joins: bool,
    /// The vertices that have joined this superstep.
    pub joined: AtomicU64,
    pub trace: Option<Arc<Timeline>>,
    pub workers: Arc<Workers>,
    pub report: mpsc::UnboundedSender<Report>,
    pub images: Images,
    /// Set when the device is dropped: pending jobs do nothing.
    pub abandoned: AtomicBool,
}

/// Buffers for plain images of packed pages: one for each thread that decodes.
#[derive(Debug, Default)]
pub(super) struct Images(Mutex<Vec<AlignedBuffer>>);

impl Images {
    fn take(&self, bytes: u64) -> Result<AlignedBuffer> {
        let free = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        free.map_or_else(|| AlignedBuffer::try_new("a decoded page", bytes), Ok)
    }

    fn give(&self, image: AlignedBuffer) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(image);
    }
}

/// The report of a job to the device.
pub(super) enum Report {
    Done(PageDone),
    /// The message of a panic. Its page may be reported as done afterwards.
    Panicked(String),
}

/// Held by every pending or running job: the channel closes when all have ended.
pub(super) type Running = Sender<Infallible>;

/// A page whose segments run on several threads; the last one reports it.
struct SharedPage {
    task: PageTask,
    step: Arc<Step>,
    segments: u32,
    /// Edges and lists of a segment, or edges of a large page.
    size: u32,
    edges: AtomicU64,
    decoded: AtomicU64,
    compute_ns: AtomicU64,
    check_ns: u64,
    /// Why a segment could not be decoded.
    defect: OnceLock<Error>,
}

impl SharedPage {
    /// A segment: its edges of a large page, and of others, edges and lists counted together. The last one is
    /// open-ended, so that the last list is in it.
    fn segment(&self, number: u32) -> Range<u32> {
        let end = if number + 1 == self.segments { u32::MAX } else { (number + 1) * self.size };
        number * self.size..end
    }
}

impl Shared {
    /// Starts processing a page on the worker threads.
    pub fn submit(self: &Arc<Self>, running: &Running, task: PageTask, step: Arc<Step>) {
        let more = running.clone();
        self.spawn(running, move |shared| shared.begin_page(&more, task, step));
    }

    /// The number of lists of a page that a superstep visits, and of their neighbours as far as these are known, if it
    /// visits at most `lists` and nothing else has to be done with the page than to visit them.
    pub fn few_lists(&self, task: &PageTask, step: &Step, lists: u64) -> Option<(u64, u64)> {
        let Selection::In(visited) = self.selection(step) else { return None };
        let (topology, entry) = (self.topology(task), self.entry(task));
        if lists == 0 || task.fresh || entry.run > 0 || (topology.image_bytes() > 0 && !self.keeps_images(task)) {
            return None;
        }
        // The lengths of in-lists are not known.
        let out = topology.direction() == Direction::Out;
        let degree = |vertex| if out { self.state.graph.out_degree(vertex).into() } else { 1 };
        visited.few_of(lists, entry.start_vertex..=entry.start_vertex + (entry.slot_count - 1), degree)
    }

    /// Lets vertices of a page that have been activated in this superstep join it, if their lists are on this page only
    /// and all of it is in memory: they would be visited again in the next superstep otherwise, with no better values.
    pub fn join(&self, task: &PageTask, step: &Step) {
        let entry = self.entry(task);
        let whole = matches!(task.frame.held(), Parts::Whole) && entry.run == 0 && !self.topology(task).is_grouped();
        if !self.joins || !whole || step.visit != Visit::Frontier {
            return;
        }
        let (active, next) = (self.state.frontier(step.superstep), self.state.next_frontier(step.superstep));
        let joined = active.take_from(next, entry.start_vertex..=entry.start_vertex + (entry.slot_count - 1));
        if joined > 0 {
            self.joined.fetch_add(joined, Ordering::Relaxed);
        }
    }

    /// Processes a page on the calling thread.
    pub fn run_here(&self, task: PageTask, step: &Step) -> Report {
        let started = Instant::now();
        let result = match catch_unwind(AssertUnwindSafe(|| self.run(&task, step, None))) {
            Ok(result) => result,
            Err(panic) => return Report::Panicked(panic_message(&*panic)),
        };
        let edges = result.as_ref().map_or(0, |work| work.edges);
        let detail = Detail { page: Some(task.page), edges, ..Detail::default() };
        self.span(Lane::HostKernels, self.name, started, detail);
        let result = result.map(|work| PageWork { compute_ns: elapsed_ns(started), ..work });
        Report::Done(PageDone { page: task.page, frame: task.frame, kept: false, result })
    }

    fn spawn(self: &Arc<Self>, running: &Running, job: impl FnOnce(&Arc<Self>) + Send + 'static) {
        let (shared, running) = (Arc::clone(self), running.clone());
        self.workers.spawn(move || {
            if !shared.abandoned.load(Ordering::Relaxed) {
                job(&shared);
            }
            // Dropped before `running`: once all jobs have ended, the device is the only owner of the state.
            drop(shared);
            drop(running);
        });
    }

    /// Checks a page, and processes it or its first segment; the other segments become jobs.
    fn begin_page(self: &Arc<Self>, running: &Running, mut task: PageTask, step: Arc<Step>) {
        let started = Instant::now();
        let decoded = match catch_unwind(AssertUnwindSafe(|| self.check(&mut task))) {
            Ok(Ok(decoded)) => AtomicU64::new(decoded),
            Ok(Err(error)) => {
                let done = PageDone { page: task.page, frame: task.frame, kept: false, result: Err(error) };
                return self.tell(Report::Done(done));
            }
            Err(panic) => return self.tell(Report::Panicked(panic_message(&*panic))),
        };
        let check_ns = elapsed_ns(started);
        self.join(&task, &step);
        if task.fresh {
            self.span(Lane::Checks, "check", started, Detail::page(task.page, self.unchecked_bytes(&task)));
        }
        let DirectoryEntry { run, edge_count, slot_count, .. } = *self.entry(&task);
        let is_plain = self.topology(&task).image_bytes() == 0 || self.keeps_images(&task);
        let lists = if run > 0 { 0 } else { slot_count };
        let size = match run == 0 && is_plain {
            true if self.algorithm.divides() => CUT_SEGMENT,
            true => SEGMENT,
            false => PART_EDGES,
        };
        let places = edge_count.saturating_add(lists);
        let segments = if places > 2 * size { places.div_ceil(size) } else { 1 };
        let (edges, compute_ns, defect) = (AtomicU64::new(0), AtomicU64::new(0), OnceLock::new());
        let page = Arc::new(SharedPage { task, step, segments, size, edges, decoded, compute_ns, check_ns, defect });
        for number in 1..segments {
            let page = Arc::clone(&page);
            self.spawn(running, move |shared| shared.work_segment(page, number));
        }
        self.work_segment(page, 0);
    }

    /// Processes a segment. The last thread to drop the page reports it.
    fn work_segment(&self, page: Arc<SharedPage>, number: u32) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.run_segment(&page, number))) {
            // Before the page is dropped, so that the device receives the panic first.
            self.tell(Report::Panicked(panic_message(&*panic)));
        }
        let Some(SharedPage { task, edges, decoded, compute_ns, check_ns, defect, .. }) = Arc::into_inner(page) else {
            return;
        };
        let (edges, decoded, compute_ns) = (edges.into_inner(), decoded.into_inner(), compute_ns.into_inner());
        let work = PageWork { edges, decoded, compute_ns, check_ns };
        let result = defect.into_inner().map_or(Ok(work), Err);
        self.tell(Report::Done(PageDone { page: task.page, frame: task.frame, kept: false, result }));
    }

    fn run_segment(&self, page: &SharedPage, number: u32) {
        let started = Instant::now();
        let result = self.run(&page.task, &page.step, (page.segments > 1).then(|| page.segment(number)));
        let PageWork { edges, decoded, .. } = result.unwrap_or_else(|error| {
            // Neighbours of packed pages are checked when they are decoded. The first defect is reported.
            page.defect.set(error).ok();
            PageWork::default()
        });
        page.edges.fetch_add(edges, Ordering::Relaxed);
        page.decoded.fetch_add(decoded, Ordering::Relaxed);
        let detail = Detail { page: Some(page.task.page), edges, ..Detail::default() };
        self.span(Lane::HostKernels, self.name, started, detail);
        page.compute_ns.fetch_add(elapsed_ns(started), Ordering::Relaxed);
    }

    /// Ignores that the device may have been dropped.
    pub fn tell(&self, report: Report) {
        self.report.send(report).ok();
    }

    /// Adds a span that ends now to the timeline, if there is one.
    fn span(&self, lane: Lane, name: &'static str, begin: Instant, detail: Detail) {
        if let Some(trace) = &self.trace {
            trace.span(lane, name, begin, Instant::now(), detail);
        }
    }

    fn topology(&self, task: &PageTask) -> &Topology {
        self.store.topology(task.page.direction).expect("pages of topologies that exist")
    }

    fn entry(&self, task: &PageTask) -> &DirectoryEntry {
        &self.topology(task).directory().entries()[task.page.page.index()]
    }

    /// Checks a page that has just been read, and decodes it in its frame if that keeps plain images. Returns the
    /// number of lists and neighbours that it has decoded.
    fn check(&self, task: &mut PageTask) -> Result<u64> {
        if !task.fresh {
            return Ok(0);
        }
        let topology = self.topology(task);
        if let Parts::Chunks(unchecked) = task.frame.unchecked() {
            let table = topology.chunks().expect("pages of which parts are read have chunks");
            let checked = table.check(task.page.page, self.packed(task), unchecked);
            return checked.map(|()| 0).map_err(|defect| topology.page_error(task.page.page, false, defect));
        }
        let weights = self.weights.then(|| task.frame.weights());
        topology.check(task.page.page, self.packed(task), weights, &self.store.page_context(topology))?;
        if !self.keeps_images(task) {
            return Ok(0);
        }
        let context = self.store.page_context(topology);
        let mut packed = self.images.take(topology.image_bytes().max(topology.page_bytes().into()))?;
        packed[..self.packed(task).len()].copy_from_slice(self.packed(task));
        let number = task.page.page;
        let frame = Arc::get_mut(&mut task.frame).expect("a device that keeps images shares its frames with nobody");
        let bytes = &packed[..topology.page_bytes() as usize];
        let image = &mut frame.bytes_mut()[..topology.image_bytes() as usize];
        let decoded =
            context.open_plain(bytes, number.0, image).map(|page| decoded_of(&page, page.header().edge_count));
        self.images.give(packed);
        decoded.map_err(|defect| topology.page_error(number, false, defect))
    }

    /// Bytes of a page that has just been read, or of what has been read of it.
    fn unchecked_bytes(&self, task: &PageTask) -> u64 {
        let topology = self.topology(task);
        let weight_bytes = if self.weights { task.frame.weights().len() as u64 } else { 0 };
        let chunk_bytes = topology.chunks().map_or(0, |chunks| chunks.chunk_bytes().into());
        task.frame.unchecked().bytes(u64::from(topology.page_bytes()) + weight_bytes, chunk_bytes)
    }

    /// Whether frames have room for plain images, which then replace packed pages.
    fn keeps_images(&self, task: &PageTask) -> bool {
        task.frame.page().len() > self.topology(task).page_bytes() as usize
    }

    /// The bytes of a page as it was read.
    fn packed<'a>(&self, task: &'a PageTask) -> &'a [u8] {
        &task.frame.page()[..self.topology(task).page_bytes() as usize]
    }

    /// Runs the step's edge function over a page, or over the edges of a segment; returns the work without its time.
    fn run(&self, task: &PageTask, step: &Step, segment: Option<Range<u32>>) -> Result<PageWork> {
        let topology = self.topology(task);
        if topology.image_bytes() == 0 || self.keeps_images(task) {
            let place = task.frame.page();
            let bytes = if self.keeps_images(task) { &place[..topology.image_bytes() as usize] } else { place };
            let page = Page::open(bytes, self.store.manifest().encoding.plain());
            let page = page.map_err(|defect| topology.page_error(task.page.page, false, defect))?;
            let edges = self.run_lists(task, step, (page, None), segment);
            return Ok(PageWork { edges, ..PageWork::default() });
        }
        let mut image = self.images.take(topology.image_bytes())?;
        let work = self.decode(task, step, segment.as_ref(), &mut image).and_then(|units| {
            let page = Page::open(&image, self.store.manifest().encoding.plain())?;
            let decoded = decoded_of(&page, units.iter().map(|units| UNIT as u32 * (units.end - units.start)).sum());
            let edges = self.run_lists(task, step, (page, Some(&units)), segment);
            Ok(PageWork { edges, decoded, ..PageWork::default() })
        });
        self.images.give(image);
        work.map_err(|defect| topology.page_error(task.page.page, false, defect))
    }

    /// Decodes the slots of a packed page, and the neighbours of the lists that the step visits; returns their units.
    fn decode(
        &self,
        task: &PageTask,
        step: &Step,
        segment: Option<&Range<u32>>,
        image: &mut AlignedBuffer,
    ) -> Result<Vec<Range<u32>>, PageDefect> {
        let topology = self.topology(task);
        let context = self.store.page_context(topology);
        let destinations = context.destinations(task.page.page.0);
        if let Parts::Chunks(held) = task.frame.held() {
            return self.decode_part(task, (step, segment), held, image);
        }
        let packed = PackedPage::open(self.packed(task), context.encoding, destinations)?;
        packed.inflate_slots(image)?;
        let page = Page::open(image, context.encoding.plain())?;
        let units = visited_units(&page, self.selection(step), segment);
        packed.inflate_units(image, units.iter().cloned().flatten())?;
        Ok(units)
    }

    /// Decodes a page of which some chunks have been read: the lists that are not in these are left out. They are
    /// lists of vertices that joined the visited set after the superstep had begun.
    fn decode_part(
        &self,
        task: &PageTask,
        (step, segment): (&Step, Option<&Range<u32>>),
        held: ChunkSet,
        image: &mut AlignedBuffer,
    ) -> Result<Vec<Range<u32>>, PageDefect> {
        let (topology, page, entry) = (self.topology(task), task.page.page, self.entry(task));
        let context = self.store.page_context(topology);
        let table = topology.chunks().expect("pages of which parts are read have chunks");
        let (places, map) = (table.units(page), table.map(page, entry));
        let degrees = &self.state.graph.out_degrees.values()[entry.start_vertex as usize..];
        let degrees = &degrees[..entry.slot_count as usize];
        let (header, destinations) = (context.header(page.0), context.destinations(page.0));
        let packed = PartialPage::open(self.packed(task), context.encoding, destinations, header, places, degrees)?;
        packed.inflate_slots(image);
        let plain = Page::open(image, context.encoding.plain())?;
        let units = visited_units(&plain, self.selection(step), segment);
        let units = held_units(units, |units| held.contains(map.chunks_of(units)));
        packed.inflate_units(image, units.iter().cloned().flatten())?;
        Ok(units)
    }

    /// Runs the step's edge function over the lists of an open page, of which these units have been decoded if it is
    /// packed.
    fn run_lists(
        &self,
        task: &PageTask,
        step: &Step,
        (page, decoded): (Page<'_>, Option<&[Range<u32>]>),
        segment: Option<Range<u32>>,
    ) -> u64 {
        let topology = self.topology(task);
        let encoding = self.store.manifest().encoding;
        let header = *page.header();
        let lengths = match (topology.is_grouped(), header.large) {
            (true, _) => Lengths::Elsewhere(&self.state.graph),
            (false, 1) => Lengths::Run(topology.directory().run_degree(task.page.page)),
            (false, _) => Lengths::Here,
        };
        let weights = match self.weights {
            true => topology.weights_of(task.frame.weights(), header.edge_count),
            false => PageWeights::None,
        };
        let lists = PageLists { page, weights, lengths, selection: self.selection(step), segment, decoded };
        self.algorithm.run_lists(&self.state, step, &lists, (encoding, topology.directory().starts()))
    }

    fn selection(&self, step: &Step) -> Selection<'_> {
        match step.visit {
            // A superstep without pages selects from no list.
            Visit::All | Visit::None => Selection::All,
            Visit::Frontier => Selection::In(self.state.frontier(step.superstep)),
            Visit::Within(attribute) => Selection::In(self.state.attributes.bits(attribute)),
            Visit::Without(attribute) => Selection::NotIn(self.state.attributes.bits(attribute)),
        }
    }
}

/// The lists of a plain image, and this many of its neighbours.
fn decoded_of(page: &Page<'_>, neighbours: u32) -> u64 {
    u64::from(page.header().slot_count) + u64::from(neighbours)
}

fn elapsed_ns(since: Instant) -> u64 {
    since.elapsed().as_nanos() as u64
}
