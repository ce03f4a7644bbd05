//! Betweenness centrality.

use crate::adapter;
use crate::checkpoints::{self, one_cpu, relay, running};
use crate::common::{TestStore, engine_options, scratch, small_pages, thorough};
use crate::everywhere::{all_ways, everywhere, run, ways};
use crate::reference::betweenness::betweenness;
use crate::reference::{EdgeList, random_edges};
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use topostream::algorithms::Betweenness;
use topostream::checkpoint::Every;
use topostream::device::DeviceChoice;
use topostream::pages::fetch::FetcherKind;
use topostream::report::StepReport;
use topostream::{EngineOptions, Error, VertexId};
use topostream_formats::Encoding;
use topostream_tools::format::FormatOptions;

fn undirected(options: FormatOptions) -> FormatOptions {
    FormatOptions { symmetrize: true, in_edges: false, ..options }
}

fn assert_near(found: &[f64], expected: &[f64], what: &str) {
    assert_within(1e-4, found, expected, what);
}

fn assert_within(tolerance: f64, found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (vertex, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (found - expected).abs();
        assert!(error <= tolerance * expected.max(1e-3), "{what}: vertex {vertex} has {found}, not {expected}");
    }
}

/// The CPU alone, and as several devices that replicate and shard.
fn cpus() -> impl Iterator<Item = (String, EngineOptions)> {
    all_ways().into_iter().filter(|(_, options)| options.devices.iter().all(|device| *device == DeviceChoice::Cpu))
}

/// Several levels, loops, repeated edges, a list of several pages, and unreachable vertices.
fn motley() -> EdgeList {
    let mut edges = random_edges(0..2_000, 5_000, 15);
    edges.extend((0..2_000).step_by(10).map(|vertex| (vertex, vertex)));
    edges.extend((0..20_000).map(|number| (7, 2 * (number % 1_000))));
    edges.extend((2_001..2_010).map(|vertex| (vertex - 1, vertex)));
    edges.push((11, 2_000));
    EdgeList::new(2_100, edges)
}

#[test]
fn of_some_sources() {
    let graph = motley();
    let sources = [7, 2_050];
    let expected = [betweenness(&graph, &sources), betweenness(&graph.symmetrized(), &sources)];
    let options = [small_pages(Encoding::VertexId), undirected(small_pages(Encoding::VertexId))];
    for (options, expected) in options.into_iter().zip(expected) {
        let store = TestStore::new(&graph, &options);
        let make = |_: &_| Betweenness::of_sources(&sources.map(VertexId));
        everywhere(&store, make, |found, way| {
            assert_near(found.column("betweenness"), &expected, &format!("undirected: {}, {way}", options.symmetrize));
        });
    }
}

/// NetworkX's values of `betweenness_centrality(path_graph(5), normalized=False)` and of the directed path; and on
/// every device the values of a small graph, halved if it is undirected.
#[test]
fn exact() {
    let path = EdgeList::new(5, vec![(0, 1), (1, 2), (2, 3), (3, 4)]);
    for (options, expected) in [
        (small_pages(Encoding::VertexId), [0.0, 3.0, 4.0, 3.0, 0.0]),
        (undirected(small_pages(Encoding::VertexId)), [0.0, 3.0, 4.0, 3.0, 0.0]),
    ] {
        let store = TestStore::new(&path, &options);
        let engine = store.engine(engine_options(None, 1, FetcherKind::Auto));
        assert_eq!(run(&engine, Betweenness::exact()).unwrap().column("betweenness"), expected);
    }
    let graph = EdgeList::new(40, random_edges(0..40, 90, 3));
    let store = TestStore::new(&graph, &undirected(small_pages(Encoding::VertexId)));
    let whole = betweenness(&graph.symmetrized(), &(0..40).collect::<Vec<_>>());
    let expected: Vec<f64> = whole.into_iter().map(|sum| sum / 2.0).collect();
    everywhere(&store, |_| Betweenness::exact(), |found, way| assert_near(found.column("betweenness"), &expected, way));
}

