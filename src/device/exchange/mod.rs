//! The exchange of values between devices, through pinned main memory.
//!
//! ```text
//!  device 0 ── Put ──▶ ┌──────────────────┐ ──▶ Merge ── device 1     a round: all devices make their moves at the
//!  device 1 ── Put ──▶ │ exchange memory  │ ──▶ Merge ── device 0     same time; a move reads only what another one
//!           Collect ─▶ └──────────────────┘ ──▶ Take, Apply           wrote in an earlier round
//! ```
//!
//! A gather has no rounds: each device announces the parts that it has put, and takes those of others as they are
//! announced. While a GPU's copy engine puts, its kernels take: the bus is busy in both directions.
//!
//! There is no portable way to copy directly between devices. Two adapters of one host read and write main memory at
//! full speed at the same time (docs/benchmarks.md), so nothing is lost by going through it. The team's schedule
//! decides which moves are made when; a device only executes them.

pub mod message;

use crate::model::algorithm::{Declaration, Ends, Graph};
use crate::model::attributes::{Attribute, AttributeType, Role};
pub use crate::model::vertex_lists::VertexList;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};
use topostream_formats::buffer::{ALIGNMENT, SharedMemory};
use topostream_formats::{Direction, Result};

/// The maximum size of a piece, in bytes.
pub const PIECE_BYTES_MAX: u64 = 64 << 20;
/// A piece takes at most this part of a GPU's memory, where it has room for one of the messages that it sends or
/// receives: what is left is for values and pages.
pub const PIECES_OF_MEMORY: u64 = 16;
/// Messages are not divided further below this size to save memory.
pub const PIECE_BYTES_MIN: u64 = 512 << 10;
/// The maximum size of a piece of consecutive values, in bytes: small compared with the memory of any device, large
/// enough to keep a bus busy.
pub const DENSE_BYTES_MAX: u64 = 8 << 20;
/// Pieces are not divided further below this size: a move costs some ten microseconds besides its bytes.
pub const DENSE_BYTES_MIN: u64 = 512 << 10;
/// The number of pieces that a device's values of 8 bytes are divided into, between these sizes: others receive one
/// while the next is being sent.
pub const DENSE_PIECES: u64 = 16;

/// The values of an attribute, of the vertices of a range that are in a list, ascending and without gaps: one word of 4
/// bytes for each `u32` or `f32`, two words for each fixed-point sum (low word first). Bits are the words of 32 vertices
/// that the range touches, from word `vertices.start / 32` on; only the bits of the range count. Lists that do not
/// contain all vertices are for attributes of one word a vertex.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Values {
    /// The attribute, by its place in the declaration.
    pub attribute: usize,
    /// The list.
    pub list: VertexList,
    /// The range of vertices.
    pub vertices: Range<u64>,
}

impl Values {
    /// The values of all vertices of a range.
    pub fn all(attribute: usize, vertices: Range<u64>) -> Self {
        Self { attribute, list: VertexList::All, vertices }
    }

    /// The number of words of 4 bytes.
    pub fn words(&self, declared: &[Attribute], graph: &Graph) -> u64 {
        match self.list {
            VertexList::All => declared[self.attribute].words(&self.vertices),
            list => graph.vertex_lists().among(list, &self.vertices).len() as u64,
        }
    }
}

/// One operation of a device in an exchange. Offsets (`at`) are in bytes from the start of the exchange memory, and
/// multiples of 16.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Move {
    /// Writes the device's values to the exchange memory.
    Put {
        /// The values.
        values: Values,
        /// The destination in the exchange memory.
        at: u64,
    },
    /// Merges what another device has put into the device's values, as the attribute declares.
    Merge {
        /// The values.
        values: Values,
        /// The source in the exchange memory.
        at: u64,
    },
    /// Replaces the device's values by what another device has put.
    Take {
        /// The values.
        values: Values,
        /// The source in the exchange memory.
        at: u64,
    },
    /// Sets the device's values to zero.
    Clear(Values),
    /// Writes a [message](message): the vertices of the range that the superstep has activated on this device, and
    /// their values.
    Collect {
        /// The range of vertices; its start is a multiple of [`BLOCK_VERTICES`](message::BLOCK_VERTICES).
        vertices: Range<u64>,
        /// The destination in the exchange memory.
        at: u64,
    },
    /// Applies another device's message.
    Apply {
        /// The range of vertices that the message is about.
        vertices: Range<u64>,
        /// The source in the exchange memory.
        at: u64,
    },
}

