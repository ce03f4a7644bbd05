//! The page pool: frames of page-aligned memory, allocated once, filled by a fetcher and read by devices.
//!
//! A [`Frame`] has one owner at a time (cache, fetcher or device) and is moved between them, so a frame cannot be read
//! while the kernel still writes to it.
//!
//! The system provides memory at its first access, which takes about 0.1 s per GB on one thread. The shared threads
//! fault it in ahead of the reads, in pieces. They need only be faster than the disk: a run does not wait for them,
//! since a read faults in what they have not reached.
//!
//! Memory is in huge pages where the system grants them. Frames come into use in the order of addresses, and at most
//! 256 MiB are faulted in ahead of them, so that a pool that is larger than its use stays untouched.

use crate::pages::parts::Parts;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use topostream_formats::buffer::{ALIGNMENT, SharedMemory};
use topostream_formats::{Result, threads};

/// The size of a part that one thread faults in at once.
const PIECE_BYTES: usize = 16 << 20;
/// The largest distance from the frames in use to the memory that is faulted in ahead of them.
const AHEAD_BYTES: usize = 256 << 20;

/// One allocation, divided into frames.
#[derive(Debug)]
pub struct PagePool {
    memory: SharedMemory,
    place_bytes: usize,
    frame_bytes: usize,
    /// The memory that has been faulted in, or will soon be: this many bytes from the start.
    faulted_in: AtomicUsize,
}

/// Memory for one page and, if the run reads weights, its page of weights.
#[derive(Debug)]
pub struct Frame {
    pool: Arc<PagePool>,
    index: u32,
    /// What is to be read into it, what has been read and not yet checked, and what has been checked.
    requested: Parts,
    unchecked: Parts,
    checked: Parts,
}

impl PagePool {
    /// Allocates a pool and returns all of its frames. The format guarantees that both sizes are multiples of
    /// [`ALIGNMENT`].
    ///
    /// # Errors
    /// [`Error::Allocation`](topostream_formats::Error::Allocation) if the memory cannot be allocated.
    pub fn frames(frames: u32, place_bytes: u32, weight_page_bytes: u32) -> Result<Vec<Frame>> {
        let (place_bytes, frame_bytes) = (place_bytes as usize, place_bytes as usize + weight_page_bytes as usize);
        assert!(place_bytes.is_multiple_of(ALIGNMENT) && frame_bytes.is_multiple_of(ALIGNMENT));
        let memory = SharedMemory::new("the page buffer", (frame_bytes as u64).saturating_mul(frames.into()))?;
        let pool = Arc::new(Self { memory, place_bytes, frame_bytes, faulted_in: AtomicUsize::new(0) });
        let frame = |index| Frame {
            pool: Arc::clone(&pool),
            index,
            requested: Parts::Whole,
            unchecked: Parts::NONE,
            checked: Parts::NONE,
        };
        Ok((0..frames).map(frame).collect())
    }

    /// The whole allocation, by address: io_uring registers it, and GPU drivers can import it. It is only read through
    /// frames, since any other part may be written at any time.
    pub fn memory(&self) -> &SharedMemory {
        &self.memory
    }

    /// The size of a frame's place for the page, in bytes; weights are behind it.
    pub fn place_bytes(&self) -> usize {
        self.place_bytes
    }

    /// The size of a frame, in bytes.
    pub fn frame_bytes(&self) -> usize {
        self.frame_bytes
    }

    /// Starts the shared threads on faulting in memory beyond a frame that comes into use: as much as is in use, within
    /// limits. Frames come into use in address order, so that most of an oversized pool stays untouched.
    pub fn fault_in_beyond(self: &Arc<Self>, frame: u32) {
        let used = (frame as usize + 1) * self.frame_bytes;
        self.fault_in_until(used + used.clamp(PIECE_BYTES, AHEAD_BYTES));
    }

    /// Starts the shared threads on faulting in the memory up to `end`, in bytes, in address order. Returns at once.
    pub fn fault_in_until(self: &Arc<Self>, end: usize) {
        let wanted = end.min(self.memory.len());
        while self.faulted_in.load(Ordering::Relaxed) < wanted && threads::start_shared_pool().is_ok() {
            let Some(piece) = self.next_piece() else { return };
            let pool = Arc::downgrade(self);
            rayon::spawn(move || {
                pool.upgrade().map(|pool| pool.memory.fault_in(piece));
            });
        }
    }

    /// Reserves the next part to be faulted in for the caller.
    fn next_piece(&self) -> Option<std::ops::Range<usize>> {
        let start = self.faulted_in.fetch_add(PIECE_BYTES, Ordering::Relaxed);
        (start < self.memory.len()).then(|| start..self.memory.len().min(start + PIECE_BYTES))
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

    /// Forgets what the frame holds: another page may be read into it, whole if nothing else is requested.
    pub fn clear(&mut self) {
        (self.requested, self.unchecked, self.checked) = (Parts::Whole, Parts::NONE, Parts::NONE);
    }

    /// Sets what is to be read of the frame's page. A whole page replaces what is there.
    pub fn request(&mut self, parts: Parts) {
        if parts == Parts::Whole {
            self.clear();
        }
        self.requested = parts;
    }

    /// What is to be read, or was last.
    pub fn requested(&self) -> Parts {
        self.requested
    }

    /// Records that what was requested has been read.
    pub fn arrived(&mut self) {
        self.unchecked = self.unchecked.with(self.requested);
    }

    /// What has been read and not yet checked.
    pub fn unchecked(&self) -> Parts {
        self.unchecked
    }

    /// Records that everything that has been read is valid.
    pub fn accept(&mut self) {
        (self.checked, self.unchecked) = (self.held(), Parts::NONE);
    }

    /// What the frame holds of its page, checked or not.
    pub fn held(&self) -> Parts {
        self.checked.with(self.unchecked)
    }

    /// The bytes of the page.
    pub fn page(&self) -> &[u8] {
        &self.bytes()[..self.pool.place_bytes]
    }

    /// The bytes of the page of weights; empty if the pool has no room for weights.
    pub fn weights(&self) -> &[u8] {
        &self.bytes()[self.pool.place_bytes..]
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

    /// It stops at the end of the pool, or when it is freed, and changes no contents.
    #[test]
    fn pools_are_faulted_in_once() {
        let mut frames = PagePool::frames(40, 1 << 20, 0).unwrap();
        frames.iter_mut().for_each(|frame| frame.bytes_mut()[7] = frame.index() as u8);
        let pool = Arc::clone(frames[0].pool());
        pool.fault_in_beyond(0);
        assert_eq!(pool.faulted_in.load(Ordering::Relaxed), 2 * PIECE_BYTES, "as much as is used, in whole pieces");
        pool.fault_in_until(usize::MAX);
        pool.fault_in_beyond(39);
        assert!(pool.faulted_in.load(Ordering::Relaxed) >= pool.memory.len());
        assert!(frames.iter().all(|frame| frame.page()[7] == frame.index() as u8 && frame.page()[8] == 0));
        drop((frames, pool));
    }

    /// The total size exceeds the address space, and would be small modulo 2^64.
    #[test]
    fn too_many_frames_are_an_error() {
        assert!(PagePool::frames(u32::MAX, 1 << 31, 1 << 31).is_err());
    }
}
