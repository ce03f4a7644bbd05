//! Page assignments h(j) under Strategy-P.

use super::bench::Bench;
use super::sides::{self, Ran, Side, over, speed};
use crate::error::Result;
use crate::outcome::{Cell, Outcome, Table};
use crate::rig::{Assignment, Setup, Strategy, Work};
use std::rc::Rc;

const EXPECTATION: &str = "shares of edges are equal to within a page or two. PageRank exchanges less under \
    contiguous, where the owner of a vertex has its list: by pull a third, since sums are complete where they are \
    needed, by push two thirds, since ranks are. A search exchanges the same amount for all assignments, except for \
    vertices that several devices find; under contiguous a level's work stays with the owners of its vertices, so \
    that shares differ between levels";
const ASSIGNMENTS: [Assignment; 2] = [Assignment::Modulo, Assignment::Contiguous];

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(bench: &Bench) -> Result<Outcome> {
    let mut outcome = bench.outcome("devices-assignments", EXPECTATION);
    let columns = [
        "work",
        "assignment",
        "ms",
        "G edges/s (searches: GTEPS)",
        "speed of modulo's",
        "largest share of edges",
        "told MB a superstep",
        "telling ms a superstep",
    ];
    let (case, devices) = (bench.plain()?, bench.devices.len());
    let mut table = Table::new(format!("{}, {devices} devices, replicate, device cache off", case.name), &columns);
    for works in [vec![Work::Pull], vec![Work::Push], bench.searches(&case, Work::TopDown)] {
        let side = |assignment: Assignment| {
            let setup = Setup { assignment, ..bench.setup(devices, Strategy::Replicate) };
            let name = format!("{assignment}, {devices} devices");
            let rig = setup.rig(&case.path, works[0])?;
            Ok(Side { name, case: Rc::clone(&case), rig, waker: None })
        };
        let mut all_sides = ASSIGNMENTS.into_iter().map(side).collect::<Result<Vec<_>>>()?;
        let all = sides::rounds(bench, "assignments", &works, &mut all_sides)?;
        for (assignment, ran) in ASSIGNMENTS.iter().zip(&all) {
            table.row(row(works[0], *assignment, ran, &all[0]));
            if let Some(last) = ran.last() {
                outcome.report(format!("{}, {assignment}", works[0].name()), &last.report);
            }
        }
    }
    outcome.tables.push(table);
    Ok(outcome)
}

fn row(work: Work, assignment: Assignment, ran: &[Ran], modulo: &[Ran]) -> Vec<Cell> {
    vec![
        work.name().into(),
        assignment.to_string().into(),
        over(ran, Ran::ms),
        over(ran, Ran::gedges_per_s),
        speed(ran, modulo).into(),
        over(ran, Ran::largest_share),
        over(ran, Ran::merged_mb),
        over(ran, Ran::merge_ms),
    ]
}
