//! Recognises how delimited text is written by a sample of its rows: separator, quotes, comments, header.
//!
//! Whatever is decided here is supported by the rows of the sample, or refused with the option that decides:
//!
//! - The separator gives every row as many cells.
//! - Quotes enclose cells if that is needed somewhere (a separator or a doubled quote within), or if all cells of a
//!   column have them; with commas also where some have them. They are characters if one of them is not closed.
//! - Lines that begin with `#` or `%` are comments, unless they have as many cells as the rows: then they are rows if
//!   other cells begin like that, names of columns if they are such above the first row, and refused otherwise.

use super::form::{CommentsOption, Form, Malformed, Quotes, QuotesOption, Separator};
use super::header::{self, Header};
use super::options::TableOptions;
use super::roles;
use crate::cursor::{Cursor, has_leading_zero, integer};
use std::path::Path;
use topostream_formats::error::Error;
use topostream_formats::names::NameList;
use topostream_formats::text::plural;

/// The bytes that begin comments.
const MARKS: [u8; 2] = *b"#%";

/// A sample that cannot be a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The line, from 0, if there is one.
    line: Option<u64>,
    expected: String,
    found: String,
}

impl Refusal {
    fn file(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { line: None, expected: expected.into(), found: found.into() }
    }

    fn line(line: u64, expected: impl Into<String>, found: &[u8]) -> Self {
        let found = String::from_utf8_lossy(found).into_owned();
        Self { line: Some(line), expected: expected.into(), found }
    }

    /// The error, for a file.
    pub fn error(self, path: &Path) -> Error {
        match self.line {
            Some(line) => Error::line(path, line + 1, self.expected, self.found.as_bytes()),
            None => Error::file(path, self.expected, self.found),
        }
    }
}

/// The beginning of a file, in whole lines.
#[derive(Clone, Copy)]
pub(crate) struct Sample<'a> {
    text: &'a [u8],
    is_whole: bool,
    /// The bytes of a byte order mark before the text.
    skipped: usize,
}

impl<'a> Sample<'a> {
    /// The whole lines of the beginning of a file; its last line needs no end if this is the whole file.
    pub fn new(head: &'a [u8], is_whole: bool) -> Self {
        let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
        let cut = if is_whole { text.len() } else { memchr::memrchr(b'\n', text).map_or(text.len(), |at| at + 1) };
        Self { text: &text[..cut], is_whole, skipped: head.len() - text.len() }
    }

    /// Whether there are a header and a row, or two rows.
    pub fn has_rows(&self) -> bool {
        let (_, begin) = leading(self.text, CommentsOption::Auto);
        memchr::memchr_iter(b'\n', &self.text[begin..]).nth(1).is_some()
    }
}

/// Which lines are comments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Comments {
    /// The bytes that begin them.
    marks: Vec<u8>,
    /// Whether they were requested, or no row can begin like that. Otherwise a line with as many cells as the rows is
    /// refused.
    pub is_sure: bool,
}

impl Comments {
    /// Whether a line begins like a comment.
    #[inline]
    pub fn begin(&self, line: &[u8]) -> bool {
        match line.first() {
            Some(first) => self.marks.contains(first),
            None => false,
        }
    }
}

/// What the sample says.
#[derive(Clone, Debug)]
pub(super) struct Dialect {
    pub form: Form,
    pub comments: Comments,
    /// The number of cells of a row; without the last cell, if that is empty everywhere.
    pub width: usize,
    /// The names of the columns, if there are names.
    pub header: Option<Vec<String>>,
    /// The rows of the sample.
    pub rows: Vec<NameList>,
    /// Bytes and lines before the first row.
    pub begin: (usize, u64),
    /// What a user should know about the form.
    pub notes: Vec<String>,
}

/// Whether the beginning of a file is a table: at least `rows_min` rows, each with as many cells.
pub(crate) fn looks_like(sample: &Sample<'_>, rows_min: usize) -> bool {
    Dialect::of(sample, &TableOptions::default()).is_ok_and(|dialect| {
        let rows = dialect.rows.len() + usize::from(dialect.header.is_some());
        rows >= rows_min && dialect.rows.iter().all(|row| row.len() >= dialect.width)
    })
}

