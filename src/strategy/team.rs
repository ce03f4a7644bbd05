//! Devices that share a run, as one device.
//!
//! ```text
//!            ┌─ page ─▶ device 0 ┐                    ┌ reduce · vertex phase · gather (algorithms with a vertex phase)
//!  engine ──▶│─ page ─▶ device 1 │─ all pages done ──▶│
//!            └─ page ─▶ …        ┘                    └ messages · census            (traversals)
//! ```
//!
//! A page that several devices want is read once: they share its frame.

use super::assignment::{DEVICES_MAX, PageMap, aligned_parts, equal_parts, parts_of_shards};
use super::message::{BLOCK_VERTICES, HEADER_WORDS, MessageLayout};
use super::schedule::{Round, Schedule, Sharing as Shared};
use super::speed::Speeds;
use super::{Assignment, ExchangeMemory, Move, Part, Strategy};
use crate::algorithm::{Algorithm, Graph, Scalars, State, Step, Visit};
use crate::attributes::Attribute;
use crate::bits::Bits;
use crate::cache::Policy;
use crate::device::{Device, Member, Merging, PageDone, PageTask, StepEnd, Work};
use crate::error::{Error, Result};
use crate::fetch::PageRef;
use crate::plan::PagePlan;
use crate::report::{DeviceReport, Sharing};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll};
use std::time::Instant;
use topostream_formats::{Direction, Store};

/// How devices will share a run: decided before any of them is made ready.
#[derive(Clone, Debug)]
pub struct TeamPlan {
    /// Never `auto`.
    pub strategy: Strategy,
    /// Never `auto`; counts for [`Strategy::Replicate`].
    pub assignment: Assignment,
    /// Each device's part.
    pub parts: Vec<Part>,
    /// Bytes of a piece of exchange memory.
    pub piece_bytes: u64,
    pages: PageMap,
    schedule: Schedule,
    declared: Vec<Attribute>,
    traversal: bool,
    /// Whether shares follow what is measured.
    adapts: bool,
}

/// What a team is planned for.
#[derive(Clone, Copy, Debug)]
pub struct TeamRequest<'a> {
    /// The graph.
    pub store: &'a Store,
    /// Each device's speed, as far as it is known: only ratios count.
    pub speeds: &'a [f64],
    /// Whether all devices are of one kind.
    pub alike: bool,
    /// Not `auto`.
    pub strategy: Strategy,
    /// As asked for.
    pub assignment: Assignment,
    /// What every device can bind at once, in bytes.
    pub binding_bytes_max: u64,
}

impl TeamPlan {
    /// Decides who holds which attributes, sees which pages, and tells whom what.
    ///
    /// # Errors
    /// [`Error::Parameter`] where there are too many devices, or one binds too little at once; [`Error::Store`] where pages
    /// have to be looked at and cannot be.
    pub fn new<A: Algorithm>(algorithm: &A, request: &TeamRequest<'_>) -> Result<Self> {
        let TeamRequest { store, speeds, strategy, .. } = *request;
        if speeds.len() > DEVICES_MAX {
            return Err(Error::Parameter(format!("{} devices: at most {DEVICES_MAX} share a run", speeds.len())));
        }
        let has_in_lists = store.topology(Direction::In).is_some();
        let (declared, traversal) = (algorithm.attributes(has_in_lists), algorithm.is_traversal());
        let sharded = strategy == Strategy::Shard;
        let assignment = match request.assignment {
            Assignment::Auto if request.alike => Assignment::Contiguous,
            Assignment::Auto => Assignment::Modulo,
            asked => asked,
        };
        let equal = vec![1.0; speeds.len()];
        let of_shards = if sharded { parts_of_shards(store, speeds.len()) } else { None };
        let mut own = of_shards.unwrap_or_else(|| equal_parts(store.vertices(), &equal));
        let mut aligned = false;
        let pages = match sharded {
            true => {
                let parts = parts(store, &own, true);
                PageMap::sharded(store, &parts, |direction| algorithm.writes(direction))
            }
            false => PageMap::replicated(store, assignment, speeds)?,
        };
        if let Some(direction) = only_direction(algorithm, has_in_lists)
            && !sharded
            && !traversal
            && assignment == Assignment::Contiguous
            && let Some(topology) = store.topology(direction)
            && topology.shards().len() == 1
        {
            own = aligned_parts(topology, pages.of(direction), speeds.len(), store.vertices());
            aligned = true;
        }
        let parts = parts(store, &own, sharded);
        let piece_bytes = piece_bytes(&declared, traversal, &parts, request.binding_bytes_max)?;
        let shared = Shared { declared: &declared, traversal, parts: &parts, aligned, piece_bytes };
        let schedule = Schedule::new(&shared);
        let adapts = !sharded && !request.alike && assignment == Assignment::Modulo;
        Ok(Self { strategy, assignment, parts, piece_bytes, pages, schedule, declared, traversal, adapts })
    }

