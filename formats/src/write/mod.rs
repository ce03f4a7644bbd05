//! Writing a store: lists in, files out, the manifest last.
//!
//! ```text
//!  StoreWriter::create ─▶ topology(Out) ─▶ TopologyWriter::push(source, dest, weight)… ─▶ finish ─▶ … ─▶ finish
//!      locks its folders       one page being packed (packer) ─▶ writer thread (sink)        all files in place,
//!      (site)                  grouped lists: the same, shard by shard,                      graph.json last
//!                              with end_shard after each
//! ```
//!
//! All files are made in a staging folder within the folder that they are for, synced, and moved in by rename. Until
//! [`StoreWriter::finish`] has moved the manifest there is no store; a writer that is dropped before removes what it
//! has made, and nothing else. What a killed writer leaves is recognised by the next one (`leftovers`).

mod degrees;
mod journal;
pub(crate) mod leftovers;
mod obstacles;
mod packer;
mod sink;
mod site;
mod targets;

pub use packer::TopologyWriter;
pub(crate) use site::STAGING;
pub use targets::Targets;

use crate::checksum::Crc32c;
use crate::durable::{Made, clear_staging, folder_of, hold, new_tag, sync_folder};
use crate::edge::WeightType;
use crate::encoding::Encoding;
use crate::error::{Error, Result};
use crate::manifest::{MANIFEST, Manifest};
use crate::page::{Capacity, PAGE_BYTES_DEFAULT, PAGE_BYTES_MAX, PAGE_BYTES_MIN};
use crate::store::Direction;
use journal::{Journal, Moved};
use site::{Mark, Site};
use std::fs::{self, File};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

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

/// A store that is being written. No other process can write to its folders meanwhile.
#[derive(Debug)]
pub struct StoreWriter {
    /// What is removed should the writing fail: dropped before the sites, and with them the locks.
    made: Made,
    path: PathBuf,
    layout: Layout,
    tag: u32,
    /// The folders that are written to: the store's own first.
    sites: Vec<Site>,
    /// The site of each stripe.
    stripe_sites: Vec<usize>,
    /// The files that have been made: stripe, site, and path in the site's folder.
    files: Vec<(PathBuf, usize, PathBuf)>,
}

impl StoreWriter {
    /// Makes the store's directories, for a store with the given tag (a random number). What a killed process has left
    /// of an unfinished store there is removed.
    ///
    /// # Errors
    /// [`Error::Invalid`] where something is in the way ([`check`](Self::check)), another process is writing a store to
    /// one of the folders, or the layout is not possible; [`Error::Io`].
    pub fn create(path: impl AsRef<Path>, layout: Layout, tag: u32) -> Result<Self> {
        let path = path.as_ref();
        Self::check(path, &layout)?;
        // What was made goes before the locks do, here as well: the locks are declared first.
        let mut sites = Vec::new();
        let made = Made::default();
        sites.push(Site::claim(path, &made)?);
        let mut folders = vec![sites[0].canonical()?];
        let mut stripe_sites = Vec::new();
        for stripe in &layout.stripes {
            let folder: PathBuf = path.join(stripe).components().collect();
            made.folders(&folder).map_err(Error::io(&folder, "create"))?;
            let whole = std::fs::canonicalize(&folder).map_err(Error::io(&folder, "open"))?;
            let known = folders.iter().position(|folder| *folder == whole);
            stripe_sites.push(known.unwrap_or(sites.len()));
            if known.is_none() {
                sites.push(Site::claim(&folder, &made)?);
                folders.push(whole);
            }
        }
        // From here on no other writer changes anything.
        let left = sites[0].journal().map_or_else(Vec::new, |journal| journal.left_in(path, &folders));
        obstacles::check(path, &layout.stripes, &left)?;
        let mut writer = Self { made, path: path.to_owned(), layout, tag, sites, stripe_sites, files: Vec::new() };
        writer.take_over(&folders)?;
        Ok(writer)
    }

