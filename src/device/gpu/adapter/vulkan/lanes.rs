//! Copies on a queue: a command buffer, a fence and two timestamps for each submission that can be under way.

use super::super::health::Health;
use super::memory::{Context, RawBuffer, error};
use crate::error::GpuError;
use ash::vk;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A part of a buffer to copy to another. Both ranges lie within their buffers.
pub struct RawCopy {
    pub source: Arc<RawBuffer>,
    pub source_offset: u64,
    pub dest: Arc<RawBuffer>,
    pub dest_offset: u64,
    pub bytes: u64,
}

struct Lane {
    commands: vk::CommandBuffer,
    fence: vk::Fence,
    /// The buffers of copies under way; empty while the lane is free.
    held: Vec<Arc<RawBuffer>>,
    busy: bool,
}

/// Submissions to a queue, each in a lane of its own. Lanes are made when they are first used: opening the queue with
/// 32 of them took 9 ms with NVIDIA's driver 580.
pub struct Lanes {
    device: ash::Device,
    queue: vk::Queue,
    pool: vk::CommandPool,
    queries: vk::QueryPool,
    lanes: Vec<Lane>,
    /// The valid bits of a timestamp, and the nanoseconds of a tick.
    mask: u64,
    tick_ns: f64,
    taken: Option<Arc<AtomicBool>>,
    /// Last: everything above is freed with it.
    _alive: wgpu::Device,
}

/// How long a drop waits for copies, before it leaves them what they use.
const DRAIN: Duration = Duration::from_secs(10);

impl fmt::Debug for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let busy = self.lanes.iter().filter(|lane| lane.busy).count();
        f.debug_struct("Lanes").field("lanes", &self.lanes.len()).field("busy", &busy).finish_non_exhaustive()
    }
}

impl Context {
    /// Lanes on the transfer queue, which must have been requested when the device was opened. Only once at a time.
    ///
    /// # Errors
    /// [`GpuError::Unavailable`] where there is no such queue, or it is taken; [`GpuError::OutOfMemory`].
    pub fn transfer_lanes(&self, device: &wgpu::Device, count: usize, health: &Health) -> Result<Lanes, GpuError> {
        let Some(family) = self.facts.transfer_family else {
            return Err(health.unavailable("transfer queue", "the device has none"));
        };
        // A queue must not be submitted to concurrently: it has a single owner.
        if self.taken.swap(true, Ordering::AcqRel) {
            return Err(health.unavailable("transfer queue", "it is in use"));
        }
        // SAFETY: the device was opened with one queue of this family, and has no other user.
        let lanes = unsafe {
            let queue = self.device.get_device_queue(family, 0);
            self.lanes(device, queue, family, count)
        };
        match lanes {
            Ok(mut lanes) => {
                lanes.taken = Some(Arc::clone(&self.taken));
                Ok(lanes)
            }
            Err(result) => {
                self.taken.store(false, Ordering::Release);
                Err(error(health, "the transfer queue", result))
            }
        }
    }

    /// Lanes on the queue that wgpu submits to.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`].
    ///
    /// # Safety
    /// While the lanes live, they and wgpu's queue are used from one thread only.
    pub unsafe fn compute_lanes(
        &self,
        device: &wgpu::Device,
        count: usize,
        health: &Health,
    ) -> Result<Lanes, GpuError> {
        // SAFETY: the queue belongs to the device, and the caller sees to it that it takes one submission at a time.
        let lanes = unsafe { self.lanes(device, self.compute_queue, self.compute_family, count) };
        lanes.map_err(|result| error(health, "copies on the compute queue", result))
    }

