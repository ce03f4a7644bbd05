//! Symmetrized edges without weights, in memory, each once: both directions are made while their lists are sorted.
//!
//! ```text
//!  edges of the input ─▶ (smaller, larger, direction), sorted by buckets ─▶ pairs, as often as in one direction
//!  pairs ─▶ degrees ─▶ new numbers ─▶ pairs renumbered ─▶ ranges of sources ─▶ sorted by distribution ─▶ lists
//! ```
//!
//! A pair takes 8 bytes, so twice as many edges fit in memory as in both directions. What is left of the memory decides
//! how many ranges the sources are divided into; each of them takes a pass over the pairs.

use super::distribute::{Edges, Input};
use super::intake::{Intake, drain_from_end};
use super::memory::Known;
use super::naming::Naming;
use super::order::{self, Degrees, Slots};
use super::plan::{Plan, Shape};
use super::ranges::{step, steps};
use super::reorder::{Order, renamed};
use super::state::Formatter;
use super::{ingest, options::FormatOptions};
use crate::progress::Unit;
use crate::sorting::partition::Buckets;
use crate::sorting::record::Record;
use crate::sorting::sorter::{Collected, Sorter};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use topostream_formats::edge::PART_EDGES;
use topostream_formats::manifest::TopologyManifest;
use topostream_formats::{Direction, EdgeSource, Result, VertexOrder};

/// The larger id of a pair leaves a bit for the direction.
const IDS_MAX: u64 = 1 << 31;
/// Pairs of a thread's part while their order is examined, and the ascending runs that a part may have at most.
const RUN_PAIRS: usize = 1 << 16;
const RUNS_MAX: usize = 1 << 4;

/// The ranges of a large graph, if there is memory for fewer: a pass over the pairs costs less than memory that the
/// system has yet to clear.
const RANGES: u64 = 4;
/// Bytes of an edge while it is sorted, about, and memory for sorting in addition to them.
const RECORD_BYTES: u64 = 6;
const SORTING_BYTES: u64 = 64 << 20;

/// What the input has repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Repetition {
    /// Edges whose reverse is in the input too.
    pub both_ways: u64,
    /// Edges with the same ends as another one, in both directions.
    pub repeated: u64,
}

/// Whether the edges of a source that are to be symmetrized may be kept as they are.
pub fn is_possible<R: Record>(source: &dyn EdgeSource, options: &FormatOptions) -> bool {
    let has_lists = options.shards > 1 || options.part.is_some() || options.order == VertexOrder::Bfs;
    R::WEIGHT_BYTES == 0 && ingest::is_union(source, options) && !has_lists
}

/// An edge by its smaller end, with its direction in the lowest bit.
#[inline]
fn directed<R: Record>(edge: R) -> R {
    let (source, dest, weight) = edge.parts();
    R::new(source.min(dest), source.max(dest) << 1 | u32::from(source > dest), weight)
}

/// Leaves each pair as often as it is there in the direction that has it more often, or once if `unique`, in place of
/// sorted edges with their directions.
fn unite<R: Record>(edges: &mut Vec<R>, unique: bool) -> Repetition {
    let (mut found, mut at, mut kept) = (Repetition::default(), 0, 0);
    while let Some(&first) = edges.get(at) {
        let (low, high) = (first.parts().0, first.parts().1 >> 1);
        let mut counts = [0u64; 2];
        while let Some((source, dest, _)) = edges.get(at).map(|edge| edge.parts())
            && (source, dest >> 1) == (low, high)
        {
            counts[(dest & 1) as usize] += 1;
            at += 1;
        }
        let most = counts[0].max(counts[1]);
        found.both_ways += counts[0].min(counts[1]);
        found.repeated += (most - 1) * if low == high { 1 } else { 2 };
        for _ in 0..if unique { 1 } else { most } {
            edges[kept] = R::new(low, high, 0);
            kept += 1;
        }
    }
    edges.truncate(kept);
    found
}

/// Whether no pair occurs twice, as far as a few passes show: edges are in some ascending runs, which do not overlap.
fn are_distinct<R: Record>(edges: &[R]) -> bool {
    let key = |edge: R| {
        let (source, dest, _) = edge.parts();
        u64::from(source.min(dest)) << 32 | u64::from(source.max(dest))
    };
    let runs_of = |part: &[R]| -> Option<Vec<(u64, u64)>> {
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for key in part.iter().map(|&edge| key(edge)) {
            if let Some((_, last)) = runs.last_mut().filter(|(_, last)| *last < key) {
                *last = key;
            } else if runs.len() < RUNS_MAX {
                runs.push((key, key));
            } else {
                return None;
            }
        }
        Some(runs)
    };
    let runs: Option<Vec<_>> = edges.par_chunks(RUN_PAIRS).map(runs_of).collect();
    let Some(mut runs) = runs.map(|runs| runs.concat()) else { return false };
    runs.sort_unstable();
    runs.windows(2).all(|two| two[0].1 < two[1].0)
}