impl Move {
    /// The values that it moves; none of messages.
    pub fn values(&self) -> Option<&Values> {
        match self {
            Self::Put { values, .. } | Self::Merge { values, .. } | Self::Take { values, .. } | Self::Clear(values) => {
                Some(values)
            }
            Self::Collect { .. } | Self::Apply { .. } => None,
        }
    }

    /// The place in the exchange memory that it writes.
    pub fn writes(&self) -> Option<u64> {
        match self {
            Self::Put { at, .. } | Self::Collect { at, .. } => Some(*at),
            Self::Merge { .. } | Self::Take { .. } | Self::Clear(_) | Self::Apply { .. } => None,
        }
    }

    /// The place in the exchange memory that it reads.
    pub fn reads(&self) -> Option<u64> {
        match self {
            Self::Merge { at, .. } | Self::Take { at, .. } | Self::Apply { at, .. } => Some(*at),
            Self::Put { .. } | Self::Clear(_) | Self::Collect { .. } => None,
        }
    }

    /// The same move at another place in the exchange memory.
    #[must_use]
    pub fn placed(mut self, place: impl FnOnce(u64) -> u64) -> Self {
        match &mut self {
            Self::Put { at, .. }
            | Self::Merge { at, .. }
            | Self::Take { at, .. }
            | Self::Collect { at, .. }
            | Self::Apply { at, .. } => *at = place(*at),
            Self::Clear(_) => {}
        }
        self
    }
}

/// What a device sends and receives in a gather.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gather {
    /// The moves that send.
    pub put: Vec<Move>,
    /// The moves that receive what others put.
    pub take: Vec<Move>,
}

/// Main memory that all devices of a run read and write; of a cluster, all devices of a machine, whichever rank they
/// are of.
///
/// ```text
///  piece 0 │ piece 1 │ … │ arrivals, abandoned │ announcements of piece 0, of piece 1, …
/// ```
///
/// In a round, devices wait for each other. In a gather they do not: a device [announces](Self::announce) each part as
/// soon as it has been written, and others [wait](Received) for the parts that they take, so that sending and receiving
/// overlap. The counters for that are in the same memory, behind the pieces.
#[derive(Debug)]
pub struct ExchangeMemory {
    memory: Arc<SharedMemory>,
    pieces: u64,
    piece_bytes: u64,
}

/// The counters before those of pieces: how often devices have [arrived](ExchangeMemory::arrive), and whether one has
/// failed.
const ARRIVALS: u64 = 0;
const ABANDONED: u64 = 1;
const COUNTERS: u64 = 2;

/// What a device has received: for each offset in the exchange memory, how many of the announcements.
#[derive(Debug, Default)]
pub struct Received(HashMap<u64, u64>);

impl Received {
    /// Nothing of what will be announced from now on.
    pub fn new(memory: &ExchangeMemory) -> Self {
        let places = (0..memory.pieces).map(|piece| piece * memory.piece_bytes);
        Self(places.map(|at| (at, memory.announced(at))).collect())
    }

    /// Whether the values of a move are there: of a take, whether they have been announced once more than this device
    /// has taken them. Counts them as taken if they are.
    pub fn arrives(&mut self, memory: &ExchangeMemory, one: &Move) -> bool {
        let Move::Take { at, .. } = one else { return true };
        let announced = memory.announced(*at);
        let taken = self.0.entry(*at).or_insert(0);
        let arrives = announced > *taken;
        *taken += u64::from(arrives);
        arrives
    }

