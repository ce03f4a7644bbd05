//! Rows of Arrow IPC files and streams (Feather version 2), by the `arrow-ipc` crate.
//!
//! A record batch is decoded whole. What that takes is known from the messages before: of a file when it is opened, of
//! a stream message by message. Batches are passed on in parts, bounded by rows and by the bytes of their names.

use super::arrays;
use super::guard;
use super::options::TableOptions;
use super::plan::{Plan, TableHead};
use super::rows::{Ids, RowBatch, Rows, Start};
use super::schema;
use super::selection::{self, Selected};
use crate::file::InputFile;
use crate::input::{Input, Unpack};
use crate::memory_table::MemoryTable;
use crate::options::WeightsOption;
use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::{FileReader, StreamDecoder};
use arrow_ipc::{Message, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, SchemaRef};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use topostream_formats::error::{Error, Result};
use topostream_formats::names::IdType;

/// Rows of a batch that is passed on; batches of files may have any size.
const BATCH_ROWS: usize = 1 << 16;
/// Bytes of the names of a batch that is passed on.
const BATCH_NAMES_BYTES: usize = 2 << 20;
/// Main memory for the batch that is passed on, and for the one before it, unless a name alone takes more.
const PASSED_BYTES: u64 = 12 << 20;
/// Copies of a name in addition to the record batch: the list that is passed on, and the one before it.
const COPIES: u64 = 2;
/// The part of the memory that the names of one row may take.
const NAMES_SHARE: u64 = 2;
/// The least for the record batches of a stream.
const STREAM_BYTES_MIN: u64 = 32 << 20;

/// The first bytes of a message.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// Maximum ratio of a buffer's size to its compressed size: Zstandard makes a block of 128 KiB of 4 bytes.
const INFLATION_MAX: u64 = 1 << 16;
/// Buffers up to this size are not checked by that ratio, in bytes.
const INFLATED_MIN: u64 = 32 << 20;

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

/// Runs code of the crate over a part of a file that may be damaged: a panic is an error.
fn guarded<T>(path: &Path, what: &str, work: impl FnOnce() -> Result<T, ArrowError>) -> Result<T> {
    let done = guard::guarded(work).unwrap_or_else(|text| Err(damaged(&text)));
    done.map_err(|error| {
        // An error of this crate's own, with its figures.
        let found = match error {
            ArrowError::ExternalError(error) => match error.downcast::<Error>() {
                Ok(error) => return *error,
                Err(error) => error.to_string(),
            },
            error => error.to_string(),
        };
        Error::file(path, format!("a valid Arrow IPC file{what}"), found)
    })
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
///
/// A file has the most bytes of its record batches and dictionaries.
enum Reader {
    File(Box<FileReader<BufReader<Seekable>>>, u64),
    Stream(Box<Messages>),
    /// A table, and the next of its batches.
    Memory(Arc<MemoryTable>, usize),
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
            let batch_bytes = guarded(path, "", || check_file(file, bytes))?;
            let reader = guarded(path, "", || FileReader::try_new(seekable(file, bytes), None));
            return reader.map(|reader| Self::File(Box::new(reader), batch_bytes));
        }
        let source = BufReader::new(Stream(Input::open(file, memory_bytes, Unpack::ByContent)?));
        let place = (path.to_owned(), memory_bytes.max(STREAM_BYTES_MIN));
        guarded(path, "", || Messages::open(source, place)).map(|messages| Self::Stream(Box::new(messages)))
    }

    /// Main memory for record batches, in bytes.
    fn memory_bytes(&self) -> u64 {
        match self {
            Self::File(_, batch_bytes) => *batch_bytes,
            Self::Stream(messages) => messages.memory_bytes,
            Self::Memory(..) => 0,
        }
    }

    fn schema(&self) -> SchemaRef {
        match self {
            Self::File(reader, _) => reader.schema(),
            Self::Stream(messages) => messages.decoder.schema().expect("read when the stream was opened"),
            Self::Memory(table, _) => Arc::clone(&table.schema),
        }
    }

    /// The next record batch, whose number is `number`.
    fn next(&mut self, file: &InputFile, number: u64) -> Result<Option<RecordBatch>> {
        let batch = guarded(file.path(), &format!(" (record batch {number})"), || match self {
            Self::File(reader, _) => reader.next().transpose(),
            Self::Stream(messages) => messages.next(),
            Self::Memory(table, next) => {
                *next += 1;
                Ok(table.batches.get(*next - 1).cloned())
            }
        });
        batch.map_err(|error| match self {
            Self::File(reader, _) => wrong_column(file, &reader.schema(), number).unwrap_or(error),
            _ => error,
        })
    }
}

fn seekable(file: &InputFile, bytes: u64) -> BufReader<Seekable> {
    BufReader::new(Seekable { file: file.clone(), at: 0, bytes })
}

