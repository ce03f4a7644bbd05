//! Rows of Parquet files, by the `parquet` crate: only the columns that are needed, several row groups side by side.
//!
//! ```text
//!  row groups ─▶ lanes: 0, 4, 8, … │ 1, 5, 9, … │ 2, 6, … │ 3, 7, …  ─▶ a batch of each lane, in parallel
//! ```
//!
//! The number of lanes does not depend on the machine, so the order of rows does not.

use super::super::file::InputFile;
use super::TableOptions;
use super::arrays;
use super::rows::{RowBatch, Rows, Start};
use super::schema;
use super::source::{Plan, TableHead};
use crate::WeightsOption;
use arrow_array::RecordBatch;
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::LogicalType;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use rayon::prelude::*;
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use topostream_formats::error::{Error, Result};

/// Row groups that are read side by side, if there is memory for them.
const LANES_MAX: usize = 4;
/// Rows of a batch, and the bytes that it takes with names of usual length.
const BATCH_ROWS_MAX: usize = 1 << 16;
const BATCH_ROWS_MIN: usize = 1 << 10;
const ROW_BYTES: u64 = 128;
/// Bytes of a read of a page's header.
const HEADER_BYTES: usize = 4 << 10;

/// A file for the `parquet` crate.
#[derive(Clone)]
struct Source {
    file: InputFile,
    bytes: u64,
}

impl Source {
    fn open(file: &InputFile) -> Result<Self> {
        // A footer is at the end: a pipe has to be copied.
        file.make_seekable()?;
        let bytes = file.bytes()?.unwrap_or(0);
        Ok(Self { file: file.clone(), bytes })
    }

    fn read(&self, start: u64, buffer: &mut [u8]) -> Result<usize, ParquetError> {
        self.file.read_at(buffer, start).map_err(|error| ParquetError::External(Box::new(error)))
    }
}

impl Length for Source {
    fn len(&self) -> u64 {
        self.bytes
    }
}

/// A stream from an offset on.
struct From {
    source: Source,
    at: u64,
}

impl Read for From {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl ChunkReader for Source {
    type T = io::BufReader<From>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(io::BufReader::with_capacity(HEADER_BYTES, From { source: self.clone(), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.bytes) {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} of {}", self.bytes)));
        }
        let (mut buffer, mut filled) = (Vec::new(), 0);
        buffer.try_reserve_exact(length).map_err(|_| ParquetError::General(format!("no memory for {length} bytes")))?;
        buffer.resize(length, 0);
        while filled < length {
            match self.read(start + filled as u64, &mut buffer[filled..])? {
                0 => return Err(ParquetError::EOF(format!("{length} bytes at {start}"))),
                read => filled += read,
            }
        }
        Ok(buffer.into())
    }
}

/// An error of the crate, with the file.
fn failed(path: &std::path::Path, what: &str, error: &impl std::fmt::Display) -> Error {
    Error::file(path, format!("a valid Parquet file ({what})"), error.to_string())
}

/// Runs code of the crate over a file that may be damaged: a panic is an error.
fn guarded<T>(work: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(ParquetError::General("damaged data".into())))
}

fn metadata(file: &InputFile, source: &Source) -> Result<ArrowReaderMetadata> {
    guarded(|| ArrowReaderMetadata::load(source, ArrowReaderOptions::new()))
        .map_err(|error| failed(file.path(), "its footer", &error))
}

/// The columns of a file.
pub(super) fn head(file: &InputFile, options: &TableOptions, weights: WeightsOption) -> Result<TableHead> {
    let metadata = metadata(file, &Source::open(file)?)?;
    let fields = metadata.parquet_schema().root_schema().get_fields();
    let is_uuid = |column: usize| {
        arrays::is_uuid(metadata.schema().field(column))
            || matches!(fields[column].get_basic_info().logical_type_ref(), Some(LogicalType::Uuid))
    };
    schema::head(file, metadata.schema(), is_uuid, (options, weights))
}

/// A row group that is being read.
struct Lane {
    /// The next row group of the lane.
    group: usize,
    reader: Option<ParquetRecordBatchReader>,
    row: u64,
}

/// The row groups of a file, and what is read of them.
struct Groups {
    path: PathBuf,
    source: Source,
    metadata: ArrowReaderMetadata,
    plan: Plan,
    mask: ProjectionMask,
    /// The columns of source, dest and weight in the batches.
    places: [usize; 3],
    names: Vec<String>,
    batch_rows: usize,
}

/// The rows of one file.
pub(super) struct ParquetRows {
    groups: Groups,
    lanes: Vec<Lane>,
    memory_bytes: u64,
    consumed_bytes: u64,
}

