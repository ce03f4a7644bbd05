//! `degrees.bin` while it is written: from front to back, and once more for each further shard, whose part of a list is
//! added to what is there.

use super::packer::whole_degree;
use crate::checksum::Crc32c;
use crate::error::{Error, Result};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

/// Degrees that are in memory at a time.
const BLOCK: u64 = 1 << 14;

/// The file, and the block of it that is in memory.
#[derive(Debug)]
pub(super) struct DegreesFile {
    path: PathBuf,
    file: File,
    block: Vec<u32>,
    /// The vertex of the block's first degree, and how many of its degrees this round has added to.
    start: u64,
    at: usize,
    /// How many degrees the rounds before have written; none in the first round.
    written: Option<u64>,
    /// The checksum of this round so far, and of the last one.
    crc: Crc32c,
    crc_written: u32,
}

impl DegreesFile {
    pub(super) fn new(path: PathBuf, file: File) -> Self {
        let (block, crc) = (Vec::new(), Crc32c::default());
        Self { path, file, block, start: 0, at: 0, written: None, crc, crc_written: 0 }
    }

    /// Adds to the degree of the next vertex; returns what it is then.
    pub(super) fn add(&mut self, degree: u64) -> Result<u32> {
        if self.at as u64 == BLOCK {
            self.turn()?;
        }
        if self.written.is_none() {
            self.block.push(0);
        }
        let degree = whole_degree(u64::from(self.block[self.at]) + degree)?;
        self.block[self.at] = degree;
        self.at += 1;
        Ok(degree)
    }

    /// Writes the block and takes the next one.
    fn turn(&mut self) -> Result<()> {
        let bytes: &[u8] = bytemuck::cast_slice(&self.block);
        self.crc.update(bytes);
        self.file.seek(SeekFrom::Start(4 * self.start)).map_err(Error::io(&self.path, "seek in"))?;
        self.file.write_all(bytes).map_err(Error::io(&self.path, "write"))?;
        self.start += self.block.len() as u64;
        self.take_block()
    }

    /// Reads the block at `start`, as far as earlier rounds have written it.
    fn take_block(&mut self) -> Result<()> {
        let degrees = self.written.map_or(0, |written| (written - self.start).min(BLOCK));
        self.block.resize(degrees as usize, 0);
        self.at = 0;
        if degrees > 0 {
            self.file.seek(SeekFrom::Start(4 * self.start)).map_err(Error::io(&self.path, "seek in"))?;
            let bytes = bytemuck::cast_slice_mut(&mut self.block);
            self.file.read_exact(bytes).map_err(Error::io(&self.path, "read"))?;
        }
        Ok(())
    }

    /// Ends a round, which has been through all vertices. The next one begins with vertex 0 again.
    pub(super) fn end_round(&mut self) -> Result<()> {
        self.turn()?;
        self.crc_written = std::mem::take(&mut self.crc).value();
        self.written = Some(self.start);
        self.start = 0;
        self.take_block()
    }

    /// The checksum of the file, which is on disk then; a round must have been ended.
    pub(super) fn finish(self) -> Result<u32> {
        self.file.sync_all().map_err(Error::io(&self.path, "sync"))?;
        Ok(self.crc_written)
    }
}
