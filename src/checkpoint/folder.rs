//! The folder of a run's checkpoints: two generations, written alternately, under a lock.

use super::format::{Header, MAGIC};
use super::reader::Reader;
use crate::error::{Error, Result};
use std::fs::{File, TryLockError};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use topostream_formats::durable::{open_own, outside_of_stores};

/// The files of the two generations.
const SLOTS: [&str; 2] = ["checkpoint.0", "checkpoint.1"];
/// The file that is being written.
const NEW: &str = "checkpoint.new";
/// The file that is locked where folders cannot be.
#[cfg(not(unix))]
const LOCK: &str = "checkpoint.lock";

/// How long to wait for a lock that another process holds.
const PATIENCE: Duration = Duration::from_millis(300);

/// An open and locked folder. The lock is released when this is dropped or the process ends.
pub struct Folder {
    path: PathBuf,
    /// Holds the lock.
    _lock: File,
    /// Of a rank: holds the lock of the folder around its own.
    around: Option<File>,
    /// Whether it did not exist before.
    is_new: bool,
}

/// A file whose header is sound. Its sections have not been read.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub path: PathBuf,
    pub slot: usize,
    pub header: Header,
}

impl Candidate {
    /// Opens the file for reading.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] with what is wrong with it, also if it is another file than it was.
    pub fn open(&self) -> Result<Reader> {
        let reader = Reader::open(&self.path)?;
        if reader.header() != &self.header {
            return Err(reader.error("another process has replaced it"));
        }
        Ok(reader)
    }

    /// Verifies every checksum.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] with what is damaged.
    pub fn verify(&self) -> Result<()> {
        self.open()?.verify()
    }
}

/// A file that cannot be used, and what is wrong with it.
pub type Unfit = (PathBuf, String);

/// Returns the files of a folder whose headers are sound, and the others.
///
/// # Errors
/// Errors from opening a file that are not about its contents.
pub fn candidates(folder: &Path) -> Result<(Vec<Candidate>, Vec<Unfit>)> {
    let (mut sound, mut damaged) = (Vec::new(), Vec::new());
    for (slot, name) in SLOTS.iter().enumerate() {
        let path = folder.join(name);
        match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            _ => {}
        }
        match Reader::open(&path) {
            Ok(reader) => sound.push(Candidate { path, slot, header: reader.header().clone() }),
            Err(Error::Checkpoint { message, .. }) => damaged.push((path, message)),
            Err(other) => return Err(other),
        }
    }
    Ok((sound, damaged))
}

/// Removes both generations from a folder, and what was left of an unfinished one.
///
/// # Errors
/// [`Error::Checkpoint`] with the file that cannot be removed.
pub fn clear(folder: &Path) -> Result<()> {
    for name in SLOTS.iter().chain([&NEW]) {
        let path = folder.join(name);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::Checkpoint { path, message: error.to_string() });
            }
            _ => {}
        }
    }
    // It is in the way of removing the folder. A system that keeps the name until the lock is released leaves that.
    #[cfg(not(unix))]
    std::fs::remove_file(folder.join(LOCK)).ok();
    sync_folder(folder).ok();
    Ok(())
}

impl Folder {
    /// Opens and locks a folder. Creates it if it does not exist.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] if another run uses it, or if it cannot be written to.
    pub fn open(path: &Path) -> Result<Self> {
        let is_new = !path.exists();
        let lock = created(path)?;
        locked(path, || lock.try_lock())?;
        Ok(Self { is_new, ..Self::writable(path, lock, None)? })
    }

