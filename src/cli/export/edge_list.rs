//! Plain lists of edges: .el, .wel, .txt, .u32 and .u64.

use crate::cli::failure::Failure;
use crate::cli::progress::Bars;
use crate::cli::tables;
use std::path::Path;
use topostream_formats::EdgeSource;
use topostream_readers::EdgeListWriter;
use topostream_tools::progress::{Cancel, Progress, Unit};

/// Writes an edge list; returns a line for people.
pub fn write_edges(path: &Path, source: &mut dyn EdgeSource, cancel: &Cancel) -> Result<String, Failure> {
    let bars = Bars::default();
    let mut writer = EdgeListWriter::create(path, EdgeListWriter::kind_of(path)?, source.info().weights)?;
    let (bytes, edges) = (source.info().bytes, source.info().edges);
    bars.begin(
        "write edges",
        edges.or(bytes),
        if edges.is_none() && bytes.is_some() { Unit::Bytes } else { Unit::Edges },
    );
    let mut chunk = Vec::new();
    loop {
        cancel.check()?;
        source.read(&mut chunk)?;
        if chunk.is_empty() {
            break;
        }
        writer.write(&chunk)?;
        bars.position(if edges.is_none() && bytes.is_some() { source.bytes_read() } else { writer.edges() });
    }
    let edges = writer.edges();
    let bytes = writer.finish()?;
    drop(bars);
    Ok(format!("{}: {}, {}\n", path.display(), tables::counted(edges, "edge"), tables::bytes(bytes)))
}
