//! How many bytes are read of a page.

use super::fetch::PageRef;
use super::memory::MemoryPlan;
use super::parts::Parts;
use topostream_formats::weights::WeightPlaces;
use topostream_formats::{Direction, Store, Topology};

/// Bytes that are read of pages in a run.
#[derive(Debug)]
pub struct ReadSizes {
    page_bytes: u64,
    /// Bytes of a whole page with its weights: the mean, if weights are packed.
    mean_bytes: u64,
    /// Where packed weights are, if they are read.
    weights: Vec<(Direction, WeightPlaces)>,
    /// Bytes of a chunk; 0 if pages have none.
    chunk_bytes: u64,
}

impl ReadSizes {
    /// The read sizes of a run with this plan.
    pub fn new(store: &Store, plan: &MemoryPlan) -> Self {
        let page_bytes = u64::from(store.manifest().page_bytes);
        let packed = |topology: &Topology| Some((topology.direction(), topology.weight_places()?.clone()));
        let has_weights = plan.read_bytes > page_bytes;
        Self {
            page_bytes,
            mean_bytes: plan.read_bytes,
            weights: store.topologies().filter(|_| has_weights).filter_map(packed).collect(),
            chunk_bytes: store.topologies().find_map(Topology::chunks).map_or(0, |of| of.chunk_bytes().into()),
        }
    }

    /// Bytes of a part of a page.
    pub fn of(&self, page: PageRef, parts: Parts) -> u64 {
        let weights = self.weights.iter().find(|(direction, _)| *direction == page.direction);
        let whole = weights.map_or(self.mean_bytes, |(_, places)| self.page_bytes + places.place(page.page).1 as u64);
        parts.bytes(whole, self.chunk_bytes)
    }

    /// Bytes of a whole page: the mean, if they differ.
    pub fn mean(&self) -> u64 {
        self.mean_bytes
    }
}
