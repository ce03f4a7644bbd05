//! The edge function.

use super::meet::meet;
use crate::model::algorithm::{Kernel, List};
use crate::model::attributes::{U32Column, U64Column};
use crate::pages::adjacency::comes_before;
use std::cell::Cell;
use std::ops::ControlFlow;

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
}

/// What is found for a list: values of vertices change once a list, not once a triangle, since threads wait for each
/// other at the values of hubs.
pub struct Found {
    vertex: u32,
    /// The triangles in which the vertex comes first.
    met: u64,
    /// For each neighbour in the table, the lists that it has also been found in.
    counts: Vec<u32>,
}

thread_local! {
    /// The counts of the list before, to be used again.
    static COUNTS: Cell<Vec<u32>> = const { Cell::new(Vec::new()) };
}

impl Kernel for ClusteringKernel<'_> {
    type Record = Found;

    #[inline(always)]
    fn open(&self, list: List) -> Option<Found> {
        let neighbours = self.neighbours(list.vertex).len();
        (neighbours > 0).then(|| {
            let mut counts = COUNTS.take();
            counts.clear();
            counts.resize(neighbours, 0);
            Found { vertex: list.vertex, met: 0, counts }
        })
    }

    #[inline(always)]
    fn edge(&self, found: &mut Found, neighbour: u32, _weight: u32) -> ControlFlow<()> {
        let Found { vertex, met, counts } = found;
        let (one, other) = (self.neighbours(*vertex), self.neighbours(neighbour));
        if other.is_empty() || neighbour == *vertex {
            return ControlFlow::Continue(());
        }
        let Some(degree) = self.degree else {
            meet(one, other, counts);
            return ControlFlow::Continue(());
        };
        if comes_before((*vertex, degree.get(*vertex)), (neighbour, degree.get(neighbour))) {
            let both = meet(one, other, counts);
            *met += both;
            if both > 0 {
                self.links.add(neighbour, 2 * both);
            }
        }
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn close(&self, Found { vertex, met, counts }: Found) {
        let each = if self.degree.is_some() { 2 } else { 1 };
        for (&other, &count) in self.neighbours(vertex).iter().zip(&counts).filter(|(_, count)| **count > 0) {
            self.links.add(other, each * u64::from(count));
        }
        if met > 0 {
            self.links.add(vertex, 2 * met);
        }
        COUNTS.set(counts);
    }
}
