//! Read-only files of fixed-size values, mapped into memory.

use crate::checksum::crc32c;
use crate::error::{Error, Result};
use memmap2::Mmap;
use std::fs::File;
use std::marker::PhantomData;
use std::path::Path;

/// A file that is an array of `T` behind `header_bytes` of something else, mapped read-only.
#[derive(Debug)]
pub struct Mapped<T> {
    map: Option<Mmap>,
    header_bytes: usize,
    of: PhantomData<T>,
}

impl<T: bytemuck::Pod> Mapped<T> {
    /// Maps `path`, which must hold `header_bytes` and then exactly `count` values, with the checksum `crc` over all.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::File`] for another length or another checksum.
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
        let mapped = Self { map: map(&file, path, found)?, header_bytes, of: PhantomData };
        let found = crc32c(mapped.bytes());
        if found != crc {
            return Err(Error::file(path, format!("checksum {crc:08x}"), format!("{found:08x}")));
        }
        Ok(mapped)
    }

    /// The whole file.
    pub fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or(&[])
    }

    /// The values.
    pub fn values(&self) -> &[T] {
        // An empty slice of bytes need not be aligned for T.
        self.bytes().get(self.header_bytes..).filter(|bytes| !bytes.is_empty()).map_or(&[], bytemuck::cast_slice)
    }
}

/// Maps a file; an empty one cannot be mapped and needs no map.
#[allow(unsafe_code)]
fn map(file: &File, path: &Path, bytes: u64) -> Result<Option<Mmap>> {
    if bytes == 0 {
        return Ok(None);
    }
    // SAFETY: the files of a store are never written after its manifest has appeared. Whoever truncates one while it is
    // mapped gets a SIGBUS, as with any mapped file; no reference outlives the map.
    unsafe { Mmap::map(file) }.map(Some).map_err(Error::io(path, "map"))
}
