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

use crate::algorithm::{Algorithm, Answer, Graph, Refusal, State, Step, Summary, Visit};
use crate::asynchronous::Turns;
use crate::backlog::Backlog;
use crate::cache::{PageCache, Policy};
#[cfg(feature = "gpu")]
use crate::device::gpu;
use crate::device::roster::{Kinds, Roster, Setting};
use crate::device::settings::GpuSettings;
use crate::device::{Device, DeviceChoice, PageDone, PageTask, StepEnd};
use crate::error::{Error, Result};
use crate::fetch::{self, Fetcher, FetcherKind, Frame, PageFilled, PagePool, PageRead, PageRef};
use crate::meters::StripeMeters;
use crate::plan::{MemoryPlan, PagePlan};
use crate::report::{RunReport, StepReport, peak_memory_bytes};
use crate::strategy::cost::{Rates, Work, choose, explain, shares};
use crate::strategy::{Assignment, Strategy, TeamPlan, TeamRequest};
use crate::trace::{EngineSpans, Timeline};
use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::Poll;
use std::time::Instant;
use topostream_formats::{Direction, Store};

/// How often a page is tried before the run ends with an error.
pub const TRIES_MAX: u32 = 3;

/// What a run may use.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Main memory for everything together, in bytes.
    pub memory_bytes: u64,
    /// The page buffer's share of it, in bytes; what is left after the attributes where none is given.
    pub buffer_bytes: Option<u64>,
    /// Threads that compute.
    pub threads: usize,
    /// How pages are read.
    pub fetcher: FetcherKind,
    /// What computes: one device, or several that share each run; one may be named several times, and is then opened several
    /// times. The CPU where nothing else is asked for: no driver is looked for.
    pub devices: Vec<DeviceChoice>,
    /// How several devices share a run.
    pub strategy: Strategy,
    /// Which pages go to which of several devices, where each sees some of them.
    pub assignment: Assignment,
    /// Whether pages in the page buffer are processed again before others are read, in algorithms that allow it
    /// ([`Algorithm::is_monotone`]).
    pub asynchronous: bool,
    /// What a GPU may use, and how, where one computes.
    pub gpu: GpuSettings,
    /// Raised by whoever wants the run to stop.
    pub cancel: Arc<AtomicBool>,
    /// Hears what happens when. What it takes is a part of the memory above.
    pub trace: Option<Arc<Timeline>>,
    /// What the machine does in a second, where that has been measured: `auto` decides by it, and reports say what was to be
    /// expected.
    pub rates: Option<Arc<Rates>>,
}

impl Default for EngineOptions {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            memory_bytes: 1 << 30,
            buffer_bytes: None,
            threads,
            fetcher: FetcherKind::Auto,
            devices: vec![DeviceChoice::Cpu],
            strategy: Strategy::Auto,
            assignment: Assignment::Auto,
            asynchronous: false,
            gpu: GpuSettings::default(),
            cancel: Arc::default(),
            trace: None,
            rates: None,
        }
    }
}

impl EngineOptions {
    /// What the timeline may take of the memory, in bytes.
    fn trace_bytes(&self) -> u64 {
        self.trace.as_ref().map_or(0, |trace| trace.memory_bytes())
    }
}

/// An open store and what runs over it may use.
pub struct Engine {
    store: Arc<Store>,
    options: EngineOptions,
    kept: Mutex<Option<PageBuffer>>,
    roster: Roster,
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
    /// The results, by vertex.
    pub fn answers(&self) -> Vec<Answer<'_>> {
        self.algorithm.answers(&self.state)
    }

    /// The report, the algorithm and its state, for a run that is to follow.
    pub(crate) fn into_parts(self) -> (RunReport, A, State) {
        let algorithm = Arc::into_inner(self.algorithm).expect("devices have let go of it");
        (self.report, algorithm, self.state)
    }

    /// What is to be said of the whole graph: a line, without its end.
    pub fn remark(&self) -> Option<String> {
        self.algorithm.remark(&self.state)
    }

    /// The algorithm.
    pub fn algorithm(&self) -> &A {
        &self.algorithm
    }
}

/// Hears of every superstep as it ends.
pub type Observer<'a> = dyn FnMut(&StepReport) + 'a;

