//! What a team does when it spans the ranks of a cluster: values and messages cross between machines after the members
//! have written them, and sums are taken over all devices.
//!
//! ```text
//!  members write ─▶ pieces cross ─▶ members read                      (values)
//!  members write ─▶ numbers of vertices, to all ─▶ messages cross ─▶ members read    (traversals)
//! ```
//!
//! Ranks of one machine read what the others have written where it is. What crosses is sent when members announce it,
//! and announced as it arrives: members take it like what is written here. After a vertex phase, a thread of its own
//! does that.

use super::Team;
use super::crossing::{CrossingPiece, ValueCrossing, is_written};
use super::ended::Ended;
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
use bytemuck::Pod;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::Instant;
use topostream_formats::{Error as StoreError, PageId};

impl Team {
    /// Returns the records of all devices, given the members' records.
    pub(super) fn of_all_devices<T: Pod>(&self, own: Vec<T>) -> Result<Vec<T>> {
        let Some(cluster) = &self.cluster else { return Ok(own) };
        Ok(cluster.gather(&own)?.into_iter().flatten().collect())
    }

    /// As [`of_all_devices`](Self::of_all_devices), at the end of a superstep, when ranks also learn what the others
    /// want.
    pub(super) fn ended(&self, own: Vec<Ended>) -> Result<Vec<Ended>> {
        let all = self.of_all_devices(own)?;
        if let Some(cluster) = &self.cluster {
            cluster.heed(all.iter().map(|one| one.wishes));
        }
        Ok(all)
    }

    /// Begins a run when all ranks have set up their devices: each counts announcements from then on.
    pub(super) fn begin_together(&self) -> Result<()> {
        self.cluster.as_ref().map_or(Ok(()), |cluster| cluster.meet())
    }

    /// Moves the values that cross before a vertex phase.
    pub(super) fn cross_values(&mut self) -> Result<()> {
        let crossing = self.plan.crossings.before.clone();
        self.crossing_of(&crossing).map_or(Ok(()), |crossing| self.cross(crossing))
    }

    /// Moves what the members put before the first superstep.
    pub(super) fn cross_first(&mut self) -> Result<()> {
        self.crossing_after().map_or(Ok(()), |crossing| self.cross(crossing))
    }

    fn cross(&mut self, crossing: ValueCrossing) -> Result<()> {
        self.sent = crossing.run()?;
        Ok(())
    }

    /// Ends a superstep on every device, while what crosses after its vertex phase is sent and received. Returns what
    /// [`end_all`](Self::end_all) does, and the time, in nanoseconds, that this took longer than the devices.
    pub(super) fn end_while_crossing(&mut self, step: &Step) -> Result<(Vec<StepEnd>, u64)> {
        let Some(crossing) = self.crossing_after() else { return Ok((self.end_all(step)?, 0)) };
        let exchange = Arc::clone(&self.exchange);
        let cross = move || crossing.run().inspect_err(|_| exchange.abandon());
        let thread = thread::Builder::new().name("crossing".into()).spawn(cross);
        let what = || "what crosses between ranks".to_owned();
        let thread = thread.map_err(|source| StoreError::Threads { what: what(), wanted: 1, source })?;
        // After an error the crossing may wait for ranks that wait for this one: nobody waits for it.
        let ends = self.end_all(step)?;
        let ended = Instant::now();
        self.sent = thread.join().unwrap_or_else(|panic| resume_unwind(panic))?;
        Ok((ends, ended.elapsed().as_nanos() as u64))
    }

    /// What crosses in the current exchange after a vertex phase; none if nothing does.
    fn crossing_after(&mut self) -> Option<ValueCrossing> {
        let crossing = self.plan.crossings.after[usize::from(self.turn)].clone();
        self.crossing_of(&crossing)
    }

    fn crossing_of(&mut self, crossing: &Crossing) -> Option<ValueCrossing> {
        let cluster = self.cluster.clone().filter(|_| !crossing.is_empty())?;
        let pieces = |pieces: &[Piece]| -> Vec<CrossingPiece> {
            let of_piece = |Piece { rank, written }: &Piece| {
                let (at, values) = (written.writes().expect("it is written"), written.values().expect("not a message"));
                let words = values.words(&self.plan.declared, &self.graph);
                CrossingPiece { rank: *rank, written: written.clone(), at, words }
            };
            pieces.iter().map(of_piece).collect()
        };
        let (send, receive) = (pieces(&crossing.send), pieces(&crossing.receive));
        let (exchange, sent) = (Arc::clone(&self.exchange), std::mem::take(&mut self.sent));
        Some(ValueCrossing { cluster, exchange, send, receive, sent })
    }

    /// Moves the messages of a traversal: first the numbers of vertices in them, which have their lengths, then those
    /// that are not empty, once to each other machine.
    pub(super) fn cross_messages(&mut self) -> Result<()> {
        let Some(cluster) = self.cluster.clone().filter(|_| self.plan.places.is_spread()) else { return Ok(()) };
        let crossing = self.plan.crossings.before.clone();
        let own: Vec<u64> = self.before().iter().flat_map(|moves| &moves.put).filter_map(Move::writes).collect();
        for &at in &own {
            // If a device has failed, the run ends with its error.
            is_written(&self.exchange, &self.sent, at);
            self.sent.count(at);
        }
        let count = |at: u64| &self.exchange.words(at, HEADER_WORDS)[0];
        let all = cluster.gather(&own.iter().map(|&at| count(at).load(Relaxed)).collect::<Vec<_>>())?;
        let mut counts: Vec<_> = all.into_iter().map(Vec::into_iter).collect();
        let (mut outgoing, mut incoming) = (Vec::new(), Vec::new());
        let words = |one: &Move| match one {
            Move::Collect { vertices, at } => match count(*at).load(Relaxed) {
                0 => None,
                found => Some(self.exchange.words(*at, self.message_words(vertices, found))),
            },
            other => unreachable!("{other:?} is not a message"),
        };
        for Piece { rank, written } in &crossing.send {
            outgoing.extend(words(written).map(|words| Outgoing { to: *rank, words }));
        }
        for Piece { rank, written } in &crossing.receive {
            let found = counts[*rank].next().expect("a count of each message");
            count(written.writes().expect("it is written")).store(found, Relaxed);
            incoming.extend(words(written).map(|words| Incoming { from: *rank, words }));
        }
        cluster.transfer(&outgoing, &incoming)?;
        crossing.receive.iter().for_each(|piece| self.exchange.announce(&piece.written));
        Ok(())
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

    /// Completes the values of all vertices at the end of a run: every rank sends the values of its own vertices to all
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

    /// Sends the values of this rank's range to all others, and receives the values of their ranges.
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
