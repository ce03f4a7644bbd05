//! The options of an engine's runs.

use super::progress::Progress;
use crate::checkpoint::{self, Checkpoints};
use crate::cluster::Cluster;
use crate::device::DeviceChoice;
use crate::device::settings::GpuSettings;
use crate::pages::fetch::FetcherKind;
use crate::predict::{Assumed, Rates, UserOptions};
use crate::team::{Assignment, Exchanged, Strategy};
use crate::trace::Timeline;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The options of an engine's runs: memory, threads, devices, and how devices share the work.
///
/// Values are made from the default by `with_` methods, so that later versions can add options.
///
/// ```
/// use topostream::{DeviceChoice, Engine, EngineOptions, Store};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("chain");
/// # topostream::StoreBuilder::from_edges([(0, 1), (1, 2)]).create(&path)?;
/// let options = EngineOptions::default().with_memory_bytes(4 << 30).with_device(DeviceChoice::Cpu);
/// let engine = Engine::new(Store::open(&path)?, options);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EngineOptions {
    // Each is documented at its setter.
    #[doc(hidden)]
    pub memory_bytes: u64,
    #[doc(hidden)]
    pub buffer_bytes: Option<u64>,
    #[doc(hidden)]
    pub threads: usize,
    #[doc(hidden)]
    pub fetcher: FetcherKind,
    #[doc(hidden)]
    pub devices: Vec<DeviceChoice>,
    #[doc(hidden)]
    pub strategy: Strategy,
    #[doc(hidden)]
    pub assignment: Assignment,
    #[doc(hidden)]
    pub shares: Vec<f64>,
    #[doc(hidden)]
    pub exchanged: Exchanged,
    #[doc(hidden)]
    pub asynchronous: bool,
    #[doc(hidden)]
    pub partial_reads: bool,
    #[doc(hidden)]
    pub all_pages: bool,
    #[doc(hidden)]
    pub single_run: bool,
    #[doc(hidden)]
    pub alternatives: bool,
    #[doc(hidden)]
    pub gpu: GpuSettings,
    #[cfg(feature = "gpu")]
    #[doc(hidden)]
    pub open_gpus: Option<super::OpenGpus>,
    #[doc(hidden)]
    pub checkpoints: Option<Arc<Checkpoints>>,
    #[doc(hidden)]
    pub cluster: Option<Arc<Cluster>>,
    #[doc(hidden)]
    pub cancel: Arc<AtomicBool>,
    #[doc(hidden)]
    pub trace: Option<Arc<Timeline>>,
    #[doc(hidden)]
    pub rates: Option<Arc<Rates>>,
    #[doc(hidden)]
    pub progress: Option<Arc<Progress>>,
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
            shares: Vec::new(),
            exchanged: Exchanged::Mirrored,
            asynchronous: false,
            partial_reads: true,
            all_pages: false,
            single_run: false,
            alternatives: true,
            gpu: GpuSettings::default(),
            #[cfg(feature = "gpu")]
            open_gpus: None,
            checkpoints: None,
            cluster: None,
            cancel: Arc::default(),
            trace: None,
            rates: None,
            progress: None,
        }
    }
}

impl EngineOptions {
    /// The memory budget of a run, in bytes of main memory: attributes, degrees, page buffer and everything else. 1 GiB
    /// by default.
    #[must_use]
    pub fn with_memory_bytes(self, memory_bytes: u64) -> Self {
        Self { memory_bytes, ..self }
    }

    /// The page buffer's part of the budget, in bytes; by default all that the rest of the run leaves.
    #[must_use]
    pub fn with_buffer_bytes(self, buffer_bytes: impl Into<Option<u64>>) -> Self {
        Self { buffer_bytes: buffer_bytes.into(), ..self }
    }

    /// Worker threads of all devices together, at most [`THREADS_MAX`](crate::engine::THREADS_MAX); 0 is taken as 1. By
    /// default one for each hardware thread. They run edge functions and vertex phases of CPUs and check the pages of
    /// GPUs. The thread that feeds a GPU comes on top.
    #[must_use]
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// The fetcher that reads pages.
    #[must_use]
    pub fn with_fetcher(self, fetcher: FetcherKind) -> Self {
        Self { fetcher, ..self }
    }

    /// One device in place of those set before.
    #[must_use]
    pub fn with_device(self, device: DeviceChoice) -> Self {
        Self { devices: vec![device], ..self }
    }

    /// The devices that run algorithms; several share each run. A device that is named twice is opened twice. By
    /// default the CPU, for which no GPU driver is loaded.
    #[must_use]
    pub fn with_devices(self, devices: impl IntoIterator<Item = DeviceChoice>) -> Self {
        Self { devices: devices.into_iter().collect(), ..self }
    }

    /// How several devices share a run.
    #[must_use]
    pub fn with_strategy(self, strategy: Strategy) -> Self {
        Self { strategy, ..self }
    }

    /// Which pages go to which device under [`Strategy::Replicate`].
    #[must_use]
    pub fn with_assignment(self, assignment: Assignment) -> Self {
        Self { assignment, ..self }
    }

