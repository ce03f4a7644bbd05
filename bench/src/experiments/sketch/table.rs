//! Runs the ways and the engine, and notes what they did.

use super::lists::{Counts, Pages, pages_of};
use super::subject::{Graph, Work};
use crate::catalogue::{Footprint, run as run_on};
use crate::error::Result;
use crate::graph;
use crate::measure::{Spread, timed};
use crate::outcome::{Cell, Outcome, Table};
use crate::rig::{DeviceChoice, Setup, Share};
use topostream::Engine;
use topostream::model::algorithm::Algorithm;
use topostream_formats::Store;

/// The share of all pages that the buffer has room for.
const BUFFER_SHARE: f64 = 1.0 / 8.0;

const COLUMNS: [&str; 12] = [
    "graph",
    "work",
    "way",
    "hubs",
    "times",
    "rounds",
    "M updates",
    "M visits",
    "visits an edge",
    "backwards",
    "graphs read",
    "ms",
];

/// The ways of one work: their names, the share of hubs and the times a round of a sketch, and what they do.
pub struct Ways<'a, V>(Vec<Way<'a, V>>);

struct Way<'a, V> {
    name: &'static str,
    sketch: Option<(f64, u32)>,
    run: Box<dyn Fn(Pages) -> (Vec<V>, Counts) + 'a>,
}

impl<'a, V> Ways<'a, V> {
    pub fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds a way.
    pub fn add(
        &mut self,
        name: &'static str,
        sketch: Option<(f64, u32)>,
        run: impl Fn(Pages) -> (Vec<V>, Counts) + 'a,
    ) {
        self.0.push(Way { name, sketch, run: Box::new(run) });
    }
}

/// The tables.
pub struct Rows {
    runs: u32,
    sketches: Table,
    table: Table,
}

impl Rows {
    pub fn new(runs: u32) -> Self {
        let columns = ["graph", "hubs", "share of the edges", "edges of a path", "ms to find"];
        let of_ways: Vec<&str> = COLUMNS.into_iter().chain(["residual"]).collect();
        Self { runs, sketches: Table::new("Sketches", &columns), table: Table::new("Ways", &of_ways) }
    }

    /// Notes the sketches of a graph.
    pub fn sketches(&mut self, graph: &Graph) {
        let text = |number: String| Cell::from(number.as_str());
        let name = graph::name(&graph.store);
        for (hubs, sketch, took) in &graph.sketches {
            self.sketches.row(vec![
                name.as_str().into(),
                text(percent(*hubs)),
                text(percent(sketch.share())),
                text(format!("{:.2}", sketch.path_edges())),
                text(format!("{:.0}", took.as_secs_f64() * 1e3)),
            ]);
        }
    }

    /// Runs every way, once with counters of pages, and then for times, in turns. `check` returns the residual.
    pub fn measure<V>(
        &mut self,
        graph: &Graph,
        work: Work,
        ways: &Ways<'_, V>,
        check: impl Fn(&[V]) -> Result<Option<f64>>,
    ) -> Result<()> {
        let edges = graph.lists.edges();
        let mut done = Vec::new();
        for way in &ways.0 {
            let (values, counts) = (way.run)(Pages::of(edges));
            let residual = check(&values).map_err(|error| format!("{}: {error}", way.name))?;
            done.push((counts, residual, Vec::new()));
        }
        for _ in 0..self.runs {
            for (way, (.., times)) in ways.0.iter().zip(&mut done) {
                times.push(timed(|| (way.run)(Pages::uncounted())).0.as_secs_f64() * 1e3);
            }
        }
        for (way, (counts, residual, times)) in ways.0.iter().zip(done) {
            let read = counts.loads as f64 / pages_of(edges) as f64;
            self.row(graph, work, (way.name, way.sketch), (counts, read, Spread::of(&times), residual));
        }
        Ok(())
    }

    /// Runs the engine on one thread: through a buffer for an eighth of the pages, then with all in memory.
    pub fn engine<A: Algorithm + Clone>(
        &mut self,
        graph: &Graph,
        (work, name): (Work, &str),
        algorithm: &A,
        check: impl Fn(&[f64]) -> Result<Option<f64>>,
    ) -> Result<()> {
        let store = &graph.store;
        let page_bytes = Footprint::of(algorithm, store).page_bytes(store, true);
        let engine = |buffer| -> Result<Engine> {
            let setup = Setup { buffer, ..Setup::new(DeviceChoice::Cpu, 1) };
            Ok(Engine::new(Store::open(store.path())?, setup.options(store, page_bytes)))
        };
        let short = run_on(&engine(Share::Part(BUFFER_SHARE))?, algorithm.clone())?;
        let residual = check(&short.values)?;
        let read = short.report.total.disk_bytes as f64 / page_bytes as f64;
        let buffered = engine(Share::All)?;
        let mut last = run_on(&buffered, algorithm.clone())?;
        let mut times = Vec::new();
        for _ in 0..self.runs {
            last = run_on(&buffered, algorithm.clone())?;
            check(&last.values)?;
            times.push(last.ns / 1e6);
        }
        let total = &last.report.total;
        let counts =
            Counts { rounds: last.report.supersteps, updates: total.changed, visits: total.edges, ..Counts::default() };
        self.row(graph, work, (name, None), (counts, read, Spread::of(&times), residual));
        Ok(())
    }

    fn row(
        &mut self,
        graph: &Graph,
        work: Work,
        (way, sketch): (&str, Option<(f64, u32)>),
        (counts, read, ms, residual): (Counts, f64, Spread, Option<f64>),
    ) {
        let text = |number: String| Cell::from(number.as_str());
        let millions = |count: u64| text(format!("{:.3}", count as f64 / 1e6));
        let (hubs, times) = sketch.map_or_else(Default::default, |(hubs, times)| (percent(hubs), times.to_string()));
        let visits = counts.visits as f64 / graph.lists.edges() as f64;
        eprintln!("{} {work} {way} {hubs} {times}: {visits:.2} visits an edge, {ms} ms", graph::name(&graph.store));
        self.table.row(vec![
            graph::name(&graph.store).as_str().into(),
            work.to_string().as_str().into(),
            way.into(),
            text(hubs),
            text(times),
            text(counts.rounds.to_string()),
            millions(counts.updates),
            millions(counts.visits),
            text(format!("{visits:.2}")),
            text(percent(counts.backwards as f64 / counts.visits.max(1) as f64)),
            text(format!("{read:.2}")),
            ms.into(),
            text(residual.map_or_else(String::new, |residual| format!("{residual:.1e}"))),
        ]);
    }

    /// Adds the tables.
    pub fn finish(self, outcome: &mut Outcome) {
        outcome.tables.extend([self.sketches, self.table]);
    }
}

fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}
