//! Values of vertices, `vertex value` a line, the format of Graphalytics' reference outputs; or vertices only, one a
//! line.

use std::path::Path;
use std::str::FromStr;

use crate::blocks::Blocks;
use crate::cursor::Cursor;
use crate::file::InputFile;
use crate::plain::is_comment;
use topostream_formats::error::{Error, Result};

/// A file with a vertex and its value a line, plain or compressed, read sequentially.
pub struct VertexValues {
    blocks: Blocks,
    /// Whether the current line has been returned.
    given: bool,
}

impl VertexValues {
    /// Opens a file; buffers take at most `memory_bytes`, plus the decompressor's memory.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn open(path: &Path, memory_bytes: u64) -> Result<Self> {
        Self::open_file(&InputFile::new(path), memory_bytes)
    }

    /// Opens a file that may be a pipe.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn open_file(file: &InputFile, memory_bytes: u64) -> Result<Self> {
        Ok(Self { blocks: Blocks::open(file, memory_bytes)?, given: false })
    }

    /// The id and the value of the next line that is neither blank nor a comment; `None` at the end.
    ///
    /// # Errors
    /// With the line, if it is not a vertex id and one value; `expected` describes the value.
    pub fn next_value<T: FromStr>(&mut self, expected: &str) -> Result<Option<(u64, T)>> {
        let Some(line) = self.next_line()? else { return Ok(None) };
        let mut cursor = Cursor::new(line);
        let (id, word) = (cursor.number(), cursor.word().and_then(|word| std::str::from_utf8(word).ok()));
        match (id, word.and_then(|word| word.parse().ok()), cursor.is_end()) {
            (Some(id), Some(value), true) => Ok(Some((id, value))),
            _ => Err(self.blocks.error_here(format!("a vertex id and {expected}"))),
        }
    }

    /// The id of the next line that is neither blank nor a comment, in a file of vertices only; `None` at the end.
    ///
    /// # Errors
    /// With the line, if it is not one vertex id.
    pub fn next_id(&mut self) -> Result<Option<u64>> {
        let Some(line) = self.next_line()? else { return Ok(None) };
        let mut cursor = Cursor::new(line);
        match (cursor.number(), cursor.is_end()) {
            (Some(id), true) => Ok(Some(id)),
            _ => Err(self.blocks.error_here("a vertex id and nothing else".to_owned())),
        }
    }

    /// The next line that is neither blank nor a comment.
    fn next_line(&mut self) -> Result<Option<&[u8]>> {
        if std::mem::take(&mut self.given) {
            self.blocks.advance();
        }
        if !self.blocks.advance_while(is_comment)? {
            return Ok(None);
        }
        self.given = true;
        self.blocks.line().map(|line| Some(line.unwrap_or_default()))
    }

    /// An error in the line that was returned last.
    pub fn error(&self, expected: impl Into<String>) -> Error {
        self.blocks.error_here(expected.into())
    }

    /// Maximum memory, in bytes, with the decompressor's.
    pub fn memory_bytes(&self) -> u64 {
        self.blocks.memory_bytes()
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.blocks.input().path()
    }
}
