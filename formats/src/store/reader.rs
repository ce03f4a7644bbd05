//! Reads the pages of a topology one by one.

use super::topology::Topology;
use crate::durable::open_ordinary;
use crate::error::{Error, Result};
use crate::file::read_exact_at;
use crate::ids::PageId;
use std::fs::File;
use std::path::PathBuf;

/// Reads the pages of a topology one by one, by positioned reads: for tools. The engine uses fetchers.
#[derive(Debug)]
pub struct PageReader<'a> {
    topology: &'a Topology,
    pages: Vec<File>,
    weights: Vec<File>,
}

impl<'a> PageReader<'a> {
    /// Opens the topology's files.
    ///
    /// # Errors
    /// [`Error::Io`] by file.
    pub fn open(topology: &'a Topology) -> Result<Self> {
        let open = |files: &[PathBuf]| -> Result<Vec<File>> {
            files.iter().map(|path| open_ordinary(path).map_err(Error::io(path, "open"))).collect()
        };
        Ok(Self { topology, pages: open(topology.page_files())?, weights: open(topology.weight_files())? })
    }

    /// Reads a page, and its weights unless `weights` is empty, without checking them. Packed weights are checked and
    /// unpacked.
    ///
    /// # Errors
    /// [`Error::Io`] by file; [`Error::Page`] for a defect of packed weights.
    pub fn read(&self, page: PageId, bytes: &mut [u8], weights: &mut [u8]) -> Result<()> {
        let place = self.topology.place(page);
        let path = &self.topology.page_files()[place.stripe];
        read_exact_at(&self.pages[place.stripe], bytes, place.offset).map_err(Error::io(path, "read"))?;
        if !weights.is_empty() {
            self.read_weights(page, weights)?;
            if self.topology.weight_places().is_some() {
                self.topology.unpack_weights(page, weights)?;
            }
        }
        Ok(())
    }

    /// Reads a page of weights as it is on disk into the last bytes of `place`.
    ///
    /// # Errors
    /// [`Error::Io`] by file.
    pub fn read_weights(&self, page: PageId, place: &mut [u8]) -> Result<()> {
        let at = self.topology.place(page);
        let (path, begin) = (&self.topology.weight_files()[at.stripe], place.len() - at.weights_bytes);
        let read = read_exact_at(&self.weights[at.stripe], &mut place[begin..], at.weights_offset);
        read.map_err(Error::io(path, "read"))
    }

    /// Reads a part of a page, from byte `at` of the page on.
    ///
    /// # Errors
    /// [`Error::Io`] by file.
    pub(crate) fn read_part(&self, page: PageId, at: u64, bytes: &mut [u8]) -> Result<()> {
        let place = self.topology.place(page);
        let path = &self.topology.page_files()[place.stripe];
        read_exact_at(&self.pages[place.stripe], bytes, place.offset + at).map_err(Error::io(path, "read"))
    }
}
