//! An open adapter with the buffers that it keeps between runs.
//!
//! It keeps the pages in the arena, the kernels, the graph's degrees, the import of the page pool, the table of units
//! of pages, and the exchange memory. With `EngineOptions::with_open_gpus` the adapter and its kernels go on to the
//! next engine.

use super::arena::{Arena, Shape};
use super::buffers::GraphBuffers;
use super::plan::{DevicePlan, budget_bytes};
use super::pool_import::PoolImport;
use super::rows::UnitRows;
use super::sizes::Holding;
use crate::device::exchange::ExchangeMemory;
use crate::device::gpu::adapter::adapters::{Adapter, AdapterReport};
use crate::device::gpu::adapter::awake::Awake;
use crate::device::gpu::adapter::import::HostImport;
use crate::device::gpu::adapter::open::{Gpu, GpuOptions};
use crate::device::gpu::adapter::readback::Staging;
use crate::device::gpu::adapter::transfer::TransferQueue;
use crate::device::gpu::compute::Compute;
use crate::device::gpu::kernels::Kernels;
use crate::device::settings::GpuSettings;
use crate::error::{Error, Result};
use crate::model::algorithm::Graph;
use crate::model::vertex_lists::VertexLists;
use crate::pages::fetch::PagePool;
use std::any::Any;
use std::sync::Arc;
use topostream_formats::Store;

/// The most bytes of one download.
pub const DOWNLOAD_BYTES: u64 = 4 << 20;
/// The bytes of a buffer for downloads are a multiple of this.
const DOWNLOAD_UNIT: u64 = 4 << 10;
/// Buffers of downloads. While several are read, on as many threads, the device fills others.
const DOWNLOADS: u32 = 8;

/// An open adapter and its buffers that outlive a run.
pub struct Home {
    // Threads, buffers and queue are dropped before the device.
    awake: Option<Awake>,
    pub(in crate::device::gpu) transfer: Option<TransferQueue>,
    pub(in crate::device::gpu) import: Option<PoolImport>,
    pub(in crate::device::gpu) arena: Option<Arena>,
    pub(in crate::device::gpu) rows: Option<UnitRows>,
    /// Tables of the pages in the arena, from the driver of the last run for the next one.
    pub(in crate::device::gpu) left: Option<Box<dyn Any + Send>>,
    /// The import of exchange memory, if devices share runs.
    exchange: Option<(Arc<ExchangeMemory>, HostImport)>,
    /// Buffers in main memory through which values are read.
    pub(in crate::device::gpu) staging: Staging,
    pub(in crate::device::gpu) graph: Option<GraphBuffers>,
    pub(in crate::device::gpu) kernels: Kernels,
    pub(in crate::device::gpu) settings: GpuSettings,
    adapter: AdapterReport,
    pub(in crate::device::gpu) gpu: Arc<Gpu>,
}

impl Home {
    /// Opens an adapter.
    ///
    /// # Errors
    /// Device errors.
    pub fn open(adapter: &Adapter, settings: &GpuSettings) -> Result<Self> {
        // Read before the driver has opened all files that the process may open.
        let limits = std::fs::read_to_string("/proc/self/limits").ok();
        Self::open_unless_refused(adapter, settings).map_err(|error| match error {
            Error::Gpu(error) => error.with_open_files(limits).into(),
            error => error,
        })
    }

    fn open_unless_refused(adapter: &Adapter, settings: &GpuSettings) -> Result<Self> {
        let gpu = Arc::new(Gpu::open(adapter, &options(settings))?);
        let transfer = match settings.copies_on_compute_queue {
            true => Some(TransferQueue::beside_wgpu(&gpu)?),
            false => gpu.caps().transfer_family.map(|_| TransferQueue::new(&gpu)).transpose()?,
        };
        Ok(Self {
            awake: awake(&gpu, settings),
            transfer,
            import: None,
            arena: None,
            rows: None,
            left: None,
            exchange: None,
            staging: no_staging(),
            graph: None,
            kernels: Kernels::default(),
            settings: settings.clone(),
            adapter: adapter.report.clone(),
            gpu,
        })
    }

    /// Whether these settings would open this adapter in the same way.
    pub(crate) fn is_open_as(&self, adapter: &AdapterReport, settings: &GpuSettings) -> bool {
        let queue = |settings: &GpuSettings| settings.copies_on_compute_queue;
        let same = options(&self.settings) == options(settings) && queue(&self.settings) == queue(settings);
        same && self.adapter == *adapter
    }

    /// The number of kernels that have been compiled.
    pub(crate) fn kernel_count(&self) -> usize {
        self.kernels.count()
    }

    /// The open adapter without anything of a graph, once nothing of it is in use; none if the adapter was lost.
    pub(crate) fn emptied(mut self) -> Option<Self> {
        (self.awake, self.import, self.arena, self.rows, self.left) = (None, None, None, None, None);
        (self.exchange, self.graph) = (None, None);
        self.staging = no_staging();
        self.gpu.poll().ok()?;
        Some(self)
    }

    /// An [emptied](Self::emptied) one for runs with these settings.
    pub(crate) fn begin_again(self, settings: &GpuSettings) -> Self {
        Self { awake: awake(&self.gpu, settings), settings: settings.clone(), ..self }
    }

    /// Ends the thread that keeps the device busy: there is work now.
    pub(in crate::device::gpu) fn rest(&self) {
        if let Some(awake) = &self.awake {
            awake.end();
        }
    }

    /// Like [`rest`](Self::rest), and waits for the thread: called before devices are dropped, when others may be in
    /// use.
    pub(crate) fn rest_at_last(&mut self) {
        self.awake = None;
    }

