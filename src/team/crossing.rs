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

use super::schedule::{Exchange, Schedule};
use crate::cluster::Places;
use crate::device::exchange::{Move, Moves};
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

/// The pieces that cross in an exchange, in order.
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
    /// In the exchange before the vertex phase, or of messages.
    pub before: Crossing,
    /// In each of the two after it.
    pub after: [Crossing; 2],
}

/// A schedule as one rank sees it.
pub struct RankSchedule {
    /// The moves of its devices, with the places on this rank.
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
    fn exchange(&mut self, exchange: &Exchange, devices: &Range<usize>) -> Exchange {
        let mut of_devices = Vec::new();
        for (device, Moves { put, take }) in exchange.iter().enumerate() {
            if self.near[device] {
                let [put, take] = [put, take].map(|moves| moves.iter().map(|one| self.local(one)).collect());
                of_devices.extend(devices.contains(&device).then_some(Moves { put, take }));
            }
        }
        of_devices
    }

    /// The pieces of an exchange that are written and read on different machines. They have places: devices of this
    /// machine write or read them.
    fn crossing(&mut self, places: &Places, exchange: &Exchange) -> Crossing {
        let mut readers: HashMap<u64, Vec<usize>> = HashMap::new();
        for (device, moves) in exchange.iter().enumerate() {
            let rank = places.rank_of(device);
            for at in moves.take.iter().filter_map(Move::reads) {
                let ranks = readers.entry(at).or_default();
                if ranks.last() != Some(&rank) {
                    ranks.push(rank);
                }
            }
        }
        let mut crossing = Crossing::default();
        for (device, moves) in exchange.iter().enumerate() {
            let writer = places.rank_of(device);
            for (one, at) in moves.put.iter().filter_map(|one| Some((one, one.writes()?))) {
                let readers = readers.get(&at).into_iter().flatten().copied();
                for reader in places.first_elsewhere(writer, readers) {
                    if writer == places.rank() {
                        crossing.send.push(Piece { rank: reader, written: self.local(one) });
                    } else if reader == places.rank() {
                        crossing.receive.push(Piece { rank: writer, written: self.local(one) });
                    }
                }
            }
        }
        crossing
    }
}

impl Schedule {
    /// Returns the schedule as a rank sees it, in pieces of this size.
    pub fn of_rank(&self, places: &Places, piece_bytes: u64) -> RankSchedule {
        let own = places.local();
        let mut numbers = Numbers { places: HashMap::new(), piece_bytes, near: places.near() };
        let mut of = |exchange: &Exchange| (numbers.exchange(exchange, &own), numbers.crossing(places, exchange));
        let (before, crossing_before) = of(&self.before);
        let [(first, crossing_first), (second, crossing_second)] = self.after.each_ref().map(&mut of);
        let crossings = Crossings { before: crossing_before, after: [crossing_first, crossing_second] };
        let schedule = Self { before, after: [first, second], pieces: numbers.places.len() as u64 };
        RankSchedule { schedule, crossings }
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
            Attribute { name: "any", of, role, merge, initial, lane: None }
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
        for traversal in [false, true] {
            check_both_ends(|_| schedule(6, traversal));
        }
    }

    /// As `both_ends_agree`, where each rank knows only the lists of what its own devices send and receive.
    #[test]
    fn both_ends_agree_on_mirrors() {
        let devices: Vec<Range<u64>> = (0..6).map(own).collect();
        check_both_ends(|places| {
            let local = places.local();
            let list = |receiver: usize| -> Vec<u32> {
                let senders = (0..6).filter(|sender| *sender != receiver);
                let known = senders.filter(|sender| local.contains(sender) || local.contains(&receiver));
                let listed = known.flat_map(|sender| devices[sender].clone());
                listed.filter(|vertex| vertex % (receiver as u64 + 2) < 2).map(|vertex| vertex as u32).collect()
            };
            let lists: Vec<Vec<u32>> = (0..6).map(list).collect();
            schedule_of(6, false, Some(&VertexLists::of_lists(&lists, &devices)))
        });
    }

    fn check_both_ends(schedule: impl Fn(&Places) -> Schedule) {
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
                let of_pieces = |pieces: &[Piece]| -> Vec<Move> {
                    pieces.iter().map(|piece| piece.written.clone().placed(|_| 0)).collect()
                };
                assert_eq!(of_pieces(&sent), of_pieces(&expected), "from {from} to {to}");
                crossed += sent.len();
            }
        };
        compare(&|crossings| crossings.before.clone());
        compare(&|crossings| crossings.after[0].clone());
        compare(&|crossings| crossings.after[1].clone());
        assert!(crossed > 20, "{crossed} pieces");
    }

    /// A device's values go to a rank once, though several of its devices read them.
    #[test]
    fn values_cross_once_for_each_rank() {
        let all = schedule(6, false);
        let RankSchedule { crossings: found, schedule } = all.of_rank(&Places::new(1, &[2, 1, 3]), 8192);
        let moves = schedule.after;
        let puts = all.after[0][2].put.len();
        assert_eq!(found.after[0].send.len(), 2 * puts);
        let places: BTreeSet<u64> = found.after[0].receive.iter().filter_map(|piece| piece.written.writes()).collect();
        assert_eq!(places.len(), found.after[0].receive.len());
        let taken: BTreeSet<u64> = moves[0][0].take.iter().filter_map(Move::reads).collect();
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
            let put = here.iter().flat_map(|rank| &rank.schedule.after[turn]).flat_map(|moves| &moves.put).map(values);
            let put: HashMap<Values, u64> = put.collect();
            let received = here.iter().flat_map(|rank| &rank.crossings.after[turn].receive);
            let received: Vec<_> = received.map(|piece| values(&piece.written)).collect();
            let arrived: HashMap<Values, u64> = received.iter().cloned().collect();
            assert_eq!(arrived.len(), received.len(), "received once");
            let taken =
                here.iter().flat_map(|rank| &rank.schedule.after[turn]).flat_map(|moves| &moves.take).map(values);
            let (near, far): (Vec<_>, Vec<_>) = taken.partition(|(values, _)| put.contains_key(values));
            assert!(near.len() > 20 && near.iter().all(|(values, at)| put[values] == *at));
            assert!(far.len() == 3 * received.len() && far.iter().all(|(values, at)| arrived[values] == *at));
            let sent = &ranks[2].crossings.after[turn].send;
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
            assert!(alone.crossings.after[0].is_empty());
        }
    }
}
