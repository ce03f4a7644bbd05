//! Prefetching of cache lines.
//!
//! Edge functions access attributes at random. Loads overlap by themselves, but a locked addition waits for the line of
//! the previous one. If lines are prefetched some edges ahead, they are in the cache in time.

/// The prefetch distance in edges: the latency of main memory over the time of an edge, with a margin. A much shorter
/// distance is too late; twice the distance gains hardly anything.
pub(crate) const EDGES_AHEAD: usize = 64;

/// Prefetches the line that holds `values[index]`. A hint: nothing depends on it, and the index may be out of range.
#[inline(always)]
pub(crate) fn line_of<T>(values: &[T], index: usize) {
    let address = values.as_ptr().wrapping_add(index);
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code)]
    // SAFETY: a prefetch reads nothing that the program sees, and does not fault, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
