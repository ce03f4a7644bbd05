//! Rows of CSV files, by the `csv` crate.
//!
//! Cells may be quoted; blanks around them do not belong to them. Comments (`#`, `%`) may stand before the first row.
//! Where blanks separate columns, several count as one.

use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::super::cursor::{Expected, ID, integer, weight};
use super::super::file::InputFile;
use super::super::input::{Input, Unpack};
use super::TableOptions;
use super::columns::Columns;
use super::dialect::{Dialect, has_rows};
use super::names::IdType;
use super::rows::{Ids, RowBatch, Rows, Start, braced_weight};
use super::source::{Plan, TableHead};
use crate::edge::WeightType;
use crate::error::{Error, Result};
use crate::readers::WeightsOption;

/// Bytes at the beginning of a file that decide what it is like.
const HEAD_BYTES: usize = 64 << 10;
/// The same where the first rows are longer: what can be seen of a pipe without consuming it.
const HEAD_BYTES_MAX: usize = 4 << 20;
const BUFFER_BYTES: usize = 256 << 10;
/// The most rows and bytes of a batch.
const BATCH_ROWS: usize = 1 << 16;
const BATCH_BYTES: usize = 4 << 20;
/// The longest row: a quote that is never closed must not take the whole file.
const ROW_BYTES_MAX: u64 = 16 << 20;

/// How the rows of a file are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    separator: u8,
    has_header: bool,
    /// The number of cells of a row; at least as many before braces.
    width: usize,
    /// Whether attributes in braces follow the two ids, as NetworkX writes them.
    braced: bool,
}

/// Examines the beginning of a file: its columns, and the types of ids and weights.
pub(super) fn head(file: &InputFile, options: &TableOptions, weights: WeightsOption) -> Result<TableHead> {
    let path = file.path();
    let mut input = Input::peek(file)?;
    let (mut head, mut wanted) = (Vec::new(), HEAD_BYTES);
    let is_whole = loop {
        let begin = head.len();
        head.resize(wanted, 0);
        let (read, failure) = input.fill(&mut head[begin..]);
        head.truncate(begin + read);
        if let Some(failure) = failure.filter(|_| head.is_empty()) {
            return Err(failure);
        }
        let is_whole = head.len() < wanted;
        if is_whole || wanted >= HEAD_BYTES_MAX || has_rows(&head) {
            break is_whole;
        }
        wanted *= 4;
    };
    let dialect = Dialect::of(&head, is_whole, options.separator, options.header);
    let Some(first) = dialect.rows.first() else {
        return Err(Error::file(path, "rows with a source and a dest", "none"));
    };
    let braced = dialect.separator == b' ' && first.get(2).is_some_and(|cell| cell.starts_with(b"{"));
    let width = if braced { 2 } else { first.len() };
    let name = |place: usize| match dialect.has_header {
        true => String::from_utf8_lossy(&first[place]).into_owned(),
        false => String::new(),
    };
    let names: Vec<String> = (0..width).map(name).collect();
    let mut columns = Columns::choose(path, &names, &options.columns, dialect.has_header)?;
    // Without names, a third column is the weight, as in plain lists.
    if !dialect.has_header && options.columns.numbers.is_none() && width == 3 {
        columns.weight = (0..3).find(|place| ![columns.source, columns.dest].contains(place));
    }
    if weights == WeightsOption::Ignore {
        columns.weight = None;
    }
    let rows = &dialect.rows[usize::from(dialect.has_header)..];
    let is_integer = |place: usize| {
        rows.iter().filter_map(|row| row.get(place)).all(|cell| cell.is_empty() || integer(cell).is_some())
    };
    let is_integer = is_integer(columns.source) && is_integer(columns.dest) && !rows.is_empty();
    let weight = weights.resolve(stated_weight(rows, columns.weight, braced && weights != WeightsOption::Ignore));
    if weight.is_some() && columns.weight.is_none() && !braced {
        return Err(Error::file(path, "a column of weights, since a type of weights was asked for", "none"));
    }
    let header = if dialect.has_header { "with a header" } else { "without a header" };
    Ok(TableHead {
        columns,
        id_type: if is_integer { IdType::Integer } else { IdType::String },
        weight,
        notes: format!("separated by {}, {header}", dialect.separator_name()),
        form: Some(Form { separator: dialect.separator, has_header: dialect.has_header, width, braced }),
        names,
    })
}

