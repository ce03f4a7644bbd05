//! What devices send each other in PageRank by pull: every value, those of vertices with out-edges, or to each device
//! those that its lists read (the modes of Khorasani, Gupta and Bhuyan, PACT 2015, section 5, for values that change in
//! every superstep).

use super::bench::Bench;
use super::sides::{self, Ran, Side, over, speed};
use crate::case::Case;
use crate::error::Result;
use crate::graph::{Order, Wanted};
use crate::outcome::{Cell, Outcome, Table};
use crate::rig::{Exchanged, Setup, Strategy, Work};
use std::rc::Rc;

const EXPECTATION: &str = "of R-MAT, two devices read nearly every vertex of each other that has an out-edge, and more \
    devices fewer: between a half and nine tenths of what is linked. Of a grid in rows, a device reads a row of each \
    neighbour, and mirrors say so to a section, a 32nd of the graph: less than a tenth. Where memory is shared, \
    sending is a small part of an iteration, so that times differ by less";

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(bench: &Bench) -> Result<Outcome> {
    let mut outcome = bench.outcome("devices-mirrors", EXPECTATION);
    let columns = ["graph", "devices", "sent", "told MB an iteration", "of all", "ms", "speed of all's", "telling ms"];
    let mut table = Table::new("PageRank by pull, replicate", &columns);
    for case in cases(bench)? {
        for count in bench.counts().into_iter().filter(|&count| count > 1) {
            let side = |exchanged: Exchanged| {
                let setup = Setup { exchanged, ..bench.setup(count, Strategy::Replicate) };
                let rig = setup.rig(&case.path, Work::Pull)?;
                Ok(Side { name: format!("{exchanged}, {count} devices"), case: Rc::clone(&case), rig, waker: None })
            };
            let mut all_sides = Exchanged::ALL.into_iter().map(side).collect::<Result<Vec<_>>>()?;
            let all = sides::rounds(bench, "mirrors", &[Work::Pull], &mut all_sides)?;
            for (exchanged, ran) in Exchanged::ALL.iter().zip(&all) {
                table.row(row(&case.name, count, *exchanged, ran, &all[0]));
                if let Some(last) = ran.last() {
                    outcome.report(format!("{}, {count} devices, {exchanged}", case.name), &last.report);
                }
            }
        }
    }
    outcome.tables.push(table);
    Ok(outcome)
}

/// R-MAT, and a grid of as many vertices, in stores with mirrors.
fn cases(bench: &Bench) -> Result<[Rc<Case>; 2]> {
    let wanted = Wanted { mirrors: true, order: Order::Natural, ..bench.wanted() };
    let (folder, scale) = (&bench.settings.resources.dir, bench.settings.scale);
    let side = 1 << (scale / 2);
    Ok([
        bench.case(&wanted.rmat(folder, scale)?, format!("R-MAT {scale}"))?,
        bench.case(&wanted.grid(folder, side)?, format!("grid {side} × {side}"))?,
    ])
}

fn row(graph: &str, devices: usize, exchanged: Exchanged, ran: &[Ran], of_all: &[Ran]) -> Vec<Cell> {
    let told = |ran: &[Ran]| ran.last().map_or(0.0, Ran::merged_mb);
    vec![
        graph.into(),
        devices.to_string().into(),
        exchanged.to_string().into(),
        told(ran).into(),
        crate::measure::ratio(told(ran), told(of_all)).into(),
        over(ran, Ran::ms),
        speed(ran, of_all).into(),
        over(ran, Ran::merge_ms),
    ]
}
