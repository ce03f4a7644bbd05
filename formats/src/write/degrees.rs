//! Writes `degrees.bin`: sequentially for the first shard, and once more for each further shard, whose degrees are
//! added to those in the file. Stores with packed pages keep its checksum only.

use crate::checksum::Crc32c;
use crate::durable::hold;
use crate::error::{Error, Result};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

/// Degrees that are in memory at a time.
const BLOCK: u64 = 1 << 14;

/// The file, and the block in memory.
#[derive(Debug)]
pub(super) struct DegreesFile {
    path: PathBuf,
    file: File,
    block: Vec<u32>,
    /// The vertex of the block's first degree, and the number of the block's degrees updated in this round.
    start: u64,
    at: usize,
    /// The number of degrees in the file; none in the first round.
    written: Option<u64>,
    /// The checksum of this round so far, and of the last one.
    crc: Crc32c,
    crc_written: u32,
    /// Whether the file is a part of the store.
    is_kept: bool,
}

impl DegreesFile {
    pub(super) fn new(path: PathBuf, file: File, is_kept: bool) -> Self {
        let (block, crc) = (Vec::new(), Crc32c::default());
        Self { path, file, block, start: 0, at: 0, written: None, crc, crc_written: 0, is_kept }
    }

    /// Adds to the degree of the next vertex; returns the sum.
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

    /// Adds to the degrees of the next vertices; returns the largest sum.
    pub(super) fn add_all(&mut self, mut degrees: &[u32]) -> Result<u32> {
        let mut largest = 0;
        if self.written.is_some() {
            for &degree in degrees {
                largest = self.add(degree.into())?.max(largest);
            }
            return Ok(largest);
        }
        while !degrees.is_empty() {
            if self.at as u64 == BLOCK {
                self.turn()?;
            }
            let (some, rest) = degrees.split_at(degrees.len().min(BLOCK as usize - self.at));
            self.block.extend_from_slice(some);
            self.at += some.len();
            largest = some.iter().fold(largest, |largest, &degree| degree.max(largest));
            degrees = rest;
        }
        Ok(largest)
    }

    /// Writes the block and reads the next one.
    fn turn(&mut self) -> Result<()> {
        let bytes: &[u8] = bytemuck::cast_slice(&self.block);
        self.crc.update(bytes);
        self.file.seek(SeekFrom::Start(4 * self.start)).map_err(Error::io(&self.path, "seek in"))?;
        self.file.write_all(bytes).map_err(Error::io(&self.path, "write"))?;
        self.start += self.block.len() as u64;
        self.take_block()
    }

    /// Reads the block at `start`, zeros beyond the end of the file.
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

    /// Ends a round after the last vertex. The next one begins with vertex 0.
    pub(super) fn end_round(&mut self) -> Result<()> {
        self.turn()?;
        self.crc_written = std::mem::take(&mut self.crc).value();
        self.written = Some(self.start);
        self.start = 0;
        self.take_block()
    }

    /// Syncs or removes the file and returns its checksum. To be called after [`end_round`](Self::end_round).
    pub(super) fn finish(self) -> Result<u32> {
        match self.is_kept {
            true => self.file.sync_all().map_err(Error::io(&self.path, "sync"))?,
            false => {
                drop(self.file);
                let _list = hold();
                // If it cannot be removed now, it is with the staging folder.
                std::fs::remove_file(&self.path).ok();
            }
        }
        Ok(self.crc_written)
    }
}

/// A degree in the 32 bits of `degrees.bin`.
pub(super) fn whole_degree(degree: u64) -> Result<u32> {
    u32::try_from(degree)
        .map_err(|_| Error::limit("edges of one vertex", degree, u32::MAX.into(), "remove duplicate edges"))
}
