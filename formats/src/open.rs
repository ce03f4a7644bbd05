//! Restricts the files that a store may refer to: a manifest names folders and links lead anywhere, so an untrusted
//! store could make the program open any file of the machine.
//!
//! Every file of a store must be a regular file and lie, with links resolved, in one of these places:
//!
//! - the store's own folder;
//! - a stripe's folder with a *mark*, a small file written there when the store was formatted. It repeats the store's
//!   tag, so no manifest can claim a folder that was not made for its store;
//! - a folder that the user has allowed ([`OpenOptions::allow_stripe`]), or one below it.

use crate::durable::{open_ordinary, read_own};
use crate::error::{Error, Result};
use crate::filenames::{MANIFEST, mark_name};
use crate::manifest::Manifest;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// More than any manifest needs: 256 stripes with the longest names.
const MANIFEST_BYTES_MAX: u64 = 16 << 20;

/// Options for opening a store.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    allowed: Vec<PathBuf>,
    memory_bytes: Option<u64>,
    parts: bool,
}

impl OpenOptions {
    /// Allows stripes in a folder, and in folders below it, that lack the store's mark: stripes of stores made by
    /// version 0.1.0, and copies without the mark.
    #[must_use]
    pub fn allow_stripe(mut self, folder: impl Into<PathBuf>) -> Self {
        self.allowed.push(folder.into());
        self
    }

    /// Limits the memory of page directories; without it there is no limit.
    #[must_use]
    pub fn memory_bytes(mut self, bytes: u64) -> Self {
        self.memory_bytes = Some(bytes);
        self
    }

    /// Opens parts of graphs, too: for programs that know what they have. Without it, one of several parts is refused,
    /// as it would pass for a graph of its own.
    #[must_use]
    pub fn with_parts(mut self) -> Self {
        self.parts = true;
        self
    }

    /// Checks that a store is not one of several parts, unless parts are opened.
    ///
    /// # Errors
    /// [`Error::Invalid`].
    pub(crate) fn check_part(&self, store: &Path, manifest: &Manifest) -> Result<()> {
        match &manifest.part {
            Some(part) if part.count() > 1 && !self.parts => Err(Error::Invalid(format!(
                "{}: {} of a graph, which one process cannot use alone: a run on the graph takes all parts, each by a \
                 rank of its own (docs/clusters.md); `topostream info` describes a part and `topostream verify` checks \
                 it",
                store.display(),
                part.place(),
            ))),
            _ => Ok(()),
        }
    }
}

/// Reads the bytes of a store's manifest, which must be a regular file of reasonable length.
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
    let (mut bytes, file) = (Vec::new(), open_ordinary(&path).map_err(Error::io(&path, "read"))?);
    file.take(MANIFEST_BYTES_MAX).read_to_end(&mut bytes).map_err(Error::io(&path, "read"))?;
    Ok(bytes)
}

/// The places where files of a store may be.
pub(crate) struct Places {
    /// With links resolved.
    folders: Vec<PathBuf>,
    memory_bytes: Option<u64>,
}

impl Places {
    /// Returns the places of a store, after examining the folders of its stripes.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the stripe that is in none of them, and the option that would allow it.
    pub fn of(store: &Path, manifest: &Manifest, options: &OpenOptions) -> Result<Self> {
        let own = std::fs::canonicalize(store).map_err(Error::io(store, "open"))?;
        // An allowed folder that does not exist cannot contain a file.
        let allowed = options.allowed.iter().filter_map(|folder| std::fs::canonicalize(folder).ok());
        let mut places =
            Self { folders: std::iter::once(own).chain(allowed).collect(), memory_bytes: options.memory_bytes };
        let mut strange: Vec<(PathBuf, PathBuf)> = Vec::new();
        for (number, stripe) in manifest.stripes.iter().enumerate() {
            let path = store.join(stripe);
            // A missing folder is reported later, with the file expected in it.
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

    /// Checks that a file, with links resolved, is in an allowed place and is a regular file. A missing file passes:
    /// opening it reports the error.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the target.
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

    /// Checks whether a page directory of this many bytes may be read.
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

/// The contents of the mark: see SPEC.md, section 10.
fn mark_text(stripe: usize, tag: u32) -> String {
    format!("topostream stripe {stripe} of the store with tag {tag:08x}\n")
}

/// Whether a folder has the mark of a store's stripe.
pub(crate) fn is_marked(folder: &Path, stripe: usize, tag: u32) -> bool {
    let (path, expected) = (folder.join(mark_name(stripe)), mark_text(stripe, tag));
    read_own(&path, expected.len() as u64).is_ok_and(|found| found == expected.as_bytes())
}

/// Returns the marks of stripes outside of the store's own folder: stripe, file name, contents.
///
/// # Errors
/// [`Error::Io`] if a folder cannot be opened.
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
