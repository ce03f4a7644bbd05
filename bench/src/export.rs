//! Writes a store as plain arrays to a file, for other programs such as the CUDA baseline.
//!
//! ```text
//!  u64 vertices · u64 edges · u64 out_offsets[vertices + 1] · u32 dests[edges]
//!                           · u64 in_offsets[vertices + 1]  · u32 sources[edges]     if the store has in-lists
//! ```
//!
//! All little-endian, without gaps. Pages are streamed, so that memory does not depend on the graph.

use crate::arrays::each_page;
use crate::error::Result;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use topostream_formats::page::Neighbours;
use topostream_formats::{Direction, Encoding, Store, Topology};

/// Write a store as plain arrays, for other programs
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// The store
    pub store: PathBuf,
    /// The output file; it gets its name when it is complete
    pub file: PathBuf,
}

/// Writes the file.
///
/// # Errors
/// If a page is corrupt or the file cannot be written.
pub fn run(options: &Options) -> Result<()> {
    let bytes = export(&Store::open(&options.store)?, &options.file)?;
    println!("{}: {bytes} bytes", options.file.display());
    Ok(())
}

/// Writes a store to a file; returns the number of bytes.
///
/// # Errors
/// If a page is corrupt or the file cannot be written.
pub fn export(store: &Store, path: &Path) -> Result<u64> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    let named = |error: std::io::Error| format!("{}: {error}", partial.display());
    let file = File::create(&partial).map_err(named)?;
    let written = write(store, &mut BufWriter::with_capacity(8 << 20, file));
    match written {
        Ok(()) => std::fs::rename(&partial, path).map_err(named)?,
        Err(error) => {
            std::fs::remove_file(&partial).ok();
            return Err(format!("{}: {error}", partial.display()).into());
        }
    }
    Ok(std::fs::metadata(path)?.len())
}

fn write(store: &Store, out: &mut impl Write) -> Result<()> {
    out.write_all(&store.vertices().to_le_bytes())?;
    out.write_all(&store.edges().to_le_bytes())?;
    for topology in [Direction::Out, Direction::In].into_iter().filter_map(|direction| store.topology(direction)) {
        write_lists(store, topology, out)?;
    }
    Ok(out.flush()?)
}

fn write_lists(store: &Store, topology: &Topology, out: &mut impl Write) -> Result<()> {
    if topology.is_grouped() {
        return Err("exports do not support lists that are grouped for shards: format the store without shards".into());
    }
    let mut offset = 0u64;
    out.write_all(&offset.to_le_bytes())?;
    for &degree in topology.degrees(store.vertices())?.values() {
        offset += u64::from(degree);
        out.write_all(&offset.to_le_bytes())?;
    }
    let plain = store.manifest().encoding == Encoding::VertexId;
    let mut written = Ok(());
    each_page(store, topology, |page, neighbours| {
        let edges = page.header().edge_count as usize;
        let mut write = || match plain {
            true => out.write_all(page.neighbour_bytes()),
            false => (0..edges).try_for_each(|edge| out.write_all(&neighbours.vertex(edge).to_le_bytes())),
        };
        if written.is_ok() {
            written = write();
        }
    })?;
    Ok(written?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrays;
    use crate::graph::Wanted;

    #[test]
    fn exports_equal_the_store() {
        let folder = tempfile::tempdir().unwrap();
        for encoding in [Encoding::VertexId, Encoding::packed(64 << 10, 4).unwrap()] {
            let store = Wanted { page_bytes: 64 << 10, encoding, ..Wanted::default() }.rmat(folder.path(), 12).unwrap();
            let path = folder.path().join("dump");
            let bytes = export(&store, &path).unwrap();
            let read = std::fs::read(&path).unwrap();
            assert_eq!(bytes, read.len() as u64);
            let words: Vec<u32> =
                read.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
            let (vertices, edges) = (store.vertices() as usize, store.edges() as usize);
            let wide = |at: usize| words[at] as usize | (words[at + 1] as usize) << 32;
            assert_eq!((wide(0), wide(2)), (vertices, edges));
            let mut at = 4;
            for direction in [Direction::Out, Direction::In] {
                let (csr, lists) = (arrays::lists(&store, direction).unwrap(), at + 2 * (vertices + 1));
                for vertex in 0..vertices {
                    let offsets = wide(at + 2 * vertex)..wide(at + 2 * vertex + 2);
                    assert_eq!(&words[lists + offsets.start..lists + offsets.end], csr.list(vertex));
                }
                at = lists + edges;
            }
            assert_eq!(at, words.len());
        }
    }

    #[test]
    fn errors_name_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let store = Wanted { page_bytes: 64 << 10, ..Wanted::default() }.rmat(folder.path(), 6).unwrap();
        let error = export(&store, &folder.path().join("none/dump")).unwrap_err().to_string();
        assert!(error.contains("none/dump") && error.contains("No such file"), "{error}");
    }
}
