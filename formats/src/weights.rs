//! Where pages of packed weights are: they differ in length. SPEC.md, section 8, specifies `weights.bin`.

use crate::checksum::crc32c;
use crate::error::{Error, Result};
use crate::ids::PageId;
use crate::packed::weights::SECTOR;
use crate::values::StoredValues;
use bytemuck::{Pod, Zeroable};
use std::path::Path;
use std::sync::Arc;

/// The file's name.
pub const WEIGHTS: &str = "weights.bin";
/// The first bytes of the file.
const MAGIC: [u8; 8] = *b"TSWEIGHT";
/// Bytes of the file before its first value.
const HEADER_BYTES: u64 = size_of::<Header>() as u64;

/// The first 32 bytes of `weights.bin`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
struct Header {
    magic: [u8; 8],
    version: u32,
    reserved: u32,
    pages: u64,
    tag: u32,
    spare: u32,
}

fn header(pages: u64, tag: u32) -> Header {
    Header { magic: MAGIC, version: 3, reserved: 0, pages, tag, spare: 0 }
}

/// The places of a topology's pages of packed weights, in memory. Clones share it.
#[derive(Clone, Debug)]
pub struct WeightPlaces {
    /// Lengths in [`SECTOR`]s.
    lengths: StoredValues<u32>,
    /// Where each page begins in its file, in sectors.
    begins: Arc<[u64]>,
    /// Sectors of each stripe's file.
    ends: Arc<[u64]>,
}

/// What a table is checked against when it is opened.
#[derive(Clone, Copy, Debug)]
pub struct WeightContext {
    /// The number of pages.
    pub pages: u64,
    /// The number of stripes.
    pub stripes: usize,
    /// The store's tag.
    pub tag: u32,
    /// CRC-32C of the file.
    pub crc: u32,
    /// Bytes of the longest page that there may be: a plain image.
    pub page_bytes_max: u64,
}

impl WeightPlaces {
    /// Reads and checks `path`.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::File`] naming the first wrong page; [`Error::Allocation`].
    pub fn open(path: &Path, context: &WeightContext) -> Result<Self> {
        let lengths: StoredValues<u32> = StoredValues::open(path, HEADER_BYTES as usize, context.pages, context.crc)?;
        let expected = header(context.pages, context.tag);
        let found: Header = bytemuck::pod_read_unaligned(&lengths.bytes()[..HEADER_BYTES as usize]);
        if found != expected {
            return Err(Error::file(path, format!("{expected:?}"), format!("{found:?}")));
        }
        let mut begins = crate::memory::vec_with_room(&path.display().to_string(), lengths.values().len())?;
        let mut ends = vec![0; context.stripes];
        let sectors_max = context.page_bytes_max / SECTOR as u64;
        for (page, &sectors) in lengths.values().iter().enumerate() {
            if sectors == 0 || u64::from(sectors) > sectors_max {
                let expected = format!("weights of page {page} in 1 to {sectors_max} times {SECTOR} bytes");
                return Err(Error::file(path, expected, sectors.to_string()));
            }
            let end = &mut ends[page % context.stripes];
            begins.push(*end);
            *end += u64::from(sectors);
        }
        Ok(Self { lengths, begins: begins.into(), ends: ends.into() })
    }

    /// The byte at which a page begins in its file, and its length in bytes.
    pub fn place(&self, page: PageId) -> (u64, usize) {
        let sectors = self.lengths.values()[page.index()] as usize;
        (self.begins[page.index()] * SECTOR as u64, sectors * SECTOR)
    }

    /// Bytes of a stripe's file of weights.
    pub fn stripe_bytes(&self, stripe: usize) -> u64 {
        self.ends[stripe] * SECTOR as u64
    }

    /// Bytes of all pages.
    pub fn bytes(&self) -> u64 {
        self.ends.iter().sum::<u64>() * SECTOR as u64
    }

    /// Bytes of the file.
    pub fn file_bytes(&self) -> u64 {
        self.lengths.bytes().len() as u64
    }

    /// Main memory of the table, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        memory_bytes(self.begins.len() as u64)
    }
}

/// Main memory of the table of this many pages, in bytes.
pub fn memory_bytes(pages: u64) -> u64 {
    HEADER_BYTES + pages.saturating_mul(4 + 8)
}

/// Collects the table while pages are written: their places are given in the pages' order.
#[derive(Debug, Default)]
pub(crate) struct WeightPlacesWriter {
    lengths: Vec<u32>,
    ends: Vec<u64>,
}

impl WeightPlacesWriter {
    pub(crate) fn new(stripes: usize) -> Self {
        Self { lengths: Vec::new(), ends: vec![0; stripes] }
    }

    /// The number of the next page.
    pub(crate) fn next(&self) -> u32 {
        self.lengths.len() as u32
    }

    /// Gives the next page its place: the byte at which it begins in its file.
    pub(crate) fn add(&mut self, bytes: usize) -> u64 {
        debug_assert!(bytes.is_multiple_of(SECTOR));
        let stripe = self.lengths.len() % self.ends.len();
        self.lengths.push((bytes / SECTOR) as u32);
        let begin = self.ends[stripe];
        self.ends[stripe] += bytes as u64;
        begin
    }

    /// Returns the bytes of the file, and their checksum.
    pub(crate) fn encode(&self, tag: u32) -> (Vec<u8>, u32) {
        let mut bytes = bytemuck::bytes_of(&header(self.lengths.len() as u64, tag)).to_vec();
        bytes.extend_from_slice(bytemuck::cast_slice(&self.lengths));
        let crc = crc32c(&bytes);
        (bytes, crc)
    }
}
