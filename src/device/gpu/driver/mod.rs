//! The driver of a GPU device: one thread that takes messages and calls the owners of a run's state.
//!
//! ```text
//!                                  Job                        Job
//!   DriverMessage::Page ─▶ intake ────▶ launches ─▶ dispatch ────▶ intake ─▶ PageDone
//!   DriverMessage::Ahead ─▶ device_loop: supersteps over pages that stay where they are ─▶ answer
//!   DriverMessage::Round ─▶ exchange ─▶ moves
//!   DriverMessage::End ─▶ superstep: vertex phase ─▶ exchange: moves ─▶ superstep: next pages, readback ─▶ answer
//! ```
//!
//! | module | what it owns |
//! | --- | --- |
//! | `intake` | the page arena; pages that are checked, wait for a slot, or are being copied |
//! | `launches` | pages that are ready, launches under way, the buffers that describe them |
//! | `superstep` | the readback of a superstep's end, and the notes of activated vertices |
//! | `exchange` | the memory that is shared with other devices, and the moves |
//! | `device_loop` | tables of resident pages, and the buffers with which the device runs supersteps by itself |
//! | `context` | nothing that changes in a superstep: adapter, attributes, plan; all four are passed it |
//!
//! The five know the context and the values that are handed on ([`batch::Job`], `tally`), and not each other: only this
//! file calls all of them. `initial` and `values` set and read attributes, `likely` names kernels to compile early,
//! `notes` and `timing` are parts of
//! `superstep` and `context`, `message` is the channel's.
//!
//! Created and called by [`GpuDevice`](super::GpuDevice), by messages only. The thread sleeps on one channel; while
//! launches or copies are under way it looks at the device between messages. It does not know the engine, other
//! devices, or how pages are read.

mod batch;
mod context;
mod device_loop;
mod exchange;
mod initial;
mod intake;
mod launches;
mod likely;
mod message;
mod notes;
mod superstep;
mod tally;
mod timing;
mod values;
mod writes;

pub use context::RunSetup;
pub(super) use context::{Planned, plan};
pub(super) use message::{DriverMessage, Ended, Messages, NextPages};
pub(super) use values::ValueChunk;

use super::compose::KernelName;
use super::memory::home::Home;
use crate::device::exchange::Move;
use crate::device::workers::panic_message;
use crate::device::{Ahead, PageDone, RunAhead};
use crate::error::{Error, Result};
use crate::model::activations::Activations;
use crate::model::algorithm::{Scalars, State, Step, Summary, Visit};
use context::Context;
use crossbeam_channel::{RecvTimeoutError, Sender, TryRecvError};
use device_loop::DeviceLoop;
use exchange::Exchange;
use intake::{Arrived, Intake, Taken};
use launches::Launches;
use notes::Notes;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use superstep::Superstep;
use tokio::sync::mpsc;
use topostream_formats::Direction;

/// How long the driver looks for messages before it sleeps.
const SPIN: Duration = Duration::from_micros(60);
/// How long it does so before the first superstep, if that is encoded.
const SPIN_FIRST: Duration = Duration::from_millis(2);
/// How long the driver sleeps between looks at the device while launches or copies are under way.
const LOOK: Duration = Duration::from_micros(30);
/// How long the device runs supersteps before it answers, so that the engine can look whether the run is cancelled.
const TURN: Duration = Duration::from_millis(50);
/// How long the end of a run waits for what the device still does.
const SETTLE: Duration = Duration::from_secs(20);

/// The state of the driver's thread.
pub(super) struct Driver {
    context: Context,
    intake: Intake,
    launches: Launches,
    superstep: Superstep,
    device_loop: DeviceLoop,
    /// What the last superstep has found.
    found: Summary,
    /// None for a device that is alone.
    exchange: Option<Exchange>,
    /// Takes pages that are done; `None` when the run has failed.
    done: mpsc::UnboundedSender<Option<Vec<PageDone>>>,
    failed: bool,
    /// Whether it has been told to stop, which may be in the middle of a superstep.
    stopped: bool,
    /// Why the run has failed, until somebody has been told.
    failure: Option<Error>,
}

