//! The rows of a sample under a form, and the form under which they are even: which separator, and what quotes mean.

use super::form::{Form, Malformed, Quotes, QuotesOption, Separator};
use super::options::TableOptions;
use super::refusal::Refusal;
use crate::cursor::integer;
use topostream_formats::names::NameList;

/// The rows of a text under a form, with the line of each.
pub(super) struct Split {
    pub rows: Vec<NameList>,
    pub lines: Vec<u64>,
    /// A row that cannot be split, and its line: no row after it is there.
    pub fault: Option<(Malformed, u64)>,
    /// Rows of several lines.
    long: usize,
    /// Lines within quotes that look like rows.
    swallowed: usize,
}

impl Split {
    /// Splits a text, without lines that are blank or begin with a mark.
    pub fn of(text: &[u8], form: &Form, marks: &[u8]) -> Self {
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
    pub fn width(&self) -> usize {
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

/// A line of a text, by its number.
pub(super) fn line_of(text: &[u8], line: u64) -> &[u8] {
    text.split(|&byte| byte == b'\n').nth(line as usize).unwrap_or_default()
}

/// The form of the rows, with the first separator under which they are even.
pub(super) fn form_of(
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
            Some(_) => format!("at least 2 columns, separated by {of}, as --separator says"),
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
