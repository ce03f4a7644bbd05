//! Renumbering and sorting edges for an order of vertices.
//!
//! ```text
//!  edges, unsorted ─▶ count degrees ─▶ numbers: vertices sorted by degree ─▶ edges renumbered and sorted, once
//! ```
//!
//! Degrees count distinct edges if duplicates are removed; such edges are sorted twice. Edges in memory are renumbered
//! where they are; others are read from their file twice.

use super::breadth_first::Adjacency;
use super::memory::READ_BYTES;
use super::options::{FormatOptions, OrderFrom};
use super::order::{Degrees, Numbering, Slots, memory_bytes};
use super::sample::Sample;
use super::state::Formatter;
use super::{breadth_first, listed};
use crate::progress::Unit;
use crate::sorting::partition;
use crate::sorting::record::Record;
use crate::sorting::sorter::{Collected, RECORDS_MIN, Sorter};
use rayon::prelude::*;
use topostream_formats::packed::PackedParameters;
use topostream_formats::{Encoding, Result, SourceInfo, VertexOrder};
use topostream_readers::VertexList;

/// Records between two reports of progress.
const RECORDS_PER_STEP: usize = 1 << 17;
/// The part of the memory of a sorted run that is for sorting it.
const BESIDE_RUN: u64 = 8;

/// The vertices in their new order.
pub struct Order {
    /// Natural, if a sample has shown that nothing would be gained.
    pub kind: VertexOrder,
    /// By old number, or by original id.
    pub vertices: Vec<u32>,
    pub by_id: bool,
    /// The encoding, if a sample has chosen it.
    pub encoding: Option<Encoding>,
}

/// How vertices are numbered and lists written.
pub(super) struct Chosen {
    kind: VertexOrder,
    encoding: Option<Encoding>,
}

impl Chosen {
    /// The order of vertices that has been chosen.
    pub(super) fn order(self, vertices: Vec<u32>, by_id: bool) -> Order {
        let Self { kind, encoding } = self;
        Order { kind, vertices, by_id, encoding }
    }
}

/// Returns an edge under other numbers.
#[inline]
pub(super) fn renamed<R: Record>(record: R, name: impl Fn(u32) -> u32) -> R {
    let (source, dest, weight) = record.parts();
    R::new(name(source), name(dest), weight)
}

/// Whether two edges have the same ends.
#[inline]
fn is_duplicate<R: Record>(a: R, b: R) -> bool {
    let (a, b) = (a.parts(), b.parts());
    (a.0, a.1) == (b.0, b.1)
}

