//! The form of delimited text: what separates cells, which quotes enclose them, which lines are comments; and the one
//! function that splits a row into cells.
//!
//! ```text
//!  a , "b, c" ,d        cells `a`, `b, c`, `d`: blanks around a cell do not belong to it
//!  a,"say ""b""",c      a doubled quote within quotes is a quote
//!  a,5" pipe,c          a quote within a cell is a character like any other
//!  a  b {'weight': 2}   from the third cell on, braces hold the rest of the line (NetworkX's write_edgelist)
//! ```
//!
//! The rules for quotes follow RFC 4180, with blanks allowed around a quoted cell. A row ends with its line, unless
//! cells with line breaks are expected ([`Quotes::Double`]).

use crate::cursor::is_blank;
use std::fmt;
use std::str::FromStr;
use topostream_formats::error::Error;
use topostream_formats::names::NameList;

/// What separates the cells of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Separator {
    /// Spaces and tabs, any number of them.
    Blanks,
    /// One character or several, such as `,` or `::`.
    Text(Vec<u8>),
}

impl Separator {
    /// A separator of one byte.
    pub(super) fn byte(byte: u8) -> Self {
        Self::Text(vec![byte])
    }

    pub(super) fn is_tab(&self) -> bool {
        matches!(self, Self::Text(text) if text == b"\t")
    }
}

impl fmt::Display for Separator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blanks => f.write_str("blanks"),
            Self::Text(text) if text == b"\t" => f.write_str("tabs"),
            Self::Text(text) => write!(f, "`{}`", String::from_utf8_lossy(text)),
        }
    }
}

impl FromStr for Separator {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "tab" | "\\t" | "\t" => Ok(Self::byte(b'\t')),
            "space" | " " => Ok(Self::Blanks),
            "" => Err(Error::Invalid("expected a character or several, tab or space".into())),
            _ if text.contains(['"', '\n', '\r']) => {
                Err(Error::Invalid("a quote or the end of a line separates no columns".into()))
            }
            _ => Ok(Self::Text(text.trim().as_bytes().to_vec())),
        }
    }
}

/// Whether quotes enclose cells, as requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum QuotesOption {
    /// Decided by the beginning of the file.
    #[default]
    Auto,
    /// Quotes are characters like any other.
    None,
    /// Double quotes enclose cells, which may have line breaks.
    Double,
}

impl FromStr for QuotesOption {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "auto" => Ok(Self::Auto),
            "none" => Ok(Self::None),
            "double" => Ok(Self::Double),
            _ => Err(Error::Invalid(format!("{text:?}: expected auto, none or double"))),
        }
    }
}

/// Which lines are comments, as requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CommentsOption {
    /// Lines that begin with `#` or `%`, unless they look like rows.
    #[default]
    Auto,
    /// None.
    None,
    /// Lines that begin with this byte.
    Marked(u8),
}

impl FromStr for CommentsOption {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.as_bytes() {
            b"auto" => Ok(Self::Auto),
            b"none" => Ok(Self::None),
            &[byte @ b'!'..=b'~'] if byte != b'"' => Ok(Self::Marked(byte)),
            _ => Err(Error::Invalid(format!("{text:?}: expected one character, none or auto"))),
        }
    }
}

/// What a quote at the beginning of a cell means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quotes {
    /// Nothing.
    None,
    /// It encloses the cell.
    Double {
        /// Whether the cell may go on in the next line.
        line_breaks: bool,
    },
    /// Unknown: no cell of the sample begins with one. The first that does is an error.
    Unseen,
}

/// How rows are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Form {
    pub separator: Separator,
    pub quotes: Quotes,
}

/// Why a row cannot be split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Malformed {
    /// A quoted cell has no closing quote: before the end of the line, or of the text.
    Unclosed,
    /// Something other than a separator follows a closing quote.
    AfterQuote,
    /// A cell begins with a quote, as none of the sample does.
    FirstQuote,
}

