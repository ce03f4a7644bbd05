//! The folder of a run's checkpoints: two generations by turns, and nobody else's.

use super::format::Header;
use super::reader::Reader;
use crate::error::{Error, Result};
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// The files of the two generations.
const SLOTS: [&str; 2] = ["checkpoint.0", "checkpoint.1"];
/// What is being written.
const NEW: &str = "checkpoint.new";

/// See the module. It is locked until this is dropped, or the process has ended.
pub struct Folder {
    path: PathBuf,
    /// Holds the lock.
    _lock: File,
}

/// A checkpoint that is whole.
pub struct Found {
    pub path: PathBuf,
    pub slot: usize,
    pub header: Header,
}

impl Found {
    /// For people: which run it is of.
    pub fn describe(&self) -> String {
        let fields = &self.header.identity;
        let algorithm = fields.iter().find(|field| field.0 == "algorithm").map_or("?", |field| &field.1);
        format!("{algorithm} after {} supersteps", self.header.before.supersteps)
    }
}

/// A generation that cannot be used, and why.
pub type Unfit = (PathBuf, String);

impl Folder {
    /// Makes the folder where there is none, and locks it.
    pub fn open(path: &Path) -> Result<Self> {
        let error = |what: &str, error: io::Error| {
            let message = format!("{what}: {error}");
            Error::Checkpoint { path: path.into(), message }
        };
        if !path.is_dir() {
            std::fs::create_dir_all(path).map_err(|source| error("the folder cannot be made", source))?;
            if let Some(parent) = path.parent() {
                sync_folder(parent).ok();
            }
        }
        let lock = lock_of(path).map_err(|source| error("the folder cannot be opened", source))?;
        lock.try_lock().map_err(|refusal| match refusal {
            TryLockError::WouldBlock => {
                Error::Checkpoint { path: path.into(), message: "another run writes its checkpoints here".into() }
            }
            TryLockError::Error(source) => error("the folder cannot be locked", source),
        })?;
        // Whether it can be written to is better known now than in a minute; what was left half written goes.
        let new = path.join(NEW);
        File::create(&new).and_then(|_| std::fs::remove_file(&new)).map_err(|source| error(NEW, source))?;
        Ok(Self { path: path.into(), _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The newest checkpoint that is whole, and what is wrong with those that are not.
    pub fn look(&self) -> Result<(Option<Found>, Vec<Unfit>)> {
        let (mut whole, mut damaged) = (Vec::new(), Vec::new());
        for (slot, name) in SLOTS.iter().enumerate() {
            let path = self.path.join(name);
            match path.symlink_metadata() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                _ => {}
            }
            match Reader::open(&path) {
                Ok(reader) => whole.push((slot, path, reader)),
                Err(Error::Checkpoint { message, .. }) => damaged.push((path, message)),
                Err(other) => return Err(other),
            }
        }
        whole.sort_by_key(|(_, _, reader)| std::cmp::Reverse(reader.header().generation));
        // The older one is looked at only where the newer one is of no use.
        for (slot, path, mut reader) in whole {
            match reader.verify() {
                Ok(()) => return Ok((Some(Found { path, slot, header: reader.header().clone() }), damaged)),
                Err(Error::Checkpoint { message, .. }) => damaged.push((path, message)),
                Err(other) => return Err(other),
            }
        }
        Ok((None, damaged))
    }

    /// Writes a file that takes the place of a generation once it is on disk; until then, and where anything fails,
    /// that one is as it was.
    pub fn replace(&self, slot: usize, write: impl FnOnce(&mut File) -> io::Result<u64>) -> io::Result<u64> {
        let new = self.path.join(NEW);
        let made = File::create(&new).and_then(|mut file| {
            let bytes = write(&mut file)?;
            file.sync_all()?;
            Ok(bytes)
        });
        let placed = made.and_then(|bytes| {
            std::fs::rename(&new, self.path.join(SLOTS[slot]))?;
            sync_folder(&self.path)?;
            Ok(bytes)
        });
        if placed.is_err() {
            std::fs::remove_file(&new).ok();
        }
        placed
    }

    /// Removes both generations.
    pub fn clear(&self) -> Result<()> {
        for name in SLOTS.iter().chain([&NEW]) {
            let path = self.path.join(name);
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::Checkpoint { path, message: error.to_string() });
                }
                _ => {}
            }
        }
        sync_folder(&self.path).ok();
        Ok(())
    }
}

/// What is locked: the folder itself, where the system lets folders be opened.
#[cfg(unix)]
fn lock_of(folder: &Path) -> io::Result<File> {
    File::open(folder)
}

#[cfg(not(unix))]
fn lock_of(folder: &Path) -> io::Result<File> {
    File::create(folder.join("checkpoint.lock"))
}

/// Has the names in a folder written to disk.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}
