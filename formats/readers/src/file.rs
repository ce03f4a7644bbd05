//! Input files, opened once and read sequentially.
//!
//! ```text
//!  regular file ── one handle, positioned reads ── any number of streams, each from the beginning
//!  pipe, socket, terminal ── head: the bytes that recognition read ─┬─ one stream: the head, then the rest
//!                                                                   └─ copied to a temporary file: many streams
//! ```
//!
//! A regular file must not change while it is read: its length and modification time are compared when a stream begins
//! and when it ends.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::SystemTime;

use crate::member::Member;
#[cfg(feature = "parquet")]
use crate::memory_table::MemoryTable;
use crate::pipe::{self, Pipe};
use topostream_formats::error::{Error, Result};
use topostream_formats::patience::insist;

/// Maximum number of bytes of a pipe kept for recognition. A compressed file yields its first lines long before that.
const HEAD_BYTES_MAX: usize = 4 << 20;
/// Bytes of one read while a pipe is copied.
const COPY_BYTES: usize = 256 << 10;

/// An input file: a path, or standard input. Clones share the handle.
#[derive(Clone, Debug)]
pub struct InputFile(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    is_standard_input: bool,
    temporary: PathBuf,
    cancel: Arc<AtomicBool>,
    state: Mutex<State>,
    /// A table in memory, in place of a file.
    #[cfg(feature = "parquet")]
    table: Option<Arc<MemoryTable>>,
    /// A file without a name, in place of the path.
    #[cfg(feature = "parquet")]
    unnamed: Option<Arc<File>>,
    /// Other files of the same graph.
    beside: Mutex<Vec<InputFile>>,
    /// The place in an archive, in place of a whole file, and the names of other members that may be edge lists.
    member: Option<(Member, Vec<String>)>,
    /// The edge list in this file, if it is an archive.
    resolved: OnceLock<Option<InputFile>>,
}

#[derive(Debug)]
enum State {
    Closed,
    Seekable(Seekable),
    Pipe {
        pipe: Pipe,
        head: Vec<u8>,
        ended: bool,
    },
    /// A pipe with a stream.
    Taken,
}

/// A handle for positioned reads.
#[derive(Clone, Debug)]
struct Seekable {
    file: Arc<File>,
    /// The offset of the contents: another program may have read from standard input before.
    start: u64,
    bytes: u64,
    /// Modification time; none for temporary files.
    modified: Option<SystemTime>,
}

impl InputFile {
    /// The file at `path`, opened at the first read.
    pub fn new(path: impl AsRef<Path>) -> Self {
        Self::closed(path.as_ref().to_owned(), false, std::env::temp_dir(), Arc::default())
    }

    /// The file of a command-line argument: `-` is standard input.
    pub fn of_argument(path: impl AsRef<Path>) -> Self {
        if path.as_ref() == Path::new("-") {
            return Self::closed("standard input".into(), true, std::env::temp_dir(), Arc::default());
        }
        Self::new(path)
    }

    fn closed(path: PathBuf, is_standard_input: bool, temporary: PathBuf, cancel: Arc<AtomicBool>) -> Self {
        let (state, beside) = (Mutex::new(State::Closed), Mutex::default());
        Self(Arc::new(Shared {
            path,
            is_standard_input,
            temporary,
            cancel,
            state,
            #[cfg(feature = "parquet")]
            table: None,
            #[cfg(feature = "parquet")]
            unnamed: None,
            beside,
            member: None,
            resolved: OnceLock::new(),
        }))
    }

    /// A member of this archive, which is not a pipe.
    pub(super) fn with_member(&self, name: &str, member: Member, others: Vec<String>) -> Self {
        let path = self.path().join(name);
        let mut file = Self::closed(path, false, self.0.temporary.clone(), Arc::clone(&self.0.cancel));
        let shared = Arc::get_mut(&mut file.0).expect("it has just been made");
        shared.member = Some((member, others));
        if let State::Seekable(seekable) = &*self.state() {
            shared.state = Mutex::new(State::Seekable(seekable.clone()));
        }
        file
    }

