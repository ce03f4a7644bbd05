//! Graphs of simple shapes, of which some are long: what algorithms have to do on them. Counts stand for time: a
//! superstep, an edge, a vertex of a vertex phase and a decoded neighbour have a price each. `bench/shapes.py` measures
//! the time.

use crate::catalogue::samples;
use crate::common::{TestStore, thorough};
use crate::reference::{EdgeList, Weighted};
use std::collections::BTreeMap;
use topostream::algorithms::command::{Needs, Prepared};
use topostream::algorithms::{Bfs, Components, Scc};
use topostream::device::DeviceChoice;
use topostream::model::algorithm::declaration_of;
use topostream::predict::LongPaths;
use topostream::report::RunReport;
use topostream::{Engine, EngineOptions};
use topostream_formats::edge::WeightType;
use topostream_formats::random::SplitMix64;
use topostream_tools::format::FormatOptions;

/// Nanoseconds of a small superstep, of an edge, of a vertex in a vertex phase, and of a list or a neighbour that is
/// decoded, with room to spare.
const PRICES: [f64; 4] = [5e3, 8.0, 2.0, 3.0];

/// The vertices of graphs on which every algorithm is to be done in time.
const MILLION: u32 = 1_000_000;

/// Nanoseconds of two cores a vertex: ten seconds for a million vertices.
const LIMIT: f64 = 2e4;

fn work_ns(report: &RunReport) -> f64 {
    let total = &report.total;
    let counts = [report.supersteps, total.edges, total.phase_vertices, total.decoded];
    counts.iter().zip(PRICES).map(|(&count, price)| count as f64 * price).sum()
}

