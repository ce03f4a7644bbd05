//! A row for each edge: its ends by their ids, and its weight.

use super::graph::Export;
use crate::cli::columnar::{IdColumn, parquet_properties, rows_at_a_time};
use crate::cli::failure::Failure;
use crate::cli::output::OutputFile;
use crate::cli::tables;
use crate::store::VertexId;
use arrow_array::{ArrayRef, Float32Array, Float64Array, RecordBatch, UInt32Array, UInt64Array};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use topostream_formats::edge::WeightType;
use topostream_formats::{Edge, OriginalIds};

/// The columns' names.
const COLUMNS: [&str; 3] = ["source", "target", "weight"];

pub fn write_csv(export: &mut Export<'_>, path: &Path, separator: u8) -> Result<String, Failure> {
    let (ids, weights) = (export.ids, export.weights);
    written(export, path, |export, out| {
        let mut csv = csv::WriterBuilder::new().delimiter(separator).from_writer(out);
        csv.write_record(&COLUMNS[..if weights.is_some() { 3 } else { 2 }])?;
        let mut cell = String::new();
        export.each(|chunk| {
            for edge in chunk {
                for id in [edge.source, edge.dest] {
                    cell.clear();
                    write_id(ids, id, &mut cell)?;
                    csv.write_field(&cell)?;
                }
                if let Some(of) = weights {
                    csv.write_field(of.text(edge.weight).to_string())?;
                }
                csv.write_record(None::<&[u8]>)?;
            }
            Ok(())
        })?;
        csv.flush()
    })
}

pub fn write_parquet(export: &mut Export<'_>, path: &Path) -> Result<String, Failure> {
    let (ids, weights) = (export.ids, export.weights);
    let schema = schema(ids, weights);
    written(export, path, |export, out| {
        let rows = rows_at_a_time(ids).map_err(io::Error::other)?;
        let properties = parquet_properties(&schema, rows, Vec::new());
        let writer = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties));
        let mut writer = writer.map_err(io::Error::other)?;
        export
            .each_batch(ids, |edges| writer.write(&batch(&schema, ids, weights, edges)?).map_err(io::Error::other))?;
        writer.close().map(drop).map_err(io::Error::other)
    })
}

pub fn write_arrow(export: &mut Export<'_>, path: &Path) -> Result<String, Failure> {
    let (ids, weights) = (export.ids, export.weights);
    let schema = schema(ids, weights);
    written(export, path, |export, out| {
        let mut writer = FileWriter::try_new(out, &schema).map_err(io::Error::other)?;
        export
            .each_batch(ids, |edges| writer.write(&batch(&schema, ids, weights, edges)?).map_err(io::Error::other))?;
        writer.finish().map_err(io::Error::other)
    })
}

/// The edges for a writer that fails with I/O errors; counts them.
struct Counted<'a, 'b> {
    export: &'a mut Export<'b>,
    edges: u64,
}

impl Counted<'_, '_> {
    fn each(&mut self, mut take: impl FnMut(&[Edge]) -> io::Result<()>) -> io::Result<()> {
        let edges = &mut self.edges;
        let read = self.export.each_chunk(|chunk| {
            *edges += chunk.len() as u64;
            take(chunk)
        });
        read.map_err(|failure| io::Error::other(failure.to_string()))
    }

    /// As [`Self::each`], with as many edges at a time as their names allow.
    fn each_batch(&mut self, ids: &OriginalIds, mut take: impl FnMut(&[Edge]) -> io::Result<()>) -> io::Result<()> {
        let edges = rows_at_a_time(ids).map_err(io::Error::other)? as usize;
        self.each(|chunk| chunk.chunks(edges).try_for_each(&mut take))
    }
}

/// Creates a file and writes it; returns a line about it.
fn written(
    export: &mut Export<'_>,
    path: &Path,
    write: impl FnOnce(&mut Counted<'_, '_>, &mut (dyn Write + Send)) -> io::Result<()>,
) -> Result<String, Failure> {
    let file = OutputFile::create(path)?;
    let (cancel, mut counted) = (export.cancel, Counted { export, edges: 0 });
    let bytes = file.write(cancel, |out| write(&mut counted, out))?;
    Ok(format!("{}: {}, {}\n", path.display(), tables::counted(counted.edges, "edge"), tables::bytes(bytes)))
}

fn write_id(ids: &OriginalIds, id: u64, text: &mut String) -> io::Result<()> {
    match ids.names() {
        Some(names) => names.write_text(VertexId(id as u32), text).map_err(io::Error::other),
        None => {
            use std::fmt::Write;
            write!(text, "{id}").map_err(io::Error::other)
        }
    }
}

fn schema(ids: &OriginalIds, weights: Option<WeightType>) -> Arc<Schema> {
    let end = |name| Field::new(name, ids.data_type(), false);
    let weight = weights.map(|of| {
        let of = match of {
            WeightType::U32 => DataType::UInt32,
            WeightType::F32 => DataType::Float32,
            WeightType::U64 => DataType::UInt64,
            WeightType::F64 => DataType::Float64,
        };
        Field::new(COLUMNS[2], of, false)
    });
    Arc::new(Schema::new([end(COLUMNS[0]), end(COLUMNS[1])].into_iter().chain(weight).collect::<Vec<_>>()))
}

fn batch(
    schema: &Arc<Schema>,
    ids: &OriginalIds,
    weights: Option<WeightType>,
    edges: &[Edge],
) -> io::Result<RecordBatch> {
    let (sources, dests) = rayon::join(
        || ids.column_of_ids(edges.iter().map(|edge| edge.source)),
        || ids.column_of_ids(edges.iter().map(|edge| edge.dest)),
    );
    let weights = weights.map(|of| -> ArrayRef {
        let weights = edges.iter().map(|edge| edge.weight);
        match of {
            WeightType::U32 => Arc::new(weights.map(|bits| bits as u32).collect::<UInt32Array>()),
            WeightType::F32 => Arc::new(weights.map(|bits| f32::from_bits(bits as u32)).collect::<Float32Array>()),
            WeightType::U64 => Arc::new(weights.collect::<UInt64Array>()),
            WeightType::F64 => Arc::new(weights.map(f64::from_bits).collect::<Float64Array>()),
        }
    });
    let columns = [sources?, dests?].into_iter().chain(weights).collect();
    RecordBatch::try_new(Arc::clone(schema), columns).map_err(io::Error::other)
}
