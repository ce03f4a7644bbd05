//! The driver: one thread that owns the device, takes pages and launches kernels over batches of them.
//!
//! A page that comes in is checked first (on other threads) unless that has been done. Then it is ready where it lies, or is
//! copied to a slot of the arena first. Ready pages wait for a launch: at most [`BATCHES_MAX`] are under way, and all pages
//! that became ready meanwhile go with the next one, so that batches grow with the load.

use super::arena::Arena;
use super::batch::{Job, Place};
use super::buffers::RunBuffers;
use super::compose::layout::HubHeader;
use super::compose::{Declared, KernelName};
use super::exchange::{self, Exchange};
use super::health::words_of;
use super::home::Home;
use super::notes::Notes;
use super::open::Gpu;
use super::plan::{BATCHES_MAX, DevicePlan, Request, batch_bytes, hub_bytes};
use super::timing::{DeviceSpan, Timing};
use super::transfer::TransferTicket;
use super::{Message, Messages, RunSetup};
use crate::device::exchange::packs;
use crate::device::settings::Distribution;
use crate::device::{PageDone, Transfer, Work};
use crate::error::{Error, Result};
use crate::model::Part;
use crate::model::activations::Activations;
use crate::model::algorithm::{Algorithm, Graph, Step, Visit};
use crate::pages::cache::Policy;
use crate::trace::Timeline;
use crossbeam_channel::{RecvTimeoutError, Sender, TryRecvError};
use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use topostream_formats::{Direction, Store};
use wgpu::BufferUsages as Usage;

/// How long the driver looks for messages before it sleeps.
const SPIN: Duration = Duration::from_micros(60);
/// How long the driver sleeps between looks at the device while launches or copies are under way.
const LOOK: Duration = Duration::from_micros(30);
/// Pages that lie in one buffer and can be worked on.
type Ready = HashMap<Place, VecDeque<Job>>;

/// One launch that is under way.
pub(super) struct Launch {
    pub(super) number: u64,
    /// Which of the batch buffers it uses.
    pub(super) ring: usize,
    pub(super) jobs: Vec<Job>,
}

/// See the module.
pub(super) struct Driver {
    pub(super) algorithm: Arc<dyn Algorithm>,
    pub(super) declared: Declared,
    pub(super) graph: Arc<Graph>,
    pub(super) store: Arc<Store>,
    pub(super) part: Part,
    /// When its own vertices were first active, where that is wanted.
    pub(super) notes: Option<Notes>,
    /// What is shared with other devices, where there are any.
    pub(super) exchange: Option<Exchange>,
    pub(super) plan: DevicePlan,
    pub(super) buffers: RunBuffers,
    pub(super) home: Home,
    pub(super) timing: Timing,
    /// What the last superstep was read back through.
    pub(super) readback: Option<wgpu::Buffer>,
    pub(super) trace: Option<Arc<Timeline>>,
    pub(super) step: Step,
    /// Bits of the pages that each possible superstep would visit next.
    pub(super) next_pages: HashMap<(Direction, Visit), Vec<u32>>,
    /// Of this superstep.
    pub(super) work: Work,
    pub(super) transfer: Transfer,
    pub(super) copy_spans: Vec<DeviceSpan>,
    /// Room for long lists, and how many there is room for.
    pub(super) hubs: (wgpu::Buffer, u32),
    pub(super) policy: Policy,
    pub(super) messages: Sender<Message>,
    pub(super) done: mpsc::UnboundedSender<Option<Vec<PageDone>>>,
    pub(super) checkers: Arc<rayon::ThreadPool>,
    /// Which page's unit row stands in the place of each frame.
    pub(super) batch_buffers: Vec<wgpu::Buffer>,
    pub(super) free_rings: Vec<usize>,
    pub(super) groups: HashMap<(KernelName, u32, Place, usize), wgpu::BindGroup>,
    /// Pages that want a slot.
    pub(super) waiting: VecDeque<Job>,
    /// Pages that are checked and have a slot, but are not in it yet.
    pub(super) to_copy: VecDeque<Job>,
    pub(super) copying: VecDeque<(TransferTicket, Vec<Job>)>,
    pub(super) ready: Ready,
    pub(super) launches: VecDeque<Launch>,
    pub(super) launched: u64,
    pub(super) checking: usize,
    pub(super) failed: bool,
    /// Whether it has been told to stop, which may be in the middle of a superstep.
    pub(super) stopped: bool,
    /// Until somebody has been told.
    pub(super) failure: Option<Error>,
}

