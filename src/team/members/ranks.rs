//! What a team does when it spans the ranks of a cluster: values and messages cross between machines after the members
//! have written them, and sums are those of all devices.
//!
//! ```text
//!  members write ─▶ pieces cross ─▶ members read                      (reduction, gather)
//!  members write ─▶ numbers of vertices, to all ─▶ messages cross ─▶ members read    (traversals)
//! ```
//!
//! Ranks of one machine read what the others have written where it is: they only wait for it. What crosses in a gather
//! is sent by a thread of its own while members still write, and announced as it arrives: members take it like what is
//! written here.

use super::Team;
use super::ended::Ended;
use super::gathers::{CrossingPiece, GatherCrossing};
use crate::cluster::Cluster;
use crate::cluster::transport::{Incoming, Outgoing};
use crate::device::StepEnd;
use crate::device::exchange::Move;
use crate::device::exchange::message::HEADER_WORDS;
use crate::error::{Error, Result};
use crate::model::algorithm::{State, Step};
use crate::model::bits::bit_words;
use crate::pages::PagePlan;
use crate::pages::fetch::PageRef;
use crate::team::crossing::{Crossing, Piece};
use crate::team::plan::STAGING_BYTES;
use crate::team::schedule::MessageRegion;
use bytemuck::Pod;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::Instant;
use topostream_formats::{Error as StoreError, PageId};

impl Team {
    /// Returns the records of all devices, given those of the members.
    pub(super) fn of_all_devices<T: Pod>(&self, own: Vec<T>) -> Result<Vec<T>> {
        let Some(cluster) = &self.cluster else { return Ok(own) };
        Ok(cluster.gather(&own)?.into_iter().flatten().collect())
    }

    /// The same at the end of a superstep, when ranks also learn what the others want.
    pub(super) fn ended(&self, own: Vec<Ended>) -> Result<Vec<Ended>> {
        let all = self.of_all_devices(own)?;
        if let Some(cluster) = &self.cluster {
            cluster.heed(all.iter().map(|one| one.wishes));
        }
        Ok(all)
    }

    /// Waits for all ranks, if some of them share memory.
    pub(super) fn meet_neighbours(&self) -> Result<()> {
        match self.cluster.as_ref().filter(|_| self.plan.places.has_neighbours()) {
            Some(cluster) => cluster.meet(),
            None => Ok(()),
        }
    }

    /// Moves what the members have put in a round of the reduction, and what they will merge in the next.
    pub(super) fn cross_reduction(&self, round: usize) -> Result<()> {
        let Some(cluster) = &self.cluster else { return Ok(()) };
        self.cross(cluster, &self.plan.crossings.reduce[round])?;
        self.meet_neighbours()
    }

    /// Begins a run when all ranks have set up their devices: each counts announcements from then on.
    pub(super) fn begin_together(&mut self) -> Result<()> {
        if self.cluster.is_some() {
            let own = self.members.iter().map(|member| u32::from(member.ends_by_itself())).collect();
            self.gathers.meets = self.of_all_devices(own)?.iter().any(|by_itself| *by_itself != 0);
        }
        Ok(())
    }

    /// Waits until all ranks come to the end of a superstep, if a device will wait there for others with patience that
    /// has an end: it is to wait for their work, not for their pages. Ranks that exchange messages have met before.
    pub(super) fn meet_if_patience_ends(&self) -> Result<()> {
        match self.cluster.as_ref().filter(|_| self.gathers.meets && !self.plan.traversal) {
            Some(cluster) => cluster.meet(),
            None => Ok(()),
        }
    }

    /// Moves what the members have put before the first superstep, between all ranks.
    pub(super) fn cross_first_gather(&mut self) -> Result<()> {
        if let Some(crossing) = self.next_crossing() {
            crossing.run()?;
        }
        self.meet_neighbours()
    }

