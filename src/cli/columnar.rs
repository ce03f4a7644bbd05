//! Results as columns: Parquet and Arrow IPC files, with the ids in their type, nulls where there is no answer, and the
//! run in the file's metadata.
//!
//! ```text
//!  answers ─ 65,536 vertices at a time ─▶ columns, on all threads ─▶ record batch ─▶ Parquet, row groups of 2^20 rows
//!  ids     ─┘                                                                    └─▶ Arrow IPC
//! ```

use super::columns::{Columns, Rows};
use crate::model::algorithm::{Answer, AnswerValues};
use arrow_array::builder::{BinaryBuilder, FixedSizeBinaryBuilder, StringBuilder};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, UInt64Array};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::schema::types::ColumnPath;
use rayon::prelude::*;
use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;
use topostream_formats::{OriginalIds, VertexId};
use topostream_readers::IdType;

/// The maximum number of rows of a row group.
const GROUP_ROWS: usize = 1 << 20;
/// The size of a row group's encoded columns in memory from which on it is written, in bytes.
const GROUP_BYTES: usize = 8 << 20;
/// Rows that are made at a time: the memory of a batch, without a row group's encoded columns.
const BATCH_ROWS: u64 = 1 << 16;
/// Bytes of the names of a batch's column.
const NAMES_BYTES: u64 = 2 << 20;
/// Main memory for writing Parquet: a row group, the batch that ends it, and what is compressed, in bytes.
pub const PARQUET_BYTES: u64 = 20 << 20;
/// Main memory for writing Arrow: a batch, and the same as it is written, in bytes.
pub const ARROW_BYTES: u64 = 10 << 20;
/// Names are long if this many of them do not fit in a batch.
const LONG_ROWS: u64 = 1 << 10;
/// The column of ids.
const VERTEX: &str = "vertex";
/// Columns whose values all differ, or nearly.
const UNIQUE: [&str; 4] = [VERTEX, "id", "source", "ptr"];

impl Columns<'_> {
    /// Writes a Parquet file.
    pub fn write_parquet(&self, out: &mut (impl Write + Send)) -> io::Result<()> {
        let schema = self.schema();
        let rows = rows_at_a_time(self.ids).map_err(io::Error::other)?;
        let properties = parquet_properties(&schema, rows, self.metadata.to_vec());
        let writer = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties));
        let mut writer = writer.map_err(of_parquet)?;
        self.each_batch(&schema, rows, |batch| {
            writer.write(&batch).map_err(of_parquet)?;
            if writer.memory_size() < GROUP_BYTES { Ok(()) } else { writer.flush().map_err(of_parquet) }
        })?;
        writer.close().map(drop).map_err(of_parquet)
    }

    /// Writes an Arrow IPC file, also called Feather (version 2).
    pub fn write_arrow(&self, out: &mut impl Write) -> io::Result<()> {
        let schema = self.schema();
        let metadata: HashMap<String, String> = self.metadata.iter().cloned().collect();
        let described = Schema::clone(&schema).with_metadata(metadata);
        let rows = rows_at_a_time(self.ids).map_err(io::Error::other)?;
        let mut writer = FileWriter::try_new(out, &described).map_err(of_arrow)?;
        self.each_batch(&Arc::new(described), rows, |batch| writer.write(&batch).map_err(of_arrow))?;
        writer.finish().map_err(of_arrow)
    }

    /// The columns' names and types.
    pub fn schema(&self) -> Arc<Schema> {
        let column = |answer: &Answer<'_>| match answer.values {
            AnswerValues::F64(_) => Field::new(answer.name.as_ref(), DataType::Float64, true),
            AnswerValues::Integer(_) => Field::new(answer.name.as_ref(), DataType::UInt64, true),
            AnswerValues::Vertex(_) => Field::new(answer.name.as_ref(), self.ids.data_type(), true),
        };
        let columns = self.answers.iter().map(column);
        Arc::new(Schema::new(
            std::iter::once(Field::new(VERTEX, self.ids.data_type(), false)).chain(columns).collect::<Vec<_>>(),
        ))
    }

    /// Passes all rows, so many at a time.
    fn each_batch(
        &self,
        schema: &Arc<Schema>,
        rows: u64,
        mut write: impl FnMut(RecordBatch) -> io::Result<()>,
    ) -> io::Result<()> {
        self.batches(rows).try_for_each(|rows| write(self.batch(schema, rows)?))
    }

    /// Some rows, with the columns of [`schema`](Self::schema).
    ///
    /// # Errors
    /// Errors from reading names.
    pub fn batch(&self, schema: &Arc<Schema>, rows: Rows<'_>) -> io::Result<RecordBatch> {
        let ids = || self.ids.column(rows.vertices().map(|vertex| Some(VertexId(vertex))));
        let answers = || self.answers.par_iter().map(|answer| self.column(answer, rows));
        let (ids, columns) = rayon::join(ids, || answers().collect::<io::Result<Vec<ArrayRef>>>());
        let columns = std::iter::once(ids?).chain(columns?).collect();
        RecordBatch::try_new(Arc::clone(schema), columns).map_err(of_arrow)
    }

    /// The values of some rows; null where there are none.
    fn column(&self, answer: &Answer<'_>, rows: Rows<'_>) -> io::Result<ArrayRef> {
        match &answer.values {
            AnswerValues::F64(of) => {
                let values = rows.values(of);
                // A distance to a vertex that cannot be reached is infinite.
                if values.iter().all(|value| value.is_finite()) {
                    return Ok(Arc::new(Float64Array::from(values)));
                }
                let finite = |value: f64| value.is_finite().then_some(value);
                Ok(Arc::new(values.into_iter().map(finite).collect::<Float64Array>()))
            }
            AnswerValues::Integer(of) => Ok(Arc::new(UInt64Array::from(rows.values(of)))),
            AnswerValues::Vertex(of) => self.ids.column(rows.values(of).into_iter()),
        }
    }
}

