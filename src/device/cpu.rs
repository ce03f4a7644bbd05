//! The CPU device: the attributes in main memory, the edge function compiled in, one thread a core.
//!
//! A worker checks a fresh page, then runs the edge function over the lists that the step visits. Pages with many edges are
//! cut into segments of equal edges, so that a last large page does not keep one core busy and the others idle. Segments
//! are cut by the page alone, never by the number of threads: results do not depend on it.

mod exchange;

use super::{Device, PageDone, PageTask, StepEnd, Work};
use crate::device::exchange::message::MessageLayout;
use crate::device::exchange::{ExchangeMemory, Move};
use crate::error;
use crate::model::Part as DevicePart;
use crate::model::algorithm::{Algorithm, Graph, Kernel, List, Scalars, State, Step, Summary, Visit};
use crate::model::attributes::Attribute;
use crate::model::bits::Bits;
use crate::model::prefetch::EDGES_AHEAD;
use crate::pages::PagePlan;
use crate::pages::fetch::PageRef;
use crate::trace::{Detail, Lane, Timeline};
use crossbeam_channel::{Receiver, Sender, unbounded};
use rayon::prelude::*;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::thread::JoinHandle;
use std::time::Instant;
use tokio::sync::mpsc;
use topostream_formats::directory::DirectoryEntry;
use topostream_formats::page::{Neighbours, Page, weights};
use topostream_formats::with_neighbours;
use topostream_formats::{Direction, Result, Store, Topology, threads};

/// A segment has this many edges; a page is cut where it has more than twice as many.
const SEGMENT_EDGES: u32 = 1 << 18;
/// The vertex phase works through this many vertices at a time; sums are added up in the order of these parts.
const VERTICES_PER_PART: u64 = 1 << 16;

/// The CPU device.
pub struct CpuDevice<A: Algorithm> {
    shared: Arc<Shared<A>>,
    declared: Vec<Attribute>,
    /// What messages to other devices carry, in a traversal.
    layout: Option<MessageLayout>,
    exchange: Option<Arc<ExchangeMemory>>,
    /// What others are to be told after the vertex phase.
    told: Vec<Move>,
    step: Arc<Step>,
    tasks: Sender<Task>,
    done: mpsc::UnboundedReceiver<Report>,
    workers: Vec<JoinHandle<()>>,
    pool: rayon::ThreadPool,
}

/// What all workers see.
struct Shared<A> {
    algorithm: Arc<A>,
    state: State,
    store: Arc<Store>,
    weights: bool,
    trace: Option<Arc<Timeline>>,
    /// Raised when the device is dropped: what still waits is left undone.
    abandoned: AtomicBool,
}

enum Task {
    Page(PageTask, Arc<Step>),
    Segment(Arc<SharedPage>, u32),
    Stop,
}

enum Report {
    Done(PageDone),
    Panicked,
}

/// A page that several workers have segments of; the last one reports it.
struct SharedPage {
    task: PageTask,
    step: Arc<Step>,
    segments: u32,
    edges: AtomicU64,
    compute_ns: AtomicU64,
    check_ns: u64,
}

/// What a CPU device is given for a run, beside the algorithm.
pub struct CpuSetup {
    /// The graph.
    pub graph: Arc<Graph>,
    /// The store.
    pub store: Arc<Store>,
    /// Workers.
    pub threads: usize,
    /// Hears of checks and edge functions.
    pub trace: Option<Arc<Timeline>>,
    /// Which vertices are the device's.
    pub part: DevicePart,
    /// Where it tells other devices what they have to know; none where it is alone.
    pub exchange: Option<Arc<ExchangeMemory>>,
}

