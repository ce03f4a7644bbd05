//! Reads and writes at positions of files, and files that are written in sequence.

use crate::checksum::Crc32c;
use crate::error::{Error, Result};
use crate::patience;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// Values that are written at once, in bytes.
pub(crate) const VALUES_BYTES: usize = 1 << 18;

/// Fills `bytes` from a position of a file. Retries transient errors for
/// [`TRANSIENT_MAX`](crate::patience::TRANSIENT_MAX). On Windows this moves the file's own position too: reads and
/// writes in sequence have to seek first.
///
/// # Errors
/// Errors of the system, or an unexpected end of file.
pub fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> std::io::Result<()> {
    #[cfg(unix)]
    return patience::fill(bytes, offset, |bytes, offset| std::os::unix::fs::FileExt::read_at(file, bytes, offset));
    #[cfg(windows)]
    return patience::fill(bytes, offset, |bytes, offset| {
        std::os::windows::fs::FileExt::seek_read(file, bytes, offset)
    });
}

/// Writes all bytes at an offset, from any thread. On Windows this moves the file's own position, as
/// [`read_exact_at`] does.
///
/// # Errors
/// Errors of the system.
pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> std::io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::write_all_at(file, bytes, offset);
    #[cfg(windows)]
    {
        let mut done = 0;
        while done < bytes.len() {
            match std::os::windows::fs::FileExt::seek_write(file, &bytes[done..], offset + done as u64)? {
                0 => return Err(std::io::ErrorKind::WriteZero.into()),
                some => done += some,
            }
        }
        Ok(())
    }
}

/// A file that is written sequentially, with a running checksum.
#[derive(Debug)]
pub(crate) struct ChecksummedFile {
    path: PathBuf,
    file: BufWriter<File>,
    crc: Crc32c,
}

impl ChecksummedFile {
    pub(crate) fn new(path: PathBuf, file: File) -> Self {
        Self { path, file: BufWriter::with_capacity(1 << 16, file), crc: Crc32c::default() }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.crc.update(bytes);
        self.file.write_all(bytes).map_err(Error::io(&self.path, "write"))
    }

    pub(crate) fn finish(mut self) -> Result<u32> {
        self.file.flush().map_err(Error::io(&self.path, "write"))?;
        self.file.get_ref().sync_all().map_err(Error::io(&self.path, "sync"))?;
        Ok(self.crc.value())
    }
}
