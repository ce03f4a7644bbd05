//! Sizes of the pages of a Parquet column chunk, by the pages' headers: what decoding takes is known before anything
//! is decoded.
//!
//! ```text
//!  header │ page, compressed │ header │ page, compressed │ …      a chunk; a dictionary page comes first, if any
//! ```
//!
//! A header is a Thrift struct in the compact protocol. Its fields here: 1 type, 2 size, 3 compressed size, and a
//! struct by the type (5 data page, 7 dictionary, 8 data page of version 2) whose field 1 is the number of values.

use super::parquet_file::Source;
use parquet::errors::ParquetError;

type Result<T> = std::result::Result<T, ParquetError>;

/// Bytes of a header that are read at once.
const READ_BYTES: usize = 256;
/// Structs within structs.
const DEPTH_MAX: u32 = 16;
/// Tables that a decoder of differences makes for each value of a page: two lengths.
const LENGTHS_BYTES: u64 = 8;
/// The encodings that have such tables: lengths as differences, prefixes as differences.
const DELTA_LENGTH: [u64; 2] = [6, 7];

const DATA: u64 = 0;
const DICTIONARY: u64 = 2;
const DATA_V2: u64 = 3;

/// The sizes of a chunk's largest pages, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ChunkSizes {
    /// The largest page as it is in the file.
    compressed: u64,
    /// The two largest data pages, with tables of their decoders: one is in use while the next one is decompressed.
    data: [u64; 2],
    dictionary: u64,
}

impl ChunkSizes {
    /// Main memory for the pages of a chunk that are in use at a time: a dictionary is copied.
    pub fn memory_bytes(&self) -> u64 {
        self.compressed + self.data[0] + self.data[1] + 2 * self.dictionary
    }

    /// No value of the chunk is longer, if each is within a page.
    pub fn value_bytes(&self) -> u64 {
        self.data[0].max(self.dictionary)
    }

    fn add(&mut self, page: &Header) {
        self.compressed = self.compressed.max(page.compressed_bytes);
        if page.kind == DICTIONARY {
            self.dictionary = self.dictionary.max(page.bytes);
            return;
        }
        let tables = if DELTA_LENGTH.contains(&page.encoding) { LENGTHS_BYTES * page.values } else { 0 };
        let bytes = page.bytes + tables;
        let [first, second] = self.data;
        self.data = if bytes > first { [bytes, first] } else { [first, second.max(bytes)] };
    }
}

/// Reads the headers of the chunk of `length` bytes at `start`, which has `values` values.
pub(super) fn chunk_sizes(source: &Source, (start, length): (u64, u64), values: u64) -> Result<ChunkSizes> {
    let (mut sizes, mut at, mut seen) = (ChunkSizes::default(), start, 0);
    let end = start.checked_add(length).ok_or_else(|| damaged("a place behind the end of the file"))?;
    while at < end && seen < values {
        let mut bytes = Bytes { source, at, end, buffer: [0; READ_BYTES], filled: 0, next: 0 };
        let page = Header::read(&mut bytes)?;
        let begin = bytes.offset();
        if page.compressed_bytes > end.saturating_sub(begin) {
            return Err(damaged("a page that ends behind its column"));
        }
        if [DATA, DATA_V2].contains(&page.kind) {
            seen += page.values;
            // A page has no more values than its column: more lengths than those are not decoded.
            if seen > values {
                return Err(damaged(&format!("pages of {seen} values in a column of {values}")));
            }
        }
        if page.kind == DICTIONARY || [DATA, DATA_V2].contains(&page.kind) {
            sizes.add(&page);
        }
        at = begin + page.compressed_bytes;
    }
    Ok(sizes)
}

pub(super) fn damaged(what: &str) -> ParquetError {
    ParquetError::General(format!("damaged: {what}"))
}

/// A number in as many bytes as it needs, seven bits in each.
pub(super) fn varint(mut byte: impl FnMut() -> Result<u8>) -> Result<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = byte()?;
        value |= u64::from(byte & 127) << shift;
        if byte < 128 {
            return Ok(value);
        }
    }
    Err(damaged("a number of more than 64 bits"))
}

