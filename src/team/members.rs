//! A team: several devices behind the interface of one.
//!
//! ```text
//!            ┌─ page ─▶ device 0 ┐                    ┌ exchange · vertex phase · exchange (not traversals)
//!  engine ──▶│─ page ─▶ device 1 │─ all pages done ──▶│
//!            └─ page ─▶ …        ┘                    └ exchange · census                  (traversals)
//! ```
//!
//! A page that several devices need is read once: they share its frame.
//!
//! The team of a [cluster](crate::cluster) spans its ranks. Each rank plans for all devices, and has its own devices as
//! members; when its members have written, what others need crosses to their ranks, and is announced as if it had been
//! written there (`ranks`). Sums over vertices are gathered from all devices and added in the order of devices.

mod crossing;
mod ended;
mod exchange;
mod joint;
mod jointly;
mod ranks;

use super::assignment::{DeviceSet, PageMap};
use super::plan::Everywhere;
use super::speed::Speeds;
use super::{Strategy, TeamPlan};
use crate::cluster::Cluster;
use crate::device::exchange::message::MessageLayout;
use crate::device::exchange::{ExchangeMemory, Received};
use crate::device::{Balance, Device, DeviceReport, Member, PageDone, PageTask, PageWork, RunAhead, StepEnd};
use crate::error::{Error, Result};
use crate::model::Part;
use crate::model::algorithm::{Algorithm, Complete, Declaration, Graph, Rule, Scalars, State, Step, Visit, rule_of};
use crate::pages::PagePlan;
use crate::pages::cache::Policy;
use crate::pages::fetch::PageRef;
use ended::Ended;
use joint::Joint;
use std::ops::Range;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;
use topostream_formats::{Direction, Store};

/// Several devices behind the interface of one.
pub struct Team {
    plan: TeamPlan,
    algorithm: Arc<dyn Algorithm>,
    declaration: Arc<Declaration>,
    rule: Rule,
    store: Arc<Store>,
    graph: Arc<Graph>,
    exchange: Arc<ExchangeMemory>,
    layout: Option<MessageLayout>,
    /// The devices of this rank.
    members: Vec<Box<dyn Member>>,
    /// The ranks, if there are several.
    cluster: Option<Arc<Cluster>>,
    direction: Direction,
    /// Which of the schedule's two exchanges after a vertex phase was the last (0 or 1).
    turn: bool,
    /// For each page that this superstep may visit, the set of devices that still need it.
    wanted: Vec<DeviceSet>,
    /// For each page, the outcome on the devices that work on it.
    pending: Vec<Pending>,
    /// The number of pages that each device is working on.
    busy: Vec<usize>,
    /// The number of edges in the lists that each device has opened in this superstep.
    edges: Vec<u64>,
    /// The number of edges in all pages of this superstep, if it visits all lists.
    page_edges: Option<u64>,
    speeds: Speeds,
    reports: Vec<DeviceReport>,
    /// Pages to be deferred after the devices have exchanged their activations.
    deferred: Vec<PageRef>,
    joint: Joint,
    /// Pieces that have been sent to other ranks.
    sent: Received,
    /// Whether the run has ended well.
    finished: bool,
}

/// A page that some devices are working on.
#[derive(Debug, Default)]
struct Pending {
    left: u32,
    kept: bool,
    work: PageWork,
    failed: DeviceSet,
    error: Option<topostream_formats::Error>,
}

