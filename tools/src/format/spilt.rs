//! Edges on disk by range of their sources: a generated graph that does not fit in memory, made once.
//!
//! ```text
//!  parts, on all threads ─▶ a block for each range ── full ─▶ the temporary file ─▶ range after range ─▶ sorted
//! ```

use super::blocks::RecordLayout;
use super::distribute::{Edges, Input};
use super::ranges::Ranges;
use rayon::prelude::*;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use topostream_formats::store::{read_exact_at, write_all_at};
use topostream_formats::{Error, Result};

/// Bytes of a block at most, and at least.
const BLOCK_BYTES_MAX: usize = 128 << 10;
const BLOCK_BYTES_MIN: usize = 4 << 10;

/// The edges of each range in a temporary file. It has no name: it disappears with the process.
pub struct Spilt {
    folder: PathBuf,
    file: File,
    block_bytes: usize,
    ranges: Vec<SpiltRange>,
}

/// The edges of a range.
struct SpiltRange {
    layout: RecordLayout,
    /// Its first source.
    first: u32,
    /// Its blocks: their places in the file, and the number of their edges.
    blocks: Vec<(u64, u32)>,
}

/// Bytes of a block such that each of so many threads has one of each range.
pub fn block_bytes(memory_bytes: u64, threads: usize, ranges: usize) -> usize {
    let fitting = memory_bytes as usize / (threads * ranges).max(1);
    fitting.clamp(BLOCK_BYTES_MIN, BLOCK_BYTES_MAX) / BLOCK_BYTES_MIN * BLOCK_BYTES_MIN
}

/// A thread's blocks.
struct Open {
    blocks: Vec<Vec<u8>>,
    filled: Vec<usize>,
    edges: Edges,
}

impl Spilt {
    /// Writes all edges of an input of a single range into a file in `folder`. `advance` is told of edges that are
    /// done.
    ///
    /// # Errors
    /// [`Error::Io`]; the errors of `advance`.
    pub fn new(
        folder: &Path,
        input: &dyn Input,
        ranges: &Ranges,
        (vertices, weighted): (u64, bool),
        (threads, block_bytes): (usize, usize),
        advance: impl Fn(u64) -> Result<()> + Sync,
    ) -> Result<Self> {
        let file = tempfile::tempfile_in(folder).map_err(Error::io(folder, "make a temporary file in"))?;
        let range = |number| SpiltRange {
            layout: ranges.range_layout(number, vertices, weighted),
            first: ranges.sources(number).start as u32,
            blocks: Vec::new(),
        };
        let count = ranges.ranges.len();
        let mut spilt = Self { folder: folder.to_owned(), file, block_bytes, ranges: (0..count).map(range).collect() };
        let of_bucket: Vec<u16> =
            ranges.ranges.iter().zip(0u16..).flat_map(|(buckets, range)| buckets.clone().map(move |_| range)).collect();
        let blocks = Mutex::new(vec![Vec::new(); count]);
        let (next, end) = (AtomicU64::new(0), AtomicU64::new(0));
        let write = |open: &mut Open, range: usize| -> Result<()> {
            let place = end.fetch_add(block_bytes as u64, Ordering::Relaxed);
            let write = write_all_at(&spilt.file, &open.blocks[range], place);
            write.map_err(Error::io(folder, "write edges to a temporary file in"))?;
            let records = std::mem::take(&mut open.filled[range]);
            blocks.lock().expect("no thread panics while it adds a block")[range].push((place, records as u32));
            Ok(())
        };
        (0..threads).into_par_iter().with_max_len(1).try_for_each(|_| {
            let mut open =
                Open { blocks: vec![vec![0; block_bytes]; count], filled: vec![0; count], edges: Edges::default() };
            loop {
                let part = next.fetch_add(1, Ordering::Relaxed);
                if part >= input.parts(0) {
                    break;
                }
                let mut edges = std::mem::take(&mut open.edges);
                input.part(0, part, &mut edges)?;
                for (at, &(source, dest)) in edges.ends.iter().enumerate() {
                    let range = usize::from(of_bucket[ranges.bucket_of(source)]);
                    let SpiltRange { layout, first, .. } = &spilt.ranges[range];
                    if open.filled[range] == layout.capacity(block_bytes) {
                        write(&mut open, range)?;
                    }
                    let weight = edges.weights.get(at).copied().unwrap_or(0);
                    layout.write(&mut open.blocks[range], open.filled[range], source - first, dest, weight);
                    open.filled[range] += 1;
                }
                advance(edges.ends.len() as u64)?;
                open.edges = edges;
            }
            (0..count)
                .filter(|&range| open.filled[range] > 0)
                .collect::<Vec<_>>()
                .into_iter()
                .try_for_each(|range| write(&mut open, range))
        })?;
        let blocks = blocks.into_inner().expect("no thread has panicked");
        spilt.ranges.iter_mut().zip(blocks).for_each(|(range, blocks)| range.blocks = blocks);
        Ok(spilt)
    }

    /// The number of edges of a range.
    pub fn records(&self, range: usize) -> u64 {
        self.ranges[range].blocks.iter().map(|block| u64::from(block.1)).sum()
    }
}

impl Input for Spilt {
    fn parts(&self, range: usize) -> u64 {
        self.ranges[range].blocks.len() as u64
    }

    fn part(&self, range: usize, number: u64, edges: &mut Edges) -> Result<()> {
        let SpiltRange { layout, first, blocks } = &self.ranges[range];
        let (place, records) = blocks[number as usize];
        edges.bytes.resize(self.block_bytes, 0);
        let read = read_exact_at(&self.file, &mut edges.bytes, place);
        read.map_err(Error::io(&self.folder, "read edges from a temporary file in"))?;
        edges.ends.clear();
        edges.weights.clear();
        let (ends, weights) = (&mut edges.ends, &mut edges.weights);
        let weighted = layout.is_weighted();
        layout.read(&edges.bytes, 0..records as usize, |source, dest, weight| {
            ends.push((first + source, dest));
            if weighted {
                weights.push(weight);
            }
        });
        Ok(())
    }
}
