//! A locked folder that a store is written to: the store's own, or a stripe's.
//!
//! ```text
//!  FOLDER/.topostream-partial/   created first; everything is written here
//!      mark                      locked by the writer; identifies the store
//!      journal                   (store's own folder) the files to be moved from all staging folders of the store
//!      pages.0  in/pages.0  …    moved into FOLDER when everything is on disk
//! ```

use super::journal::Journal;
use crate::durable::{Emptied, Lock, MARK, Made, Thing, hold, lock, remove_new_staging};
use crate::error::{Error, Result};
use crate::filenames::STAGING;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The contents of the mark: identifies the writer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// The program's version.
    pub(crate) topostream: String,
    /// The process id, for people.
    pub(crate) process: u32,
    /// A tag shared by all folders of one store.
    pub(crate) tag: String,
    /// The folder of the store.
    pub(crate) home: PathBuf,
    /// The stripes, as in the manifest.
    pub(crate) stripes: Vec<PathBuf>,
}

/// A folder that is locked for writing a store.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) folder: PathBuf,
    pub(crate) staging: PathBuf,
    /// Whether the staging folder existed before: a leftover of a killed process.
    pub(crate) is_leftover: bool,
    mark: File,
    _emptied: Emptied,
}

/// Maximum number of tries for a folder that other processes keep removing.
const TRIES: u32 = 1000;

impl Site {
    fn new(path: &Path, staging: PathBuf, is_leftover: bool, mark: File) -> Self {
        let emptied = Emptied(staging.clone());
        Self { folder: path.to_owned(), staging, is_leftover, mark, _emptied: emptied }
    }

    /// Locks a folder, creating it if it is missing. `path` is its name in errors.
    pub(super) fn claim(path: &Path, made: &Made) -> Result<Self> {
        let staging = path.join(STAGING);
        for _ in 0..TRIES {
            made.folders(path).map_err(Error::io(path, "create"))?;
            if path.is_symlink() && !path.exists() {
                return Err(Error::file(path, "a folder, or nothing", "a link that leads nowhere"));
            }
            if let Some(site) = Self::try_claim(path, &staging, made)? {
                return Ok(site);
            }
            // Another process is removing its staging folder.
            std::thread::sleep(Duration::from_millis(1));
        }
        Err(busy(path))
    }

    fn try_claim(path: &Path, staging: &Path, made: &Made) -> Result<Option<Self>> {
        let mut list = hold();
        let is_new = match fs::create_dir(staging) {
            Ok(()) => true,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => false,
            Err(error) => return Err(Error::io(staging, "create")(error)),
        };
        let locked = lock_staging(staging, true).inspect_err(|_| {
            if is_new {
                fs::remove_dir(staging).ok();
            }
        })?;
        let mark = match locked {
            None => return Ok(None),
            Some(Lock::Busy) => return Err(busy(path)),
            Some(Lock::Held(mark)) => mark,
            Some(Lock::Unsupported(mark)) if is_new => mark,
            Some(Lock::Unsupported(_)) => return Err(no_locks(path)),
        };
        if is_new {
            let spare = mark.try_clone().inspect_err(|_| remove_new_staging(staging));
            made.note(&mut list, Thing::Staging(staging.to_owned(), spare.map_err(Error::io(staging, "open"))?));
        }
        Ok(Some(Self::new(path, staging.to_owned(), !is_new, mark)))
    }

    /// Locks the leftover in a folder, if there is one. With `create`, also one without a mark.
    ///
    /// # Errors
    /// [`Error::Invalid`] if its writer is alive; [`Error::Io`].
    pub(crate) fn leftover(path: &Path, create: bool) -> Result<Option<Self>> {
        let staging = path.join(STAGING);
        match lock_staging(&staging, create)? {
            Some(Lock::Held(mark)) => Ok(Some(Self::new(path, staging, true, mark))),
            Some(Lock::Busy) => Err(busy(path)),
            Some(Lock::Unsupported(_)) => Err(no_locks(path)),
            None => Ok(None),
        }
    }

    /// Takes over a leftover: it becomes this writer's.
    pub(super) fn adopt(&mut self, made: &Made) -> Result<()> {
        if std::mem::take(&mut self.is_leftover) {
            let spare = self.mark.try_clone().map_err(Error::io(&self.staging, "open"))?;
            made.note(&mut hold(), Thing::Staging(self.staging.clone(), spare));
        }
        Ok(())
    }

    /// The mark, if it is complete: its writer may have been killed before.
    pub(crate) fn mark(&self) -> Option<Mark> {
        let mut bytes = Vec::new();
        (&self.mark).rewind().ok()?;
        (&self.mark).take(1 << 20).read_to_end(&mut bytes).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    pub(super) fn set_mark(&mut self, mark: &Mark) -> Result<()> {
        let bytes = serde_json::to_vec(mark).map_err(|error| Error::Invalid(error.to_string()))?;
        let path = self.staging.join(MARK);
        self.mark.set_len(0).and_then(|()| self.mark.rewind()).map_err(Error::io(&path, "write"))?;
        self.mark.write_all(&bytes).map_err(Error::io(&path, "write"))?;
        self.mark.sync_all().map_err(Error::io(&path, "sync"))
    }

    /// The journal, if the writer got that far.
    pub(crate) fn journal(&self) -> Option<Journal> {
        Journal::read(&self.staging)
    }

    /// The folder's canonical path.
    pub(crate) fn canonical(&self) -> Result<PathBuf> {
        fs::canonicalize(&self.folder).map_err(Error::io(&self.folder, "open"))
    }
}

/// Locks a staging folder; with `create`, also one without a mark.
fn lock_staging(staging: &Path, create: bool) -> Result<Option<Lock>> {
    match fs::symlink_metadata(staging) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return Err(Error::file(staging, "a folder of this program's", "something else")),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => return Err(Error::io(staging, "open")(error)),
    }
    let mark = staging.join(MARK);
    lock(&mark, create).map_err(Error::io(&mark, "lock"))
}

fn busy(path: &Path) -> Error {
    Error::Invalid(format!("{}: another process is writing a store here", path.display()))
}

fn no_locks(path: &Path) -> Error {
    let (path, staging) = (path.display(), path.join(STAGING));
    Error::Invalid(format!(
        "{path}: an unfinished store is here, and the file system cannot tell whether its writer is alive; if no other \
         process is writing here, remove {}",
        staging.display()
    ))
}
