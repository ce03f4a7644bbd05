//! Small buffers between host and device: uniforms and readback buffers.

use super::open::Gpu;
use crate::error::Result;
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::cell::Cell;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

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
    spare: Receiver<wgpu::Buffer>,
    back: Sender<wgpu::Buffer>,
    /// The number of buffers that may still be created.
    more: Cell<u32>,
}

impl Staging {
    /// Up to `count` buffers of `bytes`, a multiple of 8. They are created when they are needed.
    pub fn new(count: u32, bytes: u64) -> Self {
        let (back, spare) = unbounded();
        Self { bytes, spare, back, more: Cell::new(count) }
    }

    /// A buffer that nobody reads; waits until there is one.
    ///
    /// # Errors
    /// If the device is out of memory.
    pub fn buffer(&self, gpu: &Gpu) -> Result<wgpu::Buffer> {
        if let Ok(buffer) = self.spare.try_recv() {
            return Ok(buffer);
        }
        match self.more.get().checked_sub(1) {
            Some(more) => {
                self.more.set(more);
                gpu.buffer("staging", self.bytes, READBACK)
            }
            None => Ok(self.spare.recv().expect("this end keeps the channel open")),
        }
    }

    /// Waits for a submission and maps the first `bytes` of a buffer that it filled.
    ///
    /// # Errors
    /// Those of [`read_buffer`].
    pub fn map(
        &self,
        gpu: &Gpu,
        buffer: wgpu::Buffer,
        submission: wgpu::SubmissionIndex,
        bytes: u64,
    ) -> Result<Mapped> {
        let view = mapped(gpu, &buffer, submission, bytes, false)?;
        Ok(Mapped { view: Some(view), buffer, bytes: bytes as usize, back: self.back.clone() })
    }
}

/// Bytes of the device in main memory; the buffer is used again once they are dropped.
pub struct Mapped {
    view: Option<wgpu::BufferView>,
    buffer: wgpu::Buffer,
    bytes: usize,
    back: Sender<wgpu::Buffer>,
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
        self.buffer.unmap();
        // Nobody may want it any more.
        self.back.send(self.buffer.clone()).ok();
    }
}
