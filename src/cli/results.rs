//! Results by original id: written as text, CSV, NumPy's .npy, Parquet or Arrow; and the vertices with the largest
//! values.

use super::columnar::Columns;
use super::{Failure, tables};
use clap::ValueEnum;
use npyz::{DType, DTypeError, Field, TypeWrite, WriterBuilder};
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use topostream::model::algorithm::{Answer, AnswerValues, Values};
use topostream_formats::{Error as StoreError, OriginalId, OriginalIds, VertexId, durable};
use topostream_tools::progress::Cancel;

/// The format of a file of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ResultFormat {
    /// One vertex per line: id and values, separated by spaces
    Text,
    /// The same with commas and a header
    Csv,
    /// A NumPy structured array, one record per vertex
    Npy,
    /// A Parquet file
    Parquet,
    /// An Arrow IPC file, also called Feather
    Arrow,
}

impl ResultFormat {
    /// The format by the file's extension; text if it has none, and on standard output.
    ///
    /// # Errors
    /// For an unknown extension, with those that are known.
    pub fn of(path: &Path) -> Result<Self, Failure> {
        let Some(extension) = path.extension() else { return Ok(Self::Text) };
        match extension.to_str().map(str::to_ascii_lowercase).as_deref() {
            Some("txt") => Ok(Self::Text),
            Some("csv") => Ok(Self::Csv),
            Some("npy") => Ok(Self::Npy),
            Some("parquet" | "pq") => Ok(Self::Parquet),
            Some("arrow" | "feather" | "ipc") => Ok(Self::Arrow),
            _ => Err(Failure::Other(format!(
                "{}: expected a name with .txt, .csv, .npy, .parquet or .arrow, found .{}; --output-format chooses a \
                 format for any name",
                path.display(),
                extension.display()
            ))),
        }
    }

    /// The name, as on the command line.
    fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Csv => "CSV",
            Self::Npy => "NumPy",
            Self::Parquet => "Parquet",
            Self::Arrow => "Arrow IPC",
        }
    }
}

/// The path of standard output.
pub const STDOUT: &str = "-";

/// A file of results, opened before the run, so that hours of work do not end at a mistyped path.
pub struct ResultFile {
    file: OutputFile,
    format: ResultFormat,
}

impl ResultFile {
    /// Makes sure that `path` can be written. A file that is there already stays until the new one is complete.
    pub fn create(path: &Path, format: Option<ResultFormat>) -> Result<Self, Failure> {
        let format = format.map_or_else(|| ResultFormat::of(path), Ok)?;
        Ok(Self { file: OutputFile::create_or_print(path)?, format })
    }

    /// Writes all vertices' values. The file appears when it is complete; where it cannot be completed, nothing is
    /// left. Returns a line that says what was written where.
    pub fn write(self, columns: &Columns<'_>, cancel: &Cancel) -> Result<String, Failure> {
        let Self { file, format } = self;
        let Columns { answers, ids, vertices, .. } = *columns;
        let place = file.place();
        let bytes = file.write(cancel, |out| match format {
            ResultFormat::Text => write_text(out, answers, ids, vertices),
            ResultFormat::Csv => write_csv(out, answers, ids, vertices),
            ResultFormat::Npy => write_npy(out, answers, ids, vertices),
            ResultFormat::Parquet => columns.write_parquet(out),
            ResultFormat::Arrow => columns.write_arrow(out),
        })?;
        let names: Vec<&str> = std::iter::once("vertex").chain(answers.iter().map(|answer| answer.name)).collect();
        let (rows, size) = (tables::count(vertices), tables::bytes(bytes));
        Ok(format!("{place}: {rows} rows of {}, {size} of {}\n", names.join(", "), format.name()))
    }
}

/// A file that is opened before a run and written after it.
pub struct OutputFile(durable::OutputFile);

/// The buffered writer of an output file.
pub type Output<'a> = BufWriter<Stoppable<'a>>;

