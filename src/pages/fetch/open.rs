//! The page files of a stripe, open for positioned reads.

use super::{Frame, PageRef};
use std::fs::File;
use std::path::{Path, PathBuf};
use topostream_formats::{Direction, Error, Result, Store, Topology};

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

/// The page files of one of a store's stripes, opened past the page cache where the file system can.
#[derive(Debug)]
pub struct PageFiles {
    pub(super) files: Vec<OpenFile>,
    topologies: Vec<TopologyFiles>,
    stripe: usize,
    stripes: usize,
    direct: bool,
}

#[derive(Debug)]
struct TopologyFiles {
    direction: Direction,
    page_bytes: usize,
    weight_page_bytes: usize,
    page_file: usize,
    weight_file: usize,
}

impl PageFiles {
    /// Opens a stripe's files of all topologies, and of weights where those are wanted.
    ///
    /// # Errors
    /// [`Error::Io`] by file.
    pub fn open(store: &Store, stripe: usize, weights: bool) -> Result<Self> {
        let stripes = store.stripe_count();
        let mut files = Self { files: Vec::new(), topologies: Vec::new(), stripe, stripes, direct: true };
        for topology in store.topologies() {
            files.add(topology, weights)?;
        }
        Ok(files)
    }

    fn add(&mut self, topology: &Topology, weights: bool) -> Result<()> {
        let page_file = self.files.len();
        self.add_file(&topology.page_files()[self.stripe])?;
        let weight_file = self.files.len();
        if weights {
            self.add_file(&topology.weight_files()[self.stripe])?;
        }
        self.topologies.push(TopologyFiles {
            direction: topology.direction(),
            page_bytes: topology.page_bytes() as usize,
            weight_page_bytes: if weights { topology.weight_page_bytes() as usize } else { 0 },
            page_file,
            weight_file,
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

    /// How many stripes the store has.
    pub(super) fn stripes(&self) -> usize {
        self.stripes
    }

    /// Which of them this one is.
    pub(super) fn stripe(&self) -> usize {
        self.stripe
    }

    /// The reads that fill a frame with a page: one, or two where weights are wanted.
    pub(super) fn pieces(&self, page: PageRef) -> impl Iterator<Item = Piece> {
        let of = self.topologies.iter().find(|files| files.direction == page.direction).expect("pages of this store");
        debug_assert_eq!(page.stripe(self.stripes), self.stripe);
        let (row, at) = ((page.page.index() / self.stripes) as u64, of.page_bytes);
        let piece = |file, at, bytes: usize| Piece { file, offset: row * bytes as u64, at, bytes };
        let (topology, weights) = (piece(of.page_file, 0, at), piece(of.weight_file, at, of.weight_page_bytes));
        let bytes = weights.bytes;
        std::iter::once(topology).chain((bytes > 0).then_some(weights))
    }

    /// Puts the name of a piece's file into a system error, or the lengths, where the file has become too short.
    pub(super) fn named(&self, piece: Piece, error: std::io::Error) -> std::io::Error {
        let OpenFile { path, file } = &self.files[piece.file];
        let (path, needed) = (path.display(), piece.offset + piece.bytes as u64);
        let (kind, message) = match file.metadata() {
            Ok(found) if found.len() < needed => {
                let message = format!("{path}: expected {needed} bytes at least, found {}", found.len());
                (std::io::ErrorKind::UnexpectedEof, message)
            }
            _ => (error.kind(), format!("{path}: {error}")),
        };
        std::io::Error::new(kind, message)
    }

    /// Fills a frame by positioned reads.
    pub(super) fn read(&self, page: PageRef, frame: &mut Frame) -> std::io::Result<()> {
        for piece in self.pieces(page) {
            let bytes = &mut frame.bytes_mut()[piece.at..piece.at + piece.bytes];
            let file = &self.files[piece.file].file;
            topostream_formats::store::read_exact_at(file, bytes, piece.offset)
                .map_err(|error| self.named(piece, error))?;
        }
        Ok(())
    }
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