    /// Opens and locks the folder of a rank within another folder, which ranks share: no process alone uses that, and
    /// no job that has `others`, which exist.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    pub fn open_within(around: &Path, path: &Path, others: impl Fn() -> Result<Vec<PathBuf>>) -> Result<Self> {
        let shared = created(around)?;
        locked(around, || shared.try_lock_shared())?;
        let lock = created(path)?;
        locked(path, || lock.try_lock())?;
        // Each of two jobs locks its own folders first, so that one of them finds the other.
        for other in others()? {
            match lock_of(&other) {
                Ok(lock) => locked(around, || lock.try_lock())?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(unusable(&other, "the folder cannot be opened", &error)),
            }
        }
        Self::writable(path, lock, Some(shared))
    }

    /// Fails now, and not at the first checkpoint, if the folder cannot be written to. Removes an incomplete file.
    fn writable(path: &Path, lock: File, around: Option<File>) -> Result<Self> {
        let new = path.join(NEW);
        let tried = remove_unfinished(&new).and_then(|()| create(&new)).and_then(|_| std::fs::remove_file(&new));
        tried.map_err(|source| unusable(path, NEW, &source))?;
        Ok(Self { path: path.into(), _lock: lock, around, is_new: false })
    }

    /// Removes the folder if it did not exist before and has nothing in it now.
    pub fn leave(&self) {
        if self.is_new {
            std::fs::remove_dir(&self.path).ok();
        }
    }

    /// Removes both generations, and the folder if it is a rank's.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] with the file that cannot be removed.
    pub fn clear(&self) -> Result<()> {
        clear(&self.path)?;
        if self.around.is_some() {
            // Files that are not ours may be in it.
            std::fs::remove_dir(&self.path).ok();
        }
        Ok(())
    }

    /// Writes a file that may replace a generation, and syncs it to disk. Returns its length in bytes. If that fails,
    /// nothing of it is left.
    pub fn prepare(&self, write: impl FnOnce(&mut File) -> io::Result<u64>) -> io::Result<u64> {
        let made = std::fs::create_dir_all(&self.path).and_then(|()| create(&self.path.join(NEW)));
        let made = made.and_then(|mut file| {
            let bytes = write(&mut file)?;
            file.sync_all()?;
            Ok(bytes)
        });
        made.inspect_err(|_| self.discard())
    }

    /// Replaces a generation by the file that was prepared. If that fails, the generation is unchanged.
    pub fn place(&self, slot: usize) -> io::Result<()> {
        let placed = std::fs::rename(self.path.join(NEW), self.path.join(SLOTS[slot]));
        placed.and_then(|()| sync_folder(&self.path)).inspect_err(|_| self.discard())
    }

    /// Removes the file that was prepared.
    pub fn discard(&self) {
        std::fs::remove_file(self.path.join(NEW)).ok();
    }
}

/// Creates the file that is written. What stands in its place is not followed, opened or replaced.
fn create(new: &Path) -> io::Result<File> {
    open_own(new, File::options().write(true).create_new(true))
}

/// Removes a file that a process has left while it wrote it: the begin of a checkpoint, or zeros, which file systems
/// leave after a loss of power. Anything else of that name belongs to the user.
fn remove_unfinished(new: &Path) -> io::Result<()> {
    let file = match open_own(new, File::options().read(true)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        file => file?,
    };
    let mut begin = Vec::new();
    file.take(MAGIC.len() as u64).read_to_end(&mut begin)?;
    if MAGIC.starts_with(&begin) || begin.iter().all(|&byte| byte == 0) {
        return std::fs::remove_file(new);
    }
    Err(io::Error::other("expected an unfinished checkpoint, found another file: move it elsewhere"))
}

/// Creates a folder if it does not exist, and opens what is locked of it.
fn created(path: &Path) -> Result<File> {
    outside_of_stores(path).map_err(|source| unusable(path, "not a folder for checkpoints", &source))?;
    if !path.is_dir() {
        std::fs::create_dir_all(path).map_err(|source| unusable(path, "the folder cannot be created", &source))?;
        if let Some(parent) = path.parent() {
            sync_folder(parent).ok();
        }
    }
    lock_of(path).map_err(|source| unusable(path, "the folder cannot be opened", &source))
}

/// Tries to lock a folder for a moment: a process that ends, or one that a thread has just forked, may still hold it.
fn locked(path: &Path, lock: impl Fn() -> std::result::Result<(), TryLockError>) -> Result<()> {
    let begun = Instant::now();
    loop {
        match lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => std::thread::sleep(PATIENCE / 20),
            Err(TryLockError::WouldBlock) => {
                let message = "another run uses this folder for its checkpoints".into();
                return Err(Error::Checkpoint { path: path.into(), message });
            }
            Err(TryLockError::Error(source)) => return Err(unusable(path, "the folder cannot be locked", &source)),
        }
    }
}

fn unusable(path: &Path, what: &str, source: &io::Error) -> Error {
    Error::Checkpoint { path: path.into(), message: format!("{what}: {source}") }
}

/// Opens the file that is locked: the folder itself if the system can open folders, otherwise a file in it.
#[cfg(unix)]
fn lock_of(folder: &Path) -> io::Result<File> {
    File::open(folder)
}

#[cfg(not(unix))]
fn lock_of(folder: &Path) -> io::Result<File> {
    File::options().write(true).create(true).truncate(false).open(folder.join(LOCK))
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