    /// Main memory that devices tell each other through, in bytes.
    pub fn exchange_bytes(&self) -> u64 {
        self.schedule.pieces * self.piece_bytes
    }

    /// Main memory that the devices need beside what one would, in bytes: what they tell each other through, and the attributes
    /// and frontiers of those that compute in main memory.
    pub fn memory_bytes(&self, cpu: &[bool]) -> u64 {
        let of_part = |part: &Part| -> u64 {
            let attribute = |declared: &Attribute| {
                let held = part.held(declared.role);
                let seen = if part.has_seen(declared.role) { part.vertices } else { 0 };
                declared.memory_bytes(held.end - held.start + seen)
            };
            let frontiers = if self.traversal { 2 * Bits::memory_bytes(part.vertices) } else { 0 };
            self.declared.iter().map(attribute).sum::<u64>() + frontiers
        };
        let cpus = self.parts.iter().zip(cpu).filter(|(_, cpu)| **cpu);
        self.exchange_bytes() + cpus.map(|(part, _)| of_part(part)).sum::<u64>()
    }

    /// Allocates it.
    pub fn exchange(&self) -> Arc<ExchangeMemory> {
        Arc::new(ExchangeMemory::new(self.schedule.pieces, self.piece_bytes))
    }
}

fn parts(store: &Store, own: &[std::ops::Range<u64>], sharded: bool) -> Vec<Part> {
    let vertices = store.vertices();
    own.iter().map(|own| Part { vertices, own: own.clone(), sharded }).collect()
}

/// The direction that an algorithm reads lists in, where there is only one.
fn only_direction<A: Algorithm>(algorithm: &A, has_in_lists: bool) -> Option<Direction> {
    let visits = algorithm.visits(has_in_lists);
    let (first, _) = *visits.first()?;
    visits.iter().all(|&(direction, _)| direction == first).then_some(first)
}

/// Bytes of a piece: as much as every device binds, no more than there is to say, and at least a block of a message.
fn piece_bytes(declared: &[Attribute], traversal: bool, parts: &[Part], binding_bytes_max: u64) -> Result<u64> {
    let most = super::PIECE_BYTES_MAX.min(1 << binding_bytes_max.max(4096).ilog2());
    let longest = |of: fn(&Part) -> u64| parts.iter().map(of).max().unwrap_or(0);
    if !traversal {
        let bytes = 8 * longest(|part| part.own.end - part.own.start);
        return Ok(bytes.next_power_of_two().clamp(4096, most));
    }
    let layout = MessageLayout::new(declared, parts.iter().any(|part| part.sharded));
    let least = (4 * layout.words_max(&(0..BLOCK_VERTICES))).next_power_of_two().max(4096);
    if least > most {
        let message =
            format!("a device binds {binding_bytes_max} bytes at once; a message of this algorithm takes {least}");
        return Err(Error::Parameter(message));
    }
    let vertices = longest(|part| part.writable().end - part.writable().start) + BLOCK_VERTICES;
    Ok((4 * layout.words_max(&(0..vertices))).next_power_of_two().clamp(least, most))
}