type Shape = (&'static str, fn(u32) -> Vec<(u32, u32)>);

const SHAPES: [Shape; 6] = [
    ("path", |n| (1..n).map(|v| (v - 1, v)).collect()),
    ("cycle", |n| (0..n).map(|v| (v, (v + 1) % n)).collect()),
    ("star", |n| (1..n).map(|v| (0, v)).collect()),
    ("caterpillar", |n| (1..n / 2).map(|v| (v - 1, v)).chain((0..n / 2).map(|v| (v, n / 2 + v))).collect()),
    ("grid", grid),
    ("binary tree", |n| (1..n).map(|v| ((v - 1) / 2, v)).collect()),
];

fn grid(n: u32) -> Vec<(u32, u32)> {
    let side = n.isqrt();
    let along = (0..side * side).filter(|v| (v + 1) % side > 0).map(|v| (v, v + 1));
    along.chain((side..side * side).map(|v| (v - side, v))).collect()
}

/// A shape with its vertices in order, or shuffled.
fn graph(edges: fn(u32) -> Vec<(u32, u32)>, vertices: u32, shuffled: bool) -> EdgeList {
    let mut names: Vec<u32> = (0..vertices).collect();
    let mut random = SplitMix64(5);
    for last in (1..vertices as usize).rev().filter(|_| shuffled) {
        names.swap(last, (random.draw() % (last as u64 + 1)) as usize);
    }
    let named = |(source, dest): (u32, u32)| (names[source as usize], names[dest as usize]);
    EdgeList::new(vertices, edges(vertices).into_iter().map(named).collect())
}

/// A store of packed pages, as the program makes it by default.
fn store(graph: &EdgeList, needs: &Needs) -> TestStore {
    let options = FormatOptions { in_edges: needs.in_lists, memory_bytes: 256 << 20, ..FormatOptions::default() };
    let symmetrize = needs.undirected;
    match needs.weights {
        Some(of) => {
            let weighted = Weighted::by_chance(graph.clone(), of == WeightType::F32, 9);
            TestStore::weighted(&weighted, !needs.undirected, &options)
        }
        None => TestStore::new(graph, &FormatOptions { symmetrize, ..options }),
    }
}

fn engine(store: &TestStore, threads: usize) -> Engine {
    let options = EngineOptions::default().with_devices(vec![DeviceChoice::Cpu]);
    store.engine(options.with_memory_bytes(1 << 30).with_threads(threads))
}

/// Every algorithm, on every shape, does no more than ten seconds of work for a million vertices, or it is said before
/// the run that it may: by default for few vertices, and with `TOPOSTREAM_TESTS=all` for a million.
#[test]
fn every_algorithm_is_done_with_every_shape_in_time_or_it_is_said() {
    let vertices = if thorough() { MILLION } else { 10_000 };
    let mut said = Vec::new();
    for (name, edges) in SHAPES {
        for shuffled in [false, true] {
            let graph = graph(edges, vertices, shuffled);
            let mut stores: BTreeMap<&str, TestStore> = BTreeMap::new();
            for (entry, sample) in
                samples().filter(|(_, sample)| sample.row.is_some() && !sample.arguments.contains('@'))
            {
                let store = stores.entry(sample.needs.name).or_insert_with(|| store(&graph, &sample.needs));
                let engine = engine(store, 2);
                let parsed = entry.arguments.read(sample.arguments.split_whitespace()).unwrap();
                let Prepared { runs, .. } = parsed.prepare(engine.store(), &engine.options().cancel).unwrap();
                let what = format!("{} {}, {name}, shuffled: {shuffled}", entry.name, sample.arguments);
                let declaration = runs.algorithm().map(|algorithm| declaration_of(algorithm, engine.store()));
                let long = |one| LongPaths::at_size(one, engine.store(), u64::from(MILLION / vertices));
                if declaration.as_ref().and_then(long).is_some() {
                    said.push(what);
                    continue;
                }
                let run = runs.run(&engine, &mut |_| {}).unwrap_or_else(|error| panic!("{what}: {error}"));
                let (ns, report) = (work_ns(run.report()), run.report());
                let limit = LIMIT * f64::from(vertices);
                assert!(ns <= limit, "{what}: {ns} of {limit}: {} supersteps, {:?}", report.supersteps, report.total);
            }
        }
    }
    // Searches take microseconds a superstep: they have to be in time.
    let fast = ["bfs ", "sssp ", "widest "];
    assert_eq!(said.iter().find(|what| fast.iter().any(|fast| what.starts_with(fast))), None);
    assert!(said.iter().any(|what| what.starts_with("radius")), "{said:?}");
}

/// A page is decoded once, however many supersteps visit it, in small graphs too: their plain images are smaller than
/// their pages.
#[test]
fn small_supersteps_decode_nothing() {
    for vertices in [2_000, 80_000] {
        for shuffled in [false, true] {
            let graph = graph(SHAPES[0].1, vertices, shuffled);
            let undirected = Needs { undirected: true, ..topostream::algorithms::command::UNDIRECTED };
            let store = store(&graph, &undirected);
            let engine = engine(&store, 2);
            let once = engine.store().edges() + u64::from(vertices);
            let end = graph.edges[0].0;
            let bfs = engine.run(Bfs::from(engine.store().ids().unwrap().vertex(end.into()).unwrap())).unwrap().report;
            assert_eq!((bfs.supersteps, bfs.total.decoded), (vertices.into(), once), "{vertices}, {shuffled}");
            // The pages are still there, as plain images.
            let found = engine.run(Components { directed: false }).unwrap().report;
            assert_eq!(found.total.decoded, 0, "{vertices}, {shuffled}");
        }
    }
}

/// Vertex phases go over the vertices that may have changed, not over all.
#[test]
fn small_supersteps_pass_over_vertices() {
    let vertices = 20_000;
    let graph = graph(SHAPES[0].1, vertices, true);
    let store = store(&graph, &topostream::algorithms::command::DIRECTED);
    let report = engine(&store, 2).run(Scc).unwrap().report;
    assert!(report.supersteps > u64::from(vertices / 10), "{}", report.supersteps);
    // Each list that is visited, and each vertex that is reached, may bring seven others of its word of 64 vertices.
    let RunReport { supersteps, total, .. } = report;
    let most = 2 * 8 * (total.edges + supersteps) + 100 * u64::from(vertices);
    assert!(total.phase_vertices <= most, "{} of {most} in {supersteps} supersteps", total.phase_vertices);
    assert!(most < supersteps * u64::from(vertices) / 10, "the limit says nothing");
}

/// Two threads that share the lists of a page do not make a run endless: labels stop between their shares, and go on
/// from there a vertex at a time.
#[test]
fn the_lists_of_a_page_are_shared_by_threads_without_a_cliff() {
    if !thorough() {
        return;
    }
    let vertices = 600_000;
    let store = store(&graph(SHAPES[0].1, vertices, false), &topostream::algorithms::command::DIRECTED);
    let report = engine(&store, 2).run(Scc).unwrap().report;
    assert!(work_ns(&report) <= LIMIT * f64::from(vertices), "{} supersteps, {:?}", report.supersteps, report.total);
}
