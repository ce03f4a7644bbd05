//! Recognises how delimited text is written by a sample of its rows: separator, quotes, comments, header.
//!
//! Whatever is decided here is supported by the rows of the sample, or refused with the option that decides:
//!
//! - The separator gives every row as many cells.
//! - Quotes enclose cells if that is needed somewhere (a separator or a doubled quote within), or if all cells of a
//!   column have them; with commas also where some have them. They are characters if one of them is not closed.
//! - Lines that begin with `#` or `%` are comments, unless they have as many cells as the rows: then they are rows if
//!   other cells begin like that, names of columns if they are such above the first row, and refused otherwise.

use super::form::{CommentsOption, Form};
use super::header::{self, Header};
use super::options::TableOptions;
use super::refusal::Refusal;
use super::roles;
use super::split::{Split, form_of, line_of};
use crate::cursor::{Cursor, has_leading_zero, integer};
use topostream_formats::names::NameList;
use topostream_formats::text::plural;

/// The bytes that begin comments.
const MARKS: [u8; 2] = *b"#%";

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
