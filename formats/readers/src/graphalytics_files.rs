//! The files of a Graphalytics graph, and its properties.

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use crate::packing::{PACKED_EXTENSIONS, strip};
use topostream_formats::edge::WeightType;
use topostream_formats::error::{Error, Result};

/// Maximum size of a properties file; real ones have a few kilobytes.
const PROPERTIES_BYTES_MAX: u64 = 1 << 20;

/// The files of a graph.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) edges: PathBuf,
    pub(super) vertices: Option<PathBuf>,
    pub(super) properties: Option<Properties>,
    /// Whether `edges` holds neighbour lists, `vertex n1 n2 …` a line, and so the vertices too.
    pub(super) lists: bool,
}

impl Files {
    /// Finds the files of a graph. `path` is one of them, their directory or their prefix.
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
        Ok(Self { edges, vertices: sibling(&stem, "v"), properties: None, lists: false })
    }

    /// Only a file of edges.
    pub(super) fn only_edges(path: &Path) -> Self {
        Self { edges: path.to_owned(), vertices: None, properties: None, lists: false }
    }

    fn from_properties(path: &Path) -> Result<Self> {
        let text = read_properties(path)?;
        let value = |name: &str| text.lines().find_map(|line| property(line, name));
        let missing = |name: &str| Error::file(path, format!("a line graph.NAME.{name} = …"), "none");
        let edges = value("edge-file").ok_or_else(|| missing("edge-file"))?;
        check_beside(path, "edge-file", edges)?;
        value("vertex-file").map_or(Ok(()), |name| check_beside(path, "vertex-file", name))?;
        let directed = match value("directed") {
            Some("true") => true,
            Some("false") => false,
            Some(other) => return Err(Error::file(path, "graph.NAME.directed = true or false", other)),
            None => return Err(missing("directed")),
        };
        let types: Vec<&str> = value("edge-properties.types").unwrap_or("").split(',').map(str::trim).collect();
        let place = weight_place(path, &value)?;
        let weight = match types.get(place).copied().unwrap_or("") {
            "" if place == 0 => None,
            "real" => Some(WeightType::F32),
            "integer" => Some(WeightType::U32),
            other => return Err(Error::file(path, "edge-properties.types = real or integer", other)),
        };
        let edge_properties = if weight.is_some() { types.len() } else { 0 };
        let properties = Some(Properties { path: path.to_owned(), directed, edge_properties, weight, place });
        let (edges, vertices) = (Path::new(edges), value("vertex-file"));
        let folders = data_folders(path);
        if let Some(edges) = folders.iter().find_map(|folder| packed(&folder.join(edges))) {
            let vertices = vertices.map(|name| {
                let beside = edges.with_file_name(name);
                packed(&beside).unwrap_or(beside)
            });
            return Ok(Self { edges, vertices, properties, lists: false });
        }
        if let Some(validation) = path.file_stem().and_then(|name| Validation::of(name.to_str()?)) {
            if let Some(edges) = validation.file(path, "input", "e") {
                return Ok(Self { edges, vertices: validation.file(path, "input", "v"), properties, lists: false });
            }
            if let Some(edges) = validation.file(path, "input", "") {
                return Ok(Self { edges, vertices: None, properties, lists: true });
            }
        }
        // A missing file is reported when it is opened.
        let vertices = vertices.map(|name| folders[0].join(name));
        Ok(Self { edges: folders[0].join(edges), vertices, properties, lists: false })
    }
}

/// An error for a name that is empty or leads out of the properties file's folder: an untrusted file must not open
/// arbitrary other files.
fn check_beside(properties: &Path, key: &str, name: &str) -> Result<()> {
    let mut parts = Path::new(name).components();
    if !name.is_empty() && parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Ok(());
    }
    let expected = format!("graph.NAME.{key} = the name of a file in the same folder, or in one below it");
    Err(Error::file(properties, expected, if name.is_empty() { "no name" } else { name }))
}

/// The properties of a graph.
#[derive(Debug)]
pub(super) struct Properties {
    pub(super) path: PathBuf,
    pub(super) directed: bool,
    /// The number of columns after source and dest.
    pub(super) edge_properties: usize,
    /// The type of the weight column, if there is one.
    pub(super) weight: Option<WeightType>,
    /// The weight's position among these columns, from 0.
    pub(super) place: usize,
}

