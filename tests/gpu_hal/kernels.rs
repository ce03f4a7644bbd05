//! Kernels over bindings, and copies between buffers.

use crate::MINUTE;
use topostream::device::gpu::Gpu;
use wgpu::BufferUsages;

const KERNELS: &str = "
    @group(0) @binding(0) var<storage, read> words: array<u32>;
    @group(0) @binding(1) var<storage, read_write> total: atomic<u32>;
    @compute @workgroup_size(64)
    fn add(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
        var part = 0u;
        for (var at = id.x; at < arrayLength(&words); at += groups.x * 64u) { part += words[at]; }
        atomicAdd(&total, part);
    }
    @group(0) @binding(2) var<storage, read_write> written: array<u32>;
    @compute @workgroup_size(64)
    fn write(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
        for (var at = id.x; at < arrayLength(&written); at += groups.x * 64u) { written[at] = at * 3u; }
    }";

/// A kernel over bindings, from the source above.
pub struct Kernel<'a> {
    gpu: &'a Gpu,
    pub pipeline: wgpu::ComputePipeline,
}

impl<'a> Kernel<'a> {
    pub fn new(gpu: &'a Gpu, entry_point: &str) -> Self {
        let pipeline = gpu.scoped("a kernel", || {
            let source = wgpu::ShaderSource::Wgsl(KERNELS.into());
            let module = gpu.device().create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
            gpu.device().create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(entry_point),
                layout: None,
                module: &module,
                entry_point: Some(entry_point),
                compilation_options: Default::default(),
                cache: None,
            })
        });
        Self { gpu, pipeline: pipeline.unwrap() }
    }

    pub fn submit(&self, buffers: &[(u32, &wgpu::Buffer)]) -> wgpu::SubmissionIndex {
        let entries: Vec<wgpu::BindGroupEntry<'_>> = buffers
            .iter()
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding: *binding, resource: buffer.as_entire_binding() })
            .collect();
        let layout = &self.pipeline.get_bind_group_layout(0);
        let group = wgpu::BindGroupDescriptor { label: None, layout, entries: &entries };
        let group = self.gpu.device().create_bind_group(&group);
        let mut encoder = self.gpu.device().create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(16, 1, 1);
        drop(pass);
        self.gpu.queue().submit([encoder.finish()])
    }
}

pub fn done(gpu: &Gpu, submission: wgpu::SubmissionIndex) {
    assert!(gpu.wait(submission, MINUTE).unwrap(), "the GPU takes more than a minute");
}

/// The sum of a buffer's words, computed by a kernel.
pub fn sum_on(gpu: &Gpu, words: &wgpu::Buffer) -> u32 {
    let total = gpu.buffer("total", 4, BufferUsages::STORAGE | BufferUsages::COPY_SRC).unwrap();
    done(gpu, Kernel::new(gpu, "add").submit(&[(0, words), (1, &total)]));
    u32::from_le_bytes(read(gpu, &total, 0, 4).try_into().unwrap())
}

/// Reads a part of a buffer, through staging memory.
pub fn read(gpu: &Gpu, buffer: &wgpu::Buffer, offset: u64, bytes: u64) -> Vec<u8> {
    let staging = gpu.buffer("staging", bytes, BufferUsages::MAP_READ | BufferUsages::COPY_DST).unwrap();
    done(gpu, copy(gpu, buffer, offset, &staging, 0, bytes));
    staging.map_async(wgpu::MapMode::Read, .., |result| result.unwrap());
    gpu.poll().unwrap();
    staging.get_mapped_range(..).unwrap().to_vec()
}

pub fn copy(
    gpu: &Gpu,
    source: &wgpu::Buffer,
    source_offset: u64,
    dest: &wgpu::Buffer,
    dest_offset: u64,
    bytes: u64,
) -> wgpu::SubmissionIndex {
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(source, source_offset, dest, dest_offset, bytes);
    gpu.queue().submit([encoder.finish()])
}
