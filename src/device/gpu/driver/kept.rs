//! What the executor keeps from one plan to the next: bind groups, small uniforms and readback buffers. Superstep after
//! superstep they are the same.

use super::plan::{Dispatch, Size, Variant};
use super::timing::Timing;
use crate::device::gpu::adapter::open::Gpu;
use crate::device::gpu::adapter::readback::{READBACK, uniform};
use crate::device::gpu::compose::{KernelName, Resource};
use crate::device::gpu::kernels::Kernel;
use crate::error::Result;
use crate::model::algorithm::Visit;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use topostream_formats::Direction;

/// The most uniforms that are kept: some have the numbers of one superstep.
const UNIFORMS_MAX: usize = 1 << 10;

/// A kernel with its bind groups.
pub struct Bound {
    kernel: Arc<Kernel>,
    groups: Arc<[wgpu::BindGroup]>,
    size: Size<wgpu::Buffer>,
}

impl Bound {
    /// Encodes the kernel in an open pass.
    pub fn encode(&self, pass: &mut wgpu::ComputePass<'_>) {
        self.kernel.encode(pass, &self.groups);
        match &self.size {
            Size::Fixed([x, y, z]) => pass.dispatch_workgroups(*x, *y, *z),
            Size::Indirect(buffer, at) => pass.dispatch_workgroups_indirect(buffer, *at),
        }
    }
}

/// The bind groups of a kernel, which are the same for the same buffers.
struct Groups {
    kernel: Arc<Kernel>,
    buffers: Vec<wgpu::Buffer>,
    groups: Arc<[wgpu::BindGroup]>,
}

/// What is kept.
pub struct Kept {
    /// The kernels of the run.
    pub kernels: HashMap<(KernelName, Direction, Visit, Variant), Arc<Kernel>>,
    /// The timestamps of passes.
    pub timing: Timing,
    /// By a hash of kernel and buffers.
    groups: HashMap<u64, Vec<Groups>>,
    uniforms: HashMap<Vec<u8>, wgpu::Buffer>,
    /// Readback buffers that are not in use.
    spare: Vec<wgpu::Buffer>,
}

impl Kept {
    /// Nothing yet.
    pub fn new(gpu: &Gpu) -> Self {
        let (kernels, groups, uniforms) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { kernels, timing: Timing::new(gpu), groups, uniforms, spare: Vec::new() }
    }

    /// Forgets bind groups, which keep their buffers: some are replaced by others.
    pub fn forget(&mut self) {
        self.groups.clear();
        self.uniforms.clear();
    }

    /// Makes the uniform of a dispatch, unless there is one of the same numbers.
    ///
    /// # Errors
    /// If the device is out of memory.
    pub fn prepare(&mut self, gpu: &Gpu, dispatch: &Dispatch<wgpu::Buffer>) -> Result<()> {
        let Some((_, numbers)) = dispatch.numbers.as_ref().filter(|(_, it)| !self.uniforms.contains_key(it)) else {
            return Ok(());
        };
        if self.uniforms.len() >= UNIFORMS_MAX {
            self.forget();
        }
        self.uniforms.insert(numbers.clone(), uniform(gpu, numbers)?);
        Ok(())
    }

    /// The buffer of a dispatch that is not the run's.
    pub fn own<'a>(&'a self, dispatch: &'a Dispatch<wgpu::Buffer>, resource: Resource) -> Option<&'a wgpu::Buffer> {
        match &dispatch.numbers {
            Some((of, numbers)) if *of == resource => self.uniforms.get(numbers),
            _ => dispatch.bound.iter().find(|(of, _)| *of == resource).map(|(_, buffer)| buffer),
        }
    }

    /// Binds a kernel to buffers, one for each of its resources in order.
    pub fn bind(
        &mut self,
        gpu: &Gpu,
        kernel: Arc<Kernel>,
        buffers: Vec<wgpu::Buffer>,
        size: Size<wgpu::Buffer>,
    ) -> Bound {
        let mut hasher = DefaultHasher::new();
        (Arc::as_ptr(&kernel), &buffers).hash(&mut hasher);
        let alike = self.groups.entry(hasher.finish()).or_default();
        let same = |known: &&Groups| Arc::ptr_eq(&known.kernel, &kernel) && known.buffers == buffers;
        let groups = match alike.iter().find(same) {
            Some(known) => Arc::clone(&known.groups),
            None => {
                let groups = kernel.bind(gpu, &buffers);
                alike.push(Groups { kernel: Arc::clone(&kernel), buffers, groups: Arc::clone(&groups) });
                groups
            }
        };
        Bound { kernel, groups, size }
    }

    /// A readback buffer of at least this many bytes.
    ///
    /// # Errors
    /// If the device is out of memory.
    pub fn readback(&mut self, gpu: &Gpu, bytes: u64) -> Result<wgpu::Buffer> {
        let fits = self.spare.iter().enumerate().filter(|(_, buffer)| buffer.size() >= bytes);
        match fits.min_by_key(|(_, buffer)| buffer.size()).map(|(at, _)| at) {
            Some(at) => Ok(self.spare.swap_remove(at)),
            None => gpu.buffer("readback", bytes.next_multiple_of(4096), READBACK),
        }
    }

    /// Takes back a readback buffer.
    pub fn spare(&mut self, buffer: Option<wgpu::Buffer>) {
        self.spare.extend(buffer);
    }
}
