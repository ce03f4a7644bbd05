//! What macOS says about memory.

use std::mem::MaybeUninit;
use std::sync::OnceLock;

/// This machine, to its kernel. Each request for it counts as a reference, so that there is one.
static HOST: OnceLock<libc::mach_port_t> = OnceLock::new();

/// The machine's available memory and all of it, in bytes. Available are pages that are free, that keep files, or that
/// their owners have given up. Pages of files that were read ahead are in both of the first two numbers.
pub fn available_and_total_bytes() -> Option<(u64, u64)> {
    #[allow(unsafe_code, deprecated)]
    // SAFETY: it has no arguments. It is deprecated since another crate has it too.
    let host = *HOST.get_or_init(|| unsafe { libc::mach_host_self() });
    let mut found = MaybeUninit::<libc::vm_statistics64>::zeroed();
    let mut words = libc::HOST_VM_INFO64_COUNT;
    #[allow(unsafe_code)]
    // SAFETY: `words` is the length of the structure, of which the kernel writes at most as much. All of its members
    // are numbers, and zeros before that.
    let (status, found) = unsafe {
        let status = libc::host_statistics64(host, libc::HOST_VM_INFO64, found.as_mut_ptr().cast(), &mut words);
        (status, found.assume_init())
    };
    let free = u64::from(found.free_count).saturating_sub(found.speculative_count.into());
    let pages = free + u64::from(found.external_page_count) + u64::from(found.purgeable_count);
    #[allow(unsafe_code)]
    // SAFETY: it reads a number of the system.
    let number = |name| u64::try_from(unsafe { libc::sysconf(name) }).ok();
    let page_bytes = number(libc::_SC_PAGESIZE)?;
    let bytes = pages.saturating_mul(page_bytes);
    let total_bytes = number(libc::_SC_PHYS_PAGES).map_or(bytes, |pages| pages.saturating_mul(page_bytes));
    (status == libc::KERN_SUCCESS).then_some((bytes, total_bytes))
}

/// The peak of this process's resident memory, in bytes.
pub fn peak_bytes() -> Option<u64> {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    #[allow(unsafe_code)]
    // SAFETY: the structure is writable; all of its members are numbers, and zeros before that.
    let (status, usage) = unsafe { (libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()), usage.assume_init()) };
    // macOS counts bytes, other systems KiB.
    u64::try_from(usage.ru_maxrss).ok().filter(|_| status == 0)
}
