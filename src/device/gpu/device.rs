//! The GPU device for the engine: sends requests to the driver's thread, and waits for replies.

use super::driver::{self, Driver, DriverMessage, Ended, JointDone, NextPages, RunSetup, ValueChunk};
use super::memory::home::Home;
use crate::device::exchange::Moves;
use crate::device::joint::{JointEnd, JointPart};
use crate::device::{Device, Member, PageDone, PageTask, RunAhead, StepEnd};
use crate::error::{Error, GpuError, Result};
use crate::model::Part;
use crate::model::activations::Activations;
use crate::model::algorithm::{Complete, Graph, Scalars, State, Step, Visit};
use crate::model::attributes::Attribute;
use crate::pages::PagePlan;
use crate::pages::cache::Policy;
use crate::pages::fetch::PageRef;
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use topostream_formats::{PageId, Store};

/// How long to poll for a reply before sleeping: waking takes as long. See [`Gpu::poll_time`].
const SPIN: Duration = Duration::from_micros(60);

/// How long to poll for the reply to a search in device memory before sleeping.
const SPIN_AHEAD: Duration = Duration::from_millis(3);
/// Maximum number of downloaded pieces of attributes that wait to be received: the driver has few buffers for them.
const PIECES_AHEAD: usize = 2;

/// A GPU for one run.
pub struct GpuDevice {
    name: String,
    store: Arc<Store>,
    graph: Arc<Graph>,
    attributes: Vec<Attribute>,
    activations: Option<Arc<Activations>>,
    traversal: bool,
    part: Part,
    bordering: Option<u64>,
    next_pages: NextPages,
    /// Pages that the arena keeps.
    pages_kept: u64,
    runs_alone: bool,
    /// Whether the driver sets the initial values with the first superstep, without a message.
    is_initialised: bool,
    messages: Sender<DriverMessage>,
    /// Pending replies: about resident pages, to an exchange, to the end of a superstep, and to a part of a joint
    /// superstep.
    starting: Option<Receiver<Vec<PageRef>>>,
    exchange: Option<Receiver<Result<()>>>,
    ending: Option<Receiver<Ended>>,
    joint: Option<Receiver<JointDone>>,
    /// Whether all pages of the superstep are in device memory, in a run that is shared with others.
    has_all: bool,
    /// Completed pages; `None` when the run has failed.
    done: mpsc::UnboundedReceiver<Option<Vec<PageDone>>>,
    /// How long to poll for a reply, and for the reply to a search in device memory, before sleeping.
    polls: [Duration; 2],
    driver: Option<JoinHandle<Home>>,
    home: Arc<Mutex<Option<Home>>>,
}

impl GpuDevice {
    /// Prepares an open adapter for a run: plans its memory, allocates, and starts the driver. After the run the
    /// adapter is returned to `keep`, with the pages and degrees that it holds.
    ///
    /// # Errors
    /// [`Error::DeviceMemory`] with the figures if the run does not fit, [`Error::Shader`], [`Error::Parameter`].
    pub fn new(home: Home, keep: Arc<Mutex<Option<Home>>>, setup: RunSetup) -> Result<Self> {
        let (messages, take) = unbounded();
        let (report, done) = mpsc::unbounded_channel();
        let polls = [SPIN, SPIN_AHEAD].map(|time| home.gpu().poll_time(time));
        let (name, store, graph) = (home.name(), Arc::clone(&setup.store), Arc::clone(&setup.graph));
        let attributes = setup.declaration.attributes.clone();
        let (wanted, traversal) = (setup.declaration.keeps_activations, setup.declaration.traversal);
        let part = setup.part.clone();
        let activations = wanted.then(|| Arc::new(Activations::new(&setup.part.own)));
        let planned = match driver::plan(&home, &setup) {
            Ok(planned) => planned,
            // The adapter stays open for a run that fits.
            Err(error) => {
                *keep.lock().expect("nothing panics while it is held") = Some(home);
                return Err(error);
            }
        };
        let bordering = planned.border.as_ref().map(|border| border.vertices().len() as u64);
        let driver = Driver::new(home, setup, planned, activations.clone(), messages.clone(), report)?;
        let (pages_kept, is_initialised) = (driver.pages_kept(), driver.is_initialised());
        let runs_alone = driver.runs_alone();
        let driver = std::thread::Builder::new().name("gpu driver".into()).spawn(move || driver.run(&take));
        let driver = driver.map_err(|error| stopped(&name, &format!("its thread cannot start: {error}")))?;
        let (next_pages, starting, exchange, ending, joint) = (NextPages::new(), None, None, None, None);
        let driver = Some(driver);
        Ok(Self {
            name,
            store,
            graph,
            attributes,
            activations,
            traversal,
            part,
            bordering,
            next_pages,
            pages_kept,
            runs_alone,
            is_initialised,
            messages,
            exchange,
            starting,
            has_all: false,
            ending,
            joint,
            done,
            polls,
            driver,
            home: keep,
        })
    }

