//! LDBC Graphalytics data sets: a graph, parameters of algorithms, and reference outputs.
//!
//! ```text
//!  NAME.properties        graph.NAME.algorithms = bfs, pr      graph.NAME.bfs.source-vertex = 1      …
//!  NAME.e, NAME.v         the graph
//!  NAME-BFS, NAME-PR …    reference outputs: `vertex value` a line
//! ```
//!
//! All files are in one folder, plain or compressed; or, as in the benchmark's repository, the properties are in a
//! folder `properties` and the other files in sibling folders.

use std::fs;
use std::path::{Path, PathBuf};

use crate::graphalytics_files::{Files, Validation, data_folders, property, read_properties, sibling};
use crate::packing::strip;
use topostream_formats::error::{Error, Result};

/// A data set, identified by its properties file.
#[derive(Clone, Debug)]
pub struct GraphalyticsData {
    path: PathBuf,
    name: String,
    text: String,
}

impl GraphalyticsData {
    /// The data sets at `path`, sorted by name. `path` is a properties file, its prefix, or a folder: one with
    /// properties files, one with graphs whose properties are in the sibling folder `properties`, or the parent of
    /// both. In the last two cases, only data sets whose graph exists (in `path`) are returned.
    ///
    /// # Errors
    /// If there is none, or a file cannot be read.
    pub fn find(path: &Path) -> Result<Vec<Self>> {
        if !path.is_dir() {
            let properties = if is_properties(path) { Some(path.to_owned()) } else { sibling(path, "properties") };
            let missing = || Error::file(path, "a properties file, its prefix or its folder", "no such file");
            return Ok(vec![Self::open(&properties.ok_or_else(missing)?)?]);
        }
        let here = Self::all_in(path)?;
        if !here.is_empty() {
            return Ok(here);
        }
        let mut found = Self::all_in(&path.join("properties"))?;
        found.retain(Self::has_graph);
        if found.is_empty() {
            let here = path.canonicalize().map_err(Error::io(path, "open"))?;
            found = Self::all_in(&here.join("../properties"))?;
            let is_here = |data: &Self| {
                let edges = Files::find(&data.path).ok().and_then(|files| files.edges.canonicalize().ok());
                edges.is_some_and(|edges| edges.starts_with(&here))
            };
            found.retain(is_here);
        }
        if found.is_empty() {
            return Err(Error::file(path, "the .properties file of a Graphalytics data set, and its graph", "none"));
        }
        Ok(found)
    }

    /// Reads a properties file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn open(path: &Path) -> Result<Self> {
        let name = strip(path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { path: path.to_owned(), name, text: read_properties(path)? })
    }

    /// All data sets of a folder, sorted by name; none if the folder does not exist.
    fn all_in(folder: &Path) -> Result<Vec<Self>> {
        let mut paths = Vec::new();
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.map_err(Error::io(folder, "read"))?.path();
            if is_properties(&path) {
                paths.push(path);
            }
        }
        paths.sort();
        paths.iter().map(|path| Self::open(path)).collect()
    }

    /// The properties file, by which [`open`](crate::open) reads the graph.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The data set's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The value of `graph.NAME.key`.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.text.lines().find_map(|line| property(line, key))
    }

    /// The value of a required key, parsed.
    ///
    /// # Errors
    /// If the key is missing, or its value is not `expected`.
    pub fn parameter<T: std::str::FromStr>(&self, key: &str, expected: &str) -> Result<T> {
        let wrong = |found: &str| Error::file(&self.path, format!("graph.{}.{key} = {expected}", self.name), found);
        let value = self.value(key).ok_or_else(|| wrong("no such line"))?;
        value.parse().map_err(|_| wrong(value))
    }

    /// The algorithms to run, by their names in the file: bfs, cdlp, lcc, pr, sssp, wcc.
    pub fn algorithms(&self) -> Vec<String> {
        let names = self.value("algorithms").unwrap_or_default().split(',');
        names.map(|name| name.trim().to_ascii_lowercase()).filter(|name| !name.is_empty()).collect()
    }

    /// Whether the graph's files exist.
    pub fn has_graph(&self) -> bool {
        Files::find(&self.path).is_ok_and(|files| files.edges.is_file())
    }

    /// The file with the reference output of an algorithm, if there is one.
    pub fn reference(&self, algorithm: &str) -> Option<PathBuf> {
        let name = format!("{}-{}", self.name, algorithm.to_ascii_uppercase());
        let validation = Validation::of(&self.name).filter(|validation| validation.algorithm == algorithm);
        let folders = data_folders(&self.path);
        let mut found = folders.iter().filter_map(|folder| sibling(&folder.join(&name), ""));
        found.next().or_else(|| validation.and_then(|validation| validation.file(&self.path, "output", "")))
    }
}

/// Whether a file has the name of a properties file.
fn is_properties(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "properties")
}