impl Team {
    /// Creates a team from one device for each part of the plan; of a cluster, for each part of this rank.
    pub fn new(
        plan: TeamPlan,
        (algorithm, declaration): (Arc<dyn Algorithm>, Arc<Declaration>),
        store: Arc<Store>,
        graph: Arc<Graph>,
        exchange: Arc<ExchangeMemory>,
        members: Vec<Box<dyn Member>>,
        cluster: Option<Arc<Cluster>>,
    ) -> Self {
        let sharded = plan.strategy == Strategy::Shard;
        let sent = Received::new(&exchange);
        let layout = plan.traversal.then(|| MessageLayout::new(&plan.declared, sharded));
        let report = |(member, part): (&dyn Member, &Part)| DeviceReport {
            device: member.name(),
            own: (part.own.start, part.own.end),
            bordering: member.bordering(),
            pages: 0,
            edges: 0,
            compute_ns: 0,
        };
        let reports = members.iter().map(AsRef::as_ref).zip(plan.local_parts()).map(report).collect();
        let devices = members.len();
        let (busy, lanes) = (vec![0; members.len()], members.iter().map(|member| member.lanes()).collect());
        Self {
            plan,
            rule: rule_of(&*algorithm, &declaration),
            algorithm,
            declaration,
            store,
            graph,
            exchange,
            layout,
            members,
            cluster: cluster.filter(|cluster| cluster.is_shared()),
            direction: Direction::Out,
            turn: false,
            wanted: Vec::new(),
            pending: Vec::new(),
            busy,
            edges: vec![0; devices],
            page_edges: None,
            speeds: Speeds::new(lanes),
            reports,
            deferred: Vec::new(),
            joint: Joint::default(),
            sent,
            finished: false,
        }
    }

    /// Calls every device. Returns the first error, with the device's name.
    fn each<T>(&mut self, mut ask: impl FnMut(&mut dyn Member) -> Result<T>) -> Result<Vec<T>> {
        let devices = self.members.len();
        let answers = self.members.iter_mut().enumerate();
        let answers =
            answers.map(|(at, member)| ask(&mut **member).map_err(|error| named(&**member, (at, devices), error)));
        // All devices are called even after an error, so that none is left waiting in a joint operation.
        let answers: Vec<Result<T>> = answers.collect();
        answers.into_iter().collect()
    }

    /// Ends a superstep on every device, and makes sure that each will take what others put after it.
    fn end_all(&mut self, step: &Step) -> Result<Vec<StepEnd>> {
        let ends = self.end_each(step)?;
        // Others may be waiting for values of a device that has failed.
        self.each(|member| member.end_exchange()).inspect_err(|_| self.exchange.abandon())?;
        Ok(ends)
    }

    /// Ends a superstep on every device: first on those that only work when they are asked to, since others may wait
    /// for their values.
    fn end_each(&mut self, step: &Step) -> Result<Vec<StepEnd>> {
        let devices = self.members.len();
        let mut ends: Vec<Option<Result<StepEnd>>> = self.members.iter().map(|_| None).collect();
        for by_itself in [false, true] {
            let members = self.members.iter_mut().zip(&mut ends).enumerate();
            for (at, (member, end)) in members.filter(|(_, (member, _))| member.ends_by_itself() == by_itself) {
                let answer = member.end(step).map_err(|error| named(&**member, (at, devices), error));
                if answer.is_err() {
                    // Others may be waiting for values of a device that has failed.
                    self.exchange.abandon();
                }
                *end = Some(answer);
            }
        }
        ends.into_iter().map(|end| end.expect("every device has ended")).collect()
    }

    /// Returns a zeroed state with the values of all vertices.
    fn whole(&self, traversal: bool) -> State {
        let whole = Part::whole(self.graph.vertices);
        let state = State::new(Arc::clone(&self.graph), &self.plan.declared, traversal, whole);
        state.with_activations(self.plan.activations)
    }

    /// Sums the results of a superstep: work and times of the members, and the sums over the vertices of all devices,
    /// added in the order of devices.
    fn sum(&mut self, ends: Vec<StepEnd>) -> Result<StepEnd> {
        let mut all = StepEnd::default();
        for (device, end) in ends.iter().enumerate() {
            all.work += end.work;
            all.transfer.add(&end.transfer);
            all.vertex_ns = all.vertex_ns.max(end.vertex_ns);
            all.phase_vertices += end.phase_vertices;
            self.reports[device].pages += end.transfer.resident_pages;
            self.account(device, &end.work);
        }
        let edges = std::mem::replace(&mut self.edges, vec![0; ends.len()]);
        let wishes = self.cluster.as_ref().map_or(0, |cluster| cluster.wishes());
        let of_rank = [wishes, self.joint.missing()];
        let ended = ends.into_iter().zip(edges);
        let ended = ended.map(|(end, edges)| Ended::new(&end, edges, of_rank)).collect();
        let of_all = self.ended(ended)?;
        of_all.iter().for_each(|one| one.add_to(&mut all.summary));
        all.deferred = of_all.iter().map(|one| one.deferred).sum();
        self.joint.miss(of_all.iter().map(|one| one.missing));
        let by_device: Vec<u64> = of_all.iter().map(|one| one.edges).collect();
        all.balance = Balance::of(&by_device);
        all.work.edges = self.opened(&by_device);
        Ok(all)
    }

