//! The engine: opens a store, runs algorithms over it, superstep by superstep.
//!
//! ```text
//!  run: plan memory ─▶ page pool, fetcher, device ─▶ initialise ─▶ superstep … until the algorithm has no next one
//!
//!  superstep: which pages? ─ in the buffer ──────────────────────────▶ device ─▶ done ─▶ page cache
//!                          └ missing ─▶ a frame ─▶ fetcher ─▶ filled ───▲          │
//!                                          ▲                                       │
//!                                          └───────── frames that are free again ◀─┘
//! ```
//!
//! One task drives both ends: it sleeps until the fetcher has filled a frame or the device is done with one. Frames
//! bound everything: no queue is longer than the page buffer.

pub(crate) mod asynchronous;
mod buffer;
mod checkpointing;
mod column;
mod declared;
mod explain;
mod gate;
mod options;
mod preparation;
mod reactor;
mod roster;
mod session;
mod stream;

pub use crate::device::DeviceChoice;
pub use crate::device::settings::{Distribution, FastPaths, GpuSettings, PageTransfer};
use crate::device::{CpuDevice, Member, StepEnd};
use crate::error::{Error, Result};
use crate::model::algorithm::{Algorithm, Answer, Refusal, State, Step, Summary, Visit};
use crate::pages::PagePlan;
pub use crate::pages::fetch::{Faults, FetcherKind};
pub use crate::predict::Rates;
use crate::report::{RunReport, StepReport, peak_memory_bytes};
pub use crate::team::{Assignment, Strategy};
use buffer::KeptBuffer;
pub use column::{Column, ColumnValue};
use explain::explain;
use gate::Gate;
pub use options::EngineOptions;
use roster::{Kinds, MakeCpu, Roster};
use session::Session;
use std::sync::Arc;
use std::time::Instant;
use topostream_formats::Store;

/// How often a page is tried before the run ends with an error.
pub const TRIES_MAX: u32 = 3;

/// The most threads that a run may be given.
pub const THREADS_MAX: usize = 1024;

/// An open store and what runs over it may use.
pub struct Engine {
    store: Arc<Store>,
    options: EngineOptions,
    buffer: KeptBuffer,
    roster: Roster,
    gate: Gate,
}

/// A finished run: what it did, and its results.
pub struct Run<A> {
    /// What it did.
    pub report: RunReport,
    algorithm: Arc<A>,
    state: State,
}

impl<A: Algorithm> Run<A> {
    /// A result for every vertex, by the name of its column, in a vector that all threads fill.
    ///
    /// The vector is the caller's and no part of [`EngineOptions::memory_bytes`]; [`answers`](Self::answers) reads results in
    /// chunks.
    ///
    /// # Errors
    /// [`Error::Column`] with the names and types of the columns where there is no such column or where it has another type
    /// ([`ColumnValue`] lists which type can be read as which); [`Error::Store`] where the system refuses the memory.
    pub fn column<T: ColumnValue>(&self, name: &str) -> Result<Column<T>> {
        column::read(self.algorithm.name(), &self.answers(), name, self.state.graph.vertices)
    }

    /// The results as columns that are computed as they are read, in chunks of any size.
    pub fn answers(&self) -> Vec<Answer<'_>> {
        self.algorithm.answers(&self.state)
    }

    /// The report, the algorithm and its state, for a run that is to follow.
    pub(crate) fn into_parts(self) -> (RunReport, A, State) {
        let algorithm = Arc::into_inner(self.algorithm).expect("devices have let go of it");
        (self.report, algorithm, self.state)
    }

    /// A line about the whole graph, without a newline, in algorithms that have one.
    pub fn remark(&self) -> Option<String> {
        self.algorithm.remark(&self.state)
    }

    /// The algorithm.
    pub fn algorithm(&self) -> &A {
        &self.algorithm
    }
}

/// Called with the report of every superstep as it ends.
pub type Observer<'a> = dyn FnMut(&StepReport) + 'a;

impl Engine {
    /// An engine over an open store.
    pub fn new(store: Store, options: EngineOptions) -> Self {
        Self {
            store: Arc::new(store),
            options,
            buffer: KeptBuffer::default(),
            roster: Roster::default(),
            gate: Gate::default(),
        }
    }

