//! Edges on disk by range of their sources: a generated graph that does not fit in memory, made once.
//!
//! ```text
//!  parts, on all threads ─▶ a block for each range ── full ─▶ the thread's temporary file ─▶ range by range ─▶ sorted
//! ```
//!
//! Writes to one file wait for each other in the kernel, even at different places: each thread has its own.

use super::blocks::RecordLayout;
use super::distribute::{Edges, Input};
use super::ranges::{Ranges, step};
use rayon::prelude::*;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use topostream_formats::store::{read_exact_at, write_all_at};
use topostream_formats::{Error, Result};

/// Bytes of a block at most, and at least.
const BLOCK_BYTES_MAX: usize = 128 << 10;
const BLOCK_BYTES_MIN: usize = 4 << 10;

/// The edges of each range in temporary files. They have no names: they disappear with the process.
pub struct Spilt {
    folder: PathBuf,
    files: Vec<File>,
    block_bytes: usize,
    ranges: Vec<SpiltRange>,
}

/// The edges of a range.
struct SpiltRange {
    layout: RecordLayout,
    /// Its first source.
    first: u32,
    /// The number of edges of a full block.
    capacity: usize,
    blocks: Vec<Place>,
}

/// A block: its file, its place there, and the number of its edges.
#[derive(Clone, Copy)]
struct Place {
    file: u32,
    records: u32,
    at: u64,
}

/// Bytes of a block such that each of this many threads has one of each range.
pub fn block_bytes(memory_bytes: u64, threads: usize, ranges: usize) -> usize {
    let fitting = memory_bytes as usize / (threads * ranges).max(1);
    fitting.clamp(BLOCK_BYTES_MIN, BLOCK_BYTES_MAX) / BLOCK_BYTES_MIN * BLOCK_BYTES_MIN
}

/// A thread's blocks, the end of its file, and the places of blocks that are there.
struct Open {
    blocks: Vec<Vec<u8>>,
    filled: Vec<usize>,
    edges: Edges,
    end: u64,
    places: Vec<Vec<Place>>,
}

impl Spilt {
    /// Writes all edges of an input of a single range into files in `folder`. `advance` is called with numbers of edges
    /// that are done.
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
        let file = |_| tempfile::tempfile_in(folder).map_err(Error::io(folder, "make a temporary file in"));
        let files = (0..threads).map(file).collect::<Result<_>>()?;
        let range = |number| {
            let layout = ranges.range_layout(number, vertices, weighted);
            let (first, capacity) = (ranges.sources(number).start as u32, layout.capacity(block_bytes));
            SpiltRange { layout, first, capacity, blocks: Vec::new() }
        };
        let all = (0..ranges.ranges.len()).map(range).collect();
        let mut spilt = Self { folder: folder.to_owned(), files, block_bytes, ranges: all };
        let (next, range_of_steps) = (AtomicU64::new(0), ranges.range_of_steps());
        let write = |thread: usize| -> Result<Vec<Vec<Place>>> {
            let mut open = spilt.open();
            loop {
                let part = next.fetch_add(1, Ordering::Relaxed);
                if part >= input.parts(0) {
                    break;
                }
                let mut edges = std::mem::take(&mut open.edges);
                input.part(0, part, &mut edges)?;
                spilt.put(thread, &edges, &range_of_steps, &mut open)?;
                advance(edges.ends.len() as u64)?;
                open.edges = edges;
            }
            (0..spilt.ranges.len()).try_for_each(|range| spilt.write(thread, range, &mut open))?;
            Ok(open.places)
        };
        let places: Vec<_> = (0..threads).into_par_iter().with_max_len(1).map(write).collect::<Result<_>>()?;
        for places in places {
            spilt.ranges.iter_mut().zip(places).for_each(|(range, some)| range.blocks.extend(some));
        }
        Ok(spilt)
    }

    /// Empty blocks of a thread.
    fn open(&self) -> Open {
        let count = self.ranges.len();
        Open {
            blocks: vec![vec![0; self.block_bytes]; count],
            filled: vec![0; count],
            edges: Edges::default(),
            end: 0,
            places: vec![Vec::new(); count],
        }
    }

    /// Puts the edges of a part into the blocks of their ranges.
    fn put(&self, thread: usize, edges: &Edges, range_of_steps: &[u16], open: &mut Open) -> Result<()> {
        for (at, &(source, dest)) in edges.ends.iter().enumerate() {
            let range = usize::from(range_of_steps[step(source)]);
            let SpiltRange { layout, first, capacity, .. } = &self.ranges[range];
            if open.filled[range] == *capacity {
                self.write(thread, range, open)?;
            }
            let weight = edges.weights.get(at).copied().unwrap_or(0);
            layout.write(&mut open.blocks[range], open.filled[range], source - first, dest, weight);
            open.filled[range] += 1;
        }
        Ok(())
    }

    /// Writes a thread's block of a range, if there are edges in it.
    fn write(&self, thread: usize, range: usize, open: &mut Open) -> Result<()> {
        if open.filled[range] == 0 {
            return Ok(());
        }
        let write = write_all_at(&self.files[thread], &open.blocks[range], open.end);
        write.map_err(Error::io(&self.folder, "write edges to a temporary file in"))?;
        let records = std::mem::take(&mut open.filled[range]) as u32;
        open.places[range].push(Place { file: thread as u32, records, at: open.end });
        open.end += self.block_bytes as u64;
        Ok(())
    }

    /// The number of edges of a range.
    pub fn records(&self, range: usize) -> u64 {
        self.ranges[range].blocks.iter().map(|block| u64::from(block.records)).sum()
    }
}

impl Input for Spilt {
    fn parts(&self, range: usize) -> u64 {
        self.ranges[range].blocks.len() as u64
    }

    fn part(&self, range: usize, number: u64, edges: &mut Edges) -> Result<()> {
        let SpiltRange { layout, first, blocks, .. } = &self.ranges[range];
        let Place { file, records, at } = blocks[number as usize];
        edges.bytes.resize(self.block_bytes, 0);
        let read = read_exact_at(&self.files[file as usize], &mut edges.bytes, at);
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
