//! A GPU for running modules with buffers by resource, without the engine.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use topostream::device::gpu::compose::{Access, Binding, Module, Resource, check};
use wgpu::util::DeviceExt;
use wgpu::{BufferUsages, Features};

/// A device with all features of its adapter.
pub struct Gpu {
    device: wgpu::Device,
    queue: wgpu::Queue,
    pub name: String,
    pub float_atomics: bool,
    pub wide_integers: bool,
    pub subgroups: bool,
    /// Compiled pipelines by module text: compilation on software Vulkan is slow.
    pipelines: Mutex<HashMap<String, wgpu::ComputePipeline>>,
}

/// A pipeline with its bind groups.
struct Prepared {
    pipeline: wgpu::ComputePipeline,
    groups: Vec<wgpu::BindGroup>,
}

impl Prepared {
    fn encode(&self, encoder: &mut wgpu::CommandEncoder, grid: [u32; 2]) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&self.pipeline);
        for (group, bound) in self.groups.iter().enumerate() {
            pass.set_bind_group(group as u32, bound, &[]);
        }
        pass.dispatch_workgroups(grid[0], grid[1], 1);
    }
}

/// The buffers of a run.
pub type Buffers = HashMap<Resource, wgpu::Buffer>;

impl Gpu {
    /// The first adapter, preferably hardware.
    pub fn open() -> Option<Self> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let mut adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
        adapters.sort_by_key(|adapter| adapter.get_info().device_type == wgpu::DeviceType::Cpu);
        let adapter = adapters.into_iter().next()?;
        let wide = Features::SHADER_INT64 | Features::SHADER_INT64_ATOMIC_ALL_OPS;
        let wanted = Features::SHADER_FLOAT32_ATOMIC | Features::SUBGROUP | wide;
        let features = adapter.features() & wanted;
        let descriptor = wgpu::DeviceDescriptor {
            required_features: features,
            required_limits: adapter.limits(),
            ..wgpu::DeviceDescriptor::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor)).unwrap();
        Some(Self {
            device,
            queue,
            name: adapter.get_info().name,
            float_atomics: features.contains(Features::SHADER_FLOAT32_ATOMIC),
            wide_integers: features.contains(wide),
            subgroups: features.contains(Features::SUBGROUP),
            pipelines: Mutex::default(),
        })
    }

    /// A buffer with these words, for storage or uniforms.
    pub fn buffer(&self, words: &[u32]) -> wgpu::Buffer {
        let usage = BufferUsages::STORAGE | BufferUsages::UNIFORM | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        let contents = bytemuck::cast_slice(if words.len() < 4 { &[0; 4] } else { words });
        let buffer = self.device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents, usage });
        if words.len() < 4 {
            self.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(words));
        }
        buffer
    }

    fn pipelines(&self) -> MutexGuard<'_, HashMap<String, wgpu::ComputePipeline>> {
        self.pipelines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a module once.
    pub fn run(&self, module: &Module, buffers: &Buffers, grid: [u32; 2]) {
        let layouts = self.group_layouts(module);
        let known = self.pipelines().get(&module.text).cloned();
        let pipeline = known.unwrap_or_else(|| {
            check(module).unwrap_or_else(|error| panic!("{}: {error}", module.label));
            let source = wgpu::ShaderSource::Wgsl(module.text.as_str().into());
            let descriptor = wgpu::ShaderModuleDescriptor { label: Some(&module.label), source };
            self.pipeline(module, &self.device.create_shader_module(descriptor), &layouts)
        });
        self.pipelines().insert(module.text.clone(), pipeline.clone());
        let prepared = self.prepare(module, pipeline, &layouts, buffers);
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        prepared.encode(&mut encoder, grid);
        self.queue.submit([encoder.finish()]);
    }

    /// Seconds for running modules in sequence, repeatedly, without the checks for untrusted shaders. Sets the first
    /// word of a buffer to zero before each repetition.
    #[expect(unsafe_code, reason = "checks would be timed too")]
    pub fn time(&self, modules: &[(&Module, [u32; 2])], buffers: &Buffers, zeroed: Resource) -> f64 {
        let prepare = |&(module, grid): &(&Module, [u32; 2])| {
            let source = wgpu::ShaderSource::Wgsl(module.text.as_str().into());
            let descriptor = wgpu::ShaderModuleDescriptor { label: Some(&module.label), source };
            let unchecked = wgpu::ShaderRuntimeChecks::unchecked();
            // SAFETY: kernels stay within their buffers; other tests run them with checks.
            let shader = unsafe { self.device.create_shader_module_trusted(descriptor, unchecked) };
            let layouts = self.group_layouts(module);
            let pipeline = self.pipeline(module, &shader, &layouts);
            (self.prepare(module, pipeline, &layouts, buffers), grid)
        };
        let prepared: Vec<_> = modules.iter().map(prepare).collect();
        let run = |times: u32| {
            let started = std::time::Instant::now();
            let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            for _ in 0..times {
                encoder.clear_buffer(&buffers[&zeroed], 0, Some(4));
                prepared.iter().for_each(|(prepared, grid)| prepared.encode(&mut encoder, *grid));
            }
            self.queue.submit([encoder.finish()]);
            self.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
            started.elapsed().as_secs_f64() / f64::from(times)
        };
        run(1);
        run(5)
    }

    /// Creates a pipeline of a module, with exactly the bindings that it lists.
    fn pipeline(
        &self,
        module: &Module,
        shader: &wgpu::ShaderModule,
        layouts: &[wgpu::BindGroupLayout],
    ) -> wgpu::ComputePipeline {
        let layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &layouts.iter().map(Some).collect::<Vec<_>>(),
            immediate_size: 0,
        });
        self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(&module.label),
            layout: Some(&layout),
            module: shader,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions {
                zero_initialize_workgroup_memory: false,
                ..Default::default()
            },
            cache: None,
        })
    }

    fn prepare(
        &self,
        module: &Module,
        pipeline: wgpu::ComputePipeline,
        layouts: &[wgpu::BindGroupLayout],
        buffers: &Buffers,
    ) -> Prepared {
        let bind = |(group, layout): (usize, &wgpu::BindGroupLayout)| {
            let own = module.bindings.iter().filter(|binding| binding.group == group as u32);
            let entry = |binding: &Binding| wgpu::BindGroupEntry {
                binding: binding.binding,
                resource: buffers[&binding.resource].as_entire_binding(),
            };
            let entries: Vec<_> = own.map(entry).collect();
            self.device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries })
        };
        Prepared { pipeline, groups: layouts.iter().enumerate().map(bind).collect() }
    }

    fn group_layouts(&self, module: &Module) -> Vec<wgpu::BindGroupLayout> {
        let groups = module.bindings.last().map_or(0, |binding| binding.group + 1);
        (0..groups).map(|group| self.group_layout(module, group)).collect()
    }

    fn group_layout(&self, module: &Module, group: u32) -> wgpu::BindGroupLayout {
        let entries: Vec<_> = module
            .bindings
            .iter()
            .filter(|binding| binding.group == group)
            .map(|binding| wgpu::BindGroupLayoutEntry {
                binding: binding.binding,
                visibility: wgpu::ShaderStages::COMPUTE,
                ty: wgpu::BindingType::Buffer {
                    ty: match binding.access {
                        Access::Uniform => wgpu::BufferBindingType::Uniform,
                        access => wgpu::BufferBindingType::Storage { read_only: access == Access::Read },
                    },
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
                count: None,
            })
            .collect();
        self.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries })
    }

    /// Waits for all runs; returns the contents of a buffer.
    pub fn read(&self, buffer: &wgpu::Buffer) -> Vec<u32> {
        let usage = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
        let size = buffer.size();
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        let copy = self.device.create_buffer(&descriptor);
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(buffer, 0, &copy, 0, size);
        self.queue.submit([encoder.finish()]);
        copy.map_async(wgpu::MapMode::Read, .., |mapped| mapped.unwrap());
        self.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        bytemuck::cast_slice(&copy.get_mapped_range(..).unwrap()).to_vec()
    }
}
