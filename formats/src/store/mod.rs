//! An open store: its metadata is in memory, its page files are located but not read.

mod original_ids;
pub(crate) mod reader;

pub use original_ids::{OriginalId, OriginalIds};
pub use reader::{PageReader, read_exact_at, write_all_at};

use crate::chunks::{self, CHUNKS, ChunkContext, ChunkTable};
use crate::directory::{self, Directory, DirectoryContext, DirectoryEntry};
use crate::encoding::Encoding;
use crate::error::{Error, Result};
use crate::ids::PageId;
use crate::manifest::{Ids, MANIFEST, Manifest, TopologyManifest};
use crate::names::StoredNames;
use crate::open::{OpenOptions, Places, read_manifest};
use crate::page::{PageContext, check_page, check_weights};
use crate::shard::Shard;
use crate::values::{SharedValues, StoredValues};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The direction of adjacency lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// A vertex's list holds the destinations of its out-edges.
    Out,
    /// A vertex's list holds the sources of its in-edges.
    In,
}

impl Direction {
    /// The folder of this topology's files within a store or stripe.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Out => "",
            Self::In => "in",
        }
    }
}

/// An open graph store.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    manifest: Manifest,
    out: Topology,
    in_lists: Option<Topology>,
    /// Degrees that were read and will soon be needed again.
    kept_degrees: Mutex<Option<StoredValues<u32>>>,
}

/// One of a store's topologies: a page directory and the files with its pages.
#[derive(Debug)]
pub struct Topology {
    direction: Direction,
    store: PathBuf,
    folder: PathBuf,
    tag: u32,
    encoding: Encoding,
    summary: TopologyManifest,
    directory: Directory,
    chunks: Option<ChunkTable>,
    degrees: SharedValues,
    page_files: Vec<PathBuf>,
    weight_files: Vec<PathBuf>,
    page_bytes: u32,
    weight_page_bytes: u32,
    image_bytes: u64,
}

/// The location of a page: its stripe, and its offset in the stripe's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PagePlace {
    /// The stripe: an index into [`Topology::page_files`].
    pub stripe: usize,
    /// Byte offset in the stripe's page file.
    pub offset: u64,
    /// Byte offset in the stripe's weight file.
    pub weights_offset: u64,
}

