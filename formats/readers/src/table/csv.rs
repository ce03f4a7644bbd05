//! Rows of delimited text: CSV, TSV and their like.
//!
//! ```text
//!  Input ─▶ buffer ─▶ row by row, split by the form that the sample showed ─▶ batches
//! ```

use std::path::Path;
use topostream_formats::text::plural;

use super::columns::Columns;
use super::conditions::Condition;
use super::dialect::{Dialect, Sample};
use super::form::Malformed;
use super::header::is_number;
use super::options::TableOptions;
use super::plan::{Layout, Plan, TableHead};
use super::rows::{Ids, Kept, RowBatch, Rows, Start, braced_keys, braced_weight};
use crate::cursor::{Expected, ID, has_leading_zero, integer, weight};
use crate::file::InputFile;
use crate::input::{Input, Unpack};
use crate::options::WeightsOption;
use topostream_formats::edge::WeightType;
use topostream_formats::error::{Error, Result};
use topostream_formats::names::{IdType, NameList};

/// Bytes at the beginning of a file that decide how it is written.
const HEAD_BYTES: usize = 64 << 10;
/// The maximum, where the first rows are longer: what can be seen of a pipe without consuming it.
const HEAD_BYTES_MAX: usize = 4 << 20;
const BUFFER_BYTES: usize = 256 << 10;
/// The maximum rows and bytes of a batch.
const BATCH_ROWS: usize = 1 << 16;
const BATCH_BYTES: usize = 4 << 20;
/// The maximum length of a row.
const ROW_BYTES_MAX: usize = 16 << 20;

/// Examines the beginning of a file: its columns, and the types of ids and weights.
pub(super) fn head(file: &InputFile, options: &TableOptions, weights: WeightsOption) -> Result<TableHead> {
    let path = file.path();
    let (text, is_whole) = beginning(file)?;
    let dialect = Dialect::of(&Sample::new(&text, is_whole), options).map_err(|refusal| refusal.error(path))?;
    let rows = &dialect.rows;
    let has_braces = |row: &NameList| row.len() == 3 && row.get(2).starts_with(b"{");
    let is_braced = dialect.width == 3 && !rows.is_empty() && rows.iter().all(has_braces);
    let width = if is_braced { 2 } else { dialect.width };
    // A first row of numbers has the sizes of the graph, not names.
    let is_name = |name: &String| !name.is_empty() && integer(name.as_bytes()).is_none();
    let header = dialect.header.clone().filter(|names| names.iter().any(is_name));
    let mut names = header.clone().unwrap_or_default();
    names.resize(width, String::new());
    let mut choice = options.columns.clone();
    let key = if is_braced { key_of(path, rows, &mut choice.weight, weights)? } else { None };
    let only_ids = weights == WeightsOption::Ignore || is_braced;
    let mut columns = match header {
        Some(_) => Columns::choose(path, &names, &choice)?,
        None => Columns::choose_unnamed(path, width, &choice, only_ids)?,
    };
    if weights == WeightsOption::Ignore {
        columns.weight = None;
    }
    let kept = sample_within(path, rows, &names, &options.conditions)?;
    let rows = kept.as_deref().unwrap_or(rows);
    let mut notes = dialect.notes.clone();
    let id_type = id_type(path, rows, columns, options.names || options.bipartite, &mut notes)?;
    let stated = match (&key, columns.weight) {
        (Some(key), _) => stated_weight(rows.iter().filter_map(|row| braced_weight(row.get(2), key))),
        (None, Some(place)) => {
            check_weights(path, &names[place], place, rows, &dialect)?;
            stated_weight(rows.iter().filter(|row| place < row.len()).map(|row| row.get(place)))
                .or(Some(WeightType::U32))
        }
        (None, None) => None,
    };
    let weight = weights.resolve(stated);
    if weight.is_some() && columns.weight.is_none() && key.is_none() {
        return Err(Error::file(path, "a column of weights, since weights are required", "none"));
    }
    let header = if dialect.header.is_some() { "with a header" } else { "without a header" };
    let mut form = format!("separated by {}, {header}", dialect.form.separator);
    if !notes.is_empty() {
        form += &format!(" ({})", notes.join("; "));
    }
    let weight_name = columns.weight.map_or_else(String::new, |place| column_name(&names, place));
    let Dialect { form: of, comments, begin, .. } = dialect;
    let layout = Layout { form: of, comments, width, begin, key, is_braced, weight_name };
    Ok(TableHead { columns, id_type, weight, notes: form, layout: Some(layout), names })
}

