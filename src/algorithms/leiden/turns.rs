//! Whose turn it is: the order in which vertices decide, which is the same on every machine.
//!
//! ```text
//!  large graphs   vertices 0 ──┬─ batch 0 ─┬─ batch 1 ─┬─ … ─┬─ batch 31 ─┐   all of a batch decide at once, by what
//!                  in order    └───────────┴───────────┴─────┴────────────┘   was before it; then all of them move
//!  small graphs   one vertex after another, in an order that depends on the seed
//! ```
//!
//! Batches have as many edges of the graph each, so they depend on the graph alone.

use super::graph::Graph;
use super::starts::first_with;
use crate::model::bits::Bits;
use rayon::prelude::*;

/// Batches of a round.
const BATCHES: u64 = 32;
/// Graphs of fewer edges are processed one vertex after another.
pub const EDGES_MIN: u64 = 50_000;
/// Vertices that a thread looks at together.
const BLOCK: u32 = 4096;

/// The turns of a level.
pub enum Turns {
    /// Where each batch begins, and the end of the last.
    Batches(Vec<u32>),
    /// Every vertex, once.
    Single(Vec<u32>),
}

impl Turns {
    /// Of a level.
    pub fn of(graph: &Graph, seed: u64) -> Self {
        let vertices = graph.vertices();
        // A vertex counts as one edge more than it has.
        let size = |vertex: u32| graph.reach(vertex) + 1;
        let all: u64 = (0..vertices).into_par_iter().map(size).sum();
        if all - u64::from(vertices) < EDGES_MIN {
            let mut order: Vec<u32> = (0..vertices).filter(|&vertex| graph.degree(vertex) > 0).collect();
            order.sort_by_key(|&vertex| (hash(vertex, seed), vertex));
            return Self::Single(order);
        }
        let sums: Vec<u64> = (0..=BATCHES).map(|batch| (batch * all).div_ceil(BATCHES)).collect();
        let bounds = first_with(vertices as usize, |vertex| size(vertex as u32), &sums);
        Self::Batches(bounds.into_iter().map(|bound| bound as u32).collect())
    }

    /// The vertices of a set in a batch that pass a test, in order; they are taken from the set.
    pub fn take(set: &Bits, (first, end): (u32, u32), passes: impl Fn(u32) -> bool + Sync) -> Vec<u32> {
        let blocks = (first / BLOCK..end.div_ceil(BLOCK)).into_par_iter();
        let of_block = |block: u32| {
            let (from, to) = ((block * BLOCK).max(first), (block * BLOCK).saturating_add(BLOCK).min(end));
            let mut some = Vec::new();
            if from < to {
                set.for_each_in(from..=to - 1, false, |vertex| some.extend(passes(vertex).then_some(vertex)));
            }
            some.iter().for_each(|&vertex| set.remove(vertex));
            some
        };
        blocks.map(of_block).collect::<Vec<_>>().concat()
    }
}

/// A number that has nothing to do with the vertex's (the finalizer of SplitMix64, Steele, Lea and Flood, OOPSLA 2014).
#[inline(always)]
pub fn hash(vertex: u32, seed: u64) -> u64 {
    let mut bits = seed.wrapping_add((u64::from(vertex) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// The seed of a part of a run.
pub fn seed_of(seed: u64, part: u64) -> u64 {
    hash(0, seed ^ part.wrapping_mul(0xd6e8_feb8_6659_fd93))
}
