//! What devices exchange in searches and shortest paths, timed: the values of all vertices, those of the maximal set
//! that others read, or those that have changed (ALL, MS and VR of Khorasani, Gupta and Bhuyan, PACT 2015, tables IV,
//! VIII and IX).

use super::bench::Bench;
use super::pulled::PulledDistances;
use crate::error::Result;
use crate::graph::{Order, Wanted};
use crate::measure::{Spread, ratio, wake};
use crate::outcome::{Cell, Outcome, Table};
use crate::rig::{DeviceChoice, Exchanged, Setup, Share, Strategy};
use std::path::PathBuf;
use topostream::algorithms::{Bfs, Sssp};
use topostream::model::algorithm::{Algorithm, AnswerValues};
use topostream::report::RunReport;
use topostream::{Engine, Run, Store, VertexId};
use topostream_formats::WeightType;

const EXPECTATION: &str = "pulled distances may change at any vertex, so that devices exchange 4 bytes of every vertex \
    in every superstep, or of those that others read: of R-MAT a third to a half of them, of a grid in rows less \
    than a tenth. A search sends the activated vertices: less than a fifth of all. It also reads fewer lists than \
    pulling, which reads all of them in every superstep, so that its time falls for both reasons";
const CHECK: &str = "every distance of every run equal to that of a search, or of shortest paths, of the CPU device";

/// A run's report, and the distance of each vertex that it has reached.
type Found = (RunReport, Vec<Option<u64>>);
/// A run by an algorithm of any type.
type Search = Box<dyn Fn(&Engine) -> Result<Found>>;

/// A way to the same distances.
struct Way {
    sent: &'static str,
    engine: Engine,
    run: Search,
}

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(bench: &Bench) -> Result<Outcome> {
    let mut outcome = bench.outcome("devices-exchange", EXPECTATION);
    outcome.verified = vec![CHECK.into()];
    let columns = [
        "graph",
        "work",
        "exchanged",
        "supersteps",
        "told MB",
        "of all",
        "telling ms",
        "ms",
        "speed of all's",
        "kernels ms",
    ];
    let mut table = Table::new(format!("{} devices, replicate", bench.devices.len()), &columns);
    for (graph, path) in stores(bench)? {
        for weighted in [false, true] {
            let work = if weighted { "shortest paths" } else { "BFS top-down" };
            let source = crate::graph::largest_vertex(&Store::open(&path)?)?;
            let all = measure(bench, &path, (source, weighted))?;
            for (sent, reports) in &all {
                table.row(row((&graph, work, sent), reports, &all[0].1));
                if let Some(last) = reports.last() {
                    outcome.report(format!("{graph}, {work}, {sent}"), last);
                }
            }
        }
    }
    outcome.tables.push(table);
    Ok(outcome)
}

/// R-MAT, and a grid, with weights, in-lists and mirrors. The grid has a 64th of the vertices: pulling reads all lists
/// in a superstep for each hop.
fn stores(bench: &Bench) -> Result<[(String, PathBuf); 2]> {
    let weights = Some(WeightType::U32);
    let wanted = Wanted { mirrors: true, in_edges: true, weights, order: Order::Natural, ..bench.wanted() };
    let (folder, scale) = (&bench.settings.resources.dir, bench.settings.scale);
    let side = (1 << (scale.saturating_sub(6) / 2)).max(16);
    Ok([
        (format!("R-MAT {scale}"), wanted.rmat(folder, scale)?.path().to_owned()),
        (format!("grid {side} × {side}"), wanted.grid(folder, side)?.path().to_owned()),
    ])
}

/// The reports of all ways, measured in turns.
fn measure(
    bench: &Bench,
    path: &PathBuf,
    (source, weighted): (VertexId, bool),
) -> Result<Vec<(&'static str, Vec<RunReport>)>> {
    let engine = |setup: &Setup| -> Result<Engine> {
        let store = Store::open(path)?;
        let options = setup.options(&store, 0);
        Ok(Engine::new(store, options))
    };
    let setup = Setup { cache: Share::All, ..bench.setup(bench.devices.len(), Strategy::Replicate) };
    let of_cpu = Setup { devices: vec![DeviceChoice::Cpu], rates: None, ..setup.clone() };
    let (_, expected) = searched(weighted, source)(&engine(&of_cpu)?)?;
    let mut ways = Vec::new();
    for (sent, exchanged) in [("all", Exchanged::All), ("maximal set", Exchanged::Mirrored)] {
        let run = Box::new(move |engine: &Engine| distances(engine, PulledDistances { source, weighted }));
        ways.push(Way { sent, engine: engine(&Setup { exchanged, ..setup.clone() })?, run });
    }
    ways.push(Way { sent: "changed", engine: engine(&setup)?, run: searched(weighted, source) });
    let mut all: Vec<(&'static str, Vec<RunReport>)> = ways.iter().map(|way| (way.sent, Vec::new())).collect();
    for round in 0..=bench.settings.runs {
        for (way, (sent, reports)) in ways.iter().zip(&mut all) {
            // Answers were compared meanwhile, and GPUs have lowered their clocks.
            if bench.devices.iter().any(|device| *device != DeviceChoice::Cpu) {
                wake(|| (way.run)(&way.engine).map(drop))?;
            }
            let (report, found) = (way.run)(&way.engine)?;
            if let Some(vertex) = (0..expected.len()).find(|&vertex| found[vertex] != expected[vertex]) {
                return Err(format!("wrong answer, {sent}: the distance of vertex {vertex}").into());
            }
            // The first run fills buffers.
            if round > 0 {
                reports.push(report);
            }
        }
    }
    Ok(all)
}

/// A search, or shortest paths.
fn searched(weighted: bool, source: VertexId) -> Search {
    Box::new(move |engine| match weighted {
        false => distances(engine, Bfs { bottom_up: false, ..Bfs::from(source) }),
        true => distances(engine, Sssp::new(source, WeightType::U32)),
    })
}

/// Runs an algorithm; returns its first answer too.
fn distances<A: Algorithm>(engine: &Engine, algorithm: A) -> Result<Found> {
    let vertices = engine.store().vertices() as u32;
    let run: Run<A> = engine.run(algorithm)?;
    let values = match &run.answers()[0].values {
        AnswerValues::Integer(value) => (0..vertices).map(|vertex| value.get(vertex)).collect(),
        AnswerValues::F64(_) | AnswerValues::Vertex(_) => return Err("distances are whole numbers".into()),
    };
    Ok((run.report, values))
}

fn row((graph, work, sent): (&str, &str, &str), reports: &[RunReport], of_all: &[RunReport]) -> Vec<Cell> {
    let told = |reports: &[RunReport]| reports.last().map_or(0.0, |last| last.total.exchanged_bytes as f64);
    let over = |of: fn(&RunReport) -> f64| Cell::from(Spread::over(reports, of));
    let pairs: Vec<_> = reports.iter().zip(of_all).collect();
    let supersteps = reports.last().map_or(0, |last| last.supersteps);
    vec![
        graph.into(),
        work.into(),
        sent.into(),
        supersteps.to_string().into(),
        (told(reports) / 1e6).into(),
        ratio(told(reports), told(of_all)).into(),
        over(|report| report.total.exchange_ns as f64 / 1e6),
        over(|report| report.wall_ns as f64 / 1e6),
        Spread::over(&pairs, |(one, all)| ratio(all.wall_ns as f64, one.wall_ns as f64)).into(),
        over(|report| report.total.compute_ns as f64 / f64::from(report.lanes.max(1)) / 1e6),
    ]
}
