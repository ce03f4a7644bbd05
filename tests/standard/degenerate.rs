//! Graphs with next to nothing in them, and a list longer than a page, on every kind of team: each algorithm comes to what one CPU
//! does, and the simple ones to what their oracles say. With rates of the devices, which shares of pages then follow.

use crate::adapter;
use crate::common::{FETCHERS, TestStore, engine_options, small_pages, thorough};
use crate::everywhere::{Found, found, run};
use crate::reference::degrees::degrees;
use crate::reference::kcore::core_numbers;
use crate::reference::{Dangling, EdgeList, Weighted, components, levels, rank_iterations};
use std::collections::HashMap;
use std::sync::Arc;
use topostream::algorithms::{
    Averaging, Betweenness, Bfs, Clustering, Components, CrossEdges, Degrees, DeltaPageRank, DeltaStepping, KCore,
    LabelPropagation, Model, Neighbourhood, PageRank, PersonalizedPageRank, Radius, Scc, Sssp, Stop, Traffic, Widest,
};
use topostream::device::DeviceChoice;
use topostream::predict::{BusRates, DeviceRates, KernelRates, RATES_VERSION, Rates};
use topostream::team::{Assignment, Strategy};
use topostream::{Engine, EngineOptions, Error, VertexId, VertexSet};
use topostream_formats::Encoding;
use topostream_formats::edge::WeightType;
use topostream_tools::format::FormatOptions;

/// A device that does as much of everything.
fn rates_of(name: &str, threads: Option<u32>, rate: f64) -> DeviceRates {
    let kernels = KernelRates {
        vertices: 1 << 10,
        push: rate,
        pull: rate,
        top_down: rate,
        bottom_up: rate,
        weighted: rate,
        labels: rate,
        top_down_lists: rate,
        weighted_lists: rate,
        bottom_up_lists: rate,
        vertex_phase: rate,
        census: rate,
        initialise: rate,
    };
    let bus = BusRates { in_place_bytes_per_s: 1e10, search_bytes_per_s: 2e10 };
    DeviceRates {
        name: name.into(),
        threads,
        kernels: vec![kernels],
        bus: threads.is_none().then_some(bus),
        check_bytes_per_s: threads.map(|_| 1e9),
        merge_bytes_per_s: 1e10,
        superstep_ns: 1000.0,
        telling_ns: 1000.0,
    }
}

/// The rates of every device here.
fn rates() -> Arc<Rates> {
    let mut devices = vec![rates_of("cpu, 1 threads", Some(1), 1e8)];
    if !adapter::off() {
        devices.push(rates_of(&adapter::report().name, None, 3e8));
    }
    let machine = String::new();
    Arc::new(Rates { version: RATES_VERSION, machine, disk_bytes_per_s: 1e9, together: 0.9, devices })
}

/// A graph, and how a store is made of it.
struct Case {
    name: &'static str,
    graph: EdgeList,
    shards: u32,
}

fn cases() -> Vec<Case> {
    let list = |from: bool| (1..20_000).map(move |vertex| if from { (0, vertex) } else { (vertex, 0) });
    let graphs = [
        ("no vertex", 0, vec![]),
        ("one vertex", 1, vec![]),
        ("a loop", 1, vec![(0, 0)]),
        ("isolated vertices", 5, vec![]),
        ("isolated vertices, many words of them", 300, vec![]),
        ("an edge", 2, vec![(0, 1)]),
        ("an edge far away", 1000, vec![(999, 0)]),
        ("one list, of two pages", 20_000, list(true).collect()),
        ("one list in every list", 20_000, list(false).collect()),
    ];
    let case = |(name, vertices, edges): (&'static str, u32, Vec<(u32, u32)>)| {
        [1, 3].map(|shards| Case { name, graph: EdgeList::new(vertices, edges.clone()), shards })
    };
    graphs.into_iter().flat_map(case).collect()
}

/// Runs an algorithm; none where the graph has no vertex to begin at.
pub type Runs = fn(&Engine) -> Option<Result<Found, Error>>;

/// A vertex to begin at, where there is one.
fn first(engine: &Engine) -> Option<VertexId> {
    (engine.store().vertices() > 0).then_some(VertexId(0))
}

