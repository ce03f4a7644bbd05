//! Bytes that devices exchange, compared with exchanging everything (Khorasani, Gupta and Bhuyan, PACT 2015, table I).

use super::bench::Bench;
use crate::error::Result;
use crate::measure::ratio;
use crate::outcome::{Cell, Outcome, Table};
use crate::rig::{DeviceChoice, Setup, Strategy};
use serde::Serialize;
use std::path::Path;
use topostream::algorithms::{Bfs, Components, Sssp};
use topostream::model::algorithm::{Algorithm, AnswerValues, declaration_of};
use topostream::report::RunReport;
use topostream::{Engine, Run, Store};
use topostream_formats::WeightType;

const EXPECTATION: &str = "a traversal sends only activated vertices, as a list if they are few and as blocks of bits \
    if they are many: one or two supersteps of a search send most vertices, the others hardly any, so that all \
    together send less than a fifth of the bytes of every written attribute and the frontier of every vertex in every \
    superstep. Shortest paths activate a vertex several times, components all vertices at first: a third";
const CHECK: &str = "every value of every vertex equal to that of the CPU device alone";

/// The exchanges of a run.
#[derive(Debug, Serialize)]
struct Told {
    devices: u64,
    vertices: u64,
    /// Bits of a vertex: all written attributes, and one of the frontier.
    bits_by_vertex: u64,
    /// vertices × bits ÷ 8 × 2 (written and read) × devices.
    dense_bytes_by_superstep: u64,
    dense_bytes: u64,
    exchanged_bytes: u64,
    exchanged_bytes_by_superstep: Vec<u64>,
    active_by_superstep: Vec<Option<u64>>,
    report: RunReport,
}

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(bench: &Bench) -> Result<Outcome> {
    let mut outcome = bench.outcome("devices-refinement", EXPECTATION);
    outcome.verified = vec![CHECK.into()];
    let columns = [
        "work",
        "strategy",
        "supersteps",
        "told MB",
        "told MB a superstep",
        "all written attributes and the frontier, MB a superstep",
        "told of them",
        "telling ms",
    ];
    let plain = bench.plain()?;
    let title = format!(
        "{}, {} devices: what is told, and what telling everything would take",
        plain.name,
        bench.devices.len()
    );
    let mut table = Table::new(title, &columns);
    let weighted = bench.store(&bench.wanted_weighted())?.path().to_owned();
    for strategy in [Strategy::Replicate, Strategy::Shard] {
        let top_down = Bfs { bottom_up: false, ..Bfs::from(plain.hub) };
        let sssp = Sssp::new(plain.hub, WeightType::U32);
        let told = [
            ("BFS top-down", told(bench, &plain.path, strategy, top_down)?),
            ("BFS direction-optimizing", told(bench, &plain.path, strategy, Bfs::from(plain.hub))?),
            ("SSSP", told(bench, &weighted, strategy, sssp)?),
            ("components", told(bench, &plain.path, strategy, Components { directed: true })?),
        ];
        for (work, told) in told {
            bench.keep("refinement", &format!("{work}, {strategy}, {} devices", told.devices), &told.report);
            table.row(row(work, strategy, &told));
            outcome.report(format!("{work}, {strategy}"), &told);
        }
    }
    outcome.tables.push(table);
    Ok(outcome)
}

fn row(work: &str, strategy: Strategy, told: &Told) -> Vec<Cell> {
    let steps = told.report.steps.len();
    let merged = told.exchanged_bytes as f64;
    vec![
        work.into(),
        strategy.to_string().into(),
        steps.to_string().into(),
        (merged / 1e6).into(),
        ratio(merged / 1e6, steps as f64).into(),
        (told.dense_bytes_by_superstep as f64 / 1e6).into(),
        ratio(merged, told.dense_bytes as f64).into(),
        (told.report.total.exchange_ns as f64 / 1e6).into(),
    ]
}

/// Runs an algorithm on all devices, checks the answer, and counts.
fn told<A: Algorithm + Clone>(bench: &Bench, path: &Path, strategy: Strategy, algorithm: A) -> Result<Told> {
    let devices = bench.devices.len();
    let team = run_on(&bench.setup(devices, strategy), path, algorithm.clone())?;
    let alone = Setup { devices: vec![DeviceChoice::Cpu], rates: None, ..bench.setup(1, strategy) };
    let store = Store::open(path)?;
    check(&team, &run_on(&alone, path, algorithm.clone())?, store.vertices())?;
    let report = team.report;
    let attributes = declaration_of(&algorithm, &store).attributes;
    let written = attributes.iter().filter(|attribute| attribute.role.is_written());
    let bits_by_vertex = written.map(|attribute| attribute.of.bits()).sum::<u64>() + 1;
    let dense_bytes_by_superstep = 2 * devices as u64 * (store.vertices() * bits_by_vertex).div_ceil(8);
    Ok(Told {
        devices: devices as u64,
        vertices: store.vertices(),
        bits_by_vertex,
        dense_bytes_by_superstep,
        dense_bytes: dense_bytes_by_superstep * report.steps.len() as u64,
        exchanged_bytes: report.total.exchanged_bytes,
        exchanged_bytes_by_superstep: report.steps.iter().map(|step| step.exchanged_bytes).collect(),
        active_by_superstep: report.steps.iter().map(|step| step.active).collect(),
        report,
    })
}

/// The second run of two: the first fills buffers and opens devices.
fn run_on<A: Algorithm + Clone>(setup: &Setup, path: &Path, algorithm: A) -> Result<Run<A>> {
    let store = Store::open(path)?;
    let options = setup.options(&store, 0);
    let engine = Engine::new(store, options);
    engine.run(algorithm.clone())?;
    Ok(engine.run(algorithm)?)
}

/// Whole answers must be the same.
fn check<A: Algorithm>(found: &Run<A>, expected: &Run<A>, vertices: u64) -> Result<()> {
    let value = |values: &AnswerValues<'_>, vertex: u32| match values {
        AnswerValues::F64(number) => Some(number.get(vertex).to_bits()),
        AnswerValues::Integer(number) => number.get(vertex),
        AnswerValues::Vertex(other) => other.get(vertex).map(|other| u64::from(other.0)),
    };
    for (found, expected) in found.answers().iter().zip(&expected.answers()) {
        let wrong = |vertex: &u64| value(&found.values, *vertex as u32) != value(&expected.values, *vertex as u32);
        if let Some(vertex) = (0..vertices).find(wrong) {
            return Err(format!("wrong answer: {} of vertex {vertex}", found.name).into());
        }
    }
    Ok(())
}
