//! Recognises a file's format by its name and its first bytes.

use std::path::Path;

use crate::archive::resolve;
use crate::cursor::Cursor;
use crate::file::InputFile;
use crate::foreign::{of_rows, of_signature};
use crate::graphalytics_files::is_prefix;
use crate::headers::is_edge_array;
use crate::input::Input;
use crate::kind::Kind;
use crate::matrix_market::is_banner;
use crate::packing::strip;
use crate::table::{Sample, is_plain_list, looks_like};
use topostream_formats::error::{Error, Result};

/// The number of bytes examined.
const HEAD_BYTES: usize = 64 << 10;

/// The format of the edge list at `path`: by its header line, whatever the file's name; otherwise by the name without
/// extensions of compression; otherwise plain text, if the first line has numbers.
///
/// # Errors
/// If neither name nor content is recognised; if the file cannot be read.
pub fn recognise(path: impl AsRef<Path>) -> Result<Kind> {
    of_file(&resolve(&InputFile::new(path))?)
}

/// The format of `file`. The beginning of a pipe is kept for reading.
pub(super) fn of_file(file: &InputFile) -> Result<Kind> {
    recognised(file, false)
}

/// The format of `file`, of which columns are chosen: its rows may be of any form.
pub(super) fn with_columns(file: &InputFile) -> Result<Kind> {
    recognised(file, true)
}

/// Returns an error if `file` begins like a file of another kind than the one that the user named.
pub(super) fn check_named(file: &InputFile, kind: Kind) -> Result<()> {
    // These are recognised by their own readers, or have more than one file.
    if matches!(kind, Kind::Parquet | Kind::Arrow | Kind::Graphalytics) || file.path().is_dir() {
        return Ok(());
    }
    let head = head_of(file)?;
    let head = without_mark(&head);
    let is_binary = matches!(kind, Kind::GapBinary | Kind::RawU32 | Kind::RawU64);
    let other = announced(head);
    if other == Some(kind) {
        return Ok(());
    }
    if let Some(other) = other.filter(|other| !matches!(other, Kind::Parquet | Kind::Arrow | Kind::Text)) {
        let begin: String = String::from_utf8_lossy(head.trim_ascii_start())
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(40)
            .collect();
        let found = format!(
            "a file that begins {begin:?}, which is {other}: drop --kind, or remove that line to read the rest as {kind}"
        );
        return Err(Error::file(file.path(), format!("a file of the kind {kind}"), found));
    }
    // The ids of raw pairs may have any bytes, and a kind that is named outweighs the file's name.
    match of_signature(None, head).filter(|_| !is_binary) {
        Some(foreign) => Err(foreign.refuse(file.path())),
        None => Ok(()),
    }
}

fn recognised(file: &InputFile, has_columns: bool) -> Result<Kind> {
    let kind = of_whole(file, has_columns)?;
    if file.is_member() && matches!(kind, Kind::Parquet | Kind::Arrow | Kind::Graphalytics) {
        return Err(Error::file(
            file.path(),
            "an edge list that is read from beginning to end",
            format!("{kind}: unpack it"),
        ));
    }
    Ok(kind)
}

fn of_whole(file: &InputFile, has_columns: bool) -> Result<Kind> {
    #[cfg(feature = "parquet")]
    if file.table().is_some() {
        return Ok(Kind::Arrow);
    }
    if file.is_standard_input() {
        return by_content(file, None, has_columns);
    }
    let path = file.path();
    if path.is_dir() || is_prefix(path) {
        return Ok(Kind::Graphalytics);
    }
    let named = strip(path).extension().and_then(|extension| Kind::of_extension(extension.to_str()?));
    if let Some(Kind::GapBinary | Kind::RawU32 | Kind::RawU64 | Kind::Parquet | Kind::Arrow) = named {
        return Ok(named.unwrap_or(Kind::Text));
    }
    // Properties files are recognised by their extension, but WebGraph's have it, too.
    if strip(path).extension().is_some_and(|extension| extension == "properties") {
        let head = if path.is_file() { head_of(file).ok() } else { None };
        let foreign = head.and_then(|head| of_signature(Some("properties"), &head));
        return foreign.map_or(Ok(Kind::Graphalytics), |foreign| Err(foreign.refuse(path)));
    }
    by_content(file, named, has_columns)
}

