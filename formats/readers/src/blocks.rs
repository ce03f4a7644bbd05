//! Blocks of whole lines, read ahead.
//!
//! ```text
//!  current: │ lines passed on │ lines to come …… │ cut line │         next: │ cut line │ bytes being read …… │
//!                             at                 cut                            └── filled while `current` is parsed
//! ```

use std::ops::Range;

use crate::cursor::Expected;
use crate::file::InputFile;
use crate::input::{Input, Unpack};
use topostream_formats::error::{Error, Result};

/// The smallest block, and so a length that lines may always have.
const BLOCK_BYTES_MIN: usize = 64 << 10;
/// The largest block of few threads, and of any number; larger ones are not faster.
const BLOCK_BYTES_MAX: [usize; 2] = [8 << 20, 64 << 20];
/// What each thread adds to it: pieces are then large enough for what all threads do with the edges of one.
const BLOCK_BYTES_PER_THREAD: usize = 4 << 20;
/// Bytes of the lines that are examined before they are read.
const SAMPLE_BYTES_MAX: usize = 1 << 20;
/// The largest piece of a block for one thread. A line has at least four bytes, so a piece has at most as many edges as
/// a chunk.
const PIECE_BYTES_MAX: usize = 4 * topostream_formats::edge::CHUNK_EDGES;

/// Bytes of memory per byte of a block: two blocks of text, and the edges of one (24 bytes for each line of four).
const HELD_PER_BLOCK_BYTE: u64 = 8;

/// The lines of a file, block after block.
pub(super) struct Blocks {
    input: Input,
    current: Block,
    next: Block,
    /// Lines before `current.at`.
    lines: u64,
    /// The lines that [`Blocks::step`] passed last.
    given: Given,
}

/// The location of the lines passed last.
#[derive(Clone, Debug)]
enum Given {
    Current(Range<usize>),
    /// In `next`: the blocks were swapped while the lines were parsed.
    Next(Range<usize>),
}

/// Whole lines, and the beginning of the next line.
struct Block {
    bytes: Vec<u8>,
    at: usize,
    cut: usize,
    end: usize,
    /// What follows the lines.
    then: Then,
}

enum Then {
    More,
    End,
    Failure(Error),
    /// A line that is longer than a block.
    Endless,
}

impl Block {
    fn new(bytes: usize) -> Self {
        Self { bytes: vec![0; bytes], at: 0, cut: 0, end: 0, then: Then::More }
    }

    fn lines(&self) -> &[u8] {
        &self.bytes[self.at..self.cut]
    }

    fn begun(&self) -> &[u8] {
        &self.bytes[self.cut..self.end]
    }

    fn is_spent(&self) -> bool {
        self.at == self.cut
    }

    /// Continues reading after `begun`, the incomplete last line of the previous block.
    fn fill(&mut self, input: &mut Input, begun: &[u8]) {
        self.bytes[..begun.len()].copy_from_slice(begun);
        let (read, failure) = input.fill(&mut self.bytes[begun.len()..]);
        self.at = 0;
        self.end = begun.len() + read;
        self.cut = memchr::memrchr(b'\n', &self.bytes[..self.end]).map_or(0, |newline| newline + 1);
        self.then = match failure {
            Some(failure) => Then::Failure(failure),
            None if self.end < self.bytes.len() => {
                self.cut = self.end;
                Then::End
            }
            None if self.cut == 0 => Then::Endless,
            None => Then::More,
        };
    }
}

impl Blocks {
    /// Opens `file` and reads its first block; a UTF-8 byte order mark is skipped.
    pub(super) fn open(file: &InputFile, memory_bytes: u64) -> Result<Self> {
        Self::over(Input::open(file, memory_bytes, Unpack::ByContent)?, memory_bytes)
    }

    /// The beginning of `file`, which may be a pipe and is not consumed.
    pub(super) fn peek(file: &InputFile) -> Result<Self> {
        Self::over(Input::peek(file)?, 0)
    }

    fn over(input: Input, memory_bytes: u64) -> Result<Self> {
        let bytes = usize::try_from(memory_bytes / (HELD_PER_BLOCK_BYTE * 3 / 2)).unwrap_or(usize::MAX);
        let [of_few, of_any] = BLOCK_BYTES_MAX;
        let bytes_max = (BLOCK_BYTES_PER_THREAD * rayon::current_num_threads()).clamp(of_few, of_any);
        let bytes = bytes.clamp(BLOCK_BYTES_MIN, bytes_max);
        let (current, next) = (Block::new(bytes), Block::new(bytes));
        let mut blocks = Self { input, current, next, lines: 0, given: Given::Current(0..0) };
        blocks.current.fill(&mut blocks.input, &[]);
        if blocks.current.lines().starts_with(b"\xef\xbb\xbf") {
            blocks.current.at = 3;
        }
        Ok(blocks)
    }

    /// The file.
    pub(super) fn input(&self) -> &Input {
        &self.input
    }

