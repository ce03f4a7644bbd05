//! Which files make up a Graphalytics graph, and what its properties file says.

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::packing::{PACKED_EXTENSIONS, strip};
use crate::edge::WeightType;
use crate::error::{Error, Result};

/// A properties file of a graph is a few kilobytes; one of a megabyte is something else.
const PROPERTIES_BYTES_MAX: u64 = 1 << 20;

/// The files of a graph.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) edges: PathBuf,
    pub(super) vertices: Option<PathBuf>,
    pub(super) properties: Option<Properties>,
}

impl Files {
    /// Finds the files of the graph that `path` stands for: one of them, their directory or their prefix.
    pub(super) fn find(path: &Path) -> Result<Self> {
        if path.is_dir() {
            return Self::find(&only_graph(path)?);
        }
        let plain = strip(path);
        let is = |wanted: &str| plain.extension().is_some_and(|extension| extension == wanted);
        if is("properties") {
            return Self::from_properties(path);
        }
        let stem = if is("e") || is("v") { plain.with_extension("") } else { path.to_owned() };
        if let Some(properties) = sibling(&stem, "properties") {
            return Self::from_properties(&properties);
        }
        let edges = if is("e") { Some(path.to_owned()) } else { sibling(&stem, "e") };
        let edges = match edges {
            Some(edges) => edges,
            None if path.exists() && !is("v") => path.to_owned(),
            None => {
                let expected = format!("{0}.properties or {0}.e", stem.display());
                return Err(Error::file(path, expected, "neither"));
            }
        };
        Ok(Self { edges, vertices: sibling(&stem, "v"), properties: None })
    }

    fn from_properties(path: &Path) -> Result<Self> {
        let mut text = Vec::new();
        let file = fs::File::open(path).map_err(Error::io(path, "open"))?;
        file.take(PROPERTIES_BYTES_MAX).read_to_end(&mut text).map_err(Error::io(path, "read"))?;
        let text = String::from_utf8_lossy(&text);
        let value = |name: &str| text.lines().find_map(|line| property(line, name));
        let missing = |name: &str| Error::file(path, format!("a line graph.NAME.{name} = …"), "none");
        let folder = path.parent().unwrap_or(Path::new(""));
        let edges = value("edge-file").ok_or_else(|| missing("edge-file"))?;
        let directed = match value("directed") {
            Some("true") => true,
            Some("false") => false,
            Some(other) => return Err(Error::file(path, "graph.NAME.directed = true or false", other)),
            None => return Err(missing("directed")),
        };
        let types: Vec<&str> = value("edge-properties.types").unwrap_or("").split(',').map(str::trim).collect();
        let weight = match types[0] {
            "" => None,
            "real" => Some(WeightType::F32),
            "integer" => Some(WeightType::U32),
            other => return Err(Error::file(path, "edge-properties.types = real or integer", other)),
        };
        let edge_properties = if weight.is_some() { types.len() } else { 0 };
        Ok(Self {
            edges: folder.join(edges),
            vertices: value("vertex-file").map(|name| folder.join(name)),
            properties: Some(Properties { path: path.to_owned(), directed, edge_properties, weight }),
        })
    }
}

/// What a properties file says of its graph.
#[derive(Debug)]
pub(super) struct Properties {
    pub(super) path: PathBuf,
    pub(super) directed: bool,
    /// How many columns follow source and dest.
    pub(super) edge_properties: usize,
    /// The type of the first of them.
    pub(super) weight: Option<WeightType>,
}

/// The value of `graph.NAME.name` if `line` gives it, whatever NAME is.
fn property<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (key, value) = line.split_once('=')?;
    let graph = key.trim().strip_prefix("graph.")?.strip_suffix(name)?;
    graph.ends_with('.').then(|| value.trim())
}

/// True where `path` is the prefix of a graph's files.
pub(super) fn is_prefix(path: &Path) -> bool {
    !path.exists() && (sibling(path, "properties").is_some() || sibling(path, "e").is_some())
}

/// The file `stem.extension` if it exists, plain or compressed.
fn sibling(stem: &Path, extension: &str) -> Option<PathBuf> {
    let with = |suffix: &str| {
        let mut name = OsString::from(stem);
        name.push(".");
        name.push(suffix);
        PathBuf::from(name)
    };
    let plain = with(extension);
    if plain.is_file() {
        return Some(plain);
    }
    PACKED_EXTENSIONS.iter().map(|packed| with(&format!("{extension}.{packed}"))).find(|path| path.is_file())
}

/// The one properties file of a directory, or else its one edge file.
fn only_graph(folder: &Path) -> Result<PathBuf> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::io(folder, "read"))? {
        paths.push(entry.map_err(Error::io(folder, "read"))?.path());
    }
    paths.sort();
    for wanted in ["properties", "e"] {
        let mut found = paths.iter().filter(|path| strip(path).extension().is_some_and(|name| name == wanted));
        match (found.next(), found.next()) {
            (Some(path), None) => return Ok(path.clone()),
            (Some(first), Some(second)) => {
                let found = format!("several, among them {} and {}", first.display(), second.display());
                return Err(Error::file(folder, format!("one .{wanted} file"), found));
            }
            _ => {}
        }
    }
    Err(Error::file(folder, "a .properties or .e file", "neither"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_of_any_graph_name() {
        let line = "graph.datagen-7.5.fb.edge-file = a = b.e ";
        assert_eq!(property(line, "edge-file"), Some("a = b.e"));
        assert_eq!(property("graph.x.my-edge-file = y", "edge-file"), None);
        assert_eq!(property("# graph.x.edge-file = y", "edge-file"), None);
    }
}
