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
//! One task drives both ends: it sleeps until the fetcher has filled a frame or the device is done with one. Frames bound
//! everything: no queue is longer than the page buffer.

pub(crate) mod asynchronous;
mod checkpointing;
mod column;
mod declared;
mod explain;
mod gate;
mod options;
mod reactor;
mod roster;
mod session;

#[cfg(feature = "gpu")]
use crate::device::gpu;
use crate::device::{CpuDevice, Member};
use crate::error::{Error, Result};
use crate::model::algorithm::{Algorithm, Answer, Graph, Refusal, State};
use crate::pages::cache::PageCache;
use crate::pages::fetch::{Frame, PagePool};
use crate::pages::memory::MemoryPlan;
use crate::predict::{SUPERSTEPS_DEFAULT, Work, choose, shares};
use crate::report::{RunReport, StepReport, peak_memory_bytes};
use crate::team::{TeamPlan, TeamRequest};
pub use column::{Column, ColumnValue};
use explain::explain;
use gate::Gate;
pub use options::EngineOptions;
use roster::{Kinds, MakeCpu, Roster};
use session::Session;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use topostream_formats::{Direction, Store, memory, threads};

/// How often a page is tried before the run ends with an error.
pub const TRIES_MAX: u32 = 3;

/// The most threads that a run may be given.
pub const THREADS_MAX: usize = 1024;

/// An open store and what runs over it may use.
pub struct Engine {
    store: Arc<Store>,
    options: EngineOptions,
    kept: Mutex<Option<PageBuffer>>,
    roster: Roster,
    gate: Gate,
}

/// The page buffer between runs: a run finds there what the last one left.
#[derive(Debug)]
struct PageBuffer {
    cache: PageCache<Frame>,
    frames: u32,
    frame_bytes: u64,
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
            kept: Mutex::default(),
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
    pub fn with_gpu<T>(&self, look: impl FnOnce(&gpu::Gpu) -> T) -> Option<T> {
        self.roster.with_gpu(look)
    }

    /// Runs an algorithm to its end.
    ///
    /// A run may use the engine's whole budget, so that one that is begun while another is under way (from another thread)
    /// waits for it. Engines of their own have budgets of their own. The thread that calls this is blocked until the end; it
    /// may be one of a tokio runtime, whose other tasks then wait too: `spawn_blocking` is the place for it there.
    ///
    /// # Errors
    /// [`Error::Parameter`] and [`Error::Memory`] before anything is read; [`Error::Store`] or [`Error::Read`] naming the
    /// page that could not be had; [`Error::Fetcher`] where no page can be read any more; [`Error::Interrupted`];
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
        let cpu = move |setup| -> Result<Box<dyn Member>> { Ok(Box::new(CpuDevice::new(Arc::clone(&of_cpu), setup)?)) };
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
            let Session { device, cache, .. } = session;
            self.keep(cache, &plan);
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

    /// Whether a run would begin, as far as the algorithm's parameters and the graph go.
    ///
    /// # Errors
    /// [`Error::Parameter`] as of [`run`](Self::run).
    pub fn check(&self, algorithm: &dyn Algorithm) -> Result<()> {
        self.graph(algorithm).map(drop)
    }

    /// Whether there are as many threads as may be asked for, and those that everything in parallel shares.
    fn check_threads(&self) -> Result<()> {
        let threads = self.options.threads;
        if threads > THREADS_MAX {
            return Err(Error::Parameter(format!("{threads} threads: there may be {THREADS_MAX} at most")));
        }
        Ok(threads::start_shared_pool()?)
    }

    /// Whether the system has the memory that a run was planned with, beside what the last run and the algorithm hold.
    fn check_memory(&self, algorithm: &dyn Algorithm, plan: &MemoryPlan) -> Result<()> {
        let kept = self.kept_buffer();
        let kept_bytes = kept.as_ref().map_or(0, |kept| u64::from(kept.frames) * kept.frame_bytes);
        let there_already = kept_bytes + algorithm.held_bytes();
        let bytes = plan.total_bytes().saturating_sub(there_already);
        Ok(memory::probe(&format!("the memory of {}", algorithm.name()), bytes)?)
    }

    /// The page buffer between runs. A panic while it is held leaves nothing half done.
    fn kept_buffer(&self) -> MutexGuard<'_, Option<PageBuffer>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The least main memory that an algorithm runs in, in bytes: what [`run`](Self::run) says where it refuses.
    ///
    /// # Errors
    /// What opening the devices says.
    pub fn needed_bytes(&self, algorithm: &dyn Algorithm) -> Result<u64> {
        let (team, kinds) = self.team_plan(algorithm)?;
        match self.memory_plan(algorithm, team.as_ref(), &kinds, 0) {
            Ok(plan) => Ok(plan.total_bytes()),
            Err(Error::Memory { needed_bytes, .. }) => Ok(needed_bytes),
            Err(error) => Err(error),
        }
    }

    /// Lets the page buffer of the last run go where it and so many bytes pass the budget.
    pub(crate) fn make_room(&self, needed_bytes: u64) {
        let mut kept = self.kept_buffer();
        let kept_bytes = kept.as_ref().map_or(0, |kept| u64::from(kept.frames) * kept.frame_bytes);
        if kept_bytes.saturating_add(needed_bytes) > self.options.memory_bytes {
            *kept = None;
        }
    }