impl Store {
    /// Opens the store in `path`: reads the manifest, reads and checks the page directories, and checks the lengths of
    /// the page files without reading them.
    ///
    /// # Errors
    /// Missing files, other format versions, wrong lengths and wrong checksums, by file; [`Error::Invalid`] if the
    /// store refers to files outside of it.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &OpenOptions::default())
    }

    /// Opens a store with options: further folders for stripes, a memory limit.
    ///
    /// # Errors
    /// Those of [`open`](Self::open); [`Error::Memory`].
    pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        let path = path.as_ref();
        let manifest = Manifest::decode(&read_manifest(path)?, &path.join(MANIFEST))?;
        let places = Places::of(path, &manifest, options)?;
        places.check(&path.join(MANIFEST))?;
        manifest.ids.files().iter().try_for_each(|file| places.check(&path.join(file)))?;
        let open = |direction, summary| Topology::open(path, &manifest, direction, summary, &places);
        let out = open(Direction::Out, &manifest.out)?;
        let in_lists = manifest.in_lists.as_ref().map(|summary| open(Direction::In, summary)).transpose()?;
        Ok(Self { path: path.to_owned(), manifest, out, in_lists, kept_degrees: Mutex::default() })
    }

    /// The store's folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The number of vertices: at most 2^32.
    pub fn vertices(&self) -> u64 {
        self.manifest.vertices
    }

    /// The number of directed edges.
    pub fn edges(&self) -> u64 {
        self.manifest.edges
    }

    /// The folders that pages are striped over: page j is in stripe j mod n.
    pub fn stripes(&self) -> impl ExactSizeIterator<Item = PathBuf> {
        self.manifest.stripes.iter().map(|stripe| stripe_path(&self.path, stripe, Direction::Out))
    }

    /// The number of stripes, at least one.
    pub fn stripe_count(&self) -> usize {
        self.manifest.stripes.len()
    }

    /// The topology of a direction. In-lists exist if the store was formatted with them, or if the graph is undirected:
    /// then they are the out-lists.
    pub fn topology(&self, direction: Direction) -> Option<&Topology> {
        match direction {
            Direction::Out => Some(&self.out),
            Direction::In if !self.manifest.directed => Some(&self.out),
            Direction::In => self.in_lists.as_ref(),
        }
    }

    /// The topologies on disk.
    pub fn topologies(&self) -> impl Iterator<Item = &Topology> {
        std::iter::once(&self.out).chain(&self.in_lists)
    }

    /// The context against which a topology's pages are checked.
    pub fn page_context<'a>(&self, topology: &'a Topology) -> PageContext<'a> {
        topology.page_context()
    }

    /// The length of each vertex's out-list. Reads and checks `degrees.bin`, or the degrees of packed pages, unless the
    /// degrees are in memory.
    ///
    /// # Errors
    /// [`Error::Io`], or [`Error::File`] if the file contradicts the manifest.
    pub fn out_degrees(&self) -> Result<StoredValues<u32>> {
        let kept = self.kept_degrees.lock().unwrap_or_else(PoisonError::into_inner).take();
        kept.map_or_else(|| self.out.degrees(self.manifest.vertices), Ok)
    }

    /// Keeps degrees for the next call of [`out_degrees`](Self::out_degrees), which returns them without reading them
    /// again: 4 bytes a vertex until then. They must be this store's.
    pub fn keep_out_degrees(&self, degrees: StoredValues<u32>) {
        *self.kept_degrees.lock().unwrap_or_else(PoisonError::into_inner) = Some(degrees);
    }

    /// The original ids. Reads and checks `ids.bin`, if the store has it: 8 bytes a vertex in memory, and see
    /// [`Ids::memory_bytes`]. Names stay on disk.
    ///
    /// # Errors
    /// [`Error::Io`], or [`Error::File`] if the file contradicts the manifest.
    pub fn ids(&self) -> Result<OriginalIds> {
        let (vertices, path) = (self.manifest.vertices, self.path.join("ids.bin"));
        let mut names = None;
        let (first, file) = match self.manifest.ids {
            Ids::Range { first } => (first, None),
            Ids::File { crc, .. } => (0, Some(StoredValues::open(&path, 0, vertices, crc)?)),
            Ids::Packed { crc, bytes, .. } => (0, Some(original_ids::read_packed(&path, vertices, bytes, crc)?)),
            Ids::Names { of, bytes, .. } => {
                names = Some(StoredNames::open(&self.path, of, vertices, bytes)?);
                (0, None)
            }
        };
        Ok(OriginalIds { vertices, first, file, ascending: self.manifest.ids.is_ascending(), names })
    }

    /// Checks that the original ids can be read, without keeping them. Packed ids are not decoded: their checksum is
    /// checked.
    ///
    /// # Errors
    /// Those of [`ids`](Self::ids).
    pub fn check_ids(&self) -> Result<()> {
        match self.manifest.ids {
            Ids::Packed { crc, bytes, .. } => {
                original_ids::open_packed(&self.path.join("ids.bin"), bytes, crc).map(drop)
            }
            Ids::Range { .. } | Ids::File { .. } | Ids::Names { .. } => self.ids().map(drop),
        }
    }

    /// Bytes of all files of the store except the manifest.
    pub fn disk_bytes(&self) -> u64 {
        let weighted = self.manifest.weights.is_some();
        let per_topology = |topology: &Topology| {
            let page = u64::from(topology.page_bytes) + if weighted { topology.weight_page_bytes.into() } else { 0 };
            let entries = topology.summary.pages * (page + size_of::<DirectoryEntry>() as u64);
            let chunks = topology.chunks().map_or(0, ChunkTable::file_bytes);
            let degrees = if topology.has_degrees_file() { 4 * self.manifest.vertices } else { 0 };
            directory::HEADER_BYTES + entries + chunks + degrees
        };
        self.topologies().map(per_topology).sum::<u64>() + self.manifest.ids.file_bytes(self.manifest.vertices)
    }
}

