//! The journal: the files that a writer is about to move to their final names. Written and synced before the first
//! move; obsolete once the manifest exists.
//!
//! A file under its final name belongs to the unfinished store if it has the length and modification time that the
//! journal records: a move keeps both, and a user's file of the same name has others.

use crate::durable::read_own;
use crate::error::{Error, Result};
use crate::filenames::{MANIFEST, MARK_PREFIX, STAGING};
use crate::mirrors::MIRRORS;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The file's name in the staging folder.
const JOURNAL: &str = "journal";
/// More than any journal needs: a dozen files in each of 256 stripes with the longest names.
const BYTES_MAX: u64 = 64 << 20;

/// The moves of a writer.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Journal {
    /// The tag of the writer's marks.
    pub(crate) tag: String,
    pub(crate) files: Vec<Moved>,
    /// The folders for in-lists that the writer creates.
    pub(crate) folders: Vec<Moved>,
    /// The files of the store that is replaced.
    #[serde(default)]
    pub(crate) replaced: Vec<Moved>,
}

/// A file to be moved, or a folder to be created.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Moved {
    /// Its stripe, as in the manifest: `.` for the store's own folder.
    pub(crate) stripe: PathBuf,
    /// The file's path in that folder.
    pub(crate) file: PathBuf,
    pub(crate) bytes: u64,
    /// Modification time, in nanoseconds since 1970.
    pub(crate) modified_ns: u128,
}

impl Moved {
    /// A file that is still in the staging folder.
    pub(super) fn of(stripe: &Path, file: &Path, staged: &Path) -> Result<Self> {
        let (bytes, modified_ns) = state(staged).map_err(Error::io(staged, "stat"))?;
        Ok(Self { stripe: stripe.to_owned(), file: file.to_owned(), bytes, modified_ns })
    }

    pub(super) fn folder(stripe: &Path, folder: &Path) -> Self {
        Self { stripe: stripe.to_owned(), file: folder.to_owned(), bytes: 0, modified_ns: 0 }
    }

    /// The target folder, for the store in `home`.
    pub(crate) fn target_folder(&self, home: &Path) -> PathBuf {
        home.join(&self.stripe)
    }

    /// Whether the file in `folder` is the moved one.
    fn is_in(&self, folder: &Path) -> bool {
        fs::symlink_metadata(folder.join(STAGING).join(&self.file)).is_err() && self.is_at(folder)
    }

    /// Whether the file in `folder` is this one.
    fn is_at(&self, folder: &Path) -> bool {
        is_store_file(&self.file)
            && state(&folder.join(&self.file)).is_ok_and(|state| state == (self.bytes, self.modified_ns))
    }
}

impl Journal {
    /// Writes and syncs the journal.
    pub(super) fn write(&self, staging: &Path) -> Result<()> {
        let path = staging.join(JOURNAL);
        let bytes = serde_json::to_vec(self).map_err(|error| Error::Invalid(error.to_string()))?;
        let mut file = fs::File::create_new(&path).map_err(Error::io(&path, "create"))?;
        file.write_all(&bytes).map_err(Error::io(&path, "write"))?;
        file.sync_all().map_err(Error::io(&path, "sync"))?;
        crate::durable::sync_folder(staging).map_err(Error::io(staging, "sync"))
    }

    /// Reads a complete journal. Nothing has been moved according to an incomplete one.
    pub(super) fn read(staging: &Path) -> Option<Self> {
        serde_json::from_slice(&read_own(&staging.join(JOURNAL), BYTES_MAX).ok()?).ok()
    }

    /// The files of the unfinished store in `home` under their final names in `folders`, which are canonical.
    pub(crate) fn left_in(&self, home: &Path, folders: &[PathBuf]) -> Vec<PathBuf> {
        if fs::symlink_metadata(home.join(MANIFEST)).is_ok() {
            return Vec::new();
        }
        let place = |moved: &Moved, is_there: fn(&Moved, &Path) -> bool| {
            let folder = fs::canonicalize(moved.target_folder(home)).ok()?;
            (folders.contains(&folder) && is_there(moved, &folder)).then(|| folder.join(&moved.file))
        };
        let moved = self.files.iter().filter_map(|file| place(file, Moved::is_in));
        moved.chain(self.replaced.iter().filter_map(|file| place(file, Moved::is_at))).collect()
    }

    /// The folders for in-lists that the writer may have created in `folders`.
    pub(crate) fn folders_in(&self, home: &Path, folders: &[PathBuf]) -> Vec<PathBuf> {
        let place = |made: &Moved| {
            let folder = fs::canonicalize(made.target_folder(home)).ok()?;
            (folders.contains(&folder) && made.file == Path::new("in")).then(|| folder.join("in"))
        };
        self.folders.iter().filter_map(place).collect()
    }
}

/// Length and modification time of a regular file.
fn state(path: &Path) -> std::io::Result<(u64, u128)> {
    let found = fs::symlink_metadata(path)?;
    if !found.is_file() {
        return Err(std::io::Error::other("not an ordinary file"));
    }
    let modified = found.modified()?.duration_since(UNIX_EPOCH).map_err(std::io::Error::other)?;
    Ok((found.len(), modified.as_nanos()))
}

/// Whether a file in a store or stripe can have this path: others in an untrusted journal are ignored.
pub(super) fn is_store_file(path: &Path) -> bool {
    let Some(text) = path.to_str() else { return false };
    let name = text.strip_prefix("in/").unwrap_or(text);
    let numbered = |begin: &str| {
        let number = name.strip_prefix(begin);
        number.is_some_and(|number| !number.is_empty() && number.chars().all(|char| char.is_ascii_digit()))
    };
    ["directory.bin", "chunks.bin", "weights.bin", "degrees.bin", "ids.bin", MIRRORS].contains(&name)
        || crate::names::FILES.contains(&name)
        || ["pages.", "weights.", MARK_PREFIX].into_iter().any(numbered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_stores_are_named() {
        let names = [
            "directory.bin",
            "in/chunks.bin",
            "ids.bin",
            "pages.0",
            "in/weights.255",
            "in/weights.bin",
            "names.bin",
            "names.index",
            "names.keys",
            ".topostream-stripe.1",
        ];
        for name in names {
            assert!(is_store_file(Path::new(name)), "{name}");
        }
        for name in
            ["graph.json", "pages.", "pages.x", "in/", "../pages.0", "in/../pages.0", "/pages.0", "in/in/pages.0"]
        {
            assert!(!is_store_file(Path::new(name)), "{name}");
        }
    }
}
