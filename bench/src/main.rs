//! `topostream-bench`: the performance claims of topostream, reproducible. Linux only: the raw disk is read by
//! io_uring.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    return topostream_bench::main();
    #[cfg(not(target_os = "linux"))]
    {
        eprintln!("topostream-bench measures on Linux only");
        ExitCode::FAILURE
    }
}
