//! The options of an engine's runs.

use crate::checkpoint::{self, Checkpoints};
use crate::device::DeviceChoice;
use crate::device::settings::GpuSettings;
use crate::pages::fetch::FetcherKind;
use crate::predict::{Asked, Rates};
use crate::team::{Assignment, Strategy};
use crate::trace::Timeline;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The options of an engine's runs.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// The memory budget of a run, in bytes of main memory.
    pub memory_bytes: u64,
    /// The size of the page buffer, as a part of the budget, in bytes; if `None`, what the rest of the run leaves.
    pub buffer_bytes: Option<u64>,
    /// The number of worker threads, for all devices together: at most [`THREADS_MAX`](super::THREADS_MAX); 0 is taken
    /// as 1.
    pub threads: usize,
    /// The fetcher that reads pages.
    pub fetcher: FetcherKind,
    /// The device, or several devices that share each run. A device that is listed several times is opened several
    /// times. The default is the CPU, for which no driver is loaded.
    pub devices: Vec<DeviceChoice>,
    /// How several devices share a run.
    pub strategy: Strategy,
    /// Which pages go to which device under [`Strategy::Replicate`].
    pub assignment: Assignment,
    /// Whether pages in the page buffer are reprocessed until they converge before others are read. Only for
    /// [monotone](crate::model::algorithm::Algorithm::is_monotone) algorithms.
    pub asynchronous: bool,
    /// The settings of GPU devices.
    pub gpu: GpuSettings,
    /// The checkpoints to write and to resume from, if wanted. Cancellation then takes effect at the end of the
    /// superstep.
    pub checkpoints: Option<Arc<Checkpoints>>,
    /// Set to cancel the run.
    pub cancel: Arc<AtomicBool>,
    /// The timeline to record, if wanted. Its memory is part of the budget.
    pub trace: Option<Arc<Timeline>>,
    /// The machine's measured rates, if known: used to choose a strategy for `auto` and to add predictions to reports.
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
    /// Returns the timeline's part of the budget, in bytes.
    pub(crate) fn trace_bytes(&self) -> u64 {
        self.trace.as_ref().map_or(0, |trace| trace.memory_bytes())
    }

    /// Returns the part of the budget for writing checkpoints, in bytes.
    pub(crate) fn checkpoint_bytes(&self) -> u64 {
        self.checkpoints.as_ref().map_or(0, |_| checkpoint::MEMORY_BYTES)
    }

    /// Returns the options on which the cost model depends.
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