/// The number of rows whose names, of any vertices, are together in memory.
///
/// # Errors
/// Errors from reading names.
pub fn rows_at_a_time(ids: &OriginalIds) -> topostream_formats::Result<u64> {
    let Some(names) = ids.names() else { return Ok(BATCH_ROWS) };
    Ok((NAMES_BYTES / names.block_bytes_max()?.max(1)).clamp(1, BATCH_ROWS))
}

/// The properties of a Parquet file with these columns. Columns of ids and of fractions have no dictionary: their
/// values differ, so that one would be built and given up. `rows` are written at a time.
pub fn parquet_properties(schema: &Schema, rows: u64, metadata: Vec<(String, String)>) -> WriterProperties {
    let metadata = metadata.into_iter().map(|(name, value)| KeyValue::new(name, value));
    let mut properties = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_created_by(format!("topostream {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(metadata.collect()));
    if rows < LONG_ROWS {
        // Pages are ended by their rows: in an encoding by prefixes they have no size before they are complete.
        properties = properties.set_max_row_group_bytes(Some(GROUP_BYTES));
        properties = properties.set_data_page_row_count_limit(rows as usize).set_write_batch_size(rows as usize);
    }
    for field in schema.fields() {
        if UNIQUE.contains(&field.name().as_str()) || field.data_type() == &DataType::Float64 {
            let column = ColumnPath::from(field.name().as_str());
            properties = properties.set_column_dictionary_enabled(column.clone(), false);
            if field.data_type() == &DataType::UInt64 {
                properties = properties.set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
            }
        }
    }
    properties.build()
}

/// Original ids as columns, in their type.
pub trait IdColumn {
    /// Their type.
    fn data_type(&self) -> DataType;

    /// The ids of vertices.
    fn column(&self, vertices: impl Iterator<Item = Option<VertexId>>) -> io::Result<ArrayRef>;

    /// The ids that edges carry: numbers as they are, names by their vertices.
    fn column_of_ids(&self, ids: impl Iterator<Item = u64>) -> io::Result<ArrayRef>;
}

impl IdColumn for OriginalIds {
    fn data_type(&self) -> DataType {
        match self.names().map(|names| names.id_type()) {
            None => DataType::UInt64,
            Some(IdType::Integer | IdType::String) => DataType::Utf8,
            Some(IdType::Uuid) => DataType::FixedSizeBinary(16),
            Some(IdType::Binary) => DataType::Binary,
        }
    }

    fn column_of_ids(&self, ids: impl Iterator<Item = u64>) -> io::Result<ArrayRef> {
        match self.names() {
            None => Ok(Arc::new(UInt64Array::from_iter_values(ids))),
            Some(_) => self.column(ids.map(|vertex| Some(VertexId(vertex as u32)))),
        }
    }

    fn column(&self, vertices: impl Iterator<Item = Option<VertexId>>) -> io::Result<ArrayRef> {
        let Some(names) = self.names() else {
            let numbers = vertices.map(|vertex| vertex.map(|vertex| self.original(vertex)));
            return Ok(Arc::new(numbers.collect::<UInt64Array>()));
        };
        let text = names.id_type();
        match text {
            IdType::Integer | IdType::String => {
                let (mut column, mut name) = (StringBuilder::new(), String::new());
                for vertex in vertices {
                    match vertex {
                        Some(vertex) => {
                            name.clear();
                            names.write_text(vertex, &mut name).map_err(io::Error::other)?;
                            column.append_value(&name);
                        }
                        None => column.append_null(),
                    }
                }
                Ok(Arc::new(column.finish()))
            }
            IdType::Uuid => {
                let mut column = FixedSizeBinaryBuilder::new(16);
                for vertex in vertices {
                    match vertex {
                        Some(vertex) => {
                            let appended = names.with_name(vertex, |name| column.append_value(name));
                            appended.map_err(io::Error::other)?.map_err(of_arrow)?;
                        }
                        None => column.append_null(),
                    }
                }
                Ok(Arc::new(column.finish()))
            }
            IdType::Binary => {
                let mut column = BinaryBuilder::new();
                for vertex in vertices {
                    match vertex {
                        Some(vertex) => {
                            let appended = names.with_name(vertex, |name| column.append_value(name));
                            appended.map_err(io::Error::other)?;
                        }
                        None => column.append_null(),
                    }
                }
                Ok(Arc::new(column.finish()))
            }
        }
    }
}

/// The error of the system, if that is what ended writing.
fn of_parquet(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

/// The I/O error within an error of Arrow.
fn of_arrow(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, source) => source,
        other => io::Error::other(other),
    }
}
