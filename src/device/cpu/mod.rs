//! The CPU device: attributes in main memory, and the compiled edge function, on the run's worker threads.
//!
//! A job checks a fresh page, then runs the edge function over the lists that the step visits. Pages with many
//! edges or lists are split into segments of equal work, so that a large last page does not leave cores idle: of a
//! graph in the order of degrees, the last pages have nothing but empty lists. Segments depend only on the page, not on
//! the number of threads, and so do results. Vertex phases and moves run on the same
//! threads, after all pages of the superstep.
//!
//! | module | contents |
//! | --- | --- |
//! | `pages` | pages as jobs for the worker threads: checks, segments, reports |
//! | `lists` | the edge loops over one page |
//! | `exchange` | values sent to and received from other devices of a team |
//!
//! Created by the engine, since only it knows the algorithm's type. Of that, the edge function alone is compiled into
//! the loops over lists; all else is called. Used as a [`Device`] or a [`Member`](super::Member). It does not know how
//! pages are read, other devices, or their pages.

mod exchange;
mod lists;
mod pages;

use super::workers::{Workers, panic_message};
use super::{Device, PageDone, PageTask, StepEnd};
use crate::device::exchange::message::MessageLayout;
use crate::device::exchange::{ExchangeMemory, Moves, Received};
use crate::error::{Error, Result};
use crate::model::Part;
use crate::model::algorithm::{Algorithm, Complete, Declaration, Graph, Scalars, State, Step, Summary, Visit};
use crate::model::bits::{BLOCKS_MIN, Union};
use crate::pages::PagePlan;
use crate::pages::fetch::PageRef;
use crate::pages::parts::{PartFinder, ReadCost};
use crate::trace::Timeline;
use crossbeam_channel::{Receiver, bounded};
use pages::{Compiled, Images, Report, Running, Shared};
use rayon::prelude::*;
use std::convert::Infallible;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Instant;
use tokio::sync::mpsc;
use topostream_formats::{Direction, Store};

/// Vertices of a task of the vertex phase; sums are added in the order of tasks.
const VERTICES_PER_PART: u64 = 1 << 16;

/// The CPU device.
pub struct CpuDevice {
    shared: Arc<Shared>,
    declaration: Arc<Declaration>,
    /// The layout of messages to other devices, in a traversal.
    layout: Option<MessageLayout>,
    exchange: Option<Arc<ExchangeMemory>>,
    received: Received,
    /// The moves of an exchange that are left.
    moves: Moves,
    step: Arc<Step>,
    lanes: usize,
    /// Finds the parts of pages to read, if parts may be read.
    parts: Option<PartFinder>,
    /// What the calling thread may still process itself in this superstep.
    here: Here,
    /// Pages that it has processed.
    done_here: Vec<PageDone>,
    /// Own vertices that this superstep has deferred.
    deferred: u64,
    done: mpsc::UnboundedReceiver<Report>,
    /// Cloned for each job; removed when the device is dropped.
    running: Option<Running>,
    ended: Receiver<Infallible>,
}

/// Lists and edges that the calling thread processes itself in a superstep at most: waking another thread and being
/// woken by it takes as long as a thousand edges.
#[derive(Clone, Copy, Debug)]
struct Here {
    lists: u64,
    edges: u64,
}

impl Here {
    const MOST: Self = Self { lists: 256, edges: 2048 };
    const NOTHING: Self = Self { lists: 0, edges: 0 };
}

/// The input of a CPU device for a run, except the algorithm.
pub struct CpuSetup {
    /// The algorithm's declaration.
    pub declaration: Arc<Declaration>,
    /// The graph.
    pub graph: Arc<Graph>,
    /// The store.
    pub store: Arc<Store>,
    /// The worker threads, shared with other devices of the run.
    pub workers: Arc<Workers>,
    /// Its share of the threads, if several CPU devices share them.
    pub lanes: usize,
    /// Records spans of checks and edge functions.
    pub trace: Option<Arc<Timeline>>,
    /// The device's vertices.
    pub part: Part,
    /// The memory through which it exchanges values with other devices; none for a single device.
    pub exchange: Option<Arc<ExchangeMemory>>,
    /// The cost of reads, if supersteps may ask for parts of pages.
    pub parts: Option<ReadCost>,
}

