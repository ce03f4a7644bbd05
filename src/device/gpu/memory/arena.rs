//! The page arena: slots for pages in device memory, in several buffers if they exceed one binding, and the page in
//! each slot.
//!
//! Pages stay in the arena up to its size. The others are read in place if the page pool is imported; a traversal then
//! reads only the lines of memory that hold visited lists. Where pages are copied or decoded, the least recently used
//! one leaves the arena for the next in a traversal.

use super::plan::DevicePlan;
use crate::device::gpu::adapter::import::{SharedBuffer, device_buffer};
use crate::device::gpu::adapter::open::Gpu;
use crate::error::Result;
use crate::pages::cache::{PageCache, Policy};
use crate::pages::fetch::PageRef;
use std::sync::atomic::{AtomicU64, Ordering};

/// Device memory for one page, and its page of weights if the run reads weights. Like a frame it has one owner at a
/// time: the cache, or a job.
#[derive(Debug, PartialEq, Eq)]
pub struct Slot {
    /// The buffer of the arena.
    pub buffer: u32,
    /// The slot's index in the buffer.
    pub index: u32,
    /// The slot's index in the arena.
    pub number: u32,
}

/// What an arena is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    slots: u32,
    slot_bytes: u64,
    /// The streaming slots among them.
    stream_slots: u32,
    /// Plain images of packed pages, in a buffer of their own.
    images: u32,
    image_bytes: u64,
}

impl Shape {
    /// The arena of a plan.
    pub fn of(plan: &DevicePlan) -> Self {
        let DevicePlan { slots, slot_bytes, stream_slots, images, image_bytes, .. } = *plan;
        Self { slots, slot_bytes, stream_slots, images, image_bytes }
    }
}

/// All slots.
pub struct Arena {
    buffers: Vec<SharedBuffer>,
    images: Option<SharedBuffer>,
    cache: PageCache<Slot>,
    shape: Shape,
    /// Changes when a page is added or removed.
    version: u64,
}

/// A number that no arena has used before.
fn next_version() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed)
}

impl Arena {
    /// Allocates slots and images.
    ///
    /// # Errors
    /// If the device is out of memory.
    pub fn new(gpu: &Gpu, shape: Shape) -> Result<Self> {
        let Shape { slots, slot_bytes, stream_slots, images, image_bytes } = shape;
        let by_buffer = (gpu.caps().binding_bytes_max.min(gpu.caps().buffer_bytes_max) / slot_bytes).max(1);
        let mut buffers = Vec::new();
        let mut free = Vec::new();
        let mut left = u64::from(slots);
        while left > 0 {
            let here = left.min(by_buffer);
            let buffer = buffers.len() as u32;
            buffers.push(device_buffer(gpu, &format!("page arena {buffer}"), here * slot_bytes)?);
            let first = slots - left as u32;
            free.extend((0..here as u32).map(|index| Slot { buffer, index, number: first + index }));
            left -= here;
        }
        // The cache takes free slots from the back. Low slots come first.
        free.reverse();
        let images = match u64::from(images) * image_bytes {
            0 => None,
            bytes => Some(device_buffer(gpu, "plain images", bytes)?),
        };
        let cache = PageCache::new(free, stream_slots as usize);
        Ok(Self { buffers, images, cache, shape, version: next_version() })
    }

    /// What it is made of.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The buffer of plain images, if slots hold packed pages.
    pub fn images(&self) -> Option<&SharedBuffer> {
        self.images.as_ref()
    }

    /// The buffers.
    pub fn buffers(&self) -> &[SharedBuffer] {
        &self.buffers
    }

    /// The byte offset of a slot in its buffer.
    pub fn offset(&self, slot: &Slot) -> u64 {
        u64::from(slot.index) * self.shape.slot_bytes
    }

    /// Changes when a page is added or removed: while it is equal, all pages are in the same slots.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The number of pages in slots.
    pub fn pages(&self) -> usize {
        self.cache.pages()
    }

    /// The slot that holds a page, if there is one.
    pub fn slot_of(&self, page: PageRef) -> Option<&Slot> {
        self.cache.peek(page)
    }

    /// Prepares for a pass; `wanted` returns whether it may visit a page.
    pub fn begin(&mut self, policy: Policy, wanted: impl Fn(PageRef) -> bool) {
        self.cache.begin(policy, wanted);
    }

    /// Takes out the slot that holds a page, if there is one.
    pub fn take(&mut self, page: PageRef) -> Option<Slot> {
        self.cache.take(page)
    }

    /// Takes out a slot for another page, if one is free or may be evicted.
    pub fn slot(&mut self, policy: Policy) -> Option<Slot> {
        self.version = next_version();
        self.cache.frame(policy)
    }

    /// Puts a slot with a page back; true if the page will stay.
    pub fn put_back(&mut self, page: PageRef, slot: Slot, policy: Policy) -> bool {
        self.cache.put_back(page, slot, policy);
        !self.cache.is_transient(page)
    }

    /// Puts a slot back without a page.
    pub fn release(&mut self, slot: Slot) {
        self.cache.release(slot);
    }
}
