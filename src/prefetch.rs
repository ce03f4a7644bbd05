//! Asking the processor for a cache line before it is needed.
//!
//! Edge functions touch attributes at random. Loads overlap by themselves, but a locked addition waits for the line of the
//! one before it; asked for some edges ahead, the lines are there when their turn comes.

/// How many edges ahead: enough for the latency of main memory, few enough to stay in the first-level cache.
pub const EDGES_AHEAD: usize = 24;

/// Asks for the line that holds `value`. A hint: nothing depends on it.
#[inline(always)]
pub fn line_of<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code)]
    // SAFETY: a prefetch reads nothing that the program sees, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
