//! Messages: the changes of a traversal on one device, for the others. A message contains only vertices that the
//! superstep has activated (vertex refinement: Khorasani, Gupta and Bhuyan, PACT 2015).
//!
//! A message is about a range of vertices that starts at a multiple of [`BLOCK_VERTICES`]. It consists of words of 4
//! bytes:
//!
//! ```text
//!             0        1      2 3   4
//!  sparse:  │ count │ 0 │ 0 0 │ vertex × count                       │ flags × count (if bits) │ values │ values │ …
//!  dense:   │ count │ 1 │ 0 0 │ active bits │ bits of each bit set … │ bases                   │ values │ values │ …
//! ```
//!
//! - `count`: the number of activated vertices. If it is 0, the message is its header alone.
//! - Bit attributes that follow activations ([`Merge::Activation`]) have no place: receivers set them where vertices
//!   are activated.
//! - Sparse: the vertices, in any order; then, if the message carries bit attributes, one word for each vertex, with
//!   bit k set if it is in the k-th of them; then for each other attribute, in the order of declaration, a value for
//!   each vertex. 64-bit integers are two such values, their low words and then their high words.
//! - Dense: a bit for each vertex of the range; the words of each bit attribute over the range (whole sets: they merge
//!   by OR); for each block of [`BLOCK_VERTICES`] the number of values before its own; then the values of the activated
//!   vertices, ascending within a block, blocks in any order.
//!
//! The shorter form is sent; the sparse one if both have the same length.

use crate::model::attributes::{Attribute, AttributeType, Merge, Role};
use std::ops::Range;

/// The number of vertices in a block: 256 words of 32 bits, the share of one workgroup.
pub const BLOCK_VERTICES: u64 = 8192;
/// The length of a message's header, in words.
pub const HEADER_WORDS: u64 = 4;
/// The second word of a sparse message.
pub const SPARSE: u32 = 0;
/// The second word of a dense message.
pub const DENSE: u32 = 1;

/// The attributes that a message carries, which determine its layout.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MessageLayout {
    /// Bit attributes, by their places in the declaration.
    pub bits: Vec<usize>,
    /// The other attributes, by their places in the declaration, for each word of a vertex's value: one of 64 bits has
    /// two, the low one first.
    pub values: Vec<usize>,
    /// Bit attributes that are set where a vertex is activated, by their places in the declaration.
    pub followers: Vec<usize>,
}

/// The offsets of a message's parts, in words from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// Sparse: the vertices. Dense: the active bits.
    pub vertices: u64,
    /// Sparse: the flags. Dense: the words of the bit attributes, one set after the other.
    pub bits: u64,
    /// Dense: the bases of blocks.
    pub bases: u64,
    /// The values, one attribute after the other.
    pub values: u64,
    /// The length of the message, in words.
    pub words: u64,
}

impl MessageLayout {
    /// Returns the layout of an algorithm's messages. Under Strategy-P they carry all attributes that edges write,
    /// except bits that follow activations. Under Strategy-S values have one owner, and messages carry only attributes
    /// that other devices read.
    ///
    /// # Panics
    /// If a traversal adds to numbers of 64 bits: a change cannot be told from the old value. The engine refuses such
    /// algorithms.
    pub fn new(declared: &[Attribute], sharded: bool) -> Self {
        let sent = |attribute: &Attribute| match sharded {
            false => attribute.role.is_written(),
            true => attribute.role == Role::Writable,
        };
        let (mut bits, mut values, mut followers) = (Vec::new(), Vec::new(), Vec::new());
        for (place, attribute) in declared.iter().enumerate().filter(|(_, attribute)| sent(attribute)) {
            match attribute.of {
                AttributeType::Bit if attribute.merge == Merge::Activation => followers.push(place),
                AttributeType::Bit => bits.push(place),
                AttributeType::U32 | AttributeType::F32 => values.push(place),
                AttributeType::U64 if attribute.merge != Merge::Add => values.extend([place; 2]),
                AttributeType::F64 | AttributeType::Fixed63 | AttributeType::U64 => {
                    panic!("{}: a traversal cannot send sums of 64 bits", attribute.name)
                }
            }
        }
        Self { bits, values, followers }
    }