impl Malformed {
    /// What was expected, and what to do.
    pub fn expected(self) -> &'static str {
        match self {
            Self::Unclosed => {
                "a closing quote before the end of the line (--quotes none takes quotes as characters; --quotes double \
                 allows line breaks in quoted cells)"
            }
            Self::AfterQuote => {
                "a separator after the closing quote of a cell (--quotes none takes quotes as characters)"
            }
            Self::FirstQuote => {
                "no quote at the beginning of a cell, as in the rows before (--quotes none takes quotes as characters, \
                 --quotes double as enclosing cells)"
            }
        }
    }
}

impl Form {
    /// Whether a quoted cell may go on in the next line.
    pub fn has_line_breaks(&self) -> bool {
        self.quotes == Quotes::Double { line_breaks: true }
    }

    /// Splits the row at the beginning of `text` into cells. Returns the length of the row, with the end of its line.
    ///
    /// # Errors
    /// If quotes are malformed; [`Malformed::Unclosed`] too if more text may follow.
    pub fn split(&self, text: &[u8], cells: &mut NameList) -> Result<usize, Malformed> {
        cells.clear();
        let line_end = memchr::memchr(b'\n', text).unwrap_or(text.len());
        let (line, after) = (&text[..line_end], text.len().min(line_end + 1));
        if self.quotes == Quotes::None || memchr::memchr(b'"', line).is_none() {
            self.split_plain(line, cells);
            return Ok(after);
        }
        let reach = if self.has_line_breaks() { text } else { line };
        self.split_quoted(reach, cells).map(|length| text.len().min(length + 1))
    }

    /// A line in which no quote encloses a cell.
    fn split_plain(&self, mut line: &[u8], cells: &mut NameList) {
        loop {
            line = self.skip_blanks(line);
            if matches!(self.separator, Separator::Blanks) && line.is_empty() {
                return;
            }
            let (cell, rest) = self.cell(line, cells.len());
            cells.push(cell);
            let Some(rest) = rest else { return };
            line = rest;
        }
    }

    /// A row of `text`, whose cells may be quoted. Returns its length, without the end of its line.
    fn split_quoted(&self, text: &[u8], cells: &mut NameList) -> Result<usize, Malformed> {
        let (mut at, mut unquoted) = (0, Vec::new());
        loop {
            let line = &text[at..];
            let line = &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())];
            let begun = self.skip_blanks(line);
            let skipped = line.len() - begun.len();
            let is_last = |rest: &[u8]| rest.is_empty() && matches!(self.separator, Separator::Blanks);
            if is_last(begun) {
                return Ok(at + line.len());
            }
            if begun.first() != Some(&b'"') {
                let (cell, rest) = self.cell(begun, cells.len());
                cells.push(cell);
                let Some(rest) = rest else { return Ok(at + line.len()) };
                at += line.len() - rest.len();
                continue;
            }
            if self.quotes == Quotes::Unseen {
                return Err(Malformed::FirstQuote);
            }
            at += skipped + 1;
            unquoted.clear();
            at += unquote(&text[at..], &mut unquoted).ok_or(Malformed::Unclosed)?;
            cells.push(&unquoted);
            let line = &text[at..];
            let line = &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())];
            let begun = self.skip_blanks(line);
            match &self.separator {
                _ if begun.is_empty() => return Ok(at + line.len()),
                Separator::Blanks if begun.len() < line.len() => at += line.len() - begun.len(),
                Separator::Text(separator) if begun.starts_with(separator) => {
                    at += line.len() - begun.len() + separator.len();
                }
                _ => return Err(Malformed::AfterQuote),
            }
        }
    }

    /// The cell at the beginning of a line, and what follows its separator; braces hold the rest of the line.
    fn cell<'a>(&self, line: &'a [u8], place: usize) -> (&'a [u8], Option<&'a [u8]>) {
        if place >= 2 && line.first() == Some(&b'{') {
            return (line.trim_ascii_end(), None);
        }
        let found = match &self.separator {
            Separator::Blanks => line.iter().position(|&byte| is_blank(byte)).map(|at| (at, 1)),
            Separator::Text(text) => match text[..] {
                [byte] => memchr::memchr(byte, line).map(|at| (at, 1)),
                _ => memchr::memmem::find(line, text).map(|at| (at, text.len())),
            },
        };
        match found {
            Some((at, length)) => (line[..at].trim_ascii_end(), Some(&line[at + length..])),
            None => (line.trim_ascii_end(), None),
        }
    }

    /// Skips blanks before a cell, which are no separators.
    fn skip_blanks<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        let is_tab = self.separator.is_tab();
        let length = text.iter().position(|&byte| !is_blank(byte) || is_tab && byte == b'\t').unwrap_or(text.len());
        &text[length..]
    }
}

