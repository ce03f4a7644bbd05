//! A run in progress: its device, its pages, and what is known so far.

use super::asynchronous::{self, PageScheduler};
use super::completion::Completion;
use super::costs::{Lost, RatesSoFar, read_cost};
use super::roster::{DeviceSetup, MakeCpu};
use super::stream::PageStream;
use super::{Engine, EngineOptions};
use crate::cluster::Traffic;
use crate::device::Device;
use crate::error::Result;
use crate::model::algorithm::{Algorithm, Declaration, Graph, Rule, Step, Visit, rule_of};
use crate::pages::PagePlan;
use crate::pages::fetch::{self, PageRef, UnpackingFetcher};
use crate::pages::memory::MemoryPlan;
use crate::pages::parts as page_parts;
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
    pub(super) declaration: Arc<Declaration>,
    pub(super) rule: Rule,
    pub(super) graph: Arc<Graph>,
    pub pages: PageStream,
    pub device: Box<dyn Device>,
    pub(super) spans: EngineSpans,
    /// How several devices share the run; `None` for a single device.
    pub(super) sharing: Option<TeamReport>,
    /// Chooses the pages of asynchronous relaxation; `None` otherwise.
    scheduler: Option<PageScheduler>,
    /// The rates of disk and device so far.
    pub(super) rates: RatesSoFar,
    /// When to bring all pages to the device.
    pub(super) completion: Completion,
    /// A superstep whose pages are known already.
    pub(super) planned: Option<(Step, PagePlan)>,
    /// What this rank had sent to others before the run.
    pub(super) traffic: Traffic,
}

impl<'a> Session<'a> {
    /// Opens the fetcher and sets up the devices of a team, or the one with this number.
    pub fn new(
        engine: &'a Engine,
        plan: &'a MemoryPlan,
        (algorithm, declaration, cpu): (Arc<dyn Algorithm>, Arc<Declaration>, &MakeCpu),
        graph: Arc<Graph>,
        (team, device): (Option<TeamPlan>, usize),
    ) -> Result<Self> {
        let (store, options, weights) = (&engine.store, &engine.options, declaration.weights.are_read());
        let topology = store.topology(Direction::Out).expect("every store has out-lists");
        let cache = engine.buffer.take(plan)?;
        let pool = cache.any().expect("a page buffer has frames").pool();
        let parts = (options.reads_parts() && !weights && !defers(options, &declaration) && team.is_none())
            .then(|| read_cost(store, options))
            .filter(|_| page_parts::are_possible(topology) && plan.place_bytes == u64::from(topology.page_bytes()));
        let runs_ahead = runs_ahead(engine, &declaration)?;
        let setup = DeviceSetup {
            parts,
            algorithm: Arc::clone(&algorithm),
            declaration: Arc::clone(&declaration),
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
            device,
        };
        let (sharing, kind, runtime) = (team.as_ref().map(TeamPlan::report), options.fetcher, Handle::current());
        let open = || {
            let _entered = runtime.enter();
            let fetcher = fetch::open(kind, store, pool, weights)?;
            if weights { UnpackingFetcher::over(fetcher, store) } else { Ok(fetcher) }
        };
        // A ring takes up to 25 ms to set up, as long as a device takes to allocate its memory.
        let (fetcher, device) = beside("open fetcher", &open, || engine.roster.device(&setup, team));
        let (pages, device) = (PageStream::new(store, plan, cache, fetcher?, options.progress.clone()), device?);
        let entries = topology.directory().entries();
        let scheduler = defers(options, &declaration)
            .then(|| PageScheduler::new(entries, graph.out_degrees.values(), plan.frames as usize));
        let rates = RatesSoFar::new(store, options, plan.read_bytes, (&device.name(), device.lanes()));
        let (spans, planned, completion) = (EngineSpans::new(options.trace.clone()), None, Completion::default());
        let mut session = Self {
            store,
            options,
            plan,
            lost: &engine.lost,
            runs_ahead,
            rule: rule_of(&*algorithm, &declaration),
            algorithm,
            declaration,
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
        if options.single_run && !session.is_asynchronous() && session.device_keeps_all() {
            session.pages.leave_kept();
        }
        Ok(session)
    }

    /// Returns the pages that a superstep visits, and those that it defers; `active` is the number of active vertices,
    /// if it is known.
    pub(super) fn plan_pages(&mut self, step: &Step, active: Option<u64>) -> Result<(PagePlan, Vec<PageRef>)> {
        let mut plan = match self.planned.take() {
            Some((planned, plan)) if planned == *step => plan,
            _ => self.device.pages(step)?,
        };
        if self.options.all_pages && step.visit != Visit::None {
            plan.pages = self.device.pages(&Step { visit: Visit::All, ..*step })?.pages;
            // Devices expect the pages of the superstep that comes.
            self.device.pages(step)?;
        }
        let may = step.visit == Visit::Frontier && asynchronous::is_thin(active, self.graph.vertices);
        let Some(scheduler) = self.scheduler.as_mut().filter(|_| may && !plan.pages.is_empty()) else {
            return Ok((plan, Vec::new()));
        };
        let topology = self.store.topology(step.direction).expect("algorithms visit topologies that exist");
        let pages = &self.pages;
        let selection = scheduler.select(plan.pages, topology.directory().entries(), |page| pages.contains(page));
        Ok((selection.taken, selection.deferred))
    }

    /// Whether the device has room for all pages that the algorithm may visit.
    pub(super) fn device_keeps_all(&self) -> bool {
        let directions: Vec<Direction> = self.declaration.visits.iter().map(|(direction, _)| *direction).collect();
        let pages = self.store.topologies_of(&directions).map(|topology| u64::from(topology.page_count())).sum::<u64>();
        self.device.pages_kept() >= pages
    }

    /// Whether pages of the next frontier are read while a superstep runs.
    pub(super) fn reads_ahead(&self, step: &Step) -> bool {
        step.visit == Visit::Frontier && !self.is_asynchronous() && !self.options.all_pages
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

/// Whether supersteps may defer pages: only supersteps over frontiers do, unless all pages are visited.
fn defers(options: &EngineOptions, declaration: &Declaration) -> bool {
    options.asynchronous && declaration.traversal && !options.all_pages
}

/// Whether nothing is done between supersteps: of a cluster, on no rank.
fn runs_ahead(engine: &Engine, declaration: &Declaration) -> Result<bool> {
    let options = &engine.options;
    let patient = options.checkpoints.is_some() || options.trace.is_some() || options.all_pages;
    let may = !patient && !defers(options, declaration);
    Ok(engine.least_of_ranks(may.into())? != 0)
}
