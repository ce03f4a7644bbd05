//! Ranks as threads of one process, which exchange words through memory: for tests of everything but the network.

use super::Cluster;
use super::transport::{Failing, Incoming, Outgoing, Transport};
use crate::error::{Error, Result};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use topostream_formats::buffer::SharedMemory;

/// Creates ranks that exchange through memory: one for each thread that takes part. They send each other everything, as
/// if each were on a machine of its own.
pub fn clusters(ranks: usize) -> Vec<Arc<Cluster>> {
    clusters_on(&(0..ranks).collect::<Vec<_>>())
}

/// As [`clusters`], with the machine of each rank: ranks with the same number share memory.
pub fn clusters_on(machines: &[usize]) -> Vec<Arc<Cluster>> {
    let hub = Arc::new(Hub { machines: machines.to_vec(), state: Mutex::default(), changed: Condvar::new() });
    let rank = |rank| Arc::new(Cluster::new(Box::new(Memory { rank, hub: Arc::clone(&hub), shares: 0 })));
    (0..machines.len()).map(rank).collect()
}

/// What the ranks share.
struct Hub {
    /// The machine of each rank.
    machines: Vec<usize>,
    state: Mutex<Mail>,
    changed: Condvar,
}

impl Hub {
    fn ranks(&self) -> usize {
        self.machines.len()
    }

    fn mail(&self) -> MutexGuard<'_, Mail> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Default)]
struct Mail {
    /// What has been sent and not yet received, by sender and receiver.
    boxes: HashMap<(usize, usize), VecDeque<Message>>,
    /// Memory that ranks share, by machine and number of the request.
    shared: HashMap<(usize, u64), Weak<SharedMemory>>,
    /// The first rank that has failed, and why.
    failed: Option<(usize, String)>,
    /// Ranks that have ended.
    gone: Vec<usize>,
}

enum Message {
    Bytes(Vec<u8>),
    Words(Vec<u32>),
}

/// One rank.
struct Memory {
    rank: usize,
    hub: Arc<Hub>,
    /// How often memory has been shared.
    shares: u64,
}

impl Memory {
    fn mail(&self) -> MutexGuard<'_, Mail> {
        self.hub.mail()
    }

    fn send(&self, to: usize, message: Message) {
        self.mail().boxes.entry((self.rank, to)).or_default().push_back(message);
        self.hub.changed.notify_all();
    }

    /// Waits for the next message of a rank.
    fn receive(&self, from: usize) -> Result<Message> {
        let mut mail = self.mail();
        loop {
            if let Some(message) = mail.boxes.get_mut(&(from, self.rank)).and_then(VecDeque::pop_front) {
                return Ok(message);
            }
            let failed = mail.failed.clone().filter(|(rank, _)| *rank != self.rank);
            let ended = mail.gone.contains(&from).then(|| (from, "it has ended".to_owned()));
            if let Some((rank, message)) = failed.or(ended) {
                return Err(Error::Rank { rank, ranks: self.hub.ranks(), message });
            }
            mail = self.hub.changed.wait(mail).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let rank = self.rank;
        (0..self.hub.ranks()).filter(move |&other| other != rank)
    }
}

impl Transport for Memory {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.hub.ranks()
    }

    fn machines(&self) -> Vec<usize> {
        self.hub.machines.clone()
    }

    fn share(&mut self, what: &str, bytes: u64) -> Result<Arc<SharedMemory>> {
        let place = (self.hub.machines[self.rank], self.shares);
        self.shares += 1;
        let known = self.mail().shared.get(&place).and_then(Weak::upgrade);
        let memory = match known {
            Some(memory) => memory,
            None => {
                let made = Arc::new(SharedMemory::new(what, bytes)?);
                // Another rank may have been faster.
                let mut mail = self.mail();
                let first = mail.shared.get(&place).and_then(Weak::upgrade);
                first.unwrap_or_else(|| {
                    mail.shared.insert(place, Arc::downgrade(&made));
                    made
                })
            }
        };
        // No rank lets go of it before all have it.
        self.all_gather(&[])?;
        Ok(memory)
    }

    fn all_gather(&mut self, own: &[u8]) -> Result<Vec<Vec<u8>>> {
        self.others().for_each(|to| self.send(to, Message::Bytes(own.to_vec())));
        let of = |rank: usize| match rank {
            own_rank if own_rank == self.rank => Ok(own.to_vec()),
            from => match self.receive(from)? {
                Message::Bytes(bytes) => Ok(bytes),
                Message::Words(_) => panic!("rank {from} transfers while rank {} gathers", self.rank),
            },
        };
        (0..self.hub.ranks()).map(of).collect()
    }

