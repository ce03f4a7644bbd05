//! Kernels: pipelines of composed modules, each compiled once, and what they bind.

use super::adapter::import::trusted_shader_module;
use super::adapter::open::Gpu;
use super::adapter::pipeline_cache::DiskCache;
use super::compose::{self, Access, Binding, Declared, KernelName, ModuleOptions, Resource};
use crate::error::{Error, Result};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use topostream_formats::threads;

/// A kernel that can be launched.
pub struct Kernel {
    pipeline: wgpu::ComputePipeline,
    layouts: Vec<wgpu::BindGroupLayout>,
    bindings: Vec<Binding>,
}

/// The kernels used so far on a device.
#[derive(Default)]
pub struct Kernels {
    /// By what it was composed for, and for whom.
    known: HashMap<(KernelName, ModuleOptions), Vec<Known>>,
    /// By its module, which may be the same for several algorithms and options.
    compiled: Arc<Compilations>,
    /// Threads that compile kernels that a run needs later.
    ahead: Vec<JoinHandle<()>>,
}

/// Kernels by their modules. A thread that needs a kernel waits for one that is compiling it.
type Compilations = Mutex<HashMap<Compiled, Arc<Mutex<Option<Arc<Kernel>>>>>>;

/// What a pipeline is made of: a module's text, what it binds, and whether it is trusted.
type Compiled = (String, Vec<Binding>, bool);

/// A kernel and the algorithm that it was composed for.
type Known = (Declared, Arc<Kernel>);

impl Kernels {
    /// Returns a kernel, compiling it if necessary.
    ///
    /// # Errors
    /// [`Error::Shader`] by file and line, for errors in the algorithm's shader.
    pub fn get(
        &mut self,
        gpu: &Gpu,
        declared: &Declared,
        name: KernelName,
        options: &ModuleOptions,
    ) -> Result<Arc<Kernel>> {
        let known = self.known.entry((name, options.canonical(name))).or_default();
        if let Some((_, kernel)) = known.iter().find(|(known, _)| known == declared) {
            return Ok(Arc::clone(kernel));
        }
        let kernel = Kernel::compose(gpu, &self.compiled, declared, name, options)?;
        known.push((declared.clone(), Arc::clone(&kernel)));
        Ok(kernel)
    }

    /// The number of pipelines.
    pub fn count(&self) -> usize {
        let places: Vec<_> = self.compiled.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        places.iter().filter(|place| place.lock().unwrap_or_else(PoisonError::into_inner).is_some()).count()
    }

    /// Starts compiling kernels that a run will probably need later, while pages are read. Errors are ignored, as by
    /// [`prepare`](Self::prepare).
    pub fn compile_ahead(&mut self, gpu: &Arc<Gpu>, declared: &Declared, wanted: Vec<(KernelName, ModuleOptions)>) {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(wanted.len());
        let wanted = Arc::new(Mutex::new(wanted));
        for _ in 0..threads {
            let (gpu, declared, wanted) = (Arc::clone(gpu), declared.clone(), Arc::clone(&wanted));
            let compiled = Arc::clone(&self.compiled);
            let next = move || wanted.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let work = move || {
                while let Some((name, options)) = next() {
                    Kernel::compose(&gpu, &compiled, &declared, name, &options).ok();
                }
            };
            self.ahead.extend(threads::start("gpu kernel", threads, work));
        }
    }

    /// Waits for the threads of [`compile_ahead`](Self::compile_ahead).
    fn join(&mut self) {
        self.ahead.drain(..).for_each(|thread| drop(thread.join()));
    }

    /// Writes the compiled kernels to disk, if they are kept there. A failure only costs the next process time.
    pub fn save(&mut self, gpu: &Gpu) {
        self.join();
        gpu.pipelines().map(DiskCache::save);
    }

    /// Compiles missing kernels in parallel. Ignores errors, which [`get`](Self::get) returns if the kernel is used.
    pub fn prepare(&mut self, gpu: &Gpu, declared: &Declared, wanted: Vec<(KernelName, ModuleOptions)>) {
        let mut missing: Vec<(KernelName, ModuleOptions)> = Vec::new();
        for (name, options) in wanted {
            let key = (name, options.canonical(name));
            let is_known = self.known.get(&key).is_some_and(|known| known.iter().any(|(known, _)| known == declared));
            if !is_known && !missing.contains(&key) {
                missing.push(key);
            }
        }
        let (compiled, missing, next) = (&*self.compiled, &missing, &AtomicUsize::new(0));
        let work = || {
            let mut made = Vec::new();
            while let Some((name, options)) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
                let kernel = Kernel::compose(gpu, compiled, declared, *name, options).ok();
                made.extend(kernel.map(|kernel| ((*name, options.clone()), kernel)));
            }
            made
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(missing.len());
        let made: Vec<_> = std::thread::scope(|scope| {
            let start = |_| std::thread::Builder::new().name("gpu kernel".into()).spawn_scoped(scope, work).ok();
            let threads: Vec<_> = (0..threads).map(start).collect();
            threads.into_iter().flatten().filter_map(|thread| thread.join().ok()).flatten().collect()
        });
        for (key, kernel) in made {
            self.known.entry(key).or_default().push((declared.clone(), kernel));
        }
    }
}

impl Drop for Kernels {
    fn drop(&mut self) {
        self.join();
    }
}

fn module_label(declared: &Declared, name: KernelName) -> String {
    format!("{} {name}", declared.name)
}

