//! The exchange of values between devices, through pinned main memory.
//!
//! ```text
//!  device 0 ── Put ─────▶ ┌──────────────────┐ ── announced ──▶ Merge ── device 1
//!  device 1 ── Put ─────▶ │ exchange memory  │ ── announced ──▶ Take ─── device 0
//!           ── Collect ─▶ └──────────────────┘ ── announced ──▶ Apply
//! ```
//!
//! In an [exchange](Moves) every device puts values or messages, each in a piece of the memory, and announces a piece
//! when it has been written. A device takes what others put as they announce it, so that sending and receiving overlap:
//! while a GPU's copy engine puts, its kernels take. A superstep has two exchanges: one before its vertex phase (sums
//! and the like are reduced) or census (messages of a traversal), and one after the vertex phase (values are gathered).
//! The team's schedule decides which moves these are; a device only executes them.
//!
//! There is no portable way to copy directly between devices. Two adapters of one host read and write main memory at
//! full speed at the same time (docs/benchmarks.md), so nothing is lost by going through it.

mod memory;
pub mod message;

pub use crate::model::vertex_lists::VertexList;
pub use memory::{ExchangeMemory, Received, Wait};

use crate::model::algorithm::{Declaration, Ends, Graph};
use crate::model::attributes::{Attribute, AttributeType, Role};
use std::ops::Range;
use topostream_formats::Direction;

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
/// bytes for each `u32` or `f32`, two words for each fixed-point sum (low word first). Bits are the words of 32
/// vertices that the range touches, from word `vertices.start / 32` on; only the bits of the range count. Lists that do
/// not contain all vertices are for attributes of one word a vertex.
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

/// The moves of a device in an exchange, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moves {
    /// The moves that write to the exchange memory, and set to zero what they have sent. Each writes to a piece of its
    /// own.
    pub put: Vec<Move>,
    /// The moves that read what others put.
    pub take: Vec<Move>,
}

impl Moves {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.put.is_empty() && self.take.is_empty()
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

/// Returns whether an attribute's values are sent by list, if values of attributes of `role` are.
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
