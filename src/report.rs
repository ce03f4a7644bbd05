//! Reports of runs: figures with units, for people and programs.

use crate::device::PageWork;
pub use crate::device::{Balance, DeviceReport, Transfer};
use crate::model::algorithm::Iteration;
pub use crate::pages::StripeReport;
#[doc(hidden)]
pub use crate::pages::memory::MemoryPlan;
pub use crate::predict::{Prediction, Terms};
pub use crate::team::{AloneReport, TeamReport};
use serde::{Deserialize, Serialize};
use topostream_formats::Direction;

/// The report of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RunReport {
    /// The algorithm's name.
    pub algorithm: String,
    /// The device's name.
    pub device: String,
    /// The number of threads, or parallel units of a device, over which nanoseconds of work are summed.
    pub lanes: u32,
    /// The fetcher's name.
    pub fetcher: String,
    /// Whether reads of page files bypassed the system's page cache.
    pub direct_io: bool,
    /// Why the system has refused the fetcher of choice, if it has: pages were then read on threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uring_refused: Option<String>,
    /// The size of the page buffer, in frames.
    pub buffer_pages: u64,
    /// The size of the page buffer, in bytes.
    pub buffer_bytes: u64,
    /// The main memory that the run planned to use, in bytes: attributes, degrees, page buffer and so on.
    pub planned_bytes: u64,
    /// Its parts.
    #[doc(hidden)]
    pub memory: Option<MemoryPlan>,
    /// The peak resident memory of the process so far, in bytes, if the system reports it.
    pub peak_memory_bytes: Option<u64>,
    /// Elapsed time from initialisation to the end of the last superstep, in nanoseconds.
    pub wall_ns: u64,
    /// Nanoseconds of initialisation.
    pub initialise_ns: u64,
    /// Reads that were repeated.
    pub retries: u64,
    /// Traversed edges as Graph500 counts them, for traversals.
    pub traversed_edges: Option<u64>,
    /// The sum of all supersteps.
    pub total: StepReport,
    /// Whether the values came within the tolerance: `false` if the limit of iterations ended the run before. `None`
    /// for algorithms without a tolerance, and if a number of iterations was requested.
    pub converged: Option<bool>,
    /// The bottleneck of the run.
    pub bound: Bound,
    /// How several devices shared the run; `None` for a single device.
    pub sharing: Option<TeamReport>,
    /// The device that ran alone, of several, since that was predicted to be faster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alone: Option<AloneReport>,
    /// The ranks that shared the run. The report then counts the pages, edges and bytes of all ranks, but its times are
    /// this rank's own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<RankReport>,
    /// The cost model's prediction for these pages and edges; `None` if the machine has not been measured.
    #[doc(hidden)]
    pub predicted: Option<Prediction>,
    /// The checkpoints, if enabled. In a resumed run, all other figures are about the last session.
    pub checkpoints: Option<CheckpointReport>,
    /// The directories that pages are read from.
    pub stripes: Vec<StripeReport>,
    /// The number of supersteps.
    pub supersteps: u64,
    /// The number of supersteps that each of `steps` sums up: 1, or a power of two in runs of very many.
    pub supersteps_a_step: u64,
    /// The supersteps: each of them, or sums of consecutive ones, with the number, the direction and the active
    /// vertices of the first.
    pub steps: Vec<StepReport>,
}

/// The maximum number of reports of supersteps that a run keeps: in long graphs there are millions of supersteps.
const STEPS_MAX: usize = 1 << 15;

impl RunReport {
    /// Adds a superstep. Once there are very many, consecutive ones are summed up.
    pub(crate) fn push(&mut self, step: StepReport) {
        self.total.add(&step);
        let begins = self.supersteps.is_multiple_of(self.supersteps_a_step.max(1));
        self.supersteps += 1;
        if let Some(last) = self.steps.last_mut().filter(|_| !begins) {
            return last.add(&step);
        }
        if self.steps.len() == STEPS_MAX {
            let both = |pair: &[StepReport]| {
                let mut sum = pair[0];
                pair[1..].iter().for_each(|step| sum.add(step));
                sum
            };
            self.steps = self.steps.chunks(2).map(both).collect();
            self.supersteps_a_step *= 2;
        }
        self.supersteps_a_step = self.supersteps_a_step.max(1);
        self.steps.push(step);
    }