    /// Sends a request to the driver, and waits for the reply.
    fn ask<T>(&self, question: impl FnOnce(Sender<T>) -> DriverMessage) -> Result<T> {
        self.wait(&self.begin_asking(1, question)?)
    }

    /// Sends a request that takes a millisecond or two; sleeping meanwhile would add a tenth.
    fn ask_awake<T>(&self, question: impl FnOnce(Sender<T>) -> DriverMessage) -> Result<T> {
        self.wait_awake(&self.begin_asking(1, question)?)
    }

    /// Waits for a reply that takes a millisecond or two.
    fn wait_awake<T>(&self, answer: &Receiver<T>) -> Result<T> {
        let begun = Instant::now();
        while begun.elapsed() < self.polls[1] {
            if let Ok(answer) = answer.try_recv() {
                return Ok(answer);
            }
            std::thread::yield_now();
        }
        self.wait(answer)
    }

    /// Sends a request to the driver, which may send `ahead` replies before they are received.
    fn begin_asking<T>(&self, ahead: usize, question: impl FnOnce(Sender<T>) -> DriverMessage) -> Result<Receiver<T>> {
        let (reply, answer) = bounded(ahead);
        self.messages.send(question(reply)).map_err(|_| self.gone())?;
        Ok(answer)
    }

    /// Waits for a reply of the driver.
    fn wait<T>(&self, answer: &Receiver<T>) -> Result<T> {
        // Most replies come immediately.
        let begun = Instant::now();
        while begun.elapsed() < self.polls[0] {
            if let Ok(answer) = answer.try_recv() {
                return Ok(answer);
            }
            std::hint::spin_loop();
        }
        answer.recv().map_err(|_| self.gone())
    }

    /// A zeroed state for the values of all vertices, with the device's record of when vertices were first active.
    fn whole(&self, traversal: bool) -> State {
        let whole = Part::whole(self.graph.vertices);
        let state = State::new(Arc::clone(&self.graph), &self.attributes, traversal, whole);
        state.with_noted(self.activations.clone())
    }

    /// Copies the values of the device's own vertices to a state.
    fn bring(
        &self,
        how: impl FnOnce(Sender<Result<Option<ValueChunk>>>) -> DriverMessage,
        state: &State,
    ) -> Result<()> {
        let pieces = self.begin_asking(PIECES_AHEAD, how)?;
        // As in `values::levels`, on several threads.
        rayon::in_place_scope(|scope| -> Result<()> {
            while let Some(piece) = self.wait(&pieces)?? {
                scope.spawn(move |_| state.attributes.take(piece.attribute, &piece.vertices, piece.words()));
            }
            Ok(())
        })?;
        if let (Some(noted), Some(all)) = (self.activations.as_deref(), state.activations())
            && !std::ptr::eq(noted, all)
        {
            noted.copy_to(all);
        }
        Ok(())
    }

    /// The reason for a missing reply: the driver's error, if its thread still runs.
    fn gone(&self) -> Error {
        let ended = || stopped(&self.name, "its thread has ended");
        let (reply, answer) = bounded(1);
        if self.messages.send(DriverMessage::Why(reply)).is_err() {
            return ended();
        }
        answer.recv().unwrap_or_else(|_| ended())
    }
}

