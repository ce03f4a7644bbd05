//! Rows of Parquet files, by the `parquet` crate: only the columns that are needed, several row groups side by side.
//!
//! ```text
//!  row groups ─▶ lanes: 0, 4, 8, … │ 1, 5, 9, … │ 2, 6, … │ 3, 7, …  ─▶ some batches of each lane, in parallel
//! ```
//!
//! Rows come in another order than in the file, unless that is asked for: then there is one lane. Of names, the number
//! of lanes does not depend on the machine, so their order does not; integers are read by all threads.
//!
//! Memory is computed before anything is decoded: for pages from their headers, when the file is opened, and for the
//! rows of a batch from the lengths of the names, when a row group is opened.

use super::arrays;
use super::guard;
use super::lengths::Lengths;
use super::options::TableOptions;
use super::pages::{ChunkSizes, chunk_sizes};
use super::parquet_file::Source;
use super::plan::{Plan, TableHead};
use super::rows::{RowBatch, Rows, Start};
use super::schema;
use super::selection::{self, Selected};
use crate::file::InputFile;
use crate::options::WeightsOption;
use arrow_array::RecordBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::{LogicalType, Type};
use parquet::errors::ParquetError;
use parquet::file::serialized_reader::SerializedPageReader;
use rayon::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use topostream_formats::error::{Error, Result};
use topostream_formats::names::IdType;

/// Row groups of names that are read side by side, if there is memory for them.
const LANES: usize = 16;
/// The fewest and the most of integers.
const LANES_MIN: usize = 4;
const LANES_MAX: usize = 64;
/// Rows of a batch of names, and of integers: buffers of larger ones would be mapped anew for each batch.
const BATCH_ROWS_MAX: u64 = 1 << 16;
const INTEGERS_MAX: u64 = 1 << 14;
/// Batches of integers that a lane reads before it waits for the others: pages are decompressed once in several
/// batches, and lanes do so at different times.
const BATCHES_MAX: u64 = 8;
/// The bytes that a row takes, with names of usual length.
const BATCH_ROWS_MIN: u64 = 1 << 10;
const ROW_BYTES: u64 = 128;
/// Places that the names of a batch are in: arrays, a list, the list of the batch before, and a list that grows.
const COPIES: u64 = 4;
/// Bytes of a row without its names.
const TABLE_BYTES: u64 = 64;
/// An error of the crate, with the file.
fn failed(path: &std::path::Path, what: &str, error: &impl std::fmt::Display) -> Error {
    Error::file(path, format!("a valid Parquet file ({what})"), error.to_string())
}

/// Runs code of the crate over a file that may be damaged: a panic is an error.
fn guarded<T>(work: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    guard::guarded(work).unwrap_or_else(|text| Err(ParquetError::General(text)))
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
    /// Rows that do not meet the conditions.
    left_out: u64,
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
    /// The columns that are read, by their places in the file.
    roots: Vec<usize>,
    /// Main memory for a batch of a lane, without pages.
    batch_bytes: u64,
    /// The batches that a lane reads at a time.
    batches: u64,
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
        roots.extend(plan.conditions.iter().map(|(_, column)| *column));
        roots.sort_unstable();
        roots.dedup();
        let place = |column: usize| roots.iter().position(|&root| root == column).unwrap_or(0);
        let places = [place(chosen.source), place(chosen.dest), chosen.weight.map_or(0, place)];
        let mask = ProjectionMask::roots(metadata.parquet_schema(), roots.iter().copied());
        let names = metadata.schema().fields().iter().map(|field| field.name().clone()).collect();
        let path = file.path().to_owned();
        let mut groups =
            Groups { path, source, metadata, plan, mask, places, names, roots, batch_bytes: 0, batches: 1 };
        let (pages_bytes, row_bytes) = groups.largest()?;
        // The least: a row at a time.
        let least = (COPIES * row_bytes).max(BATCH_ROWS_MIN * ROW_BYTES);
        let lanes = match groups.plan.id_type {
            _ if groups.plan.in_order => 1,
            IdType::Integer => rayon::current_num_threads().clamp(LANES_MIN, LANES_MAX),
            _ => LANES,
        };
        let lanes = lanes.min(groups.count()).max(1) as u64;
        let fits = |lanes: &u64| lanes * (pages_bytes + least) <= memory_bytes;
        let lanes = (1..=lanes).rev().find(fits).unwrap_or(1);
        let left = (memory_bytes / lanes).saturating_sub(pages_bytes);
        groups.batch_bytes = left.min(groups.rows_max() * ROW_BYTES).max(least);
        if groups.plan.id_type == IdType::Integer {
            groups.batches = (left / groups.batch_bytes).clamp(1, BATCHES_MAX);
        }
        let memory_bytes = lanes * (pages_bytes + groups.batches * groups.batch_bytes);
        let lanes = (0..lanes as usize).map(|group| Lane { group, reader: None, row: 0, left_out: 0 }).collect();
        Ok(Self { groups, lanes, memory_bytes, consumed_bytes: 0 })
    }
}