fn everything(engine: &Engine) -> Arc<VertexSet> {
    Arc::new(VertexSet::of(engine.store().vertices(), |_| true))
}

fn heat(source: VertexId) -> Averaging {
    let model = Model::Heat { alpha: 0.5, sources: vec![(source, 5.0)] };
    Averaging { model, weights: None, stop: Stop::Iterations(3) }
}

fn weighted(source: VertexId) -> Sssp {
    Sssp { source, weights: WeightType::U32 }
}

fn ranks() -> PageRank {
    PageRank { stop: Stop::Iterations(3), ..PageRank::default() }
}

pub const ALGORITHMS: [(&str, Runs); 22] = [
    ("pagerank", |engine| Some(run(engine, ranks()))),
    ("pagerank, pushed", |engine| Some(run(engine, PageRank { traffic: Traffic::Push, ..ranks() }))),
    ("personalized pagerank", |engine| {
        let seeds = vec![first(engine)?];
        Some(run(engine, PersonalizedPageRank { seeds, ranks: ranks() }))
    }),
    ("pagerank by residuals", |engine| Some(run(engine, DeltaPageRank::default()))),
    ("heat", |engine| Some(run(engine, heat(first(engine)?)))),
    ("bfs", |engine| Some(run(engine, Bfs { parents: false, ..Bfs::from(first(engine)?) }))),
    ("bfs, top-down", |engine| Some(run(engine, Bfs { bottom_up: false, ..Bfs::from(first(engine)?) }))),
    ("cross-edges", |engine| Some(run(engine, CrossEdges { from: everything(engine), to: everything(engine) }))),
    ("degrees", |engine| Some(Degrees::of(engine.store()).and_then(|of| run(engine, of)))),
    ("degrees, counted", |engine| Some(run(engine, Degrees::counted()))),
    ("neighbourhood", |engine| Some(run(engine, Neighbourhood { sources: vec![first(engine)?], hops_max: Some(2) }))),
    ("sssp", |engine| Some(run(engine, weighted(first(engine)?)))),
    ("delta-stepping", |engine| Some(run(engine, DeltaStepping { paths: weighted(first(engine)?), delta: 3.0 }))),
    ("widest", |engine| Some(run(engine, Widest { source: first(engine)?, weights: WeightType::U32 }))),
    ("components", |engine| Some(run(engine, Components { directed: true }))),
    ("scc", |engine| Some(run(engine, Scc))),
    ("radius", |engine| Some(run(engine, Radius::new(1, 7)))),
    ("betweenness", |engine| Some(run(engine, Betweenness::of_sources(&[first(engine)?])))),
    ("kcore", |engine| Some(run(engine, KCore { directed: true, in_lists: true }))),
    ("kcore, by out-lists", |engine| Some(run(engine, KCore { directed: true, in_lists: false }))),
    ("clustering", |engine| Some(Clustering::run(engine, None, &mut |_| {}).and_then(|run| found(engine, &run)))),
    ("communities", |engine| {
        Some(LabelPropagation::run(engine, 3, None, &mut |_| {}).and_then(|run| found(engine, &run)))
    }),
];

/// What oracles say, by algorithm and column.
fn oracles(graph: &EdgeList) -> Vec<(&'static str, &'static str, Vec<f64>)> {
    let wide = |values: Vec<u64>| values.into_iter().map(|value| value as f64).collect::<Vec<_>>();
    let ranks = rank_iterations(graph, 0.85, Dangling::Spread, 3);
    let mut oracles = vec![
        ("pagerank", "rank", ranks.clone()),
        ("pagerank, pushed", "rank", ranks),
        ("degrees, counted", "in_degree", wide(degrees(graph, true))),
        ("components", "component", wide(components(graph))),
        ("kcore", "core", core_numbers(graph)),
    ];
    if graph.vertices > 0 {
        let levels: Vec<f64> = levels(graph, 0).iter().map(|level| level.map_or(-1.0, |level| level as f64)).collect();
        oracles.extend(["bfs", "bfs, top-down"].map(|name| (name, "level", levels.clone())));
    }
    oracles
}

