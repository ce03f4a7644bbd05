//! Devices: they hold attributes, take filled pages, and run an algorithm's edge function over them.
//!
//! | module | what |
//! | --- | --- |
//! | [`workers`] | the worker threads that all devices of a run share |
//! | [`exchange`] | moves of values between devices, and the memory that they go through |
//! | [`settings`], `choice` | options of GPUs, and which devices are asked for |
//! | `cpu`, `gpu` | the two kinds of device |
//!
//! A run has one [`Device`], or a team that is one, made of several [`Member`]s. Devices are created and called by
//! `engine` and `team`. They know pages and algorithms; not where pages are read from, which of them are in the page
//! buffer, or what the engine does between supersteps.

mod choice;
mod cpu;
pub mod exchange;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod settings;
pub mod workers;

pub use choice::DeviceChoice;
pub use cpu::{CpuDevice, CpuSetup};
pub use workers::Workers;

use crate::device::exchange::Move;
use crate::error::Result;
use crate::model::algorithm::{Scalars, State, Step, Summary};
use crate::pages::PagePlan;
use crate::pages::cache::Policy;
use crate::pages::fetch::{Frame, PageRef};
use std::sync::Arc;
use std::task::{Context, Poll};
use topostream_formats::Error as StoreError;

/// A filled frame for a device to work through.
#[derive(Debug)]
pub struct PageTask {
    /// The page.
    pub page: PageRef,
    /// The frame that it is in. Several devices may be given the same one; each lets go of it when it reports.
    pub frame: Arc<Frame>,
    /// Whether the page has just been read and must be checked before it is used.
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
    /// The work that was done, or the defect of the page: then nothing of it has been used.
    pub result: Result<PageWork, StoreError>,
}

/// Work on pages, and the time it took, added up over threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageWork {
    /// Neighbours in the lists that were opened.
    pub edges: u64,
    /// Nanoseconds of edge functions.
    pub compute_ns: u64,
    /// Nanoseconds of checking pages.
    pub check_ns: u64,
}

impl std::ops::AddAssign for PageWork {
    fn add_assign(&mut self, other: Self) {
        self.edges += other.edges;
        self.compute_ns += other.compute_ns;
        self.check_ns += other.check_ns;
    }
}

/// The results of a superstep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepEnd {
    /// For the algorithm.
    pub summary: Summary,
    /// Work of this superstep that no [`PageDone`] has reported.
    pub work: PageWork,
    /// Bytes moved and times; all zero for a device that computes where the pages lie.
    pub transfer: Transfer,
    /// Exchange between several devices.
    pub exchange: ExchangeWork,
    /// Nanoseconds of the vertex phase or the census, by the device's clock.
    pub vertex_ns: u64,
}

/// Supersteps that a device has run without the engine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunAhead {
    /// The supersteps, in order; none if the device cannot run the one that it was asked for.
    pub supersteps: Vec<Ahead>,
    /// The superstep that comes next, if there were any; `None` if the algorithm is done.
    pub next: Option<Step>,
}

/// A superstep that a device has run without the engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ahead {
    /// The superstep.
    pub step: Step,
    /// Its results.
    pub end: StepEnd,
    /// The number of pages that it visited: all of them were in the device's own memory.
    pub pages: u64,
    /// The time that it took, in nanoseconds.
    pub wall_ns: u64,
}

/// Exchange between devices that share a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExchangeWork {
    /// Bytes written to main memory for others, and bytes read there, over all devices.
    pub bytes: u64,
    /// The time that it took, in nanoseconds.
    pub ns: u64,
}

/// Transfers of a superstep's pages to a device with memory of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[doc(hidden)]
pub struct Transfer {
    /// Pages that lay in the device's memory already.
    pub resident_pages: u64,
    /// Bytes of pages that were copied to the device's memory.
    pub copied_bytes: u64,
    /// Bytes of pages that kernels read where they lay, in main memory.
    pub in_place_bytes: u64,
    /// Nanoseconds of kernels that read pages where they lay, in main memory.
    pub in_place_ns: u64,
    /// Nanoseconds of copies.
    pub copy_ns: u64,
    /// Nanoseconds of copies while kernels ran.
    pub overlap_ns: u64,
    /// Nanoseconds of kernels over vertices and the page directory, at the end.
    pub vertex_kernels_ns: u64,
    /// How often kernels were launched over batches of pages.
    pub batches: u64,
}

