//! One run: supersteps, pages requested and handed on, time accounted for.

use super::{Engine, EngineOptions, Observer, TRIES_MAX, declared};
use crate::device::{Device, PageDone, PageTask, StepEnd};
use crate::engine::asynchronous::Turns;
use crate::engine::roster::{MakeCpu, Setting};
use crate::error::{Error, Result};
use crate::model::algorithm::{Algorithm, Graph, Step, Summary, Visit};
use crate::pages::PagePlan;
use crate::pages::backlog::Backlog;
use crate::pages::cache::{PageCache, Policy};
use crate::pages::fetch::{self, CANCEL_TICK, Fetcher, Frame, LET_GO, PageFilled, PageRead, PageRef};
use crate::pages::memory::MemoryPlan;
use crate::pages::meters::StripeMeters;
use crate::report::{RunReport, StepReport};
use crate::team::{Sharing, TeamPlan};
use crate::trace::EngineSpans;
use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Instant;
use tokio::time::Interval;
use topostream_formats::{Direction, Store};

/// One run in progress.
pub(super) struct Session<'a> {
    pub(super) store: &'a Store,
    pub(super) options: &'a EngineOptions,
    plan: &'a MemoryPlan,
    pub(super) algorithm: Arc<dyn Algorithm>,
    pub(super) graph: Arc<Graph>,
    pub cache: PageCache<Frame>,
    fetcher: Box<dyn Fetcher>,
    pub device: Box<dyn Device>,
    tries: HashMap<PageRef, u32>,
    retries: u64,
    meters: StripeMeters,
    pub(super) spans: EngineSpans,
    /// How several devices share the run.
    sharing: Option<Sharing>,
    /// Which pages come when, in asynchronous relaxation.
    turns: Option<Turns>,
    /// Ends waits now and then, so that a run whose disk or device does not answer can be cancelled.
    tick: Interval,
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
    Done(Vec<PageDone>),
    /// Nothing, for a while.
    Tick,
}

impl<'a> Session<'a> {
    /// Opens the fetcher and the device.
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
        let cache = engine.page_buffer(plan, topology.page_bytes())?.cache;
        let pool = cache.any().expect("a page buffer has frames").pool();
        let fetcher = fetch::open(options.fetcher, store, pool, weights)?;
        let setting = Setting {
            algorithm: Arc::clone(&algorithm),
            cpu,
            graph: Arc::clone(&graph),
            store: Arc::clone(store),
            pool: Arc::clone(pool),
            frames: plan.frames,
            threads: options.threads,
            gpu: options.gpu.clone(),
            trace: options.trace.clone(),
        };
        let sharing = team.as_ref().map(TeamPlan::sharing);
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
            sharing,
            tries,
            retries: 0,
            meters,
            spans,
            turns,
            tick: tokio::time::interval(CANCEL_TICK),
        })
    }

    /// Superstep after superstep, to the end.
    pub async fn run(&mut self, observer: &mut Observer<'_>) -> Result<RunReport> {
        let mut report = RunReport {
            algorithm: self.algorithm.name().into(),
            device: self.device.name(),
            lanes: self.device.lanes(),
            fetcher: self.fetcher.name().into(),
            direct_io: self.fetcher.direct(),
            buffer_pages: self.plan.frames.into(),
            buffer_bytes: self.plan.buffer_bytes(),
            planned_bytes: self.plan.total_bytes() + self.options.trace_bytes() + self.options.checkpoint_bytes(),
            ..RunReport::default()
        };
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
        report.bound = report.total.bound();
        report.sharing = self.sharing.clone().map(|sharing| Sharing { devices: self.device.reports(), ..sharing });
        report.retries = self.retries;
        report.stripes = self.meters.reports();
        report.checkpoints = self.options.checkpoints.as_ref().map(|checkpoints| checkpoints.report());
        Ok(report)
    }

    async fn superstep(&mut self, step: &Step) -> Result<(StepReport, Summary)> {
        let started = Instant::now();
        let (PagePlan { pages, policy }, put_off) = self.pages(step)?;
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
        let traffic = self.begin_traffic(pages, policy, report);
        let result = self.stream(traffic).await;
        let mut report = match result {
            Ok(report) => report,
            Err(error) => {
                // What the kernel still writes to is not freed before it has done so.
                self.fetcher.let_go(Instant::now() + LET_GO);
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

    /// In asynchronous relaxation, a superstep that could be over the vertices of a set is: of all lists none can be put off.
    fn divisible(&self, step: Step) -> Step {
        if step.visit != Visit::All || self.turns.is_none() || self.algorithm.left_out().is_none() {
            return step;
        }
        let within = |visit: &(Direction, Visit)| visit.0 == step.direction && matches!(visit.1, Visit::Within(_));
        let visits = self.algorithm.visits(self.graph.has_in_lists);
        visits.into_iter().find(within).map_or(step, |(_, visit)| Step { visit, ..step })
    }

    /// What a superstep visits, and what it puts off.
    fn pages(&mut self, step: &Step) -> Result<(PagePlan, Vec<PageRef>)> {
        let plan = self.device.pages(step)?;
        let may = match step.visit {
            Visit::Frontier => true,
            Visit::Within(_) => self.algorithm.left_out().is_some(),
            Visit::All | Visit::Without(_) | Visit::None => false,
        };
        let Some(turns) = self.turns.as_mut().filter(|_| may && !plan.pages.is_empty()) else {
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
            if self.options.checkpoints.is_none() {
                self.check_cancelled()?;
            }
            let starved = self.request(&mut traffic);
            if self.fetcher.in_flight() == 0 && traffic.in_device == 0 {
                assert!(!starved, "every frame is idle, but none of them may be used anew");
                return Ok(traffic.report);
            }
            let event = self.event(traffic.in_device > 0).await?;
            self.account(&mut traffic, starved);
            match event {
                Event::Filled(filled) => filled.into_iter().try_for_each(|fill| self.on_filled(fill, &mut traffic))?,
                Event::Done(done) => done.into_iter().try_for_each(|done| self.on_done(done, &mut traffic))?,
                Event::Tick => {}
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

    /// Sleeps until something has happened, or for [`CANCEL_TICK`].
    async fn event(&mut self, device_busy: bool) -> Result<Event> {
        let (mut filled, mut done) = (Vec::new(), Vec::new());
        poll_fn(|context| {
            if self.fetcher.in_flight() > 0
                && let Poll::Ready(result) = self.fetcher.poll_filled(context, &mut filled)
            {
                return Poll::Ready(result.map(|()| Event::Filled(std::mem::take(&mut filled))));
            }
            if device_busy && let Poll::Ready(result) = self.device.poll_done(context, &mut done) {
                return Poll::Ready(result.map(|()| Event::Done(std::mem::take(&mut done))));
            }
            self.tick.poll_tick(context).map(|_| Ok(Event::Tick))
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

    fn check_cancelled(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::Interrupted) } else { Ok(()) }
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.options.cancel.load(Ordering::Relaxed)
    }
}

fn elapsed_ns(since: Instant) -> u64 {
    since.elapsed().as_nanos() as u64
}
