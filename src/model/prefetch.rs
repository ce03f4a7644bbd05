//! Asking the processor for a cache line before it is needed.
//!
//! Edge functions touch attributes at random. Loads overlap by themselves, but a locked addition waits for the line of
//! the one before it; asked for some edges ahead, the lines are there when their turn comes.

/// How many edges ahead: the latency of main memory over the time of an edge, with room to spare. Far fewer come too
/// late; twice as many gain hardly anything.
pub(crate) const EDGES_AHEAD: usize = 64;

/// Asks for the line that holds `values[index]`. A hint: nothing depends on it, not even that the index is in range.
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