    /// Returns this report without its supersteps, of which there may be hundreds of thousands.
    #[doc(hidden)]
    pub fn without_steps(&self) -> Self {
        Self {
            algorithm: self.algorithm.clone(),
            device: self.device.clone(),
            fetcher: self.fetcher.clone(),
            uring_refused: self.uring_refused.clone(),
            sharing: self.sharing.clone(),
            alone: self.alone.clone(),
            ranks: self.ranks.clone(),
            predicted: self.predicted.clone(),
            checkpoints: self.checkpoints.clone(),
            stripes: self.stripes.clone(),
            steps: Vec::new(),
            ..*self
        }
    }

    /// Returns a sentence about a run that the limit of iterations ended before its values had converged: how much the
    /// last iteration changed. `None` for other runs.
    pub fn unconverged(&self) -> Option<String> {
        let Iteration { iterations, residual, tolerance } = self.total.iteration?;
        let tolerance = tolerance.filter(|_| self.converged == Some(false))?;
        let last = if iterations == 1 { "its only iteration".into() } else { format!("the last of {iterations}") };
        let change = if tolerance > 0.0 {
            // Some algorithms have it in single precision.
            format!("values by {residual:.2e}, more than the tolerance of {:e}", tolerance as f32)
        } else {
            format!("the values of {:.2}% of all vertices", 100.0 * residual)
        };
        Some(format!("{} has not converged: {last} changed {change}", self.algorithm))
    }

    /// Combines this report with the report of a following run.
    pub(crate) fn followed_by(mut self, next: Self) -> Self {
        let begun = self.supersteps as u32;
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
            memory: if self.planned_bytes > next.planned_bytes { self.memory } else { next.memory },
            bound: self.total.bound(),
            total: self.total,
            supersteps: self.supersteps + next.supersteps,
            supersteps_a_step: self.supersteps_a_step.max(next.supersteps_a_step),
            stripes: self.stripes,
            steps: self.steps,
            // A prediction is for a single run.
            predicted: None,
            ..next
        }
    }
}

/// The checkpoints of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckpointReport {
    /// The number of checkpoints that were written.
    pub written: u64,
    /// The number of checkpoints that could not be written.
    pub failed: u64,
    /// Bytes of the checkpoints that were written.
    pub bytes: u64,
    /// Nanoseconds of the run spent on writing and syncing them.
    pub ns: u64,
    /// For a resumed run: the totals of earlier sessions.
    pub resumed: Option<ResumedReport>,
}

/// The totals of a run's sessions up to the checkpoint from which it resumed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ResumedReport {
    /// The number of sessions.
    pub sessions: u64,
    /// The number of supersteps.
    pub supersteps: u64,
    /// Edges in the lists that were opened.
    pub edges: u64,
    /// Bytes read from disk.
    pub disk_bytes: u64,
    /// Elapsed time in nanoseconds.
    pub wall_ns: u64,
}

/// The work of a rank: one of several processes that shared a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankReport {
    /// The machine's name.
    pub host: String,
    /// The number of its devices.
    pub devices: u64,
    /// Pages that it visited, over all supersteps.
    pub pages: u64,
    /// Bytes that it read from disk.
    pub disk_bytes: u64,
    /// Bytes that it sent to other ranks, from the start of the run to the end of the last superstep.
    pub sent_bytes: u64,
    /// Bytes that it received from them.
    pub received_bytes: u64,
    /// Nanoseconds in which it sent, received, or waited for other ranks.
    pub network_ns: u64,
    /// The number of exchanges with other ranks.
    pub network_rounds: u64,
    /// The peak resident memory of its process, in bytes, if the system reports it.
    pub peak_memory_bytes: Option<u64>,
}

