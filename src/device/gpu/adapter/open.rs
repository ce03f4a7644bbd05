//! An open GPU: device and queue, features and limits, and waits that end.

use super::health::{Health, caught};
use super::pipeline_cache::DiskCache;
use super::vulkan;
use crate::error::{Error, GpuError};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The features that may be used. Everything can be switched off, so that each path is tested on any machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuOptions {
    /// Bytes of a storage binding, where fewer are wanted than the adapter allows: for tests of what is split.
    pub binding_bytes_max: Option<u64>,
    /// Whether host memory may be imported.
    pub host_import: bool,
    /// Whether a queue for transfers may be used.
    pub transfer_queue: bool,
    /// Whether kernels may use native f32 atomics.
    pub float_atomics: bool,
    /// Whether kernels may use 64-bit integers and their atomics.
    pub wide_atomics: bool,
    /// Whether kernels may use subgroup operations.
    pub subgroups: bool,
    /// The folder where compiled kernels are kept; none if they are not.
    pub pipelines: Option<PathBuf>,
}

impl Default for GpuOptions {
    fn default() -> Self {
        Self {
            binding_bytes_max: None,
            host_import: true,
            transfer_queue: true,
            float_atomics: true,
            wide_atomics: true,
            subgroups: true,
            pipelines: None,
        }
    }
}

/// The features and limits of an open GPU, as far as its options allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Whether host memory can be imported: see [`super::import`].
    pub host_import: bool,
    /// The alignment of addresses and sizes of imported memory, in bytes.
    pub import_alignment: u64,
    /// The family of the queue for transfers: see [`super::transfer`].
    pub transfer_family: Option<u32>,
    /// Whether kernels have native f32 atomics.
    pub float_atomics: bool,
    /// Whether kernels have 64-bit integers and all atomics on them.
    pub wide_atomics: bool,
    /// Whether kernels have subgroup operations.
    pub subgroups: bool,
    /// Whether timestamps can be written between the commands of an encoder.
    pub timestamps: bool,
    /// Whether they can be written between the dispatches of a pass.
    pub pass_timestamps: bool,
    /// Bytes that a kernel can reach through one storage binding.
    pub binding_bytes_max: u64,
    /// The alignment of offsets of storage bindings, in bytes.
    pub binding_alignment: u64,
    /// Bytes of a buffer.
    pub buffer_bytes_max: u64,
    /// Bytes of device memory, if the system reports them.
    pub memory_bytes: Option<u64>,
    /// Storage buffers that a kernel can bind.
    pub storage_buffers_max: u32,
    /// Workgroups of a dispatch, in each dimension.
    pub workgroups_max: u32,
    /// Whether the driver ends loops early: see [`super::rounds`].
    pub loops_limited: bool,
}

/// An open GPU.
///
/// Where a program has several open, it should drop them when none is in use any more: NVIDIA's driver (580, Linux)
/// hangs at times, inside `vkDestroyDevice`, while other threads use other devices.
#[derive(Debug)]
pub struct Gpu {
    // Dropped before the device.
    pub(super) vulkan: Option<vulkan::Context>,
    pub(super) queue: wgpu::Queue,
    pub(super) device: wgpu::Device,
    pub(super) caps: Caps,
    pub(super) health: Arc<Health>,
    pub(super) is_vulkan: bool,
    pub(super) is_discrete: bool,
    pub(super) pipelines: Option<DiskCache>,
}

/// How long a wait sleeps before it looks whether the device is still there.
const SLICE: Duration = Duration::from_millis(100);

/// How long what was submitted may take to end before a fault counts as one, and not as the loss of the device.
const LOSS_PATIENCE: Duration = Duration::from_secs(5);

impl Gpu {
    /// The adapter's name.
    pub fn name(&self) -> &str {
        self.health.device()
    }

    /// Features and limits.
    pub fn caps(&self) -> &Caps {
        &self.caps
    }

    /// wgpu's device. Call [`Gpu::poll`] and [`Gpu::wait`] instead of its `poll`, which panics once the device is lost.
    pub fn device(&self) -> &wgpu::Device {
        &self.device
    }

    /// Whether the system's interface to it is Vulkan.
    pub fn is_vulkan(&self) -> bool {
        self.is_vulkan
    }

    /// Whether it is a card with memory of its own.
    pub fn is_discrete(&self) -> bool {
        self.is_discrete
    }

    /// Compiled kernels on disk, if they are kept.
    pub fn pipelines(&self) -> Option<&DiskCache> {
        self.pipelines.as_ref()
    }

    /// wgpu's queue.
    pub fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    /// The health of the device, which holds its first error.
    pub fn health(&self) -> &Arc<Health> {
        &self.health
    }

    pub(in crate::device::gpu) fn vulkan(&self) -> Option<&vulkan::Context> {
        self.vulkan.as_ref()
    }

