//! Renumbering vertices by degree.
//!
//! ```text
//!  edges, unsorted ─▶ count degrees ─▶ numbers: vertices sorted by degree ─▶ edges renumbered ─▶ sorted, once
//! ```
//!
//! Degrees count distinct edges if duplicates are removed; such edges are sorted twice. Edges in memory are renumbered
//! where they are; others are read from their file twice.

use super::record::Record;
use super::sorter::{Collected, Sorter, sort};
use super::{FormatOptions, Formatter};
use crate::progress::Unit;
use rayon::prelude::*;
use topostream_formats::{Result, VertexOrder};

/// Records that a thread processes at a time.
const RECORDS_PER_TASK: usize = 1 << 14;
/// Records between two reports of progress.
const RECORDS_PER_STEP: usize = 1 << 17;
/// The maximum number of tables of counts. They are added up before the numberings are made.
const TABLES_MAX: usize = 4;
/// Degrees below this are sorted by counting.
const COUNTED_DEGREES: usize = 1 << 16;
/// The memory of blocks of edges that are read from unsorted runs.
const READ_BYTES: u64 = 8 << 20;

/// Maximum main memory of renumbering, in bytes: tables of counts (4 per vertex each), then counts and both numberings
/// (4 each), and the original ids (8) beside an order if they are listed individually.
pub fn memory_bytes(vertices: u64, listed: bool) -> u64 {
    if listed { 24 * vertices } else { 16 * vertices }
}

/// Whether vertices are renumbered before edges are sorted for the first time.
pub fn is_before_sorting(options: &FormatOptions) -> bool {
    options.order != VertexOrder::Natural && !options.remove_duplicates
}

/// The degree of every vertex that an order sorts by.
struct Degrees {
    /// A table for each thread that counts: atomic additions take several times as long.
    tables: Vec<Vec<u32>>,
    order: VertexOrder,
}

impl Degrees {
    fn new(vertices: u64, order: VertexOrder) -> Self {
        let tables = rayon::current_num_threads().clamp(1, TABLES_MAX);
        Self { tables: vec![vec![0; vertices as usize]; tables], order }
    }

    /// Counts an edge in a table. Counts saturate at 2^32 - 1.
    #[inline]
    fn count(table: &mut [u32], order: VertexOrder, source: u32, dest: u32) {
        let mut add = |vertex: u32| {
            let count = &mut table[vertex as usize];
            *count = count.saturating_add(1);
        };
        add(source);
        if order == VertexOrder::Degree {
            add(dest);
        }
    }

    /// Adds up all tables.
    fn sum(mut tables: Vec<Vec<u32>>) -> Vec<u32> {
        let mut sum = tables.pop().unwrap_or_default();
        for table in tables {
            sum.par_iter_mut().zip(table).for_each(|(sum, count)| *sum = sum.saturating_add(count));
        }
        sum
    }

    /// Returns the order (`order[new] = old`) and its inverse (`numbers[old] = new`), by a counting sort. Vertices of
    /// larger degrees are few, and are sorted by comparison.
    fn finish(self) -> (Vec<u32>, Vec<u32>) {
        let (kind, counts) = (self.order, Self::sum(self.tables));
        let is_large = |count: u32| kind == VertexOrder::Degree && count as usize >= COUNTED_DEGREES;
        let class = |count: u32| match kind {
            VertexOrder::Degree => COUNTED_DEGREES - 1 - count as usize,
            VertexOrder::OutFirst => usize::from(count == 0),
            VertexOrder::Natural => 0,
        };
        let (mut large, mut next) = (Vec::new(), vec![0usize; COUNTED_DEGREES]);
        for (vertex, &count) in (0u32..).zip(&counts) {
            if is_large(count) {
                large.push((u32::MAX - count, vertex));
            } else {
                next[class(count)] += 1;
            }
        }
        large.sort_unstable();
        let mut order: Vec<u32> = large.iter().map(|&(_, vertex)| vertex).collect();
        let mut begin = large.len();
        next.iter_mut().for_each(|next| begin += std::mem::replace(next, begin));
        order.resize(counts.len(), 0);
        let mut numbers = vec![0; counts.len()];
        (0u32..).zip(&large).for_each(|(new, &(_, vertex))| numbers[vertex as usize] = new);
        for (vertex, &count) in counts.iter().enumerate().filter(|&(_, &count)| !is_large(count)) {
            let next = &mut next[class(count)];
            order[*next] = vertex as u32;
            numbers[vertex] = *next as u32;
            *next += 1;
        }
        (order, numbers)
    }
}

