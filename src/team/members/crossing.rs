//! What crosses between ranks in an exchange.

use crate::cluster::Cluster;
use crate::cluster::transport::{Incoming, Outgoing};
use crate::device::exchange::{ExchangeMemory, Move, Received, Wait};
use crate::error::Result;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

/// The pieces of values that cross in an exchange.
pub(super) struct ValueCrossing {
    pub cluster: Arc<Cluster>,
    pub exchange: Arc<ExchangeMemory>,
    pub send: Vec<CrossingPiece>,
    pub receive: Vec<CrossingPiece>,
    /// What has been sent of the pieces that members write.
    pub sent: Received,
}

/// A piece that crosses.
pub(super) struct CrossingPiece {
    /// The rank that it goes to, or comes from.
    pub rank: usize,
    /// The move that writes it.
    pub written: Move,
    /// Its place, and its length in words.
    pub at: u64,
    pub words: u64,
}

impl ValueCrossing {
    /// Sends and receives, piece after piece: the first piece for each rank and of each rank, then the second ones.
    /// Each is sent when it has been announced, and announced when it has been received. Returns what has been sent.
    pub fn run(self) -> Result<Received> {
        let Self { cluster, exchange, send, receive, mut sent } = self;
        let places: BTreeSet<u64> = send.iter().map(|piece| piece.at).collect();
        let (send, receive) = (by_number(&send), by_number(&receive));
        for number in 0..send.len().max(receive.len()) {
            let [send, receive] = [&send, &receive].map(|pieces| pieces.get(number).map_or(&[][..], Vec::as_slice));
            if !send.iter().all(|piece| is_written(&exchange, &sent, piece.at)) {
                // The run ends with the error of the device, or of the rank, that has failed.
                return Ok(sent);
            }
            let words = |piece: &CrossingPiece| exchange.words(piece.at, piece.words);
            let outgoing: Vec<_> = send.iter().map(|one| Outgoing { to: one.rank, words: words(one) }).collect();
            let incoming: Vec<_> = receive.iter().map(|one| Incoming { from: one.rank, words: words(one) }).collect();
            cluster.transfer(&outgoing, &incoming)?;
            receive.iter().for_each(|piece| exchange.announce(&piece.written));
        }
        places.into_iter().for_each(|at| sent.count(at));
        Ok(sent)
    }
}

/// Waits until a piece has been written once more than it has been sent. False if a device of this machine has failed.
pub(super) fn is_written(exchange: &ExchangeMemory, sent: &Received, at: u64) -> bool {
    let mut wait = Wait::new(Duration::ZERO);
    while !sent.is_there(exchange, at) {
        if !wait.goes_on(exchange, false) {
            return false;
        }
    }
    true
}

/// Groups pieces: the first ones of each rank, the second ones, and so on.
fn by_number(pieces: &[CrossingPiece]) -> Vec<Vec<&CrossingPiece>> {
    let (mut numbers, mut groups): (HashMap<usize, usize>, Vec<Vec<_>>) = Default::default();
    for piece in pieces {
        let number = numbers.entry(piece.rank).or_default();
        if groups.len() == *number {
            groups.push(Vec::new());
        }
        groups[*number].push(piece);
        *number += 1;
    }
    groups
}
