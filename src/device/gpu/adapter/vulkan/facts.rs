//! Features of an adapter that wgpu does not report.

use ash::{ext, vk};
use wgpu::hal::vulkan::{Adapter as HalAdapter, Api};

/// What buffers beside wgpu's are for: what wgpu derives from STORAGE, COPY_SRC and COPY_DST.
pub const USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::TRANSFER_SRC.as_raw()
        | vk::BufferUsageFlags::TRANSFER_DST.as_raw(),
);

/// Features of a Vulkan adapter that wgpu does not report.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The alignment of imported memory, in bytes, where memory can be imported.
    pub import_alignment: Option<u64>,
    /// The family of a queue for transfers alone.
    pub transfer_family: Option<u32>,
    /// Bytes of the largest heap of device memory.
    pub memory_bytes: Option<u64>,
    /// Whether memory can be allocated for one buffer alone.
    pub(super) dedicated: bool,
    /// Whether queries can be reset by the host: a queue for transfers cannot do it.
    pub(super) host_query_reset: bool,
    /// Bits of a timestamp that count, for each family; 0 if there are none.
    pub(super) timestamp_bits: Vec<u32>,
    /// Nanoseconds of a tick.
    pub(super) tick_ns: f32,
}

/// The features of an adapter; `None` where it is not driven by Vulkan.
pub fn facts(adapter: &wgpu::Adapter) -> Option<Facts> {
    // SAFETY: nothing is destroyed through the guard.
    let adapter = unsafe { adapter.as_hal::<Api>() }?;
    let (instance, physical) = (adapter.shared_instance().raw_instance(), adapter.raw_physical_device());
    // SAFETY: the guard keeps the instance alive, and the physical device belongs to it.
    let (families, memory) = unsafe {
        (
            instance.get_physical_device_queue_family_properties(physical),
            instance.get_physical_device_memory_properties(physical),
        )
    };
    let heaps = &memory.memory_heaps[..memory.memory_heap_count as usize];
    let local = heaps.iter().filter(|heap| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL));
    Some(Facts {
        import_alignment: import_alignment(&adapter),
        transfer_family: families.iter().position(transfers_alone).map(|at| at as u32),
        memory_bytes: local.map(|heap| heap.size).max(),
        dedicated: speaks(&adapter, vk::API_VERSION_1_1),
        host_query_reset: host_query_reset(&adapter),
        timestamp_bits: families.iter().map(|family| family.timestamp_valid_bits).collect(),
        tick_ns: adapter.physical_device_capabilities().properties().limits.timestamp_period,
    })
}

/// Families of a card's copy engines; those for video can copy too, but are not made for it.
fn transfers_alone(family: &vk::QueueFamilyProperties) -> bool {
    use vk::QueueFlags as Flags;
    let others = Flags::GRAPHICS | Flags::COMPUTE | Flags::VIDEO_DECODE_KHR | Flags::VIDEO_ENCODE_KHR;
    family.queue_flags.contains(Flags::TRANSFER) && !family.queue_flags.intersects(others) && family.queue_count > 0
}

/// Both the loader and the driver speak at least a version of Vulkan.
fn speaks(adapter: &HalAdapter, version: u32) -> bool {
    let driver = adapter.physical_device_capabilities().properties().api_version;
    driver.min(adapter.shared_instance().instance_api_version()) >= version
}

fn import_alignment(adapter: &HalAdapter) -> Option<u64> {
    let capabilities = adapter.physical_device_capabilities();
    if !speaks(adapter, vk::API_VERSION_1_1) || !capabilities.supports_extension(ext::external_memory_host::NAME) {
        return None;
    }
    let (instance, physical) = (adapter.shared_instance().raw_instance(), adapter.raw_physical_device());
    let mut host = vk::PhysicalDeviceExternalMemoryHostPropertiesEXT::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut host);
    let wanted = vk::PhysicalDeviceExternalBufferInfo::default()
        .usage(USAGE)
        .handle_type(vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT);
    let mut buffers = vk::ExternalBufferProperties::default();
    // SAFETY: both functions belong to Vulkan 1.1, and the structures are of the types that they take.
    unsafe {
        instance.get_physical_device_properties2(physical, &mut properties);
        instance.get_physical_device_external_buffer_properties(physical, &wanted, &mut buffers);
    }
    let features = buffers.external_memory_properties.external_memory_features;
    let alignment = host.min_imported_host_pointer_alignment;
    (features.contains(vk::ExternalMemoryFeatureFlags::IMPORTABLE) && alignment > 0).then_some(alignment)
}

fn host_query_reset(adapter: &HalAdapter) -> bool {
    if !speaks(adapter, vk::API_VERSION_1_2) {
        return false;
    }
    let mut reset = vk::PhysicalDeviceHostQueryResetFeatures::default();
    let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut reset);
    let instance = adapter.shared_instance().raw_instance();
    // SAFETY: the function belongs to Vulkan 1.1, and the structures are of the types that it takes.
    unsafe { instance.get_physical_device_features2(adapter.raw_physical_device(), &mut features) };
    reset.host_query_reset != 0
}