/// See the module.
pub struct Team {
    plan: TeamPlan,
    store: Arc<Store>,
    graph: Arc<Graph>,
    exchange: Arc<ExchangeMemory>,
    layout: Option<MessageLayout>,
    members: Vec<Box<dyn Member>>,
    direction: Direction,
    /// Pages of this superstep that not everybody who sees them still wants, and who does.
    wanted: HashMap<PageRef, u32>,
    pending: HashMap<PageRef, Pending>,
    /// How many pages each device has.
    busy: Vec<usize>,
    speeds: Speeds,
    reports: Vec<DeviceReport>,
}

/// A page that some devices have.
#[derive(Debug)]
struct Pending {
    left: u32,
    kept: bool,
    work: Work,
    failed: u32,
    error: Option<topostream_formats::Error>,
}

impl Team {
    /// A team of devices, one for each part of the plan.
    pub fn new(
        plan: TeamPlan,
        store: Arc<Store>,
        graph: Arc<Graph>,
        exchange: Arc<ExchangeMemory>,
        members: Vec<Box<dyn Member>>,
    ) -> Self {
        let sharded = plan.strategy == Strategy::Shard;
        let layout = plan.traversal.then(|| MessageLayout::new(&plan.declared, sharded));
        let report = |(member, part): (&Box<dyn Member>, &Part)| DeviceReport {
            device: member.name(),
            own: (part.own.start, part.own.end),
            pages: 0,
            edges: 0,
            compute_ns: 0,
        };
        let reports = members.iter().zip(&plan.parts).map(report).collect();
        let (busy, lanes) = (vec![0; members.len()], members.iter().map(|member| member.lanes()).collect());
        Self {
            plan,
            store,
            graph,
            exchange,
            layout,
            members,
            direction: Direction::Out,
            wanted: HashMap::new(),
            pending: HashMap::new(),
            busy,
            speeds: Speeds::new(lanes),
            reports,
        }
    }

    /// Asks every device; the first error is told with the device's name.
    fn each<T>(&mut self, mut ask: impl FnMut(&mut dyn Member) -> Result<T>) -> Result<Vec<T>> {
        let devices = self.members.len();
        let answers = self.members.iter_mut().enumerate().map(|(at, member)| {
            let answer = ask(&mut **member);
            answer.map_err(|source| {
                let (number, name) = (at + 1, member.name());
                Error::Device { number, devices, name, source: Box::new(source) }
            })
        });
        // Everybody is asked, so that nobody is left in the middle of what they do together.
        let answers: Vec<Result<T>> = answers.collect();
        answers.into_iter().collect()
    }

    /// The devices that still want a page in this superstep.
    fn devices_for(&mut self, page: PageRef) -> u32 {
        let all = self.plan.pages.of(self.direction)[page.page.index()];
        self.wanted.remove(&page).unwrap_or(all)
    }

    fn round(&mut self, round: &Round) -> Result<()> {
        let mut moves = round.iter();
        self.each(|member| member.begin_round(moves.next().expect("as many as devices").clone()))?;
        self.each(|member| member.end_round()).map(drop)
    }

    /// The rounds of an algorithm with a vertex phase.
    fn rounds(&mut self, which: impl Fn(&Schedule) -> &Vec<Round>) -> Result<Merging> {
        let begun = Instant::now();
        let mut bytes = 0;
        for number in 0..which(&self.plan.schedule).len() {
            let round = which(&self.plan.schedule)[number].clone();
            bytes += round.iter().flatten().map(|one| dense_bytes(&self.plan.declared, one)).sum::<u64>();
            self.round(&round)?;
        }
        Ok(Merging { bytes, ns: begun.elapsed().as_nanos() as u64 })
    }

