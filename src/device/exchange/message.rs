//! Messages: the changes that a traversal has made on one device, for the others. Only vertices that the superstep has
//! activated are in it (vertex refinement: Khorasani, Gupta and Bhuyan, PACT 2015).
//!
//! A message is about a range of vertices that begins at a multiple of [`BLOCK_VERTICES`], and takes these words of 4
//! bytes:
//!
//! ```text
//!             0       1   2 3   4
//!  sparse:  │ count │ 0 │ 0 0 │ vertex × count                     │ flags × count, if any bits │ values │ values │ …
//!  dense:   │ count │ 1 │ 0 0 │ active bits │ bits of each bit set │ bases                      │ values │ values │ …
//! ```
//!
//! - `count`: activated vertices. A message without any is its header alone.
//! - Sparse: the vertices, in any order; then, where the algorithm has bit attributes, one word for each vertex with
//!   bit k set if it is in the k-th of those; then for each other attribute that edges write, in the order of
//!   declaration, a value for each vertex.
//! - Dense: a bit for each vertex of the range; the words of each bit attribute over the range (whole sets: they merge
//!   by OR); for each block of [`BLOCK_VERTICES`] the number of values before its own; then the values of activated
//!   vertices, in ascending order within a block, the blocks in any order.
//!
//! Whichever takes fewer words is sent; where they take as many, the sparse one.

use crate::model::attributes::{Attribute, AttributeType, Role};
use std::ops::Range;

/// Vertices of a block: 256 words of 32 bits, a workgroup's share.
pub const BLOCK_VERTICES: u64 = 8192;
/// Words of a message before its contents.
pub const HEADER_WORDS: u64 = 4;
/// The second word of a sparse message.
pub const SPARSE: u32 = 0;
/// The second word of a dense message.
pub const DENSE: u32 = 1;

/// The attributes that a message carries, which decide where its parts lie.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MessageLayout {
    /// Bit attributes, by their places in the declaration.
    pub bits: Vec<usize>,
    /// Attributes of one word a vertex, by their places in the declaration.
    pub values: Vec<usize>,
}

/// Where the parts of one message begin, in words from its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// Sparse: the vertices. Dense: the active bits.
    pub vertices: u64,
    /// Sparse: the flags. Dense: the words of bit attributes, one set after the other.
    pub bits: u64,
    /// Dense: the bases of blocks.
    pub bases: u64,
    /// The values, one attribute after the other.
    pub values: u64,
    /// Words of the whole message.
    pub words: u64,
}

impl MessageLayout {
    /// The messages of an algorithm. Under Strategy-P they carry everything that edges write; under Strategy-S, where
    /// values have one owner, only what other devices read.
    ///
    /// # Panics
    /// Where a traversal writes numbers of 64 bits: a sum does not show what has been added to it.
    pub fn new(declared: &[Attribute], sharded: bool) -> Self {
        let sent = |attribute: &Attribute| match sharded {
            false => attribute.role.is_written(),
            true => attribute.role == Role::Writable,
        };
        let (mut bits, mut values) = (Vec::new(), Vec::new());
        for (place, attribute) in declared.iter().enumerate().filter(|(_, attribute)| sent(attribute)) {
            match attribute.of {
                AttributeType::Bit => bits.push(place),
                AttributeType::U32 | AttributeType::F32 => values.push(place),
                AttributeType::Fixed63 | AttributeType::U64 => {
                    panic!("{}: traversals write no numbers of 64 bits", attribute.name)
                }
            }
        }
        Self { bits, values }
    }

    /// Where the parts of a sparse message lie.
    pub fn sparse(&self, count: u64) -> Places {
        let bits = HEADER_WORDS + count;
        let values = bits + if self.bits.is_empty() { 0 } else { count };
        Places { vertices: HEADER_WORDS, bits, bases: values, values, words: values + self.values.len() as u64 * count }
    }

    /// Where the parts of a dense message lie.
    pub fn dense(&self, vertices: &Range<u64>, count: u64) -> Places {
        let words = words_of(vertices);
        let bits = HEADER_WORDS + words;
        let bases = bits + words * self.bits.len() as u64;
        let values = bases + blocks_of(vertices);
        Places { vertices: HEADER_WORDS, bits, bases, values, words: values + self.values.len() as u64 * count }
    }

    /// Whether a message with `count` vertices is sparse, and where its parts lie.
    pub fn choose(&self, vertices: &Range<u64>, count: u64) -> (bool, Places) {
        let (sparse, dense) = (self.sparse(count), self.dense(vertices, count));
        if sparse.words <= dense.words { (true, sparse) } else { (false, dense) }
    }

    /// The most words of a message about these vertices, a multiple of 4.
    pub fn words_max(&self, vertices: &Range<u64>) -> u64 {
        self.dense(vertices, vertices.end - vertices.start).words.next_multiple_of(4)
    }

    /// The most blocks that a message of at most `bytes` bytes can cover.
    pub fn blocks_max(&self, bytes: u64) -> u64 {
        let words = |blocks: u64| self.words_max(&(0..blocks * BLOCK_VERTICES));
        let by_block = words(1) - HEADER_WORDS;
        ((bytes / 4).saturating_sub(HEADER_WORDS) / by_block).max(1)
    }
}

/// Words of 32 bits for a range.
pub fn words_of(vertices: &Range<u64>) -> u64 {
    (vertices.end - vertices.start).div_ceil(32)
}

/// Blocks of a range.
pub fn blocks_of(vertices: &Range<u64>) -> u64 {
    (vertices.end - vertices.start).div_ceil(BLOCK_VERTICES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::attributes::{Initial, Merge};

    fn attribute(of: AttributeType, role: Role) -> Attribute {
        Attribute { name: "any", of, role, merge: Merge::Min, initial: Initial::Bits(0) }
    }

    fn layout() -> MessageLayout {
        let bit = attribute(AttributeType::Bit, Role::Accumulated);
        let value = attribute(AttributeType::U32, Role::Writable);
        let other = attribute(AttributeType::U32, Role::Accumulated);
        let read = attribute(AttributeType::F32, Role::Gathered);
        let layout = MessageLayout::new(&[value, bit, read, other], false);
        assert_eq!(layout, MessageLayout { bits: vec![1], values: vec![0, 3] });
        assert_eq!(
            MessageLayout::new(&[value, bit, read, other], true),
            MessageLayout { bits: vec![], values: vec![0] }
        );
        layout
    }

    #[test]
    fn few_vertices_are_sent_by_number_and_many_as_bits() {
        let (layout, vertices) = (layout(), 0..100 * BLOCK_VERTICES);
        let words = words_of(&vertices);
        // A sparse message has two words more for each vertex; a dense one the words of two sets, and the bases.
        let even = (2 * words + 100) / 2;
        assert!(layout.choose(&vertices, even).0 && !layout.choose(&vertices, even + 1).0);
        assert_eq!(layout.sparse(5), Places { vertices: 4, bits: 9, bases: 14, values: 14, words: 24 });
        let dense = layout.dense(&(0..8200), 3);
        assert_eq!(dense, Places { vertices: 4, bits: 261, bases: 518, values: 520, words: 526 });
    }

    #[test]
    fn as_many_blocks_fit_as_are_said_to() {
        let layout = layout();
        for bytes in [1 << 17, 1 << 20, (1 << 23) - 16, 1 << 23] {
            let blocks = layout.blocks_max(bytes);
            assert!(4 * layout.words_max(&(0..blocks * BLOCK_VERTICES)) <= bytes);
            assert!(4 * layout.words_max(&(0..(blocks + 1) * BLOCK_VERTICES)) > bytes);
        }
    }
}
