//! Writes a checkpoint: sections in pieces, each with a checksum. A piece is filled while another one is written to the
//! file.

use super::format::{Header, PREAMBLE_BYTES};
use crossbeam_channel::{Receiver, Sender, bounded};
use std::fs::File;
use std::io::{self, Write};
use topostream_formats::checksum::crc32c;

/// The size of a piece in bytes; the last one of a section may be shorter.
pub const PIECE_BYTES: usize = 1 << 20;

/// The maximum number of pieces that wait for the file, besides the one that is being filled.
const PIECES: usize = 3;

/// Receives the bytes of one section after another.
pub struct Writer<'a> {
    piece: Vec<u8>,
    checksums: Vec<u32>,
    full: &'a Sender<Vec<u8>>,
    empty: &'a Receiver<Vec<u8>>,
}

impl Write for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(PIECE_BYTES - self.piece.len());
        self.piece.extend_from_slice(&bytes[..count]);
        if self.piece.len() == PIECE_BYTES {
            self.end_piece()?;
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Writer<'_> {
    /// Ends a section: the next one starts a new piece.
    pub fn end_section(&mut self) -> io::Result<()> {
        if self.piece.is_empty() { Ok(()) } else { self.end_piece() }
    }

    /// Writes words in little-endian order.
    pub fn words(&mut self, words: impl ExactSizeIterator<Item = u32>) -> io::Result<()> {
        let mut words = words;
        while words.len() > 0 {
            // In sections of words only, pieces end between words.
            let (begin, room) = (self.piece.len(), (PIECE_BYTES - self.piece.len()) / 4);
            let count = room.min(words.len());
            self.piece.resize(begin + 4 * count, 0);
            let places = self.piece[begin..].chunks_exact_mut(4);
            places.zip(&mut words).for_each(|(place, word)| place.copy_from_slice(&word.to_le_bytes()));
            if self.piece.len() == PIECE_BYTES {
                self.end_piece()?;
            }
        }
        Ok(())
    }

    fn end_piece(&mut self) -> io::Result<()> {
        self.checksums.push(crc32c(&self.piece));
        let mut empty = self.empty.recv().map_err(|_| stopped())?;
        empty.clear();
        let full = std::mem::replace(&mut self.piece, empty);
        self.full.send(full).map_err(|_| stopped())
    }
}

/// The error after the writing thread has ended. That thread returns the cause.
fn stopped() -> io::Error {
    io::Error::other("writing has stopped")
}

/// Writes a preamble with its header, and the sections that `give` writes. Returns the length of the file in bytes.
///
/// # Errors
/// Errors of the file, of `give`, or of starting a thread.
pub fn write(file: &mut File, header: &[u8], give: impl FnOnce(&mut Writer<'_>) -> io::Result<()>) -> io::Result<u64> {
    file.write_all(header)?;
    let (full, take) = bounded::<Vec<u8>>(PIECES);
    let (give_back, empty) = bounded::<Vec<u8>>(PIECES);
    (0..PIECES).for_each(|_| drop(give_back.send(Vec::with_capacity(PIECE_BYTES))));
    let (checksums, bytes) = std::thread::scope(|scope| {
        let file = &mut *file;
        let drain = move || -> io::Result<u64> {
            let mut bytes = 0;
            for piece in take {
                file.write_all(&piece)?;
                bytes += piece.len() as u64;
                give_back.send(piece).ok();
            }
            Ok(bytes)
        };
        let thread = std::thread::Builder::new().name("checkpoint".into()).spawn_scoped(scope, drain)?;
        let piece = Vec::with_capacity(PIECE_BYTES);
        let mut writer = Writer { piece, checksums: Vec::new(), full: &full, empty: &empty };
        let given = give(&mut writer);
        let checksums = std::mem::take(&mut writer.checksums);
        drop(full);
        let written = thread.join().map_err(|_| io::Error::other("the writing thread has panicked"))?;
        // The file's own error is the cause of any error in `give`.
        let bytes = written?;
        given.map(|()| (checksums, bytes))
    })?;
    let mut table: Vec<u8> = checksums.iter().flat_map(|sum| sum.to_le_bytes()).collect();
    table.extend(Header::seal(&header[PREAMBLE_BYTES..], &table).to_le_bytes());
    file.write_all(&table)?;
    Ok(header.len() as u64 + bytes + table.len() as u64)
}
