//! What ranks tell each other of each device at the end of a superstep.

use crate::device::StepEnd;
use crate::model::algorithm::Summary;
use bytemuck::{Pod, Zeroable};

/// What a device tells all ranks at the end of a superstep.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Ended {
    totals: [f64; 4],
    activated: u64,
    activated_edges: u64,
    /// Its own vertices that were deferred.
    pub deferred: u64,
    /// Edges in the lists that it has opened.
    pub edges: u64,
    /// What its rank [wants](crate::cluster::Wish).
    pub wishes: u64,
    /// After a joint superstep, visits that need pages that its rank's devices are missing.
    pub missing: u64,
}

impl Ended {
    /// The sums of a device that has opened lists of `edges` edges, with the rank's requests and missing pages.
    pub fn new(end: &StepEnd, edges: u64, [wishes, missing]: [u64; 2]) -> Self {
        let StepEnd { summary: Summary { totals, activated, activated_edges }, deferred, .. } = *end;
        Self { totals, activated, activated_edges, deferred, edges, wishes, missing }
    }

    /// Adds the device's sums to the sums of the devices before it.
    pub fn add_to(&self, all: &mut Summary) {
        all.totals.iter_mut().zip(self.totals).for_each(|(total, term)| *total += term);
        all.activated += self.activated;
        all.activated_edges += self.activated_edges;
    }
}