impl<A: Algorithm> CpuDevice<A> {
    /// Allocates what the algorithm keeps of its part of the vertices, and starts workers over it.
    ///
    /// # Errors
    /// Where the system does not start the threads.
    pub fn new(algorithm: Arc<A>, setup: CpuSetup) -> error::Result<Self> {
        let CpuSetup { graph, store, threads, trace, part, exchange } = setup;
        let declared = algorithm.attributes(graph.has_in_lists);
        // Who is alone tells nobody, and may have what no message carries.
        let tells = algorithm.is_traversal() && exchange.is_some();
        let layout = tells.then(|| MessageLayout::new(&declared, part.sharded));
        let state = State::new(graph, &declared, algorithm.is_traversal(), part).with_tables(&algorithm.tables());
        let state = state.with_activations(algorithm.keeps_activations());
        let (tasks, take) = unbounded();
        let (report, done) = mpsc::unbounded_channel();
        let weights = algorithm.needs_weights();
        let abandoned = AtomicBool::new(false);
        let shared = Arc::new(Shared { algorithm, state, store, weights, trace, abandoned });
        let pool = threads::pool("cpu device", threads)?;
        let (workers, told) = (Vec::with_capacity(threads), Vec::new());
        let step = Arc::new(Step::new(0, Direction::Out, Visit::All));
        // Dropped where a worker cannot be started, it stops those that were.
        let mut device = Self { shared, declared, layout, exchange, told, step, tasks, done, workers, pool };
        for _ in 0..threads {
            let (shared, more) = (Arc::clone(&device.shared), device.tasks.clone());
            let (take, report) = (take.clone(), report.clone());
            let worker = threads::start("cpu worker", threads, move || work(&shared, &take, &more, &report))?;
            device.workers.push(worker);
        }
        Ok(device)
    }

    /// Runs `part` over all of its own vertices in parallel and adds the results up in vertex order.
    fn over_vertices(&self, part: impl Fn(Range<u64>) -> Scalars + Sync) -> Scalars {
        let own = self.shared.state.part.own.clone();
        let range = |number: u64| {
            let first = own.start + number * VERTICES_PER_PART;
            first..(first + VERTICES_PER_PART).min(own.end)
        };
        let parts = 0..(own.end - own.start).div_ceil(VERTICES_PER_PART);
        let sums: Vec<Scalars> =
            self.pool.install(|| parts.into_par_iter().map(|number| part(range(number))).collect());
        let mut total = Scalars::default();
        for sum in sums {
            total.iter_mut().zip(sum).for_each(|(total, sum)| *total += sum);
        }
        total
    }
}

impl<A: Algorithm> Device for CpuDevice<A> {
    fn name(&self) -> String {
        format!("cpu, {} threads", self.workers.len())
    }

    fn lanes(&self) -> u32 {
        self.workers.len() as u32
    }

    fn initialise(&mut self) -> error::Result<Scalars> {
        let Shared { algorithm, state, .. } = &*self.shared;
        self.pool.install(|| state.attributes.set_initial(&self.declared, &state.part));
        let seeds = algorithm.seeds();
        state.plant(&self.declared, &seeds);
        if let Some(activations) = state.activations() {
            let own = seeds.active.iter().filter(|&&vertex| state.part.owns(vertex));
            own.for_each(|&vertex| activations.note(vertex, 0));
        }
        state.plant_sets(&self.declared, &algorithm.seed_sets());
        Ok(self.over_vertices(|vertices| algorithm.initialise(state, vertices)))
    }

    fn pages(&mut self, step: &Step) -> error::Result<PagePlan> {
        Ok(PagePlan::new(&self.shared.store, &self.shared.state, step))
    }

    fn begin(&mut self, step: &Step) -> error::Result<()> {
        self.step = Arc::new(*step);
        Ok(())
    }

    fn put_off(&mut self, step: &Step, pages: &[PageRef]) -> error::Result<()> {
        let Shared { algorithm, state, store, .. } = &*self.shared;
        let (active, next) = match (step.visit, algorithm.left_out()) {
            (Visit::Within(set), Some(left_out)) => (state.attributes.bits(set), state.attributes.bits(left_out)),
            _ => (state.frontier(step.superstep), state.next_frontier(step.superstep)),
        };
        for page in pages {
            let topology = store.topology(page.direction).expect("pages of topologies that exist");
            let entry = &topology.directory().entries()[page.page.index()];
            let last = entry.start_vertex + (entry.slot_count - 1);
            next.learn_from(active, entry.start_vertex..=last);
        }
        Ok(())
    }

