//! Writing answers, by original id: text, CSV or NumPy's .npy; and the top of them for people.

use super::Failure;
use clap::ValueEnum;
use npyz::WriterBuilder;
use std::io::{BufWriter, Write};
use std::path::Path;
use topostream::algorithm::{Answer, AnswerValues};
use topostream_formats::{OriginalIds, VertexId};

/// The format of a file of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ResultFormat {
    /// A vertex a line: id and values, separated by spaces
    Text,
    /// The same with commas and a header
    Csv,
    /// A NumPy structured array, one record a vertex
    Npy,
}

impl ResultFormat {
    /// The format that a file's name asks for; text where it does not.
    pub fn of(path: &Path) -> Self {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("csv") => Self::Csv,
            Some("npy") => Self::Npy,
            _ => Self::Text,
        }
    }
}

/// A value as it is written.
#[derive(Clone, Copy)]
enum Value {
    Float(f64),
    Integer(i64),
}

fn value(answer: &Answer<'_>, vertex: u32, ids: &OriginalIds) -> Value {
    match &answer.values {
        AnswerValues::F64(of) => Value::Float(of(vertex)),
        AnswerValues::Integer(of) => Value::Integer(of(vertex).map_or(-1, |value| value as i64)),
        AnswerValues::Vertex(of) => Value::Integer(of(vertex).map_or(-1, |v| ids.original(VertexId(v)) as i64)),
    }
}

/// Writes all vertices' values. The file appears when it is complete.
pub fn write(
    path: &Path,
    format: ResultFormat,
    answers: &[Answer<'_>],
    ids: &OriginalIds,
    count: u64,
) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::Other(format!("{}: {error}", path.display()));
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut temporary = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    let mut out = BufWriter::with_capacity(1 << 20, temporary.as_file_mut());
    let vertices = (0..count).map(|vertex| vertex as u32);
    match format {
        ResultFormat::Text => write_text(&mut out, answers, ids, vertices),
        ResultFormat::Csv => write_csv(&mut out, answers, ids, vertices),
        ResultFormat::Npy => write_npy(&mut out, answers, ids, count),
    }
    .and_then(|()| out.flush())
    .map_err(failed)?;
    drop(out);
    temporary.persist(path).map(drop).map_err(|error| failed(error.error))
}

fn write_text(
    out: &mut impl Write,
    answers: &[Answer<'_>],
    ids: &OriginalIds,
    vertices: impl Iterator<Item = u32>,
) -> std::io::Result<()> {
    for vertex in vertices {
        write!(out, "{}", ids.original(VertexId(vertex)))?;
        for answer in answers {
            match value(answer, vertex, ids) {
                Value::Float(value) => write!(out, " {value:.9e}")?,
                Value::Integer(value) => write!(out, " {value}")?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

fn write_csv(
    out: &mut impl Write,
    answers: &[Answer<'_>],
    ids: &OriginalIds,
    vertices: impl Iterator<Item = u32>,
) -> std::io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    let header = std::iter::once("vertex").chain(answers.iter().map(|answer| answer.name));
    csv.write_record(header)?;
    for vertex in vertices {
        csv.write_field(ids.original(VertexId(vertex)).to_string())?;
        for answer in answers {
            csv.write_field(match value(answer, vertex, ids) {
                Value::Float(value) => format!("{value:.9e}"),
                Value::Integer(value) => value.to_string(),
            })?;
        }
        csv.write_record(None::<&[u8]>)?;
    }
    csv.flush()
}

/// A record of one float.
#[derive(npyz::Serialize, npyz::AutoSerialize)]
struct FloatRow {
    vertex: u64,
    rank: f64,
}

/// A record of one level.
#[derive(npyz::Serialize, npyz::AutoSerialize)]
struct LevelRow {
    vertex: u64,
    level: i64,
}

/// A record of a level and a parent.
#[derive(npyz::Serialize, npyz::AutoSerialize)]
struct TreeRow {
    vertex: u64,
    level: i64,
    parent: i64,
}

fn write_npy(out: &mut impl Write, answers: &[Answer<'_>], ids: &OriginalIds, count: u64) -> std::io::Result<()> {
    let id = |vertex| ids.original(VertexId(vertex));
    let number = |at: usize, vertex| match value(&answers[at], vertex, ids) {
        Value::Float(value) => value as i64,
        Value::Integer(value) => value,
    };
    match answers {
        [Answer { values: AnswerValues::F64(of), .. }] => {
            write_rows(out, count, |vertex| FloatRow { vertex: id(vertex), rank: of(vertex) })
        }
        [_] => write_rows(out, count, |vertex| LevelRow { vertex: id(vertex), level: number(0, vertex) }),
        _ => write_rows(out, count, |vertex| {
            let (level, parent) = (number(0, vertex), number(1, vertex));
            TreeRow { vertex: id(vertex), level, parent }
        }),
    }
}

fn write_rows<T: npyz::AutoSerialize>(out: &mut impl Write, count: u64, row: impl Fn(u32) -> T) -> std::io::Result<()> {
    let mut writer = npyz::WriteOptions::new().default_dtype().shape(&[count]).writer(out).begin_nd()?;
    for vertex in 0..count {
        writer.push(&row(vertex as u32))?;
    }
    writer.finish()
}

/// The vertices with the largest values, largest first: original id and value.
pub fn top(answer: &Answer<'_>, count: usize, ids: &OriginalIds, vertices: u64) -> Vec<(u64, f64)> {
    let AnswerValues::F64(of) = &answer.values else { return Vec::new() };
    let mut best: Vec<(f64, u32)> = Vec::with_capacity(2 * count + 1);
    let order = |a: &(f64, u32), b: &(f64, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    for vertex in (0..vertices).map(|vertex| vertex as u32) {
        best.push((of(vertex), vertex));
        if best.len() > 2 * count {
            best.sort_by(order);
            best.truncate(count);
        }
    }
    best.sort_by(order);
    best.truncate(count);
    best.into_iter().map(|(value, vertex)| (ids.original(VertexId(vertex)), value)).collect()
}
