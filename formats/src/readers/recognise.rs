//! Recognises a file's format by its name and its first bytes.

use std::path::Path;

use super::Kind;
use super::cursor::Cursor;
use super::file::InputFile;
use super::graphalytics_files::is_prefix;
use super::input::Input;
use super::packing::strip;
use super::table::{Sample, is_plain_list, looks_like};
use crate::error::{Error, Result};

/// The number of bytes examined.
const HEAD_BYTES: usize = 64 << 10;

/// The format of the edge list at `path`: by its header line, whatever the file's name; otherwise by the name without
/// extensions of compression; otherwise plain text, if the first line has numbers.
///
/// # Errors
/// If neither name nor content is recognised; if the file cannot be read.
pub fn recognise(path: impl AsRef<Path>) -> Result<Kind> {
    of_file(&InputFile::new(path))
}

/// The format of `file`. The beginning of a pipe is kept for reading.
pub(super) fn of_file(file: &InputFile) -> Result<Kind> {
    #[cfg(feature = "parquet")]
    if file.table().is_some() {
        return Ok(Kind::Arrow);
    }
    if file.is_standard_input() {
        return by_content(file, None);
    }
    let path = file.path();
    if path.is_dir() || is_prefix(path) {
        return Ok(Kind::Graphalytics);
    }
    let named = strip(path).extension().and_then(|extension| Kind::of_extension(extension.to_str()?));
    if let Some(Kind::GapBinary | Kind::RawU32 | Kind::RawU64 | Kind::Parquet | Kind::Arrow) = named {
        return Ok(named.unwrap_or(Kind::Text));
    }
    // Properties files are recognised by name only.
    if strip(path).extension().is_some_and(|extension| extension == "properties") {
        return Ok(Kind::Graphalytics);
    }
    by_content(file, named)
}

/// The format by header line, `named`, or text.
fn by_content(file: &InputFile, named: Option<Kind>) -> Result<Kind> {
    let mut input = Input::peek(file)?;
    let mut head = vec![0; HEAD_BYTES];
    let (read, failure) = input.fill(&mut head);
    if let Some(failure) = failure.filter(|failure| read == 0 || matches!(failure, Error::Interrupted)) {
        return Err(failure);
    }
    let head = head[..read].strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head[..read]);
    if head.is_empty() {
        return Err(Error::file(file.path(), "an edge list", "an empty file"));
    }
    let kind = announced(head).or(named.filter(|kind| !matches!(kind, Kind::Text | Kind::Csv)));
    // Two lines of words in a file of an unknown name are not a graph yet.
    let rows_min = if named.is_some() || file.is_standard_input() { 1 } else { 3 };
    let sample = Sample::new(head, read < HEAD_BYTES);
    let is_table = || looks_like(&sample, rows_min);
    let kind = kind.or_else(|| is_plain_list(&sample).then_some(Kind::Text));
    // A table that could be taken in several ways is refused by its own reader.
    let kind = kind.or_else(|| (is_table() || named.is_some()).then_some(Kind::Csv));
    kind.ok_or_else(|| unknown(file.path(), head))
}

/// The kind with a recognisable header line or magic number.
fn announced(head: &[u8]) -> Option<Kind> {
    if head.starts_with(b"PAR1") {
        return Some(Kind::Parquet);
    }
    if head.starts_with(b"ARROW1") || head.starts_with(&[0xff; 4]) {
        return Some(Kind::Arrow);
    }
    let mut lines = head.split(|&byte| byte == b'\n');
    let first = lines.clone().find(|line| !Cursor::new(line).is_end())?;
    match Cursor::new(first).word()? {
        word if word.eq_ignore_ascii_case(b"%%MatrixMarket") => return Some(Kind::MatrixMarket),
        b"AdjacencyGraph" | b"WeightedAdjacencyGraph" => return Some(Kind::Adjacency),
        _ => {}
    }
    let line = lines.find(|line| !matches!(line, [] | [b'c', ..]))?;
    let mut cursor = Cursor::new(line);
    match (cursor.word()?, cursor.word()?) {
        (b"p", b"sp") => Some(Kind::Dimacs),
        (b"a", source) if source.iter().all(u8::is_ascii_digit) => Some(Kind::Dimacs),
        _ => None,
    }
}

/// The error for an unrecognised file.
fn unknown(path: &Path, head: &[u8]) -> Error {
    let extensions: Vec<String> =
        Kind::ALL.iter().flat_map(|kind| kind.extensions()).map(|extension| format!(".{extension}")).collect();
    let expected = format!(
        "an edge list by name ({}, each also compressed) or by content (%%MatrixMarket, AdjacencyGraph, lines of p sp \
         or a, lines of two ids); pass --kind to name the format",
        extensions.join(" ")
    );
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let begin: String = String::from_utf8_lossy(line).chars().take(40).collect();
    let found = if head.is_empty() { "an empty file".to_owned() } else { format!("a file that begins {begin:?}") };
    Error::file(path, expected, found)
}
