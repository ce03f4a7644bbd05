//! The pages that a superstep visits.

use super::cache::Policy;
use super::fetch::PageRef;
use super::parts::{PartFinder, WantedParts};
use crate::model::algorithm::{State, Step, Visit};
use topostream_formats::{PageId, Store};

/// The pages that a superstep visits, in file order, and how the page buffer treats them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PagePlan {
    /// The pages, in file order.
    pub pages: Vec<PageRef>,
    /// The replacement policy for frames.
    pub policy: Policy,
    /// The parts of pages that are not read whole.
    pub parts: WantedParts,
}

impl PagePlan {
    /// Returns a plan of whole pages.
    pub fn whole(pages: Vec<PageRef>, policy: Policy) -> Self {
        Self { pages, policy, parts: WantedParts::new() }
    }

    /// Returns a plan without pages.
    pub fn none() -> Self {
        Self::whole(Vec::new(), Policy::Lru)
    }

    /// Finds the pages that contain lists visited in the step, and the parts of them that are read if whole pages take
    /// longer.
    pub fn with_parts(store: &Store, state: &State, step: &Step, finder: &PartFinder) -> Self {
        let plan = Self::new(store, state, step);
        Self { parts: finder.find(store, state, step, &plan.pages), ..plan }
    }

    /// Finds the pages that contain lists visited in the step.
    pub fn new(store: &Store, state: &State, step: &Step) -> Self {
        let topology = store.topology(step.direction).expect("algorithms visit topologies that exist");
        let direction = topology.direction();
        let page_ref = |page| PageRef { direction, page: PageId(page) };
        let next: Box<dyn Fn(u64) -> Option<u64>> = match step.visit {
            Visit::All => {
                let pages = (0..topology.page_count()).map(page_ref).collect();
                return Self::whole(pages, Policy::Scan);
            }
            Visit::None => return Self::none(),
            Visit::Frontier => {
                let frontier = state.frontier(step.superstep);
                Box::new(|from| frontier.next_set(from))
            }
            Visit::Within(attribute) => {
                let bits = state.attributes.bits(attribute);
                Box::new(|from| bits.next_set(from))
            }
            Visit::Without(attribute) => {
                let bits = state.attributes.bits(attribute);
                Box::new(|from| bits.next_unset(from))
            }
        };
        let (directory, mut pages) = (topology.directory(), Vec::new());
        // A vertex's list has a part in each shard.
        for shard in topology.shards() {
            let mut from = 0;
            while let Some(vertex) = next(from) {
                let first = directory.page_of(shard, topostream_formats::VertexId(vertex as u32));
                let entry = &directory.entries()[first.index()];
                pages.extend((first.0..first.0 + entry.run.max(1)).map(page_ref));
                from = u64::from(entry.start_vertex) + u64::from(entry.slot_count);
            }
        }
        Self::whole(pages, Policy::Lru)
    }
}