/// Both directions of pairs, by range of their sources.
struct BothWays<'a, R> {
    pairs: &'a [R],
    sources: Vec<Range<u64>>,
}

impl<R: Record> Input for BothWays<'_, R> {
    fn parts(&self, _range: usize) -> u64 {
        self.pairs.len().div_ceil(PART_EDGES) as u64
    }

    fn part(&self, range: usize, number: u64, edges: &mut Edges) -> Result<()> {
        let first = number as usize * PART_EDGES;
        let pairs = &self.pairs[first..self.pairs.len().min(first + PART_EDGES)];
        let Range { start, end } = self.sources[range];
        let has = |source: u32| u64::from(source.wrapping_sub(start as u32)) < end - start;
        let ends = &mut edges.ends;
        ends.resize(2 * PART_EDGES + 1, (0, 0));
        let mut count = 0;
        for (source, dest, _) in pairs.iter().map(|pair| pair.parts()) {
            // Written in any case, and kept if its source is in the range: a processor cannot foresee that.
            ends[count] = (source, dest);
            count += usize::from(has(source));
            ends[count] = (dest, source);
            count += usize::from(has(dest) && source != dest);
        }
        ends.truncate(count);
        Ok(())
    }
}

impl<R: Record> Formatter<'_, R> {
    /// The memory that the pairs and the map of ids leave.
    fn beside_pairs(&self, pairs: &[R]) -> u64 {
        self.budget.left(self.naming.memory_bytes()).saturating_sub(size_of_val(pairs) as u64)
    }

    /// Takes the union of the collected edges and their reverses, each pair of both directions once. If the memory does
    /// not suffice for numbering the vertices, both directions are collected instead.
    pub(super) fn unite_edges(&mut self) -> Result<(Option<Vec<R>>, Repetition)> {
        let Collected::Memory(edges) = std::mem::replace(&mut self.edges, Collected::Memory(Vec::new())) else {
            unreachable!("edges that are kept as they are have not left the memory");
        };
        if self.naming.vertices() > IDS_MAX {
            let sort_bytes = self.budget.sort_bytes().min(self.beside_pairs(&edges));
            let sorter = self.unnumbered_sorter(sort_bytes);
            let (edges, both_ways) = Intake::union_of(edges, sorter)?.finish()?;
            self.edges = edges;
            return Ok((None, Repetition { both_ways, repeated: 0 }));
        }
        let (pairs, found) = self.united(edges)?;
        let needed_bytes = match self.options.order {
            VertexOrder::Natural => 0,
            _ => order::memory_bytes(self.naming.vertices(), self.naming.first().is_none()),
        };
        if needed_bytes <= self.beside_pairs(&pairs) {
            return Ok((Some(pairs), found));
        }
        self.edges = self.both_ways(pairs, Self::unnumbered_sorter)?;
        Ok((None, found))
    }

    fn united(&mut self, mut edges: Vec<R>) -> Result<(Vec<R>, Repetition)> {
        if are_distinct(&edges) {
            return Ok((edges, Repetition::default()));
        }
        if self.naming.ids_end() > IDS_MAX {
            let naming = &self.naming;
            edges.par_iter_mut().for_each(|edge| *edge = renamed(*edge, |id| naming.vertex(id)));
            self.naming.translate();
        }
        let (beside_bytes, unique) = (self.beside_pairs(&edges), self.options.remove_duplicates);
        let (both_ways, repeated) = (AtomicU64::new(0), AtomicU64::new(0));
        let reduce = |edges: &mut Vec<R>| {
            let found = unite(edges, unique);
            both_ways.fetch_add(found.both_ways, Ordering::Relaxed);
            repeated.fetch_add(found.repeated, Ordering::Relaxed);
        };
        let buckets = Buckets::of_records(&edges, directed);
        let mut pairs = self
            .sort_and_reduce_in_place("unite directions", edges, (&buckets, beside_bytes), directed, reduce)?
            .into_records();
        pairs.shrink_to_fit();
        Ok((pairs, Repetition { both_ways: both_ways.into_inner(), repeated: repeated.into_inner() }))
    }

    /// Collects both directions of pairs, in place of the pairs.
    fn both_ways(&self, pairs: Vec<R>, sorter: impl FnOnce(&Self, u64) -> Sorter<R>) -> Result<Collected<R>> {
        // Two records are collected for each pair whose memory is given back.
        let mut sorter = sorter(self, self.budget.sort_bytes().min(2 * self.beside_pairs(&pairs)));
        drain_from_end(pairs, |pairs| {
            self.cancel.check()?;
            pairs.iter().try_for_each(|&pair| {
                let (source, dest, weight) = pair.parts();
                sorter.push(pair)?;
                if source == dest { Ok(()) } else { sorter.push(R::new(dest, source, weight)) }
            })
        })?;
        sorter.finish()
    }

    /// Numbers the vertices by their edges in both directions, and renumbers the pairs.
    pub(super) fn reorder_pairs(&mut self, pairs: &mut [R]) -> Result<Order> {
        let (list, beside_bytes) = (self.list.take(), self.beside_pairs(pairs));
        let (slots, both) = (Slots::new(&self.naming), self.counts_both());
        let by_id = matches!(slots, Slots::Ids(_));
        let mut degrees = Degrees::new(slots.count(), beside_bytes);
        // From here on ids are slots.
        self.each_part("count degrees", pairs, &mut degrees.tables, |pair, table| {
            if !slots.is_direct() {
                *pair = renamed(*pair, |id| slots.slot(id));
            }
            let (source, dest, _) = pair.parts();
            Degrees::count(table, source != dest, source, dest);
        })?;
        let mut counts = degrees.sum();
        if both {
            // Each direction counts at both of its ends.
            counts.par_iter_mut().for_each(|count| *count = count.saturating_mul(2));
        }
        let (chosen, numbering) = self.number(list, slots, counts, |is_taken, take| {
            self.each_taken(
                pairs,
                |pair, taken| {
                    let (source, dest, _) = pair.parts();
                    let reversed = (source != dest).then_some((dest, source));
                    let ends = [Some((source, dest)), reversed].into_iter().flatten();
                    taken.extend(ends.filter(|ends| is_taken(ends.0)));
                },
                take,
            )
        })?;
        let numbers = &numbering.numbers;
        let mut threads = vec![(); rayon::current_num_threads()];
        self.each_part("renumber edges", pairs, &mut threads, |pair, ()| {
            *pair = renamed(*pair, |slot| numbers[slot as usize]);
        })?;
        Ok(chosen.order(numbering.order, by_id))
    }

    /// Writes the lists of both directions of pairs. Also returns the number of edges.
    pub(super) fn write_pairs(&mut self, mut pairs: Vec<R>) -> Result<(TopologyManifest, u64)> {
        let vertices = self.naming.vertices();
        let mut counts = vec![vec![0u64; steps(vertices)]; rayon::current_num_threads()];
        let naming = &self.naming;
        self.each_part("count edges", &mut pairs, &mut counts, |pair, counts| {
            if !naming.is_translated() {
                *pair = renamed(*pair, |id| naming.vertex(id));
            }
            let (source, dest, _) = pair.parts();
            counts[step(source)] += 1;
            counts[step(dest)] += u64::from(source != dest);
        })?;
        let (mut counts, mut sums) = (counts.into_iter(), Vec::new());
        sums.extend(counts.next().unwrap_or_default());
        counts.for_each(|more| sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more));
        self.naming = Naming::vertices_below(vertices);
        let shape = Shape { vertices, weighted: false, steps: &sums, record_bytes: size_of::<R>() };
        let known = Known { vertices, records: sums.iter().sum(), ..Known::default() };
        let other_bytes = self.budget.writing_bytes(&known) + size_of_val(&pairs[..]) as u64;
        let (left_bytes, shared_bytes) = (self.budget.left(other_bytes), self.shared_bytes());
        let enough_bytes = known.records * RECORD_BYTES / RANGES + SORTING_BYTES + shared_bytes.unwrap_or(0);
        let plan = |bytes| Plan::new(shape, bytes, shared_bytes);
        let Some(plan) = plan(left_bytes.min(enough_bytes)).or_else(|| plan(left_bytes)) else {
            let sorter = |formatter: &Self, bytes| formatter.sorter(bytes).in_pieces();
            self.edges = self.both_ways(pairs, sorter)?;
            return self.write_lists(Direction::Out);
        };
        let sources = (0..plan.ranges.ranges.len()).map(|range| plan.ranges.sources(range)).collect();
        let input = BothWays { pairs: &pairs, sources };
        self.sort_and_write(&plan, &input, (vertices, None), Direction::Out)
    }

    /// Passes what `some` adds of pairs to `take`, in order.
    fn each_taken(
        &self,
        pairs: &[R],
        some: impl Fn(R, &mut Vec<(u32, u32)>) + Sync,
        take: &mut dyn FnMut(u32, u32),
    ) -> Result<()> {
        self.progress.begin("sample lists", Some(pairs.len() as u64), Unit::Edges);
        let mut passed = 0;
        for pairs in pairs.chunks((1 << 17) * rayon::current_num_threads()) {
            self.cancel.check()?;
            let part = |part: &[R]| {
                let mut taken = Vec::new();
                part.iter().for_each(|&pair| some(pair, &mut taken));
                taken
            };
            let taken: Vec<_> = pairs.par_chunks(1 << 14).map(part).collect();
            taken.into_iter().flatten().for_each(|(source, dest)| take(source, dest));
            passed += pairs.len() as u64;
            self.progress.position(passed);
        }
        self.progress.end();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sorting::record::Plain;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Compared with counts of both directions in a table.
        #[test]
        fn pairs_are_there_as_often_as_in_one_direction(
            edges in prop::collection::vec((0u32..6, 0u32..6), 0..60),
            unique: bool,
        ) {
            let mut counts = BTreeMap::new();
            edges.iter().for_each(|&edge| *counts.entry(edge).or_insert(0u64) += 1);
            let count = |edge: (u32, u32)| counts.get(&edge).copied().unwrap_or(0);
            let (mut expected, mut repetition) = (Vec::new(), Repetition::default());
            for (low, high) in (0..6).flat_map(|low| (low..6).map(move |high| (low, high))) {
                let (up, down) = (count((low, high)), if low == high { 0 } else { count((high, low)) });
                let most = up.max(down);
                repetition.both_ways += up.min(down);
                repetition.repeated += most.saturating_sub(1) * if low == high { 1 } else { 2 };
                expected.extend(vec![Plain::new(low, high, 0); if unique { most.min(1) } else { most } as usize]);
            }
            let edges: Vec<Plain> = edges.iter().map(|&(source, dest)| Plain::new(source, dest, 0)).collect();
            let mut united: Vec<Plain> = edges.iter().map(|&edge| directed(edge)).collect();
            united.sort_unstable();
            prop_assert_eq!(unite(&mut united, unique), repetition);
            prop_assert_eq!(&united, &expected);
            prop_assert!(!are_distinct(&edges) || repetition == Repetition::default());
        }

        #[test]
        fn every_range_gets_its_directions(
            pairs in prop::collection::vec((0u32..50, 0u32..50), 0..40),
            ends in prop::collection::btree_set(1u64..50, 0..4),
        ) {
            let records: Vec<Plain> = pairs.iter().map(|&(source, dest)| Plain::new(source, dest, 0)).collect();
            let ends: Vec<u64> = [0].into_iter().chain(ends).chain([50]).collect();
            let sources: Vec<Range<u64>> = ends.windows(2).map(|two| two[0]..two[1]).collect();
            let input = BothWays { pairs: &records, sources: sources.clone() };
            for (range, sources) in sources.into_iter().enumerate() {
                let (mut found, mut edges) = (Vec::new(), Edges::default());
                for part in 0..input.parts(range) {
                    input.part(range, part, &mut edges).unwrap();
                    found.append(&mut edges.ends);
                }
                let both = pairs.iter().flat_map(|&(a, b)| [Some((a, b)), (a != b).then_some((b, a))]).flatten();
                let expected: Vec<_> = both.filter(|ends| sources.contains(&ends.0.into())).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn runs_that_do_not_overlap_are_distinct() {
        let run = |first: u32| (first..first + 1000).map(|at| Plain::new(at, at + 1, 0));
        let of = |firsts: &[u32]| -> Vec<Plain> { firsts.iter().flat_map(|&first| run(first)).collect() };
        assert!(are_distinct(&of(&[0, 1000, 2000])) && are_distinct(&of(&[3000, 0, 1000])));
        assert!(!are_distinct(&of(&[0, 999])) && !are_distinct(&of(&[500, 0])) && !are_distinct(&of(&[0, 0])));
        assert!(are_distinct(&[Plain::new(2, 1, 0), Plain::new(1, 3, 0)]));
        assert!(!are_distinct(&[Plain::new(2, 1, 0), Plain::new(1, 2, 0)]));
    }
}
