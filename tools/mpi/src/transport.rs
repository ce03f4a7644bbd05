//! Ranks as processes of MPI, on one machine or several.
//!
//! Values go from the exchange memory of one rank to that of another without a copy in between: non-blocking messages
//! for each piece, in the order that both ends know. Waiting ranks poll, at first without a pause and then at growing
//! intervals: blocking calls of MPI keep a core busy, which worker threads of the same machine need. Libraries move
//! bytes only while they are called, so that there is no pause as long as messages complete.
//!
//! Ranks of one machine find out at the start that they can [share memory](crate::shared), and then exchange through
//! it.
//!
//! MPI is fail-stop. An error within it ends the job; a rank that fails by itself calls [`abort`].

use crate::shared::{Address, Offer, SETTING, machines};
use mpi::environment::Universe;
use mpi::request::{RequestCollection, multiple_scope};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{
    AsDatatype, Buffer, BufferMut, Collection, Communicator, CommunicatorCollectives, Destination, Equivalence,
    Pointer, PointerMut, Source,
};
use mpi::{Count, Tag, Threading};
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::thread;
use std::time::{Duration, Instant};
use topostream::cluster::transport::{Failing, Incoming, Outgoing, Transport};
use topostream::error::{Error, Result};
use topostream_formats::Error as StoreError;
use topostream_formats::buffer::SharedMemory;

/// The tag of values and messages.
const VALUES: Tag = 1;
/// The size of a block of a gather: its length, and small contents.
const BLOCK_BYTES: usize = 256;
const LENGTH_BYTES: usize = size_of::<u64>();
/// The maximum number of words of one message: small enough that messages complete one after another.
const WORDS_MAX: usize = 1 << 16;
/// How often to look for the end of an exchange before the first pause.
const LOOKS: u32 = 50;
/// The first pause, and the longest.
const PAUSES: [Duration; 2] = [Duration::from_micros(10), Duration::from_micros(500)];
/// How long after a message has completed the next one is expected without a pause.
const MOVING: Duration = Duration::from_millis(2);
/// How long [`abort`] may take before the process ends without it.
const PATIENCE: Duration = Duration::from_secs(3);

/// The ranks of an MPI job.
pub struct Mpi {
    world: World,
    rank: usize,
    ranks: usize,
    /// The machine of each rank.
    machines: Vec<usize>,
}

/// The communicator of all ranks.
struct World(SimpleCommunicator);

#[allow(unsafe_code)]
// SAFETY: the handle of the world is a constant of the process. MPI is initialised so that any thread may call it, one
// at a time, and the transport is used by one thread at a time.
unsafe impl Send for World {}

/// Words of the exchange memory as a buffer of MPI.
struct Words<'a>(&'a [AtomicU32]);

#[allow(unsafe_code)]
// SAFETY: the pointer is that of as many words as `count` says, which stay where they are for the lifetime of the
// slice.
unsafe impl Pointer for Words<'_> {
    fn pointer(&self) -> *const c_void {
        self.0.as_ptr().cast()
    }
}

#[allow(unsafe_code)]
// SAFETY: as above. Atomic words may be written through a shared reference; nothing else accesses them before the
// transfer has ended, as `Incoming` promises.
unsafe impl PointerMut for Words<'_> {
    fn pointer_mut(&mut self) -> *mut c_void {
        self.0.as_ptr().cast_mut().cast()
    }
}

#[allow(unsafe_code)]
// SAFETY: there are this many words; callers pass at most `WORDS_MAX`.
unsafe impl Collection for Words<'_> {
    fn count(&self) -> Count {
        self.0.len() as Count
    }
}

#[allow(unsafe_code)]
// SAFETY: an atomic word has the representation of a `u32`.
unsafe impl AsDatatype for Words<'_> {
    type Out = <u32 as Equivalence>::Out;

    fn as_datatype(&self) -> Self::Out {
        u32::equivalent_datatype()
    }
}

