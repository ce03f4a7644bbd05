//! Vertices in a chosen order: ids one a line, or raw little-endian ids by the file's extension.

use std::path::Path;

use crate::file::InputFile;
use crate::input::Unpack;
use crate::kind::Kind;
use crate::packing::strip;
use crate::records::Records;
use crate::vertex_values::VertexValues;
use topostream_formats::error::{Error, Result};

/// A file of vertex ids, read sequentially: text with one id a line and `#` and `%` comments, or raw ids of 32 bits
/// (`.u32`) or 64 bits (`.u64`). Either may be compressed.
pub struct VertexList {
    ids: Ids,
}

enum Ids {
    Text(Box<VertexValues>),
    Raw { records: Records, id_bytes: usize, last: u64 },
}

impl VertexList {
    /// Opens a file; buffers take at most `memory_bytes`, plus the decompressor's memory.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn open(path: &Path, memory_bytes: u64) -> Result<Self> {
        let file = InputFile::new(path);
        let id_bytes = match strip(path).extension().and_then(|extension| Kind::of_extension(extension.to_str()?)) {
            Some(Kind::RawU32) => 4,
            Some(Kind::RawU64) => 8,
            _ => {
                let values = VertexValues::open_file(&file, memory_bytes)?;
                return Ok(Self { ids: Ids::Text(Box::new(values)) });
            }
        };
        let records = Records::open(&file, memory_bytes, Unpack::ByContentAndName)?;
        Ok(Self { ids: Ids::Raw { records, id_bytes, last: 0 } })
    }

    /// The next id; `None` at the end.
    ///
    /// # Errors
    /// With the line, if it is not one vertex id; with the file, if it ends within an id.
    pub fn next_id(&mut self) -> Result<Option<u64>> {
        let (records, id_bytes, last) = match &mut self.ids {
            Ids::Text(values) => return values.next_id(),
            Ids::Raw { records, id_bytes, last } => (records, *id_bytes, last),
        };
        let id = match id_bytes {
            4 => records.array()?.map(|id| u32::from_le_bytes(id).into()),
            _ => records.array()?.map(u64::from_le_bytes),
        };
        if id.is_none() && records.rest() > 0 {
            let bytes = records.position() + records.rest() as u64;
            let expected = format!("a length that is a multiple of {id_bytes} bytes: {}-bit ids", 8 * id_bytes);
            return Err(records.error(expected, format!("{bytes} bytes")));
        }
        *last = id.unwrap_or(*last);
        Ok(id)
    }

    /// Maximum memory, in bytes, with the decompressor's.
    pub fn memory_bytes(&self) -> u64 {
        match &self.ids {
            Ids::Text(values) => values.memory_bytes(),
            Ids::Raw { records, .. } => records.memory_bytes(),
        }
    }

    /// An error in the id that was returned last: with its line, or with its byte in a raw file.
    pub fn error(&self, expected: &str) -> Error {
        match &self.ids {
            Ids::Text(values) => values.error(expected),
            Ids::Raw { records, id_bytes, last } => {
                let byte = records.position() - *id_bytes as u64;
                records.error(expected, format!("{last} at byte {byte}"))
            }
        }
    }
}
