//! Devices hold attributes, receive filled pages, and run an algorithm's edge function over them.
//!
//! | module | contents |
//! | --- | --- |
//! | `work` | what devices report of their work |
//! | [`workers`] | the worker threads that all devices of a run share |
//! | [`exchange`] | moves of values between devices, and the memory for them |
//! | [`joint`] | supersteps that several devices run together, without the engine |
//! | [`settings`], `choice` | options of GPUs, and the choice of devices |
//! | `cpu`, `gpu` | the two kinds of device |
//!
//! A run has one [`Device`], which may be a team of several [`Member`]s. Devices are created and called by `engine` and
//! `team`. They know pages and algorithms; not how pages are read, the page buffer, or the engine's work between
//! supersteps.

mod choice;
mod cpu;
pub mod exchange;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod joint;
pub mod settings;
mod work;
pub mod workers;

pub use choice::DeviceChoice;
pub use cpu::{CpuDevice, CpuSetup};
pub use work::{Ahead, Balance, DeviceReport, ExchangeWork, PageWork, RunAhead, StepEnd, Transfer};
pub use workers::Workers;

use crate::device::exchange::Moves;
use crate::device::joint::{JointEnd, JointPart};
use crate::error::Result;
use crate::model::algorithm::{Complete, Scalars, State, Step};
use crate::pages::PagePlan;
use crate::pages::cache::Policy;
use crate::pages::fetch::{Frame, PageRef};
use std::ops::Range;
use std::sync::Arc;
use std::task::{Context, Poll};
use topostream_formats::Error as StoreError;

/// A filled frame for a device to process.
#[derive(Debug)]
pub struct PageTask {
    /// The page.
    pub page: PageRef,
    /// Its frame. Several devices may share one; each drops its reference before it reports.
    pub frame: Arc<Frame>,
    /// Whether the page has just been read, and must be checked before use.
    pub fresh: bool,
}

/// The outcome of a [`PageTask`].
#[derive(Debug)]
pub struct PageDone {
    /// The page.
    pub page: PageRef,
    /// The frame.
    pub frame: Arc<Frame>,
    /// Whether the device has kept a copy, so that the frame is not needed for this page again.
    pub kept: bool,
    /// The work done, or the defect of the page, which was then not used.
    pub result: Result<PageWork, StoreError>,
}

/// A device that runs an algorithm over pages.
pub trait Device: Send {
    /// Its name in reports.
    fn name(&self) -> String;

    /// The number of threads (or similar) over which [`PageWork`] sums time.
    fn lanes(&self) -> u32;

    /// Sets the algorithm's initial values and seeds, and returns the sums over all vertices.
    ///
    /// # Errors
    /// Device errors, as in the methods below.
    fn initialise(&mut self) -> Result<Scalars>;

    /// The pages that a superstep visits, in file order.
    ///
    /// # Errors
    /// The errors of [`initialise`](Self::initialise).
    fn pages(&mut self, step: &Step) -> Result<PagePlan>;

    /// Runs supersteps from `step` on while all pages that they visit are in the device's own memory, and calls
    /// [the rule](crate::model::algorithm::Algorithm::rule) between them. Returns at intervals, so that the
    /// run can be cancelled, and is called again with the next superstep.
    ///
    /// # Errors
    /// The errors of [`initialise`](Self::initialise).
    fn run_ahead(&mut self, _step: &Step) -> Result<RunAhead> {
        Ok(RunAhead::default())
    }

    /// Begins a superstep: pages submitted from here on belong to it.
    ///
    /// # Errors
    /// The errors of [`initialise`](Self::initialise).
    fn begin(&mut self, step: &Step) -> Result<()>;

    /// Keeps active vertices of pages that the superstep does not visit active in the next one. Called at most once in
    /// a superstep.
    ///
    /// # Errors
    /// The errors of [`initialise`](Self::initialise).
    fn defer(&mut self, step: &Step, pages: &[PageRef]) -> Result<()>;

    /// Returns pages that the superstep after `step` will visit if it is of the same kind, as far as known during
    /// `step`; a hint.
    fn upcoming(&mut self, _step: &Step) -> Vec<PageRef> {
        Vec::new()
    }

    /// Returns the number of pages that the device keeps in its own memory from one run to the next.
    fn pages_kept(&self) -> u64 {
        0
    }

    /// Whether the device can run supersteps without the engine once it has the pages that they visit.
    fn runs_alone(&self) -> bool {
        false
    }

    /// Returns the pages that are not in the device's own memory, in order.
    fn missing(&mut self, pages: Vec<PageRef>) -> Vec<PageRef> {
        pages
    }

    /// Starts processing the pages that are in the device's own memory, which ends before [`end`](Self::end) returns;
    /// returns the others, in order.
    fn start_resident(&mut self, pages: Vec<PageRef>, _policy: Policy) -> Vec<PageRef> {
        pages
    }

    /// Accepts a page. Never blocks; the number of frames bounds the number of pages.
    fn submit(&mut self, task: PageTask);

