//! Arrays in huge pages, if the system has them.
//!
//! Vertex attributes are read and written at random. With pages of 4 KiB the TLB covers a few MiB of them, with huge
//! pages of 2 MiB a few GiB.

use crate::error::{Error, Result};
use bytemuck::Zeroable;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Returns `count` zeros, in huge pages if the system grants them. The system provides the memory when it is first
/// accessed, so that what is never read costs nothing, and many threads share the cost of the rest.
pub fn zeroed<T: Zeroable>(count: u64) -> Vec<T> {
    advised(bytemuck::zeroed_vec(count as usize))
}

/// An atomic number.
pub trait Atomic: sealed::Sealed {
    /// The number.
    type Plain;
}

mod sealed {
    /// Atomics whose numbers have the same size, alignment and bits.
    pub trait Sealed {}
    impl Sealed for super::AtomicU32 {}
    impl Sealed for super::AtomicU64 {}
}

impl Atomic for AtomicU32 {
    type Plain = u32;
}

impl Atomic for AtomicU64 {
    type Plain = u64;
}

/// The numbers that threads have written, in the same memory.
pub fn plain<A: Atomic>(atomics: Vec<A>) -> Vec<A::Plain> {
    let mut atomics = ManuallyDrop::new(atomics);
    #[allow(unsafe_code)]
    // SAFETY: an atomic has the size, alignment and bit validity of its number, and nobody else frees the allocation.
    unsafe {
        Vec::from_raw_parts(atomics.as_mut_ptr().cast(), atomics.len(), atomics.capacity())
    }
}

/// The same as [`zeroed`] where the system may refuse; `what` names the memory in the error.
///
/// # Errors
/// [`Error::Allocation`] with the size.
pub fn try_zeroed<T: Zeroable>(what: &str, count: u64) -> Result<Vec<T>> {
    let bytes = count.saturating_mul(size_of::<T>() as u64);
    let refused = || Error::Allocation { what: what.into(), bytes };
    let length = usize::try_from(count).ok().filter(|_| bytes <= isize::MAX as u64).ok_or_else(refused)?;
    bytemuck::try_zeroed_vec(length).map(advised).map_err(|()| refused())
}

/// Requests huge pages for the whole pages of an array. A hint: nothing depends on the result.
fn advised<T>(vec: Vec<T>) -> Vec<T> {
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 4096;
        let start = vec.as_ptr() as usize;
        let (first, end) = (start.next_multiple_of(PAGE), (start + vec.len() * size_of::<T>()) / PAGE * PAGE);
        if first + (2 << 20) <= end {
            #[allow(unsafe_code)]
            // SAFETY: the range lies within an allocation of ours, and the advice changes no contents.
            unsafe {
                rustix::mm::madvise(first as *mut _, end - first, rustix::mm::Advice::LinuxHugepage).ok();
            }
        }
    }
    vec
}
