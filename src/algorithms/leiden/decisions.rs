//! What the vertices of a batch decide, by several resolutions, and their moves after all have decided.

use super::graph::Graph;
use super::lists::List;
use super::shifts::{Shifts, Sums};
use super::tally::Tally;
use crate::error::Result;
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use topostream_formats::huge::zeroed;

/// Moves that are made together.
const MOVES: usize = 2048;

/// The decisions of a batch.
pub struct Decisions {
    /// The vertices that decide, in ascending order: by each resolution.
    turns: Vec<Vec<u32>>,
    /// Where each of them goes.
    next: Vec<Vec<AtomicU32>>,
}

impl Decisions {
    /// Of vertices in ascending order, by each resolution.
    pub fn of(turns: Vec<Vec<u32>>) -> Self {
        let next = turns.iter().map(|turn| zeroed(turn.len() as u64)).collect();
        Self { turns, next }
    }

    /// Reads the list of every vertex once: `decide` returns where it goes by a resolution.
    ///
    /// # Errors
    /// Errors from reading pages.
    pub fn visit(&self, graph: &Graph, decide: impl Fn(usize, u32, &List<'_>, &mut Tally) -> u32 + Sync) -> Result<()> {
        let vertices = self.vertices();
        graph.visit(&vertices, |tally, at, vertex, list| {
            for (which, next) in self.next.iter().enumerate() {
                if let Some(at) = self.place(which, at, vertex) {
                    next[at].store(decide(which, vertex, list, tally), Relaxed);
                }
            }
        })
    }

    /// The vertices that decide by any resolution.
    fn vertices(&self) -> Cow<'_, [u32]> {
        match &self.turns[..] {
            [turn] => turn.into(),
            turns => {
                let mut all = turns.concat();
                all.par_sort_unstable();
                all.dedup();
                all.into()
            }
        }
    }

    /// Where a vertex is among those that decide by a resolution, if it is; `at` is its place among all.
    #[inline(always)]
    fn place(&self, which: usize, at: usize, vertex: u32) -> Option<usize> {
        match &self.turns[..] {
            [_] => Some(at),
            turns => turns[which].binary_search(&vertex).ok(),
        }
    }

    /// Makes the moves by a resolution; returns the sum of what `apply` returns.
    pub fn apply(&self, which: usize, sums: &Sums, apply: impl Fn(&mut Shifts<'_>, u32, u32) -> u64 + Sync) -> u64 {
        let some = |(vertices, next): (&[u32], &[AtomicU32])| -> u64 {
            let mut shifts = Shifts::of(sums);
            vertices.iter().zip(next).map(|(&vertex, next)| apply(&mut shifts, vertex, next.load(Relaxed))).sum()
        };
        self.turns[which].par_chunks(MOVES).zip(self.next[which].par_chunks(MOVES)).map(some).sum()
    }
}
