//! Host memory that the GPU reads in place, and device memory that both of its queues use.
//!
//! ```text
//!   host memory (pages, O_DIRECT target)      │ chunk 0 │ chunk 1 │ … │ tail │     one storage buffer for each
//!                                                  │
//!                    a kernel reads it over the bus │ or a copy fills a slot
//!                                                  ▼
//!   device memory                             │ arena: slot │ slot │ slot │ …
//! ```
//!
//! # Contract
//!
//! Ensured by the types:
//!
//! - Imported memory outlives every use of it: each buffer holds a reference to the host memory, and drops it when wgpu
//!   (and the transfer queue, if there is one) has finished with the buffer, not when the handle is dropped.
//! - The memory is host-coherent. A submission sees everything that the host, the kernel or a disk wrote before it; the
//!   host sees what a device wrote once it has waited for the submission.
//!
//! Ensured by callers:
//!
//! - A frame has one owner at a time. From the submission that reads it until the end of a wait for that submission,
//!   nothing writes to it: the device would read a mixture (but nothing worse: page kernels check their indices).
//! - Kernels bind memory from [`HostImport::new`] as `read`, never as `read_write`.
//! - The contents of a [`device_buffer`] are undefined until they are written.
//!
//! Linux with Vulkan only: elsewhere an import is [`GpuError::Unavailable`], and pages are copied through staging
//! buffers.

pub use super::host_memory::HostMemory;

use super::open::Gpu;
use super::vulkan;
use crate::device::exchange::ExchangeMemory;
use crate::error::{Error, GpuError};
use std::ops::{Deref, Range};
use std::sync::Arc;
use topostream_formats::buffer::AlignedBuffer;
use wgpu::BufferUsages;

/// What a [`device_buffer`] may be used for.
const DEVICE_USAGE: BufferUsages = BufferUsages::STORAGE.union(BufferUsages::COPY_SRC).union(BufferUsages::COPY_DST);

/// The size from which on a buffer has memory of its own: kernels that read at random are faster then
/// (bench/notes/0020).
const ALONE_MIN: u64 = 1 << 20;

/// A [`wgpu::Buffer`] that the transfer queue may use too.
#[derive(Clone, Debug)]
pub struct SharedBuffer {
    // Dropped before the buffer, which keeps the device alive.
    raw: Option<Arc<vulkan::RawBuffer>>,
    buffer: wgpu::Buffer,
}

impl SharedBuffer {
    /// The wgpu buffer.
    pub(in crate::device::gpu) fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    pub(in crate::device::gpu) fn raw(&self) -> Option<&Arc<vulkan::RawBuffer>> {
        self.raw.as_ref()
    }
}

impl Deref for SharedBuffer {
    type Target = wgpu::Buffer;

    fn deref(&self) -> &wgpu::Buffer {
        &self.buffer
    }
}

/// Host memory as storage buffers, one for each chunk.
#[derive(Clone, Debug)]
pub struct HostImport {
    chunks: Vec<SharedBuffer>,
    chunk_bytes: u64,
}

impl HostImport {
    /// Imports all of the memory for reading, in chunks of `chunk_bytes` (the last one may be smaller): a multiple of
    /// the frame's size and of [`super::Caps::import_alignment`], and at most [`super::Caps::binding_bytes_max`].
    ///
    /// # Errors
    /// [`GpuError::Unavailable`] if this memory cannot be imported; [`GpuError::OutOfMemory`] if the driver can pin no
    /// more; the errors of [`Gpu::check`].
    pub fn new(gpu: &Gpu, memory: Arc<dyn HostMemory>, chunk_bytes: u64) -> Result<Self, Error> {
        Self::import(gpu, &memory, chunk_bytes, BufferUsages::STORAGE | BufferUsages::COPY_SRC)
    }

    /// Imports all of the memory for reading and writing by the device.
    ///
    /// # Errors
    /// The errors of [`HostImport::new`].
    ///
    /// # Safety
    /// From a submission that writes to a part of the memory until the end of a wait for it, no reference to that part
    /// may exist in this program: the compiler does not know that the device writes.
    #[allow(unsafe_code)]
    pub unsafe fn writable(gpu: &Gpu, memory: Arc<dyn HostMemory>, chunk_bytes: u64) -> Result<Self, Error> {
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        Self::import(gpu, &memory, chunk_bytes, usage)
    }