    /// The edge list that `find` finds in this file, once; otherwise the file itself.
    pub(super) fn resolved(&self, find: impl FnOnce() -> Result<Option<Self>>) -> Result<Self> {
        if self.0.resolved.get().is_none() {
            self.0.resolved.set(find()?).ok();
        }
        Ok(self.0.resolved.get().cloned().flatten().unwrap_or_else(|| self.clone()))
    }

    /// The place in an archive, for a member.
    pub(super) fn member(&self) -> Option<&Member> {
        self.0.member.as_ref().map(|(member, _)| member)
    }

    /// Whether this is a member of an archive.
    pub(super) fn is_member(&self) -> bool {
        self.0.member.is_some()
    }

    /// For a member, what was chosen of the archive.
    pub(super) fn member_note(&self) -> Option<String> {
        let (_, others) = self.0.member.as_ref()?;
        let name = self.path().file_name().unwrap_or_default().to_string_lossy();
        let others = if others.is_empty() { String::new() } else { format!(", not {}", others.join(", ")) };
        Some(format!("`{name}` of the archive{others}"))
    }

    /// Whether this is a table in memory.
    pub(super) fn is_table(&self) -> bool {
        self.table_bytes().is_some()
    }

    /// A table in memory, which is read as an Arrow file would be; `name` stands for it in messages.
    #[cfg(feature = "parquet")]
    pub fn in_memory(name: &str, table: Arc<MemoryTable>) -> Self {
        Self::new(name).with_table(Some(table))
    }

    #[cfg(feature = "parquet")]
    fn with_table(mut self, table: Option<Arc<MemoryTable>>) -> Self {
        Arc::get_mut(&mut self.0).expect("it has just been made").table = table;
        self
    }

    /// A file without a name; `name` stands for it in messages.
    #[cfg(feature = "parquet")]
    pub(super) fn unnamed(name: &str, file: File) -> Self {
        Self::new(name).with_unnamed(Some(Arc::new(file)))
    }

    #[cfg(feature = "parquet")]
    fn with_unnamed(mut self, file: Option<Arc<File>>) -> Self {
        Arc::get_mut(&mut self.0).expect("it has just been made").unnamed = file;
        self
    }

    /// The table in memory, if it is one.
    #[cfg(feature = "parquet")]
    pub(super) fn table(&self) -> Option<&Arc<MemoryTable>> {
        self.0.table.as_ref()
    }

    /// Bytes of the table in memory, if it is one.
    fn table_bytes(&self) -> Option<u64> {
        #[cfg(feature = "parquet")]
        return self.table().map(|table| table.bytes());
        #[cfg(not(feature = "parquet"))]
        None
    }

    /// Waiting for a pipe ends with [`Error::Interrupted`] once `cancel` is set.
    #[must_use]
    pub fn with_cancel(self, cancel: Arc<AtomicBool>) -> Self {
        self.again(self.0.temporary.clone(), cancel)
    }

    /// A copy that is not opened yet, with another folder for temporary files and another flag.
    fn again(&self, temporary: PathBuf, cancel: Arc<AtomicBool>) -> Self {
        if self.is_member() {
            return self.clone();
        }
        let again = Self::closed(self.0.path.clone(), self.0.is_standard_input, temporary, cancel);
        #[cfg(feature = "parquet")]
        let again = again.with_table(self.0.table.clone()).with_unnamed(self.0.unnamed.clone());
        again
    }

    /// Puts copies of pipes that have to be read twice into unnamed files in this folder, or in its nearest ancestor
    /// that exists.
    #[must_use]
    pub fn with_temporary(self, folder: impl AsRef<Path>) -> Self {
        let folder = std::path::absolute(folder.as_ref()).unwrap_or_else(|_| folder.as_ref().to_owned());
        let existing = folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(&folder).to_owned();
        self.again(existing, Arc::clone(&self.0.cancel))
    }

    /// The name in messages.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Whether this is standard input, which has neither a name nor a folder.
    pub(super) fn is_standard_input(&self) -> bool {
        self.0.is_standard_input
    }

    /// Whether reading is cancelled.
    pub(super) fn is_cancelled(&self) -> bool {
        self.0.cancel.load(Relaxed)
    }

