//! The edge loops: an algorithm's kernel over the lists of one page that a superstep visits.
//!
//! Called only by `pages` of the CPU device. Knows the layout of pages and the kernel; not threads, frames or stores.

use crate::model::algorithm::{Graph, Kernel, List};
use crate::model::bits::Bits;
use crate::model::prefetch::EDGES_AHEAD;
use std::ops::Range;
use topostream_formats::packed::UNIT;
use topostream_formats::page::{Neighbours, Page};

/// The lists of a page to visit.
#[derive(Clone, Copy)]
pub(super) enum Selection<'a> {
    All,
    In(&'a Bits),
    NotIn(&'a Bits),
}

impl Selection<'_> {
    fn visits(self, vertex: u32) -> bool {
        match self {
            Self::All => true,
            Self::In(bits) => bits.contains(vertex),
            Self::NotIn(bits) => !bits.contains(vertex),
        }
    }
}

/// The slots of a page, or those whose lists begin in a segment.
fn slots(page: &Page<'_>, segment: Option<&Range<u32>>) -> Range<u32> {
    match segment {
        Some(edges) => page.first_slot_from(edges.start)..page.first_slot_from(edges.end),
        None => 0..page.header().slot_count,
    }
}

/// The neighbours of a large page, or those in a segment.
fn part_of_large(page: &Page<'_>, segment: Option<&Range<u32>>) -> Range<usize> {
    let all = page.header().edge_count;
    segment.map_or(0..all as usize, |edges| edges.start as usize..edges.end.min(all) as usize)
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
    pub weights: &'a [u32],
    pub lengths: Lengths<'a>,
    pub selection: Selection<'a>,
    pub segment: Option<Range<u32>>,
}

impl PageLists<'_> {
    /// Runs a kernel; returns the number of neighbours of the opened lists on this page.
    pub fn run<K: Kernel, N: Neighbours>(&self, kernel: &K, neighbours: N) -> u64 {
        let header = self.page.header();
        if header.large == 1 {
            return self.run_large(kernel, neighbours);
        }
        let mut edges = 0;
        let slots = slots(&self.page, self.segment.as_ref());
        // The following record is read next only if all lists are visited.
        let known = match self.selection {
            Selection::All if !slots.is_empty() => Some(self.page.record(slots.end - 1).end),
            _ => None,
        };
        let start = header.start_vertex;
        each_visited(self.selection, start, slots, |vertex: u32| {
            let record = self.page.record(vertex - start);
            let list = self.lengths.list(vertex, record.len());
            edges += self.run_list(kernel, neighbours, list, record, known);
        });
        edges
    }

    fn run_large<K: Kernel, N: Neighbours>(&self, kernel: &K, neighbours: N) -> u64 {
        let header = self.page.header();
        if !self.selection.visits(header.start_vertex) {
            return 0;
        }
        let list = self.lengths.list(header.start_vertex, header.edge_count as usize);
        self.run_list(kernel, neighbours, list, part_of_large(&self.page, self.segment.as_ref()), None)
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
        if self.weights.is_empty() {
            for (edge, neighbour) in edges.clone().zip(neighbours.vertices(edges)) {
                if edge + EDGES_AHEAD < known {
                    kernel.prefetch(neighbours.vertex(edge + EDGES_AHEAD));
                }
                if kernel.edge(&mut record, neighbour, 0).is_break() {
                    break;
                }
            }
        } else {
            let weights = &self.weights[edges.clone()];
            for (neighbour, &weight) in neighbours.vertices(edges).zip(weights) {
                if kernel.edge(&mut record, neighbour, weight).is_break() {
                    break;
                }
            }
        }
        kernel.close(record);
        count
    }
}
