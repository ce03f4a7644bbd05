//! The schedule of an exchange: the moves of each device, in rounds. It is made before a run, from the algorithm's
//! declaration alone.
//!
//! After the pages of a superstep, for algorithms with a vertex phase:
//!
//! ```text
//!  reduce   every device puts its values of device j's vertices, j merges them   (any edge may write; Strategy-P)
//!           … vertex phase, each device its own vertices …
//!  gather   device j puts its vertices' values, the others take them             (any edge may read)
//! ```
//!
//! Each value crosses the bus of each device once. That is the minimum for a reduce-scatter and an all-gather, and less
//! than in a tree, whose inner nodes receive whole arrays. The reduction is pipelined: a round puts one group of pieces
//! while the group of the round before is merged. So the buses are busy in both directions, and the exchange memory
//! holds two groups. A gather has no round of its own: values are put with the vertex phase, and taken at the start of
//! the next superstep.
//!
//! In a traversal, devices send messages about the vertices that they have activated: written in one round and read in
//! the next.

use super::rules::ExchangeRules;
use crate::device::exchange::message::{BLOCK_VERTICES, MessageLayout};
use crate::device::exchange::{Move, Values, VertexList, is_listed};
use crate::model::Part;
use crate::model::attributes::{Attribute, AttributeType, Merge, Role};
use crate::model::vertex_lists::VertexLists;
use std::ops::Range;

/// The number of groups in which values are reduced.
pub(crate) const GROUPS: usize = 4;

/// The moves of each device in a round.
pub type Round = Vec<Vec<Move>>;

/// The rounds of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The rounds before the vertex phase. The last one writes nothing, so no device has to wait for it.
    pub reduce: Vec<Round>,
    /// The gathers after initialisation and after each vertex phase. The two alternate and use different pieces, so no
    /// device writes where another may still read.
    pub gather: [Gather; 2],
    /// The messages of a traversal, by device.
    pub messages: Vec<Vec<MessageRegion>>,
    /// The number of pieces of exchange memory.
    pub pieces: u64,
}

/// A gather: every device sends the values of its own vertices, then every device receives those of the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gather {
    /// The moves that send.
    pub put: Round,
    /// The moves that receive.
    pub take: Round,
}

/// A message's vertices and its place in the exchange memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageRegion {
    /// The vertices that it is about.
    pub vertices: Range<u64>,
    /// Its offset in the exchange memory, in bytes.
    pub at: u64,
}

/// The input of a schedule.
#[derive(Clone, Debug)]
pub struct ScheduleRequest<'a> {
    /// The algorithm's attributes.
    pub declared: &'a [Attribute],
    /// Whether the algorithm has frontiers.
    pub traversal: bool,
    /// The part of each device.
    pub parts: &'a [Part],
    /// Whether the lists that a device sees are those of its own vertices. Values that edges read or write at the
    /// list's own vertex then need no exchange.
    pub aligned: bool,
    /// The role of the attributes that are sent by list, for vertices with out-edges only
    /// ([`listed_role`](crate::device::exchange::listed_role)).
    pub listed: Option<Role>,
    /// The lists of these values, if each device is sent others.
    pub mirrored: Option<&'a VertexLists>,
    /// The size of a piece of exchange memory, in bytes.
    pub piece_bytes: u64,
}

impl Schedule {
    /// Makes a schedule.
    pub fn new(sharing: &ScheduleRequest<'_>) -> Self {
        if sharing.traversal {
            let (messages, pieces) = sharing.messages();
            return Self { reduce: Vec::new(), gather: Default::default(), messages, pieces };
        }
        let (reduce, reduce_pieces) = sharing.reduce();
        let (first, gather_pieces) = sharing.gather(reduce_pieces);
        let (second, gather_pieces) = sharing.gather(gather_pieces);
        let (gather, pieces) = ([first, second], gather_pieces);
        Self { reduce, gather, messages: Vec::new(), pieces }
    }
}

