//! The page files of a stripe, open for positioned reads.

use super::{Frame, PageRef};
use crate::pages::parts::Parts;
use std::fs::File;
use std::path::{Path, PathBuf};
use topostream_formats::buffer::ALIGNMENT;
use topostream_formats::chunks::chunk_bytes;
use topostream_formats::weights::WeightPlaces;
use topostream_formats::{Direction, Error, Result, Store, Topology};

/// One file of pages or of weights.
#[derive(Debug)]
pub(super) struct OpenFile {
    pub(super) path: PathBuf,
    pub(super) file: File,
    /// The file opened again, for all but the first of the threads that read at the same time.
    more: Vec<File>,
}

impl OpenFile {
    /// The handle of a thread.
    fn of_thread(&self, thread: usize) -> &File {
        self.more.get(thread.wrapping_sub(1)).unwrap_or(&self.file)
    }
}

/// Threads that read from one stripe, each with one read at a time. They sleep in the kernel, so more threads than
/// cores are useful.
pub(super) const THREADS: usize = 16;
/// How often a file is opened. Windows serves one read of an open file at a time, other systems any number.
const HANDLES: usize = if cfg!(windows) { THREADS } else { 1 };

/// One contiguous read: a range of a file and its offset in a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileRange {
    /// Index into [`PageFiles::files`].
    pub(super) file: usize,
    pub(super) offset: u64,
    /// Offset in the frame, in bytes.
    pub(super) at: usize,
    pub(super) bytes: usize,
}

impl FileRange {
    /// Whether any disk can read it without a page cache. Frames are aligned too.
    fn is_aligned(self) -> bool {
        [self.offset as usize, self.at, self.bytes].iter().all(|place| place.is_multiple_of(ALIGNMENT))
    }
}

/// The page files of one stripe of a store, opened for direct I/O if the file system supports it.
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
    /// Where pages of weights are, if they are read and packed.
    weight_places: Option<WeightPlaces>,
    /// Bytes of a chunk. Pages without checksums of chunks are only read in parts to measure the disk.
    chunk_bytes: usize,
    page_file: usize,
    weight_file: usize,
    /// Where weights begin in a frame.
    weights_at: usize,
}

impl PageFiles {
    /// Opens a stripe's page files of all topologies, and its weight files if `weights` is set, for frames in which
    /// weights begin at `weights_at`.
    ///
    /// # Errors
    /// [`Error::Io`] that names the file.
    pub fn open(store: &Store, stripe: usize, weights: bool, weights_at: usize) -> Result<Self> {
        let stripes = store.stripe_count();
        let mut files = Self { files: Vec::new(), topologies: Vec::new(), stripe, stripes, direct: true };
        for topology in store.topologies() {
            files.add(topology, weights, weights_at)?;
        }
        Ok(files)
    }

    fn add(&mut self, topology: &Topology, weights: bool, weights_at: usize) -> Result<()> {
        let page_file = self.files.len();
        self.add_file(&topology.page_files()[self.stripe])?;
        let weight_file = self.files.len();
        if weights {
            self.add_file(&topology.weight_files()[self.stripe])?;
        }
        self.topologies.push(TopologyFiles {
            direction: topology.direction(),
            page_bytes: topology.page_bytes() as usize,
            chunk_bytes: chunk_bytes(topology.page_bytes()) as usize,
            weight_page_bytes: if weights { topology.weight_page_bytes() as usize } else { 0 },
            weight_places: topology.weight_places().filter(|_| weights).cloned(),
            page_file,
            weight_file,
            weights_at,
        });
        Ok(())
    }

    fn add_file(&mut self, path: &Path) -> Result<()> {
        let open = || open_direct(path).map_err(Error::io(path, "open"));
        let (file, direct) = open()?;
        let more = (1..HANDLES).map(|_| Ok(open()?.0)).collect::<Result<_>>()?;
        self.direct &= direct;
        self.files.push(OpenFile { path: path.to_owned(), file, more });
        Ok(())
    }

    /// Returns whether reads of all files bypass the page cache.
    pub fn direct(&self) -> bool {
        self.direct
    }

    /// The store's number of stripes.
    pub(super) fn stripes(&self) -> usize {
        self.stripes
    }

    /// The number of this stripe.
    pub(super) fn stripe(&self) -> usize {
        self.stripe
    }

