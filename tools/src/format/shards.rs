//! Grouping edges by destination: where shards end, and the edges of each shard in the order of its lists.
//!
//! ```text
//!  edges (by source, dest) ─▶ Histogram ─▶ ends
//!                           └▶ ShardBuffers ── full ─▶ the temporary file ─▶ shard after shard, in input order
//! ```
//!
//! The order of the input is kept within a shard, so no second sort is needed.

use super::balance::{Histogram, whole_weights};
use super::state::Formatter;
use crate::progress::{Cancel, Unit};
use crate::sorting::record::{Record, unsortable};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use topostream_formats::manifest::TopologyManifest;
use topostream_formats::store::read_exact_at;
use topostream_formats::{Direction, Error, Result, WeightType};

/// The minimum number of records of a write.
const RECORDS_MIN: usize = 1 << 10;

/// The edges of one shard, in input order.
#[derive(Default)]
struct ShardBuffer<R> {
    buffer: Vec<R>,
    /// Where the earlier edges are in the temporary file: first byte and number of records of each write.
    written: Vec<(u64, usize)>,
}

/// Edges by shard.
struct ShardBuffers<R> {
    folder: PathBuf,
    cancel: Cancel,
    ends: Vec<u64>,
    buffers: Vec<ShardBuffer<R>>,
    records_max: usize,
    /// The file has no name: it disappears with the process.
    file: Option<File>,
    file_bytes: u64,
}

impl<R: Record> ShardBuffers<R> {
    /// Takes at most about `memory_bytes`.
    fn new(folder: &Path, memory_bytes: u64, ends: Vec<u64>, cancel: Cancel) -> Self {
        // One share is reserved for a buffer that is copied while it grows.
        let share = memory_bytes as usize / (ends.len() + 1) / size_of::<R>();
        let buffers = ends.iter().map(|_| ShardBuffer { buffer: Vec::new(), written: Vec::new() }).collect();
        let (records_max, folder) = (share.max(RECORDS_MIN), folder.to_owned());
        Self { folder, cancel, ends, buffers, records_max, file: None, file_bytes: 0 }
    }

    /// Appends an edge to its shard.
    #[inline]
    fn push(&mut self, source: u32, dest: u32, weight: u64) -> Result<()> {
        let shard = self.ends.partition_point(|&end| end <= dest.into());
        let shard_buffer = &mut self.buffers[shard];
        if shard_buffer.buffer.len() == shard_buffer.buffer.capacity() {
            self.make_room(shard)?;
        }
        self.buffers[shard].buffer.push(R::new(source, dest, weight));
        Ok(())
    }

    /// Enlarges a shard's buffer if that is allowed, otherwise writes it out.
    fn make_room(&mut self, shard: usize) -> Result<()> {
        let shard_buffer = &mut self.buffers[shard];
        let full = shard_buffer.buffer.len();
        if full < self.records_max {
            shard_buffer.buffer.reserve_exact((2 * full).clamp(RECORDS_MIN, self.records_max) - full);
            return Ok(());
        }
        self.cancel.check()?;
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(
                tempfile::tempfile_in(&self.folder).map_err(Error::io(&self.folder, "make a temporary file in"))?,
            ),
        };
        let bytes: &[u8] = bytemuck::cast_slice(&shard_buffer.buffer);
        file.write_all(bytes).map_err(Error::io(&self.folder, "write a shard's edges in"))?;
        shard_buffer.written.push((self.file_bytes, full));
        self.file_bytes += bytes.len() as u64;
        shard_buffer.buffer.clear();
        Ok(())
    }

    /// The number of a shard's edges.
    fn records(&self, shard: usize) -> u64 {
        let shard_buffer = &self.buffers[shard];
        shard_buffer.written.iter().map(|&(_, records)| records as u64).sum::<u64>() + shard_buffer.buffer.len() as u64
    }

    /// Passes a shard's edges in input order.
    fn for_each(&self, shard: usize, mut take: impl FnMut(&[R]) -> Result<()>) -> Result<()> {
        let shard_buffer = &self.buffers[shard];
        let mut block: Vec<R> = Vec::new();
        for &(start, records) in &shard_buffer.written {
            let file = self.file.as_ref().expect("a shard that was written has a file");
            // At most as large as a write, and no larger than another buffer may be.
            let step = records.min(self.records_max / 2 + 1);
            for first in (0..records).step_by(step) {
                self.cancel.check()?;
                block.resize(step.min(records - first), R::zeroed());
                let at = start + (first * size_of::<R>()) as u64;
                read_exact_at(file, bytemuck::cast_slice_mut(&mut block), at)
                    .map_err(Error::io(&self.folder, "read a shard's edges in"))?;
                take(&block)?;
            }
        }
        self.cancel.check()?;
        shard_buffer.buffer.chunks(1 << 18).try_for_each(take)
    }
}

impl<R: Record> Formatter<'_, R> {
    /// The vertex after the last one of each shard.
    pub(super) fn shard_ends(&mut self) -> Result<Vec<u64>> {
        let weights = whole_weights(&self.options.shard_weights, self.options.shards)?;
        let mut histogram = Histogram::new(self.naming.vertices(), self.options.balance, &self.options.layout);
        self.each_edge("count destinations", |source, dest, weight| {
            histogram.count(source, dest, weight);
            Ok(())
        })?;
        Ok(histogram.ends(&weights))
    }

    /// Writes the sorted edges as out-lists grouped by shard. Also returns their number.
    pub(super) fn write_shards(&mut self) -> Result<(TopologyManifest, u64)> {
        let (vertices, ends) = (self.naming.vertices(), self.shard_ends()?);
        let buffers_bytes = self.sort_beside(self.budget.grouping_bytes(&self.known()))?;
        let mut buffers = ShardBuffers::<R>::new(&self.folder, buffers_bytes, ends.clone(), self.cancel.clone());
        let edges =
            self.each_edge("group by destination", |source, dest, weight| buffers.push(source, dest, weight))?;
        let mut lists = self.writer.topology(Direction::Out)?;
        let weights = self.options.layout.weights.unwrap_or(WeightType::U32);
        for (shard, end) in ends.into_iter().enumerate() {
            let stage = format!("write shard {} of {}", shard + 1, self.options.shards);
            self.each_of(&buffers, shard, &stage, |source, dest, weight| {
                lists.push(source, dest, unsortable(weight, weights))
            })?;
            lists.end_shard(end, vertices)?;
        }
        Ok((self.end_lists(lists, self.naming.vertices())?, edges))
    }

    /// Passes every edge of a shard.
    fn each_of(
        &self,
        buffers: &ShardBuffers<R>,
        shard: usize,
        stage: &str,
        mut take: impl FnMut(u32, u32, u64) -> Result<()>,
    ) -> Result<()> {
        self.progress.begin(stage, Some(buffers.records(shard)), Unit::Edges);
        let mut passed = 0;
        buffers.for_each(shard, |records| {
            for record in records {
                let (source, dest, weight) = record.parts();
                take(source, dest, weight)?;
            }
            passed += records.len() as u64;
            self.progress.position(passed);
            Ok(())
        })?;
        self.progress.end();
        Ok(())
    }
}
