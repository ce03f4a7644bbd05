//! A run in progress: its device, its pages and its report.

use super::alternatives::{self, Lost, RatesSoFar};
use super::asynchronous::PageScheduler;
use super::completion::Completion;
use super::roster::{DeviceSetup, MakeCpu};
use super::stream::PageStream;
use super::{Engine, EngineOptions, ranks};
use crate::cluster::Traffic;
use crate::device::{Device, RunAhead};
use crate::error::Result;
use crate::model::algorithm::{Algorithm, Graph, Rule, Step, Visit, rule_of};
use crate::pages::PagePlan;
use crate::pages::fetch::{self, PageRef, UnpackingFetcher};
use crate::pages::memory::MemoryPlan;
use crate::pages::parts as page_parts;
use crate::report::RunReport;
use crate::team::{TeamPlan, TeamReport};
use crate::trace::EngineSpans;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use tokio::runtime::Handle;
use topostream_formats::{Direction, Store};

/// A run in progress.
pub(super) struct Session<'a> {
    pub(super) store: &'a Store,
    pub(super) options: &'a EngineOptions,
    pub(super) plan: &'a MemoryPlan,
    /// Time lost by alternative supersteps of the engine.
    pub(super) lost: &'a Lost,
    /// Whether the device may run several supersteps without the engine: nothing is done between them.
    pub(super) runs_ahead: bool,
    pub(super) algorithm: Arc<dyn Algorithm>,
    pub(super) rule: Rule,
    pub(super) graph: Arc<Graph>,
    pub pages: PageStream,
    pub device: Box<dyn Device>,
    pub(super) spans: EngineSpans,
    /// How several devices share the run; `None` for a single device.
    sharing: Option<TeamReport>,
    /// Chooses the pages of asynchronous relaxation; `None` otherwise.
    scheduler: Option<PageScheduler>,
    /// The rates of disk and device so far.
    pub(super) rates: RatesSoFar,
    /// When to bring all pages to the device.
    pub(super) completion: Completion,
    /// A superstep whose pages are known already.
    pub(super) planned: Option<(Step, PagePlan)>,
    /// What this rank had sent to others before the run.
    traffic: Traffic,
}

impl<'a> Session<'a> {
    /// Opens the fetcher and sets up the device.
    pub fn new(
        engine: &'a Engine,
        plan: &'a MemoryPlan,
        (algorithm, cpu): (Arc<dyn Algorithm>, &MakeCpu),
        graph: Arc<Graph>,
        team: Option<TeamPlan>,
    ) -> Result<Self> {
        let (store, options) = (&engine.store, &engine.options);
        let weights = algorithm.needs_weights();
        let topology = store.topology(Direction::Out).expect("every store has out-lists");
        let cache = engine.buffer.take(plan)?;
        let pool = cache.any().expect("a page buffer has frames").pool();
        let parts = (options.partial_reads && !weights && !options.asynchronous && team.is_none())
            .then(|| alternatives::read_cost(store, options))
            .filter(|_| page_parts::are_possible(topology) && plan.place_bytes == u64::from(topology.page_bytes()));
        let runs_ahead = runs_ahead(engine)?;
        let setup = DeviceSetup {
            parts,
            algorithm: Arc::clone(&algorithm),
            cpu,
            graph: Arc::clone(&graph),
            store: Arc::clone(store),
            pool: Arc::clone(pool),
            frames: plan.frames,
            threads: options.threads,
            gpu: options.gpu.clone(),
            trace: options.trace.clone(),
            runs_ahead,
            cluster: options.ranks().cloned(),
        };
        let sharing = team.as_ref().map(TeamPlan::report);
        let (kind, runtime) = (options.fetcher, Handle::current());
        let open = || {
            let _entered = runtime.enter();
            let fetcher = fetch::open(kind, store, pool, weights)?;
            if weights { UnpackingFetcher::over(fetcher, store) } else { Ok(fetcher) }
        };
        // A ring takes up to 25 ms to set up, as long as a device takes to allocate its memory.
        let (fetcher, device) = beside("open fetcher", &open, || engine.roster.device(&setup, team));
        let (fetcher, device) = (fetcher?, device?);
        let spans = EngineSpans::new(options.trace.clone());
        let pages = PageStream::new(store, plan, cache, fetcher, options.progress.clone());
        let entries = topology.directory().entries();
        let scheduler =
            options.asynchronous.then(|| PageScheduler::new(entries, graph.out_degrees.values(), plan.frames as usize));
        let rates = RatesSoFar::new(store, options, plan.read_bytes, (&device.name(), device.lanes()));
        let (planned, completion) = (None, Completion::default());
        let mut session = Self {
            store,
            options,
            plan,
            lost: &engine.lost,
            runs_ahead,
            rule: rule_of(&*algorithm, graph.has_in_lists),
            algorithm,
            graph,
            pages,
            device,
            sharing,
            spans,
            scheduler,
            rates,
            completion,
            planned,
            traffic: options.ranks().map_or_else(Traffic::default, |cluster| cluster.traffic()),
        };
        if options.single_run && !options.asynchronous && session.device_keeps_all() {
            session.pages.leave_kept();
        }
        Ok(session)
    }

