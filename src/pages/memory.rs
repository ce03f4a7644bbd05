//! How main memory is divided before a run.

use super::fetch::IN_FLIGHT_MAX;
use super::parts::PartFinder;
use crate::error::{Error, Result};
use crate::model::activations::Activations;
use crate::model::algorithm::Declaration;
use crate::model::bits::Bits;
use crate::model::groups;
use serde::Serialize;
use topostream_formats::chunks::ChunkTable;
use topostream_formats::text::plural;
use topostream_formats::weights::WeightPlaces;
use topostream_formats::{Direction, Store, Topology};

/// Main memory of a run, by part, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryPlan {
    /// The algorithm's attributes (WA and RA).
    pub attributes_bytes: u64,
    /// The superstep in which each vertex was first active, if the algorithm keeps it.
    pub activations_bytes: u64,
    /// The algorithm's tables.
    pub tables_bytes: u64,
    /// The frontiers of a traversal.
    pub frontier_bytes: u64,
    /// The out-degrees.
    pub degrees_bytes: u64,
    /// The page directories and the tables derived from them.
    pub directory_bytes: u64,
    /// Code, stacks, channels, the algorithm's own data, and naming groups at the end.
    pub program_bytes: u64,
    /// What several devices need in main memory: the exchange memory, and the attributes of CPU devices.
    pub sharing_bytes: u64,
    /// What threads decode packed pages into or from: a buffer for each.
    pub decoding_bytes: u64,
    /// Frames of the page buffer.
    pub frames: u32,
    /// Bytes of one frame.
    pub frame_bytes: u64,
    /// Of them, the bytes for the page; weights are behind it. More than a page has if frames keep plain images.
    pub place_bytes: u64,
    /// Bytes that are read to fill a frame: the mean, if weights are packed.
    pub read_bytes: u64,
    /// Stripes that are read at the same time.
    pub stripes: u32,
}

/// The threads that decode packed pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decoders {
    /// Their number; 0 if devices with their own memory decode.
    pub threads: usize,
    /// Whether they belong to one device, which shares frames with no other: it can decode pages in their frames.
    pub alone: bool,
}

/// Bytes of code, stacks and channels: the part of a run's memory that does not depend on the graph.
pub(crate) const PROGRAM_BYTES: u64 = 24 << 20;
/// The minimum number of frames of a run: two to compute on and two to read into. A graph of fewer pages has one for
/// each of them.
pub const FRAMES_MIN: u32 = 4;
/// Places in frames are multiples of this, in bytes.
const PLACE_UNIT: u64 = 4096;
/// The maximum number of bytes in flight on a stripe.
const IN_FLIGHT_BYTES: u64 = 64 << 20;

impl MemoryPlan {
    /// Divides `memory_bytes`. The algorithm's own memory and `sharing_bytes` (the additional needs of several devices)
    /// come first, and what threads decode packed pages into. The page buffer gets `buffer_bytes` if given, otherwise
    /// the rest; no more than the graph can fill. If it has room for the plain images of all packed pages, frames keep
    /// images, so that each page is decoded once.
    ///
    /// # Errors
    /// [`Error::Memory`] with the size of every part if they do not fit.
    pub fn new(
        declaration: &Declaration,
        store: &Store,
        memory_bytes: u64,
        buffer_bytes: Option<u64>,
        sharing_bytes: u64,
        decoders: Decoders,
    ) -> Result<Self> {
        let vertices = store.vertices();
        let out = store.topology(Direction::Out).expect("every store has out-lists");
        let weights = if declaration.weights.are_read() { out.weight_page_bytes() } else { 0 };
        let pages: u64 = store.topologies().map(|topology| u64::from(topology.page_count())).sum();
        let traversal = declaration.traversal;
        let mut plan = Self {
            attributes_bytes: attributes_bytes(declaration, store),
            activations_bytes: activations_bytes(declaration, vertices),
            tables_bytes: declaration.table_bytes(),
            frontier_bytes: if traversal { 2 * Bits::memory_bytes(vertices) } else { 0 },
            degrees_bytes: 4 * vertices,
            directory_bytes: directory_bytes(store),
            program_bytes: PROGRAM_BYTES
                + declaration.held_bytes
                + groups::memory_bytes(declaration.groups.as_ref(), store),
            sharing_bytes,
            decoding_bytes: decoders.threads as u64 * out.image_bytes(),
            frames: 0,
            frame_bytes: u64::from(out.page_bytes()) + u64::from(weights),
            place_bytes: out.page_bytes().into(),
            read_bytes: out.read_bytes(declaration.weights.are_read()),
            stripes: store.stripe_count() as u32,
        };
        if decoders.alone && out.image_bytes() > 0 {
            plan.keep_images(out, pages, decoders.threads, memory_bytes, buffer_bytes);
        }
        let left = memory_bytes.saturating_sub(plan.total_bytes());
        let room = buffer_bytes.unwrap_or(left).min(left);
        let (frames, least) = (room / plan.frame_bytes, Self::frames_min(pages));
        if frames < least || buffer_bytes.is_some_and(|buffer| buffer > left) {
            let least_bytes = least * plan.frame_bytes;
            return Err(plan.too_small(declaration.name, memory_bytes, buffer_bytes, least_bytes));
        }
        plan.frames = frames.min(Self::frames_max(pages)) as u32;
        Ok(plan)
    }

