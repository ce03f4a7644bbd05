//! An open GPU: device and queue, features and limits, and waits with timeouts.

use super::adapters::AdapterKind;
use super::health::{Health, caught};
use super::pipeline_cache::DiskCache;
use super::vulkan;
use crate::error::{Error, GpuError};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The features that may be used. Each can be disabled, so that every path can be tested on any machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuOptions {
    /// A lower limit for the bytes of a storage binding than the adapter's: for tests of split buffers.
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
    /// The folder for compiled kernels; none to keep none.
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

/// The features and limits of an open GPU, restricted by its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Whether host memory can be imported ([`super::import`]).
    pub host_import: bool,
    /// The alignment of addresses and sizes of imported memory, in bytes.
    pub import_alignment: u64,
    /// The family of the transfer queue ([`super::transfer`]).
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
    /// Whether the driver ends loops early ([`super::rounds`]).
    pub loops_limited: bool,
}

/// An open GPU.
///
/// A program with several open GPUs should drop them when none is in use: NVIDIA's driver (580, Linux) sometimes hangs
/// in `vkDestroyDevice` while other threads use other devices.
#[derive(Debug)]
pub struct Gpu {
    // Dropped before the device.
    pub(super) vulkan: Option<vulkan::Context>,
    pub(super) queue: wgpu::Queue,
    pub(super) device: wgpu::Device,
    pub(super) caps: Caps,
    pub(super) health: Arc<Health>,
    pub(super) is_vulkan: bool,
    pub(super) kind: AdapterKind,
    pub(super) pipelines: Option<DiskCache>,
}

/// How long a wait for a superstep polls: longer than most supersteps over pages in device memory.
const SPIN: Duration = Duration::from_millis(20);

/// The interval at which a wait checks whether the device is lost.
const SLICE: Duration = Duration::from_millis(100);

/// Maximum wait for submitted work after a fault, to find out whether the device is lost.
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

    /// The wgpu device. Call [`Gpu::poll`] and [`Gpu::wait`] instead of its `poll`, which panics if the device is lost.
    pub fn device(&self) -> &wgpu::Device {
        &self.device
    }

    /// Whether the backend is Vulkan.
    pub fn is_vulkan(&self) -> bool {
        self.is_vulkan
    }

    /// Whether it is a card with dedicated memory.
    pub fn is_discrete(&self) -> bool {
        self.kind == AdapterKind::Discrete
    }

    /// How long to poll for an event that usually occurs within `time`, instead of sleeping at once: not at all if the
    /// device is software, which needs the processor itself.
    pub fn poll_time(&self, time: Duration) -> Duration {
        if self.kind == AdapterKind::Software { Duration::ZERO } else { time }
    }

    /// Compiled kernels on disk, if they are kept.
    pub fn pipelines(&self) -> Option<&DiskCache> {
        self.pipelines.as_ref()
    }

    /// The wgpu queue.
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

    /// Checks that no error was recorded.
    ///
    /// # Errors
    /// The first error recorded by a callback.
    pub fn check(&self) -> Result<(), GpuError> {
        self.health.check()
    }

    /// Creates a wgpu object in error scopes.
    ///
    /// # Errors
    /// The errors in the scopes; the errors of [`Gpu::check`].
    pub fn scoped<T>(&self, what: &str, make: impl FnOnce() -> T) -> Result<T, GpuError> {
        self.health.scoped(&self.device, what, make)
    }

    /// The error to report. If the device is lost while commands are encoded, the first symptom may be a fault of these
    /// commands: waits for the loss to be reported.
    pub fn explained(&self, error: Error) -> Error {
        if !matches!(error, Error::Gpu(GpuError::Fault { .. })) {
            return error;
        }
        // The loss is reported once all submissions are done.
        let all = wgpu::PollType::Wait { submission_index: None, timeout: Some(LOSS_PATIENCE) };
        if let Err(words) = caught(|| self.device.poll(all)) {
            self.record_loss(&words);
        }
        match self.check() {
            Err(lost @ GpuError::Lost { .. }) => lost.into(),
            _ => error,
        }
    }

    /// Runs callbacks and frees resources, without waiting.
    ///
    /// # Errors
    /// The errors of [`Gpu::check`].
    pub fn poll(&self) -> Result<(), GpuError> {
        if let Err(words) = caught(|| self.device.poll(wgpu::PollType::Poll)) {
            self.record_loss(&words);
        }
        self.check()
    }

    /// Waits until a submission is done; `false` after `timeout`, even if the device is lost.
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
            // wgpu treats submissions to a lost device as done.
            self.check()?;
            match outcome {
                Ok(Ok(_)) => return Ok(true),
                Ok(Err(wgpu::PollError::Timeout)) if left.is_zero() => return Ok(false),
                Ok(Err(wgpu::PollError::Timeout)) => {}
                Ok(Err(error)) => {
                    return Err(self.health.record(self.health.fault("wait", &error.to_string())).into());
                }
                // Another thread has found all submissions done just after this wait's timeout: wgpu asserts that the
                // queue cannot be empty then.
                Err(words) if words.starts_with("If the queue is empty") => {}
                Err(words) => return Err(self.record_loss(&words).into()),
            }
        }
    }

    /// Polls until a callback has set `done`, for some milliseconds at most: a [wait](Self::wait) that sleeps ends late
    /// by what the system takes to wake a thread, 0.1 to 0.3 ms in a virtual machine.
    ///
    /// # Errors
    /// The errors of [`Gpu::check`].
    pub fn poll_until(&self, done: &AtomicBool) -> Result<(), GpuError> {
        let (begun, spin) = (Instant::now(), self.poll_time(SPIN));
        while !done.load(Ordering::Acquire) && begun.elapsed() < spin {
            self.poll()?;
            std::hint::spin_loop();
        }
        Ok(())
    }

    /// Loses the device, as after a driver reset: for tests.
    pub fn lose(&self) {
        self.device.destroy();
        // The loss is reported once all submissions are done.
        self.poll().ok();
    }

    /// Loses the device at some later time, when it may belong to a run: for tests.
    #[doc(hidden)]
    pub fn loser(&self) -> impl FnMut() + use<> {
        let device = self.device.clone();
        move || device.destroy()
    }

    /// Records the loss after a panic of `poll`, unless the callback has.
    fn record_loss(&self, words: &str) -> GpuError {
        self.health.record(self.health.lost(words))
    }
}
