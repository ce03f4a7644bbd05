//! The bytes of a file, decompressed.
//!
//! Compression is recognised by the first bytes, not by the name. Files of raw id pairs could begin with the same
//! bytes, so for them the name must match as well.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::file::{InputFile, SeekableStream, Stream as FileStream};
use crate::member::Member;
use crate::packing::{HEAD_BYTES, Packing};
use topostream_formats::edge::{IdSpace, SourceInfo, WeightType};
use topostream_formats::error::{Error, Result};

/// When a file is treated as compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unpack {
    /// If its first bytes match.
    ByContent,
    /// If its first bytes and its name match.
    ByContentAndName,
}

/// Counts the bytes read.
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

/// Counts a whole file as read at the end of a member.
struct Ended<R> {
    inner: R,
    bytes: Arc<AtomicU64>,
    file_bytes: Option<u64>,
}

impl<R: Read> Read for Ended<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        if let (0, false, Some(bytes)) = (read, buffer.is_empty(), self.file_bytes) {
            self.bytes.store(bytes, Relaxed);
        }
        Ok(read)
    }
}

enum Stream {
    /// A plain, seekable file.
    File(Counted<SeekableStream>),
    /// Anything that can only be read sequentially.
    Sequential(Box<dyn Read + Send>),
}

/// A stream of an input file.
pub(super) struct Input {
    file: InputFile,
    stream: Stream,
    consumed_bytes: Arc<AtomicU64>,
    file_bytes: Option<u64>,
    memory_bytes: u64,
    action: &'static str,
}

impl Input {
    /// A stream of `file` from its beginning; a decompressor may use a bounded part of `memory_bytes`.
    pub(super) fn open(file: &InputFile, memory_bytes: u64, unpack: Unpack) -> Result<Self> {
        if let Some(member) = file.member() {
            return Self::of_member(file, member, memory_bytes, unpack);
        }
        let packing = Self::packing(file, memory_bytes, unpack)?;
        let file_bytes = file.bytes()?;
        let stream = file.stream()?;
        Self::unpacking(file, stream, packing, file_bytes, memory_bytes)
    }

    /// A stream of the beginning of `file` that does not consume a pipe.
    pub(super) fn peek(file: &InputFile) -> Result<Self> {
        if let Some(member) = file.member() {
            return Self::of_member(file, member, 0, Unpack::ByContent);
        }
        let packing = Self::packing(file, 0, Unpack::ByContent)?;
        Self::unpacking(file, FileStream::Pipe(Box::new(file.peek())), packing, None, 0)
    }

    /// The compression of `file`.
    pub(super) fn packing(file: &InputFile, memory_bytes: u64, unpack: Unpack) -> Result<Option<Packing>> {
        let path = file.path();
        // Opens the file: an error of opening is clearer than an error of reading.
        file.is_pipe()?;
        let mut head = Vec::new();
        let read = file.peek().take(HEAD_BYTES).read_to_end(&mut head);
        read.map_err(|error| if file.is_cancelled() { Error::Interrupted } else { Error::io(path, "read")(error) })?;
        let packing = Self::of_head(&head, path, unpack);
        packing.map_or(Ok(()), |packing| packing.check(path, memory_bytes))?;
        Ok(packing)
    }

    /// A stream of a member of an archive.
    fn of_member(file: &InputFile, member: &Member, memory_bytes: u64, unpack: Unpack) -> Result<Self> {
        let failed = |error| Error::io(file.path(), "unpack")(error);
        let file_bytes = file.bytes()?;
        let consumed_bytes = Arc::new(AtomicU64::new(0));
        let FileStream::Seekable(mut inner) = file.stream()? else {
            return Err(failed(io::Error::other("a pipe")));
        };
        let bytes = Arc::clone(&consumed_bytes);
        let archive: Box<dyn Read + Send> = match member.packing {
            None => {
                inner.skip(member.start);
                bytes.fetch_add(member.start, Relaxed);
                Box::new(Counted { inner, bytes })
            }
            Some(packing) => {
                packing.check(file.path(), memory_bytes)?;
                let mut stream = packing.decoder(Counted { inner, bytes }, memory_bytes).map_err(failed)?;
                io::copy(&mut (&mut stream).take(member.start), &mut io::sink()).map_err(failed)?;
                stream
            }
        };
        let mut stream = member.contents(archive);
        let mut head = Vec::new();
        (&mut stream).take(HEAD_BYTES).read_to_end(&mut head).map_err(failed)?;
        let packing = Self::of_head(&head, file.path(), unpack);
        packing.map_or(Ok(()), |packing| packing.check(file.path(), memory_bytes))?;
        let whole = io::Cursor::new(head).chain(stream);
        let stream = match packing {
            Some(packing) => packing.decoder(whole, memory_bytes).map_err(failed)?,
            None => Box::new(whole),
        };
        let packings = [member.packing, packing].into_iter().flatten();
        Ok(Self {
            file: file.clone(),
            stream: Stream::Sequential(Box::new(Ended {
                inner: stream,
                bytes: Arc::clone(&consumed_bytes),
                file_bytes,
            })),
            consumed_bytes,
            file_bytes,
            memory_bytes: packings.map(|packing| packing.memory_bytes(memory_bytes)).sum::<u64>()
                + Member::MEMORY_BYTES,
            action: "unpack",
        })
    }

