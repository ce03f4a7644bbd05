//! Removes the files that killed processes have left in a folder.

use crate::durable::{Lock, MARK, is_temporary, is_temporary_folder, lock, remove_staging};
use crate::error::{Error, Result};
use crate::filenames::STAGING;
use crate::write::leftovers::Leftovers;
use std::fs;
use std::path::{Path, PathBuf};

/// What was found in a folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cleaned {
    /// What was removed, or would be.
    pub removed: Vec<PathBuf>,
    /// What belongs to a live process and is kept.
    pub in_use: Vec<PathBuf>,
}

/// Removes what dead processes have left in `folder`: unfinished stores and stripes, temporary results and edge lists,
/// temporary folders. Subfolders are not searched. Nothing else is touched, in particular no complete
/// store. With `dry_run`, nothing is removed.
///
/// # Errors
/// [`Error::Io`] if the folder cannot be read, or something cannot be removed.
pub fn clean(folder: &Path, dry_run: bool) -> Result<Cleaned> {
    let mut cleaned = Cleaned::default();
    let listed = fs::read_dir(folder).map_err(Error::io(folder, "read the folder"))?;
    let staging = folder.join(STAGING);
    match Leftovers::find(folder, !dry_run) {
        Ok(None) if dry_run && fs::symlink_metadata(&staging).is_ok_and(|found| found.is_dir()) => {
            cleaned.removed.push(staging);
        }
        Ok(None) => {}
        Ok(Some(leftovers)) => {
            cleaned.removed.extend(leftovers.paths());
            if !dry_run {
                leftovers.remove()?;
            }
        }
        Err(Error::Invalid(_)) => cleaned.in_use.push(staging),
        Err(error) => return Err(error),
    }
    for entry in listed {
        let entry = entry.map_err(Error::io(folder, "read the folder"))?;
        let (name, path) = (entry.file_name(), entry.path());
        let Some(name) = name.to_str() else { continue };
        let kind = entry.file_type().map_err(Error::io(&path, "stat"))?;
        let (locked, is_folder) = match kind {
            kind if kind.is_file() && is_temporary(name) => (path.clone(), false),
            kind if kind.is_dir() && is_temporary_folder(name) => (path.join(MARK), true),
            _ => continue,
        };
        match lock(&locked, false).map_err(Error::io(&locked, "lock"))? {
            Some(Lock::Held(_lock)) => {
                if !dry_run {
                    let removed = if is_folder { remove_staging(&path) } else { fs::remove_file(&path) };
                    removed.map_err(Error::io(&path, "remove"))?;
                }
                cleaned.removed.push(path);
            }
            Some(_) => cleaned.in_use.push(path),
            None => {}
        }
    }
    Ok(cleaned)
}