    /// The minimum number of frames of a run over a graph of this many pages.
    pub fn frames_min(pages: u64) -> u64 {
        pages.clamp(1, FRAMES_MIN.into())
    }

    /// The maximum number of frames of a run over a graph of this many pages: one for each.
    pub fn frames_max(pages: u64) -> u64 {
        pages.clamp(1, u32::MAX.into())
    }

    /// Makes frames keep the plain images of packed pages if there is room for all of them. A place that is larger than
    /// a page has an image: images of small graphs are smaller than their pages.
    fn keep_images(
        &mut self,
        out: &Topology,
        pages: u64,
        threads: usize,
        memory_bytes: u64,
        buffer_bytes: Option<u64>,
    ) {
        // A page is decoded from a copy.
        let copy_bytes = u64::from(out.page_bytes()).saturating_sub(out.image_bytes());
        let place_bytes = out.image_bytes().max(self.place_bytes + PLACE_UNIT);
        let plan = Self {
            decoding_bytes: self.decoding_bytes + threads as u64 * copy_bytes,
            frame_bytes: self.frame_bytes - self.place_bytes + place_bytes,
            place_bytes,
            ..*self
        };
        let left = memory_bytes.saturating_sub(plan.total_bytes());
        if buffer_bytes.unwrap_or(left).min(left) / plan.frame_bytes >= Self::frames_max(pages) {
            *self = plan;
        }
    }

    /// The sum of all parts, in bytes.
    pub fn total_bytes(&self) -> u64 {
        let vertices = self.attributes_bytes + self.activations_bytes + self.frontier_bytes + self.degrees_bytes;
        vertices
            + self.tables_bytes
            + self.directory_bytes
            + self.program_bytes
            + self.sharing_bytes
            + self.decoding_bytes
            + self.buffer_bytes()
    }

    /// The size of the page buffer, in bytes.
    pub fn buffer_bytes(&self) -> u64 {
        u64::from(self.frames) * self.frame_bytes
    }

    /// The maximum number of reads in flight: a full queue for every stripe, but at most half of the frames.
    pub fn in_flight_max(&self) -> usize {
        (self.stripes as usize * self.stripe_in_flight_max()).min((self.frames as usize / 2).max(1))
    }

    /// The maximum number of reads in flight on one stripe.
    pub fn stripe_in_flight_max(&self) -> usize {
        ((IN_FLIGHT_BYTES / self.read_bytes) as usize).clamp(2, IN_FLIGHT_MAX)
    }

    /// The number of frames that a scan streams pages through: half of them, but no more than can be in flight or
    /// computed on. They cost no hits, since the next scan first visits the pages that they hold.
    pub fn stream_frames(&self) -> usize {
        (self.frames as usize / 2).clamp(2, 2 * IN_FLIGHT_MAX * self.stripes as usize)
    }

    /// The error of a plan that has no room for the page buffer that was requested, or for the least one.
    fn too_small(&self, algorithm: &str, memory_bytes: u64, asked: Option<u64>, least: u64) -> Error {
        let buffer_bytes = asked.unwrap_or(0).max(least);
        let (what, needed_bytes, budget_bytes) = match asked {
            Some(asked) if asked < least => (format!("the page buffer of {algorithm}"), least, asked),
            _ => (algorithm.to_owned(), self.total_bytes().saturating_add(buffer_bytes), memory_bytes),
        };
        let sharing = match self.sharing_bytes {
            0 => String::new(),
            bytes => format!("shared with other devices {bytes}, "),
        };
        let images = match self.decoding_bytes {
            0 => String::new(),
            bytes => format!("decoded pages {bytes}, "),
        };
        let parts = format!(
            "attributes {}, activations {}, tables {}, frontiers {}, degrees {}, page directory {}, program {}, \
             {sharing}{images}page buffer {} of at least {} {}",
            self.attributes_bytes,
            self.activations_bytes,
            self.tables_bytes,
            self.frontier_bytes,
            self.degrees_bytes,
            self.directory_bytes,
            self.program_bytes,
            buffer_bytes,
            least / self.frame_bytes,
            plural(least / self.frame_bytes, "page"),
        );
        Error::Memory { what, needed_bytes, budget_bytes, parts }
    }
}

/// Returns the main memory of a store's page directories, and of the chunks of its pages, in bytes.
pub(crate) fn directory_bytes(store: &Store) -> u64 {
    let (vertices, edges) = (store.vertices(), store.edges());
    let chunks = |topology: &Topology| {
        let finder_bytes = PartFinder::memory_bytes(topology, edges, vertices);
        let weight_bytes = topology.weight_places().map_or(0, WeightPlaces::memory_bytes);
        topology.chunks().map_or(0, ChunkTable::memory_bytes) + finder_bytes + weight_bytes
    };
    store.topologies().map(|topology| 36 * u64::from(topology.page_count()) + chunks(topology)).sum()
}

/// Returns the main memory of an algorithm's final values of all vertices, in bytes.
pub fn answer_bytes(declaration: &Declaration, store: &Store) -> u64 {
    attributes_bytes(declaration, store) + activations_bytes(declaration, store.vertices())
}

fn attributes_bytes(declaration: &Declaration, store: &Store) -> u64 {
    declaration.attributes.iter().map(|attribute| attribute.memory_bytes(store.vertices())).sum()
}

fn activations_bytes(declaration: &Declaration, vertices: u64) -> u64 {
    if declaration.keeps_activations { Activations::memory_bytes(vertices) } else { 0 }
}