    /// Whether the device is as it should be.
    ///
    /// # Errors
    /// The first error that any callback has recorded.
    pub fn check(&self) -> Result<(), GpuError> {
        self.health.check()
    }

    /// A buffer of device memory, zeroed.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`] with the label and the sizes, also where a buffer cannot be as large;
    /// [`GpuError::Fault`] for a usage that does not go together; what [`Gpu::check`] says.
    pub fn buffer(&self, label: &str, bytes: u64, usage: wgpu::BufferUsages) -> Result<wgpu::Buffer, Error> {
        let what = format!("{label} of {bytes} bytes");
        if bytes > self.caps.buffer_bytes_max {
            let most = format!("a buffer has at most {} bytes", self.caps.buffer_bytes_max);
            return Err(self.health.out_of_memory(&what, &most).into());
        }
        let descriptor = wgpu::BufferDescriptor { label: Some(label), size: bytes, usage, mapped_at_creation: false };
        Ok(self.scoped(&what, || self.device.create_buffer(&descriptor))?)
    }

    /// Creates a wgpu object, and returns wgpu's objections as an error.
    ///
    /// # Errors
    /// What wgpu reported while it ran; what [`Gpu::check`] says.
    pub fn scoped<T>(&self, what: &str, make: impl FnOnce() -> T) -> Result<T, GpuError> {
        use wgpu::ErrorFilter::{Internal, OutOfMemory, Validation};
        self.check()?;
        let scopes = [Internal, Validation, OutOfMemory].map(|filter| self.device.push_error_scope(filter));
        let made = make();
        // All of them are popped, the innermost first, whatever the first one says.
        let errors = scopes.into_iter().rev().map(|scope| pollster::block_on(scope.pop()));
        let first = errors.fold(None, |first, error| first.or(error));
        self.check()?;
        first.map_or(Ok(made), |error| Err(self.health.wgpu_error(what, &error)))
    }

    /// An error as it is reported. A device that goes while commands are made for it can be found out by
    /// what is wrong with the commands, before its loss is told: a fault is looked into.
    pub fn explained(&self, error: Error) -> Error {
        if !matches!(error, Error::Gpu(GpuError::Fault { .. })) {
            return error;
        }
        // The loss is told once what was submitted is done.
        let all = wgpu::PollType::Wait { submission_index: None, timeout: Some(LOSS_PATIENCE) };
        if let Err(words) = caught(|| self.device.poll(all)) {
            self.record_loss(&words);
        }
        match self.check() {
            Err(lost @ GpuError::Lost { .. }) => lost.into(),
            _ => error,
        }
    }

    /// Lets callbacks run and resources go, without waiting.
    ///
    /// # Errors
    /// The errors of [`Gpu::check`].
    pub fn poll(&self) -> Result<(), GpuError> {
        if let Err(words) = caught(|| self.device.poll(wgpu::PollType::Poll)) {
            self.record_loss(&words);
        }
        self.check()
    }

    /// Waits until a submission is done; `false` where that takes longer than `timeout`. Never waits for longer,
    /// whatever becomes of the device.
    ///
    /// # Errors
    /// The errors of [`Gpu::check`].
    pub fn wait(&self, submission: wgpu::SubmissionIndex, timeout: Duration) -> Result<bool, Error> {
        let end = Instant::now().checked_add(timeout);
        loop {
            self.check()?;
            let left = end.map_or(SLICE, |end| end.saturating_duration_since(Instant::now()));
            let poll =
                wgpu::PollType::Wait { submission_index: Some(submission.clone()), timeout: Some(left.min(SLICE)) };
            let outcome = caught(|| self.device.poll(poll));
            // What was submitted to a device that is gone counts as done for wgpu.
            self.check()?;
            match outcome {
                Ok(Ok(_)) => return Ok(true),
                Ok(Err(wgpu::PollError::Timeout)) if left.is_zero() => return Ok(false),
                Ok(Err(wgpu::PollError::Timeout)) => {}
                Ok(Err(error)) => {
                    return Err(self.health.record(self.health.fault("wait", &error.to_string())).into());
                }
                Err(words) => return Err(self.record_loss(&words).into()),
            }
        }
    }

    /// Loses the device, as after a driver reset: for tests.
    pub fn lose(&self) {
        self.device.destroy();
        // The loss is told once everything that was submitted is done.
        self.poll().ok();
    }

    /// Loses the device at some later time, when it may belong to a run: for tests.
    #[doc(hidden)]
    pub fn loser(&self) -> impl FnMut() + use<> {
        let device = self.device.clone();
        move || device.destroy()
    }

    /// A poll panicked: the device is lost, and the callback has said so unless it was called before.
    fn record_loss(&self, words: &str) -> GpuError {
        self.health.record(self.health.lost(words))
    }
}