impl Driver {
    /// Composes and allocates. `activations` are noted of the device's own vertices, where they are wanted;
    /// `messages` is the sending end of the channel that the driver [runs](Self::run) on.
    ///
    /// # Errors
    /// [`Error::Shader`]; what the device says.
    pub fn new(
        home: Home,
        setup: RunSetup,
        planned: Planned,
        activations: Option<Arc<Activations>>,
        messages: Sender<DriverMessage>,
        done: mpsc::UnboundedSender<Option<Vec<PageDone>>>,
    ) -> Result<Self> {
        let mut context = Context::new(home, &setup, planned)?;
        context.prepare_kernels(&likely::kernels(&context));
        let RunSetup { workers, exchange, runs_ahead, .. } = setup;
        let exchange = exchange.map(|memory| Exchange::new(&mut context, memory)).transpose()?;
        let arena = context.home.arena.take().expect("prepared with the run");
        let rows = context.home.rows.take().expect("prepared with the run");
        let launches = Launches::new(&context, rows, messages.clone())?;
        let first = context.part.own_words().start;
        let notes = |noted: Arc<Activations>| -> Result<_> {
            let notes = Notes::new(Arc::clone(&noted), first, Arc::clone(&workers), context.gpu().name())?;
            Ok((noted, notes))
        };
        let superstep = Superstep::new(activations.map(notes).transpose()?);
        let mut device_loop = DeviceLoop::new(&mut context, runs_ahead);
        device_loop.make_ready(&mut context, (&arena, launches.rows()))?;
        let intake = Intake::new(arena, workers, messages);
        let (failed, stopped, failure) = (false, false, None);
        // The commands that set first values are submitted with those of the first supersteps.
        device_loop.pages_unknown = device_loop.has_start();
        let found = if device_loop.has_start() { initial::found(&context) } else { Summary::default() };
        Ok(Self { context, intake, launches, superstep, device_loop, found, exchange, done, failed, stopped, failure })
    }

    /// The number of pages that the arena keeps.
    pub fn pages_kept(&self) -> u64 {
        self.context.plan.slots.saturating_sub(self.context.plan.stream_slots).into()
    }

    /// Whether the first supersteps set the run's first values, so that nobody has to ask for it.
    pub fn is_initialised(&self) -> bool {
        self.device_loop.has_start()
    }

