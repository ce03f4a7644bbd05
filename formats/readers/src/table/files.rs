//! Files, folders and patterns as one input.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::graphalytics_files::is_prefix;
use crate::kind::Kind;
use crate::packing::strip;
use topostream_formats::error::{Error, Result};

/// The folders in folders that are searched.
const DEPTH_MAX: usize = 16;

/// The files of an input: each argument is a file, a folder whose files with a known extension are read, or a pattern
/// such as `part-*.parquet`. Files of folders and patterns come in the order of their names.
///
/// # Errors
/// If a folder or a pattern has no such files; if a folder cannot be read.
pub fn input_files(arguments: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for argument in arguments {
        let is_graphalytics = argument.is_dir() && has_properties(argument) || is_prefix(argument);
        if argument.is_dir() && !is_graphalytics {
            let before = files.len();
            collect(argument, DEPTH_MAX, &mut files)?;
            if files.len() == before {
                return Err(Error::file(argument, "a folder with files of known kinds", "none"));
            }
        } else if !argument.exists() && argument.to_str().is_some_and(|text| text.contains(['*', '?', '['])) {
            let pattern = argument.to_str().unwrap_or_default();
            let paths = glob::glob(pattern).map_err(|error| Error::Invalid(format!("{pattern}: {error}")))?;
            let before = files.len();
            for path in paths {
                let path = path.map_err(|error| {
                    let path = error.path().to_owned();
                    Error::io(&path, "list")(error.into())
                })?;
                files.extend(path.is_file().then_some(path));
            }
            if files.len() == before {
                return Err(Error::file(argument, "a pattern that files match", "none"));
            }
        } else {
            files.push(argument.clone());
        }
    }
    Ok(files)
}

/// Whether a folder is a Graphalytics data set.
fn has_properties(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| path.extension() == Some(OsStr::new("properties")))
}

/// Adds the files below a folder, by name; not those that begin with `.` or `_`, as the marks of other programs do.
fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries = std::fs::read_dir(folder).map_err(Error::io(folder, "list"))?;
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.map_err(Error::io(folder, "list"))?.path());
    }
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with(['.', '_']) {
            continue;
        }
        let extension = strip(&path).extension().and_then(OsStr::to_str).map(str::to_owned);
        if path.is_dir() && depth > 0 {
            collect(&path, depth - 1, files)?;
        } else if path.is_file() && extension.is_some_and(|extension| Kind::of_extension(&extension).is_some()) {
            files.push(path);
        }
    }
    Ok(())
}
