//! Records of a fixed size, for binary formats.

use std::ops::Range;

use crate::file::InputFile;
use crate::input::{Input, Unpack};
use topostream_formats::error::{Error, Result};

const BUFFER_BYTES: usize = 1 << 20;

/// A binary file as a stream of records.
pub(super) struct Records {
    input: Input,
    buffer: Vec<u8>,
    unread: Range<usize>,
    /// The number of bytes read or skipped.
    position: u64,
}

impl Records {
    /// Opens `file`.
    pub(super) fn open(file: &InputFile, memory_bytes: u64, unpack: Unpack) -> Result<Self> {
        let input = Input::open(file, memory_bytes, unpack)?;
        let bytes = usize::try_from(memory_bytes).unwrap_or(BUFFER_BYTES).clamp(4 << 10, BUFFER_BYTES);
        Ok(Self { input, buffer: vec![0; bytes], unread: 0..0, position: 0 })
    }

    /// The file.
    pub(super) fn input(&self) -> &Input {
        &self.input
    }

    /// The number of bytes read or skipped so far.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Maximum memory, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.buffer.len() as u64 + self.input.memory_bytes()
    }

    /// The next whole records of `size` bytes, at most `max`; none if less than one is left.
    pub(super) fn take(&mut self, size: usize, max: usize) -> Result<&[u8]> {
        if self.unread.len() < size {
            self.refill()?;
        }
        let count = (self.unread.len() / size).min(max);
        let start = self.unread.start;
        self.unread.start += count * size;
        self.position += (count * size) as u64;
        Ok(&self.buffer[start..self.unread.start])
    }

    /// The next `N` bytes, if as many are left.
    pub(super) fn array<const N: usize>(&mut self) -> Result<Option<[u8; N]>> {
        Ok(self.take(N, 1)?.try_into().ok())
    }

    /// Skips `count` bytes, or all if fewer are left.
    pub(super) fn skip(&mut self, count: u64) -> Result<()> {
        let buffered = count.min(self.unread.len() as u64);
        self.unread.start += buffered as usize;
        self.position += buffered + self.input.skip(count - buffered)?;
        Ok(())
    }

    /// The number of bytes after the last whole record, once [`Self::take`] returns none.
    pub(super) fn rest(&self) -> usize {
        self.unread.len()
    }

    /// An error in the file as a whole.
    pub(super) fn error(&self, expected: impl Into<String>, found: impl Into<String>) -> Error {
        Error::file(self.input.path(), expected, found)
    }

    fn refill(&mut self) -> Result<()> {
        self.buffer.copy_within(self.unread.clone(), 0);
        self.unread = 0..self.unread.len();
        let (read, failure) = self.input.fill(&mut self.buffer[self.unread.end..]);
        self.unread.end += read;
        failure.map_or(Ok(()), Err)
    }
}