/// Appends the text before the closing quote. Returns the length up to and with that quote; `None` if there is none.
fn unquote(text: &[u8], into: &mut Vec<u8>) -> Option<usize> {
    let mut at = 0;
    loop {
        let length = memchr::memchr(b'"', &text[at..])?;
        into.extend_from_slice(&text[at..at + length]);
        at += length + 1;
        if text.get(at) != Some(&b'"') {
            return Some(at);
        }
        into.push(b'"');
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(separator: &str, quotes: Quotes, text: &str) -> Result<(usize, Vec<String>), Malformed> {
        let (form, mut cells) = (Form { separator: separator.parse().unwrap(), quotes }, NameList::default());
        let length = form.split(text.as_bytes(), &mut cells)?;
        Ok((length, cells.iter().map(|cell| String::from_utf8(cell.to_vec()).unwrap()).collect()))
    }

    fn cells(separator: &str, quotes: Quotes, text: &str) -> String {
        split(separator, quotes, text).unwrap().1.join("|")
    }

    const LINE: Quotes = Quotes::Double { line_breaks: false };
    const LINES: Quotes = Quotes::Double { line_breaks: true };

    #[test]
    fn rows_with_and_without_quotes() {
        for quotes in [Quotes::None, LINE, LINES, Quotes::Unseen] {
            assert_eq!(cells(",", quotes, " a , b,\tc\r\nd"), "a|b|c");
            assert_eq!(cells(",", quotes, "a,,\n"), "a||");
            assert_eq!(cells("space", quotes, "  a \t b\r\n"), "a|b");
            assert_eq!(cells("tab", quotes, "a\t\tb c\n"), "a||b c");
            assert_eq!(cells("::", quotes, "1::2:3::4"), "1|2:3|4");
            assert_eq!(cells(",", quotes, "a,5\" pipe\n"), "a|5\" pipe");
            assert_eq!(cells("space", quotes, "a b {'x': 1, 'y z': 2} \n"), "a|b|{'x': 1, 'y z': 2}");
        }
        assert_eq!(cells(",", LINE, "\"a\", \"b, c\" ,\"\"\n"), "a|b, c|");
        assert_eq!(cells(",", LINE, "\"say \"\"b\"\"\",c"), "say \"b\"|c");
        assert_eq!(cells("space", LINE, "\"a b\"  \"c\"\n"), "a b|c");
        assert_eq!(cells("tab", Quotes::None, "\"a\"\t\"b\n"), "\"a\"|\"b");
    }

    #[test]
    fn lines_within_quotes_and_quotes_that_do_not_end() {
        assert_eq!(split(",", LINES, "a,\"b\nc\",d\ne"), Ok((10, ["a", "b\nc", "d"].map(str::to_owned).to_vec())));
        assert_eq!(split(",", LINES, "\"a\",b\nc,d\n").unwrap().0, 6);
        assert_eq!(split(",", LINE, "a,\"b\nc\",d\n"), Err(Malformed::Unclosed));
        assert_eq!(split(",", LINES, "a,\"b\nc,d\n"), Err(Malformed::Unclosed));
        assert_eq!(split(",", LINE, "\"a\"b,c\n"), Err(Malformed::AfterQuote));
        assert_eq!(split("tab", Quotes::Unseen, "a\t\"b\"\n"), Err(Malformed::FirstQuote));
        assert_eq!(cells("tab", Quotes::Unseen, "a\tb\"c\"\n"), "a|b\"c\"");
    }
}
