//! What is known about the cost of supersteps: the rates of a run so far, and what an engine's choices have lost.

use super::EngineOptions;
use crate::pages::parts::ReadCost;
use crate::predict::{Kernel, disks};
use crate::report::StepReport;
use std::sync::Mutex;
use topostream_formats::Store;

/// Assumed bytes per second of a disk that has not been measured.
const DISK_BYTES_PER_S: f64 = 1.5e9;
/// Assumed nanoseconds of a read at depth, besides its bytes: measured on a virtual SSD.
const REQUEST_NS: f64 = 7e3;
/// Assumed edges per second of a thread, and of a GPU.
const THREAD_EDGES_PER_S: f64 = 5e7;
const GPU_EDGES_PER_S: f64 = 5e9;
/// The weight of an assumed edge rate, in nanoseconds of measurement: a few small supersteps hardly change the rate.
const ASSUMED_NS: f64 = 2e7;
/// The minimum number of pages read in a superstep that measures the disk's rate.
const READS_MIN: u64 = 32;

/// The rates of a run so far.
#[derive(Clone, Debug)]
pub(super) struct RatesSoFar {
    pub page_bytes: f64,
    disk_bytes_per_ns: f64,
    /// Nanoseconds of a read besides its bytes.
    request_ns: f64,
    /// Whether the disk's rate has been measured in this run.
    disk_measured: bool,
    /// Edges processed so far, and the time that took.
    edges: f64,
    edges_ns: f64,
    pub lanes: f64,
}

impl RatesSoFar {
    /// Creates the initial rates of a run on a device with this name and number of lanes.
    pub fn new(store: &Store, options: &EngineOptions, read_bytes: u64, (device, lanes): (&str, u32)) -> Self {
        let measured = options.rates.as_deref();
        let cost = read_cost(store, options);
        let assumed = match device.starts_with("cpu, ") {
            true => THREAD_EDGES_PER_S * f64::from(lanes),
            false => GPU_EDGES_PER_S,
        };
        let device = measured.and_then(|rates| rates.device(device));
        let edges = device.map_or(assumed, |of| of.at(store.vertices() as f64, |of| of.edges_per_s(Kernel::TopDown)));
        Self {
            page_bytes: read_bytes as f64,
            disk_bytes_per_ns: 1.0 / cost.byte_ns,
            request_ns: cost.request_ns,
            disk_measured: false,
            edges: edges / 1e9 * ASSUMED_NS,
            edges_ns: ASSUMED_NS,
            lanes: f64::from(lanes.max(1)),
        }
    }

    /// The cost of reads.
    pub fn read_cost(&self) -> ReadCost {
        ReadCost { request_ns: self.request_ns, byte_ns: 1.0 / self.disk_bytes_per_ns }
    }

    /// Updates the rates after a superstep that read `requested_bytes`, with this many reads of parts of pages. The
    /// disk's rate is the maximum so far: in slower supersteps, reads waited for frames.
    pub fn learn(&mut self, step: &StepReport, (requested_bytes, partial_reads): (u64, u64)) {
        self.edges += step.edges as f64;
        self.edges_ns += step.compute_ns as f64 / self.lanes;
        let (disk_ns, parts_ns) = (step.disk_ns as f64, partial_reads as f64 * self.request_ns);
        // Small reads say little about the rate.
        if disk_ns > 10.0 * parts_ns && requested_bytes as f64 >= READS_MIN as f64 * self.page_bytes {
            let rate = requested_bytes as f64 / (disk_ns - parts_ns);
            self.disk_bytes_per_ns = if self.disk_measured { rate.max(self.disk_bytes_per_ns) } else { rate };
            self.disk_measured = true;
        }
    }

    /// Returns the predicted time of a superstep with this many edges that reads nothing, in nanoseconds.
    pub fn edges_ns(&self, edges: f64) -> f64 {
        edges * self.edges_ns / self.edges
    }

    /// Returns the predicted time of a superstep with this many reads and bytes of them, and this many edges, in
    /// nanoseconds.
    pub fn predicted_ns(&self, (reads, bytes): (u64, u64), edges: f64) -> f64 {
        let disk_ns = self.read_cost().ns(reads, bytes);
        disk_ns.max(self.edges_ns(edges))
    }
}

/// The cost of reads as it is known before a run.
pub(super) fn read_cost(store: &Store, options: &EngineOptions) -> ReadCost {
    let measured = options.rates.as_deref();
    let bytes_per_s = measured.map_or(DISK_BYTES_PER_S, |rates| rates.disk_bytes_per_s * disks(store));
    let request_ns = measured.and_then(|rates| rates.disk_request_ns).unwrap_or(REQUEST_NS);
    ReadCost { request_ns, byte_ns: 1e9 / bytes_per_s }
}

/// Time lost by alternative supersteps of an engine, in nanoseconds.
#[derive(Debug, Default)]
pub(super) struct Lost(Mutex<f64>);

impl Lost {
    /// Adds a loss; a gain is none.
    pub fn add(&self, lost_ns: f64) {
        *self.0.lock().expect("nothing panics while it is held") += lost_ns.max(0.0);
    }

    /// Whether all losses together are as much as reading takes: they are forgotten then.
    pub fn exceeds(&self, read_ns: f64) -> bool {
        let mut lost = self.0.lock().expect("nothing panics while it is held");
        let exceeds = *lost >= read_ns;
        if exceeds {
            *lost = 0.0;
        }
        exceeds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_add_up_to_a_read() {
        let lost = Lost::default();
        [50.0, -90.0, 40.0].into_iter().for_each(|ns| lost.add(ns));
        assert!(!lost.exceeds(100.0));
        lost.add(10.0);
        assert!(lost.exceeds(100.0), "a gain is no loss");
        lost.add(99.0);
        assert!(!lost.exceeds(100.0), "what has been read is not counted again");
    }
}
