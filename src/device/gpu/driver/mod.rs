//! The driver of a GPU device: one thread that takes messages and calls the owners of a run's state.
//!
//! ```text
//!                                  Job                        Job
//!   DriverMessage::Page ─▶ intake ────▶ launches ─▶ dispatch ────▶ intake ─▶ PageDone
//!   DriverMessage::Ahead ─▶ device_loop: supersteps over pages that stay where they are ─▶ answer
//!   DriverMessage::Joint ─▶ device_loop, exchange: supersteps together with other devices, part by part
//!   DriverMessage::Exchange ─▶ exchange ─▶ moves
//!   DriverMessage::End ─▶ superstep: vertex phase ─▶ exchange: moves ─▶ superstep: next pages, readback ─▶ answer
//! ```
//!
//! | module | what it owns |
//! | --- | --- |
//! | `intake` | the page arena; pages that are being checked, wait for a slot, or are being copied |
//! | `launches` | ready pages, launches in flight, the buffers that describe them; `inflation`: packed ones |
//! | `superstep` | the end of a superstep, and the record of activation levels |
//! | `exchange` | the memory shared with other devices, and the moves |
//! | `device_loop` | what is resident, and the buffers for supersteps that the device runs without the host |
//! | `context` | what no superstep changes: adapter, attributes, memory; passed to the other five |
//! | `executor` | the queues: it turns plans into commands, times and reads them; `kept`, `timing`: what it keeps |
//!
//! All work for the device is a plan (`plan`): passes of kernels, copies and reads, as data. The first five make plans
//! and hand them to the executor, which is the only one that submits (docs/decisions/0040); `printed` prints them. The
//! five know the context and the values passed between them ([`batch::Job`], `tally`), but not each other: only this
//! file, `supersteps` and `overlap` (with `phases`), the driver's part in supersteps, call all of them. `initial` and
//! `values` set and read attributes, `likely` lists kernels to compile early, `notes` belongs to `superstep`, `message`
//! to the channel.
//!
//! Created by [`GpuDevice`](super::GpuDevice) and called through messages only. The thread sleeps on one channel; while
//! launches or copies are in flight it polls the device between messages. It does not know the engine, other devices,
//! or how pages are read.

mod batch;
mod context;
mod device_loop;
mod exchange;
mod executor;
mod inflation;
mod initial;
mod intake;
mod kept;
mod launches;
mod likely;
mod message;
mod notes;
mod overlap;
mod parts;
mod phases;
mod plan;
mod printed;
mod superstep;
mod supersteps;
mod tally;
mod timing;
mod values;
mod writes;

pub use context::RunSetup;
pub(super) use context::{Planned, plan};
pub(super) use message::{DriverMessage, Ended, JointDone, Messages, NextPages};
pub use printed::{PlanOf, plan_text};
pub(super) use values::ValueChunk;

use super::memory::home::Home;
use crate::device::PageDone;
use crate::device::workers::panic_message;
use crate::error::{Error, Result};
use crate::model::activations::Activations;
use crate::model::algorithm::Summary;
use crate::pages::cache::Policy;
use crate::pages::fetch::PageRef;
use context::Context;
use crossbeam_channel::{RecvTimeoutError, Sender, TryRecvError};
use device_loop::DeviceLoop;
use exchange::Exchange;
use executor::LOOK;
use intake::{Arrived, Intake, Taken};
use launches::Launches;
use notes::Notes;
use phases::Overlap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use superstep::Superstep;
use tokio::sync::mpsc;

/// How long the driver polls for messages before it sleeps.
const SPIN: Duration = Duration::from_micros(60);
/// How long the driver polls before a first superstep that is already encoded.
const SPIN_FIRST: Duration = Duration::from_millis(2);
/// How long the end of a run waits for the device to become idle.
const SETTLE: Duration = Duration::from_secs(20);

/// The state of the driver's thread.
pub(super) struct Driver {
    context: Context,
    intake: Intake,
    launches: Launches,
    superstep: Superstep,
    device_loop: DeviceLoop,
    /// The results of the last superstep.
    found: Summary,
    /// None for a single device.
    exchange: Option<Exchange>,
    overlap: Overlap,
    /// Receives completed pages; `None` when the run has failed.
    done: mpsc::UnboundedSender<Option<Vec<PageDone>>>,
    failed: bool,
    /// Whether `Stop` has arrived, possibly in the middle of a superstep.
    stopped: bool,
    /// Why the run failed, until it has been reported.
    failure: Option<Error>,
}