    fn submit(&mut self, task: PageTask) {
        let task = Task::Page(task, Arc::clone(&self.step));
        self.tasks.send(task).expect("workers receive until they are told to stop");
    }

    fn poll_done(&mut self, context: &mut Context<'_>, done: &mut Vec<PageDone>) -> Poll<error::Result<()>> {
        let mut reports = Vec::new();
        self.done.poll_recv_many(context, &mut reports, 64).map(|_| {
            for report in reports {
                match report {
                    Report::Done(page) => done.push(page),
                    Report::Panicked => panic!("a worker of the CPU device panicked: its message stands above"),
                }
            }
            Ok(())
        })
    }

    fn end(&mut self, step: &Step) -> error::Result<StepEnd> {
        let Shared { algorithm, state, .. } = &*self.shared;
        let summary = if state.is_traversal() {
            state.frontier(step.superstep).clear();
            let next = state.next_frontier(step.superstep);
            let activations = state.activations();
            let degree = |vertex| {
                if let Some(activations) = activations {
                    activations.note(vertex, step.superstep + 1);
                }
                state.graph.out_degree(vertex).into()
            };
            let (activated, activated_edges) = next.census_of(state.part.own.clone(), degree);
            Summary { activated, activated_edges, ..Summary::default() }
        } else {
            let totals = self.over_vertices(|vertices| algorithm.vertex_phase(state, step, vertices));
            Summary { totals, ..Summary::default() }
        };
        let told = std::mem::take(&mut self.told);
        self.pool.install(|| told.iter().for_each(|one| self.make(one)));
        Ok(StepEnd { summary, ..StepEnd::default() })
    }

    fn save(&mut self, _next: &Step, look: &mut dyn FnMut(&State)) -> error::Result<()> {
        look(&self.shared.state);
        Ok(())
    }

    fn restore(&mut self, _next: &Step, load: &mut dyn FnMut(&State) -> error::Result<()>) -> error::Result<()> {
        load(&self.shared.state)
    }

    fn finish(mut self: Box<Self>) -> error::Result<State> {
        self.stop();
        let shared = Arc::clone(&self.shared);
        drop(self);
        Ok(Arc::into_inner(shared).expect("all workers have ended").state)
    }
}

impl<A: Algorithm> CpuDevice<A> {
    /// Tells the workers to stop, and waits until they have.
    fn stop(&mut self) {
        self.shared.abandoned.store(true, Ordering::Relaxed);
        for _ in &self.workers {
            self.tasks.send(Task::Stop).ok();
        }
        for worker in self.workers.drain(..) {
            worker.join().ok();
        }
    }
}

impl<A: Algorithm> Drop for CpuDevice<A> {
    fn drop(&mut self) {
        self.stop();
    }
}

/// What a worker does until the device is dropped.
fn work<A: Algorithm>(
    shared: &Shared<A>,
    take: &Receiver<Task>,
    more: &Sender<Task>,
    report: &mpsc::UnboundedSender<Report>,
) {
    for task in take {
        if matches!(task, Task::Stop) || shared.abandoned.load(Ordering::Relaxed) {
            return;
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| match task {
            Task::Page(task, step) => shared.begin_page(task, step, more),
            Task::Segment(page, number) => shared.work_segment(page, number),
            Task::Stop => None,
        }));
        let reported = match outcome {
            Ok(None) => continue,
            Ok(Some(done)) => report.send(Report::Done(done)),
            Err(_) => report.send(Report::Panicked),
        };
        if reported.is_err() {
            return;
        }
    }
}