/// The narrowest type for the weights in some rows; none if there are no weights.
fn stated_weight(rows: &[Vec<Vec<u8>>], column: Option<usize>, braced: bool) -> Option<WeightType> {
    let mut found = None;
    for row in rows {
        let attributes = if braced { row.get(2..).unwrap_or_default().concat() } else { Vec::new() };
        let cell = match column {
            Some(place) => row.get(place).map(Vec::as_slice),
            None => braced_weight(&attributes),
        };
        let Some(cell) = cell else { continue };
        let is_integer = integer(cell).is_some_and(|value| u32::try_from(value).is_ok());
        found = if is_integer { found.or(Some(WeightType::U32)) } else { Some(WeightType::F32) };
    }
    found.or(column.map(|_| WeightType::U32))
}

/// A file's bytes for the parser; ends with an error if a row is too long.
struct Text {
    input: Input,
    /// The number of bytes passed since a row began; reset by the reader.
    since_row: Arc<AtomicU64>,
    consumed: Arc<AtomicU64>,
    failure: Option<Error>,
}

/// The error of a row that does not end.
const ENDLESS: &str = "a row without an end";

impl Read for Text {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(failure) = self.failure.take() {
            return Err(io::Error::other(failure));
        }
        if self.since_row.fetch_add(buffer.len() as u64, Relaxed) > ROW_BYTES_MAX {
            return Err(io::Error::other(ENDLESS));
        }
        let (read, failure) = self.input.fill(buffer);
        self.consumed.store(self.input.consumed_bytes(), Relaxed);
        match failure {
            Some(failure) if read == 0 => Err(io::Error::other(failure)),
            later => {
                self.failure = later;
                Ok(read)
            }
        }
    }
}

/// The rows of one file.
pub(super) struct CsvRows {
    path: PathBuf,
    reader: csv::Reader<BufReader<Text>>,
    record: csv::ByteRecord,
    form: Form,
    plan: Plan,
    since_row: Arc<AtomicU64>,
    consumed: Arc<AtomicU64>,
    /// Lines before the first row.
    skipped: u64,
    memory_bytes: u64,
    rows: u64,
}

impl CsvRows {
    pub(super) fn open(file: &InputFile, form: Form, plan: Plan, memory_bytes: u64) -> Result<Self> {
        let input = Input::open(file, memory_bytes, Unpack::ByContent)?;
        let memory_bytes = input.memory_bytes() + 2 * BUFFER_BYTES as u64 + 4 * BATCH_BYTES as u64;
        let (since_row, consumed) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let text = Text { input, since_row: Arc::clone(&since_row), consumed: Arc::clone(&consumed), failure: None };
        let mut text = BufReader::with_capacity(BUFFER_BYTES, text);
        let skipped = skip_comments(&mut text).map_err(|error| of_io(file, error))?;
        let reader = csv::ReaderBuilder::new()
            .delimiter(form.separator)
            .has_headers(form.has_header)
            .flexible(true)
            .trim(csv::Trim::All)
            .buffer_capacity(BUFFER_BYTES)
            .from_reader(text);
        let (path, record) = (file.path().to_owned(), csv::ByteRecord::new());
        Ok(Self { path, reader, record, form, plan, since_row, consumed, skipped, memory_bytes, rows: 0 })
    }

    /// Appends the row that was read last.
    fn push(&self, batch: &mut RowBatch) -> Result<(), Expected> {
        let Form { separator, width, braced, .. } = self.form;
        let columns = self.plan.columns;
        let (source, dest, of_weight) = if separator == b' ' {
            // Blanks at both ends, and between columns, are no cells.
            let mut cells = [&b""[..]; 3];
            let wanted = [Some(columns.source), Some(columns.dest), columns.weight];
            let mut found = 0;
            for cell in self.record.iter().filter(|cell| !cell.is_empty()) {
                for (cell_of, _) in cells.iter_mut().zip(wanted).filter(|(_, place)| *place == Some(found)) {
                    *cell_of = cell;
                }
                found += 1;
            }
            self.check_width(found, width, braced)?;
            (cells[0], cells[1], cells[2])
        } else {
            self.check_width(self.record.len(), width, false)?;
            let cell = |place: usize| self.record.get(place).unwrap_or_default();
            (cell(columns.source), cell(columns.dest), columns.weight.map_or(&b""[..], cell))
        };
        match &mut batch.ids {
            Ids::Integers(pairs) => {
                let id = |cell| integer(cell).ok_or_else(|| self.no_integer(cell));
                pairs.push([id(source)?, id(dest)?]);
            }
            Ids::Names(names) => {
                for (cell, prefix) in [source, dest].into_iter().zip(&self.plan.prefixes) {
                    if cell.is_empty() {
                        return Err("an id; a cell is empty".into());
                    }
                    if std::str::from_utf8(cell).is_err() {
                        return Err("ids in UTF-8".into());
                    }
                    names.push_parts(prefix, cell);
                }
            }
        }
        if let Some(of) = self.plan.weight {
            let attributes = if braced { self.record.iter().skip(2).collect::<Vec<_>>().concat() } else { Vec::new() };
            let cell = if braced { braced_weight(&attributes).unwrap_or_default() } else { of_weight };
            batch.weights.push(weight(cell, of)?);
        }
        Ok(())
    }

