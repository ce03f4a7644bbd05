//! Running an algorithm: from its declaration to its answer, superstep by superstep.

use super::explain::explain;
use super::preparation::Chosen;
use super::reporting::report_of;
use super::roster::MakeCpu;
use super::session::Session;
use super::waits::{Ending, waits};
use super::{Column, ColumnValue, Engine, column, declared, reactor};
use crate::cluster::Wish;
use crate::device::{CpuDevice, Member, RunAhead, StepEnd};
use crate::error::{Error, Result};
use crate::model::algorithm::{
    Algorithm, Answer, Conclusion, Declaration, Refusal, State, Step, Summary, Visit, declaration_of, step_after,
};
use crate::model::groups;
use crate::pages::PagePlan;
use crate::report::{RunReport, StepReport};
use crate::team::TeamPlan;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use topostream_formats::Direction;
use topostream_tools::available;

/// A finished run: its report and its results.
pub struct Run<A> {
    /// Times, bytes and counts of the run.
    pub report: RunReport,
    algorithm: Arc<A>,
    /// The algorithm's name.
    name: &'static str,
    state: State,
    conclusion: Conclusion,
}

impl<A: Algorithm> Run<A> {
    /// Returns a column of the results by its name: a vector with a value for every vertex, filled by all threads.
    ///
    /// The vector is not part of [`EngineOptions::memory_bytes`](super::EngineOptions::memory_bytes).
    /// [`answers`](Self::answers) reads results in chunks instead.
    ///
    /// # Errors
    /// [`Error::Column`] with the names and types of all columns if there is no such column, or if it cannot be read as
    /// this type (see [`ColumnValue`]); [`Error::Store`] if the memory cannot be allocated.
    pub fn column<T: ColumnValue>(&self, name: &str) -> Result<Column<T>> {
        column::read(self.name, &self.answers(), name, self.state.graph.vertices)
    }

    /// Returns the results as columns whose values are computed when they are read, in chunks of any size.
    pub fn answers(&self) -> Vec<Answer<'_>> {
        self.algorithm.answers(&self.state)
    }

    /// Returns the report, the algorithm and its state, for a run that continues from this one.
    pub(crate) fn into_parts(self) -> (RunReport, A, State) {
        let algorithm = Arc::into_inner(self.algorithm).expect("devices have dropped their references");
        (self.report, algorithm, self.state)
    }

    /// Returns a line about the whole graph, without a newline, if the algorithm has one.
    #[doc(hidden)]
    pub fn remark(&self) -> Option<String> {
        self.conclusion.remark.clone()
    }

    /// Returns the state at the end of the run.
    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// Returns the algorithm.
    pub fn algorithm(&self) -> &A {
        &self.algorithm
    }
}

/// A function that is called with the report of every superstep at its end.
pub type Observer<'a> = dyn FnMut(&StepReport) + 'a;

impl Engine {
    /// Runs an algorithm to its end.
    ///
    /// A run may use the engine's whole budget. A second run that another thread starts on the same engine waits for
    /// the first. Two engines have separate budgets. The calling thread is blocked until the run ends. It may belong to
    /// a tokio runtime; call this in `spawn_blocking` there, so that other tasks are not delayed.
    ///
    /// # Errors
    /// [`Error::Parameter`] and [`Error::Memory`] before any page is read; [`Error::Store`] or [`Error::Read`] with the
    /// page that could not be read; [`Error::Fetcher`] if no page can be read any more; [`Error::Interrupted`] after
    /// cancellation; [`Error::Parameter`] with a vertex at the end, if the algorithm has no answer.
    pub fn run<A: Algorithm>(&self, algorithm: A) -> Result<Run<A>> {
        self.run_observed(algorithm, &mut |_| {})
    }

