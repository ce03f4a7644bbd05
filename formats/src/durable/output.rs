//! A file of results: complete under its name, or absent.

use super::folder::{folder_of, outside_of_stores, sync_folder};
use super::lock::{Lock, lock};
use super::made::{Made, Thing, hold};
use super::tag::{is_tag, new_tag};
use crate::checksum::crc32c;
use crate::filenames::{MARK_PREFIX, mark_name};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A file that is opened before the work and appears under its name once it is complete and on disk. An older file of
/// that name stays until then. Dropped before [`persist`](Self::persist), it leaves nothing behind.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    target: Target,
}

#[derive(Debug)]
enum Target {
    /// A file under a temporary name.
    New { made: Made, temporary: PathBuf, file: File },
    /// A device or a pipe, which is written directly and never replaced.
    Special(File),
}

/// The suffix of every temporary name.
const END: &str = ".topostream";
/// The maximum number of bytes of the target's name in a temporary name; file systems allow names of 255 bytes.
const NAME_BYTES_MAX: usize = 160;

impl OutputFile {
    /// Checks that `path` can be written, and opens a file for it. Removes temporary files for the same path that
    /// killed processes have left.
    ///
    /// # Errors
    /// Errors of the system; [`ErrorKind::InvalidInput`] for a file within a store's folder, or in place of a stripe's.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::open(path.as_ref(), false)
    }

    /// A file of a store itself.
    pub(crate) fn of_store(path: &Path) -> io::Result<Self> {
        Self::open(path, true)
    }

    fn open(path: &Path, of_store: bool) -> io::Result<Self> {
        // Follows links, so that their target is replaced and not the link.
        let target_path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let target = match fs::metadata(path) {
            Ok(found) if found.is_dir() => return Err(ErrorKind::IsADirectory.into()),
            Ok(found) if !found.is_file() => Target::Special(File::options().write(true).open(path)?),
            _ => create_beside(&target_path, of_store)?,
        };
        Ok(Self { path: target_path, target })
    }

    /// Standard output, under the name `-`.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn stdout() -> io::Result<Self> {
        #[cfg(unix)]
        let file = File::from(std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned()?);
        #[cfg(windows)]
        let file = File::from(std::os::windows::io::AsHandle::as_handle(&io::stdout()).try_clone_to_owned()?);
        Ok(Self { path: "-".into(), target: Target::Special(file) })
    }

    /// The file's own name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file, for writing.
    pub fn file(&mut self) -> &mut File {
        match &mut self.target {
            Target::New { file, .. } | Target::Special(file) => file,
        }
    }

    /// Completes the file: its contents and name are then on disk.
    ///
    /// # Errors
    /// Errors of the system. Nothing is left then, unless only the last step failed, the sync of the folder.
    pub fn persist(self) -> io::Result<()> {
        let Target::New { temporary, file, made } = self.target else { return Ok(()) };
        file.sync_all()?;
        made.commit(&temporary, &self.path)?;
        match sync_folder(folder_of(&self.path)) {
            // For a folder that is writable but not readable: the name goes to disk with the file's own metadata.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => file.sync_all(),
            synced => synced,
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}

/// Creates a locked file in the folder of `path`, after removing leftovers for the same path.
fn create_beside(path: &Path, of_store: bool) -> io::Result<Target> {
    let folder = folder_of(path);
    // The system's own error, without the temporary name.
    fs::metadata(folder)?;
    if !of_store {
        outside_of_stores(folder)?;
    }
    if is_of_stripe(path) {
        let message = "is a file of a store's stripe; name another file";
        return Err(io::Error::new(ErrorKind::InvalidInput, message));
    }
    let stem = stem(path)?;
    remove_leftovers(folder, &stem);
    loop {
        let temporary = folder.join(format!("{stem}{}{END}", new_tag()));
        let made = Made::default();
        let mut list = hold();
        // Another process may have removed it as a leftover before it was locked.
        let (Some(Lock::Held(file)) | Some(Lock::Unsupported(file))) = lock(&temporary, true)? else { continue };
        made.note(&mut list, Thing::File(temporary.clone()));
        return Ok(Target::New { temporary, file, made });
    }
}

/// Whether a file is one that a stripe keeps in a folder outside of its store, or the stripe's mark.
fn is_of_stripe(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    let Some(number) = ["pages.", "weights.", MARK_PREFIX].iter().find_map(|begin| name.strip_prefix(begin)) else {
        return false;
    };
    let folder = folder_of(path);
    let around = if folder.ends_with("in") { folder.join("..") } else { folder.to_owned() };
    number.parse::<u8>().is_ok_and(|number| around.join(mark_name(number.into())).is_file())
}

/// The prefix of temporary names for `path`: a dot, its name as far as there is room, and its checksum.
fn stem(path: &Path) -> io::Result<String> {
    let name = path.file_name().ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "not the name of a file"))?;
    let text = name.to_string_lossy();
    let end = (0..=text.len().min(NAME_BYTES_MAX)).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    Ok(format!(".{}.{:08x}-", &text[..end], crc32c(name.as_encoded_bytes())))
}

/// Removes the leftovers of killed processes for the same path. Those that cannot be removed do no harm.
fn remove_leftovers(folder: &Path, stem: &str) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| name.starts_with(stem) && is_temporary(name)) {
            let path = entry.path();
            if let Ok(Some(Lock::Held(_lock))) = lock(&path, false) {
                fs::remove_file(&path).ok();
            }
        }
    }
}

/// Whether a file with this name is a temporary file of this program.
pub(crate) fn is_temporary(name: &str) -> bool {
    let Some(rest) = name.strip_prefix('.').and_then(|name| name.strip_suffix(END)) else { return false };
    let Some((_, tail)) = rest.rsplit_once('.') else { return false };
    let Some((crc, tag)) = tail.split_once('-') else { return false };
    crc.len() == 8 && crc.chars().all(|char| char.is_ascii_hexdigit()) && is_tag(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_names_are_known_and_fit() {
        for name in ["r.txt", ".hidden", "no extension", &"ü".repeat(127), &"x".repeat(255)] {
            let temporary = format!("{}{}{END}", stem(Path::new(name)).unwrap(), new_tag());
            assert!(is_temporary(&temporary) && temporary.len() <= 255, "{temporary}");
        }
        for name in
            ["r.txt", ".r.txt.topostream", ".r.00000000-.topostream", ".r.00000000-12-xyz.topostream", ".topostream"]
        {
            assert!(!is_temporary(name), "{name}");
        }
    }
}
