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
/// [`ErrorKind::InvalidInput`] if the folder is that of a store, or lies within one.
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
pub fn free_bytes(folder: &Path) -> Option<u64> {
    #[cfg(unix)]
    return rustix::fs::statvfs(folder).ok().map(|free| free.f_bavail.saturating_mul(free.f_frsize));
    #[cfg(not(unix))]
    {
        let _ = folder;
        None
    }
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
