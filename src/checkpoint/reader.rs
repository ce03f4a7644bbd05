//! Reads a checkpoint. No data is used before its checksum is verified, and no allocation is larger than the file.

use super::format::{Header, PREAMBLE_BYTES};
use super::writer::PIECE_BYTES;
use crate::error::{Error, Result};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use topostream_formats::checksum::crc32c;
use topostream_formats::durable::open_own;

/// An open checkpoint: reads the sections one after another, or a chosen one.
pub struct Reader {
    path: PathBuf,
    file: File,
    header: Header,
    /// The offset of the first section in the file.
    begin: u64,
    /// The checksums of all pieces.
    checksums: Vec<u32>,
    piece: Vec<u8>,
    /// The number of bytes of the piece that have been returned.
    taken: usize,
    /// Bytes of the section that have not been read from the file.
    left: u64,
    /// The number of the next piece.
    next: usize,
}

impl Reader {
    /// Opens a file and reads everything but its sections.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] with what is wrong with the file.
    pub fn open(path: &Path) -> Result<Self> {
        Self::examine(path).map_err(|message| Error::Checkpoint { path: path.into(), message })
    }

    fn examine(path: &Path) -> Result<Self, String> {
        let text = |error: io::Error| error.to_string();
        let short = |error: io::Error| match error.kind() {
            io::ErrorKind::UnexpectedEof => "it is cut short".into(),
            _ => error.to_string(),
        };
        let mut file = open_own(path, File::options().read(true)).map_err(text)?;
        let file_bytes = file.metadata().map_err(text)?.len();
        let mut preamble = [0; PREAMBLE_BYTES];
        file.read_exact(&mut preamble).map_err(short)?;
        let (header_bytes, checksum) = Header::announced(&preamble)?;
        let mut json = vec![0; header_bytes as usize];
        file.read_exact(&mut json).map_err(short)?;
        let header = Header::decode(&json, checksum)?;
        let expected = header.file_bytes(header_bytes.into(), PIECE_BYTES as u64);
        let (bytes, pieces) = expected.ok_or("its header announces more than 2^64 bytes")?;
        if bytes != file_bytes {
            return Err(format!("expected {bytes} bytes by its header, found {file_bytes}"));
        }
        file.seek(SeekFrom::End(-(4 * pieces as i64 + 4))).map_err(text)?;
        let mut table = vec![0; 4 * pieces as usize];
        file.read_exact(&mut table).map_err(short)?;
        let mut checksum = [0; 4];
        file.read_exact(&mut checksum).map_err(short)?;
        if Header::seal(&json, &table) != u32::from_le_bytes(checksum) {
            return Err("its header and its checksums do not belong together, or are damaged".into());
        }
        let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
        let checksums = table.chunks_exact(4).map(word).collect();
        let begin = PREAMBLE_BYTES as u64 + u64::from(header_bytes);
        let (path, piece) = (path.to_owned(), Vec::new());
        Ok(Self { path, file, header, begin, checksums, piece, taken: 0, left: 0, next: 0 })
    }

    /// Returns the header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns an error that names the file.
    pub fn error(&self, message: impl Into<String>) -> Error {
        Error::Checkpoint { path: self.path.clone(), message: message.into() }
    }

    /// Moves to the start of a section. Returns its length in bytes.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] if there is no section with that name or the file cannot be read.
    pub fn seek(&mut self, name: &str) -> Result<u64> {
        let (mut at, mut piece) = (self.begin, 0);
        for section in &self.header.sections {
            if section.name == name {
                (self.left, self.next, self.taken) = (section.bytes, piece, 0);
                self.piece.clear();
                let bytes = section.bytes;
                let sought = self.file.seek(SeekFrom::Start(at));
                return sought.map(|_| bytes).map_err(|error| self.error(error.to_string()));
            }
            at += section.bytes;
            piece += section.bytes.div_ceil(PIECE_BYTES as u64) as usize;
        }
        Err(self.error(format!("section {name:?} is missing")))
    }

    /// Verifies every checksum.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] with the first section that is damaged.
    pub fn verify(&mut self) -> Result<()> {
        let names: Vec<String> = self.header.sections.iter().map(|section| section.name.clone()).collect();
        for name in names {
            self.seek(&name)?;
            while self.left > 0 {
                self.refill().map_err(|error| self.error(format!("section {name:?}: {error}")))?;
            }
        }
        Ok(())
    }

    /// Reads `count` words of 4 bytes.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] if the section is damaged or too short.
    pub fn words(&mut self, count: usize) -> Result<Vec<u32>> {
        let mut bytes = vec![0; 4 * count];
        self.read_exact(&mut bytes).map_err(|error| self.error(error.to_string()))?;
        Ok(bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect())
    }

    /// Reads `count` numbers of 2 bytes.
    ///
    /// # Errors
    /// The errors of [`words`](Self::words).
    pub fn halves(&mut self, count: usize) -> Result<Vec<u16>> {
        let mut bytes = vec![0; 2 * count];
        self.read_exact(&mut bytes).map_err(|error| self.error(error.to_string()))?;
        Ok(bytes.chunks_exact(2).map(|half| u16::from_le_bytes(half.try_into().expect("two bytes"))).collect())
    }

    /// Reads the next piece of the section.
    fn refill(&mut self) -> io::Result<()> {
        let count = self.left.min(PIECE_BYTES as u64);
        self.piece.resize(count as usize, 0);
        self.taken = 0;
        self.file.read_exact(&mut self.piece)?;
        if crc32c(&self.piece) != self.checksums[self.next] {
            let message = format!("piece {} is damaged: its checksum differs", self.next);
            self.piece.clear();
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        self.left -= count;
        self.next += 1;
        Ok(())
    }
}

impl Read for Reader {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.piece.len() && self.left > 0 {
            self.refill()?;
        }
        let count = bytes.len().min(self.piece.len() - self.taken);
        bytes[..count].copy_from_slice(&self.piece[self.taken..self.taken + count]);
        self.taken += count;
        Ok(count)
    }
}