/// Each kind of team, under each way to share a run.
fn teams() -> Vec<(String, EngineOptions)> {
    let cpu = || DeviceChoice::Cpu;
    let mut devices = vec![vec![cpu(), cpu()], vec![cpu(), cpu(), cpu()]];
    if !adapter::off() {
        let gpu = adapter::device;
        devices.extend([vec![gpu(), cpu()], vec![gpu(), gpu()], vec![gpu()]]);
    }
    let assignments =
        [Assignment::Auto, Assignment::Modulo, Assignment::Random, Assignment::Contiguous, Assignment::Biased];
    let replicate = assignments.map(|assignment| (Strategy::Replicate, assignment));
    let ways = replicate.into_iter().chain([(Strategy::Shard, Assignment::Auto), (Strategy::Auto, Assignment::Auto)]);
    let ways: Vec<_> = ways.collect();
    let mut teams = Vec::new();
    for devices in devices {
        let names: Vec<String> = devices.iter().map(ToString::to_string).collect();
        for &(strategy, assignment) in if devices.len() > 1 { &ways[..] } else { &ways[..1] } {
            let name = format!("{}, {strategy}, {assignment}", names.join(" and "));
            let options = alone().with_strategy(strategy).with_assignment(assignment).with_devices(devices.clone());
            teams.push((name, options.with_rates(Some(rates()))));
        }
    }
    teams
}

fn alone() -> EngineOptions {
    engine_options(None, 2, FETCHERS[1])
}

fn is_close(one: f64, other: f64) -> bool {
    one == other || (one.is_nan() && other.is_nan()) || (one - other).abs() <= 1e-4 * one.abs().max(other.abs())
}

pub fn assert_close(found: &Found, name: &str, expected: &[f64], what: &str) {
    let column = found.column(name);
    assert_eq!(column.len(), expected.len(), "{what}: {name}");
    let differs = (0..column.len()).find(|&vertex| !is_close(column[vertex], expected[vertex]));
    if let Some(vertex) = differs {
        panic!("{what}: {name} of {vertex} is {}, not {}", column[vertex], expected[vertex]);
    }
}

/// Every algorithm on one engine, or every fifth, from another one on at each turn.
fn check_engine(engine: &Engine, turn: Option<usize>, what: &str, check: impl Fn(&'static str, &Found, &str)) {
    for (number, (name, runs)) in ALGORITHMS.into_iter().enumerate() {
        if turn.is_some_and(|turn| number % 5 != turn % 5) {
            continue;
        }
        let what = format!("{what}: {name}");
        if let Some(result) = runs(engine) {
            check(name, &result.unwrap_or_else(|error| panic!("{what}: {error}")), &what);
        }
    }
}

#[test]
fn every_algorithm_on_every_team() {
    let mut turn = 0;
    for case in cases() {
        let options = FormatOptions { shards: case.shards, ..small_pages(Encoding::VertexId) };
        let weighted = Weighted::by_chance(case.graph.clone(), false, 11);
        let store = TestStore::weighted(&weighted, true, &options);
        let oracles = oracles(&case.graph);
        let mut expected = HashMap::new();
        let what = format!("{}, {} shards", case.name, case.shards);
        for (name, runs) in ALGORITHMS {
            let Some(found) = runs(&store.engine(alone())).map(|result| result.expect(name)) else { continue };
            for (_, column, values) in oracles.iter().filter(|(of, _, _)| *of == name) {
                assert_close(&found, column, values, &format!("{what}: {name}, alone"));
            }
            expected.insert(name, found);
        }
        for (way, options) in teams() {
            turn += 1;
            let on_gpu = options.devices.iter().any(|device| *device != DeviceChoice::Cpu);
            // Unless all is asked for, every third team of CPUs, and every thirtieth with GPUs.
            let every = if on_gpu { 30 } else { 3 };
            if !thorough() && turn % every != 0 {
                continue;
            }
            let turn = (!thorough()).then_some(turn / every);
            check_engine(&store.engine(options), turn, &format!("{what}: {way}"), |name, found, what| {
                expected[name].columns().for_each(|(column, values)| assert_close(found, column, values, what));
            });
        }
    }
}