impl<R: Record> Formatter<'_, R> {
    /// Sorts the edges under new vertex numbers.
    pub(super) fn reorder(&mut self) -> Result<Order> {
        let other_bytes = self.naming.memory_bytes() + self.tables_bytes();
        let (left, lists_bytes) = (self.budget.left(other_bytes), self.adjacency_bytes());
        if let Some(beside_bytes) = left.checked_sub(self.edges.memory_bytes())
            && lists_bytes <= beside_bytes
            && let Collected::Memory(records) = &mut self.edges
        {
            let records = std::mem::take(records);
            return self.reorder_in_memory(records, beside_bytes);
        }
        if lists_bytes > 0 {
            self.budget.check_adjacency(lists_bytes, other_bytes + READ_BYTES)?;
        } else if self.options.remove_duplicates {
            let sort_bytes = self.sort_beside(self.tables_bytes())?;
            return self.reorder_through_files(sort_bytes);
        }
        self.shrink_edges(READ_BYTES.min(left / 2))?;
        self.reorder_through_files(left.saturating_sub(self.edges.memory_bytes()))
    }

    /// Whether degrees count edges at both of their ends.
    pub(super) fn counts_both(&self) -> bool {
        match self.options.order {
            VertexOrder::Degree | VertexOrder::DegreeGroups => true,
            VertexOrder::Bfs => !self.mirrored,
            VertexOrder::Natural | VertexOrder::OutFirst | VertexOrder::Listed => false,
        }
    }

    /// The memory of the neighbours of all vertices, if the order needs them.
    fn adjacency_bytes(&self) -> u64 {
        match self.options.order {
            VertexOrder::Bfs => {
                breadth_first::memory_bytes(Slots::new(&self.naming).count(), self.edges.records(), self.counts_both())
            }
            _ => 0,
        }
    }

    /// Checks before edges are read that the neighbours of all vertices will fit in memory, if the order needs them and
    /// their number is known.
    pub(super) fn check_adjacency(&self, info: &SourceInfo) -> Result<()> {
        let (FormatOptions { order, remove_duplicates, remove_self_loops, .. }, Some(edges)) =
            (self.options, info.edges)
        else {
            return Ok(());
        };
        if *order != VertexOrder::Bfs || *remove_duplicates || *remove_self_loops {
            return Ok(());
        }
        // Undirected graphs have two records of an edge, or list it twice.
        let lists_bytes = breadth_first::memory_bytes(0, edges, info.directed && !self.options.symmetrize);
        self.budget.check_adjacency(lists_bytes, READ_BYTES)
    }

    /// The memory of all tables.
    fn tables_bytes(&self) -> u64 {
        memory_bytes(self.naming.vertices(), self.naming.first().is_none())
    }

    /// Numbers the vertices by their degrees. `each` passes the slots of all edges once whose source meets a condition;
    /// they are read if a sample decides, or if the order follows them.
    pub(super) fn number(
        &self,
        list: Option<VertexList>,
        slots: Slots<'_>,
        counts: Vec<u32>,
        each: impl FnOnce(&(dyn Fn(u32) -> bool + Sync), &mut dyn FnMut(u32, u32)) -> Result<()>,
    ) -> Result<(Chosen, Numbering)> {
        let kind = self.options.order;
        let as_asked = Chosen { kind, encoding: None };
        if let Some(mut list) = list {
            return Ok((as_asked, listed::number(&mut list, &self.naming, slots, counts, self.cancel)?));
        }
        let parameters = PackedParameters::of(self.options.layout.encoding);
        if kind == VertexOrder::Bfs {
            let mut adjacency = Adjacency::new(&counts, self.counts_both())?;
            let mut sample = parameters.map(|parameters| (parameters, Sample::new(&counts)));
            each(&|_| true, &mut |source, dest| {
                adjacency.add(source, dest);
                sample.iter_mut().for_each(|(_, sample)| sample.add(source, dest));
            })?;
            let numbering = adjacency.number(slots, counts, self.cancel)?;
            let encoding = sample
                .map(|(parameters, sample)| sample.renumbered(&numbering, parameters).encoding(&self.options.layout));
            return Ok((Chosen { kind, encoding }, numbering));
        }
        let (Some(OrderFrom::Sample), Some(parameters)) = (&self.options.order_from, parameters) else {
            return Ok((as_asked, Numbering::sorted(kind, slots, counts)));
        };
        let mut sample = Sample::new(&counts);
        each(&sample.filter(), &mut |source, dest| sample.add(source, dest))?;
        let numbering = Numbering::sorted(kind, slots, counts);
        let choice = sample.choose(&numbering, slots, parameters);
        let encoding = Some(choice.encoding(&self.options.layout));
        if choice.is_renumbered {
            return Ok((Chosen { kind, encoding }, numbering));
        }
        let (kind, Numbering { counts, .. }) = (VertexOrder::Natural, numbering);
        Ok((Chosen { kind, encoding }, Numbering::sorted(kind, slots, counts)))
    }

    /// Renumbers and sorts edges where they are, with `beside_bytes` for the sort.
    fn reorder_in_memory(&mut self, mut records: Vec<R>, beside_bytes: u64) -> Result<Order> {
        if self.options.remove_duplicates {
            let before = records.len();
            records.dedup_by(|later, first| is_duplicate(*later, *first));
            self.duplicates_removed = (before - records.len()) as u64;
        }
        let list = self.list.take();
        let (slots, both) = (Slots::new(&self.naming), self.counts_both());
        let by_id = matches!(slots, Slots::Ids(_));
        // The sort comes later.
        let mut degrees = Degrees::new(slots.count(), self.tables_bytes() + beside_bytes);
        // From here on ids are slots.
        self.each_part("count degrees", &mut records, &mut degrees.tables, |record, table| {
            if !slots.is_direct() {
                *record = renamed(*record, |id| slots.slot(id));
            }
            let (source, dest, _) = record.parts();
            Degrees::count(table, both, source, dest);
        })?;
        let (chosen, numbering) = self.number(list, slots, degrees.sum(), |is_taken, take| {
            records.chunks(RECORDS_PER_STEP * rayon::current_num_threads()).try_for_each(|records| {
                self.cancel.check()?;
                let some = |part: &[R]| -> Vec<(u32, u32)> {
                    let ends = part.iter().map(|record| record.parts());
                    ends.filter(|ends| is_taken(ends.0)).map(|(source, dest, _)| (source, dest)).collect()
                };
                let taken: Vec<_> = records.par_chunks(RECORDS_PER_STEP / 8).map(some).collect();
                taken.into_iter().flatten().for_each(|(source, dest)| take(source, dest));
                Ok(())
            })
        })?;
        let buckets = numbering.buckets(records.len());
        let Numbering { order, numbers, counts } = numbering;
        drop(counts);
        let rename = |record| renamed(record, |slot| numbers[slot as usize]);
        let sorted = self.sort_in_place("sort by new numbers", records, &buckets, beside_bytes, rename)?;
        self.edges = Collected::Pieces(sorted);
        Ok(chosen.order(order, by_id))
    }

    /// Processes all records in parallel, with one element of `own` for each thread.
    pub(super) fn each_part<T: Send>(
        &self,
        stage: &str,
        records: &mut [R],
        own: &mut [T],
        each: impl Fn(&mut R, &mut T) + Sync,
    ) -> Result<()> {
        self.progress.begin(stage, Some(records.len() as u64), Unit::Edges);
        let mut passed = 0;
        for step in records.chunks_mut(RECORDS_PER_STEP * own.len()) {
            self.cancel.check()?;
            passed += step.len() as u64;
            let parts = step.par_chunks_mut(step.len().div_ceil(own.len())).zip(&mut *own);
            parts.for_each(|(part, own)| part.iter_mut().for_each(|record| each(record, own)));
            self.progress.position(passed);
        }
        self.progress.end();
        Ok(())
    }

    /// Renumbers and sorts edges that are not in memory, in runs of `sort_bytes` with what their sort takes.
    fn reorder_through_files(&mut self, sort_bytes: u64) -> Result<Order> {
        let list = self.list.take();
        let (slots, kind, both) = (Slots::new(&self.naming), self.options.order, self.counts_both());
        let by_id = matches!(slots, Slots::Ids(_));
        let mut degrees = Degrees::new(slots.count(), self.tables_bytes());
        self.each_step("count degrees", |records| {
            let parts = records.par_chunks(records.len().div_ceil(degrees.tables.len()).max(1));
            parts.zip(&mut degrees.tables).for_each(|(part, table)| {
                for record in part {
                    let (source, dest, _) = record.parts();
                    Degrees::count(table, both, slots.slot(source), slots.slot(dest));
                }
            });
            Ok(())
        })?;
        let (chosen, numbering) = self.number(list, slots, degrees.sum(), |is_taken, take| {
            let stage = if kind == VertexOrder::Bfs { "collect neighbours" } else { "sample lists" };
            let sampled = self.each_step(stage, |records| {
                let ends = records.iter().map(|record| record.parts());
                let ends = ends.map(|(source, dest, _)| (slots.slot(source), slots.slot(dest)));
                ends.filter(|(source, _)| is_taken(*source)).for_each(|(source, dest)| take(source, dest));
                Ok(())
            });
            sampled.map(drop)
        })?;
        let beside_bytes = sort_bytes / BESIDE_RUN;
        let run_records = ((sort_bytes - beside_bytes) as usize / size_of::<R>()).max(RECORDS_MIN);
        let run_records = run_records.min(self.edges.records() as usize);
        let buckets = numbering.buckets(run_records);
        let Numbering { order, numbers, counts } = numbering;
        drop(counts);
        let rename = |record: R| renamed(record, |id| numbers[slots.slot(id) as usize]);
        let sort = |run| partition::sort(run, &buckets, beside_bytes, rename, |_| self.cancel.check());
        let mut sorter = Sorter::new(&self.folder, sort_bytes, self.cancel.clone());
        let mut run = Vec::with_capacity(run_records);
        let dropped = self.each_step("sort by new numbers", |mut records| {
            while !records.is_empty() {
                let (some, rest) = records.split_at(records.len().min(run_records - run.len()));
                run.extend_from_slice(some);
                records = rest;
                if run.len() == run_records {
                    let sorted = sort(std::mem::take(&mut run))?;
                    sorter.push_run(&sorted)?;
                    run = sorted.into_memory();
                }
            }
            Ok(())
        })?;
        let last = sort(run)?;
        self.edges = sorter.finish_runs(last)?;
        self.duplicates_removed = dropped;
        Ok(chosen.order(order, by_id))
    }

    /// Passes all records, some at a time, without duplicates if those are removed. Returns the number of duplicates.
    fn each_step(&self, stage: &str, mut take: impl FnMut(&[R]) -> Result<()>) -> Result<u64> {
        self.progress.begin(stage, Some(self.edges.records()), Unit::Edges);
        let (mut passed, mut dropped, mut last, mut kept) = (0, 0, None, Vec::new());
        let mut step = |records: &[R]| {
            self.cancel.check()?;
            passed += records.len() as u64;
            if self.options.remove_duplicates {
                let is_first = |record: &R| !last.replace(*record).is_some_and(|last| is_duplicate(last, *record));
                kept.clear();
                kept.extend(records.iter().copied().filter(is_first));
                dropped += (records.len() - kept.len()) as u64;
                take(&kept)?;
            } else {
                take(records)?;
            }
            self.progress.position(passed);
            Ok(())
        };
        let steps = |records: &[R]| records.chunks(RECORDS_PER_STEP).try_for_each(&mut step);
        match self.options.remove_duplicates {
            true => self.edges.for_each(steps)?,
            false => self.edges.for_each_unordered(steps)?,
        }
        self.progress.end();
        Ok(dropped)
    }
}