impl Engine {
    /// An engine over an open store.
    pub fn new(store: Store, options: EngineOptions) -> Self {
        Self { store: Arc::new(store), options, kept: Mutex::default(), roster: Roster::default() }
    }

    /// What runs may use.
    pub fn options(&self) -> &EngineOptions {
        &self.options
    }

    /// The most bytes that every device of a run binds at once.
    pub(crate) fn binding_bytes_max(&self) -> Result<u64> {
        let EngineOptions { devices, gpu, .. } = &self.options;
        Ok(self.roster.open(devices, true, gpu)?.binding_bytes_max)
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
    /// # Errors
    /// [`Error::Parameter`] and [`Error::Memory`] before anything is read; [`Error::Store`] or [`Error::Read`] naming the
    /// page that could not be had; [`Error::Interrupted`]; [`Error::Parameter`] at the end, naming a vertex, where the
    /// algorithm has no answer.
    pub fn run<A: Algorithm>(&self, algorithm: A, observer: &mut Observer<'_>) -> Result<Run<A>> {
        let (team, kinds) = self.team_plan(&algorithm)?;
        let plan = self.memory_plan(&algorithm, team.as_ref(), &kinds)?;
        let graph = Arc::new(self.graph(&algorithm)?);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
        let runtime = runtime.map_err(|error| Error::Fetcher(format!("the runtime cannot start: {error}")))?;
        let algorithm = Arc::new(algorithm);
        let (mut report, state) = runtime.block_on(async {
            let mut session = Session::new(self, &plan, Arc::clone(&algorithm), graph, team)?;
            let report = session.run(observer).await?;
            let Session { device, cache, .. } = session;
            self.keep(cache, &plan);
            Ok::<_, Error>((report, device.finish()?))
        })?;
        algorithm.verdict(&state).or_else(|refusal| Err(self.refused(algorithm.name(), &refusal)?))?;
        report.traversed_edges = algorithm.traversed_edges(&state);
        if !self.store.manifest().directed {
            report.traversed_edges = report.traversed_edges.map(|edges| edges / 2);
        }
        report.peak_memory_bytes = peak_memory_bytes();
        let rates = self.options.rates.as_deref();
        report.predicted = rates.and_then(|rates| explain(rates, &*algorithm, &self.store, &self.options, &report));
        Ok(Run { report, algorithm, state })
    }

    /// Whether asynchronous relaxation can be had, where it is asked for.
    fn check_asynchronous<A: Algorithm>(&self, algorithm: &A) -> Result<()> {
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
    fn team_plan<A: Algorithm>(&self, algorithm: &A) -> Result<(Option<TeamPlan>, Kinds)> {
        let options = &self.options;
        let kinds = self.roster.open(&options.devices, algorithm.shader().is_some(), &options.gpu)?;
        if kinds.cpu.len() < 2 {
            return Ok((None, kinds));
        }
        let rates = options.rates.as_deref();
        let seats = self.roster.described(options.threads, &options.gpu);
        let strategy = match options.strategy {
            _ if algorithm.is_owned() => Strategy::Shard,
            Strategy::Auto => choose(rates, algorithm, &self.store, options, &seats),
            asked => asked,
        };
        let work = Work::of(algorithm, &self.store, None);
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

    /// Shares out what the timeline leaves.
    fn memory_plan<A: Algorithm>(&self, algorithm: &A, team: Option<&TeamPlan>, kinds: &Kinds) -> Result<MemoryPlan> {
        let EngineOptions { memory_bytes, buffer_bytes, trace, .. } = &self.options;
        let left_bytes = memory_bytes.saturating_sub(self.options.trace_bytes());
        let sharing_bytes = team.map_or(0, |team| team.memory_bytes(&kinds.cpu));
        let plan = MemoryPlan::new(algorithm, &self.store, left_bytes, *buffer_bytes, sharing_bytes);
        plan.map_err(|error| match trace {
            Some(trace) => trace.add_to(error, left_bytes),
            None => error,
        })
    }

    /// The page buffer of the last run if it has the right shape, else a new one.
    fn page_buffer(&self, plan: &MemoryPlan, page_bytes: u32) -> PageBuffer {
        let kept = self.kept.lock().expect("nothing panics while it is held").take();
        let (frames, frame_bytes) = (plan.frames, plan.frame_bytes);
        kept.filter(|kept| (kept.frames, kept.frame_bytes) == (frames, frame_bytes)).unwrap_or_else(|| {
            let memory = PagePool::frames(frames, page_bytes, frame_bytes as u32 - page_bytes);
            PageBuffer { cache: PageCache::new(memory, plan.stream_frames()), frames, frame_bytes }
        })
    }

    /// Keeps a finished run's page buffer for the next one.
    fn keep(&self, cache: PageCache<Frame>, plan: &MemoryPlan) {
        let buffer = PageBuffer { cache, frames: plan.frames, frame_bytes: plan.frame_bytes };
        *self.kept.lock().expect("nothing panics while it is held") = Some(buffer);
    }

    /// The graph, once the algorithm has agreed to it.
    fn graph<A: Algorithm>(&self, algorithm: &A) -> Result<Graph> {
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
        self.check_asynchronous(algorithm)?;
        if algorithm.needs_weights() && store.manifest().weights.is_none() {
            return Err(Error::Parameter(format!("{} needs weights, and the store has none", algorithm.name())));
        }
        Ok(graph)
    }
}

/// One run in progress.
struct Session<'a, A: Algorithm> {
    store: &'a Store,
    options: &'a EngineOptions,
    plan: &'a MemoryPlan,
    algorithm: Arc<A>,
    graph: Arc<Graph>,
    cache: PageCache<Frame>,
    fetcher: Box<dyn Fetcher>,
    device: Box<dyn Device>,
    tries: HashMap<PageRef, u32>,
    retries: u64,
    meters: StripeMeters,
    spans: EngineSpans,
    /// Which pages come when, in asynchronous relaxation.
    turns: Option<Turns>,
}

/// What is under way in a superstep.
struct Traffic {
    policy: Policy,
    backlog: Backlog,
    in_device: usize,
    report: StepReport,
    since: Instant,
}

enum Event {
    Filled(Vec<PageFilled>),
    Done(Result<Vec<PageDone>>),
}

impl<'a, A: Algorithm> Session<'a, A> {
    fn new(
        engine: &'a Engine,
        plan: &'a MemoryPlan,
        algorithm: Arc<A>,
        graph: Arc<Graph>,
        team: Option<TeamPlan>,
    ) -> Result<Self> {
        let (store, options) = (&engine.store, &engine.options);
        let weights = algorithm.needs_weights();
        let topology = store.topology(Direction::Out).expect("every store has out-lists");
        let cache = engine.page_buffer(plan, topology.page_bytes()).cache;
        let pool = cache.any().expect("a page buffer has frames").pool();
        let fetcher = fetch::open(options.fetcher, store, pool, weights)?;
        let setting = Setting {
            algorithm: Arc::clone(&algorithm),
            graph: Arc::clone(&graph),
            store: Arc::clone(store),
            pool: Arc::clone(pool),
            frames: plan.frames,
            threads: options.threads,
            gpu: options.gpu.clone(),
            trace: options.trace.clone(),
        };
        let device = engine.roster.device(&setting, team)?;
        let (tries, spans) = (HashMap::new(), EngineSpans::new(options.trace.clone()));
        let meters = StripeMeters::new(store);
        let entries = topology.directory().entries();
        let turns = options.asynchronous.then(|| Turns::new(entries, graph.out_degrees.values(), plan.frames as usize));
        Ok(Self {
            store,
            options,
            plan,
            algorithm,
            graph,
            cache,
            fetcher,
            device,
            tries,
            retries: 0,
            meters,
            spans,
            turns,
        })
    }

    async fn run(&mut self, observer: &mut Observer<'_>) -> Result<RunReport> {
        let mut report = RunReport {
            algorithm: self.algorithm.name().into(),
            device: self.device.name(),
            lanes: self.device.lanes(),
            fetcher: self.fetcher.name().into(),
            direct_io: self.fetcher.direct(),
            buffer_pages: self.plan.frames.into(),
            buffer_bytes: self.plan.buffer_bytes(),
            planned_bytes: self.plan.total_bytes() + self.options.trace_bytes(),
            ..RunReport::default()
        };
        let started = Instant::now();
        let totals = self.device.initialise()?;
        report.initialise_ns = elapsed_ns(started);
        self.spans.phase("initialise", started, 0);
        let mut step = self.algorithm.first(&self.graph, totals);
        let mut active = match step {
            Some(Step { visit: Visit::All, .. }) => self.graph.vertices,
            _ => self.algorithm.seeds().active.len() as u64,
        };
        while let Some(now) = step {
            let (mut step_report, summary) = self.superstep(&now).await?;
            step_report.active = self.algorithm.is_traversal().then_some(active);
            active = summary.activated;
            report.total.add(&step_report);
            observer(&step_report);
            report.steps.push(step_report);
            step = self.algorithm.next(&self.graph, &now, &summary);
        }
        report.wall_ns = elapsed_ns(started);
        report.bound = report.total.bound();
        report.sharing = self.device.sharing();
        report.retries = self.retries;
        report.stripes = self.meters.reports();
        Ok(report)
    }

    async fn superstep(&mut self, step: &Step) -> Result<(StepReport, Summary)> {
        let started = Instant::now();
        let (PagePlan { pages, policy }, put_off) = self.pages(step)?;
        let report = StepReport {
            superstep: step.superstep,
            direction: Some(step.direction),
            pages: pages.len() as u64,
            plan_ns: elapsed_ns(started),
            ..StepReport::default()
        };
        self.spans.phase("plan", started, 0);
        self.device.begin(step)?;
        if !put_off.is_empty() {
            self.device.put_off(step, &put_off)?;
        }
        let pages = self.device.start_resident(pages, policy);
        let traffic = self.begin_traffic(pages, policy, report);
        let result = self.stream(traffic).await;
        let mut report = match result {
            Ok(report) => report,
            Err(error) => {
                self.drain().await;
                return Err(error);
            }
        };
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

    /// What a superstep visits, and what it puts off.
    fn pages(&mut self, step: &Step) -> Result<(PagePlan, Vec<PageRef>)> {
        let plan = self.device.pages(step)?;
        let Some(turns) = self.turns.as_mut().filter(|_| step.visit == Visit::Frontier && !plan.pages.is_empty())
        else {
            return Ok((plan, Vec::new()));
        };
        let topology = self.store.topology(step.direction).expect("algorithms visit topologies that exist");
        let cache = &self.cache;
        let turn = turns.divide(plan.pages, topology.directory().entries(), |page| cache.contains(page));
        Ok((turn.taken, turn.put_off))
    }

    /// Sends what is in the page buffer to the device, first what will be used anew first.
    fn begin_traffic(&mut self, pages: Vec<PageRef>, policy: Policy, mut report: StepReport) -> Traffic {
        let direction = pages.first().map(|page| page.direction);
        self.cache.begin(policy, |page| Some(page.direction) == direction);
        let (mut cached, missing): (Vec<_>, Vec<_>) = pages.into_iter().partition(|&page| self.cache.contains(page));
        cached.sort_by_key(|&page| !self.cache.is_transient(page));
        report.pages_cached = cached.len() as u64;
        for &page in &cached {
            let frame = self.cache.take(page).expect("just seen in the cache");
            self.device.submit(PageTask { page, frame: Arc::new(frame), fresh: false });
        }
        let (plan, in_device) = (self.plan, cached.len());
        let stripes = plan.stripes as usize;
        let backlog = Backlog::new(missing, stripes, plan.in_flight_max(), plan.stripe_in_flight_max());
        Traffic { policy, backlog, in_device, report, since: Instant::now() }
    }

    /// Reads and computes until every page of the superstep is done.
    async fn stream(&mut self, mut traffic: Traffic) -> Result<StepReport> {
        loop {
            self.check_cancelled()?;
            let starved = self.request(&mut traffic);
            if self.fetcher.in_flight() == 0 && traffic.in_device == 0 {
                assert!(!starved, "every frame is idle, but none of them may be used anew");
                return Ok(traffic.report);
            }
            let event = self.event(traffic.in_device > 0).await;
            self.account(&mut traffic, starved);
            match event {
                Event::Filled(filled) => filled.into_iter().try_for_each(|fill| self.on_filled(fill, &mut traffic))?,
                Event::Done(done) => done?.into_iter().try_for_each(|done| self.on_done(done, &mut traffic))?,
            }
        }
    }

    /// Requests missing pages while there are frames for them. True where pages are missing and no frame is to be had.
    fn request(&mut self, traffic: &mut Traffic) -> bool {
        while let Some(page) = traffic.backlog.next() {
            let Some(frame) = self.cache.frame(traffic.policy) else { return true };
            traffic.backlog.begin(page);
            self.meters.read_begins(page, self.plan.frame_bytes);
            traffic.report.disk_bytes += self.plan.frame_bytes;
            self.spans.read_begins(page);
            self.fetcher.submit(PageRead { page, frame });
        }
        false
    }

    /// Sleeps until something has happened.
    async fn event(&mut self, device_busy: bool) -> Event {
        let (mut filled, mut done) = (Vec::new(), Vec::new());
        poll_fn(|context| {
            if self.fetcher.in_flight() > 0 && self.fetcher.poll_filled(context, &mut filled).is_ready() {
                return Poll::Ready(Event::Filled(std::mem::take(&mut filled)));
            }
            if device_busy && let Poll::Ready(result) = self.device.poll_done(context, &mut done) {
                return Poll::Ready(Event::Done(result.map(|()| std::mem::take(&mut done))));
            }
            Poll::Pending
        })
        .await
    }

    /// Adds the time since the last event to what it was spent on.
    fn account(&self, traffic: &mut Traffic, starved: bool) {
        let ns = elapsed_ns(traffic.since);
        traffic.since = Instant::now();
        let in_flight = self.fetcher.in_flight() > 0;
        traffic.report.disk_ns += if in_flight { ns } else { 0 };
        traffic.report.wait_disk_ns += if in_flight && traffic.in_device == 0 { ns } else { 0 };
        traffic.report.wait_frames_ns += if starved { ns } else { 0 };
    }

    fn on_filled(&mut self, PageFilled { page, frame, result }: PageFilled, traffic: &mut Traffic) -> Result<()> {
        traffic.backlog.end(page);
        self.meters.read_ends(page);
        self.spans.read_ends(page, self.plan.frame_bytes, result.is_ok());
        match result {
            Ok(()) => {
                traffic.in_device += 1;
                self.device.submit(PageTask { page, frame: Arc::new(frame), fresh: true });
                Ok(())
            }
            Err(source) => {
                self.cache.give_up(frame);
                self.try_again(page, traffic, |tries| Error::Read { page: page.page, tries, source })
            }
        }
    }

    fn on_done(&mut self, PageDone { page, frame, kept, result }: PageDone, traffic: &mut Traffic) -> Result<()> {
        traffic.in_device -= 1;
        let frame = Arc::into_inner(frame).expect("a device that has reported a page has let go of its frame");
        match result {
            Ok(work) => {
                traffic.report.add_work(work);
                self.tries.remove(&page);
                // What the device keeps from scan to scan need not be here too. In a traversal it keeps what was used last, and
                // what it lets go is better read from here than from disk.
                match kept && traffic.policy == Policy::Scan {
                    true => self.cache.give_up(frame),
                    false => self.cache.put_back(page, frame, traffic.policy),
                }
                Ok(())
            }
            Err(error) => {
                self.cache.give_up(frame);
                self.try_again(page, traffic, |_| Error::Store(error))
            }
        }
    }

    fn try_again(&mut self, page: PageRef, traffic: &mut Traffic, error: impl FnOnce(u32) -> Error) -> Result<()> {
        let tries = self.tries.entry(page).or_insert(0);
        *tries += 1;
        if *tries >= TRIES_MAX {
            return Err(error(*tries));
        }
        self.retries += 1;
        self.meters.retried(page);
        traffic.backlog.again(page);
        Ok(())
    }

    /// After an error: waits until neither the kernel nor the device holds a frame.
    async fn drain(&mut self) {
        let mut filled = Vec::new();
        while self.fetcher.in_flight() > 0 {
            poll_fn(|context| self.fetcher.poll_filled(context, &mut filled)).await;
        }
    }

    fn check_cancelled(&self) -> Result<()> {
        if self.options.cancel.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }
}

fn elapsed_ns(since: Instant) -> u64 {
    since.elapsed().as_nanos() as u64
}
