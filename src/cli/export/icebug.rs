//! icebug-disk, version 1: lists of neighbours in Parquet files, which LadybugDB mounts as they are
//! (<https://github.com/Ladybug-Memory/icebug-format>).
//!
//! ```text
//!  nodes_vertex.parquet     id                 by number
//!  indptr_edge.parquet      ptr                where each list begins, and where the last one ends
//!  indices_edge.parquet     target, weight     the numbers of neighbours, by list
//!  schema.cypher            the tables
//! ```

use super::graph::Export;
use super::lists::{Direction, Entry, Lists};
use crate::cli::columnar::{IdColumn, parquet_properties, rows_at_a_time};
use crate::cli::failure::Failure;
use crate::cli::output::temporary_folder;
use crate::cli::tables;
use arrow_array::{ArrayRef, Float32Array, RecordBatch, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use topostream_formats::edge::WeightType;

/// Rows that are made at a time.
const BATCH_ROWS: u64 = 1 << 16;

pub fn write(export: &mut Export<'_>, path: &Path) -> Result<String, Failure> {
    if path.exists() {
        return Err(Failure::Other(format!("{}: it exists; icebug-disk is written as a new folder", path.display())));
    }
    if let Some(of) = export.weights.filter(|of| of.is_wide()) {
        let (path, of) = (path.display(), of.name());
        return Err(Export::refused(format!(
            "{path}: icebug-disk has weights of 32 bits here, not {of}; write .parquet"
        )));
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = temporary_folder(parent, "icebug")?;
    let (ids, weights, numbering) = (export.ids, export.weights, export.numbering());
    let lists = Lists::count(export, &numbering, Direction::Out)?;
    let inside = folder.path().join("icebug");
    let mut write = || -> io::Result<()> {
        std::fs::create_dir(&inside)?;
        let id = Field::new("id", ids.data_type(), false);
        let rows = rows_at_a_time(ids).map_err(io::Error::other)?;
        write_file(&inside.join("nodes_vertex.parquet"), vec![id], rows, |write| {
            numbering
                .ids()
                .chunks(rows as usize)
                .try_for_each(|part| write(vec![ids.column_of_ids(part.iter().copied())?]))
        })?;
        let ptr = Field::new("ptr", DataType::UInt64, false);
        write_file(&inside.join("indptr_edge.parquet"), vec![ptr], BATCH_ROWS, |write| {
            let mut parts = lists.offsets.chunks(BATCH_ROWS as usize);
            parts.try_for_each(|part| write(vec![Arc::new(UInt64Array::from(part.to_vec()))]))
        })?;
        let mut fields = vec![Field::new("target", DataType::UInt64, false)];
        fields.extend(weights.map(|of| {
            let of = if of.is_float() { DataType::Float32 } else { DataType::UInt32 };
            Field::new("weight", of, false)
        }));
        write_file(&inside.join("indices_edge.parquet"), fields, BATCH_ROWS, |write| {
            let written = lists.each_part(export, |part| {
                part.chunks(BATCH_ROWS as usize).try_for_each(|part| write(columns(part, weights)))
            });
            written.map_err(|failure| io::Error::other(failure.to_string()))
        })?;
        std::fs::write(inside.join("schema.cypher"), script(&ids.data_type(), weights))?;
        std::fs::rename(&inside, path)
    };
    write().map_err(|error| Export::failure(path, error))?;
    let vertices = tables::counted(numbering.count(), "vertex");
    let entries = tables::counted(lists.entries(), "list entry");
    Ok(format!("{}: {vertices}, {entries} as icebug-disk\n", path.display()))
}

/// The tables, for `lbug -i schema.cypher` in the folder.
fn script(id: &DataType, weights: Option<WeightType>) -> String {
    let id = match id {
        DataType::UInt64 => "UINT64",
        DataType::Utf8 => "STRING",
        DataType::FixedSizeBinary(_) => "UUID",
        _ => "BLOB",
    };
    let weight = match weights.map(WeightType::is_float) {
        None => "",
        Some(false) => ", weight UINT32",
        Some(true) => ", weight FLOAT",
    };
    format!(
        "CREATE NODE TABLE vertex(id {id}, PRIMARY KEY(id)) WITH (storage = '', format = 'icebug-disk');\n\
         CREATE REL TABLE edge(FROM vertex TO vertex{weight}) WITH (storage = '', format = 'icebug-disk');\n"
    )
}

/// The neighbours of entries, and their weights.
fn columns(entries: &[Entry], weights: Option<WeightType>) -> Vec<ArrayRef> {
    let targets = entries.iter().map(|&[_, target, _]| u64::from(target)).collect::<UInt64Array>();
    let weights = weights.map(|of| -> ArrayRef {
        let bits = entries.iter().map(|&[_, _, bits]| bits);
        match of.is_float() {
            false => Arc::new(bits.collect::<UInt32Array>()),
            true => Arc::new(bits.map(f32::from_bits).collect::<Float32Array>()),
        }
    });
    std::iter::once(Arc::new(targets) as ArrayRef).chain(weights).collect()
}

/// Writes a Parquet file of the columns that `fill` passes on, of at most `rows` rows at a time.
fn write_file(
    path: &Path,
    fields: Vec<Field>,
    rows: u64,
    fill: impl FnOnce(&mut dyn FnMut(Vec<ArrayRef>) -> io::Result<()>) -> io::Result<()>,
) -> io::Result<()> {
    let schema = Arc::new(Schema::new(fields));
    let metadata = vec![("icebug_disk_version".to_owned(), "v1".to_owned())];
    let file = File::create(path)?;
    let writer = ArrowWriter::try_new(&file, Arc::clone(&schema), Some(parquet_properties(&schema, rows, metadata)));
    let mut writer = writer.map_err(io::Error::other)?;
    fill(&mut |columns| {
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns).map_err(io::Error::other)?;
        writer.write(&batch).map_err(io::Error::other)
    })?;
    writer.close().map_err(io::Error::other)?;
    file.sync_all()
}