    /// Runs an algorithm to its end, like [`run`](Self::run), and calls an observer after every superstep.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run).
    pub fn run_observed<A: Algorithm>(&self, algorithm: A, observer: &mut Observer<'_>) -> Result<Run<A>> {
        let declaration = Arc::new(declaration_of(&algorithm, &self.store));
        let algorithm = Arc::new(algorithm);
        let of_cpu = Arc::clone(&algorithm);
        let cpu = move |setup| -> Result<Box<dyn Member>> { Ok(Box::new(CpuDevice::new(Arc::clone(&of_cpu), setup))) };
        let any = Arc::clone(&algorithm) as Arc<dyn Algorithm>;
        let (report, state, conclusion) = self.drive((any, &declaration), &cpu, observer)?;
        drop(cpu);
        Ok(Run { report, algorithm, name: declaration.name, state, conclusion })
    }

    /// Runs an algorithm of any type. Only the CPU device, which `cpu` creates, needs the type for its edge function.
    fn drive(
        &self,
        algorithm: (Arc<dyn Algorithm>, &Arc<Declaration>),
        cpu: &MakeCpu,
        observer: &mut Observer<'_>,
    ) -> Result<(RunReport, State, Conclusion)> {
        let _entered = self.gate.enter(&self.options.cancel)?;
        let result = self.drive_alone_or_ranked(algorithm, cpu, observer);
        if let (Some(cluster), Err(error)) = (self.options.ranks(), &result) {
            // All ranks end a run that is stopped; some may still be on their way.
            if !(matches!(error, Error::Interrupted) && cluster.is_agreed(Wish::Stop)) {
                cluster.fail(&error.to_string());
            }
        }
        result
    }

    /// Drives the run within the gate. An error ends the run of all ranks.
    fn drive_alone_or_ranked(
        &self,
        (algorithm, declaration): (Arc<dyn Algorithm>, &Arc<Declaration>),
        cpu: &MakeCpu,
        observer: &mut Observer<'_>,
    ) -> Result<(RunReport, State, Conclusion)> {
        self.agree(declaration)?;
        self.check_threads()?;
        declared::check(declaration, &self.store)?;
        self.check_checkpoint(declaration)?;
        let (Chosen { team, kinds, alone, unmeasured }, degrees) = self.open_devices(declaration)?;
        if declaration.plurality.is_some() && kinds.cpu.contains(&true) {
            return Err(Error::Parameter(format!("{} was made for GPUs only", declaration.name)));
        }
        let reserved_bytes = self.reserved_bytes.load(Ordering::Relaxed);
        let plan = self.memory_plan(declaration, team.as_ref(), &kinds, self.usable_bytes());
        let plan = plan.map_err(|error| self.beside_results(error, reserved_bytes))?;
        self.check_memory(declaration, &plan)?;
        if let Some(degrees) = degrees {
            self.store.keep_out_degrees(degrees?);
        }
        let graph = self.graph(&*algorithm, declaration)?;
        if let Some(lists) = team.as_ref().and_then(TeamPlan::lists) {
            graph.vertex_lists.set(Arc::clone(lists)).ok();
        }
        let graph = Arc::new(graph);
        let (mut report, state) = reactor::block_on(async {
            let run = (Arc::clone(&algorithm), Arc::clone(declaration), cpu);
            let device = alone.map_or(0, |one| one.device);
            let mut session = Session::new(self, &plan, run, graph, (team, device))?;
            let report = session.run(observer).await?;
            session.pages.settle().await?;
            let Session { device, pages, .. } = session;
            self.buffer.keep(pages.into_cache(), &plan);
            Ok::<_, Error>((report, device.finish()?))
        })?;
        let conclusion =
            algorithm.conclude(&state).or_else(|refusal| Err(self.refused(declaration.command, &refusal)?))?;
        self.name_groups(declaration, &state)?;
        // A resumed run only has the time of its last session: no rate can be computed.
        let resumed = report.checkpoints.as_ref().is_some_and(|checkpoints| checkpoints.resumed.is_some());
        report.traversed_edges = conclusion.traversed_edges.filter(|_| !resumed);
        if !self.store.manifest().directed {
            report.traversed_edges = report.traversed_edges.map(|edges| edges / 2);
        }
        self.report_choice(declaration, (alone, unmeasured), &mut report);
        report.peak_memory_bytes = available::peak_bytes();
        // The cost model knows no network.
        let alone = self.options.ranks().is_none();
        let rates = self.options.rates.as_deref().filter(|_| !resumed && alone);
        report.predicted = rates.and_then(|rates| explain(rates, declaration, &self.store, &self.options, &report));
        Ok((report, state, conclusion))
    }