    fn check_width(&self, found: usize, width: usize, braced: bool) -> Result<(), Expected> {
        if found == width || braced && found >= width {
            return Ok(());
        }
        Err(format!("{width} columns, as in the first row ({found} here)").into())
    }

    #[cold]
    fn no_integer(&self, cell: &[u8]) -> Expected {
        if cell.is_empty() {
            "an id; a cell is empty".into()
        } else {
            format!("{ID}, as in the rows before; --names takes ids as names").into()
        }
    }

    fn failed(&self, error: csv::Error) -> Error {
        // Where the row begins: the reader is at its end.
        let begin = self.record.position().unwrap_or(self.reader.position());
        let line = begin.line() + self.skipped;
        match error.into_kind() {
            csv::ErrorKind::Io(error) if error.get_ref().is_some_and(|inner| inner.to_string() == ENDLESS) => {
                let expected = format!("a row of at most {ROW_BYTES_MAX} bytes (is a quote not closed?)");
                Error::line(&self.path, line, expected, b"a longer one")
            }
            csv::ErrorKind::Io(error) => match error.downcast::<Error>() {
                Ok(error) => error,
                Err(error) => Error::io(&self.path, "read")(error),
            },
            other => Error::line(&self.path, line, "a row of a CSV file", format!("{other:?}").as_bytes()),
        }
    }
}

/// The reader's error behind one of the parser.
fn of_io(file: &InputFile, error: io::Error) -> Error {
    error.downcast::<Error>().unwrap_or_else(|error| Error::io(file.path(), "read")(error))
}

/// Skips a byte order mark, and the comments and empty lines at the beginning; returns their number.
fn skip_comments(text: &mut impl BufRead) -> io::Result<u64> {
    if text.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
        text.consume(3);
    }
    let mut lines = 0;
    while let Some(b'#' | b'%' | b'\n' | b'\r') = text.fill_buf()?.first() {
        // Not into memory: a comment may be of any length.
        loop {
            let buffer = text.fill_buf()?;
            let end = memchr::memchr(b'\n', buffer);
            let (length, is_end) = (end.map_or(buffer.len(), |end| end + 1), end.is_some() || buffer.is_empty());
            text.consume(length);
            if is_end {
                break;
            }
        }
        lines += 1;
    }
    Ok(lines)
}

impl Rows for CsvRows {
    fn read(&mut self, batches: &mut Vec<RowBatch>) -> Result<()> {
        let start = Start { group: None, row: self.rows };
        let mut batch = RowBatch { ids: Ids::new(self.plan.id_type != IdType::Integer), weights: Vec::new(), start };
        batches.clear();
        let mut bytes = 0;
        while batch.ids.rows() < BATCH_ROWS && bytes < BATCH_BYTES {
            self.since_row.store(0, Relaxed);
            let mut record = std::mem::take(&mut self.record);
            let read = self.reader.read_byte_record(&mut record);
            self.record = record;
            if !read.map_err(|error| self.failed(error))? {
                break;
            }
            if self.form.separator == b' ' && self.record.iter().all(<[u8]>::is_empty) {
                continue;
            }
            bytes += self.record.as_slice().len();
            if let Err(expected) = self.push(&mut batch) {
                let line = self.record.position().map_or(0, csv::Position::line) + self.skipped;
                let cells: Vec<&[u8]> = self.record.iter().collect();
                return Err(Error::line(&self.path, line, expected, &cells.join(&self.form.separator)));
            }
        }
        self.rows += batch.ids.rows() as u64;
        if batch.ids.rows() > 0 {
            batches.push(batch);
        }
        Ok(())
    }

    fn consumed_bytes(&self) -> u64 {
        self.consumed.load(Relaxed)
    }

    fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }
}
