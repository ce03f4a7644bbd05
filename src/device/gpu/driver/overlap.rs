//! The driver's part in supersteps over resident lists whose values are exchanged while lists are still read.
//!
//! ```text
//!  lists 0 │ vertex phase 0, pack │ lists 1 │ vertex phase 1, pack │ … │ next values become current, unpack
//!                                 └ send, fetch what others have sent … ┘
//! ```
//!
//! The vertex phase of a part sets *next* values: lists of later parts, and other devices' lists of this superstep,
//! read the current ones.

use super::Driver;
use super::context::Context;
use super::device_loop::DeviceLoop;
use super::exchange::{EarlyExchange, Exchange, PackedMove};
use super::executor::Submitted;
use super::message::Ended;
use super::phases::{Copied, Overlap, copy_own};
use super::plan::Plan;
use super::superstep::Superstep;
use crate::device::exchange::{Moves, Wait};
use crate::device::gpu::adapter::readback::PATIENCE;
use crate::device::gpu::memory::plan::TOTAL_BYTES;
use crate::error::Result;
use crossbeam_channel::Sender;
use std::time::Duration;

/// How long to poll before sleeping.
const SPIN: Duration = Duration::from_millis(1);

/// Commands of a part that have been submitted: when they complete, these values are sent.
type SubmittedPart = (Submitted, Vec<PackedMove>);

impl Driver {
    /// The exchange that ends the superstep, if only the first part of its lists has been submitted, and values can be
    /// exchanged while the others are read.
    pub(super) fn early(&self, moves: &Moves) -> Option<EarlyExchange> {
        self.device_loop.parts_left()?;
        self.exchange.as_ref()?.early(&self.context, moves)
    }

    /// Submits all lists of the superstep that have been left for the end.
    pub(super) fn submit_left(&mut self) -> Result<()> {
        let buffers = (self.launches.rows(), self.launches.hubs());
        self.device_loop.submit_left(&mut self.context, buffers)
    }

    /// Ends a superstep: submits its other parts, and exchanges values until all have arrived. Replies while the device
    /// takes them.
    pub(super) fn end_overlapped(&mut self, early: EarlyExchange, reply: &Sender<Ended>) {
        let ended = self.sound().and_then(|()| self.run_parts(early));
        self.failed |= ended.is_err();
        drop(reply.send(self.explained(ended)));
    }

    fn run_parts(&mut self, mut early: EarlyExchange) -> Ended {
        let parts = self.device_loop.parts_left().unwrap_or_default();
        let Self { context, device_loop, launches, superstep, exchange: Some(exchange), overlap, .. } = self else {
            let health = self.context.gpu().health();
            return Err(health.fault("exchange", "a superstep in parts, of a single device").into());
        };
        overlap.prepare(context, &parts)?;
        let lists = (device_loop, (launches.rows(), launches.hubs()));
        let (parts, groups) = submit_parts(context, lists, (exchange, &mut early), (overlap, superstep))?;
        // Encoded while the device works.
        let mut plan = Plan::default();
        copy_own(context, &mut plan, Copied::ToCurrent);
        exchange.unpack_early(context, &mut plan, &early);
        let encoded = context.encode(&plan)?;
        let last = exchange_during(context, exchange, &mut early, parts)?;
        context.submit([encoded]);
        overlap.current = true;
        exchange.tell_copies(context);
        let tally = self.tally();
        let found = self.superstep.read(&mut self.context, last, groups, tally)?;
        Ok(self.ended(found))
    }
}

/// Submits the lists, the vertex phase and the packing of each part, and the reading of the sums after the last one;
/// the lists of the first one have been submitted. Returns the parts in order, and the number of partial sums.
fn submit_parts(
    context: &mut Context,
    (device_loop, buffers): (&mut DeviceLoop, (&wgpu::Buffer, &wgpu::Buffer)),
    (exchange, early): (&mut Exchange, &mut EarlyExchange),
    (overlap, superstep): (&mut Overlap, &mut Superstep),
) -> Result<(Vec<SubmittedPart>, u32)> {
    let (mut parts, mut updated, mut groups) = (Vec::new(), Vec::new(), 0);
    for (part, phase) in overlap.phases.iter().enumerate() {
        let mut plan = Plan::default();
        if part > 0 {
            device_loop.plan_part(context, &mut plan, buffers, part);
        } else if !overlap.current {
            // The vertex phase reads a vertex's current value.
            copy_own(context, &mut plan, Copied::ToNext);
        }
        phase.plan(context, &mut plan);
        updated.push(phase.vertices.clone());
        let packed = exchange.pack_early(context, &mut plan, early, &updated);
        let (at, bytes) = (TOTAL_BYTES * u64::from(groups), TOTAL_BYTES * u64::from(phase.groups));
        plan.copy((&phase.totals, 0), (&context.buffers.totals, at), bytes);
        groups += phase.groups;
        if part + 1 == overlap.phases.len() {
            superstep.plan_results(context, &mut plan, groups);
        }
        parts.push((context.run(&plan)?, packed));
    }
    // Until the end of this superstep, next values are ahead.
    overlap.current = false;
    Ok((parts, groups))
}

/// Sends what parts have packed as soon as they have run, and fetches what others have sent, until all parts have run
/// and everything has been sent and has arrived. Returns the last part.
fn exchange_during(
    context: &mut Context,
    exchange: &mut Exchange,
    early: &mut EarlyExchange,
    parts: Vec<SubmittedPart>,
) -> Result<Submitted> {
    let mut wait = Wait::new(context.gpu().poll_time(SPIN));
    // What arrives may overwrite what the superstep before has unpacked, once a part of this one has run.
    let mut fetches = false;
    let (mut parts, mut last) = (parts.into_iter().peekable(), None);
    loop {
        let mut moved = false;
        while let Some((submitted, _)) = parts.peek()
            && context.is_done(submitted)?
            && let Some((done, packed)) = parts.next()
        {
            last = Some(done);
            exchange.send_early(context, packed);
            (fetches, moved) = (true, true);
        }
        if fetches {
            let before = exchange.left_early(early);
            exchange.go_on_early(context, early)?;
            moved |= exchange.left_early(early) < before;
        }
        // If another device has failed, the run ends with its error.
        let goes_on = exchange.left_early(early) > 0 && (moved || !exchange.memory().is_abandoned());
        if let Some(last) = last.take_if(|_| parts.peek().is_none() && !goes_on) {
            return Ok(last);
        }
        wait.goes_on(exchange.memory(), moved);
        if wait.idle() > PATIENCE && (parts.peek().is_some() || exchange.is_sending()) {
            return Err(context.gpu().health().lost("a part of a superstep did not end").into());
        }
    }
}