impl Driver {
    /// Plans, composes and allocates.
    pub fn new(
        mut home: Home,
        setup: RunSetup,
        activations: Option<Arc<Activations>>,
        messages: Sender<Message>,
        done: mpsc::UnboundedSender<Option<Vec<PageDone>>>,
    ) -> Result<Self> {
        let (declared, plan) = plan_for(&home, &setup)?;
        let RunSetup { algorithm, graph, store, pool, frames, threads, trace, part, exchange } = setup;
        home.prepare(&plan, &store, &graph, &pool, frames, &part)?;
        // What a run before told through may be needed no more: it goes before anything is allocated.
        if exchange.is_none() {
            home.forget_exchange()?;
        }
        let buffers =
            RunBuffers::new(&home.gpu, &plan, (&declared.attributes, &algorithm.tables()), &part, declared.traversal)?;
        let exchange = exchange.map(|memory| Exchange::new(&mut home, memory, &declared, &part)).transpose()?;
        let gpu = &home.gpu;
        let batch_buffers = batch_buffers(gpu, home.settings.batch_pages)?;
        let hubs = (hub_queue(gpu, plan.hub_entries)?, plan.hub_entries);
        let checkers = Arc::new(topostream_formats::threads::pool("page checks", threads)?);
        let notes =
            activations.map(|noted| Notes::new(noted, part.own_words().start, Arc::clone(&checkers), &home.name()));
        let notes = notes.transpose()?;
        let step = Step::new(0, Direction::Out, Visit::All);
        let mut timing = Timing::new(gpu);
        if let Some(timeline) = &trace {
            timing.calibrate(gpu, timeline)?;
        }
        Ok(Self {
            timing,
            readback: None,
            trace,
            free_rings: (0..BATCHES_MAX).collect(),
            algorithm,
            declared,
            graph,
            store,
            part,
            notes,
            exchange,
            plan,
            buffers,
            home,
            step,
            hubs,
            messages,
            done,
            checkers,
            batch_buffers,
            next_pages: HashMap::new(),
            work: Work::default(),
            transfer: Transfer::default(),
            copy_spans: Vec::new(),
            policy: Policy::Scan,
            groups: HashMap::new(),
            waiting: VecDeque::new(),
            to_copy: VecDeque::new(),
            copying: VecDeque::new(),
            ready: HashMap::new(),
            launches: VecDeque::new(),
            launched: 0,
            checking: 0,
            failure: None,
            failed: false,
            stopped: false,
        })
    }