    /// Returns the words of a vertex's values: the attribute's place, the number of bits below the word, and whether it
    /// is the value's last word.
    pub fn words(&self) -> impl Iterator<Item = (usize, u32, bool)> + '_ {
        let values = &self.values;
        values.iter().enumerate().map(|(which, &place)| {
            let is_high = which > 0 && values[which - 1] == place;
            (place, if is_high { 32 } else { 0 }, values.get(which + 1) != Some(&place))
        })
    }

    /// Returns the offsets of a sparse message with `count` vertices.
    pub fn sparse(&self, count: u64) -> Places {
        let bits = HEADER_WORDS + count;
        let values = bits + if self.bits.is_empty() { 0 } else { count };
        Places { vertices: HEADER_WORDS, bits, bases: values, values, words: values + self.values.len() as u64 * count }
    }

    /// Returns the offsets of a dense message about `vertices`, `count` of them active.
    pub fn dense(&self, vertices: &Range<u64>, count: u64) -> Places {
        let words = words_of(vertices);
        let bits = HEADER_WORDS + words;
        let bases = bits + words * self.bits.len() as u64;
        let values = bases + blocks_of(vertices);
        Places { vertices: HEADER_WORDS, bits, bases, values, words: values + self.values.len() as u64 * count }
    }

    /// Returns whether a message with `count` activated vertices is sparse, and its offsets.
    pub fn choose(&self, vertices: &Range<u64>, count: u64) -> (bool, Places) {
        let (sparse, dense) = (self.sparse(count), self.dense(vertices, count));
        if sparse.words <= dense.words { (true, sparse) } else { (false, dense) }
    }

    /// Returns the maximum length of a message about these vertices, in words, rounded up to a multiple of 4.
    pub fn words_max(&self, vertices: &Range<u64>) -> u64 {
        self.dense(vertices, vertices.end - vertices.start).words.next_multiple_of(4)
    }

    /// Returns the maximum number of blocks whose message always fits in `bytes`; at least 1.
    pub fn blocks_max(&self, bytes: u64) -> u64 {
        let words = |blocks: u64| self.words_max(&(0..blocks * BLOCK_VERTICES));
        let by_block = words(1) - HEADER_WORDS;
        ((bytes / 4).saturating_sub(HEADER_WORDS) / by_block).max(1)
    }
}

/// Returns the number of words of 32 bits for a range.
pub fn words_of(vertices: &Range<u64>) -> u64 {
    (vertices.end - vertices.start).div_ceil(32)
}

/// Returns the number of blocks in a range.
pub fn blocks_of(vertices: &Range<u64>) -> u64 {
    (vertices.end - vertices.start).div_ceil(BLOCK_VERTICES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::attributes::Initial;

    fn attribute(of: AttributeType, role: Role) -> Attribute {
        Attribute { name: "any", of, role, merge: Merge::Min, initial: Initial::Bits(0), lane: None }
    }

    fn layout() -> MessageLayout {
        let bit = attribute(AttributeType::Bit, Role::Accumulated);
        let value = attribute(AttributeType::U32, Role::Writable);
        let other = attribute(AttributeType::U32, Role::Accumulated);
        let read = attribute(AttributeType::F32, Role::Gathered);
        let follower = Attribute { merge: Merge::Activation, ..bit };
        let declared = [value, bit, read, other, follower];
        let layout = MessageLayout::new(&declared, false);
        assert_eq!(layout, MessageLayout { bits: vec![1], values: vec![0, 3], followers: vec![4] });
        let wide = attribute(AttributeType::U64, Role::Writable);
        let with_wide = MessageLayout::new(&[value, wide, other], false);
        assert_eq!(with_wide.values, [0, 1, 1, 2]);
        let words: Vec<_> = with_wide.words().collect();
        assert_eq!(words, [(0, 0, true), (1, 0, false), (1, 32, true), (2, 0, true)]);
        let sharded = MessageLayout { bits: vec![], values: vec![0], followers: vec![] };
        assert_eq!(MessageLayout::new(&declared, true), sharded);
        layout
    }

    #[test]
    fn few_vertices_are_sent_by_number_and_many_as_bits() {
        let (layout, vertices) = (layout(), 0..100 * BLOCK_VERTICES);
        let words = words_of(&vertices);
        // A sparse message has two extra words for each vertex; a dense one has the words of two sets, and the bases.
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
