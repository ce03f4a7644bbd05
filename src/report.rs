//! What a run did: numbers with units, for people and for programs.

use crate::device::Work;
pub use crate::device::{DeviceReport, Transfer};
pub use crate::pages::StripeReport;
pub use crate::predict::{Prediction, Terms};
pub use crate::team::Sharing;
use serde::Serialize;
use topostream_formats::Direction;

/// What a run did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RunReport {
    /// The algorithm.
    pub algorithm: String,
    /// The device.
    pub device: String,
    /// Threads (or the like) that nanoseconds of work are added up over.
    pub lanes: u32,
    /// The fetcher.
    pub fetcher: String,
    /// Whether page files were read past the system's page cache.
    pub direct_io: bool,
    /// Frames of the page buffer.
    pub buffer_pages: u64,
    /// Bytes of the page buffer.
    pub buffer_bytes: u64,
    /// Bytes that the run planned to take: attributes, degrees, page buffer.
    pub planned_bytes: u64,
    /// The largest amount of main memory that the process had so far, where the system tells.
    pub peak_memory_bytes: Option<u64>,
    /// Nanoseconds from the first superstep to the last.
    pub wall_ns: u64,
    /// Nanoseconds of setting first values.
    pub initialise_ns: u64,
    /// Reads that had to be repeated.
    pub retries: u64,
    /// Edges that count as traversed, for traversals.
    pub traversed_edges: Option<u64>,
    /// The sum of all supersteps.
    pub total: StepReport,
    /// What bounded the run.
    pub bound: Bound,
    /// How several devices shared the run; none where one was alone.
    pub sharing: Option<Sharing>,
    /// What the cost model says of a run with these pages and edges; none where the machine has not been measured.
    pub predicted: Option<Prediction>,
    /// Checkpoints, where they were asked for. Of a run that went on from one, all other numbers are of what came
    /// after.
    pub checkpoints: Option<CheckpointReport>,
    /// Each of the directories that pages are read from.
    pub stripes: Vec<StripeReport>,
    /// Each superstep.
    pub steps: Vec<StepReport>,
}

impl RunReport {
    /// This run and one after it, as one.
    pub(crate) fn followed_by(mut self, next: Self) -> Self {
        let begun = self.steps.len() as u32;
        let steps = next.steps.into_iter().map(|step| StepReport { superstep: begun + step.superstep, ..step });
        self.steps.extend(steps);
        self.total.add(&next.total);
        for (stripe, more) in self.stripes.iter_mut().zip(&next.stripes) {
            stripe.pages += more.pages;
            stripe.bytes += more.bytes;
            stripe.busy_ns += more.busy_ns;
            stripe.retries += more.retries;
        }
        Self {
            wall_ns: self.wall_ns + next.wall_ns,
            initialise_ns: self.initialise_ns + next.initialise_ns,
            retries: self.retries + next.retries,
            planned_bytes: self.planned_bytes.max(next.planned_bytes),
            total: self.total,
            stripes: self.stripes,
            steps: self.steps,
            // One prediction is of one run.
            predicted: None,
            ..next
        }
    }
}

/// What checkpoints took.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckpointReport {
    /// How many were written.
    pub written: u64,
    /// How many could not be written.
    pub failed: u64,
    /// Bytes of those that were written.
    pub bytes: u64,
    /// Nanoseconds of the run that they took, until they were on disk.
    pub ns: u64,
    /// What was done before, where the run went on from a checkpoint.
    pub resumed: Option<ResumedReport>,
}

/// What the sessions of a run had done when the checkpoint was written from which it went on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ResumedReport {
    /// How many sessions there were.
    pub sessions: u64,
    /// Supersteps.
    pub supersteps: u64,
    /// Neighbours in the lists that were opened.
    pub edges: u64,
    /// Bytes read from disk.
    pub disk_bytes: u64,
    /// Nanoseconds.
    pub wall_ns: u64,
}

