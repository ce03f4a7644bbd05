//! When devices tell each other what: the rounds of an exchange, decided before a run from declarations alone.
//!
//! After the pages of a superstep, for algorithms with a vertex phase:
//!
//! ```text
//!  reduce   every device puts its values of device j's vertices, j merges them     (what edges write to any vertex; Strategy-P)
//!           … vertex phase, each device its own vertices …
//!  gather   device j puts its vertices' values, the others take them               (what edges read of any vertex)
//! ```
//!
//! Each value crosses the bus of each device once: that is what a reduce-scatter and an all-gather take at least, and
//! less than a tree, in which inner nodes receive whole arrays. The reduction is pipelined: a round puts one group of
//! pieces while the group of the round before is merged, so that the buses are busy both ways, and memory is that of
//! two groups. Gathering takes no round of its own: what is put goes with the vertex phase, and what is taken with what
//! the next superstep begins with.
//!
//! Traversals tell each other which vertices they have activated, in one round, and read it in another.

use super::rules::ExchangeRules;
use crate::device::exchange::message::{BLOCK_VERTICES, MessageLayout};
use crate::device::exchange::{Move, is_packed};
use crate::model::Part;
use crate::model::attributes::{Attribute, AttributeType, Merge};
use std::ops::Range;

/// Groups that what is reduced goes in.
const GROUPS: usize = 4;

/// What each device does in a round.
pub type Round = Vec<Vec<Move>>;

/// The rounds of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Before the vertex phase. The last round writes nothing: nobody has to wait for it.
    pub reduce: Vec<Round>,
    /// After first values have been set, and after each vertex phase: one way and the other in turn, so that nobody
    /// writes where somebody may still read.
    pub gather: [Gather; 2],
    /// The messages of a traversal: for each device its pieces.
    pub messages: Vec<Vec<Piece>>,
    /// Pieces of exchange memory.
    pub pieces: u64,
}

/// Everybody tells of their own vertices, then everybody hears of the others'.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gather {
    /// What is told.
    pub put: Round,
    /// What is heard.
    pub take: Round,
}

/// A message's vertices, and where it lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Which vertices it is about.
    pub vertices: Range<u64>,
    /// Where it lies in the exchange memory, in bytes.
    pub at: u64,
}

/// What a schedule is made for.
#[derive(Clone, Debug)]
pub struct ScheduleRequest<'a> {
    /// The algorithm's attributes.
    pub declared: &'a [Attribute],
    /// Whether it has frontiers.
    pub traversal: bool,
    /// Each device's part.
    pub parts: &'a [Part],
    /// Whether the lists that a device sees are those of its own vertices, so that what concerns a list's own vertex
    /// only stays where it is.
    pub aligned: bool,
    /// Whether what is read at the other end of in-edges only is told of vertices with out-edges only: see [`packs`].
    pub packed: bool,
    /// Bytes of a piece of exchange memory.
    pub piece_bytes: u64,
}

/// Values that go from one device to another, or to all.
#[derive(Clone, Debug)]
struct Run {
    attribute: usize,
    vertices: Range<u64>,
}

impl Schedule {
    /// Decides what is told when.
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

    /// The rules by which attributes are exchanged.
    fn rules(&self) -> ExchangeRules {
        ExchangeRules { sharded: self.sharded(), aligned: self.aligned }
    }

    /// The values of a device's own vertices in pieces, for the attributes that are wanted.
    fn runs(&self, own: &Range<u64>, wanted: impl Fn(&Attribute) -> bool) -> Vec<Run> {
        let mut runs = Vec::new();
        for (attribute, declared) in self.declared.iter().enumerate().filter(|(_, declared)| wanted(declared)) {
            // Of bits, a word less: a range may begin and end within a word.
            let spare = u64::from(declared.of == AttributeType::Bit);
            let vertices = declared.of.vertices_in(self.piece_bytes / 4 - spare);
            let mut first = own.start;
            while first < own.end {
                let end = (first + vertices).min(own.end);
                runs.push(Run { attribute, vertices: first..end });
                first = end;
            }
        }
        runs
    }