#[allow(unsafe_code)]
// SAFETY: pointer, count and type describe the same words.
unsafe impl Buffer for Words<'_> {}
#[allow(unsafe_code)]
// SAFETY: as above.
unsafe impl BufferMut for Words<'_> {}

/// Starts MPI. Returns the value that ends it when it is dropped, and the transport between the ranks of the job: one
/// rank for a process that no launcher has started.
///
/// # Errors
/// A message, if MPI was started before, or does not allow calls from several threads.
pub fn start() -> Result<(Universe, Mpi), String> {
    let started = mpi::initialize_with_threading(Threading::Serialized);
    let (universe, threading) = started.ok_or("MPI was started before")?;
    if threading < Threading::Serialized {
        return Err(format!("this MPI library offers threads as {threading:?}; at least Serialized is needed"));
    }
    let world = universe.world();
    let (rank, ranks) = (world.rank() as usize, world.size() as usize);
    let mut mpi = Mpi { world: World(world), rank, ranks, machines: (0..ranks).collect() };
    if ranks > 1 {
        mpi.machines = mpi.find_machines();
    }
    Ok((universe, mpi))
}

/// Ends the job: this process, and all other ranks, whatever they do.
pub fn abort(code: u8) -> ! {
    // Another thread may be within MPI, which need not allow this call then.
    thread::spawn(move || {
        thread::sleep(PATIENCE);
        #[allow(unsafe_code)]
        // SAFETY: `_exit` only ends the process. Its launcher then ends the others.
        unsafe {
            libc::_exit(code.into())
        }
    });
    SimpleCommunicator::world().abort(code.into())
}

/// Waits until all requests have completed.
fn wait<D: ?Sized>(requests: &mut RequestCollection<'_, D>) {
    let mut done = Vec::new();
    let (mut looks, mut pause, mut moved) = (0, PAUSES[0], None::<Instant>);
    let mut left = requests.incomplete();
    while left > 0 {
        requests.test_some(&mut done);
        left -= done.len();
        if !done.is_empty() {
            (looks, pause, moved) = (0, PAUSES[0], Some(Instant::now()));
            continue;
        }
        looks += 1;
        if looks < LOOKS || moved.is_some_and(|at| at.elapsed() < MOVING) {
            thread::yield_now();
        } else {
            thread::sleep(pause);
            pause = (pause * 2).min(PAUSES[1]);
        }
    }
}

impl Mpi {
    /// Gathers blocks of one size.
    fn gather_blocks(&self, own: &[u8]) -> Vec<u8> {
        let mut all = vec![0u8; own.len() * self.ranks];
        multiple_scope(1, |scope, requests| {
            requests.add(self.world.0.immediate_all_gather_into(scope, own, &mut all[..]));
            wait(requests);
        });
        all
    }

    /// Finds out which ranks can share memory.
    fn find_machines(&self) -> Vec<usize> {
        let shares = std::env::var_os(SETTING).is_none_or(|set| set != "off");
        let offer = shares.then(|| Offer::new(1).ok()).flatten();
        let address = offer.as_ref().and_then(|offer| offer.address().ok());
        let addresses = self.gather(&address.map_or_else(Vec::new, |address| address.to_bytes()));
        let can_open = |bytes: &Vec<u8>| Address::of_bytes(bytes).is_some_and(|address| address.open().is_ok());
        let reached: Vec<u8> = addresses.iter().map(|bytes| u8::from(shares && can_open(bytes))).collect();
        // Nobody closes what it offers before all have tried.
        let reaches = self.gather(&reached);
        machines(&reaches.iter().map(|row| row.iter().map(|reach| *reach != 0).collect()).collect::<Vec<_>>())
    }

