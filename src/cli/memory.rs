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
        ORIGIN.get_or_init(|| format!("without --memory the budget is half of what there is: {}", available.describe()));
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

/// Has the allocator map one region for all threads where address space is limited: otherwise it reserves 64 MiB for each. To be
/// called before there are threads.
pub fn spare_address_space() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if Available::has_limited_address_space() {
        #[allow(unsafe_code)]
        // SAFETY: sets a number in the allocator; no other thread exists yet.
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, 1);
        }
    }
}
