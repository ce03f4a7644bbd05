//! Names of vertices, one a line.

use crate::blocks::Blocks;
use crate::file::InputFile;
use topostream_formats::error::{Error, Result};

/// A file of names, read sequentially: every line that is not empty is one, with what is within it, but without blanks
/// at its ends.
pub struct NameLines {
    blocks: Blocks,
    /// Whether the line before the current one has been passed.
    is_begun: bool,
}

impl NameLines {
    /// Opens a file; buffers take at most `memory_bytes`, plus the decompressor's memory.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn open(file: &InputFile, memory_bytes: u64) -> Result<Self> {
        Ok(Self { blocks: Blocks::open(file, memory_bytes)?, is_begun: false })
    }

    /// The next name; `None` at the end.
    ///
    /// # Errors
    /// With the line, if it is not UTF-8.
    pub fn next_name(&mut self) -> Result<Option<String>> {
        if self.is_begun {
            self.blocks.advance();
        }
        self.is_begun = self.blocks.advance_while(|line| line.trim_ascii().is_empty())?;
        if !self.is_begun {
            return Ok(None);
        }
        let line = self.blocks.line()?.unwrap_or_default().trim_ascii();
        let name = std::str::from_utf8(line).map(str::to_owned).ok();
        name.map(Some).ok_or_else(|| self.error("a name in UTF-8"))
    }

    /// An error in the name that was returned last, with its line.
    pub fn error(&self, expected: &'static str) -> Error {
        self.blocks.error_here(expected)
    }
}
