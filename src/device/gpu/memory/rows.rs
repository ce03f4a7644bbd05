//! Unit rows: for each page processed by `segments`, the slots where its units begin. They are in device memory: first
//! the rows of pages in slots, which outlive a run as the pages do, then those of pages in frames.

use super::plan::DevicePlan;
use crate::device::gpu::adapter::open::Gpu;
use crate::error::Result;
use crate::pages::fetch::PageRef;

/// The rows of all slots and frames.
pub struct UnitRows {
    buffer: wgpu::Buffer,
    shape: Shape,
    /// The page whose row each frame has. Kept between runs, as pages in frames are.
    of_frames: Vec<Option<PageRef>>,
}

/// The parameters that determine the location and the contents of rows.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Shape {
    words: u64,
    slots: u32,
    weights: bool,
}

impl UnitRows {
    /// Creates rows for a plan and this many frames. Existing rows of slots are kept.
    ///
    /// # Errors
    /// If the device is out of memory.
    pub fn new(old: Option<Self>, gpu: &Gpu, plan: &DevicePlan, frames: u32) -> Result<Self> {
        let shape = Shape { words: plan.row_words, slots: plan.slots, weights: plan.weights };
        let bytes = (4 * shape.words * (u64::from(shape.slots) + u64::from(frames))).max(16);
        let mut old = old;
        if let Some(mut kept) = old.take_if(|old| old.buffer.size() >= bytes) {
            if kept.shape != shape {
                kept.of_frames.clear();
            }
            kept.of_frames.resize(frames as usize, None);
            return Ok(Self { shape, ..kept });
        }
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
        let buffer = gpu.buffer("unit rows", bytes, usage)?;
        let of_slots = 4 * shape.words * u64::from(shape.slots);
        if let Some(old) = old.filter(|_| of_slots > 0) {
            let mut encoder = gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            encoder.copy_buffer_to_buffer(&old.buffer, 0, &buffer, 0, of_slots.min(old.buffer.size()));
            gpu.queue().submit([encoder.finish()]);
        }
        Ok(Self { buffer, shape, of_frames: vec![None; frames as usize] })
    }

    /// The rows.
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// The word offset of a row; slots come first, then frames.
    pub fn begin(&self, place: u32) -> u64 {
        u64::from(place) * self.shape.words
    }

    /// Writes a row; `frame` is given if the page is in a frame.
    pub fn write(&mut self, queue: &wgpu::Queue, place: u32, words: &[u32], frame: Option<(u32, PageRef)>) {
        queue.write_buffer(&self.buffer, 4 * self.begin(place), bytemuck::cast_slice(words));
        if let Some((frame, page)) = frame {
            self.of_frames[frame as usize] = Some(page);
        }
    }

    /// Whether the row of a frame belongs to a page.
    pub fn has(&self, frame: u32, page: PageRef) -> bool {
        self.of_frames[frame as usize] == Some(page)
    }

    /// Invalidates the row of a refilled frame.
    pub fn forget(&mut self, frame: u32) {
        self.of_frames[frame as usize] = None;
    }
}
