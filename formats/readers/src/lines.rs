//! Formats with at most one edge a line, parsed in parallel.
//!
//! A block is split at newlines into pieces, the pieces are parsed in parallel, and their edges are returned in file
//! order. Each piece counts its lines, so that the first error of the file is reported with its line number.

use rayon::prelude::*;
use topostream_formats::text::plural;

use crate::blocks::Blocks;
use crate::cursor::Expected;
use topostream_formats::edge::{Edge, EdgeSource, SourceInfo};
use topostream_formats::error::{Error, Result};

/// The grammar of one line.
pub(super) trait LineFormat: Send + Sync {
    /// Appends the edge of `line` (without its newline), or nothing for comments and blank lines.
    fn parse(&self, line: &[u8], edges: &mut Vec<Edge>) -> Result<(), Expected>;

    /// [`EdgeSource::note`].
    fn note(&self) -> Option<String> {
        None
    }

    /// [`EdgeSource::claimed_edges`].
    fn claimed(&self) -> Option<u64> {
        None
    }
}

/// An edge source over the lines of a file.
pub(super) struct LineSource<F> {
    info: SourceInfo,
    blocks: Blocks,
    format: F,
    pieces: Vec<ParsedChunk>,
    /// The next of `pieces[..filled]` to return.
    next: usize,
    filled: usize,
    edges: u64,
    promised: Option<Promise>,
    /// The length of the pieces of the last block.
    piece_bytes: usize,
}

/// The number of edges that a file's header declares.
#[derive(Clone, Debug)]
pub(super) struct Promise {
    /// The number.
    pub(super) edges: u64,
    /// Where the number stands, for messages: "as the p line says".
    pub(super) says: &'static str,
}

/// The edges of a part of a block.
#[derive(Default)]
struct ParsedChunk {
    edges: Vec<Edge>,
    lines: u64,
    fault: Option<Fault>,
}

/// A malformed line.
struct Fault {
    /// Lines before it in its piece.
    line: u64,
    expected: Expected,
    found: Vec<u8>,
}

impl<F: LineFormat> LineSource<F> {
    /// A source over the remaining lines of `blocks`.
    pub(super) fn new(info: SourceInfo, blocks: Blocks, format: F, promised: Option<Promise>) -> Self {
        Self { info, blocks, format, pieces: Vec::new(), next: 0, filled: 0, edges: 0, promised, piece_bytes: 0 }
    }

    /// Parses one block; false at the end of the file.
    fn step(&mut self) -> Result<bool> {
        let Self { blocks, format, pieces, .. } = self;
        let piece_bytes = blocks.piece_bytes();
        let room = self.promised.as_ref().map(|promise| promise.edges.saturating_sub(self.edges));
        let parsed = blocks.step(|text| parse_block(format, text, piece_bytes, room, pieces))?;
        self.piece_bytes = piece_bytes;
        self.next = 0;
        self.filled = parsed.unwrap_or(0);
        for piece in &mut self.pieces[..self.filled] {
            if let Some(fault) = piece.fault.take() {
                return Err(self.blocks.error(fault.line, self.explain(fault.expected), &fault.found));
            }
            self.blocks.count_lines(piece.lines);
            self.edges += piece.edges.len() as u64;
        }
        Ok(parsed.is_some())
    }

    /// Replaces [`SURPLUS`] by a message with the declared number of edges.
    fn explain(&self, expected: Expected) -> Expected {
        match &self.promised {
            Some(Promise { edges, says }) if expected == SURPLUS => {
                format!("the end of the file after {edges} {}, {says}", plural(*edges, "edge")).into()
            }
            _ => expected,
        }
    }

    /// The line number of an edge of the piece that was returned last.
    fn line_of(&self, index: usize) -> Option<u64> {
        let piece = self.next.checked_sub(1)?;
        let behind: u64 = self.pieces[piece..self.filled].iter().map(|piece| piece.lines).sum();
        let first = self.blocks.lines_counted().checked_sub(behind)? + 1;
        let texts = split(self.blocks.given(), self.piece_bytes);
        let mut edges = Vec::new();
        let line = lines(texts.get(piece)?).position(|line| {
            self.format.parse(line, &mut edges).ok();
            edges.len() > index
        });
        line.map(|line| first + line as u64)
    }

    fn finish(&self) -> Result<()> {
        match &self.promised {
            Some(Promise { edges, says }) if *edges != self.edges => {
                let found = format!("{} {}", self.edges, plural(self.edges, "edge"));
                let expected = format!("{edges} {}, {says}", plural(*edges, "edge"));
                Err(Error::file(self.blocks.input().path(), expected, found))
            }
            _ => Ok(()),
        }
    }
}