    /// Appends completed pages; pending while there are none. Must not be called with nothing submitted.
    ///
    /// # Errors
    /// The errors of [`initialise`](Self::initialise).
    fn poll_done(&mut self, context: &mut Context<'_>, done: &mut Vec<PageDone>) -> Poll<Result<()>>;

    /// Ends a superstep after all submitted pages are done: the vertex phase or, in a traversal, the change of
    /// frontiers.
    ///
    /// # Errors
    /// The errors of [`initialise`](Self::initialise).
    fn end(&mut self, step: &Step) -> Result<StepEnd>;

    /// Passes the values of all vertices before superstep `next`, and its frontier, to `look`, with the range of
    /// vertices whose values are there: in a cluster, this rank's vertices. The run continues afterwards.
    ///
    /// # Errors
    /// The errors of [`initialise`](Self::initialise).
    fn save(&mut self, next: &Step, look: &mut dyn FnMut(&State, Range<u64>)) -> Result<()>;

    /// Continues a run with superstep `next`, instead of [`initialise`](Self::initialise). `load` gets a zeroed state
    /// and writes the [saved](Self::save) values into it: of all vertices, or of one range, which it then completes.
    ///
    /// # Errors
    /// The errors of `load` and of [`initialise`](Self::initialise).
    fn restore(&mut self, next: &Step, load: &mut dyn FnMut(&State, &Complete<'_>) -> Result<()>) -> Result<()>;

    /// Returns the values of all vertices, in main memory.
    ///
    /// # Errors
    /// The errors of [`initialise`](Self::initialise).
    fn finish(self: Box<Self>) -> Result<State>;

    /// The reports of several devices that share the run; empty for a single device.
    fn reports(&self) -> Vec<DeviceReport> {
        Vec::new()
    }
}

/// A device that shares a run with others. In a superstep, after all pages:
///
/// ```text
///  begin_exchange ─▶ end_exchange ─▶ begin_end ─▶ end                           ─▶ end_exchange
///  messages, or what is reduced      census, or the vertex phase and a gather
/// ```
///
/// `begin_` methods do not block for long, so that all devices work concurrently. The vertex phase and the census cover
/// the device's [own](crate::model::Part) vertices; [`Device::pages`] covers all visited vertices that the device knows
/// (only its own ones for visits by a set).
pub trait Member: Device {
    /// The number of other devices' vertices whose values it holds, if these are not all.
    fn bordering(&self) -> Option<u64> {
        None
    }

    /// Begins [`Device::start_resident`]. Returns its answer, or nothing if [`end_start`](Self::end_start) has it.
    fn begin_start(&mut self, pages: Vec<PageRef>, policy: Policy) -> Option<Vec<PageRef>> {
        Some(self.start_resident(pages, policy))
    }

    /// Waits for the answer of [`begin_start`](Self::begin_start).
    fn end_start(&mut self) -> Vec<PageRef> {
        Vec::new()
    }

    /// Begins an exchange, after all pages of the superstep: the device puts values or messages, and takes the other
    /// devices' as they [announce](exchange::ExchangeMemory::announce) them.
    ///
    /// # Errors
    /// The errors of [`Device::initialise`], as in the methods below.
    fn begin_exchange(&mut self, moves: Moves) -> Result<()>;

    /// Waits until the device has taken what the others put, or will have before any later request. Called after all
    /// devices have begun the exchange. What has been read is no longer needed once [`Device::end`] has ended.
    ///
    /// # Errors
    /// The errors of [`begin_exchange`](Self::begin_exchange).
    fn end_exchange(&mut self) -> Result<()>;

    /// Begins the work of [`Device::end`], and an exchange after the vertex phase, which
    /// [`end_exchange`](Self::end_exchange) ends when all devices have ended the superstep.
    ///
    /// # Errors
    /// The errors of [`begin_exchange`](Self::begin_exchange).
    fn begin_end(&mut self, step: &Step, moves: Moves) -> Result<()>;

    /// Whether the device works between [`begin_end`](Self::begin_end) and [`Device::end`], which may then wait for
    /// values of other devices. Others work in [`Device::end`], which is called for them first.
    fn ends_by_itself(&self) -> bool {
        false
    }

    /// Writes the values of its own vertices to the state of the whole run.
    ///
    /// # Errors
    /// The errors of [`begin_exchange`](Self::begin_exchange).
    fn contribute(&mut self, state: &State) -> Result<()>;

    /// Like [`contribute`](Self::contribute) between supersteps, with the own vertices that are active in `next`.
    ///
    /// # Errors
    /// The errors of [`begin_exchange`](Self::begin_exchange).
    fn contribute_before(&mut self, next: &Step, state: &State) -> Result<()>;

    /// Whether the device can take part in supersteps that the devices of a team run without the engine.
    fn runs_jointly(&self) -> bool {
        false
    }

    /// Begins a part of a superstep that the devices of a team run without the engine.
    ///
    /// # Errors
    /// The errors of [`begin_exchange`](Self::begin_exchange).
    fn begin_joint(&mut self, _part: JointPart) -> Result<()> {
        Ok(())
    }

    /// Waits for the part to end. By default a device takes part in no joint superstep.
    ///
    /// # Errors
    /// The errors of [`begin_exchange`](Self::begin_exchange).
    fn end_joint(&mut self) -> Result<JointEnd> {
        Ok(JointEnd::default())
    }

    /// Continues with a superstep from the state of the whole run, instead of [`Device::initialise`].
    ///
    /// # Errors
    /// The errors of [`begin_exchange`](Self::begin_exchange).
    fn go_on_from(&mut self, next: &Step, state: &Arc<State>) -> Result<()>;
}