    /// The information that all formats have in common; directed by default.
    pub(super) fn info(&self, ids: IdSpace, weights: Option<WeightType>) -> SourceInfo {
        let path = self.path();
        let name =
            path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
        SourceInfo { name, ids, mirror: false, directed: true, weights, edges: None, bytes: self.file_bytes() }
    }

    /// The compression of a file that begins with `head`.
    fn of_head(head: &[u8], path: &Path, unpack: Unpack) -> Option<Packing> {
        Packing::of(head).filter(|packing| {
            unpack == Unpack::ByContent || path.extension().is_some_and(|name| name == packing.extension())
        })
    }

    fn unpacking(
        file: &InputFile,
        stream: FileStream,
        packing: Option<Packing>,
        file_bytes: Option<u64>,
        memory_bytes: u64,
    ) -> Result<Self> {
        let consumed_bytes = Arc::new(AtomicU64::new(0));
        let bytes = Arc::clone(&consumed_bytes);
        let stream = match (packing, stream) {
            (None, FileStream::Seekable(inner)) => Stream::File(Counted { inner, bytes }),
            (None, FileStream::Pipe(inner)) => Stream::Sequential(Box::new(Counted { inner, bytes })),
            (Some(packing), stream) => {
                let inner: Box<dyn Read + Send> = match stream {
                    FileStream::Seekable(stream) => Box::new(stream),
                    FileStream::Pipe(stream) => stream,
                };
                let decoder = packing.decoder(Counted { inner, bytes }, memory_bytes);
                Stream::Sequential(decoder.map_err(Error::io(file.path(), "decompress"))?)
            }
        };
        Ok(Self {
            file: file.clone(),
            stream,
            consumed_bytes,
            file_bytes,
            memory_bytes: packing.map_or(0, |packing| packing.memory_bytes(memory_bytes)),
            action: if packing.is_some() { "decompress" } else { "read" },
        })
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    /// The file's length on disk, compressed or not; `None` for pipes.
    pub(super) fn file_bytes(&self) -> Option<u64> {
        self.file_bytes
    }

    /// The length of the contents if it is known without reading them: for plain files.
    pub(super) fn plain_bytes(&self) -> Option<u64> {
        self.file_bytes.filter(|_| matches!(self.stream, Stream::File(_)))
    }

    /// The number of bytes of the file read so far, compressed or not.
    pub(super) fn consumed_bytes(&self) -> u64 {
        self.consumed_bytes.load(Relaxed)
    }

    /// Maximum memory of the decompressor.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    /// Whether the file can have no other stream.
    pub(super) fn is_read_once(&self) -> bool {
        self.file_bytes.is_none()
    }

    /// Reads until `buffer` is full or the input ends. Returns the number of bytes read, also before an error.
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
                Err(error) => return (filled, Some(self.error(error))),
            }
        }
        (filled, None)
    }

    /// Skips `count` bytes; returns the number skipped, which is smaller only at the end of a sequential input.
    pub(super) fn skip(&mut self, count: u64) -> Result<u64> {
        let skipped = match &mut self.stream {
            Stream::File(file) => {
                file.inner.skip(count);
                file.bytes.fetch_add(count, Relaxed);
                Ok(count)
            }
            Stream::Sequential(stream) => io::copy(&mut stream.take(count), &mut io::sink()),
        };
        skipped.map_err(|error| self.error(error))
    }

    fn error(&self, error: io::Error) -> Error {
        if self.file.is_cancelled() {
            return Error::Interrupted;
        }
        Error::io(self.path(), self.action)(error)
    }
}