    /// Another file of the same graph; the same one for the same path.
    pub(super) fn beside(&self, path: &Path) -> Self {
        if path == self.path() && !self.is_standard_input() {
            return self.clone();
        }
        let mut all = self.0.beside.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = all.iter().find(|file| file.path() == path) {
            return file.clone();
        }
        let file = Self::closed(path.to_owned(), false, self.0.temporary.clone(), Arc::clone(&self.0.cancel));
        all.push(file.clone());
        file
    }

    /// The length, if it is known.
    pub(super) fn bytes(&self) -> Result<Option<u64>> {
        if let Some(bytes) = self.table_bytes() {
            return Ok(Some(bytes));
        }
        Ok(match &*self.opened()? {
            State::Seekable(seekable) => Some(seekable.bytes),
            _ => None,
        })
    }

    /// Whether the file can have only one stream, unless [`Self::make_seekable`] is called.
    pub(super) fn is_pipe(&self) -> Result<bool> {
        Ok(self.table_bytes().is_none() && !matches!(&*self.opened()?, State::Seekable(_)))
    }

    /// A stream of the contents from the beginning. A pipe has only one.
    pub(super) fn stream(&self) -> Result<Stream> {
        let mut state = self.opened()?;
        match std::mem::replace(&mut *state, State::Taken) {
            State::Seekable(seekable) => {
                *state = State::Seekable(seekable.clone());
                seekable.check().map_err(Error::io(self.path(), "read"))?;
                Ok(Stream::Seekable(SeekableStream { seekable, at: 0 }))
            }
            State::Pipe { pipe, head, .. } => Ok(Stream::Pipe(Box::new(io::Cursor::new(head).chain(pipe)))),
            State::Taken | State::Closed => {
                Err(Error::file(self.path(), "a file that can be read twice", "a pipe that has been read"))
            }
        }
    }

    /// A stream of the beginning of the contents that does not consume a pipe: at most [`HEAD_BYTES_MAX`] of it.
    pub(super) fn peek(&self) -> PeekStream {
        PeekStream { file: self.clone(), at: 0 }
    }

    /// Reads at an offset; returns 0 beyond the end. For files that are not pipes.
    pub(super) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if self.is_member() {
            return Err(io::Error::other("a member of an archive is not read at an offset: unpack it"));
        }
        let seekable = match &*self.opened().map_err(io::Error::other)? {
            State::Seekable(seekable) => seekable.clone(),
            _ => return Err(io::Error::other("a pipe is not read at an offset")),
        };
        let read = read_at(&seekable.file, buffer, seekable.start.saturating_add(offset))?;
        if read == 0 && !buffer.is_empty() {
            seekable.check()?;
        }
        Ok(read)
    }

    /// Copies a pipe to a temporary file, so that it can have several streams. Does nothing to other files.
    ///
    /// # Errors
    /// If the pipe cannot be read, or the folder has no room.
    pub fn make_seekable(&self) -> Result<()> {
        if !self.is_pipe()? {
            return Ok(());
        }
        let folder = &self.0.temporary;
        let mut file = tempfile::tempfile_in(folder).map_err(Error::io(folder, "make a temporary file in"))?;
        let Stream::Pipe(mut stream) = self.stream()? else { return Ok(()) };
        let (mut buffer, mut bytes) = (vec![0; COPY_BYTES], 0);
        loop {
            let read = match stream.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(_) if self.is_cancelled() => return Err(Error::Interrupted),
                Err(error) => return Err(Error::io(self.path(), "read")(error)),
            };
            file.write_all(&buffer[..read]).map_err(|error| self.no_room(&error, bytes))?;
            bytes += read as u64;
        }
        let seekable = Seekable { file: Arc::new(file), start: 0, bytes, modified: None };
        *self.state() = State::Seekable(seekable);
        Ok(())
    }

    fn no_room(&self, error: &io::Error, bytes: u64) -> Error {
        let found = format!(
            "{error}, after {bytes} bytes of {}, which must be read twice and is not a regular file; --temporary names \
             another folder",
            self.path().display()
        );
        Error::io(&self.0.temporary, "copy the input to a temporary file in")(io::Error::new(error.kind(), found))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The handle, opened at the first call.
    fn opened(&self) -> Result<MutexGuard<'_, State>> {
        let mut state = self.state();
        if matches!(*state, State::Closed) {
            *state = self.open()?;
        }
        Ok(state)
    }

    fn open(&self) -> Result<State> {
        let path = self.path();
        #[cfg(feature = "parquet")]
        if let Some(file) = &self.0.unnamed {
            let bytes = file.metadata().map_err(Error::io(path, "open"))?.len();
            return Ok(State::Seekable(Seekable { file: Arc::clone(file), start: 0, bytes, modified: None }));
        }
        let mut file = match self.is_standard_input() {
            true => pipe::standard_input(),
            false => pipe::open(path),
        }
        .map_err(Error::io(path, "open"))?;
        let metadata = match file.metadata() {
            // Windows has none of pipes and consoles.
            Err(_) if cfg!(windows) && self.is_standard_input() => None,
            found => Some(found.map_err(Error::io(path, "open"))?),
        };
        if metadata.as_ref().is_some_and(Metadata::is_dir) {
            return Err(Error::file(path, "a file", "a directory"));
        }
        let Some(metadata) = metadata.filter(Metadata::is_file) else {
            let pipe = Pipe::new(file, Arc::clone(&self.0.cancel));
            return Ok(State::Pipe { pipe, head: Vec::new(), ended: false });
        };
        let start = file.stream_position().map_err(Error::io(path, "seek"))?;
        let bytes = metadata.len().saturating_sub(start);
        Ok(State::Seekable(Seekable { file: Arc::new(file), start, bytes, modified: metadata.modified().ok() }))
    }
}