    /// Works until it is told to stop; returns the adapter. A panic ends the run with an error, and not the thread:
    /// questions are still answered, and the adapter is not let go of while it reads the page buffer.
    pub fn run(mut self, take: &Messages) -> Home {
        while let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.work(take))) {
            let message = format!("its thread panicked: {}", panic_message(&*panic));
            let fault = self.context.gpu().health().fault("device driver", &message);
            self.fail(fault.into());
        }
        self.settle()
    }

    fn work(&mut self, take: &Messages) {
        while !self.stopped {
            // A run that begins with supersteps of its own begins at once.
            let spin = if self.device_loop.has_start() { SPIN_FIRST } else { SPIN };
            let message = match soon(take, spin) {
                Some(message) => Some(message),
                None if self.is_idle() => Some(take.recv().unwrap_or(DriverMessage::Stop)),
                None => match take.recv_timeout(LOOK) {
                    Err(RecvTimeoutError::Timeout) => None,
                    message => Some(message.unwrap_or(DriverMessage::Stop)),
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

    fn handle(&mut self, message: DriverMessage, take: &Messages) {
        let waits = matches!(message, DriverMessage::Ahead(..) | DriverMessage::Stop);
        if !waits && let Err(error) = self.give_up_start() {
            self.fail(error);
        }
        // An answer that nobody waits for any more is no error.
        match message {
            DriverMessage::Initialise(reply) => {
                let result = self.sound().and_then(|()| self.initialise());
                drop(reply.send(self.explained(result)));
            }
            DriverMessage::Begin(step) => self.begin(&step),
            DriverMessage::Defer(direction, bits) => {
                if let Err(error) = self.sound().and_then(|()| superstep::defer(&mut self.context, direction, &bits)) {
                    self.fail(error);
                }
            }
            DriverMessage::Ahead(step, reply) => {
                let result = self.sound().and_then(|()| self.ahead(&step));
                self.failed |= result.is_err();
                drop(reply.send(self.explained(result)));
            }
            DriverMessage::Missing(mut pages, reply) => {
                pages.retain(|&page| !self.intake.has(&self.context, page));
                drop(reply.send(pages));
            }
            DriverMessage::Resident(pages, policy, reply) => {
                let (ready, others) = self.intake.start_resident(&self.context, pages, policy);
                ready.into_iter().for_each(|job| self.launches.add(&self.context, job));
                drop(reply.send(others));
            }
            DriverMessage::Page(task) => {
                let has_row = self.launches.has_row(&task);
                let taken = self.intake.take(&self.context, task, has_row);
                self.hand_on(taken);
            }
            DriverMessage::Checked(job, result) => {
                let taken = self.intake.checked(&self.context, job, result);
                self.hand_on(taken);
            }
            DriverMessage::Completed(number) => {
                let jobs = self.launches.completed(number);
                let done = self.intake.take_back(&self.context, jobs);
                self.report(done);
            }
            DriverMessage::Round(moves, reply) => {
                let result = self.launch_all(take).and_then(|()| self.round(&moves));
                self.failed |= result.is_err();
                self.collect(take);
                drop(reply.send(self.explained(result)));
            }
            DriverMessage::Receive(moves) => {
                if let Err(error) = self.launch_all(take).and_then(|()| self.receive(&moves)) {
                    self.fail(error);
                }
            }
            DriverMessage::End(told, reply) => {
                let result = self.launch_all(take).and_then(|()| self.end(Some(KernelName::VertexPhase), &told));
                self.failed |= result.is_err();
                self.collect(take);
                drop(reply.send(self.explained(result)));
            }
            DriverMessage::Why(reply) => drop(reply.send(self.failure())),
            DriverMessage::Stop => self.stopped = true,
            DriverMessage::Download(_)
            | DriverMessage::Save(_)
            | DriverMessage::Frontier(..)
            | DriverMessage::Restore(..) => {
                self.handle_values(message);
            }
        }
    }

    /// Handles the messages that read and set attributes between supersteps and at the end.
    fn handle_values(&mut self, message: DriverMessage) {
        match message {
            DriverMessage::Download(reply) => {
                let last = self.sound().and_then(|()| values::send(&self.context, &reply));
                let last = last.and_then(|()| self.superstep.finish_notes(&self.context));
                drop(reply.send(self.explained(last.map(|()| None))));
            }
            DriverMessage::Save(reply) => {
                let last = self.sound().and_then(|()| values::send(&self.context, &reply));
                let last = last.and_then(|()| self.superstep.settle_notes(&self.context));
                drop(reply.send(self.explained(last.map(|()| None))));
            }
            DriverMessage::Frontier(number, reply) => {
                let words = self.sound().and_then(|()| values::frontier(&self.context, number));
                drop(reply.send(self.explained(words)));
            }
            DriverMessage::Restore(next, state, reply) => {
                let result = self.sound().and_then(|()| self.restore(&next, &state));
                // Whoever asked has the state to itself again when it has the answer.
                drop(state);
                drop(reply.send(self.explained(result)));
            }
            _ => unreachable!("all other messages are handled by the caller"),
        }
    }

    // ---- Pages ------------------------------------------------------------------------------------------------------

    /// Hands on a page that intake has taken.
    fn hand_on(&mut self, taken: Taken) {
        match taken {
            Taken::Ready(job) => self.launches.add(&self.context, job),
            Taken::Done(done) => self.report(vec![done]),
            Taken::Later => {}
        }
    }

    /// Hands on pages whose copies are done.
    fn hand_on_all(&mut self, Arrived { ready, done }: Arrived) {
        ready.into_iter().for_each(|job| self.launches.add(&self.context, job));
        self.report(done);
    }

    fn report(&self, done: Vec<PageDone>) {
        if !done.is_empty() {
            self.done.send(Some(done)).ok();
        }
    }

    /// Does what can be done without waiting.
    fn advance(&mut self) -> Result<()> {
        self.context.gpu().poll()?;
        let arrived = self.intake.advance(&mut self.context)?;
        self.hand_on_all(arrived);
        self.launches.launch(&mut self.context)
    }

    fn is_idle(&self) -> bool {
        !self.launches.is_running() && !self.intake.is_copying()
    }

    /// Works until everything of this superstep has been launched. What is submitted afterwards runs after it.
    fn launch_all(&mut self, take: &Messages) -> Result<()> {
        loop {
            self.sound()?;
            if self.stopped {
                return Err(self.context.gpu().health().fault("a run", "it was given up").into());
            }
            self.advance()?;
            if self.intake.pending() == 0 && !self.launches.is_waiting() {
                return Ok(());
            }
            if let Some(message) = soon(take, SPIN).or_else(|| take.recv_timeout(LOOK).ok()) {
                self.handle(message, take);
            }
        }
    }

    /// After a wait for the device: takes back what the launches of the superstep held.
    fn collect(&mut self, take: &Messages) {
        while !self.stopped && self.launches.is_running() && self.context.gpu().poll().is_ok() {
            match take.recv_timeout(LOOK) {
                Ok(message) => self.handle(message, take),
                Err(_) => continue,
            }
        }
    }

    // ---- Supersteps -------------------------------------------------------------------------------------------------

    fn initialise(&mut self) -> Result<(Scalars, NextPages)> {
        self.set_first()?;
        if self.device_loop.is_likely(&self.context) && self.context.declared.traversal {
            // What a readback would say is known.
            initial::plant_levels(&self.context);
            self.found = initial::found(&self.context);
            self.device_loop.pages_unknown = true;
            return Ok((Scalars::default(), NextPages::new()));
        }
        let (end, next_pages) = self.end(Some(KernelName::Initialise), &[])?;
        Ok((end.summary.totals, next_pages))
    }

    fn set_first(&mut self) -> Result<()> {
        initial::set(&mut self.context)?;
        superstep::set(&mut self.context, superstep::before_first());
        Ok(())
    }

    /// Sets first values, if the commands that do so were encoded and are not of use.
    fn give_up_start(&mut self) -> Result<()> {
        if self.device_loop.give_up_start() {
            self.set_first()?;
            initial::plant_levels(&self.context);
        }
        Ok(())
    }

    fn restore(&mut self, next: &Step, state: &State) -> Result<NextPages> {
        values::restore(&self.context, next, state)?;
        // As if the superstep before had just ended.
        superstep::set(&mut self.context, Step { superstep: next.superstep.wrapping_sub(1), ..*next });
        Ok(self.end(None, &[])?.1)
    }

    /// Runs supersteps from this one on, as long as the device can do so by itself.
    fn ahead(&mut self, step: &Step) -> Result<(RunAhead, Option<NextPages>)> {
        if !self.device_loop.starts_with(step) {
            self.give_up_start()?;
        }
        let (arena, rows) = (self.intake.arena(), self.launches.rows());
        let ahead = self.device_loop.run(&mut self.context, (arena, rows), step, &self.found)?;
        if let Some(last) = ahead.supersteps.last() {
            self.context.home.rest();
            self.found = last.end.summary;
            return Ok((ahead, None));
        }
        if self.device_loop.pages_unknown {
            return Ok((ahead, Some(self.end(None, &[])?.1)));
        }
        self.paced(step)
    }

    /// The same, but the host chooses each superstep: it has to see what the one before has found.
    fn paced(&mut self, step: &Step) -> Result<(RunAhead, Option<NextPages>)> {
        let (begun, mut next, mut next_pages, mut supersteps) = (Instant::now(), Some(*step), None, Vec::new());
        while let Some(step) = next.filter(|_| begun.elapsed() < TURN) {
            let since = Instant::now();
            let buffers = (self.intake.arena(), self.launches.rows(), self.launches.hubs());
            let Some(pages) = self.device_loop.submit(&mut self.context, buffers, &step)? else { break };
            let mut end = match pages.done {
                Some((end, hubs_wanted)) => {
                    self.make_room_for_hubs(hubs_wanted);
                    self.found = end.summary;
                    end
                }
                None => {
                    let (end, pages_of_next) = self.end(Some(KernelName::VertexPhase), &[])?;
                    next_pages = Some(pages_of_next);
                    end
                }
            };
            end.work.edges += pages.edges;
            end.transfer.resident_pages += pages.pages;
            end.transfer.batches += pages.launches;
            next = self.context.algorithm.next(&self.context.graph, &step, &end.summary);
            let wall_ns = since.elapsed().as_nanos() as u64;
            supersteps.push(Ahead { step, end, pages: pages.pages, wall_ns });
        }
        Ok((RunAhead { supersteps, next }, next_pages))
    }

    fn begin(&mut self, step: &Step) {
        self.launches.begin();
        superstep::begin(&mut self.context, step);
    }

    /// Runs the kernels over vertices and pages that end a superstep (or a beginning), with moves between them, and
    /// reads back the results. Without a phase no values change: a traversal has its census, and nothing else happens.
    fn end(&mut self, phase: Option<KernelName>, told: &[Move]) -> Ended {
        let mut ending = self.superstep.encode(&mut self.context, phase)?;
        if !told.is_empty() {
            shared(&self.exchange, &self.context)?.encode(&mut self.context, &mut ending.encoder, told)?;
        }
        let mut tally = self.intake.take_tally();
        tally.add(self.launches.take_tally());
        self.device_loop.pages_unknown = false;
        let found = self.superstep.finish(&mut self.context, ending, tally)?;
        if !told.is_empty() {
            shared(&self.exchange, &self.context)?.bring_out(&self.context, told)?;
        }
        self.make_room_for_hubs(found.hubs_wanted);
        self.found = found.end.summary;
        Ok((found.end, found.next_pages))
    }

    /// Has a longer queue of long lists, if a launch had more parts of them than it holds.
    fn make_room_for_hubs(&mut self, wanted: u32) {
        if self.launches.make_room_for_hubs(self.context.gpu(), wanted) {
            self.device_loop.forget_bound();
        }
    }

    // ---- Moves ------------------------------------------------------------------------------------------------------

    /// Makes the moves of a round, in order. What they write can be read by other devices when this returns.
    fn round(&mut self, moves: &[Move]) -> Result<()> {
        shared(&self.exchange, &self.context)?.round(&mut self.context, moves)
    }

    /// Makes moves that write nothing to the exchange memory, without waiting for them.
    fn receive(&mut self, moves: &[Move]) -> Result<()> {
        shared(&self.exchange, &self.context)?.receive(&mut self.context, moves)
    }

    // ---- Errors and the end -----------------------------------------------------------------------------------------

    fn explained<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|error| self.context.gpu().explained(error))
    }

    /// Whether the device is as it should be, and everything so far has gone well.
    fn sound(&mut self) -> Result<()> {
        if self.failed { Err(self.failure()) } else { Ok(self.context.gpu().check()?) }
    }

    /// Ends the run. The engine may be waiting for pages, or may have all of them back already: it is woken up, and is
    /// told why whatever it asks for next.
    fn fail(&mut self, error: Error) {
        if !std::mem::replace(&mut self.failed, true) {
            self.failure = Some(self.context.gpu().explained(error));
            self.done.send(None).ok();
        }
    }

    /// Why the run has ended: in full for the first who asks.
    fn failure(&mut self) -> Error {
        let again = || self.context.gpu().health().fault("a run", "it has failed before").into();
        self.failure.take().unwrap_or_else(again)
    }

    /// Waits until nothing reads the page buffer any more, and returns the adapter with what outlives the run.
    fn settle(mut self) -> Home {
        let deadline = Instant::now() + SETTLE;
        while self.context.gpu().check().is_ok() && !self.is_idle() && Instant::now() < deadline {
            let gpu = self.context.gpu();
            let idle = gpu.wait(gpu.queue().submit([]), Duration::from_secs(1)).unwrap_or(true);
            if let Ok(arrived) = self.intake.poll_copies(&mut self.context) {
                self.hand_on_all(arrived);
            }
            if idle {
                break;
            }
        }
        let Self { mut context, intake, launches, device_loop, failed, .. } = self;
        context.home.rest();
        context.home.kernels.save(&context.home.gpu);
        context.home.left = device_loop.into_left();
        let (launched, rows) = launches.into_parts();
        context.home.rows = Some(rows);
        context.home.arena = intake.into_arena(launched, failed);
        context.home
    }
}

/// The exchange of a run that is shared.
fn shared<'a>(exchange: &'a Option<Exchange>, context: &Context) -> Result<&'a Exchange> {
    exchange.as_ref().ok_or_else(|| {
        let message = "a round without memory that is shared with other devices";
        context.gpu().health().fault("exchange", message).into()
    })
}

/// A message that comes within a few microseconds: sleeping and waking up again would take longer.
fn soon(take: &Messages, spin: Duration) -> Option<DriverMessage> {
    let begun = Instant::now();
    loop {
        match take.try_recv() {
            Ok(message) => return Some(message),
            Err(TryRecvError::Disconnected) => return Some(DriverMessage::Stop),
            Err(TryRecvError::Empty) if begun.elapsed() > spin => return None,
            Err(TryRecvError::Empty) => std::hint::spin_loop(),
        }
    }
}
