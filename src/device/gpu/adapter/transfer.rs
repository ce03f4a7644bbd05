//! Copies beside the kernels, on a queue of their own.
//!
//! wgpu has one queue, on which copies and kernels take turns. A card's copy engine is a second one: while kernels work
//! on the pages that are there, it brings the next ones.
//!
//! ```text
//!   submit ─▶ ticket n     │ lane 0 │ lane 1 │ … │ lane 31 │     command buffer, fence, two timestamps each
//!                               ▲ ticket n waits in lane n mod 32, until it is done and the lane is free again
//! ```
//!
//! # Contract
//!
//! The two queues know nothing of each other: the host stands between them.
//!
//! - Before a kernel that reads what a copy brings is submitted, the copy's ticket has been waited for (or polled, with
//!   the answer that it is done).
//! - Before a copy overwrites what a kernel reads, the kernel's submission has been waited for.
//! - Before a copy reads what the device wrote, that submission has been waited for; what the host wrote, is written.
//!
//! Breaking the contract gives wrong contents, nothing worse: buffers are kept alive until the copies that use them are
//! done.

use super::health::Health;
use super::import::SharedBuffer;
use super::open::Gpu;
use super::vulkan::{Lanes, RawCopy};
use crate::error::GpuError;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How many submissions can be under way; further ones wait for the first of them.
pub const LANES: usize = 32;

/// Times that are kept for [`TransferQueue::finished`]; the oldest go first.
const TIMES_MAX: usize = 4096;

/// How long a wait sleeps before it looks whether the device is still there.
const SLICE: Duration = Duration::from_millis(100);

/// How long a submission waits for a free lane. Copies take milliseconds; the driver gives a hung device up after
/// seconds.
const LANE_TIMEOUT: Duration = Duration::from_secs(60);

/// A part of a buffer to copy to another.
#[derive(Clone, Copy, Debug)]
pub struct Copy<'a> {
    /// Where the bytes are.
    pub source: &'a SharedBuffer,
    /// Where they begin there, in bytes.
    pub source_offset: u64,
    /// Where they are wanted.
    pub dest: &'a SharedBuffer,
    /// Where they begin there, in bytes.
    pub dest_offset: u64,
    /// How many there are.
    pub bytes: u64,
}

/// A submission of copies. Later ones are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransferTicket(u64);

/// When the copies of a submission ran, in nanoseconds of the device's clock (the one that timestamps on the compute
/// queue are taken from).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferTime {
    /// The submission.
    pub ticket: TransferTicket,
    /// When its first copy began.
    pub begin_ns: u64,
    /// When its last copy was done.
    pub end_ns: u64,
}

/// The queue for transfers of a GPU.
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
    /// The GPU's transfer queue. There is one: it must be dropped before it can be had again.
    ///
    /// # Errors
    /// [`GpuError::Unavailable`] if there is none ([`super::Caps::transfer_family`]), or it is in use;
    /// [`GpuError::OutOfMemory`].
    pub fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        gpu.check()?;
        let vulkan = gpu.vulkan().filter(|_| gpu.caps().transfer_family.is_some());
        let Some(vulkan) = vulkan else {
            return Err(gpu.health().unavailable("transfer queue", "the device has none, or it may not be used"));
        };
        Ok(Self::over(vulkan.transfer_lanes(gpu.device(), LANES, gpu.health())?, gpu))
    }

    /// Copies through the queue that wgpu uses too, where a device has no other: for tests of everything but the
    /// overlap.
    ///
    /// # Errors
    /// The errors of [`TransferQueue::new`].
    ///
    /// # Safety
    /// While this queue lives, it and wgpu's are used from one thread only: a queue takes no two submissions at once.
    #[cfg(target_os = "linux")]
    #[allow(unsafe_code)]
    pub unsafe fn on_compute_queue(gpu: &Gpu) -> Result<Self, GpuError> {
        gpu.check()?;
        let Some(vulkan) = gpu.vulkan() else {
            return Err(gpu
                .health()
                .unavailable("copies on the compute queue", "this is not Vulkan, or it may not be used"));
        };
        // SAFETY: the caller's promise is the one that is asked for.
        let lanes = unsafe { vulkan.compute_lanes(gpu.device(), LANES, gpu.health()) }?;
        Ok(Self::over(lanes, gpu))
    }

    /// The same for the driver, whose thread is the only one to use either queue.
    #[cfg(target_os = "linux")]
    #[allow(unsafe_code)]
    pub(in crate::device::gpu) fn beside_wgpu(gpu: &Gpu) -> Result<Self, GpuError> {
        // SAFETY: an adapter's home moves between threads as a whole, so its owner has both queues.
        unsafe { Self::on_compute_queue(gpu) }
    }

    /// There is no such queue here.
    #[cfg(not(target_os = "linux"))]
    pub(in crate::device::gpu) fn beside_wgpu(gpu: &Gpu) -> Result<Self, GpuError> {
        Self::new(gpu)
    }

    fn over(lanes: Lanes, gpu: &Gpu) -> Self {
        Self { lanes, health: Arc::clone(gpu.health()), next: 0, done: 0, times: VecDeque::new() }
    }

    /// Submits copies, to run in any order among themselves, after those of earlier tickets have begun. Waits for a
    /// free lane where [`LANES`] submissions are under way.
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

    /// Waits until a submission is done; `false` where that takes longer than `timeout`.
    ///
    /// # Errors
    /// [`GpuError::Lost`].
    pub fn wait(&mut self, ticket: TransferTicket, timeout: Duration) -> Result<bool, GpuError> {
        let end = Instant::now().checked_add(timeout);
        while !self.poll(ticket)? {
            let left = end.map_or(SLICE, |end| end.saturating_duration_since(Instant::now()));
            // The oldest first: a queue is done with its submissions in their order, or nearly so.
            if self.done == self.next || left.is_zero() {
                return Ok(false);
            }
            self.lanes.wait(self.done as usize % LANES, left.min(SLICE), &self.health)?;
        }
        Ok(true)
    }

    /// Submissions that are not known to be done.
    pub fn under_way(&self) -> usize {
        (self.next - self.done) as usize
    }

    /// When the submissions ran that have been found done since the last call. Empty where the queue has no timestamps.
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
            _ => Err(self.health.fault("a copy", "a buffer was not made for both queues")),
        }
    }
}