    /// Bytes of a chunk of a page.
    pub(super) fn chunk_bytes(&self, page: PageRef) -> usize {
        self.of(page).chunk_bytes
    }

    fn of(&self, page: PageRef) -> &TopologyFiles {
        self.topologies.iter().find(|files| files.direction == page.direction).expect("pages of this store")
    }

    /// Returns the reads that fill a frame with a page: one, or two with weights. If only some chunks of the page are
    /// needed, there is one read for each run of adjacent chunks. Packed weights are read into the last bytes of the
    /// frame.
    pub(super) fn ranges(&self, page: PageRef, parts: Parts) -> Vec<FileRange> {
        let of = self.of(page);
        debug_assert_eq!(page.stripe(self.stripes), self.stripe);
        let row = (page.page.index() / self.stripes) as u64;
        let range = |file, at, bytes: usize| FileRange { file, offset: row * bytes as u64, at, bytes };
        let topology = range(of.page_file, 0, of.page_bytes);
        let weights = match &of.weight_places {
            None => range(of.weight_file, of.weights_at, of.weight_page_bytes),
            Some(places) => {
                let (offset, bytes) = places.place(page.page);
                FileRange { file: of.weight_file, offset, at: of.weights_at + of.weight_page_bytes - bytes, bytes }
            }
        };
        match parts {
            Parts::Whole => std::iter::once(topology).chain((weights.bytes > 0).then_some(weights)).collect(),
            Parts::Chunks(chunks) => {
                let run = |run: std::ops::Range<u32>| {
                    let [at, end] = [run.start, run.end].map(|chunk| chunk as usize * of.chunk_bytes);
                    FileRange { offset: topology.offset + at as u64, at, bytes: end - at, ..topology }
                };
                chunks.runs().map(run).collect()
            }
        }
    }

    /// Adds the file's name to a system error. If the file is too short, the error has the expected and the actual
    /// length instead.
    pub(super) fn named(&self, range: FileRange, error: std::io::Error) -> std::io::Error {
        let OpenFile { path, file, .. } = &self.files[range.file];
        let (path, needed) = (path.display(), range.offset + range.bytes as u64);
        let (kind, message) = match file.metadata() {
            Ok(found) if found.len() < needed => {
                let message = format!("{path}: expected at least {needed} bytes, found {}", found.len());
                (std::io::ErrorKind::UnexpectedEof, message)
            }
            _ => (error.kind(), format!("{path}: {error}")),
        };
        std::io::Error::new(kind, message)
    }

    /// Reads what is requested into a frame, by positioned reads on the thread with this number.
    pub(super) fn read(&self, thread: usize, page: PageRef, frame: &mut Frame) -> std::io::Result<()> {
        for range in self.ranges(page, frame.requested()) {
            debug_assert!(range.is_aligned(), "direct I/O of {range:?}");
            let bytes = &mut frame.bytes_mut()[range.at..range.at + range.bytes];
            let file = self.files[range.file].of_thread(thread);
            topostream_formats::store::read_exact_at(file, bytes, range.offset)
                .map_err(|error| self.named(range, error))?;
        }
        Ok(())
    }
}

/// Opens a file for direct I/O, or for buffered reads if the file system does not support it (some in-memory ones).
/// Returns whether I/O is direct.
#[cfg(target_os = "linux")]
fn open_direct(path: &Path) -> std::io::Result<(File, bool)> {
    use std::os::unix::fs::OpenOptionsExt;
    match File::options().read(true).custom_flags(libc::O_DIRECT).open(path) {
        Ok(file) => Ok((file, true)),
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok((File::open(path)?, false)),
        Err(error) => Err(error),
    }
}

/// As on Linux: places, lengths and memory are multiples of 4096 bytes, as `FILE_FLAG_NO_BUFFERING` needs them.
#[cfg(windows)]
fn open_direct(path: &Path) -> std::io::Result<(File, bool)> {
    use std::os::windows::fs::OpenOptionsExt;
    const FILE_FLAG_NO_BUFFERING: u32 = 0x2000_0000;
    Ok((File::options().read(true).custom_flags(FILE_FLAG_NO_BUFFERING).open(path)?, true))
}

#[cfg(not(any(target_os = "linux", windows)))]
fn open_direct(path: &Path) -> std::io::Result<(File, bool)> {
    Ok((File::open(path)?, false))
}