    /// The open adapter for kernels that are not part of a run, and its memory: frees what is kept of a graph.
    ///
    /// # Errors
    /// Errors of the device.
    pub(crate) fn lend(&mut self) -> Result<Compute> {
        (self.awake, self.import, self.arena, self.rows, self.left) = (None, None, None, None, None);
        (self.exchange, self.graph) = (None, None);
        self.gpu.poll()?;
        let budget_bytes = budget_bytes(&self.settings, self.gpu.caps());
        Ok(Compute::new(Arc::clone(&self.gpu), budget_bytes))
    }

    /// The adapter's name.
    pub fn name(&self) -> String {
        self.gpu.name().to_owned()
    }

    /// Whether it can be used for another run.
    pub fn is_sound(&self) -> bool {
        self.gpu.check().is_ok()
    }

    /// The adapter, for tests of device loss.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Allocates degrees and directories, the arena, its rows and the import according to a plan, unless they exist.
    pub(in crate::device::gpu) fn prepare(
        &mut self,
        plan: &DevicePlan,
        (store, graph, lists): (&Store, &Graph, &Arc<VertexLists>),
        pool: &Arc<PagePool>,
        frames: u32,
        holding: Holding<'_>,
    ) -> Result<()> {
        if self.import.as_ref().is_some_and(|import| !import.is_of(pool)) {
            self.import = None;
            self.gpu.poll()?;
        }
        // The pool is imported last, see `import_pool`, and what comes first is faulted in meanwhile.
        if self.import.is_none() && self.gpu.caps().host_import {
            PoolImport::fault_in_first(&self.gpu, pool);
        }
        let shape = Shape::of(plan);
        if self.arena.as_ref().is_none_or(|arena| arena.shape() != shape) {
            // The old arena is freed first: both may not fit.
            (self.arena, self.rows, self.left) = (None, None, None);
            self.gpu.poll()?;
            self.arena = Some(Arena::new(&self.gpu, shape)?);
        }
        self.rows = Some(UnitRows::new(self.rows.take(), &self.gpu, plan, frames)?);
        let lists = (plan.lists_bytes > 0).then_some(lists);
        if self.graph.as_ref().is_none_or(|graph| !graph.is_of(plan, lists, holding)) {
            self.graph = None;
            self.gpu.poll()?;
            self.graph = Some(GraphBuffers::new(&self.gpu, plan, (store, graph), lists, holding)?);
        }
        Ok(())
    }

    /// Starts importing the pool, unless that is done. Called once everything is allocated: the driver does one of
    /// these at a time, and takes 10 ms for an import of 128 MiB.
    pub(in crate::device::gpu) fn import_pool(&mut self, pool: &Arc<PagePool>) -> Result<()> {
        if self.import.is_none() && self.gpu.caps().host_import {
            self.import = Some(PoolImport::begin(&self.gpu, pool)?);
        }
        Ok(())
    }

    /// Starts to create the buffers for this many downloads, while nothing else needs the driver. No download of the
    /// run has more than `largest_bytes`.
    pub(in crate::device::gpu) fn stage_ahead(&mut self, downloads: u64, largest_bytes: u64) {
        let bytes = largest_bytes.next_multiple_of(DOWNLOAD_UNIT);
        if self.staging.bytes() < bytes {
            self.staging = Staging::new(DOWNLOADS, bytes);
        }
        self.staging.create_ahead(&self.gpu, downloads.min(DOWNLOADS.into()) as u32);
    }

    /// Whether copies between device memory and imported main memory overlap kernels.
    pub(in crate::device::gpu) fn copies_beside(&self) -> bool {
        self.transfer.is_some() && self.gpu.caps().host_import
    }

    /// Whether the device shares no run with others.
    pub(in crate::device::gpu) fn is_alone(&self) -> bool {
        self.exchange.is_none()
    }

    /// The import of exchange memory, created once while runs share the same memory.
    pub(in crate::device::gpu) fn import_exchange(
        &mut self,
        memory: &Arc<ExchangeMemory>,
        chunk_bytes: u64,
    ) -> Result<&HostImport> {
        if self.exchange.as_ref().is_none_or(|(imported, _)| !Arc::ptr_eq(imported, memory)) {
            self.forget_exchange()?;
            self.exchange = Some((Arc::clone(memory), HostImport::exchange(&self.gpu, memory, chunk_bytes)?));
        }
        Ok(&self.exchange.as_ref().expect("just imported").1)
    }

    /// Drops the exchange memory of earlier runs.
    pub(in crate::device::gpu) fn forget_exchange(&mut self) -> Result<()> {
        if self.exchange.take().is_some() {
            self.gpu.poll()?;
        }
        Ok(())
    }
}

/// No buffers for downloads, before the first run.
fn no_staging() -> Staging {
    Staging::new(0, 0)
}

/// A thread that keeps a card awake until there is work for it. None if copies go through the compute queue: two
/// threads would submit to it at once.
fn awake(gpu: &Arc<Gpu>, settings: &GpuSettings) -> Option<Awake> {
    if gpu.is_discrete() && !settings.copies_on_compute_queue { Awake::begin(gpu) } else { None }
}

/// What an adapter is opened with.
fn options(settings: &GpuSettings) -> GpuOptions {
    let allowed = settings.fast_paths;
    GpuOptions {
        binding_bytes_max: settings.binding_bytes_max,
        host_import: allowed.host_import,
        transfer_queue: allowed.transfer_queue,
        float_atomics: allowed.float_atomics,
        wide_atomics: allowed.wide_integers,
        subgroups: allowed.subgroups,
        pipelines: settings.pipelines.clone(),
    }
}
