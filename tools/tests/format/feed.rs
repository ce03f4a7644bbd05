//! A source of edges for tests: it needs little memory, and can fail at a given edge.

use super::spec_reader::Triple;
use std::path::Path;
use std::sync::Arc;
use topostream_formats::edge::CHUNK_EDGES;
use topostream_formats::{Edge, EdgeSource, Error, IdSpace, Result, SourceInfo, Store, WeightType};
use topostream_tools::format::{FormatOptions, FormatReport, format};
use topostream_tools::progress::{Cancel, Progress, Quiet};
use topostream_tools::verify::verify;

/// Copies the files of a store of an earlier version, by its name in the folder of golden stores.
pub fn copy_golden(name: &str, to: &Path) {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../formats/tests/golden").join(name);
    std::fs::create_dir_all(to).unwrap();
    for file in std::fs::read_dir(golden).unwrap().map(|file| file.unwrap()) {
        std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

/// Edges in memory, which can be read any number of times.
#[derive(Clone)]
pub struct Feed {
    pub info: SourceInfo,
    pub edges: Arc<Vec<Triple>>,
    pub extra: Vec<u64>,
    /// Fails after this number of edges.
    pub fails_at: Option<usize>,
    pub at: usize,
    /// Whether it can be opened only once, like a pipe.
    pub read_once: bool,
    /// All vertices, if the source has a list of them.
    pub declared: Option<Vec<u64>>,
}

impl Feed {
    pub fn new(ids: IdSpace, weights: Option<WeightType>, edges: Vec<Triple>) -> Self {
        let name = "edges of a test".into();
        let count = Some(edges.len() as u64);
        let info = SourceInfo { name, ids, mirror: false, directed: true, weights, edges: count, bytes: None };
        Self {
            info,
            edges: Arc::new(edges),
            extra: Vec::new(),
            fails_at: None,
            at: 0,
            read_once: false,
            declared: None,
        }
    }
}

impl EdgeSource for Feed {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, chunk: &mut Vec<Edge>) -> Result<()> {
        let end = (self.at + CHUNK_EDGES).min(self.edges.len()).min(self.fails_at.unwrap_or(usize::MAX));
        if self.fails_at == Some(self.at) {
            return Err(Error::line("input.txt", 1 + self.at as u64, "two vertex ids", b"not an edge"));
        }
        chunk.clear();
        chunk.extend(self.edges[self.at..end].iter().map(|&(source, dest, weight)| Edge { source, dest, weight }));
        self.at = end;
        Ok(())
    }

    fn extra_vertices(&mut self, ids: &mut Vec<u64>) -> Result<()> {
        ids.extend(&self.extra);
        Ok(())
    }

    fn declared_vertices(&mut self, take: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<bool> {
        self.declared.as_ref().map_or(Ok(false), |ids| take(ids).map(|()| true))
    }

    fn place_of(&self, index: usize, _edge: &Edge) -> String {
        // All chunks except the last are full.
        format!("input.txt:{}", 1 + (self.at - 1) / CHUNK_EDGES * CHUNK_EDGES + index)
    }

    fn is_read_once(&self) -> bool {
        self.read_once
    }

    fn memory_bytes(&self) -> u64 {
        (CHUNK_EDGES * size_of::<Edge>()) as u64
    }
}

/// Formats a feed with an observer.
pub fn run_watched(
    feed: &Feed,
    path: &Path,
    options: &FormatOptions,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<FormatReport> {
    let mut opened = 0;
    let mut open = || -> Result<Box<dyn EdgeSource>> {
        opened += 1;
        match feed.read_once && opened > 1 {
            true => Err(Error::Invalid("a pipe was opened twice".into())),
            false => Ok(Box::new(feed.clone())),
        }
    };
    format(&mut open, path, options, progress, cancel)
}

/// Formats a feed.
pub fn run(feed: &Feed, path: &Path, options: &FormatOptions) -> Result<FormatReport> {
    run_watched(feed, path, options, &Quiet, &Cancel::default())
}

/// Options with pages of 64 KiB.
pub fn small_pages() -> FormatOptions {
    let mut options = FormatOptions::plain();
    options.layout.page_bytes = 64 << 10;
    options
}

/// Opens a store and verifies all of it.
pub fn open_and_verify(path: &Path) -> Result<()> {
    verify(&Store::open(path)?, 1 << 30, &Quiet, &Cancel::default()).map(|_| ())
}

/// Pseudo-random numbers, the same in every run.
pub fn draws(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    }
}