    /// Makes sure that nothing is in the way of a new store, without changing anything: for commands that do long work
    /// before they write.
    ///
    /// # Errors
    /// [`Error::Invalid`] where there is a store already, the folder is not empty, lies within a store, or a stripe's
    /// folder has files of the same names; where another process is writing there; [`Error::Io`].
    pub fn check(path: impl AsRef<Path>, layout: &Layout) -> Result<()> {
        let path = path.as_ref();
        layout.validate()?;
        let mut left = Vec::new();
        if let Some(site) = Site::leftover(path, false)? {
            let folders = layout.stripes.iter().map(|stripe| path.join(stripe)).chain([path.to_owned()]);
            let folders: Vec<PathBuf> = folders.filter_map(|folder| std::fs::canonicalize(folder).ok()).collect();
            left = site.journal().map_or_else(Vec::new, |journal| journal.left_in(path, &folders));
        }
        obstacles::check(path, &layout.stripes, &left)
    }

    /// Removes what killed processes have left in the folders, and marks them as this writer's.
    fn take_over(&mut self, folders: &[PathBuf]) -> Result<()> {
        if self.sites[0].is_leftover {
            leftovers::remove_moved(&self.sites[0], folders)?;
        }
        // The journal is removed last: it distinguishes files of an unfinished store from a user's.
        for site in self.sites.iter_mut().rev() {
            if site.is_leftover {
                clear_staging(&site.staging).map_err(Error::io(&site.staging, "remove what is left in"))?;
                site.adopt(&self.made)?;
            }
        }
        let mark = Mark {
            topostream: env!("CARGO_PKG_VERSION").into(),
            process: std::process::id(),
            tag: new_tag(),
            home: folders[0].clone(),
            stripes: self.layout.stripes.clone(),
        };
        // A path that JSON cannot hold is for people only.
        let lossy = Mark { home: mark.home.to_string_lossy().into_owned().into(), ..mark };
        self.sites.iter_mut().try_for_each(|site| site.set_mark(&lossy))
    }

    /// The layout that was asked for.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The store's tag.
    pub fn tag(&self) -> u32 {
        self.tag
    }

    /// A folder for temporary files in the store's directory. It vanishes with all that is in it.
    pub fn temporary(&self) -> &Path {
        &self.sites[0].staging
    }

    /// Begins a topology. Under a record-id encoding the places of all records must be known: `targets` has them.
    ///
    /// # Errors
    /// [`Error::Io`] where a file cannot be made.
    pub fn topology(&mut self, direction: Direction, targets: Option<Targets>) -> Result<TopologyWriter> {
        let folder = Path::new(direction.folder());
        let (stripes, weighted) = (0..self.layout.stripes.len(), self.layout.weights.is_some());
        let mut open = |name: &str| -> Result<Vec<(PathBuf, File)>> {
            stripes.clone().map(|stripe| self.stage_in(stripe, folder.join(format!("{name}.{stripe}")))).collect()
        };
        let pages = open("pages")?;
        let weights = if weighted { open("weights")? } else { Vec::new() };
        let sink = sink::Sink::start(self.layout.capacity(), pages, weights)?;
        let (path, file) = self.stage(folder.join("degrees.bin"))?;
        let degrees = degrees::DegreesFile::new(path, file);
        let directory = self.stage(folder.join("directory.bin"))?;
        Ok(TopologyWriter::new(self.layout.clone(), self.tag, directory, sink, degrees, targets))
    }

