//! Copies that overlap kernels, on a separate queue.
//!
//! wgpu has one queue, on which copies and kernels alternate. A card's copy engine has a second queue: it copies the
//! next pages while kernels process the current ones.
//!
//! ```text
//!   submit ─▶ ticket n     │ lane 0 │ lane 1 │ … │ lane 31 │     command buffer, fence, two timestamps each
//!                               ▲ ticket n occupies lane n mod 32 until it is done
//! ```
//!
//! # Contract
//!
//! The two queues are not synchronised on the device, but by the host:
//!
//! - Before a kernel that reads the destination of a copy is submitted, the host has waited for the copy's ticket (or
//!   polled it until it was done).
//! - Before a copy overwrites what a kernel reads, the host has waited for the kernel's submission.
//! - Before a copy reads what a kernel wrote, the host has waited for the kernel's submission.
//!
//! A violation gives wrong contents, but nothing worse: buffers are kept alive until the copies that use them are done.

use super::health::Health;
use super::import::SharedBuffer;
use super::open::Gpu;
use super::vulkan::{Lanes, RawCopy};
use crate::error::GpuError;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum number of submissions in flight; further ones wait for the oldest.
pub const LANES: usize = 32;

/// Maximum number of times kept for [`TransferQueue::finished`]; the oldest are dropped.
const TIMES_MAX: usize = 4096;

/// The interval at which a wait checks whether the device is lost.
const SLICE: Duration = Duration::from_millis(100);

/// Maximum wait for a free lane. Copies take milliseconds; the driver gives up on a hung device after seconds.
const LANE_TIMEOUT: Duration = Duration::from_secs(60);

/// A part of a buffer to copy to another.
#[derive(Clone, Copy, Debug)]
pub struct Copy<'a> {
    /// The source.
    pub source: &'a SharedBuffer,
    /// Byte offset in the source.
    pub source_offset: u64,
    /// The destination.
    pub dest: &'a SharedBuffer,
    /// Byte offset in the destination.
    pub dest_offset: u64,
    /// The number of bytes.
    pub bytes: u64,
}

/// A submission of copies. Later ones are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransferTicket(u64);

/// The time of a submission's copies, in nanoseconds of the device's clock (the clock of timestamps on the compute
/// queue).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferTime {
    /// The submission.
    pub ticket: TransferTicket,
    /// When its first copy began.
    pub begin_ns: u64,
    /// When its last copy was done.
    pub end_ns: u64,
}

/// The transfer queue of a GPU.
#[derive(Debug)]
pub struct TransferQueue {
    lanes: Lanes,
    health: Arc<Health>,
    /// The ticket of the next submission.
    next: u64,
    /// Submissions before this one are done.
    done: u64,
    times: VecDeque<TransferTime>,
}

