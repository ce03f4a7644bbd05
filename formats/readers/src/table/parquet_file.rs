//! A file for the `parquet` crate.

use crate::file::InputFile;
use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use std::io::{self, Read};
use topostream_formats::error::Result;

/// Bytes of a read of a page's header.
const HEADER_BYTES: usize = 4 << 10;

/// The file, and its length.
#[derive(Clone)]
pub(super) struct Source {
    pub(super) file: InputFile,
    pub(super) bytes: u64,
}

impl Source {
    pub(super) fn open(file: &InputFile) -> Result<Self> {
        // A footer is at the end: a pipe has to be copied.
        file.make_seekable()?;
        let bytes = file.bytes()?.unwrap_or(0);
        Ok(Self { file: file.clone(), bytes })
    }

    pub(super) fn read(&self, start: u64, buffer: &mut [u8]) -> Result<usize, ParquetError> {
        self.file.read_at(buffer, start).map_err(|error| ParquetError::External(Box::new(error)))
    }
}

impl Length for Source {
    fn len(&self) -> u64 {
        self.bytes
    }
}

/// A stream from an offset on.
pub(super) struct From {
    source: Source,
    at: u64,
}

impl Read for From {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl ChunkReader for Source {
    type T = io::BufReader<From>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(io::BufReader::with_capacity(HEADER_BYTES, From { source: self.clone(), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.bytes) {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} of {}", self.bytes)));
        }
        let (mut buffer, mut filled) = (Vec::new(), 0);
        buffer.try_reserve_exact(length).map_err(|_| ParquetError::General(format!("no memory for {length} bytes")))?;
        buffer.resize(length, 0);
        while filled < length {
            match self.read(start + filled as u64, &mut buffer[filled..])? {
                0 => return Err(ParquetError::EOF(format!("{length} bytes at {start}"))),
                read => filled += read,
            }
        }
        Ok(buffer.into())
    }
}
