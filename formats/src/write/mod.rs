//! Writing a store: lists in, files out, the manifest last.
//!
//! ```text
//!  StoreWriter::create ─▶ topology(Out) ─▶ TopologyWriter::push(source, dest, weight)… ─▶ finish ─▶ … ─▶ finish
//!      new directory           one page being packed (packer) ─▶ writer thread (sink)            graph.json by rename
//!                              lists that are grouped: the same, shard by shard, with end_shard behind each
//! ```
//!
//! Until [`StoreWriter::finish`] has renamed the manifest into place there is no store; a writer that is dropped before
//! removes what it has made.

mod degrees;
mod packer;
mod sink;
mod targets;

pub use packer::TopologyWriter;
pub use targets::Targets;

use crate::checksum::Crc32c;
use crate::edge::WeightType;
use crate::encoding::Encoding;
use crate::error::{Error, Result};
use crate::manifest::{MANIFEST, Manifest};
use crate::page::{Capacity, PAGE_BYTES_DEFAULT, PAGE_BYTES_MAX, PAGE_BYTES_MIN};
use crate::store::{Direction, stripe_files};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Component, Path, PathBuf};

/// What pages a store will have, and where.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Bytes of a page: a power of two from 64 KiB to 64 MiB.
    pub page_bytes: u32,
    /// How neighbours are written.
    pub encoding: Encoding,
    /// The type of the weights, if they are kept.
    pub weights: Option<WeightType>,
    /// The directories of the stripes; the store's own, `.`, where there is only one.
    pub stripes: Vec<PathBuf>,
}

impl Default for Layout {
    fn default() -> Self {
        let stripes = vec![PathBuf::from(".")];
        Self { page_bytes: PAGE_BYTES_DEFAULT, encoding: Encoding::VertexId, weights: None, stripes }
    }
}

impl Layout {
    /// What fits in a page.
    pub fn capacity(&self) -> Capacity {
        Capacity::new(self.page_bytes, self.encoding)
    }

    /// Checks page size, widths and stripes.
    ///
    /// # Errors
    /// [`Error::Invalid`] saying what is allowed.
    pub fn validate(&self) -> Result<()> {
        self.encoding.validate()?;
        if !self.page_bytes.is_power_of_two() || !(PAGE_BYTES_MIN..=PAGE_BYTES_MAX).contains(&self.page_bytes) {
            let found = self.page_bytes;
            return Err(Error::Invalid(format!("page size {found}: must be a power of two from 64 KiB to 64 MiB")));
        }
        if self.stripes.is_empty() || self.stripes.len() > 256 {
            return Err(Error::Invalid(format!("{} stripes: there must be 1 to 256", self.stripes.len())));
        }
        if let Some(stripe) = self.stripes.iter().find(|stripe| stripe.to_str().is_none()) {
            return Err(Error::Invalid(format!("stripe {}: its name must be UTF-8", stripe.display())));
        }
        Ok(())
    }
}

/// A store that is being written.
#[derive(Debug)]
pub struct StoreWriter {
    path: PathBuf,
    layout: Layout,
    tag: u32,
    made: Vec<PathBuf>,
    finished: bool,
}

impl StoreWriter {
    /// Makes the store's directories, for a store with the given tag (a random number).
    ///
    /// # Errors
    /// [`Error::Invalid`] where a store is there already or the layout is not possible; [`Error::Io`].
    pub fn create(path: impl AsRef<Path>, layout: Layout, tag: u32) -> Result<Self> {
        layout.validate()?;
        let path = path.as_ref().to_owned();
        if path.join(MANIFEST).exists() {
            return Err(Error::Invalid(format!("{}: there is a store already; remove it first", path.display())));
        }
        let mut writer = Self { path: path.clone(), layout, tag, made: Vec::new(), finished: false };
        writer.make_folder(&path)?;
        for stripe in writer.layout.stripes.clone() {
            writer.make_folder(&path.join(stripe))?;
        }
        Ok(writer)
    }

    /// The layout that was asked for.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The store's tag.
    pub fn tag(&self) -> u32 {
        self.tag
    }

    /// Begins a topology. Under a record-id encoding the places of all records must be known: `targets` has them.
    ///
    /// # Errors
    /// [`Error::Io`] where a file cannot be made.
    pub fn topology(&mut self, direction: Direction, targets: Option<Targets>) -> Result<TopologyWriter> {
        for folder in self.layout.stripes.clone().iter().chain([&PathBuf::from(".")]) {
            self.make_folder(&self.path.join(folder).join(direction.folder()))?;
        }
        let pages = stripe_files(&self.path, &self.layout.stripes, direction, "pages");
        let weights = match self.layout.weights {
            Some(_) => stripe_files(&self.path, &self.layout.stripes, direction, "weights"),
            None => Vec::new(),
        };
        let open = |paths: Vec<PathBuf>, writer: &mut Self| -> Result<Vec<(PathBuf, File)>> {
            paths.into_iter().map(|path| writer.make_file(&path).map(|file| (path, file))).collect()
        };
        let (pages, weights) = (open(pages, self)?, open(weights, self)?);
        let sink = sink::Sink::start(self.layout.capacity(), pages, weights)?;
        let folder = self.path.join(direction.folder());
        let degrees = folder.join("degrees.bin");
        let degrees = degrees::DegreesFile::new(degrees.clone(), self.make_file(&degrees)?);
        Ok(TopologyWriter::new(self.layout.clone(), self.tag, folder, sink, degrees, targets))
    }