/// The rows of a sample that meet conditions, which alone decide about types; `None` if there are none.
fn sample_within(
    path: &Path,
    rows: &[NameList],
    names: &[String],
    conditions: &[Condition],
) -> Result<Option<Vec<NameList>>> {
    if conditions.is_empty() {
        return Ok(None);
    }
    let mut kept = rows.to_vec();
    for condition in conditions {
        let place = condition.place(path, names)?;
        // Cells that cannot be compared are errors when they are read.
        kept.retain(|row| place < row.len() && condition.of_text(row.get(place)).unwrap_or(true));
    }
    Ok(Some(kept).filter(|kept| !kept.is_empty()))
}

/// The beginning of a file: a header and a row at least, and whether it is all.
fn beginning(file: &InputFile) -> Result<(Vec<u8>, bool)> {
    let mut input = Input::peek(file)?;
    let (mut head, mut wanted) = (Vec::new(), HEAD_BYTES);
    loop {
        let begin = head.len();
        head.resize(wanted, 0);
        let (read, failure) = input.fill(&mut head[begin..]);
        head.truncate(begin + read);
        if let Some(failure) = failure.filter(|_| head.is_empty()) {
            return Err(failure);
        }
        let is_whole = head.len() < wanted;
        if is_whole || wanted >= HEAD_BYTES_MAX || Sample::new(&head, false).has_rows() {
            return Ok((head, is_whole));
        }
        wanted *= 4;
    }
}

fn column_name(names: &[String], place: usize) -> String {
    match names.get(place).filter(|name| !name.is_empty()) {
        Some(name) => format!("column `{name}`"),
        None => format!("column {}", place + 1),
    }
}

/// The attribute in braces that is the weight: the one requested, otherwise `weight` if it is there.
fn key_of(
    path: &Path,
    rows: &[NameList],
    asked: &mut Option<String>,
    weights: WeightsOption,
) -> Result<Option<String>> {
    if weights == WeightsOption::Ignore {
        return Ok(None);
    }
    let key = asked.take().unwrap_or_else(|| "weight".into());
    if rows.iter().any(|row| braced_weight(row.get(2), &key).is_some()) {
        return Ok(Some(key));
    }
    let mut keys: Vec<String> = rows.iter().flat_map(|row| braced_keys(row.get(2))).collect();
    keys.sort();
    keys.dedup();
    if keys.is_empty() {
        return Ok(None);
    }
    let expected = format!("an attribute {key:?} for weights (--weight NAME; --weight-type ignore reads no weights)");
    Err(Error::file(path, expected, format!("the attributes {}", keys.join(", "))))
}

/// The type of the ids in the sample.
fn id_type(
    path: &Path,
    rows: &[NameList],
    columns: Columns,
    are_names: bool,
    notes: &mut Vec<String>,
) -> Result<IdType> {
    let ends = [columns.source, columns.dest];
    let cells = || rows.iter().flat_map(|row| ends.into_iter().filter(|&end| end < row.len()).map(|end| row.get(end)));
    let ids = || cells().filter(|cell| !cell.is_empty());
    if ids().next().is_none() {
        return Ok(IdType::String);
    }
    if ids().all(|cell| integer(cell).is_some()) {
        let has_zeros = ids().any(has_leading_zero);
        if has_zeros {
            notes.push("ids with leading zeros are names".into());
        }
        return Ok(if has_zeros { IdType::String } else { IdType::Integer });
    }
    let is_decimal = |cell: &[u8]| integer(cell).is_none() && !cell.starts_with(b"-") && is_number(cell);
    if let Some(decimal) = ids().find(|cell| is_decimal(cell)).filter(|_| !are_names && ids().all(is_number)) {
        let expected = "ids that are integers or names (write 1 for 1.0; --names takes ids as they are written; \
                        --source, --dest and --columns choose other columns)";
        let found = format!("decimal numbers such as {}", String::from_utf8_lossy(decimal));
        return Err(Error::file(path, expected, found));
    }
    Ok(IdType::String)
}

/// Refuses a column of weights that has no numbers.
fn check_weights(path: &Path, name: &str, place: usize, rows: &[NameList], dialect: &Dialect) -> Result<()> {
    let first = rows.first().filter(|row| place < row.len()).map(|row| row.get(place));
    let Some(cell) = first.filter(|cell| !is_number(cell) && !cell.is_empty()) else { return Ok(()) };
    let column = column_name(&[vec![String::new(); place], vec![name.to_owned()]].concat(), place);
    let expected = match dialect.header {
        Some(_) => format!("numbers in the {column} of weights (--weight NAME chooses another; --weight-type ignore)"),
        None => format!(
            "numbers in {column}, which has the weights (--columns 1,{} if it has the dests; --weight-type ignore if it \
             is not to be read)",
            place + 1
        ),
    };
    Err(Error::file(path, expected, format!("{:?}", String::from_utf8_lossy(cell))))
}

