//! The edge loops: an algorithm's kernel over the lists of one page that a superstep visits.
//!
//! Called only by `pages` of the CPU device. Knows the layout of pages and the kernel; not threads, frames or stores.

use crate::model::algorithm::{Graph, Kernel, List};
use crate::model::bits::Bits;
use crate::model::prefetch::EDGES_AHEAD;
use std::ops::Range;
use topostream_formats::packed::UNIT;
use topostream_formats::page::{Neighbours, Page, PageWeights};

/// The lists of a page to visit.
#[derive(Clone, Copy)]
pub(super) enum Selection<'a> {
    All,
    In(&'a Bits),
    NotIn(&'a Bits),
}

impl Selection<'_> {
    #[inline]
    fn visits(self, vertex: u32) -> bool {
        match self {
            Self::All => true,
            Self::In(bits) => bits.contains(vertex),
            Self::NotIn(bits) => !bits.contains(vertex),
        }
    }
}

/// The slots of a page, or those in a segment.
fn slots(page: &Page<'_>, segment: Option<&Range<u32>>) -> Range<u32> {
    match segment {
        Some(places) => page.first_slot_after(places.start)..page.first_slot_after(places.end),
        None => 0..page.header().slot_count,
    }
}

/// The neighbours of a large page, or those in a segment.
fn part_of_large(page: &Page<'_>, segment: Option<&Range<u32>>) -> Range<usize> {
    let all = page.header().edge_count;
    segment.map_or(0..all as usize, |edges| edges.start as usize..edges.end.min(all) as usize)
}

/// The edges of a list that are in a segment; none if neither they nor the list's slot are. The slot and the lists
/// before it count as one edge each: see [`Page::first_slot_after`].
#[inline(always)]
fn part_of_list(edges: Range<usize>, slot: u32, segment: &Range<u32>) -> Option<Range<usize>> {
    let at = |place: u32| place.saturating_sub(slot) as usize;
    let part = edges.start.max(at(segment.start))..edges.end.min(at(segment.end));
    // A list without edges is in the segment of its slot.
    let has_slot = (at(segment.start)..at(segment.end)).contains(&edges.start);
    (part.start < part.end || edges.is_empty() && has_slot).then_some(part)
}

/// Calls `visit` for each selected vertex of some slots.
#[inline(always)]
fn each_visited(selection: Selection<'_>, start: u32, slots: Range<u32>, mut visit: impl FnMut(u32)) {
    if slots.is_empty() {
        return;
    }
    let vertices = start + slots.start..=start + (slots.end - 1);
    match selection {
        Selection::All => vertices.for_each(visit),
        Selection::In(bits) => bits.for_each_in(vertices, false, &mut visit),
        Selection::NotIn(bits) => bits.for_each_in(vertices, true, &mut visit),
    }
}

/// The units of a packed page that the visited lists are in, as ascending ranges, from the slots of its plain image.
pub(super) fn visited_units(
    page: &Page<'_>,
    selection: Selection<'_>,
    segment: Option<&Range<u32>>,
) -> Vec<Range<u32>> {
    let unit = UNIT as u32;
    let mut units: Vec<Range<u32>> = Vec::new();
    let mut add = |edges: Range<usize>| {
        let (first, end) = (edges.start as u32 / unit, (edges.end as u32).div_ceil(unit));
        match units.last_mut() {
            _ if edges.is_empty() => {}
            Some(last) if first <= last.end => last.end = last.end.max(end),
            _ => units.push(first..end),
        }
    };
    let start = page.header().start_vertex;
    if page.header().large == 1 {
        if selection.visits(start) {
            add(part_of_large(page, segment));
        }
        return units;
    }
    let slots = slots(page, segment);
    if let (Selection::All, false) = (selection, slots.is_empty()) {
        add(page.record(slots.start).start..page.record(slots.end - 1).end);
    } else {
        each_visited(selection, start, slots, |vertex| add(page.record(vertex - start)));
    }
    units
}

