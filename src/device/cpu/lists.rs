//! The edge loops: an algorithm's kernel over the lists of one page that a superstep visits.
//!
//! Called only by `pages` of the CPU device. Knows the layout of pages and the kernel; not threads, frames or stores.

use crate::model::algorithm::{Graph, Kernel, List};
use crate::model::bits::Bits;
use crate::model::prefetch::EDGES_AHEAD;
use std::ops::Range;
use topostream_formats::page::{Neighbours, Page};

/// The lists of a page to visit.
#[derive(Clone, Copy)]
pub(super) enum Selection<'a> {
    All,
    In(&'a Bits),
    NotIn(&'a Bits),
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
        let slots = match &self.segment {
            Some(edges) => self.page.first_slot_from(edges.start)..self.page.first_slot_from(edges.end),
            None => 0..header.slot_count,
        };
        let mut edges = 0;
        let start = header.start_vertex;
        let mut visit = |vertex: u32| {
            let record = self.page.record(vertex - start);
            let list = self.lengths.list(vertex, record.len());
            edges += self.run_list(kernel, neighbours, list, record);
        };
        if slots.is_empty() {
            return 0;
        }
        let vertices = start + slots.start..=start + (slots.end - 1);
        match self.selection {
            Selection::All => vertices.for_each(visit),
            Selection::In(bits) => bits.for_each_in(vertices, false, &mut visit),
            Selection::NotIn(bits) => bits.for_each_in(vertices, true, &mut visit),
        }
        edges
    }

    fn run_large<K: Kernel, N: Neighbours>(&self, kernel: &K, neighbours: N) -> u64 {
        let header = self.page.header();
        let visited = match self.selection {
            Selection::All => true,
            Selection::In(bits) => bits.contains(header.start_vertex),
            Selection::NotIn(bits) => !bits.contains(header.start_vertex),
        };
        if !visited {
            return 0;
        }
        let all = 0..header.edge_count;
        let edges = self.segment.clone().map_or(all.clone(), |edges| edges.start..edges.end.min(all.end));
        let list = self.lengths.list(header.start_vertex, all.len());
        self.run_list(kernel, neighbours, list, edges.start as usize..edges.end as usize)
    }

    #[inline(always)]
    fn run_list<K: Kernel, N: Neighbours>(&self, kernel: &K, neighbours: N, list: List, edges: Range<usize>) -> u64 {
        let Some(mut record) = kernel.open(list) else { return 0 };
        let count = edges.len() as u64;
        // The following record is read next only if all lists are visited.
        let known = match self.selection {
            Selection::All => self.page.header().edge_count as usize,
            _ => edges.end,
        };
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