impl OutputFile {
    /// Makes sure that `path` can be written. A file that is there already stays until the new one is complete.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        durable::OutputFile::create(path).map(Self).map_err(|error| failure(path, error))
    }

    /// The same, or standard output for the path `-`.
    fn create_or_print(path: &Path) -> Result<Self, Failure> {
        if path != Path::new(STDOUT) {
            return Self::create(path);
        }
        durable::OutputFile::stdout().map(Self).map_err(|error| failure(path, error))
    }

    /// Where it goes, for people.
    fn place(&self) -> String {
        if self.0.path() == Path::new(STDOUT) { "standard output".into() } else { self.0.path().display().to_string() }
    }

    /// Writes the file. It appears when it is complete; where it cannot be completed, nothing is left. Returns the
    /// number of bytes.
    pub fn write(
        mut self,
        cancel: &Cancel,
        write: impl FnOnce(&mut Output<'_>) -> io::Result<()>,
    ) -> Result<u64, Failure> {
        let path = self.0.path().to_owned();
        let mut out = BufWriter::with_capacity(1 << 20, Stoppable { file: self.0.file(), cancel, bytes: 0 });
        let finished = write(&mut out).and_then(|()| out.flush());
        // After an error the rest of the buffer must not be written.
        let (Stoppable { bytes, .. }, _) = out.into_parts();
        match finished.and_then(|()| self.0.persist()) {
            Err(_) if cancel.is_cancelled() => Err(StoreError::Interrupted.into()),
            finished => finished.map(|()| bytes).map_err(|error| failure(&path, error)),
        }
    }
}

fn failure(path: &Path, source: io::Error) -> Failure {
    Failure::Engine(topostream::Error::Output { path: path.to_owned(), source })
}

/// A file whose writes fail once a stop was requested.
pub struct Stoppable<'a> {
    file: &'a mut File,
    cancel: &'a Cancel,
    /// Bytes that have been written.
    bytes: u64,
}

impl Write for Stoppable<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("interrupted"));
        }
        let written = self.file.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A value as it is written.
#[derive(Clone)]
enum Value {
    Float(f64),
    /// A level, a distance or an original id; none is written as -1.
    Integer(Option<u64>),
    /// A vertex's name; none is written as -1, as where ids are numbers.
    Name(Option<String>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Float(value) => write!(f, "{value:.9e}"),
            Self::Integer(Some(value)) => write!(f, "{value}"),
            Self::Name(Some(name)) => f.write_str(name),
            Self::Integer(None) | Self::Name(None) => f.write_str("-1"),
        }
    }
}

/// Vertices whose values are read at a time.
const CHUNK: u64 = 1 << 12;

/// The values of a column for `count` vertices, beginning with `first`.
fn values(answer: &Answer<'_>, ids: &OriginalIds, first: u32, count: usize) -> io::Result<Vec<Value>> {
    fn read<T: Clone + Default>(values: &Values<'_, T>, first: u32, count: usize) -> impl Iterator<Item = T> {
        let mut chunk = vec![T::default(); count];
        values.read(first, &mut chunk);
        chunk.into_iter()
    }
    match &answer.values {
        AnswerValues::F64(of) => Ok(read(of, first, count).map(Value::Float).collect()),
        AnswerValues::Integer(of) => Ok(read(of, first, count).map(Value::Integer).collect()),
        AnswerValues::Vertex(of) => {
            let original = |vertex: Option<VertexId>| match (vertex, ids.names()) {
                (vertex, None) => Ok(Value::Integer(vertex.map(|vertex| ids.original(vertex)))),
                (None, Some(_)) => Ok(Value::Name(None)),
                (Some(vertex), Some(names)) => names.text(vertex).map(|name| Value::Name(Some(name))),
            };
            read(of, first, count).map(original).collect::<Result<_, _>>().map_err(io::Error::other)
        }
    }
}