impl Kernel {
    /// Composes a module and makes it a pipeline, unless there is one of the same module.
    fn compose(
        gpu: &Gpu,
        compiled: &Compilations,
        declared: &Declared,
        name: KernelName,
        options: &ModuleOptions,
    ) -> Result<Arc<Self>> {
        let module = compose::compose(declared, name, options);
        // Kernels without hooks contain nothing of the algorithm's shader.
        let trusted = !declared.shader.is_checked() || !name.has_hooks();
        let key = (module.text.clone(), module.bindings.clone(), trusted);
        let wrong = |error: compose::ShaderError| Error::Shader(error.to_string());
        compose::check_complete(&module).map_err(wrong)?;
        // Each change is one insertion or assignment, so that a panic leaves the table whole.
        let place = Arc::clone(compiled.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default());
        let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = &*place {
            return Ok(Arc::clone(kernel));
        }
        let storage = module.bindings.iter().filter(|binding| binding.access != Access::Uniform).count();
        if storage > gpu.caps().storage_buffers_max as usize {
            let (name, most) = (module_label(declared, name), gpu.caps().storage_buffers_max);
            let message = format!("{name} needs {storage} storage buffers, but the adapter binds at most {most}");
            return Err(Error::Shader(message));
        }
        let kernel = Self::new(gpu, &module_label(declared, name), &module, trusted).or_else(|error| {
            // wgpu knows the line of the module, and not the file.
            compose::check(&module).map_err(wrong)?;
            Err(error)
        });
        let kernel = Arc::new(kernel?);
        *place = Some(Arc::clone(&kernel));
        Ok(kernel)
    }

    /// Makes a module a pipeline, without wgpu's checks if its text is trusted.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn new(gpu: &Gpu, label: &str, module: &compose::Module, trusted: bool) -> Result<Self> {
        let groups = module.bindings.iter().map(|binding| binding.group + 1).max().unwrap_or(0);
        let layouts: Vec<_> = (0..groups).map(|group| layout(gpu, label, &module.bindings, group)).collect();
        let pipeline = gpu.scoped(label, || {
            let device = gpu.device();
            let source = wgpu::ShaderSource::Wgsl(module.text.as_str().into());
            let text = wgpu::ShaderModuleDescriptor { label: Some(label), source };
            #[allow(unsafe_code)]
            let shader = match trusted {
                // SAFETY: shaders are trusted if they are the program's own, or declared unchecked by their author.
                true => unsafe { trusted_shader_module(gpu, text) },
                false => device.create_shader_module(text),
            };
            let used: Vec<_> = layouts.iter().map(Some).collect();
            let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some(label),
                bind_group_layouts: &used,
                immediate_size: 0,
            });
            device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(label),
                layout: Some(&layout),
                module: &shader,
                entry_point: Some("main"),
                // Kernels initialise the workgroup memory that they read; zeroing it would cost a barrier.
                compilation_options: wgpu::PipelineCompilationOptions {
                    zero_initialize_workgroup_memory: false,
                    ..Default::default()
                },
                cache: gpu.pipelines().map(DiskCache::cache),
            })
        })?;
        Ok(Self { pipeline, layouts, bindings: module.bindings.clone() })
    }

    /// Sets the pipeline and its bind groups in an open pass.
    pub fn encode(&self, pass: &mut wgpu::ComputePass<'_>, bound: &[wgpu::BindGroup]) {
        pass.set_pipeline(&self.pipeline);
        bound.iter().enumerate().for_each(|(group, bound)| pass.set_bind_group(group as u32, bound, &[]));
    }

    /// The names of what it binds in a group, in order.
    pub fn names(&self, group: u32) -> impl Iterator<Item = &str> {
        let own = move |binding: &&Binding| binding.group == group;
        self.bindings.iter().filter(own).map(|binding| binding.name.as_str())
    }

    /// The layout of a group.
    pub fn layout(&self, group: u32) -> Option<&wgpu::BindGroupLayout> {
        self.layouts.get(group as usize)
    }

    /// What it binds, in order.
    pub fn resources(&self) -> impl Iterator<Item = Resource> {
        self.bindings.iter().map(|binding| binding.resource)
    }

    /// Creates its bind groups, from a buffer for each of its [resources](Self::resources).
    pub fn bind(&self, gpu: &Gpu, buffers: &[wgpu::Buffer]) -> Arc<[wgpu::BindGroup]> {
        let bind = |(layout, group): (&wgpu::BindGroupLayout, u32)| {
            let of_group = self.bindings.iter().zip(buffers).filter(|(binding, _)| binding.group == group);
            let entries: Vec<_> = of_group
                .map(|(binding, buffer)| wgpu::BindGroupEntry {
                    binding: binding.binding,
                    resource: buffer.as_entire_binding(),
                })
                .collect();
            gpu.device().create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries })
        };
        self.layouts.iter().zip(0..).map(bind).collect()
    }
}

fn layout(gpu: &Gpu, label: &str, bindings: &[Binding], group: u32) -> wgpu::BindGroupLayout {
    let entry = |binding: &Binding| wgpu::BindGroupLayoutEntry {
        binding: binding.binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: match binding.access {
                Access::Uniform => wgpu::BufferBindingType::Uniform,
                Access::Read => wgpu::BufferBindingType::Storage { read_only: true },
                Access::ReadWrite => wgpu::BufferBindingType::Storage { read_only: false },
            },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    };
    let entries: Vec<_> = bindings.iter().filter(|binding| binding.group == group).map(entry).collect();
    let label = Some(label);
    gpu.device().create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries })
}
