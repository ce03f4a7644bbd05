//! Arrays in huge pages, if the system has them.
//!
//! Vertex attributes are read and written at random. With pages of 4 KiB the TLB covers a few MiB of them, with huge
//! pages of 2 MiB a few GiB.

use bytemuck::Zeroable;

/// Returns `count` zeros, in huge pages if the system grants them. The system provides the memory when it is first
/// accessed, so that what is never read costs nothing, and many threads share the cost of the rest.
pub fn zeroed<T: Zeroable>(count: u64) -> Vec<T> {
    let count = count as usize;
    let vec = bytemuck::zeroed_vec(count);
    #[cfg(target_os = "linux")]
    advise(vec.as_ptr() as usize, count * size_of::<T>());
    vec
}

/// Requests huge pages for the whole pages of a range. A hint: nothing depends on the result.
#[cfg(target_os = "linux")]
fn advise(start: usize, bytes: usize) {
    const PAGE: usize = 4096;
    let (first, end) = (start.next_multiple_of(PAGE), (start + bytes) / PAGE * PAGE);
    if first + (2 << 20) > end {
        return;
    }
    #[allow(unsafe_code)]
    // SAFETY: the range lies within an allocation of ours, and the advice changes no contents.
    unsafe {
        libc::madvise(first as *mut libc::c_void, end - first, libc::MADV_HUGEPAGE);
    }
}
