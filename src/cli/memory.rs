//! The memory budget of a command: `--memory`, within the limits of containers and of the process; without it, half of
//! the memory that is available.

use super::ranks;
use std::sync::{Mutex, PoisonError};
use topostream_tools::available::Available;

/// The origin of the last budget, if it is not `--memory`, for the message where it is too small. Inside another
/// program there is a budget for each command.
static ORIGIN: Mutex<Option<String>> = Mutex::new(None);

/// The budget of a command, in bytes, at most the limits of the container and of the process. Ranks that share a
/// machine share its memory.
pub fn memory_bytes(asked: Option<u64>) -> u64 {
    let (bytes, origin) = match (asked, Available::wall()) {
        (None, _) => {
            let available = Available::now();
            let what = "without --memory the budget is half of the available memory";
            (available.bytes / 2 / ranks::here() as u64, Some(format!("{what}: {}", available.describe())))
        }
        (Some(asked), Some(wall)) if wall.bytes < asked => {
            (wall.bytes, Some(format!("--memory is more than the available memory: {}", wall.describe())))
        }
        (Some(asked), _) => (asked, None),
    };
    *ORIGIN.lock().unwrap_or_else(PoisonError::into_inner) = origin;
    bytes
}

/// The origin of the last budget, if it is not `--memory`.
pub fn origin() -> Option<String> {
    ORIGIN.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Larger allocations are mappings of their own, and at most this much of a heap stays mapped when free, in bytes. With
/// 4 MiB, tables that are made one after another left more in the heaps than plans allow for the program.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const HEAP_BYTES: libc::c_int = 1 << 20;

/// The number of heaps for small allocations. By default there are eight for each core, and the memory that they keep
/// exceeds what plans allow for the program.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const HEAPS_MAX: libc::c_int = 4;

/// Makes the allocator return freed memory. By default glibc takes blocks of up to 32 MiB from heaps once such a block
/// has been freed, and then keeps up to 64 MiB of freed memory: successive sorts exceeded the budget by that. Where
/// address space is limited, all threads share one heap, since glibc reserves 64 MiB for each. Call it before threads
/// start.
pub fn settle_allocator() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        #[allow(unsafe_code)]
        // SAFETY: sets a number in the allocator; no other thread exists yet.
        let set = |parameter, value| unsafe { libc::mallopt(parameter, value) };
        set(libc::M_MMAP_THRESHOLD, HEAP_BYTES);
        set(libc::M_TRIM_THRESHOLD, HEAP_BYTES);
        set(libc::M_ARENA_MAX, if Available::has_limited_address_space() { 1 } else { HEAPS_MAX });
    }
}
