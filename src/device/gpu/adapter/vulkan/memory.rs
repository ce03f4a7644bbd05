//! Buffers that wgpu does not make: of imported host memory, and of device memory that two queues share.

use super::super::health::Health;
use super::facts::{Facts, USAGE};
use crate::device::gpu::adapter::host_memory::HostMemory;
use crate::error::GpuError;
use ash::{ext, vk};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topostream_formats::buffer::ALIGNMENT;
use wgpu::hal::vulkan::{Adapter as HalAdapter, Api, Buffer as HalBuffer, Device as HalDevice};

const HOST: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;

/// A device's own functions, for calls past wgpu. Valid as long as the wgpu device that it was made beside.
pub struct Context {
    pub(super) device: ash::Device,
    pub(super) compute_queue: vk::Queue,
    pub(super) compute_family: u32,
    pub(super) facts: Facts,
    /// Whether the transfer queue is in use.
    pub(super) taken: Arc<AtomicBool>,
    host: ext::external_memory_host::Device,
    memory: vk::PhysicalDeviceMemoryProperties,
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("facts", &self.facts).finish_non_exhaustive()
    }
}

/// A buffer and the memory behind it. Freed by the last of its owners: wgpu's buffer, and copies that are under way.
pub struct RawBuffer {
    device: ash::Device,
    pub(super) buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    bytes: u64,
    /// After the two above, which are freed in `drop`: the driver lets go of the memory first.
    _host: Option<Arc<dyn HostMemory>>,
}

impl fmt::Debug for RawBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawBuffer").field("buffer", &self.buffer).finish_non_exhaustive()
    }
}

impl Drop for RawBuffer {
    fn drop(&mut self) {
        // SAFETY: the device is alive, for every owner keeps a wgpu buffer or device beside this, and drops it later.
        // No command uses the buffer: wgpu drops its share when its submissions are done, and so does a transfer queue.
        // A null handle is allowed.
        unsafe {
            self.device.destroy_buffer(self.buffer, None);
            self.device.free_memory(self.memory, None);
        }
    }
}

impl RawBuffer {
    /// Whether it was made by a device.
    pub fn belongs_to(&self, device: vk::Device) -> bool {
        self.device.handle() == device
    }
}

impl Context {
    pub(super) fn new(adapter: &HalAdapter, device: &HalDevice, facts: Facts) -> Self {
        let (instance, raw) = (adapter.shared_instance().raw_instance(), device.raw_device());
        Self {
            device: raw.clone(),
            compute_queue: device.raw_queue(),
            compute_family: device.queue_family_index(),
            facts,
            taken: Arc::default(),
            host: ext::external_memory_host::Device::new(instance, raw),
            // SAFETY: the adapter keeps the instance alive, and the physical device belongs to it.
            memory: unsafe { instance.get_physical_device_memory_properties(adapter.raw_physical_device()) },
        }
    }

    /// Imports a part of host memory, which the buffer then owns a share of. The address of the memory is a multiple of
    /// the import alignment. The driver imports the pages that hold the part, and the buffer begins and ends within
    /// them.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`] where the driver can pin no more, [`GpuError::Unavailable`] where it does not want
    /// this memory, or no buffer that begins at this place of a page.
    pub fn import(
        &self,
        host: Arc<dyn HostMemory>,
        offset: u64,
        bytes: u64,
        health: &Health,
    ) -> Result<RawBuffer, GpuError> {
        let what = format!("the import of {bytes} bytes of host memory");
        let failed = |result: vk::Result| match result {
            vk::Result::ERROR_INVALID_EXTERNAL_HANDLE => {
                health.unavailable(&what, "the driver does not take this memory")
            }
            _ => error(health, &what, result),
        };
        let (memory, alignment) = (host.memory(), self.facts.import_alignment.unwrap_or(1));
        assert!(offset.checked_add(bytes).is_some_and(|end| end <= memory.len() as u64), "a range within the memory");
        let within = offset % alignment;
        let page_bytes = (within + bytes).next_multiple_of(alignment);
        // The system maps whole pages.
        let mapped_bytes = memory.len().next_multiple_of(ALIGNMENT) as u64;
        assert!(offset - within + page_bytes <= mapped_bytes, "pages of the memory");
        let pointer = memory.as_mut_ptr().wrapping_add((offset - within) as usize).cast::<std::ffi::c_void>();
        let mut properties = vk::MemoryHostPointerPropertiesEXT::default();
        // SAFETY: the extension is enabled where the alignment is known, and the pointer is to mapped memory.
        let asked = unsafe {
            let get = self.host.fp().get_memory_host_pointer_properties_ext;
            get(self.device.handle(), HOST, pointer, &mut properties)
        };
        asked.result().map_err(failed)?;
        let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(HOST);
        let mut made = self.buffer(bytes, Some(&mut external)).map_err(failed)?;
        // SAFETY: the buffer has just been made by this device.
        let needs = unsafe { self.device.get_buffer_memory_requirements(made.buffer) };
        let kinds = needs.memory_type_bits & properties.memory_type_bits;
        let (must, better) = (vk::MemoryPropertyFlags::HOST_COHERENT, vk::MemoryPropertyFlags::HOST_CACHED);
        let fits = within + needs.size <= page_bytes && within.is_multiple_of(needs.alignment);
        if !fits {
            return Err(health.unavailable(&what, &format!("no buffer can begin {within} bytes after a page does")));
        }
        let Some(kind) = self.memory_kind(kinds, must, better) else {
            return Err(health.unavailable(&what, "the driver has no coherent memory of this kind"));
        };
        let mut import = vk::ImportMemoryHostPointerInfoEXT::default().handle_type(HOST).host_pointer(pointer);
        let allocation = vk::MemoryAllocateInfo::default().allocation_size(page_bytes).memory_type_index(kind);
        made._host = Some(host);
        self.bind(&mut made, &allocation.push_next(&mut import), within).map_err(failed)?;
        Ok(made)
    }

