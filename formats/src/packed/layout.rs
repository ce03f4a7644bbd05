//! The tables of a packed page in words, and what its numbers mean.

use crate::encoding::UNIT;
use crate::header::HEADER_BYTES;
use bytemuck::{Pod, Zeroable};

/// Neighbours, or slots, of a block.
pub const BLOCK: usize = 128;
/// Blocks of a unit.
pub(super) const UNIT_BLOCKS: usize = UNIT / BLOCK;
/// Bits of an exception's position in its block.
pub(super) const POSITION_BITS: u32 = 8;
/// Words before the tables.
pub(super) const HEADER_WORDS: usize = (HEADER_BYTES + size_of::<PackedHeader>()) / 4;

/// The 16 bytes after a packed page's [`PageHeader`](crate::header::PageHeader).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct PackedHeader {
    /// The vertex that the value 0 stands for: the first destination of the page's shard.
    pub origin: u32,
    /// The payload word at which packed degrees begin.
    pub degrees_at: u32,
    /// The number of payload words.
    pub payload_words: u32,
    /// Zero.
    pub reserved: u32,
}

/// The words of headers and tables: the smallest page with this many slots and neighbours.
pub(crate) fn table_words(slots: u64, edges: u64) -> u64 {
    let (block, unit) = (BLOCK as u64, UNIT as u64);
    HEADER_WORDS as u64 + 2 * edges.div_ceil(block) + 2 * slots.div_ceil(block) + edges.div_ceil(unit)
}

/// What turns the gaps of a unit into vertices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bases {
    /// The value before the first gap, if it continues a list.
    pub(super) before: u32,
    /// 1 if gaps are stored less one, otherwise 0.
    pub(super) step: u32,
    /// The vertex of value 0.
    pub(super) origin: u32,
    /// The largest value that is sound.
    pub(super) last: u32,
}

/// A number of either sign, close to 0 modulo 2^32, as a small number.
#[inline(always)]
pub(super) const fn zigzag(difference: u32) -> u32 {
    difference << 1 ^ ((difference as i32) >> 31) as u32
}

/// The inverse of [`zigzag`].
#[inline(always)]
pub(super) const fn unzigzag(number: u32) -> u32 {
    number >> 1 ^ (number & 1).wrapping_neg()
}
