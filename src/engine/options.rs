//! The options of an engine's runs.

use crate::checkpoint::{self, Checkpoints};
use crate::device::DeviceChoice;
use crate::device::settings::GpuSettings;
use crate::pages::fetch::FetcherKind;
use crate::predict::{Rates, UserOptions};
use crate::team::{Assignment, Strategy};
use crate::trace::Timeline;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The options of an engine's runs: memory, threads, devices, and how devices share the work.
///
/// Fields can be read and assigned. Values are made from the default by `with_` methods, so that later versions can add
/// options.
///
/// ```
/// use topostream::{DeviceChoice, EngineOptions};
///
/// let options = EngineOptions::default().with_memory_bytes(4 << 30).with_device(DeviceChoice::Auto);
/// assert_eq!(options.memory_bytes, 4 << 30);
/// assert_eq!(options.devices, [DeviceChoice::Auto]);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EngineOptions {
    /// The memory budget of a run, in bytes of main memory: attributes, degrees, page buffer and everything else. 1 GiB
    /// by default.
    pub memory_bytes: u64,
    /// The page buffer's part of the budget, in bytes; by default all that the rest of the run leaves.
    pub buffer_bytes: Option<u64>,
    /// Worker threads of all devices together, at most [`THREADS_MAX`](crate::engine::THREADS_MAX); 0 is taken as 1. By
    /// default one for each hardware thread. They run edge functions and vertex phases of CPUs and check the pages of
    /// GPUs. The thread that feeds a GPU comes on top.
    pub threads: usize,
    /// The fetcher that reads pages.
    pub fetcher: FetcherKind,
    /// The devices that run algorithms; several share each run. A device that is named twice is opened twice. By
    /// default the CPU, for which no GPU driver is loaded.
    pub devices: Vec<DeviceChoice>,
    /// How several devices share a run.
    pub strategy: Strategy,
    /// Which pages go to which device under [`Strategy::Replicate`].
    pub assignment: Assignment,
    /// Whether pages in the page buffer are reprocessed until they converge before others are read. Only for
    /// [monotone](crate::model::algorithm::Algorithm::is_monotone) algorithms.
    pub asynchronous: bool,
    /// Memory and paths of each GPU.
    pub gpu: GpuSettings,
    /// The folder to which a run writes checkpoints, and from which it resumes. A run with checkpoints finishes its
    /// superstep before it stops.
    pub checkpoints: Option<Arc<Checkpoints>>,
    /// Set it to true to stop runs: they end with [`Error::Interrupted`](crate::Error::Interrupted).
    pub cancel: Arc<AtomicBool>,
    /// The timeline that records a run. Its memory is part of the budget.
    pub trace: Option<Arc<Timeline>>,
    /// Measured rates of this machine. [`Strategy::Auto`] uses them, and reports compare them with the run.
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

/// Setters; each is named after its field.
impl EngineOptions {
    /// Main memory of a run, in bytes.
    #[must_use]
    pub fn with_memory_bytes(self, memory_bytes: u64) -> Self {
        Self { memory_bytes, ..self }
    }

    /// The page buffer's share of the memory, in bytes.
    #[must_use]
    pub fn with_buffer_bytes(self, buffer_bytes: impl Into<Option<u64>>) -> Self {
        Self { buffer_bytes: buffer_bytes.into(), ..self }
    }

    /// Worker threads of all devices together.
    #[must_use]
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// How pages are read.
    #[must_use]
    pub fn with_fetcher(self, fetcher: FetcherKind) -> Self {
        Self { fetcher, ..self }
    }

    /// One device in place of those set before.
    #[must_use]
    pub fn with_device(self, device: DeviceChoice) -> Self {
        Self { devices: vec![device], ..self }
    }

    /// The devices that share each run, in place of those set before.
    #[must_use]
    pub fn with_devices(self, devices: impl IntoIterator<Item = DeviceChoice>) -> Self {
        Self { devices: devices.into_iter().collect(), ..self }
    }

    /// How several devices share a run.
    #[must_use]
    pub fn with_strategy(self, strategy: Strategy) -> Self {
        Self { strategy, ..self }
    }

    /// Which pages go to which device.
    #[must_use]
    pub fn with_assignment(self, assignment: Assignment) -> Self {
        Self { assignment, ..self }
    }

    /// Whether pages in the page buffer are processed again before others are read.
    #[must_use]
    pub fn with_asynchronous(self, asynchronous: bool) -> Self {
        Self { asynchronous, ..self }
    }

    /// Memory and paths of each GPU.
    #[must_use]
    pub fn with_gpu(self, gpu: GpuSettings) -> Self {
        Self { gpu, ..self }
    }

    /// Where a run writes checkpoints, and resumes from.
    #[must_use]
    pub fn with_checkpoints(self, checkpoints: impl Into<Option<Arc<Checkpoints>>>) -> Self {
        Self { checkpoints: checkpoints.into(), ..self }
    }

    /// The flag that stops runs.
    #[must_use]
    pub fn with_cancel(self, cancel: Arc<AtomicBool>) -> Self {
        Self { cancel, ..self }
    }

    /// Records the timeline of a run.
    #[must_use]
    pub fn with_trace(self, trace: impl Into<Option<Arc<Timeline>>>) -> Self {
        Self { trace: trace.into(), ..self }
    }

    /// Measured rates of this machine.
    #[must_use]
    pub fn with_rates(self, rates: impl Into<Option<Arc<Rates>>>) -> Self {
        Self { rates: rates.into(), ..self }
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
    #[doc(hidden)]
    pub fn cost_options(&self) -> UserOptions {
        UserOptions {
            memory_bytes: self.memory_bytes,
            trace_bytes: self.trace_bytes(),
            buffer_bytes: self.buffer_bytes,
            strategy: self.strategy,
            assignment: self.assignment,
        }
    }
}
