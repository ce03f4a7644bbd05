//! Page-aligned memory: what O_DIRECT reads and writes want, and what a GPU driver can import as it is.

use memmap2::MmapMut;
use std::ops::{Deref, DerefMut};

/// The alignment of an [`AlignedBuffer`], in bytes: a memory page, and a multiple of any disk's logical block.
pub const ALIGNMENT: usize = 4096;

/// Zeroed bytes that begin at a multiple of [`ALIGNMENT`], allocated once, in huge pages where the system has them: one
/// entry of the translation cache then covers 2 MiB instead of 4 KiB.
#[derive(Debug)]
pub struct AlignedBuffer {
    map: MmapMut,
    start: *mut u8,
    bytes: usize,
}

#[allow(unsafe_code)]
// SAFETY: the buffer owns its memory, as a Box<[u8]> does; `start` is only another name for it.
unsafe impl Send for AlignedBuffer {}
#[allow(unsafe_code)]
// SAFETY: shared access gives shared slices only.
unsafe impl Sync for AlignedBuffer {}

impl AlignedBuffer {
    /// Allocates `bytes` zeroed bytes.
    ///
    /// # Panics
    /// Where the system has no address space left: budgets are checked before anything is allocated.
    pub fn new(bytes: usize) -> Self {
        let mut map = MmapMut::map_anon(bytes.max(1)).expect("address space for a buffer within the budget");
        #[cfg(target_os = "linux")]
        // A hint: without huge pages everything works, only slower.
        map.advise(memmap2::Advice::HugePage).ok();
        let start = map.as_mut_ptr();
        Self { map, start, bytes }
    }

    /// Where the memory begins: for readers that fill it from outside (the kernel, a GPU).
    pub fn as_mut_ptr(&self) -> *mut u8 {
        self.start
    }
}

impl Deref for AlignedBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map[..self.bytes]
    }
}

impl DerefMut for AlignedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.map[..self.bytes]
    }
}
