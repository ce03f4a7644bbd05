//! The end of the process: by itself, or by Ctrl-C.

use super::failure::INTERRUPTED;
use super::ranks;
use crate::engine::Engine;
use std::mem::ManuallyDrop;
use std::process::ExitCode;
use topostream_formats::{durable, threads};
use topostream_tools::progress::Cancel;

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

/// Leaves an engine to the end of the process. GPUs are closed meanwhile, on another thread: that takes some 50 ms with
/// NVIDIA's driver 580, and need not be done when the process ends.
pub fn leave(engine: Engine) {
    let engine = ManuallyDrop::new(engine);
    #[cfg(feature = "gpu")]
    let closes = crate::device::gpu::adapters::has_loaded_drivers();
    #[cfg(not(feature = "gpu"))]
    let closes = false;
    // Ranks would have to close what they share together.
    if closes && ranks::shared().is_none() {
        // Without the thread, the end of the process closes what is open.
        threads::start("close devices", 1, move || drop(ManuallyDrop::into_inner(engine))).ok();
    }
}

/// The first Ctrl-C asks for a clean stop, the second stops at once. Neither leaves unfinished files.
pub fn listen(cancel: &Cancel) {
    let cancel = cancel.clone();
    let handler = move || {
        if cancel.is_cancelled() {
            durable::abandon();
            at_once(INTERRUPTED.into());
        }
        cancel.cancel();
    };
    // Without a handler Ctrl-C still ends the program, only less cleanly.
    ctrlc::set_handler(handler).ok();
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
