//! Exchange between devices: moves of values from one to another, between supersteps, through pinned main memory.
//!
//! ```text
//!  device 0 ── Put ──▶ ┌──────────────────┐ ──▶ Merge ── device 1     a round: all devices make their moves at once,
//!  device 1 ── Put ──▶ │ exchange memory  │ ──▶ Merge ── device 0     and read what was written a round before
//!           Collect ─▶ └──────────────────┘ ──▶ Take, Apply
//! ```
//!
//! There are no portable copies between devices, and two adapters of one host read and write main memory at full speed
//! at the same time (docs/benchmarks.md), so that nothing is lost by going through it. Which moves are made when is
//! decided by the schedule of a team; a device makes the moves that it is given.
//!
//! Used by the devices, which make moves, and by `team`, which plans them. Knows attributes and vertices; not devices,
//! and not schedules.

pub mod message;

use crate::model::algorithm::Visit;
use crate::model::attributes::{Attribute, AttributeType, Role};
use std::ops::Range;
use std::sync::atomic::AtomicU32;
use topostream_formats::buffer::SharedMemory;
use topostream_formats::{Direction, Result};

/// The most bytes of a piece.
pub const PIECE_BYTES_MAX: u64 = 64 << 20;
/// The most bytes of a piece of consecutive values: little beside the memory of any device, and enough to keep a bus
/// busy.
pub const DENSE_BYTES_MAX: u64 = 8 << 20;

/// One step of a round on one device. Places (`at`) are in bytes from the beginning of the exchange memory, and
/// multiples of 16.
///
/// Dense moves are of the values of consecutive vertices: one word of 4 bytes each for `u32` and `f32`, two for
/// fixed-point sums (low word first), and for bits the words of 32 vertices that the range touches (the first is that
/// of `vertices.start / 32`), in which only the bits of the range count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Move {
    /// Writes the device's values to the exchange memory.
    Put {
        /// The attribute, by its place in the declaration.
        attribute: usize,
        /// Whose values.
        vertices: Range<u64>,
        /// Where to.
        at: u64,
    },
    /// Merges what another device has put into the device's values, as the attribute declares.
    Merge {
        /// The attribute, by its place in the declaration.
        attribute: usize,
        /// Whose values.
        vertices: Range<u64>,
        /// Where from.
        at: u64,
    },
    /// Replaces the device's values by what another device has put.
    Take {
        /// The attribute, by its place in the declaration.
        attribute: usize,
        /// Whose values.
        vertices: Range<u64>,
        /// Where from.
        at: u64,
    },
    /// As [`Put`](Self::Put), of those vertices only that have out-edges, one after the other: all that is ever read
    /// at the other end of an in-edge. Of attributes of one word a vertex.
    Pack {
        /// The attribute, by its place in the declaration.
        attribute: usize,
        /// Among which vertices.
        vertices: Range<u64>,
        /// Where to.
        at: u64,
    },
    /// As [`Take`](Self::Take), of what another device has packed.
    Unpack {
        /// The attribute, by its place in the declaration.
        attribute: usize,
        /// Among which vertices.
        vertices: Range<u64>,
        /// Where from.
        at: u64,
    },
    /// Sets the device's values to zero.
    Clear {
        /// The attribute, by its place in the declaration.
        attribute: usize,
        /// Whose values.
        vertices: Range<u64>,
    },
    /// Writes a [message](message): which of these vertices the superstep has activated here, and their values.
    Collect {
        /// Which vertices are looked at: the first is a multiple of [`BLOCK_VERTICES`](message::BLOCK_VERTICES).
        vertices: Range<u64>,
        /// Where to.
        at: u64,
    },
    /// Applies a message of another device about these vertices.
    Apply {
        /// Which vertices were looked at.
        vertices: Range<u64>,
        /// Where from.
        at: u64,
    },
}

/// Main memory that all devices of a run write to and read from.
#[derive(Debug)]
pub struct ExchangeMemory {
    memory: SharedMemory,
    piece_bytes: u64,
}