/// A number whose sign is its lowest bit.
pub(super) fn zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// What a page's header says.
#[derive(Default)]
struct Header {
    kind: u64,
    bytes: u64,
    compressed_bytes: u64,
    values: u64,
    encoding: u64,
}

impl Header {
    fn read(from: &mut Bytes<'_>) -> Result<Self> {
        let (mut header, mut last, mut seen) = (Self::default(), 0, 0);
        while let Some((id, of)) = from.field(&mut last)? {
            match (id, of) {
                (1, INTEGER) => header.kind = from.unsigned()?,
                (2, INTEGER) => header.bytes = from.unsigned()?,
                (3, INTEGER) => header.compressed_bytes = from.unsigned()?,
                (5 | 7 | 8, STRUCT) => header.read_page(from, id)?,
                _ => from.skip_value(of, 0)?,
            }
            seen |= 1 << id.clamp(0, 31);
        }
        if seen & 0b1110 == 0b1110 { Ok(header) } else { Err(damaged("a page's header without its sizes")) }
    }

    /// The header of a kind of page, which is field `kind` of the whole header.
    fn read_page(&mut self, from: &mut Bytes<'_>, kind: i64) -> Result<()> {
        let (mut last, encoding) = (0, if kind == 8 { 4 } else { 2 });
        while let Some((id, of)) = from.field(&mut last)? {
            match (id, of) {
                (1, INTEGER) => self.values = from.unsigned()?,
                (id, INTEGER) if id == encoding => self.encoding = from.unsigned()?,
                _ => from.skip_value(of, 1)?,
            }
        }
        Ok(())
    }
}

/// Types of the compact protocol.
const STOP: u8 = 0;
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const SHORT: u8 = 4;
const INTEGER: u8 = 5;
const LONG: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;
const UUID: u8 = 13;

/// The bytes of a header.
struct Bytes<'a> {
    source: &'a Source,
    /// Where the buffer begins in the file, and where the chunk ends.
    at: u64,
    end: u64,
    buffer: [u8; READ_BYTES],
    filled: usize,
    next: usize,
}