impl CpuDevice {
    /// Allocates the algorithm's state for the device's part of the vertices.
    pub fn new(algorithm: Arc<impl Algorithm>, setup: CpuSetup) -> Self {
        Self::of(algorithm, setup)
    }

    fn of(algorithm: Arc<dyn Compiled>, setup: CpuSetup) -> Self {
        let CpuSetup { declaration, graph, store, workers, lanes, trace, part, exchange, parts } = setup;
        let (declared, traversal) = (&declaration.attributes, declaration.traversal);
        // A single device sends nothing, and may have attributes that messages do not support.
        let sends = traversal && exchange.is_some();
        let layout = sends.then(|| MessageLayout::new(declared, part.sharded));
        let state = State::new(graph, declared, traversal, part).with_tables(&declaration.tables);
        let state = state.with_activations(declaration.keeps_activations);
        let (report, done) = mpsc::unbounded_channel();
        let (weights, abandoned) = (declaration.weights.are_read(), AtomicBool::new(false));
        let (images, joins) = (Images::default(), declaration.monotone && exchange.is_none());
        let name = declaration.name;
        let shared = Arc::new(Shared {
            algorithm,
            name,
            state,
            store,
            weights,
            joins,
            joined: AtomicU64::new(0),
            trace,
            workers,
            report,
            images,
            abandoned,
        });
        let step = Arc::new(Step::new(0, Direction::Out, Visit::All));
        let (running, ended) = bounded(0);
        let (running, moves) = (Some(running), Moves::default());
        let received = exchange.as_deref().map_or_else(Received::default, Received::new);
        let (lanes, parts) = (lanes.max(1), parts.map(PartFinder::new));
        let (here, done_here) = (Here::NOTHING, Vec::new());
        Self {
            shared,
            declaration,
            layout,
            exchange,
            received,
            moves,
            step,
            lanes,
            parts,
            here,
            done_here,
            deferred: 0,
            done,
            running,
            ended,
        }
    }

    /// Processes a page on the calling thread, if the superstep visits so few of its lists that another thread would
    /// take longer to wake up; returns the page otherwise. A long superstep over many pages, with a few lists on each,
    /// is none of these.
    fn process_here(&mut self, task: PageTask) -> Option<PageTask> {
        self.shared.join(&task, &self.step);
        let Some((lists, edges)) = self.shared.few_lists(&task, &self.step, self.here.lists) else {
            self.here = if task.fresh { self.here } else { Here::NOTHING };
            return Some(task);
        };
        if edges > self.here.edges {
            self.here = Here::NOTHING;
            return Some(task);
        }
        match self.shared.run_here(task, &self.step) {
            Report::Done(page) => {
                let edges = page.result.as_ref().map_or(0, |work| work.edges);
                self.here.lists -= lists;
                self.here.edges = self.here.edges.saturating_sub(edges);
                self.done_here.push(page);
            }
            panicked @ Report::Panicked(_) => self.shared.tell(panicked),
        }
        None
    }

    /// Runs work on the worker threads; turns a panic of the algorithm into an error.
    fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T> {
        let done = catch_unwind(AssertUnwindSafe(|| self.shared.workers.install(work)));
        done.map_err(|panic| self.panicked(panic_message(&*panic)))
    }

    fn panicked(&self, message: String) -> Error {
        Error::Panicked { algorithm: self.shared.name.into(), message }
    }

    /// Runs `part` over all own vertices in parallel, and adds the results in vertex order. A few vertices are
    /// processed on the calling thread, since waking others takes longer.
    fn over_vertices(&self, part: impl Fn(Range<u64>) -> Scalars + Sync) -> Result<Scalars> {
        let own = self.shared.state.part.own.clone();
        if own.is_empty() {
            return Ok(Scalars::default());
        }
        if own.end - own.start <= VERTICES_PER_PART {
            let done = catch_unwind(AssertUnwindSafe(|| part(own)));
            return done.map_err(|panic| self.panicked(panic_message(&*panic)));
        }
        let range = |number: u64| {
            let first = own.start + number * VERTICES_PER_PART;
            first..(first + VERTICES_PER_PART).min(own.end)
        };
        let parts = 0..(own.end - own.start).div_ceil(VERTICES_PER_PART);
        let sums: Vec<Scalars> = self.install(|| parts.into_par_iter().map(|number| part(range(number))).collect())?;
        Ok(sum(sums))
    }

