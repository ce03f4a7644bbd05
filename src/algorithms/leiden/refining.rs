//! Refinement: within each community, vertices that are alone join a neighbour's group if both gain, so that every
//! group is connected. Groups become the vertices of the next level.
//!
//! A vertex joins only groups whose vertices stay: of each batch, the half that a hash picks decides, and does not join
//! others of that half.

use super::decisions::Decisions;
use super::level::Level;
use super::lists::List;
use super::objective::{Totals, without};
use super::shifts::{Shifts, Sums};
use super::tally::Tally;
use super::turns::{Turns, hash};
use crate::error::Result;
use crate::model::bits::Bits;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use topostream_formats::huge::plain;

/// Rounds over a batch; half of what is left decides in each.
pub const ROUNDS: u64 = 4;

/// The groups of a level while they grow.
pub struct Refining<'a> {
    level: &'a Level<'a>,
    communities: &'a [u32],
    /// The masses of communities.
    around: Totals,
    /// The group of each vertex, named after its first vertex.
    of: Vec<AtomicU32>,
    /// The masses and sizes of groups.
    sums: Sums,
    /// The vertices that have not decided.
    pending: Bits,
    /// The vertices that decide now.
    turn: Bits,
    seed: u64,
}

/// Refines the communities of a level, by several resolutions; returns the group of each vertex. A list is read once
/// for all.
///
/// # Errors
/// After cancellation; errors from reading pages.
pub fn run(all: Vec<Refining<'_>>, turns: &Turns) -> Result<Vec<Vec<u32>>> {
    match turns {
        Turns::Single(order) => all.iter().try_for_each(|refining| refining.run_in_turn(order))?,
        Turns::Batches(bounds) => {
            if let Some(Refining { level, .. }) = all.first() {
                level.begin_round(None, bounds.len() - 1);
            }
            bounds.windows(2).try_for_each(|batch| refine(&all, (batch[0], batch[1])))?;
        }
    }
    Ok(all.into_iter().map(|refining| plain(refining.of)).collect())
}

/// Refines a batch.
fn refine(all: &[Refining<'_>], batch: (u32, u32)) -> Result<()> {
    let Some(&Refining { level, seed, .. }) = all.first() else { return Ok(()) };
    for round in 0..ROUNDS {
        let take = |refining: &Refining<'_>| {
            let goes = |vertex| refining.is_alone(vertex) && hash(vertex, seed ^ (round + 1)) & 1 == 0;
            let turn = Turns::take(&refining.pending, batch, goes);
            turn.par_iter().for_each(|&vertex| _ = refining.turn.insert(vertex));
            turn
        };
        let decisions = Decisions::of(all.iter().map(take).collect());
        decisions.visit(level.graph, |which, vertex, list, tally| all[which].decide(vertex, list, tally))?;
        for (which, refining) in all.iter().enumerate() {
            decisions.apply(which, &refining.sums, |shifts, vertex, next| {
                refining.turn.remove(vertex);
                refining.apply((vertex, next), shifts)
            });
        }
    }
    level.end_batch()
}

impl<'a> Refining<'a> {
    /// Begins with every vertex alone.
    pub fn of(level: &'a Level<'a>, communities: &'a [u32], seed: u64) -> Self {
        let vertices = level.graph.vertices();
        let masses = &level.graph.masses;
        let refining = Self {
            level,
            communities,
            around: Totals::none(masses),
            of: (0..vertices).into_par_iter().map(AtomicU32::new).collect(),
            sums: Sums {
                totals: Totals::of(masses),
                sizes: (0..vertices).into_par_iter().map(|_| AtomicU32::new(1)).collect(),
            },
            pending: Bits::new(vertices.into()),
            turn: Bits::new(vertices.into()),
            seed,
        };
        communities.par_iter().zip(0..vertices).for_each(|(&community, vertex)| {
            refining.around.add(community, masses.get(vertex));
            if level.graph.degree(vertex) > 0 {
                refining.pending.insert(vertex);
            }
        });
        refining
    }

    /// Refines one vertex after another.
    fn run_in_turn(&self, order: &[u32]) -> Result<()> {
        self.level.check()?;
        self.level.graph.visit_in_turn(order, |tally, vertex, list| {
            if self.is_alone(vertex) {
                let next = self.decide(vertex, list, tally);
                self.apply((vertex, next), &mut Shifts::of(&self.sums));
            }
        })?;
        Ok(())
    }

    /// Whether a vertex is a group by itself.
    fn is_alone(&self, vertex: u32) -> bool {
        self.sums.size(vertex) == 1 && self.of[vertex as usize].load(Relaxed) == vertex
    }

    /// The group that a vertex with this list joins, or its own.
    fn decide(&self, vertex: u32, list: &List<'_>, tally: &mut Tally) -> u32 {
        let (graph, pull) = (self.level.graph, &self.level.pull);
        let community = self.communities[vertex as usize];
        let mass = graph.masses.get(vertex);
        let group_of = |neighbour: u32| {
            let within = self.communities[neighbour as usize] == community;
            within.then(|| self.of[neighbour as usize].load(Relaxed))
        };
        list.sum_by(self.communities, (tally, graph.vertices()), group_of, |group| self.sums.totals.prefetch(group));
        let inside = tally.sum();
        let is_well_connected = pull.of(inside, mass, without(self.around.get(community), mass)) >= 0;
        let mut best = (0, Reverse((u64::MAX, vertex)));
        tally.drain(|group, weight| {
            if !is_well_connected || self.turn.contains(group) {
                return;
            }
            let score = pull.of(weight, mass, self.sums.totals.get(group));
            if score >= best.0 {
                best = best.max((score, Reverse((hash(group, self.seed), group))));
            }
        });
        best.1.0.1
    }

    /// Moves a vertex to the group that it has decided to join; returns the mass that has moved.
    fn apply(&self, (vertex, next): (u32, u32), shifts: &mut Shifts<'_>) -> u64 {
        if next == vertex {
            return 0;
        }
        let mass = self.level.graph.masses.get(vertex);
        shifts.shift(vertex, next, mass);
        self.of[vertex as usize].store(next, Relaxed);
        mass[0] + mass[1]
    }
}