    /// Window (round's parity, device that puts, device that it is for, place in the group) of the exchange memory.
    fn reduce(&self) -> (Vec<Round>, u64) {
        let (devices, rules) = (self.devices(), self.rules());
        let runs: Vec<Vec<Run>> =
            self.parts.iter().map(|part| self.runs(&part.own, |attribute| rules.is_reduced(attribute))).collect();
        let group = runs.iter().map(Vec::len).max().unwrap_or(0).div_ceil(GROUPS).max(1);
        let window = |round: usize, from: usize, to: usize, place: usize| {
            ((((round % 2) * devices + from) * devices + to) * group + place) as u64 * self.piece_bytes
        };
        let rounds = runs.iter().map(|runs| runs.len().div_ceil(group)).max().unwrap_or(0);
        if devices < 2 || rounds == 0 {
            return (Vec::new(), 0);
        }
        let part_of = |round: usize, to: usize| -> &[Run] {
            let runs = &runs[to];
            &runs[(round * group).min(runs.len())..((round + 1) * group).min(runs.len())]
        };
        let moves = |round: usize, device: usize| {
            let mut moves = Vec::new();
            for to in (0..devices).filter(|&to| to != device && round < rounds) {
                for (place, Run { attribute, vertices }) in part_of(round, to).iter().cloned().enumerate() {
                    let at = window(round, device, to, place);
                    moves.push(Move::Put { attribute, vertices: vertices.clone(), at });
                    if self.declared[attribute].merge == Merge::Add {
                        moves.push(Move::Clear { attribute, vertices });
                    }
                }
            }
            for from in (0..devices).filter(|&from| from != device && round > 0) {
                for (place, Run { attribute, vertices }) in part_of(round - 1, device).iter().cloned().enumerate() {
                    moves.push(Move::Merge { attribute, vertices, at: window(round - 1, from, device, place) });
                }
            }
            moves
        };
        let rounds = (0..=rounds).map(|round| (0..devices).map(|device| moves(round, device)).collect()).collect();
        (rounds, (2 * devices * devices * group) as u64)
    }

    /// Everybody's values in pieces of their own, from piece `next` of the exchange memory on; the piece behind them.
    fn gather(&self, mut next: u64) -> (Gather, u64) {
        let (devices, rules) = (self.devices(), self.rules());
        if devices < 2 {
            return (Gather::default(), next);
        }
        let mut gather = Gather { put: vec![Vec::new(); devices], take: vec![Vec::new(); devices] };
        for (owner, part) in self.parts.iter().enumerate() {
            for Run { attribute, vertices } in self.runs(&part.own, |attribute| rules.is_gathered(attribute)) {
                let at = next * self.piece_bytes;
                next += 1;
                let packed = self.packed && is_packed(&self.declared[attribute]);
                gather.put[owner].push(match packed {
                    true => Move::Pack { attribute, vertices: vertices.clone(), at },
                    false => Move::Put { attribute, vertices: vertices.clone(), at },
                });
                for (_, moves) in gather.take.iter_mut().enumerate().filter(|(device, _)| *device != owner) {
                    let vertices = vertices.clone();
                    moves.push(match packed {
                        true => Move::Unpack { attribute, vertices, at },
                        false => Move::Take { attribute, vertices, at },
                    });
                }
            }
        }
        if gather.put.iter().all(Vec::is_empty) {
            gather = Gather::default();
        }
        (gather, next)
    }

    /// The messages of each device, and how many pieces they take.
    fn messages(&self) -> (Vec<Vec<Piece>>, u64) {
        let layout = MessageLayout::new(self.declared, self.sharded());
        let step = layout.blocks_max(self.piece_bytes) * BLOCK_VERTICES;
        let mut next = 0;
        let mut of_part = |part: &Part| {
            let about = part.writable();
            let mut pieces = Vec::new();
            let mut first = about.start / BLOCK_VERTICES * BLOCK_VERTICES;
            while first < about.end {
                let end = (first + step).min(about.end);
                pieces.push(Piece { vertices: first..end, at: next * self.piece_bytes });
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