    /// Memory that the ranks of this machine share: the first of them makes it.
    fn share_on_machine(&self, what: &str, bytes: u64) -> Result<SharedMemory> {
        let refused = || Error::Store(StoreError::Allocation { what: what.to_owned(), bytes });
        let machine = self.machines[self.rank];
        let offer = (machine == self.rank).then(|| Offer::new(bytes));
        let address = offer.as_ref().and_then(|offer| offer.as_ref().ok()?.address().ok());
        let addresses = self.gather(&address.map_or_else(Vec::new, |address| address.to_bytes()));
        let memory = match &offer {
            Some(offer) => offer.as_ref().map_err(|_| refused()).and_then(|offer| Ok(offer.map(what, bytes)?)),
            None => {
                let file = Address::of_bytes(&addresses[machine]).and_then(|address| address.open().ok());
                file.ok_or_else(refused).and_then(|file| Ok(SharedMemory::of_file(what, &file, bytes)?))
            }
        };
        // Nobody closes what it offers before all have it.
        self.gather(&[]);
        memory
    }

    /// Gathers the bytes of all ranks.
    fn gather(&self, own: &[u8]) -> Vec<Vec<u8>> {
        let mut block = vec![0u8; BLOCK_BYTES];
        block[..LENGTH_BYTES].copy_from_slice(&(own.len() as u64).to_le_bytes());
        let small = own.len().min(BLOCK_BYTES - LENGTH_BYTES);
        block[LENGTH_BYTES..LENGTH_BYTES + small].copy_from_slice(&own[..small]);
        let blocks = self.gather_blocks(&block);
        let blocks: Vec<(usize, &[u8])> = blocks
            .chunks_exact(BLOCK_BYTES)
            .map(|block| {
                let (length, contents) = block.split_at(LENGTH_BYTES);
                (u64::from_le_bytes(length.try_into().expect("eight bytes")) as usize, contents)
            })
            .collect();
        let longest = blocks.iter().map(|(length, _)| *length).max().unwrap_or(0);
        if longest <= BLOCK_BYTES - LENGTH_BYTES {
            return blocks.iter().map(|(length, contents)| contents[..*length].to_vec()).collect();
        }
        let mut padded = own.to_vec();
        padded.resize(longest, 0);
        let all = self.gather_blocks(&padded);
        let contents = all.chunks_exact(longest).zip(&blocks);
        contents.map(|(contents, (length, _))| contents[..*length].to_vec()).collect()
    }
}

impl Transport for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn machines(&self) -> Vec<usize> {
        self.machines.clone()
    }

    fn share(&mut self, what: &str, bytes: u64) -> Result<Arc<SharedMemory>> {
        self.share_on_machine(what, bytes).map(Arc::new)
    }

    fn all_gather(&mut self, own: &[u8]) -> Result<Vec<Vec<u8>>> {
        Ok(self.gather(own))
    }

    fn transfer(&mut self, outgoing: &[Outgoing<'_>], incoming: &[Incoming<'_>]) -> Result<()> {
        if outgoing.is_empty() && incoming.is_empty() {
            return Ok(());
        }
        let parts = |rank: usize, words| <[AtomicU32]>::chunks(words, WORDS_MAX).map(move |part| (rank, Words(part)));
        let sent: Vec<_> = outgoing.iter().flat_map(|one| parts(one.to, one.words)).collect();
        let mut received: Vec<_> = incoming.iter().flat_map(|one| parts(one.from, one.words)).collect();
        let world = &self.world.0;
        multiple_scope(sent.len() + received.len(), |scope, requests| {
            for (from, words) in &mut received {
                let process = world.process_at_rank(*from as i32);
                requests.add(process.immediate_receive_into_with_tag(scope, words, VALUES));
            }
            for (to, words) in &sent {
                let process = world.process_at_rank(*to as i32);
                requests.add(process.immediate_send_with_tag(scope, words, VALUES));
            }
            wait(requests);
        });
        Ok(())
    }

    /// Nothing: the program says why it has failed, and [aborts](abort) the job.
    fn failing(&self) -> Failing {
        Box::new(|_| {})
    }
}