impl Driver {
    /// Composes and allocates. `activations`, if given, records when the device's own vertices become active;
    /// `messages` is the sending end of the channel that [`run`](Self::run) receives from.
    ///
    /// # Errors
    /// [`Error::Shader`]; device errors.
    pub fn new(
        home: Home,
        setup: RunSetup,
        planned: Planned,
        activations: Option<Arc<Activations>>,
        messages: Sender<DriverMessage>,
        done: mpsc::UnboundedSender<Option<Vec<PageDone>>>,
    ) -> Result<Self> {
        let mut context = Context::new(home, &setup, planned)?;
        context.calibrate()?;
        context.prepare_kernels(&likely::kernels(&context));
        let RunSetup { pool, workers, exchange, runs_ahead, .. } = setup;
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
        device_loop.compile_ahead(&mut context);
        let (downloads, largest_bytes) = values::downloads(&context);
        context.home.import_pool(&pool)?;
        context.home.stage_ahead(downloads, largest_bytes);
        let intake = Intake::new(arena, workers, messages);
        let (failed, stopped, failure) = (false, false, None);
        // The commands that set initial values are submitted with the first supersteps.
        device_loop.pages_unknown = device_loop.has_start();
        let found = if device_loop.has_start() { initial::found(&context) } else { Summary::default() };
        Ok(Self {
            context,
            intake,
            launches,
            superstep,
            device_loop,
            found,
            exchange,
            overlap: Overlap::default(),
            done,
            failed,
            stopped,
            failure,
        })
    }

    /// The number of pages that the arena keeps.
    pub fn pages_kept(&self) -> u64 {
        self.context.plan.slots.saturating_sub(self.context.plan.stream_slots).into()
    }

    /// Whether it can run supersteps without the engine, or together with other devices.
    pub fn runs_alone(&self) -> bool {
        self.device_loop.is_asked() && self.context.plan.loop_bytes > 0
    }

    /// Whether the first superstep sets the run's initial values, so that the engine need not request it.
    pub fn is_initialised(&self) -> bool {
        self.device_loop.has_start()
    }