impl Device for GpuDevice {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn lanes(&self) -> u32 {
        1
    }

    fn initialise(&mut self) -> Result<Scalars> {
        if self.is_initialised {
            return Ok(Scalars::default());
        }
        let (totals, next_pages) = self.ask_awake(DriverMessage::Initialise)??;
        self.next_pages = next_pages;
        Ok(totals)
    }

    fn pages(&mut self, step: &Step) -> Result<PagePlan> {
        if step.visit == Visit::None {
            return Ok(PagePlan::none());
        }
        let topology = self.store.topology(step.direction).expect("algorithms visit topologies that exist");
        let direction = topology.direction();
        let page_ref = |page| PageRef { direction, page: PageId(page) };
        let all = 0..topology.page_count();
        Ok(match self.next_pages.get(&(step.direction, step.visit)) {
            None => PagePlan::whole(all.map(page_ref).collect(), Policy::Scan),
            Some(bits) => {
                let set = |&page: &u32| bits[page as usize / 32] >> (page % 32) & 1 != 0;
                PagePlan::whole(all.filter(set).map(page_ref).collect(), Policy::Lru)
            }
        })
    }

    fn begin(&mut self, step: &Step) -> Result<()> {
        self.messages.send(DriverMessage::Begin(*step)).map_err(|_| self.gone())
    }

    fn run_ahead(&mut self, step: &Step) -> Result<RunAhead> {
        let (ahead, next_pages) = self.ask_awake(|reply| DriverMessage::Ahead(*step, reply))??;
        if let Some(next_pages) = next_pages {
            self.next_pages = next_pages;
        }
        Ok(ahead)
    }

    fn defer(&mut self, step: &Step, pages: &[PageRef]) -> Result<()> {
        let topology = self.store.topology(step.direction).expect("algorithms visit topologies that exist");
        let mut bits = vec![0; topology.page_count().div_ceil(32).max(1) as usize];
        pages.iter().for_each(|page| bits[page.page.index() / 32] |= 1 << (page.page.0 % 32));
        self.messages.send(DriverMessage::Defer(step.direction, bits)).map_err(|_| self.gone())
    }

    fn pages_kept(&self) -> u64 {
        self.pages_kept
    }

    fn runs_alone(&self) -> bool {
        self.runs_alone
    }

    fn missing(&mut self, pages: Vec<PageRef>) -> Vec<PageRef> {
        self.ask(|reply| DriverMessage::Missing(pages, reply)).unwrap_or_default()
    }

    fn start_resident(&mut self, pages: Vec<PageRef>, policy: Policy) -> Vec<PageRef> {
        self.ask(|reply| DriverMessage::Resident(pages, policy, reply)).unwrap_or_default()
    }

    fn submit(&mut self, task: PageTask) {
        // A driver that has stopped returns an error to the next request.
        self.messages.send(DriverMessage::Page(task)).ok();
    }

    fn poll_done(&mut self, context: &mut Context<'_>, done: &mut Vec<PageDone>) -> Poll<Result<()>> {
        self.done.poll_recv(context).map(|report| {
            let mut report = report.ok_or_else(|| self.gone())?;
            loop {
                match report {
                    Some(pages) => done.extend(pages),
                    None => return Err(self.ask(DriverMessage::Why)?),
                }
                match self.done.try_recv() {
                    Ok(more) => report = more,
                    Err(_) => return Ok(()),
                }
            }
        })
    }

    fn end(&mut self, step: &Step) -> Result<StepEnd> {
        if self.ending.is_none() {
            self.begin_end(step, Moves::default())?;
        }
        let answer = self.ending.take().expect("just begun");
        // Nothing is read from disk meanwhile.
        let awake = std::mem::take(&mut self.has_all);
        let (end, next_pages) = if awake { self.wait_awake(&answer) } else { self.wait(&answer) }??;
        self.next_pages = next_pages;
        Ok(end)
    }