    /// Returns the pages that a superstep visits, and those that it defers.
    pub(super) fn plan_pages(&mut self, step: &Step) -> Result<(PagePlan, Vec<PageRef>)> {
        let plan = match self.planned.take() {
            Some((planned, plan)) if planned == *step => plan,
            _ => self.device.pages(step)?,
        };
        let may = step.visit == Visit::Frontier;
        let Some(scheduler) = self.scheduler.as_mut().filter(|_| may && !plan.pages.is_empty()) else {
            return Ok((plan, Vec::new()));
        };
        let topology = self.store.topology(step.direction).expect("algorithms visit topologies that exist");
        let pages = &self.pages;
        let selection = scheduler.select(plan.pages, topology.directory().entries(), |page| pages.contains(page));
        Ok((selection.taken, selection.deferred))
    }

    /// Returns the report of a run that is about to start.
    pub(super) fn begin_report(&self) -> RunReport {
        RunReport {
            algorithm: self.algorithm.command().into(),
            device: self.device.name(),
            lanes: self.device.lanes(),
            fetcher: self.pages.fetcher().name().into(),
            direct_io: self.pages.fetcher().direct(),
            buffer_pages: self.plan.frames.into(),
            buffer_bytes: self.plan.buffer_bytes(),
            planned_bytes: self.plan.total_bytes() + self.options.trace_bytes() + self.options.checkpoint_bytes(),
            memory: Some(*self.plan),
            ..RunReport::default()
        }
    }

    /// Completes the report at the end of a run: of a cluster, with the work of all ranks.
    ///
    /// # Errors
    /// If another rank has failed.
    pub(super) fn end_report(&mut self, report: &mut RunReport) -> Result<()> {
        report.bound = report.total.bound();
        report.converged = report.total.iteration.and_then(|iteration| iteration.converged());
        let unvisited_bytes = self.pages.unvisited_bytes();
        report.total.disk_bytes += unvisited_bytes;
        report.total.wanted_bytes += unvisited_bytes;
        report.sharing = self.sharing.clone().map(|sharing| TeamReport { devices: self.device.reports(), ..sharing });
        report.retries = self.pages.retries();
        report.stripes = self.pages.stripe_reports();
        report.checkpoints = self.options.checkpoints.as_ref().map(|checkpoints| checkpoints.report());
        self.options.ranks().map_or(Ok(()), |cluster| ranks::complete(report, cluster, &self.traffic))
    }

    /// Lets the device run several supersteps without the engine.
    pub(super) fn run_ahead(&mut self, step: &Step) -> Result<RunAhead> {
        self.tell_ranks();
        self.device.run_ahead(step)
    }

    /// Whether pages of the next frontier are read while a superstep runs.
    pub(super) fn reads_ahead(&self, step: &Step) -> bool {
        step.visit == Visit::Frontier && !self.is_asynchronous()
    }

    /// Whether supersteps may defer pages to later ones.
    pub(super) fn is_asynchronous(&self) -> bool {
        self.scheduler.is_some()
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.options.cancel.load(Ordering::Relaxed)
    }
}

/// Runs two functions at the same time, the first on a thread of its own, if the system grants it.
pub(super) fn beside<A: Send, B>(name: &str, first: &(impl Fn() -> A + Sync), second: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|scope| {
        let started = thread::Builder::new().name(name.into()).spawn_scoped(scope, first);
        let second = second();
        let first =
            started.map_or_else(|_| first(), |thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        (first, second)
    })
}

/// Whether nothing is done between supersteps: of a cluster, on no rank.
fn runs_ahead(engine: &Engine) -> Result<bool> {
    let options = &engine.options;
    let may = options.checkpoints.is_none() && !options.asynchronous && options.trace.is_none();
    Ok(engine.least_of_ranks(may.into())? != 0)
}
