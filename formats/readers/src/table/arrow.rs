//! Rows of Arrow IPC files and streams (Feather version 2), by the `arrow-ipc` crate.

use super::super::file::InputFile;
use super::super::input::{Input, Unpack};
use super::TableOptions;
use super::arrays;
use super::rows::{RowBatch, Rows, Start};
use super::schema;
use super::source::{Plan, TableHead};
use crate::WeightsOption;
use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::{FileReader, StreamDecoder};
use arrow_ipc::{Message, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, SchemaRef};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use topostream_formats::error::{Error, Result};

/// Rows of a batch that is passed on; those of files may be of any size.
const BATCH_ROWS: usize = 1 << 16;
/// Main memory for the batches of usual files.
const MEMORY_BYTES: u64 = 64 << 20;

/// The first bytes of a message.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// Compressed bytes inflate at most so many times, beyond this many bytes.
const INFLATION_MAX: i64 = 1024;
const INFLATED_MIN: i64 = 32 << 20;

/// A file that can be read from any place.
struct Seekable {
    file: InputFile,
    at: u64,
    bytes: u64,
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

impl Read for Seekable {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
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

/// Runs code of the crate over a file that may be damaged: a panic is an error.
fn guarded<T>(path: &Path, work: impl FnOnce() -> Result<T, ArrowError>) -> Result<T> {
    let done = catch_unwind(AssertUnwindSafe(work));
    let done = done.unwrap_or_else(|_| Err(damaged("data that cannot be decoded")));
    done.map_err(|error| Error::file(path, "a valid Arrow IPC file", error.to_string()))
}

fn damaged(what: &str) -> ArrowError {
    ArrowError::ParseError(format!("damaged: {what}"))
}

/// A file is read by the places in its footer, a stream message by message.
///
/// The crate's readers allocate what a damaged message asks for, which may end the process. So lengths are checked
/// against the bytes that there are before a message is decoded.
///
/// A table in memory comes from the program itself, and is not checked.
enum Reader {
    File(Box<FileReader<BufReader<Seekable>>>),
    Stream(Box<Messages>),
    /// A table, and the next of its batches.
    Memory(Arc<MemoryTable>, usize),
}

/// A table in memory: columns of ids, and of weights if there are any.
#[derive(Debug)]
pub struct MemoryTable {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl MemoryTable {
    /// A table of batches, all of which have this schema.
    pub fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { schema, batches }
    }

    /// Bytes of the columns.
    pub(in super::super) fn bytes(&self) -> u64 {
        self.batches.iter().map(|batch| batch.get_array_memory_size() as u64).sum()
    }
}

impl Reader {
    fn open(file: &InputFile, memory_bytes: u64) -> Result<Self> {
        if let Some(table) = file.table() {
            return Ok(Self::Memory(Arc::clone(table), 0));
        }
        file.make_seekable()?;
        let (path, mut magic) = (file.path(), [0; 6]);
        let read = file.read_at(&mut magic, 0).map_err(Error::io(path, "read"))?;
        if &magic[..read] == b"ARROW1" {
            let bytes = file.bytes()?.unwrap_or(0);
            guarded(path, || check_file(file, bytes))?;
            let source = BufReader::new(Seekable { file: file.clone(), at: 0, bytes });
            return guarded(path, || FileReader::try_new(source, None)).map(|reader| Self::File(Box::new(reader)));
        }
        let source = BufReader::new(Stream(Input::open(file, memory_bytes, Unpack::ByContent)?));
        guarded(path, || Messages::open(source)).map(|messages| Self::Stream(Box::new(messages)))
    }

    fn schema(&self) -> SchemaRef {
        match self {
            Self::File(reader) => reader.schema(),
            Self::Stream(messages) => messages.decoder.schema().expect("read when the stream was opened"),
            Self::Memory(table, _) => Arc::clone(&table.schema),
        }
    }

