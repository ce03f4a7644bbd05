//! The readers of edge-list formats, from outside: canonical files, malformed files, real files.
//!
//! The canonical graph has 6 vertices. Out-degree 0: vertices 3 and 5; isolated: 5; self-loop: 4; cycle: 0 → 2 → 0.

mod archives;
mod data_sets;
mod dialects;
mod errors;
mod graphml;
mod headers;
mod hostile;
mod kinds;
#[cfg(feature = "parquet")]
mod long_names;
mod order;
mod packed;
mod pajek_and_dimacs;
mod pipes;
mod real;
mod refused;
mod round_trip;
#[cfg(feature = "parquet")]
mod spool;
#[cfg(feature = "parquet")]
mod tables;
mod weights;
mod writer;

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use topostream_formats::edge::CHUNK_EDGES;
use topostream_formats::{Edge, Error, Rounding, SourceInfo};
use topostream_readers::{self as readers, Kind, Options, WeightsOption};

/// The canonical graph: source, dest, weight.
const CANONICAL: [(u64, u64, u64); 6] = [(0, 1, 5), (0, 2, 3), (1, 2, 9), (2, 0, 7), (2, 3, 1), (4, 4, 2)];

/// The maximum memory of decompressors, besides that of a reader that opens its file three times.
const UNPACKING_BYTES_MAX: u64 = 3 * (130 << 20);

/// Everything that a source returns.
#[derive(Debug)]
struct Graph {
    info: SourceInfo,
    edges: Vec<Edge>,
    extra: Vec<u64>,
    rounding: Rounding,
}

impl Graph {
    fn triples(&self) -> Vec<(u64, u64, u64)> {
        self.edges.iter().map(|edge| (edge.source, edge.dest, edge.weight)).collect()
    }

    fn pairs(&self) -> Vec<(u64, u64)> {
        self.edges.iter().map(|edge| (edge.source, edge.dest)).collect()
    }
}

/// A folder with one file in it.
struct Sample {
    folder: TempDir,
    path: PathBuf,
}

impl Sample {
    fn new(name: &str, contents: impl AsRef<[u8]>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, contents).unwrap();
        Self { folder, path }
    }

    /// Adds a file to the folder.
    fn and(self, name: &str, contents: &str) -> Self {
        fs::write(self.folder.path().join(name), contents).unwrap();
        self
    }

    fn read(&self) -> Result<Graph, Error> {
        read(&self.path, &Options::default())
    }

    fn read_as(&self, kind: Kind) -> Result<Graph, Error> {
        read(&self.path, &Options { kind: Some(kind), ..Options::default() })
    }

    fn read_with_weights(&self, weights: WeightsOption) -> Result<Graph, Error> {
        read(&self.path, &Options { weights, ..Options::default() })
    }

    /// Reads with the smallest possible blocks.
    fn in_small_blocks(&self) -> Result<Graph, Error> {
        read(&self.path, &Options { memory_bytes: 0, ..Options::default() })
    }
}

/// Reads a file to its end and checks the guarantees of every source.
fn read(path: &Path, options: &Options) -> Result<Graph, Error> {
    let mut source = readers::open(path, options)?;
    let (info, rounding) = (source.info().clone(), Rounding::default());
    let mut graph = Graph { info, edges: Vec::new(), extra: Vec::new(), rounding };
    let mut chunk = vec![Edge::default()];
    while !chunk.is_empty() {
        source.read(&mut chunk)?;
        assert!(chunk.len() <= CHUNK_EDGES);
        graph.edges.extend_from_slice(&chunk);
    }
    source.extra_vertices(&mut graph.extra)?;
    graph.rounding = source.rounding();
    if let Some(edges) = graph.info.edges {
        assert_eq!(edges, graph.edges.len() as u64);
    }
    if let Some(bytes) = graph.info.bytes {
        assert_eq!(source.bytes_read(), bytes);
    }
    assert!(source.memory_bytes() <= options.memory_bytes.max(1 << 20) + UNPACKING_BYTES_MAX);
    Ok(graph)
}

/// Asserts that reading failed with a message that has all `parts`.
#[track_caller]
fn assert_fails<T>(result: Result<T, Error>, parts: &[&str]) {
    let message = result.map(drop).expect_err("must not be readable").to_string();
    for part in parts {
        assert!(message.contains(part), "{part:?} is not in: {message}");
    }
}

/// A GAP serialized graph of lists of (neighbour, weight); directed ones have in-edges too, which readers skip.
fn gap_binary(directed: bool, lists: &[Vec<(i32, i32)>], weighted: bool) -> Vec<u8> {
    let edges: i64 = lists.iter().map(|list| list.len() as i64).sum();
    let mut bytes = vec![u8::from(directed)];
    bytes.extend(edges.to_le_bytes());
    bytes.extend((lists.len() as i64).to_le_bytes());
    let mut offset = 0i64;
    bytes.extend(offset.to_le_bytes());
    for list in lists {
        offset += list.len() as i64;
        bytes.extend(offset.to_le_bytes());
    }
    for &(neighbour, weight) in lists.iter().flatten() {
        bytes.extend(neighbour.to_le_bytes());
        if weighted {
            bytes.extend(weight.to_le_bytes());
        }
    }
    if directed {
        bytes.extend_from_within(17..);
    }
    bytes
}

/// The adjacency lists of directed edges among `vertices` vertices.
fn lists(vertices: usize, edges: &[(u64, u64, u64)]) -> Vec<Vec<(i32, i32)>> {
    let mut lists = vec![Vec::new(); vertices];
    for &(source, dest, weight) in edges {
        lists[source as usize].push((dest as i32, weight as i32));
    }
    lists
}
