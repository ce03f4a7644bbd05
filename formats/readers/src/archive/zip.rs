//! The members of zip archives, by the `zip` crate; their bytes are read without it.

use std::io::{self, Read, Seek, SeekFrom};

use zip::{CompressionMethod, ZipArchive};

use crate::file::InputFile;
use crate::member::{Entry, MEMBERS_MAX, Member};
use topostream_formats::error::{Error, Result};

/// The longest directory of an archive that is read: it is in memory.
const DIRECTORY_BYTES_MAX: u64 = 16 << 20;
/// The end of an archive with at most a comment after it.
const END_BYTES: u64 = 22 + (64 << 10);

/// A file with a position.
struct Positioned<'a> {
    file: &'a InputFile,
    bytes: u64,
    at: u64,
}

impl Read for Positioned<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for Positioned<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.bytes.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}

/// The files of an archive.
pub(super) fn entries(file: &InputFile) -> Result<Vec<Entry>> {
    let path = file.path();
    let broken = |error: zip::result::ZipError| Error::file(path, "a zip archive", error.to_string());
    let bytes = file.bytes()?.unwrap_or(0);
    let mut positioned = Positioned { file, bytes, at: 0 };
    let directory_bytes = directory_bytes(&mut positioned).map_err(Error::io(path, "read"))?;
    if directory_bytes > DIRECTORY_BYTES_MAX {
        let expected = format!("an archive whose directory has at most {DIRECTORY_BYTES_MAX} bytes");
        return Err(Error::file(path, expected, format!("{directory_bytes} bytes")));
    }
    let mut archive = ZipArchive::new(&mut positioned).map_err(broken)?;
    if archive.len() > MEMBERS_MAX {
        let expected = format!("an archive with at most {MEMBERS_MAX} members");
        return Err(Error::file(path, expected, archive.len().to_string()));
    }
    let mut entries = Vec::new();
    for place in 0..archive.len() {
        let entry = archive.by_index_raw(place).map_err(broken)?;
        if !entry.is_file() || entry.size() == 0 {
            continue;
        }
        let crc = entry.crc32();
        let (deflated, stored, defect) = match entry.compression() {
            _ if entry.encrypted() => (None, None, Some("an encrypted member; unzip -P unpacks it")),
            CompressionMethod::Stored => (None, Some(crc), None),
            CompressionMethod::Deflated => (Some(crc), None, None),
            _ => {
                (None, None, Some("another compression; unzip -p ARCHIVE MEMBER | topostream format - STORE reads it"))
            }
        };
        let name = entry.name().map_or_else(|_| format!("member {}", place + 1), std::borrow::Cow::into_owned);
        let Some(start) = entry.data_start() else {
            return Err(Error::file(path, "the place of a member", name));
        };
        let member = Member { packing: None, start, bytes: entry.compressed_size(), deflated, stored };
        entries.push(Entry { name, defect, member });
    }
    Ok(entries)
}

/// The length of the directory, as the end of the archive states it.
fn directory_bytes(file: &mut Positioned<'_>) -> io::Result<u64> {
    let mut end = Vec::new();
    file.seek(SeekFrom::Start(file.bytes.saturating_sub(END_BYTES)))?;
    file.take(END_BYTES).read_to_end(&mut end)?;
    let at = memchr::memmem::rfind(&end, b"PK\x05\x06");
    let size = at.and_then(|at| end.get(at + 12..at + 16)).and_then(|size| size.try_into().ok());
    file.at = 0;
    Ok(size.map_or(0, |size| u64::from(u32::from_le_bytes(size))))
}
