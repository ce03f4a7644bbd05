//! The page files of a store, open for positioned reads.

use super::{Frame, PageRef};
use std::fs::File;
use std::path::{Path, PathBuf};
use topostream_formats::store::PagePlace;
use topostream_formats::{Direction, Error, PageId, Result, Store, Topology};

/// One file of pages or of weights.
#[derive(Debug)]
pub(super) struct OpenFile {
    pub(super) path: PathBuf,
    pub(super) file: File,
}

/// One read: a file, a place in it, and a place in a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// Index into [`PageFiles::files`].
    pub(super) file: usize,
    pub(super) offset: u64,
    /// First byte within the frame.
    pub(super) at: usize,
    pub(super) bytes: usize,
}

/// All page files of a store, opened past the page cache where the file system can.
#[derive(Debug)]
pub struct PageFiles {
    pub(super) files: Vec<OpenFile>,
    topologies: Vec<TopologyFiles>,
    direct: bool,
}

#[derive(Debug)]
struct TopologyFiles {
    direction: Direction,
    stripes: usize,
    page_bytes: usize,
    weight_page_bytes: usize,
    first_page_file: usize,
    first_weight_file: usize,
}

impl PageFiles {
    /// Opens the files of all topologies, and of weights where those are wanted.
    ///
    /// # Errors
    /// [`Error::Io`] by file.
    pub fn open(store: &Store, weights: bool) -> Result<Self> {
        let mut files = Self { files: Vec::new(), topologies: Vec::new(), direct: true };
        for topology in store.topologies() {
            files.add(topology, weights)?;
        }
        Ok(files)
    }

    fn add(&mut self, topology: &Topology, weights: bool) -> Result<()> {
        let first_page_file = self.files.len();
        topology.page_files().iter().try_for_each(|path| self.add_file(path))?;
        let first_weight_file = self.files.len();
        if weights {
            topology.weight_files().iter().try_for_each(|path| self.add_file(path))?;
        }
        self.topologies.push(TopologyFiles {
            direction: topology.direction(),
            stripes: topology.page_files().len(),
            page_bytes: topology.page_bytes() as usize,
            weight_page_bytes: if weights { topology.weight_page_bytes() as usize } else { 0 },
            first_page_file,
            first_weight_file,
        });
        Ok(())
    }

    fn add_file(&mut self, path: &Path) -> Result<()> {
        let (file, direct) = open_direct(path).map_err(Error::io(path, "open"))?;
        self.direct &= direct;
        self.files.push(OpenFile { path: path.to_owned(), file });
        Ok(())
    }

    /// Whether all files are read past the page cache.
    pub fn direct(&self) -> bool {
        self.direct
    }

    /// The reads that fill a frame with a page: one, or two where weights are wanted.
    pub(super) fn pieces(&self, page: PageRef) -> impl Iterator<Item = Piece> {
        let of = self.topologies.iter().find(|files| files.direction == page.direction).expect("pages of this store");
        let PagePlace { stripe, offset, weights_offset } = of.place(page.page);
        let topology = Piece { file: of.first_page_file + stripe, offset, at: 0, bytes: of.page_bytes };
        let (at, bytes) = (of.page_bytes, of.weight_page_bytes);
        let weights = Piece { file: of.first_weight_file + stripe, offset: weights_offset, at, bytes };
        std::iter::once(topology).chain((bytes > 0).then_some(weights))
    }

    /// Puts the name of a page's file into a system error.
    pub(super) fn named(&self, page: PageRef, error: std::io::Error) -> std::io::Error {
        let piece = self.pieces(page).next().expect("a page is one piece at least");
        name(error, &self.files[piece.file].path)
    }

    /// Fills a frame by positioned reads.
    pub(super) fn read(&self, page: PageRef, frame: &mut Frame) -> std::io::Result<()> {
        for piece in self.pieces(page) {
            let bytes = &mut frame.bytes_mut()[piece.at..piece.at + piece.bytes];
            let OpenFile { path, file } = &self.files[piece.file];
            topostream_formats::store::read_exact_at(file, bytes, piece.offset).map_err(|error| name(error, path))?;
        }
        Ok(())
    }
}

impl TopologyFiles {
    fn place(&self, page: PageId) -> PagePlace {
        let row = (page.index() / self.stripes) as u64;
        PagePlace {
            stripe: page.index() % self.stripes,
            offset: row * self.page_bytes as u64,
            weights_offset: row * self.weight_page_bytes as u64,
        }
    }
}

/// Puts the file's name into a system error.
pub(super) fn name(error: std::io::Error, path: &Path) -> std::io::Error {
    std::io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Opens a file for reads past the page cache, or through it where that is not possible (some file systems in memory).
#[cfg(target_os = "linux")]
fn open_direct(path: &Path) -> std::io::Result<(File, bool)> {
    use std::os::unix::fs::OpenOptionsExt;
    match File::options().read(true).custom_flags(libc::O_DIRECT).open(path) {
        Ok(file) => Ok((file, true)),
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok((File::open(path)?, false)),
        Err(error) => Err(error),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_direct(path: &Path) -> std::io::Result<(File, bool)> {
    Ok((File::open(path)?, false))
}