    /// Counts the values of a move in a round as taken: they are there.
    pub fn take(&mut self, memory: &ExchangeMemory, one: &Move) {
        while self.arrives(memory, one) && matches!(one, Move::Take { .. }) {}
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

    /// Announces the values that a move has written: others may read them now.
    pub fn announce(&self, one: &Move) {
        if let Move::Put { at, .. } = one {
            self.announcements(*at).fetch_add(1, Release);
        }
    }

    /// How often values have been announced in the piece with this offset: of a gather, a piece has those of one move.
    pub fn announced(&self, at: u64) -> u64 {
        self.announcements(at).load(Acquire)
    }

    /// Says that a device has written its messages of a superstep.
    pub fn arrive(&self) {
        self.counter(ARRIVALS).fetch_add(1, Release);
    }

    /// How often devices have arrived: when all have in a superstep, their messages are there.
    pub fn arrivals(&self) -> u64 {
        self.counter(ARRIVALS).load(Acquire)
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

/// Returns the role of the attributes of an algorithm with vertex phases whose values other devices read only where a
/// vertex has out-edges to their own vertices: through in-edges, or, if devices hold what edges write for their own
/// vertices only (`sharded`), with an out-list. These values can be sent by list, for some vertices only.
pub fn listed_role(declaration: &Declaration, sharded: bool) -> Option<Role> {
    if declaration.traversal {
        return None;
    }
    let all = |wanted| declaration.visits.iter().all(|&(direction, _)| direction == wanted);
    let role = match () {
        () if all(Direction::In) => Role::Gathered,
        () if all(Direction::Out) && sharded && declaration.writes.over(Direction::Out) == Ends::Neighbour => {
            Role::ReadOnly
        }
        () => return None,
    };
    declaration.attributes.iter().any(|attribute| is_listed(attribute, Some(role))).then_some(role)
}

/// Returns whether an attribute's values are sent by list, if those of `role` are.
pub fn is_listed(attribute: &Attribute, role: Option<Role>) -> bool {
    role == Some(attribute.role) && matches!(attribute.of, AttributeType::U32 | AttributeType::F32)
}

/// Returns whether a device may hold an attribute's values of own and bordering vertices only: those that it reads.
/// Bits take less memory than the table that finds places.
pub fn may_border(attribute: &Attribute) -> bool {
    match attribute.of {
        AttributeType::U32 | AttributeType::F32 => matches!(attribute.role, Role::Gathered | Role::Writable),
        // They are sent in messages only.
        AttributeType::U64 => attribute.role == Role::Writable,
        AttributeType::F64 | AttributeType::Fixed63 | AttributeType::Bit => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_where_they_were_put() {
        let memory = ExchangeMemory::new(1, 4096).unwrap();
        memory.words(16, 2)[1].store(7, Relaxed);
        assert_eq!(memory.words(0, 16)[5].load(Relaxed), 7);
        assert!(memory.is_of(1, 4096) && memory.memory().len() == 2 * 4096);
        // The same memory, as another rank of the machine sees it.
        let other = ExchangeMemory::over(Arc::clone(&memory.memory), 1, 4096);
        memory.announce(&Move::Put { values: Values::all(0, 0..4), at: 0 });
        memory.arrive();
        assert_eq!((other.words(20, 1)[0].load(Relaxed), other.announced(0), other.arrivals()), (7, 1, 1));
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
        memory.announce(&put(4096));
        early.take(&memory, &take(4096));
        assert!(!early.arrives(&memory, &take(4096)) && late.arrives(&memory, &take(4096)), "taken in a round");
        let clear = Move::Clear(Values::all(0, 0..8));
        memory.announce(&clear);
        assert!(early.arrives(&memory, &clear), "it reads nothing of others");
        assert!(!memory.is_abandoned());
        memory.abandon();
        assert!(memory.is_abandoned());
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
