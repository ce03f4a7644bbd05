//! The edge function: intersections of lists of neighbours.

use crate::model::algorithm::{Kernel, List};
use crate::model::attributes::{U32Column, U64Column};
use crate::pages::adjacency::comes_before;
use std::cmp::Ordering;
use std::ops::ControlFlow;

/// A list this many times as long as another is searched instead of read.
pub(super) const SEARCH_RATIO: usize = 16;

/// Intersects lists of neighbours.
pub struct ClusteringKernel<'a> {
    pub(super) starts: &'a [u32],
    pub(super) entries: &'a [u32],
    pub(super) links: &'a U64Column,
    pub(super) degree: Option<&'a U32Column>,
}

impl ClusteringKernel<'_> {
    #[inline(always)]
    fn neighbours(&self, vertex: u32) -> &[u32] {
        &self.entries[self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize]
    }

    #[inline(always)]
    fn found(&self, vertex: u32) {
        self.links.add(vertex, if self.degree.is_some() { 2 } else { 1 });
    }

    /// Adds to every vertex that is in both lists; returns their number.
    fn meet(&self, one: &[u32], other: &[u32]) -> u64 {
        let (short, mut long) = if one.len() < other.len() { (one, other) } else { (other, one) };
        if short.len() * SEARCH_RATIO < long.len() {
            let mut met = 0;
            for &vertex in short {
                long = &long[long.partition_point(|&theirs| theirs < vertex)..];
                if long.first() == Some(&vertex) {
                    self.found(vertex);
                    met += 1;
                }
            }
            return met;
        }
        let (mut at, mut theirs, mut met) = (0, 0, 0);
        while at < short.len() && theirs < long.len() {
            match short[at].cmp(&long[theirs]) {
                Ordering::Less => at += 1,
                Ordering::Greater => theirs += 1,
                Ordering::Equal => {
                    self.found(short[at]);
                    (at, theirs, met) = (at + 1, theirs + 1, met + 1);
                }
            }
        }
        met
    }
}

impl Kernel for ClusteringKernel<'_> {
    /// The vertex, and the triangles in which it comes first.
    type Record = (u32, u64);

    #[inline(always)]
    fn open(&self, list: List) -> Option<(u32, u64)> {
        (!self.neighbours(list.vertex).is_empty()).then_some((list.vertex, 0))
    }

    #[inline(always)]
    fn edge(&self, (vertex, met): &mut (u32, u64), neighbour: u32, _weight: u32) -> ControlFlow<()> {
        let (one, other) = (self.neighbours(*vertex), self.neighbours(neighbour));
        if other.is_empty() || neighbour == *vertex {
            return ControlFlow::Continue(());
        }
        let Some(degree) = self.degree else {
            self.meet(one, other);
            return ControlFlow::Continue(());
        };
        if comes_before((*vertex, degree.get(*vertex)), (neighbour, degree.get(neighbour))) {
            let both = self.meet(one, other);
            *met += both;
            if both > 0 {
                self.links.add(neighbour, 2 * both);
            }
        }
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn close(&self, (vertex, met): (u32, u64)) {
        if met > 0 {
            self.links.add(vertex, 2 * met);
        }
    }
}
