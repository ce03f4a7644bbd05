//! Local moving: vertices go to the community of a neighbour where they gain most, until few do.

use super::level::Level;
use super::lists::List;
use super::objective::{Totals, without};
use super::shifts::{MOVES, Shifts, Sums};
use super::tally::Tally;
use super::turns::{Turns, hash};
use crate::error::Result;
use crate::model::bits::Bits;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use topostream_formats::huge::zeroed;

/// Rounds end once the vertices that moved in one have less than one of so many parts of all mass.
pub const MOVED_PART: u64 = 100;
/// The most rounds.
pub const ROUNDS_MAX: u64 = 100;
/// From this round on, half of the vertices stay where they are, since neighbours that move at once may do so for ever.
pub const FULL_ROUNDS: u64 = 3;

/// The communities of a level while vertices move.
pub struct Moving<'a> {
    level: &'a Level<'a>,
    of: Vec<AtomicU32>,
    sums: Sums,
    /// The vertices that a neighbour's move may concern.
    active: Bits,
    seed: u64,
}

impl<'a> Moving<'a> {
    /// Begins with these communities.
    pub fn from(level: &'a Level<'a>, communities: &[u32], seed: u64) -> Self {
        let vertices = level.graph.vertices();
        let moving = Self {
            level,
            of: communities.par_iter().map(|&community| AtomicU32::new(community)).collect(),
            sums: Sums { totals: Totals::none(&level.graph.masses), sizes: zeroed(vertices.into()) },
            active: Bits::new(vertices.into()),
            seed,
        };
        communities.par_iter().zip(0..vertices).for_each(|(&community, vertex)| {
            moving.sums.totals.add(community, level.graph.masses.get(vertex));
            moving.sums.sizes[community as usize].fetch_add(1, Relaxed);
            if level.graph.degree(vertex) > 0 {
                moving.active.insert(vertex);
            }
        });
        moving
    }

    /// Moves vertices until few move; returns the communities, and whether any vertex has moved.
    ///
    /// # Errors
    /// After cancellation; those of reading pages.
    pub fn run(self, turns: &Turns) -> Result<(Vec<u32>, bool)> {
        let (masses, mut any) = (&self.level.graph.masses, false);
        let enough = (masses.total(0) + masses.total(1)).div_ceil(MOVED_PART).max(1);
        let next = zeroed::<AtomicU32>(turns.most().into());
        for round in 0..ROUNDS_MAX {
            let mut moved = 0;
            match turns {
                Turns::Single(order) => {
                    self.level.check()?;
                    self.level.graph.visit_in_turn(order, |tally, vertex, list| {
                        if self.active.contains(vertex) {
                            self.active.remove(vertex);
                            let next = self.decide(vertex, list, tally);
                            moved += self.apply((vertex, next), &mut Shifts::of(&self.sums));
                        }
                    });
                }
                Turns::Batches(bounds) => {
                    let goes = |vertex| round < FULL_ROUNDS || hash(vertex, self.seed ^ (round + 1)) & 1 == 0;
                    for batch in bounds.windows(2) {
                        self.level.check()?;
                        let turn = Turns::take(&self.active, (batch[0], batch[1]), goes);
                        let next = &next[..turn.len()];
                        self.level.graph.visit(&turn, |tally, at, vertex, list| {
                            next[at].store(self.decide(vertex, list, tally), Relaxed);
                        })?;
                        let apply = |(vertices, next): (&[u32], &[AtomicU32])| -> u64 {
                            let mut shifts = Shifts::of(&self.sums);
                            let each = vertices.iter().zip(next);
                            each.map(|(&vertex, next)| self.apply((vertex, next.load(Relaxed)), &mut shifts)).sum()
                        };
                        moved += turn.par_chunks(MOVES).zip(next.par_chunks(MOVES)).map(apply).sum::<u64>();
                    }
                }
            }
            any |= moved > 0;
            if moved < enough {
                break;
            }
        }
        Ok((self.of.into_iter().map(AtomicU32::into_inner).collect(), any))
    }

    /// Decides where a vertex with this list goes; activates the neighbours that are not there.
    fn decide(&self, vertex: u32, list: &List<'_>, tally: &mut Tally) -> u32 {
        let (graph, pull) = (self.level.graph, &self.level.pull);
        let own = self.of[vertex as usize].load(Relaxed);
        let mass = graph.masses.get(vertex);
        let community_of = |neighbour: u32| Some(self.of[neighbour as usize].load(Relaxed));
        list.sum_by(&self.of, (tally, graph.vertices()), community_of, |community| {
            self.sums.totals.prefetch(community);
        });
        let alone = self.sums.size(own) == 1;
        let stays = pull.of(tally.get(own), mass, without(self.sums.totals.get(own), mass));
        // Of equal scores, staying wins, then the smallest hash.
        let (mut best, mut choice) = (stays, None);
        tally.drain(|community, weight| {
            if community == own {
                return;
            }
            let score = pull.of(weight, mass, self.sums.totals.get(community));
            // Most lose by their score alone.
            if score < best || (score == best && choice.is_none()) {
                return;
            }
            let tie = (hash(community, self.seed), community);
            // Two vertices alone would change places.
            let swaps = alone && self.sums.size(community) == 1 && tie.0 > hash(own, self.seed);
            if !swaps && (score > best || choice.is_some_and(|least| tie < least)) {
                (best, choice) = (score, Some(tie));
            }
        });
        let (score, mut community) = (best, choice.map_or(own, |(_, community)| community));
        // Its own number is the name of a community of its own, where nobody else has taken it.
        if score < 0 && !alone && self.sums.size(vertex) == 0 {
            community = vertex;
        }
        if community != own {
            list.for_neighbours(|neighbour| {
                if self.of[neighbour as usize].load(Relaxed) != community {
                    self.active.insert(neighbour);
                }
            });
        }
        community
    }

    /// Moves a vertex to where it has decided to go; returns the mass that has moved.
    fn apply(&self, (vertex, next): (u32, u32), shifts: &mut Shifts<'_>) -> u64 {
        let own = self.of[vertex as usize].load(Relaxed);
        if own == next {
            return 0;
        }
        let mass = self.level.graph.masses.get(vertex);
        shifts.shift(own, next, mass);
        self.of[vertex as usize].store(next, Relaxed);
        mass[0] + mass[1]
    }
}
