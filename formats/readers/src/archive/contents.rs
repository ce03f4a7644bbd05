//! The contents of a member, with their checks.

use std::io::{self, BufReader, Read};

use super::Member;

/// Bytes of one read from deflated contents.
const BUFFER_BYTES: usize = 64 << 10;

impl Member {
    /// Maximum memory of the decompressor of a member, in bytes.
    pub(in super::super) const MEMORY_BYTES: u64 = (BUFFER_BYTES as u64) + (128 << 10);

    /// The contents of a member whose bytes are the next of `archive`.
    pub(in super::super) fn contents(&self, archive: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
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
