//! A text as a sequence of words, for formats whose lines may be longer than memory.

use std::ops::Range;

use crate::cursor::{Expected, integer, is_blank};
use crate::file::InputFile;
use crate::input::{Input, Unpack};
use topostream_formats::error::{Error, Result};

const BUFFER_BYTES: usize = 256 << 10;

/// A token of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A word, returned by [`Tokens::word`].
    Word,
    /// The end of a line.
    LineEnd,
    /// The end of the text.
    End,
}

/// A text as a stream of words and line ends.
pub(super) struct Tokens {
    input: Input,
    buffer: Vec<u8>,
    unread: Range<usize>,
    word: Range<usize>,
    /// The number of line ends so far.
    lines: u64,
    /// The line of the last token, from 0.
    line: u64,
    last: Token,
    ended: bool,
    /// The read error after the unread part.
    failure: Option<Error>,
}

impl Tokens {
    /// Opens `file`; a UTF-8 byte order mark is skipped.
    pub(super) fn open(file: &InputFile, memory_bytes: u64) -> Result<Self> {
        let input = Input::open(file, memory_bytes, Unpack::ByContent)?;
        let buffer = vec![0; BUFFER_BYTES];
        let mut tokens = Self {
            input,
            buffer,
            unread: 0..0,
            word: 0..0,
            lines: 0,
            line: 0,
            last: Token::LineEnd,
            ended: false,
            failure: None,
        };
        tokens.refill()?;
        if tokens.buffer[tokens.unread.clone()].starts_with(b"\xef\xbb\xbf") {
            tokens.unread.start = 3;
        }
        Ok(tokens)
    }

    /// The file.
    pub(super) fn input(&self) -> &Input {
        &self.input
    }

    /// The number of line ends so far.
    pub(super) fn lines(&self) -> u64 {
        self.lines
    }

    /// Maximum memory, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        BUFFER_BYTES as u64 + self.input.memory_bytes()
    }

    /// Moves to the next token.
    pub(super) fn next(&mut self) -> Result<Token> {
        self.word = 0..0;
        self.line = self.lines;
        self.last = self.scan()?;
        Ok(self.last)
    }

    fn scan(&mut self) -> Result<Token> {
        loop {
            while let Some(&byte) = self.buffer[..self.unread.end].get(self.unread.start) {
                if byte == b'\n' {
                    self.unread.start += 1;
                    self.lines += 1;
                    return Ok(Token::LineEnd);
                }
                if !is_blank(byte) {
                    return self.scan_word();
                }
                self.unread.start += 1;
            }
            if !self.refill()? {
                return Ok(Token::End);
            }
        }
    }

    /// Moves to the next word, across line ends; false at the end of the text.
    pub(super) fn next_word(&mut self) -> Result<bool> {
        loop {
            match self.next()? {
                Token::Word => return Ok(true),
                Token::LineEnd => {}
                Token::End => return Ok(false),
            }
        }
    }

    /// The word that [`Self::next`] moved to; empty after any other token.
    pub(super) fn word(&self) -> &[u8] {
        &self.buffer[self.word.clone()]
    }

    /// The word as an unsigned integer; `None` for anything else.
    pub(super) fn number(&self) -> Option<u64> {
        integer(self.word())
    }

    /// Skips the rest of the line, including its end.
    pub(super) fn skip_line(&mut self) -> Result<()> {
        loop {
            let rest = &self.buffer[self.unread.clone()];
            if let Some(length) = memchr::memchr(b'\n', rest) {
                self.unread.start += length + 1;
                self.lines += 1;
                return Ok(());
            }
            self.unread.start = self.unread.end;
            if !self.refill()? {
                return Ok(());
            }
        }
    }

    /// An error at the current token.
    pub(super) fn error(&self, expected: impl Into<Expected>) -> Error {
        let found: &[u8] = match self.last {
            Token::Word => self.word(),
            Token::LineEnd => b"the end of the line",
            Token::End => b"the end of the file",
        };
        Error::line(self.input.path(), self.line + 1, expected.into(), found)
    }

    /// Finds the end of the word at the beginning of the unread part.
    fn scan_word(&mut self) -> Result<Token> {
        let mut length = 0;
        loop {
            let rest = &self.buffer[self.unread.start + length..self.unread.end];
            let scanned = rest.iter().position(|&byte| byte == b'\n' || is_blank(byte));
            length += scanned.unwrap_or(rest.len());
            if scanned.is_some() || !self.refill()? {
                self.word = self.unread.start..self.unread.start + length;
                self.unread.start += length;
                return Ok(Token::Word);
            }
        }
    }

    /// Moves the unread part to the front and reads more after it; false at the end of the file.
    fn refill(&mut self) -> Result<bool> {
        if let Some(failure) = self.failure.take() {
            self.ended = true;
            return Err(failure);
        }
        if self.ended {
            return Ok(false);
        }
        self.buffer.copy_within(self.unread.clone(), 0);
        self.unread = 0..self.unread.len();
        if self.unread.len() == self.buffer.len() {
            return Err(Error::line(self.input.path(), self.line + 1, "a number", &self.buffer[..100]));
        }
        let (read, failure) = self.input.fill(&mut self.buffer[self.unread.end..]);
        self.unread.end += read;
        self.failure = failure;
        self.ended = self.unread.end < self.buffer.len() && self.failure.is_none();
        if read == 0 && self.failure.is_some() {
            return self.refill();
        }
        Ok(read > 0)
    }
}
