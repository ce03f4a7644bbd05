//! Betweenness centrality.

use crate::common::{TestStore, engine_options, small_pages, thorough};
use crate::everywhere::{everywhere, run, ways};
use crate::reference::betweenness::betweenness;
use crate::reference::{EdgeList, random_edges};
use proptest::prelude::*;
use topostream::VertexId;
use topostream::algorithms::Betweenness;
use topostream::pages::fetch::FetcherKind;
use topostream_formats::Encoding;
use topostream_tools::format::FormatOptions;

fn undirected(options: FormatOptions) -> FormatOptions {
    FormatOptions { symmetrize: true, in_edges: false, ..options }
}

fn assert_near(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (vertex, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (found - expected).abs();
        assert!(error <= 1e-4 * expected.max(1e-3), "{what}: vertex {vertex} has {found}, not {expected}");
    }
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
    let expected = [betweenness(&graph, &sources), betweenness(&graph.mirrored(), &sources)];
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
/// every device those of a small graph, halved if it is undirected.
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
    let whole = betweenness(&graph.mirrored(), &(0..40).collect::<Vec<_>>());
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

/// A path of double edges: the numbers of paths are powers of two.
#[test]
fn too_many_paths_are_refused() {
    let chain = |length: u32| EdgeList::new(length, (1..length).flat_map(|to| [(to - 1, to); 2]).collect());
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
        let (expected, halves) = if directed { (graph, 1.0) } else { (graph.mirrored(), 0.5) };
        let expected: Vec<f64> = betweenness(&expected, &all).into_iter().map(|sum| halves * sum).collect();
        assert_near(found.column("betweenness"), &expected, "one thread");
    }
}
