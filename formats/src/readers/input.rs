//! A file's bytes, unpacked.
//!
//! Compression is recognised by the first bytes, whatever the file is called. Raw id pairs could begin with the same
//! bytes by chance, so for them the name has to say it as well.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::packing::{HEAD_BYTES, Packing};
use crate::error::{Error, Result};

/// When a file counts as compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unpack {
    /// When its first bytes say so.
    ByContent,
    /// When its first bytes and its name say so.
    ByContentAndName,
}

/// Counts the bytes that pass.
struct Counted<R> {
    inner: R,
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.bytes.fetch_add(read as u64, Relaxed);
        Ok(read)
    }
}

enum Stream {
    /// A plain file, which can be positioned.
    File(Counted<File>),
    /// Anything that can only be read from front to back.
    Sequential(Box<dyn Read + Send>),
}

/// An open input file.
pub(super) struct Input {
    path: PathBuf,
    stream: Stream,
    consumed_bytes: Arc<AtomicU64>,
    file_bytes: Option<u64>,
    memory_bytes: u64,
    action: &'static str,
}

impl Input {
    /// Opens `path`; a decompressor's share of `memory_bytes` is bounded.
    pub(super) fn open(path: &Path, memory_bytes: u64, unpack: Unpack) -> Result<Self> {
        let mut file = File::open(path).map_err(Error::io(path, "open"))?;
        let metadata = file.metadata().map_err(Error::io(path, "open"))?;
        if metadata.is_dir() {
            return Err(Error::file(path, "a file", "a directory"));
        }
        let mut head = Vec::new();
        file.by_ref().take(HEAD_BYTES).read_to_end(&mut head).map_err(Error::io(path, "read"))?;
        let packing = Packing::of(&head).filter(|packing| {
            unpack == Unpack::ByContent || path.extension().is_some_and(|name| name == packing.extension())
        });
        packing.map_or(Ok(()), |packing| packing.check(path, memory_bytes))?;
        let consumed_bytes = Arc::new(AtomicU64::new(0));
        let bytes = Arc::clone(&consumed_bytes);
        let stream = match packing {
            None if metadata.is_file() => {
                file.rewind().map_err(Error::io(path, "seek"))?;
                Stream::File(Counted { inner: file, bytes })
            }
            None => Stream::Sequential(Box::new(Counted { inner: Cursor::new(head).chain(file), bytes })),
            Some(packing) => {
                let packed = Counted { inner: Cursor::new(head).chain(file), bytes };
                let decoder = packing.decoder(packed, memory_bytes).map_err(Error::io(path, "decompress"))?;
                Stream::Sequential(decoder)
            }
        };
        Ok(Self {
            path: path.to_owned(),
            stream,
            consumed_bytes,
            file_bytes: metadata.is_file().then_some(metadata.len()),
            memory_bytes: packing.map_or(0, |packing| packing.memory_bytes(memory_bytes)),
            action: if packing.is_some() { "decompress" } else { "read" },
        })
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The file's length as it lies on disk, compressed or not; `None` for pipes.
    pub(super) fn file_bytes(&self) -> Option<u64> {
        self.file_bytes
    }

    /// The length of the contents where that is known without reading them: for plain files.
    pub(super) fn plain_bytes(&self) -> Option<u64> {
        self.file_bytes.filter(|_| matches!(self.stream, Stream::File(_)))
    }

    /// How many bytes of the file have been read, compressed or not.
    pub(super) fn consumed_bytes(&self) -> u64 {
        self.consumed_bytes.load(Relaxed)
    }

    /// What the decompressor allocates at most.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    /// Reads until `buffer` is full or the input ends; bytes that came before an error are counted all the same.
    pub(super) fn fill(&mut self, buffer: &mut [u8]) -> (usize, Option<Error>) {
        let mut filled = 0;
        while filled < buffer.len() {
            let free = &mut buffer[filled..];
            let read = match &mut self.stream {
                Stream::File(file) => file.read(free),
                Stream::Sequential(stream) => stream.read(free),
            };
            match read {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return (filled, Some(Error::io(&self.path, self.action)(error))),
            }
        }
        (filled, None)
    }

    /// Passes over `count` bytes; returns how many there were, which is less only at the end of a sequential input.
    pub(super) fn skip(&mut self, count: u64) -> Result<u64> {
        match &mut self.stream {
            Stream::File(file) => {
                let step = i64::try_from(count).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput));
                let moved = step.and_then(|step| file.inner.seek(SeekFrom::Current(step)));
                moved.map_err(Error::io(&self.path, "seek"))?;
                file.bytes.fetch_add(count, Relaxed);
                Ok(count)
            }
            Stream::Sequential(stream) => {
                let skipped = io::copy(&mut stream.take(count), &mut io::sink());
                skipped.map_err(Error::io(&self.path, self.action))
            }
        }
    }
}