    /// A traversal's devices tell each other what they have activated.
    fn tell(&mut self) -> Result<Merging> {
        let begun = Instant::now();
        let collect = |pieces: &Vec<super::schedule::Piece>| {
            let moves = pieces.iter().map(|piece| Move::Collect { vertices: piece.vertices.clone(), at: piece.at });
            moves.collect()
        };
        let round: Round = self.plan.schedule.messages.iter().map(collect).collect();
        self.round(&round)?;
        let mut bytes = 0;
        let layout = self.layout.as_ref().expect("a traversal");
        let mut round: Round = vec![Vec::new(); self.members.len()];
        for (from, pieces) in self.plan.schedule.messages.iter().enumerate() {
            for piece in pieces {
                let count = u64::from(self.exchange.words(piece.at, HEADER_WORDS)[0].load(Relaxed));
                if count == 0 {
                    continue;
                }
                let words = layout.choose(&piece.vertices, count).1.words;
                bytes += 4 * words * self.members.len() as u64;
                for (_, moves) in round.iter_mut().enumerate().filter(|(to, _)| *to != from) {
                    moves.push(Move::Apply { vertices: piece.vertices.clone(), at: piece.at });
                }
            }
        }
        if round.iter().any(|moves| !moves.is_empty()) {
            self.round(&round)?;
        }
        Ok(Merging { bytes, ns: begun.elapsed().as_nanos() as u64 })
    }

    /// Adds up what the devices say of a superstep.
    fn sum(&mut self, ends: Vec<StepEnd>) -> StepEnd {
        let mut all = StepEnd::default();
        let shared = self.plan.strategy == Strategy::Shard;
        for (device, end) in ends.into_iter().enumerate() {
            all.summary.totals.iter_mut().zip(end.summary.totals).for_each(|(total, term)| *total += term);
            all.summary.activated += end.summary.activated;
            all.summary.activated_edges += end.summary.activated_edges;
            // Lists that several devices have opened are lists that were opened once.
            let before = all.work.edges;
            all.work += end.work;
            if shared && self.sees_all() {
                all.work.edges = before.max(end.work.edges);
            }
            all.transfer.add(&end.transfer);
            self.reports[device].pages += end.transfer.resident_pages;
            self.account(device, &end.work);
        }
        all
    }

    fn account(&mut self, device: usize, work: &Work) {
        self.reports[device].edges += work.edges;
        self.reports[device].compute_ns += work.compute_ns;
        self.speeds.add(device, work);
    }

    /// Whether each page of this superstep goes to every device that has vertices.
    fn sees_all(&self) -> bool {
        let pages = self.plan.pages.of(self.direction);
        pages.first().is_none_or(|first| first.count_ones() > 1)
    }

    fn on_done(&mut self, device: usize, report: PageDone, done: &mut Vec<PageDone>) {
        let PageDone { page, frame, kept, result } = report;
        self.busy[device] -= 1;
        self.reports[device].pages += 1;
        let pending = self.pending.get_mut(&page).expect("devices report what they have been given");
        pending.left -= 1;
        pending.kept &= kept;
        match result {
            Ok(work) => {
                let edges = pending.work.edges.max(work.edges);
                pending.work += work;
                pending.work.edges = edges;
                self.account(device, &work);
            }
            Err(error) => {
                pending.failed |= 1 << device;
                pending.error = Some(error);
            }
        }
        let pending = self.pending.get(&page).expect("just seen");
        if pending.left == 0 {
            let Pending { kept, work, failed, error, .. } = self.pending.remove(&page).expect("just seen");
            let result = match error {
                None => Ok(work),
                Some(error) => {
                    // Whoever has used it must not get it again.
                    self.wanted.insert(page, failed);
                    Err(error)
                }
            };
            done.push(PageDone { page, frame, kept, result });
        }
    }
}

impl Device for Team {
    fn name(&self) -> String {
        self.members.iter().map(|member| member.name()).collect::<Vec<_>>().join(" + ")
    }

    fn lanes(&self) -> u32 {
        self.members.iter().map(|member| member.lanes()).sum()
    }

    fn initialise(&mut self) -> Result<Scalars> {
        let sums = self.each(|member| member.initialise())?;
        self.rounds(|schedule| &schedule.gather)?;
        let mut totals = Scalars::default();
        sums.iter().for_each(|sum| totals.iter_mut().zip(sum).for_each(|(total, term)| *total += term));
        Ok(totals)
    }

    fn pages(&mut self, step: &Step) -> Result<PagePlan> {
        // Under Strategy-S only owners know who is not in a set.
        let all = matches!(step.visit, Visit::Without(_)) && self.plan.strategy == Strategy::Shard;
        let mut plan = self.members[0].pages(step)?;
        if all {
            for member in &mut self.members[1..] {
                plan.pages.extend(member.pages(step)?.pages);
            }
            plan.pages.sort_unstable_by_key(|page| page.page);
            plan.pages.dedup();
        }
        let devices = self.plan.pages.of(step.direction);
        plan.pages.retain(|page| devices[page.page.index()] != 0);
        Ok(plan)
    }