    /// Runs `part` over all own vertices that are in any of some sets, and over others, and adds the results. A few
    /// blocks of vertices are processed on the calling thread.
    fn over_sets(&self, places: &[usize], part: impl Fn(Range<u64>) -> Scalars + Sync) -> Result<Scalars> {
        let Shared { state, .. } = &*self.shared;
        let (own, sets) = (&state.part.own, Union(places.iter().map(|&place| state.attributes.bits(place)).collect()));
        let of_block = |&block: &u64| {
            let mut sums = Vec::new();
            sets.for_each_run(block, own, |vertices| sums.push(part(vertices)));
            sum(sums)
        };
        let blocks = sets.blocks(own);
        if blocks.len() < BLOCKS_MIN {
            let done = catch_unwind(AssertUnwindSafe(|| sum(blocks.iter().map(of_block))));
            return done.map_err(|panic| self.panicked(panic_message(&*panic)));
        }
        let sums: Vec<Scalars> = self.install(|| blocks.par_iter().map(of_block).collect())?;
        Ok(sum(sums))
    }
}

fn sum(terms: impl IntoIterator<Item = Scalars>) -> Scalars {
    let mut total = Scalars::default();
    for term in terms {
        total.iter_mut().zip(term).for_each(|(total, term)| *total += term);
    }
    total
}

impl Device for CpuDevice {
    fn name(&self) -> String {
        format!("cpu, {} threads", self.lanes)
    }

    fn lanes(&self) -> u32 {
        self.lanes as u32
    }

    fn initialise(&mut self) -> Result<Scalars> {
        let Shared { algorithm, state, .. } = &*self.shared;
        self.install(|| {
            state.attributes.set_initial(&self.declaration.attributes, &state.part);
            let seeds = algorithm.seeds();
            state.plant(&self.declaration.attributes, &seeds);
            if let Some(activations) = state.activations() {
                let own = seeds.active.iter().filter(|&&vertex| state.part.owns(vertex));
                own.for_each(|&vertex| activations.note(vertex, 0));
            }
        })?;
        self.over_vertices(|vertices| algorithm.initialise(state, vertices))
    }

    fn pages(&mut self, step: &Step) -> Result<PagePlan> {
        Ok(self.plan(step))
    }

    fn upcoming(&mut self, step: &Step) -> Vec<PageRef> {
        if step.visit != Visit::Frontier {
            return Vec::new();
        }
        let next = Step { superstep: step.superstep.wrapping_add(1), ..*step };
        // Other lists of these pages may become active: parts are read when they are known.
        let PagePlan { mut pages, parts, .. } = self.plan(&next);
        pages.retain(|page| !parts.contains_key(page));
        pages
    }

    fn begin(&mut self, step: &Step) -> Result<()> {
        self.step = Arc::new(*step);
        self.here = Here::MOST;
        Ok(())
    }

    fn defer(&mut self, step: &Step, pages: &[PageRef]) -> Result<()> {
        let Shared { state, store, .. } = &*self.shared;
        let (active, next) = (state.frontier(step.superstep), state.next_frontier(step.superstep));
        let (own, mut before) = (&state.part.own, None);
        for page in pages {
            let topology = store.topology(page.direction).expect("pages of topologies that exist");
            let entry = &topology.directory().entries()[page.page.index()];
            let last = entry.start_vertex + (entry.slot_count - 1);
            next.learn_from(active, entry.start_vertex..=last);
            // The pages of one list follow each other.
            if before.replace(entry.start_vertex) != Some(entry.start_vertex) {
                let of_page = own.start.max(entry.start_vertex.into())..own.end.min(u64::from(last) + 1);
                self.deferred += active.count(of_page);
            }
        }
        Ok(())
    }

