//! Page-aligned memory, as O_DIRECT needs it and as GPU drivers can import it.

#[cfg(target_os = "linux")]
use crate::error::Error;
use crate::error::Result;
use crate::memory;
use memmap2::MmapMut;
#[cfg(target_os = "linux")]
use memmap2::MmapOptions;
#[cfg(target_os = "linux")]
use rustix::fs::SealFlags;
#[cfg(target_os = "linux")]
use std::fs::File;
use std::ops::{Deref, DerefMut, Range};
#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicUsize, Ordering};

/// The alignment of [`SharedMemory`] and of an [`AlignedBuffer`], in bytes: a memory page, and a multiple of any disk's
/// logical block.
pub const ALIGNMENT: usize = 4096;

/// Zeroed bytes aligned to [`ALIGNMENT`], allocated once, in huge pages if the system has them: a TLB entry then covers
/// 2 MiB instead of 4 KiB.
///
/// The kernel, a device or another thread may write to them at any time, so there is no safe access to the contents
/// here, only to address and length. Code that makes a reference must explain in a SAFETY note why nothing writes to
/// that range meanwhile, or use atomics. The address does not change until this is dropped.
#[derive(Debug)]
pub struct SharedMemory {
    /// Owns the memory, if there is any; never used for access.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    map: Option<MmapMut>,
    start: *mut u8,
    bytes: usize,
}

#[allow(unsafe_code)]
// SAFETY: it owns its memory, which any thread may free, and exposes only an address.
unsafe impl Send for SharedMemory {}
#[allow(unsafe_code)]
// SAFETY: shared access exposes an address and a length, both constant.
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    /// Allocates `bytes` zeroed bytes; `what` names them in errors. Zero bytes need no memory and are never refused.
    ///
    /// # Errors
    /// [`Error::Allocation`] if the system refuses them.
    pub fn new(what: &str, bytes: u64) -> Result<Self> {
        if bytes == 0 {
            return Ok(Self { map: None, start: std::ptr::without_provenance_mut(ALIGNMENT), bytes: 0 });
        }
        let mut map = memory::map(what, bytes)?;
        #[cfg(target_os = "linux")]
        // A hint: without huge pages everything works, only slower.
        map.advise(memmap2::Advice::HugePage).ok();
        let start = map.as_mut_ptr();
        Ok(Self { map: Some(map), start, bytes: bytes as usize })
    }

    /// Maps the first `bytes` bytes of a file in memory, which other processes may map too; `what` names them in
    /// errors. The file must be sealed against shrinking: access beyond its end would end the process.
    ///
    /// # Errors
    /// [`Error::Allocation`] if the system refuses them, or if the file has no such bytes or seal.
    #[cfg(target_os = "linux")]
    pub fn of_file(what: &str, file: &File, bytes: u64) -> Result<Self> {
        let refused = || Error::Allocation { what: what.into(), bytes };
        let wanted = usize::try_from(bytes).ok().filter(|&bytes| bytes > 0).ok_or_else(refused)?;
        let sealed = rustix::fs::fcntl_get_seals(file).is_ok_and(|seals| seals.contains(SealFlags::SHRINK));
        if !sealed || file.metadata().map_or(true, |found| found.len() < bytes) {
            return Err(refused());
        }
        #[allow(unsafe_code)]
        // SAFETY: the file is long enough, and its seal keeps it so. Others may change the contents at any time, to
        // which nothing here gives access but by address.
        let mut map = unsafe { MmapOptions::new().len(wanted).map_mut(file) }.map_err(|_| refused())?;
        map.advise(memmap2::Advice::HugePage).ok();
        let start = map.as_mut_ptr();
        Ok(Self { map: Some(map), start, bytes: bytes as usize })
    }

    /// The address of the memory.
    pub fn as_mut_ptr(&self) -> *mut u8 {
        self.start
    }

    /// The number of bytes.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Faults in a part of the memory: the system provides it now, on this thread, and not when it is first accessed.
    /// Never changes the contents, even during concurrent access. False if the system does not support it (Linux has it
    /// since 5.14).
    pub fn fault_in(&self, part: Range<usize>) -> bool {
        assert!(part.start <= part.end && part.end <= self.bytes, "a part of {} bytes: {part:?}", self.bytes);
        #[cfg(target_os = "linux")]
        if let Some(map) = &self.map {
            return map.advise_range(memmap2::Advice::PopulateWrite, part.start, part.len()).is_ok();
        }
        false
    }
}

/// Memory from this size on is released by several threads.
#[cfg(target_os = "linux")]
const RELEASE_MIN: usize = 256 << 20;
/// The size of a part that one thread releases at once.
#[cfg(target_os = "linux")]
const RELEASE_PART: usize = 64 << 20;
/// The maximum number of threads that release memory: more contend for the system's locks.
#[cfg(target_os = "linux")]
const RELEASERS_MAX: usize = 16;

/// Releases large memory on several threads: one takes 3 ms per GB of huge pages, and 80 ms per GB of small ones.
impl Drop for SharedMemory {
    fn drop(&mut self) {
        #[cfg(target_os = "linux")]
        if let Some(map) = self.map.as_ref().filter(|map| map.len() >= RELEASE_MIN) {
            release(map);
        }
    }
}

