//! Files of fixed-size values, read into memory.
//!
//! They are read and not mapped: if a mapped file is truncated or becomes unreadable, the process ends by a signal;
//! with reads, both are errors that name the file. The memory is the same, 4 bytes a vertex or 32 a page, and budgets
//! count it.

use crate::buffer::AlignedBuffer;
use crate::checksum::Crc32c;
use crate::error::{Error, Result};
use crate::store::read_exact_at;
use std::fs::File;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Bytes that are read and checked at a time: few enough to be in the processor's cache for the checksum.
const BLOCK: usize = 1 << 20;

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
        let file = File::open(path).map_err(Error::io(path, "open"))?;
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
        let (mut checksum, mut offset) = (Crc32c::default(), 0);
        for block in bytes.chunks_mut(BLOCK) {
            read_exact_at(&file, block, offset).map_err(Error::io(path, "read"))?;
            checksum.update(block);
            offset += block.len() as u64;
        }
        let found = checksum.value();
        if found != crc {
            return Err(Error::file(path, format!("checksum {crc:08x}"), format!("{found:08x}")));
        }
        Ok(Self { bytes: Arc::new(bytes), header_bytes, of: PhantomData })
    }

    /// The whole file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The values.
    pub fn values(&self) -> &[T] {
        // An empty slice of bytes need not be aligned for T.
        self.bytes().get(self.header_bytes..).filter(|bytes| !bytes.is_empty()).map_or(&[], bytemuck::cast_slice)
    }
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
