//! Sorting edges in bounded memory.
//!
//! ```text
//!  push ─▶ one buffer, as large as the budget allows ── full: radix sort, in place, all cores ─▶ a run on disk
//!  finish: everything still fits ─▶ Collected::Memory       else ─▶ Collected::Runs
//!  Runs: a block of each run in memory; records below the smallest last key of the blocks are complete: collect
//!        them, sort, pass on, refill. No comparison tree, and all cores work.
//! ```
//!
//! Edges that will be sorted under other numbers are only collected: runs are then in input order.

use super::partition::{Buckets, sort};
use super::pieces::Pieces;
use super::record::{Record, radix_sort};
use super::runs::{BLOCK_RECORDS_MAX, DiskRun, DiskRuns, Take, append, block_records, merge_bytes};
use crate::progress::Cancel;
use std::fs::File;
use std::path::{Path, PathBuf};
use topostream_formats::{Error, Result};

/// The minimum buffer that justifies files: 64 Ki records.
pub const RECORDS_MIN: usize = 1 << 16;
/// Collects records and sorts them, through temporary files in `folder` where they do not fit in memory.
pub struct Sorter<R> {
    folder: PathBuf,
    buffer: Vec<R>,
    records_max: usize,
    /// All runs, one after another. The file has no name: it disappears with the process.
    file: Option<File>,
    runs: Vec<DiskRun>,
    /// Whether records are sorted, not only collected.
    sorts: bool,
    /// Whether those that fit in memory may be in pieces.
    in_pieces: bool,
    cancel: Cancel,
}

/// Sorted records, which can be read any number of times.
pub enum Collected<R> {
    /// All of them in memory.
    Memory(Vec<R>),
    /// All of them in memory, in pieces.
    Pieces(Pieces<R>),
    /// In several runs on disk.
    Runs(DiskRuns),
}

impl<R: Record> Sorter<R> {
    /// Creates a sorter that takes at most `memory_bytes` and keeps its runs in `folder`.
    pub fn new(folder: &Path, memory_bytes: u64, cancel: Cancel) -> Self {
        let records_max = (memory_bytes as usize / size_of::<R>()).max(RECORDS_MIN);
        let (folder, buffer, runs) = (folder.to_owned(), Vec::new(), Vec::new());
        Self { folder, buffer, records_max, file: None, runs, sorts: true, in_pieces: false, cancel }
    }

    /// Only collects the records: the result is unsorted.
    pub fn unsorted(self) -> Self {
        Self { sorts: false, ..self }
    }

    /// Sorts the records, too.
    pub fn sorted(self) -> Self {
        Self { sorts: true, ..self }
    }

    /// Leaves records that fit in memory in pieces: they are sorted faster then.
    pub fn in_pieces(self) -> Self {
        Self { in_pieces: true, ..self }
    }

    /// Takes at most one part in this many of its memory.
    pub fn with_share(self, parts: usize) -> Self {
        Self { records_max: (self.records_max / parts).max(RECORDS_MIN), ..self }
    }

    /// Takes at most this many records, or the fewest that justify files.
    pub fn with_records(self, records: u64) -> Self {
        let records = usize::try_from(records).unwrap_or(usize::MAX);
        Self { records_max: self.records_max.min(records.max(RECORDS_MIN)), ..self }
    }

    /// The number of records for which there is room in memory.
    pub fn room(&self) -> usize {
        self.records_max.saturating_sub(self.buffer.len())
    }

    /// The folder of its runs.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// An empty sorter with the same settings.
    pub fn renewed(&self) -> Self {
        Self {
            buffer: Vec::new(),
            file: None,
            runs: Vec::new(),
            folder: self.folder.clone(),
            cancel: self.cancel.clone(),
            ..*self
        }
    }

    /// Adds a record.
    ///
    /// # Errors
    /// [`Error::Io`] if a run cannot be written, [`Error::Interrupted`].
    #[inline]
    pub fn push(&mut self, record: R) -> Result<()> {
        if self.buffer.len() == self.buffer.capacity() {
            self.grow()?;
        }
        self.buffer.push(record);
        Ok(())
    }

    /// Adds records.
    ///
    /// # Errors
    /// The errors of [`push`](Self::push).
    pub fn extend(&mut self, mut records: &[R]) -> Result<()> {
        while !records.is_empty() {
            if self.buffer.len() == self.buffer.capacity() {
                self.grow()?;
            }
            let room = self.buffer.capacity() - self.buffer.len();
            let (some, rest) = records.split_at(room.min(records.len()));
            self.buffer.extend_from_slice(some);
            records = rest;
        }
        Ok(())
    }

    /// Sorts the buffer, unless records are only collected.
    fn sort(&mut self) {
        if self.sorts {
            radix_sort(&mut self.buffer);
        }
    }

    /// Discards everything.
    pub fn clear(&mut self) {
        self.buffer.clear();
        self.runs.clear();
        self.file = None;
    }

