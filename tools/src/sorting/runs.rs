//! Runs of records on disk, packed: a sorted run of edges takes about half of its bytes in memory.
//!
//! ```text
//!  record    same source as before, no smaller dest: difference of dests   │ weight, 4 or 8 bytes
//!            otherwise:                      dest, difference of sources   │
//!  number    kind:1 │ following bytes:3 │ lowest bits:4 ┊ following bytes
//! ```
//!
//! Any order of records can be written, but only sorted ones become smaller. All threads pack; runs are unpacked side
//! by side when they are merged.

use super::record::{Record, radix_sort};
use crate::progress::Cancel;
use rayon::prelude::*;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use topostream_formats::store::read_exact_at;
use topostream_formats::{Error, Result};

/// The smallest block of a run that is read.
pub const BLOCK_RECORDS_MIN: usize = 1 << 7;
/// The largest block that is passed on from memory.
pub const BLOCK_RECORDS_MAX: usize = 1 << 18;
/// The buffer through which runs are written.
const WRITE_BYTES: usize = 1 << 18;
/// Records that a thread packs at a time.
const PACKED_RECORDS: usize = 1 << 12;
/// Bytes of a packed record at most: two numbers and a weight.
const RECORD_BYTES_MAX: usize = 5 + 5 + 8;
/// Bytes that are read to take a number, of which not all belong to it.
const WORD_BYTES: usize = 8;
/// Zeros behind packed records: whatever they are, taking one stays within them.
const PADDING: usize = RECORD_BYTES_MAX + WORD_BYTES;
/// Bytes of a run that are read at a time, for each record of a block.
const READ_BYTES: usize = 4;

/// A run in the temporary file.
#[derive(Clone, Copy)]
pub struct DiskRun {
    /// Its first byte in the file, and the number of bytes.
    pub start: u64,
    pub bytes: u64,
    pub records: u64,
    pub is_packed: bool,
}

/// Runs on disk.
pub struct DiskRuns {
    pub folder: PathBuf,
    pub file: File,
    pub runs: Vec<DiskRun>,
    pub block_records: usize,
    pub cancel: Cancel,
}

/// What takes the records of a run, some at a time.
pub type Take<'a, R> = dyn FnMut(&[R]) -> Result<()> + 'a;

/// The ends of the record before.
type Before = (u32, u32);