    /// What runs may use.
    pub fn options(&self) -> &EngineOptions {
        &self.options
    }

    /// The most bytes that every device of a run binds at once.
    pub(crate) fn binding_bytes_max(&self) -> Result<u64> {
        Ok(self.kinds()?.binding_bytes_max)
    }

    /// Whether CPUs are all that computes.
    pub(crate) fn is_cpu_only(&self) -> Result<bool> {
        Ok(self.kinds()?.cpu.iter().all(|&cpu| cpu))
    }

    /// The devices of a run that has a shader.
    fn kinds(&self) -> Result<Kinds> {
        let EngineOptions { devices, gpu, .. } = &self.options;
        self.roster.open(devices, true, gpu)
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Looks at the adapter that the last run has left, for tests.
    #[cfg(feature = "gpu")]
    #[doc(hidden)]
    pub fn with_gpu<T>(&self, look: impl FnOnce(&crate::device::gpu::Gpu) -> T) -> Option<T> {
        self.roster.with_gpu(look)
    }

    /// Runs an algorithm to its end.
    ///
    /// A run may use the engine's whole budget, so that one that is begun while another is under way (from another
    /// thread) waits for it. Engines of their own have budgets of their own. The thread that calls this is blocked
    /// until the end; it may be one of a tokio runtime, whose other tasks then wait too: `spawn_blocking` is the place
    /// for it there.
    ///
    /// # Errors
    /// [`Error::Parameter`] and [`Error::Memory`] before anything is read; [`Error::Store`] or [`Error::Read`] naming
    /// the page that could not be had; [`Error::Fetcher`] where no page can be read any more; [`Error::Interrupted`];
    /// [`Error::Parameter`] at the end, naming a vertex, where the algorithm has no answer.
    pub fn run<A: Algorithm>(&self, algorithm: A) -> Result<Run<A>> {
        self.run_observed(algorithm, &mut |_| {})
    }

    /// As [`run`](Self::run), with an observer that is called after every superstep.
    ///
    /// # Errors
    /// As of [`run`](Self::run).
    pub fn run_observed<A: Algorithm>(&self, algorithm: A, observer: &mut Observer<'_>) -> Result<Run<A>> {
        let algorithm = Arc::new(algorithm);
        let of_cpu = Arc::clone(&algorithm);
        let cpu = move |setup| -> Result<Box<dyn Member>> { Ok(Box::new(CpuDevice::new(Arc::clone(&of_cpu), setup))) };
        let (report, state) = self.drive(Arc::clone(&algorithm) as Arc<dyn Algorithm>, &cpu, observer)?;
        drop(cpu);
        Ok(Run { report, algorithm, state })
    }

    /// The same for an algorithm of any type: nothing but the CPU device, which `cpu` makes, knows its edge function.
    fn drive(
        &self,
        algorithm: Arc<dyn Algorithm>,
        cpu: &MakeCpu,
        observer: &mut Observer<'_>,
    ) -> Result<(RunReport, State)> {
        let _entered = self.gate.enter(&self.options.cancel)?;
        self.check_threads()?;
        declared::check(&*algorithm, &self.store)?;
        self.check_checkpoint(&*algorithm)?;
        let (team, kinds) = self.team_plan(&*algorithm)?;
        let plan = self.memory_plan(&*algorithm, team.as_ref(), &kinds, self.options.memory_bytes)?;
        self.check_memory(&*algorithm, &plan)?;
        let graph = Arc::new(self.graph(&*algorithm)?);
        let (mut report, state) = reactor::block_on(async {
            let mut session = Session::new(self, &plan, (Arc::clone(&algorithm), cpu), graph, team)?;
            let report = session.run(observer).await?;
            let Session { device, pages, .. } = session;
            self.buffer.keep(pages.into_cache(), &plan);
            Ok::<_, Error>((report, device.finish()?))
        })?;
        algorithm.verdict(&state).or_else(|refusal| Err(self.refused(algorithm.name(), &refusal)?))?;
        // Of a run that went on from a checkpoint, the time of all of them is not known.
        let resumed = report.checkpoints.as_ref().is_some_and(|checkpoints| checkpoints.resumed.is_some());
        report.traversed_edges = algorithm.traversed_edges(&state).filter(|_| !resumed);
        if !self.store.manifest().directed {
            report.traversed_edges = report.traversed_edges.map(|edges| edges / 2);
        }
        report.peak_memory_bytes = peak_memory_bytes();
        let rates = self.options.rates.as_deref().filter(|_| !resumed);
        report.predicted = rates.and_then(|rates| explain(rates, &*algorithm, &self.store, &self.options, &report));
        Ok((report, state))
    }

    /// Frees the page buffer of the last run where the buffer and so many bytes are more than the budget.
    pub(crate) fn make_room(&self, needed_bytes: u64) {
        if self.buffer.bytes().saturating_add(needed_bytes) > self.options.memory_bytes {
            self.buffer.free();
        }
    }

    /// Whether a run would begin, as far as the algorithm's parameters and the graph go.
    ///
    /// # Errors
    /// [`Error::Parameter`] as of [`run`](Self::run).
    pub fn check(&self, algorithm: &dyn Algorithm) -> Result<()> {
        self.graph(algorithm).map(drop)
    }

    /// The error of an algorithm that has no answer.
    fn refused(&self, algorithm: &str, refusal: &Refusal) -> Result<Error> {
        let vertex = self.store.ids()?.original(refusal.vertex);
        Ok(Error::Parameter(format!("{algorithm}: vertex {vertex}: {}", refusal.reason)))
    }
}

impl Session<'_> {
    /// Runs supersteps until the algorithm has no next one.
    async fn run(&mut self, observer: &mut Observer<'_>) -> Result<RunReport> {
        let mut report = self.begin_report();
        let started = Instant::now();
        let (mut step, mut active) = self.start()?;
        report.initialise_ns = elapsed_ns(started);
        self.spans.phase("initialise", started, 0);
        while let Some(next) = step {
            self.between(&next, active, &report)?;
            let now = self.divisible(next);
            declared::check_step(&*self.algorithm, &self.graph, &now)?;
            let (mut step_report, summary) = self.superstep(&now).await?;
            if let Some(checkpoints) = &self.options.checkpoints {
                checkpoints.superstep_done();
            }
            step_report.active = self.algorithm.is_traversal().then_some(active);
            active = summary.activated;
            report.total.add(&step_report);
            observer(&step_report);
            report.steps.push(step_report);
            step = self.algorithm.next(&self.graph, &now, &summary);
        }
        report.wall_ns = elapsed_ns(started);
        self.end_report(&mut report);
        Ok(report)
    }

