//! Contents of folders.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// All files and folders below a folder, by relative path; with the lengths of files.
pub type Listing = BTreeMap<PathBuf, Option<u64>>;

pub fn listing(folder: &Path) -> Listing {
    let mut found = Listing::new();
    collect(folder, folder, &mut found);
    found
}

fn collect(root: &Path, folder: &Path, found: &mut Listing) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(data) = fs::symlink_metadata(&path) else { continue };
        let name = path.strip_prefix(root).expect("it lies below").to_owned();
        found.insert(name, (!data.is_dir()).then_some(data.len()));
        if data.is_dir() {
            collect(root, &path, found);
        }
    }
}

/// How a listing differs from the expected one; `None` if it does not. Lengths of manifests are ignored: tags and
/// checksums have more or fewer digits.
pub fn difference(found: &Listing, expected: &Listing) -> Option<String> {
    let more = found.keys().filter(|path| !expected.contains_key(*path)).map(|path| format!("+{}", path.display()));
    let less = expected.keys().filter(|path| !found.contains_key(*path)).map(|path| format!("-{}", path.display()));
    let other = found.iter().filter(|(path, _)| !path.ends_with("graph.json"));
    let other = other.filter(|(path, length)| expected.get(*path).is_some_and(|expected| expected != *length));
    let other = other.map(|(path, length)| format!("{}: {length:?} bytes", path.display()));
    let all: Vec<String> = more.chain(less).chain(other).take(8).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// Copies a folder recursively.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder is made");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let to = to.join(path.file_name().expect("entries have names"));
        match path.is_dir() {
            true => copy(&path, &to),
            false => drop(fs::copy(&path, &to).expect("a file is copied")),
        }
    }
}
