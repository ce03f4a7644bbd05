//! What a store may lead to: a manifest names folders, and links lead anywhere, so that a store from a stranger could
//! have any file of this machine opened.
//!
//! Every file of a store must be an ordinary file and lie, links followed, in one of these places:
//!
//! - the store's own folder;
//! - a stripe's folder with a *mark*, a small file that whoever formatted the store has written there. It repeats the
//!   store's tag, so that no manifest can claim a folder which was not made for its store;
//! - a folder that the user has allowed ([`OpenOptions::allow_stripe`]), or one below it.

use crate::error::{Error, Result};
use crate::manifest::{MANIFEST, Manifest};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// More than a manifest can need: 256 stripes with the longest names.
const MANIFEST_BYTES_MAX: u64 = 16 << 20;

/// How a store is opened.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    allowed: Vec<PathBuf>,
    memory_bytes: Option<u64>,
}

impl OpenOptions {
    /// Allows stripes of stores in a folder, and in folders below it, that do not carry the store's mark: those of
    /// stores that were made by version 0.1.0, and copies without it.
    #[must_use]
    pub fn allow_stripe(mut self, folder: impl Into<PathBuf>) -> Self {
        self.allowed.push(folder.into());
        self
    }

    /// The most memory that page directories may take; without it, as much as there is.
    #[must_use]
    pub fn memory_bytes(mut self, bytes: u64) -> Self {
        self.memory_bytes = Some(bytes);
        self
    }
}

/// Reads the bytes of a store's manifest, which must be an ordinary file of sensible length.
pub(crate) fn read_manifest(store: &Path) -> Result<Vec<u8>> {
    let path = store.join(MANIFEST);
    let found = std::fs::metadata(&path).map_err(|source| match source.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Error::Invalid(format!(
            "{}: not a graph store (it has no {MANIFEST}); make one with `topostream format`",
            store.display()
        )),
        _ => Error::io(&path, "read")(source),
    })?;
    if !found.is_file() || found.len() > MANIFEST_BYTES_MAX {
        let found = if found.is_file() { format!("{} bytes", found.len()) } else { "no ordinary file".into() };
        return Err(Error::file(&path, format!("a manifest of at most {MANIFEST_BYTES_MAX} bytes"), found));
    }
    let (mut bytes, file) = (Vec::new(), File::open(&path).map_err(Error::io(&path, "read"))?);
    file.take(MANIFEST_BYTES_MAX).read_to_end(&mut bytes).map_err(Error::io(&path, "read"))?;
    Ok(bytes)
}

/// Where files of a store may lie.
pub(crate) struct Places {
    /// Without links.
    folders: Vec<PathBuf>,
    memory_bytes: Option<u64>,
}

impl Places {
    /// The places of a store, once the folders of its stripes have been looked at.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the stripe that is in none of them, and what would allow it.
    pub fn of(store: &Path, manifest: &Manifest, options: &OpenOptions) -> Result<Self> {
        let own = std::fs::canonicalize(store).map_err(Error::io(store, "open"))?;
        // What is allowed and not there cannot be where a file lies.
        let allowed = options.allowed.iter().filter_map(|folder| std::fs::canonicalize(folder).ok());
        let mut places =
            Self { folders: std::iter::once(own).chain(allowed).collect(), memory_bytes: options.memory_bytes };
        let mut strange: Vec<(PathBuf, PathBuf)> = Vec::new();
        for (number, stripe) in manifest.stripes.iter().enumerate() {
            let path = store.join(stripe);
            // A folder that is missing is reported with what should be in it.
            let Ok(folder) = std::fs::canonicalize(&path) else { continue };
            if places.has(&folder) {
                continue;
            }
            match is_marked(&folder, number, manifest.tag) {
                true => places.folders.push(folder),
                false => strange.push((path.components().collect(), mark_name(number).into())),
            }
        }
        if strange.is_empty() { Ok(places) } else { Err(refusal(store, &strange)) }
    }

