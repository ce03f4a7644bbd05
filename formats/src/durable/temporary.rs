//! A temporary folder that can be recognised as such if its maker is killed.

use super::lock::{Lock, lock};
use super::made::{Emptied, MARK, Made, Thing, hold, remove_new_staging};
use super::tag::{is_tag, new_tag};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A folder with a new name, removed with its contents when this is dropped.
#[derive(Debug)]
pub struct TemporaryFolder {
    path: PathBuf,
    _made: Made,
    _lock: fs::File,
    _emptied: Emptied,
}

/// The prefix of the name of every temporary folder.
const BEGIN: &str = "topostream-";

impl TemporaryFolder {
    /// Makes a folder in `parent`; `what` becomes part of its name.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn create(parent: &Path, what: &str) -> io::Result<Self> {
        loop {
            let path = parent.join(format!("{BEGIN}{what}-{}", new_tag()));
            let made = Made::default();
            let mut list = hold();
            fs::create_dir(&path)?;
            let locked = lock(&path.join(MARK), true).inspect_err(|_| remove_new_staging(&path))?;
            // Another process may have removed it as a leftover before it was locked.
            let (Some(Lock::Held(file)) | Some(Lock::Unsupported(file))) = locked else { continue };
            let spare = file.try_clone().inspect_err(|_| remove_new_staging(&path))?;
            made.note(&mut list, Thing::Staging(path.clone(), spare));
            let emptied = Emptied(path.clone());
            return Ok(Self { path, _made: made, _lock: file, _emptied: emptied });
        }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Whether a folder with this name is a temporary folder of this program.
pub(crate) fn is_temporary_folder(name: &str) -> bool {
    let words = name.strip_prefix(BEGIN).and_then(|rest| rest.split_once('-'));
    words.is_some_and(|(what, tag)| !what.is_empty() && is_tag(tag))
}
