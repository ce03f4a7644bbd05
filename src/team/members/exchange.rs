//! The rounds in which members exchange values: the reduction, the gather, and the messages of a traversal.

use super::Team;
use crate::device::ExchangeWork;
use crate::device::exchange::Move;
use crate::device::exchange::message::HEADER_WORDS;
use crate::error::Result;
use crate::team::schedule::{self, MessageRegion, Round};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

impl Team {
    /// Runs a round and waits until every device has done its moves.
    pub(super) fn run_round(&mut self, round: &Round) -> Result<()> {
        let mut moves = round.iter();
        self.each(|member| member.begin_round(moves.next().expect("a list of moves for each device").clone()))?;
        self.each(|member| member.end_round()).map(drop)
    }

    /// Starts a round that writes nothing to the exchange memory, so no device has to wait for it.
    pub(super) fn start_round(&mut self, round: &Round) -> Result<()> {
        let mut moves = round.iter();
        self.each(|member| member.receive(moves.next().expect("a list of moves for each device").clone())).map(drop)
    }

    /// Reduces: every device merges what the others have written to its own vertices.
    pub(super) fn reduce(&mut self) -> Result<ExchangeWork> {
        let begun = Instant::now();
        let rounds = std::mem::take(&mut self.plan.schedule.reduce);
        let mut bytes = 0;
        let mut result = Ok(());
        for (number, round) in rounds.iter().enumerate() {
            bytes += self.bytes(round);
            let last = number + 1 == rounds.len();
            result = match last {
                true => self.start_round(round),
                false => self.run_round(round).and_then(|()| self.cross_reduction(number)),
            };
            if result.is_err() {
                break;
            }
        }
        self.plan.schedule.reduce = rounds;
        result.map(|()| ExchangeWork { bytes, ns: begun.elapsed().as_nanos() as u64 })
    }

    /// Returns the next gather: the moves that send each device's own values after a vertex phase, and the moves that
    /// receive those of other members.
    pub(super) fn gathering(&mut self) -> (Round, Round) {
        self.turn = !self.turn;
        let schedule::Gather { put, take } = self.plan.schedule.gather[usize::from(self.turn)].clone();
        if put.is_empty() { (vec![Vec::new(); self.members.len()], Vec::new()) } else { (put, take) }
    }

    /// Returns the number of bytes that the values in the moves of a round write or read.
    pub(super) fn bytes(&self, round: &Round) -> u64 {
        let bytes = |one: &Move| match one {
            Move::Put { values, .. } | Move::Merge { values, .. } | Move::Take { values, .. } => {
                4 * values.words(&self.plan.declared, &self.graph)
            }
            Move::Clear(_) | Move::Collect { .. } | Move::Apply { .. } => 0,
        };
        round.iter().flatten().map(bytes).sum()
    }

    /// Exchanges the messages of a traversal: the vertices that each device has activated.
    pub(super) fn exchange_messages(&mut self) -> Result<ExchangeWork> {
        let begun = Instant::now();
        self.run_round(&self.messages())?;
        self.cross_messages()?;
        let (bytes, round) = self.replies();
        if round.iter().any(|moves| !moves.is_empty()) {
            self.start_round(&round)?;
        }
        Ok(ExchangeWork { bytes, ns: begun.elapsed().as_nanos() as u64 })
    }

    /// The messages of the members.
    pub(super) fn messages(&self) -> Round {
        let collect = |pieces: &Vec<MessageRegion>| {
            let moves = pieces.iter().map(|piece| Move::Collect { vertices: piece.vertices.clone(), at: piece.at });
            moves.collect()
        };
        self.plan.schedule.messages[self.plan.places.local()].iter().map(collect).collect()
    }

    /// For each member, the application of all other devices' messages.
    pub(super) fn messages_of_others(&self) -> Round {
        let messages = self.plan.schedule.messages.iter().enumerate();
        let of_others = |to: usize| {
            let others = messages.clone().filter(|(from, _)| *from != to).flat_map(|(_, pieces)| pieces);
            others.map(|piece| Move::Apply { vertices: piece.vertices.clone(), at: piece.at }).collect()
        };
        self.plan.places.local().map(of_others).collect()
    }

    /// What devices do with messages that have been sent, and the number of bytes written and read.
    pub(super) fn replies(&self) -> (u64, Round) {
        let mut bytes = 0;
        let layout = self.layout.as_ref().expect("a traversal");
        let mut round: Round = vec![Vec::new(); self.members.len()];
        for (from, pieces) in self.plan.schedule.messages.iter().enumerate() {
            for piece in pieces {
                let count = u64::from(self.exchange.words(piece.at, HEADER_WORDS)[0].load(Relaxed));
                if count == 0 {
                    continue;
                }
                let words = layout.choose(&piece.vertices, count).1.words;
                bytes += 4 * words * self.members.len() as u64;
                let own = self.plan.places.local();
                for (_, moves) in own.zip(round.iter_mut()).filter(|(to, _)| *to != from) {
                    moves.push(Move::Apply { vertices: piece.vertices.clone(), at: piece.at });
                }
            }
        }
        (bytes, round)
    }
}
