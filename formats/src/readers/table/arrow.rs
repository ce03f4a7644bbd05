//! Rows of Arrow IPC files and streams (Feather version 2), by the `arrow-ipc` crate.

use super::super::file::InputFile;
use super::super::input::{Input, Unpack};
use super::TableOptions;
use super::arrays;
use super::rows::{RowBatch, Rows, Start};
use super::schema;
use super::source::{Plan, TableHead};
use crate::error::{Error, Result};
use crate::readers::WeightsOption;
use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, SchemaRef};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Rows of a batch that is passed on; those of files may be of any size.
const BATCH_ROWS: usize = 1 << 16;
/// Main memory for the batches of usual files.
const MEMORY_BYTES: u64 = 64 << 20;

/// A file that can be read from any place.
struct Seekable {
    file: InputFile,
    at: u64,
    bytes: u64,
}

impl Read for Seekable {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for Seekable {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.bytes.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or_else(|| io::Error::other("a place before the beginning"))?;
        Ok(self.at)
    }
}

/// A stream, decompressed.
struct Stream(Input);

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.fill(buffer) {
            (0, Some(error)) => Err(io::Error::other(error)),
            (read, _) => Ok(read),
        }
    }
}

enum Reader {
    File(FileReader<BufReader<Seekable>>),
    Stream(StreamReader<BufReader<Stream>>),
}

/// Runs code of the crate over a file that may be damaged: a panic is an error.
fn guarded<T>(path: &Path, work: impl FnOnce() -> Result<T, ArrowError>) -> Result<T> {
    let done = catch_unwind(AssertUnwindSafe(work));
    let done = done.unwrap_or_else(|_| Err(ArrowError::ParseError("damaged data".into())));
    done.map_err(|error| Error::file(path, "a valid Arrow IPC file", error.to_string()))
}

impl Reader {
    fn open(file: &InputFile, memory_bytes: u64) -> Result<Self> {
        file.make_seekable()?;
        let (path, mut magic) = (file.path(), [0; 6]);
        let read = file.read_at(&mut magic, 0).map_err(Error::io(path, "read"))?;
        if &magic[..read] == b"ARROW1" {
            let bytes = file.bytes()?.unwrap_or(0);
            let source = BufReader::new(Seekable { file: file.clone(), at: 0, bytes });
            return guarded(path, || FileReader::try_new(source, None)).map(Self::File);
        }
        let input = Input::open(file, memory_bytes, Unpack::ByContent)?;
        guarded(path, || StreamReader::try_new(BufReader::new(Stream(input)), None)).map(Self::Stream)
    }

    fn schema(&self) -> SchemaRef {
        match self {
            Self::File(reader) => reader.schema(),
            Self::Stream(reader) => reader.schema(),
        }
    }

    fn next(&mut self, path: &Path) -> Result<Option<RecordBatch>> {
        guarded(path, || match self {
            Self::File(reader) => reader.next().transpose(),
            Self::Stream(reader) => reader.next().transpose(),
        })
    }
}

/// The columns of a file.
pub(super) fn head(file: &InputFile, options: &TableOptions, weights: WeightsOption) -> Result<TableHead> {
    let schema = Reader::open(file, 0)?.schema();
    schema::head(file, &schema, |column| arrays::is_uuid(schema.field(column)), (options, weights))
}

/// The rows of one file.
pub(super) struct ArrowRows {
    path: PathBuf,
    reader: Reader,
    plan: Plan,
    names: Vec<String>,
    /// The batch that is being passed on, and the next of its rows.
    batch: Option<(RecordBatch, usize)>,
    number: u64,
    passed: u64,
    bytes: u64,
}

impl ArrowRows {
    pub(super) fn open(file: &InputFile, plan: Plan, memory_bytes: u64) -> Result<Self> {
        let reader = Reader::open(file, memory_bytes)?;
        let names = reader.schema().fields().iter().map(|field| field.name().clone()).collect();
        let bytes = file.bytes()?.unwrap_or(0);
        Ok(Self { path: file.path().to_owned(), reader, plan, names, batch: None, number: 0, passed: 0, bytes })
    }
}

impl Rows for ArrowRows {
    fn read(&mut self, batches: &mut Vec<RowBatch>) -> Result<()> {
        batches.clear();
        loop {
            if let Some((batch, row)) = self.batch.take() {
                let rows = BATCH_ROWS.min(batch.num_rows() - row);
                let start = Start { group: Some(self.number - 1), row: row as u64 };
                let columns = self.plan.columns;
                let places = [columns.source, columns.dest, columns.weight.unwrap_or(0)];
                let part = batch.slice(row, rows);
                let found = arrays::rows(&part, &self.plan, places);
                let named = |fault| schema::fault(&self.path, &self.names, "record batch", start, fault);
                let (ids, weights) = found.map_err(named)?;
                if row + rows < batch.num_rows() {
                    self.batch = Some((batch, row + rows));
                }
                if rows > 0 {
                    batches.push(RowBatch { ids, weights, start });
                    return Ok(());
                }
            }
            let Some(batch) = self.reader.next(&self.path)? else {
                self.passed = self.bytes;
                return Ok(());
            };
            self.passed = (self.passed + batch.get_array_memory_size() as u64).min(self.bytes);
            self.number += 1;
            self.batch = Some((batch, 0));
        }
    }

    fn consumed_bytes(&self) -> u64 {
        self.passed
    }

    fn memory_bytes(&self) -> u64 {
        MEMORY_BYTES
    }
}
