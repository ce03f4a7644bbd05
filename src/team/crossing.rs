//! What crosses from machine to machine, derived from a schedule: the pieces that a device of one writes and a device
//! of another reads.
//!
//! ```text
//!   machine 0, rank 0               machine 1, ranks 1 and 2
//!   Put ─▶ │ piece │ ── crosses ──▶ │ piece │ ─▶ Merge, Take, Apply
//! ```
//!
//! Every rank makes the same schedule for all devices, and keeps the moves of its own. The ranks of a machine share an
//! exchange memory, with a place for the pieces that their devices write or read, and for no others: they number these
//! alike. A piece crosses once to a machine, to the first of its ranks that reads it. Between two ranks, pieces cross
//! in the order of the schedule, so that nothing has to say which piece it is.

use super::schedule::{Gather, MessageRegion, Round, Schedule};
use crate::cluster::Places;
use crate::device::exchange::Move;
use std::collections::HashMap;
use std::ops::Range;

/// A piece that crosses: the other rank, and the move that writes it, at its place on this rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The rank that it goes to, or comes from.
    pub rank: usize,
    /// The move that writes it.
    pub written: Move,
}

/// The pieces that cross after a round, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Crossing {
    /// The pieces that this rank sends to other machines.
    pub send: Vec<Piece>,
    /// The pieces that this rank receives for its machine.
    pub receive: Vec<Piece>,
}

impl Crossing {
    /// Whether nothing crosses.
    pub fn is_empty(&self) -> bool {
        self.send.is_empty() && self.receive.is_empty()
    }
}

/// What crosses in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Crossings {
    /// After each round of the reduction.
    pub reduce: Vec<Crossing>,
    /// In each of the two gathers.
    pub gather: [Crossing; 2],
}

/// A schedule as one rank sees it.
pub struct RankSchedule {
    /// The moves of its devices, with the places on this rank. The messages are those of all devices.
    pub schedule: Schedule,
    /// What crosses.
    pub crossings: Crossings,
}

/// The places of pieces on one machine.
#[derive(Default)]
struct Numbers {
    places: HashMap<u64, u64>,
    piece_bytes: u64,
    /// For each device, whether it is on this machine.
    near: Vec<bool>,
}

impl Numbers {
    /// The place of a piece on this machine.
    fn place(&mut self, at: u64) -> u64 {
        let next = self.places.len() as u64 * self.piece_bytes;
        *self.places.entry(at).or_insert(next)
    }

    fn local(&mut self, one: &Move) -> Move {
        one.clone().placed(|at| self.place(at))
    }

    /// The moves of some devices. All devices of the machine get their places, so that its ranks agree on them.
    fn round(&mut self, round: &Round, devices: &Range<usize>) -> Round {
        let mut of_devices = Vec::new();
        for (device, moves) in round.iter().enumerate().filter(|(device, _)| self.near[*device]).collect::<Vec<_>>() {
            let moves = moves.iter().map(|one| self.local(one)).collect();
            if devices.contains(&device) {
                of_devices.push(moves);
            }
        }
        of_devices
    }
}

/// The pieces that are written in one round, and read in another, on different machines.
fn crossing(numbers: &mut Numbers, places: &Places, writes: &Round, reads: &Round) -> Crossing {
    let mut readers: HashMap<u64, Vec<usize>> = HashMap::new();
    for (device, moves) in reads.iter().enumerate() {
        let rank = places.rank_of(device);
        for at in moves.iter().filter_map(Move::reads) {
            let ranks = readers.entry(at).or_default();
            if ranks.last() != Some(&rank) {
                ranks.push(rank);
            }
        }
    }
    let mut crossing = Crossing::default();
    for (device, moves) in writes.iter().enumerate() {
        let writer = places.rank_of(device);
        for (one, at) in moves.iter().filter_map(|one| Some((one, one.writes()?))) {
            let readers = readers.get(&at).into_iter().flatten().copied();
            for reader in places.first_elsewhere(writer, readers) {
                if writer == places.rank() {
                    crossing.send.push(Piece { rank: reader, written: numbers.local(one) });
                } else if reader == places.rank() {
                    crossing.receive.push(Piece { rank: writer, written: numbers.local(one) });
                }
            }
        }
    }
    crossing
}