impl ParquetRows {
    pub(super) fn open(file: &InputFile, plan: Plan, memory_bytes: u64) -> Result<Self> {
        let source = Source::open(file)?;
        let metadata = metadata(file, &source)?;
        let chosen = plan.columns;
        let mut roots = vec![chosen.source, chosen.dest];
        roots.extend(chosen.weight);
        roots.sort_unstable();
        roots.dedup();
        let place = |column: usize| roots.iter().position(|&root| root == column).unwrap_or(0);
        let places = [place(chosen.source), place(chosen.dest), chosen.weight.map_or(0, place)];
        let mask = ProjectionMask::roots(metadata.parquet_schema(), roots.iter().copied());
        // A column chunk of a lane: pages, decompressed, and dictionaries.
        let descriptor = metadata.metadata();
        let group_bytes = |group: usize| -> u64 {
            let columns = descriptor.row_group(group).columns().iter().enumerate();
            columns
                .filter(|(leaf, _)| mask.leaf_included(*leaf))
                .map(|(_, column)| column.compressed_size().max(0) as u64)
                .sum()
        };
        let group_count = descriptor.num_row_groups();
        let lane_bytes = (0..group_count).map(group_bytes).max().unwrap_or(0);
        let lanes = LANES_MAX.min(group_count).max(1);
        let lanes =
            (1..=lanes).rev().find(|&lanes| lanes as u64 * (lane_bytes + (8 << 20)) <= memory_bytes).unwrap_or(1);
        let batch_rows =
            (memory_bytes / 2 / lanes as u64 / ROW_BYTES).clamp(BATCH_ROWS_MIN as u64, BATCH_ROWS_MAX as u64);
        let names = metadata.schema().fields().iter().map(|field| field.name().clone()).collect();
        let needed_bytes = lanes as u64 * (lane_bytes.min(64 << 20) + batch_rows * ROW_BYTES);
        let lanes = (0..lanes).map(|group| Lane { group, reader: None, row: 0 }).collect();
        let (path, batch_rows) = (file.path().to_owned(), batch_rows as usize);
        let groups = Groups { path, source, metadata, plan, mask, places, names, batch_rows };
        Ok(Self { groups, lanes, memory_bytes: needed_bytes, consumed_bytes: 0 })
    }
}

impl Groups {
    /// The next batch of a lane; none after its last row group.
    fn next(&self, lane: &mut Lane, step: usize) -> Result<Option<(RowBatch, u64)>> {
        let groups = self.metadata.metadata().num_row_groups();
        let mut bytes = 0;
        loop {
            if lane.reader.is_none() {
                if lane.group >= groups {
                    return Ok(None);
                }
                let builder =
                    ParquetRecordBatchReaderBuilder::new_with_metadata(self.source.clone(), self.metadata.clone());
                let builder = builder.with_row_groups(vec![lane.group]).with_batch_size(self.batch_rows);
                let reader = guarded(|| builder.with_projection(self.mask.clone()).build());
                lane.reader = Some(reader.map_err(|error| self.damaged(lane.group, &error))?);
                lane.row = 0;
            }
            let reader = lane.reader.as_mut().expect("just opened");
            let read = guarded(|| reader.next().transpose().map_err(ParquetError::from));
            let Some(batch) = read.map_err(|error| self.damaged(lane.group, &error))? else {
                let group = self.metadata.metadata().row_group(lane.group);
                let expected = group.num_rows().max(0) as u64;
                if lane.row != expected {
                    let found = format!("{} rows", lane.row);
                    return Err(Error::file(&self.path, format!("{expected} rows in row group {}", lane.group), found));
                }
                bytes += group.compressed_size().max(0) as u64;
                lane.reader = None;
                lane.group += step;
                continue;
            };
            if batch.num_rows() == 0 {
                continue;
            }
            let rows = self.rows(&batch, lane)?;
            lane.row += batch.num_rows() as u64;
            return Ok(Some((rows, bytes)));
        }
    }

    fn rows(&self, batch: &RecordBatch, lane: &Lane) -> Result<RowBatch> {
        let start = Start { group: Some(lane.group as u64), row: lane.row };
        let rows = arrays::rows(batch, &self.plan, self.places);
        let (ids, weights) = rows.map_err(|fault| schema::fault(&self.path, &self.names, "row group", start, fault))?;
        Ok(RowBatch { ids, weights, start })
    }

    fn damaged(&self, group: usize, error: &ParquetError) -> Error {
        if self.source.file.is_cancelled() {
            return Error::Interrupted;
        }
        failed(&self.path, &format!("row group {group}"), error)
    }
}

impl Rows for ParquetRows {
    fn read(&mut self, batches: &mut Vec<RowBatch>) -> Result<()> {
        let mut lanes = std::mem::take(&mut self.lanes);
        let (step, groups) = (lanes.len(), &self.groups);
        let found: Vec<_> = lanes.par_iter_mut().map(|lane| groups.next(lane, step)).collect();
        self.lanes = lanes;
        batches.clear();
        for found in found {
            if let Some((batch, bytes)) = found? {
                batches.push(batch);
                self.consumed_bytes += bytes;
            }
        }
        if batches.is_empty() {
            self.consumed_bytes = self.groups.source.bytes;
        }
        Ok(())
    }

    fn consumed_bytes(&self) -> u64 {
        self.consumed_bytes.min(self.groups.source.bytes)
    }

    fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }
}
