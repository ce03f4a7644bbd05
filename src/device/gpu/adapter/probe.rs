//! A compute kernel with one storage buffer, outside of any run.

use super::open::Gpu;
use crate::error::GpuError;

/// A pipeline, and the binding of its buffer.
pub(super) struct Probe {
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
}

impl Probe {
    /// Compiles the entry point `main` of a WGSL module, and binds `words` to group 0, binding 0.
    ///
    /// # Errors
    /// Device errors; they name `what`.
    pub fn new(gpu: &Gpu, what: &str, wgsl: &str, words: &wgpu::Buffer) -> Result<Self, GpuError> {
        let (device, label) = (gpu.device(), Some(what));
        gpu.scoped(what, || {
            let source = wgpu::ShaderSource::Wgsl(wgsl.into());
            let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label, source });
            let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label,
                layout: None,
                module: &module,
                entry_point: Some("main"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                cache: None,
            });
            let entries = [wgpu::BindGroupEntry { binding: 0, resource: words.as_entire_binding() }];
            let layout = pipeline.get_bind_group_layout(0);
            let group = wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries };
            Self { group: device.create_bind_group(&group), pipeline }
        })
    }

    /// Encodes a launch of this many workgroups.
    pub fn encode(&self, gpu: &Gpu, workgroups: u32) -> wgpu::CommandEncoder {
        let mut encoder = gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.dispatch_workgroups(workgroups, 1, 1);
        drop(pass);
        encoder
    }
}
