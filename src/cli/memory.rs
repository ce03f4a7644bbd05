//! The memory that a command is given: what `--memory` says, within what containers and limits of the process allow; without it,
//! half of what is available.

use std::sync::OnceLock;
use topostream_tools::available::Available;

/// Where the budget comes from, if it is not what was asked for: for the message where it does not do.
static ORIGIN: OnceLock<String> = OnceLock::new();

/// The budget of a command, in bytes. What passes a limit that ends the process is cut to it, so that a container's limit is kept
/// to, too.
pub fn memory_bytes(asked: Option<u64>) -> u64 {
    let Some(asked) = asked else {
        let available = Available::now();
        ORIGIN
            .get_or_init(|| format!("without --memory the budget is half of what there is: {}", available.describe()));
        return available.bytes / 2;
    };
    match Available::wall() {
        Some(wall) if wall.bytes < asked => {
            ORIGIN.get_or_init(|| format!("--memory is more than there is: {}", wall.describe()));
            wall.bytes
        }
        _ => asked,
    }
}

/// Where the budget comes from, where it is not the one that was asked for.
pub fn origin() -> Option<&'static str> {
    ORIGIN.get().map(String::as_str)
}

/// From this size on an allocation is a mapping of its own, and this much of a heap stays mapped after it was freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const HEAP_BYTES: libc::c_int = 4 << 20;

/// Heaps for small allocations: by default there are eight for each core, and what each keeps adds up beyond what programs are
/// planned to take.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const HEAPS_MAX: libc::c_int = 4;

/// Has the allocator give back what is freed. Left to itself, glibc takes blocks of up to 32 MiB from heaps once such a block has been
/// freed, and then keeps up to 64 MiB of what is freed there: sorts that follow one another passed the budget by that. Where
/// address space is limited there is one heap for all threads: otherwise 64 MiB are reserved for each. To be called before there are
/// threads.
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