    /// Handles messages until `Stop`; returns the adapter. A panic ends the run with an error but not the thread:
    /// requests are still answered, and the adapter is not dropped while it reads the page buffer.
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
            // The first supersteps are encoded: poll for the message that starts them. Or other devices end a
            // superstep, or the engine chooses the next one.
            let begins = self.device_loop.has_start() || self.overlap.is_under_way();
            let soon_asked = begins || self.device_loop.is_joint();
            let spin = if soon_asked { SPIN_FIRST } else { SPIN };
            let message = match soon(take, self.context.gpu().poll_time(spin)) {
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
        self.give_up_before(&message);
        // A reply whose receiver is gone is no error.
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
            DriverMessage::Joint(part, reply) => {
                let result = self.sound().and_then(|()| self.joint(&part));
                self.failed |= result.is_err();
                if self.failed {
                    self.exchange.iter().for_each(Exchange::abandon);
                }
                drop(reply.send(self.explained(result)));
            }
            DriverMessage::Missing(mut pages, reply) => {
                pages.retain(|&page| !self.intake.has(&self.context, page));
                drop(reply.send(pages));
            }
            DriverMessage::Resident(pages, policy, reply) => {
                drop(reply.send(self.start_resident(pages, policy)));
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
            DriverMessage::Exchange(moves, reply) => {
                let result = self.launch_all(take).and_then(|()| self.exchange(&moves, take));
                self.failed |= result.is_err();
                if self.failed {
                    self.exchange.iter().for_each(Exchange::abandon);
                }
                drop(reply.send(self.explained(result)));
            }
            DriverMessage::End(moves, reply) => self.end_superstep(&moves, &reply, take),
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

    /// Handles the messages that read and set attributes, between supersteps and at the end of a run.
    fn handle_values(&mut self, message: DriverMessage) {
        match message {
            DriverMessage::Download(reply) => {
                let answered = self.context.declaration.answered;
                let last = self.sound().and_then(|()| values::send(&mut self.context, answered, &reply));
                let last = last.and_then(|()| self.superstep.finish_notes(&mut self.context));
                drop(reply.send(self.explained(last.map(|()| None))));
            }
            DriverMessage::Save(reply) => {
                let last = self.sound().and_then(|()| values::send(&mut self.context, None, &reply));
                let last = last.and_then(|()| self.superstep.settle_notes(&mut self.context));
                drop(reply.send(self.explained(last.map(|()| None))));
            }
            DriverMessage::Frontier(number, reply) => {
                let words = self.sound().and_then(|()| values::frontier(&mut self.context, number));
                drop(reply.send(self.explained(words)));
            }
            DriverMessage::Restore(next, state, reply) => {
                let result = self.sound().and_then(|()| self.restore(&next, &state));
                // The requester expects to be the only owner of the state when it has the reply.
                drop(state);
                drop(reply.send(self.explained(result)));
            }
            _ => unreachable!("all other messages are handled by the caller"),
        }
    }

    // ---- Pages ------------------------------------------------------------------------------------------------------

    /// Starts processing the pages that are in the arena; returns the others.
    fn start_resident(&mut self, pages: Vec<PageRef>, policy: Policy) -> Vec<PageRef> {
        let buffers = (self.intake.arena(), self.launches.rows(), self.launches.hubs());
        match self.device_loop.submit_pages(&mut self.context, buffers, &pages) {
            Ok(Some(visited)) => {
                self.context.home.rest();
                self.launches.count(visited.into());
                return Vec::new();
            }
            Ok(None) => {}
            // The superstep's end is answered with the error.
            Err(error) => {
                self.fail(error);
                return Vec::new();
            }
        }
        let (ready, others) = self.intake.start_resident(&self.context, pages, policy);
        ready.into_iter().for_each(|job| self.launches.add(&self.context, job));
        others
    }

    /// Passes on a page from intake.
    fn hand_on(&mut self, taken: Taken) {
        match taken {
            Taken::Ready(job) => self.launches.add(&self.context, job),
            Taken::Done(done) => self.report(vec![done]),
            Taken::Later => {}
        }
    }

    /// Passes on pages whose copies have completed.
    fn hand_on_all(&mut self, Arrived { ready, done }: Arrived) {
        ready.into_iter().for_each(|job| self.launches.add(&self.context, job));
        self.report(done);
    }

    fn report(&self, done: Vec<PageDone>) {
        if !done.is_empty() {
            self.done.send(Some(done)).ok();
        }
    }

    /// Makes progress without waiting.
    fn advance(&mut self) -> Result<()> {
        self.context.gpu().poll()?;
        if let Some(exchange) = &mut self.exchange {
            exchange.go_on_sending(&mut self.context)?;
        }
        let arrived = self.intake.advance(&mut self.context)?;
        self.hand_on_all(arrived);
        self.launches.launch(&mut self.context)
    }

    fn is_idle(&self) -> bool {
        let sends = self.exchange.as_ref().is_some_and(Exchange::is_sending);
        !self.launches.is_running() && !self.intake.is_copying() && !sends
    }

    /// Handles messages until all pages of this superstep are launched. Later submissions run after them.
    fn launch_all(&mut self, take: &Messages) -> Result<()> {
        self.sound()?;
        self.submit_left()?;
        loop {
            self.sound()?;
            if self.stopped {
                return Err(self.context.gpu().health().fault("a run", "it was stopped").into());
            }
            self.advance()?;
            if self.intake.pending() == 0 && !self.launches.is_waiting() {
                return Ok(());
            }
            let spin = self.context.gpu().poll_time(SPIN);
            if let Some(message) = soon(take, spin).or_else(|| take.recv_timeout(LOOK).ok()) {
                self.handle(message, take);
            }
        }
    }

    /// After a wait for the device: takes back the pages of the superstep's launches.
    fn collect(&mut self, take: &Messages) {
        while !self.stopped && self.launches.is_running() && self.context.gpu().poll().is_ok() {
            match take.recv_timeout(LOOK) {
                Ok(message) => self.handle(message, take),
                Err(_) => continue,
            }
        }
    }

    // ---- Errors and the end -----------------------------------------------------------------------------------------

    fn explained<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|error| self.context.gpu().explained(error))
    }

    /// An error if the device or the run has failed.
    fn sound(&mut self) -> Result<()> {
        if self.failed { Err(self.failure()) } else { Ok(self.context.gpu().check()?) }
    }

    /// Ends the run. The engine may be waiting for pages or may have all of them back: it is woken, and its next
    /// request is answered with the reason.
    fn fail(&mut self, error: Error) {
        if !std::mem::replace(&mut self.failed, true) {
            self.failure = Some(self.context.gpu().explained(error));
            self.done.send(None).ok();
            self.exchange.iter().for_each(Exchange::abandon);
        }
    }

    /// Why the run failed: the full error for the first request only.
    fn failure(&mut self) -> Error {
        let again = || self.context.gpu().health().fault("a run", "it has already failed").into();
        self.failure.take().unwrap_or_else(again)
    }

    /// Waits until the device no longer reads the page buffer; returns the adapter and the buffers that outlive the
    /// run.
    fn settle(mut self) -> Home {
        let deadline = Instant::now() + SETTLE;
        while self.context.gpu().check().is_ok() && !self.is_idle() && Instant::now() < deadline {
            let all = self.context.submit([]);
            let idle = self.context.gpu().wait(all.index, Duration::from_secs(1)).unwrap_or(true);
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

/// The exchange of a run on several devices.
fn shared<'a>(exchange: &'a mut Option<Exchange>, context: &Context) -> Result<&'a mut Exchange> {
    exchange.as_mut().ok_or_else(|| {
        let message = "an exchange without memory that is shared with other devices";
        context.gpu().health().fault("exchange", message).into()
    })
}

/// A message that arrives within `spin`: sleeping and waking would take longer.
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