/// Whether the beginning of a file is a plain list: `source dest [weight]` with integer ids, no header, and no more to
/// be decided. Plain lists are read faster than tables.
pub(crate) fn is_plain_list(sample: &Sample<'_>) -> bool {
    let (before, begin) = leading(sample.text, CommentsOption::Auto);
    let line = line_of(&sample.text[begin..], 0);
    let mut cursor = Cursor::new(line);
    let is_id = |word: Option<&[u8]>| word.is_some_and(|word| integer(word).is_some() && !has_leading_zero(word));
    if !is_id(cursor.word()) || !is_id(cursor.word()) || cursor.first() == Some(b'{') {
        return false;
    }
    let width = cursor.count() + 2;
    // A comment with as many columns may be an edge, or the names of columns in another order.
    let Some(last) = before.iter().rev().find(|line| !line.trim_ascii().is_empty()) else { return true };
    let words = |line: &[u8]| {
        let line = String::from_utf8_lossy(line.get(1..).unwrap_or_default()).replace(',', " ");
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let is_edge = |line: &&&[u8]| matches!(line, [_, b'0'..=b'9', ..]) && words(line).len() == width;
    let names = words(last);
    let in_order = names.len() != width || roles::pairs(&names).iter().all(|&pair| pair == (0, 1));
    in_order && !before.iter().any(|line| is_edge(&line))
}

/// The rows of a text under a form, with the line of each.
struct Split {
    rows: Vec<NameList>,
    lines: Vec<u64>,
    /// A row that cannot be split, and its line: no row after it is there.
    fault: Option<(Malformed, u64)>,
    /// Rows of several lines.
    long: usize,
    /// Lines within quotes that look like rows.
    swallowed: usize,
}

impl Split {
    /// Splits a text, without lines that are blank or begin with a mark.
    fn of(text: &[u8], form: &Form, marks: &[u8]) -> Self {
        let mut split = Self { rows: Vec::new(), lines: Vec::new(), fault: None, long: 0, swallowed: 0 };
        let (mut at, mut line, mut cells) = (0, 0, NameList::default());
        while at < text.len() {
            let rest = &text[at..];
            let first = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
            if first.trim_ascii().is_empty() || first.first().is_some_and(|byte| marks.contains(byte)) {
                (at, line) = (at + first.len() + 1, line + 1);
                continue;
            }
            match form.split(rest, &mut cells) {
                Ok(length) => {
                    split.lines.push(line);
                    split.rows.push(cells.clone());
                    let row = &rest[..length];
                    let within = memchr::memchr_iter(b'\n', row).count() - usize::from(row.ends_with(b"\n"));
                    if within > 0 {
                        split.long += 1;
                        split.swallowed += swallowed(row, form, cells.len());
                    }
                    (at, line) = (at + length, line + within as u64 + 1);
                }
                Err(fault) => {
                    split.fault = Some((fault, line));
                    return split;
                }
            }
        }
        split
    }

    /// The number of cells that all rows have; rows whose last cell is empty count without, if all have such a one.
    fn width(&self) -> usize {
        let Some(first) = self.rows.first() else { return 0 };
        let trailing = self.rows.iter().all(|row| row.len() > 1 && row.get(row.len() - 1).is_empty());
        first.len() - usize::from(trailing)
    }

    /// The rows with as many cells as the first.
    fn alike(&self) -> usize {
        let width = self.rows.first().map_or(0, NameList::len);
        self.rows.iter().filter(|row| row.len() == width).count()
    }

    fn is_even(&self, width_min: usize) -> bool {
        self.fault.is_none() && self.width() >= width_min && self.alike() == self.rows.len()
    }
}

/// The lines within a row of several lines that have as many cells as the row: a quote that is not closed takes them.
fn swallowed(row: &[u8], form: &Form, width: usize) -> usize {
    let plain = Form { quotes: Quotes::None, ..form.clone() };
    let mut cells = NameList::default();
    // The first and the last line belong to the row in any case.
    let lines: Vec<&[u8]> = row.trim_ascii_end().split(|&byte| byte == b'\n').collect();
    let within = lines.get(1..lines.len() - 1).unwrap_or_default();
    within.iter().filter(|line| plain.split(line, &mut cells).is_ok() && cells.len() == width).count()
}

/// The lines at the beginning that are blank or begin with a mark: each with its text; and where they end.
fn leading(text: &[u8], comments: CommentsOption) -> (Vec<&[u8]>, usize) {
    let (mut lines, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let rest = &text[at..];
        let line = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
        let is_marked = line.first().is_some_and(|byte| marks_of(comments).contains(byte));
        if !is_marked && !line.trim_ascii().is_empty() {
            break;
        }
        lines.push(line);
        at = text.len().min(at + line.len() + 1);
    }
    (lines, at)
}

fn marks_of(comments: CommentsOption) -> Vec<u8> {
    match comments {
        CommentsOption::Auto => MARKS.to_vec(),
        CommentsOption::None => Vec::new(),
        CommentsOption::Marked(mark) => vec![mark],
    }
}

impl Dialect {
    /// Examines a sample.
    ///
    /// # Errors
    /// If it is no table, or if it could be taken in several ways.
    pub fn of(sample: &Sample<'_>, options: &TableOptions) -> Result<Self, Refusal> {
        let text = sample.text;
        check_characters(text)?;
        let (before, begin) = leading(text, options.comments);
        let body = &text[begin..];
        if body.is_empty() {
            return Err(no_rows(&before));
        }
        let marks = marks_of(options.comments);
        let (form, split, mut notes) = form_of((body, sample.is_whole), &marks, options, before.len() as u64)?;
        let mut dialect = Self {
            comments: Comments { marks, is_sure: options.comments != CommentsOption::Auto },
            width: split.width(),
            header: None,
            begin: (sample.skipped + begin, before.len() as u64),
            rows: split.rows,
            form,
            notes: Vec::new(),
        };
        dialect.take_header(options.header, split.lines.get(1).copied(), body);
        if options.comments == CommentsOption::Auto {
            dialect.decide_comments(text, &before, options)?;
        }
        let ids = |row: &NameList| row.iter().take(2).all(|cell| integer(cell).is_some());
        dialect.comments.is_sure |= dialect.rows.iter().all(ids);
        dialect.notes.append(&mut notes);
        Ok(dialect)
    }

    /// Removes the names of columns from the rows, if the first row has them.
    fn take_header(&mut self, asked: Option<bool>, second_line: Option<u64>, body: &[u8]) {
        let first = self.rows.first().map(texts).unwrap_or_default();
        let header = match asked {
            Some(true) => Header::Names,
            Some(false) => Header::Row,
            None => header::of(&first, &self.rows[1..]),
        };
        if header == Header::Probably {
            self.notes.push("--no-header if the first row is an edge".into());
        }
        if header == Header::Row {
            if asked.is_none() && !self.rows.iter().all(|row| row.iter().any(|cell| integer(cell).is_some())) {
                self.notes.push("--header if the first row has the names of columns".into());
            }
            return;
        }
        let skipped = second_line.unwrap_or_else(|| memchr::memchr_iter(b'\n', body).count() as u64 + 1);
        let end = memchr::memchr_iter(b'\n', body).nth(skipped.saturating_sub(1) as usize);
        self.begin.0 += end.map_or(body.len(), |end| end + 1);
        self.begin.1 += skipped;
        self.header = Some(first);
        self.rows.remove(0);
    }

    /// Decides about lines that begin with a mark.
    fn decide_comments(&mut self, text: &[u8], before: &[&[u8]], options: &TableOptions) -> Result<(), Refusal> {
        let is_integer = self.rows.iter().all(|row| integer(row.get(0)).is_some());
        let mut cells = NameList::default();
        let mut width_of = |line: &[u8]| self.form.split(line, &mut cells).map_or(0, |_| cells.len());
        // Cells that begin with a mark show that names do.
        let is_marked =
            |cell: &[u8]| matches!(cell, [mark, next, ..] if MARKS.contains(mark) && !next.is_ascii_whitespace());
        let are_names = self.rows.iter().any(|row| row.iter().skip(1).any(is_marked)) && !is_integer;
        let like_rows: Vec<bool> = before.iter().map(|line| width_of(line) == self.width).collect();
        if are_names && self.header.is_none() {
            return self.take_marked_rows(text, before, &like_rows);
        }
        if are_names {
            self.comments.marks.clear();
        }
        let mut suspects: Vec<usize> = (0..before.len()).filter(|&line| like_rows[line]).collect();
        // The names of columns may stand in the last comment, if they tell the ends of edges.
        if let Some((&last, rest)) = before.split_last().filter(|_| self.header.is_none() && options.header.is_none()) {
            self.form.split(last.trim_ascii_start().get(1..).unwrap_or_default(), &mut cells).ok();
            let names = texts(&cells);
            if names.len() == self.width && !roles::pairs(&names).is_empty() {
                suspects.retain(|&line| line != rest.len());
                self.notes.retain(|note| !note.starts_with("--header"));
                self.notes.push(format!("names of columns in the comment in line {}", before.len()));
                self.header = Some(names);
            }
        }
        let is_commented_out = |line: &[u8]| matches!(line, [_, next, ..] if next.is_ascii_digit());
        let is_named = |line: &[u8]| matches!(line, [_, next, ..] if !next.is_ascii_whitespace());
        let suspects: Vec<usize> = match is_integer {
            true => suspects.into_iter().filter(|&line| is_commented_out(before[line])).collect(),
            false if suspects.len() == 1 && !is_named(before[suspects[0]]) => Vec::new(),
            false => suspects,
        };
        match suspects.first() {
            Some(&line) => Err(ambiguous(line as u64, before[line], self.width)),
            None => Ok(()),
        }
    }

    /// Lines that begin with a mark are rows: those at the beginning, too.
    fn take_marked_rows(&mut self, text: &[u8], before: &[&[u8]], like_rows: &[bool]) -> Result<(), Refusal> {
        self.comments.marks.clear();
        let first = before.len() - like_rows.iter().rev().take_while(|&&is_like| is_like).count();
        if let Some(line) = like_rows[..first].iter().position(|&is_like| is_like) {
            return Err(ambiguous(line as u64, before[line], self.width));
        }
        let begin: usize = before[..first].iter().map(|line| line.len() + 1).sum();
        self.begin.0 -= before[first..].iter().map(|line| line.len() + 1).sum::<usize>();
        self.begin.1 = first as u64;
        let split = Split::of(&text[begin..], &self.form, &[]);
        if let Some((fault, line)) = split.fault {
            return Err(Refusal::line(self.begin.1 + line, fault.expected(), line_of(&text[begin..], line)));
        }
        self.rows = split.rows;
        self.notes.retain(|note| !note.starts_with("--header"));
        self.notes.push("rows may begin with # or % (--comment '#' skips such lines)".into());
        Ok(())
    }
}

fn texts(row: &NameList) -> Vec<String> {
    row.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect()
}

/// A line of a text, by its number.
fn line_of(text: &[u8], line: u64) -> &[u8] {
    text.split(|&byte| byte == b'\n').nth(line as usize).unwrap_or_default()
}

fn no_rows(before: &[&[u8]]) -> Refusal {
    let is_marked = before.iter().any(|line| !line.trim_ascii().is_empty());
    let all = "no rows: all lines begin with # or % (--comment none takes them as rows)";
    Refusal::file("an edge list", if is_marked { all } else { "no rows" })
}

fn ambiguous(line: u64, found: &[u8], width: usize) -> Refusal {
    let expected = format!(
        "a comment or a row: the line begins with a mark of comments and has {width} {}, as the rows (--comment '{}' \
         skips such lines, --comment none takes them as rows)",
        plural(width as u64, "column"),
        found.first().map_or('#', |&mark| mark as char)
    );
    Refusal::line(line, expected, found)
}

/// Refuses text in other encodings, and files that are no text.
fn check_characters(text: &[u8]) -> Result<(), Refusal> {
    let is_strange = |byte: u8| byte < b' ' && !matches!(byte, b'\n' | b'\r' | b'\t' | b'\x0c');
    if text.starts_with(b"\xff\xfe") || text.starts_with(b"\xfe\xff") {
        return Err(Refusal::file("text in UTF-8", "text in UTF-16 (`iconv -f UTF-16 -t UTF-8` converts it)"));
    }
    if let Some(at) = text.iter().position(|&byte| is_strange(byte)) {
        let line = memchr::memchr_iter(b'\n', &text[..at]).count() as u64;
        let found = format!("the byte {:#04x}: not a text, or in UTF-16", text[at]);
        return Err(Refusal { line: Some(line), expected: "text in UTF-8".into(), found });
    }
    let returns = memchr::memchr_iter(b'\r', text).count();
    if returns > 1 && memchr::memchr(b'\n', text).is_none() {
        return Err(Refusal::file("lines that end in a line feed", "lines that end in a carriage return alone"));
    }
    Ok(())
}

/// The form of the rows: that of the first separator under which they are even.
fn form_of(
    (body, is_whole): (&[u8], bool),
    marks: &[u8],
    options: &TableOptions,
    line: u64,
) -> Result<(Form, Split, Vec<String>), Refusal> {
    let separators = match &options.separator {
        Some(separator) => vec![separator.clone()],
        None => separators(body, marks),
    };
    // Names of vertices may have blanks within.
    let is_number = |row: &NameList| integer(row.get(0)).is_some();
    let is_fitting = |found: &(Form, Split, _)| {
        found.1.is_even(2)
            && (!options.columns.is_of_vertices
                || found.0.separator != Separator::Blanks
                || options.separator.is_some()
                || found.1.rows.iter().skip(1).all(is_number))
    };
    let mut best: Option<(Form, Split, Vec<String>)> = None;
    let mut refusal = None;
    for separator in separators {
        match quotes_of((body, is_whole), marks, separator, options.quotes) {
            Ok(found) if is_fitting(&found) => return Ok(found),
            Ok(found) => {
                let share = |split: &Split| {
                    (split.width() >= 2 || split.fault.is_some(), split.alike() * 1024 / split.rows.len().max(1))
                };
                if best.as_ref().is_none_or(|best| share(&found.1) > share(&best.1)) {
                    best = Some(found);
                }
            }
            Err(other) => refusal = refusal.or(Some(other)),
        }
    }
    if options.columns.is_of_vertices {
        // An id a line, whatever is in it.
        let (form, split, notes) = quotes_of((body, is_whole), marks, Separator::byte(b'\t'), options.quotes)?;
        if split.is_even(1) {
            return Ok((form, split, notes));
        }
    }
    if let Some(refusal) = refusal {
        return Err(Refusal { line: refusal.line.map(|at| at + line), ..refusal });
    }
    let Some((form, split, notes)) = best else {
        return Err(Refusal::file("rows with a source and a dest", "none"));
    };
    let at = |row: usize| line + split.lines.get(row).copied().unwrap_or(0);
    if let Some((fault, row)) = split.fault {
        return Err(Refusal::line(line + row, fault.expected(), line_of(body, row)));
    }
    if split.width() < 2 {
        let (of, found) = (&form.separator, line_of(body, at(0) - line));
        let expected = match options.separator {
            Some(_) => format!("at least 2 columns, separated by {of} as asked for"),
            None => "at least 2 columns: source and dest (--separator says what is between them)".into(),
        };
        return Err(Refusal::line(at(0), expected, found));
    }
    check_alike(&form, &split)?;
    Ok((form, split, notes))
}

/// Refuses rows of which most differ from the first: a text, or lists of neighbours.
fn check_alike(form: &Form, split: &Split) -> Result<(), Refusal> {
    if split.alike() * 2 > split.rows.len() {
        return Ok(());
    }
    let widths = || split.rows.iter().map(NameList::len);
    let (least, most) = (widths().min().unwrap_or(0), widths().max().unwrap_or(0));
    let expected = "rows with the same number of columns: an edge each (lists of neighbours are read as metis or \
                    graphalytics only)";
    Err(Refusal::file(expected, format!("rows of {least} to {most} columns, separated by {}", form.separator)))
}

/// The separators to be tried, in order.
fn separators(body: &[u8], marks: &[u8]) -> Vec<Separator> {
    let mut all: Vec<Separator> = [b'\t', b';', b'|', b','].map(Separator::byte).to_vec();
    all.push(Separator::Blanks);
    all.push(Separator::Text(b"::".to_vec()));
    // Attributes in braces have separators of their own.
    let blanks = Form { separator: Separator::Blanks, quotes: Quotes::None };
    let first = Split::of(line_of(body, 0), &blanks, marks);
    let is_braced = |row: &NameList| row.len() == 3 && row.get(2).starts_with(b"{");
    if first.rows.first().is_some_and(is_braced) { vec![Separator::Blanks] } else { all }
}

/// What quotes mean between these separators, the rows, and what a user should know.
fn quotes_of(
    (body, is_whole): (&[u8], bool),
    marks: &[u8],
    separator: Separator,
    asked: QuotesOption,
) -> Result<(Form, Split, Vec<String>), Refusal> {
    let of = |quotes| {
        let form = Form { separator: separator.clone(), quotes };
        let mut split = Split::of(body, &form, marks);
        // The sample may end within a cell of several lines.
        if !is_whole && split.long > 0 && matches!(split.fault, Some((Malformed::Unclosed, _))) {
            split.fault = None;
        }
        (form, split, Vec::new())
    };
    let said = |(form, split, _): (Form, Split, Vec<String>), note: &str| Ok((form, split, vec![note.to_owned()]));
    match asked {
        QuotesOption::None => return Ok(of(Quotes::None)),
        QuotesOption::Double => return Ok(of(Quotes::Double { line_breaks: true })),
        QuotesOption::Auto => {}
    }
    let plain = of(Quotes::None);
    let quoted = || plain.1.rows.iter().flat_map(NameList::iter).filter(|cell| cell.starts_with(b"\""));
    // Quotes are a custom of CSV; elsewhere they must be seen.
    let is_custom = !separator.is_tab() && separator != Separator::Blanks;
    if quoted().next().is_none() {
        return Ok(of(if is_custom { Quotes::Double { line_breaks: false } } else { Quotes::Unseen }));
    }
    let enclosed = of(Quotes::Double { line_breaks: false });
    if enclosed.1.is_even(2) {
        if is_custom || !plain.1.is_even(2) || are_needed(&plain.1.rows) {
            return Ok(enclosed);
        }
        return said(plain, "quotes are characters (--quotes double takes them as enclosing cells)");
    }
    if plain.1.is_even(2) {
        let is_closed = |cell: &[u8]| cell.len() > 1 && cell.ends_with(b"\"");
        let both = quoted().any(is_closed);
        if let (true, Some((fault, line))) = (both && (is_custom || are_needed(&plain.1.rows)), enclosed.1.fault) {
            return Err(Refusal::line(line, fault.expected(), line_of(body, line)));
        }
        return said(plain, "quotes are characters, as one of them is not closed (--quotes double)");
    }
    let long = of(Quotes::Double { line_breaks: true });
    match long.1.is_even(2) && long.1.swallowed == 0 {
        true => said(long, "cells have line breaks"),
        false => Ok(enclosed),
    }
}

/// Whether quotes are needed in some cell: for a doubled quote within, or because all cells of a column have them.
fn are_needed(rows: &[NameList]) -> bool {
    let is_enclosed = |cell: &[u8]| cell.len() > 1 && cell.starts_with(b"\"") && cell.ends_with(b"\"");
    let is_doubled =
        |cell: &[u8]| is_enclosed(cell) && memchr::memmem::find(&cell[1..cell.len() - 1], b"\"\"").is_some();
    let columns = rows.iter().map(NameList::len).min().unwrap_or(0);
    let is_enclosed_everywhere = |place: usize| rows.iter().all(|row| is_enclosed(row.get(place)));
    rows.iter().any(|row| row.iter().any(is_doubled)) || rows.len() > 1 && (0..columns).any(is_enclosed_everywhere)
}