impl Bytes<'_> {
    /// Where the next byte is in the file.
    fn offset(&self) -> u64 {
        self.at + self.next as u64
    }

    fn byte(&mut self) -> Result<u8> {
        if self.next == self.filled {
            self.skip_bytes(0)?;
            let most = (self.end - self.at).min(READ_BYTES as u64) as usize;
            self.filled = self.source.read(self.at, &mut self.buffer[..most])?;
            if self.filled == 0 {
                return Err(damaged("a page's header that is cut off"));
            }
        }
        self.next += 1;
        Ok(self.buffer[self.next - 1])
    }

    fn skip_bytes(&mut self, count: u64) -> Result<()> {
        if count <= (self.filled - self.next) as u64 && count > 0 {
            self.next += count as usize;
            return Ok(());
        }
        let to = self.offset().checked_add(count).filter(|&to| to <= self.end);
        self.at = to.ok_or_else(|| damaged("a page's header that is cut off"))?;
        (self.filled, self.next) = (0, 0);
        Ok(())
    }

    fn varint(&mut self) -> Result<u64> {
        varint(|| self.byte())
    }

    fn integer(&mut self) -> Result<i64> {
        self.varint().map(zigzag)
    }

    /// A size, a number of values or an enumerator: an integer of 32 bits that is not negative. Sums of some of them
    /// do not overflow.
    fn unsigned(&mut self) -> Result<u64> {
        let number = i32::try_from(self.integer()?).ok().and_then(|number| u64::try_from(number).ok());
        number.ok_or_else(|| damaged("a page's header with a number that is negative or has more than 32 bits"))
    }

    /// The id and the type of the next field of a struct; none at its end.
    fn field(&mut self, last: &mut i64) -> Result<Option<(i64, u8)>> {
        let byte = self.byte()?;
        if byte & 15 == STOP {
            return Ok(None);
        }
        *last = if byte >> 4 == 0 { self.integer()? } else { last.saturating_add(i64::from(byte >> 4)) };
        Ok(Some((*last, byte & 15)))
    }

    fn skip_value(&mut self, of: u8, depth: u32) -> Result<()> {
        match of {
            TRUE | FALSE => Ok(()),
            BYTE => self.skip_bytes(1),
            SHORT | INTEGER | LONG => self.varint().map(drop),
            DOUBLE => self.skip_bytes(8),
            UUID => self.skip_bytes(16),
            BINARY => {
                let length = self.varint()?;
                if length > 0 { self.skip_bytes(length) } else { Ok(()) }
            }
            _ if depth == DEPTH_MAX => Err(damaged("a page's header of too many levels")),
            STRUCT => {
                let mut last = 0;
                while let Some((_, of)) = self.field(&mut last)? {
                    self.skip_value(of, depth + 1)?;
                }
                Ok(())
            }
            LIST | SET => {
                let byte = self.byte()?;
                let count = if byte >> 4 == 15 { self.varint()? } else { u64::from(byte >> 4) };
                (0..count).try_for_each(|_| self.skip_element(byte & 15, depth + 1))
            }
            MAP => match self.varint()? {
                0 => Ok(()),
                count => {
                    let types = self.byte()?;
                    (0..count).try_for_each(|_| {
                        self.skip_element(types >> 4, depth + 1)?;
                        self.skip_element(types & 15, depth + 1)
                    })
                }
            },
            _ => Err(damaged("a page's header of unknown types")),
        }
    }

    /// An element of a list, where a boolean is a byte.
    fn skip_element(&mut self, of: u8, depth: u32) -> Result<()> {
        if matches!(of, TRUE | FALSE) { self.skip_bytes(1) } else { self.skip_value(of, depth) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::InputFile;

    fn integer(value: i64) -> Vec<u8> {
        let (mut rest, mut bytes) = ((value << 1 ^ value >> 63) as u64, vec![1 << 4 | INTEGER]);
        while rest >= 128 {
            bytes.push(rest as u8 | 128);
            rest >>= 7;
        }
        bytes.push(rest as u8);
        bytes
    }

    /// The header of a data page of version 1 that has no bytes in the file.
    fn header(bytes: i64, values: i64, encoding: i64) -> Vec<u8> {
        let sizes = [0, bytes, 0].map(integer).concat();
        [sizes, vec![2 << 4 | STRUCT], integer(values), integer(encoding), vec![STOP, STOP]].concat()
    }

    fn sizes(headers: &[Vec<u8>], values: u64) -> Result<ChunkSizes> {
        let folder = tempfile::tempdir().unwrap();
        let (path, bytes) = (folder.path().join("chunk"), headers.concat());
        std::fs::write(&path, &bytes).unwrap();
        chunk_sizes(&Source::open(&InputFile::new(&path)).unwrap(), (0, bytes.len() as u64), values)
    }

    #[test]
    fn numbers_of_headers_have_32_bits() {
        const MAX: i64 = i32::MAX as i64;
        let delta_length = DELTA_LENGTH[0] as i64;
        let found = sizes(&[header(MAX, MAX, delta_length), header(MAX, 1, 0)], u64::MAX).unwrap();
        assert_eq!(found.data, [(1 + LENGTHS_BYTES) * MAX as u64, MAX as u64]);
        assert_eq!(found.memory_bytes(), (2 + LENGTHS_BYTES) * MAX as u64);
        for wrong in [-1, MAX + 1, i64::MAX, i64::MIN] {
            for header in [header(wrong, 1, 0), header(1, wrong, delta_length), header(1, 1, wrong)] {
                let error = sizes(&[header.clone(), header], u64::MAX).unwrap_err().to_string();
                assert!(error.contains("negative or has more than 32 bits"), "{wrong}: {error}");
            }
        }
    }
}
