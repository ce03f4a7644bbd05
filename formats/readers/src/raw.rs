//! Raw pairs of little-endian ids: source, dest, source, dest, …
//!
//! The graph is directed and unweighted; its vertices are the endpoints of edges.

use crate::file::InputFile;
use crate::input::Unpack;
use crate::options::Options;
use crate::records::Records;
use topostream_formats::edge::{CHUNK_EDGES, Edge, EdgeSource, IdSpace, SourceInfo};
use topostream_formats::error::{Error, Result};

/// Opens a file of pairs whose ids have `id_bytes` bytes, 4 or 8.
pub(super) fn open(file: &InputFile, options: &Options, id_bytes: usize) -> Result<Box<dyn EdgeSource>> {
    let records = Records::open(file, options.memory_bytes, Unpack::ByContentAndName)?;
    if options.weights.demanded() {
        return Err(Error::file(file.path(), "weights", "raw pairs, which have none; drop --weight-type"));
    }
    let mut info = records.input().info(IdSpace::Named, None);
    if let Some(bytes) = records.input().plain_bytes() {
        check_length(&records, bytes, id_bytes)?;
        info.edges = Some(bytes / (2 * id_bytes as u64));
    }
    Ok(Box::new(Raw { info, records, id_bytes, pairs: 0, chunk_pairs: 0 }))
}

fn check_length(records: &Records, bytes: u64, id_bytes: usize) -> Result<()> {
    if bytes.is_multiple_of(2 * id_bytes as u64) {
        return Ok(());
    }
    let expected = format!("a length that is a multiple of {} bytes: pairs of {}-bit ids", 2 * id_bytes, 8 * id_bytes);
    Err(records.error(expected, format!("{bytes} bytes")))
}

fn push_pairs(mut ids: impl Iterator<Item = u64>, chunk: &mut Vec<Edge>) {
    while let (Some(source), Some(dest)) = (ids.next(), ids.next()) {
        chunk.push(Edge { source, dest, weight: 0 });
    }
}

struct Raw {
    info: SourceInfo,
    records: Records,
    id_bytes: usize,
    /// The number of pairs before the last chunk.
    pairs: u64,
    chunk_pairs: u64,
}

impl EdgeSource for Raw {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, chunk: &mut Vec<Edge>) -> Result<()> {
        chunk.clear();
        let pairs = self.records.take(2 * self.id_bytes, CHUNK_EDGES)?;
        if self.id_bytes == 4 {
            let ids = pairs.as_chunks().0.iter().map(|&id| u64::from(u32::from_le_bytes(id)));
            push_pairs(ids, chunk);
        } else {
            push_pairs(pairs.as_chunks().0.iter().map(|&id| u64::from_le_bytes(id)), chunk);
        }
        self.pairs += std::mem::replace(&mut self.chunk_pairs, chunk.len() as u64);
        if chunk.is_empty() {
            let bytes = self.records.position() + self.records.rest() as u64;
            check_length(&self.records, bytes, self.id_bytes)?;
        }
        Ok(())
    }

    fn place(&self) -> String {
        self.records.input().path().display().to_string()
    }

    fn place_of(&self, index: usize, _edge: &Edge) -> String {
        let byte = 2 * self.id_bytes as u64 * (self.pairs + index as u64);
        format!("{}: the pair at byte {byte}", self.place())
    }

    fn is_read_once(&self) -> bool {
        self.records.input().is_read_once()
    }

    fn bytes_read(&self) -> u64 {
        self.records.input().consumed_bytes()
    }

    fn memory_bytes(&self) -> u64 {
        self.records.memory_bytes()
    }
}
