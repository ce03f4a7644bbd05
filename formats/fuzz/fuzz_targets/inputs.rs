//! What the fuzz targets of readers do with their bytes; an ordinary test replays the corpora through the same
//! functions.
//!
//! The first byte of the bytes is how they are read: what becomes of weights, and how large buffers are.

#![allow(dead_code)]

use std::fs;
use std::path::Path;
use topostream_formats::edge::{CHUNK_EDGES, EdgeSource};
use topostream_formats::{Edge, Error, IdSpace, Result};
use topostream_readers::{self as readers, GraphalyticsData, InputFile, Kind, Options, VertexValues, WeightsOption};

/// A compressed file of some bytes may hold any number of edges: no more are looked at.
const EDGES_MAX: u64 = 1 << 20;

/// How a reader is called, from the first byte.
fn options(kind: Option<Kind>, byte: u8) -> Options {
    let weights = WeightsOption::ALL[usize::from(byte & 3)];
    Options { kind, weights, memory_bytes: if byte & 4 == 0 { 0 } else { 8 << 20 }, ..Options::default() }
}

/// A file of a kind, or of what it is recognised as. Whether it is one.
pub fn edges(kind: Option<Kind>, data: &[u8]) -> bool {
    let Some((&first, data)) = data.split_first() else { return false };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("input");
    fs::write(&path, data).expect("a temporary file is written");
    let read = || read(&path, &options(kind, first));
    let (once, again) = (read(), read());
    assert_eq!(once.as_ref().ok(), again.as_ref().ok(), "the same file twice");
    judged(once, &path)
}

/// A Graphalytics graph: properties, edges and vertices, with a byte 0xff between them.
pub fn graphalytics(data: &[u8]) -> bool {
    let Some((&first, data)) = data.split_first() else { return false };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut parts = data.splitn(3, |&byte| byte == 0xff);
    for name in ["g.properties", "g.e", "g.v"] {
        let text = parts.next().unwrap_or_default();
        fs::write(folder.path().join(name), text).expect("a temporary file is written");
    }
    let path = folder.path().join("g.properties");
    for data in GraphalyticsData::find(&path).into_iter().flatten() {
        data.algorithms();
        data.reference("bfs");
        let _ = data.parameter::<u64>("bfs.source-vertex", "a vertex id");
    }
    judged(read(&path, &options(None, first)), folder.path())
}

/// A file of vertices, one per line; or with a value each, for an odd first byte.
pub fn vertices(data: &[u8]) -> bool {
    let Some((&first, data)) = data.split_first() else { return false };
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    fs::write(file.path(), data).expect("a temporary file is written");
    let all = || -> Result<u64> {
        let mut values = VertexValues::open_file(&InputFile::new(file.path()), 0)?;
        let mut count = 0;
        while count < EDGES_MAX {
            let next = match first & 1 {
                0 => values.next_id()?.is_some(),
                _ => values.next_value::<f64>("a number")?.is_some(),
            };
            if !next {
                break;
            }
            let _ = values.error("something else");
            count += 1;
        }
        Ok(count)
    };
    judged(all(), file.path())
}

/// What an error says has to name the file.
fn judged<T>(result: Result<T>, path: &Path) -> bool {
    match result {
        Ok(_) => true,
        Err(error @ Error::Memory { .. }) => {
            let text = error.to_string();
            assert!(text.contains("unpacking") || text.contains(&*path.to_string_lossy()), "{error}");
            false
        }
        Err(error) => {
            assert!(error.to_string().contains(&*path.to_string_lossy()), "{error}");
            false
        }
    }
}

/// Edges of a source, with what every source promises checked. Returns their number and a sum of all there is.
fn read(path: &Path, options: &Options) -> Result<(u64, u64)> {
    let mut source = readers::open_file(&InputFile::new(path), options)?;
    let (mut edges, mut sum) = (0, 0u64);
    let mut add = |word: u64| sum = sum.rotate_left(7).wrapping_add(word);
    let declared = source.declared_vertices(&mut |ids| {
        ids.iter().for_each(|&id| add(id));
        Ok(())
    })?;
    let mut chunk = Vec::new();
    while edges < EDGES_MAX {
        source.read(&mut chunk)?;
        assert!(chunk.len() <= CHUNK_EDGES);
        let (Some(first), Some(last)) = (chunk.first(), chunk.last()) else { break };
        assert!(source.place_of(0, first).contains(&source.place()));
        assert!(source.place_of(chunk.len() - 1, last).contains(&source.place()));
        check_ids(&*source, &chunk);
        edges += chunk.len() as u64;
        chunk.iter().for_each(|edge| [edge.source, edge.dest, edge.weight].into_iter().for_each(&mut add));
    }
    if edges < EDGES_MAX {
        assert!(source.info().edges.is_none_or(|promised| promised == edges), "{edges} of {:?}", source.info().edges);
        let mut extra = Vec::new();
        source.extra_vertices(&mut extra)?;
        assert!(extra.is_empty() || !declared);
        extra.into_iter().for_each(&mut add);
    }
    Ok((edges, sum))
}

/// Ids lie in the range that the header promised.
fn check_ids(source: &dyn EdgeSource, chunk: &[Edge]) {
    if let IdSpace::Range { first, count } = source.info().ids {
        let inside = |id: u64| id >= first && id - first < count;
        assert!(chunk.iter().all(|edge| inside(edge.source) && inside(edge.dest)));
    }
}
