//! Gathers of which pieces cross between ranks.

use crate::cluster::Cluster;
use crate::cluster::transport::{Incoming, Outgoing};
use crate::device::exchange::{ExchangeMemory, Move};
use crate::error::Result;
use crate::team::crossing::Crossings;
use std::collections::HashMap;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// How long to sleep before looking again for values that a device still writes.
const LOOK: Duration = Duration::from_micros(30);

/// The gathers of a run so far, of which pieces cross between machines.
#[derive(Debug)]
pub(super) struct Gathers {
    /// How often pieces that this rank sends had been announced before the run, by place.
    pub before: HashMap<u64, u64>,
    /// The number of gathers, of each turn.
    pub count: [u64; 2],
    /// Whether ranks meet before they wait for each other's devices.
    pub meets: bool,
}

impl Gathers {
    /// None so far.
    pub fn new(crossings: &Crossings, exchange: &ExchangeMemory) -> Self {
        let sent = crossings.gather.iter().flat_map(|crossing| &crossing.send);
        let places = sent.filter_map(|piece| piece.written.writes());
        Self { before: places.map(|at| (at, exchange.announced(at))).collect(), count: [0; 2], meets: false }
    }
}

/// The pieces that cross in a gather.
pub(super) struct GatherCrossing {
    pub cluster: Arc<Cluster>,
    pub exchange: Arc<ExchangeMemory>,
    pub send: Vec<CrossingPiece>,
    pub receive: Vec<CrossingPiece>,
}

/// A piece that crosses in a gather.
pub(super) struct CrossingPiece {
    /// The rank that it goes to, or comes from.
    pub rank: usize,
    /// The move that writes it.
    pub written: Move,
    /// Its place, and its length in words.
    pub at: u64,
    pub words: u64,
    /// How often it has been announced when it can be sent.
    pub announced: u64,
}

impl GatherCrossing {
    /// Sends and receives, piece after piece: the first piece for each rank and of each rank, then the second ones.
    /// Each is sent when it has been announced, and announced when it has been received.
    pub fn run(&self) -> Result<()> {
        let (send, receive) = (by_number(&self.send), by_number(&self.receive));
        for number in 0..send.len().max(receive.len()) {
            let [send, receive] = [&send, &receive].map(|pieces| pieces.get(number).map_or(&[][..], Vec::as_slice));
            if !send.iter().all(|piece| self.arrives(piece)) {
                // The run ends with the error of the device, or of the rank, that has failed.
                return Ok(());
            }
            let words = |piece: &CrossingPiece| self.exchange.words(piece.at, piece.words);
            let outgoing: Vec<_> = send.iter().map(|one| Outgoing { to: one.rank, words: words(one) }).collect();
            let incoming: Vec<_> = receive.iter().map(|one| Incoming { from: one.rank, words: words(one) }).collect();
            self.cluster.transfer(&outgoing, &incoming)?;
            receive.iter().for_each(|piece| self.exchange.announce(&piece.written));
        }
        Ok(())
    }

    /// Waits until a piece has been written. False if a device of this machine has failed.
    fn arrives(&self, piece: &CrossingPiece) -> bool {
        while self.exchange.announced(piece.at) < piece.announced {
            if self.exchange.is_abandoned() {
                return false;
            }
            thread::sleep(LOOK);
        }
        true
    }
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
