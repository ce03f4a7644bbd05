//! Checks that nothing is in the way of a new store. A store needs an empty folder; a stripe may share its folder with
//! other files, if none has the name of one of the stripe's files.

use crate::durable::has_store;
use crate::error::{Error, Result};
use crate::filenames::{MANIFEST, STAGING};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A folder that file systems create, allowed in the folder of a new store.
const SYSTEM: &str = "lost+found";

/// Checks that a store with these stripes can be created in `home`. `left` are the files of an unfinished store, or of
/// one to be replaced, that will be removed, with canonical paths.
pub(super) fn check(home: &Path, stripes: &[PathBuf], left: &[PathBuf]) -> Result<()> {
    let replaces = fs::canonicalize(home).is_ok_and(|home| left.contains(&home.join(MANIFEST)));
    if fs::symlink_metadata(home.join(MANIFEST)).is_ok() && !replaces {
        let home = home.display();
        return Err(Error::Invalid(format!(
            "{home}: there is a store already; remove it first, or replace it (--overwrite, if the command has it)"
        )));
    }
    outside_of_stores(home, left)?;
    only_leftovers(home, stripes, left)?;
    stripes.iter().enumerate().try_for_each(|(number, stripe)| stripe_is_free(home, stripe, number, left))
}

/// Refuses a folder within a store, such as its `in`.
fn outside_of_stores(folder: &Path, left: &[PathBuf]) -> Result<()> {
    let whole = std::path::absolute(folder).map_err(Error::io(folder, "open"))?;
    // Canonical as far as it exists.
    let existing = whole.ancestors().find(|folder| folder.exists()).unwrap_or(&whole);
    let skipped = usize::from(existing == whole);
    let existing = fs::canonicalize(existing).map_err(Error::io(folder, "open"))?;
    let is_store = |folder: &&Path| has_store(folder) && !left.contains(&folder.join(MANIFEST));
    match existing.ancestors().skip(skipped).find(is_store) {
        None => Ok(()),
        Some(store) => {
            let (folder, store) = (folder.display(), store.display());
            Err(Error::Invalid(format!("{folder}: lies inside the store {store}; name a folder outside of it")))
        }
    }
}

/// Refuses a folder with anything but leftovers of an unfinished store, and stripes.
fn only_leftovers(home: &Path, stripes: &[PathBuf], left: &[PathBuf]) -> Result<()> {
    let Some(mut foreign) = entries(home)? else { return Ok(()) };
    let whole = fs::canonicalize(home).map_err(Error::io(home, "open"))?;
    let stripes: Vec<PathBuf> = stripes.iter().filter_map(|stripe| fs::canonicalize(home.join(stripe)).ok()).collect();
    let is_ours = |name: &String| {
        let path = whole.join(name);
        let has_stripe = stripes.iter().any(|stripe| *stripe != whole && stripe.starts_with(&path));
        // A link in the store's folder that names a stripe.
        let is_stripe = || fs::canonicalize(&path).is_ok_and(|led| led != whole && stripes.contains(&led));
        name == STAGING
            || name == SYSTEM
            || left.contains(&path)
            || holds_only(&path, left)
            || has_stripe
            || is_stripe()
    };
    foreign.retain(|name| !is_ours(name));
    // An empty one has no owner: a replacement that was killed may have left it.
    if foreign == ["in"] {
        let inside = whole.join("in");
        foreign = entries(&inside)?.unwrap_or_default();
        foreign.retain(|name| !left.contains(&inside.join(name)));
        foreign.iter_mut().for_each(|name| *name = format!("in/{name}"));
    }
    if foreign.is_empty() {
        return Ok(());
    }
    foreign.sort_unstable();
    let more = foreign.len().saturating_sub(NAMES);
    let names = foreign[..foreign.len() - more].join(", ");
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let home = home.display();
    Err(Error::Invalid(format!(
        "{home}: the folder is not empty (it holds {names}{more}); a store is made in a new or empty folder"
    )))
}

/// Whether a folder holds nothing but such files, and at least one.
fn holds_only(folder: &Path, left: &[PathBuf]) -> bool {
    let is_folder = fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir());
    let names = if is_folder { entries(folder).ok().flatten().unwrap_or_default() } else { Vec::new() };
    let is_left = |path: PathBuf| left.contains(&path) || holds_only(&path, left);
    !names.is_empty() && names.iter().all(|name| is_left(folder.join(name)))
}

/// Maximum number of names in a message.
const NAMES: usize = 4;

/// The names in a folder; none if the folder does not exist.
pub(super) fn entries(folder: &Path) -> Result<Option<Vec<String>>> {
    let failed = Error::io(folder, "read the folder");
    let listed = match fs::read_dir(folder) {
        Ok(listed) => listed,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            return Err(Error::file(folder, "a folder, or nothing", "a file"));
        }
        Err(error) => return Err(failed(error)),
    };
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    listed.map(|entry| entry.map(name)).collect::<std::io::Result<_>>().map(Some).map_err(failed)
}

/// Refuses a stripe's folder that has files of the stripe's names, is or lies within a store, or has an `in` that is
/// not a folder.
fn stripe_is_free(home: &Path, stripe: &Path, number: usize, left: &[PathBuf]) -> Result<()> {
    let folder = home.join(stripe);
    let Ok(whole) = fs::canonicalize(&folder) else { return outside_of_stores(&folder, left) };
    let shown: PathBuf = folder.components().collect();
    for direction in ["", "in"] {
        for name in ["pages", "weights"] {
            let file = Path::new(direction).join(format!("{name}.{number}"));
            if fs::symlink_metadata(whole.join(&file)).is_ok() && !left.contains(&whole.join(&file)) {
                let file = shown.join(file);
                return Err(Error::Invalid(format!(
                    "{}: is in the way: a file of another store, or of an unfinished one that was moved; name another \
                     folder, or remove it",
                    file.display()
                )));
            }
        }
    }
    match fs::symlink_metadata(whole.join("in")) {
        Ok(found) if !found.is_dir() => {
            return Err(Error::file(shown.join("in"), "a folder, or nothing", "something else"));
        }
        _ => {}
    }
    if has_store(&whole) && !left.contains(&whole.join(MANIFEST)) {
        let shown = shown.display();
        return Err(Error::Invalid(format!("{shown}: is a store of its own; name another folder for the stripe")));
    }
    outside_of_stores(&folder, left)
}
