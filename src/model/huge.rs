//! Arrays in huge pages, where the system has them.
//!
//! Vertex attributes are read and written at random. In pages of 4 KiB the translation cache covers a few MiB of them,
//! in huge pages of 2 MiB a few GiB.

/// An empty vector with room for `capacity` values, in huge pages where the system grants them.
pub fn vec_with_capacity<T>(capacity: usize) -> Vec<T> {
    let vec = Vec::with_capacity(capacity);
    #[cfg(target_os = "linux")]
    advise(vec.as_ptr() as usize, capacity * size_of::<T>());
    vec
}

/// Asks for huge pages in the whole pages of a range. A hint: nothing depends on the answer.
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
