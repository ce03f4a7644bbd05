//! Advisory locks, which end with their process.

use super::own::open_own;
use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::Path;

/// The outcome of locking a file.
pub(crate) enum Lock {
    /// The lock is held until the file is closed.
    Held(File),
    /// Another process holds it.
    Busy,
    /// The file system has no locks.
    Unsupported(File),
}

/// Locks the file at `path` if it exists; with `create`, makes it if it does not. `None` if the file disappeared
/// meanwhile, or the folder of a file to be made.
///
/// Links are not followed: their targets are not ours.
pub(crate) fn lock(path: &Path, create: bool) -> io::Result<Option<Lock>> {
    loop {
        let opened = match open_own(path, File::options().read(true).write(true)) {
            Err(error) if error.kind() == ErrorKind::NotFound && create => {
                File::options().read(true).write(true).create_new(true).open(path)
            }
            opened => opened,
        };
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            // Another process was faster.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
        };
        return Ok(match file.try_lock() {
            // The process that held the lock removes its file before it releases the lock.
            Ok(()) if !names(path, &file)? => None,
            Ok(()) => Some(Lock::Held(file)),
            Err(TryLockError::WouldBlock) => Some(Lock::Busy),
            Err(TryLockError::Error(_)) => Some(Lock::Unsupported(file)),
        });
    }
}

/// Whether `path` still names an open file.
#[cfg(unix)]
fn names(path: &Path, file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let of_file = file.metadata()?;
    match std::fs::symlink_metadata(path) {
        Ok(found) => Ok((found.dev(), found.ino()) == (of_file.dev(), of_file.ino())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(not(unix))]
fn names(path: &Path, _file: &File) -> io::Result<bool> {
    path.try_exists()
}