    /// Ends a superstep on every device, while what crosses in its gather is sent and received. Returns what
    /// [`end_all`](Self::end_all) does, and the time, in nanoseconds, that this took longer than the devices.
    pub(super) fn end_while_crossing(&mut self, step: &Step) -> Result<(Vec<StepEnd>, u64)> {
        let Some(crossing) = self.next_crossing() else { return Ok((self.end_all(step)?, 0)) };
        let cross = move || crossing.run().inspect_err(|_| crossing.exchange.abandon());
        let thread = thread::Builder::new().name("crossing".into()).spawn(cross);
        let what = || "what crosses between ranks".to_owned();
        let thread = thread.map_err(|source| StoreError::Threads { what: what(), wanted: 1, source })?;
        // After an error the crossing may wait for ranks that wait for this one: nobody waits for it.
        let ends = self.end_all(step)?;
        let ended = Instant::now();
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))?;
        Ok((ends, ended.elapsed().as_nanos() as u64))
    }

    /// What crosses in the current gather, which is counted; none if nothing does.
    fn next_crossing(&mut self) -> Option<GatherCrossing> {
        let turn = usize::from(self.turn);
        self.gathers.count[turn] += 1;
        let crossing = &self.plan.crossings.gather[turn];
        let cluster = self.cluster.clone().filter(|_| !crossing.is_empty())?;
        let pieces = |pieces: &[Piece]| -> Vec<CrossingPiece> {
            let of_piece = |piece: &Piece| {
                let at = piece.written.writes().expect("pieces that cross are written");
                let announced = self.gathers.before.get(&at).map_or(0, |before| before + self.gathers.count[turn]);
                let words = self.words_of(&piece.written);
                CrossingPiece { rank: piece.rank, written: piece.written.clone(), at, words, announced }
            };
            pieces.iter().map(of_piece).collect()
        };
        let (send, receive) = (pieces(&crossing.send), pieces(&crossing.receive));
        Some(GatherCrossing { cluster, exchange: Arc::clone(&self.exchange), send, receive })
    }

    fn cross(&self, cluster: &Cluster, crossing: &Crossing) -> Result<()> {
        if crossing.is_empty() {
            return Ok(());
        }
        let words = |piece: &Piece| {
            let at = piece.written.writes().expect("pieces that cross are written");
            self.exchange.words(at, self.words_of(&piece.written))
        };
        let outgoing: Vec<_> =
            crossing.send.iter().map(|piece| Outgoing { to: piece.rank, words: words(piece) }).collect();
        let incoming: Vec<_> =
            crossing.receive.iter().map(|piece| Incoming { from: piece.rank, words: words(piece) }).collect();
        cluster.transfer(&outgoing, &incoming)
    }

    /// The number of words that a move writes.
    fn words_of(&self, one: &Move) -> u64 {
        let values = one.values().expect("messages have no known number of words");
        values.words(&self.plan.declared, &self.graph)
    }

    /// Moves the messages of a traversal: first the numbers of vertices in them, which have their lengths, then those
    /// that are not empty, once to each other machine.
    pub(super) fn cross_messages(&self) -> Result<()> {
        let Some(cluster) = &self.cluster else { return Ok(()) };
        let places = &self.plan.places;
        let count = |region: &MessageRegion| &self.exchange.words(region.at, HEADER_WORDS)[0];
        let own: Vec<u32> = self.regions(places.rank()).map(|region| count(region).load(Relaxed)).collect();
        let all = cluster.gather(&own)?;
        let (mut outgoing, mut incoming) = (Vec::new(), Vec::new());
        for (rank, counts) in all.into_iter().enumerate() {
            assert_eq!(counts.len(), self.regions(rank).count(), "messages of rank {rank}");
            for (region, found) in self.regions(rank).zip(counts) {
                let words = || self.exchange.words(region.at, self.message_words(region, found));
                let receivers = places.first_elsewhere(rank, 0..places.ranks());
                if rank == places.rank() && found > 0 {
                    outgoing.extend(receivers.into_iter().map(|to| Outgoing { to, words: words() }));
                } else if receivers.contains(&places.rank()) {
                    count(region).store(found, Relaxed);
                    if found > 0 {
                        incoming.push(Incoming { from: rank, words: words() });
                    }
                }
            }
        }
        cluster.transfer(&outgoing, &incoming)?;
        // Other ranks of this machine have received messages for all of them.
        if places.is_spread() { self.meet_neighbours() } else { Ok(()) }
    }

    /// The messages of a rank's devices.
    fn regions(&self, rank: usize) -> impl Iterator<Item = &MessageRegion> {
        self.plan.schedule.messages[self.plan.places.of(rank)].iter().flatten()
    }

    fn message_words(&self, region: &MessageRegion, count: u32) -> u64 {
        let layout = self.layout.as_ref().expect("only traversals send messages");
        layout.choose(&region.vertices, count.into()).1.words
    }

    /// Adds the pages that members of other ranks know a superstep to visit. Ranks that have parts of a graph do not
    /// know each other's pages: they visit all of theirs, and skip the lists of other vertices.
    pub(super) fn add_pages_of_others(&self, step: &Step, plan: &mut PagePlan) -> Result<()> {
        let Some(cluster) = &self.cluster else { return Ok(()) };
        let topology = self.store.topology(step.direction).expect("algorithms visit topologies that exist");
        if self.store.is_partial() {
            let direction = topology.direction();
            plan.pages = (0..topology.page_count()).map(|page| PageRef { direction, page: PageId(page) }).collect();
            return Ok(());
        }
        plan.pages = cluster.gather_pages(topology, &plan.pages)?;
        Ok(())
    }

    /// Completes the values of all vertices at the end of a run: every rank sends those of its own vertices to all
    /// others.
    pub(super) fn share_values(&self, state: &State) -> Result<()> {
        let Some(cluster) = &self.cluster else { return Ok(()) };
        let owned: Vec<Range<u64>> = (0..cluster.ranks()).map(|rank| self.plan.vertices_of(rank)).collect();
        let all: Vec<usize> = (0..self.plan.declared.len()).collect();
        let attributes = self.declaration.answered.unwrap_or(&all);
        let kinds = attributes.iter().map(|&place| Kind::Attribute(place));
        let kinds: Vec<Kind> = kinds.chain(state.activations().map(|_| Kind::Activations)).collect();
        self.share(cluster, state, &kinds, &owned)
    }

    /// Completes the values of all vertices before superstep `next`, of which each rank has loaded a range: all
    /// attributes, the frontier, and activations.
    pub(super) fn share_loaded(&self, state: &State, next: &Step, loaded: Range<u64>) -> Result<()> {
        let Some(cluster) = &self.cluster else { return Ok(()) };
        let ranges = cluster.gather(&[loaded.start, loaded.end])?;
        let ranges: Vec<Range<u64>> = ranges.into_iter().map(|ends| ends[0]..ends[1]).collect();
        if ranges.iter().all(|range| *range == (0..self.graph.vertices)) {
            return Ok(());
        }
        let (mut end, all) = (0, self.graph.vertices);
        let follow = ranges.iter().all(|range| range.start == std::mem::replace(&mut end, range.end));
        if !follow || end != all {
            let message = format!("not a valid checkpoint: ranks have values of {ranges:?}, expected all of 0..{all}");
            return Err(Error::Ranks(message));
        }
        let kinds = (0..self.plan.declared.len()).map(Kind::Attribute);
        let kinds = kinds.chain(self.plan.traversal.then_some(Kind::Frontier(next.superstep)));
        let kinds: Vec<Kind> = kinds.chain(state.activations().map(|_| Kind::Activations)).collect();
        self.share(cluster, state, &kinds, &ranges)
    }

    /// Sends the values of this rank's range to all others, and receives those of theirs.
    fn share(&self, cluster: &Cluster, state: &State, kinds: &[Kind], owned: &[Range<u64>]) -> Result<()> {
        let longest = owned.iter().map(|own| own.end - own.start).max().unwrap_or(0);
        // A value takes two words at most, and the words of bits may begin before the range.
        let vertices_max = (STAGING_BYTES / 4 / (cluster.ranks() as u64 + 1) / 2).max(2) - 1;
        let room = || -> Vec<AtomicU32> { (0..2 * vertices_max + 2).map(|_| AtomicU32::new(0)).collect() };
        let staging: Vec<Vec<AtomicU32>> = owned.iter().map(|_| room()).collect();
        for first in (0..longest).step_by(vertices_max as usize) {
            let piece =
                |own: &Range<u64>| (own.start + first).min(own.end)..(own.start + first + vertices_max).min(own.end);
            for kind in kinds {
                self.share_piece(cluster, state, *kind, &owned.iter().map(piece).collect::<Vec<_>>(), &staging)?;
            }
        }
        Ok(())
    }

    /// Sends a piece of this rank's values to all others, and receives theirs.
    fn share_piece(
        &self,
        cluster: &Cluster,
        state: &State,
        kind: Kind,
        pieces: &[Range<u64>],
        staging: &[Vec<AtomicU32>],
    ) -> Result<()> {
        let rank = cluster.rank();
        let words = |of: usize| match kind {
            _ if pieces[of].is_empty() => &staging[of][..0],
            Kind::Attribute(place) => &staging[of][..self.plan.declared[place].words(&pieces[of]) as usize],
            Kind::Activations => &staging[of][..(pieces[of].end - pieces[of].start) as usize],
            Kind::Frontier(_) => &staging[of][..bit_words(&pieces[of]).count()],
        };
        let own = words(rank);
        if !own.is_empty() {
            match (kind, state.activations()) {
                (Kind::Attribute(place), _) => state.attributes.put(place, &pieces[rank], own),
                (Kind::Activations, Some(noted)) => noted.put(&pieces[rank], own),
                (Kind::Activations, None) => {}
                (Kind::Frontier(superstep), _) => {
                    let bits = state.frontier(superstep).words_of(&pieces[rank]);
                    bits.zip(own).for_each(|(bits, word)| word.store(bits, Relaxed));
                }
            }
        }
        let others = || (0..cluster.ranks()).filter(|&other| other != rank);
        let outgoing: Vec<_> = others().filter(|_| !own.is_empty()).map(|to| Outgoing { to, words: own }).collect();
        let incoming: Vec<_> = others().map(|from| Incoming { from, words: words(from) }).collect();
        let incoming: Vec<_> = incoming.into_iter().filter(|one| !one.words.is_empty()).collect();
        cluster.transfer(&outgoing, &incoming)?;
        for Incoming { from, words } in incoming {
            match (kind, state.activations()) {
                (Kind::Attribute(place), _) => state.attributes.take(place, &pieces[from], words),
                (Kind::Activations, Some(noted)) => noted.take(&pieces[from], words),
                (Kind::Activations, None) => {}
                (Kind::Frontier(superstep), _) => {
                    let words: Vec<u32> = words.iter().map(|word| word.load(Relaxed)).collect();
                    state.frontier(superstep).add_words(&pieces[from], &words);
                }
            }
        }
        Ok(())
    }
}

/// Values of vertices that ranks share at the end of a run, or when it resumes.
#[derive(Clone, Copy)]
enum Kind {
    /// An attribute, by its place in the declaration.
    Attribute(usize),
    /// The supersteps in which vertices were first active.
    Activations,
    /// The frontier of a superstep.
    Frontier(u32),
}
