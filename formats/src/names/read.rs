//! Reads names of a store: the name of a vertex, and the vertex with a name.

use super::IdType;
use super::{BLOCK_NAMES, FILES, INDEX_BYTES, KEY_PAGE_BYTES, KEY_PAGE_ENTRIES, name_key, read_varint, table_bytes};
use crate::checksum::crc32c;
use crate::error::{Error, Result};
use crate::ids::VertexId;
use crate::store::reader::read_exact_at;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Blocks that are kept: the next names of a scan, and some of those looked up before.
const CACHED_BLOCKS: usize = 1 << 11;
/// Larger blocks are not kept.
const CACHED_BYTES_MAX: usize = 16 << 10;

/// The names of a store's vertices. Takes some megabytes of memory, however many there are.
pub struct StoredNames {
    id_type: IdType,
    vertices: u64,
    bytes: u64,
    files: [OpenedFile; 3],
    cache: Mutex<Vec<Cached>>,
}

/// A block that is kept, with its number.
type Cached = Option<(u64, Arc<Block>)>;

struct OpenedFile {
    path: PathBuf,
    file: File,
}

/// The names of a block.
struct Block {
    bytes: Vec<u8>,
    /// Where each name begins and ends.
    places: Vec<(usize, usize)>,
}

impl std::fmt::Debug for StoredNames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoredNames").field("id_type", &self.id_type).field("vertices", &self.vertices).finish()
    }
}

impl OpenedFile {
    fn open(path: PathBuf, bytes: u64) -> Result<Self> {
        let file = File::open(&path).map_err(Error::io(&path, "open"))?;
        let found = file.metadata().map_err(Error::io(&path, "stat"))?.len();
        if found != bytes {
            return Err(Error::file(&path, format!("{bytes} bytes"), format!("{found} bytes")));
        }
        Ok(Self { path, file })
    }

    fn read(&self, bytes: &mut [u8], offset: u64) -> Result<()> {
        read_exact_at(&self.file, bytes, offset).map_err(Error::io(&self.path, "read"))
    }

    fn wrong(&self, expected: impl Into<String>, found: impl Into<String>) -> Error {
        Error::file(&self.path, expected, found)
    }
}

impl StoredNames {
    /// Maximum memory of the cache, in bytes.
    pub const MEMORY_BYTES: u64 = (CACHED_BLOCKS * (CACHED_BYTES_MAX + 1200)) as u64;

    /// Opens the names in a store's folder, whose file of names has this many bytes. Checks the lengths of the files.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::File`] for another length.
    pub fn open(folder: &Path, id_type: IdType, vertices: u64, bytes: u64) -> Result<Self> {
        let (index_bytes, key_bytes) = table_bytes(vertices);
        let [names, index, keys] = FILES;
        let files = [
            OpenedFile::open(folder.join(names), bytes)?,
            OpenedFile::open(folder.join(index), index_bytes)?,
            OpenedFile::open(folder.join(keys), key_bytes)?,
        ];
        let cache = Mutex::new((0..CACHED_BLOCKS).map(|_| None).collect());
        Ok(Self { id_type, vertices, bytes, files, cache })
    }

    /// The type of the names.
    pub fn id_type(&self) -> IdType {
        self.id_type
    }

    /// Passes the name of a vertex, which must exist.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::File`] for a wrong checksum.
    pub fn with_name<T>(&self, vertex: VertexId, take: impl FnOnce(&[u8]) -> T) -> Result<T> {
        let block = self.block(u64::from(vertex.0) / BLOCK_NAMES)?;
        let (start, end) = block.places[(u64::from(vertex.0) % BLOCK_NAMES) as usize];
        Ok(take(&block.bytes[start..end]))
    }

    /// The size of the file of names, in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The number of names.
    pub(super) fn count(&self) -> u64 {
        self.vertices
    }

    /// The number of blocks of 64 names.
    pub(super) fn blocks(&self) -> u64 {
        self.vertices.div_ceil(BLOCK_NAMES)
    }

    /// Passes the names of a block, in the order of their vertices. The block is not kept.
    pub(super) fn each_of_block(&self, number: u64, mut take: impl FnMut(usize, &[u8])) -> Result<()> {
        let Block { bytes, places } = self.read_block(number)?;
        places.iter().enumerate().for_each(|(place, &(start, end))| take(place, &bytes[start..end]));
        Ok(())
    }

    /// The name of a vertex as text.
    ///
    /// # Errors
    /// As [`Self::with_name`].
    pub fn text(&self, vertex: VertexId) -> Result<String> {
        self.with_name(vertex, |name| self.id_type.text(name))
    }

    /// Appends the name of a vertex, as text.
    ///
    /// # Errors
    /// As [`Self::with_name`].
    pub fn write_text(&self, vertex: VertexId, text: &mut String) -> Result<()> {
        self.with_name(vertex, |name| self.id_type.write_text(name, text))
    }