/// The error of the first column of a record batch that cannot be decoded.
fn wrong_column(file: &InputFile, schema: &SchemaRef, number: u64) -> Option<Error> {
    let bytes = file.bytes().ok()??;
    schema.fields().iter().enumerate().find_map(|(column, field)| {
        let what = format!(" (record batch {number}, column `{}`)", field.name());
        let decode = || {
            let mut reader = FileReader::try_new(seekable(file, bytes), Some(vec![column]))?;
            reader.set_index(number as usize)?;
            reader.next().transpose()
        };
        guarded(file.path(), &what, decode).err()
    })
}

/// Checks the places in a file's footer, and what the messages there say of their buffers. Returns the bytes of all
/// dictionaries and the largest record batch.
fn check_file(file: &InputFile, bytes: u64) -> Result<u64, ArrowError> {
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
    let [dictionaries, batches] = [footer.dictionaries(), footer.recordBatches()]
        .map(|blocks| blocks.into_iter().flat_map(|blocks| blocks.iter()));
    let (mut held_bytes, mut batch_bytes) = (0u64, 0);
    for (block, is_held) in dictionaries.map(|block| (block, true)).chain(batches.map(|block| (block, false))) {
        let [at, header, body] = [block.offset(), block.metaDataLength().into(), block.bodyLength()].map(u64::try_from);
        let (Ok(at), Ok(header), Ok(body)) = (at, header, body) else { return Err(damaged("a negative length")) };
        part(at.saturating_add(header).saturating_add(body), 0)?;
        let message = part(at, header)?;
        let begin = if message.starts_with(&CONTINUATION) { 8 } else { 4 };
        let message = message.get(begin..).ok_or_else(|| damaged("a short message"))?;
        let message = root_as_message(message).map_err(|error| damaged(&error.to_string()))?;
        let mut decoded_bytes = header + body;
        for (offset, length) in compressed_buffers(&message) {
            let offset = u64::try_from(offset).ok().filter(|&offset| offset <= body);
            let offset = offset.ok_or_else(|| damaged("an offset behind the message"))?;
            let place = part(at + header + offset, 8.min(body - offset))?;
            decoded_bytes = decoded_bytes.saturating_add(inflated_bytes(&place, (0, length))?);
        }
        match is_held {
            true => held_bytes = held_bytes.saturating_add(decoded_bytes),
            false => batch_bytes = decoded_bytes.max(batch_bytes),
        }
    }
    Ok(held_bytes.saturating_add(batch_bytes))
}

/// Decodes the messages of a stream, one after another.
struct Messages {
    source: BufReader<Stream>,
    decoder: StreamDecoder,
    /// What the decoder has not taken of the last message.
    pending: Buffer,
    /// A batch that was decoded together with the schema.
    first: Option<RecordBatch>,
    /// The path of the file, which messages name.
    path: PathBuf,
    /// Main memory for record batches, and what dictionaries have of it.
    memory_bytes: u64,
    held_bytes: u64,
}

impl Messages {
    fn open(source: BufReader<Stream>, (path, memory_bytes): (PathBuf, u64)) -> Result<Self, ArrowError> {
        let (decoder, pending) = (StreamDecoder::new(), Buffer::default());
        let mut messages = Self { source, decoder, pending, first: None, path, memory_bytes, held_bytes: 0 };
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
        self.check_memory(length)?;
        self.append(&mut bytes, length)?.then_some(()).ok_or_else(|| damaged("a message that is cut off"))?;
        let message = root_as_message(&bytes[begin..]).map_err(|error| damaged(&error.to_string()))?;
        let body = u64::try_from(message.bodyLength()).map_err(|_| damaged("a negative length"))?;
        let (places, is_held) = (compressed_buffers(&message), message.header_as_dictionary_batch().is_some());
        let begin = bytes.len();
        self.check_memory(length.saturating_add(body))?;
        self.append(&mut bytes, body)?.then_some(()).ok_or_else(|| damaged("a message that is cut off"))?;
        let mut decoded_bytes = length + body;
        for place in places {
            decoded_bytes = decoded_bytes.saturating_add(inflated_bytes(&bytes[begin..], place)?);
        }
        self.check_memory(decoded_bytes)?;
        self.held_bytes += if is_held { decoded_bytes } else { 0 };
        Ok(Some(bytes))
    }

