//! Files of fixed-size values, read into memory.
//!
//! They are read and not mapped: if a mapped file is truncated or becomes unreadable, the process ends by a signal;
//! with reads, both are errors that name the file. The memory is the same, 4 bytes a vertex or 32 a page, and budgets
//! count it.

use crate::buffer::AlignedBuffer;
use crate::checksum::{Crc32c, combine, crc32c};
use crate::durable::open_ordinary;
use crate::error::{Error, Result};
use crate::file::read_exact_at;
use std::fs::File;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Bytes that are read and checked at a time: few enough to be in the processor's cache for the checksum.
const BLOCK: usize = 1 << 20;
/// Minimum bytes of a part that is read by a thread of its own.
const PART_MIN: usize = 8 << 20;
/// Maximum number of threads that read a file. More do not read it faster.
const READERS_MAX: usize = 8;

/// A file that is an array of `T` after a header of `header_bytes`. Clones share the memory.
#[derive(Clone, Debug)]
pub struct StoredValues<T> {
    bytes: Arc<AlignedBuffer>,
    header_bytes: usize,
    of: PhantomData<T>,
}

impl<T: bytemuck::Pod> StoredValues<T> {
    /// Reads `path`, which must contain `header_bytes` and then exactly `count` values; `crc` is the checksum of the
    /// whole file. Checks the length before allocating.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::File`] for a wrong length or checksum; [`Error::Allocation`].
    pub fn open(path: &Path, header_bytes: usize, count: u64, crc: u32) -> Result<Self> {
        let file = open_ordinary(path).map_err(Error::io(path, "open"))?;
        let found = file.metadata().map_err(Error::io(path, "stat"))?.len();
        let expected =
            count.checked_mul(size_of::<T>() as u64).and_then(|bytes| bytes.checked_add(header_bytes as u64));
        if expected != Some(found) {
            return Err(Error::file(
                path,
                format!("{count} entries of {} bytes", size_of::<T>()),
                format!("{found} bytes"),
            ));
        }
        let mut bytes = AlignedBuffer::try_new(&path.display().to_string(), found)?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(READERS_MAX);
        let found = read_parts(&file, &mut bytes, threads).map_err(Error::io(path, "read"))?;
        if found != crc {
            return Err(Error::file(path, format!("checksum {crc:08x}"), format!("{found:08x}")));
        }
        Ok(Self { bytes: Arc::new(bytes), header_bytes, of: PhantomData })
    }

    /// Values that were computed.
    pub(crate) fn from_buffer(bytes: AlignedBuffer) -> Self {
        Self { bytes: Arc::new(bytes), header_bytes: 0, of: PhantomData }
    }

    /// The whole file.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The memory of the whole file, for devices that read it in place.
    pub fn memory(&self) -> &Arc<AlignedBuffer> {
        &self.bytes
    }

    /// The values.
    #[inline]
    pub fn values(&self) -> &[T] {
        // An empty slice of bytes need not be aligned for T.
        self.bytes().get(self.header_bytes..).filter(|bytes| !bytes.is_empty()).map_or(&[], bytemuck::cast_slice)
    }
}

/// Reads a file in as many parts as threads, if it is long enough; returns its checksum. Where the system refuses
/// threads, those that there are read all parts.
fn read_parts(file: &File, bytes: &mut [u8], threads: usize) -> std::io::Result<u32> {
    let part_bytes = bytes.len().div_ceil(threads).next_multiple_of(BLOCK).max(PART_MIN);
    let count = bytes.len().div_ceil(part_bytes);
    let parts = Mutex::new(bytes.chunks_mut(part_bytes).enumerate());
    let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
    let read = || {
        let mut read = Vec::new();
        while let Some((number, part)) = next() {
            let bytes = part.len() as u64;
            read.push((number, bytes, read_part(file, part, number as u64 * part_bytes as u64)?));
        }
        std::io::Result::Ok(read)
    };
    let mut all = std::thread::scope(|scope| {
        let spawn = |_| std::thread::Builder::new().spawn_scoped(scope, read).ok();
        let others: Vec<_> = (1..count).map_while(spawn).collect();
        let mut all = read()?;
        for other in others {
            all.extend(other.join().expect("a reader does not panic")?);
        }
        std::io::Result::Ok(all)
    })?;
    all.sort_unstable_by_key(|&(number, ..)| number);
    Ok(all.into_iter().fold(crc32c(&[]), |before, (_, bytes, of_part)| combine(before, of_part, bytes)))
}

/// Reads a part of a file that begins at `offset`; returns its checksum.
fn read_part(file: &File, part: &mut [u8], mut offset: u64) -> std::io::Result<u32> {
    let mut checksum = Crc32c::default();
    for block in part.chunks_mut(BLOCK) {
        read_exact_at(file, block, offset)?;
        checksum.update(block);
        offset += block.len() as u64;
    }
    Ok(checksum.value())
}

/// Values used in several places: one copy in memory, while it is in use.
#[derive(Debug, Default)]
pub(crate) struct SharedValues(Mutex<Weak<AlignedBuffer>>);

impl SharedValues {
    /// Returns the values in memory, or reads them by `read`.
    pub fn get<T>(&self, read: impl FnOnce() -> Result<StoredValues<T>>) -> Result<StoredValues<T>> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = held.upgrade() {
            return Ok(StoredValues { bytes, header_bytes: 0, of: PhantomData });
        }
        let values = read()?;
        debug_assert_eq!(values.header_bytes, 0);
        *held = Arc::downgrade(&values.bytes);
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn parts_are_the_whole_file() {
        for count in [0, 1, PART_MIN as u32 / 4, PART_MIN as u32 / 2 + 3, PART_MIN as u32 / 4 * 5 + 1] {
            let values: Vec<u32> = (0..count).map(|value| value.wrapping_mul(0x9E37_79B9)).collect();
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(bytemuck::cast_slice(&values)).unwrap();
            let crc = crc32c(bytemuck::cast_slice(&values));
            let found = StoredValues::<u32>::open(file.path(), 0, count.into(), crc).unwrap();
            assert!(found.values() == values, "{count} values");
            for threads in [1, 2, 3, READERS_MAX] {
                let mut bytes = vec![0; 4 * values.len()];
                assert_eq!(read_parts(file.as_file(), &mut bytes, threads).unwrap(), crc, "{count}, {threads} threads");
                assert!(bytes == bytemuck::cast_slice::<u32, u8>(&values));
            }
            assert!(StoredValues::<u32>::open(file.path(), 0, count.into(), !crc).is_err());
        }
    }

    #[test]
    fn a_file_that_ends_early_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(3 * PART_MIN as u64 - 5).unwrap();
        let mut bytes = vec![0; 3 * PART_MIN];
        assert!(read_parts(file.as_file(), &mut bytes, 3).is_err());
    }
}
