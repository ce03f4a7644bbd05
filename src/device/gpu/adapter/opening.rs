//! Opens an adapter with the features that it has and the options allow, and tests its loops.

use super::adapters::{Adapter, AdapterKind, TIMESTAMPS, WIDE_ATOMICS};
use super::health::Health;
use super::open::{Caps, Gpu, GpuOptions};
use super::pipeline_cache::DiskCache;
use super::{rounds, vulkan};
use crate::error::Error;
use std::sync::Arc;
use wgpu::Features;

impl Gpu {
    /// Opens an adapter with all features that it has and the options allow.
    ///
    /// # Errors
    /// [`Error::Gpu`] if the driver refuses; [`Error::Parameter`] for an invalid binding limit.
    pub fn open(adapter: &Adapter, options: &GpuOptions) -> Result<Self, Error> {
        let health = Arc::new(Health::new(&adapter.report.name));
        let mut features = TIMESTAMPS | Features::TIMESTAMP_QUERY_INSIDE_PASSES;
        features.set(Features::SHADER_FLOAT32_ATOMIC, options.float_atomics);
        features.set(WIDE_ATOMICS, options.wide_atomics);
        features.set(Features::SUBGROUP, options.subgroups);
        features.set(Features::PIPELINE_CACHE, options.pipelines.is_some());
        features &= adapter.raw.features();
        let mut limits = adapter.raw.limits();
        if let Some(bytes) = options.binding_bytes_max {
            if bytes < 4096 || !bytes.is_multiple_of(256) {
                return Err(Error::Parameter(format!(
                    "a binding of {bytes} bytes: expected a multiple of 256, from 4096"
                )));
            }
            limits.max_storage_buffer_binding_size = limits.max_storage_buffer_binding_size.min(bytes);
        }
        let mut facts = vulkan::facts(&adapter.raw);
        if let Some(facts) = &mut facts {
            facts.import_alignment = facts.import_alignment.filter(|_| options.host_import);
            facts.transfer_family = facts.transfer_family.filter(|_| options.transfer_queue);
        }
        let caps = caps(features, &limits, facts.as_ref());
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("topostream"),
            required_features: features,
            required_limits: limits,
            // Buffers are few and large: blocks reserved in advance would only take memory from the page cache.
            memory_hints: wgpu::MemoryHints::MemoryUsage,
            ..Default::default()
        };
        let opened = vulkan::open(&adapter.raw, facts, &descriptor);
        let (device, queue, vulkan) = opened.map_err(|message| health.unavailable("the device", &message))?;
        listen(&device, &health);
        let is_vulkan = adapter.report.backend == "vulkan";
        let kind = adapter.report.kind;
        let folder = options.pipelines.as_deref();
        let pipelines = folder.and_then(|folder| DiskCache::open(&device, &health, &adapter.raw.get_info(), folder));
        let mut gpu = Self { vulkan, queue, device, caps, health, is_vulkan, kind, pipelines };
        // Drivers of cards are known not to limit loops.
        if !matches!(adapter.report.kind, AdapterKind::Discrete | AdapterKind::Integrated) {
            gpu.caps.loops_limited = rounds::are_limited(&gpu)?;
        }
        Ok(gpu)
    }
}

fn caps(features: Features, limits: &wgpu::Limits, facts: Option<&vulkan::Facts>) -> Caps {
    let import_alignment = facts.and_then(|facts| facts.import_alignment);
    Caps {
        host_import: import_alignment.is_some(),
        import_alignment: import_alignment.unwrap_or(1),
        transfer_family: facts.and_then(|facts| facts.transfer_family),
        float_atomics: features.contains(Features::SHADER_FLOAT32_ATOMIC),
        wide_atomics: features.contains(WIDE_ATOMICS),
        subgroups: features.contains(Features::SUBGROUP),
        timestamps: features.contains(TIMESTAMPS),
        pass_timestamps: features.contains(TIMESTAMPS | Features::TIMESTAMP_QUERY_INSIDE_PASSES),
        binding_bytes_max: limits.max_storage_buffer_binding_size,
        binding_alignment: limits.min_storage_buffer_offset_alignment.into(),
        buffer_bytes_max: limits.max_buffer_size,
        memory_bytes: facts.and_then(|facts| facts.memory_bytes),
        storage_buffers_max: limits.max_storage_buffers_per_shader_stage,
        workgroups_max: limits.max_compute_workgroups_per_dimension,
        loops_limited: false,
    }
}

/// Registers callbacks that record errors of the device.
fn listen(device: &wgpu::Device, health: &Arc<Health>) {
    let hears = Arc::clone(health);
    device.set_device_lost_callback(move |reason, message| {
        let message = if message.is_empty() { format!("{reason:?}").to_lowercase() } else { message };
        hears.record(hears.lost(&message));
    });
    let hears = Arc::clone(health);
    device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
        hears.record(hears.wgpu_error("a command", &error));
    }));
}