impl Transfer {
    /// Adds another superstep's numbers.
    pub(crate) fn add(&mut self, other: &Self) {
        self.resident_pages += other.resident_pages;
        self.copied_bytes += other.copied_bytes;
        self.in_place_bytes += other.in_place_bytes;
        self.in_place_ns += other.in_place_ns;
        self.copy_ns += other.copy_ns;
        self.overlap_ns += other.overlap_ns;
        self.vertex_kernels_ns += other.vertex_kernels_ns;
        self.batches += other.batches;
    }
}

/// The work of one of several devices.
#[derive(Clone, Debug, serde::Serialize)]
pub struct DeviceReport {
    /// The device.
    pub device: String,
    /// Its own vertices: the first, and the one after the last.
    pub own: (u64, u64),
    /// Pages that it worked on, over all supersteps.
    pub pages: u64,
    /// Neighbours in the lists that it opened.
    pub edges: u64,
    /// Nanoseconds in which it computed.
    pub compute_ns: u64,
}

/// A device that runs an algorithm over pages.
pub trait Device: Send {
    /// Its name in reports.
    fn name(&self) -> String;

    /// The number of threads (or the like) over which [`PageWork`] adds up time.
    fn lanes(&self) -> u32;

    /// Sets the algorithm's first values and seeds, and returns the sums over all vertices.
    ///
    /// # Errors
    /// The device's errors; likewise in the methods below.
    fn initialise(&mut self) -> Result<Scalars>;

    /// The pages that a superstep visits, in file order.
    ///
    /// # Errors
    /// See [`initialise`](Self::initialise).
    fn pages(&mut self, step: &Step) -> Result<PagePlan>;

    /// Runs supersteps from `step` on, as long as every page that they visit is in the device's own memory, and calls
    /// [`Algorithm::next`](crate::model::algorithm::Algorithm::next) between them. Returns now and then, so that the
    /// run can be cancelled, and is called again with the superstep that comes next.
    ///
    /// # Errors
    /// See [`initialise`](Self::initialise).
    fn run_ahead(&mut self, _step: &Step) -> Result<RunAhead> {
        Ok(RunAhead::default())
    }

    /// Begins a superstep: pages that are submitted from here on belong to it.
    ///
    /// # Errors
    /// See [`initialise`](Self::initialise).
    fn begin(&mut self, step: &Step) -> Result<()>;

    /// Keeps active vertices of pages that the superstep does not visit active in the next one, or notes that they
    /// are [deferred](crate::model::algorithm::Algorithm::deferred). Once at most between its beginning and its end.
    ///
    /// # Errors
    /// See [`initialise`](Self::initialise).
    fn defer(&mut self, step: &Step, pages: &[PageRef]) -> Result<()>;

    /// Returns pages that the superstep after `step` visits if it is of the same kind, as far as they are known while
    /// the device works on `step`; a hint.
    fn upcoming(&mut self, _step: &Step) -> Vec<PageRef> {
        Vec::new()
    }

    /// Returns the number of pages that the device keeps in its own memory from one run to the next.
    fn pages_kept(&self) -> u64 {
        0
    }

    /// Returns those of the pages that do not lie in the device's own memory, in order. Starts nothing.
    fn missing(&mut self, pages: Vec<PageRef>) -> Vec<PageRef> {
        pages
    }

    /// Starts on those of the pages that lie in the device's own memory; returns the others, in order. They are done by
    /// the [`end`](Self::end) of the superstep.
    fn start_resident(&mut self, pages: Vec<PageRef>, _policy: Policy) -> Vec<PageRef> {
        pages
    }

    /// Takes a page. Never blocks; frames bound how many there are.
    fn submit(&mut self, task: PageTask);

