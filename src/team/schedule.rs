//! The schedule of a run: the moves of each device in its exchanges. It is made before a run, from the algorithm's
//! declaration alone.
//!
//! After the pages of a superstep:
//!
//! ```text
//!  before   every device puts its values of device j's vertices, j merges them   (any edge may write; Strategy-P)
//!           … vertex phase, each device its own vertices …
//!  after    device j puts its vertices' values, the others take them             (any edge may read)
//!
//!  before   every device puts the vertices that it has activated, the others apply them    (traversals)
//!           … census, each device its own vertices …
//! ```
//!
//! A value crosses the bus of each device once. That is the minimum for a reduce-scatter and an all-gather, and less
//! than in a tree, whose inner nodes receive whole arrays. A device waits for what it takes, piece by piece, and for
//! nothing else: every move of an exchange writes to a piece of its own. A piece is written again in the next
//! superstep, when all devices have ended this one; only what is taken after the vertex phase may still be read then,
//! and the exchanges after it alternate between two regions of memory.

use super::rules::ExchangeRules;
use crate::device::exchange::message::{BLOCK_VERTICES, MessageLayout};
use crate::device::exchange::{Move, Moves, Values, VertexList, is_listed};
use crate::model::Part;
use crate::model::attributes::{Attribute, AttributeType, Merge, Role};
use crate::model::vertex_lists::VertexLists;
use std::ops::Range;

/// The moves of each device in an exchange; no devices if nothing is exchanged.
pub type Exchange = Vec<Moves>;

/// The exchanges of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// The exchange before each vertex phase, or before each census of a traversal.
    pub before: Exchange,
    /// The exchanges after initialisation and after each vertex phase. The two alternate and use different pieces, so
    /// no device writes where another may still read.
    pub after: [Exchange; 2],
    /// The number of pieces of exchange memory.
    pub pieces: u64,
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
    /// Whether the lists that a device sees belong to its own vertices. Values that edges read or write at the list's
    /// own vertex then need no exchange.
    pub aligned: bool,
    /// The role of the attributes that are sent by list, for vertices with out-edges only
    /// ([`listed_role`](crate::device::exchange::listed_role)).
    pub listed: Option<Role>,
    /// The lists of these values, if each device is sent others.
    pub mirrored: Option<&'a VertexLists>,
    /// The size of a piece of exchange memory, in bytes.
    pub piece_bytes: u64,
}

/// An exchange that is being made.
struct Making {
    exchange: Exchange,
    /// The next free piece.
    next: u64,
    piece_bytes: u64,
}

impl Making {
    /// The next free piece's offset.
    fn piece(&mut self) -> u64 {
        self.next += 1;
        (self.next - 1) * self.piece_bytes
    }

    /// The exchange, and the next free piece.
    fn made(self) -> (Exchange, u64) {
        let exchange = if self.exchange.iter().all(Moves::is_empty) { Vec::new() } else { self.exchange };
        (exchange, self.next)
    }
}

impl Schedule {
    /// Makes a schedule.
    pub fn new(sharing: &ScheduleRequest<'_>) -> Self {
        if sharing.traversal {
            let (before, pieces) = sharing.messages().made();
            return Self { before, pieces, ..Self::default() };
        }
        let (before, next) = sharing.reduce().made();
        let (first, next) = sharing.gather(next).made();
        let (second, pieces) = sharing.gather(next).made();
        Self { before, after: [first, second], pieces }
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

    /// An exchange without moves, in pieces from `next` on.
    fn making(&self, next: u64) -> Making {
        Making { exchange: vec![Moves::default(); self.devices()], next, piece_bytes: self.piece_bytes }
    }

    /// The reduction: a device merges the values of its own vertices that others have, in the order of devices.
    fn reduce(&self) -> Making {
        let (devices, rules) = (self.devices(), self.rules());
        let mut making = self.making(0);
        let spans = |part: &Part| self.spans(&part.own, |attribute| rules.is_reduced(attribute));
        let spans: Vec<_> = self.parts.iter().map(spans).collect();
        for from in 0..devices {
            for (to, spans) in spans.iter().enumerate().filter(|(to, _)| *to != from) {
                for values in spans {
                    let at = making.piece();
                    let put = &mut making.exchange[from].put;
                    put.push(Move::Put { values: values.clone(), at });
                    if self.declared[values.attribute].merge == Merge::Add {
                        put.push(Move::Clear(values.clone()));
                    }
                    making.exchange[to].take.push(Move::Merge { values: values.clone(), at });
                }
            }
        }
        making
    }

    /// A gather: a device takes the values of the others' vertices.
    fn gather(&self, next: u64) -> Making {
        let (devices, rules) = (self.devices(), self.rules());
        let mut making = self.making(next);
        if devices < 2 {
            return making;
        }
        let is_mirrored = |attribute: &Attribute| self.mirrored.is_some() && is_listed(attribute, self.listed);
        let wanted = |attribute: &Attribute| rules.is_gathered(attribute) && !is_mirrored(attribute);
        for (owner, part) in self.parts.iter().enumerate() {
            for values in self.spans(&part.own, wanted) {
                let at = making.piece();
                for to in (0..devices).filter(|to| *to != owner) {
                    making.exchange[to].take.push(Move::Take { values: values.clone(), at });
                }
                making.exchange[owner].put.push(Move::Put { values, at });
            }
        }
        if let Some(lists) = self.mirrored {
            self.gather_mirrored(lists, &mut making);
        }
        making
    }

    /// Adds what each device sends to each other one. Receivers take turns, each device beginning with the one behind
    /// it.
    fn gather_mirrored(&self, lists: &VertexLists, making: &mut Making) {
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
                        let at = making.piece();
                        making.exchange[owner].put.push(Move::Put { values: values.clone(), at });
                        making.exchange[to].take.push(Move::Take { values, at });
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

    /// The messages of each device, about all vertices that it may activate.
    fn messages(&self) -> Making {
        let layout = MessageLayout::new(self.declared, self.sharded());
        let step = layout.blocks_max(self.piece_bytes) * BLOCK_VERTICES;
        let mut making = self.making(0);
        for (from, part) in self.parts.iter().enumerate() {
            let about = part.writable();
            let mut first = about.start / BLOCK_VERTICES * BLOCK_VERTICES;
            while first < about.end {
                let vertices = first..(first + step).min(about.end);
                let at = making.piece();
                for to in (0..self.devices()).filter(|to| *to != from) {
                    making.exchange[to].take.push(Move::Apply { vertices: vertices.clone(), at });
                }
                first = vertices.end;
                making.exchange[from].put.push(Move::Collect { vertices, at });
            }
        }
        making
    }
}

#[cfg(test)]
mod tests;
