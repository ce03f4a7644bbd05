//! The memory through which devices exchange values, and their waits for each other.

use super::{Move, PIECE_BYTES_MAX};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::time::{Duration, Instant};
use topostream_formats::Result;
use topostream_formats::buffer::{ALIGNMENT, SharedMemory};

/// Main memory that all devices of a run read and write; of a cluster, all devices of a machine, whichever rank they
/// are of.
///
/// ```text
///  piece 0 │ piece 1 │ … │ abandoned │ announcements of piece 0, of piece 1, …
/// ```
///
/// A device [announces](Self::announce) a piece when it has been written, and others [wait](Received) for the pieces
/// that they read. The counters for that are in the same memory, behind the pieces.
#[derive(Debug)]
pub struct ExchangeMemory {
    memory: Arc<SharedMemory>,
    pieces: u64,
    piece_bytes: u64,
}

/// The counters before the counters of pieces: whether a device has failed.
const ABANDONED: u64 = 0;
const COUNTERS: u64 = 1;

/// How long to sleep before looking again for what another device puts.
const LOOK: Duration = Duration::from_micros(30);

/// A wait for other devices. It has no other end than their announcements or their failure: a device that fails
/// [says so](ExchangeMemory::abandon), and each limits the time that its own work may take.
#[derive(Debug)]
pub struct Wait {
    spin: Duration,
    since: Instant,
}

impl Wait {
    /// A wait that polls for a time before it sleeps between looks.
    pub fn new(spin: Duration) -> Self {
        Self { spin, since: Instant::now() }
    }

    /// Passes the time until the next look, if the last one has found nothing new. False if a device has failed: the
    /// run ends with its error.
    pub fn goes_on(&mut self, memory: &ExchangeMemory, found: bool) -> bool {
        if found {
            self.since = Instant::now();
        } else if memory.is_abandoned() {
            return false;
        } else if self.idle() < self.spin {
            std::hint::spin_loop();
        } else {
            // Another device still computes, perhaps on this thread's core.
            std::thread::sleep(LOOK);
        }
        true
    }

    /// The time since anything new was found.
    pub fn idle(&self) -> Duration {
        self.since.elapsed()
    }
}

/// What a device has read: for each offset in the exchange memory, how many of the announcements. A device reads all
/// that is announced of a piece, each time before it is announced again.
#[derive(Debug, Default)]
pub struct Received(HashMap<u64, u64>);

impl Received {
    /// Nothing of what will be announced from now on.
    pub fn new(memory: &ExchangeMemory) -> Self {
        let places = (0..memory.pieces).map(|piece| piece * memory.piece_bytes);
        Self(places.map(|at| (at, memory.announced(at))).collect())
    }

    /// Whether the piece at an offset has been announced once more than it has been read.
    pub fn is_there(&self, memory: &ExchangeMemory, at: u64) -> bool {
        memory.announced(at) > self.0.get(&at).copied().unwrap_or(0)
    }

    /// Counts a piece as read once more.
    pub fn count(&mut self, at: u64) {
        *self.0.entry(at).or_insert(0) += 1;
    }

    /// Whether what a move reads is there. Counts it as read if it is.
    pub fn arrives(&mut self, memory: &ExchangeMemory, one: &Move) -> bool {
        let Some(at) = one.reads() else { return true };
        let arrives = self.is_there(memory, at);
        if arrives {
            self.count(at);
        }
        arrives
    }

    /// Waits until what moves read is there. False if another device has failed.
    pub fn wait(&mut self, memory: &ExchangeMemory, moves: &[Move], spin: Duration) -> bool {
        let mut wait = Wait::new(spin);
        moves.iter().all(|one| {
            while !self.arrives(memory, one) {
                if !wait.goes_on(memory, false) {
                    return false;
                }
            }
            true
        })
    }
}

impl ExchangeMemory {
    /// Allocates `pieces` zeroed pieces of `piece_bytes` each, a power of two from 4096 to [`PIECE_BYTES_MAX`]. One
    /// move accesses a single piece, so a device may bind the memory in chunks of any number of pieces.
    ///
    /// # Errors
    /// [`Error::Allocation`](topostream_formats::Error::Allocation) if the memory cannot be allocated.
    pub fn new(pieces: u64, piece_bytes: u64) -> Result<Self> {
        let memory = SharedMemory::new(Self::NAME, Self::bytes(pieces, piece_bytes))?;
        Ok(Self::over(Arc::new(memory), pieces, piece_bytes))
    }

    /// What errors call it.
    pub const NAME: &'static str = "the exchange memory";

    /// The number of bytes of this many pieces, and the counters.
    pub fn bytes(pieces: u64, piece_bytes: u64) -> u64 {
        let pieces = pieces.max(1);
        let counters = (COUNTERS.saturating_add(pieces)).saturating_mul(8).checked_next_multiple_of(ALIGNMENT as u64);
        pieces.saturating_mul(piece_bytes).saturating_add(counters.unwrap_or(u64::MAX))
    }

    /// Takes zeroed memory that has been allocated for this many pieces; other processes may take it, too.
    ///
    /// # Panics
    /// If it has not as many [bytes](Self::bytes).
    pub fn over(memory: Arc<SharedMemory>, pieces: u64, piece_bytes: u64) -> Self {
        let sound = piece_bytes.is_power_of_two() && (4096..=PIECE_BYTES_MAX).contains(&piece_bytes);
        assert!(sound, "pieces of {piece_bytes} bytes");
        assert_eq!(memory.len() as u64, Self::bytes(pieces, piece_bytes), "bytes of {pieces} pieces");
        Self { memory, pieces: pieces.max(1), piece_bytes }
    }

