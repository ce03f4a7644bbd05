//! The direction of searches from disk: chosen by predicted time, by edges alone, and always top-down.

use super::bench::Bench;
use crate::case::Case;
use crate::error::Result;
use crate::measure::{Spread, ratio};
use crate::outcome::{Goal, Outcome, Table};
use crate::rig::{DeviceChoice, Measured, Rig, Setup, Share, Work};
use topostream::report::RunReport;
use topostream::{Direction, VertexId};

const EXPECTATION: &str = "a search takes at most 1.05 times as long as the better of two others, by edges alone and \
    top-down. Cold: if nothing is in memory, one kind of lists is read, half of what a search by edges reads. In \
    memory: edges alone count. With memory for an eighth of the pages: reads count in every run. With room for all \
    lists, the second run and others do without those that the first one avoided, until that has cost as much as \
    reading them: they are slower than runs by edges, whose first run has read all, and have no goal of their own";
/// Runs after which an engine must have read the lists that it avoids.
const RUNS_MAX: u32 = 2000;
const TARGET: f64 = 1.05;
/// The share of the pages that fit in memory, where not all of them do.
const PART: f64 = 1.0 / 8.0;

/// How a search chooses its direction.
#[derive(Clone, Copy)]
enum Choice {
    Time,
    Edges,
    TopDown,
}

impl Choice {
    /// In the order of the table's columns.
    const ALL: [Self; 3] = [Self::Time, Self::Edges, Self::TopDown];
}

/// A run of an engine: how often it has run before.
#[derive(Clone, Copy, PartialEq)]
enum Nth {
    First,
    Second,
    /// Everything that it may read is in memory.
    InMemory,
}

impl Nth {
    const fn name(self) -> &'static str {
        match self {
            Self::First => "first, cold",
            Self::Second => "second",
            Self::InMemory => "in memory",
        }
    }
}

/// One run of each choice.
type Round = [Measured; 3];
/// The runs of an engine of each choice.
type Runs = Vec<(Nth, Round)>;

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(bench: &Bench) -> Result<Outcome> {
    let mut outcome = bench.outcome("gpu-directions", EXPECTATION);
    let columns = [
        "graph",
        "pages in memory",
        "source",
        "run",
        "by time ms",
        "by edges ms",
        "top-down ms",
        "by time of the better",
        "by time MB read",
        "by edges MB read",
        "top-down MB read",
    ];
    let mut table = Table::new("Directions of searches", &columns);
    for case in bench.graphs()? {
        for (memory, share) in [("all", Share::All), ("an eighth", Share::Part(PART))] {
            for (source, of) in [("hub", case.hub), ("random", case.sources[0])] {
                let search = Search { case: &case, memory, share, source, of };
                search.record(bench, &mut table, &mut outcome)?;
            }
        }
    }
    outcome.tables.push(table);
    Ok(outcome)
}

/// A search with memory for a share of the pages.
struct Search<'a> {
    case: &'a Case,
    memory: &'static str,
    share: Share,
    /// The name of the source, and its vertex.
    source: &'static str,
    of: VertexId,
}

impl Search<'_> {
    fn record(&self, bench: &Bench, table: &mut Table, outcome: &mut Outcome) -> Result<()> {
        let Self { case, memory, share, source, of } = *self;
        let setup = Setup { buffer: share, cache: share, ..bench.setup() };
        let by_edges = directions(setup.rig(&case.path, Work::Optimizing(of))?.run()?.report());
        let mut rounds = Vec::new();
        for round in 0..bench.fewer_runs() {
            let (runs, read) = self.measure(&setup, &by_edges, round as usize)?;
            rounds.push(runs);
            let what = format!("{}, {source}: all lists were in memory from run", case.name);
            outcome.notes.extend(read.map(|run| format!("{what} {run} on")));
        }
        for at in 0..rounds[0].len() {
            let (nth, _) = rounds[0][at];
            let of_run: Vec<Round> = rounds.iter().map(|round| round[at].1).collect();
            let of_better = Spread::over(&of_run, |[time, edges, top_down]| ratio(time.ns, edges.ns.min(top_down.ns)));
            let mut cells = vec![case.name.as_str().into(), memory.into(), source.into(), nth.name().into()];
            cells.extend((0..3).map(|way| Spread::over(&of_run, |round| round[way].ns / 1e6).into()));
            cells.push(of_better.into());
            cells.extend((0..3).map(|way| Spread::over(&of_run, |round| round[way].disk_bytes / 1e6).into()));
            table.row(cells);
            if share != Share::All || nth != Nth::Second {
                let what = format!("{}, {memory} of the pages, {source}, {}", case.name, nth.name());
                outcome.claim(format!("{what}: time of the better"), Goal::AtMost, TARGET, of_better);
            }
        }
        Ok(())
    }

    /// The runs of a new engine of each choice, one engine after another; and from which run on the engine that chooses
    /// by time had all lists in memory.
    fn measure(&self, setup: &Setup, by_edges: &[Option<Direction>], round: usize) -> Result<(Runs, Option<u32>)> {
        let Self { case, of, .. } = *self;
        let on_gpu = setup.devices.iter().all(|device| *device != DeviceChoice::Cpu);
        let fits = setup.buffer == Share::All;
        let runs = if fits { vec![Nth::First, Nth::Second, Nth::InMemory] } else { vec![Nth::First, Nth::Second] };
        let mut measured: Runs = runs.into_iter().map(|nth| (nth, Round::default())).collect();
        let mut read = None;
        for place in 0..Choice::ALL.len() {
            // Which goes first changes from round to round.
            let way = (place + round) % Choice::ALL.len();
            let choice = Choice::ALL[way];
            let setup = Setup { alternatives: matches!(choice, Choice::Time), ..setup.clone() };
            // All have the same memory, of a part of both kinds of lists.
            let mut rig = setup.rig(&case.path, Work::Optimizing(of))?;
            if let Choice::TopDown = choice {
                rig = rig.with(Work::TopDown(of));
            }
            for (nth, round) in &mut measured {
                if let (Nth::InMemory, Choice::Time) = (*nth, choice) {
                    read = Some(read_all(&rig, by_edges)?);
                }
                let awake = *nth == Nth::InMemory && on_gpu;
                round[way] = if awake { case.run_awake(&setup, &rig)? } else { case.run(&rig)? };
            }
        }
        Ok((measured, read))
    }
}

/// The directions of a run's supersteps.
fn directions(report: &RunReport) -> Vec<Option<Direction>> {
    report.steps.iter().map(|step| step.direction).collect()
}

/// Repeats a search until it takes the same directions as a search by edges, because the lists that it avoided have
/// been read. Returns the run's number.
fn read_all(rig: &Rig, by_edges: &[Option<Direction>]) -> Result<u32> {
    for run in 3..RUNS_MAX {
        let finished = rig.run()?;
        let report = finished.report();
        if report.total.disk_bytes == 0 && directions(report) == by_edges {
            return Ok(run);
        }
    }
    Err(format!("some lists were not read in {RUNS_MAX} runs").into())
}