    fn begin(&mut self, step: &Step) -> Result<()> {
        self.direction = step.direction;
        self.wanted.clear();
        if self.plan.adapts
            && let Some(speeds) = self.speeds.changed()
        {
            self.plan.pages = PageMap::replicated(&self.store, self.plan.assignment, &speeds)?;
        }
        self.each(|member| member.begin(step)).map(drop)
    }

    fn start_resident(&mut self, pages: Vec<PageRef>, policy: Policy) -> Vec<PageRef> {
        let devices = self.plan.pages.of(self.direction);
        let mut left: HashMap<PageRef, u32> = HashMap::new();
        for (at, member) in self.members.iter_mut().enumerate() {
            let seen = |page: &&PageRef| devices[page.page.index()] >> at & 1 != 0;
            let own: Vec<PageRef> = pages.iter().filter(seen).copied().collect();
            for page in member.start_resident(own, policy) {
                *left.entry(page).or_insert(0) |= 1 << at;
            }
        }
        let others = pages.into_iter().filter(|page| left.contains_key(page)).collect();
        left.retain(|page, set| *set != devices[page.page.index()]);
        self.wanted = left;
        others
    }

    fn submit(&mut self, task: PageTask) {
        let devices = self.devices_for(task.page);
        let pending = Pending { left: devices.count_ones(), kept: true, work: Work::default(), failed: 0, error: None };
        self.pending.insert(task.page, pending);
        let PageTask { page, frame, fresh } = task;
        for (at, member) in self.members.iter_mut().enumerate().filter(|(at, _)| devices >> at & 1 != 0) {
            self.busy[at] += 1;
            member.submit(PageTask { page, frame: Arc::clone(&frame), fresh });
        }
    }

    fn poll_done(&mut self, context: &mut Context<'_>, done: &mut Vec<PageDone>) -> Poll<Result<()>> {
        let devices = self.members.len();
        let mut reports = Vec::new();
        for device in 0..devices {
            // Until it has nothing more to tell, so that it will wake us up when it has.
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
        // A page that others still have is not done: then it is as if nothing had happened.
        if done.is_empty() { Poll::Pending } else { Poll::Ready(Ok(())) }
    }

    fn end(&mut self, step: &Step) -> Result<StepEnd> {
        let mut merge = match self.plan.traversal {
            true => self.tell()?,
            false => self.rounds(|schedule| &schedule.reduce)?,
        };
        self.each(|member| member.begin_end(step))?;
        let ends = self.each(|member| member.end(step))?;
        if !self.plan.traversal {
            let gather = self.rounds(|schedule| &schedule.gather)?;
            merge.bytes += gather.bytes;
            merge.ns += gather.ns;
        }
        Ok(StepEnd { merge, ..self.sum(ends) })
    }

    fn finish(mut self: Box<Self>) -> Result<State> {
        let state = State::new(Arc::clone(&self.graph), &self.plan.declared, false, Part::whole(self.graph.vertices));
        self.each(|member| member.contribute(&state))?;
        Ok(state)
    }

    fn sharing(&self) -> Option<Sharing> {
        Some(Sharing {
            strategy: self.plan.strategy,
            assignment: (self.plan.strategy == Strategy::Replicate).then_some(self.plan.assignment),
            exchange_bytes: self.plan.exchange_bytes(),
            devices: self.reports.clone(),
        })
    }
}

/// Bytes that a dense move writes or reads.
fn dense_bytes(declared: &[Attribute], one: &Move) -> u64 {
    match one {
        Move::Put { attribute, vertices, .. }
        | Move::Merge { attribute, vertices, .. }
        | Move::Take { attribute, vertices, .. } => 4 * declared[*attribute].words(vertices),
        Move::Clear { .. } | Move::Collect { .. } | Move::Apply { .. } => 0,
    }
}