    /// Returns the number of edges in the lists that were opened in this superstep, given those that each device has
    /// opened. A list that several devices have opened counts once.
    fn opened(&self, by_device: &[u64]) -> u64 {
        let most = |edges: &[u64]| edges.iter().copied().max().unwrap_or(0);
        let places = &self.plan.places;
        match (self.page_edges, self.everywhere()) {
            (Some(edges), _) => edges,
            (None, Some(Everywhere { shared: true, by_rank: true, .. })) => {
                (0..places.ranks()).map(|rank| most(&by_device[places.of(rank)])).sum()
            }
            (None, _) if self.plan.strategy == Strategy::Shard && self.sees_all() => most(by_device),
            (None, _) => by_device.iter().sum(),
        }
    }

    fn account(&mut self, device: usize, work: &PageWork) {
        self.reports[device].edges += work.edges;
        self.edges[device] += work.edges;
        self.reports[device].compute_ns += work.compute_ns;
        self.speeds.add(device, work);
    }

    /// Returns whether each page of this superstep goes to every device that owns vertices.
    fn sees_all(&self) -> bool {
        self.everywhere().map_or_else(|| self.plan.pages.is_shared(self.direction), |all| all.shared)
    }

    /// What is known of the pages of all ranks, in the direction of this superstep.
    fn everywhere(&self) -> Option<Everywhere> {
        self.plan.everywhere.map(|[along, against]| if self.direction == Direction::In { against } else { along })
    }

    /// The number of edges in all pages that any device sees.
    fn edges_of_all(&self, direction: Direction) -> u64 {
        match &self.plan.everywhere {
            Some(everywhere) => everywhere[usize::from(direction == Direction::In)].edges,
            None => self.plan.pages.edges(&self.store, direction),
        }
    }

    fn on_done(&mut self, device: usize, report: PageDone, done: &mut Vec<PageDone>) {
        let PageDone { page, frame, kept, result } = report;
        self.busy[device] -= 1;
        self.reports[device].pages += 1;
        let pending = &mut self.pending[page.page.index()];
        pending.left -= 1;
        pending.kept &= kept;
        match result {
            Ok(work) => {
                // Edges are reported at the end of the superstep.
                pending.work += PageWork { edges: 0, ..work };
                self.account(device, &work);
            }
            Err(error) => {
                pending.failed |= 1 << device;
                pending.error = Some(error);
            }
        }
        let pending = &mut self.pending[page.page.index()];
        if pending.left == 0 {
            let Pending { kept, work, failed, error, .. } = std::mem::take(pending);
            let result = match error {
                None => Ok(work),
                Some(error) => {
                    // Only the devices that failed get the page again.
                    self.wanted[page.page.index()] = failed;
                    Err(error)
                }
            };
            done.push(PageDone { page, frame, kept, result });
        }
    }
}

/// If a rank ends early, the devices of other ranks stop waiting for its devices.
impl Drop for Team {
    fn drop(&mut self) {
        if !self.finished {
            self.exchange.abandon();
        }
    }
}

/// An error of a device: its place and the number of devices.
fn named(member: &dyn Member, (at, devices): (usize, usize), source: Error) -> Error {
    Error::Device { number: at + 1, devices, name: member.name(), source: Box::new(source) }
}

impl Device for Team {
    fn name(&self) -> String {
        self.members.iter().map(|member| member.name()).collect::<Vec<_>>().join(" + ")
    }

