//! Strong and weak scaling, as Gunrock's tables have them: every page is in the memory of the device that needs it, and
//! only values go over the buses.

use super::bench::{Bench, Kind};
use super::sides::{self, Ran, Side, speed};
use crate::case::Case;
use crate::error::Result;
use crate::measure::{Spread, ratio};
use crate::outcome::{Cell, Goal, Outcome, Table};
use crate::rig::{DeviceChoice, Rig, Setup, Strategy, Work};
use clap::ValueEnum;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::PathBuf;
use std::rc::Rc;

const EXPECTATION: &str = "kernels take half as long on two devices, and values cross each bus once: by pull 4 bytes \
    of each vertex with out-edges, by push 8 bytes of each vertex too. PageRank by the better strategy at least 1.85 \
    times as fast on two, traversals, whose small supersteps do not get shorter, at least 1.6. With twice the graph on \
    twice the devices, the same time but for the exchange. With rates, auto takes one device where two are predicted \
    to be slower";
/// Speed on two devices, of one's.
const RANKS_TARGET: f64 = 1.85;
const OTHERS_TARGET: f64 = 1.6;

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(bench: &Bench) -> Result<Outcome> {
    let mut outcome = bench.outcome("devices-scaling", EXPECTATION);
    let scale = bench.settings.scale;
    let mut on_all = Vec::new();
    let mut wakers = Wakers::default();
    let mut strong = Table::new(format!("R-MAT {scale}, strong scaling, pages in device memory"), &columns());
    for kind in kinds(bench) {
        let case = if kind.is_weighted() { bench.weighted()? } else { bench.plain()? };
        let works = kind.works(bench, &case);
        let mut ways = vec![(1, Strategy::Auto)];
        for count in bench.counts().into_iter().filter(|&count| count > 1) {
            ways.extend([Strategy::Auto, Strategy::Replicate, Strategy::Shard].map(|strategy| (count, strategy)));
        }
        let side = |&(count, strategy): &(usize, Strategy)| {
            side(bench, &case, works[0], (count, strategy), wakers.of(bench, &case, count)?)
        };
        let mut all_sides = ways.iter().map(side).collect::<Result<Vec<_>>>()?;
        let all = sides::rounds(bench, "scaling", &works, &mut all_sides)?;
        for (&(count, strategy), ran) in ways.iter().zip(&all) {
            let gained = speed(ran, &all[0]);
            eprintln!("{}, {count} devices, {strategy}: {:.2} of one's speed", works[0].name(), gained.median);
            strong.row(row(works[0], scale, (count, strategy), ran, gained));
            if (count, strategy) == (2, Strategy::Auto) {
                let target = if works[0].is_scan() { RANKS_TARGET } else { OTHERS_TARGET };
                let what = format!("{}: speed on two devices, of one's", works[0].name());
                outcome.claim(what, Goal::AtLeast, target, speed(ran, &all[0]));
            }
            if let Some(last) = ran.last() {
                outcome.report(format!("{}, {count} devices, {strategy}", works[0].name()), &last.report);
            }
        }
        let most = ways.iter().zip(all).rfind(|((_, strategy), _)| *strategy == Strategy::Auto);
        on_all.push(most.map(|(_, ran)| ran).unwrap_or_default());
    }
    outcome.tables.push(strong);
    drop(wakers);
    if !bench.settings.strong {
        outcome.tables.push(weak(bench, on_all)?);
    }
    Ok(outcome)
}