impl Topology {
    fn open(
        store: &Path,
        manifest: &Manifest,
        direction: Direction,
        summary: &TopologyManifest,
        places: &Places,
    ) -> Result<Self> {
        let folder = store.join(direction.folder());
        let capacity = manifest.capacity();
        let shards = Shard::of(summary, manifest.vertices);
        let context = DirectoryContext {
            pages: summary.pages,
            shards: &shards,
            vertices: manifest.vertices,
            edges: manifest.edges,
            tag: manifest.tag,
            capacity,
            crc: summary.directory_crc,
        };
        let path = folder.join("directory.bin");
        places.check(&path)?;
        let is_packed = manifest.encoding.is_packed();
        if !is_packed {
            places.check(&folder.join("degrees.bin"))?;
        }
        let chunk_bytes = chunks::memory_bytes(summary.pages, manifest.edges, manifest.page_bytes);
        let bytes = directory::memory_bytes(summary.pages) + if is_packed { chunk_bytes } else { 0 };
        places.check_directory(&path, bytes)?;
        let directory = Directory::open(&path, &context)?;
        let chunks = summary.chunks_crc.map(|crc| {
            let (path, entries) = (folder.join(CHUNKS), directory.entries());
            places.check(&path)?;
            let (page_bytes, tag) = (manifest.page_bytes, manifest.tag);
            ChunkTable::open(&path, &ChunkContext { entries, page_bytes, tag, crc })
        });
        let weight_page_bytes = if manifest.weights.is_some() { capacity.weight_page_bytes() } else { 0 };
        let encoding = manifest.encoding;
        let image_bytes = if encoding.is_packed() { encoding.plain_bytes(manifest.page_bytes) } else { 0 };
        let files = |name| stripe_files(store, &manifest.stripes, direction, name);
        let topology = Self {
            direction,
            store: store.to_owned(),
            tag: manifest.tag,
            encoding,
            summary: summary.clone(),
            directory,
            chunks: chunks.transpose()?,
            degrees: SharedValues::default(),
            page_files: files("pages"),
            weight_files: if weight_page_bytes > 0 { files("weights") } else { Vec::new() },
            page_bytes: manifest.page_bytes,
            weight_page_bytes,
            image_bytes,
            folder,
        };
        topology.page_files.iter().chain(&topology.weight_files).try_for_each(|file| places.check(file))?;
        topology.check_lengths(&topology.page_files, topology.page_bytes)?;
        topology.check_lengths(&topology.weight_files, weight_page_bytes)?;
        Ok(topology)
    }

    fn check_lengths(&self, files: &[PathBuf], page_bytes: u32) -> Result<()> {
        for (stripe, path) in files.iter().enumerate() {
            let pages = stripe_pages(self.summary.pages, stripe, files.len());
            let expected = pages * u64::from(page_bytes);
            let wanted = format!("{pages} pages, {expected} bytes");
            let found = match std::fs::metadata(path) {
                Ok(found) if !found.is_file() => "no ordinary file".into(),
                Ok(found) if found.len() == expected => continue,
                Ok(found) => format!("{} bytes", found.len()),
                Err(error) if is_missing(&error) => return Err(missing(path, stripe, files.len(), &wanted)),
                Err(error) => return Err(Error::io(path, "stat")(error)),
            };
            return Err(Error::file(path, wanted, found));
        }
        Ok(())
    }

    /// The direction of the lists.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// The topology's part of the manifest.
    pub fn summary(&self) -> &TopologyManifest {
        &self.summary
    }

    /// The page directory.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// The chunks of the pages, if they are packed.
    pub fn chunks(&self) -> Option<&ChunkTable> {
        self.chunks.as_ref()
    }

    /// The shards of the lists: a single one if they are not grouped. In-lists never are.
    pub fn shards(&self) -> &[Shard] {
        self.directory.shards()
    }

    /// Whether lists are grouped: split into one part for each shard.
    pub fn is_grouped(&self) -> bool {
        self.shards().len() > 1
    }

    /// The number of pages.
    pub fn page_count(&self) -> u32 {
        self.directory.len()
    }

    /// Bytes of a page.
    pub fn page_bytes(&self) -> u32 {
        self.page_bytes
    }

    /// Bytes of a page of weights, 0 without weights.
    pub fn weight_page_bytes(&self) -> u32 {
        self.weight_page_bytes
    }

    /// Bytes of the buffer that a packed page is decoded into; 0 if pages are read as they are.
    pub fn image_bytes(&self) -> u64 {
        self.image_bytes
    }

    /// The page files, one a stripe.
    pub fn page_files(&self) -> &[PathBuf] {
        &self.page_files
    }

    /// The weight files, one a stripe; none without weights.
    pub fn weight_files(&self) -> &[PathBuf] {
        &self.weight_files
    }

