//! One graph in one stripe and in two: the cost on one disk, the gain on two.

use crate::answers::PAGERANK_CHECK;
use crate::arrays;
use crate::error::Result;
use crate::graph;
use crate::measure::{Spread, ratio};
use crate::options::Common;
use crate::outcome::{Cell, Goal, Outcome, Table};
use crate::runs::{Expected, Work, engine};
use crate::scan;
use std::path::PathBuf;
use topostream::Engine;
use topostream::pages::fetch::{FetcherKind, Frame};
use topostream::pages::memory::FRAMES_MIN;
use topostream::report::RunReport;
use topostream_formats::{Direction, Store};

const EXPECTATION: &str = "a scan by the fetcher alone and PageRank with a small page buffer are as fast over two \
    folders of one disk as over one, with a ring and a queue for each: stripes cost nothing, and both carry the same \
    load";
/// The speed of two stripes over that of one.
const TARGET: f64 = 0.95;
/// The speed of the slower stripe over that of the faster one.
const BALANCE_TARGET: f64 = 0.9;
const ITERATIONS: u32 = 4;
/// Frames of the page buffer: enough for two queues, but a small part of the pages.
const FRAMES: u64 = 64;

/// One stripe compared with two
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// The scale of the R-MAT graph of edge factor 16
    #[arg(long, default_value_t = 22)]
    pub scale: u32,
    /// The folder of the second stripe, for example on a second disk [default: beside the first]
    #[arg(long, value_name = "DIR")]
    pub second: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// A store of one or two stripes, and the results of its runs.
struct Side {
    name: &'static str,
    store: Store,
    /// For scans.
    frames: Vec<Frame>,
    engine: Engine,
    rounds: Vec<Round>,
}

struct Round {
    scan_gb_per_s: f64,
    pass_ns: f64,
    gb_per_s: f64,
    stripes: Vec<f64>,
}

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(options: &Options) -> Result<Outcome> {
    let common = &options.common;
    let mut outcome = Outcome::new("stripes", EXPECTATION);
    outcome.verified(PAGERANK_CHECK);
    let second = match &options.second {
        Some(folder) => std::path::absolute(folder)?.join(format!("rmat-{}-second", options.scale)),
        None => PathBuf::from("second"),
    };
    outcome.notes.push(format!("the second stripe is in {}", second.display()));
    let wanted = common.wanted();
    let one = wanted.rmat(&common.dir, options.scale)?;
    let two = graph::Wanted { second_stripe: Some(second), ..wanted }.rmat(&common.dir, options.scale)?;
    let buffer_bytes = buffer_bytes(&one)?;
    outcome.notes.push(format!("a page buffer of {} MiB", ratio(buffer_bytes as f64, 1_048_576.0)));
    let out_lists = arrays::lists(&one, Direction::Out)?;
    let mut expected = Expected::new(&out_lists, ITERATIONS, graph::largest_vertex(&one)?);
    drop(out_lists);
    let graph = graph::name(&one);
    let side = |name, store: Store| -> Result<Side> {
        let engine = engine(store.path(), Some(buffer_bytes), common.threads())?;
        let frames = scan::frames(store.topology(Direction::Out).ok_or("the store has no out-lists")?)?;
        Ok(Side { name, store, frames, engine, rounds: Vec::new() })
    };
    let mut sides = [side("one stripe", one)?, side("two stripes", two)?];
    for round in 0..=common.runs {
        for side in &mut sides {
            let scan = scan::scan(&side.store, FetcherKind::Auto, &mut side.frames, &mut |_, _| {})?;
            let report = WORK.run(&side.engine, &mut expected)?;
            // In the first round, memory is faulted in.
            if round > 0 {
                side.rounds.push(measured(scan, &report));
                outcome.reports.retain(|(name, _)| name != side.name);
                outcome.report(side.name, &report);
            }
        }
    }
    record(&graph, &sides, &mut outcome);
    Ok(outcome)
}

const WORK: Work = Work::PageRank { iterations: ITERATIONS };

/// The page buffer of both: at most a quarter of the pages.
fn buffer_bytes(store: &Store) -> Result<u64> {
    let topology = store.topology(Direction::In).ok_or("the store has no in-lists")?;
    let frames = FRAMES.min(u64::from(topology.page_count()) / 4).max(FRAMES_MIN.into());
    Ok(frames * u64::from(topology.page_bytes()))
}

fn measured(scan_gb_per_s: f64, report: &RunReport) -> Round {
    let pass = WORK.measured(report);
    let stripes = report.stripes.iter().map(|stripe| stripe.gb_per_s()).collect();
    Round { scan_gb_per_s, pass_ns: pass.ns, gb_per_s: ratio(pass.disk_bytes, pass.ns), stripes }
}

fn record(graph: &str, sides: &[Side; 2], outcome: &mut Outcome) {
    let columns = [
        "store",
        "scan GB/s",
        "speed of one stripe's",
        "PageRank pass ms",
        "GB/s",
        "stripe 0 GB/s",
        "stripe 1 GB/s",
        "speed of one stripe's",
    ];
    let mut table = Table::new(graph, &columns);
    let pairs: Vec<(&Round, &Round)> = sides[0].rounds.iter().zip(&sides[1].rounds).collect();
    let speed = Spread::over(&pairs, |(one, two)| ratio(one.pass_ns, two.pass_ns));
    let scan = Spread::over(&pairs, |(one, two)| ratio(two.scan_gb_per_s, one.scan_gb_per_s));
    let speeds = [(Cell::from("1"), Cell::from("1")), (scan.into(), speed.into())];
    for (side, (scan, speed)) in sides.iter().zip(speeds) {
        let over = |value: &dyn Fn(&Round) -> f64| Cell::from(Spread::over(&side.rounds, value));
        let stripe = |at: usize| match side.rounds.iter().all(|round| at < round.stripes.len()) {
            true => over(&|round| round.stripes[at]),
            false => "".into(),
        };
        table.row(vec![
            side.name.into(),
            over(&|round| round.scan_gb_per_s),
            scan,
            over(&|round| round.pass_ns / 1e6),
            over(&|round| round.gb_per_s),
            stripe(0),
            stripe(1),
            speed,
        ]);
    }
    outcome.tables.push(table);
    outcome.claim("two stripes: a scan's speed of one stripe's", Goal::AtLeast, TARGET, scan);
    outcome.claim("two stripes: PageRank's speed of one stripe's", Goal::AtLeast, TARGET, speed);
    let balance = |round: &Round| {
        let (least, most) = round.stripes.iter().fold((f64::MAX, 0.0), |(a, b), &x| (x.min(a), x.max(b)));
        ratio(least, most)
    };
    let balance = Spread::over(&sides[1].rounds, balance);
    outcome.claim("two stripes: the slower one's speed of the faster one's", Goal::AtLeast, BALANCE_TARGET, balance);
}