    /// Writes a file of the store beside its topologies and returns its checksum.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write_values(&mut self, name: &str, values: impl Iterator<Item = u64>) -> Result<u32> {
        let path = self.path.join(name);
        let mut file = ChecksummedFile::new(path.clone(), self.make_file(&path)?);
        for value in values {
            file.write(&value.to_le_bytes())?;
        }
        file.finish()
    }

    /// Notes a file that a topology has made, for removal should the writing fail.
    fn make_file(&mut self, path: &Path) -> Result<File> {
        // In the store's own directory there is no manifest, so a file there is a leftover; elsewhere it may be a part of
        // another store.
        let within = path.strip_prefix(&self.path);
        let own = within.is_ok_and(|rest| rest.components().all(|part| part != Component::ParentDir));
        let mut options = File::options();
        options.read(true).write(true).create(own).truncate(own).create_new(!own);
        let file = options.open(path).map_err(Error::io(path, "create"))?;
        self.made.push(path.to_owned());
        Ok(file)
    }

    fn make_folder(&mut self, path: &Path) -> Result<()> {
        if path.is_dir() {
            return Ok(());
        }
        let missing: Vec<&Path> = path.ancestors().take_while(|folder| !folder.exists()).collect();
        let missing = missing.into_iter().rev().filter(|folder| folder.file_name().is_some()).map(Path::to_owned);
        self.made.extend(missing);
        std::fs::create_dir_all(path).map_err(Error::io(path, "create"))
    }

    /// Makes the names of all files durable, and those of the directories that were made for them.
    fn sync_folders(&self) -> Result<()> {
        let mut folders: Vec<&Path> = self.made.iter().filter_map(|path| path.parent()).collect();
        folders.sort_unstable();
        folders.dedup();
        folders.into_iter().filter(|folder| !folder.as_os_str().is_empty()).try_for_each(sync_folder)
    }

    /// Writes the manifest: from here on, and not before, there is a store.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn finish(mut self, manifest: &Manifest) -> Result<()> {
        let temporary = self.path.join(format!("{MANIFEST}.partial"));
        let mut file = self.make_file(&temporary)?;
        file.write_all(manifest.encode().as_bytes()).map_err(Error::io(&temporary, "write"))?;
        file.sync_all().map_err(Error::io(&temporary, "sync"))?;
        self.made.extend(crate::open::mark_stripes(&self.path, &self.layout.stripes, self.tag)?);
        self.sync_folders()?;
        std::fs::rename(&temporary, self.path.join(MANIFEST)).map_err(Error::io(&temporary, "rename"))?;
        self.finished = true;
        sync_folder(&self.path)
    }
}

impl Drop for StoreWriter {
    fn drop(&mut self) {
        if self.finished {
            return;
        }
        // The directory file is made by the topology writer, which has no list of its own.
        for direction in [Direction::Out, Direction::In] {
            std::fs::remove_file(self.path.join(direction.folder()).join("directory.bin")).ok();
        }
        for path in self.made.iter().rev() {
            if path.is_dir() {
                std::fs::remove_dir(path).ok();
            } else {
                std::fs::remove_file(path).ok();
            }
        }
    }
}

/// Makes a rename durable, where the system can.
fn sync_folder(path: &Path) -> Result<()> {
    if cfg!(unix) {
        let folder = File::open(path).map_err(Error::io(path, "open"))?;
        folder.sync_all().map_err(Error::io(path, "sync"))?;
    }
    Ok(())
}

/// A file that is written from front to back, with the checksum of all of it.
#[derive(Debug)]
pub(crate) struct ChecksummedFile {
    path: PathBuf,
    file: BufWriter<File>,
    crc: Crc32c,
}

impl ChecksummedFile {
    pub(crate) fn new(path: PathBuf, file: File) -> Self {
        Self { path, file: BufWriter::with_capacity(1 << 16, file), crc: Crc32c::default() }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.crc.update(bytes);
        self.file.write_all(bytes).map_err(Error::io(&self.path, "write"))
    }

    pub(crate) fn finish(mut self) -> Result<u32> {
        self.file.flush().map_err(Error::io(&self.path, "write"))?;
        self.file.get_ref().sync_all().map_err(Error::io(&self.path, "sync"))?;
        Ok(self.crc.value())
    }
}