    /// Imports exchange memory, for reading and writing.
    ///
    /// # Errors
    /// The errors of [`HostImport::new`].
    pub fn exchange(gpu: &Gpu, memory: &Arc<ExchangeMemory>, chunk_bytes: u64) -> Result<Self, Error> {
        let memory: Arc<dyn HostMemory> = Arc::clone(memory) as _;
        #[allow(unsafe_code)]
        // SAFETY: the host accesses this memory as atomic words only, and reads what a device writes after a wait for
        // it.
        unsafe {
            Self::writable(gpu, memory, chunk_bytes)
        }
    }

    /// Allocates at least `bytes` zeroed bytes of main memory that only the device reads and writes.
    ///
    /// # Errors
    /// The errors of [`HostImport::new`].
    pub fn private(gpu: &Gpu, bytes: u64, chunk_bytes: u64) -> Result<Self, Error> {
        let alignment = gpu.caps().import_alignment.max(1);
        let bytes = bytes.next_multiple_of(alignment);
        let memory: Arc<dyn HostMemory> = Arc::new(AlignedBuffer::try_new("the GPU's part of main memory", bytes)?);
        #[allow(unsafe_code)]
        // SAFETY: no other code accesses this memory.
        unsafe {
            Self::writable(gpu, memory, chunk_bytes.min(bytes))
        }
    }

    fn import(gpu: &Gpu, memory: &Arc<dyn HostMemory>, chunk_bytes: u64, usage: BufferUsages) -> Result<Self, Error> {
        Self::check(gpu, &**memory, chunk_bytes)?;
        let bytes = memory.memory().len() as u64;
        let chunk = |offset| import_part(gpu, memory, offset..bytes.min(offset + chunk_bytes), usage);
        let chunks = (0..bytes).step_by(chunk_bytes as usize).map(chunk).collect::<Result<_, _>>()?;
        Ok(Self { chunks, chunk_bytes })
    }

    /// Checks whether memory can be imported in chunks of this size, as far as that is known without trying.
    ///
    /// # Errors
    /// [`GpuError::Unavailable`] with the reason; the errors of [`Gpu::check`].
    pub fn check(gpu: &Gpu, memory: &dyn HostMemory, chunk_bytes: u64) -> Result<(), GpuError> {
        gpu.check()?;
        let refusal = |message: &str| Err(gpu.health().unavailable("host memory import", message));
        let (caps, bytes) = (gpu.caps(), memory.memory().len() as u64);
        let address = memory.memory().as_mut_ptr() as u64;
        if gpu.vulkan().is_none() || !caps.host_import {
            return refusal("the driver lacks VK_EXT_external_memory_host, or it is disabled");
        }
        if chunk_bytes == 0 || [chunk_bytes, bytes, address].iter().any(|at| !at.is_multiple_of(caps.import_alignment))
        {
            let alignment = caps.import_alignment;
            return refusal(&format!(
                "{bytes} bytes at {address:#x} in chunks of {chunk_bytes}: all must be multiples of {alignment}"
            ));
        }
        let most = caps.binding_bytes_max.min(caps.buffer_bytes_max);
        if chunk_bytes > most {
            return refusal(&format!("chunks of {chunk_bytes} bytes: a kernel reaches at most {most} at once"));
        }
        Ok(())
    }

    /// Imports a part of memory for reading. Its bounds need not be multiples of [`super::Caps::import_alignment`], but
    /// the driver imports the memory between such multiples.
    ///
    /// # Errors
    /// The errors of [`HostImport::new`].
    pub fn chunk(gpu: &Gpu, memory: &Arc<dyn HostMemory>, part: Range<u64>) -> Result<SharedBuffer, GpuError> {
        import_part(gpu, memory, part, BufferUsages::STORAGE | BufferUsages::COPY_SRC)
    }

    /// The buffers, in the order of the memory.
    pub fn chunks(&self) -> &[SharedBuffer] {
        &self.chunks
    }

    /// Bytes of every buffer except the last.
    pub fn chunk_bytes(&self) -> u64 {
        self.chunk_bytes
    }

    /// The buffer that holds a byte of the memory, and the byte's offset in it.
    pub fn locate(&self, offset: u64) -> (usize, u64) {
        ((offset / self.chunk_bytes) as usize, offset % self.chunk_bytes)
    }
}