/// The extension of a file, without an extension of compression.
fn extension(file: &InputFile) -> Option<String> {
    let name = Some(file).filter(|file| !file.is_standard_input());
    name.and_then(|file| Some(strip(file.path()).extension()?.to_str()?.to_ascii_lowercase()))
}

/// The first bytes of a file.
fn head_of(file: &InputFile) -> Result<Vec<u8>> {
    let mut input = Input::peek(file)?;
    let mut head = vec![0; HEAD_BYTES];
    let (read, failure) = input.fill(&mut head);
    head.truncate(read);
    match failure.filter(|failure| read == 0 || matches!(failure, Error::Interrupted)) {
        Some(failure) => Err(failure),
        None => Ok(head),
    }
}

fn without_mark(head: &[u8]) -> &[u8] {
    head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head)
}

/// The format by header line, `named`, or text.
fn by_content(file: &InputFile, named: Option<Kind>, has_columns: bool) -> Result<Kind> {
    let head = head_of(file)?;
    let is_whole = head.len() < HEAD_BYTES;
    let head = without_mark(&head);
    if head.is_empty() {
        return Err(Error::file(file.path(), "an edge list", "an empty file"));
    }
    let mut kind = announced(head);
    if kind.is_none()
        && let Some(foreign) = of_signature(extension(file).as_deref(), head)
    {
        return Err(foreign.refuse(file.path()));
    }
    kind = kind.or(named.filter(|kind| !matches!(kind, Kind::Text | Kind::Csv)));
    if kind.is_none()
        && !has_columns
        && let Some(foreign) = of_rows(head, is_whole)
    {
        return Err(foreign.refuse(file.path()));
    }
    // Two lines of words in a file of an unknown name are not a graph yet.
    let rows_min = if named.is_some() || file.is_standard_input() { 1 } else { 3 };
    let sample = Sample::new(head, is_whole);
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
    // Comments in Pajek files begin like comments in plain lists.
    let row = lines.clone().find(|line| !matches!(Cursor::new(line).first(), None | Some(b'%')));
    if row.and_then(|line| Cursor::new(line).word()).is_some_and(is_pajek) {
        return Some(Kind::Pajek);
    }
    match Cursor::new(first).word()? {
        _ if is_banner(first) => return Some(Kind::MatrixMarket),
        _ if is_graphml(head) => return Some(Kind::GraphMl),
        b"AdjacencyGraph" | b"WeightedAdjacencyGraph" => return Some(Kind::Adjacency),
        _ if is_edge_array(first) => return Some(Kind::Text),
        _ => {}
    }
    let is_comment = |line: &[u8]| matches!(line, [] | [b'c'] | [b'c', b' ' | b'\t' | b'\r', ..]);
    let line = lines.find(|line| !is_comment(line))?;
    let mut cursor = Cursor::new(line);
    match (cursor.word()?, cursor.word()?) {
        (b"p", b"sp" | b"edge" | b"edges" | b"col" | b"max" | b"asn" | b"tw") if cursor.number().is_some() => {
            Some(Kind::Dimacs)
        }
        (b"e", source) if source.iter().all(u8::is_ascii_digit) && cursor.number().is_some() && cursor.is_end() => {
            Some(Kind::Dimacs)
        }
        (b"a", source) if source.iter().all(u8::is_ascii_digit) && cursor.number().is_some() => Some(Kind::Dimacs),
        _ => None,
    }
}

/// Whether a document of XML is GraphML.
fn is_graphml(head: &[u8]) -> bool {
    let head = &head[..head.len().min(4 << 10)];
    head.trim_ascii_start().starts_with(b"<") && memchr::memmem::find(head, b"<graphml").is_some()
}

/// Whether a word begins a section of Pajek.
fn is_pajek(word: &[u8]) -> bool {
    let sections: [&[u8]; 5] = [b"*vertices", b"*network", b"*arcs", b"*edges", b"*matrix"];
    sections.iter().any(|section| word.eq_ignore_ascii_case(section))
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