    /// The size of the pieces that threads parse: several pieces of a block for each thread.
    pub(super) fn piece_bytes(&self) -> usize {
        let shares = 4 * rayon::current_num_threads();
        (self.current.bytes.len() / shares).clamp(BLOCK_BYTES_MIN / 4, PIECE_BYTES_MAX)
    }

    /// Maximum memory of a reader of these blocks, including its edges and the decompressor.
    pub(super) fn memory_bytes(&self) -> u64 {
        HELD_PER_BLOCK_BYTE * self.current.bytes.len() as u64 + self.input.memory_bytes()
    }

    /// The next line without its end, and without moving past it; `None` at the end of the file.
    pub(super) fn line(&mut self) -> Result<Option<&[u8]>> {
        while self.current.is_spent() {
            if !self.refill()? {
                return Ok(None);
            }
        }
        let lines = self.current.lines();
        Ok(Some(&lines[..memchr::memchr(b'\n', lines).unwrap_or(lines.len())]))
    }

    /// Moves past the line that [`Self::line`] returned.
    pub(super) fn advance(&mut self) {
        let lines = self.current.lines();
        self.current.at += memchr::memchr(b'\n', lines).map_or(lines.len(), |newline| newline + 1);
        self.lines += 1;
    }

    /// Skips lines while `skip` returns true; returns whether any line is left.
    pub(super) fn advance_while(&mut self, skip: impl Fn(&[u8]) -> bool) -> Result<bool> {
        while let Some(line) = self.line()? {
            if !skip(line) {
                return Ok(true);
            }
            self.advance();
        }
        Ok(false)
    }

    /// The next lines, about 64 KiB of them, without moving past them.
    pub(super) fn ahead(&self) -> &[u8] {
        let lines = self.current.lines();
        match lines.get(..BLOCK_BYTES_MIN) {
            Some(begin) => memchr::memrchr(b'\n', begin).map_or(lines, |newline| &lines[..newline]),
            None => lines,
        }
    }

    /// The next lines, about 1 MiB of them, without moving past them.
    pub(super) fn sample(&self) -> &[u8] {
        let lines = self.current.lines();
        match lines.get(..SAMPLE_BYTES_MAX) {
            Some(begin) => memchr::memrchr(b'\n', begin).map_or(lines, |newline| &lines[..=newline]),
            None => lines,
        }
    }

    /// Whether [`Self::sample`] has all lines that are left.
    pub(super) fn is_sample_all(&self) -> bool {
        self.sample().len() == self.current.lines().len() && matches!(self.current.then, Then::End)
    }

    /// Passes the lines of a block to `work` while the next block is read; `None` at the end of the file. The caller
    /// counts the lines with [`Self::count_lines`].
    pub(super) fn step<T: Send>(&mut self, work: impl FnOnce(&[u8]) -> T + Send) -> Result<Option<T>> {
        while self.current.is_spent() {
            if !self.refill()? {
                return Ok(None);
            }
        }
        let Self { input, current, next, given, .. } = self;
        if !matches!(current.then, Then::More) {
            let result = work(current.lines());
            *given = Given::Current(current.at..current.cut);
            current.at = current.cut;
            return Ok(Some(result));
        }
        let (result, ()) = rayon::join(|| work(current.lines()), || next.fill(input, current.begun()));
        *given = Given::Next(current.at..current.cut);
        std::mem::swap(current, next);
        Ok(Some(result))
    }

    /// The lines that [`Self::step`] passed last.
    pub(super) fn given(&self) -> &[u8] {
        match &self.given {
            Given::Current(lines) => &self.current.bytes[lines.clone()],
            Given::Next(lines) => &self.next.bytes[lines.clone()],
        }
    }

    /// The number of lines counted.
    pub(super) fn lines_counted(&self) -> u64 {
        self.lines
    }

    /// Counts the lines that [`Self::step`] passed.
    pub(super) fn count_lines(&mut self, lines: u64) {
        self.lines += lines;
    }

    /// An error in the line `ahead` lines after the ones counted so far.
    pub(super) fn error(&self, ahead: u64, expected: impl Into<Expected>, found: &[u8]) -> Error {
        Error::line(self.input.path(), self.lines + ahead + 1, expected.into(), found)
    }

    /// An error in the line that [`Self::line`] returns.
    pub(super) fn error_here(&self, expected: impl Into<Expected>) -> Error {
        let lines = self.current.lines();
        self.error(0, expected, &lines[..memchr::memchr(b'\n', lines).unwrap_or(lines.len())])
    }

    /// Replaces a spent block by the one after it; false at the end of the file.
    fn refill(&mut self) -> Result<bool> {
        let Self { input, current, next, .. } = self;
        match std::mem::replace(&mut current.then, Then::End) {
            Then::More => {
                next.fill(input, current.begun());
                std::mem::swap(current, next);
                Ok(true)
            }
            Then::End => Ok(false),
            Then::Failure(failure) => Err(failure),
            Then::Endless => {
                let expected = format!("a line of at most {} bytes", self.current.bytes.len());
                Err(self.error(0, expected, self.current.begun()))
            }
        }
    }
}
