//! Local moving: vertices go to the community of a neighbour where they gain most, until few do.

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
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use topostream_formats::huge::{plain, zeroed};

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
    /// The mass that must move in a round for another one to follow.
    enough: u64,
    /// Whether any vertex has moved.
    any: bool,
    /// Whether the last round has been.
    ended: bool,
}

/// Moves the vertices of a level, by several resolutions, until few move; returns the communities of each, and whether
/// any vertex has moved. A list is read once a round for all.
///
/// # Errors
/// After cancellation; errors from reading pages.
pub fn run(mut all: Vec<Moving<'_>>, turns: &Turns) -> Result<Vec<(Vec<u32>, bool)>> {
    match turns {
        Turns::Single(order) => all.iter_mut().try_for_each(|moving| moving.run_in_turn(order))?,
        Turns::Batches(bounds) => {
            for round in 0..ROUNDS_MAX {
                let mut going: Vec<_> = all.iter_mut().filter(|moving| !moving.ended).collect();
                if going.is_empty() {
                    break;
                }
                batches(&mut going, bounds, round)?;
            }
        }
    }
    Ok(all.into_iter().map(|moving| (plain(moving.of), moving.any)).collect())
}

/// A round of several resolutions.
fn batches(all: &mut [&mut Moving<'_>], bounds: &[u32], round: u64) -> Result<()> {
    let (level, seed) = (all[0].level, all[0].seed);
    let goes = |vertex| round < FULL_ROUNDS || hash(vertex, seed ^ (round + 1)) & 1 == 0;
    let mut moved = vec![0; all.len()];
    level.begin_round(Some(round), bounds.len() - 1);
    for batch in bounds.windows(2) {
        let taken = all.iter().map(|moving| Turns::take(&moving.active, (batch[0], batch[1]), goes));
        let decisions = Decisions::of(taken.collect());
        decisions.visit(level.graph, |which, vertex, list, tally| all[which].decide(vertex, list, tally))?;
        for (which, moving) in all.iter().enumerate() {
            let apply = |shifts: &mut Shifts<'_>, vertex, next| moving.apply((vertex, next), shifts);
            moved[which] += decisions.apply(which, &moving.sums, apply);
        }
        level.end_batch()?;
    }
    all.iter_mut().zip(moved).for_each(|(moving, moved)| moving.end_round(moved));
    Ok(())
}

impl<'a> Moving<'a> {
    /// Begins with these communities.
    pub fn from(level: &'a Level<'a>, communities: Vec<u32>, seed: u64) -> Self {
        let (vertices, masses) = (level.graph.vertices(), &level.graph.masses);
        let moving = Self {
            level,
            of: communities.par_iter().map(|&community| AtomicU32::new(community)).collect(),
            sums: Sums { totals: Totals::none(masses), sizes: zeroed(vertices.into()) },
            active: Bits::new(vertices.into()),
            seed,
            enough: (masses.total(0) + masses.total(1)).div_ceil(MOVED_PART).max(1),
            any: false,
            ended: false,
        };
        communities.par_iter().zip(0..vertices).for_each(|(&community, vertex)| {
            moving.sums.totals.add(community, masses.get(vertex));
            moving.sums.sizes[community as usize].fetch_add(1, Relaxed);
            if level.graph.degree(vertex) > 0 {
                moving.active.insert(vertex);
            }
        });
        moving
    }

    /// Moves vertices one after another.
    fn run_in_turn(&mut self, order: &[u32]) -> Result<()> {
        for _ in 0..ROUNDS_MAX {
            self.level.check()?;
            let mut moved = 0;
            self.level.graph.visit_in_turn(order, |tally, vertex, list| {
                if self.active.contains(vertex) {
                    self.active.remove(vertex);
                    let next = self.decide(vertex, list, tally);
                    moved += self.apply((vertex, next), &mut Shifts::of(&self.sums));
                }
            })?;
            self.end_round(moved);
            if self.ended {
                break;
            }
        }
        Ok(())
    }

    /// Ends a round in which this much mass has moved.
    fn end_round(&mut self, moved: u64) {
        self.any |= moved > 0;
        self.ended = moved < self.enough;
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
