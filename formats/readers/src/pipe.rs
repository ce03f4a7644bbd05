//! Pipes, sockets and terminals, with cancellable waits.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Interval between checks for cancellation.
#[cfg(unix)]
const LOOK_EVERY_NS: i64 = 100_000_000;

/// An open file whose reads may have to wait.
#[derive(Debug)]
pub(super) struct Pipe {
    file: File,
    cancel: Arc<AtomicBool>,
}

impl Pipe {
    /// Reading ends with an error once `cancel` is set.
    pub(super) fn new(file: File, cancel: Arc<AtomicBool>) -> Self {
        Self { file, cancel }
    }
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.cancel.load(Relaxed) {
                return Err(io::Error::other("interrupted"));
            }
            if !is_ready(&self.file)? {
                continue;
            }
            match self.file.read(buffer) {
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
                other => return other,
            }
        }
    }
}

/// Opens a file without waiting for the other end of a pipe; the first read waits.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    options.open(path)
}

/// A handle of standard input.
pub(super) fn standard_input() -> io::Result<File> {
    #[cfg(unix)]
    return std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned().map(File::from);
    #[cfg(windows)]
    return std::os::windows::io::AsHandle::as_handle(&io::stdin()).try_clone_to_owned().map(File::from);
}

/// Waits for data or the end of the file; false after the interval without either.
#[cfg(unix)]
fn is_ready(file: &File) -> io::Result<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let timeout = Timespec { tv_sec: 0, tv_nsec: LOOK_EVERY_NS };
    match poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&timeout)) {
        Ok(count) => Ok(count > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// On other systems, reads block and cannot be cancelled.
#[cfg(not(unix))]
fn is_ready(_file: &File) -> io::Result<bool> {
    Ok(true)
}