/// The report of a superstep, or the sum of several.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct StepReport {
    /// The superstep's number, from 0.
    pub superstep: u32,
    /// The direction of the lists that were read.
    pub direction: Option<Direction>,
    /// The number of active vertices, for traversals.
    pub active: Option<u64>,
    /// The state after the iteration that ended, for algorithms that iterate; in a sum, after the last one.
    pub iteration: Option<Iteration>,
    /// Edges in the lists that were opened.
    pub edges: u64,
    /// Vertices that the superstep changed: those that it activated, of a traversal; those that pass something on, of
    /// residuals; all, where all are computed anew. However many edges change a vertex before its list is read, it
    /// counts once.
    pub changed: u64,
    /// Lists and neighbours that CPUs have decoded from packed pages.
    pub decoded: u64,
    /// Vertices that vertex phases of CPUs went over.
    pub phase_vertices: u64,
    /// Pages that were visited.
    pub pages: u64,
    /// Visited pages that were in the page buffer.
    pub pages_cached: u64,
    /// Bytes read from disk.
    pub disk_bytes: u64,
    /// Bytes of them that were requested: the parts that visited lists are in, of pages of which parts were read, and
    /// all bytes of pages that were read whole.
    pub wanted_bytes: u64,
    /// Elapsed time in nanoseconds.
    pub wall_ns: u64,
    /// What this time was spent on.
    pub waits: Waits,
    /// Nanoseconds with at least one read in flight.
    pub disk_ns: u64,
    /// Nanoseconds in which the device had no page and waited for reads.
    pub wait_disk_ns: u64,
    /// Nanoseconds in which reads waited for a free frame.
    pub wait_frames_ns: u64,
    /// Nanoseconds of edge functions, summed over all threads.
    pub compute_ns: u64,
    /// Nanoseconds of checking pages, summed over all threads.
    pub check_ns: u64,
    /// Nanoseconds of the vertex phase.
    pub vertex_ns: u64,
    /// Nanoseconds of finding the pages to visit.
    pub plan_ns: u64,
    /// Transfers between main memory and GPUs.
    #[doc(hidden)]
    pub transfer: Transfer,
    /// Bytes that devices exchanged at the end of the superstep: written to main memory, and read from it.
    #[serde(rename = "merged_bytes")]
    pub exchanged_bytes: u64,
    /// Nanoseconds of this exchange.
    #[serde(rename = "merge_ns")]
    pub exchange_ns: u64,
    /// How evenly edges were divided among several devices.
    #[serde(skip_serializing_if = "is_alone")]
    pub balance: Balance,
    /// Bytes that ranks sent to each other.
    #[serde(skip_serializing_if = "is_zero")]
    pub network_bytes: u64,
    /// Nanoseconds in which this rank sent, received, or waited for other ranks.
    #[serde(skip_serializing_if = "is_zero")]
    pub network_ns: u64,
}

fn is_alone(balance: &Balance) -> bool {
    balance.skew().is_none()
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What a superstep, or a run, waited for: its elapsed time in parts, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Waits {
    /// Reads were in flight, and the device did not compute.
    pub disk_ns: u64,
    /// GPUs copied pages, or ran kernels over pages in main memory.
    pub bus_ns: u64,
    /// Devices ran edge functions, vertex phases and censuses, and checked pages if they do that themselves.
    pub kernels_ns: u64,
    /// The rest: finding pages, starting kernels, reading back results.
    pub host_ns: u64,
    /// Devices exchanged values.
    pub exchange_ns: u64,
}

impl Waits {
    /// Returns the sum of all parts.
    pub fn sum_ns(&self) -> u64 {
        self.disk_ns + self.bus_ns + self.kernels_ns + self.host_ns + self.exchange_ns
    }

    fn add(&mut self, other: &Self) {
        self.disk_ns += other.disk_ns;
        self.bus_ns += other.bus_ns;
        self.kernels_ns += other.kernels_ns;
        self.host_ns += other.host_ns;
        self.exchange_ns += other.exchange_ns;
    }
}

/// The bottleneck of a run: the largest of the [parts](Waits) of its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    /// Kernels.
    #[default]
    Compute,
    /// The disk.
    Disk,
    /// The disk, whose reads waited for a free frame of the page buffer.
    Memory,
    /// The bus between main memory and GPUs.
    Bus,
    /// The host, between kernels and reads.
    Host,
    /// The exchange between devices.
    Exchange,
}