/// Writes the records that `each` passes on as a run behind what is in the file, which ends at `start`.
///
/// # Errors
/// [`Error::Io`]; the errors of `each`.
pub fn append<R: Record>(
    file: &File,
    folder: &Path,
    (start, is_packed): (u64, bool),
    each: impl FnOnce(&mut Take<'_, R>) -> Result<()>,
) -> Result<DiskRun> {
    let failed = || Error::io(folder, "write a sorted run in");
    let mut file = BufWriter::with_capacity(WRITE_BYTES, file);
    let (mut bytes, mut records, mut before) = (0, 0, (0, 0));
    let mut write = |some: &[u8]| {
        bytes += some.len() as u64;
        file.write_all(some).map_err(failed())
    };
    each(&mut |all| {
        records += all.len() as u64;
        if !is_packed {
            return write(bytemuck::cast_slice(all));
        }
        for some in all.chunks(PACKED_RECORDS * rayon::current_num_threads()) {
            let parts = some.par_chunks(PACKED_RECORDS).enumerate().map(|(number, records)| {
                let before = if number == 0 { before } else { ends(some[number * PACKED_RECORDS - 1]) };
                pack(records, before)
            });
            parts.collect::<Vec<_>>().iter().try_for_each(|part| write(part))?;
            before = some.last().map_or(before, |&last| ends(last));
        }
        Ok(())
    })?;
    file.flush().map_err(failed())?;
    Ok(DiskRun { start, bytes, records, is_packed })
}

fn ends<R: Record>(record: R) -> Before {
    let (source, dest, _) = record.parts();
    (source, dest)
}

/// Appends a number of at most 36 bits, and a bit.
#[inline(always)]
fn put(number: u64, kind: bool, out: &mut Vec<u8>) {
    let following = (u64::BITS - (number >> 4).leading_zeros()).div_ceil(8);
    let word = number << 4 | u64::from(following) << 1 | u64::from(kind);
    out.extend_from_slice(&word.to_le_bytes());
    out.truncate(out.len() - WORD_BYTES + 1 + following as usize);
}

/// Takes a number and its bit from the bytes at `at`, and goes behind it.
#[inline(always)]
fn get(bytes: &[u8], at: &mut usize) -> (u64, bool) {
    let word = u64::from_le_bytes(bytes[*at..*at + WORD_BYTES].try_into().expect("8 bytes"));
    let following = word >> 1 & 7;
    *at += 1 + following as usize;
    (word >> 4 & ((1 << (4 + 8 * following)) - 1), word & 1 == 1)
}

fn pack<R: Record>(records: &[R], mut before: Before) -> Vec<u8> {
    let mut out = Vec::with_capacity(records.len() * RECORD_BYTES_MAX + WORD_BYTES);
    for record in records {
        let (source, dest, weight) = record.parts();
        if source == before.0 && dest >= before.1 {
            put((dest - before.1).into(), false, &mut out);
        } else {
            let difference = i64::from(source) - i64::from(before.0);
            put(dest.into(), true, &mut out);
            put((difference << 1 ^ difference >> 63) as u64, false, &mut out);
        }
        out.extend_from_slice(&weight.to_le_bytes()[..R::WEIGHT_BYTES]);
        before = (source, dest);
    }
    out
}

#[inline(always)]
fn unpack<R: Record>(bytes: &[u8], at: &mut usize, before: &mut Before) -> R {
    let (number, is_new) = get(bytes, at);
    *before = if is_new {
        let difference = get(bytes, at).0;
        let difference = (difference >> 1) as i64 ^ -((difference & 1) as i64);
        ((i64::from(before.0) + difference) as u32, number as u32)
    } else {
        (before.0, before.1.wrapping_add(number as u32))
    };
    let mut weight = 0;
    if R::WEIGHT_BYTES > 0 {
        let word = u64::from_le_bytes(bytes[*at..*at + WORD_BYTES].try_into().expect("8 bytes"));
        weight = word & u64::MAX >> (64 - 8 * R::WEIGHT_BYTES);
        *at += R::WEIGHT_BYTES;
    }
    R::new(before.0, before.1, weight)
}

/// Main memory of merging this many runs, in bytes: a block of each, the packed records before it, and what is
/// collected.
pub fn merge_bytes<R>(runs: usize, block_records: usize) -> u64 {
    (runs * block_records * (2 * size_of::<R>() + READ_BYTES)) as u64
}

/// The records of each run in memory, if merging may take so much.
pub fn block_records<R>(memory_bytes: u64, runs: usize) -> usize {
    let fitting = memory_bytes / merge_bytes::<R>(runs.max(1), 1);
    (fitting as usize).clamp(BLOCK_RECORDS_MIN, (4 << 20) / size_of::<R>())
}

/// A run that is being read: the block in memory, and the position of the next record in it.
struct Cursor<'a, R> {
    file: &'a File,
    run: DiskRun,
    /// The first byte of the run that has not been read, and the number of records that are not in memory yet.
    next: u64,
    left: u64,
    block: Vec<R>,
    at: usize,
    /// Packed records, zeros behind them, and the position of the next one.
    bytes: Vec<u8>,
    byte: usize,
    before: Before,
}

impl<'a, R: Record> Cursor<'a, R> {
    fn new(file: &'a File, run: &DiskRun, block: Vec<R>) -> Self {
        let (run, next, left) = (*run, run.start, run.records);
        Self { file, run, next, left, block, at: 0, bytes: vec![0; PADDING], byte: 0, before: (0, 0) }
    }

    /// Reads the next block if the current one is used up.
    fn refill(&mut self, block_records: usize, folder: &Path) -> Result<()> {
        if self.at < self.block.len() || self.left == 0 {
            return Ok(());
        }
        let count = self.left.min(block_records as u64) as usize;
        let failed = || Error::io(folder, "read a sorted run in");
        if self.run.is_packed {
            self.block.clear();
            self.block.reserve_exact(count);
            self.unpack(count);
            while self.block.len() < count {
                self.read(READ_BYTES * block_records).map_err(failed())?;
                self.unpack(count);
            }
        } else {
            self.block.resize(count, R::zeroed());
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.block);
            read_exact_at(self.file, bytes, self.next).map_err(failed())?;
            self.next += bytes.len() as u64;
        }
        self.left -= count as u64;
        self.at = 0;
        Ok(())
    }

    /// Reads up to this many packed bytes behind those that are left.
    fn read(&mut self, most: usize) -> std::io::Result<()> {
        let more = (self.run.start + self.run.bytes - self.next).min(most as u64);
        if more == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        self.bytes.truncate(self.bytes.len() - PADDING);
        self.bytes.drain(..self.byte.min(self.bytes.len()));
        self.byte = 0;
        let kept = self.bytes.len();
        self.bytes.resize(kept + more as usize, 0);
        read_exact_at(self.file, &mut self.bytes[kept..], self.next)?;
        self.next += more;
        self.bytes.resize(self.bytes.len() + PADDING, 0);
        Ok(())
    }

    /// Unpacks the records that are whole, until the block has `count`.
    fn unpack(&mut self, count: usize) {
        let end = self.bytes.len() - PADDING;
        let is_last = self.next == self.run.start + self.run.bytes;
        // All that is left of a run is whole.
        let whole = if is_last { end } else { end.saturating_sub(RECORD_BYTES_MAX) };
        while self.block.len() < count && self.byte < whole {
            self.block.push(unpack(&self.bytes, &mut self.byte, &mut self.before));
        }
    }
}