    /// # Safety
    /// The queue is of this device and family, and takes no two submissions at once.
    unsafe fn lanes(
        &self,
        device: &wgpu::Device,
        queue: vk::Queue,
        family: u32,
        count: usize,
    ) -> Result<Lanes, vk::Result> {
        let bits = self.facts.timestamp_bits.get(family as usize).copied().unwrap_or(0);
        let timed = bits > 0 && self.facts.host_query_reset;
        let mut lanes = Lanes {
            device: self.device.clone(),
            queue,
            pool: vk::CommandPool::null(),
            queries: vk::QueryPool::null(),
            lanes: Vec::with_capacity(count),
            mask: if bits < 64 { (1u64 << bits) - 1 } else { u64::MAX },
            tick_ns: self.facts.tick_ns.into(),
            taken: None,
            _alive: device.clone(),
        };
        let pool = vk::CommandPoolCreateInfo::default()
            .queue_family_index(family)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        let queries =
            vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(2 * count as u32);
        // SAFETY: the family is one that the device was opened with. What has been made when something fails is freed
        // by `lanes`.
        unsafe {
            lanes.pool = self.device.create_command_pool(&pool, None)?;
            if timed {
                lanes.queries = self.device.create_query_pool(&queries, None)?;
            }
        }
        Ok(lanes)
    }
}

impl Lanes {
    /// Submits copies in a free lane.
    ///
    /// # Errors
    /// [`GpuError::Fault`] for buffers of another device, [`GpuError::OutOfMemory`], [`GpuError::Lost`].
    pub fn submit(&mut self, lane: usize, copies: &[RawCopy], health: &Health) -> Result<(), GpuError> {
        while self.lanes.len() <= lane {
            let made = self.lane().map_err(|result| error(health, "the transfer queue", result))?;
            self.lanes.push(made);
        }
        assert!(!self.lanes[lane].busy, "a lane takes one submission at a time");
        let buffers = || copies.iter().flat_map(|copy| [&copy.source, &copy.dest]);
        if !buffers().all(|buffer| buffer.belongs_to(self.device.handle())) {
            return Err(health.fault("a copy", "a buffer belongs to another device"));
        }
        let held = buffers().cloned().collect();
        self.record(lane, copies).map_err(|result| error(health, "recording copies", result))?;
        let Lane { commands, fence, .. } = self.lanes[lane];
        let commands = [commands];
        let submission = vk::SubmitInfo::default().command_buffers(&commands);
        // SAFETY: the commands are recorded, and neither they nor the fence are in use. Nobody else submits to this
        // queue at the same time. The buffers are held until the fence says that the copies are done.
        let submitted = unsafe { self.device.queue_submit(self.queue, &[submission], fence) };
        submitted.map_err(|result| error(health, "submitting copies", result))?;
        self.lanes[lane].held = held;
        self.lanes[lane].busy = true;
        Ok(())
    }

    /// Makes a lane.
    fn lane(&self) -> Result<Lane, vk::Result> {
        let buffers = vk::CommandBufferAllocateInfo::default().command_pool(self.pool);
        let buffers = buffers.level(vk::CommandBufferLevel::PRIMARY).command_buffer_count(1);
        // SAFETY: the pool is this device's, and used by the owner of the lanes alone. What has been made when
        // something fails is freed with the pool.
        unsafe {
            let fence = self.device.create_fence(&vk::FenceCreateInfo::default(), None)?;
            match self.device.allocate_command_buffers(&buffers) {
                Ok(commands) => Ok(Lane { commands: commands[0], fence, held: Vec::new(), busy: false }),
                Err(result) => {
                    self.device.destroy_fence(fence, None);
                    Err(result)
                }
            }
        }
    }

