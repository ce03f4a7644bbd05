//! How an algorithm declares its attributes: their type, role, merge and initial value.

use crate::model::bits::Bits;
use std::ops::Range;

/// The type of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeType {
    /// Unsigned 32-bit integers.
    U32,
    /// Single-precision floats.
    F32,
    /// Double-precision floats, for algorithms without a shader: WGSL has none. Their initial value is 0.
    F64,
    /// Sums of non-negative numbers below 2 as 64-bit fixed point with 63 fractional bits: addition is exact, so a sum
    /// has the same bits whatever the order of its terms.
    Fixed63,
    /// Unsigned 64-bit integers, or signed ones in two's complement: edges add to them modulo 2^64, or lower or raise
    /// them. A GPU lowers and raises them by 64-bit atomics only: it is refused where an adapter has none.
    U64,
    /// One bit.
    Bit,
}

impl AttributeType {
    /// Its name in messages and files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::U32 => "u32",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::Fixed63 => "fixed63",
            Self::U64 => "u64",
            Self::Bit => "bit",
        }
    }

    /// The size of a value in bits: 1, 32 or 64.
    #[doc(hidden)]
    pub fn bits(self) -> u64 {
        match self {
            Self::Bit => 1,
            Self::U32 | Self::F32 => 32,
            Self::F64 | Self::Fixed63 | Self::U64 => 64,
        }
    }

    /// Whether a value is two words, the low one first, that are merged as one number.
    #[doc(hidden)]
    pub fn is_wide(self) -> bool {
        self.bits() == 64
    }

    /// The 4-byte words that hold the values of these vertices, if vertex 0 is at the start of the first word; for
    /// bits, the words at both ends may hold other vertices too.
    pub(crate) fn word_range(self, vertices: &Range<u64>) -> Range<u64> {
        vertices.start * self.bits() / 32..(vertices.end * self.bits()).div_ceil(32)
    }

    /// The number of words for this number of vertices, from vertex 0.
    #[cfg(feature = "gpu")]
    pub(crate) fn words(self, vertices: u64) -> u64 {
        (vertices * self.bits()).div_ceil(32)
    }

    /// The number of vertices whose values fit in this number of words.
    pub(crate) fn vertices_in(self, words: u64) -> u64 {
        words * 32 / self.bits()
    }
}

/// How the edge function uses an attribute. The first three are GTS's WA: they must be resident on the device, and are
/// split under Strategy-S.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Written and read at random. If several devices share a run, the value read for another device's vertex may be
    /// the value at the end of the last superstep.
    Writable,
    /// Written at random, and read only by vertex phases, answers and the operations that write it.
    Accumulated,
    /// Written and read only for the vertex of the list.
    Own,
    /// Only read, at random: it must be resident on the device, but need not be merged.
    Gathered,
    /// Only read, and only for the vertex of the list: it may be streamed with its page (GTS: RA).
    ReadOnly,
}

impl Role {
    /// Whether the edge function writes it.
    #[doc(hidden)]
    pub fn is_written(self) -> bool {
        matches!(self, Self::Writable | Self::Accumulated | Self::Own)
    }
}

/// How two devices' values of an attribute are merged at the end of a superstep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Merge {
    /// Their sum.
    Add,
    /// The smaller.
    Min,
    /// The larger.
    Max,
    /// The bitwise or.
    Or,
    /// By the activations of a traversal: edges set the bit of a vertex when they activate it, and never otherwise.
    /// Devices that share a run tell each other activations anyway, so these bits need no room in a message. For
    /// [`AttributeType::Bit`] only.
    Activation,
}

/// The initial value of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initial {
    /// The same bits for every vertex; of a 64-bit integer, the bits of both halves. 0 for bits, and for other numbers
    /// of 64 bits.
    Bits(u32),
    /// Each vertex's own number; for [`AttributeType::U32`] only.
    Vertex,
}

impl Initial {
    /// The bits of a vertex's initial value.
    #[doc(hidden)]
    pub fn of(self, vertex: u32) -> u32 {
        match self {
            Self::Bits(bits) => bits,
            Self::Vertex => vertex,
        }
    }
}

/// The declaration of one attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// The name in messages, and in the accessors that shaders get.
    pub name: &'static str,
    /// Its type.
    pub of: AttributeType,
    /// Its use within a superstep.
    pub role: Role,
    /// How two devices' values are merged.
    pub merge: Merge,
    /// Its initial value.
    pub initial: Initial,
    /// Its place in a row of [`LANES`] attributes, declared one after the other, whose values of a vertex CPUs keep
    /// side by side: an edge that reads all of them then waits for one line of memory. For [`AttributeType::U32`] only.
    pub lane: Option<u8>,
}

/// The number of attributes in a row.
pub const LANES: usize = 8;

impl Attribute {
    /// An attribute whose values begin at 0.
    pub fn new(name: &'static str, of: AttributeType, role: Role, merge: Merge) -> Self {
        Self { name, of, role, merge, initial: Initial::Bits(0), lane: None }
    }

    /// An integer of 32 bits, from 0 on.
    pub fn u32(name: &'static str, role: Role, merge: Merge) -> Self {
        Self::new(name, AttributeType::U32, role, merge)
    }

    /// A number of single precision, 0 at first.
    pub fn f32(name: &'static str, role: Role, merge: Merge) -> Self {
        Self::new(name, AttributeType::F32, role, merge)
    }

    /// A set of vertices, empty at first.
    pub fn set(name: &'static str, role: Role) -> Self {
        Self::new(name, AttributeType::Bit, role, Merge::Or)
    }

    /// Integers of 32 bits, from 0 on, that CPUs keep side by side.
    pub fn row(names: [&'static str; LANES], role: Role, merge: Merge) -> impl Iterator<Item = Self> {
        let lanes = names.into_iter().zip(0..);
        lanes.map(move |(name, lane)| Self { lane: Some(lane), ..Self::u32(name, role, merge) })
    }

    /// Sets the initial value.
    #[must_use]
    pub fn initially(self, initial: Initial) -> Self {
        Self { initial, ..self }
    }

    /// The number of 4-byte words that a dense move of these vertices takes.
    pub(crate) fn words(&self, vertices: &Range<u64>) -> u64 {
        let words = self.of.word_range(vertices);
        words.end - words.start
    }

    /// Main memory for `vertices` values, in bytes.
    pub(crate) fn memory_bytes(&self, vertices: u64) -> u64 {
        match self.of {
            AttributeType::Bit => Bits::memory_bytes(vertices),
            of => of.bits() / 8 * vertices,
        }
    }
}
