//! One of a store's topologies: where its pages are, and what they are checked against.

use crate::chunks::{self, CHUNKS, ChunkContext, ChunkTable};
use crate::directory::{self, Directory, DirectoryContext, DirectoryEntry};
use crate::edge::WeightType;
use crate::encoding::Encoding;
use crate::error::{Error, Result};
use crate::ids::PageId;
use crate::manifest::{Manifest, TopologyManifest};
use crate::open::Places;
use crate::packed;
use crate::page::{PageContext, PageWeights, WeightsHeader, check_page, check_weights, check_weights_crc};
use crate::shard::Shard;
use crate::values::SharedValues;
use crate::weights::{self, WEIGHTS, WeightContext, WeightPlaces};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

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

/// One of a store's topologies: a page directory and the files with its pages.
#[derive(Debug)]
pub struct Topology {
    direction: Direction,
    store: PathBuf,
    pub(super) folder: PathBuf,
    tag: u32,
    encoding: Encoding,
    summary: TopologyManifest,
    directory: Directory,
    chunks: Option<ChunkTable>,
    pub(super) degrees: SharedValues,
    pub(super) has_degrees_file: bool,
    /// Whether lists belong to one of several parts.
    is_partial: bool,
    page_files: Vec<PathBuf>,
    weight_files: Vec<PathBuf>,
    weight_places: Option<WeightPlaces>,
    weights: Option<WeightType>,
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
    /// Bytes of the page of weights in the stripe's weight file: fewer than
    /// [`weight_page_bytes`](Topology::weight_page_bytes) if weights are packed.
    pub weights_bytes: usize,
}

/// Bytes of a page of weights; 0 without weights.
fn weight_page_bytes(manifest: &Manifest) -> u32 {
    manifest.weights.map_or(0, |of| manifest.capacity().weight_page_bytes(of))
}

/// Opens what a topology has of the checksums of chunks and the places of packed weights.
fn open_tables(
    folder: &Path,
    manifest: &Manifest,
    summary: &TopologyManifest,
    directory: &Directory,
    places: &Places,
) -> Result<(Option<ChunkTable>, Option<WeightPlaces>)> {
    let tag = manifest.tag;
    let chunks = summary.chunks_crc.map(|crc| {
        let path = folder.join(CHUNKS);
        places.check(&path)?;
        let (entries, page_bytes) = (directory.entries(), manifest.page_bytes);
        ChunkTable::open(&path, &ChunkContext { entries, page_bytes, tag, crc })
    });
    let weights = summary.weights_crc.map(|crc| {
        let path = folder.join(WEIGHTS);
        places.check(&path)?;
        let (pages, stripes, page_bytes_max) =
            (summary.pages, manifest.stripes.len(), weight_page_bytes(manifest).into());
        WeightPlaces::open(&path, &WeightContext { pages, stripes, tag, crc, page_bytes_max })
    });
    Ok((chunks.transpose()?, weights.transpose()?))
}