    /// The vertex with a name, if there is one.
    ///
    /// # Errors
    /// As [`Self::with_name`].
    pub fn find(&self, name: &[u8]) -> Result<Option<VertexId>> {
        let (key, pages) = (name_key(name), self.vertices.div_ceil(KEY_PAGE_ENTRIES));
        let mut bytes = [0; KEY_PAGE_BYTES];
        // The first page whose last key is not smaller.
        let (mut low, mut high) = (0, pages);
        while low < high {
            let middle = low + (high - low) / 2;
            let count = self.key_page(middle, &mut bytes)?;
            if entry(&bytes, count - 1).0 < key { low = middle + 1 } else { high = middle }
        }
        for page in low..pages {
            let count = self.key_page(page, &mut bytes)?;
            for (found, vertex) in (0..count).map(|at| entry(&bytes, at)).skip_while(|&(found, _)| found < key) {
                if found > key {
                    return Ok(None);
                }
                let vertex = VertexId(vertex);
                if u64::from(vertex.0) < self.vertices && self.with_name(vertex, |of| of == name)? {
                    return Ok(Some(vertex));
                }
            }
        }
        Ok(None)
    }

    /// The vertex whose name is written like this.
    ///
    /// # Errors
    /// As [`Self::with_name`]; if no name of the type is written like this.
    pub fn find_text(&self, text: &str) -> Result<Option<VertexId>> {
        self.find(&self.id_type.parse(text)?)
    }

    /// Reads a page of keys; returns the number of its entries.
    pub(super) fn key_page(&self, page: u64, bytes: &mut [u8; KEY_PAGE_BYTES]) -> Result<usize> {
        let keys = &self.files[2];
        keys.read(bytes, page * KEY_PAGE_BYTES as u64)?;
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let found = crc32c(&bytes[4..]);
        if word(0) != found {
            return Err(keys.wrong(format!("page {page} with checksum {:08x}", word(0)), format!("{found:08x}")));
        }
        let expected = KEY_PAGE_ENTRIES.min(self.vertices - page * KEY_PAGE_ENTRIES);
        if u64::from(word(4)) != expected {
            return Err(keys.wrong(format!("page {page} with {expected} keys"), word(4).to_string()));
        }
        Ok(expected as usize)
    }

    fn block(&self, number: u64) -> Result<Arc<Block>> {
        let slot = number as usize % CACHED_BLOCKS;
        let cached = self.cache.lock().unwrap_or_else(PoisonError::into_inner)[slot].clone();
        if let Some((_, block)) = cached.filter(|(of, _)| *of == number) {
            return Ok(block);
        }
        let block = Arc::new(self.read_block(number)?);
        if block.bytes.len() <= CACHED_BYTES_MAX {
            self.cache.lock().unwrap_or_else(PoisonError::into_inner)[slot] = Some((number, Arc::clone(&block)));
        }
        Ok(block)
    }

    /// Reads a block, and checks it.
    fn read_block(&self, number: u64) -> Result<Block> {
        let (blocks, index) = (self.vertices.div_ceil(BLOCK_NAMES), &self.files[1]);
        let mut entries = [0; 2 * INDEX_BYTES as usize];
        let is_last = number + 1 == blocks;
        let read = if is_last { 16 } else { 32 };
        index.read(&mut entries[..read], number * INDEX_BYTES)?;
        let long = |at: usize| u64::from_le_bytes(entries[at..at + 8].try_into().expect("eight bytes"));
        let (start, end) = (long(0), if is_last { self.bytes } else { long(16) });
        if start > end || end > self.bytes {
            let expected = format!("block {number} within {} bytes", self.bytes);
            return Err(index.wrong(expected, format!("bytes {start} to {end}")));
        }
        let crc = long(8) as u32;
        let mut bytes = Vec::new();
        let what = || Error::Allocation { what: "names".into(), bytes: end - start };
        bytes.try_reserve_exact((end - start) as usize).map_err(|_| what())?;
        bytes.resize((end - start) as usize, 0);
        let names = &self.files[0];
        names.read(&mut bytes, start)?;
        let found = crc32c(&bytes);
        if found != crc {
            return Err(names.wrong(format!("block {number} with checksum {crc:08x}"), format!("{found:08x}")));
        }
        let count = BLOCK_NAMES.min(self.vertices - number * BLOCK_NAMES);
        let (mut places, mut at) = (Vec::with_capacity(count as usize), 0);
        for _ in 0..count {
            let length = read_varint(&bytes[at..]);
            let place = length.and_then(|(length, width)| {
                let start = at + width;
                let end = start.checked_add(usize::try_from(length).ok()?)?;
                (end <= bytes.len()).then_some((start, end))
            });
            let Some((start, end)) = place else {
                return Err(names.wrong(format!("{count} names in block {number}"), format!("{}", places.len())));
            };
            places.push((start, end));
            at = end;
        }
        if at != bytes.len() {
            return Err(names.wrong(format!("block {number} to end after {count} names"), "more bytes"));
        }
        Ok(Block { bytes, places })
    }

    /// The paths of the files, and the number of names.
    pub(super) fn parts(&self) -> ([&Path; 3], u64) {
        (self.files.each_ref().map(|file| file.path.as_path()), self.vertices)
    }
}

/// An entry of a page of keys.
pub(super) fn entry(page: &[u8; KEY_PAGE_BYTES], at: usize) -> (u32, u32) {
    let word = |at: usize| u32::from_le_bytes(page[at..at + 4].try_into().expect("four bytes"));
    (word(8 + 8 * at), word(12 + 8 * at))
}
