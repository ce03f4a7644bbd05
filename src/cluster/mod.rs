//! Several processes that share a run, each on a machine of its own or side by side: *ranks*, as MPI calls them.
//!
//! ```text
//!   rank 0: engine ─ team ─ devices          rank 1: engine ─ team ─ devices
//!                      │                                        │
//!                   Cluster ─────── Transport: memory or MPI ─ Cluster
//! ```
//!
//! There is no coordinator. Every rank runs the same program over the same graph, and comes to the same decisions,
//! because what these depend on is [gathered](Cluster::gather) first. All ranks call the methods of [`Cluster`] in the
//! same order; each call returns when all ranks have made it.
//!
//! | module | contents |
//! | --- | --- |
//! | [`transport`] | the interface of what moves bytes between ranks |
//! | [`memory`] | ranks as threads of one process, for tests |
//! | [`agreement`] | what ranks must have in common |
//!
//! Ranks as processes of MPI are in the package `topostream-mpi`. Used by teams and the engine; knows neither devices
//! nor algorithms.

pub mod agreement;
pub mod memory;
pub mod transport;

use crate::error::Result;
use bytemuck::Pod;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use transport::{Incoming, Outgoing, Transport};

/// The ranks of a run, as one of them sees them.
pub struct Cluster {
    rank: usize,
    ranks: usize,
    transport: Mutex<Box<dyn Transport>>,
    /// What this rank wants all to do, a bit each.
    wishes: AtomicU64,
    /// What some rank wants, as all ranks know.
    agreed: AtomicU64,
    sent_bytes: AtomicU64,
    received_bytes: AtomicU64,
    ns: AtomicU64,
    rounds: AtomicU64,
}

/// What a rank may want all ranks to do between two supersteps: after the same one, as soon as all know of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Wish {
    /// To end the run.
    Stop = 1,
    /// To write a checkpoint.
    Checkpoint = 2,
}

/// What a rank has sent and received so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes of values and messages that it has sent: for several ranks, as often as it sent them.
    pub sent_bytes: u64,
    /// Bytes that it has received.
    pub received_bytes: u64,
    /// Nanoseconds in which it sent, received, or waited for other ranks.
    pub ns: u64,
    /// The number of exchanges.
    pub rounds: u64,
}

impl Traffic {
    /// What has come since an earlier moment.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            sent_bytes: self.sent_bytes - before.sent_bytes,
            received_bytes: self.received_bytes - before.received_bytes,
            ns: self.ns - before.ns,
            rounds: self.rounds - before.rounds,
        }
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {}", self.rank, self.ranks)
    }
}

impl Cluster {
    /// Creates a rank's view of the others.
    pub fn new(transport: Box<dyn Transport>) -> Self {
        Self {
            rank: transport.rank(),
            ranks: transport.ranks(),
            transport: Mutex::new(transport),
            wishes: AtomicU64::new(0),
            agreed: AtomicU64::new(0),
            sent_bytes: AtomicU64::new(0),
            received_bytes: AtomicU64::new(0),
            ns: AtomicU64::new(0),
            rounds: AtomicU64::new(0),
        }
    }

    /// The number of this rank, from 0.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The number of ranks.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// Whether there are other ranks.
    pub fn is_shared(&self) -> bool {
        self.ranks > 1
    }

    fn transport(&self) -> MutexGuard<'_, Box<dyn Transport>> {
        self.transport.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs an exchange, and adds its time to the figures.
    fn timed<T>(&self, exchange: impl FnOnce(&mut dyn Transport) -> Result<T>) -> Result<T> {
        let begun = Instant::now();
        let result = exchange(&mut **self.transport());
        self.ns.fetch_add(begun.elapsed().as_nanos() as u64, Relaxed);
        self.rounds.fetch_add(1, Relaxed);
        result
    }

    /// Returns the records of every rank, by rank. They may differ in number.
    ///
    /// # Errors
    /// [`Error::Rank`](crate::Error::Rank) if another rank has failed, as in all methods below.
    pub fn gather<T: Pod>(&self, own: &[T]) -> Result<Vec<Vec<T>>> {
        let all = self.gather_bytes(bytemuck::cast_slice(own))?;
        Ok(all.iter().map(|bytes| bytemuck::pod_collect_to_vec(bytes)).collect())
    }

    /// Returns the bytes of every rank, by rank.
    ///
    /// # Errors
    /// Those of [`gather`](Self::gather).
    pub fn gather_bytes(&self, own: &[u8]) -> Result<Vec<Vec<u8>>> {
        let all = self.timed(|transport| transport.all_gather(own))?;
        let others = self.ranks as u64 - 1;
        let received: usize = all.iter().map(Vec::len).sum();
        self.sent_bytes.fetch_add(own.len() as u64 * others, Relaxed);
        self.received_bytes.fetch_add((received - own.len()) as u64, Relaxed);
        Ok(all)
    }