/// The narrowest type for some weights; none without weights.
fn stated_weight<'a>(mut weights: impl Iterator<Item = &'a [u8]>) -> Option<WeightType> {
    let of = |cell: &[u8]| if integer(cell).is_some() { WeightType::U32 } else { WeightType::F32 };
    let first = of(weights.next()?);
    Some(if weights.any(|cell| of(cell) == WeightType::F32) { WeightType::F32 } else { first })
}

/// The text of a file, row by row.
struct Lines {
    input: Input,
    buffer: Vec<u8>,
    at: usize,
    end: usize,
    is_ended: bool,
    failure: Option<Error>,
    /// The line at `at`, from 0.
    line: u64,
}

impl Lines {
    fn open(input: Input, (bytes, lines): (usize, u64)) -> Result<Self> {
        let buffer = vec![0; BUFFER_BYTES];
        let mut text = Self { input, buffer, at: 0, end: 0, is_ended: false, failure: None, line: lines };
        let mut left = bytes;
        while left > 0 && text.more()? {
            let skipped = left.min(text.end);
            (text.at, left) = (skipped, left - skipped);
        }
        Ok(text)
    }

    /// Reads more after what is left; false at the end of the file, or if the row at `at` is too long.
    fn more(&mut self) -> Result<bool> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        if self.is_ended || self.end - self.at > ROW_BYTES_MAX {
            return Ok(false);
        }
        self.buffer.copy_within(self.at..self.end, 0);
        (self.at, self.end) = (0, self.end - self.at);
        if self.end * 2 > self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        let (read, failure) = self.input.fill(&mut self.buffer[self.end..]);
        self.end += read;
        self.is_ended = self.end < self.buffer.len() && failure.is_none();
        self.failure = failure;
        Ok(read > 0 || self.failure.is_some())
    }

    fn rest(&self) -> &[u8] {
        &self.buffer[self.at..self.end]
    }

    /// Moves past a part of the rest.
    fn advance(&mut self, length: usize) {
        self.line += memchr::memchr_iter(b'\n', &self.rest()[..length]).count() as u64;
        self.at += length;
    }

    /// The next line, with its end, without moving past it; `None` at the end of the file.
    fn line(&mut self) -> Result<Option<&[u8]>> {
        loop {
            if let Some(length) = memchr::memchr(b'\n', self.rest()) {
                return Ok(Some(&self.buffer[self.at..self.at + length + 1]));
            }
            if !self.more()? {
                if self.end - self.at > ROW_BYTES_MAX {
                    let expected = format!("a line of at most {ROW_BYTES_MAX} bytes");
                    return Err(self.error(expected, self.rest()));
                }
                return Ok(Some(self.rest()).filter(|rest| !rest.is_empty()));
            }
        }
    }

    /// An error in the row at `at`.
    fn error(&self, expected: impl Into<Expected>, found: &[u8]) -> Error {
        let line = &found[..memchr::memchr(b'\n', found).unwrap_or(found.len())];
        Error::line(self.input.path(), self.line + 1, expected.into(), line)
    }
}

/// The rows of one file.
pub(super) struct CsvRows {
    lines: Lines,
    cells: NameList,
    layout: Layout,
    plan: Plan,
    rows: u64,
    left_out: u64,
}

impl CsvRows {
    pub(super) fn open(file: &InputFile, layout: Layout, plan: Plan, memory_bytes: u64) -> Result<Self> {
        let input = Input::open(file, memory_bytes, Unpack::ByContent)?;
        let lines = Lines::open(input, layout.begin)?;
        Ok(Self { lines, cells: NameList::default(), layout, plan, rows: 0, left_out: 0 })
    }