impl ScheduleRequest<'_> {
    fn devices(&self) -> usize {
        self.parts.len()
    }

    fn sharded(&self) -> bool {
        self.parts.iter().any(|part| part.sharded)
    }

    /// Returns the rules that determine which attributes are exchanged.
    fn rules(&self) -> ExchangeRules {
        ExchangeRules { sharded: self.sharded(), aligned: self.aligned }
    }

    /// Divides the values of a device's own vertices into spans of at most one piece, for the wanted attributes.
    fn spans(&self, own: &Range<u64>, wanted: impl Fn(&Attribute) -> bool) -> Vec<Values> {
        let mut spans = Vec::new();
        for (attribute, declared) in self.declared.iter().enumerate().filter(|(_, declared)| wanted(declared)) {
            // For bits, one word of 32 bits less: a range may begin and end within a word.
            let spare = u64::from(declared.of == AttributeType::Bit);
            let vertices = declared.of.vertices_in(self.piece_bytes / 4 - spare);
            let mut first = own.start;
            while first < own.end {
                let end = (first + vertices).min(own.end);
                let is_linked = is_listed(declared, self.listed) && self.mirrored.is_none();
                let list = if is_linked { VertexList::Linked } else { VertexList::All };
                spans.push(Values { attribute, list, vertices: first..end });
                first = end;
            }
        }
        spans
    }

    /// Makes the rounds of the reduction. Returns them with the number of pieces that they need. The piece of a move is
    /// given by the parity of the round, the sender, the receiver and the place in the group.
    fn reduce(&self) -> (Vec<Round>, u64) {
        let (devices, rules) = (self.devices(), self.rules());
        let spans: Vec<Vec<Values>> =
            self.parts.iter().map(|part| self.spans(&part.own, |attribute| rules.is_reduced(attribute))).collect();
        let group = spans.iter().map(Vec::len).max().unwrap_or(0).div_ceil(GROUPS).max(1);
        let window = |round: usize, from: usize, to: usize, place: usize| {
            ((((round % 2) * devices + from) * devices + to) * group + place) as u64 * self.piece_bytes
        };
        let rounds = spans.iter().map(|spans| spans.len().div_ceil(group)).max().unwrap_or(0);
        if devices < 2 || rounds == 0 {
            return (Vec::new(), 0);
        }
        let part_of = |round: usize, to: usize| -> &[Values] {
            let spans = &spans[to];
            &spans[(round * group).min(spans.len())..((round + 1) * group).min(spans.len())]
        };
        let moves = |round: usize, device: usize| {
            let mut moves = Vec::new();
            for to in (0..devices).filter(|&to| to != device && round < rounds) {
                for (place, values) in part_of(round, to).iter().cloned().enumerate() {
                    let is_sum = self.declared[values.attribute].merge == Merge::Add;
                    moves.push(Move::Put { values: values.clone(), at: window(round, device, to, place) });
                    moves.extend(is_sum.then_some(Move::Clear(values)));
                }
            }
            for from in (0..devices).filter(|&from| from != device && round > 0) {
                for (place, values) in part_of(round - 1, device).iter().cloned().enumerate() {
                    moves.push(Move::Merge { values, at: window(round - 1, from, device, place) });
                }
            }
            moves
        };
        let rounds = (0..=rounds).map(|round| (0..devices).map(|device| moves(round, device)).collect()).collect();
        (rounds, (2 * devices * devices * group) as u64)
    }

    /// Makes a gather, in which every span has a piece of its own, from piece `next` on. Returns it with the number of
    /// the next free piece.
    fn gather(&self, mut next: u64) -> (Gather, u64) {
        let (devices, rules) = (self.devices(), self.rules());
        if devices < 2 {
            return (Gather::default(), next);
        }
        let mut gather = Gather { put: vec![Vec::new(); devices], take: vec![Vec::new(); devices] };
        for (owner, part) in self.parts.iter().enumerate() {
            let is_mirrored = |attribute: &Attribute| self.mirrored.is_some() && is_listed(attribute, self.listed);
            let wanted = |attribute: &Attribute| rules.is_gathered(attribute) && !is_mirrored(attribute);
            for values in self.spans(&part.own, wanted) {
                let at = next * self.piece_bytes;
                next += 1;
                for (_, moves) in gather.take.iter_mut().enumerate().filter(|(device, _)| *device != owner) {
                    moves.push(Move::Take { values: values.clone(), at });
                }
                gather.put[owner].push(Move::Put { values, at });
            }
        }
        if let Some(lists) = self.mirrored {
            self.gather_mirrored(lists, &mut gather, &mut next);
        }
        if gather.put.iter().all(Vec::is_empty) && gather.take.iter().all(Vec::is_empty) {
            gather = Gather::default();
        }
        (gather, next)
    }

    /// Adds what each device sends to each other one, from piece `next` on. Receivers take turns, each device beginning
    /// with the one behind it.
    fn gather_mirrored(&self, lists: &VertexLists, gather: &mut Gather, next: &mut u64) {
        let devices = self.devices();
        let attributes = self.declared.iter().enumerate().filter(|(_, declared)| is_listed(declared, self.listed));
        for (attribute, _) in attributes {
            for (owner, part) in self.parts.iter().enumerate() {
                let receivers = (1..devices).map(|behind| (owner + behind) % devices);
                let list = |to: usize| VertexList::Mirrored(to as u32);
                let pieces: Vec<_> = receivers.map(|to| (to, self.pieces_of(lists, list(to), &part.own))).collect();
                let most = pieces.iter().map(|(_, pieces)| pieces.len()).max().unwrap_or(0);
                for number in 0..most {
                    for (to, vertices) in pieces.iter().filter_map(|(to, pieces)| Some((*to, pieces.get(number)?))) {
                        let values = Values { attribute, list: list(to), vertices: vertices.clone() };
                        let at = *next * self.piece_bytes;
                        *next += 1;
                        gather.put[owner].push(Move::Put { values: values.clone(), at });
                        gather.take[to].push(Move::Take { values, at });
                    }
                }
            }
        }
    }

    /// Divides a device's own vertices so that the values of a list among them fill a piece each.
    fn pieces_of(&self, lists: &VertexLists, list: VertexList, own: &Range<u64>) -> Vec<Range<u64>> {
        let listed = &lists.vertices()[lists.among(list, own)];
        let values = (self.piece_bytes / 4) as usize;
        let first = |piece: usize| listed.get(piece * values).map_or(own.end, |&vertex| vertex.into());
        let begin = |piece: usize| if piece == 0 { own.start } else { first(piece) };
        (0..listed.len().div_ceil(values)).map(|piece| begin(piece)..first(piece + 1)).collect()
    }

    /// Returns the messages of each device, and the number of pieces that they need.
    fn messages(&self) -> (Vec<Vec<MessageRegion>>, u64) {
        let layout = MessageLayout::new(self.declared, self.sharded());
        let step = layout.blocks_max(self.piece_bytes) * BLOCK_VERTICES;
        let mut next = 0;
        let mut of_part = |part: &Part| {
            let about = part.writable();
            let mut pieces = Vec::new();
            let mut first = about.start / BLOCK_VERTICES * BLOCK_VERTICES;
            while first < about.end {
                let end = (first + step).min(about.end);
                pieces.push(MessageRegion { vertices: first..end, at: next * self.piece_bytes });
                next += 1;
                first = end;
            }
            pieces
        };
        let messages = self.parts.iter().map(&mut of_part).collect();
        (messages, next)
    }
}

#[cfg(test)]
mod tests;
