//! Tiny graphs, and a list longer than a page, on every kind of team: each sample of the catalogue has the answer of
//! one CPU, which is the oracle's. Devices have rates, which determine their shares of pages.

use crate::adapter;
use crate::catalogue::{assert_answers, oracle, run_sample, samples, shared_samples};
use crate::common::{FETCHERS, TestStore, engine_options, small_pages, thorough};
use crate::everywhere::Found;
use crate::reference::{EdgeList, Graph, Weighted};
use std::collections::HashMap;
use std::sync::Arc;
use topostream::device::DeviceChoice;
use topostream::predict::{BusRates, DeviceRates, KernelRates, RATES_VERSION, Rates};
use topostream::team::{Assignment, Strategy};
use topostream::{Engine, EngineOptions};
use topostream_formats::Encoding;
use topostream_tools::format::FormatOptions;

/// Rates of a device that is equally fast at everything.
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
        exchange_ns: 1000.0,
    }
}

/// The rates of all devices.
fn rates() -> Arc<Rates> {
    let mut devices = vec![rates_of("cpu, 1 threads", Some(1), 1e8)];
    if !adapter::off() {
        devices.push(rates_of(&adapter::report().name, None, 3e8));
    }
    let machine = String::new();
    Arc::new(Rates {
        version: RATES_VERSION,
        machine,
        disk_bytes_per_s: 1e9,
        disk_request_ns: None,
        concurrent_bus_share: 0.9,
        devices,
    })
}

/// A graph, and the options of its store.
struct Case {
    name: &'static str,
    graph: EdgeList,
    shards: u32,
}

fn cases() -> Vec<Case> {
    let list = |from: bool| (1..17_500).map(move |vertex| if from { (0, vertex) } else { (vertex, 0) });
    let graphs = [
        ("no vertex", 0, vec![]),
        ("one vertex", 1, vec![]),
        ("a loop", 1, vec![(0, 0)]),
        ("isolated vertices", 5, vec![]),
        ("isolated vertices, many words of them", 300, vec![]),
        ("an edge", 2, vec![(0, 1)]),
        ("an edge far away", 1000, vec![(999, 0)]),
        ("one list, of two pages", 17_500, list(true).collect()),
        ("one list in every list", 17_500, list(false).collect()),
    ];
    let case = |(name, vertices, edges): (&'static str, u32, Vec<(u32, u32)>)| {
        [1, 3].map(|shards| Case { name, graph: EdgeList::new(vertices, edges.clone()), shards })
    };
    graphs.into_iter().flat_map(case).collect()
}

/// Each kind of team, with each strategy.
fn teams() -> Vec<(String, EngineOptions)> {
    let cpu = || DeviceChoice::Cpu;
    let mut devices = vec![vec![cpu(), cpu()], vec![cpu(), cpu(), cpu()]];
    if !adapter::off() {
        let gpu = adapter::device;
        devices.extend([vec![gpu(), cpu()], vec![gpu(), gpu()], vec![gpu()]]);
    }
    let assignments = [Assignment::Auto, Assignment::Modulo, Assignment::Contiguous];
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
    // Sums of 17,500 terms in single precision, in any order.
    one == other || (one.is_nan() && other.is_nan()) || (one - other).abs() <= 1e-3 * one.abs().max(other.abs())
}

pub fn assert_close(found: &Found, name: &str, expected: &[f64], what: &str) {
    let column = found.column(name);
    assert_eq!(column.len(), expected.len(), "{what}: {name}");
    let differs = (0..column.len()).find(|&vertex| !is_close(column[vertex], expected[vertex]));
    if let Some(vertex) = differs {
        panic!("{what}: {name} of {vertex} is {}, not {}", column[vertex], expected[vertex]);
    }
}

/// Every `of`-th sample, from a different first one at each turn.
#[derive(Clone, Copy)]
struct Part {
    turn: usize,
    of: usize,
}

/// Runs all samples on an engine, or a part of the samples.
fn check_engine(engine: &Engine, part: Option<Part>, what: &str, check: impl Fn(usize, &Found, &str)) {
    for (number, (entry, sample)) in samples().enumerate() {
        if part.is_some_and(|Part { turn, of }| number % of != turn % of) {
            continue;
        }
        let what = format!("{what}: {} {}", entry.name, sample.arguments);
        if !shared_samples().any(|(of, one)| std::ptr::eq(of, entry) && std::ptr::eq(one, sample)) {
            continue;
        }
        if let Some(result) = run_sample(entry, sample, engine) {
            check(number, &result.unwrap_or_else(|error| panic!("{what}: {error}")), &what);
        }
    }
}

/// The answers of every sample on one CPU, which are its oracle's.
fn check_alone(store: &TestStore, graph: &Graph, what: &str) -> HashMap<usize, Found> {
    let engine = store.engine(alone());
    let mut answers = HashMap::new();
    for (number, (entry, sample)) in samples().enumerate() {
        let what = format!("{what}: {} {}, alone", entry.name, sample.arguments);
        let Some(found) = run_sample(entry, sample, &engine) else { continue };
        let found = found.unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_answers(&found, &oracle(entry, sample, graph), &what);
        answers.insert(number, found);
    }
    answers
}

/// By default each store takes the next team of CPUs and the next one with GPUs, and each team the next part of the
/// samples. There are at least as many turns as teams and parts, so that every team runs, and every sample runs on
/// both kinds of team.
#[test]
fn every_algorithm_on_every_team() {
    let (gpus, cpus): (Vec<_>, Vec<_>) = teams().into_iter().partition(|(_, options)| has_gpu(options));
    let (mut next_cpus, mut next_gpus) = (cpus.iter().cycle(), gpus.iter().cycle());
    let turns = cases().len();
    assert!(turns >= gpus.len() && turns >= cpus.len(), "every team has its turn");
    let mut expected = HashMap::new();
    for (at, case) in cases().into_iter().enumerate() {
        let options = FormatOptions { shards: case.shards, ..small_pages(Encoding::VertexId) };
        let mut weighted = Weighted::by_chance(case.graph.clone(), false, 11);
        if !thorough() {
            // Paths by buckets of width 1 take a superstep for each distance: hundreds would take half of the time.
            weighted.weights.iter_mut().for_each(|weight| *weight = *weight % 16 * 12);
        }
        let store = TestStore::weighted(&weighted, true, &options);
        let graph = weighted.graph(true);
        let what = format!("{}, {} shards", case.name, case.shards);
        // Shards do not change answers: the same graph follows with them.
        if case.shards == 1 || thorough() {
            expected = check_alone(&store, &graph, &what);
        }
        let chosen: Vec<_> = match thorough() {
            true => cpus.iter().chain(&gpus).map(|team| (team, None)).collect(),
            false => {
                let part = |turn, of| Some(Part { turn, of });
                let of_cpus = next_cpus.next();
                let of_cpus = of_cpus.map(|team| (team, part(at, 9)));
                of_cpus.into_iter().chain(next_gpus.next().map(|team| (team, part(at, turns)))).collect()
            }
        };
        for ((way, options), part) in chosen {
            check_engine(&store.engine(options.clone()), part, &format!("{what}: {way}"), |number, found, what| {
                expected[&number].columns().for_each(|(column, values)| assert_close(found, column, values, what));
            });
        }
    }
}

fn has_gpu(options: &EngineOptions) -> bool {
    options.devices.iter().any(|device| *device != DeviceChoice::Cpu)
}