    /// The share of the work that each device takes, in the order of ranks and their devices: pages under
    /// [`Strategy::Replicate`], vertices or shards under [`Strategy::Shard`]. Only their ratios count. By default
    /// devices take what measured rates say, or equal shares.
    #[must_use]
    pub fn with_shares(self, shares: impl IntoIterator<Item = f64>) -> Self {
        Self { shares: shares.into_iter().collect(), ..self }
    }

    /// Which values several devices send each other after a superstep of PageRank and its like.
    #[must_use]
    pub fn with_exchanged(self, exchanged: Exchanged) -> Self {
        Self { exchanged, ..self }
    }

    /// Whether pages in the page buffer are reprocessed until they converge before others are read, while few vertices
    /// are active. A traversal has to be [monotone](crate::model::algorithm::Declaration::monotone); algorithms that
    /// are no traversals compute all values anew, and run as they do without it.
    #[must_use]
    pub fn with_asynchronous(self, asynchronous: bool) -> Self {
        Self { asynchronous, ..self }
    }

    /// Whether parts of pages are read where that is predicted to be faster: by a CPU device, of packed pages without
    /// weights, whose visited lists are few. True by default.
    #[must_use]
    pub fn with_partial_reads(self, partial_reads: bool) -> Self {
        Self { partial_reads, ..self }
    }

    /// Whether parts of pages may be read.
    pub(crate) fn reads_parts(&self) -> bool {
        self.partial_reads && !self.all_pages
    }

    /// Whether every superstep visits all pages, also those without an active vertex: what engines without active
    /// partitions do, as a baseline for measurements. Answers are the same. False by default.
    #[must_use]
    pub fn with_all_pages(self, all_pages: bool) -> Self {
        Self { all_pages, ..self }
    }

    /// Whether a superstep may be replaced by an [alternative](crate::model::algorithm::Algorithm::alternatives) that
    /// takes less time; otherwise algorithms choose by themselves. For comparisons.
    #[doc(hidden)]
    #[must_use]
    pub fn with_alternatives(self, alternatives: bool) -> Self {
        Self { alternatives, ..self }
    }

    /// Memory and paths of each GPU.
    #[must_use]
    pub fn with_gpu(self, gpu: GpuSettings) -> Self {
        Self { gpu, ..self }
    }

    /// GPUs that stay open between engines. By default an engine opens its own, and closes them when it is dropped.
    #[cfg(feature = "gpu")]
    #[must_use]
    pub fn with_open_gpus(self, open_gpus: impl Into<Option<super::OpenGpus>>) -> Self {
        Self { open_gpus: open_gpus.into(), ..self }
    }

    /// The folder to which a run writes checkpoints, and from which it resumes. A run with checkpoints finishes its
    /// superstep before it stops.
    #[must_use]
    pub fn with_checkpoints(self, checkpoints: impl Into<Option<Arc<Checkpoints>>>) -> Self {
        Self { checkpoints: checkpoints.into(), ..self }
    }

    /// The ranks that share runs. Each has an engine over the same graph, with devices of its own, and runs the same
    /// algorithms in the same order; all have the results. By default a run is this process's alone.
    #[doc(hidden)]
    #[must_use]
    pub fn with_cluster(self, cluster: impl Into<Option<Arc<Cluster>>>) -> Self {
        Self { cluster: cluster.into(), ..self }
    }

    /// Set it to true to stop runs: they end with [`Error::Interrupted`](crate::Error::Interrupted).
    #[must_use]
    pub fn with_cancel(self, cancel: Arc<AtomicBool>) -> Self {
        Self { cancel, ..self }
    }

    /// The timeline that records a run. Its memory is part of the budget.
    #[must_use]
    pub fn with_trace(self, trace: impl Into<Option<Arc<Timeline>>>) -> Self {
        Self { trace: trace.into(), ..self }
    }

    /// Measured rates of this machine. [`Strategy::Auto`] uses them, and reports compare them with the run.
    #[must_use]
    pub fn with_rates(self, rates: impl Into<Option<Arc<Rates>>>) -> Self {
        Self { rates: rates.into(), ..self }
    }

    /// Whether the engine is made for a single run: pages that a device keeps in its own memory are then not kept in
    /// main memory too, for other runs that would have to replace them there.
    #[must_use]
    pub fn with_single_run(self, single_run: bool) -> Self {
        Self { single_run, ..self }
    }

    /// Where runs note how far they have come, for other threads.
    #[must_use]
    pub fn with_progress(self, progress: impl Into<Option<Arc<Progress>>>) -> Self {
        Self { progress: progress.into(), ..self }
    }
}

impl EngineOptions {
    /// The ranks that share runs, if there are several.
    pub(crate) fn ranks(&self) -> Option<&Arc<Cluster>> {
        self.cluster.as_ref().filter(|cluster| cluster.is_shared())
    }

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
            assumed: Assumed::default(),
            warm: false,
        }
    }
}
