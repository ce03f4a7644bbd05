//! Leftovers of killed writers, and their removal.
//!
//! ```text
//!  killed while …    what is left                                   recognised by
//!  writing           staging folders with files                     their name, and an unlocked mark
//!  moving            also files under their final names             the journal in the store's own staging folder
//!  cleaning up       a complete store, and staging folders          the manifest: only staging folders are removed
//! ```

use super::journal::Journal;
use super::site::Site;
use crate::durable::{remove_staging, sync_folder};
use crate::error::{Error, Result};
use crate::filenames::STAGING;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Removes the files that were moved into `folders`, which are canonical.
pub(super) fn remove_moved(home: &Site, folders: &[PathBuf]) -> Result<()> {
    let Some(journal) = home.journal() else { return Ok(()) };
    remove_files(&journal, &home.folder, folders)
}

fn remove_files(journal: &Journal, home: &Path, folders: &[PathBuf]) -> Result<()> {
    let files = journal.left_in(home, folders);
    for path in &files {
        fs::remove_file(path).map_err(Error::io(path, "remove"))?;
    }
    if !files.is_empty() || !journal.replaced.is_empty() {
        for path in journal.folders_in(home, folders) {
            match fs::remove_dir(&path) {
                Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty) => {
                    return Err(Error::io(path, "remove")(error));
                }
                _ => {}
            }
        }
        // Make the removal durable before the journal is removed.
        folders.iter().try_for_each(|folder| sync_folder(folder).map_err(Error::io(folder, "sync")))?;
    }
    Ok(())
}

/// The leftovers of an unfinished store in a folder and, if it is the store's own, in its stripes. Locked until
/// dropped.
pub(crate) struct Leftovers {
    /// The sites of the store, the folder's first.
    sites: Vec<Site>,
    /// Its journal, with the folder of the store.
    journal: Option<(PathBuf, Journal)>,
    /// Keeps the lock on the store's own folder if the journal is there.
    _home: Option<Site>,
    folders: Vec<PathBuf>,
}

impl Leftovers {
    /// Finds the leftovers in a folder, if any. With `create`, also a staging folder without a mark: it gets a new one,
    /// to be locked.
    ///
    /// # Errors
    /// If the writer is alive; [`Error::Io`].
    pub(crate) fn find(folder: &Path, create: bool) -> Result<Option<Self>> {
        let Some(site) = Site::leftover(folder, create)? else { return Ok(None) };
        let mut sites = vec![site];
        let (mut journal, mut home) = (None, None);
        let mark = sites[0].mark();
        if let Some(mark) = mark.filter(|mark| !mark.tag.is_empty()) {
            let same = |site: &Site| site.mark().is_some_and(|other| other.tag == mark.tag);
            let own = sites[0].canonical()?;
            if is_same(&mark.home, &own) {
                for stripe in &mark.stripes {
                    // A stripe's leftover belongs to this store only if its own mark confirms it.
                    let found = Site::leftover(&folder.join(stripe), false).ok().flatten().filter(same);
                    sites.extend(found);
                }
                journal = sites[0].journal().map(|journal| (folder.to_owned(), journal));
            } else if let Some(found) = Site::leftover(&mark.home, false)?.filter(same) {
                journal = found.journal().map(|journal| (mark.home.clone(), journal));
                home = Some(found);
            }
        }
        let folders = sites.iter().map(Site::canonical).collect::<Result<_>>()?;
        Ok(Some(Self { sites, journal, _home: home, folders }))
    }

    /// All paths that [`remove`](Self::remove) will remove: files under their final names, then staging folders.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let moved = self.journal.iter().flat_map(|(home, journal)| journal.left_in(home, &self.folders));
        moved.chain(self.folders.iter().map(|folder| folder.join(STAGING))).collect()
    }

    /// Removes the leftovers.
    pub(crate) fn remove(self) -> Result<()> {
        if let Some((home, journal)) = &self.journal {
            remove_files(journal, home, &self.folders)?;
        }
        for site in self.sites.iter().rev() {
            remove_staging(&site.staging).map_err(Error::io(&site.staging, "remove"))?;
        }
        Ok(())
    }
}

fn is_same(path: &Path, canonical: &Path) -> bool {
    fs::canonicalize(path).is_ok_and(|path| path == canonical)
}
