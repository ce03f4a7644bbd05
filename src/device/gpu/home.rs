//! An open adapter between runs, with what it holds of the graph: a run finds there what the last one left.

use super::adapters::Adapter;
use super::arena::Arena;
use super::buffers::GraphBuffers;
use super::import::HostImport;
use super::kernels::Kernels;
use super::open::{Gpu, GpuOptions};
use super::plan::DevicePlan;
use super::transfer::TransferQueue;
use crate::device::exchange::ExchangeMemory;
use crate::device::settings::GpuSettings;
use crate::error::Result;
use crate::model::Part;
use crate::model::algorithm::Graph;
use crate::model::attributes::Role;
use crate::pages::fetch::{PagePool, PageRef};
use std::sync::Arc;
use topostream_formats::Store;

/// An open adapter and what outlives a run on it.
pub struct Home {
    // Buffers and queue go before the device does.
    pub(super) transfer: Option<TransferQueue>,
    pub(super) import: Option<(Arc<PagePool>, HostImport)>,
    pub(super) arena: Option<Arena>,
    /// Unit rows: of the pages in slots, which outlive a run as the pages do, then of those in frames.
    rows: Option<wgpu::Buffer>,
    /// Which page's row each frame has. It outlives a run, as pages in frames do: a later search finds its rows there.
    pub(super) frame_rows: Vec<Option<PageRef>>,
    /// What decides where rows lie and what they say: words of a row, slots, whether there are weights.
    rows_shape: (u64, u32, bool),
    /// The import of exchange memory, where devices share runs.
    exchange: Option<(Arc<ExchangeMemory>, HostImport)>,
    pub(super) graph: Option<GraphBuffers>,
    pub(super) kernels: Kernels,
    pub(super) settings: GpuSettings,
    pub(super) gpu: Gpu,
}

impl Home {
    /// Opens an adapter.
    ///
    /// # Errors
    /// What the driver says.
    pub fn open(adapter: &Adapter, settings: &GpuSettings) -> Result<Self> {
        let allowed = settings.fast_paths;
        let options = GpuOptions {
            binding_bytes_max: settings.binding_bytes_max,
            host_import: allowed.host_import,
            transfer_queue: allowed.transfer_queue,
            float_atomics: allowed.float_atomics,
            wide_atomics: allowed.wide_integers,
            subgroups: allowed.subgroups,
        };
        let gpu = Gpu::open(adapter, &options)?;
        let transfer = match settings.copies_on_compute_queue {
            true => Some(TransferQueue::beside_wgpu(&gpu)?),
            false => gpu.caps().transfer_family.map(|_| TransferQueue::new(&gpu)).transpose()?,
        };
        Ok(Self {
            transfer,
            import: None,
            arena: None,
            rows: None,
            frame_rows: Vec::new(),
            rows_shape: (0, 0, false),
            exchange: None,
            graph: None,
            kernels: Kernels::default(),
            settings: settings.clone(),
            gpu,
        })
    }

    /// The adapter's name.
    pub fn name(&self) -> String {
        self.gpu.name().to_owned()
    }

    /// Whether it can be used for another run.
    pub fn is_sound(&self) -> bool {
        self.gpu.check().is_ok()
    }

    /// The adapter itself, for tests of what happens when it is lost.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Makes degrees and directories, the arena and the import what a plan asks for, as far as they are not already.
    pub(super) fn prepare(
        &mut self,
        plan: &DevicePlan,
        store: &Store,
        graph: &Graph,
        pool: &Arc<PagePool>,
        frames: u32,
        part: &Part,
    ) -> Result<()> {
        let shape = (plan.slots, plan.slot_bytes, plan.stream_slots);
        if self.arena.as_ref().is_none_or(|arena| arena.shape() != shape) {
            // The old one goes first: both may not fit.
            (self.arena, self.rows) = (None, None);
            self.gpu.poll()?;
            self.arena = Some(Arena::new(&self.gpu, plan.slots, plan.slot_bytes, plan.stream_slots)?);
        }
        self.make_room_for_rows(plan, frames)?;
        let (log2, degrees, packs) = (plan.chunk_vertices_log2, part.held(Role::Own), plan.outgoing_bytes > 0);
        if self.graph.as_ref().is_none_or(|graph| graph.shape() != (log2, degrees.clone(), packs)) {
            self.graph = None;
            self.gpu.poll()?;
            self.graph = Some(GraphBuffers::new(&self.gpu, store, graph, log2, degrees, packs)?);
        }
        if self.import.as_ref().is_some_and(|(imported, _)| !Arc::ptr_eq(imported, pool)) {
            self.import = None;
            self.gpu.poll()?;
        }
        if self.import.is_none() && self.gpu.caps().host_import {
            let frame_bytes = pool.frame_bytes() as u64;
            let chunk =
                self.gpu.caps().binding_bytes_max.min(self.gpu.caps().buffer_bytes_max) / frame_bytes * frame_bytes;
            let memory = Arc::clone(pool) as Arc<dyn super::import::HostMemory>;
            let import = HostImport::new(&self.gpu, memory, chunk.min(pool.memory().len() as u64))?;
            self.import = Some((Arc::clone(pool), import));
        }
        Ok(())
    }

    /// Makes the rows as long as they must be, and keeps those of the slots.
    fn make_room_for_rows(&mut self, plan: &DevicePlan, frames: u32) -> Result<()> {
        let shape = (plan.row_words, plan.slots, plan.weights);
        if self.rows_shape != shape {
            self.frame_rows.clear();
        }
        self.rows_shape = shape;
        self.frame_rows.resize(frames as usize, None);
        let bytes = (4 * plan.row_words * (u64::from(plan.slots) + u64::from(frames))).max(16);
        if self.rows.as_ref().is_some_and(|rows| rows.size() >= bytes) {
            return Ok(());
        }
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
        self.frame_rows.fill(None);
        let rows = self.gpu.buffer("unit rows", bytes, usage)?;
        let kept_bytes = 4 * plan.row_words * u64::from(plan.slots);
        if let Some(old) = self.rows.take().filter(|_| kept_bytes > 0) {
            let mut encoder = self.gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            encoder.copy_buffer_to_buffer(&old, 0, &rows, 0, kept_bytes);
            self.gpu.queue().submit([encoder.finish()]);
        }
        self.rows = Some(rows);
        Ok(())
    }

    /// Exchange memory as the adapter reaches it: imported once, for as long as runs share the same.
    pub(super) fn import_exchange(&mut self, memory: &Arc<ExchangeMemory>, chunk_bytes: u64) -> Result<&HostImport> {
        if self.exchange.as_ref().is_none_or(|(imported, _)| !Arc::ptr_eq(imported, memory)) {
            self.forget_exchange()?;
            self.exchange = Some((Arc::clone(memory), HostImport::exchange(&self.gpu, memory, chunk_bytes)?));
        }
        Ok(&self.exchange.as_ref().expect("just imported").1)
    }

    /// Lets exchange memory of runs before go.
    pub(super) fn forget_exchange(&mut self) -> Result<()> {
        if self.exchange.take().is_some() {
            self.gpu.poll()?;
        }
        Ok(())
    }

    /// Unit rows of the pages in slots and in frames.
    pub(super) fn rows(&self) -> &wgpu::Buffer {
        self.rows.as_ref().expect("prepared with the run")
    }
}
