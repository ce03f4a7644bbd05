//! The messages of the driver's thread: requests of the device, and reports from callbacks and worker threads.

use super::batch::Job;
use super::values::ValueChunk;
use crate::device::exchange::Moves;
use crate::device::joint::{JointEnd, JointPart};
use crate::device::{PageTask, RunAhead, StepEnd};
use crate::error::{Error, Result};
use crate::model::algorithm::{Scalars, State, Step, Visit};
use crate::pages::cache::Policy;
use crate::pages::fetch::PageRef;
use crossbeam_channel::{Receiver, Sender};
use std::collections::HashMap;
use std::sync::Arc;
use topostream_formats::{Direction, Error as StoreError};

/// The results of a superstep, and the pages of the next one.
pub type Ended = Result<(StepEnd, NextPages)>;

/// The supersteps that the device ran ahead, and the pages of the next superstep if it could run none and these pages
/// had not been determined yet.
pub type AheadDone = Result<(RunAhead, Option<NextPages>)>;

/// The answer to a part of a joint superstep, and the pages of the next superstep if it was the last part and they had
/// not been determined yet.
pub type JointDone = Result<(JointEnd, Option<NextPages>)>;

/// A bit for each page that a possible next superstep visits; no entry for one that visits all pages.
pub type NextPages = HashMap<(Direction, Visit), Vec<u32>>;

/// The driver's end of the channel.
pub type Messages = Receiver<DriverMessage>;

/// A message to the driver. Requests carry a channel for the reply.
pub enum DriverMessage {
    /// Sets first values and seeds.
    Initialise(Sender<Result<(Scalars, NextPages)>>),
    /// Begins a superstep.
    Begin(Step),
    /// Defers the active vertices of some pages (one bit a page) to the next superstep.
    Defer(Direction, Vec<u32>),
    /// Runs supersteps from this one on for as long as the device can do so without the host.
    Ahead(Step, Sender<AheadDone>),
    /// A part of a superstep that the device runs together with others.
    Joint(JointPart, Sender<JointDone>),
    /// Asks which of the pages are not in device memory.
    Missing(Vec<PageRef>, Sender<Vec<PageRef>>),
    /// Processes the pages that are in device memory; replies with the others.
    Resident(Vec<PageRef>, Policy, Sender<Vec<PageRef>>),
    /// A page to process.
    Page(PageTask),
    /// From a worker thread: the result of a page's check.
    Checked(Job, Result<(), StoreError>),
    /// From wgpu: a launch has completed.
    Completed(u64),
    /// Exchanges values or messages with other devices.
    Exchange(Moves, Sender<Result<()>>),
    /// Ends a superstep, with an exchange after its vertex phase.
    End(Moves, Sender<Ended>),
    /// Requests the values of the device's own vertices at the end of a run; the last reply is `None`.
    Download(Sender<Result<Option<ValueChunk>>>),
    /// Like `Download`, between supersteps.
    Save(Sender<Result<Option<ValueChunk>>>),
    /// Requests the words of a superstep's frontier.
    Frontier(u32, Sender<Result<Vec<u32>>>),
    /// Continues with a superstep from a saved state.
    Restore(Step, Arc<State>, Sender<Result<NextPages>>),
    /// Requests the reason why the run failed.
    Why(Sender<Error>),
    /// Ends the thread, possibly in the middle of a superstep.
    Stop,
}
