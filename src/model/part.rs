//! The vertices that a device owns, if several devices share a run.

use crate::model::attributes::{Attribute, Merge, Role};
use std::ops::Range;

/// A device's part of a run.
///
/// Under Strategy-P (`sharded` is false) the device holds the values of all vertices; its own are those whose vertex
/// phase it runs, and whose values it sends at the end. Under Strategy-S it holds the values that edges write for its
/// own vertices only: writes of an edge function to other vertices are dropped, since their owner processes the same
/// edge.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    /// Vertices of the graph.
    #[doc(hidden)]
    pub vertices: u64,
    /// The vertices that it owns; may be empty.
    #[doc(hidden)]
    pub own: Range<u64>,
    /// Whether it holds the values that edges write for its own vertices only.
    #[doc(hidden)]
    pub sharded: bool,
}

/// The number of vertices in a word of every bit set, on every device: the held parts of attributes begin at multiples
/// of it.
const WORD: u64 = 64;

impl Part {
    /// The part of a single device.
    #[doc(hidden)]
    pub fn whole(vertices: u64) -> Self {
        Self { vertices, own: 0..vertices, sharded: false }
    }

    /// The vertices whose values of an attribute of this role are held here. Begins at a multiple of 64.
    #[doc(hidden)]
    pub fn held(&self, role: Role) -> Range<u64> {
        match role {
            Role::Writable | Role::Accumulated | Role::Own if self.sharded => self.own_words(),
            _ => 0..self.vertices,
        }
    }

    /// The vertices whose degrees are read: by the vertex phase and by a census.
    #[doc(hidden)]
    pub fn own_words(&self) -> Range<u64> {
        self.own.start / WORD * WORD..self.own.end
    }

    /// Whether an attribute of this role also has a copy of the values that the owners of other vertices last sent.
    #[doc(hidden)]
    pub fn has_seen(&self, role: Role) -> bool {
        self.sharded && role == Role::Writable
    }

    /// The vertices whose values it needs when a run continues from a checkpoint. Values that are added up across
    /// devices are restored at their owner only.
    pub(crate) fn recalled(&self, attribute: &Attribute) -> Range<u64> {
        let written = attribute.role.is_written();
        let held_elsewhere = self.sharded && written && !self.has_seen(attribute.role);
        if held_elsewhere || (written && attribute.merge == Merge::Add) { self.own.clone() } else { 0..self.vertices }
    }

    /// Whether it owns a vertex.
    #[inline(always)]
    pub fn owns(&self, vertex: u32) -> bool {
        self.own.contains(&u64::from(vertex))
    }

    /// The vertices that edges may write to here.
    pub(crate) fn writable(&self) -> Range<u64> {
        if self.sharded { self.own.clone() } else { 0..self.vertices }
    }
}
