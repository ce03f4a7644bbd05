//! Small buffers between host and device: uniforms and readback buffers.

use super::open::Gpu;
use crate::error::Result;
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
    read_by(gpu, buffer, submission, bytes, <[u8]>::to_vec)
}

/// The same, without a copy: `read` gets the bytes.
///
/// # Errors
/// Those of [`read_buffer`].
pub fn read_by<T>(
    gpu: &Gpu,
    buffer: &wgpu::Buffer,
    submission: wgpu::SubmissionIndex,
    bytes: u64,
    read: impl FnOnce(&[u8]) -> T,
) -> Result<T> {
    let range = 0..bytes.next_multiple_of(8);
    buffer.map_async(wgpu::MapMode::Read, range.clone(), |_| {});
    if !gpu.wait(submission, PATIENCE)? {
        return Err(gpu.health().lost("a superstep did not end").into());
    }
    let view = buffer.get_mapped_range(range);
    let view = view.map_err(|error| gpu.health().fault("readback", &format!("{error:?}")))?;
    let read = read(&view[..bytes as usize]);
    drop(view);
    buffer.unmap();
    Ok(read)
}
