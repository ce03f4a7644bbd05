//! Arrays in huge pages, if the system has them.
//!
//! Vertex attributes are read and written at random. With pages of 4 KiB the TLB covers a few MiB of them, with huge
//! pages of 2 MiB a few GiB.

/// Returns an empty vector with room for `capacity` values, in huge pages if the system grants them.
pub fn vec_with_capacity<T>(capacity: usize) -> Vec<T> {
    let vec = Vec::with_capacity(capacity);
    #[cfg(target_os = "linux")]
    advise(vec.as_ptr() as usize, capacity * size_of::<T>());
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