impl<A: Algorithm> Shared<A> {
    /// Checks a page and works through it, or cuts it into segments. `None`: a segment will report.
    fn begin_page(&self, task: PageTask, step: Arc<Step>, more: &Sender<Task>) -> Option<PageDone> {
        let started = Instant::now();
        if let Err(error) = self.check(&task) {
            return Some(PageDone { page: task.page, frame: task.frame, kept: false, result: Err(error) });
        }
        let check_ns = elapsed_ns(started);
        if task.fresh {
            let bytes = task.frame.page().len() + if self.weights { task.frame.weights().len() } else { 0 };
            self.span(Lane::Checks, "check", started, Detail::page(task.page, bytes as u64));
        }
        let edges = self.entry(&task).edge_count;
        let segments = if edges > 2 * SEGMENT_EDGES { edges.div_ceil(SEGMENT_EDGES) } else { 1 };
        let (edges, compute_ns) = (AtomicU64::new(0), AtomicU64::new(0));
        let page = Arc::new(SharedPage { task, step, segments, edges, compute_ns, check_ns });
        for number in 1..segments {
            more.send(Task::Segment(Arc::clone(&page), number)).expect("this worker receives");
        }
        self.work_segment(page, 0)
    }

    /// Works through a segment. The last worker to let go of the page reports it.
    fn work_segment(&self, page: Arc<SharedPage>, number: u32) -> Option<PageDone> {
        let started = Instant::now();
        let result = self.run(&page.task, &page.step, (page.segments > 1).then(|| segment(number, page.segments)));
        let edges = result.unwrap_or_else(|error| panic!("a page that has been checked is sound: {error}"));
        page.edges.fetch_add(edges, Ordering::Relaxed);
        let detail = Detail { page: Some(page.task.page), edges, ..Detail::default() };
        self.span(Lane::HostKernels, self.algorithm.name(), started, detail);
        page.compute_ns.fetch_add(elapsed_ns(started), Ordering::Relaxed);
        let SharedPage { task, edges, compute_ns, check_ns, .. } = Arc::into_inner(page)?;
        let work = Work { edges: edges.into_inner(), compute_ns: compute_ns.into_inner(), check_ns };
        Some(PageDone { page: task.page, frame: task.frame, kept: false, result: Ok(work) })
    }

    /// Tells the timeline, where there is one, of what ends now.
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

    fn check(&self, task: &PageTask) -> Result<()> {
        if !task.fresh {
            return Ok(());
        }
        let topology = self.topology(task);
        let weights = self.weights.then(|| task.frame.weights());
        topology.check(task.page.page, task.frame.page(), weights, &self.store.page_context(topology))
    }

    /// Runs the step's edge function over a page, or over the edges of a segment.
    fn run(&self, task: &PageTask, step: &Step, segment: Option<Range<u32>>) -> Result<u64> {
        let topology = self.topology(task);
        let encoding = self.store.manifest().encoding;
        let page = Page::open(task.frame.page(), encoding)
            .map_err(|defect| topology.page_error(task.page.page, false, defect))?;
        let header = *page.header();
        let lengths = match (topology.is_grouped(), header.large) {
            (true, _) => Lengths::Elsewhere(&self.state.graph),
            (false, 1) => Lengths::Run(topology.directory().run_degree(task.page.page)),
            (false, _) => Lengths::Here,
        };
        let weights = if self.weights { weights(task.frame.weights(), header.edge_count) } else { &[] };
        let part = Part { page, weights, lengths, selection: self.selection(step), segment };
        let kernel = self.algorithm.kernel(&self.state, step);
        let starts = topology.directory().starts();
        Ok(with_neighbours!(&page, encoding, starts, |neighbours| part.run(&kernel, neighbours)))
    }

    fn selection(&self, step: &Step) -> Selection<'_> {
        match step.visit {
            // Of a superstep without pages no list is selected from.
            Visit::All | Visit::None => Selection::All,
            Visit::Frontier => Selection::In(self.state.frontier(step.superstep)),
            Visit::Within(attribute) => Selection::In(self.state.attributes.bits(attribute)),
            Visit::Without(attribute) => Selection::NotIn(self.state.attributes.bits(attribute)),
        }
    }
}

/// The edges of a segment; the last one has no end, so that empty lists behind the last edge are visited too.
fn segment(number: u32, segments: u32) -> Range<u32> {
    let end = if number + 1 == segments { u32::MAX } else { (number + 1) * SEGMENT_EDGES };
    number * SEGMENT_EDGES..end
}

