//! A store that a new one replaces. It stays as it is until every file of the new one is on disk. Then its files are
//! removed, the manifest first, and the new ones get their names.

use super::journal::{Journal, Moved, is_store_file};
use super::obstacles::entries;
use crate::durable::{has_store, hold, sync_folder};
use crate::error::{Error, Result};
use crate::filenames::{MANIFEST, MARK_PREFIX};
use crate::manifest::Manifest;
use crate::open::{is_marked, read_manifest};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A file of the store, and the folder that it is in as a stripe.
#[derive(Debug)]
struct OldFile {
    folder: PathBuf,
    name: PathBuf,
}

/// The files of the store in a folder, with canonical paths.
#[derive(Debug, Default)]
pub(super) struct Replaced {
    /// The manifest is the first.
    files: Vec<OldFile>,
}

impl Replaced {
    /// Finds the store in `home`, which may be damaged; nothing if the folder has no manifest. Of stripes elsewhere,
    /// only those with this store's mark belong to it.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the manifest is not one of ours; [`Error::Io`].
    pub(super) fn find(home: &Path) -> Result<Self> {
        if fs::symlink_metadata(home.join(MANIFEST)).is_err() {
            return Ok(Self::default());
        }
        if !has_store(home) {
            return Err(Error::Invalid(format!(
                "{}: not the manifest of a store, so nothing is replaced here; name another folder",
                home.join(MANIFEST).display()
            )));
        }
        let own = fs::canonicalize(home).map_err(Error::io(home, "open"))?;
        let mut found = Self { files: vec![OldFile { folder: own.clone(), name: MANIFEST.into() }] };
        found.add(&own, is_store_file)?;
        let path = home.join(MANIFEST);
        let manifest = read_manifest(home).and_then(|bytes| Manifest::decode(&bytes, &path));
        for (number, stripe) in manifest.iter().flat_map(|manifest| manifest.stripes.iter().enumerate()) {
            let Ok(folder) = fs::canonicalize(home.join(stripe)) else { continue };
            let tag = manifest.as_ref().map_or(0, |manifest| manifest.tag);
            if folder != own && (folder.starts_with(&own) || is_marked(&folder, number, tag)) {
                let names = ["pages.", "weights.", MARK_PREFIX].map(|begin| format!("{begin}{number}"));
                let is_stripe = |file: &Path| names.iter().any(|name| file.file_name() == Some(name.as_ref()));
                found.add(&folder, is_stripe)?;
            }
        }
        Ok(found)
    }

    /// Adds the files in a folder, and in its `in`, for which `is_old`.
    fn add(&mut self, folder: &Path, is_old: impl Fn(&Path) -> bool) -> Result<()> {
        for direction in ["", "in"] {
            if !folder.join(direction).is_dir() {
                continue;
            }
            let names = entries(&folder.join(direction))?.unwrap_or_default();
            let names = names.into_iter().map(|name| Path::new(direction).join(name));
            let is_file = |name: &PathBuf| fs::symlink_metadata(folder.join(name)).is_ok_and(|found| !found.is_dir());
            let old = names.filter(|name| is_old(name) && is_file(name));
            self.files.extend(old.map(|name| OldFile { folder: folder.to_owned(), name }));
        }
        Ok(())
    }

    /// The paths of all files.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        self.files.iter().map(|file| file.folder.join(&file.name)).collect()
    }

    /// Adds the files but the manifest to the journal: what a killed process leaves of them belongs to no store.
    pub(super) fn note(&self, journal: &mut Journal) {
        let moved = |file: &OldFile| Moved::of(&file.folder, &file.name, &file.folder.join(&file.name)).ok();
        journal.replaced = self.files.iter().skip(1).filter_map(moved).collect();
        for file in self.files.iter().filter(|file| file.name.starts_with("in")) {
            let folder = Moved::folder(&file.folder, Path::new("in"));
            if !journal.folders.contains(&folder) {
                journal.folders.push(folder);
            }
        }
    }

    /// Removes the files. From the manifest's end on there is no store.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn remove(self) -> Result<()> {
        // A thread that ends the process waits: it would leave a part.
        let _list = hold();
        for (number, file) in self.files.iter().enumerate() {
            let path = file.folder.join(&file.name);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(Error::io(&path, "remove")(error)),
                _ => {}
            }
            if number == 0 {
                sync_folder(&file.folder).map_err(Error::io(&file.folder, "sync"))?;
            }
        }
        let home = self.files.first().map(|file| file.folder.clone()).unwrap_or_default();
        for folder in self.files.iter().map(|file| &file.folder) {
            // Not empty where something else is in it.
            fs::remove_dir(folder.join("in")).ok();
            if *folder != home && folder.starts_with(&home) {
                fs::remove_dir(folder).ok();
            }
        }
        Ok(())
    }
}