    fn lanes(&self) -> u32 {
        self.members.iter().map(|member| member.lanes()).sum()
    }

    fn initialise(&mut self) -> Result<Scalars> {
        self.begin_together()?;
        let sums = self.each(|member| member.initialise())?;
        if self.plan.traversal {
            self.joint.begin(self.algorithm.seeds().active, &self.graph);
        }
        let exchange = self.next_after();
        self.begin_exchange(&exchange)?;
        self.cross_first()?;
        self.each(|member| member.end_exchange())?;
        let mut totals = Scalars::default();
        let sums = self.of_all_devices(sums)?;
        sums.iter().for_each(|sum| totals.iter_mut().zip(sum).for_each(|(total, term)| *total += term));
        Ok(totals)
    }

    fn pages(&mut self, step: &Step) -> Result<PagePlan> {
        // Only a vertex's owner knows whether it is in a set, and under Strategy-S whether it is not.
        let all = match step.visit {
            Visit::Within(_) => true,
            Visit::Without(_) => self.plan.strategy == Strategy::Shard,
            Visit::All | Visit::Frontier | Visit::None => false,
        };
        let mut plan = self.members[0].pages(step)?;
        if all {
            for member in &mut self.members[1..] {
                plan.pages.extend(member.pages(step)?.pages);
            }
            plan.pages.sort_unstable_by_key(|page| page.page);
            plan.pages.dedup();
            self.add_pages_of_others(step, &mut plan)?;
        }
        let devices = self.plan.pages.of(step.direction);
        plan.pages.retain(|page| devices[page.page.index()] != 0);
        self.page_edges = (step.visit == Visit::All).then(|| self.edges_of_all(step.direction));
        Ok(plan)
    }

    fn pages_kept(&self) -> u64 {
        self.pages_kept_by_all()
    }

    fn runs_alone(&self) -> bool {
        self.members.iter().all(|member| member.runs_alone())
    }

    fn run_ahead(&mut self, step: &Step) -> Result<RunAhead> {
        // Devices wait for each other's messages in the exchange memory: messages of other machines would never arrive
        // there.
        if self.plan.places.is_spread() || !self.all_run_jointly()? {
            return Ok(RunAhead::default());
        }
        self.run_jointly(step)
    }

    fn begin(&mut self, step: &Step) -> Result<()> {
        self.direction = step.direction;
        if self.plan.adapts
            && let Some(speeds) = self.speeds.changed()
        {
            self.plan.pages = PageMap::replicated(&self.store, self.plan.assignment, &speeds, 0.0);
        }
        let pages = self.plan.pages.of(self.direction);
        self.wanted.clear();
        self.wanted.extend_from_slice(pages);
        self.pending.clear();
        self.pending.resize_with(pages.len(), Pending::default);
        self.each(|member| member.begin(step)).map(drop)
    }

    fn defer(&mut self, _step: &Step, pages: &[PageRef]) -> Result<()> {
        self.deferred = pages.to_vec();
        Ok(())
    }

    fn missing(&mut self, pages: Vec<PageRef>) -> Vec<PageRef> {
        let Some(first) = pages.first() else { return pages };
        let devices = self.plan.pages.of(first.direction);
        let mut missing = vec![false; devices.len()];
        for (at, member) in self.members.iter_mut().enumerate() {
            let seen = |page: &&PageRef| devices[page.page.index()] >> at & 1 != 0;
            let own: Vec<PageRef> = pages.iter().filter(seen).copied().collect();
            member.missing(own).into_iter().for_each(|page| missing[page.page.index()] = true);
        }
        pages.into_iter().filter(|page| missing[page.page.index()]).collect()
    }