    /// Appends pages that are done; pending while there are none. Must not be called with nothing submitted.
    ///
    /// # Errors
    /// See [`initialise`](Self::initialise).
    fn poll_done(&mut self, context: &mut Context<'_>, done: &mut Vec<PageDone>) -> Poll<Result<()>>;

    /// Ends a superstep, after all pages that were submitted are done: the vertex phase, or, in a traversal, the change
    /// of frontiers.
    ///
    /// # Errors
    /// See [`initialise`](Self::initialise).
    fn end(&mut self, step: &Step) -> Result<StepEnd>;

    /// Shows the values of all vertices as they are between two supersteps, `next` being the second one, and the
    /// frontier of that. The run goes on afterwards.
    ///
    /// # Errors
    /// See [`initialise`](Self::initialise).
    fn save(&mut self, next: &Step, look: &mut dyn FnMut(&State)) -> Result<()>;

    /// Has the run go on with a superstep, in the place of [`initialise`](Self::initialise): `load` sets the values of
    /// all vertices, in a state of zeros, as they were [saved](Self::save).
    ///
    /// # Errors
    /// Those of `load`; see [`initialise`](Self::initialise).
    fn restore(&mut self, next: &Step, load: &mut dyn FnMut(&State) -> Result<()>) -> Result<()>;

    /// Brings the values of all vertices to main memory.
    ///
    /// # Errors
    /// See [`initialise`](Self::initialise).
    fn finish(self: Box<Self>) -> Result<State>;

    /// What each of several devices that share the run has done so far; nothing for one device.
    fn reports(&self) -> Vec<DeviceReport> {
        Vec::new()
    }
}

/// A device that shares a run with others. In a superstep, after all pages:
///
/// ```text
///  traversals:  begin_round(Collect …) · end_round ─▶ receive(Apply …) ─▶ begin_end · end (census)
///  others:      rounds of Put and Merge, the last merges by receive ─▶ begin_end(Put …) · end (vertex phase)
///               ─▶ receive(Take …)
/// ```
///
/// Methods that begin something do not block for long, so that all devices work at the same time. The vertex phase and
/// the census are those of the device's [own](crate::model::Part) vertices; [`Device::pages`] covers all vertices that
/// are visited, as far as the device knows (its own ones, where it visits those that are not in a set).
pub trait Member: Device {
    /// Begins the moves of a round, in order; pages that were submitted or resident come before. What they write to the
    /// exchange memory can be read by all devices, and what they read may be
    /// overwritten, once the round has ended.
    ///
    /// # Errors
    /// See [`Device::initialise`]; likewise in the methods below.
    fn begin_round(&mut self, moves: Vec<Move>) -> Result<()>;

    /// Waits for the round to end.
    ///
    /// # Errors
    /// See [`begin_round`](Self::begin_round).
    fn end_round(&mut self) -> Result<()>;

    /// Makes moves that write nothing to the exchange memory, before whatever is asked next. What they read is not
    /// needed any more once the next round, or [`Device::end`], has ended.
    ///
    /// # Errors
    /// See [`begin_round`](Self::begin_round).
    fn receive(&mut self, moves: Vec<Move>) -> Result<()>;

    /// Begins what [`Device::end`] waits for, with moves that are made after the vertex phase: what they write to the
    /// exchange memory is visible to all devices once it has ended.
    ///
    /// # Errors
    /// See [`begin_round`](Self::begin_round).
    fn begin_end(&mut self, step: &Step, told: Vec<Move>) -> Result<()>;

    /// Writes the values of its own vertices to the state of the whole run.
    ///
    /// # Errors
    /// See [`begin_round`](Self::begin_round).
    fn contribute(&mut self, state: &State) -> Result<()>;

    /// The same between supersteps, with those of its own vertices that are active in the next one.
    ///
    /// # Errors
    /// See [`begin_round`](Self::begin_round).
    fn contribute_before(&mut self, next: &Step, state: &State) -> Result<()>;

    /// Goes on with a superstep from the state of the whole run, in the place of [`Device::initialise`].
    ///
    /// # Errors
    /// See [`begin_round`](Self::begin_round).
    fn go_on_from(&mut self, next: &Step, state: &Arc<State>) -> Result<()>;
}
