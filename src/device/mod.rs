//! Devices: what holds attributes, takes filled pages, and runs an algorithm's edge function over them.

mod choice;
mod cpu;
#[cfg(feature = "gpu")]
pub mod gpu;

pub use choice::DeviceChoice;
pub use cpu::CpuDevice;

use crate::algorithm::{Scalars, Step};
use crate::fetch::{Frame, PageRef};
use std::task::{Context, Poll};
use topostream_formats::Error;

/// A filled frame for a device to work through.
#[derive(Debug)]
pub struct PageTask {
    /// The page.
    pub page: PageRef,
    /// The frame with it. The device owns it until it reports.
    pub frame: Frame,
    /// Whether the page has just been read, and must be checked before it is used.
    pub fresh: bool,
}

/// What became of a [`PageTask`].
#[derive(Debug)]
pub struct PageDone {
    /// The page.
    pub page: PageRef,
    /// The frame.
    pub frame: Frame,
    /// The work that was done, or what is wrong with the page: then none of it has been used.
    pub result: Result<Work, Error>,
}

/// Work on pages, and the time it took, added up over threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Neighbours in the lists that were opened.
    pub edges: u64,
    /// Nanoseconds of edge functions.
    pub compute_ns: u64,
    /// Nanoseconds of checking pages.
    pub check_ns: u64,
}

impl std::ops::AddAssign for Work {
    fn add_assign(&mut self, other: Self) {
        self.edges += other.edges;
        self.compute_ns += other.compute_ns;
        self.check_ns += other.check_ns;
    }
}

/// Something that runs an algorithm over pages.
pub trait Device: Send {
    /// For reports: what it is.
    fn name(&self) -> String;

    /// Threads (or the like) whose time [`Work`] adds up.
    fn lanes(&self) -> u32;

    /// Sets the algorithm's first values; the sums over all vertices.
    fn initialise(&mut self) -> Scalars;

    /// Begins a superstep: pages that are submitted from here on belong to it.
    fn begin(&mut self, step: &Step);

    /// Takes a page. Never blocks; frames bound how many there are.
    fn submit(&mut self, task: PageTask);

    /// Appends what is done; pending while there is nothing. Must not be called with nothing submitted.
    fn poll_done(&mut self, context: &mut Context<'_>, done: &mut Vec<PageDone>) -> Poll<()>;

    /// Ends a superstep, after all of its pages are done: the vertex phase, and the sums over all vertices.
    fn end(&mut self, step: &Step) -> Scalars;
}
