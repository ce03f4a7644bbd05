//! The folder of a run's checkpoints: two generations, written alternately, under a lock.

use super::format::Header;
use super::reader::Reader;
use crate::error::{Error, Result};
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// The files of the two generations.
const SLOTS: [&str; 2] = ["checkpoint.0", "checkpoint.1"];
/// The file that is being written.
const NEW: &str = "checkpoint.new";

/// An open and locked folder. The lock is released when this is dropped or the process ends.
pub struct Folder {
    path: PathBuf,
    /// Holds the lock.
    _lock: File,
}

/// A complete and undamaged checkpoint.
pub struct Found {
    pub path: PathBuf,
    pub slot: usize,
    pub header: Header,
}

impl Found {
    /// Describes the run that it belongs to, for people.
    pub fn describe(&self) -> String {
        let fields = &self.header.identity;
        let algorithm = fields.iter().find(|field| field.0 == "algorithm").map_or("?", |field| &field.1);
        format!("{algorithm} after {} supersteps", self.header.totals.supersteps)
    }
}

/// A generation that cannot be used: the file and what is wrong with it.
pub type Unfit = (PathBuf, String);

impl Folder {
    /// Opens and locks a folder. Creates it if it does not exist.
    pub fn open(path: &Path) -> Result<Self> {
        let error = |what: &str, error: io::Error| {
            let message = format!("{what}: {error}");
            Error::Checkpoint { path: path.into(), message }
        };
        if !path.is_dir() {
            std::fs::create_dir_all(path).map_err(|source| error("the folder cannot be created", source))?;
            if let Some(parent) = path.parent() {
                sync_folder(parent).ok();
            }
        }
        let lock = lock_of(path).map_err(|source| error("the folder cannot be opened", source))?;
        lock.try_lock().map_err(|refusal| match refusal {
            TryLockError::WouldBlock => Error::Checkpoint {
                path: path.into(),
                message: "another run uses this folder for its checkpoints".into(),
            },
            TryLockError::Error(source) => error("the folder cannot be locked", source),
        })?;
        // Fails now, and not at the first checkpoint, if the folder cannot be written to. Removes an incomplete file.
        let new = path.join(NEW);
        File::create(&new).and_then(|_| std::fs::remove_file(&new)).map_err(|source| error(NEW, source))?;
        Ok(Self { path: path.into(), _lock: lock })
    }

    /// Returns the folder's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the newest undamaged checkpoint, and the damaged ones.
    pub fn newest(&self) -> Result<(Option<Found>, Vec<Unfit>)> {
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
        // The older one is read only if the newer one is damaged.
        for (slot, path, mut reader) in whole {
            match reader.verify() {
                Ok(()) => return Ok((Some(Found { path, slot, header: reader.header().clone() }), damaged)),
                Err(Error::Checkpoint { message, .. }) => damaged.push((path, message)),
                Err(other) => return Err(other),
            }
        }
        Ok((None, damaged))
    }

    /// Writes a file that replaces a generation once it is on disk. If anything fails, that generation is unchanged.
    /// Returns the file's length in bytes.
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

/// Opens the file that is locked: the folder itself if the system can open folders, otherwise a file in it.
#[cfg(unix)]
fn lock_of(folder: &Path) -> io::Result<File> {
    File::open(folder)
}

#[cfg(not(unix))]
fn lock_of(folder: &Path) -> io::Result<File> {
    File::create(folder.join("checkpoint.lock"))
}

/// Syncs the names in a folder to disk.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}