impl DiskRuns {
    /// Reads run after run, in blocks that together take no more memory than a merge.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Interrupted`], and the errors of `take`.
    pub fn read<R: Record>(&self, take: &mut impl FnMut(&[R]) -> Result<()>) -> Result<()> {
        let block_records = (self.block_records * self.runs.len()).min(BLOCK_RECORDS_MAX);
        let mut block = Vec::new();
        for run in &self.runs {
            let mut cursor = Cursor::new(&self.file, run, block);
            while cursor.left > 0 {
                self.cancel.check()?;
                cursor.at = cursor.block.len();
                cursor.refill(block_records, &self.folder)?;
                take(&cursor.block)?;
            }
            block = cursor.block;
            block.clear();
        }
        Ok(())
    }

    /// Passes all records in ascending order, in blocks. The runs must be sorted.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Interrupted`], and the errors of `take`.
    pub fn merge<R: Record>(&self, take: &mut impl FnMut(&[R]) -> Result<()>) -> Result<()> {
        let cursors = self.runs.iter().map(|run| Cursor::new(&self.file, run, Vec::new()));
        let mut cursors: Vec<Cursor<'_, R>> = cursors.collect();
        let mut collected: Vec<R> = Vec::new();
        loop {
            self.cancel.check()?;
            cursors.par_iter_mut().try_for_each(|cursor| cursor.refill(self.block_records, &self.folder))?;
            // A run with more on disk bounds the complete records: nothing after its block's last record is known yet.
            let open = cursors.iter().filter(|cursor| cursor.left > 0);
            let bound = open.map(|cursor| cursor.block[cursor.block.len() - 1]).min();
            collected.clear();
            for cursor in &mut cursors {
                let rest = &cursor.block[cursor.at..];
                let count = bound.map_or(rest.len(), |bound| rest.partition_point(|record| *record <= bound));
                collected.extend_from_slice(&rest[..count]);
                cursor.at += count;
            }
            if collected.is_empty() {
                return Ok(());
            }
            radix_sort(&mut collected);
            take(&collected)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::{Plain, Weighted, Wide};
    use super::*;

    #[test]
    fn records_are_packed_as_described() {
        let edges = [(5, 100), (5, 100), (5, 117), (7, 3), (6, 9)].map(|(source, dest)| Plain::new(source, dest, 0));
        assert_eq!(pack(&edges, (0, 0)), [0x43, 0x06, 0xA0, 0, 0x12, 0x01, 0x31, 0x40, 0x91, 0x10]);
        let weighted = [Weighted::new(9, 4, 0x0102_0304), Weighted::new(9, 5, 6)];
        assert_eq!(pack(&weighted, (9, 4)), [0, 4, 3, 2, 1, 0x10, 6, 0, 0, 0]);
        let wide = [Wide::new(9, 4, 0x0102_0304_0506_0708), Wide::new(9, 5, 6)];
        let packed = pack(&wide, (9, 4));
        assert_eq!(packed, [0, 8, 7, 6, 5, 4, 3, 2, 1, 0x10, 6, 0, 0, 0, 0, 0, 0, 0]);
        let (padded, mut at, mut before) = ([packed, vec![0; PADDING]].concat(), 0, (9, 4));
        assert_eq!([(); 2].map(|()| unpack::<Wide>(&padded, &mut at, &mut before)), wide);
    }

    #[test]
    fn runs_of_all_numbers_are_read_as_written() {
        let numbers = [0, 1, 15, 16, 4095, 4096, 1 << 20, (1 << 28) - 1, 1 << 28, u32::MAX - 1, u32::MAX];
        let pairs = numbers.iter().flat_map(|&a| numbers.iter().flat_map(move |&b| [(a, b), (b, a)]));
        let records: Vec<Weighted> = pairs.map(|(a, b)| Weighted::new(a, b, (a ^ b).into())).collect();
        let folder = tempfile::tempdir().unwrap();
        let file = tempfile::tempfile_in(folder.path()).unwrap();
        let run = append(&file, folder.path(), (0, true), |take| take(&records)).unwrap();
        let read = |run: DiskRun| {
            let runs = DiskRuns {
                folder: folder.path().to_owned(),
                file: file.try_clone().unwrap(),
                runs: vec![run],
                block_records: 7,
                cancel: Cancel::default(),
            };
            let mut all: Vec<Weighted> = Vec::new();
            runs.read(&mut |some: &[Weighted]| {
                all.extend_from_slice(some);
                Ok(())
            })
            .map(|()| all)
        };
        assert!(read(run).unwrap() == records);
        // A run that ends early is an error.
        assert!(matches!(read(DiskRun { bytes: run.bytes - 9, ..run }), Err(Error::Io { .. })));
    }
}