impl StepReport {
    /// Adds another superstep's figures.
    #[doc(hidden)]
    pub fn add(&mut self, other: &Self) {
        self.iteration = other.iteration.or(self.iteration);
        self.edges += other.edges;
        self.changed += other.changed;
        self.decoded += other.decoded;
        self.phase_vertices += other.phase_vertices;
        self.pages += other.pages;
        self.pages_cached += other.pages_cached;
        self.disk_bytes += other.disk_bytes;
        self.wanted_bytes += other.wanted_bytes;
        self.wall_ns += other.wall_ns;
        self.waits.add(&other.waits);
        self.disk_ns += other.disk_ns;
        self.wait_disk_ns += other.wait_disk_ns;
        self.wait_frames_ns += other.wait_frames_ns;
        self.compute_ns += other.compute_ns;
        self.check_ns += other.check_ns;
        self.vertex_ns += other.vertex_ns;
        self.plan_ns += other.plan_ns;
        self.transfer.add(&other.transfer);
        self.exchanged_bytes += other.exchanged_bytes;
        self.exchange_ns += other.exchange_ns;
        self.balance.add(&other.balance);
        self.network_bytes += other.network_bytes;
        self.network_ns += other.network_ns;
    }

    /// Adds work on pages.
    pub(crate) fn add_work(&mut self, work: PageWork) {
        self.edges += work.edges;
        self.decoded += work.decoded;
        self.compute_ns += work.compute_ns;
        self.check_ns += work.check_ns;
    }

    /// Returns the bottleneck: the part of the time that is largest. If that is the disk, and a frame was missing for
    /// at least half of the wait, it is `Memory`.
    pub fn bound(&self) -> Bound {
        let Waits { disk_ns, bus_ns, kernels_ns, host_ns, exchange_ns } = self.waits;
        let disk = if self.wait_frames_ns * 2 >= disk_ns { Bound::Memory } else { Bound::Disk };
        let parts = [
            (host_ns, Bound::Host),
            (exchange_ns, Bound::Exchange),
            (bus_ns, Bound::Bus),
            (disk_ns, disk),
            (kernels_ns, Bound::Compute),
        ];
        // If several are equal, the last one is returned.
        parts.into_iter().max_by_key(|(ns, _)| *ns).map_or(Bound::Compute, |(_, bound)| bound)
    }

    /// Returns the bytes read from disk over elapsed time, in GB/s.
    pub fn disk_gb_per_s(&self) -> f64 {
        ratio(self.disk_bytes, self.wall_ns)
    }

    /// Returns the share of visited pages that were in the page buffer.
    pub fn hit_rate(&self) -> f64 {
        ratio(self.pages_cached, self.pages)
    }

    /// Returns the share of visited pages that were in the device's own memory.
    pub fn resident_rate(&self) -> f64 {
        ratio(self.transfer.resident_pages, self.pages)
    }
}

impl RunReport {
    /// Returns the edges of all supersteps over elapsed time, in millions per second.
    pub fn million_edges_per_s(&self) -> f64 {
        1e3 * ratio(self.total.edges, self.wall_ns)
    }

    /// Returns traversed edges per second (TEPS), as Graph500 defines them, in millions.
    pub fn million_teps(&self) -> Option<f64> {
        self.traversed_edges.map(|edges| 1e3 * ratio(edges, self.wall_ns))
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Long runs keep few reports, which add up to the run.
    #[test]
    fn very_many_supersteps_are_summed_up() {
        let mut report = RunReport::default();
        for superstep in 0..5 * STEPS_MAX as u32 + 3 {
            report.push(StepReport { superstep, edges: superstep.into(), pages: 1, ..StepReport::default() });
            assert!(report.steps.len() <= STEPS_MAX);
            if report.supersteps == STEPS_MAX as u64 {
                assert_eq!((report.supersteps_a_step, report.steps.len()), (1, STEPS_MAX));
            }
        }
        let RunReport { supersteps, supersteps_a_step, ref steps, .. } = report;
        assert_eq!((supersteps, supersteps_a_step), (5 * STEPS_MAX as u64 + 3, 8));
        assert_eq!(steps.len() as u64, supersteps.div_ceil(8));
        for (number, step) in (0..).zip(steps) {
            let first = 8 * number;
            let count = (supersteps - u64::from(first)).min(8);
            let edges = (0..count).map(|more| u64::from(first) + more).sum::<u64>();
            assert_eq!((step.superstep, step.pages, step.edges), (first, count, edges));
        }
        assert_eq!(report.total.edges, steps.iter().map(|step| step.edges).sum::<u64>());
    }
}
