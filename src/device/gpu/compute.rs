//! Kernels that are not part of a run, for algorithms that compute between their runs: buffers, kernels of
//! [plain](super::compose::plain) modules, and commands as data.
//!
//! ```text
//!  bytes ─▶ Memory ─┐
//!  Module ─▶ Kernel ┴▶ Bound ─▶ [Command] ─▶ queue ─▶ bytes
//! ```

use super::adapter::open::Gpu;
use super::adapter::pipeline_cache::DiskCache;
use super::adapter::readback::{PATIENCE, READBACK, read_buffer};
use super::compose::Module;
use super::kernels::Kernel;
use crate::error::{Error, Result};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use wgpu::BufferUsages as Usage;

/// Bytes that are written, or read, at a time.
const PIECE_BYTES: u64 = 32 << 20;
/// Workgroups of a dispatch in its first dimension, beyond which it has a second one.
const ROW: u32 = 1 << 15;

/// A GPU that no run uses meanwhile.
pub struct Compute {
    gpu: Arc<Gpu>,
    budget_bytes: u64,
    /// By the texts of their modules. A thread that needs a kernel waits for one that is compiling it.
    kernels: Mutex<HashMap<String, Compiled>>,
}

/// A kernel, once it is compiled.
type Compiled = Arc<Mutex<Option<Arc<Kernel>>>>;

/// A buffer in device memory.
#[derive(Clone, Debug)]
pub struct Memory(wgpu::Buffer);

/// A kernel with the buffers that it binds.
#[derive(Clone)]
pub struct Bound {
    kernel: Arc<Kernel>,
    groups: Vec<wgpu::BindGroup>,
}

/// Uniforms of one size, of which a command names one.
#[derive(Clone)]
pub struct Uniforms {
    buffer: wgpu::Buffer,
    bytes: u64,
    stride: u64,
    groups: Vec<wgpu::BindGroup>,
}

/// Work for the device.
#[derive(Clone)]
pub enum Command {
    /// A kernel with a uniform, by its number, of this many workgroups.
    Run(Bound, usize, u32),
    /// Sets bytes of a buffer to zero, from an offset on.
    Clear(Memory, u64, u64),
    /// Copies bytes from one buffer to the start of another.
    Copy(Memory, u64, Memory, u64),
}

impl Compute {
    /// Kernels on an open adapter, within this much device memory.
    pub fn new(gpu: Arc<Gpu>, budget_bytes: u64) -> Self {
        Self { gpu, budget_bytes, kernels: Mutex::default() }
    }

    /// The adapter's name.
    pub fn name(&self) -> &str {
        self.gpu.name()
    }

    /// Device memory for everything together, in bytes.
    pub fn budget_bytes(&self) -> u64 {
        self.budget_bytes
    }

    /// The most bytes of a buffer that kernels bind.
    pub fn binding_bytes_max(&self) -> u64 {
        self.gpu.caps().binding_bytes_max
    }

    /// The most bytes of a kernel's workgroup memory, and its most buffers.
    pub fn limits(&self) -> (u32, u32) {
        (self.gpu.device().limits().max_compute_workgroup_storage_size, self.gpu.caps().storage_buffers_max)
    }

    /// Whether it is a card, rather than software or a part of the processor.
    pub fn is_discrete(&self) -> bool {
        self.gpu.is_discrete()
    }

    /// Whether the driver ends long loops early ([`super::rounds`]).
    pub fn limits_loops(&self) -> bool {
        self.gpu.caps().loops_limited
    }

    /// A buffer of zeros.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`](crate::error::GpuError::OutOfMemory); other errors of the device.
    pub fn memory(&self, label: &str, bytes: u64) -> Result<Memory> {
        let usage = Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST;
        Ok(Memory(self.gpu.buffer(label, bytes.next_multiple_of(16).max(16), usage)?))
    }

