//! What Windows says about memory.

use windows_sys::Win32::System::ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
use windows_sys::Win32::System::SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX};
use windows_sys::Win32::System::Threading::GetCurrentProcess;

/// The machine's available memory and all of it, in bytes. Free pages are available, and so are unmodified pages of
/// the page cache.
///
/// Allocations fail beyond what can be committed, which is main memory and page files, or the limit of the process.
/// Other programs may have committed more than they touch, so that this is the smaller number.
pub fn available_and_total_bytes() -> Option<(u64, u64)> {
    let mut status = MEMORYSTATUSEX { dwLength: size_of::<MEMORYSTATUSEX>() as u32, ..Default::default() };
    #[allow(unsafe_code)]
    // SAFETY: the structure is writable and says its own size.
    let known = unsafe { GlobalMemoryStatusEx(&mut status) } != 0;
    known.then(|| (status.ullAvailPhys.min(status.ullAvailPageFile), status.ullTotalPhys))
}

/// The peak of this process's working set, in bytes.
pub fn peak_bytes() -> Option<u64> {
    let cb = size_of::<PROCESS_MEMORY_COUNTERS>() as u32;
    let mut counters = PROCESS_MEMORY_COUNTERS { cb, ..Default::default() };
    #[allow(unsafe_code)]
    // SAFETY: the structure is writable and has `cb` bytes; the handle is of this process and need not be closed.
    let known = unsafe { K32GetProcessMemoryInfo(GetCurrentProcess(), &mut counters, cb) } != 0;
    known.then_some(counters.PeakWorkingSetSize as u64)
}