impl Groups {
    fn count(&self) -> usize {
        self.metadata.metadata().num_row_groups()
    }

    /// The columns that are read, among the leaves of the schema, and whether their values may be of any length.
    fn leaves(&self) -> impl Iterator<Item = (usize, bool)> + '_ {
        let columns = self.metadata.parquet_schema().columns().iter().enumerate();
        let read = columns.filter(|(leaf, _)| self.mask.leaf_included(*leaf));
        read.map(|(leaf, column)| (leaf, column.physical_type() == Type::BYTE_ARRAY && column.max_rep_level() == 0))
    }

    /// The name of the column that a leaf is in.
    fn name_of(&self, leaf: usize) -> &str {
        let root = self.metadata.parquet_schema().get_column_root_idx(leaf);
        self.names.get(root).map_or("", String::as_str)
    }

    /// The most bytes that the pages of a row group take, and its longest names in one row.
    fn largest(&self) -> Result<(u64, u64)> {
        let of = |group: usize| -> Result<(u64, u64)> {
            let (mut pages_bytes, mut row_bytes) = (0, 0);
            for (leaf, is_long) in self.leaves() {
                let sizes = self.sizes(group, leaf).map_err(|error| self.wrong(group, self.name_of(leaf), &error))?;
                pages_bytes += sizes.memory_bytes();
                row_bytes += if is_long { sizes.value_bytes() } else { 0 };
            }
            Ok((pages_bytes, row_bytes))
        };
        let all: Vec<_> = (0..self.count()).into_par_iter().map(of).collect::<Result<_>>()?;
        Ok(all.into_iter().fold((0, 0), |most, of| (most.0.max(of.0), most.1.max(of.1))))
    }

    fn sizes(&self, group: usize, leaf: usize) -> Result<ChunkSizes, ParquetError> {
        let column = self.metadata.metadata().row_group(group).column(leaf);
        guarded(|| chunk_sizes(&self.source, column.byte_range(), column.num_values().max(0) as u64))
    }

    fn rows_max(&self) -> u64 {
        if self.plan.id_type == IdType::Integer { INTEGERS_MAX } else { BATCH_ROWS_MAX }
    }

    /// The number of rows of a group that fit in a batch.
    fn batch_rows(&self, group: usize) -> Result<usize> {
        let mut all = Vec::new();
        for (leaf, _) in self.leaves().filter(|(_, is_long)| *is_long) {
            let lengths = guarded(|| self.lengths(group, leaf));
            all.push(lengths.map_err(|error| self.wrong(group, self.name_of(leaf), &error))?);
        }
        let needed_bytes = |rows: u64| {
            let names = all.iter().map(|lengths| lengths.bytes_of(rows)).fold(0, u64::saturating_add);
            names.saturating_mul(COPIES).saturating_add(TABLE_BYTES * rows)
        };
        let most = (self.batch_bytes / ROW_BYTES).clamp(BATCH_ROWS_MIN, self.rows_max());
        let mut halves = std::iter::successors(Some(most), |rows| Some(rows / 2)).take_while(|&rows| rows > 0);
        let rows = halves.find(|&rows| needed_bytes(rows) <= self.batch_bytes);
        Ok(rows.unwrap_or(1) as usize)
    }

    fn lengths(&self, group: usize, leaf: usize) -> Result<Lengths, ParquetError> {
        let group = self.metadata.metadata().row_group(group);
        let (column, rows) = (group.column(leaf), group.num_rows().max(0) as usize);
        let mut pages = SerializedPageReader::new(Arc::new(self.source.clone()), column, rows, None)?;
        Lengths::of(&mut pages, column.column_descr(), column.num_values().max(0) as u64)
    }

    /// Reads some columns of a row group.
    fn reader(
        &self,
        group: usize,
        rows: usize,
        mask: ProjectionMask,
    ) -> Result<ParquetRecordBatchReader, ParquetError> {
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(self.source.clone(), self.metadata.clone());
        let builder = builder.with_row_groups(vec![group]).with_batch_size(rows);
        guarded(|| builder.with_projection(mask).build())
    }

    /// The next batch of a lane; none after its last row group.
    fn next(&self, lane: &mut Lane, step: usize) -> Result<Option<(RowBatch, u64)>> {
        let groups = self.count();
        let mut bytes = 0;
        loop {
            if lane.reader.is_none() {
                if lane.group >= groups {
                    return Ok(None);
                }
                let reader = self.reader(lane.group, self.batch_rows(lane.group)?, self.mask.clone());
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
            lane.left_out += (batch.num_rows() - rows.ids.rows()) as u64;
            if rows.ids.rows() == 0 {
                continue;
            }
            return Ok(Some((rows, bytes)));
        }
    }

    fn rows(&self, batch: &RecordBatch, lane: &Lane) -> Result<RowBatch> {
        let start = Start { group: Some(lane.group as u64), row: lane.row };
        let place = |column: usize| self.roots.iter().position(|&root| root == column).unwrap_or(0);
        let rows = guarded(|| Ok(selection::rows(batch, &self.plan, self.places, usize::MAX, place)));
        let rows = rows.map_err(|error| self.damaged(lane.group, &error))?;
        let selected = rows.map_err(|fault| schema::fault(&self.path, &self.names, "row group", start, fault))?;
        let Selected { ids, weights, kept, .. } = selected;
        Ok(RowBatch { ids, weights, start, kept })
    }

    /// The error of a row group that cannot be decoded, with the column that cannot.
    fn damaged(&self, group: usize, error: &ParquetError) -> Error {
        if self.source.file.is_cancelled() {
            return Error::Interrupted;
        }
        let rows = match self.batch_rows(group) {
            Ok(rows) => rows,
            Err(error) => return error,
        };
        for &root in &self.roots {
            let mask = ProjectionMask::roots(self.metadata.parquet_schema(), [root]);
            let decode = || {
                let mut reader = self.reader(group, rows, mask)?;
                while guarded(|| reader.next().transpose().map_err(ParquetError::from))?.is_some() {}
                Ok(())
            };
            if let Err(error) = decode() {
                return self.wrong(group, &self.names[root], &error);
            }
        }
        failed(&self.path, &format!("row group {group}"), error)
    }

    fn wrong(&self, group: usize, column: &str, error: &ParquetError) -> Error {
        if self.source.file.is_cancelled() {
            return Error::Interrupted;
        }
        failed(&self.path, &format!("row group {group}, column `{column}`"), error)
    }
}

impl Rows for ParquetRows {
    fn read(&mut self, batches: &mut Vec<RowBatch>) -> Result<()> {
        let mut lanes = std::mem::take(&mut self.lanes);
        let (step, groups) = (lanes.len(), &self.groups);
        let some = |lane: &mut Lane| -> Vec<_> {
            let next = std::iter::from_fn(|| groups.next(lane, step).transpose());
            next.take(groups.batches as usize).collect()
        };
        let found: Vec<_> = lanes.par_iter_mut().map(some).collect();
        self.lanes = lanes;
        batches.clear();
        for found in found.into_iter().flatten() {
            let (batch, bytes) = found?;
            batches.push(batch);
            self.consumed_bytes += bytes;
        }
        if batches.is_empty() {
            self.consumed_bytes = self.groups.source.bytes;
        }
        Ok(())
    }

    fn consumed_bytes(&self) -> u64 {
        self.consumed_bytes.min(self.groups.source.bytes)
    }

    fn left_out(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.left_out).sum()
    }

    fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }
}