    /// Writes a file of the store beside its topologies and returns its checksum.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write_values(&mut self, name: &str, values: impl Iterator<Item = u64>) -> Result<u32> {
        let (path, file) = self.stage(name.into())?;
        let mut file = ChecksummedFile::new(path, file);
        for value in values {
            file.write(&value.to_le_bytes())?;
        }
        file.finish()
    }

    /// Makes a file of the store's own folder, where it is not yet in the way of anything.
    fn stage(&mut self, file: PathBuf) -> Result<(PathBuf, File)> {
        self.stage_at(PathBuf::from("."), 0, file)
    }

    fn stage_in(&mut self, stripe: usize, file: PathBuf) -> Result<(PathBuf, File)> {
        self.stage_at(self.layout.stripes[stripe].clone(), self.stripe_sites[stripe], file)
    }

    fn stage_at(&mut self, stripe: PathBuf, site: usize, file: PathBuf) -> Result<(PathBuf, File)> {
        let path = self.sites[site].staging.join(&file);
        let _list = hold();
        let folder = folder_of(&path);
        if let Err(error) = std::fs::create_dir(folder)
            && error.kind() != ErrorKind::AlreadyExists
        {
            return Err(Error::io(folder, "create")(error));
        }
        let options = File::options().read(true).write(true).create_new(true).open(&path);
        let opened = options.map_err(Error::io(&path, "create"))?;
        self.files.push((stripe, site, file));
        Ok((path, opened))
    }

    /// Moves the files to their places and writes the manifest: from here on, and not before, there is a store.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn finish(mut self, manifest: &Manifest) -> Result<()> {
        self.mark_stripes()?;
        let (staged, mut file) = self.stage(MANIFEST.into())?;
        self.files.pop();
        file.write_all(manifest.encode().as_bytes()).map_err(Error::io(&staged, "write"))?;
        file.sync_all().map_err(Error::io(&staged, "sync"))?;
        self.journal()?.write(&self.sites[0].staging)?;
        self.move_files()?;
        let store = self.path.join(MANIFEST);
        if store.symlink_metadata().is_ok() {
            return Err(Error::io(&store, "create")(ErrorKind::AlreadyExists.into()));
        }
        self.made.commit(&staged, &store).map_err(Error::io(&store, "rename"))?;
        sync(&self.path)
    }

    /// Marks the folders of stripes outside of the store's own as this store's.
    fn mark_stripes(&mut self) -> Result<()> {
        for (stripe, name, text) in crate::open::stripe_marks(&self.path, &self.layout.stripes, self.tag)? {
            // One of a store that was removed: its pages are gone, or they would have been in the way.
            fs::remove_file(self.path.join(&self.layout.stripes[stripe]).join(&name)).ok();
            let (path, mut file) = self.stage_in(stripe, name.into())?;
            file.write_all(text.as_bytes()).map_err(Error::io(&path, "write"))?;
            file.sync_all().map_err(Error::io(&path, "sync"))?;
        }
        Ok(())
    }

    /// What is about to be moved.
    fn journal(&self) -> Result<Journal> {
        let mut journal = Journal { tag: self.sites[0].mark().unwrap_or_default().tag, ..Journal::default() };
        for (stripe, site, file) in &self.files {
            let site = &self.sites[*site];
            journal.files.push(Moved::of(stripe, file, &site.staging.join(file))?);
            let folder = folder_of(file);
            let made = Moved::folder(stripe, folder);
            if file.components().count() > 1 && !site.folder.join(folder).exists() && !journal.folders.contains(&made) {
                journal.folders.push(made);
            }
        }
        Ok(journal)
    }

    /// Moves all files out of the staging folders and makes their names durable.
    fn move_files(&self) -> Result<()> {
        let mut changed: Vec<PathBuf> = Vec::new();
        for (_, site, file) in &self.files {
            let site = &self.sites[*site];
            let target = site.folder.join(file);
            let folder = folder_of(&target);
            self.made.folders(folder).map_err(Error::io(folder, "create"))?;
            self.made.rename(&site.staging.join(file), &target).map_err(Error::io(&target, "create"))?;
            changed.push(folder.to_owned());
        }
        // With the folders that have new folders in them.
        let made = self.made.all_folders();
        changed.extend(made.iter().map(|folder| folder_of(folder).to_owned()));
        changed.extend(self.sites.iter().map(|site| site.folder.clone()));
        changed.sort_unstable();
        changed.dedup();
        changed.iter().try_for_each(|folder| sync(folder))
    }
}

fn sync(folder: &Path) -> Result<()> {
    sync_folder(folder).map_err(Error::io(folder, "sync"))
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
