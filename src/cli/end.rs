//! The end of the process.

use std::process::ExitCode;

/// Returns the exit code of a program that is done. If drivers of GPUs are loaded, the process ends here: their exit
/// handlers only take down what the system frees anyway, which took some 30 to 50 ms with NVIDIA's driver 580.
pub fn with(code: u8) -> ExitCode {
    #[cfg(feature = "gpu")]
    if crate::device::gpu::adapters::has_loaded_drivers() {
        use std::io::Write;
        // A closed stdout is no reason to panic.
        std::io::stdout().flush().ok();
        at_once(code.into());
    }
    ExitCode::from(code)
}

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
