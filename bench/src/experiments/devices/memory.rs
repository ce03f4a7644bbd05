//! Device memory under Strategy-S: values of all vertices on each device, or of own and bordering ones only.

use super::bench::Bench;
use super::sides::{self, Ran, Side, over, speed};
use crate::case::Case;
use crate::error::Result;
use crate::graph::{Order, Wanted};
use crate::measure::{Spread, ratio};
use crate::outcome::{Cell, Goal, Outcome, Table};
use crate::rig::{FastPaths, Rig, Setup, Share, Strategy, Work, needed_bytes};
use std::rc::Rc;
use topostream::VertexId;
use topostream_formats::{Store, WeightType};

const EXPECTATION: &str = "a device holds 4 bytes for each vertex whose value it reads. Of a grid in rows, two devices \
    border on a section at most, a 32nd of the graph: nearly half of those bytes are left, and what stays whole are 2 \
    bits a vertex that find the border, 2 of frontiers in traversals, and working memory. Of R-MAT a device borders on \
    most vertices of the other that have out-edges, about half of all: a quarter of the bytes is left over. Where \
    memory is ample, finding a value costs kernels two reads more: a tenth of the speed of R-MAT, whose values are \
    read at random, and less of a grid. Where it is short, values of all vertices are read over the bus, in sectors of \
    32 bytes for 4: R-MAT by pull is several times as slow, and traversals, which write them, are refused";
/// The largest share of the bytes of values, and their like, that grids need with a border.
const GRID_TARGET: f64 = 0.65;
/// The smallest speed, relative to values of all vertices, where memory is ample.
const SPEED_TARGET: f64 = 0.85;

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(bench: &Bench) -> Result<Outcome> {
    let mut outcome = bench.outcome("devices-memory", EXPECTATION);
    let columns =
        ["graph", "work", "devices", "MB a device, all values", "MB, bordering", "of all's", "bordering vertices"];
    let mut least =
        Table::new("The least device memory that runs, shard, nothing read over the bus but pages", &columns);
    let columns = ["graph", "work", "devices", "memory", "ms, all values", "ms, bordering", "speed of all's"];
    let mut times = Table::new("Time with both, shard", &columns);
    for subject in subjects(bench)? {
        for count in bench.counts().into_iter().filter(|&count| count > 1) {
            let Subject { graph, work, bordering, .. } = &subject;
            let kept = FastPaths { host_import: false, ..FastPaths::default() };
            let (all_bytes, bytes) = (subject.whole.least(bench, count, kept)?, bordering.least(bench, count, kept)?);
            let begin = || vec![Cell::from(graph.as_str()), work.name().into(), count.to_string().into()];
            let share = ratio(bytes as f64, all_bytes as f64);
            let figures = [(all_bytes as f64 / 1e6).into(), (bytes as f64 / 1e6).into(), share.into()];
            let border = bordering.border(bench, count)?;
            least.row(begin().into_iter().chain(figures).chain([Cell::from(border)]).collect());
            if subject.is_grid {
                let share = Spread::of(&[share]);
                let name = format!("{graph}, {}, {count} devices: memory of all's", work.name());
                outcome.claim(name, Goal::AtMost, GRID_TARGET, share);
            }
            eprintln!("{graph}, {}, {count} devices: {all_bytes} and {bytes} bytes", work.name());
            let [all, ours] = subject.compare(bench, count, None)?;
            let name = format!("{graph}, {}, {count} devices: speed of all's", work.name());
            outcome.claim(name, Goal::AtLeast, SPEED_TARGET, speed(&ours, &all));
            times.row(begin().into_iter().chain(cells("ample", &all, &ours)).collect());
            // A traversal of a grid has thousands of supersteps: without its pages, it would take minutes.
            if !subject.is_grid || work.is_scan() {
                let [all, ours] = subject.compare(bench, count, Some(bytes))?;
                times.row(begin().into_iter().chain(cells("the least that a border needs", &all, &ours)).collect());
            }
        }
    }
    outcome.tables.extend([least, times]);
    Ok(outcome)
}

fn cells(memory: &str, all: &[Ran], ours: &[Ran]) -> [Cell; 4] {
    let (refused, ms) = ("refused", |ran: &[Ran]| over(ran, Ran::ms));
    let speed = if all.is_empty() { "".into() } else { speed(ours, all).into() };
    [memory.into(), if all.is_empty() { refused.into() } else { ms(all) }, ms(ours), speed]
}

/// A graph and an algorithm.
struct Subject {
    graph: String,
    is_grid: bool,
    work: Work,
    /// In a store without mirrors: devices do not know whom they border on.
    whole: Stored,
    /// In a store with mirrors.
    bordering: Stored,
}