/// Calls `write` with the original id and the values of each vertex.
fn each_row(
    answers: &[Answer<'_>],
    ids: &OriginalIds,
    vertices: u64,
    mut write: impl FnMut(OriginalId, &[Value]) -> io::Result<()>,
) -> io::Result<()> {
    let mut row = Vec::with_capacity(answers.len());
    for first in (0..vertices).step_by(CHUNK as usize) {
        let count = CHUNK.min(vertices - first) as usize;
        let column = |answer: &Answer<'_>| values(answer, ids, first as u32, count);
        let columns = answers.iter().map(column).collect::<io::Result<Vec<Vec<Value>>>>()?;
        for place in 0..count {
            row.clear();
            row.extend(columns.iter().map(|column| column[place].clone()));
            let id = ids.id(VertexId((first + place as u64) as u32)).map_err(io::Error::other)?;
            write(id, &row)?;
        }
    }
    Ok(())
}

fn write_text(out: &mut impl Write, answers: &[Answer<'_>], ids: &OriginalIds, vertices: u64) -> io::Result<()> {
    each_row(answers, ids, vertices, |id, row| {
        write!(out, "{id}")?;
        row.iter().try_for_each(|value| write!(out, " {value}"))?;
        writeln!(out)
    })
}

fn write_csv(out: &mut impl Write, answers: &[Answer<'_>], ids: &OriginalIds, vertices: u64) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    let header = std::iter::once("vertex").chain(answers.iter().map(|answer| answer.name));
    csv.write_record(header)?;
    let mut cell = Vec::new();
    each_row(answers, ids, vertices, |id, row| {
        let mut field = |value: &dyn fmt::Display| {
            cell.clear();
            write!(cell, "{value}")?;
            csv.write_field(&cell)
        };
        field(&id)?;
        row.iter().try_for_each(|value| field(value))?;
        Ok(csv.write_record(None::<&[u8]>)?)
    })?;
    csv.flush()
}

/// The maximum number of columns of a .npy file beside the vertex.
const COLUMNS_MAX: usize = 2;

/// A record: a vertex and its values, each as the eight bytes that its column has.
struct Row {
    cells: [u64; 1 + COLUMNS_MAX],
    columns: usize,
}

/// Writes records.
struct RowWriter;

impl npyz::Serialize for Row {
    type TypeWriter = RowWriter;

    fn writer(_dtype: &DType) -> Result<RowWriter, DTypeError> {
        Ok(RowWriter)
    }
}

impl TypeWrite for RowWriter {
    type Value = Row;

    fn write_one<W: Write>(&self, mut writer: W, row: &Row) -> io::Result<()> {
        row.cells[..=row.columns].iter().try_for_each(|cell| writer.write_all(&cell.to_le_bytes()))
    }
}

/// The columns of a .npy file: little-endian numbers of eight bytes, with the names of the results.
fn row_type(answers: &[Answer<'_>]) -> DType {
    let field = |name: &str, of: &str| Field {
        name: name.to_owned(),
        dtype: DType::Plain(of.parse().expect("a type that NumPy has")),
    };
    let values = answers.iter().map(|answer| match answer.values {
        AnswerValues::F64(_) => field(answer.name, "<f8"),
        AnswerValues::Integer(_) | AnswerValues::Vertex(_) => field(answer.name, "<i8"),
    });
    DType::Record(std::iter::once(field("vertex", "<u8")).chain(values).collect())
}

fn write_npy(out: &mut impl Write, answers: &[Answer<'_>], ids: &OriginalIds, count: u64) -> io::Result<()> {
    assert!(answers.len() <= COLUMNS_MAX, "more columns than any algorithm has");
    let options = npyz::WriteOptions::new().dtype(row_type(answers)).shape(&[count]);
    let mut writer = options.writer(out).begin_nd()?;
    each_row(answers, ids, count, |id, values| {
        let OriginalId::Number(id) = id else { return Err(io::Error::other("names do not fit in a .npy file")) };
        let mut row = Row { cells: [id, 0, 0], columns: answers.len() };
        for (cell, value) in row.cells[1..].iter_mut().zip(values) {
            *cell = match value {
                Value::Float(value) => value.to_bits(),
                Value::Integer(value) => signed(*value)? as u64,
                Value::Name(_) => return Err(io::Error::other("names do not fit in a .npy file")),
            };
        }
        writer.push(&row)
    })?;
    writer.finish()
}

/// An integer of a column in which -1 stands for none.
fn signed(value: Option<u64>) -> io::Result<i64> {
    let Some(value) = value else { return Ok(-1) };
    let too_large = || format!("{value} does not fit in a .npy column of signed 64-bit numbers; write text or .csv");
    i64::try_from(value).map_err(|_| io::Error::other(too_large()))
}

/// The vertices with the largest values, largest first: original id and value.
pub fn top(
    answer: &Answer<'_>,
    count: usize,
    ids: &OriginalIds,
    vertices: u64,
) -> Result<Vec<(OriginalId, f64)>, StoreError> {
    let AnswerValues::F64(of) = &answer.values else { return Ok(Vec::new()) };
    let count = count.min(vertices as usize);
    let mut best: Vec<(f64, u32)> = Vec::with_capacity(2 * count + 1);
    let order = |a: &(f64, u32), b: &(f64, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    for (vertex, value) in of.iter(vertices).enumerate() {
        best.push((value, vertex as u32));
        if best.len() > 2 * count {
            best.sort_by(order);
            best.truncate(count);
        }
    }
    best.sort_by(order);
    best.truncate(count);
    best.into_iter().map(|(value, vertex)| Ok((ids.id(VertexId(vertex))?, value))).collect()
}