    fn next(&mut self, path: &Path) -> Result<Option<RecordBatch>> {
        guarded(path, || match self {
            Self::File(reader) => reader.next().transpose(),
            Self::Stream(messages) => messages.next(),
            Self::Memory(table, next) => {
                *next += 1;
                Ok(table.batches.get(*next - 1).cloned())
            }
        })
    }
}

/// Checks the places in a file's footer, and what the messages there say of their buffers.
fn check_file(file: &InputFile, bytes: u64) -> Result<(), ArrowError> {
    let part = |at: u64, length: u64| -> Result<Vec<u8>, ArrowError> {
        if at.checked_add(length).is_none_or(|end| end > bytes) {
            return Err(damaged("a place behind the end of the file"));
        }
        let mut part = vec![0; length as usize];
        let read = file.read_at(&mut part, at)?;
        (read == part.len()).then_some(part).ok_or_else(|| damaged("a file that is cut off"))
    };
    let last = part(bytes.checked_sub(10).ok_or_else(|| damaged("a file that is cut off"))?, 10)?;
    if &last[4..] != b"ARROW1" {
        return Err(damaged("no mark at the end: the file is cut off"));
    }
    let length = u64::from(u32::from_le_bytes([last[0], last[1], last[2], last[3]]));
    let footer = part((bytes - 10).checked_sub(length).ok_or_else(|| damaged("the footer's length"))?, length)?;
    let footer = root_as_footer(&footer).map_err(|error| damaged(&error.to_string()))?;
    let blocks = [footer.dictionaries(), footer.recordBatches()].into_iter().flatten().flat_map(|of| of.iter());
    for block in blocks {
        let [at, header, body] = [block.offset(), block.metaDataLength().into(), block.bodyLength()].map(u64::try_from);
        let (Ok(at), Ok(header), Ok(body)) = (at, header, body) else { return Err(damaged("a negative length")) };
        part(at.saturating_add(header).saturating_add(body), 0)?;
        let message = part(at, header)?;
        let begin = if message.starts_with(&CONTINUATION) { 8 } else { 4 };
        let message = message.get(begin..).ok_or_else(|| damaged("a short message"))?;
        let message = root_as_message(message).map_err(|error| damaged(&error.to_string()))?;
        for (offset, length) in compressed_buffers(&message) {
            let offset = u64::try_from(offset).ok().filter(|&offset| offset <= body);
            let offset = offset.ok_or_else(|| damaged("an offset behind the message"))?;
            let place = part(at + header + offset, 8.min(body - offset))?;
            check_inflated(&place, (0, length))?;
        }
    }
    Ok(())
}

/// Decodes the messages of a stream, one after another.
struct Messages {
    source: BufReader<Stream>,
    decoder: StreamDecoder,
    /// What the decoder has not taken of the last message.
    pending: Buffer,
    /// A batch that was decoded together with the schema.
    first: Option<RecordBatch>,
}

impl Messages {
    fn open(source: BufReader<Stream>) -> Result<Self, ArrowError> {
        let mut messages = Self { source, decoder: StreamDecoder::new(), pending: Buffer::default(), first: None };
        while messages.decoder.schema().is_none() {
            let message = messages.message()?.ok_or_else(|| damaged("no schema"))?;
            messages.pending = Buffer::from_vec(message);
            // The decoder may take a message without a body only with the next one.
            messages.first = messages.decoder.decode(&mut messages.pending)?;
        }
        Ok(messages)
    }

    fn next(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        loop {
            if self.pending.is_empty() {
                let Some(message) = self.message()? else { return Ok(None) };
                self.pending = Buffer::from_vec(message);
            }
            if let Some(batch) = self.decoder.decode(&mut self.pending)? {
                return Ok(Some(batch));
            }
        }
    }

    /// The bytes of the next message: its lengths, its metadata and its body. None at the end.
    fn message(&mut self) -> Result<Option<Vec<u8>>, ArrowError> {
        let mut bytes = Vec::new();
        // Before Arrow 0.15 the length of the metadata came first.
        if !self.append(&mut bytes, 4)? || bytes == CONTINUATION && !self.append(&mut bytes, 4)? {
            return Ok(None);
        }
        let begin = bytes.len();
        let length = i32::from_le_bytes(bytes[begin - 4..].try_into().expect("four bytes"));
        let length = u64::try_from(length).map_err(|_| damaged("a negative length"))?;
        if length == 0 {
            return Ok(None);
        }
        self.append(&mut bytes, length)?.then_some(()).ok_or_else(|| damaged("a message that is cut off"))?;
        let message = root_as_message(&bytes[begin..]).map_err(|error| damaged(&error.to_string()))?;
        let body = u64::try_from(message.bodyLength()).map_err(|_| damaged("a negative length"))?;
        let places = compressed_buffers(&message);
        let begin = bytes.len();
        self.append(&mut bytes, body)?.then_some(()).ok_or_else(|| damaged("a message that is cut off"))?;
        places.into_iter().try_for_each(|place| check_inflated(&bytes[begin..], place))?;
        Ok(Some(bytes))
    }

    /// Appends the next bytes of the source. False if there are fewer.
    fn append(&mut self, bytes: &mut Vec<u8>, count: u64) -> Result<bool, ArrowError> {
        // Grows with what is there, not by what is announced.
        Ok((&mut self.source).take(count).read_to_end(bytes)? as u64 == count)
    }
}

/// Where the buffers of a message's body are, if they are compressed: offsets and lengths.
fn compressed_buffers(message: &Message<'_>) -> Vec<(i64, i64)> {
    let dictionary = message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data());
    let batch = message.header_as_record_batch().or(dictionary).filter(|batch| batch.compression().is_some());
    let buffers = batch.and_then(|batch| batch.buffers());
    buffers.map_or_else(Vec::new, |all| all.iter().map(|buffer| (buffer.offset(), buffer.length())).collect())
}

/// Checks the length that a compressed buffer is said to have when it is inflated.
fn check_inflated(body: &[u8], (offset, length): (i64, i64)) -> Result<(), ArrowError> {
    let (Ok(at), Ok(length)) = (usize::try_from(offset), usize::try_from(length)) else {
        return Err(damaged("a negative offset"));
    };
    // Shorter ones are empty.
    let Some(announced) = body.get(at..).and_then(|rest| rest.first_chunk::<8>()).filter(|_| length >= 8) else {
        return Ok(());
    };
    let announced = i64::from_le_bytes(*announced);
    if announced > INFLATED_MIN.max(INFLATION_MAX.saturating_mul(length as i64)) {
        return Err(damaged(&format!("{length} bytes that would inflate to {announced}")));
    }
    Ok(())
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