/// Which lists of a page are visited.
#[derive(Clone, Copy)]
enum Selection<'a> {
    All,
    In(&'a Bits),
    NotIn(&'a Bits),
}

/// How long the lists are that a page has records of.
#[derive(Clone, Copy)]
enum Lengths<'a> {
    /// As long as their records: all of each is here.
    Here,
    /// As long as the run of large pages that this one is of.
    Run(u64),
    /// Longer, perhaps: the lists are grouped for shards, and other parts of them stand in other pages. Out-lists are, and no
    /// others.
    Elsewhere(&'a Graph),
}

impl Lengths<'_> {
    fn list(self, vertex: u32, record: usize) -> List {
        match self {
            Self::Here => List { vertex, degree: record as u64, whole: true },
            Self::Run(degree) => List { vertex, degree, whole: false },
            Self::Elsewhere(graph) => List { vertex, degree: graph.out_degree(vertex).into(), whole: false },
        }
    }
}

/// A page, or a segment of one, to be worked through.
struct Part<'a> {
    page: Page<'a>,
    weights: &'a [u32],
    lengths: Lengths<'a>,
    selection: Selection<'a>,
    segment: Option<Range<u32>>,
}

impl Part<'_> {
    /// Runs a kernel; returns how many neighbours the opened lists have here.
    fn run<K: Kernel, N: Neighbours>(&self, kernel: &K, neighbours: N) -> u64 {
        let header = self.page.header();
        if header.large == 1 {
            return self.run_large(kernel, neighbours);
        }
        let slots = match &self.segment {
            Some(edges) => self.page.first_slot_from(edges.start)..self.page.first_slot_from(edges.end),
            None => 0..header.slot_count,
        };
        let mut edges = 0;
        let start = header.start_vertex;
        let mut visit = |vertex: u32| {
            let record = self.page.record(vertex - start);
            let list = self.lengths.list(vertex, record.len());
            edges += self.run_list(kernel, neighbours, list, record);
        };
        if slots.is_empty() {
            return 0;
        }
        let vertices = start + slots.start..=start + (slots.end - 1);
        match self.selection {
            Selection::All => vertices.for_each(visit),
            Selection::In(bits) => bits.for_each_in(vertices, false, &mut visit),
            Selection::NotIn(bits) => bits.for_each_in(vertices, true, &mut visit),
        }
        edges
    }

    fn run_large<K: Kernel, N: Neighbours>(&self, kernel: &K, neighbours: N) -> u64 {
        let header = self.page.header();
        let visited = match self.selection {
            Selection::All => true,
            Selection::In(bits) => bits.contains(header.start_vertex),
            Selection::NotIn(bits) => !bits.contains(header.start_vertex),
        };
        if !visited {
            return 0;
        }
        let all = 0..header.edge_count;
        let edges = self.segment.clone().map_or(all.clone(), |edges| edges.start..edges.end.min(all.end));
        let list = self.lengths.list(header.start_vertex, all.len());
        self.run_list(kernel, neighbours, list, edges.start as usize..edges.end as usize)
    }

    #[inline(always)]
    fn run_list<K: Kernel, N: Neighbours>(&self, kernel: &K, neighbours: N, list: List, edges: Range<usize>) -> u64 {
        let Some(mut record) = kernel.open(list) else { return 0 };
        let count = edges.len() as u64;
        // What comes behind this list is read next only if every list is.
        let known = match self.selection {
            Selection::All => self.page.header().edge_count as usize,
            _ => edges.end,
        };
        if self.weights.is_empty() {
            for (edge, neighbour) in edges.clone().zip(neighbours.vertices(edges)) {
                if edge + EDGES_AHEAD < known {
                    kernel.prefetch(neighbours.vertex(edge + EDGES_AHEAD));
                }
                if kernel.edge(&mut record, neighbour, 0).is_break() {
                    break;
                }
            }
        } else {
            let weights = &self.weights[edges.clone()];
            for (neighbour, &weight) in neighbours.vertices(edges).zip(weights) {
                if kernel.edge(&mut record, neighbour, weight).is_break() {
                    break;
                }
            }
        }
        kernel.close(record);
        count
    }
}

fn elapsed_ns(since: Instant) -> u64 {
    since.elapsed().as_nanos() as u64
}
