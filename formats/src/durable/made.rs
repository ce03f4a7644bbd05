//! The files and folders that this process has made and not completed: removed if the work fails, or if the process is
//! ended.
//!
//! One list per process, behind one lock. Code that makes, renames or removes a name holds the lock. A thread that ends
//! the process takes it, removes everything, and never releases it, so nothing is made afterwards.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A name that was made.
#[derive(Debug)]
pub(crate) enum Thing {
    /// A file.
    File(PathBuf),
    /// A folder, removed only if it is empty.
    Folder(PathBuf),
    /// A folder with its contents: the locked file is removed last. A spare handle of that file is closed first, so
    /// that a process that has reached its limit of open files can list the folder.
    Staging(PathBuf, File),
}

/// The name of the locked file in a staging folder.
pub(crate) const MARK: &str = "mark";

type List = Vec<(u64, Thing)>;

static UNFINISHED: Mutex<List> = Mutex::new(Vec::new());

/// The process's list; while it is locked, nothing is made or removed.
pub(crate) fn hold() -> MutexGuard<'static, List> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes every unfinished file and folder of this process, and keeps all other threads from making new ones. The
/// caller must end the process.
pub fn abandon() {
    let mut list = hold();
    list.drain(..).rev().for_each(|(_, thing)| remove(thing));
    std::mem::forget(list);
}

/// Waits for the end of the process if [`abandon`] was called: for threads that would end it in another way.
pub fn wait_if_abandoned() {
    drop(hold());
}

/// The files and folders of one piece of work; dropping it removes all of them, the last first.
#[derive(Debug)]
pub(crate) struct Made {
    owner: u64,
}

impl Default for Made {
    fn default() -> Self {
        static OWNERS: AtomicU64 = AtomicU64::new(0);
        Self { owner: OWNERS.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Made {
    /// Registers an item, under the lock that it was made under.
    pub(crate) fn note(&self, list: &mut List, thing: Thing) {
        list.push((self.owner, thing));
    }

    /// Makes a folder and its missing parents.
    pub(crate) fn folders(&self, path: &Path) -> io::Result<()> {
        let mut list = hold();
        let missing: Vec<&Path> = path.ancestors().take_while(|folder| !is_there(folder)).collect();
        for folder in missing.into_iter().rev() {
            match fs::create_dir(folder) {
                Ok(()) => self.note(&mut list, Thing::Folder(folder.to_owned())),
                Err(error) if error.kind() == ErrorKind::AlreadyExists && folder.is_dir() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// All folders that were made, except temporary ones.
    pub(crate) fn all_folders(&self) -> Vec<PathBuf> {
        let folder = |(owner, thing): &(u64, Thing)| match thing {
            Thing::Folder(path) if *owner == self.owner => Some(path.clone()),
            _ => None,
        };
        hold().iter().filter_map(folder).collect()
    }

    /// Gives a file its name, which must be free, and registers it.
    pub(crate) fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut list = hold();
        if fs::symlink_metadata(to).is_ok() {
            return Err(ErrorKind::AlreadyExists.into());
        }
        fs::rename(from, to)?;
        self.note(&mut list, Thing::File(to.to_owned()));
        Ok(())
    }

    /// Gives the last file its name. Everything made before is complete then; only staging folders remain to be
    /// removed.
    pub(crate) fn commit(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut list = hold();
        fs::rename(from, to)?;
        list.retain(|(owner, thing)| *owner != self.owner || matches!(thing, Thing::Staging(..)));
        Ok(())
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        // Held to the end: a thread that ends the process waits until everything is removed.
        let mut list = hold();
        let (own, others) = std::mem::take(&mut *list).into_iter().partition(|(owner, _)| *owner == self.owner);
        *list = others;
        let own: List = own;
        own.into_iter().rev().for_each(|(_, thing)| remove(thing));
    }
}

fn is_there(folder: &Path) -> bool {
    folder.as_os_str().is_empty() || fs::symlink_metadata(folder).is_ok()
}

/// Removes an item. It may be gone already, or no longer be empty.
fn remove(thing: Thing) {
    match thing {
        Thing::File(path) => drop(fs::remove_file(path)),
        Thing::Folder(path) => drop(fs::remove_dir(path)),
        Thing::Staging(path, spare) => {
            drop(spare);
            drop(remove_staging(&path));
        }
    }
}

/// Removes a staging folder whose lock this process holds. The locked file is removed last: afterwards another process
/// may use the folder, which then is not empty and stays.
pub(crate) fn remove_staging(folder: &Path) -> io::Result<()> {
    clear_staging(folder)?;
    fs::remove_file(folder.join(MARK)).or_else(if_missing)?;
    fs::remove_dir(folder)
}

/// Removes a staging folder once its locked file is closed, if that was all that kept it: systems other than Unix may
/// keep the name of an open file. It is declared behind the file.
#[derive(Debug)]
pub(crate) struct Emptied(pub(crate) PathBuf);

impl Drop for Emptied {
    fn drop(&mut self) {
        if !cfg!(unix) {
            fs::remove_dir(&self.0).ok();
        }
    }
}

/// Removes a staging folder that contains only the locked file, without listing it.
pub(crate) fn remove_new_staging(folder: &Path) {
    fs::remove_file(folder.join(MARK)).ok();
    fs::remove_dir(folder).ok();
}

/// Removes everything in a staging folder except the locked file. The listing is complete and closed before anything is
/// removed: folders are opened one at a time.
pub(crate) fn clear_staging(folder: &Path) -> io::Result<()> {
    let is_folder = |entry: fs::DirEntry| Ok((entry.path(), entry.file_type()?.is_dir()));
    let all: Vec<_> = fs::read_dir(folder)?.map(|entry| entry.and_then(is_folder)).collect::<io::Result<_>>()?;
    for (path, is_folder) in all.into_iter().filter(|(path, _)| !path.ends_with(MARK)) {
        let removed = if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        removed.or_else(if_missing)?;
    }
    Ok(())
}

fn if_missing(error: io::Error) -> io::Result<()> {
    if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) }
}