impl Topology {
    pub(super) fn open(
        store: &Path,
        manifest: &Manifest,
        direction: Direction,
        summary: &TopologyManifest,
        places: &Places,
    ) -> Result<Self> {
        let folder = store.join(direction.folder());
        let capacity = manifest.capacity();
        let part = manifest.part.as_ref().filter(|_| direction == Direction::Out);
        let shards = match part {
            // A part has no shards: its lists have the destinations that it owns.
            Some(part) => vec![Shard { destinations: part.own(), pages: 0..summary.pages as u32 }],
            None => summary.all_shards(manifest.vertices),
        };
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
        let has_degrees_file = !is_packed || part.is_some();
        if has_degrees_file {
            places.check(&folder.join("degrees.bin"))?;
        }
        places.check_directory(&path, tables_bytes(manifest, summary))?;
        let directory = Directory::open(&path, &context)?;
        let (chunks, weight_places) = open_tables(&folder, manifest, summary, &directory, places)?;
        let weight_page_bytes = weight_page_bytes(manifest);
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
            chunks,
            degrees: SharedValues::default(),
            has_degrees_file,
            is_partial: part.is_some_and(|part| part.count() > 1),
            page_files: files("pages"),
            weight_files: if weight_page_bytes > 0 { files("weights") } else { Vec::new() },
            weight_places,
            weights: manifest.weights,
            page_bytes: manifest.page_bytes,
            weight_page_bytes,
            image_bytes,
            folder,
        };
        topology.page_files.iter().chain(&topology.weight_files).try_for_each(|file| places.check(file))?;
        topology.check_all_lengths()?;
        Ok(topology)
    }

    fn check_all_lengths(&self) -> Result<()> {
        let in_stripe =
            |stripe, bytes: u32| stripe_pages(self.summary.pages, stripe, self.page_files.len()) * u64::from(bytes);
        self.check_lengths(&self.page_files, |stripe| in_stripe(stripe, self.page_bytes))?;
        self.check_lengths(&self.weight_files, |stripe| match &self.weight_places {
            Some(places) => places.stripe_bytes(stripe),
            None => in_stripe(stripe, self.weight_page_bytes),
        })
    }

    fn check_lengths(&self, files: &[PathBuf], bytes: impl Fn(usize) -> u64) -> Result<()> {
        for (stripe, path) in files.iter().enumerate() {
            let pages = stripe_pages(self.summary.pages, stripe, files.len());
            let expected = bytes(stripe);
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

    /// The shards of the lists: a single one if they are not grouped, or the store is a part; the shard of a part's
    /// out-lists has the part's destinations. In-lists are never grouped.
    pub fn shards(&self) -> &[Shard] {
        self.directory.shards()
    }

    /// Whether a page has only some neighbours of a vertex, so that its degree must be known from elsewhere: lists are
    /// grouped by shard, or are the out-lists of one of several parts.
    pub fn is_grouped(&self) -> bool {
        self.is_partial || self.shards().len() > 1
    }

    /// The number of pages.
    pub fn page_count(&self) -> u32 {
        self.directory.len()
    }

    /// Bytes of a page.
    pub fn page_bytes(&self) -> u32 {
        self.page_bytes
    }

    /// The type of the weights, if there are any.
    pub fn weights(&self) -> Option<WeightType> {
        self.weights
    }

    /// The weights of the neighbours of a page, from its page of weights as it is in memory; none if that is empty.
    pub fn weights_of<'a>(&self, bytes: &'a [u8], edge_count: u32) -> PageWeights<'a> {
        match self.weights.filter(|_| !bytes.is_empty()) {
            Some(of) => PageWeights::of(bytes, of, edge_count),
            None => PageWeights::None,
        }
    }

    /// Where pages of weights are, if they are packed.
    pub fn weight_places(&self) -> Option<&WeightPlaces> {
        self.weight_places.as_ref()
    }

    /// Bytes of all pages of weights on disk.
    pub fn weights_file_bytes(&self) -> u64 {
        match &self.weight_places {
            Some(places) => places.bytes(),
            None => self.summary.pages * u64::from(self.weight_page_bytes),
        }
    }

    /// Bytes that are read of a page and, if `with_weights` is set, of its weights: the mean over all pages, rounded
    /// up, if weights are packed.
    pub fn read_bytes(&self, with_weights: bool) -> u64 {
        let weights = if with_weights { self.weights_file_bytes().div_ceil(self.summary.pages.max(1)) } else { 0 };
        u64::from(self.page_bytes) + weights
    }

    /// Bytes of a page of weights in memory, 0 without weights. Packed ones are unpacked after they have been read.
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
        let (weights_offset, weights_bytes) = match &self.weight_places {
            Some(places) => places.place(page),
            None => (row * u64::from(self.weight_page_bytes), self.weight_page_bytes as usize),
        };
        let offset = row * u64::from(self.page_bytes);
        PagePlace { stripe: page.index() % stripes, offset, weights_offset, weights_bytes }
    }

    /// Bytes of all files of the topology.
    pub(super) fn disk_bytes(&self, vertices: u64) -> u64 {
        let entries = self.summary.pages * (u64::from(self.page_bytes) + size_of::<DirectoryEntry>() as u64);
        let weights = self.weights_file_bytes() + self.weight_places.as_ref().map_or(0, WeightPlaces::file_bytes);
        let chunks = self.chunks.as_ref().map_or(0, ChunkTable::file_bytes);
        let degrees = if self.has_degrees_file { 4 * vertices } else { 0 };
        directory::HEADER_BYTES + entries + weights + chunks + degrees
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

    /// Checks the checksum of a page of packed weights, which has been read into the last bytes of `place`, and unpacks
    /// it: `place` then has the page as it would be in a store whose weights are not packed, with undefined bytes
    /// behind the weights.
    ///
    /// # Errors
    /// [`Error::Page`] with the first defect.
    pub fn unpack_weights(&self, page: PageId, place: &mut [u8]) -> Result<()> {
        let entry = &self.directory.entries()[page.index()];
        let bytes = self.place(page).weights_bytes;
        let header = WeightsHeader { page: page.0, tag: self.tag, edge_count: entry.edge_count, reserved: 0 };
        check_weights_crc(&place[place.len() - bytes..], entry)
            .and_then(|()| packed::weights::unpack(bytemuck::cast_slice_mut(place), bytes / 4, &header))
            .map_err(|defect| self.page_error(page, true, defect))
    }

    /// Checks what unpacking ignores in a page of packed weights, given its bytes as they were read: for verifiers.
    ///
    /// # Errors
    /// [`Error::Page`] with the first defect.
    pub fn check_packed_weights(&self, page: PageId, bytes: &[u8]) -> Result<()> {
        let edge_count = self.directory.entries()[page.index()].edge_count;
        let header = WeightsHeader { page: page.0, tag: self.tag, edge_count, reserved: 0 };
        let checked = packed::weights::check_details(bytemuck::cast_slice(bytes), &header);
        checked.map_err(|defect| self.page_error(page, true, defect))
    }

    /// Checks a page, and its weights if given. Packed weights have been checked when they were unpacked.
    ///
    /// # Errors
    /// [`Error::Page`] with the first defect.
    pub fn check(&self, page: PageId, bytes: &[u8], weights: Option<&[u8]>, context: &PageContext<'_>) -> Result<()> {
        check_page(bytes, page.0, context).map_err(|defect| self.page_error(page, false, defect))?;
        match weights.zip(self.weights) {
            Some((weights, of)) if self.weight_places.is_none() => {
                check_weights(weights, of, page.0, context).map_err(|defect| self.page_error(page, true, defect))
            }
            _ => Ok(()),
        }
    }

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

/// Main memory of the tables of a topology's pages, in bytes.
fn tables_bytes(manifest: &Manifest, summary: &TopologyManifest) -> u64 {
    let chunk_bytes = match manifest.encoding.is_packed() {
        true => chunks::memory_bytes(summary.pages, manifest.edges, manifest.page_bytes),
        false => 0,
    };
    let weight_bytes = summary.weights_crc.map_or(0, |_| weights::memory_bytes(summary.pages));
    directory::memory_bytes(summary.pages) + chunk_bytes + weight_bytes
}

/// The files of one kind, one a stripe.
fn stripe_files(store: &Path, stripes: &[PathBuf], direction: Direction, name: &str) -> Vec<PathBuf> {
    let file =
        |(number, stripe): (usize, &PathBuf)| stripe_path(store, stripe, direction).join(format!("{name}.{number}"));
    stripes.iter().enumerate().map(file).collect()
}

/// The folder of a stripe's files of a topology.
pub(super) fn stripe_path(store: &Path, stripe: &Path, direction: Direction) -> PathBuf {
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