    fn transfer(&mut self, outgoing: &[Outgoing<'_>], incoming: &[Incoming<'_>]) -> Result<()> {
        for Outgoing { to, words } in outgoing {
            self.send(*to, Message::Words(words.iter().map(|word| word.load(Relaxed)).collect()));
        }
        for Incoming { from, words } in incoming {
            let Message::Words(received) = self.receive(*from)? else {
                panic!("rank {from} gathers while rank {} transfers", self.rank)
            };
            assert_eq!(received.len(), words.len(), "words from rank {from} to rank {}", self.rank);
            words.iter().zip(received).for_each(|(word, value)| word.store(value, Relaxed));
        }
        Ok(())
    }

    fn failing(&self) -> Failing {
        let (rank, hub) = (self.rank, Arc::clone(&self.hub));
        Box::new(move |why| {
            hub.mail().failed.get_or_insert((rank, why.to_owned()));
            hub.changed.notify_all();
        })
    }
}

/// A rank that ends, by a panic too, leaves no other rank waiting.
impl Drop for Memory {
    fn drop(&mut self) {
        self.mail().gone.push(self.rank);
        self.hub.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    fn words(values: &[u32]) -> Vec<AtomicU32> {
        values.iter().map(|&value| AtomicU32::new(value)).collect()
    }

    /// Runs a function on every rank.
    fn on_all<T: Send>(ranks: usize, work: impl Fn(Arc<Cluster>) -> T + Sync) -> Vec<T> {
        std::thread::scope(|scope| {
            let work = &work;
            let threads: Vec<_> =
                clusters(ranks).into_iter().map(|cluster| scope.spawn(move || work(cluster))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    #[test]
    fn words_arrive_in_order() {
        on_all(3, |cluster| {
            let rank = cluster.rank() as u32;
            let others: Vec<usize> = (0..3).filter(|&other| other != cluster.rank()).collect();
            let own = [words(&[rank, 7]), words(&[10 + rank])];
            let outgoing: Vec<Outgoing<'_>> =
                others.iter().flat_map(|&to| own.iter().map(move |words| Outgoing { to, words })).collect();
            let room: Vec<[Vec<AtomicU32>; 2]> = others.iter().map(|_| [words(&[0, 0]), words(&[0])]).collect();
            let incoming: Vec<Incoming<'_>> = others
                .iter()
                .zip(&room)
                .flat_map(|(&from, room)| room.iter().map(move |words| Incoming { from, words }))
                .collect();
            cluster.transfer(&outgoing, &incoming).unwrap();
            for (other, [two, one]) in others.iter().zip(&room) {
                let found: Vec<u32> = two.iter().chain(one).map(|word| word.load(Relaxed)).collect();
                assert_eq!(found, [*other as u32, 7, 10 + *other as u32]);
            }
            let all = cluster.gather_bytes(&vec![rank as u8; cluster.rank()]).unwrap();
            assert_eq!(all, [vec![], vec![1], vec![2, 2]]);
        });
    }

    #[test]
    fn ranks_of_a_machine_have_the_same_memory() {
        let found: Vec<[usize; 2]> = std::thread::scope(|scope| {
            let share = |cluster: Arc<Cluster>| {
                let shared = [4096, 8192].map(|bytes| cluster.share("a test", bytes).unwrap());
                cluster.meet().unwrap();
                shared.map(|memory| memory.as_mut_ptr() as usize)
            };
            let threads = clusters_on(&[0, 1, 0]).into_iter().map(|cluster| scope.spawn(move || share(cluster)));
            threads.collect::<Vec<_>>().into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(found[0], found[2]);
        assert!(found[0][0] != found[0][1] && found[0][0] != found[1][0], "{found:?}");
    }

    #[test]
    fn a_rank_that_fails_or_ends_is_named() {
        let errors = on_all(3, |cluster| match cluster.rank() {
            1 => {
                cluster.fail("no more memory");
                None
            }
            _ => Some(cluster.gather_bytes(b"x").unwrap_err().to_string()),
        });
        assert_eq!(errors[0].as_deref(), Some("rank 1 of 3 has failed: no more memory"));
        assert_eq!(errors[0], errors[2]);
        let errors = on_all(2, |cluster| (cluster.rank() == 0).then(|| cluster.gather_bytes(b"x").unwrap_err()));
        assert!(errors[0].as_ref().unwrap().to_string().contains("rank 1 of 2 has failed: it has ended"));
    }
}