/// What one superstep did, or all of them together.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct StepReport {
    /// Counted from 0.
    pub superstep: u32,
    /// Which lists were read.
    pub direction: Option<Direction>,
    /// Vertices that were active, for traversals.
    pub active: Option<u64>,
    /// Neighbours in the lists that were opened.
    pub edges: u64,
    /// Pages that were visited.
    pub pages: u64,
    /// Those of them that were in the page buffer.
    pub pages_cached: u64,
    /// Bytes read from disk.
    pub disk_bytes: u64,
    /// Nanoseconds from beginning to end.
    pub wall_ns: u64,
    /// Nanoseconds with at least one read in flight.
    pub disk_ns: u64,
    /// Nanoseconds in which nothing was left to compute, for want of pages.
    pub wait_disk_ns: u64,
    /// Nanoseconds in which pages were left to read, but every frame was taken.
    pub wait_frames_ns: u64,
    /// Nanoseconds of edge functions, over all threads.
    pub compute_ns: u64,
    /// Nanoseconds of checking pages, over all threads.
    pub check_ns: u64,
    /// Nanoseconds of the vertex phase.
    pub vertex_ns: u64,
    /// Nanoseconds of deciding which pages to visit.
    pub plan_ns: u64,
    /// What a device with memory of its own moved.
    pub transfer: Transfer,
    /// Bytes that devices told each other at the end of the superstep: written to main memory, and read from there.
    pub merged_bytes: u64,
    /// Nanoseconds that this took.
    pub merge_ns: u64,
}

/// What bounded a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    /// The device was busy nearly all of the time.
    #[default]
    Compute,
    /// The device waited for pages that the disk was reading.
    Disk,
    /// The device waited and the disk too: the page buffer had no frame to read into.
    Memory,
}

impl StepReport {
    /// Adds another superstep's numbers.
    pub fn add(&mut self, other: &Self) {
        self.edges += other.edges;
        self.pages += other.pages;
        self.pages_cached += other.pages_cached;
        self.disk_bytes += other.disk_bytes;
        self.wall_ns += other.wall_ns;
        self.disk_ns += other.disk_ns;
        self.wait_disk_ns += other.wait_disk_ns;
        self.wait_frames_ns += other.wait_frames_ns;
        self.compute_ns += other.compute_ns;
        self.check_ns += other.check_ns;
        self.vertex_ns += other.vertex_ns;
        self.plan_ns += other.plan_ns;
        self.transfer.add(&other.transfer);
        self.merged_bytes += other.merged_bytes;
        self.merge_ns += other.merge_ns;
    }

    /// Adds work on pages.
    pub fn add_work(&mut self, work: Work) {
        self.edges += work.edges;
        self.compute_ns += work.compute_ns;
        self.check_ns += work.check_ns;
    }

    /// What bounded it: waiting for the disk, if that took half of the time or more and frames were there to read into.
    pub fn bound(&self) -> Bound {
        match self.wait_disk_ns * 2 >= self.wall_ns && self.wall_ns > 0 {
            false => Bound::Compute,
            true if self.wait_frames_ns * 2 >= self.wait_disk_ns => Bound::Memory,
            true => Bound::Disk,
        }
    }

    /// Bytes read from disk over the whole time, in GB/s.
    pub fn disk_gb_per_s(&self) -> f64 {
        ratio(self.disk_bytes, self.wall_ns)
    }

    /// The share of visited pages that were in the page buffer.
    pub fn hit_rate(&self) -> f64 {
        ratio(self.pages_cached, self.pages)
    }

    /// The share of visited pages that were in the device's own memory.
    pub fn resident_rate(&self) -> f64 {
        ratio(self.transfer.resident_pages, self.pages)
    }
}

impl RunReport {
    /// Edges of all supersteps over the whole time, in millions a second.
    pub fn million_edges_per_s(&self) -> f64 {
        1e3 * ratio(self.total.edges, self.wall_ns)
    }

    /// Traversed edges per second, as Graph500 defines them, in millions.
    pub fn million_teps(&self) -> Option<f64> {
        self.traversed_edges.map(|edges| 1e3 * ratio(edges, self.wall_ns))
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The most main memory that this process has had, in bytes, where the system tells.
pub fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
}