    /// Names the groups that an algorithm has found, if it finds any, by original ids. The run has ended: a request to
    /// stop comes too late, and must not lose its answer.
    fn name_groups(&self, declaration: &Declaration, state: &State) -> Result<()> {
        let never = AtomicBool::new(false);
        declaration.groups.as_ref().map_or(Ok(()), |groups| groups::name(groups, state, &self.store, &never))
    }

    /// Returns the error for an algorithm that has no answer.
    fn refused(&self, algorithm: &str, refusal: &Refusal) -> Result<Error> {
        let ids = self.store.ids_of(&[refusal.vertex])?;
        Ok(Error::Parameter(format!("{algorithm}: vertex {}: {}", ids[0], refusal.reason)))
    }
}

impl Session<'_> {
    /// Runs supersteps until the algorithm has no next one.
    async fn run(&mut self, observer: &mut Observer<'_>) -> Result<RunReport> {
        let mut report = self.begin_report();
        let started = Instant::now();
        let (mut step, mut active) = self.start()?;
        let (mut before, mut last) = (None, None);
        report.initialise_ns = elapsed_ns(started);
        self.spans.phase("initialise", started, 0);
        while let Some(now) = step {
            self.between(&now, active, &report)?;
            declared::check_step(&self.declaration, &now)?;
            let ahead = if self.runs_ahead { self.run_ahead(&now)? } else { RunAhead::default() };
            if !ahead.supersteps.is_empty() {
                for superstep in ahead.supersteps {
                    let mut step_report = report_of(&superstep, self.device.lanes());
                    step_report.changed = self.changed(&superstep.step, &superstep.end);
                    step_report.iteration =
                        self.algorithm.iteration(&self.graph, &superstep.step, &superstep.end.summary);
                    step_report.active = self.declaration.traversal.then_some(active);
                    before = Some(superstep.end.summary);
                    (last, active) = (step_report.direction, superstep.end.summary.activated);
                    report.push(step_report);
                    self.show(&superstep.step, &report.total);
                    observer(&step_report);
                    // The observer may have cancelled the run. Ranks agree on that first.
                    if self.is_cancelled() && self.options.ranks().is_none() {
                        return Err(Error::Interrupted);
                    }
                }
                step = ahead.next;
                continue;
            }
            let before_it = before.as_ref().map(|summary| (summary, last));
            let (now, mut step_report, summary) = self.superstep(now, before_it).await?;
            if let Some(checkpoints) = &self.options.checkpoints {
                checkpoints.superstep_done();
            }
            step_report.active = self.declaration.traversal.then_some(active);
            active = summary.activated;
            step_report.iteration = self.algorithm.iteration(&self.graph, &now, &summary);
            last = step_report.direction;
            report.push(step_report);
            self.show(&now, &report.total);
            observer(&step_report);
            step = step_after(&*self.algorithm, &self.rule, &self.graph, &now, &summary);
            before = Some(summary);
        }
        report.wall_ns = elapsed_ns(started);
        self.end_report(&mut report)?;
        Ok(report)
    }

    /// Lets the device run several supersteps without the engine.
    fn run_ahead(&mut self, step: &Step) -> Result<RunAhead> {
        self.tell_ranks();
        self.device.run_ahead(step)
    }

    /// Notes the end of a superstep for those that show the run.
    fn show(&self, step: &Step, total: &StepReport) {
        if let Some(progress) = &self.options.progress {
            if progress.now().superstep != step.superstep {
                progress.begin(step.superstep, 0, self.declaration.part(self.graph.vertices, step));
            }
            progress.end(total.edges, total.iteration);
        }
    }

    /// Runs `step`, or the superstep that is chosen in its place, which is returned: plans its pages, passes them to
    /// the device, and ends with the vertex phase or the next frontier. `before` is the summary and the direction of
    /// the previous superstep, if it ran in this session.
    async fn superstep(
        &mut self,
        step: Step,
        before: Option<(&Summary, Option<Direction>)>,
    ) -> Result<(Step, StepReport, Summary)> {
        let (started, network) = (Instant::now(), self.network());
        let choice = self.choose(step, before)?;
        let step = &choice.step;
        let (mut plan, deferred) = self.plan_pages(step, before.map(|(summary, _)| summary.activated))?;
        self.complete(step, &mut plan);
        let PagePlan { pages, policy, parts } = plan;
        let report = StepReport {
            superstep: step.superstep,
            direction: (step.visit != Visit::None).then_some(step.direction),
            pages: pages.len() as u64,
            plan_ns: elapsed_ns(started),
            ..StepReport::default()
        };
        if let Some(progress) = &self.options.progress {
            progress.begin(step.superstep, report.pages, self.declaration.part(self.graph.vertices, step));
        }
        self.spans.phase("plan", started, 0);
        self.device.begin(step)?;
        let deferred = self.deferred_by_all(step, deferred)?;
        if !deferred.is_empty() {
            self.device.defer(step, &deferred)?;
        }
        // A superstep without pages leaves the device's cached pages as they are.
        let pages = if pages.is_empty() { pages } else { self.device.start_resident(pages, policy) };
        // With checkpoints or other ranks, cancellation takes effect only between supersteps.
        let patient = self.options.checkpoints.is_some() || self.options.ranks().is_some();
        let cancel = (!patient).then_some(&*self.options.cancel);
        let next = self.reads_ahead(step).then_some(step);
        let plan = PagePlan { pages, policy, parts };
        let visit = self.pages.visit(&mut *self.device, &mut self.spans, (cancel, next), plan, report);
        let (mut report, intervals) = visit.await?;
        let vertex_phase = Instant::now();
        self.tell_ranks();
        let end = self.device.end(step)?;
        let StepEnd { summary, work, transfer, exchange, balance, vertex_ns, phase_vertices, .. } = end;
        (report.phase_vertices, report.changed) = (phase_vertices, self.changed(step, &end));
        (report.exchanged_bytes, report.exchange_ns, report.balance) = (exchange.bytes, exchange.ns, balance);
        report.add_work(work);
        report.transfer.add(&transfer);
        report.vertex_ns = elapsed_ns(vertex_phase);
        (report.network_bytes, report.network_ns) = self.network_since(&network);
        let ending = Ending { wall_ns: report.vertex_ns, vertex_ns, exchange };
        self.rates.learn(&report, (intervals.requested_bytes, intervals.partial_reads));
        report.wall_ns = elapsed_ns(started);
        self.completion.paced(report.wall_ns);
        self.note_loss(&choice, &report);
        // The time before the pages, and what passed between two readings of the clock.
        let host_ns = report.wall_ns.saturating_sub(intervals.sum_ns() + ending.wall_ns);
        report.waits = waits(host_ns, &intervals, &ending, (&report, self.device.lanes()));
        self.spans.phase("vertex phase", vertex_phase, 0);
        self.spans.superstep(step.superstep, started, report.edges);
        Ok((*step, report, summary))
    }

    /// Adds the pages of a superstep's direction that are not on the device to the pages that it visits, if they are
    /// due.
    fn complete(&mut self, step: &Step, plan: &mut PagePlan) {
        let some = !matches!(step.visit, Visit::All | Visit::None) && !plan.pages.is_empty();
        let may = some && self.runs_ahead && self.device.runs_alone();
        if !may || !self.completion.is_due() || !self.device_keeps_all() {
            return;
        }
        let topology = self.store.topology(step.direction).expect("algorithms visit topologies that exist");
        self.completion.add_missing(plan, topology, (&mut *self.device, &self.pages), &self.rates);
    }
}

fn elapsed_ns(since: Instant) -> u64 {
    since.elapsed().as_nanos() as u64
}
