//! Everything in device memory: no disk and no bus, only kernels, launches and the ends of supersteps.

use super::bench::{Bench, all_work, over};
use crate::case::Case;
use crate::error::Result;
use crate::measure::{Spread, ratio};
use crate::outcome::{Cell, Goal, Outcome, Table};
use crate::rig::{Measured, Work};

const EXPECTATION: &str = "PageRank at least 25 G edges/s an iteration by push and 35 by pull; BFS at least 10 GTEPS \
    from the vertex of the highest degree. A prototype kernel reached 30 to 43 G edges/s by push with native f32 \
    atomics, 45 to 90 by pull, and 45 to 84 with a test before the atomic, on an H200; exact sums take twice the \
    bytes of f32 ones, so that push should lose a quarter of that. A superstep costs about 0.1 ms besides its kernels \
    (two submissions and a readback of 45 us each): 0.3% of an iteration at scale 26, but a tenth of a \
    direction-optimizing search";
const PUSH_TARGET: f64 = 25.0;
const PULL_TARGET: f64 = 35.0;
const GTEPS_TARGET: f64 = 10.0;

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(bench: &Bench) -> Result<Outcome> {
    let mut outcome = bench.outcome("gpu-vram", EXPECTATION);
    let columns = [
        "graph",
        "work",
        "ms",
        "G edges/s (searches: GTEPS)",
        "kernels ms",
        "kernels' share",
        "supersteps",
        "launches",
    ];
    let mut table = Table::new("Everything in device memory", &columns);
    for case in bench.graphs()? {
        for work in all_work(&case) {
            let measured = bench.in_vram(&case, work)?;
            check_resident(&measured, bench)?;
            table.row(row(&case, work.name().into(), &measured));
            claim(&mut outcome, &case, work, over(&measured, Measured::gedges_per_s));
        }
        for search in [Work::TopDown, Work::Optimizing] {
            let measured = from_everywhere(bench, &case, search)?;
            let inverse: f64 = measured.iter().map(|run| ratio(run.ns, run.edges)).sum();
            let teps = ratio(measured.len() as f64, inverse);
            let name = format!("{}, {} random sources", search(case.hub).name(), measured.len());
            let mut cells = row(&case, name.clone().into(), &measured);
            cells[3] = format!("{} (harmonic mean)", crate::measure::digits(teps)).into();
            table.row(cells);
            outcome.claim(
                format!("{}, {name}: harmonic GTEPS", case.name),
                Goal::AtLeast,
                GTEPS_TARGET,
                Spread::of(&[teps]),
            );
        }
    }
    outcome.tables.push(table);
    for case in bench.graphs()? {
        outcome.tables.push(supersteps(bench, &case)?);
    }
    Ok(outcome)
}

/// The time of each superstep of a search from the hub.
fn supersteps(bench: &Bench, case: &Case) -> Result<Table> {
    let columns = ["superstep", "direction", "active", "edges", "us", "kernels us"];
    let title = format!("Supersteps of a direction-optimizing search, {}", case.name);
    let mut table = Table::new(&title, &columns);
    let rig = bench.setup().rig(&case.path, Work::Optimizing(case.hub))?;
    case.run(&rig)?;
    rig.run()?;
    case.run_awake(&bench.setup(), &rig)?;
    let (_, report) = case.run_with_report(&rig)?;
    table.row(vec!["first values".into(), "".into(), "".into(), "".into(), us(report.initialise_ns), "".into()]);
    for step in &report.steps {
        table.row(vec![
            step.superstep.to_string().into(),
            step.direction.map_or_else(String::new, |direction| format!("{direction:?}").to_lowercase()).into(),
            step.active.map_or_else(String::new, |active| active.to_string()).into(),
            step.edges.to_string().into(),
            us(step.wall_ns),
            us(step.compute_ns),
        ]);
    }
    let whole = ["whole".into(), "".into(), "".into(), report.total.edges.to_string().into()];
    table.row(whole.into_iter().chain([us(report.wall_ns), us(report.total.compute_ns)]).collect());
    Ok(table)
}

fn us(ns: u64) -> Cell {
    format!("{:.1}", ns as f64 / 1e3).into()
}

/// A search from each random source, after an unmeasured one from each, which reads missing pages.
fn from_everywhere(bench: &Bench, case: &Case, search: fn(topostream::VertexId) -> Work) -> Result<Vec<Measured>> {
    let mut rig = bench.setup().rig(&case.path, search(case.hub))?;
    case.run(&rig)?;
    for &source in &case.sources {
        rig = rig.with(search(source));
        rig.run()?;
    }
    let mut measured = Vec::new();
    for &source in &case.sources {
        rig = rig.with(search(source));
        measured.push(case.run_awake(&bench.setup(), &rig)?);
    }
    Ok(measured)
}

fn claim(outcome: &mut Outcome, case: &Case, work: Work, measured: Spread) {
    let (what, target) = match work {
        Work::Push => ("G edges/s", PUSH_TARGET),
        Work::Pull => ("G edges/s", PULL_TARGET),
        Work::TopDown(_) | Work::Distances(_) | Work::Betweenness(_) | Work::Components => return,
        Work::Optimizing(_) => ("GTEPS", GTEPS_TARGET),
    };
    outcome.claim(format!("{}, {}: {what}", case.name, work.name()), Goal::AtLeast, target, measured);
}

/// Refuses runs that moved pages: they do not measure device memory. On the CPU device, which has none, a quick run is
/// only a functional check.
fn check_resident(measured: &[Measured], bench: &Bench) -> Result<()> {
    let moved = measured.iter().any(|run| run.disk_bytes + run.bus_bytes > 0.0);
    match moved && !bench.settings.quick {
        true => Err("pages moved although all of them should be in device memory".into()),
        false => Ok(()),
    }
}

fn row(case: &Case, name: Cell, measured: &[Measured]) -> Vec<Cell> {
    let over = |of: fn(&Measured) -> f64| Cell::from(over(measured, of));
    vec![
        case.name.as_str().into(),
        name,
        over(|run| run.ns / 1e6),
        over(Measured::gedges_per_s),
        over(|run| run.kernel_ns / 1e6),
        over(|run| ratio(run.kernel_ns, run.ns)),
        over(|run| run.steps),
        over(|run| run.batches),
    ]
}