    fn record(&self, lane: usize, copies: &[RawCopy]) -> Result<(), vk::Result> {
        let (device, commands, fence) = (&self.device, self.lanes[lane].commands, self.lanes[lane].fence);
        let timed = self.queries != vk::QueryPool::null();
        let query = 2 * lane as u32;
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        let visible = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE);
        // Once everything before it is done: the timestamps enclose the copies and nothing of the submission before.
        let done = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
        // SAFETY: the lane is free, so neither its commands, its fence nor its queries are in use. Queries are reset by
        // the host, which the device was opened for where there are any. Ranges lie within their buffers.
        unsafe {
            device.reset_fences(&[fence])?;
            device.begin_command_buffer(commands, &begin)?;
            if timed {
                device.reset_query_pool(self.queries, query, 2);
                device.cmd_write_timestamp(commands, done, self.queries, query);
            }
            for ((source, dest), regions) in regions(copies) {
                device.cmd_copy_buffer(commands, source, dest, &regions);
            }
            if timed {
                device.cmd_write_timestamp(commands, done, self.queries, query + 1);
            }
            let (copied, all) = (vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::ALL_COMMANDS);
            device.cmd_pipeline_barrier(commands, copied, all, vk::DependencyFlags::empty(), &[visible], &[], &[]);
            device.end_command_buffer(commands)
        }
    }

    /// Waits for a lane's submission; `false` where that takes longer than `timeout`. A free lane is done.
    ///
    /// # Errors
    /// [`GpuError::Lost`].
    pub fn wait(&self, lane: usize, timeout: Duration, health: &Health) -> Result<bool, GpuError> {
        let lane = &self.lanes[lane];
        if !lane.busy {
            return Ok(true);
        }
        let ns = timeout.as_nanos().min(u64::MAX.into()) as u64;
        // SAFETY: the fence is this device's, and has been submitted.
        match unsafe { self.device.wait_for_fences(&[lane.fence], true, ns) } {
            Ok(()) => Ok(true),
            Err(vk::Result::TIMEOUT) => Ok(false),
            Err(result) => Err(error(health, "waiting for copies", result)),
        }
    }

    /// Frees a lane that has been waited for; when its copies began and ended, in nanoseconds of the device's clock,
    /// where the queue has one.
    pub fn retire(&mut self, lane: usize) -> Option<(u64, u64)> {
        let times = self.times(lane);
        self.lanes[lane].busy = false;
        self.lanes[lane].held.clear();
        times
    }

    fn times(&self, lane: usize) -> Option<(u64, u64)> {
        if self.queries == vk::QueryPool::null() {
            return None;
        }
        let mut ticks = [0u64; 2];
        // SAFETY: the pool has two queries for each lane, and they are as wide as what they are written to.
        let read = unsafe {
            self.device.get_query_pool_results(self.queries, 2 * lane as u32, &mut ticks, vk::QueryResultFlags::TYPE_64)
        };
        let ns = |ticks: u64| ((ticks & self.mask) as f64 * self.tick_ns) as u64;
        read.ok().map(|()| (ns(ticks[0]), ns(ticks[1])))
    }
}

impl Drop for Lanes {
    fn drop(&mut self) {
        let busy: Vec<vk::Fence> = self.lanes.iter().filter(|lane| lane.busy).map(|lane| lane.fence).collect();
        let ns = DRAIN.as_nanos() as u64;
        // SAFETY: the fences are this device's, and have been submitted.
        let waited = if busy.is_empty() { Ok(()) } else { unsafe { self.device.wait_for_fences(&busy, true, ns) } };
        if !matches!(waited, Ok(()) | Err(vk::Result::ERROR_DEVICE_LOST)) {
            // A device that hangs may still write, and so may one that could not be waited for for lack of memory. What
            // it might write to, and the device itself, are left to it.
            self.lanes.drain(..).for_each(|lane| std::mem::forget(lane.held));
            std::mem::forget(self._alive.clone());
            return;
        }
        // SAFETY: nothing is under way any more: all is done, or the device is lost. The device is alive.
        unsafe {
            for lane in &self.lanes {
                self.device.destroy_fence(lane.fence, None);
            }
            self.device.destroy_query_pool(self.queries, None);
            self.device.destroy_command_pool(self.pool, None);
        }
        // The queue stays taken where something was left on it.
        if let Some(taken) = &self.taken {
            taken.store(false, Ordering::Release);
        }
    }
}

/// Copies as few commands and regions: by pair of buffers, with what lies side by side in both of them as one.
fn regions(copies: &[RawCopy]) -> BTreeMap<(vk::Buffer, vk::Buffer), Vec<vk::BufferCopy>> {
    let mut by_pair: BTreeMap<_, Vec<vk::BufferCopy>> = BTreeMap::new();
    for copy in copies {
        let region = vk::BufferCopy::default().src_offset(copy.source_offset).dst_offset(copy.dest_offset);
        by_pair.entry((copy.source.buffer, copy.dest.buffer)).or_default().push(region.size(copy.bytes));
    }
    for regions in by_pair.values_mut() {
        regions.sort_by_key(|region| region.src_offset);
        regions.dedup_by(|next, last| {
            let follows =
                last.src_offset + last.size == next.src_offset && last.dst_offset + last.size == next.dst_offset;
            last.size += if follows { next.size } else { 0 };
            follows
        });
    }
    by_pair
}
