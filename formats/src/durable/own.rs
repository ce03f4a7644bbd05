//! Opens files that must be ordinary ones: whatever else has their name is an error at once, never a wait.
//!
//! ```text
//!  open: no link at the end, no waiting for a pipe ─▶ is the open file an ordinary one? ─▶ its bytes, up to a bound
//! ```
//!
//! The check is of the open file: a name may lead to another file by the time that it is opened.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// Opens a file of this program: an ordinary file, not a link to one. `options` say how, and whether it may be created.
///
/// # Errors
/// Errors of the system; one that says what is there if it is a link, a pipe, a socket, a device or a folder.
pub fn open_own(path: &Path, options: &OpenOptions) -> io::Result<File> {
    open(path, options, false)
}

/// Opens an ordinary file for reading, by a link or not: for files whose links were judged by their targets.
///
/// # Errors
/// The errors of [`open_own`], except for links.
pub fn open_ordinary(path: &Path) -> io::Result<File> {
    open(path, File::options().read(true), true)
}

/// Reads a file of this program whole, if it has at most `bytes_max` bytes.
///
/// # Errors
/// The errors of [`open_own`], and errors from reading; one with the length of a longer file.
pub fn read_own(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let file = open_own(path, File::options().read(true))?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    if length <= bytes_max && file.take(bytes_max + 1).read_to_end(&mut bytes)? as u64 <= bytes_max {
        return Ok(bytes);
    }
    let length = length.max(bytes.len() as u64);
    Err(io::Error::other(format!("expected at most {bytes_max} bytes, found {length}")))
}

#[cfg(unix)]
fn open(path: &Path, options: &OpenOptions, follow: bool) -> io::Result<File> {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;
    let flags = if follow { OFlags::NONBLOCK } else { OFlags::NONBLOCK | OFlags::NOFOLLOW };
    match options.clone().custom_flags(flags.bits().cast_signed()).open(path) {
        Ok(file) => checked(file),
        // The system's own words for links, sockets and pipes without a reader lead astray.
        Err(error) => match std::fs::symlink_metadata(path) {
            Ok(found) if !follow && found.is_symlink() || !found.is_file() && !found.is_symlink() => {
                Err(strange(found.file_type()))
            }
            _ => Err(error),
        },
    }
}

#[cfg(not(unix))]
fn open(path: &Path, options: &OpenOptions, follow: bool) -> io::Result<File> {
    let found = if follow { std::fs::metadata(path) } else { std::fs::symlink_metadata(path) };
    match found {
        Ok(found) if !found.is_file() => Err(strange(found.file_type())),
        _ => checked(options.open(path)?),
    }
}

fn checked(file: File) -> io::Result<File> {
    let found = file.metadata()?.file_type();
    if found.is_file() { Ok(file) } else { Err(strange(found)) }
}

/// The error for what is not an ordinary file.
fn strange(found: std::fs::FileType) -> io::Error {
    let what = match found {
        found if found.is_symlink() => "a symbolic link",
        found if found.is_dir() => "a folder",
        _ => kind_of(found),
    };
    io::Error::other(format!("expected an ordinary file, found {what}"))
}

#[cfg(unix)]
fn kind_of(found: std::fs::FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    match found {
        found if found.is_fifo() => "a pipe",
        found if found.is_socket() => "a socket",
        _ => "a device",
    }
}

#[cfg(not(unix))]
fn kind_of(_found: std::fs::FileType) -> &'static str {
    "something else"
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, Mode, mkfifoat};
    use std::fs;
    use std::os::unix::fs::symlink;

    /// The error of opening a file of this program, for reading and for writing.
    fn refused(path: &Path) -> [String; 2] {
        let (mut read, mut write) = (File::options(), File::options());
        [read.read(true), write.write(true).create(true)].map(|how| open_own(path, how).unwrap_err().to_string())
    }

    #[test]
    fn only_ordinary_files_are_opened_and_none_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("own"), folder.path().join("other"));
        fs::write(&other, "a user's").unwrap();

        let pipe = "expected an ordinary file, found a pipe";
        mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
        assert_eq!(refused(&path), [pipe, pipe]);
        assert_eq!(open_ordinary(&path).unwrap_err().to_string(), pipe);
        assert_eq!(read_own(&path, 10).unwrap_err().to_string(), pipe);
        fs::remove_file(&path).unwrap();

        let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert_eq!(refused(&path), ["expected an ordinary file, found a socket"; 2]);
        fs::remove_file(&path).unwrap();

        fs::create_dir(&path).unwrap();
        assert_eq!(refused(&path), ["expected an ordinary file, found a folder"; 2]);
        fs::remove_dir(&path).unwrap();

        let link = "expected an ordinary file, found a symbolic link";
        symlink(&other, &path).unwrap();
        assert_eq!(refused(&path), [link; 2]);
        assert_eq!(open_own(&path, File::options().write(true).truncate(true)).unwrap_err().to_string(), link);
        assert_eq!(fs::read_to_string(&other).unwrap(), "a user's");
        assert!(open_ordinary(&path).is_ok());
        fs::remove_file(&path).unwrap();

        symlink(folder.path().join("nowhere"), &path).unwrap();
        assert_eq!(refused(&path), [link; 2]);
        assert!(!folder.path().join("nowhere").exists());
        assert_eq!(open_ordinary(&path).unwrap_err().kind(), io::ErrorKind::NotFound);
        fs::remove_file(&path).unwrap();

        symlink("/dev/null", &path).unwrap();
        assert_eq!(open_ordinary(&path).unwrap_err().to_string(), "expected an ordinary file, found a device");
        fs::remove_file(&path).unwrap();
        assert_eq!(open_own(&path, File::options().read(true)).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn files_are_read_up_to_a_bound() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("own");
        fs::write(&path, "0123456789").unwrap();
        assert_eq!(read_own(&path, 10).unwrap(), b"0123456789");
        assert_eq!(read_own(&path, 9).unwrap_err().to_string(), "expected at most 9 bytes, found 10");
        // Of any length, without a byte on disk.
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert!(read_own(&path, 1 << 20).unwrap_err().to_string().ends_with("found 1099511627776"));
    }
}
