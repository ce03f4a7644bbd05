//! Strategy-P: each device holds all attributes and sees some of the pages, each of which goes over a bus in every
//! iteration.

use super::bench::Bench;
use super::sides::{self, Ran, Side, over, speed};
use crate::case::Case;
use crate::error::Result;
use crate::outcome::{Cell, Goal, Outcome, Table};
use crate::rig::{Setup, Strategy, Sums, Work};
use std::rc::Rc;

const EXPECTATION: &str = "every page goes over a bus and each device has its own, so that an iteration of PageRank \
    takes half as long on two devices except for the merge: by pull 4 bytes of each vertex written and read, 1/16 of \
    the edges' bytes, at the same rate; by push 8 bytes and then 4, an eighth and more. At least 1.8 times as fast on \
    two and 3.4 on four. A search has small levels that more devices do not speed up: 1.5 and 2.5";

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(bench: &Bench) -> Result<Outcome> {
    let mut outcome = bench.outcome("devices-replicate", EXPECTATION);
    let columns = [&["work", "sums", "devices"][..], &sides::FIGURES, &["largest share of edges"]].concat();
    let case = bench.plain()?;
    let mut table = Table::new(format!("{}, replicate, device cache off", case.name), &columns);
    for (works, sums) in all_work(bench, &case) {
        let counts = bench.counts();
        let setup = |count| Setup { sums, ..bench.setup(count, Strategy::Replicate) };
        let side = |&count: &usize| {
            let name = format!("replicate, {count} devices, {}", sums.name());
            let rig = setup(count).rig(&case.path, works[0])?;
            Ok(Side { name, case: Rc::clone(&case), rig, waker: None })
        };
        let mut all_sides = counts.iter().map(side).collect::<Result<Vec<_>>>()?;
        let all = sides::rounds(bench, "replicate", &works, &mut all_sides)?;
        for (&count, ran) in counts.iter().zip(&all) {
            table.row(row(works[0], sums, count, ran, &all[0]));
            claim(&mut outcome, works[0], sums, count, ran, &all[0]);
            if let Some(last) = ran.last() {
                outcome.report(format!("{}, {}, {count} devices", works[0].name(), sums.name()), &last.report);
            }
        }
    }
    outcome.tables.push(table);
    Ok(outcome)
}

/// The runs: several searches from different sources.
fn all_work(bench: &Bench, case: &Case) -> [(Vec<Work>, Sums); 5] {
    [
        (vec![Work::Pull], Sums::Exact),
        (vec![Work::Push], Sums::Exact),
        (vec![Work::Push], Sums::Single),
        (bench.searches(case, Work::TopDown), Sums::Exact),
        (bench.searches(case, Work::Optimizing), Sums::Exact),
    ]
}

fn row(work: Work, sums: Sums, count: usize, ran: &[Ran], one: &[Ran]) -> Vec<Cell> {
    let sums = if work.is_search() { "" } else { sums.name() };
    let names = [work.name().into(), sums.into(), count.to_string().into()];
    let figures = sides::figures(ran, speed(ran, one));
    names.into_iter().chain(figures).chain([over(ran, Ran::largest_share)]).collect()
}

fn claim(outcome: &mut Outcome, work: Work, sums: Sums, count: usize, ran: &[Ran], one: &[Ran]) {
    let target = match (work.is_search(), count) {
        (false, 2) => 1.8,
        (false, 4) => 3.4,
        (true, 2) => 1.5,
        (true, 4) => 2.5,
        _ => return,
    };
    let sums = if work.is_search() { String::new() } else { format!(", {}", sums.name()) };
    let what = format!("{}{sums}: speed on {count} devices, of one's", work.name());
    outcome.claim(what, Goal::AtLeast, target, speed(ran, one));
}