    /// Moves to the next row and splits it; returns its length, or `None` at the end of the file.
    fn next_row(&mut self) -> Result<Option<usize>> {
        let Self { lines, cells, layout, .. } = self;
        loop {
            let Some(line) = lines.line()? else { return Ok(None) };
            let length = line.len();
            if line.trim_ascii().is_empty() {
                lines.advance(length);
                continue;
            }
            if layout.comments.begin(line) {
                let is_alike = !layout.comments.is_sure
                    && layout.form.split(line, cells).is_ok()
                    && is_row(cells, layout.width, layout.is_braced);
                if is_alike {
                    return Err(lines.error(
                        "a comment or a row: the line begins with a mark of comments and has as many columns as the \
                         rows (--comment '#' skips such lines, --comment none takes them as rows)",
                        lines.rest(),
                    ));
                }
                lines.advance(length);
                continue;
            }
            match layout.form.split(lines.rest(), cells) {
                Ok(length) => return Ok(Some(length)),
                // The row may go on in what has not been read yet.
                Err(Malformed::Unclosed) if layout.form.has_line_breaks() && lines.more()? => {}
                Err(Malformed::Unclosed) if layout.form.has_line_breaks() => {
                    let expected = "a closing quote before the end of the file, in at most 16 MiB (is a quote not \
                                    closed? --quotes none takes quotes as characters)";
                    return Err(lines.error(expected, lines.rest()));
                }
                Err(fault) => return Err(lines.error(fault.expected(), lines.rest())),
            }
        }
    }

    /// Appends the row that was split last, if it meets the conditions; returns whether it does.
    fn push(&self, batch: &mut RowBatch) -> Result<bool, Expected> {
        let Layout { width, is_braced, key, .. } = &self.layout;
        let (columns, cells) = (self.plan.columns, &self.cells);
        if !is_row(cells, *width, *is_braced) {
            return Err(format!(
                "{width} {}, as in the first row ({} here)",
                plural(*width as u64, "column"),
                cells.len()
            )
            .into());
        }
        for (condition, column) in &self.plan.conditions {
            if !condition.of_text(cells.get(*column))? {
                return Ok(false);
            }
        }
        if !self.plan.conditions.is_empty() {
            batch.kept.push((self.rows - batch.start.row) as u32);
        }
        let (source, dest) = (cells.get(columns.source), cells.get(columns.dest));
        match &mut batch.ids {
            Ids::Integers(pairs) => {
                let id = |cell| integer(cell).filter(|_| !has_leading_zero(cell)).ok_or_else(|| no_integer(cell));
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
            let cell = match (key, columns.weight) {
                (Some(key), _) => braced_weight(cells.get(2), key).unwrap_or_default(),
                (None, place) => place.map_or(&b""[..], |place| cells.get(place)),
            };
            let name = &self.layout.weight_name;
            let explained = |expected: Expected| match name.is_empty() {
                true => expected,
                false => format!("{expected}, in {name}").into(),
            };
            batch.weights.push(weight(cell, of).map_err(explained)?);
        }
        Ok(true)
    }
}

/// Whether a row has as many cells as it should. An empty cell may follow them, and attributes in braces.
fn is_row(cells: &NameList, width: usize, is_braced: bool) -> bool {
    let last = || cells.get(cells.len() - 1);
    cells.len() == width || cells.len() == width + 1 && (last().is_empty() || is_braced && last().starts_with(b"{"))
}

#[cold]
fn no_integer(cell: &[u8]) -> Expected {
    match cell {
        [] => "an id; a cell is empty".into(),
        _ if integer(cell).is_some() => {
            "an id without leading zeros, as in the rows before (--names takes ids as names, as they are written)"
                .into()
        }
        _ => format!("{ID}, as in the rows before; --names takes ids as names").into(),
    }
}

impl Rows for CsvRows {
    fn read(&mut self, batches: &mut Vec<RowBatch>) -> Result<()> {
        let start = Start { group: None, row: self.rows };
        let ids = Ids::new(self.plan.id_type != IdType::Integer);
        let mut batch = RowBatch { ids, weights: Vec::new(), start, kept: Kept::default() };
        batches.clear();
        let mut bytes = 0;
        while batch.ids.rows() < BATCH_ROWS && bytes < BATCH_BYTES {
            let Some(length) = self.next_row()? else { break };
            let is_kept = self.push(&mut batch).map_err(|expected| self.lines.error(expected, self.lines.rest()))?;
            self.lines.advance(length);
            self.rows += 1;
            self.left_out += u64::from(!is_kept);
            if batch.ids.rows() > 0 {
                bytes += length;
            } else {
                // A batch begins at the first row that is kept.
                batch.start.row = self.rows;
            }
        }
        if batch.ids.rows() > 0 {
            batches.push(batch);
        }
        Ok(())
    }

    fn consumed_bytes(&self) -> u64 {
        self.lines.input.consumed_bytes()
    }

    fn left_out(&self) -> u64 {
        self.left_out
    }

    fn memory_bytes(&self) -> u64 {
        self.lines.input.memory_bytes() + 2 * BUFFER_BYTES as u64 + 4 * BATCH_BYTES as u64
    }
}
