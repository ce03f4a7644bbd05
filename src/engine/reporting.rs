//! The report of a run, from its beginning to its end.

use super::ranks;
use super::session::Session;
use super::waits::waits_ahead;
use crate::device::{Ahead, StepEnd};
use crate::error::Result;
use crate::model::algorithm::{Step, Visit};
use crate::report::{RunReport, StepReport};
use crate::team::TeamReport;

impl Session<'_> {
    /// Returns the report of a run that is about to start.
    pub(super) fn begin_report(&self) -> RunReport {
        RunReport {
            algorithm: self.declaration.command.into(),
            device: self.device.name(),
            lanes: self.device.lanes(),
            fetcher: self.pages.fetcher().name().into(),
            direct_io: self.pages.fetcher().direct(),
            uring_refused: self.pages.fetcher().refusal().map(str::to_owned),
            buffer_pages: self.plan.frames.into(),
            buffer_bytes: self.plan.buffer_bytes(),
            planned_bytes: self.plan.total_bytes() + self.options.trace_bytes() + self.options.checkpoint_bytes(),
            memory: Some(*self.plan),
            ..RunReport::default()
        }
    }

    /// Completes the report at the end of a run: of a cluster, with the work of all ranks.
    ///
    /// # Errors
    /// If another rank has failed.
    pub(super) fn end_report(&mut self, report: &mut RunReport) -> Result<()> {
        report.bound = report.total.bound();
        report.converged = report.total.iteration.and_then(|iteration| iteration.converged());
        let unvisited_bytes = self.pages.unvisited_bytes();
        report.total.disk_bytes += unvisited_bytes;
        report.total.wanted_bytes += unvisited_bytes;
        report.sharing = self.sharing.clone().map(|sharing| TeamReport { devices: self.device.reports(), ..sharing });
        report.retries = self.pages.retries();
        report.stripes = self.pages.stripe_reports();
        report.checkpoints = self.options.checkpoints.as_ref().map(|checkpoints| checkpoints.report());
        self.options.ranks().map_or(Ok(()), |cluster| ranks::complete(report, cluster, &self.traffic))
    }

    /// The number of vertices that a superstep has changed.
    pub(super) fn changed(&self, step: &Step, end: &StepEnd) -> u64 {
        let StepEnd { summary, joined, deferred, .. } = end;
        match self.declaration.traversal {
            // Deferred vertices are among the activated ones.
            true => summary.activated + joined - deferred,
            false => self.algorithm.changed(&self.graph, step, summary),
        }
    }
}

/// The report of a superstep that the device ran without the host.
pub(super) fn report_of(ahead: &Ahead, lanes: u32) -> StepReport {
    let Ahead { step, end: StepEnd { work, transfer, exchange, balance, .. }, pages, wall_ns } = *ahead;
    let direction = (step.visit != Visit::None).then_some(step.direction);
    let mut report =
        StepReport { superstep: step.superstep, direction, pages, wall_ns, transfer, balance, ..StepReport::default() };
    report.add_work(work);
    (report.exchanged_bytes, report.exchange_ns) = (exchange.bytes, exchange.ns);
    report.waits = waits_ahead(&report, lanes);
    report
}