    /// Makes room: a larger buffer if that is allowed, otherwise the buffer is written out. Doubling would exceed the
    /// budget while both buffers exist, so the last enlargement is done early, when a quarter is in use.
    fn grow(&mut self) -> Result<()> {
        let full = self.buffer.len();
        if full < self.records_max {
            let next = if full < self.records_max / 4 { (2 * full).max(RECORDS_MIN) } else { self.records_max };
            self.buffer.reserve_exact(next.min(self.records_max) - full);
            return Ok(());
        }
        self.cancel.check()?;
        self.sort();
        let buffer = std::mem::take(&mut self.buffer);
        self.write_run(|take| take(&buffer))?;
        self.buffer = buffer;
        self.buffer.clear();
        Ok(())
    }

    /// Writes a run: the records that `each` passes on.
    fn write_run(&mut self, each: impl FnOnce(&mut Take<'_, R>) -> Result<()>) -> Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(
                tempfile::tempfile_in(&self.folder).map_err(Error::io(&self.folder, "make a temporary file in"))?,
            ),
        };
        let start = self.runs.last().map_or(0, |last| last.start + last.bytes);
        // Records that are only collected do not become smaller.
        let run = append(file, &self.folder, (start, self.sorts), each)?;
        self.runs.push(run);
        Ok(())
    }

    /// Adds sorted records as a run of their own.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be written.
    pub fn push_run(&mut self, run: &Pieces<R>) -> Result<()> {
        self.write_run(|take| run.for_each(take))
    }

    /// The runs so far and a last one, which stays in memory if it is the only one.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be written.
    pub fn finish_runs(mut self, last: Pieces<R>) -> Result<Collected<R>> {
        if self.runs.is_empty() {
            return Ok(Collected::Pieces(last));
        }
        if last.records() > 0 {
            self.push_run(&last)?;
        }
        let memory_bytes = self.records_max * size_of::<R>();
        Ok(self.into_collected(memory_bytes))
    }

    /// Sorts the remaining records.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Interrupted`].
    pub fn finish(mut self) -> Result<Collected<R>> {
        self.cancel.check()?;
        let beside = self.records_max.saturating_sub(self.buffer.len());
        // Pieces take more memory than the records: what comes next must not have to move them to disk.
        if self.file.is_none() && self.sorts && self.in_pieces && beside >= self.buffer.len() / 4 {
            let buckets = Buckets::of_records(&self.buffer, |record| record);
            let beside_bytes = (beside * size_of::<R>()) as u64;
            let sorted = sort(self.buffer, &buckets, beside_bytes, |record| record, |_| self.cancel.check())?;
            return Ok(Collected::Pieces(sorted));
        }
        self.records_max = self.buffer.len();
        if !self.runs.is_empty() && self.records_max > 0 {
            self.grow()?;
        }
        if self.file.is_none() {
            self.sort();
            return Ok(Collected::Memory(self.buffer));
        }
        let memory_bytes = self.buffer.capacity() * size_of::<R>();
        Ok(self.into_collected(memory_bytes))
    }

    /// The runs in the file, if there is one.
    fn into_collected(self, memory_bytes: usize) -> Collected<R> {
        let Some(file) = self.file else { return Collected::Memory(self.buffer) };
        let block_records = block_records::<R>(memory_bytes as u64, self.runs.len());
        Collected::Runs(DiskRuns { folder: self.folder, file, runs: self.runs, block_records, cancel: self.cancel })
    }
}

