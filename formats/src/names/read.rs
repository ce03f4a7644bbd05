//! Reads names of a store: the name of a vertex, and the vertex with a name.

use super::{
    BLOCK_NAMES, FILES, INDEX_BYTES, IdType, KEY_PAGE_BYTES, KEY_PAGE_ENTRIES, name_key, read_varint, table_bytes,
};
use crate::checksum::{Crc32c, crc32c};
use crate::durable::open_ordinary;
use crate::error::{Error, Result};
use crate::file::read_exact_at;
use crate::ids::VertexId;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Blocks that are kept: the next names of a scan, and some of those looked up before.
const CACHED_BLOCKS: usize = 1 << 11;
/// Larger blocks are not kept.
const CACHED_BYTES_MAX: usize = 16 << 10;
/// Larger blocks are not read whole, but name by name.
const WHOLE_BYTES_MAX: u64 = 1 << 20;
/// Bytes of such a block that are read at once.
const PIECE_BYTES: usize = 64 << 10;

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
enum Block {
    /// Where each name begins and ends.
    Whole { bytes: Vec<u8>, places: Vec<(usize, usize)> },
    /// One of long names, whose checksum was right.
    Long(Vec<LongName>),
}

/// Where a name is in the file.
struct LongName {
    start: u64,
    length: u64,
    crc: u32,
}

impl Block {
    fn is_kept(&self) -> bool {
        match self {
            Self::Whole { bytes, .. } => bytes.len() <= CACHED_BYTES_MAX,
            Self::Long(_) => true,
        }
    }
}

impl std::fmt::Debug for StoredNames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoredNames").field("id_type", &self.id_type).field("vertices", &self.vertices).finish()
    }
}

impl OpenedFile {
    fn open(path: PathBuf, bytes: u64) -> Result<Self> {
        let file = open_ordinary(&path).map_err(Error::io(&path, "open"))?;
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
        let place = (u64::from(vertex.0) % BLOCK_NAMES) as usize;
        match &*self.block(u64::from(vertex.0) / BLOCK_NAMES)? {
            Block::Whole { bytes, places } => Ok(take(&bytes[places[place].0..places[place].1])),
            Block::Long(names) => Ok(take(&self.read_long(&names[place])?)),
        }
    }

    /// The most bytes that 64 names have in the file of names: no name is longer.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn block_bytes_max(&self) -> Result<u64> {
        let (mut most, mut before, mut entries) = (0, 0, vec![0; PIECE_BYTES]);
        let index_bytes = INDEX_BYTES * self.blocks();
        for offset in (0..index_bytes).step_by(PIECE_BYTES) {
            let part = &mut entries[..(index_bytes - offset).min(PIECE_BYTES as u64) as usize];
            self.files[1].read(part, offset)?;
            for entry in part.chunks_exact(INDEX_BYTES as usize) {
                let start = u64::from_le_bytes(entry[..8].try_into().expect("eight bytes"));
                (most, before) = (start.saturating_sub(before).max(most), start);
            }
        }
        Ok(self.bytes.saturating_sub(before).max(most))
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
        match self.read_block(number)? {
            Block::Whole { bytes, places } => {
                places.iter().enumerate().for_each(|(place, &(start, end))| take(place, &bytes[start..end]));
            }
            Block::Long(names) => {
                for (place, name) in names.iter().enumerate() {
                    take(place, &self.read_long(name)?);
                }
            }
        }
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
        if block.is_kept() {
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
        let count = BLOCK_NAMES.min(self.vertices - number * BLOCK_NAMES);
        if end - start > WHOLE_BYTES_MAX {
            return self.scan_block(number, (start, end), count, crc);
        }
        let mut bytes = vec![0; (end - start) as usize];
        let names = &self.files[0];
        names.read(&mut bytes, start)?;
        let found = crc32c(&bytes);
        if found != crc {
            return Err(names.wrong(format!("block {number} with checksum {crc:08x}"), format!("{found:08x}")));
        }
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
        Ok(Block::Whole { bytes, places })
    }

    /// Reads a block of long names in pieces, and checks it.
    fn scan_block(&self, number: u64, (start, end): (u64, u64), count: u64, crc: u32) -> Result<Block> {
        let names = &self.files[0];
        let (mut whole, mut found, mut piece) = (Crc32c::default(), Vec::with_capacity(count as usize), Vec::new());
        // The name that is being read, with the bytes of its length, or the bytes of it that are left.
        let (mut length, mut name) = (Vec::new(), None::<(LongName, Crc32c, u64)>);
        for offset in (start..end).step_by(PIECE_BYTES) {
            piece.resize((end - offset).min(PIECE_BYTES as u64) as usize, 0);
            names.read(&mut piece, offset)?;
            whole.update(&piece);
            let mut at = 0;
            while at < piece.len() {
                if let Some((_, checksum, left)) = &mut name {
                    let here = (*left).min((piece.len() - at) as u64) as usize;
                    checksum.update(&piece[at..at + here]);
                    (at, *left) = (at + here, *left - here as u64);
                } else {
                    length.push(piece[at]);
                    at += 1;
                    let Some((bytes, _)) = read_varint(&length) else {
                        if length.len() > 10 {
                            break;
                        }
                        continue;
                    };
                    length.clear();
                    let start = offset + at as u64;
                    name = Some((LongName { start, length: bytes, crc: 0 }, Crc32c::default(), bytes));
                }
                if name.as_ref().is_some_and(|(_, _, left)| *left == 0) {
                    let (done, checksum, _) = name.take().expect("it is there");
                    found.push(LongName { crc: checksum.value(), ..done });
                    if found.len() as u64 > count {
                        return Err(names.wrong(format!("{count} names in block {number}"), "more"));
                    }
                }
            }
        }
        if whole.value() != crc {
            let found = format!("{:08x}", whole.value());
            return Err(names.wrong(format!("block {number} with checksum {crc:08x}"), found));
        }
        if found.len() as u64 != count || name.is_some() || !length.is_empty() {
            return Err(names.wrong(format!("{count} names in block {number}"), format!("{}", found.len())));
        }
        Ok(Block::Long(found))
    }

    fn read_long(&self, name: &LongName) -> Result<Vec<u8>> {
        let (names, mut bytes) = (&self.files[0], Vec::new());
        let what = || Error::Allocation { what: "a name".into(), bytes: name.length };
        bytes.try_reserve_exact(name.length as usize).map_err(|_| what())?;
        bytes.resize(name.length as usize, 0);
        names.read(&mut bytes, name.start)?;
        match crc32c(&bytes) {
            found if found == name.crc => Ok(bytes),
            found => {
                let expected = format!("a name at byte {} with checksum {:08x}", name.start, name.crc);
                Err(names.wrong(expected, format!("{found:08x}")))
            }
        }
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