    /// The location of a page.
    pub fn place(&self, page: PageId) -> PagePlace {
        let stripes = self.page_files.len();
        let row = (page.index() / stripes) as u64;
        PagePlace {
            stripe: page.index() % stripes,
            offset: row * u64::from(self.page_bytes),
            weights_offset: row * u64::from(self.weight_page_bytes),
        }
    }

    /// The length of the list of each of the graph's `vertices` vertices, unless they are in memory: there is at most
    /// one copy. Reads and checks `degrees.bin`, or the degrees in packed pages.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::File`] if the file contradicts the manifest; [`Error::Page`] for a defect of a page.
    pub fn degrees(&self, vertices: u64) -> Result<StoredValues<u32>> {
        self.degrees.get(|| match self.has_degrees_file() {
            true => StoredValues::open(&self.folder.join("degrees.bin"), 0, vertices, self.summary.degrees_crc),
            false => crate::degrees::of_packed_pages(self, vertices),
        })
    }

    /// Whether the store has `degrees.bin`: unless pages are packed.
    fn has_degrees_file(&self) -> bool {
        !self.encoding.is_packed()
    }

    /// The tag of the store.
    pub(crate) fn tag(&self) -> u32 {
        self.tag
    }

    /// The folder of the store.
    pub(crate) fn store_folder(&self) -> &Path {
        &self.store
    }

    /// The context against which pages are checked.
    pub(crate) fn page_context(&self) -> PageContext<'_> {
        PageContext { encoding: self.encoding, shards: self.shards(), tag: self.tag, entries: self.directory.entries() }
    }

    /// The error for a defect of a page, with its file.
    pub fn page_error(&self, page: PageId, weights: bool, defect: crate::page::PageDefect) -> Error {
        let files = if weights { &self.weight_files } else { &self.page_files };
        let path = files[self.place(page).stripe].clone();
        Error::Page { path, page: page.0, expected: defect.expected, found: defect.found }
    }

    /// Checks a page, and its weights if given.
    ///
    /// # Errors
    /// [`Error::Page`] with the first defect.
    pub fn check(&self, page: PageId, bytes: &[u8], weights: Option<&[u8]>, context: &PageContext<'_>) -> Result<()> {
        check_page(bytes, page.0, context).map_err(|defect| self.page_error(page, false, defect))?;
        match weights {
            Some(weights) => {
                check_weights(weights, page.0, context).map_err(|defect| self.page_error(page, true, defect))
            }
            None => Ok(()),
        }
    }
}

impl Topology {
    /// Checks the chunks of a whole, valid page: their checksums, and that units are where the chunk table has them.
    /// For verifiers; pages without chunks pass.
    ///
    /// # Errors
    /// [`Error::File`] with the first contradiction.
    pub fn check_chunks(&self, page: PageId, bytes: &[u8]) -> Result<()> {
        let Some(chunks) = &self.chunks else { return Ok(()) };
        chunks.check_page(page, bytes).map_err(|defect| {
            let expected = format!("page {}: {}", page.0, defect.expected);
            Error::file(self.folder.join(CHUNKS), expected, defect.found)
        })
    }
}

/// The files of one kind, one a stripe.
pub(crate) fn stripe_files(store: &Path, stripes: &[PathBuf], direction: Direction, name: &str) -> Vec<PathBuf> {
    let file =
        |(number, stripe): (usize, &PathBuf)| stripe_path(store, stripe, direction).join(format!("{name}.{number}"));
    stripes.iter().enumerate().map(file).collect()
}

/// The folder of a stripe's files of a topology.
fn stripe_path(store: &Path, stripe: &Path, direction: Direction) -> PathBuf {
    // Drops the `.` of the stripe in the store's own folder, which would be unclear in a message.
    store.join(stripe).join(direction.folder()).components().collect()
}

fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// The error for a missing file of a stripe, or for its missing folder, as when a disk is not mounted.
fn missing(file: &Path, stripe: usize, stripes: usize, wanted: &str) -> Error {
    let folder = file.parent().unwrap_or(file);
    if folder.is_dir() {
        return Error::file(file, wanted, "no such file");
    }
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let expected = format!("a directory, stripe {stripe} of 0 to {}, with {name} ({wanted})", stripes - 1);
    Error::file(folder, expected, "no such directory")
}

/// The number of pages in a stripe.
fn stripe_pages(pages: u64, stripe: usize, stripes: usize) -> u64 {
    (pages + stripes as u64 - 1 - stripe as u64) / stripes as u64
}