    /// Works until it is told to stop; gives the adapter back. A panic ends the run with an error, and not the thread: whoever asks is
    /// told why, and the adapter is not let go of while it still reads the page buffer.
    pub fn run(mut self, take: &Messages) -> Home {
        while let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.work(take))) {
            let message = format!("its thread panicked: {}", words_of(&*panic));
            let fault = self.home.gpu.health().fault("device driver", &message);
            self.fail(fault.into());
        }
        self.settle();
        self.home
    }

    fn work(&mut self, take: &Messages) {
        while !self.stopped {
            let message = match soon(take) {
                Some(message) => Some(message),
                None if self.is_idle() => Some(take.recv().unwrap_or(Message::Stop)),
                None => match take.recv_timeout(LOOK) {
                    Err(RecvTimeoutError::Timeout) => None,
                    message => Some(message.unwrap_or(Message::Stop)),
                },
            };
            for message in message.into_iter().chain(take.try_iter()) {
                self.handle(message, take);
            }
            if !self.stopped
                && !self.failed
                && let Err(error) = self.advance()
            {
                self.fail(error);
            }
        }
    }

    fn handle(&mut self, message: Message, take: &Messages) {
        // A reply that nobody waits for any more is no error.
        match message {
            Message::Initialise(reply) => {
                let result = self.sound().and_then(|()| self.initialise());
                drop(reply.send(self.explained(result)));
            }
            Message::Begin(step) => self.begin(&step),
            Message::PutOff(direction, bits) => {
                if let Err(error) = self.sound().and_then(|()| self.put_off(direction, &bits)) {
                    self.fail(error);
                }
            }
            Message::Resident(pages, policy, reply) => drop(reply.send(self.start_resident(pages, policy))),
            Message::Page(task) => self.take_page(task),
            Message::Checked(job, result) => {
                self.checking -= 1;
                self.checked(job, result);
            }
            Message::Completed(number) => self.completed(number),
            Message::Round(moves, reply) => {
                let result = self.launch_all(take).and_then(|()| self.round(&moves));
                self.failed |= result.is_err();
                self.collect(take);
                drop(reply.send(self.explained(result)));
            }
            Message::Hear(moves) => {
                let result = self.launch_all(take).and_then(|()| self.hear(&moves));
                if let Err(error) = result {
                    self.fail(error);
                }
            }
            Message::End(step, told, reply) => {
                let result = self.launch_all(take).and_then(|()| self.end(&step, &told));
                self.failed |= result.is_err();
                self.collect(take);
                drop(reply.send(self.explained(result)));
            }
            Message::Download(reply) => self.download(&reply),
            Message::Save(reply) => self.save(&reply),
            Message::Frontier(superstep, reply) => {
                let words = self.read_frontier(superstep);
                drop(reply.send(self.explained(words)));
            }
            Message::Restore(next, state, reply) => {
                let result = self.sound().and_then(|()| self.restore(&next, &state));
                // Whoever asked has the state back when it has the answer.
                drop(state);
                drop(reply.send(self.explained(result)));
            }
            Message::Why(reply) => drop(reply.send(self.failure())),
            Message::Stop => self.stopped = true,
        }
    }

    pub(super) fn explained<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|error| self.home.gpu.explained(error))
    }

    fn is_idle(&self) -> bool {
        self.launches.is_empty() && self.copying.is_empty()
    }

    /// Whether the device is as it should be, and everything before has gone well.
    pub(super) fn sound(&mut self) -> Result<()> {
        if self.failed { Err(self.failure()) } else { Ok(self.home.gpu.check()?) }
    }

    /// Ends the run. The engine may be waiting for pages, or may have all of them back already: it is woken up, and whatever it
    /// asks for next, it is told why.
    fn fail(&mut self, error: Error) {
        if !std::mem::replace(&mut self.failed, true) {
            self.failure = Some(self.home.gpu.explained(error));
            self.done.send(None).ok();
        }
    }

    /// Why the run has ended: in full for the first who asks.
    fn failure(&mut self) -> Error {
        let again = || self.home.gpu.health().fault("a run", "it has failed before").into();
        self.failure.take().unwrap_or_else(again)
    }

    /// Works until everything of this superstep has been launched. What comes behind on the device's queue runs after it.
    fn launch_all(&mut self, take: &Messages) -> Result<()> {
        loop {
            self.sound()?;
            if self.stopped {
                return Err(self.home.gpu.health().fault("a run", "it was given up").into());
            }
            self.advance()?;
            let left = self.checking + self.waiting.len() + self.to_copy.len() + self.copying.len() + self.ready.len();
            if left == 0 {
                return Ok(());
            }
            if let Some(message) = soon(take).or_else(|| take.recv_timeout(LOOK).ok()) {
                self.handle(message, take);
            }
        }
    }

    /// After a wait for the device: takes back what the launches of the superstep held.
    fn collect(&mut self, take: &Messages) {
        while !self.stopped && !self.launches.is_empty() && self.home.gpu.poll().is_ok() {
            match take.recv_timeout(LOOK) {
                Ok(message) => self.handle(message, take),
                Err(_) => continue,
            }
        }
    }

    /// Before the adapter is given back: nothing reads the page buffer any more.
    fn settle(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while self.home.gpu.check().is_ok() && !self.is_idle() && Instant::now() < deadline {
            let last = self.home.gpu.queue().submit([]);
            let idle = self.home.gpu.wait(last, Duration::from_secs(1)).unwrap_or(true);
            self.poll_copies().ok();
            if idle {
                break;
            }
        }
        // Slots that were on their way have no page.
        let (launches, copying) = (std::mem::take(&mut self.launches), std::mem::take(&mut self.copying));
        let lost = launches.into_iter().flat_map(|launch| launch.jobs);
        let lost: Vec<Job> = lost.chain(copying.into_iter().flat_map(|(_, jobs)| jobs)).collect();
        let ready = std::mem::take(&mut self.ready).into_values().flatten();
        let left = ready.chain(std::mem::take(&mut self.waiting)).chain(std::mem::take(&mut self.to_copy));
        let jobs: Vec<Job> = left.chain(lost).collect();
        for job in jobs {
            if let Some(slot) = job.slot {
                self.arena().give_up(slot);
            }
        }
        if self.checking > 0 || self.failed {
            // Slots of pages that are still with the checkers, or were with what failed, are lost to the arena: it is made anew.
            self.home.arena = None;
        }
    }

    pub(super) fn arena(&mut self) -> &mut Arena {
        self.home.arena.as_mut().expect("prepared with the run")
    }

    /// How work is shared out in a batch of pages in one place: what measured best there (docs/benchmarks.md), where nothing
    /// else is asked for.
    pub(super) fn distribution(&self, place: Place) -> Distribution {
        let Step { visit, direction, .. } = self.step;
        match (self.home.settings.distribution, visit, place) {
            // Over the bus each word should be asked for once.
            (Distribution::Auto, _, Place::Frames(_)) => Distribution::Segments,
            (Distribution::Auto, _, Place::Arena(_)) if direction == Direction::Out => Distribution::Segments,
            // Who looks for one neighbour among many stops early: lanes beside it would look in vain.
            (Distribution::Auto, Visit::Without(_), Place::Arena(_)) => Distribution::Vertex,
            (Distribution::Auto, _, Place::Arena(_)) => Distribution::Hybrid,
            (asked, _, _) => asked,
        }
    }

    /// Whether pages may be read in their frames.
    pub(super) fn in_place(&self) -> bool {
        self.plan.in_place
    }
}