/// Returns the pages of a mapping that is about to be unmapped. Where the system refuses threads, unmapping does it.
#[cfg(target_os = "linux")]
fn release(map: &MmapMut) {
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let begin = next.fetch_add(RELEASE_PART, Ordering::Relaxed);
            let Some(left) = map.len().checked_sub(begin).filter(|&left| left > 0) else { return };
            #[allow(unsafe_code)]
            // SAFETY: the memory is being dropped, so nobody reads its contents, which become zeros. A file
            // that processes share keeps its contents.
            let released = unsafe {
                map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, begin, left.min(RELEASE_PART))
            };
            if released.is_err() {
                return;
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(RELEASERS_MAX);
    let threads = threads.min(map.len() / RELEASE_PART);
    std::thread::scope(|scope| {
        for _ in 1..threads {
            std::thread::Builder::new().name("release".into()).spawn_scoped(scope, work).ok();
        }
        work();
    });
}

/// Memory of the same kind with a single owner, like a `Box<[u8]>`.
#[derive(Debug)]
pub struct AlignedBuffer(SharedMemory);

impl AlignedBuffer {
    /// Allocates `bytes` zeroed bytes.
    ///
    /// # Panics
    /// If the system refuses them: see [`try_new`](Self::try_new).
    pub fn new(bytes: usize) -> Self {
        Self::try_new("a buffer", bytes as u64).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Allocates `bytes` zeroed bytes; `what` names them in errors.
    ///
    /// # Errors
    /// [`Error::Allocation`] if the system refuses them.
    pub fn try_new(what: &str, bytes: u64) -> Result<Self> {
        SharedMemory::new(what, bytes).map(Self)
    }

    /// The memory itself, for devices and system calls that read it, or write to it under their own `unsafe` contract
    /// while the buffer is not accessed.
    pub fn shared(&self) -> &SharedMemory {
        &self.0
    }
}

impl Default for AlignedBuffer {
    /// No bytes.
    fn default() -> Self {
        Self::new(0)
    }
}

impl Deref for AlignedBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        #[allow(unsafe_code)]
        // SAFETY: the bytes are initialised (zeroed), allocated as long as the buffer exists, and written only by code
        // that borrows the buffer exclusively, or under a contract that the buffer is not accessed meanwhile.
        unsafe {
            std::slice::from_raw_parts(self.0.start, self.0.bytes)
        }
    }
}

impl DerefMut for AlignedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        #[allow(unsafe_code)]
        // SAFETY: as above, and the buffer is borrowed exclusively.
        unsafe {
            std::slice::from_raw_parts_mut(self.0.start, self.0.bytes)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_aligned_zeroed_and_its_own() {
        for bytes in [0, 1, 4095, 3 << 20] {
            let mut buffer = AlignedBuffer::new(bytes);
            assert!((buffer.as_ptr() as usize).is_multiple_of(ALIGNMENT) && buffer.len() == bytes);
            assert!(buffer.iter().all(|&byte| byte == 0));
            buffer.fill(7);
            let shared = buffer.shared();
            assert!(shared.len() == bytes && shared.is_empty() == (bytes == 0));
            assert_eq!(shared.as_mut_ptr().cast_const(), buffer.as_ptr());
        }
    }

    /// Empty buffers are placeholders: they allocate nothing, so the system cannot refuse them.
    #[test]
    fn no_bytes_need_no_memory() {
        assert!(SharedMemory::new("a test", 0).unwrap().map.is_none());
        assert!(SharedMemory::new("a test", 1).unwrap().map.is_some());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn two_mappings_of_a_file_are_the_same_memory() {
        use rustix::fs::{MemfdFlags, fcntl_add_seals, memfd_create};
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = File::from(memfd_create("a test", flags).unwrap());
        file.set_len(8192).unwrap();
        // Anybody could shorten it.
        assert!(SharedMemory::of_file("a test", &file, 8192).is_err());
        fcntl_add_seals(&file, SealFlags::SHRINK).unwrap();
        let [one, other] = [0, 1].map(|_| SharedMemory::of_file("a test", &file, 8192).unwrap());
        assert!(one.len() == 8192 && one.as_mut_ptr() != other.as_mut_ptr());
        #[allow(unsafe_code)]
        // SAFETY: the bytes are within the mappings, and no other thread knows them.
        let found = unsafe {
            one.as_mut_ptr().add(5000).write_volatile(7);
            other.as_mut_ptr().add(5000).read_volatile()
        };
        assert_eq!(found, 7);
        let error = SharedMemory::of_file("a test", &file, 8193).unwrap_err();
        assert!(error.to_string().contains("a test: the system refuses 8193 bytes"), "{error}");
        assert!(SharedMemory::of_file("a test", &file, 0).is_err());
    }

    #[test]
    fn memory_that_is_faulted_in_keeps_its_contents() {
        let mut buffer = AlignedBuffer::new(8 << 20);
        buffer[5 << 20] = 7;
        let done = buffer.shared().fault_in(4 << 20..8 << 20);
        assert!(done || !cfg!(target_os = "linux"), "MADV_POPULATE_WRITE is in Linux from 5.14 on");
        assert!(buffer.iter().enumerate().all(|(at, &byte)| byte == if at == 5 << 20 { 7 } else { 0 }));
        assert!(!AlignedBuffer::new(0).shared().fault_in(0..0));
    }

    /// Each part must be released exactly once, the last one too, and nothing behind the end.
    #[cfg(target_os = "linux")]
    #[test]
    fn large_memory_is_released_to_its_end() {
        let mut buffer = AlignedBuffer::new(RELEASE_MIN + RELEASE_PART + 8192);
        let end = buffer.len() - 1;
        let places = [0, RELEASE_PART, RELEASE_MIN, end];
        places.iter().for_each(|&at| buffer[at] = 7);
        release(buffer.0.map.as_ref().unwrap());
        assert!(places.iter().all(|&at| buffer[at] == 0), "released pages are zeros");
    }

    #[test]
    fn a_refused_allocation_is_an_error() {
        assert!(AlignedBuffer::try_new("a test", 1 << 62).is_err());
    }
}
