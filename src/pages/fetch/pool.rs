//! The page pool: frames of page-aligned memory, allocated once, filled by a fetcher and read by devices.
//!
//! A [`Frame`] has one owner at a time (cache, fetcher or device) and is moved between them, so a frame cannot be read
//! while the kernel still writes to it.

use std::sync::Arc;
use topostream_formats::Result;
use topostream_formats::buffer::{ALIGNMENT, SharedMemory};

/// One allocation, divided into frames.
#[derive(Debug)]
pub struct PagePool {
    memory: SharedMemory,
    page_bytes: usize,
    frame_bytes: usize,
}

/// Memory for one page and, if the run reads weights, its page of weights.
#[derive(Debug)]
pub struct Frame {
    pool: Arc<PagePool>,
    index: u32,
}

impl PagePool {
    /// Allocates a pool and returns all of its frames. The format guarantees that both sizes are multiples of
    /// [`ALIGNMENT`].
    ///
    /// # Errors
    /// [`Error::Allocation`](topostream_formats::Error::Allocation) if the memory cannot be allocated.
    pub fn frames(frames: u32, page_bytes: u32, weight_page_bytes: u32) -> Result<Vec<Frame>> {
        let (page_bytes, frame_bytes) = (page_bytes as usize, page_bytes as usize + weight_page_bytes as usize);
        assert!(page_bytes.is_multiple_of(ALIGNMENT) && frame_bytes.is_multiple_of(ALIGNMENT));
        let memory = SharedMemory::new("the page buffer", (frame_bytes as u64).saturating_mul(frames.into()))?;
        let pool = Arc::new(Self { memory, page_bytes, frame_bytes });
        Ok((0..frames).map(|index| Frame { pool: Arc::clone(&pool), index }).collect())
    }

    /// The whole allocation, by address: io_uring registers it, and GPU drivers can import it. It is only read through
    /// frames, since any other part may be written at any time.
    pub fn memory(&self) -> &SharedMemory {
        &self.memory
    }

    /// The size of a frame, in bytes.
    pub fn frame_bytes(&self) -> usize {
        self.frame_bytes
    }
}

impl Frame {
    /// The pool that the frame belongs to.
    pub fn pool(&self) -> &Arc<PagePool> {
        &self.pool
    }

    /// The frame's number in its pool.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// The bytes of the page.
    pub fn page(&self) -> &[u8] {
        &self.bytes()[..self.pool.page_bytes]
    }

    /// The bytes of the page of weights; empty if the pool has no room for weights.
    pub fn weights(&self) -> &[u8] {
        &self.bytes()[self.pool.page_bytes..]
    }

    fn bytes(&self) -> &[u8] {
        #[allow(unsafe_code)]
        // SAFETY: a frame is the only handle to its part of the pool, frames do not overlap, and every writer owns the
        // frame or borrows it exclusively.
        unsafe {
            std::slice::from_raw_parts(self.as_mut_ptr(), self.pool.frame_bytes)
        }
    }

    /// The frame's memory, for writing.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        #[allow(unsafe_code)]
        // SAFETY: as in `bytes`, and the frame is borrowed exclusively.
        unsafe {
            std::slice::from_raw_parts_mut(self.as_mut_ptr(), self.pool.frame_bytes)
        }
    }

    /// The frame's address. The kernel writes there while a fetcher owns the frame.
    pub fn as_mut_ptr(&self) -> *mut u8 {
        self.pool.memory.as_mut_ptr().wrapping_add(self.index as usize * self.pool.frame_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_do_not_overlap_and_hold_a_page_and_its_weights() {
        let mut frames = PagePool::frames(3, 8192, 4096).unwrap();
        for (number, frame) in (1..).zip(&mut frames) {
            frame.bytes_mut().fill(number);
        }
        for (number, frame) in (1..).zip(&frames) {
            assert!(frame.page().len() == 8192 && frame.weights().len() == 4096);
            assert!(frame.page().iter().chain(frame.weights()).all(|&byte| byte == number));
        }
    }

    /// The total size exceeds the address space, and would be small modulo 2^64.
    #[test]
    fn more_frames_than_there_can_be_are_an_error() {
        assert!(PagePool::frames(u32::MAX, 1 << 31, 1 << 31).is_err());
    }
}
