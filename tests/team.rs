//! Several devices that share a run: how many × strategies × assignments × algorithms, on the CPU as several devices. The same
//! over GPUs is in tests/gpu.

mod common;
mod reference;

use common::*;
use reference::*;
use topostream::algorithms::Traffic;
use topostream::device::DeviceChoice;
use topostream::strategy::{Assignment, Strategy};
use topostream::{Engine, EngineOptions};
use topostream_formats::Encoding;
use topostream_tools::generate::Rmat;

/// What ranks may be off, relative to the rank.
const RANK_ERROR: f64 = 1e-4;

const SHARED: [(Strategy, Assignment); 5] = [
    (Strategy::Replicate, Assignment::Modulo),
    (Strategy::Replicate, Assignment::Random),
    (Strategy::Replicate, Assignment::Contiguous),
    (Strategy::Replicate, Assignment::Biased),
    (Strategy::Shard, Assignment::Auto),
];

/// So many devices, each of them the CPU.
fn options(devices: usize, (strategy, assignment): (Strategy, Assignment), draw: usize) -> EngineOptions {
    let buffer = [None, Some(6), Some(11)][draw % 3];
    let options = engine_options(buffer, 1 + draw % 3, FETCHERS[draw % 3]);
    EngineOptions { devices: vec![DeviceChoice::Cpu; devices], strategy, assignment, ..options }
}

/// Every number of devices, every strategy and assignment, over one store.
fn check_store(name: &str, graph: &EdgeList, encoding: Encoding) {
    let store = TestStore::new(graph, &small_pages(encoding));
    for (number, devices) in [1, 2, 3, 5].into_iter().enumerate() {
        for (draw, shared) in SHARED.into_iter().enumerate() {
            let settings = format!("{name}, {encoding}, {devices} devices, {shared:?}");
            let engine = store.engine(options(devices, shared, draw + number));
            check_ranks(&engine, graph, &settings);
            check_search(&engine, graph, draw + 3 * number, &settings);
        }
    }
}

fn check_ranks(engine: &Engine, graph: &EdgeList, settings: &str) {
    for traffic in [Traffic::Push, Traffic::Pull] {
        let found =
            ranks(engine, pagerank(5, Dangling::Spread, traffic)).unwrap_or_else(|error| panic!("{settings}: {error}"));
        let error = relative_error(&found.dense(), &rank_iterations(graph, 0.85, Dangling::Spread, 5));
        assert!(error <= RANK_ERROR, "{settings}, {traffic:?}: ranks are off by {error:e}");
        let edges = found.report.total.edges;
        assert_eq!(
            edges,
            if graph.vertices == 0 { 0 } else { 5 * graph.edges.len() as u64 },
            "{settings}, {traffic:?}"
        );
    }
}

fn check_search(engine: &Engine, graph: &EdgeList, draw: usize, settings: &str) {
    if graph.vertices == 0 {
        return;
    }
    let source = (draw * 7919) as u32 % graph.vertices;
    for bottom_up in [false, true] {
        let found = search(engine, source.into(), true, bottom_up).unwrap();
        let settings = format!("{settings}, bottom up {bottom_up}, source {source}");
        let levels_found = found.levels.dense();
        assert_eq!(levels_found, levels(graph, source), "{settings}");
        check_tree(graph, source, &levels_found, &found.parents.unwrap())
            .unwrap_or_else(|defect| panic!("{settings}: {defect}"));
    }
}

#[test]
fn rmat_graphs() {
    let graph = generated(&mut Rmat::new(13, 16, 5).generate().unwrap());
    check_store("rmat", &graph, Encoding::VertexId);
    check_store("rmat", &graph, ENCODINGS[2]);
}

/// More devices than pages, devices without a vertex, a graph without any.
#[test]
fn hardly_anything_to_share() {
    for (vertices, edges) in [
        (0, vec![]),
        (1, vec![(0, 0)]),
        (2, vec![(0, 1)]),
        (3, vec![(0, 1), (1, 2), (2, 0)]),
        (70, vec![(0, 69), (69, 33)]),
    ] {
        check_store("little", &EdgeList::new(vertices, edges), Encoding::VertexId);
    }
}

/// Lists of several pages, and vertices at places that divide nothing.
#[test]
fn hubs_and_isolated_vertices() {
    let n = 30_001;
    let mut edges = random_edges(7..n - 101, 20_000, 2);
    edges.extend((0..n).map(|vertex| (1, vertex)));
    edges.extend((0..n).map(|vertex| (vertex, n / 2)));
    edges.extend((0..n - 5).map(|vertex| (n / 2, vertex)));
    check_store("hubs", &EdgeList::new(n, edges), ENCODINGS[1]);
}