    /// Writes to the start of a buffer.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn write(&self, memory: &Memory, bytes: &[u8]) -> Result<()> {
        for (number, piece) in bytes.chunks(PIECE_BYTES as usize).enumerate() {
            self.gpu.queue().write_buffer(&memory.0, number as u64 * PIECE_BYTES, piece);
            // Otherwise all pieces would be in main memory twice.
            let submission = self.gpu.queue().submit([]);
            if number % 4 == 3 {
                self.wait(submission)?;
            }
        }
        Ok(self.gpu.check()?)
    }

    /// A kernel, compiled once.
    ///
    /// # Errors
    /// [`Error::Shader`]; errors of the device.
    pub fn kernel(&self, module: &Module) -> Result<Arc<Kernel>> {
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        let place = Arc::clone(kernels.entry(module.text.clone()).or_default());
        drop(kernels);
        // Each change is one assignment, so that a panic leaves the table whole.
        let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = &*place {
            return Ok(Arc::clone(kernel));
        }
        let kernel = Kernel::new(&self.gpu, &module.label, module, true).or_else(|error| {
            super::compose::check(module).map_err(|error| Error::Shader(error.to_string()))?;
            Err(error)
        });
        let kernel = Arc::new(kernel?);
        *place = Some(Arc::clone(&kernel));
        Ok(kernel)
    }

    /// Writes the compiled kernels to disk, if they are kept there. A failure only costs the next process time.
    pub fn save(&self) {
        self.gpu.pipelines().map(DiskCache::save);
    }

    /// Binds the buffers of a kernel, which are found by name.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn bind<'a>(&self, kernel: &Arc<Kernel>, find: impl Fn(&str) -> &'a Memory) -> Result<Bound> {
        let buffers: Vec<&Memory> = kernel.names(0).map(find).collect();
        let entries: Vec<_> = buffers.iter().map(|memory| memory.0.as_entire_binding()).collect();
        let group = self.bound(kernel, 0, entries)?;
        Ok(Bound { kernel: Arc::clone(kernel), groups: group.into_iter().collect() })
    }

    fn bound(
        &self,
        kernel: &Kernel,
        group: u32,
        entries: Vec<wgpu::BindingResource<'_>>,
    ) -> Result<Option<wgpu::BindGroup>> {
        let Some(layout) = kernel.layout(group) else { return Ok(None) };
        let entry = |(binding, resource)| wgpu::BindGroupEntry { binding, resource };
        let entries: Vec<_> = (0..).zip(entries).map(entry).collect();
        let descriptor = wgpu::BindGroupDescriptor { label: None, layout, entries: &entries };
        Ok(Some(self.gpu.scoped("a bind group", || self.gpu.device().create_bind_group(&descriptor))?))
    }

    /// This many uniforms of some bytes for a kernel, and others with one uniform.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn uniforms(&self, kernel: &Kernel, count: usize, bytes: u64) -> Result<Uniforms> {
        // The largest alignment that a device may ask for.
        let stride = bytes.next_multiple_of(256);
        let usage = Usage::UNIFORM | Usage::COPY_DST;
        let buffer = self.gpu.buffer("uniforms", stride * count.max(1) as u64, usage)?;
        let bind = |at: u64| {
            let size = wgpu::BufferSize::new(bytes);
            let range = wgpu::BufferBinding { buffer: &buffer, offset: at * stride, size };
            self.bound(kernel, 1, vec![wgpu::BindingResource::Buffer(range)])
        };
        let groups = (0..count as u64).map(bind).collect::<Result<Option<Vec<_>>>>()?.unwrap_or_default();
        Ok(Uniforms { buffer, bytes, stride, groups })
    }

    /// Sets all uniforms, before the commands that are submitted next.
    pub fn set(&self, uniforms: &Uniforms, values: &[u8]) {
        let mut all = vec![0; uniforms.stride as usize * uniforms.groups.len()];
        let places = all.chunks_mut(uniforms.stride as usize);
        places
            .zip(values.chunks(uniforms.bytes as usize))
            .for_each(|(to, from)| to[..from.len()].copy_from_slice(from));
        self.gpu.queue().write_buffer(&uniforms.buffer, 0, &all);
    }

    /// Submits commands, which run in order.
    ///
    /// # Errors
    /// Errors of the device so far.
    pub fn submit(&self, commands: &[Command], uniforms: &Uniforms) -> Result<()> {
        self.gpu.queue().submit([self.encoded(commands, uniforms).finish()]);
        Ok(self.gpu.poll()?)
    }

    /// Submits commands, waits for them, and reads bytes of a buffer, from a word on.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn submit_and_read(
        &self,
        commands: &[Command],
        uniforms: &Uniforms,
        (memory, word): (&Memory, u32),
        readback: &Readback,
    ) -> Result<Vec<u8>> {
        let mut encoder = self.encoded(commands, uniforms);
        encoder.copy_buffer_to_buffer(&memory.0, 4 * u64::from(word), &readback.0, 0, readback.0.size());
        let submission = self.gpu.queue().submit([encoder.finish()]);
        read_buffer(&self.gpu, &readback.0, submission, readback.0.size())
    }

    /// A buffer to read so many bytes.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn readback(&self, bytes: u64) -> Result<Readback> {
        Ok(Readback(self.gpu.buffer("readback", bytes.next_multiple_of(8), READBACK)?))
    }

    /// Reads the first words of a buffer.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn read(&self, memory: &Memory, count: u64) -> Result<Vec<u32>> {
        let mut words = Vec::with_capacity(count as usize);
        let piece_bytes = PIECE_BYTES.min(4 * count).next_multiple_of(8);
        let readback = self.readback(piece_bytes.max(8))?;
        let mut at = 0;
        while at < 4 * count {
            let bytes = piece_bytes.min(4 * count - at);
            let mut encoder = self.gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            encoder.copy_buffer_to_buffer(&memory.0, at, &readback.0, 0, bytes);
            let submission = self.gpu.queue().submit([encoder.finish()]);
            let read = read_buffer(&self.gpu, &readback.0, submission, bytes)?;
            words.extend(read.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))));
            at += bytes;
        }
        Ok(words)
    }

    fn encoded(&self, commands: &[Command], uniforms: &Uniforms) -> wgpu::CommandEncoder {
        let mut encoder = self.gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut commands = commands.iter().peekable();
        while let Some(command) = commands.next() {
            match command {
                Command::Clear(memory, at, bytes) => encoder.clear_buffer(&memory.0, *at, Some(*bytes)),
                Command::Copy(from, at, to, bytes) => {
                    encoder.copy_buffer_to_buffer(&from.0, *at, &to.0, 0, *bytes);
                }
                Command::Run(..) => {
                    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                    let mut next = Some(command);
                    while let Some(Command::Run(bound, uniform, workgroups)) = next {
                        bound.kernel.encode(&mut pass, &bound.groups);
                        pass.set_bind_group(1, &uniforms.groups[*uniform], &[]);
                        pass.dispatch_workgroups(ROW.min(*workgroups), workgroups.div_ceil(ROW), 1);
                        next = commands.next_if(|next| matches!(next, Command::Run(..)));
                    }
                }
            }
        }
        encoder
    }

    fn wait(&self, submission: wgpu::SubmissionIndex) -> Result<()> {
        match self.gpu.wait(submission, PATIENCE)? {
            true => Ok(()),
            false => Err(self.gpu.health().lost("a copy did not end").into()),
        }
    }
}

/// A buffer in main memory that the device copies to.
pub struct Readback(wgpu::Buffer);