impl Seekable {
    /// An error if the file has changed since it was opened.
    fn check(&self) -> io::Result<()> {
        let metadata = self.file.metadata()?;
        let modified = self.modified.is_some() && metadata.modified().ok() != self.modified;
        if modified || metadata.len().saturating_sub(self.start) != self.bytes {
            return Err(io::Error::other("the file has changed while it was being read"));
        }
        Ok(())
    }
}

/// The contents of a file.
pub(super) enum Stream {
    /// Of a seekable file.
    Seekable(SeekableStream),
    /// Of any other file.
    Pipe(Box<dyn Read + Send>),
}

/// A stream with its own position, independent of other streams of the file.
pub(super) struct SeekableStream {
    seekable: Seekable,
    at: u64,
}

impl SeekableStream {
    /// Skips `count` bytes.
    pub(super) fn skip(&mut self, count: u64) {
        self.at = self.at.saturating_add(count);
    }
}

impl Read for SeekableStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let place = self.seekable.start.saturating_add(self.at);
        let read = read_at(&self.seekable.file, buffer, place)?;
        if read == 0 && !buffer.is_empty() {
            self.seekable.check()?;
        }
        self.at += read as u64;
        Ok(read)
    }
}

/// A stream of the beginning of a file; keeps what it reads from a pipe.
pub(super) struct PeekStream {
    file: InputFile,
    at: usize,
}

impl Read for PeekStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut state = self.file.opened().map_err(io::Error::other)?;
        let read = match &mut *state {
            State::Seekable(seekable) => {
                read_at(&seekable.file, buffer, seekable.start.saturating_add(self.at as u64))?
            }
            State::Pipe { pipe, head, ended } => {
                if self.at == head.len() && !*ended && head.len() < HEAD_BYTES_MAX {
                    let read = pipe.read(buffer)?;
                    *ended = read == 0;
                    head.extend_from_slice(&buffer[..read]);
                }
                let kept = &head[self.at..];
                let read = kept.len().min(buffer.len());
                buffer[..read].copy_from_slice(&kept[..read]);
                read
            }
            State::Taken | State::Closed => return Err(io::Error::other("a pipe that has been read already")),
        };
        self.at += read;
        Ok(read)
    }
}

/// Reads at an offset of a file; returns 0 beyond its end. Retries transient errors.
fn read_at(file: &File, buffer: &mut [u8], place: u64) -> io::Result<usize> {
    // The system's offsets are signed.
    if i64::try_from(place).is_err() {
        return Ok(0);
    }
    #[cfg(unix)]
    return insist(|| std::os::unix::fs::FileExt::read_at(file, buffer, place));
    #[cfg(windows)]
    return insist(|| std::os::windows::fs::FileExt::seek_read(file, buffer, place));
}