#[test]
fn samples_are_distinct_and_scaled() {
    let graph = EdgeList::new(60, random_edges(0..60, 150, 4));
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let engine = store.engine(engine_options(None, 1, FetcherKind::Auto));
    let of = |algorithm| run(&engine, algorithm).unwrap().column("betweenness").to_vec();
    let exact = of(Betweenness::exact());
    // A sample of all vertices.
    assert_eq!(of(Betweenness::sampled(60, 60, 5)), exact);
    assert_eq!(of(Betweenness::sampled(60, 90, 5)), exact);
    assert_eq!(Betweenness::sampled(60, 10, 5), Betweenness::sampled(60, 10, 5));
    assert_ne!(Betweenness::sampled(60, 10, 5), Betweenness::sampled(60, 10, 6));
    // Samples of one vertex are scaled by 60, so that their mean is the exact value.
    let mut sum = vec![0.0; 60];
    let mut left: Vec<u32> = (0..60).collect();
    for seed in 0.. {
        let sample = Betweenness::sampled(60, 1, seed);
        let drawn = left.iter().position(|&vertex| sample.has_source(VertexId(vertex)));
        if let Some(at) = drawn {
            left.swap_remove(at);
            sum.iter_mut().zip(of(sample)).for_each(|(sum, value)| *sum += value / 60.0);
        }
        if left.is_empty() {
            break;
        }
        assert!(seed < 2_000, "never drawn: {left:?}");
    }
    assert_near(&sum, &exact, "the mean of samples");
}

const DOUBLE: f64 = 1e-12;

/// As accurate as the oracle, on several devices too.
#[test]
fn in_double_precision() {
    let graph = motley();
    let sources = [7, 3, 2_050];
    let expected = betweenness(&graph, &sources);
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    for (way, options) in cpus() {
        let engine = store.engine(options);
        let found = run(&engine, Betweenness::of_sources(&sources.map(VertexId)).in_double()).unwrap();
        assert_within(DOUBLE, found.column("betweenness"), &expected, &way);
        assert_eq!(found.report.algorithm, "betweenness", "the command's name");
    }
    let graph = EdgeList::new(40, random_edges(0..40, 90, 3));
    let store = TestStore::new(&graph, &undirected(small_pages(Encoding::VertexId)));
    let whole = betweenness(&graph.symmetrized(), &(0..40).collect::<Vec<_>>());
    let expected: Vec<f64> = whole.into_iter().map(|sum| sum / 2.0).collect();
    // Whatever its devices, `auto` is the CPU.
    let auto = ("auto".to_owned(), one_cpu().with_devices(vec![DeviceChoice::Auto]));
    for (way, options) in cpus().chain([auto]) {
        let engine = store.engine(options);
        for algorithm in [Betweenness::exact(), Betweenness::sampled(40, 40, 1)] {
            let found = run(&engine, algorithm.in_double()).unwrap();
            assert_within(DOUBLE, found.column("betweenness"), &expected, &way);
        }
    }
}

/// From session to session on other devices; and the other precision is another run.
#[test]
fn checkpoints_in_double_precision() {
    let store = TestStore::new(&motley(), &small_pages(Encoding::VertexId));
    let double = |_: &_| Betweenness::of_sources(&[VertexId(7)]).in_double();
    let options: Vec<EngineOptions> = cpus().map(|(_, options)| options).collect();
    let values = |bits: &[u64]| bits.iter().map(|&bits| f64::from_bits(bits)).collect::<Vec<_>>();
    let expected = running(double)(&store.engine(one_cpu()), &mut |_| {}).unwrap();
    let (found, sessions) = relay(&store, &options, &running(double));
    assert_within(DOUBLE, &values(&found[0]), &values(&expected[0]), &format!("{sessions} sessions"));
    assert!(sessions > 3);

    let folder = scratch::in_memory();
    let session = |supersteps, is_double| {
        let (kept, _) = checkpoints::open(folder.path(), Every::Supersteps(1), true)?;
        let cancel = Arc::new(AtomicBool::new(false));
        let engine = store.engine(one_cpu().with_checkpoints(Some(kept)).with_cancel(Arc::clone(&cancel)));
        let mut stop = |step: &StepReport| cancel.store(step.superstep + 1 >= supersteps, Relaxed);
        match is_double {
            true => running(double)(&engine, &mut stop),
            false => running(|_| Betweenness::of_sources(&[VertexId(7)]))(&engine, &mut stop),
        }
    };
    for (of, other, words) in [
        (false, true, "parameter precision: \"single\" in the checkpoint, \"double\" in this run"),
        (true, false, "parameter precision: \"double\" in the checkpoint, \"single\" in this run"),
    ] {
        assert!(matches!(session(2, of), Err(Error::Interrupted)));
        let error = session(u32::MAX, other).map(drop).expect_err("another precision").to_string();
        assert!(error.contains(words), "{error}");
        session(u32::MAX, of).expect("it is still there");
        std::fs::read_dir(folder.path()).unwrap().for_each(|file| std::fs::remove_file(file.unwrap().path()).unwrap());
    }
}

