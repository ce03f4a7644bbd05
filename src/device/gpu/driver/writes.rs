//! Small writes to buffers, executed immediately or as part of a plan that is executed later.

use super::plan::Plan;
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

    /// Adds the writes to a plan, of bytes that are in a [filled](Self::fill) buffer when it is executed.
    pub fn plan_from(&self, plan: &mut Plan<wgpu::Buffer>, filled: &wgpu::Buffer) {
        for (buffer, at, bytes) in self.each() {
            plan.copy((filled, bytes.start as u64), (buffer, at), bytes.len() as u64);
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

    /// Adds the writes to a plan.
    ///
    /// # Errors
    /// If the device is out of memory.
    pub fn plan(&self, gpu: &Gpu, plan: &mut Plan<wgpu::Buffer>) -> Result<()> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let from = gpu.buffer("writes", self.len(), Usage::COPY_SRC | Usage::COPY_DST)?;
        self.fill(gpu, &from);
        self.plan_from(plan, &from);
        Ok(())
    }
}
