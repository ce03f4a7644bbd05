//! Chooses among equivalent supersteps by predicted time, if pages have to be read.
//!
//! ```text
//!  time  =  max( bytes that are neither in the page buffer nor on the device  ÷  disk rate  +  reads  ×  their cost,
//!                edges  ÷  edge rate )
//! ```
//!
//! If not all lists fit in memory, a superstep that reads lists of another direction than the one before also takes the
//! time to read again what it displaces from the page buffer: the search will come back to it.
//!
//! Rates are measured in the run. Until supersteps with enough work have run, they are those of `calibrate`, or
//! defaults. The engine chooses once for all devices. The algorithm's own choice runs if it needs no reads: its rule,
//! which counts edges, is then the better one.
//!
//! If all lists fit in memory, what a superstep reads is still there in the engine's later runs, whose number is not
//! known: another ski-rental problem, as in `completion.rs`. The algorithm's own choice runs, and its pages are read,
//! once that would have saved the supersteps before as much time as it takes. What a superstep has lost is its measured
//! time without that of its reads, less the predicted time of the algorithm's choice.

use super::session::Session;
use super::{EngineOptions, declared};
use crate::cluster::Cluster;
use crate::error::Result;
use crate::model::algorithm::{Alternative, Step, Summary};
use crate::pages::PagePlan;
use crate::pages::fetch::PageRef;
use crate::pages::parts::ReadCost;
use crate::predict::{Kernel, disks};
use crate::report::StepReport;
use std::sync::Mutex;
use topostream_formats::{Direction, Store};

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
/// An alternative runs only if its predicted time is below this fraction of that of the algorithm's own choice.
const MARGIN: f64 = 0.985;