fn import_part(
    gpu: &Gpu,
    memory: &Arc<dyn HostMemory>,
    part: Range<u64>,
    usage: BufferUsages,
) -> Result<SharedBuffer, GpuError> {
    gpu.check()?;
    let missing = || gpu.health().unavailable("host memory import", "the device is not driven by Vulkan");
    let vulkan = gpu.vulkan().ok_or_else(missing)?;
    let raw = vulkan.import(Arc::clone(memory), part.start, part.end - part.start, gpu.health())?;
    wrap(gpu, vulkan, "imported host memory", raw, usage)
}

impl Gpu {
    /// A buffer of device memory, zeroed.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`] with the label and the sizes, also if a buffer cannot be that large;
    /// [`GpuError::Fault`] for an invalid usage; the errors of [`Gpu::check`].
    pub fn buffer(&self, label: &str, bytes: u64, usage: wgpu::BufferUsages) -> Result<wgpu::Buffer, Error> {
        let what = format!("{label} of {bytes} bytes");
        if bytes > self.caps.buffer_bytes_max {
            let most = format!("a buffer has at most {} bytes", self.caps.buffer_bytes_max);
            return Err(self.health.out_of_memory(&what, &most).into());
        }
        if self.vulkan.is_some() && bytes >= ALONE_MIN && DEVICE_USAGE.contains(usage) {
            let buffer = device_buffer(self, label, bytes)?.buffer().clone();
            let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            encoder.clear_buffer(&buffer, 0, None);
            self.queue.submit([encoder.finish()]);
            return Ok(buffer);
        }
        let descriptor = wgpu::BufferDescriptor { label: Some(label), size: bytes, usage, mapped_at_creation: false };
        Ok(self.scoped(&what, || self.device.create_buffer(&descriptor))?)
    }
}

/// A buffer of device memory that kernels can read and write, and both queues can copy from and to. Its contents are
/// undefined until they are written.
///
/// Without imports and without a transfer queue, it is an ordinary wgpu buffer.
///
/// # Errors
/// The errors of [`Gpu::buffer`].
pub fn device_buffer(gpu: &Gpu, label: &str, bytes: u64) -> Result<SharedBuffer, Error> {
    match gpu.vulkan() {
        None => Ok(SharedBuffer { raw: None, buffer: gpu.buffer(label, bytes, DEVICE_USAGE)? }),
        Some(vulkan) => {
            gpu.check()?;
            let what = format!("{label} of {bytes} bytes");
            let most = gpu.caps().buffer_bytes_max;
            if bytes == 0 || bytes > most {
                let limit = format!("a buffer has from 1 to {most} bytes");
                return Err(gpu.health().out_of_memory(&what, &limit).into());
            }
            let raw = vulkan.device_local(bytes, &what, gpu.health())?;
            Ok(wrap(gpu, vulkan, label, raw, DEVICE_USAGE)?)
        }
    }
}

fn wrap(
    gpu: &Gpu,
    vulkan: &vulkan::Context,
    label: &str,
    raw: vulkan::RawBuffer,
    usage: BufferUsages,
) -> Result<SharedBuffer, GpuError> {
    let (raw, buffer) = gpu.scoped(label, || vulkan.wrap(gpu.device(), label, raw, usage))?;
    Ok(SharedBuffer { raw: Some(raw), buffer })
}

/// A shader module without the checks that wgpu adds, if the backend is Vulkan: bounds of loops, and of arrays unless
/// the driver checks them.
///
/// # Safety
/// The text is the program's own, or its author has vouched for it (`Shader::unchecked`): it indexes arrays and bounds
/// loops by values that have been checked, and its hooks use existing vertices only.
#[allow(unsafe_code)]
pub(in crate::device::gpu) unsafe fn trusted_shader_module(
    gpu: &Gpu,
    descriptor: wgpu::ShaderModuleDescriptor<'_>,
) -> wgpu::ShaderModule {
    if !gpu.is_vulkan() {
        return gpu.device().create_shader_module(descriptor);
    }
    // SAFETY: the caller vouches for the text. Kernels index with values from pages, which have passed their checks
    // (header, slots, every neighbour in range) before a kernel reads them; these values also bound the loops.
    // Neighbours of packed pages are checked by the kernel that decodes them, which replaces those out of range and
    // bounds its own indices, whatever the bytes are. In addition, Vulkan devices are opened with robust access, so
    // that a wrong index stays within its buffer.
    unsafe { gpu.device().create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked()) }
}
