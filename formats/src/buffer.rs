//! Page-aligned memory: what O_DIRECT reads and writes want, and what a GPU driver can import as it is.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// The alignment of an [`AlignedBuffer`], in bytes: a memory page, and a multiple of any disk's logical block.
pub const ALIGNMENT: usize = 4096;

/// Zeroed bytes that begin at a multiple of [`ALIGNMENT`] and are allocated once.
#[derive(Debug)]
pub struct AlignedBuffer {
    start: NonNull<u8>,
    bytes: usize,
}

#[allow(unsafe_code)]
// SAFETY: the buffer owns its memory, as a Box<[u8]> does.
unsafe impl Send for AlignedBuffer {}
#[allow(unsafe_code)]
// SAFETY: shared access gives shared slices only.
unsafe impl Sync for AlignedBuffer {}

impl AlignedBuffer {
    /// Allocates `bytes` zeroed bytes.
    pub fn new(bytes: usize) -> Self {
        if bytes == 0 {
            return Self { start: NonNull::dangling(), bytes };
        }
        let layout = Self::layout(bytes);
        #[allow(unsafe_code)]
        // SAFETY: the layout's size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        Self { start: NonNull::new(start).unwrap_or_else(|| handle_alloc_error(layout)), bytes }
    }

    /// Where the memory begins: for readers that fill it from outside (the kernel, a GPU).
    pub fn as_mut_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    fn layout(bytes: usize) -> Layout {
        Layout::from_size_align(bytes, ALIGNMENT).expect("sizes are bounded by budgets far below isize::MAX")
    }
}

#[allow(unsafe_code)]
impl Deref for AlignedBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let start = if self.bytes == 0 { NonNull::dangling() } else { self.start };
        // SAFETY: `start .. start + bytes` is this buffer's initialised memory.
        unsafe { std::slice::from_raw_parts(start.as_ptr(), self.bytes) }
    }
}

#[allow(unsafe_code)]
impl DerefMut for AlignedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`, and the buffer is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
    }
}

#[allow(unsafe_code)]
impl Drop for AlignedBuffer {
    fn drop(&mut self) {
        if self.bytes > 0 {
            // SAFETY: allocated in `new` with this layout.
            unsafe { dealloc(self.start.as_ptr(), Self::layout(self.bytes)) }
        }
    }
}
