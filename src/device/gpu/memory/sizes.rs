//! Sizes of parts of device memory that depend on a graph and on the declaration of attributes alone.

use crate::device::exchange::message::{BLOCK_VERTICES, MessageLayout};
use crate::device::exchange::{ExchangeMemory, is_listed, may_border};
use crate::device::gpu::adapter::open::Caps;
use crate::device::gpu::compose::Declared;
use crate::device::gpu::compose::layout::{self, BinsHeader, HUB_EDGES, HubEntry};
use crate::model::Part;
use crate::model::attributes::{Attribute, AttributeType};
use crate::model::border::Border;
use crate::model::vertex_lists::VertexLists;
use std::ops::Range;
use topostream_formats::{Direction, Store};

/// Maximum size of packed values that wait for the copy engine; kernels send the rest.
const PACKED_BYTES_MAX: u64 = 256 << 20;
/// Bytes for the alignment of packed values that arrive: 16 for each of 4096 moves.
const ARRIVED_SPARE: u64 = 64 << 10;

/// Bytes of the supersteps in which a device's own vertices were first active: two a vertex.
pub fn level_bytes(part: &Part) -> u64 {
    let own = part.own_words();
    2 * (own.end - own.start).next_multiple_of(64)
}

/// Bytes of all lists by their length, at most.
pub fn bins_bytes(store: &Store) -> u64 {
    let topology = store.topology(Direction::In).or_else(|| store.topology(Direction::Out));
    let pages = topology.map_or(0, |topology| u64::from(topology.page_count()));
    let entries = store.vertices().min(store.edges()) + store.edges() / u64::from(HUB_EDGES) + pages;
    size_of::<BinsHeader>() as u64 + entries * size_of::<HubEntry>() as u64
}

/// Device memory of an attribute, in bytes.
pub fn device_bytes(attribute: &Attribute, vertices: u64) -> u64 {
    match attribute.of {
        AttributeType::Bit => bit_bytes(vertices),
        of => 4 * of.words(vertices),
    }
}

/// The values that a device holds: the values of its part, or, of attributes where that is [possible](may_border), the
/// values of own and bordering vertices only.
#[derive(Clone, Copy)]
pub struct Holding<'a> {
    /// The device's part.
    pub part: &'a Part,
    /// The vertices of others whose values it holds; `None` if it holds the values of all vertices.
    pub border: Option<&'a Border>,
}

impl Holding<'_> {
    /// The number of vertices in the border, if values of no others are held.
    pub fn border_size(&self) -> Option<usize> {
        self.border.map(|border| border.vertices().len())
    }

    /// Whether, of other devices' vertices, only the values of bordering ones are held.
    pub fn is_bordering(&self, attribute: &Attribute) -> bool {
        self.border.is_some() && may_border(attribute)
    }

    /// The vertices with values in an attribute's own buffers. Begins at a multiple of 64.
    pub fn held(&self, attribute: &Attribute) -> Range<u64> {
        if self.is_bordering(attribute) { self.part.own_words() } else { self.part.held(attribute.role) }
    }

    /// The number of values in its buffers of copies: what other devices sent.
    pub fn copies(&self, attribute: &Attribute) -> u64 {
        match self.border.filter(|_| may_border(attribute)) {
            // The table has a place behind the last one for what is not in the border.
            Some(border) => border.vertices().len() as u64 + 1,
            None if self.part.has_seen(attribute.role) => self.part.vertices,
            None => 0,
        }
    }

    /// Device memory of an attribute's own buffers, in bytes.
    pub fn held_bytes(&self, attribute: &Attribute) -> u64 {
        let held = self.held(attribute);
        device_bytes(attribute, held.end - held.start)
    }

    /// Device memory of its copies, in bytes.
    pub fn copied_bytes(&self, attribute: &Attribute) -> u64 {
        device_bytes(attribute, self.copies(attribute))
    }
}

/// The layout of a device's messages, in a traversal.
pub fn message_layout(declared: &Declared, part: &Part) -> Option<MessageLayout> {
    declared.traversal.then(|| MessageLayout::new(&declared.attributes, part.sharded))
}

/// Device memory for exchange, in bytes: scratch memory, packed values, and a copy of the exchange memory if it
/// cannot be imported. `packed`: the bytes of [`packed_bytes`].
pub fn exchange_bytes(caps: &Caps, memory: &ExchangeMemory, declared: &Declared, part: &Part, packed: u64) -> u64 {
    let staged = if caps.host_import { 0 } else { memory.memory().len() as u64 };
    staged + packed + scratch_bytes(memory, message_layout(declared, part).as_ref(), part)
}

/// Bytes of packed values that wait for the copy engine, at most 256 MiB; kernels send the rest.
pub fn packed_bytes(declared: &Declared, part: &Part, lists: &VertexLists) -> u64 {
    let attributes =
        declared.attributes.iter().filter(|attribute| is_listed(attribute, declared.listed)).count() as u64;
    (attributes * 4 * lists.sent(&part.own) as u64).next_multiple_of(4096).min(PACKED_BYTES_MAX)
}

/// Bytes of the next values of attributes that are sent by list, and of packed values that arrive from other devices,
/// while lists are still read.
pub fn next_bytes(declared: &Declared, lists: &VertexLists, part: &Part) -> u64 {
    let arriving = lists.received(&part.own) as u64;
    let attributes = declared.attributes.iter().filter(|attribute| is_listed(attribute, declared.listed));
    attributes.map(|attribute| device_bytes(attribute, part.vertices) + arrived_bytes(arriving)).sum()
}

/// Bytes of packed values of one attribute that arrive, each move's aligned to 16 bytes.
pub fn arrived_bytes(arriving: u64) -> u64 {
    4 * arriving + ARRIVED_SPARE
}

/// Bytes of scratch memory: the larger of a piece of the exchange memory and the longest collected message.
pub fn scratch_bytes(memory: &ExchangeMemory, layout: Option<&MessageLayout>, part: &Part) -> u64 {
    let longest = layout.map_or(0, |layout| {
        let blocks = layout.blocks_max(memory.piece_bytes()).min(part.vertices.div_ceil(BLOCK_VERTICES));
        4 * layout::collected_words(layout, &(0..blocks * BLOCK_VERTICES))
    });
    longest.max(memory.piece_bytes()).next_multiple_of(16)
}

/// Bytes of a bit for each vertex.
pub fn bit_bytes(vertices: u64) -> u64 {
    4 * vertices.div_ceil(32)
}
