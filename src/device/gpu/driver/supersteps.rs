//! The driver's part in supersteps: initial values, supersteps without the host, and the end of each.

use super::exchange::Exchange;
use super::message::{Ended, Messages, NextPages};
use super::superstep::Found;
use super::tally::Tally;
use super::{Driver, DriverMessage, initial, shared, superstep, values};
use crate::device::exchange::{Move, Moves};
use crate::device::gpu::compose::KernelName;
use crate::device::joint::{JointEnd, JointPart};
use crate::device::{Ahead, RunAhead, StepEnd};
use crate::error::Result;
use crate::model::algorithm::{Scalars, State, Step};
use crossbeam_channel::Sender;
use std::time::Instant;

impl Driver {
    pub(super) fn initialise(&mut self) -> Result<(Scalars, NextPages)> {
        self.set_first()?;
        let alone = self.device_loop.is_likely(&self.context) && self.context.declared.traversal;
        if alone || self.device_loop.is_jointly_likely(&self.context) {
            // The host knows the initial frontier: no readback.
            initial::plant_levels(&self.context);
            self.found = initial::found(&self.context);
            self.device_loop.pages_unknown = true;
            return Ok((Scalars::default(), NextPages::new()));
        }
        let (end, next_pages) = self.end(Some(KernelName::Initialise), &[])?;
        Ok((end.summary.totals, next_pages))
    }

    pub(super) fn set_first(&mut self) -> Result<()> {
        initial::set(&mut self.context)?;
        superstep::set(&mut self.context, superstep::before_first());
        Ok(())
    }

    /// Sets the initial values now, if the commands encoded for them can no longer be used.
    pub(super) fn give_up_start(&mut self) -> Result<()> {
        if self.device_loop.give_up_start() {
            self.set_first()?;
            initial::plant_levels(&self.context);
        }
        Ok(())
    }

    /// Gives up the start before any message that is not about the first supersteps, and drops what is encoded for a
    /// joint superstep before any message that does not start one.
    pub(super) fn give_up_before(&mut self, message: &DriverMessage) {
        if !matches!(message, DriverMessage::Joint(JointPart::Superstep { .. }, _)) {
            self.device_loop.forget_lists(&mut self.context);
        }
        let waits = matches!(message, DriverMessage::Ahead(..) | DriverMessage::Stop);
        if !waits && let Err(error) = self.give_up_start() {
            self.fail(error);
        }
    }

    pub(super) fn restore(&mut self, next: &Step, state: &State) -> Result<NextPages> {
        values::restore(&mut self.context, next, state)?;
        // As if the superstep before had just ended.
        superstep::set(&mut self.context, Step { superstep: next.superstep.wrapping_sub(1), ..*next });
        Ok(self.end(None, &[])?.1)
    }