    /// Returns whether it has `pieces` pieces of `piece_bytes` each.
    pub fn is_of(&self, pieces: u64, piece_bytes: u64) -> bool {
        (self.pieces, self.piece_bytes) == (pieces.max(1), piece_bytes)
    }

    /// Announces what a move has written: others may read it now.
    pub fn announce(&self, one: &Move) {
        if let Some(at) = one.writes() {
            self.announcements(at).fetch_add(1, Release);
        }
    }

    /// How often the piece with this offset has been announced.
    pub fn announced(&self, at: u64) -> u64 {
        self.announcements(at).load(Acquire)
    }

    /// Tells the other devices that a device has failed: values that they wait for may never be announced.
    pub fn abandon(&self) {
        self.counter(ABANDONED).store(1, Relaxed);
    }

    /// Whether a device has failed. The memory is of no use then.
    pub fn is_abandoned(&self) -> bool {
        self.counter(ABANDONED).load(Relaxed) != 0
    }

    fn announcements(&self, at: u64) -> &AtomicU64 {
        self.counter(COUNTERS + at / self.piece_bytes)
    }

    fn counter(&self, number: u64) -> &AtomicU64 {
        assert!(number < COUNTERS + self.pieces, "counter {number} of {} pieces", self.pieces);
        let start = self.memory.as_mut_ptr().wrapping_add((self.pieces * self.piece_bytes) as usize);
        #[allow(unsafe_code)]
        // SAFETY: the counters are behind the pieces, within the memory, aligned, and zeroed at first; they are only
        // accessed as atomics, by all processes that share them.
        unsafe {
            &*start.cast::<AtomicU64>().wrapping_add(number as usize)
        }
    }

    /// The memory by address, for devices that import it. This program accesses it as atomic words only.
    pub fn memory(&self) -> &SharedMemory {
        &self.memory
    }

    /// The size of a piece, in bytes. One move accesses a single piece.
    pub fn piece_bytes(&self) -> u64 {
        self.piece_bytes
    }

    /// Returns `count` words of 4 bytes from offset `at`, in bytes.
    ///
    /// # Panics
    /// If they are not within the memory.
    pub fn words(&self, at: u64, count: u64) -> &[AtomicU32] {
        let end = count.checked_mul(4).and_then(|bytes| bytes.checked_add(at));
        let within = end.is_some_and(|end| end <= self.pieces * self.piece_bytes);
        assert!(at.is_multiple_of(4) && within, "{count} words at {at} of the exchange");
        let start = self.memory.as_mut_ptr().wrapping_add(at as usize).cast::<AtomicU32>();
        #[allow(unsafe_code)]
        // SAFETY: the words are within the memory, aligned, and initialised (zeroed, or written as words); they are
        // only accessed as atomics. The words that a device writes are read only after the device has finished.
        unsafe {
            std::slice::from_raw_parts(start, count as usize)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::exchange::Values;

    #[test]
    fn words_are_where_they_were_put() {
        let memory = ExchangeMemory::new(1, 4096).unwrap();
        memory.words(16, 2)[1].store(7, Relaxed);
        assert_eq!(memory.words(0, 16)[5].load(Relaxed), 7);
        assert!(memory.is_of(1, 4096) && memory.memory().len() == 2 * 4096);
        // The same memory, as another rank of the machine sees it.
        let other = ExchangeMemory::over(Arc::clone(&memory.memory), 1, 4096);
        memory.announce(&Move::Put { values: Values::all(0, 0..4), at: 0 });
        assert_eq!((other.words(20, 1)[0].load(Relaxed), other.announced(0)), (7, 1));
    }

    #[test]
    fn values_arrive_once_for_each_announcement() {
        let memory = ExchangeMemory::new(2, 4096).unwrap();
        let put = |at| Move::Put { values: Values::all(0, 0..8), at };
        let take = |at| Move::Take { values: Values::all(0, 0..8), at };
        memory.announce(&put(4096));
        let [mut early, mut late] = [Received(HashMap::new()), Received::new(&memory)];
        assert!(!early.arrives(&memory, &take(0)), "never announced");
        assert!(early.arrives(&memory, &take(4096)));
        assert!(!late.arrives(&memory, &take(4096)), "announced before its run");
        assert!(!early.arrives(&memory, &take(4096)), "announced once");
        memory.announce(&put(4096));
        assert!(early.arrives(&memory, &take(4096)) && late.arrives(&memory, &take(4096)));
        memory.announce(&Move::Collect { vertices: 0..8, at: 4096 });
        let apply = Move::Apply { vertices: 0..8, at: 4096 };
        assert!(early.arrives(&memory, &apply) && !early.arrives(&memory, &take(4096)), "a piece is a piece");
        assert!(late.is_there(&memory, 4096) && late.arrives(&memory, &take(4096)) && !late.is_there(&memory, 4096));
        let clear = Move::Clear(Values::all(0, 0..8));
        memory.announce(&clear);
        assert!(early.arrives(&memory, &clear), "it reads nothing of others");
        assert!(early.wait(&memory, &[clear], Duration::ZERO));
        memory.abandon();
        assert!(!early.wait(&memory, &[take(4096)], Duration::ZERO), "a device has failed");
    }

    #[test]
    #[should_panic(expected = "2 words at 4092")]
    fn words_beyond_the_end_are_refused() {
        ExchangeMemory::new(1, 4096).unwrap().words(4092, 2);
    }

    /// The length in bytes is 0 modulo 2^64.
    #[test]
    #[should_panic(expected = "4611686018427387904 words at 0")]
    fn words_beyond_all_addresses_are_refused() {
        ExchangeMemory::new(1, 4096).unwrap().words(0, 1 << 62);
    }

    #[test]
    fn too_much_memory_is_an_error() {
        assert!(ExchangeMemory::new(u64::MAX, 4096).is_err());
    }
}