/// Twice the edges on twice the devices, up to the graph of the strong scaling on all of them: `on_all` has its runs by
/// kind of work.
fn weak(bench: &Bench, on_all: Vec<Vec<Ran>>) -> Result<Table> {
    let mut table =
        Table::new(String::from("Weak scaling, pages in device memory, speed in edges a second"), &columns());
    let counts: Vec<usize> = bench.counts().into_iter().filter(|count| count.is_power_of_two()).collect();
    let most = counts.last().copied().unwrap_or(1);
    let mut cases: BTreeMap<(bool, u32), Rc<Case>> = BTreeMap::new();
    let mut wakers = Wakers::default();
    for (kind, on_all) in kinds(bench).into_iter().zip(on_all) {
        let mut by_count = Vec::new();
        for &count in counts.iter().filter(|&&count| count < most) {
            let scale = bench.settings.scale - (most / count).ilog2();
            let case: &Rc<Case> = match cases.entry((kind.is_weighted(), scale)) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    let wanted = if kind.is_weighted() { bench.wanted_weighted() } else { bench.wanted() };
                    new.insert(bench.case(&bench.store_of(&wanted, scale)?, format!("R-MAT {scale}"))?)
                }
            };
            let works = kind.works(bench, case);
            let waker = wakers.of(bench, case, count)?;
            let mut side = [side(bench, case, works[0], (count, Strategy::Auto), waker)?];
            let ran = sides::rounds(bench, "scaling", &works, &mut side)?.swap_remove(0);
            by_count.push((works[0], count, scale, ran));
        }
        if let Some(&(work, ..)) = by_count.first() {
            by_count.push((work, most, bench.settings.scale, on_all));
        }
        let one: Vec<f64> = by_count.first().iter().flat_map(|(.., ran)| ran).map(Ran::gedges_per_s).collect();
        for (work, count, scale, ran) in by_count {
            let pairs: Vec<_> = ran.iter().zip(&one).collect();
            let gained = Spread::over(&pairs, |(ran, one)| ratio(ran.gedges_per_s(), **one));
            table.row(row(work, scale, (count, Strategy::Auto), &ran, gained));
        }
    }
    Ok(table)
}

fn columns() -> Vec<&'static str> {
    [&["work", "scale", "devices", "strategy"][..], &sides::FIGURES].concat()
}

fn side(
    bench: &Bench,
    case: &Rc<Case>,
    work: Work,
    (count, strategy): (usize, Strategy),
    waker: Rc<Rig>,
) -> Result<Side> {
    let name = format!("resident, {count} devices, {strategy}");
    let rig = setup(bench, count, strategy).rig(&case.path, work)?;
    Ok(Side { name, case: Rc::clone(case), rig, waker: Some(waker) })
}

fn setup(bench: &Bench, count: usize, strategy: Strategy) -> Setup {
    Setup {
        devices: bench.devices[..count].to_vec(),
        strategy,
        rates: bench.rates.clone(),
        ..Setup::new(DeviceChoice::Cpu, bench.threads())
    }
}

/// Scans of a graph that keep devices awake, by the number of devices. Those of other graphs are dropped: they hold
/// their pages in device memory.
#[derive(Default)]
struct Wakers {
    path: PathBuf,
    by_count: BTreeMap<usize, Rc<Rig>>,
}

impl Wakers {
    /// The scan of the first devices, all of them. Its pages are in their memory from the first time on.
    fn of(&mut self, bench: &Bench, case: &Case, count: usize) -> Result<Rc<Rig>> {
        if self.path != case.path {
            *self = Self { path: case.path.clone(), by_count: BTreeMap::new() };
        }
        if let Some(waker) = self.by_count.get(&count) {
            return Ok(Rc::clone(waker));
        }
        let waker = Rc::new(setup(bench, count, Strategy::Replicate).rig(&case.path, Work::Push)?);
        waker.run()?;
        self.by_count.insert(count, Rc::clone(&waker));
        Ok(waker)
    }
}

/// The requested kinds of work. What needs another store comes last.
fn kinds(bench: &Bench) -> Vec<Kind> {
    let wanted = &bench.settings.works;
    Kind::value_variants().iter().copied().filter(|kind| wanted.is_empty() || wanted.contains(kind)).collect()
}

impl Kind {
    fn is_weighted(self) -> bool {
        self == Self::Distances
    }

    /// Several searches from different sources, or one run.
    fn works(self, bench: &Bench, case: &Case) -> Vec<Work> {
        match self {
            Self::Pull => vec![Work::Pull],
            Self::Push => vec![Work::Push],
            Self::TopDown => bench.searches(case, Work::TopDown),
            Self::Optimizing => bench.searches(case, Work::Optimizing),
            Self::Components => vec![Work::Components],
            Self::Betweenness => vec![Work::Betweenness(case.hub)],
            Self::Distances => vec![Work::Distances(case.hub)],
        }
    }
}

fn row(work: Work, scale: u32, (count, strategy): (usize, Strategy), ran: &[Ran], speed: Spread) -> Vec<Cell> {
    // `auto` may have found that one device is predicted to be faster.
    let one = ran.last().is_some_and(|last| last.report.alone.is_some());
    let strategy = match count {
        1 => String::new(),
        _ if one => format!("{strategy}: one device"),
        _ => strategy.to_string(),
    };
    let names = [work.name().into(), scale.to_string().into(), count.to_string().into(), strategy.into()];
    names.into_iter().chain(sides::figures(ran, speed)).collect()
}
