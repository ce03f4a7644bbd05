//! Writing a store: lists in, files out, the manifest last.
//!
//! ```text
//!  StoreWriter::create ─▶ topology(Out) ─▶ TopologyWriter::push(source, dest, weight)… ─▶ finish ─▶ … ─▶ finish
//!      locks its folders       one page being packed (packer) ─▶ writer threads (sink)       all files in place,
//!      (site)                  grouped lists: shard by shard,                                graph.json last
//!                              with end_shard after each
//! ```
//!
//! All files are written in a staging folder within their target folder, synced, and moved by rename. There is no store
//! until [`StoreWriter::finish`] has moved the manifest; a writer that is dropped before removes exactly what it has
//! created. The next writer recognises what a killed one has left (`leftovers`).

mod degrees;
mod journal;
mod layout;
pub(crate) mod leftovers;
mod names;
mod obstacles;
mod packer;
mod replaced;
mod sink;
mod site;
mod whole;

pub use layout::Layout;
pub use names::NamesWriter;
pub use packer::TopologyWriter;
pub use whole::{DegreeFigures, WholeDegrees};

use crate::chunks::CHUNKS;
use crate::durable::{Made, clear_staging, folder_of, hold, new_tag, open_ordinary, sync_folder};
use crate::encoding::Encoding;
use crate::error::{Error, Result};
use crate::file::{ChecksummedFile, VALUES_BYTES};
use crate::filenames::MANIFEST;
use crate::manifest::{Ids, Manifest};
use crate::names::IdType;
use crate::packed::{self, ids::IdsSummary};
use crate::store::Direction;
use crate::weights::WEIGHTS;
use journal::{Journal, Moved};
use replaced::Replaced;
use site::{Mark, Site};
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The file of the lengths of lists.
const DEGREES: &str = "degrees.bin";
/// The lengths of a part's lists while these are written.
const PART_DEGREES: &str = "degrees.part";

/// A store that is being written. Holds locks on its folders.
#[derive(Debug)]
pub struct StoreWriter {
    /// What is removed if writing fails: declared, and so dropped, before the sites with their locks.
    made: Made,
    path: PathBuf,
    layout: Layout,
    tag: u32,
    /// The folders to write to, the store's own first.
    sites: Vec<Site>,
    /// The site of each stripe.
    stripe_sites: Vec<usize>,
    /// The files created so far: stripe, site, and path in the site's folder.
    files: Vec<(PathBuf, usize, PathBuf)>,
}

impl StoreWriter {
    /// Creates the folders of a store with the given tag (a random number). Removes the leftovers of killed processes
    /// there.
    ///
    /// # Errors
    /// [`Error::Invalid`] if something is in the way ([`check`](Self::check)), another process is writing a store to
    /// one of the folders, or the layout is invalid; [`Error::Io`].
    pub fn create(path: impl AsRef<Path>, layout: Layout, tag: u32) -> Result<Self> {
        let path = path.as_ref();
        Self::check(path, &layout)?;
        // Declared first, so that on errors the locks are dropped after what was created.
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
        // All locks are held: no other writer changes anything from here on.
        let mut left = sites[0].journal().map_or_else(Vec::new, |journal| journal.left_in(path, &folders));
        left.extend(replaced(&layout, path)?.paths());
        obstacles::check(path, &layout.stripes, &left)?;
        let mut writer = Self { made, path: path.to_owned(), layout, tag, sites, stripe_sites, files: Vec::new() };
        writer.take_over(&folders)?;
        Ok(writer)
    }

    /// Checks that nothing is in the way of a new store, without changing anything: for commands that work for long
    /// before they write.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a store exists that is not to be replaced, the folder is not empty or lies within a store,
    /// a stripe's folder has files of the same names, or another process is writing there; [`Error::Io`].
    pub fn check(path: impl AsRef<Path>, layout: &Layout) -> Result<()> {
        let path = path.as_ref();
        layout.validate()?;
        let mut left = Vec::new();
        if let Some(site) = Site::leftover(path, false)? {
            let folders = layout.stripes.iter().map(|stripe| path.join(stripe)).chain([path.to_owned()]);
            let folders: Vec<PathBuf> = folders.filter_map(|folder| std::fs::canonicalize(folder).ok()).collect();
            left = site.journal().map_or_else(Vec::new, |journal| journal.left_in(path, &folders));
        }
        left.extend(replaced(layout, path)?.paths());
        obstacles::check(path, &layout.stripes, &left)
    }

