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
use crate::pages::fetch::PageRef;
use bytemuck::Pod;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use topostream_formats::buffer::SharedMemory;
use topostream_formats::{PageId, Topology};
use transport::{Failing, Incoming, Outgoing, Transport};

/// The ranks of a run, as one of them sees them.
pub struct Cluster {
    rank: usize,
    ranks: usize,
    machines: Vec<usize>,
    transport: Mutex<Box<dyn Transport>>,
    failing: Failing,
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
    /// To go back to the engine, after supersteps that devices have run without it.
    Return = 4,
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
            machines: transport.machines(),
            failing: transport.failing(),
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

    /// The machine of each rank, by rank: those with the same number share memory.
    pub fn machines(&self) -> &[usize] {
        &self.machines
    }

    /// Returns memory that the ranks of this machine share, as many bytes as these ask for; `what` names them in
    /// errors.
    ///
    /// # Errors
    /// [`Error::Store`](crate::Error::Store) if the system refuses them, and the errors of [`gather`](Self::gather).
    pub fn share(&self, what: &str, bytes: u64) -> Result<Arc<SharedMemory>> {
        self.transport().share(what, bytes)
    }

    /// Returns the pages of a topology that any rank names, in order.
    ///
    /// # Errors
    /// The errors of [`gather`](Self::gather).
    pub fn gather_pages(&self, topology: &Topology, own: &[PageRef]) -> Result<Vec<PageRef>> {
        let mut bits = vec![0u32; topology.page_count().div_ceil(32) as usize];
        own.iter().for_each(|page| bits[page.page.index() / 32] |= 1 << (page.page.0 % 32));
        for others in self.gather(&bits)? {
            bits.iter_mut().zip(others).for_each(|(bits, others)| *bits |= others);
        }
        let direction = topology.direction();
        let named = (0..topology.page_count()).filter(|page| bits[*page as usize / 32] >> (page % 32) & 1 != 0);
        Ok(named.map(|page| PageRef { direction, page: PageId(page) }).collect())
    }

    /// Returns when all ranks have called it.
    ///
    /// # Errors
    /// The errors of [`gather`](Self::gather).
    pub fn meet(&self) -> Result<()> {
        self.gather_bytes(&[]).map(drop)
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
    /// The errors of [`gather`](Self::gather).
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
    /// The errors of [`gather`](Self::gather).
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
        (self.failing)(why);
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

/// How the devices of a run are spread over ranks, and these over machines: each rank has consecutive devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    rank: usize,
    devices: Vec<Range<usize>>,
    /// The machine of each rank.
    machines: Vec<usize>,
}

impl Places {
    /// All devices on one rank.
    pub fn alone(devices: usize) -> Self {
        Self::new(0, &[devices])
    }

    /// As many devices on each rank as `counts` says, as `rank` sees them; every rank on a machine of its own.
    pub fn new(rank: usize, counts: &[usize]) -> Self {
        let mut next = 0;
        let range = |&count: &usize| {
            next += count;
            next - count..next
        };
        Self { rank, devices: counts.iter().map(range).collect(), machines: (0..counts.len()).collect() }
    }

    /// Sets the machine of each rank: ranks with the same number share memory.
    #[must_use]
    pub fn on_machines(self, machines: &[usize]) -> Self {
        assert_eq!(machines.len(), self.devices.len(), "a machine for every rank");
        Self { machines: machines.to_vec(), ..self }
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

    /// Whether a rank is on the machine of this one, or is this one.
    pub fn is_near(&self, rank: usize) -> bool {
        self.machines[rank] == self.machines[self.rank]
    }

    /// For each device, whether it is on the machine of this rank.
    pub fn near(&self) -> Vec<bool> {
        (0..self.ranks()).flat_map(|rank| self.of(rank).map(move |_| self.is_near(rank))).collect()
    }

    /// Whether some ranks are on the same machine. All ranks know that.
    pub fn has_neighbours(&self) -> bool {
        (1..self.ranks()).any(|rank| self.machines[..rank].contains(&self.machines[rank]))
    }

    /// Whether there are several machines.
    pub fn is_spread(&self) -> bool {
        (0..self.ranks()).any(|rank| !self.is_near(rank))
    }

    /// The first of some ranks on each machine, but for the machine of `from`: what goes to all of them from there
    /// crosses once to each machine.
    pub fn first_elsewhere(&self, from: usize, ranks: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let (mut firsts, mut machines): (Vec<usize>, Vec<usize>) = (Vec::new(), vec![self.machines[from]]);
        for rank in ranks {
            if !machines.contains(&self.machines[rank]) {
                machines.push(self.machines[rank]);
                firsts.push(rank);
            }
        }
        firsts
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
        assert_eq!(places.near(), [false, false, true, false, false, false]);
        assert!(places.is_spread() && !places.has_neighbours());
        assert_eq!(places.first_elsewhere(1, [0, 1, 2]), [0, 2]);
        assert_eq!(Places::alone(4).local(), 0..4);
    }

    #[test]
    fn ranks_are_spread_over_machines() {
        let places = Places::new(1, &[2, 1, 1, 1]).on_machines(&[0, 3, 0, 3]);
        assert_eq!(places.near(), [false, false, true, false, true]);
        assert!(places.is_spread() && places.has_neighbours());
        assert_eq!(places.first_elsewhere(1, [0, 1, 2, 3]), [0]);
        assert_eq!(places.first_elsewhere(0, [0, 2, 3]), [3]);
        assert!(Places::new(2, &[1; 3]).on_machines(&[1, 1, 0]).has_neighbours());
        let together = Places::new(0, &[1, 1]).on_machines(&[7, 7]);
        assert!(together.has_neighbours() && !together.is_spread());
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