impl Schedule {
    /// Returns the schedule as a rank sees it, in pieces of this size.
    pub fn of_rank(&self, places: &Places, piece_bytes: u64) -> RankSchedule {
        let own = places.local();
        let mut numbers = Numbers { places: HashMap::new(), piece_bytes, near: places.near() };
        let reduce = self.reduce.iter().map(|round| numbers.round(round, &own)).collect();
        let reduced = self.reduce.windows(2).map(|pair| crossing(&mut numbers, places, &pair[0], &pair[1])).collect();
        let mut crossings = Crossings { reduce: reduced, ..Crossings::default() };
        let mut gather: [Gather; 2] = Default::default();
        for (turn, of_all) in self.gather.iter().enumerate() {
            gather[turn] = Gather { put: numbers.round(&of_all.put, &own), take: numbers.round(&of_all.take, &own) };
            // What crosses has a place by now: devices of this machine write or read it.
            crossings.gather[turn] = crossing(&mut numbers, places, &of_all.put, &of_all.take);
        }
        let mut region =
            |region: &MessageRegion| MessageRegion { vertices: region.vertices.clone(), at: numbers.place(region.at) };
        let messages = self.messages.iter().map(|regions| regions.iter().map(&mut region).collect()).collect();
        let pieces = numbers.places.len() as u64;
        RankSchedule { schedule: Self { reduce, gather, messages, pieces }, crossings }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::exchange::Values;
    use crate::model::Part;
    use crate::model::attributes::{Attribute, AttributeType, Initial, Merge, Role};
    use crate::model::vertex_lists::VertexLists;
    use crate::team::schedule::ScheduleRequest;
    use std::collections::BTreeSet;

    fn schedule(devices: u64, traversal: bool) -> Schedule {
        schedule_of(devices, traversal, None)
    }

    fn own(device: u64) -> Range<u64> {
        9000 * device..9000 * (device + 1)
    }

    fn schedule_of(devices: u64, traversal: bool, mirrored: Option<&VertexLists>) -> Schedule {
        let attribute = |role, merge| {
            let (of, initial) = (AttributeType::U32, Initial::Bits(0));
            Attribute { name: "any", of, role, merge, initial }
        };
        let declared = match traversal {
            true => vec![attribute(Role::Writable, Merge::Min)],
            false => vec![attribute(Role::Accumulated, Merge::Add), attribute(Role::Gathered, Merge::Max)],
        };
        let part = |device: u64| Part { vertices: 9000 * devices, own: own(device), sharded: false };
        let parts: Vec<Part> = (0..devices).map(part).collect();
        let (aligned, listed) = (false, mirrored.map(|_| Role::Gathered));
        let piece_bytes = if traversal { 1 << 17 } else { 8192 };
        Schedule::new(&ScheduleRequest {
            declared: &declared,
            traversal,
            parts: &parts,
            aligned,
            listed,
            mirrored,
            piece_bytes,
        })
    }

    /// The devices of three ranks.
    const COUNTS: [usize; 3] = [2, 1, 3];

    /// What one rank sends to another is what the other expects from it, in the same order.
    #[test]
    fn both_ends_agree() {
        let all = schedule(6, false);
        check_both_ends(|_| schedule(6, false), all.reduce.len() - 1);
    }

    /// The same where each rank knows only the lists of what its own devices send and receive.
    #[test]
    fn both_ends_agree_on_mirrors() {
        let devices: Vec<Range<u64>> = (0..6).map(own).collect();
        check_both_ends(
            |places| {
                let local = places.local();
                let list = |receiver: usize| -> Vec<u32> {
                    let senders = (0..6).filter(|sender| *sender != receiver);
                    let known = senders.filter(|sender| local.contains(sender) || local.contains(&receiver));
                    let listed = known.flat_map(|sender| devices[sender].clone());
                    listed.filter(|vertex| vertex % (receiver as u64 + 2) < 2).map(|vertex| vertex as u32).collect()
                };
                let lists: Vec<Vec<u32>> = (0..6).map(list).collect();
                schedule_of(6, false, Some(&VertexLists::of_lists(&lists, &devices)))
            },
            0,
        );
    }

    fn check_both_ends(schedule: impl Fn(&Places) -> Schedule, reductions: usize) {
        let of_rank = |rank| {
            let places = Places::new(rank, &COUNTS);
            schedule(&places).of_rank(&places, 8192).crossings
        };
        let ranks: Vec<Crossings> = (0..3).map(of_rank).collect();
        let mut crossed = 0;
        let mut compare = |of: &dyn Fn(&Crossings) -> Crossing| {
            for (from, to) in (0..3).flat_map(|from| (0..3).map(move |to| (from, to))).filter(|(from, to)| from != to) {
                let sent: Vec<_> = of(&ranks[from]).send.into_iter().filter(|piece| piece.rank == to).collect();
                let expected: Vec<_> = of(&ranks[to]).receive.into_iter().filter(|piece| piece.rank == from).collect();
                let of_pieces = |pieces: &[Piece]| {
                    pieces.iter().map(|piece| piece.written.values().unwrap().clone()).collect::<Vec<_>>()
                };
                assert_eq!(of_pieces(&sent), of_pieces(&expected), "from {from} to {to}");
                crossed += sent.len();
            }
        };
        for round in 0..reductions {
            compare(&|crossings| crossings.reduce[round].clone());
        }
        compare(&|crossings| crossings.gather[0].clone());
        compare(&|crossings| crossings.gather[1].clone());
        assert!(crossed > 100, "{crossed} pieces");
    }

    /// A device's values go to a rank once, though several of its devices read them.
    #[test]
    fn values_cross_once_for_each_rank() {
        let all = schedule(6, false);
        let RankSchedule { crossings: found, schedule } = all.of_rank(&Places::new(1, &[2, 1, 3]), 8192);
        let moves = schedule.gather;
        let puts = all.gather[0].put[2].len();
        assert_eq!(found.gather[0].send.len(), 2 * puts);
        let places: BTreeSet<u64> = found.gather[0].receive.iter().filter_map(|piece| piece.written.writes()).collect();
        assert_eq!(places.len(), found.gather[0].receive.len());
        let taken: BTreeSet<u64> = moves[0].take[0].iter().filter_map(Move::reads).collect();
        assert_eq!(taken, places, "its only device takes all that has crossed");
    }

    /// The ranks of a machine agree on places: what one puts, another takes there; and what comes from other machines,
    /// one of them receives, once.
    #[test]
    fn ranks_of_a_machine_agree_on_places() {
        let values =
            |one: &Move| -> (Values, u64) { (one.values().unwrap().clone(), one.writes().or(one.reads()).unwrap()) };
        let machines = [4, 4, 9];
        let of_rank = |rank| {
            let places = Places::new(rank, &COUNTS).on_machines(&machines);
            schedule(6, false).of_rank(&places, 8192)
        };
        let ranks: Vec<RankSchedule> = (0..3).map(of_rank).collect();
        assert_eq!(ranks[0].schedule.pieces, ranks[1].schedule.pieces);
        for turn in 0..2 {
            let here = &ranks[..2];
            let put = here.iter().flat_map(|rank| rank.schedule.gather[turn].put.iter().flatten()).map(values);
            let put: HashMap<Values, u64> = put.collect();
            let received = here.iter().flat_map(|rank| &rank.crossings.gather[turn].receive);
            let received: Vec<_> = received.map(|piece| values(&piece.written)).collect();
            let arrived: HashMap<Values, u64> = received.iter().cloned().collect();
            assert_eq!(arrived.len(), received.len(), "received once");
            let taken = here.iter().flat_map(|rank| rank.schedule.gather[turn].take.iter().flatten()).map(values);
            let (near, far): (Vec<_>, Vec<_>) = taken.partition(|(values, _)| put.contains_key(values));
            assert!(near.len() > 20 && near.iter().all(|(values, at)| put[values] == *at));
            assert!(far.len() == 3 * received.len() && far.iter().all(|(values, at)| arrived[values] == *at));
            let sent = &ranks[2].crossings.gather[turn].send;
            assert_eq!(sent.len(), received.len(), "sent to one rank of the machine");
        }
    }

    /// A rank has places for what its devices touch, and no more.
    #[test]
    fn places_are_numbered_without_gaps() {
        for traversal in [false, true] {
            let all = schedule(4, traversal);
            let one = all.of_rank(&Places::new(2, &[1; 4]), 8192).schedule;
            assert!(if traversal { one.pieces == all.pieces } else { one.pieces < all.pieces }, "{}", one.pieces);
            let alone = all.of_rank(&Places::alone(4), 8192);
            assert!(alone.crossings.gather[0].is_empty());
        }
    }
}