    fn has(&self, path: &Path) -> bool {
        self.folders.iter().any(|folder| path.starts_with(folder))
    }

    /// Whether a file lies where it may, links followed, and is an ordinary one. A file that is not there passes:
    /// whoever opens it says what is missing.
    ///
    /// # Errors
    /// [`Error::Invalid`] with where it leads.
    pub fn check(&self, file: &Path) -> Result<()> {
        let Ok(real) = std::fs::canonicalize(file) else { return Ok(()) };
        if !self.has(&real) {
            let folder = real.parent().unwrap_or(&real).display();
            return Err(Error::Invalid(format!(
                "{}: leads to {}, outside of the store; if you trust it, allow that folder: --allow-stripe {folder}",
                file.display(),
                real.display(),
            )));
        }
        match std::fs::metadata(&real) {
            Ok(found) if !found.is_file() => Err(Error::file(file, "an ordinary file", "something else")),
            _ => Ok(()),
        }
    }

    /// Whether a page directory of so many bytes may be read.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn check_directory(&self, file: &Path, bytes: u64) -> Result<()> {
        match self.memory_bytes {
            Some(budget_bytes) if bytes > budget_bytes => Err(Error::Memory {
                what: file.display().to_string(),
                needed_bytes: bytes,
                budget_bytes,
                parts: "36 bytes a page".into(),
            }),
            _ => Ok(()),
        }
    }
}

/// Names the folders of stripes that may not be used, each with the mark that it lacks.
fn refusal(store: &Path, strange: &[(PathBuf, PathBuf)]) -> Error {
    let folders = strange.iter().map(|(folder, mark)| format!("{} (no {})", folder.display(), mark.display()));
    let options = strange.iter().map(|(folder, _)| format!("--allow-stripe {}", folder.display()));
    Error::Invalid(format!(
        "{}: the manifest has stripes outside of the store's folder, without the mark of this store in them: {}; if \
         you trust them, allow them: {}",
        store.join(MANIFEST).display(),
        folders.collect::<Vec<_>>().join(", "),
        options.collect::<Vec<_>>().join(" "),
    ))
}

/// What the name of a stripe's mark begins with, before the stripe's number.
pub(crate) const MARK_PREFIX: &str = ".topostream-stripe.";

/// The name of a stripe's mark, in the stripe's folder.
fn mark_name(stripe: usize) -> String {
    format!("{MARK_PREFIX}{stripe}")
}

/// The mark: what SPEC.md, section 10 says.
fn mark_text(stripe: usize, tag: u32) -> String {
    format!("topostream stripe {stripe} of the store with tag {tag:08x}\n")
}

fn is_marked(folder: &Path, stripe: usize, tag: u32) -> bool {
    let (path, expected) = (folder.join(mark_name(stripe)), mark_text(stripe, tag));
    // Whatever else lies there under that name is not read: a pipe would be waited for.
    if !std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_file() && found.len() == expected.len() as u64) {
        return false;
    }
    std::fs::read(&path).is_ok_and(|found| found == expected.as_bytes())
}

/// The marks of stripes that are not in the store's own folder: stripe, file name, contents.
///
/// # Errors
/// [`Error::Io`] where a folder cannot be opened.
pub(crate) fn stripe_marks(store: &Path, stripes: &[PathBuf], tag: u32) -> Result<Vec<(usize, String, String)>> {
    let own = std::fs::canonicalize(store).map_err(Error::io(store, "open"))?;
    let mut marks = Vec::new();
    for (number, stripe) in stripes.iter().enumerate() {
        let folder = store.join(stripe);
        if !std::fs::canonicalize(&folder).map_err(Error::io(&folder, "open"))?.starts_with(&own) {
            marks.push((number, mark_name(number), mark_text(number, tag)));
        }
    }
    Ok(marks)
}
