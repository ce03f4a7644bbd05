//! An open store: its metadata is in memory, its page files are located but not read.

mod degrees;
mod original_ids;
mod reader;
mod topology;

pub use original_ids::{OriginalId, OriginalIds};
pub use reader::PageReader;
use topology::stripe_path;
pub use topology::{Direction, PagePlace, Topology};

pub use crate::file::{read_exact_at, write_all_at};

use crate::error::Result;
use crate::filenames::MANIFEST;
use crate::ids::VertexId;
use crate::manifest::PartManifest;
use crate::manifest::{Ids, Manifest};
use crate::names::StoredNames;
use crate::open::{OpenOptions, Places, read_manifest};
use crate::packed;
use crate::page::PageContext;
use crate::values::StoredValues;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

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

impl Store {
    /// Opens the store in `path`: reads the manifest, reads and checks the page directories, and checks the lengths of
    /// the page files without reading them.
    ///
    /// # Errors
    /// Missing files, other format versions, wrong lengths and wrong checksums, by file;
    /// [`Error::Invalid`](crate::Error::Invalid) if the store refers to files outside of it.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &OpenOptions::default())
    }

    /// Opens a store with options: further folders for stripes, a memory limit.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open); [`Error::Memory`](crate::Error::Memory).
    pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        let path = path.as_ref();
        let manifest = Manifest::decode(&read_manifest(path)?, &path.join(MANIFEST))?;
        options.check_part(path, &manifest)?;
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

    /// The number of directed edges; in a part of a graph, of the part's.
    pub fn edges(&self) -> u64 {
        self.manifest.edges
    }

    /// The number of directed edges of the whole graph, whether the store has all of it or a part.
    pub fn whole_edges(&self) -> u64 {
        self.part().map_or(self.manifest.edges, |part| part.whole.edges)
    }

    /// Which part of a graph the store has; none if it was not made as a part.
    pub fn part(&self) -> Option<&PartManifest> {
        self.manifest.part.as_ref()
    }

    /// Whether the store has one of several parts of a graph: [`OpenOptions::with_parts`].
    pub fn is_partial(&self) -> bool {
        self.part().is_some_and(|part| part.count() > 1)
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
    /// then they are the out-lists, unless the store has one of several parts.
    pub fn topology(&self, direction: Direction) -> Option<&Topology> {
        match direction {
            Direction::Out => Some(&self.out),
            Direction::In if !self.manifest.directed && !self.is_partial() => Some(&self.out),
            Direction::In => self.in_lists.as_ref(),
        }
    }

    /// The topologies on disk.
    pub fn topologies(&self) -> impl Iterator<Item = &Topology> {
        std::iter::once(&self.out).chain(&self.in_lists)
    }

    /// The topologies on disk that have the lists of these directions: a single one for both in an undirected graph.
    pub fn topologies_of(&self, directions: &[Direction]) -> impl Iterator<Item = &Topology> {
        let has = |direction: Direction| {
            directions.iter().any(|of| self.topology(*of).map(Topology::direction) == Some(direction))
        };
        let visited: Vec<&Topology> = self.topologies().filter(|topology| has(topology.direction())).collect();
        visited.into_iter()
    }

    /// The context against which a topology's pages are checked.
    pub fn page_context<'a>(&self, topology: &'a Topology) -> PageContext<'a> {
        topology.page_context()
    }

    /// The out-degree of each vertex, in the whole graph. Reads and checks `degrees.bin`, or the degrees of packed
    /// pages, unless the degrees are in memory.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io), or [`Error::File`](crate::Error::File) if the file contradicts the manifest.
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
    /// [`Error::Io`](crate::Error::Io), or [`Error::File`](crate::Error::File) if the file contradicts the manifest.
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

    /// Passes all original ids as numbers, in the order of the vertices, some at a time, until `take` returns false.
    /// Names are passed as the numbers of their vertices. Takes a bit of memory for each vertex.
    ///
    /// # Errors
    /// The errors of [`ids`](Self::ids).
    pub fn each_id(&self, mut take: impl FnMut(&[u64]) -> bool) -> Result<()> {
        let (vertices, path) = (self.manifest.vertices, self.path.join("ids.bin"));
        match self.manifest.ids {
            Ids::Range { first } => original_ids::each_of_range(first..first + vertices, take),
            Ids::Names { .. } => original_ids::each_of_range(0..vertices, take),
            Ids::File { crc, .. } => return original_ids::each_of_file(&path, vertices, crc, take),
            Ids::Packed { crc, bytes, .. } => {
                let pass = |file| packed::ids::each(file, vertices, &mut take);
                return original_ids::in_packed(&path, (bytes, crc), pass);
            }
        }
        Ok(())
    }

    /// The original ids of some vertices, which must exist, in the same order. Takes less memory and time than reading
    /// all [`ids`](Self::ids) where these are packed.
    ///
    /// # Errors
    /// The errors of [`ids`](Self::ids).
    pub fn ids_of(&self, vertices: &[VertexId]) -> Result<Vec<OriginalId>> {
        let Ids::Packed { crc, bytes, .. } = self.manifest.ids else {
            let ids = self.ids()?;
            return vertices.iter().map(|&vertex| ids.id(vertex)).collect();
        };
        let mut sorted: Vec<u32> = vertices.iter().map(|vertex| vertex.0).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let look = |file| packed::ids::look_up(file, self.manifest.vertices, &sorted);
        let found = original_ids::in_packed(&self.path.join("ids.bin"), (bytes, crc), look)?;
        let place = |vertex: &VertexId| sorted.binary_search(&vertex.0).expect("all vertices were looked up");
        Ok(vertices.iter().map(|vertex| OriginalId::Number(found[place(vertex)])).collect())
    }

    /// The vertices whose original ids, numbers or names, are written like this, in the same order. Takes less memory
    /// and time than reading all [`ids`](Self::ids) where these are packed.
    ///
    /// # Errors
    /// If no id is written like one of them; the errors of [`ids`](Self::ids).
    pub fn vertices_of(&self, texts: &[&str]) -> Result<Vec<Option<VertexId>>> {
        let Ids::Packed { crc, bytes, .. } = self.manifest.ids else {
            let ids = self.ids()?;
            return texts.iter().map(|text| ids.find(text)).collect();
        };
        let wanted = texts.iter().map(|text| original_ids::number(text)).collect::<Result<Vec<_>>>()?;
        let look = |file| packed::ids::find(file, self.manifest.vertices, &wanted);
        let found = original_ids::in_packed(&self.path.join("ids.bin"), (bytes, crc), look)?;
        Ok(found.into_iter().map(|vertex| vertex.map(VertexId)).collect())
    }

    /// Checks that the original ids can be read, without keeping them. Packed ids are not decoded: their checksum is
    /// checked.
    ///
    /// # Errors
    /// The errors of [`ids`](Self::ids).
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
        let lists: u64 = self.topologies().map(|topology| topology.disk_bytes(self.manifest.vertices)).sum();
        lists + self.manifest.ids.file_bytes(self.manifest.vertices)
    }
}
