//! The exchanges of members: of what is reduced, or of messages, before a vertex phase or census; of what is gathered,
//! after it.

use super::Team;
use crate::device::ExchangeWork;
use crate::device::exchange::message::HEADER_WORDS;
use crate::device::exchange::{Move, Moves};
use crate::error::Result;
use crate::team::schedule::Exchange;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

impl Team {
    /// Makes the exchange before a vertex phase or census, and waits until every member has made its moves.
    pub(super) fn exchange_before(&mut self) -> Result<ExchangeWork> {
        let begun = Instant::now();
        let exchange = self.before();
        self.begin_exchange(&exchange)?;
        if self.plan.traversal {
            self.cross_messages()?
        } else {
            self.cross_values()?
        }
        self.each(|member| member.end_exchange())?;
        Ok(ExchangeWork { bytes: 0, ns: begun.elapsed().as_nanos() as u64 })
    }

    /// Begins an exchange on every member that has moves.
    pub(super) fn begin_exchange(&mut self, exchange: &Exchange) -> Result<()> {
        let mut moves = exchange.iter();
        self.each(|member| match moves.next() {
            Some(moves) if !moves.is_empty() => member.begin_exchange(moves.clone()),
            _ => Ok(()),
        })
        .map(drop)
    }

    /// The members' moves before a vertex phase or census.
    pub(super) fn before(&self) -> Exchange {
        self.plan.schedule.before.clone()
    }

    /// The members' moves after the next vertex phase: they send each member's own values, and receive the others'.
    pub(super) fn next_after(&mut self) -> Exchange {
        self.turn = !self.turn;
        self.plan.schedule.after[usize::from(self.turn)].clone()
    }

    /// The number of bytes that moves have written to the exchange memory and read from it.
    pub(super) fn bytes(&self, exchange: &Exchange) -> u64 {
        let words = |one: &Move| match one {
            Move::Clear(_) => 0,
            Move::Put { values, .. } | Move::Merge { values, .. } | Move::Take { values, .. } => {
                values.words(&self.plan.declared, &self.graph)
            }
            Move::Collect { vertices, at } | Move::Apply { vertices, at } => {
                match self.exchange.words(*at, HEADER_WORDS)[0].load(Relaxed) {
                    0 => 0,
                    count => self.message_words(vertices, count),
                }
            }
        };
        let moves = exchange.iter().flat_map(|Moves { put, take }| put.iter().chain(take));
        4 * moves.map(words).sum::<u64>()
    }

    /// The length of a message about these vertices, `count` of them active.
    pub(super) fn message_words(&self, vertices: &Range<u64>, count: u32) -> u64 {
        let layout = self.layout.as_ref().expect("only traversals send messages");
        layout.choose(vertices, count.into()).1.words
    }
}