    /// An error with the figure if a message takes too much.
    fn check_memory(&self, bytes: u64) -> Result<(), ArrowError> {
        let needed_bytes = self.held_bytes.saturating_add(bytes);
        if needed_bytes <= self.memory_bytes {
            return Ok(());
        }
        let error = too_large(&self.path, needed_bytes, self.memory_bytes, "a record batch, which is decoded whole");
        Err(ArrowError::ExternalError(Box::new(error)))
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

/// The stated length of a compressed buffer after inflation.
fn inflated_bytes(body: &[u8], (offset, length): (i64, i64)) -> Result<u64, ArrowError> {
    let (Ok(at), Ok(length)) = (usize::try_from(offset), u64::try_from(length)) else {
        return Err(damaged("a negative offset"));
    };
    // Shorter ones are empty.
    let Some(announced) = body.get(at..).and_then(|rest| rest.first_chunk::<8>()).filter(|_| length >= 8) else {
        return Ok(0);
    };
    // Negative: as it is.
    let announced = u64::try_from(i64::from_le_bytes(*announced)).unwrap_or(0);
    if announced > INFLATED_MIN.max(INFLATION_MAX.saturating_mul(length)) {
        return Err(damaged(&format!("{length} bytes that would inflate to {announced}")));
    }
    Ok(announced)
}

/// The refusal of a part of a file that takes more memory than there is.
fn too_large(path: &Path, needed_bytes: u64, budget_bytes: u64, parts: &str) -> Error {
    Error::Memory { what: format!("{}: reading", path.display()), needed_bytes, budget_bytes, parts: parts.into() }
}

/// The columns of a file.
pub(super) fn head(
    file: &InputFile,
    options: &TableOptions,
    (weights, memory_bytes): (WeightsOption, u64),
) -> Result<TableHead> {
    let schema = Reader::open(file, memory_bytes)?.schema();
    schema::head(file, &schema, |column| arrays::is_uuid(schema.field(column)), (options, weights))
}

/// The rows of one file.
pub(super) struct ArrowRows {
    file: InputFile,
    reader: Reader,
    plan: Plan,
    names: Vec<String>,
    /// The reader's share of the memory, and what batches that are passed on may take.
    memory_bytes: u64,
    passed_bytes: u64,
    /// The batch that is being passed on, and the next of its rows.
    batch: Option<(RecordBatch, usize)>,
    number: u64,
    passed: u64,
    bytes: u64,
    left_out: u64,
}

impl ArrowRows {
    pub(super) fn open(file: &InputFile, plan: Plan, memory_bytes: u64) -> Result<Self> {
        let reader = Reader::open(file, memory_bytes)?;
        let names = reader.schema().fields().iter().map(|field| field.name().clone()).collect();
        let bytes = file.bytes()?.unwrap_or(0);
        // No name is longer than its record batch.
        let longest_bytes =
            if plan.id_type == IdType::Integer { 0 } else { COPIES.saturating_mul(reader.memory_bytes()) };
        let passed_bytes = PASSED_BYTES + longest_bytes.min(memory_bytes / NAMES_SHARE);
        let file = file.clone();
        let (number, passed) = (0, 0);
        Ok(Self {
            file,
            reader,
            plan,
            names,
            memory_bytes,
            passed_bytes,
            batch: None,
            number,
            passed,
            bytes,
            left_out: 0,
        })
    }

    /// The next rows of a record batch that meet all conditions, from `row` on, and the number of rows they are taken
    /// of.
    fn part(&self, batch: &RecordBatch, row: usize) -> Result<(RowBatch, usize)> {
        let (path, columns) = (self.file.path(), self.plan.columns);
        let start = Start { group: Some(self.number - 1), row: row as u64 };
        let places = [columns.source, columns.dest, columns.weight.unwrap_or(0)];
        let part = batch.slice(row, BATCH_ROWS.min(batch.num_rows() - row));
        let what = format!(" (record batch {})", self.number - 1);
        let rows = || selection::rows(&part, &self.plan, places, BATCH_NAMES_BYTES, |column| column);
        let found = guarded(path, &what, || Ok(rows()))?;
        let found = found.map_err(|fault| schema::fault(path, &self.names, "record batch", start, fault))?;
        let Selected { ids, weights, kept, passed } = found;
        if let Ids::Names(names) = &ids
            && COPIES * names.text_bytes() as u64 > self.passed_bytes
        {
            let parts = format!("a row with names of {} bytes in record batch {}", names.text_bytes(), self.number - 1);
            let needed_bytes = COPIES * NAMES_SHARE * names.text_bytes() as u64;
            return Err(too_large(path, needed_bytes, self.memory_bytes, &parts));
        }
        Ok((RowBatch { ids, weights, start, kept }, passed))
    }
}

impl Rows for ArrowRows {
    fn read(&mut self, batches: &mut Vec<RowBatch>) -> Result<()> {
        batches.clear();
        loop {
            if let Some((batch, row)) = self.batch.take()
                && row < batch.num_rows()
            {
                let (part, passed) = self.part(&batch, row)?;
                self.left_out += (passed - part.ids.rows()) as u64;
                self.batch = Some((batch, row + passed));
                if part.ids.rows() > 0 {
                    batches.push(part);
                    return Ok(());
                }
                continue;
            }
            let Some(batch) = self.reader.next(&self.file, self.number)? else {
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

    fn left_out(&self) -> u64 {
        self.left_out
    }

    fn memory_bytes(&self) -> u64 {
        self.reader.memory_bytes().saturating_add(self.passed_bytes)
    }
}
