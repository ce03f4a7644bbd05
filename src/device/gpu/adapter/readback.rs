//! Small buffers between host and device: uniforms and readback buffers.

use super::open::Gpu;
use crate::error::Result;
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use topostream_formats::threads;

/// Maximum wait for a readback, far above the duration of any kernel.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// The usage of readback buffers.
pub const READBACK: wgpu::BufferUsages = wgpu::BufferUsages::MAP_READ.union(wgpu::BufferUsages::COPY_DST);

/// A small uniform with these bytes.
///
/// # Errors
/// If the device is out of memory.
pub fn uniform(gpu: &Gpu, bytes: &[u8]) -> Result<wgpu::Buffer> {
    let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
    let buffer = gpu.buffer("uniform", bytes.len() as u64, usage)?;
    gpu.queue().write_buffer(&buffer, 0, bytes);
    Ok(buffer)
}

/// Waits for a submission and reads the first `bytes` of a buffer that it filled.
///
/// # Errors
/// [`Lost`](crate::error::GpuError::Lost) if the submission takes longer than [`PATIENCE`]; device errors.
pub fn read_buffer(gpu: &Gpu, buffer: &wgpu::Buffer, submission: wgpu::SubmissionIndex, bytes: u64) -> Result<Vec<u8>> {
    let view = mapped(gpu, buffer, submission, bytes, true)?;
    let read = view[..bytes as usize].to_vec();
    drop(view);
    buffer.unmap();
    Ok(read)
}

/// Waits for a submission and maps at least the first `bytes` of a buffer that it filled. Polls first if it is `soon`
/// done.
fn mapped(
    gpu: &Gpu,
    buffer: &wgpu::Buffer,
    submission: wgpu::SubmissionIndex,
    bytes: u64,
    soon: bool,
) -> Result<wgpu::BufferView> {
    let range = 0..bytes.next_multiple_of(8);
    let done = Arc::new(AtomicBool::new(false));
    let mark = Arc::clone(&done);
    buffer.map_async(wgpu::MapMode::Read, range.clone(), move |_| mark.store(true, Ordering::Release));
    if soon {
        gpu.poll_until(&done)?;
    }
    if !gpu.wait(submission, PATIENCE)? {
        return Err(gpu.health().lost("a superstep did not end").into());
    }
    let view = buffer.get_mapped_range(range);
    Ok(view.map_err(|error| gpu.health().fault("readback", &format!("{error:?}")))?)
}

/// Buffers of one size through which much is read, in turns: while one is read, on whatever thread, the device fills
/// others.
pub struct Staging {
    bytes: u64,
    /// None: a buffer that was to be created ahead could not be.
    spare: Receiver<Option<wgpu::Buffer>>,
    back: Sender<Option<wgpu::Buffer>>,
    /// The number of buffers that may still be created.
    more: Arc<AtomicU32>,
    /// Creates buffers ahead.
    thread: Option<JoinHandle<()>>,
}

impl Staging {
    /// Up to `count` buffers of `bytes`, a multiple of 8. They are created when they are needed.
    pub fn new(count: u32, bytes: u64) -> Self {
        let (back, spare) = unbounded();
        Self { bytes, spare, back, more: Arc::new(AtomicU32::new(count)), thread: None }
    }

    /// Starts to create up to `count` of the buffers on another thread, if that has not been done: it takes
    /// milliseconds with NVIDIA's driver.
    pub fn create_ahead(&mut self, gpu: &Arc<Gpu>, count: u32) {
        if self.thread.is_some() || count == 0 {
            return;
        }
        let (gpu, back, more, bytes) = (Arc::clone(gpu), self.back.clone(), Arc::clone(&self.more), self.bytes);
        let create = move || {
            for _ in 0..count {
                if !claim(&more) {
                    return;
                }
                let Ok(buffer) = gpu.buffer("staging", bytes, READBACK) else {
                    // The waiter allocates one and gets the error.
                    more.fetch_add(1, Ordering::Relaxed);
                    back.send(None).ok();
                    return;
                };
                back.send(Some(buffer)).ok();
            }
        };
        // Without a thread, they are created when they are needed.
        self.thread = threads::start("gpu staging", 1, create).ok();
    }

    /// The bytes of a buffer.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// A buffer that is not being read; waits until there is one.
    ///
    /// # Errors
    /// If the device is out of memory.
    pub fn buffer(&self, gpu: &Gpu) -> Result<Lent> {
        let lent = |buffer| Lent { buffer: Some(buffer), back: self.back.clone() };
        loop {
            if let Ok(Some(buffer)) = self.spare.try_recv() {
                return Ok(lent(buffer));
            }
            if claim(&self.more) {
                let created = gpu.buffer("staging", self.bytes, READBACK);
                return created.map(lent).inspect_err(|_| {
                    self.more.fetch_add(1, Ordering::Relaxed);
                });
            }
            if let Some(buffer) = self.spare.recv().expect("this end keeps the channel open") {
                return Ok(lent(buffer));
            }
        }
    }

    /// Waits for a submission and maps the first `bytes` of a buffer that it filled.
    ///
    /// # Errors
    /// The errors of [`read_buffer`].
    pub fn map(&self, gpu: &Gpu, mut lent: Lent, submission: wgpu::SubmissionIndex, bytes: u64) -> Result<Mapped> {
        match mapped(gpu, &lent, submission, bytes, false) {
            Ok(view) => Ok(Mapped { view: Some(view), lent, bytes: bytes as usize }),
            Err(error) => {
                // It may be mapped later: another one takes its place.
                lent.buffer = None;
                self.more.fetch_add(1, Ordering::Relaxed);
                Err(error)
            }
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        self.more.store(0, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

/// Takes one of what is left.
fn claim(left: &AtomicU32) -> bool {
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
}

/// A buffer for the device to fill; it is used again once this is dropped.
pub struct Lent {
    buffer: Option<wgpu::Buffer>,
    back: Sender<Option<wgpu::Buffer>>,
}

impl Deref for Lent {
    type Target = wgpu::Buffer;

    fn deref(&self) -> &wgpu::Buffer {
        self.buffer.as_ref().expect("lent until it is dropped")
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if self.buffer.is_some() {
            // Nobody may want it any more.
            self.back.send(self.buffer.take()).ok();
        }
    }
}

/// Bytes of the device in main memory; the buffer is used again once they are dropped.
pub struct Mapped {
    view: Option<wgpu::BufferView>,
    lent: Lent,
    bytes: usize,
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.view.as_ref().expect("mapped until it is dropped")[..self.bytes]
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        self.view = None;
        self.lent.unmap();
    }
}