/// The units of ascending ranges that are in memory, as ranges.
pub(super) fn held_units(units: Vec<Range<u32>>, is_held: impl Fn(Range<u32>) -> bool) -> Vec<Range<u32>> {
    if units.iter().all(|range| is_held(range.clone())) {
        return units;
    }
    let mut held: Vec<Range<u32>> = Vec::new();
    for unit in units.into_iter().flatten().filter(|&unit| is_held(unit..unit + 1)) {
        match held.last_mut() {
            Some(last) if last.end == unit => last.end += 1,
            _ => held.push(unit..unit + 1),
        }
    }
    held
}

/// Whether the units of some edges have been decoded. If a vertex joined the selected set afterwards, its units may not
/// be: its list is then not visited, as if it had joined after its page.
#[inline]
fn is_decoded(units: &[Range<u32>], edges: &Range<usize>) -> bool {
    let (first, end) = (edges.start as u32 / UNIT as u32, (edges.end as u32).div_ceil(UNIT as u32));
    let at = units.partition_point(|decoded| decoded.end <= first);
    edges.is_empty() || units.get(at).is_some_and(|decoded| decoded.start <= first && end <= decoded.end)
}

/// The lengths of lists with records on a page.
#[derive(Clone, Copy)]
pub(super) enum Lengths<'a> {
    /// The lengths of the records: each list is on this page only.
    Here,
    /// The length of the large page's list.
    Run(u64),
    /// The out-degrees: the lists are grouped for shards, with parts on other pages. Only out-lists can be grouped.
    Elsewhere(&'a Graph),
}

impl Lengths<'_> {
    #[inline(always)]
    fn list(self, vertex: u32, record: usize) -> List {
        match self {
            Self::Here => List { vertex, degree: record as u64, whole: true },
            Self::Run(degree) => List { vertex, degree, whole: false },
            Self::Elsewhere(graph) => List { vertex, degree: graph.out_degree(vertex).into(), whole: false },
        }
    }
}

/// A page, or a segment of one, to be processed.
pub(super) struct PageLists<'a> {
    pub page: Page<'a>,
    pub weights: PageWeights<'a>,
    pub lengths: Lengths<'a>,
    pub selection: Selection<'a>,
    /// Of a large page, its edges; of others, edges and lists counted together.
    pub segment: Option<Range<u32>>,
    /// Of a packed page, the units that have been decoded; none of other pages, which need no decoding.
    pub decoded: Option<&'a [Range<u32>]>,
}

