//! What a team knows about the supersteps that its devices run together.

use crate::device::joint::SeenPages;
use crate::model::algorithm::{Graph, Summary};
use std::sync::Arc;

/// What a team knows about joint supersteps.
#[derive(Debug, Default)]
pub(super) struct Joint {
    /// Whether all devices can run them; none before the first question.
    pub possible: Option<bool>,
    /// The pages that each device sees; none before the first question.
    pub seen: Option<Vec<Arc<SeenPages>>>,
    /// Whether all devices have prepared, and nothing has changed since.
    pub ready: bool,
    /// Visits that need pages that are missing, as in [`JointEnd`](crate::device::joint::JointEnd).
    pub missing: u32,
    /// Whether devices know the pages of the next superstep.
    pub pages_known: bool,
    /// What the superstep before has activated.
    pub found: Summary,
}

impl Joint {
    /// Visits that need pages that this rank's devices are missing.
    pub fn missing(&self) -> u64 {
        self.missing.into()
    }

    /// Adds visits that need pages that other devices are missing.
    pub fn miss(&mut self, missing: impl Iterator<Item = u64>) {
        self.missing = missing.fold(self.missing, |all, missing| all | missing as u32);
    }

    /// Begins the run of a traversal: the initial frontier is what a superstep before the first one would have found.
    pub fn begin(&mut self, mut active: Vec<u32>, graph: &Graph) {
        active.sort_unstable();
        active.dedup();
        let edges = active.iter().map(|&vertex| u64::from(graph.out_degree(vertex))).sum();
        self.found = Summary { activated: active.len() as u64, activated_edges: edges, ..Summary::default() };
    }

    /// Ends a superstep that the engine has run.
    pub fn ended(&mut self, found: &Summary) {
        (self.found, self.pages_known, self.ready) = (*found, true, false);
    }
}
