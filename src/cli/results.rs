//! Results by original id: written as text, CSV, NumPy's .npy, Parquet or Arrow.

use super::columns::{Columns, Rows};
use super::failure::Failure;
use super::npy;
use super::output::OutputFile;
use super::tables;
use crate::model::algorithm::{Answer, AnswerValues};
use clap::ValueEnum;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;
use topostream_formats::{OriginalIds, VertexId};
use topostream_tools::progress::Cancel;

/// The format of a file of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ResultFormat {
    /// One vertex per line: id and values, separated by spaces
    Text,
    /// Comma-separated values with a header
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
    /// For an unknown extension, with the known ones.
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

    /// The extension of files.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Text => "txt",
            Self::Csv => "csv",
            Self::Npy => "npy",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
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

    /// Writes all rows. The file appears when it is complete; where it cannot be completed, nothing is
    /// left. Returns a one-line summary.
    pub fn write(self, columns: &Columns<'_>, cancel: &Cancel) -> Result<String, Failure> {
        let Self { file, format } = self;
        let (place, started) = (file.place(), Instant::now());
        let bytes = file.write(cancel, |out| match format {
            ResultFormat::Text => write_text(out, columns),
            ResultFormat::Csv => write_csv(out, columns),
            ResultFormat::Npy => write_npy(out, columns),
            ResultFormat::Parquet => columns.write_parquet(out),
            ResultFormat::Arrow => columns.write_arrow(out),
        })?;
        let names: Vec<&str> =
            std::iter::once("vertex").chain(columns.answers.iter().map(|answer| &*answer.name)).collect();
        let (rows, size) = (tables::counted(columns.rows(), "row"), tables::bytes(bytes));
        let s = started.elapsed().as_secs_f64();
        let rate = tables::rate(columns.rows() as f64 / s.max(1e-9));
        let written = format!("{size} of {} in {s:.2} s, {rate} rows/s", format.name());
        Ok(format!("{place}: {rows} of {}; {written}\n", names.join(", ")))
    }
}

/// Rows whose values are read at a time.
const CHUNK: u64 = 1 << 12;

/// The values of a column for some rows.
enum Cells {
    F64(Vec<f64>),
    /// Numbers of single precision.
    F32(Vec<f64>),
    Integer(Vec<Option<u64>>),
    Vertex(Vec<Option<VertexId>>),
}

/// A row: a vertex and its values.
struct Row<'a> {
    vertex: VertexId,
    place: usize,
    columns: &'a [Cells],
    ids: &'a OriginalIds,
}

impl Cells {
    fn of(answer: &Answer<'_>, rows: Rows<'_>) -> Self {
        match &answer.values {
            AnswerValues::F64(of) if answer.is_single => Self::F32(rows.values(of)),
            AnswerValues::F64(of) => Self::F64(rows.values(of)),
            AnswerValues::Integer(of) => Self::Integer(rows.values(of)),
            AnswerValues::Vertex(of) => Self::Vertex(rows.values(of)),
        }
    }
}

impl Row<'_> {
    /// Appends the original id of a vertex.
    fn write_id(&self, vertex: VertexId, text: &mut String) -> io::Result<()> {
        match self.ids.names() {
            Some(names) => names.write_text(vertex, text).map_err(io::Error::other),
            None => write!(text, "{}", self.ids.original(vertex)).map_err(io::Error::other),
        }
    }

    /// Appends the value of a column; -1 where there is none. Numbers have the fewest digits that are read as the same
    /// number of their precision.
    fn write_value(&self, column: &Cells, text: &mut String) -> io::Result<()> {
        let written = match column {
            Cells::F64(values) => write!(text, "{:?}", values[self.place]),
            Cells::F32(values) => write!(text, "{:?}", values[self.place] as f32),
            Cells::Integer(values) => match values[self.place] {
                Some(value) => write!(text, "{value}"),
                None => text.write_str("-1"),
            },
            Cells::Vertex(values) => match values[self.place] {
                Some(vertex) => return self.write_id(vertex, text),
                None => text.write_str("-1"),
            },
        };
        written.map_err(io::Error::other)
    }
}

/// Calls `write` with each row.
fn each_row(of: &Columns<'_>, mut write: impl FnMut(&Row<'_>) -> io::Result<()>) -> io::Result<()> {
    for rows in of.batches(CHUNK) {
        let columns: Vec<Cells> = of.answers.iter().map(|answer| Cells::of(answer, rows)).collect();
        for (place, vertex) in rows.vertices().enumerate() {
            write(&Row { vertex: VertexId(vertex), place, columns: &columns, ids: of.ids })?;
        }
    }
    Ok(())
}

fn write_text(out: &mut impl Write, of: &Columns<'_>) -> io::Result<()> {
    let mut line = String::new();
    each_row(of, |row| {
        line.clear();
        row.write_id(row.vertex, &mut line)?;
        for column in row.columns {
            line.push(' ');
            row.write_value(column, &mut line)?;
        }
        line.push('\n');
        out.write_all(line.as_bytes())
    })
}

fn write_csv(out: &mut impl Write, of: &Columns<'_>) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    let header = std::iter::once("vertex").chain(of.answers.iter().map(|answer| &*answer.name));
    csv.write_record(header)?;
    let mut cell = String::new();
    each_row(of, |row| {
        cell.clear();
        row.write_id(row.vertex, &mut cell)?;
        csv.write_field(&cell)?;
        for column in row.columns {
            cell.clear();
            row.write_value(column, &mut cell)?;
            csv.write_field(&cell)?;
        }
        Ok(csv.write_record(None::<&[u8]>)?)
    })?;
    csv.flush()
}

/// The columns of a .npy file, named as the results.
fn npy_columns<'a>(answers: &'a [Answer<'_>]) -> Vec<npy::Column<'a>> {
    let values = answers.iter().map(|answer| match answer.values {
        AnswerValues::F64(_) => npy::Column { name: &answer.name, kind: npy::Kind::Float },
        AnswerValues::Integer(_) | AnswerValues::Vertex(_) => {
            npy::Column { name: &answer.name, kind: npy::Kind::Signed }
        }
    });
    std::iter::once(npy::Column { name: "vertex", kind: npy::Kind::Unsigned }).chain(values).collect()
}

fn write_npy(out: &mut impl Write, of: &Columns<'_>) -> io::Result<()> {
    out.write_all(&npy::header(&npy_columns(of.answers), of.rows()))?;
    each_row(of, |row| {
        if row.ids.names().is_some() {
            return Err(io::Error::other("names do not fit in a .npy file"));
        }
        out.write_all(&row.ids.original(row.vertex).to_le_bytes())?;
        for column in row.columns {
            let cell = match column {
                Cells::F64(values) | Cells::F32(values) => values[row.place].to_bits(),
                Cells::Integer(values) => signed(values[row.place])? as u64,
                Cells::Vertex(values) => signed(values[row.place].map(|vertex| row.ids.original(vertex)))? as u64,
            };
            out.write_all(&cell.to_le_bytes())?;
        }
        Ok(())
    })
}

/// An integer of a column in which -1 stands for none.
fn signed(value: Option<u64>) -> io::Result<i64> {
    let Some(value) = value else { return Ok(-1) };
    let too_large = || format!("{value} does not fit in a .npy column of signed 64-bit numbers; write text or .csv");
    i64::try_from(value).map_err(|_| io::Error::other(too_large()))
}