    fn start_resident(&mut self, pages: Vec<PageRef>, policy: Policy) -> Vec<PageRef> {
        let devices = self.plan.pages.of(self.direction);
        pages.iter().for_each(|page| self.wanted[page.page.index()] = 0);
        // All devices begin before the first one answers.
        let begin = |(at, member): (usize, &mut Box<dyn Member>)| {
            let seen = |page: &&PageRef| devices[page.page.index()] >> at & 1 != 0;
            member.begin_start(pages.iter().filter(seen).copied().collect(), policy)
        };
        let answers: Vec<_> = self.members.iter_mut().enumerate().map(begin).collect();
        for ((at, member), answer) in self.members.iter_mut().enumerate().zip(answers) {
            for page in answer.unwrap_or_else(|| member.end_start()) {
                self.wanted[page.page.index()] |= 1 << at;
            }
        }
        pages.into_iter().filter(|page| self.wanted[page.page.index()] != 0).collect()
    }

    fn submit(&mut self, task: PageTask) {
        let at = task.page.page.index();
        let devices = self.wanted[at];
        self.pending[at] = Pending { left: devices.count_ones(), kept: true, ..Pending::default() };
        let PageTask { page, frame, fresh } = task;
        // The last device gets the team's own reference: the only device of a rank decodes pages in their frames, which
        // nobody else may hold.
        let frames = std::iter::repeat_n(frame, devices.count_ones() as usize);
        let members = self.members.iter_mut().enumerate().filter(|(at, _)| devices >> at & 1 != 0);
        for ((at, member), frame) in members.zip(frames) {
            self.busy[at] += 1;
            member.submit(PageTask { page, frame, fresh });
        }
    }

    fn poll_done(&mut self, context: &mut Context<'_>, done: &mut Vec<PageDone>) -> Poll<Result<()>> {
        let devices = self.members.len();
        let mut reports = Vec::new();
        for device in 0..devices {
            // Polled until it is pending, so that it wakes this task when it has more.
            while self.busy[device] > 0
                && let Poll::Ready(result) = self.members[device].poll_done(context, &mut reports)
            {
                if let Err(source) = result {
                    let (number, name) = (device + 1, self.members[device].name());
                    return Poll::Ready(Err(Error::Device { number, devices, name, source: Box::new(source) }));
                }
                std::mem::take(&mut reports).into_iter().for_each(|report| self.on_done(device, report, done));
            }
        }
        // A page is done only when all of its devices are done with it.
        if done.is_empty() { Poll::Pending } else { Poll::Ready(Ok(())) }
    }

    fn end(&mut self, step: &Step) -> Result<StepEnd> {
        let mut exchange = self.exchange_before()?;
        let deferred = std::mem::take(&mut self.deferred);
        if !deferred.is_empty() {
            self.each(|member| member.defer(step, &deferred))?;
        }
        let after = self.next_after();
        let mut moves = after.iter();
        self.each(|member| member.begin_end(step, moves.next().cloned().unwrap_or_default()))?;
        let (ends, crossing_ns) = self.end_while_crossing(step)?;
        exchange.bytes = self.bytes(&self.plan.schedule.before) + self.bytes(&after);
        let summing = Instant::now();
        let all = self.sum(ends)?;
        if self.cluster.is_some() {
            exchange.ns += crossing_ns + summing.elapsed().as_nanos() as u64;
        }
        let end = StepEnd { exchange, ..all };
        self.joint.ended(&end.summary);
        Ok(end)
    }

    fn save(&mut self, next: &Step, look: &mut dyn FnMut(&State, Range<u64>)) -> Result<()> {
        let state = self.whole(self.plan.traversal);
        self.each(|member| member.contribute_before(next, &state))?;
        look(&state, self.plan.vertices_of(self.plan.places.rank()));
        Ok(())
    }

    fn restore(&mut self, next: &Step, load: &mut dyn FnMut(&State, &Complete<'_>) -> Result<()>) -> Result<()> {
        let state = Arc::new(self.whole(self.plan.traversal));
        load(&state, &|state, loaded| self.share_loaded(state, next, loaded))?;
        self.begin_together()?;
        self.each(|member| member.go_on_from(next, &state)).map(drop)
    }

    fn finish(mut self: Box<Self>) -> Result<State> {
        let state = self.whole(false);
        self.each(|member| member.contribute(&state))?;
        self.share_values(&state)?;
        self.finished = true;
        Ok(state)
    }

    fn reports(&self) -> Vec<DeviceReport> {
        self.reports.clone()
    }
}