impl TransferQueue {
    /// The GPU's transfer queue. It is exclusive: it must be dropped before it can be created again.
    ///
    /// # Errors
    /// [`GpuError::Unavailable`] if there is none ([`super::Caps::transfer_family`]), or it is in use;
    /// [`GpuError::OutOfMemory`].
    pub fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        gpu.check()?;
        let vulkan = gpu.vulkan().filter(|_| gpu.caps().transfer_family.is_some());
        let Some(vulkan) = vulkan else {
            return Err(gpu.health().unavailable("transfer queue", "the device has none, or it is disabled"));
        };
        Ok(Self::over(vulkan.transfer_lanes(gpu.device(), LANES, gpu.health())?, gpu))
    }

    /// Copies through the queue of wgpu, for devices without another: tests everything except the overlap.
    ///
    /// # Errors
    /// The errors of [`TransferQueue::new`].
    ///
    /// # Safety
    /// While this exists, it and the wgpu queue must be used from one thread only: submissions to a queue must not be
    /// concurrent.
    #[cfg(target_os = "linux")]
    #[allow(unsafe_code)]
    pub unsafe fn on_compute_queue(gpu: &Gpu) -> Result<Self, GpuError> {
        gpu.check()?;
        let Some(vulkan) = gpu.vulkan() else {
            return Err(gpu
                .health()
                .unavailable("copies on the compute queue", "the backend is not Vulkan, or it is disabled"));
        };
        // SAFETY: the caller guarantees the contract of `compute_lanes`.
        let lanes = unsafe { vulkan.compute_lanes(gpu.device(), LANES, gpu.health()) }?;
        Ok(Self::over(lanes, gpu))
    }

    /// Copies through the queue of wgpu, for the driver: its thread is the only one to use either queue.
    #[cfg(target_os = "linux")]
    #[allow(unsafe_code)]
    pub(in crate::device::gpu) fn beside_wgpu(gpu: &Gpu) -> Result<Self, GpuError> {
        // SAFETY: an adapter's home moves between threads as a whole, so its owner has both queues. The thread that
        // keeps a card awake is not started where copies go through the compute queue.
        unsafe { Self::on_compute_queue(gpu) }
    }

    /// Not available on this system.
    #[cfg(not(target_os = "linux"))]
    pub(in crate::device::gpu) fn beside_wgpu(gpu: &Gpu) -> Result<Self, GpuError> {
        Self::new(gpu)
    }

    fn over(lanes: Lanes, gpu: &Gpu) -> Self {
        Self { lanes, health: Arc::clone(gpu.health()), next: 0, done: 0, times: VecDeque::new() }
    }

    /// Submits copies, which run in any order, after the copies of earlier tickets have begun. Waits for a free lane if
    /// [`LANES`] submissions are in flight.
    ///
    /// # Errors
    /// [`GpuError::Fault`] for a copy that leaves its buffers, or buffers that are not shared; [`GpuError::Lost`].
    pub fn submit(&mut self, copies: &[Copy<'_>]) -> Result<TransferTicket, GpuError> {
        self.health.check()?;
        let raw = copies.iter().map(|copy| self.raw(copy)).collect::<Result<Vec<_>, _>>()?;
        let full = self.next - self.done == LANES as u64;
        if full && !self.wait(TransferTicket(self.done), LANE_TIMEOUT)? {
            return Err(self.health.record(self.health.lost("its copies take longer than a minute")));
        }
        self.lanes.submit(self.next as usize % LANES, &raw, &self.health)?;
        self.next += 1;
        Ok(TransferTicket(self.next - 1))
    }

    /// Whether a submission is done.
    ///
    /// # Errors
    /// [`GpuError::Lost`].
    pub fn poll(&mut self, ticket: TransferTicket) -> Result<bool, GpuError> {
        self.health.check()?;
        while self.done < self.next && self.lanes.wait(self.done as usize % LANES, Duration::ZERO, &self.health)? {
            self.retire();
        }
        Ok(ticket.0 < self.done)
    }

    /// Waits until a submission is done; `false` after `timeout`.
    ///
    /// # Errors
    /// [`GpuError::Lost`].
    pub fn wait(&mut self, ticket: TransferTicket, timeout: Duration) -> Result<bool, GpuError> {
        let end = Instant::now().checked_add(timeout);
        while !self.poll(ticket)? {
            let left = end.map_or(SLICE, |end| end.saturating_duration_since(Instant::now()));
            // The oldest first: submissions complete nearly in order.
            if self.done == self.next || left.is_zero() {
                return Ok(false);
            }
            self.lanes.wait(self.done as usize % LANES, left.min(SLICE), &self.health)?;
        }
        Ok(true)
    }

    /// The number of submissions that are not known to be done.
    pub fn under_way(&self) -> usize {
        (self.next - self.done) as usize
    }

    /// The times of submissions completed since the last call. Empty if the queue has no timestamps.
    pub fn finished(&mut self) -> Vec<TransferTime> {
        self.times.drain(..).collect()
    }

    fn retire(&mut self) {
        if let Some((begin_ns, end_ns)) = self.lanes.retire(self.done as usize % LANES) {
            if self.times.len() == TIMES_MAX {
                self.times.pop_front();
            }
            self.times.push_back(TransferTime { ticket: TransferTicket(self.done), begin_ns, end_ns });
        }
        self.done += 1;
    }

    fn raw(&self, copy: &Copy<'_>) -> Result<RawCopy, GpuError> {
        let fits = |buffer: &SharedBuffer, offset: u64| {
            offset.checked_add(copy.bytes).is_some_and(|end| end <= buffer.size()) && copy.bytes > 0
        };
        let Copy { source, source_offset, dest, dest_offset, bytes } = *copy;
        if !fits(source, source_offset) || !fits(dest, dest_offset) {
            let message =
                format!("{bytes} bytes from {source_offset} of {} to {dest_offset} of {}", source.size(), dest.size());
            return Err(self.health.fault("a copy", &message));
        }
        match (source.raw(), dest.raw()) {
            (Some(source), Some(dest)) => {
                Ok(RawCopy { source: source.clone(), source_offset, dest: dest.clone(), dest_offset, bytes })
            }
            _ => Err(self.health.fault("a copy", "a buffer was not created for both queues")),
        }
    }
}