    /// Sends words to other ranks, and receives words from them. Between two ranks, words arrive in the order in which
    /// they were sent, and must be expected with the same lengths.
    ///
    /// # Errors
    /// Those of [`gather`](Self::gather).
    pub fn transfer(&self, outgoing: &[Outgoing<'_>], incoming: &[Incoming<'_>]) -> Result<()> {
        let bytes = |words: &[std::sync::atomic::AtomicU32]| 4 * words.len() as u64;
        self.sent_bytes.fetch_add(outgoing.iter().map(|one| bytes(one.words)).sum(), Relaxed);
        self.received_bytes.fetch_add(incoming.iter().map(|one| bytes(one.words)).sum(), Relaxed);
        self.timed(|transport| transport.transfer(outgoing, incoming))
    }

    /// Says what this rank wants. All ranks do it once they have [heard](Self::heed) of it.
    pub fn wish(&self, wish: Wish) {
        self.wishes.fetch_or(wish as u64, Relaxed);
    }

    /// What this rank wants, a bit for each wish.
    pub fn wishes(&self) -> u64 {
        self.wishes.load(Relaxed)
    }

    /// Takes note of all ranks' wishes, as they were gathered.
    pub fn heed(&self, wishes: impl IntoIterator<Item = u64>) {
        self.agreed.fetch_or(wishes.into_iter().fold(0, |all, wishes| all | wishes), Relaxed);
    }

    /// Whether a rank wants this, as all ranks know.
    pub fn is_agreed(&self, wish: Wish) -> bool {
        self.agreed.load(Relaxed) & wish as u64 != 0
    }

    /// Forgets a wish of all ranks, once they have done it.
    pub fn fulfil(&self, wish: Wish) {
        self.wishes.fetch_and(!(wish as u64), Relaxed);
        self.agreed.fetch_and(!(wish as u64), Relaxed);
    }

    /// Tells the other ranks that this one has failed, so that they do not wait for it.
    pub fn fail(&self, why: &str) {
        self.transport().fail(why);
    }

    /// What has been sent and received so far.
    pub fn traffic(&self) -> Traffic {
        Traffic {
            sent_bytes: self.sent_bytes.load(Relaxed),
            received_bytes: self.received_bytes.load(Relaxed),
            ns: self.ns.load(Relaxed),
            rounds: self.rounds.load(Relaxed),
        }
    }
}

/// How the devices of a run are spread over ranks: each rank has consecutive ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    rank: usize,
    devices: Vec<Range<usize>>,
}

impl Places {
    /// All devices on one rank.
    pub fn alone(devices: usize) -> Self {
        Self::new(0, &[devices])
    }

    /// As many devices on each rank as `counts` says, as `rank` sees them.
    pub fn new(rank: usize, counts: &[usize]) -> Self {
        let mut next = 0;
        let range = |&count: &usize| {
            next += count;
            next - count..next
        };
        Self { rank, devices: counts.iter().map(range).collect() }
    }

    /// The rank that sees them like this.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The number of ranks.
    pub fn ranks(&self) -> usize {
        self.devices.len()
    }

    /// The devices of this rank.
    pub fn local(&self) -> Range<usize> {
        self.devices[self.rank].clone()
    }

    /// The devices of a rank.
    pub fn of(&self, rank: usize) -> Range<usize> {
        self.devices[rank].clone()
    }

    /// The rank of a device.
    pub fn rank_of(&self, device: usize) -> usize {
        self.devices.iter().position(|range| range.contains(&device)).expect("every device is on a rank")
    }

    /// Whether a device is on this rank.
    pub fn is_local(&self, device: usize) -> bool {
        self.local().contains(&device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_spread_in_order() {
        let places = Places::new(1, &[2, 1, 3]);
        assert_eq!((places.ranks(), places.local(), places.of(2)), (3, 2..3, 3..6));
        assert_eq!((0..6).map(|device| places.rank_of(device)).collect::<Vec<_>>(), [0, 0, 1, 2, 2, 2]);
        assert!(places.is_local(2) && !places.is_local(3));
        assert_eq!(Places::alone(4).local(), 0..4);
    }

    #[test]
    fn wishes_are_kept_until_they_are_fulfilled() {
        let cluster = memory::clusters(1).remove(0);
        cluster.heed([0, Wish::Checkpoint as u64]);
        assert!(cluster.is_agreed(Wish::Checkpoint) && !cluster.is_agreed(Wish::Stop));
        cluster.wish(Wish::Stop);
        assert_eq!(cluster.wishes(), Wish::Stop as u64);
        cluster.heed([cluster.wishes()]);
        cluster.fulfil(Wish::Checkpoint);
        assert!(cluster.is_agreed(Wish::Stop) && !cluster.is_agreed(Wish::Checkpoint));
    }

    #[test]
    fn traffic_is_counted() {
        let clusters = memory::clusters(2);
        std::thread::scope(|scope| {
            for cluster in &clusters {
                scope.spawn(move || {
                    let all = cluster.gather(&[cluster.rank() as u64; 3]).unwrap();
                    assert_eq!(all, [vec![0; 3], vec![1; 3]]);
                });
            }
        });
        let traffic = clusters[0].traffic();
        assert_eq!((traffic.sent_bytes, traffic.received_bytes, traffic.rounds), (24, 24, 1));
        assert_eq!(traffic.since(&traffic), Traffic::default());
    }
}