    /// Whether asynchronous relaxation can be had, where it is asked for.
    fn check_asynchronous(&self, algorithm: &dyn Algorithm) -> Result<()> {
        let topology = self.store.topology(Direction::Out).expect("every store has out-lists");
        let why = match () {
            () if !self.options.asynchronous => return Ok(()),
            () if !algorithm.is_monotone() => "its values depend on the order in which lists are read",
            () if topology.is_grouped() => "the store's lists are grouped for shards: a list is in several pages",
            () => return Ok(()),
        };
        Err(Error::Parameter(format!("{} cannot run asynchronously: {why}", algorithm.name())))
    }

    /// The error of an algorithm that has no answer.
    fn refused(&self, algorithm: &str, refusal: &Refusal) -> Result<Error> {
        let vertex = self.store.ids()?.original(refusal.vertex);
        Ok(Error::Parameter(format!("{algorithm}: vertex {vertex}: {}", refusal.reason)))
    }

    /// Decides how several devices share a run; none for one device.
    fn team_plan(&self, algorithm: &dyn Algorithm) -> Result<(Option<TeamPlan>, Kinds)> {
        let options = &self.options;
        let kinds = self.roster.open(&options.devices, algorithm.shader().is_some(), &options.gpu)?;
        if kinds.cpu.len() < 2 {
            return Ok((None, kinds));
        }
        declared::check_shared(algorithm, self.store.topology(Direction::In).is_some())?;
        let rates = options.rates.as_deref();
        let seats = self.roster.described(options.threads, &options.gpu);
        let strategy = choose(rates, algorithm, &self.store, &options.asked(), &seats);
        let work = Work::of(algorithm, &self.store, SUPERSTEPS_DEFAULT);
        let shares = rates.and_then(|rates| shares(rates, &work, &seats));
        let request = TeamRequest {
            store: &self.store,
            speeds: &shares.unwrap_or_else(|| kinds.speeds()),
            alike: kinds.alike(),
            strategy,
            assignment: options.assignment,
            binding_bytes_max: kinds.binding_bytes_max,
        };
        Ok((Some(TeamPlan::new(algorithm, &request)?), kinds))
    }

    /// Shares out what the timeline and checkpoints leave of a budget.
    fn memory_plan(
        &self,
        algorithm: &dyn Algorithm,
        team: Option<&TeamPlan>,
        kinds: &Kinds,
        memory_bytes: u64,
    ) -> Result<MemoryPlan> {
        let beside = [("trace", self.options.trace_bytes()), ("checkpoints", self.options.checkpoint_bytes())];
        let left_bytes = memory_bytes.saturating_sub(beside.iter().map(|(_, bytes)| bytes).sum());
        let sharing_bytes = team.map_or(0, |team| team.memory_bytes(&kinds.cpu));
        let plan = MemoryPlan::new(algorithm, &self.store, left_bytes, self.options.buffer_bytes, sharing_bytes);
        plan.map_err(|error| with_beside(error, left_bytes, memory_bytes, &beside))
    }

    /// The page buffer of the last run if it has the right shape, else a new one.
    fn page_buffer(&self, plan: &MemoryPlan, page_bytes: u32) -> Result<PageBuffer> {
        let kept = self.kept_buffer().take();
        let (frames, frame_bytes) = (plan.frames, plan.frame_bytes);
        match kept.filter(|kept| (kept.frames, kept.frame_bytes) == (frames, frame_bytes)) {
            Some(kept) => Ok(kept),
            None => {
                let memory = PagePool::frames(frames, page_bytes, frame_bytes as u32 - page_bytes)?;
                Ok(PageBuffer { cache: PageCache::new(memory, plan.stream_frames()), frames, frame_bytes })
            }
        }
    }

    /// Keeps a finished run's page buffer for the next one.
    fn keep(&self, cache: PageCache<Frame>, plan: &MemoryPlan) {
        let buffer = PageBuffer { cache, frames: plan.frames, frame_bytes: plan.frame_bytes };
        *self.kept_buffer() = Some(buffer);
    }

    /// The graph, once the algorithm has agreed to it.
    fn graph(&self, algorithm: &dyn Algorithm) -> Result<Graph> {
        let store = &self.store;
        let has_in_lists = store.topology(Direction::In).is_some();
        let (vertices, edges) = (store.vertices(), store.edges());
        let (directed, weights) = (store.manifest().directed, store.manifest().weights);
        let graph = Graph {
            vertices,
            edges,
            directed,
            weights,
            has_in_lists,
            out_degrees: store.out_degrees()?,
            outgoing: OnceLock::new(),
        };
        algorithm.check(&graph).map_err(Error::Parameter)?;
        declared::check(algorithm, store)?;
        declared::check_seeds(algorithm, store)?;
        self.check_asynchronous(algorithm)?;
        if algorithm.needs_weights() && store.manifest().weights.is_none() {
            return Err(Error::Parameter(format!("{} needs weights, and the store has none", algorithm.name())));
        }
        Ok(graph)
    }
}

/// Adds what a run needs beside its plan to the plan's refusal: the budget was what that leaves.
fn with_beside(error: Error, left_bytes: u64, memory_bytes: u64, beside: &[(&str, u64)]) -> Error {
    match error {
        Error::Memory { what, mut needed_bytes, budget_bytes, mut parts } if budget_bytes == left_bytes => {
            for (name, bytes) in beside.iter().filter(|(_, bytes)| *bytes > 0) {
                needed_bytes = needed_bytes.saturating_add(*bytes);
                parts = format!("{name} {bytes}, {parts}");
            }
            Error::Memory { what, needed_bytes, budget_bytes: memory_bytes, parts }
        }
        other => other,
    }
}
