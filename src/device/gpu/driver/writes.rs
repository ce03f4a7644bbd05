//! Small writes to buffers, executed immediately or as part of commands that are submitted later.

use crate::device::gpu::adapter::open::Gpu;
use crate::error::Result;
use wgpu::BufferUsages as Usage;

/// A list of writes of 4-byte words.
#[derive(Clone, Default)]
pub struct Writes {
    /// For each write its buffer, byte offset in the buffer, and end in `bytes`.
    places: Vec<(wgpu::Buffer, u64, usize)>,
    bytes: Vec<u8>,
}

impl Writes {
    /// Adds a write.
    pub fn add(&mut self, buffer: &wgpu::Buffer, at: u64, bytes: &[u8]) {
        self.bytes.extend(bytes);
        self.places.push((buffer.clone(), at, self.bytes.len()));
    }

    /// The number of bytes of all writes.
    pub fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Whether another list has other bytes for the same places.
    pub fn is_like(&self, other: &Self) -> bool {
        self.places == other.places
    }

    /// Puts the bytes of all writes into a buffer, before the next submission.
    pub fn fill(&self, gpu: &Gpu, buffer: &wgpu::Buffer) {
        gpu.queue().write_buffer(buffer, 0, &self.bytes);
    }

    /// Encodes the writes, of bytes that are in a [filled](Self::fill) buffer when the commands run.
    pub fn encode_from(&self, encoder: &mut wgpu::CommandEncoder, filled: &wgpu::Buffer) {
        for (buffer, at, bytes) in self.each() {
            encoder.copy_buffer_to_buffer(filled, bytes.start as u64, buffer, at, bytes.len() as u64);
        }
    }

    fn each(&self) -> impl Iterator<Item = (&wgpu::Buffer, u64, std::ops::Range<usize>)> {
        let begins = std::iter::once(0).chain(self.places.iter().map(|&(.., end)| end));
        self.places.iter().zip(begins).map(|((buffer, at, end), begin)| (buffer, *at, begin..*end))
    }

    /// Executes the writes before the next submission.
    pub fn queue(&self, gpu: &Gpu) {
        self.each().for_each(|(buffer, at, bytes)| gpu.queue().write_buffer(buffer, at, &self.bytes[bytes]));
    }

    /// Encodes the writes.
    ///
    /// # Errors
    /// If the device is out of memory.
    pub fn encode(&self, gpu: &Gpu, encoder: &mut wgpu::CommandEncoder) -> Result<()> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let from = gpu.buffer("writes", self.len(), Usage::COPY_SRC | Usage::COPY_DST)?;
        self.fill(gpu, &from);
        self.encode_from(encoder, &from);
        Ok(())
    }
}
