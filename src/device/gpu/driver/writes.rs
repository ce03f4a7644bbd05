//! Small writes to buffers, which are made at once or become part of commands that are submitted later.

use crate::device::gpu::adapter::open::Gpu;
use crate::error::Result;
use wgpu::BufferUsages as Usage;

/// Bytes for places in buffers, in words of 4 bytes.
#[derive(Default)]
pub struct Writes {
    /// Each write's buffer and place in it, in bytes, and where its bytes end.
    places: Vec<(wgpu::Buffer, u64, usize)>,
    bytes: Vec<u8>,
}

impl Writes {
    /// Adds a write.
    pub fn add(&mut self, buffer: &wgpu::Buffer, at: u64, bytes: &[u8]) {
        self.bytes.extend(bytes);
        self.places.push((buffer.clone(), at, self.bytes.len()));
    }

    fn each(&self) -> impl Iterator<Item = (&wgpu::Buffer, u64, std::ops::Range<usize>)> {
        let begins = std::iter::once(0).chain(self.places.iter().map(|&(.., end)| end));
        self.places.iter().zip(begins).map(|((buffer, at, end), begin)| (buffer, *at, begin..*end))
    }

    /// Makes the writes before what is submitted next.
    pub fn queue(&self, gpu: &Gpu) {
        self.each().for_each(|(buffer, at, bytes)| gpu.queue().write_buffer(buffer, at, &self.bytes[bytes]));
    }

    /// Makes the writes a part of the commands.
    ///
    /// # Errors
    /// If the device has no memory left.
    pub fn encode(&self, gpu: &Gpu, encoder: &mut wgpu::CommandEncoder) -> Result<()> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let from = gpu.buffer("writes", self.bytes.len() as u64, Usage::COPY_SRC | Usage::COPY_DST)?;
        gpu.queue().write_buffer(&from, 0, &self.bytes);
        for (buffer, at, bytes) in self.each() {
            encoder.copy_buffer_to_buffer(&from, bytes.start as u64, buffer, at, bytes.len() as u64);
        }
        Ok(())
    }
}