impl<R: Record> Collected<R> {
    /// Main memory in use while runs are read, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        match self {
            Self::Memory(records) => size_of_val(&records[..]) as u64,
            Self::Pieces(pieces) => pieces.memory_bytes(),
            Self::Runs(runs) => merge_bytes::<R>(runs.runs.len(), runs.block_records),
        }
    }

    /// Limits memory to `memory_bytes` from now on, moving the records to a run in `folder` if necessary.
    ///
    /// # Errors
    /// [`Error::Io`] if the run cannot be written.
    pub fn shrink(self, memory_bytes: u64, folder: &Path, cancel: &Cancel) -> Result<Self> {
        if self.memory_bytes() <= memory_bytes {
            return Ok(self);
        }
        let mut runs = match self {
            Self::Runs(runs) => runs,
            memory => {
                let file = tempfile::tempfile_in(folder).map_err(Error::io(folder, "make a temporary file in"))?;
                let run = append(&file, folder, (0, true), |take| {
                    memory.for_each(|some| {
                        cancel.check()?;
                        take(some)
                    })
                })?;
                DiskRuns { folder: folder.to_owned(), file, runs: vec![run], block_records: 0, cancel: cancel.clone() }
            }
        };
        runs.block_records = block_records::<R>(memory_bytes, runs.runs.len());
        Ok(Self::Runs(runs))
    }

    /// The number of records.
    pub fn records(&self) -> u64 {
        match self {
            Self::Memory(records) => records.len() as u64,
            Self::Pieces(pieces) => pieces.records(),
            Self::Runs(runs) => runs.runs.iter().map(|run| run.records).sum(),
        }
    }

    /// Passes all records in blocks, run after run: unsorted if they are in several.
    ///
    /// # Errors
    /// As for [`for_each`](Self::for_each).
    pub fn for_each_unordered(&self, mut take: impl FnMut(&[R]) -> Result<()>) -> Result<()> {
        match self {
            Self::Memory(records) => records.chunks(BLOCK_RECORDS_MAX).try_for_each(take),
            Self::Pieces(pieces) => pieces.for_each(take),
            Self::Runs(runs) => runs.read(&mut take),
        }
    }

    /// Passes all records in ascending order, in blocks. They must be sorted.
    ///
    /// # Errors
    /// [`Error::Io`] if a run cannot be read, [`Error::Interrupted`], and the errors of `take`.
    pub fn for_each(&self, mut take: impl FnMut(&[R]) -> Result<()>) -> Result<()> {
        match self {
            Self::Memory(records) => records.chunks(BLOCK_RECORDS_MAX).try_for_each(take),
            Self::Pieces(pieces) => pieces.for_each(take),
            Self::Runs(runs) => runs.merge(&mut take),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::{Plain, Weighted};
    use super::super::runs::BLOCK_RECORDS_MIN;
    use super::*;
    use proptest::prelude::*;

    fn sort_all<R: Record>(records: &[R], memory_bytes: u64, shrunk: bool) -> (Vec<R>, bool) {
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::new(folder.path(), memory_bytes, Cancel::default());
        sorter.records_max = (memory_bytes as usize / size_of::<R>()).max(1);
        records.iter().for_each(|&record| sorter.push(record).unwrap());
        let mut sorted = sorter.finish().unwrap();
        if shrunk {
            let most = sorted.memory_bytes() / 3;
            sorted = sorted.shrink(most, folder.path(), &Cancel::default()).unwrap();
            let least = |runs: &DiskRuns| merge_bytes::<R>(runs.runs.len(), BLOCK_RECORDS_MIN);
            let is_small = |runs: &DiskRuns| sorted.memory_bytes() <= most.max(least(runs));
            assert!(matches!(&sorted, Collected::Runs(runs) if is_small(runs)) || most == 0);
        }
        let spilled = matches!(sorted, Collected::Runs(_));
        let mut all = Vec::new();
        sorted
            .for_each_unordered(|some| {
                all.extend_from_slice(some);
                Ok(())
            })
            .unwrap();
        all.sort_unstable();
        let unordered = all.clone();
        for _ in 0..2 {
            all.clear();
            sorted
                .for_each(|some| {
                    all.extend_from_slice(some);
                    Ok(())
                })
                .unwrap();
        }
        assert!(all == unordered, "the same records in input order");
        (all, spilled)
    }

    #[test]
    fn records_that_are_only_collected_keep_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let records: Vec<Plain> = (0..5000u32).map(|at| Plain::new(at.wrapping_mul(2_654_435_761), at, 0)).collect();
        for records_max in [700, 5000, 6000] {
            let mut sorter = Sorter::new(folder.path(), 0, Cancel::default()).unsorted();
            sorter.records_max = records_max;
            records.iter().for_each(|&record| sorter.push(record).unwrap());
            let (collected, mut all) = (sorter.finish().unwrap(), Vec::new());
            collected
                .for_each_unordered(|some| {
                    all.extend_from_slice(some);
                    Ok(())
                })
                .unwrap();
            assert_eq!(matches!(collected, Collected::Runs(_)), records_max < records.len());
            assert_eq!(all, records);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn runs_merge_to_the_sorted_whole(
            triples in prop::collection::vec(
                (prop_oneof![8 => 0u32..50, 1 => any::<u32>()], any::<u32>(), 0u32..4),
                0..6000,
            ),
            records_max in 20u64..3000,
            shrunk: bool,
        ) {
            let mut plain: Vec<Plain> = triples.iter().map(|&(s, d, _)| Plain::new(s, d & 7, 0)).collect();
            let (found, spilled) = sort_all(&plain, records_max * 8, shrunk);
            plain.sort_unstable();
            prop_assert_eq!(found, plain);
            let all_fit = triples.len() <= (records_max as usize).max(RECORDS_MIN.min(records_max as usize));
            prop_assert_eq!(spilled, !all_fit || shrunk && !triples.is_empty());
            let mut weighted: Vec<Weighted> = triples.iter().map(|&(s, d, w)| Weighted::new(s, d, w.into())).collect();
            let (found, _) = sort_all(&weighted, records_max * 12, shrunk);
            weighted.sort_unstable();
            prop_assert_eq!(found, weighted);
        }
    }
}