/// Returns an edge under other numbers.
#[inline]
fn renamed<R: Record>(record: R, name: impl Fn(u32) -> u32) -> R {
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
    /// Sorts the edges under new vertex numbers; `result[new] = old`.
    pub(super) fn reorder(&mut self) -> Result<Vec<u32>> {
        let tables_bytes = memory_bytes(self.naming.vertices(), self.naming.first().is_none());
        let left = self.budget.left(self.naming.memory_bytes() + tables_bytes);
        if self.edges.memory_bytes() <= left
            && let Collected::Memory(records) = &mut self.edges
        {
            let records = std::mem::take(records);
            return self.reorder_in_memory(records);
        }
        if self.options.remove_duplicates {
            let sort_bytes = self.sort_beside(tables_bytes)?;
            return self.reorder_through_files(sort_bytes);
        }
        self.shrink_edges(READ_BYTES.min(left / 2))?;
        self.reorder_through_files(left.saturating_sub(self.edges.memory_bytes()))
    }

    fn reorder_in_memory(&mut self, mut records: Vec<R>) -> Result<Vec<u32>> {
        if self.options.remove_duplicates {
            let before = records.len();
            records.dedup_by(|later, first| is_duplicate(*later, *first));
            self.duplicates_removed = (before - records.len()) as u64;
        }
        let mut degrees = Degrees::new(self.naming.vertices(), self.options.order);
        let (naming, kind) = (&self.naming, self.options.order);
        self.each_part("count degrees", &mut records, &mut degrees.tables, |record, table| {
            *record = renamed(*record, |id| naming.vertex(id));
            let (source, dest, _) = record.parts();
            Degrees::count(table, kind, source, dest);
        })?;
        let (order, numbers) = degrees.finish();
        let mut threads = vec![(); rayon::current_num_threads()];
        self.each_part("sort by new numbers", &mut records, &mut threads, |record, ()| {
            *record = renamed(*record, |vertex| numbers[vertex as usize]);
        })?;
        drop(numbers);
        self.cancel.check()?;
        sort(&mut records);
        self.edges = Collected::Memory(records);
        Ok(order)
    }

    /// Processes all records in parallel, with one element of `own` for each thread.
    fn each_part<T: Send>(
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

    fn reorder_through_files(&mut self, sort_bytes: u64) -> Result<Vec<u32>> {
        let mut degrees = Degrees::new(self.naming.vertices(), self.options.order);
        let (naming, kind) = (&self.naming, self.options.order);
        self.each_step("count degrees", |records| {
            let parts = records.par_chunks(records.len().div_ceil(degrees.tables.len()).max(1));
            parts.zip(&mut degrees.tables).for_each(|(part, table)| {
                for record in part {
                    let (source, dest, _) = record.parts();
                    Degrees::count(table, kind, naming.vertex(source), naming.vertex(dest));
                }
            });
            Ok(())
        })?;
        let (order, numbers) = degrees.finish();
        let mut sorter = Sorter::new(&self.folder, sort_bytes, self.cancel.clone());
        let mut renumbered = Vec::new();
        let dropped = self.each_step("sort by new numbers", |records| {
            let number = |&record: &R| renamed(record, |id| numbers[naming.vertex(id) as usize]);
            records.par_iter().with_min_len(RECORDS_PER_TASK).map(number).collect_into_vec(&mut renumbered);
            sorter.extend(&renumbered)
        })?;
        self.duplicates_removed = dropped;
        self.edges = sorter.finish()?;
        Ok(order)
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cmp::Reverse;

    proptest! {
        #[test]
        fn orders_are_those_of_a_stable_sort(
            counts in prop::collection::vec(prop_oneof![
                4 => 0u32..5,
                1 => COUNTED_DEGREES as u32 - 2..COUNTED_DEGREES as u32 + 2,
                1 => u32::MAX - 1..=u32::MAX,
            ], 0..60),
            tables in 1usize..4,
        ) {
            for kind in [VertexOrder::Natural, VertexOrder::Degree, VertexOrder::OutFirst] {
                let mut degrees = Degrees { tables: vec![vec![0; counts.len()]; tables], order: kind };
                // Any division of a count is the same sum, saturated or not.
                for (vertex, &count) in counts.iter().enumerate() {
                    degrees.tables[vertex % tables][vertex] = count / 2;
                    degrees.tables[(vertex + 1) % tables][vertex] += count.div_ceil(2);
                }
                let (order, numbers) = degrees.finish();
                let mut expected: Vec<u32> = (0..counts.len() as u32).collect();
                match kind {
                    VertexOrder::Natural => {}
                    VertexOrder::Degree => expected.sort_by_key(|&vertex| Reverse(counts[vertex as usize])),
                    VertexOrder::OutFirst => expected.sort_by_key(|&vertex| counts[vertex as usize] == 0),
                }
                prop_assert_eq!(&order, &expected);
                prop_assert!(order.iter().enumerate().all(|(new, &old)| numbers[old as usize] == new as u32));
            }
        }
    }

    #[test]
    fn counts_saturate() {
        let mut table = vec![u32::MAX - 1, 0];
        (0..3).for_each(|_| Degrees::count(&mut table, VertexOrder::Degree, 0, 1));
        assert_eq!(table, [u32::MAX, 3]);
        assert_eq!(Degrees::sum(vec![table.clone(), table]), [u32::MAX, 6]);
    }
}
