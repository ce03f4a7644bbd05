//! Brings all pages to a device that has room for them, so that it can run supersteps by itself.
//!
//! A search visits a page when it first reaches a vertex whose list is there. As long as a superstep may need a page
//! that is not on the device, the host paces it, and on a grid or a road network there are thousands of supersteps
//! before the last page has been reached. Whether it will be reached is not known. This is the ski-rental problem: once
//! supersteps that the host has paced have taken as long as all missing pages will take, these are read with the next
//! one. That takes at most twice the time of the better way, whichever it is.

use super::costs::RatesSoFar;
use super::stream::PageStream;
use crate::device::Device;
use crate::pages::PagePlan;
use crate::pages::fetch::PageRef;
use topostream_formats::{PageId, Topology};

/// Assumed nanoseconds to bring a byte to a device: a slow bus.
const BUS_BYTE_NS: f64 = 0.1;

/// What is known about the cost of waiting for pages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Completion {
    /// The time of supersteps that the host has paced, in nanoseconds.
    spent_ns: f64,
    /// The time from which on missing pages are looked for.
    due_ns: f64,
}

impl Completion {
    /// The host has paced a superstep.
    pub fn paced(&mut self, wall_ns: u64) {
        self.spent_ns += wall_ns as f64;
    }

    /// Whether it is time to look for missing pages.
    pub fn is_due(&self) -> bool {
        self.spent_ns >= self.due_ns
    }

    /// Whether to read missing pages now, which takes `missing_ns`. Otherwise the lookup is skipped until they are due.
    fn reads(&mut self, missing_ns: f64) -> bool {
        let reads = self.spent_ns >= missing_ns;
        // If they are read, or if there are none, others may be missing in another direction.
        self.due_ns = if reads { 2.0 * self.spent_ns } else { missing_ns };
        reads
    }

    /// Adds the pages that are not on the device to the pages that a superstep over the topology visits, if they are to
    /// be read now.
    pub fn add_missing(
        &mut self,
        plan: &mut PagePlan,
        topology: &Topology,
        (device, stream): (&mut dyn Device, &PageStream),
        rates: &RatesSoFar,
    ) {
        let direction = topology.direction();
        let all = (0..topology.page_count()).map(|page| PageRef { direction, page: PageId(page) }).collect();
        let missing = device.missing(all);
        let (reads, bytes) = stream.missing_of(missing.iter().copied(), &plan.parts);
        let on_bus = missing.len() as f64 * f64::from(topology.page_bytes()) * BUS_BYTE_NS;
        if self.reads(on_bus.max(rates.predicted_ns((reads, bytes), 0.0))) && !missing.is_empty() {
            plan.pages.extend(missing);
            plan.pages.sort_unstable_by_key(|page| page.page);
            plan.pages.dedup();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_read_once_waiting_has_cost_as_much() {
        let mut completion = Completion::default();
        assert!(completion.is_due() && !completion.reads(100.0));
        completion.paced(60);
        assert!(!completion.is_due());
        completion.paced(50);
        assert!(completion.is_due(), "what is missing may be less by now");
        assert!(!completion.reads(120.0));
        completion.paced(20);
        assert!(completion.is_due() && completion.reads(110.0));
        completion.paced(100);
        assert!(!completion.is_due(), "for what is missing in another direction");
    }
}
