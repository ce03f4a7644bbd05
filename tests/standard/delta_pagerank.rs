//! PageRank by residuals.

use crate::common::{FETCHERS, TestStore, engine_options, small_pages};
use crate::everywhere::{everywhere, run};
use crate::reference::{Dangling, EdgeList, random_edges, rank_limit, relative_error};
use topostream::algorithms::{DanglingMass, DeltaPageRank};
use topostream_formats::Encoding;
use topostream_tools::format::FormatOptions;

const CASES: [(Dangling, DanglingMass); 2] =
    [(Dangling::Spread, DanglingMass::Redistributed), (Dangling::Lost, DanglingMass::Ignored)];

/// Vertices without out-edges, in-edges or both; loops and repeated edges.
fn graph() -> EdgeList {
    let mut edges = random_edges(0..9_900, 60_000, 41);
    edges.retain(|(source, dest)| source % 9 != 4 && dest % 11 != 5);
    edges.extend([(1, 1), (1, 1), (2, 3), (2, 3)]);
    EdgeList::new(10_000, edges)
}

#[test]
fn ranks_are_within_the_tolerance_of_the_limit_everywhere() {
    let graph = graph();
    // The second store has shards.
    for ((dangling, mass), shards) in CASES.into_iter().zip([1, 3]) {
        let store = TestStore::new(&graph, &FormatOptions { shards, ..small_pages(Encoding::VertexId) });
        let expected = rank_limit(&graph, 0.85, dangling);
        let delta = DeltaPageRank { dangling: mass, ..DeltaPageRank::default() };
        everywhere(
            &store,
            |_| delta,
            |found, way| {
                let error = relative_error(found.column("rank"), &expected);
                assert!(error <= 1.1e-4, "{way}: {error}");
                let steps = &found.report.steps;
                // The first superstep reads no pages, the second all, the last ones few.
                let edges: Vec<u64> = steps.iter().map(|step| step.edges).collect();
                assert_eq!(edges[0], 0, "{way}");
                assert_eq!(edges[1], graph.edges.len() as u64, "{way}");
                assert!(edges.iter().any(|&some| some > 0 && some < edges[1] / 4), "{way}: {edges:?}");
                // By the damping factor alone, residuals take 57 supersteps to fall to the tolerance.
                assert!(steps.len() < 30, "{way}: {edges:?}");
            },
        );
    }
}

/// Most vertices propagate once, to vertices without out-edges; a ring at the end takes many supersteps.
#[test]
fn pages_of_vertices_without_residuals_are_not_read() {
    let mut edges = random_edges(0..10_000, 90_000, 6);
    edges.iter_mut().for_each(|(_, dest)| *dest += 10_000);
    edges.extend((20_000..20_100).map(|vertex| (vertex, 20_000 + (vertex + 1) % 100)));
    let graph = EdgeList::new(20_100, edges);
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let expected = rank_limit(&graph, 0.85, Dangling::Lost);
    let delta = DeltaPageRank { dangling: DanglingMass::Ignored, ..DeltaPageRank::default() };
    everywhere(
        &store,
        |_| delta,
        |found, way| {
            let error = relative_error(found.column("rank"), &expected);
            assert!(error <= 1.1e-4, "{way}: {error}");
            let steps = &found.report.steps;
            assert!(steps[0].pages == 0 && steps[1].pages > 5 && steps.len() > 20, "{way}: {steps:?}");
            assert!(steps[2..].iter().all(|step| step.edges == 100), "{way}: {steps:?}");
            // A GPU that chooses its supersteps by itself, and the host after it, may not know the pages of the set.
            if way.contains("cpu") || way.ends_with("true") {
                assert!(steps[2..].iter().all(|step| step.pages == 1), "{way}: {steps:?}");
            }
        },
    );
}

#[test]
fn a_smaller_tolerance_takes_longer_and_is_more_accurate() {
    let graph = graph();
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let engine = store.engine(engine_options(None, 2, FETCHERS[0]));
    let expected = rank_limit(&graph, 0.6, Dangling::Spread);
    let mut edges_before = 0;
    for tolerance in [0.5, 0.01, 1e-5] {
        let found = run(&engine, DeltaPageRank { damping: 0.6, tolerance, ..DeltaPageRank::default() }).unwrap();
        let error = relative_error(found.column("rank"), &expected);
        assert!(error <= tolerance + 1e-6, "{error} at {tolerance}");
        let edges = found.report.steps.iter().map(|step| step.edges).sum();
        assert!(edges > edges_before, "{edges} after {edges_before}");
        edges_before = edges;
    }
}

#[test]
fn every_run_gives_the_same_bits() {
    let store = TestStore::new(&graph(), &small_pages(Encoding::VertexId));
    let found = |threads, fetcher| {
        let engine = store.engine(engine_options(Some(6), threads, fetcher));
        let found = run(&engine, DeltaPageRank::default()).unwrap();
        found.column("rank").iter().map(|rank| rank.to_bits()).collect::<Vec<_>>()
    };
    let first = found(1, FETCHERS[0]);
    assert!(first == found(3, FETCHERS[1]) && first == found(2, FETCHERS[2]));
}

#[test]
fn small_graphs_converge_to_the_limit() {
    // No edges; a path; a ring, whose ranks are all equal.
    for (vertices, edges) in [(3, vec![]), (3, vec![(0, 1), (1, 2)]), (4, vec![(0, 1), (1, 2), (2, 3), (3, 0)])] {
        let graph = EdgeList::new(vertices, edges);
        let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
        let engine = store.engine(engine_options(None, 1, FETCHERS[0]));
        for (dangling, mass) in CASES {
            let delta = DeltaPageRank { dangling: mass, tolerance: 1e-6, ..DeltaPageRank::default() };
            let found = run(&engine, delta).unwrap();
            assert!(relative_error(found.column("rank"), &rank_limit(&graph, 0.85, dangling)) < 3e-6);
        }
    }
}

#[test]
fn bad_parameters_are_refused() {
    let store = TestStore::new(&EdgeList::new(2, vec![(0, 1)]), &small_pages(Encoding::VertexId));
    let engine = store.engine(engine_options(None, 1, FETCHERS[0]));
    let good = DeltaPageRank::default();
    for (bad, word) in [
        (DeltaPageRank { damping: 1.0, ..good }, "damping 1"),
        (DeltaPageRank { damping: f64::NAN, ..good }, "damping NaN"),
        (DeltaPageRank { tolerance: 1e-9, ..good }, "tolerance"),
        (DeltaPageRank { tolerance: f64::NAN, ..good }, "tolerance NaN"),
    ] {
        let error = run(&engine, bad).map(drop).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}