    /// Removes the leftovers of killed processes, and marks the folders as this writer's.
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
        // Paths that are not UTF-8 are replaced: the mark's path is informative only.
        let lossy = Mark { home: mark.home.to_string_lossy().into_owned().into(), ..mark };
        self.sites.iter_mut().try_for_each(|site| site.set_mark(&lossy))
    }

    /// The layout.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Changes the encoding, before the first topology is begun.
    pub fn set_encoding(&mut self, encoding: Encoding) {
        debug_assert!(self.files.is_empty(), "files of pages exist");
        self.layout.encoding = encoding;
    }

    /// The store's tag.
    pub fn tag(&self) -> u32 {
        self.tag
    }

    /// A folder for temporary files in the store's folder, removed with its contents at the end.
    pub fn temporary(&self) -> &Path {
        &self.sites[0].staging
    }

    /// Begins a topology.
    ///
    /// # Errors
    /// [`Error::Io`] if a file cannot be created.
    pub fn topology(&mut self, direction: Direction) -> Result<TopologyWriter> {
        self.lists(direction, None)
    }

    /// Begins the out-lists of a part that owns these vertices: only edges to them may be pushed. The degrees of the
    /// whole graph are written separately ([`whole_degrees`](Self::whole_degrees)); `degrees_crc` is to be theirs.
    ///
    /// # Errors
    /// [`Error::Io`] if a file cannot be created.
    pub fn part_lists(&mut self, own: &Range<u64>) -> Result<TopologyWriter> {
        self.lists(Direction::Out, Some(own))
    }

    /// Begins `degrees.bin` of a part: the out-degrees of the whole graph.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be created.
    pub fn whole_degrees(&mut self) -> Result<WholeDegrees> {
        let (path, file) = self.stage(DEGREES.into())?;
        Ok(WholeDegrees::new(ChecksummedFile::new(path, file)))
    }

    /// Copies a file of another store's folder, with the bytes and the checksum that it must have.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::File`] if the file is another.
    pub fn copy(&mut self, from: &Path, name: &str, bytes: u64, crc: u32) -> Result<()> {
        let (path, file) = self.stage(name.into())?;
        let mut copy = ChecksummedFile::new(path, file);
        let mut source = open_ordinary(from).map_err(Error::io(from, "open"))?;
        let (mut part, mut found_bytes) = (vec![0; VALUES_BYTES], 0);
        loop {
            match source.read(&mut part).map_err(Error::io(from, "read"))? {
                0 => break,
                some => {
                    copy.write(&part[..some])?;
                    found_bytes += some as u64;
                }
            }
        }
        let found_crc = copy.finish()?;
        if (found_bytes, found_crc) == (bytes, crc) {
            return Ok(());
        }
        let expected = format!("{bytes} bytes with checksum {crc:08x}");
        Err(Error::file(from, expected, format!("{found_bytes} bytes with checksum {found_crc:08x}")))
    }

    fn lists(&mut self, direction: Direction, own: Option<&Range<u64>>) -> Result<TopologyWriter> {
        let folder = Path::new(direction.folder());
        let (stripes, weighted) = (0..self.layout.stripes.len(), self.layout.weights.is_some());
        let mut open = |name: &str| -> Result<Vec<(PathBuf, File)>> {
            stripes.clone().map(|stripe| self.stage_in(stripe, folder.join(format!("{name}.{stripe}")))).collect()
        };
        let pages = open("pages")?;
        let weights = if weighted { open("weights")? } else { Vec::new() };
        let sink = sink::Sink::start(&self.layout, pages, weights)?;
        let is_kept = !self.layout.encoding.is_packed() && own.is_none();
        let (path, file) = self.stage(folder.join(if own.is_none() { DEGREES } else { PART_DEGREES }))?;
        if !is_kept {
            // Packed pages hold the degrees. The file only serves to add up the degrees of all shards. A part has
            // others.
            self.files.pop();
        }
        let degrees = degrees::DegreesFile::new(path, file, is_kept);
        let directory = self.stage(folder.join("directory.bin"))?;
        let is_packed = self.layout.encoding.is_packed();
        let packs_weights = self.layout.packs_weights();
        let mut more = |wanted: bool, name| wanted.then(|| self.stage(folder.join(name))).transpose();
        let chunks = more(is_packed, CHUNKS)?;
        let places = more(packs_weights, WEIGHTS)?;
        Ok(TopologyWriter::new(
            self.layout.clone(),
            self.tag,
            [Some(directory), chunks, places],
            sink,
            degrees,
            own.map_or(0, |own| own.start),
        ))
    }

    /// Writes `ids.bin`, packed if pages are. `ids` returns the original ids, which must be distinct, in vertex order;
    /// it is called twice.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write_ids<I: Iterator<Item = u64>>(&mut self, ids: impl Fn() -> I) -> Result<Ids> {
        let (path, file) = self.stage("ids.bin".into())?;
        let mut file = ChecksummedFile::new(path, file);
        let summary = IdsSummary::of(ids());
        let ascending = summary.ascending;
        if !self.layout.encoding.is_packed() {
            let mut bytes = Vec::with_capacity(VALUES_BYTES);
            for id in ids() {
                bytes.extend_from_slice(&id.to_le_bytes());
                if bytes.len() == VALUES_BYTES {
                    file.write(&bytes)?;
                    bytes.clear();
                }
            }
            file.write(&bytes)?;
            return Ok(Ids::File { crc: file.finish()?, ascending });
        }
        let mut bytes = 0;
        packed::ids::encode(&summary, ids(), |words| {
            bytes += 4 * words.len() as u64;
            file.write(bytemuck::cast_slice(words))
        })?;
        Ok(Ids::Packed { crc: file.finish()?, bytes, ascending })
    }

    /// Begins the files of names.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn names(&mut self, id_type: IdType) -> Result<NamesWriter> {
        let mut stage = |name: &str| -> Result<ChecksummedFile> {
            let (path, file) = self.stage(name.into())?;
            Ok(ChecksummedFile::new(path, file))
        };
        let [names, index, keys] = crate::names::FILES;
        Ok(NamesWriter::new(id_type, stage(names)?, stage(index)?, stage(keys)?))
    }

    /// Creates a file of the store's own folder, in the staging folder.
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

    /// Removes the store that is replaced, if there is one, moves the files to their final names and writes the
    /// manifest, which completes the store.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn finish(mut self, manifest: &Manifest) -> Result<()> {
        let replaced = replaced(&self.layout, &self.path)?;
        self.mark_stripes()?;
        let (staged, mut file) = self.stage(MANIFEST.into())?;
        self.files.pop();
        file.write_all(manifest.encode().as_bytes()).map_err(Error::io(&staged, "write"))?;
        file.sync_all().map_err(Error::io(&staged, "sync"))?;
        let mut journal = self.journal()?;
        replaced.note(&mut journal);
        journal.write(&self.sites[0].staging)?;
        replaced.remove()?;
        self.remove_marks()?;
        self.move_files()?;
        let store = self.path.join(MANIFEST);
        if store.symlink_metadata().is_ok() {
            return Err(Error::io(&store, "create")(ErrorKind::AlreadyExists.into()));
        }
        self.made.commit(&staged, &store).map_err(Error::io(&store, "rename"))?;
        sync(&self.path)
    }

    /// Writes this store's marks, for the folders of stripes outside of its own folder.
    fn mark_stripes(&mut self) -> Result<()> {
        for (stripe, name, text) in crate::open::stripe_marks(&self.path, &self.layout.stripes, self.tag)? {
            let (path, mut file) = self.stage_in(stripe, name.into())?;
            file.write_all(text.as_bytes()).map_err(Error::io(&path, "write"))?;
            file.sync_all().map_err(Error::io(&path, "sync"))?;
        }
        Ok(())
    }

    /// Removes marks of removed stores where this store's will be: had their pages been there, they would have been in
    /// the way. A store that is replaced needs its marks until its manifest is removed.
    fn remove_marks(&self) -> Result<()> {
        let marks = crate::open::stripe_marks(&self.path, &self.layout.stripes, self.tag)?;
        let _list = hold();
        for (stripe, name, _) in marks {
            // One that stays is in the way when the new one gets its name.
            fs::remove_file(self.path.join(&self.layout.stripes[stripe]).join(name)).ok();
        }
        Ok(())
    }

    /// The moves to come.
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

    /// Moves all files from the staging folders to their final names, durably.
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
        // Including the parents of new folders.
        let made = self.made.all_folders();
        changed.extend(made.iter().map(|folder| folder_of(folder).to_owned()));
        changed.extend(self.sites.iter().map(|site| site.folder.clone()));
        changed.sort_unstable();
        changed.dedup();
        changed.iter().try_for_each(|folder| sync(folder))
    }
}

/// The store in a folder, if it is to be replaced.
fn replaced(layout: &Layout, home: &Path) -> Result<Replaced> {
    if layout.overwrite { Replaced::find(home) } else { Ok(Replaced::default()) }
}

fn sync(folder: &Path) -> Result<()> {
    sync_folder(folder).map_err(Error::io(folder, "sync"))
}