impl<F: LineFormat> EdgeSource for LineSource<F> {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, chunk: &mut Vec<Edge>) -> Result<()> {
        chunk.clear();
        loop {
            for piece in &mut self.pieces[self.next..self.filled] {
                self.next += 1;
                if !piece.edges.is_empty() {
                    std::mem::swap(chunk, &mut piece.edges);
                    return Ok(());
                }
            }
            self.filled = 0;
            self.next = 0;
            if !self.step()? {
                return self.finish();
            }
        }
    }

    fn place(&self) -> String {
        self.blocks.input().path().display().to_string()
    }

    fn place_of(&self, index: usize, _edge: &Edge) -> String {
        match self.line_of(index) {
            Some(line) => format!("{}:{line}", self.place()),
            None => self.place(),
        }
    }

    fn note(&self) -> Option<String> {
        self.format.note()
    }

    fn claimed_edges(&self) -> Option<u64> {
        self.format.claimed()
    }

    fn is_read_once(&self) -> bool {
        self.blocks.input().is_read_once()
    }

    fn bytes_read(&self) -> u64 {
        self.blocks.input().consumed_bytes()
    }

    fn memory_bytes(&self) -> u64 {
        self.blocks.memory_bytes()
    }
}

/// Placeholder for the message about a surplus edge.
const SURPLUS: &str = "no further edge";

/// Parses `text` into the first elements of `pieces`, extended as needed; returns their number. An edge beyond the
/// first `room` is a fault.
fn parse_block<F: LineFormat>(
    format: &F,
    text: &[u8],
    piece_bytes: usize,
    room: Option<u64>,
    pieces: &mut Vec<ParsedChunk>,
) -> usize {
    let texts = split(text, piece_bytes);
    if pieces.len() < texts.len() {
        pieces.resize_with(texts.len(), ParsedChunk::default);
    }
    texts.par_iter().zip(&mut pieces[..]).for_each(|(text, piece)| piece.parse(format, text, piece_bytes));
    let mut room = room.unwrap_or(u64::MAX);
    for (text, piece) in texts.iter().zip(pieces) {
        let edges = piece.edges.len() as u64;
        if edges > room {
            piece.fault = surplus(format, text, room);
        }
        if piece.fault.is_some() {
            break;
        }
        room = room.saturating_sub(edges);
    }
    texts.len()
}

/// Splits `text` after newlines into pieces of at most `piece_bytes`; only a single line may be longer.
fn split(mut text: &[u8], piece_bytes: usize) -> Vec<&[u8]> {
    let mut pieces = Vec::with_capacity(text.len() / piece_bytes + 1);
    while text.len() > piece_bytes {
        let cut = memchr::memrchr(b'\n', &text[..piece_bytes]).or_else(|| memchr::memchr(b'\n', text));
        let (piece, rest) = text.split_at(cut.map_or(text.len(), |newline| newline + 1));
        pieces.push(piece);
        text = rest;
    }
    if !text.is_empty() {
        pieces.push(text);
    }
    pieces
}

impl ParsedChunk {
    fn parse<F: LineFormat>(&mut self, format: &F, text: &[u8], piece_bytes: usize) {
        self.edges.clear();
        self.edges.reserve(text.len().min(piece_bytes) / 4 + 1);
        self.lines = 0;
        self.fault = None;
        for line in lines(text) {
            if let Err(expected) = format.parse(line, &mut self.edges) {
                self.fault = Some(Fault { line: self.lines, expected, found: line.to_vec() });
                return;
            }
            self.lines += 1;
        }
    }
}

/// The lines of `text`, without their ends.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut begin = 0;
    let ends = memchr::memchr_iter(b'\n', text).chain((!text.ends_with(b"\n")).then_some(text.len()));
    ends.map(move |end| {
        let line = &text[begin..end];
        begin = end + 1;
        line
    })
}

/// The fault for the first line of `text` with an edge beyond `room`.
fn surplus<F: LineFormat>(format: &F, text: &[u8], room: u64) -> Option<Fault> {
    let mut edges = Vec::new();
    for (line, found) in (0..).zip(lines(text)) {
        format.parse(found, &mut edges).ok()?;
        if edges.len() as u64 > room {
            return Some(Fault { line, expected: SURPLUS.into(), found: found.to_vec() });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_end_where_lines_end() {
        let text = b"1 2\n33333 4\n5 6\n7";
        for piece_bytes in 1..20 {
            let pieces = split(text, piece_bytes);
            assert_eq!(pieces.concat(), text);
            assert!(pieces.iter().rev().skip(1).all(|piece| piece.ends_with(b"\n")), "{piece_bytes}");
            assert!(pieces.iter().all(|piece| piece.len() <= piece_bytes || lines(piece).count() == 1));
        }
        assert!(split(b"", 4).is_empty());
    }

    #[test]
    fn a_last_line_needs_no_newline() {
        assert_eq!(lines(b"1\n\n2").collect::<Vec<_>>(), [&b"1"[..], b"", b"2"]);
        assert_eq!(lines(b"1\n").collect::<Vec<_>>(), [b"1"]);
    }
}
