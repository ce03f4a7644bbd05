//! The engine: runs algorithms over a store, superstep by superstep.
//!
//! ```text
//!  run: plan memory ─▶ page pool, fetcher, device ─▶ initialise ─▶ superstep … until the algorithm has no next one
//!
//!  superstep: which pages? ─ in the buffer ──────────────────────────▶ device ─▶ done ─▶ page cache
//!                          └ missing ─▶ a frame ─▶ fetcher ─▶ filled ───▲          │
//!                                          ▲                                       │
//!                                          └───────── frames that are free again ◀─┘
//! ```
//!
//! One task drives the fetcher and the device: it sleeps until the fetcher has filled a frame or the device is done
//! with one. The number of frames bounds every queue.
//!
//! The open engine is here; `run` has its runs and the loop over their supersteps, `session` what a run has while it
//! is in progress, and the other files what these two decide and do.

mod ahead;
mod alternatives;
pub(crate) mod asynchronous;
mod buffer;
mod checkpointing;
mod column;
mod completion;
mod costs;
mod declared;
mod explain;
mod gate;
mod mirrors;
#[cfg(feature = "gpu")]
mod open_gpus;
mod options;
mod preparation;
mod progress;
mod ranks;
mod reactor;
mod reporting;
mod roster;
mod run;
mod session;
mod stream;
mod waits;

pub use crate::device::DeviceChoice;
pub use crate::device::settings::{Distribution, FastPaths, GpuSettings, PageTransfer};
use crate::error::Result;
use crate::model::algorithm::{Algorithm, declaration_of};
pub use crate::pages::fetch::{Faults, FetcherKind};
pub use crate::predict::Rates;
pub use crate::team::{Assignment, Exchanged, Strategy};
use buffer::KeptBuffer;
pub(crate) use checkpointing::KeptRun;
pub use column::{Column, ColumnValue};
use gate::Gate;
#[cfg(feature = "gpu")]
pub use open_gpus::OpenGpus;
pub use options::EngineOptions;
pub use progress::{Moment, Progress, Stage};
use roster::{Kinds, Roster, RunsOn};
pub use run::{Observer, Run};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use topostream_formats::Store;

/// The maximum number of worker threads of a run.
pub const THREADS_MAX: usize = 1024;

/// An open store, and the options, devices and page buffer for runs over it.
pub struct Engine {
    store: Arc<Store>,
    options: EngineOptions,
    buffer: KeptBuffer,
    roster: Roster,
    gate: Gate,
    /// Time lost by alternative supersteps.
    lost: costs::Lost,
    /// Bytes of the budget that are not for runs.
    reserved_bytes: AtomicU64,
}

impl Engine {
    /// Creates an engine over an open store.
    pub fn new(store: Store, options: EngineOptions) -> Self {
        Self::over(Arc::new(store), options)
    }

    /// Creates an engine over a store that others use too.
    fn over(store: Arc<Store>, options: EngineOptions) -> Self {
        Self {
            store,
            buffer: KeptBuffer::default(),
            roster: Roster::new(&options),
            options,
            gate: Gate::default(),
            lost: costs::Lost::default(),
            reserved_bytes: AtomicU64::new(0),
        }
    }

    /// Returns the options of runs.
    #[doc(hidden)]
    pub fn options(&self) -> &EngineOptions {
        &self.options
    }

    /// Returns the largest buffer that every device can bind, in bytes. In a cluster, the devices of all ranks count.
    pub(crate) fn binding_bytes_max(&self) -> Result<u64> {
        Ok(self.kinds()?.binding_bytes_max)
    }

    /// Returns whether all devices are CPUs. In a cluster, the devices of all ranks count.
    pub(crate) fn is_cpu_only(&self) -> Result<bool> {
        Ok(self.kinds()?.cpu.iter().all(|&cpu| cpu))
    }

    /// Returns whether all devices are GPUs. In a cluster, the devices of all ranks count.
    pub(crate) fn is_gpu_only(&self) -> Result<bool> {
        Ok(!self.kinds()?.cpu.contains(&true))
    }

    /// Returns the memory that every GPU has for a run, in bytes. In a cluster, the devices of all ranks count.
    pub(crate) fn device_bytes(&self) -> Result<u64> {
        Ok(self.kinds()?.device_bytes)
    }

    /// Returns whether a run is one CPU's alone, even if the algorithm has a shader: what
    /// [`UnionFind`](crate::algorithms::UnionFind) is for.
    ///
    /// # Errors
    /// Errors from opening the devices.
    pub fn is_one_cpu(&self) -> Result<bool> {
        Ok(self.options.ranks().is_none() && self.kinds()?.cpu == [true])
    }

    /// Returns whether one GPU is all that computes.
    ///
    /// # Errors
    /// Errors from opening the devices.
    pub fn is_one_gpu(&self) -> Result<bool> {
        Ok(self.options.ranks().is_none() && self.kinds()?.cpu == [false])
    }

    /// Opens the devices for an algorithm with a shader, and returns their properties.
    fn kinds(&self) -> Result<Kinds> {
        let EngineOptions { devices, gpu, .. } = &self.options;
        Ok(self.all_devices(&self.roster.open(devices, RunsOn::Any, gpu)?)?.kinds)
    }

    /// The GPU for what an algorithm computes between its runs, if it is the only device.
    ///
    /// # Errors
    /// Errors from opening the devices.
    #[cfg(feature = "gpu")]
    pub(crate) fn compute(&self) -> Result<Option<crate::device::gpu::compute::Compute>> {
        if self.is_one_gpu()? { self.roster.lend() } else { Ok(None) }
    }

    /// Returns the store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Returns the store, for results that outlive the engine.
    #[doc(hidden)]
    pub fn shared_store(&self) -> Arc<Store> {
        Arc::clone(&self.store)
    }

    /// Sets how much of the budget the next runs may not use, in bytes: the memory of results that are kept.
    #[doc(hidden)]
    pub fn reserve(&self, bytes: u64) {
        self.reserved_bytes.store(bytes, Ordering::Relaxed);
    }

    /// Returns the part of the budget that runs may use, in bytes.
    pub(crate) fn usable_bytes(&self) -> u64 {
        self.options.memory_bytes.saturating_sub(self.reserved_bytes.load(Ordering::Relaxed))
    }

    /// Calls `look` with the adapter that is kept from the last run, for tests.
    #[cfg(feature = "gpu")]
    #[doc(hidden)]
    pub fn with_gpu<T>(&self, look: impl FnOnce(&crate::device::gpu::Gpu) -> T) -> Option<T> {
        self.roster.with_gpu(look)
    }

    /// Frees the page buffer of the last run if it does not fit in the budget together with `needed_bytes`.
    pub(crate) fn make_room(&self, needed_bytes: u64) {
        if self.buffer.bytes().saturating_add(needed_bytes) > self.options.memory_bytes {
            self.buffer.free();
        }
    }

    /// Frees the page buffer of the last run, unless a GPU has imported it.
    #[doc(hidden)]
    pub fn free_page_buffer(&self) {
        self.buffer.free();
    }

    /// The number of pages that the last run has left in the page buffer, for the next one.
    #[doc(hidden)]
    pub fn buffered_pages(&self) -> usize {
        self.buffer.pages()
    }

    /// Checks the algorithm's parameters against the graph, as [`run`](Self::run) does before it starts.
    ///
    /// # Errors
    /// [`Error::Parameter`], as from [`run`](Self::run).
    #[doc(hidden)]
    pub fn check(&self, algorithm: &dyn Algorithm) -> Result<()> {
        self.graph(algorithm, &declaration_of(algorithm, &self.store)).map(drop)
    }
}