    fn save(&mut self, next: &Step, look: &mut dyn FnMut(&State, Range<u64>)) -> Result<()> {
        let state = self.whole(self.traversal);
        self.contribute_before(next, &state)?;
        look(&state, 0..state.graph.vertices);
        Ok(())
    }

    fn restore(&mut self, next: &Step, load: &mut dyn FnMut(&State, &Complete<'_>) -> Result<()>) -> Result<()> {
        let state = Arc::new(self.whole(self.traversal));
        load(&state, &|_, _| Ok(()))?;
        self.go_on_from(next, &state)
    }

    fn finish(mut self: Box<Self>) -> Result<State> {
        let state = self.whole(false);
        self.activations = None;
        self.contribute(&state)?;
        Ok(state)
    }
}

impl Member for GpuDevice {
    fn bordering(&self) -> Option<u64> {
        self.bordering
    }

    fn begin_exchange(&mut self, moves: Moves) -> Result<()> {
        self.exchange = Some(self.begin_asking(1, |reply| DriverMessage::Exchange(moves, reply))?);
        Ok(())
    }

    fn end_exchange(&mut self) -> Result<()> {
        // The exchange at the end of a superstep needs no wait: the driver takes before it handles another message.
        let answer = self.exchange.take();
        answer.map_or(Ok(()), |answer| self.wait(&answer)?)
    }

    fn begin_end(&mut self, _step: &Step, moves: Moves) -> Result<()> {
        self.ending = Some(self.begin_asking(1, |reply| DriverMessage::End(moves, reply))?);
        Ok(())
    }

    fn ends_by_itself(&self) -> bool {
        true
    }

    fn runs_jointly(&self) -> bool {
        true
    }

    fn begin_start(&mut self, pages: Vec<PageRef>, policy: Policy) -> Option<Vec<PageRef>> {
        self.starting = self.begin_asking(1, |reply| DriverMessage::Resident(pages, policy, reply)).ok();
        None
    }

    fn end_start(&mut self) -> Vec<PageRef> {
        let left = self.starting.take().and_then(|answer| self.wait(&answer).ok()).unwrap_or_default();
        self.has_all = left.is_empty();
        left
    }

    fn begin_joint(&mut self, part: JointPart) -> Result<()> {
        self.joint = Some(self.begin_asking(1, |reply| DriverMessage::Joint(part, reply))?);
        Ok(())
    }

    fn end_joint(&mut self) -> Result<JointEnd> {
        let Some(answer) = self.joint.take() else { return Ok(JointEnd::default()) };
        let (end, next_pages) = self.wait_awake(&answer)??;
        if let Some(next_pages) = next_pages {
            self.next_pages = next_pages;
        }
        Ok(end)
    }

    fn contribute(&mut self, state: &State) -> Result<()> {
        self.bring(DriverMessage::Download, state)
    }

    fn contribute_before(&mut self, next: &Step, state: &State) -> Result<()> {
        if self.traversal {
            let words = self.ask(|reply| DriverMessage::Frontier(next.superstep, reply))??;
            state.frontier(next.superstep).set_words((self.part.own_words().start / 32) as usize, &words);
        }
        self.bring(DriverMessage::Save, state)
    }

    fn go_on_from(&mut self, next: &Step, state: &Arc<State>) -> Result<()> {
        if let (Some(noted), Some(all)) = (&self.activations, state.activations()) {
            all.copy_to(noted);
        }
        self.next_pages = self.ask(|reply| DriverMessage::Restore(*next, Arc::clone(state), reply))??;
        Ok(())
    }
}

impl Drop for GpuDevice {
    fn drop(&mut self) {
        self.messages.send(DriverMessage::Stop).ok();
        if let Some(Ok(home)) = self.driver.take().map(JoinHandle::join)
            && home.is_sound()
        {
            *self.home.lock().expect("nothing panics while it is held") = Some(home);
        }
    }
}

/// The error of a driver whose thread does not run.
fn stopped(device: &str, message: &str) -> Error {
    Error::Gpu(GpuError::Fault { device: device.into(), what: "device driver".into(), message: message.into() })
}