    /// One superstep: decides which pages are visited, has the device compute on all of them, and ends with the vertex
    /// phase, or with the next frontier.
    async fn superstep(&mut self, step: &Step) -> Result<(StepReport, Summary)> {
        let started = Instant::now();
        let (PagePlan { pages, policy }, put_off) = self.plan_pages(step)?;
        let report = StepReport {
            superstep: step.superstep,
            direction: (step.visit != Visit::None).then_some(step.direction),
            pages: pages.len() as u64,
            plan_ns: elapsed_ns(started),
            ..StepReport::default()
        };
        self.spans.phase("plan", started, 0);
        self.device.begin(step)?;
        if !put_off.is_empty() {
            self.device.put_off(step, &put_off)?;
        }
        // Without pages, what is kept for other supersteps stays.
        let pages = if pages.is_empty() { pages } else { self.device.start_resident(pages, policy) };
        // Where there are checkpoints, a superstep that has begun goes on to its end.
        let cancel = self.options.checkpoints.is_none().then_some(&*self.options.cancel);
        let mut report = self.pages.visit(&mut *self.device, &mut self.spans, cancel, (pages, policy), report).await?;
        let vertex_phase = Instant::now();
        let StepEnd { summary, work, transfer, merge } = self.device.end(step)?;
        (report.merged_bytes, report.merge_ns) = (merge.bytes, merge.ns);
        report.add_work(work);
        report.transfer.add(&transfer);
        report.vertex_ns = elapsed_ns(vertex_phase);
        report.wall_ns = elapsed_ns(started);
        self.spans.phase("vertex phase", vertex_phase, 0);
        self.spans.superstep(step.superstep, started, report.edges);
        Ok((report, summary))
    }
}

fn elapsed_ns(since: Instant) -> u64 {
    since.elapsed().as_nanos() as u64
}