    fn submit(&mut self, task: PageTask) {
        let Some(task) = self.process_here(task) else { return };
        let running = self.running.as_ref().expect("taken when the device is dropped");
        self.shared.submit(running, task, Arc::clone(&self.step));
    }

    fn poll_done(&mut self, context: &mut Context<'_>, done: &mut Vec<PageDone>) -> Poll<Result<()>> {
        let here = !self.done_here.is_empty();
        done.append(&mut self.done_here);
        let mut reports = Vec::new();
        let polled = self.done.poll_recv_many(context, &mut reports, 64);
        for report in reports {
            match report {
                Report::Done(page) => done.push(page),
                Report::Panicked(message) => return Poll::Ready(Err(self.panicked(message))),
            }
        }
        if here { Poll::Ready(Ok(())) } else { polled.map(|_| Ok(())) }
    }

    fn end(&mut self, step: &Step) -> Result<StepEnd> {
        let begun = Instant::now();
        let Shared { algorithm, state, .. } = &*self.shared;
        let passed = AtomicU64::new(0);
        let summary = if state.is_traversal() {
            self.census(step)
        } else {
            let phase = |vertices: Range<u64>| {
                passed.fetch_add(vertices.end - vertices.start, Ordering::Relaxed);
                algorithm.vertex_phase(state, step, vertices)
            };
            let totals = match self.declaration.phase_within(step) {
                Some(places) => self.over_sets(places, phase)?,
                None => self.over_vertices(phase)?,
            };
            Summary { totals, ..Summary::default() }
        };
        self.put()?;
        let (vertex_ns, phase_vertices) = (begun.elapsed().as_nanos() as u64, passed.into_inner());
        let (joined, deferred) = (self.shared.joined.swap(0, Ordering::Relaxed), std::mem::take(&mut self.deferred));
        Ok(StepEnd { summary, vertex_ns, phase_vertices, joined, deferred, ..StepEnd::default() })
    }

    fn save(&mut self, _next: &Step, look: &mut dyn FnMut(&State, Range<u64>)) -> Result<()> {
        look(&self.shared.state, 0..self.shared.state.graph.vertices);
        Ok(())
    }

    fn restore(&mut self, _next: &Step, load: &mut dyn FnMut(&State, &Complete<'_>) -> Result<()>) -> Result<()> {
        load(&self.shared.state, &|_, _| Ok(()))
    }

    fn finish(mut self: Box<Self>) -> Result<State> {
        self.stop();
        let shared = Arc::clone(&self.shared);
        drop(self);
        Ok(Arc::into_inner(shared).expect("all jobs have ended").state)
    }
}

impl CpuDevice {
    /// The pages of a superstep, and the parts of them that are read.
    fn plan(&self, step: &Step) -> PagePlan {
        let Shared { store, state, workers, .. } = &*self.shared;
        let Some(finder) = &self.parts else { return PagePlan::new(store, state, step) };
        if !finder.is_prepared() {
            workers.install(|| finder.prepare(store, state.graph.out_degrees.values()));
        }
        PagePlan::with_parts(store, state, step, finder)
    }

    /// Clears the frontier of a superstep, and counts the next one. Small frontiers are counted on the calling thread,
    /// since waking others takes longer.
    fn census(&self, step: &Step) -> Summary {
        let Shared { state, workers, .. } = &*self.shared;
        state.frontier(step.superstep).clear();
        let next = state.next_frontier(step.superstep);
        let activations = state.activations();
        let degree = |vertex| {
            if let Some(activations) = activations {
                activations.note(vertex, step.superstep + 1);
            }
            state.graph.out_degree(vertex).into()
        };
        let own = state.part.own.clone();
        let (activated, activated_edges) = next.census_of(own, degree, |count| workers.install(count));
        Summary { activated, activated_edges, ..Summary::default() }
    }

    /// Waits until all jobs have ended; pending jobs do nothing.
    fn stop(&mut self) {
        self.shared.abandoned.store(true, Ordering::Relaxed);
        self.running = None;
        // Jobs send nothing: the channel closes when the last one ends.
        self.ended.recv().ok();
    }
}

impl Drop for CpuDevice {
    fn drop(&mut self) {
        self.stop();
    }
}
