//! Folders: whether one is a store's, how much room it has, and its names on disk.

use super::own::open_ordinary;
use crate::filenames::MANIFEST;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Returns the folder of a path; the working directory for a bare name.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether a folder has a store's manifest: other programs also have files named `graph.json`.
pub(crate) fn has_store(folder: &Path) -> bool {
    let mut begin = Vec::new();
    let read = open_ordinary(&folder.join(MANIFEST)).and_then(|file| file.take(256).read_to_end(&mut begin));
    read.is_ok() && String::from_utf8_lossy(&begin).contains("\"topostream\"")
}

/// Refuses a folder that belongs to a store: an output in it could replace one of the store's files.
///
/// # Errors
/// [`ErrorKind::InvalidInput`] if the folder belongs to a store, or lies within one.
pub fn outside_of_stores(folder: &Path) -> io::Result<()> {
    let whole = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    match whole.ancestors().find(|folder| has_store(folder)) {
        None => Ok(()),
        Some(store) => {
            let message = format!("lies inside the store {}; name a file outside of it", store.display());
            Err(io::Error::new(ErrorKind::InvalidInput, message))
        }
    }
}

/// The free bytes of a folder's file system for this user, if the system says.
#[cfg(unix)]
pub fn free_bytes(folder: &Path) -> Option<u64> {
    rustix::fs::statvfs(folder).ok().map(|free| free.f_bavail.saturating_mul(free.f_frsize))
}

/// The free bytes of a folder's file system for this user, if the system says.
#[cfg(windows)]
pub fn free_bytes(folder: &Path) -> Option<u64> {
    use std::os::windows::ffi::OsStrExt;
    use windows_sys::Win32::Storage::FileSystem::GetDiskFreeSpaceExW;

    // Names of shares have to end in a separator.
    let name: Vec<u16> = folder.join("").as_os_str().encode_wide().chain([0]).collect();
    let (mut free, unused) = (0, std::ptr::null_mut());
    #[allow(unsafe_code)]
    // SAFETY: the name ends in a zero, and one number is writable.
    let known = unsafe { GetDiskFreeSpaceExW(name.as_ptr(), &mut free, unused, unused) } != 0;
    known.then_some(free)
}

/// The free bytes of a folder's file system for this user, if the system says.
#[cfg(not(any(unix, windows)))]
pub fn free_bytes(_folder: &Path) -> Option<u64> {
    None
}

/// Makes the names in a folder durable, if the system can.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    match File::open(folder)?.sync_all() {
        // Some network file systems write names through and have no such call.
        Err(error) if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::InvalidInput) => Ok(()),
        synced => synced,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(any(unix, windows))]
    fn free_space() {
        let folder = tempfile::tempdir().unwrap();
        let free = |path: &Path| free_bytes(path).is_some_and(|bytes| bytes > 0);
        assert!(free(folder.path()) && free(&folder.path().join("")) && free(Path::new(".")));
        assert_eq!(free_bytes(&folder.path().join("absent")), None);
    }
}
