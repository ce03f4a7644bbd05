//! Strong and weak scaling, as Gunrock's tables have them: every page is in the memory of the device that needs it, and
//! only values go over the buses.

use super::sides::{self, Ran, Side, over, speed};
use super::{Bench, Case};
use crate::Result;
use crate::gpu::api::{DeviceChoice, Setup, Strategy, Work};
use crate::measure::{Spread, ratio};
use crate::outcome::{Cell, Goal, Outcome, Table};
use std::rc::Rc;

const EXPECTATION: &str = "kernels take half as long on two devices, and values cross each bus once: by pull 4 bytes \
    of each vertex with out-edges, by push 8 bytes of each vertex too. PageRank by the better strategy at least 1.85 \
    times as fast on two, searches and components, whose small supersteps do not get shorter, at least 1.6. With twice \
    the graph on twice the devices, the same time but for the exchange";
/// Speed on two devices, of one's.
const RANKS_TARGET: f64 = 1.85;
const OTHERS_TARGET: f64 = 1.6;

const COLUMNS: [&str; 10] = [
    "work",
    "scale",
    "devices",
    "strategy",
    "ms",
    "G edges/s (searches: GTEPS)",
    "speed of one device's",
    "told MB a superstep",
    "telling ms a superstep",
    "kernels ms",
];

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(bench: &Bench) -> Result<Outcome> {
    let mut outcome = bench.outcome("devices-scaling", EXPECTATION);
    let scale = bench.options.scale;
    let case = bench.plain()?;
    let mut strong = Table::new(format!("{}, strong scaling, pages in device memory", case.name), &COLUMNS);
    for works in all_works(bench, &case) {
        let mut ways = vec![(1, Strategy::Auto)];
        for count in bench.counts().into_iter().filter(|&count| count > 1) {
            ways.extend([Strategy::Auto, Strategy::Replicate, Strategy::Shard].map(|strategy| (count, strategy)));
        }
        let side = |&(count, strategy): &(usize, Strategy)| side(bench, &case, works[0], count, strategy);
        let mut all_sides = ways.iter().map(side).collect::<Result<Vec<_>>>()?;
        let all = sides::rounds(bench, "scaling", &works, &mut all_sides)?;
        for (&(count, strategy), ran) in ways.iter().zip(&all) {
            strong.row(row(works[0], scale, (count, strategy), ran, speed(ran, &all[0])));
            if (count, strategy) == (2, Strategy::Auto) {
                let target = if works[0].is_scan() { RANKS_TARGET } else { OTHERS_TARGET };
                let what = format!("{}: speed on two devices, of one's", works[0].name());
                outcome.claim(what, Goal::AtLeast, target, speed(ran, &all[0]));
            }
            if let Some(last) = ran.last() {
                outcome.report(format!("{}, {count} devices, {strategy}", works[0].name()), &last.report);
            }
        }
    }
    outcome.tables.push(strong);
    outcome.tables.push(weak(bench, &case)?);
    Ok(outcome)
}

/// One device at half the scale's graph, and so on: the edges of each device stay the same.
fn weak(bench: &Bench, case: &Rc<Case>) -> Result<Table> {
    let scale = bench.options.scale;
    let mut table = Table::new(String::from("Weak scaling, pages in device memory"), &COLUMNS);
    let half = scale - 1;
    let small = bench.case(&bench.store_of(&bench.wanted(), half)?, format!("R-MAT {half}"))?;
    for (small_works, works) in all_works(bench, &small).into_iter().zip(all_works(bench, case)) {
        let mut one = [side(bench, &small, small_works[0], 1, Strategy::Auto)?];
        let one = sides::rounds(bench, "scaling", &small_works, &mut one)?.swap_remove(0);
        let mut two = [side(bench, case, works[0], 2, Strategy::Auto)?];
        let two = sides::rounds(bench, "scaling", &works, &mut two)?.swap_remove(0);
        let pairs: Vec<_> = two.iter().zip(&one).collect();
        let gained = Spread::over(&pairs, |(two, one)| ratio(two.gedges_per_s(), one.gedges_per_s()));
        table.row(row(small_works[0], half, (1, Strategy::Auto), &one, speed(&one, &one)));
        table.row(row(works[0], scale, (2, Strategy::Auto), &two, gained));
    }
    Ok(table)
}

fn side(bench: &Bench, case: &Rc<Case>, work: Work, count: usize, strategy: Strategy) -> Result<Side> {
    let setup = Setup {
        devices: bench.devices[..count].to_vec(),
        strategy,
        rates: bench.rates.clone(),
        ..Setup::new(DeviceChoice::Cpu, bench.threads())
    };
    let name = format!("resident, {count} devices, {strategy}");
    Ok(Side { name, case: Rc::clone(case), rig: setup.rig(&case.path, work)? })
}

fn all_works(bench: &Bench, case: &Case) -> [Vec<Work>; 5] {
    [
        vec![Work::Pull],
        vec![Work::Push],
        bench.searches(case, Work::TopDown),
        bench.searches(case, Work::Optimizing),
        vec![Work::Components],
    ]
}

fn row(work: Work, scale: u32, (count, strategy): (usize, Strategy), ran: &[Ran], speed: Spread) -> Vec<Cell> {
    vec![
        work.name().into(),
        scale.to_string().into(),
        count.to_string().into(),
        if count == 1 { "".into() } else { strategy.to_string().into() },
        over(ran, Ran::ms),
        over(ran, Ran::gedges_per_s),
        speed.into(),
        over(ran, Ran::merged_mb),
        over(ran, Ran::merge_ms),
        over(ran, Ran::compute_ms),
    ]
}