    /// Allocates device memory for one buffer alone: NVIDIA's driver 580 then takes 4 to 17 ms for 4 GiB, and otherwise
    /// 80 to 130, and nearly as long again to free it.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`], naming what it was for.
    pub fn device_local(&self, bytes: u64, what: &str, health: &Health) -> Result<RawBuffer, GpuError> {
        let failed = |result| error(health, what, result);
        let mut made = self.buffer(bytes, None).map_err(failed)?;
        // SAFETY: the buffer has just been made by this device.
        let needs = unsafe { self.device.get_buffer_memory_requirements(made.buffer) };
        let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        let kind = self.memory_kind(needs.memory_type_bits, local, vk::MemoryPropertyFlags::empty());
        let kind = kind.ok_or_else(|| health.unavailable(what, "the driver has no device memory for buffers"))?;
        let mut alone = vk::MemoryDedicatedAllocateInfo::default().buffer(made.buffer);
        let mut allocation = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(kind);
        if self.facts.dedicated {
            allocation = allocation.push_next(&mut alone);
        }
        self.bind(&mut made, &allocation, 0).map_err(failed)?;
        Ok(made)
    }

    /// Makes a wgpu buffer of a raw one. Both own it from here on.
    pub fn wrap(
        &self,
        device: &wgpu::Device,
        label: &str,
        raw: RawBuffer,
        usage: wgpu::BufferUsages,
    ) -> (Arc<RawBuffer>, wgpu::Buffer) {
        let size = raw.bytes;
        let raw = Arc::new(raw);
        let (shared, buffer) = (Arc::clone(&raw), raw.buffer);
        let descriptor = wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation: false };
        // SAFETY: the callback owns a share of the buffer, so that the handle is valid until wgpu is done with it. It
        // was made by this device, with the usages that wgpu derives from its own, and is not zero bytes long.
        let wrapped = unsafe {
            let hal = HalBuffer::from_raw_externally_owned(buffer, Box::new(move || drop(shared)));
            device.create_buffer_from_hal::<Api>(hal, &descriptor)
        };
        (raw, wrapped)
    }

    /// A buffer without memory, for both queues where there are two.
    fn buffer(
        &self,
        bytes: u64,
        external: Option<&mut vk::ExternalMemoryBufferCreateInfo<'_>>,
    ) -> Result<RawBuffer, vk::Result> {
        let families: Vec<u32> = std::iter::once(self.compute_family).chain(self.facts.transfer_family).collect();
        let mut create = vk::BufferCreateInfo::default().size(bytes).usage(USAGE);
        if families.len() > 1 {
            create = create.sharing_mode(vk::SharingMode::CONCURRENT).queue_family_indices(&families);
        }
        if let Some(external) = external {
            create = create.push_next(external);
        }
        // SAFETY: the device was opened with these families, and the structures live until the call returns.
        let buffer = unsafe { self.device.create_buffer(&create, None) }?;
        Ok(RawBuffer { device: self.device.clone(), buffer, memory: vk::DeviceMemory::null(), bytes, _host: None })
    }

    /// Allocates memory for a buffer, which begins at `offset` in it.
    fn bind(
        &self,
        made: &mut RawBuffer,
        allocation: &vk::MemoryAllocateInfo<'_>,
        offset: u64,
    ) -> Result<(), vk::Result> {
        // SAFETY: the allocation is of a kind and a size that the buffer may have, and the offset is aligned as the
        // buffer needs. Whatever fails, `made` frees what is there.
        unsafe {
            made.memory = self.device.allocate_memory(allocation, None)?;
            self.device.bind_buffer_memory(made.buffer, made.memory, offset)
        }
    }

    /// The first kind of memory among `kinds` (a bit for each) that is all that it must be, and what is better if it
    /// can.
    fn memory_kind(&self, kinds: u32, must: vk::MemoryPropertyFlags, better: vk::MemoryPropertyFlags) -> Option<u32> {
        let find = |wanted| {
            let all = &self.memory.memory_types[..self.memory.memory_type_count as usize];
            (0u32..).zip(all).find(|(at, kind)| kinds >> at & 1 == 1 && kind.property_flags.contains(wanted))
        };
        find(must | better).or_else(|| find(must)).map(|(at, _)| at)
    }
}

/// Vulkan's answer as an error; a loss is recorded.
pub(super) fn error(health: &Health, what: &str, result: vk::Result) -> GpuError {
    match result {
        vk::Result::ERROR_DEVICE_LOST => health.record(health.lost(what)),
        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY => {
            health.out_of_memory(what, &result.to_string())
        }
        _ => health.fault(what, &result.to_string()),
    }
}
