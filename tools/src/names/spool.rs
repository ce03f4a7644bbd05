//! Parts of a temporary file that grow side by side.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use topostream_formats::names::{push_varint, read_varint};
use topostream_formats::store::read_exact_at;
use topostream_formats::{Error, Result};

/// Bytes of a part that are written at once.
pub const BUFFER_BYTES: usize = 32 << 10;
const READ_BYTES: usize = 256 << 10;

/// Records of a number and a name in several parts of one file. The file has no name: it disappears with the process.
pub struct Spool {
    folder: PathBuf,
    file: File,
    bytes: u64,
    parts: Vec<Part>,
}

#[derive(Default)]
struct Part {
    buffer: Vec<u8>,
    /// Where its pieces are in the file: offset and length.
    pieces: Vec<(u64, u64)>,
    /// The number of the last record: numbers are written as differences.
    last: u64,
}

impl Spool {
    /// An empty file in `folder`, with this many parts.
    ///
    /// # Errors
    /// [`Error::Io`]; likewise of the other functions.
    pub fn new(folder: &Path, parts: usize) -> Result<Self> {
        let file = tempfile::tempfile_in(folder).map_err(Error::io(folder, "make a temporary file in"))?;
        let parts = (0..parts).map(|_| Part::default()).collect();
        Ok(Self { folder: folder.to_owned(), file, bytes: 0, parts })
    }

    /// Main memory of a spool of this many parts, in bytes.
    pub fn memory_bytes(parts: usize) -> u64 {
        parts as u64 * (2 * BUFFER_BYTES) as u64
    }

    /// Appends a record to a part.
    ///
    /// # Errors
    /// As [`Self::new`].
    #[inline]
    pub fn push(&mut self, part: usize, number: u64, name: &[u8]) -> Result<()> {
        let of = &mut self.parts[part];
        push_varint(&mut of.buffer, number.wrapping_sub(of.last));
        of.last = number;
        push_varint(&mut of.buffer, name.len() as u64);
        of.buffer.extend_from_slice(name);
        if of.buffer.len() >= BUFFER_BYTES { self.write(part) } else { Ok(()) }
    }

    fn write(&mut self, part: usize) -> Result<()> {
        let of = &mut self.parts[part];
        self.file.write_all(&of.buffer).map_err(Error::io(&self.folder, "write a temporary file in"))?;
        let length = of.buffer.len() as u64;
        of.pieces.push((self.bytes, length));
        self.bytes += length;
        of.buffer.clear();
        // A long name does not keep its memory.
        of.buffer.shrink_to(2 * BUFFER_BYTES);
        Ok(())
    }

    /// Writes what is in memory, and frees it.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn finish(&mut self) -> Result<()> {
        for part in 0..self.parts.len() {
            if !self.parts[part].buffer.is_empty() {
                self.write(part)?;
            }
            self.parts[part].buffer = Vec::new();
        }
        Ok(())
    }

    /// The number of parts.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Passes the records of a finished part in order.
    ///
    /// # Errors
    /// As [`Self::new`]; the errors of `take`.
    pub fn for_each(&self, part: usize, mut take: impl FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
        let mut pieces = Pieces { file: &self.file, pieces: self.parts[part].pieces.iter(), at: 0, end: 0 };
        let (mut buffer, mut start, mut number, mut is_end) = (Vec::new(), 0usize, 0u64, false);
        loop {
            while let Some((difference, name, length)) = record(&buffer[start..]) {
                number = number.wrapping_add(difference);
                take(number, name)?;
                start += length;
            }
            if is_end {
                return Ok(());
            }
            buffer.drain(..start);
            start = 0;
            let before = buffer.len();
            buffer.resize(before + READ_BYTES, 0);
            let read =
                pieces.read(&mut buffer[before..]).map_err(Error::io(&self.folder, "read a temporary file in"))?;
            buffer.truncate(before + read);
            is_end = read == 0;
        }
    }
}

/// The record at the beginning of `bytes`, with its length, if it is whole.
#[inline]
fn record(bytes: &[u8]) -> Option<(u64, &[u8], usize)> {
    let (number, first) = read_varint(bytes)?;
    let (length, second) = read_varint(&bytes[first..])?;
    let start = first + second;
    let end = start + length as usize;
    bytes.get(start..end).map(|name| (number, name, end))
}

/// The bytes of a part's pieces.
struct Pieces<'a> {
    file: &'a File,
    pieces: std::slice::Iter<'a, (u64, u64)>,
    at: u64,
    end: u64,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            if self.at == self.end {
                let Some(&(start, length)) = self.pieces.next() else { break };
                (self.at, self.end) = (start, start + length);
            }
            let length = (buffer.len() - filled).min((self.end - self.at) as usize);
            read_exact_at(self.file, &mut buffer[filled..filled + length], self.at)?;
            self.at += length as u64;
            filled += length;
        }
        Ok(filled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(folder.path(), 3).unwrap();
        let long = vec![9u8; 3 * READ_BYTES];
        let name = |at: u64| if at % 1000 == 7 { long.clone() } else { at.to_string().into_bytes() };
        for at in 0..20_000u64 {
            spool.push((at % 2) as usize, at * 31 % 977, &name(at)).unwrap();
        }
        spool.finish().unwrap();
        for part in 0..3 {
            let mut expected = (0..20_000u64).filter(|at| at % 2 == part as u64);
            spool
                .for_each(part, |number, found| {
                    let at = expected.next().unwrap();
                    assert_eq!((number, found), (at * 31 % 977, &name(at)[..]));
                    Ok(())
                })
                .unwrap();
            assert!(part == 2 || expected.next().is_none());
        }
    }
}