impl ExchangeMemory {
    /// Allocates so many pieces, zeroed, of `piece_bytes` each: a power of two from 4096 to [`PIECE_BYTES_MAX`]. What
    /// one move writes or reads lies within a piece, so that a device may bind the memory in chunks of any number of
    /// pieces.
    ///
    /// # Errors
    /// [`Error::Allocation`](topostream_formats::Error::Allocation) where the system refuses the memory.
    pub fn new(pieces: u64, piece_bytes: u64) -> Result<Self> {
        let sound = piece_bytes.is_power_of_two() && (4096..=PIECE_BYTES_MAX).contains(&piece_bytes);
        assert!(sound, "pieces of {piece_bytes} bytes");
        let memory = SharedMemory::new("the exchange between devices", pieces.max(1).saturating_mul(piece_bytes))?;
        Ok(Self { memory, piece_bytes })
    }

    /// Whether it has `pieces` pieces of `piece_bytes` bytes.
    pub fn is_of(&self, pieces: u64, piece_bytes: u64) -> bool {
        (self.memory.len() as u64, self.piece_bytes) == (pieces.max(1) * piece_bytes, piece_bytes)
    }

    /// The memory by address, for a device that imports it. This program looks at it as atomic words only.
    pub fn memory(&self) -> &SharedMemory {
        &self.memory
    }

    /// The size of a piece: what one move writes or reads lies within one.
    pub fn piece_bytes(&self) -> u64 {
        self.piece_bytes
    }

    /// The `count` words from byte `at` on.
    ///
    /// # Panics
    /// Where they are not within the memory.
    pub fn words(&self, at: u64, count: u64) -> &[AtomicU32] {
        let end = count.checked_mul(4).and_then(|bytes| bytes.checked_add(at));
        let within = end.is_some_and(|end| end <= self.memory.len() as u64);
        assert!(at.is_multiple_of(4) && within, "{count} words at {at} of the exchange");
        let start = self.memory.as_mut_ptr().wrapping_add(at as usize).cast::<AtomicU32>();
        #[allow(unsafe_code)]
        // SAFETY: the words are within the memory, aligned, and initialised (zeroed, or written as words); they are
        // only ever seen as atomics. A device that writes here is waited for before its words are read.
        unsafe {
            std::slice::from_raw_parts(start, count as usize)
        }
    }
}

/// Whether an algorithm has something that is read at the other end of in-edges only: those are vertices with
/// out-edges.
pub fn packs(declared: &[Attribute], visits: &[(Direction, Visit)]) -> bool {
    declared.iter().any(is_packed) && visits.iter().all(|&(direction, _)| direction == Direction::In)
}

/// Whether an attribute is sent for vertices with out-edges only, where that is done at all.
pub fn is_packed(attribute: &Attribute) -> bool {
    attribute.role == Role::Gathered && matches!(attribute.of, AttributeType::U32 | AttributeType::F32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn words_are_where_they_were_put() {
        let memory = ExchangeMemory::new(1, 4096).unwrap();
        memory.words(16, 2)[1].store(7, Relaxed);
        assert_eq!(memory.words(0, 16)[5].load(Relaxed), 7);
        assert!(memory.is_of(1, 4096) && memory.memory().len() == 4096);
    }

    #[test]
    #[should_panic(expected = "2 words at 4092")]
    fn words_beyond_the_end_are_refused() {
        ExchangeMemory::new(1, 4096).unwrap().words(4092, 2);
    }

    /// A length that comes to nothing modulo 2^64.
    #[test]
    #[should_panic(expected = "4611686018427387904 words at 0")]
    fn words_beyond_all_addresses_are_refused() {
        ExchangeMemory::new(1, 4096).unwrap().words(0, 1 << 62);
    }

    #[test]
    fn more_than_there_can_be_is_an_error() {
        assert!(ExchangeMemory::new(u64::MAX, 4096).is_err());
    }
}
