//! A member of an archive: its name, where its bytes are, and its contents, with their checks.

use std::io::{self, BufReader, Read};

use crate::packing::Packing;

/// The most members of an archive: they are in memory.
pub(super) const MEMBERS_MAX: usize = 10_000;
/// Bytes of one read from deflated contents.
const BUFFER_BYTES: usize = 64 << 10;

/// Where the bytes of a member are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// The compression of the whole archive.
    pub packing: Option<Packing>,
    /// The offset in the archive, decompressed, and the number of bytes there.
    pub start: u64,
    pub bytes: u64,
    /// The checksum of the contents, if the bytes are deflated.
    pub deflated: Option<u32>,
    /// The checksum of the contents, if they are stored in a zip archive.
    pub stored: Option<u32>,
}

/// A member and its name.
pub(super) struct Entry {
    pub(super) name: String,
    /// Why it cannot be read, if so.
    pub(super) defect: Option<&'static str>,
    pub(super) member: Member,
}

impl Member {
    /// Maximum memory of the decompressor of a member, in bytes.
    pub(super) const MEMORY_BYTES: u64 = (BUFFER_BYTES as u64) + (128 << 10);

    /// The contents of a member whose bytes are the next of `archive`.
    pub(super) fn contents(&self, archive: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        let bytes = Bytes { archive: archive.take(self.bytes), is_packed: self.packing.is_some() };
        match (self.deflated, self.stored) {
            (Some(crc), _) => {
                let packed = BufReader::with_capacity(BUFFER_BYTES, bytes);
                Box::new(Checked { inner: flate2::CrcReader::new(flate2::bufread::DeflateDecoder::new(packed)), crc })
            }
            (None, Some(crc)) => Box::new(Checked { inner: flate2::CrcReader::new(bytes), crc }),
            (None, None) => Box::new(bytes),
        }
    }
}

/// The bytes of a member; fails if the archive ends before them.
struct Bytes {
    archive: io::Take<Box<dyn Read + Send>>,
    is_packed: bool,
}

impl Read for Bytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.archive.read(buffer)?;
        if read == 0 && !buffer.is_empty() {
            if self.archive.limit() > 0 {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the archive ends within the member"));
            }
            if std::mem::take(&mut self.is_packed) {
                // The checksum of a compressed archive is at its end.
                io::copy(self.archive.get_mut(), &mut io::sink())?;
            }
        }
        Ok(read)
    }
}

/// Compares the checksum at the end.
struct Checked<R> {
    inner: flate2::CrcReader<R>,
    crc: u32,
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        if read == 0 && !buffer.is_empty() && self.inner.crc().sum() != self.crc {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the checksum of the member does not match"));
        }
        Ok(read)
    }
}