/// The rates of a run so far.
#[derive(Clone, Debug)]
pub(super) struct RatesSoFar {
    page_bytes: f64,
    disk_bytes_per_ns: f64,
    /// Nanoseconds of a read besides its bytes.
    request_ns: f64,
    /// Whether the disk's rate has been measured in this run.
    disk_measured: bool,
    /// Edges processed so far, and the time that took.
    edges: f64,
    edges_ns: f64,
    lanes: f64,
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
    fn edges_ns(&self, edges: f64) -> f64 {
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

/// Returns which of several supersteps to run, given their predicted times; the first one is the algorithm's choice.
fn fastest(predicted_ns: &[f64]) -> usize {
    let best = (1..predicted_ns.len()).min_by(|&a, &b| predicted_ns[a].total_cmp(&predicted_ns[b]));
    best.filter(|&best| predicted_ns[best] < MARGIN * predicted_ns[0]).unwrap_or(0)
}

/// Time lost by alternative supersteps of an engine, in nanoseconds.
#[derive(Debug, Default)]
pub(super) struct Lost(Mutex<f64>);

impl Lost {
    /// Adds a loss; a gain is none.
    fn add(&self, lost_ns: f64) {
        *self.0.lock().expect("nothing panics while it is held") += lost_ns.max(0.0);
    }

    /// Whether all losses together are as much as reading takes: they are forgotten then.
    fn exceeds(&self, read_ns: f64) -> bool {
        let mut lost = self.0.lock().expect("nothing panics while it is held");
        let exceeds = *lost >= read_ns;
        if exceeds {
            *lost = 0.0;
        }
        exceeds
    }
}

/// The superstep that runs next.
pub(super) struct Choice {
    pub step: Step,
    /// The predicted time of the superstep in whose place it runs, in nanoseconds, if that would have read lists that
    /// stay in memory.
    avoided_ns: Option<f64>,
}

impl Choice {
    /// The algorithm's own choice, or that of all ranks.
    fn of(step: Step) -> Self {
        Self { step, avoided_ns: None }
    }
}

impl Session<'_> {
    /// Returns the superstep to run next: `step`, or one of its alternatives. `before` is the summary and the direction
    /// of the previous superstep, if it ran in this session.
    pub(super) fn choose(&mut self, step: Step, before: Option<(&Summary, Option<Direction>)>) -> Result<Choice> {
        let asked = self.options.alternatives && !self.is_asynchronous();
        let Some((before, last)) = before.filter(|_| asked) else { return Ok(Choice::of(step)) };
        let alternatives = self.algorithm.alternatives(&self.graph, &step, before);
        if alternatives.len() < 2 {
            return Ok(Choice::of(step));
        }
        if let Some(cluster) = self.options.ranks().cloned() {
            return Ok(Choice::of(self.choose_together(&cluster, &alternatives, last)?));
        }
        let fits = self.keeps_all(&alternatives);
        let (mut plans, mut predicted_ns, mut read_ns) = (Vec::new(), Vec::new(), Vec::new());
        for alternative in &alternatives {
            let (plan, reads) = self.plan_of(alternative)?;
            predicted_ns.push(self.predicted_ns(alternative, reads, last.filter(|_| !fits)));
            read_ns.push(self.rates.predicted_ns(reads, 0.0));
            plans.push(plan);
            if reads.0 == 0 && plans.len() == 1 {
                break;
            }
        }
        let mut chosen = fastest(&predicted_ns);
        if chosen > 0 && fits && self.lost.exceeds(read_ns[0]) {
            chosen = 0;
        }
        let step = alternatives[chosen].step;
        self.planned = Some((step, plans.swap_remove(chosen)));
        let avoided_ns = (chosen > 0 && fits).then(|| self.rates.edges_ns(alternatives[0].edges));
        Ok(Choice { step, avoided_ns })
    }

    /// Makes the same choice on all ranks: by the time of the slowest one. All of them make all plans, which they have
    /// to do together.
    fn choose_together(
        &mut self,
        cluster: &Cluster,
        alternatives: &[Alternative],
        last: Option<Direction>,
    ) -> Result<Step> {
        let last = last.filter(|_| !self.keeps_all(alternatives));
        let (mut plans, mut told) = (Vec::new(), Vec::new());
        for alternative in alternatives {
            let (plan, reads) = self.plan_of(alternative)?;
            told.push(reads.0 as f64);
            // Each rank has its part of the edges.
            let part = Alternative { edges: alternative.edges / cluster.ranks() as f64, ..*alternative };
            told.push(self.predicted_ns(&part, reads, last));
            plans.push(plan);
        }
        let all = cluster.gather(&told)?;
        let column = |at: usize| all.iter().map(move |of_rank| of_rank[at]);
        let without_reads = column(0).all(|reads| reads == 0.0);
        let slowest: Vec<f64> = (0..plans.len()).map(|one| column(2 * one + 1).fold(0.0, f64::max)).collect();
        let chosen = if without_reads { 0 } else { fastest(&slowest) };
        let step = alternatives[chosen].step;
        self.planned = Some((step, plans.swap_remove(chosen)));
        Ok(step)
    }

    /// Notes what a superstep has lost, if it ran in the place of another one.
    pub(super) fn note_loss(&self, choice: &Choice, report: &StepReport) {
        let Some(avoided_ns) = choice.avoided_ns else { return };
        let computed_ns = report.compute_ns as f64 / self.rates.lanes;
        let took_ns = if report.disk_bytes == 0 { report.wall_ns as f64 } else { computed_ns };
        self.lost.add(took_ns - avoided_ns);
    }

    /// Returns the pages of an alternative, and the number of reads that it would take with their bytes.
    fn plan_of(&mut self, alternative: &Alternative) -> Result<(PagePlan, (u64, u64))> {
        declared::check_step(&*self.algorithm, &self.graph, &alternative.step)?;
        let plan = self.device.pages(&alternative.step)?;
        let reads = self.reads(&plan);
        Ok((plan, reads))
    }

    /// Returns the predicted time of an alternative with these reads, in nanoseconds. `last` is the direction of the
    /// superstep before, if not all lists fit in memory.
    fn predicted_ns(&self, alternative: &Alternative, reads: (u64, u64), last: Option<Direction>) -> f64 {
        let (count, bytes) = reads;
        let turns = last.is_some_and(|last| last != alternative.step.direction);
        let displaced = if turns { bytes.min(self.rates.page_bytes as u64 * u64::from(self.plan.frames)) } else { 0 };
        self.rates.predicted_ns((count, bytes + displaced), alternative.edges)
    }

    /// Returns whether all pages of all alternatives fit in the page buffer, or in the device's own memory.
    fn keeps_all(&self, alternatives: &[Alternative]) -> bool {
        let mut directions: Vec<_> = alternatives
            .iter()
            .map(|one| self.store.topology(one.step.direction).expect("algorithms visit topologies that exist"))
            .map(|topology| (topology.direction(), u64::from(topology.page_count())))
            .collect();
        directions.sort_unstable_by_key(|&(direction, _)| direction == Direction::In);
        directions.dedup();
        let pages: u64 = directions.iter().map(|(_, pages)| pages).sum();
        pages <= u64::from(self.plan.frames).max(self.device.pages_kept())
    }

    /// Returns the number of reads that a superstep would take, and their bytes.
    fn reads(&mut self, plan: &PagePlan) -> (u64, u64) {
        let missing = |page: &PageRef| self.pages.missing_of([*page].into_iter(), &plan.parts).0 > 0;
        let missing: Vec<_> = plan.pages.iter().copied().filter(missing).collect();
        let missing = if missing.is_empty() { missing } else { self.device.missing(missing) };
        self.pages.missing_of(missing.into_iter(), &plan.parts)
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
