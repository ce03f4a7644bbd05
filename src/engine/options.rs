//! What a run may use.

use crate::checkpoint::{self, Checkpoints};
use crate::device::DeviceChoice;
use crate::device::settings::GpuSettings;
use crate::pages::fetch::FetcherKind;
use crate::predict::{Asked, Rates};
use crate::team::{Assignment, Strategy};
use crate::trace::Timeline;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What a run may use.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Main memory for everything together, in bytes.
    pub memory_bytes: u64,
    /// The page buffer's share of it, in bytes; what is left after the attributes where none is given.
    pub buffer_bytes: Option<u64>,
    /// Threads that compute: one at least, whatever is asked for, and [`THREADS_MAX`] at most.
    pub threads: usize,
    /// How pages are read.
    pub fetcher: FetcherKind,
    /// What computes: one device, or several that share each run; one may be named several times, and is then opened
    /// several times. The CPU where nothing else is asked for: no driver is looked for.
    pub devices: Vec<DeviceChoice>,
    /// How several devices share a run.
    pub strategy: Strategy,
    /// Which pages go to which of several devices, where each sees some of them.
    pub assignment: Assignment,
    /// Whether pages in the page buffer are processed again before others are read, in algorithms that allow it
    /// ([`Algorithm::is_monotone`]).
    pub asynchronous: bool,
    /// What a GPU may use, and how, where one computes.
    pub gpu: GpuSettings,
    /// Where checkpoints go, and where the run goes on from, where they are asked for. A run that is to stop then ends
    /// its superstep first.
    pub checkpoints: Option<Arc<Checkpoints>>,
    /// Raised by whoever wants the run to stop.
    pub cancel: Arc<AtomicBool>,
    /// Hears what happens when. What it takes is a part of the memory above.
    pub trace: Option<Arc<Timeline>>,
    /// What the machine does in a second, where that has been measured: `auto` decides by it, and reports say what was
    /// to be expected.
    pub rates: Option<Arc<Rates>>,
}

impl Default for EngineOptions {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            memory_bytes: 1 << 30,
            buffer_bytes: None,
            threads,
            fetcher: FetcherKind::Auto,
            devices: vec![DeviceChoice::Cpu],
            strategy: Strategy::Auto,
            assignment: Assignment::Auto,
            asynchronous: false,
            gpu: GpuSettings::default(),
            checkpoints: None,
            cancel: Arc::default(),
            trace: None,
            rates: None,
        }
    }
}

impl EngineOptions {
    /// What the timeline may take of the memory, in bytes.
    pub(crate) fn trace_bytes(&self) -> u64 {
        self.trace.as_ref().map_or(0, |trace| trace.memory_bytes())
    }

    /// What writing checkpoints takes of the memory, in bytes.
    pub(crate) fn checkpoint_bytes(&self) -> u64 {
        self.checkpoints.as_ref().map_or(0, |_| checkpoint::MEMORY_BYTES)
    }

    /// What the cost model depends on.
    pub fn asked(&self) -> Asked {
        Asked {
            memory_bytes: self.memory_bytes,
            trace_bytes: self.trace_bytes(),
            buffer_bytes: self.buffer_bytes,
            strategy: self.strategy,
            assignment: self.assignment,
        }
    }
}