/// The text of a properties file.
pub(super) fn read_properties(path: &Path) -> Result<String> {
    let mut text = Vec::new();
    // The file is read twice, so a pipe would be empty the second time, and opening it could block.
    if !fs::metadata(path).map_err(Error::io(path, "open"))?.is_file() {
        return Err(Error::file(path, "a regular file of properties", "something else"));
    }
    let file = fs::File::open(path).map_err(Error::io(path, "open"))?;
    file.take(PROPERTIES_BYTES_MAX).read_to_end(&mut text).map_err(Error::io(path, "read"))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The position of the weight among the edge properties: `sssp.weight-property` names it; by default it is the first.
fn weight_place<'a>(path: &Path, value: &impl Fn(&str) -> Option<&'a str>) -> Result<usize> {
    let (Some(wanted), Some(names)) = (value("sssp.weight-property"), value("edge-properties.names")) else {
        return Ok(0);
    };
    let place = names.split(',').position(|name| name.trim() == wanted);
    place.ok_or_else(|| Error::file(path, format!("edge-properties.names with the weight-property {wanted}"), names))
}

/// The folders that may contain the files of a data set: the folder of its properties file and, if that is named
/// `properties`, its siblings.
pub(super) fn data_folders(properties: &Path) -> Vec<PathBuf> {
    let own = properties.parent().unwrap_or(Path::new(""));
    let mut folders = Vec::new();
    let named = own.canonicalize().is_ok_and(|own| own.file_name().is_some_and(|name| name == "properties"));
    for entry in fs::read_dir(own.join("..")).into_iter().flatten().flatten().filter(|_| named) {
        folders.push(own.join("..").join(entry.file_name()));
    }
    folders.retain(|folder| folder.is_dir());
    folders.sort();
    folders.insert(0, own.to_owned());
    folders
}

/// A validation graph of the benchmark: `test-bfs-directed` consists of `dir-input` and `dir-output`, in the folder of
/// the properties file or in its sibling `bfs`.
pub(super) struct Validation<'a> {
    pub(super) algorithm: &'a str,
    prefix: &'static str,
}

impl<'a> Validation<'a> {
    /// The validation graph with a name.
    pub(super) fn of(name: &'a str) -> Option<Self> {
        let (algorithm, kind) = name.strip_prefix("test-")?.rsplit_once('-')?;
        let prefix = match kind {
            "directed" => "dir",
            "undirected" => "undir",
            _ => return None,
        };
        Some(Self { algorithm, prefix })
    }

    /// Its `input` or `output` file.
    pub(super) fn file(&self, properties: &Path, kind: &str, extension: &str) -> Option<PathBuf> {
        let own = properties.parent().unwrap_or(Path::new(""));
        let folders = [own.to_owned(), own.join("..").join(self.algorithm)];
        folders.iter().find_map(|folder| sibling(&folder.join(format!("{}-{kind}", self.prefix)), extension))
    }
}

/// The value of `graph.NAME.name` if `line` sets it, for any NAME.
pub(super) fn property<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (key, value) = line.split_once('=')?;
    let graph = key.trim().strip_prefix("graph.")?.strip_suffix(name)?;
    graph.ends_with('.').then(|| value.trim())
}

/// Whether `path` is the prefix of a graph's files.
pub(super) fn is_prefix(path: &Path) -> bool {
    !path.exists() && (sibling(path, "properties").is_some() || sibling(path, "e").is_some())
}

/// The file `stem.extension` (`stem` if the extension is empty) if it exists, plain or compressed.
pub(super) fn sibling(stem: &Path, extension: &str) -> Option<PathBuf> {
    packed(&if extension.is_empty() { stem.to_owned() } else { with_extension(stem, extension) })
}

/// The file if it exists, plain or compressed.
fn packed(plain: &Path) -> Option<PathBuf> {
    let packed = PACKED_EXTENSIONS.iter().map(|packed| with_extension(plain, packed));
    std::iter::once(plain.to_owned()).chain(packed).find(|path| path.is_file())
}

/// The path with an extension appended.
fn with_extension(path: &Path, extension: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".");
    name.push(extension);
    PathBuf::from(name)
}

/// The only properties file of a directory or, if it has none, its only edge file.
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