impl PageLists<'_> {
    /// Runs a kernel; returns the number of neighbours of the opened lists on this page.
    pub fn run<K: Kernel, N: Neighbours>(&self, kernel: &K, neighbours: N) -> u64 {
        let header = self.page.header();
        if header.large == 1 {
            return self.run_large(kernel, neighbours);
        }
        // Lists of which plain images are decoded for each segment are not cut: their units are decoded as a whole.
        let cut = self.segment.as_ref().filter(|_| K::DIVIDES && self.decoded.is_none());
        let mut edges = 0;
        let mut slots = slots(&self.page, self.segment.as_ref());
        if cut.is_some() {
            // The list before may reach into the segment.
            slots.start = slots.start.saturating_sub(1);
        }
        // The following record is read next only if all lists are visited.
        let known = match self.selection {
            Selection::All if !slots.is_empty() => Some(self.page.record(slots.end - 1).end),
            _ => None,
        };
        let start = header.start_vertex;
        each_visited(self.selection, start, slots, |vertex: u32| {
            let slot = vertex - start;
            let record = self.page.record(slot);
            if K::SKIPS_EMPTY && record.is_empty() {
                return;
            }
            if self.decoded.is_some_and(|units| !is_decoded(units, &record)) {
                return;
            }
            let mut list = self.lengths.list(vertex, record.len());
            let Some(part) = cut.map_or(Some(record.clone()), |places| part_of_list(record.clone(), slot, places))
            else {
                return;
            };
            list.whole &= part.len() == record.len();
            edges += self.run_list(kernel, neighbours, list, part, known);
        });
        edges
    }

    fn run_large<K: Kernel, N: Neighbours>(&self, kernel: &K, neighbours: N) -> u64 {
        let header = self.page.header();
        if !self.selection.visits(header.start_vertex) {
            return 0;
        }
        let part = part_of_large(&self.page, self.segment.as_ref());
        if self.decoded.is_some_and(|units| !is_decoded(units, &part)) {
            return 0;
        }
        let list = self.lengths.list(header.start_vertex, header.edge_count as usize);
        self.run_list(kernel, neighbours, list, part, None)
    }

    #[inline(always)]
    fn run_list<K: Kernel, N: Neighbours>(
        &self,
        kernel: &K,
        neighbours: N,
        list: List,
        edges: Range<usize>,
        known: Option<usize>,
    ) -> u64 {
        let Some(mut record) = kernel.open(list) else { return 0 };
        let count = edges.len() as u64;
        let known = known.unwrap_or(edges.end);
        let weights = self.weights.part(edges.clone());
        match weights {
            PageWeights::None => {
                let mut ahead = edges.start + EDGES_AHEAD;
                #[expect(
                    clippy::explicit_counter_loop,
                    reason = "zipped iterators are read by a function that compilers do not inline"
                )]
                for neighbour in neighbours.vertices(edges) {
                    if ahead < known {
                        kernel.prefetch(neighbours.vertex(ahead));
                    }
                    ahead += 1;
                    if kernel.edge(&mut record, neighbour, 0).is_break() {
                        break;
                    }
                }
            }
            PageWeights::Words(weights) => {
                let mut weights = weights.iter();
                for neighbour in neighbours.vertices(edges) {
                    let Some(&weight) = weights.next() else { break };
                    if kernel.edge(&mut record, neighbour, weight).is_break() {
                        break;
                    }
                }
            }
            PageWeights::Longs(weights) if K::IS_WIDE => {
                let mut weights = weights.iter();
                for neighbour in neighbours.vertices(edges) {
                    let Some(&weight) = weights.next() else { break };
                    if kernel.wide_edge(&mut record, neighbour, weight).is_break() {
                        break;
                    }
                }
            }
            PageWeights::Longs(_) => unreachable!("refused before the run"),
        }
        kernel.close(record);
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_that_are_not_held_are_left_out() {
        let held = |units, gone: &[u32]| held_units(units, |range| !gone.iter().any(|unit| range.contains(unit)));
        assert_eq!(held(vec![0..3, 5..6], &[]), [0..3, 5..6]);
        assert_eq!(held(vec![0..3, 5..6], &[1]), [0..1, 2..3, 5..6]);
        assert_eq!(held(vec![0..2, 5..6], &[0, 1, 5]), []);
    }

    #[test]
    fn the_edges_of_a_list_are_in_one_segment_each() {
        // Lists of 0, 5, 0, 0, 130 and 1 edges, and segments of any size.
        let ends = [0, 0, 5, 5, 5, 135, 136];
        for size in 1..150 {
            for (slot, list) in ends.windows(2).enumerate() {
                let segments = (0..150).step_by(size).map(|start| start as u32..(start + size) as u32);
                let parts = segments.filter_map(|segment| part_of_list(list[0]..list[1], slot as u32, &segment));
                let parts: Vec<_> = parts.collect();
                assert_eq!(parts.iter().cloned().flatten().collect::<Vec<_>>(), (list[0]..list[1]).collect::<Vec<_>>());
                assert!(parts.len() == 1 || list[0] < list[1], "an empty list is opened once");
            }
        }
    }

    #[test]
    fn lists_are_visited_where_all_of_their_units_are_decoded() {
        let decoded = [0..2, 5..6];
        let is = |edges: Range<usize>| is_decoded(&decoded, &edges);
        assert!(is(0..1) && is(1000..2048) && is(5 * UNIT..6 * UNIT) && is(5 * UNIT + 3..5 * UNIT + 4));
        assert!(!is(2000..2049) && !is(2048..2049) && !is(4 * UNIT..6 * UNIT) && !is(6 * UNIT..6 * UNIT + 1));
        assert!(is(3000..3000), "an empty list has no unit");
    }
}
