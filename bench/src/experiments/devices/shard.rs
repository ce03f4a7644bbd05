//! Strategy-S: each device holds a part of the attributes and sees all pages that may affect it.

use super::bench::Bench;
use super::sides::{self, Ran, Side, over, speed};
use crate::case::Case;
use crate::error::Result;
use crate::graph::Wanted;
use crate::measure::Spread;
use crate::outcome::{Cell, Goal, Outcome, Table};
use crate::rig::{Strategy, Work};
use std::rc::Rc;

const EXPECTATION: &str = "over a plain store every page goes to every device, and nothing gets faster. Where \
    out-lists are grouped by the range of the destination, in as many groups as there are devices, each device is \
    sent its own group only: 1/N of the bytes, and 1.6 times the speed or more on two, where the bus is the wall. \
    Lists are cut into N parts, so that pages of short lists become less full";
const TARGET: f64 = 1.6;

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(bench: &Bench) -> Result<Outcome> {
    let mut outcome = bench.outcome("devices-shard", EXPECTATION);
    let columns = [
        "work",
        "store",
        "ms",
        "G edges/s (searches: GTEPS)",
        "speed of the plain store's",
        "pages sent, MB",
        "pages sent by device, MB",
        "told MB a superstep",
        "telling ms a superstep",
    ];
    let (plain, devices) = (bench.plain()?, bench.devices.len());
    let wanted = Wanted { shards: devices as u32, ..bench.wanted() };
    let sharded = bench.case(&bench.store(&wanted)?, format!("{} in {devices} shards", plain.name))?;
    let mut table = Table::new(format!("{}, {devices} devices, shard, device cache off", plain.name), &columns);
    for works in [vec![Work::Push], bench.searches(&plain, Work::TopDown)] {
        let side = |(case, name): (&Rc<Case>, &str)| {
            let rig = bench.setup(devices, Strategy::Shard).rig(&case.path, works[0])?;
            Ok(Side { name: format!("shard, {name}, {devices} devices"), case: Rc::clone(case), rig, waker: None })
        };
        let stores = [(&plain, "plain store"), (&sharded, "store in shards")];
        let mut all_sides = stores.into_iter().map(side).collect::<Result<Vec<_>>>()?;
        let all = sides::rounds(bench, "shard", &works, &mut all_sides)?;
        for ((_, name), ran) in stores.iter().zip(&all) {
            table.row(row(bench, works[0], name, ran, &all[0]));
            if let Some(last) = ran.last() {
                outcome.report(format!("{}, {name}", works[0].name()), &last.report);
            }
        }
        if devices == 2 {
            let what = format!("{}: speed of a store in shards, of a plain one's", works[0].name());
            outcome.claim(what, Goal::AtLeast, TARGET, speed(&all[1], &all[0]));
        }
    }
    outcome.tables.push(table);
    Ok(outcome)
}

fn row(bench: &Bench, work: Work, store: &str, ran: &[Ran], plain: &[Ran]) -> Vec<Cell> {
    let page_mb = f64::from(bench.settings.resources.page_size) / 1e6;
    let by_device = (0..bench.devices.len())
        .map(|device| Spread::over(ran, |run| run.pages_by_device()[device] as f64 * page_mb).to_string());
    vec![
        work.name().into(),
        store.into(),
        over(ran, Ran::ms),
        over(ran, Ran::gedges_per_s),
        speed(ran, plain).into(),
        over(ran, |run| run.pages_by_device().iter().sum::<u64>() as f64 * page_mb),
        by_device.collect::<Vec<_>>().join(" + ").into(),
        over(ran, Ran::merged_mb),
        over(ran, Ran::merge_ms),
    ]
}