    /// Runs supersteps from this one on for as long as the device can do so without the host.
    pub(super) fn ahead(&mut self, step: &Step) -> Result<(RunAhead, Option<NextPages>)> {
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

    /// Does a part of a superstep that the device runs together with others.
    pub(super) fn joint(&mut self, part: &JointPart) -> Result<(JointEnd, Option<NextPages>)> {
        let mut end = JointEnd::default();
        match part {
            JointPart::Prepare { step, seen } => {
                let buffers = (self.intake.arena(), self.launches.rows());
                end = self.device_loop.prepare_jointly(&mut self.context, buffers, (step, seen))?;
            }
            JointPart::Superstep { step, found, messages } => {
                self.context.home.rest();
                let exchange = shared(&mut self.exchange, &self.context)?;
                end = self.device_loop.run_jointly(&mut self.context, exchange, (step, found), messages)?;
                self.found = end.end.summary;
            }
            JointPart::Leave if self.device_loop.pages_unknown => {
                return Ok((end, Some(self.end(None, &[])?.1)));
            }
            JointPart::Leave => {}
        }
        Ok((end, None))
    }

    /// Runs supersteps over pages in device memory, where the host chooses each from the results of the one before.
    pub(super) fn paced(&mut self, step: &Step) -> Result<(RunAhead, Option<NextPages>)> {
        let (begun, turn) = (Instant::now(), self.context.home.settings.turn);
        let (mut next, mut next_pages, mut supersteps) = (Some(*step), None, Vec::new());
        while let Some(step) = next.filter(|_| begun.elapsed() < turn) {
            let since = Instant::now();
            let buffers = (self.intake.arena(), self.launches.rows(), self.launches.hubs());
            let Some(pages) = self.device_loop.submit(&mut self.context, buffers, &step)? else { break };
            self.context.home.rest();
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
            next = self.context.next(&step, &end.summary);
            let wall_ns = since.elapsed().as_nanos() as u64;
            supersteps.push(Ahead { step, end, pages: pages.pages, wall_ns });
        }
        Ok((RunAhead { supersteps, next }, next_pages))
    }

    pub(super) fn begin(&mut self, step: &Step) {
        superstep::begin(&mut self.context, step);
    }

    /// Runs the kernels that end a superstep (or the initialisation), over vertices and pages, with moves between them;
    /// reads back the results. Without a phase no values change, and only a traversal's census runs.
    pub(super) fn end(&mut self, phase: Option<KernelName>, put: &[Move]) -> Ended {
        let (mut plan, groups) = superstep::begin_end(&self.context, phase);
        if !put.is_empty() {
            shared(&mut self.exchange, &self.context)?.plan(&self.context, &mut plan, put)?;
        }
        self.overlap.forget_values();
        let tally = self.tally();
        let found = self.superstep.finish(&mut self.context, plan, groups, tally)?;
        Ok(self.ended(found))
    }

    /// Takes the work of the superstep's pages.
    pub(super) fn tally(&mut self) -> Tally {
        let mut tally = self.intake.take_tally();
        tally.add(self.launches.take_tally());
        tally
    }

    /// Takes the results of a superstep.
    pub(super) fn ended(&mut self, found: Found) -> (StepEnd, NextPages) {
        self.device_loop.pages_unknown = false;
        self.make_room_for_hubs(found.hubs_wanted);
        self.found = found.end.summary;
        (found.end, found.next_pages)
    }

    /// Grows the queue of long lists if a launch had more parts than it holds.
    pub(super) fn make_room_for_hubs(&mut self, wanted: u32) {
        if self.launches.make_room_for_hubs(self.context.gpu(), wanted) {
            self.device_loop.forget_bound(&mut self.context);
        }
    }

    /// Ends a superstep. Unless values have been exchanged while lists were read, the engine goes on while they are
    /// being sent and received.
    pub(super) fn end_superstep(&mut self, moves: &Moves, reply: &Sender<Ended>, take: &Messages) {
        if let Some(early) = self.early(moves) {
            self.end_overlapped(early, reply);
            return self.end_exchange(Ok(()));
        }
        let result = self.launch_all(take).and_then(|()| self.end(Some(KernelName::VertexPhase), &moves.put));
        self.failed |= result.is_err();
        let sends = result.is_ok() && !moves.is_empty();
        let sent = if sends { self.send(&moves.put) } else { Ok(()) };
        self.collect(take);
        drop(reply.send(self.explained(result)));
        let exchanged = if sends { sent.and_then(|()| self.take(&moves.take)) } else { sent };
        self.end_exchange(exchanged);
    }

    /// Handles a failure of an exchange, or of the superstep before it.
    fn end_exchange(&mut self, exchanged: Result<()>) {
        if let Err(error) = exchanged {
            self.fail(error);
        }
        if self.failed {
            self.exchange.iter().for_each(Exchange::abandon);
        }
    }

    // ---- Moves ------------------------------------------------------------------------------------------------------

    /// Puts what others take, and takes what they put, after all kernels of the superstep so far.
    pub(super) fn exchange(&mut self, moves: &Moves, take: &Messages) -> Result<()> {
        shared(&mut self.exchange, &self.context)?.put(&mut self.context, &moves.put)?;
        self.collect(take);
        self.take(&moves.take)
    }

    /// Sends what the end of the superstep has prepared.
    fn send(&mut self, moves: &[Move]) -> Result<()> {
        shared(&mut self.exchange, &self.context)?.send(&mut self.context, moves)
    }

    fn take(&mut self, moves: &[Move]) -> Result<()> {
        shared(&mut self.exchange, &self.context)?.take(&mut self.context, moves)
    }
}