/// Room for what describes each launch that may be under way.
fn batch_buffers(gpu: &Gpu, pages: u32) -> Result<Vec<wgpu::Buffer>> {
    let usage = Usage::STORAGE | Usage::COPY_DST;
    (0..BATCHES_MAX).map(|_| gpu.buffer("batch", batch_bytes(pages), usage)).collect()
}

/// What comes within a few microseconds: sleeping and waking up again would take longer.
fn soon(take: &Messages) -> Option<Message> {
    let begun = Instant::now();
    loop {
        match take.try_recv() {
            Ok(message) => return Some(message),
            Err(TryRecvError::Disconnected) => return Some(Message::Stop),
            Err(TryRecvError::Empty) if begun.elapsed() > SPIN => return None,
            Err(TryRecvError::Empty) => std::hint::spin_loop(),
        }
    }
}

/// What an algorithm declares, and what it gets of the device's memory.
fn plan_for(home: &Home, setup: &RunSetup) -> Result<(Declared, DevicePlan)> {
    let RunSetup { algorithm, graph, store, pool, frames, part, exchange, .. } = setup;
    let name = algorithm.name();
    let missing = || Error::Parameter(format!("{name} has no shader: it runs on the CPU device only (`--device cpu`)"));
    let declared = Declared::of(&**algorithm, graph.has_in_lists).ok_or_else(missing)?;
    let visits = algorithm.visits(graph.has_in_lists);
    let mut directions = Vec::new();
    for (direction, _) in visits {
        // One topology serves both ways where the graph is undirected.
        let own = store.topology(direction).expect("algorithms visit topologies that exist").direction();
        if !directions.contains(&own) {
            directions.push(own);
        }
    }
    let exchange_bytes =
        exchange.as_ref().map_or(0, |memory| exchange::device_bytes(home.gpu.caps(), memory, &declared, part));
    let listed = match exchange {
        Some(_) if packs(&declared.attributes, &algorithm.visits(graph.has_in_lists)) => graph.outgoing().len() as u64,
        _ => 0,
    };
    let request = Request {
        outgoing_bytes: if 4 * listed <= home.gpu.caps().binding_bytes_max { 4 * listed } else { 0 },
        device: home.gpu.name(),
        algorithm: name,
        part,
        exchange_bytes,
        attributes: &declared.attributes,
        tables: &algorithm.tables(),
        traversal: declared.traversal,
        weights: algorithm.needs_weights(),
        directions: &directions,
        store,
        slot_bytes: pool.frame_bytes() as u64,
        frames: *frames,
        host_import: home.gpu.caps().host_import,
    };
    let plan = DevicePlan::new(&request, &home.settings, home.gpu.caps())?;
    Ok((declared, plan))
}

/// A queue with room for `entries` parts of long lists.
pub(super) fn hub_queue(gpu: &Gpu, entries: u32) -> Result<wgpu::Buffer> {
    let hubs = gpu.buffer("hubs", hub_bytes(entries), Usage::STORAGE | Usage::COPY_DST)?;
    let header = HubHeader { capacity: entries, ..HubHeader::default() };
    gpu.queue().write_buffer(&hubs, 0, bytemuck::bytes_of(&header));
    Ok(hubs)
}
