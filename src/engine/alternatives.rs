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
//! Rates are measured in the run. Until supersteps with enough work have run, they come from `calibrate`, or are
//! defaults. The engine chooses once for all devices. The algorithm's own choice runs if it needs no reads: its rule,
//! which counts edges, is then the better one.
//!
//! If all lists fit in memory, what a superstep reads is still there in the engine's later runs, whose number is not
//! known: another ski-rental problem, as in `completion.rs`. The algorithm's own choice runs, and its pages are read,
//! once that would have saved the supersteps before as much time as it takes. What a superstep has lost is its measured
//! time without the time of its reads, less the predicted time of the algorithm's choice.

use super::declared;
use super::session::Session;
use crate::cluster::Cluster;
use crate::error::Result;
use crate::model::algorithm::{Alternative, Step, Summary};
use crate::pages::PagePlan;
use crate::pages::fetch::PageRef;
use crate::report::StepReport;
use topostream_formats::Direction;

/// An alternative runs only if its predicted time is below this fraction of the time of the algorithm's own choice.
const MARGIN: f64 = 0.985;

/// Returns which of several supersteps to run, given their predicted times; the first one is the algorithm's choice.
fn fastest(predicted_ns: &[f64]) -> usize {
    let best = (1..predicted_ns.len()).min_by(|&a, &b| predicted_ns[a].total_cmp(&predicted_ns[b]));
    best.filter(|&best| predicted_ns[best] < MARGIN * predicted_ns[0]).unwrap_or(0)
}

/// The superstep that runs next.
pub(super) struct Choice {
    pub step: Step,
    /// The predicted time of the superstep in whose place it runs, in nanoseconds, if that would have read lists that
    /// stay in memory.
    avoided_ns: Option<f64>,
}

impl Choice {
    /// The algorithm's own choice, or the choice of all ranks.
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
        declared::check_step(&self.declaration, &alternative.step)?;
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
