//! LDBC Graphalytics data sets: a graph, the parameters of the algorithms that are run on it, and what they are to come
//! to.
//!
//! ```text
//!  NAME.properties        graph.NAME.algorithms = bfs, pr      graph.NAME.bfs.source-vertex = 1      …
//!  NAME.e, NAME.v         the graph
//!  NAME-BFS, NAME-PR …    reference outputs: `vertex value` a line
//! ```
//!
//! All in one folder, plain or compressed; or, as in the benchmark's own repository, properties in a folder
//! `properties` and the rest in folders beside it.

use std::fs;
use std::path::{Path, PathBuf};

use super::graphalytics_files::{Files, Validation, data_folders, property, read_properties, sibling};
use super::packing::strip;
use crate::error::{Error, Result};

/// A data set, by its properties file.
#[derive(Clone, Debug)]
pub struct GraphalyticsData {
    path: PathBuf,
    name: String,
    text: String,
}

impl GraphalyticsData {
    /// The data sets that `path` stands for, by name: a properties file, the prefix of one, or a folder with some. In a
    /// folder with files of data sets whose properties lie in the folder `properties` beside it, those; in the folder
    /// above these, all whose graphs are there.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
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

    /// All of a folder, by name; none where there is no such folder.
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

    /// The properties file: [`open`](super::open) reads the graph by it.
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

    /// The value of a key that has to be there, read as its type.
    ///
    /// # Errors
    /// If the key is missing, or its value is not `expected`; by file.
    pub fn parameter<T: std::str::FromStr>(&self, key: &str, expected: &str) -> Result<T> {
        let wrong = |found: &str| Error::file(&self.path, format!("graph.{}.{key} = {expected}", self.name), found);
        let value = self.value(key).ok_or_else(|| wrong("no such line"))?;
        value.parse().map_err(|_| wrong(value))
    }

    /// The algorithms that are run on it, as the file calls them: bfs, cdlp, lcc, pr, sssp, wcc.
    pub fn algorithms(&self) -> Vec<String> {
        let names = self.value("algorithms").unwrap_or_default().split(',');
        names.map(|name| name.trim().to_ascii_lowercase()).filter(|name| !name.is_empty()).collect()
    }

    /// Whether its graph is there too.
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

/// A properties file by its name.
fn is_properties(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "properties")
}