/// A graph in a store.
struct Stored {
    case: Rc<Case>,
    work: Work,
}

/// R-MAT and a grid of as many vertices, each by pull, with weights, and without directions.
fn subjects(bench: &Bench) -> Result<Vec<Subject>> {
    let scale = bench.settings.scale;
    let side = 1 << (scale / 2);
    let directed = Wanted { weights: Some(WeightType::U32), order: Order::Natural, ..bench.wanted() };
    let undirected = Wanted { undirected: true, in_edges: false, weights: None, ..directed.clone() };
    let mut subjects = Vec::new();
    for (is_grid, graph) in [(false, format!("R-MAT {scale}")), (true, format!("grid {side} × {side}"))] {
        let case = |wanted: &Wanted, mirrors: bool| {
            let (wanted, folder) = (Wanted { mirrors, ..wanted.clone() }, &bench.settings.resources.dir);
            let store: Store = if is_grid { wanted.grid(folder, side)? } else { wanted.rmat(folder, scale)? };
            bench.case(&store, graph.clone())
        };
        for (wanted, works) in [(&directed, &WORKS[..2]), (&undirected, &WORKS[2..])] {
            let (whole, bordering) = (case(wanted, false)?, case(wanted, true)?);
            for work in works {
                // The first vertex of a grid reaches all others.
                let work = work(if is_grid { VertexId(0) } else { whole.hub });
                let stored = |case: &Rc<Case>| Stored { case: Rc::clone(case), work };
                let (whole, bordering) = (stored(&whole), stored(&bordering));
                subjects.push(Subject { graph: graph.clone(), is_grid, work, whole, bordering });
            }
        }
    }
    Ok(subjects)
}

/// The algorithms: two of directed graphs, one of undirected ones.
const WORKS: [fn(VertexId) -> Work; 3] = [|_| Work::Pull, Work::Distances, |_| Work::Components];

impl Subject {
    /// Alternates runs that hold the values of all vertices with runs that hold only border vertices' values, under a
    /// memory cap per device. The first list is empty if those runs are refused.
    fn compare(&self, bench: &Bench, count: usize, cap: Option<u64>) -> Result<[Vec<Ran>; 2]> {
        let forced = FastPaths { whole_copies: false, ..FastPaths::default() };
        let side = |stored: &Stored, name: &str, fast_paths| -> Result<Side> {
            let rig = stored.rig(bench, count, fast_paths, cap)?;
            let name = format!("{}, {name}, {count} devices", self.graph);
            Ok(Side { name, case: Rc::clone(&stored.case), rig, waker: None })
        };
        let whole = side(&self.whole, "all values", FastPaths::default())?;
        let bordering = side(&self.bordering, "bordering", forced)?;
        let refused = match whole.rig.run() {
            Ok(_) => false,
            Err(error) if error.downcast_ref().and_then(needed_bytes).is_some() => true,
            Err(error) => return Err(error),
        };
        let mut sides = if refused { vec![bordering] } else { vec![whole, bordering] };
        let mut ran = sides::rounds(bench, "memory", &[self.work], &mut sides)?;
        let ours = ran.pop().unwrap_or_default();
        Ok([ran.pop().unwrap_or_default(), ours])
    }
}

impl Stored {
    fn rig(&self, bench: &Bench, count: usize, fast_paths: FastPaths, device_bytes: Option<u64>) -> Result<Rig> {
        let setup = Setup { fast_paths, device_bytes, cache: Share::All, ..bench.setup(count, Strategy::Shard) };
        setup.rig(&self.case.path, self.work)
    }

    /// The least memory with which every device runs, in bytes: as much as a refusal asks for, as often as that is not
    /// enough for another device.
    fn least(&self, bench: &Bench, count: usize, fast_paths: FastPaths) -> Result<u64> {
        let mut least = 0;
        loop {
            let Err(error) = self.rig(bench, count, fast_paths, Some(least))?.start() else { return Ok(least) };
            match error.downcast_ref().and_then(needed_bytes) {
                Some(needed) if needed > least => least = needed,
                _ => return Err(error),
            }
        }
    }

    /// The bordering vertices of each device.
    fn border(&self, bench: &Bench, count: usize) -> Result<String> {
        let forced = FastPaths { whole_copies: false, ..FastPaths::default() };
        let run = self.rig(bench, count, forced, None)?.run()?;
        let devices = run.report().sharing.as_ref().map_or(&[][..], |sharing| &sharing.devices);
        let of = |bordering: Option<u64>| bordering.ok_or("a device holds values of all vertices");
        let of = |bordering| of(bordering).map(|bordering| bordering.to_string());
        let counts = devices.iter().map(|device| of(device.bordering)).collect::<std::result::Result<Vec<_>, _>>()?;
        Ok(counts.join(", "))
    }
}