#[test]
fn gpus_have_no_double_precision() {
    if adapter::off() {
        return;
    }
    let store = TestStore::new(&motley(), &small_pages(Encoding::VertexId));
    let teams = [vec![adapter::device()], vec![adapter::device(); 2], vec![DeviceChoice::Cpu, adapter::device()]];
    for devices in teams {
        let engine = store.engine(one_cpu().with_devices(devices));
        let error = run(&engine, Betweenness::exact().in_double()).map(drop).expect_err("no shader");
        let message = "betweenness-double has no shader: it runs on the CPU device only (`--device cpu`)";
        assert!(matches!(&error, Error::Parameter(found) if found == message), "{error}");
        // The same devices run it in single precision.
        run(&engine, Betweenness::of_sources(&[VertexId(7)])).unwrap();
    }
}

/// A path of double edges: the numbers of paths are powers of two.
fn chain(length: u32) -> EdgeList {
    EdgeList::new(length, (1..length).flat_map(|to| [(to - 1, to); 2]).collect())
}

/// Between 2^120 and 2^1000: only single precision refuses them.
#[test]
fn more_paths_in_double_precision() {
    let make = || Betweenness::of_sources(&[VertexId(0)]);
    let stores = [1_001, 1_100].map(|length| TestStore::new(&chain(length), &small_pages(Encoding::VertexId)));
    let expected: Vec<f64> =
        (0..1_001).map(|vertex| if vertex == 0 { 0.0 } else { 1_000.0 - f64::from(vertex) }).collect();
    for (way, options) in cpus() {
        let [short, long] = stores.each_ref().map(|store| store.engine(options.clone()));
        let error = run(&short, make()).map(drop).unwrap_err().to_string();
        assert!(error.contains("vertex 121") && error.contains("2^120 "), "{way}: {error}");
        let found = run(&short, make().in_double()).unwrap_or_else(|error| panic!("{way}: {error}"));
        assert_within(DOUBLE, found.column("betweenness"), &expected, &way);
        let error = run(&long, make().in_double()).map(drop).unwrap_err().to_string();
        assert!(error.contains("vertex 1001") && error.contains("2^1000 "), "{way}: {error}");
    }
}

#[test]
fn too_many_paths_are_refused() {
    let make = || Betweenness::of_sources(&[VertexId(0)]);
    let stores = [121, 150].map(|length| TestStore::new(&chain(length), &small_pages(Encoding::VertexId)));
    for (way, options) in ways().into_iter().filter(|(way, _)| thorough() || way.starts_with("1 ")) {
        let [short, long] = stores.each_ref().map(|store| store.engine(options.clone()));
        // The path to that vertex is the same.
        let found = run(&short, make()).unwrap_or_else(|error| panic!("{way}: {error}"));
        let expected: Vec<f64> =
            (0..121).map(|vertex| if vertex == 0 { 0.0 } else { 120.0 - f64::from(vertex) }).collect();
        assert_near(found.column("betweenness"), &expected, &way);
        let error = run(&long, make()).map(drop).unwrap_err().to_string();
        assert!(error.contains("vertex 121") && error.contains("2^120"), "{way}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn small_graphs(
        vertices in 1u32..25,
        edges in prop::collection::vec((any::<u32>(), any::<u32>()), 0..60),
        directed: bool,
    ) {
        let edges = edges.into_iter().map(|(a, b)| (a % vertices, b % vertices)).collect();
        let graph = EdgeList::new(vertices, edges);
        let options = small_pages(Encoding::VertexId);
        let store = TestStore::new(&graph, &if directed { options } else { undirected(options) });
        let engine = store.engine(engine_options(None, 1, FetcherKind::Threads));
        let found = run(&engine, Betweenness::exact()).unwrap();
        let all: Vec<u32> = (0..vertices).collect();
        let (expected, halves) = if directed { (graph, 1.0) } else { (graph.symmetrized(), 0.5) };
        let expected: Vec<f64> = betweenness(&expected, &all).into_iter().map(|sum| halves * sum).collect();
        assert_near(found.column("betweenness"), &expected, "one thread");
    }
}
