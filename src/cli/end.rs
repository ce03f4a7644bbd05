//! The end of the process while other threads are at work.

/// Ends the process without running exit handlers: a GPU's driver would take down, in its handlers, what threads of
/// this program still use, and the process would end by a segmentation fault instead of with its exit code.
pub fn at_once(code: i32) -> ! {
    #[cfg(unix)]
    #[allow(unsafe_code)]
    // SAFETY: `_exit` only ends the process.
    unsafe {
        libc::_exit(code)
    }
    #[cfg(not(unix))]
    std::process::exit(code)
}
