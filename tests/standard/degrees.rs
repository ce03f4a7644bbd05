//! Degrees: counted from edges or read from the store, with the same result.

use crate::common::{FETCHERS, TestStore, engine_options, small_pages};
use crate::everywhere::{everywhere, run};
use crate::reference::degrees::{counts, degrees};
use crate::reference::{EdgeList, Weighted, random_edges};
use topostream::algorithms::{Degrees, histogram};
use topostream_formats::Encoding;
use topostream_tools::format::FormatOptions;

/// A vertex with edges from all others, one with edges to all others, loops, repeated edges, vertices without edges.
fn graph() -> EdgeList {
    let mut edges = random_edges(0..9000, 40_000, 42);
    edges.extend((0..9000).map(|number| (77, number)));
    edges.extend((0..9000).map(|number| (number, 78)));
    edges.extend([(5, 5), (5, 5), (5, 6), (5, 6), (9000, 9000)]);
    EdgeList::new(9_100, edges)
}

fn floats(values: &[u64]) -> Vec<f64> {
    values.iter().map(|&value| value as f64).collect()
}

#[test]
fn in_degrees_are_counted_everywhere() {
    let graph = graph();
    let options = FormatOptions { in_edges: false, shards: 2, ..small_pages(Encoding::VertexId) };
    let store = TestStore::new(&graph, &options);
    let (outgoing, incoming) = (floats(&degrees(&graph, false)), floats(&degrees(&graph, true)));
    let make = |engine: &topostream::Engine| Degrees::of(engine.store()).unwrap();
    everywhere(&store, make, |found, way| {
        assert!(found.column("out_degree") == outgoing && found.column("in_degree") == incoming, "{way}");
        assert_eq!(found.report.steps.len(), 1, "{way}");
    });
}

#[test]
fn degrees_in_the_store_are_not_counted() {
    let graph = graph();
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let (outgoing, incoming) = (floats(&degrees(&graph, false)), floats(&degrees(&graph, true)));
    let make = |engine: &topostream::Engine| Degrees::of(engine.store()).unwrap();
    everywhere(&store, make, |found, way| {
        assert!(found.column("out_degree") == outgoing && found.column("in_degree") == incoming, "{way}");
        assert!(found.report.steps.is_empty(), "{way}");
    });
    let engine = store.engine(engine_options(None, 2, FETCHERS[0]));
    assert!(run(&engine, Degrees::counted()).unwrap().column("in_degree") == incoming);
}

#[test]
fn undirected_vertices_have_one_degree() {
    let weighted = Weighted::by_chance(graph(), false, 1);
    let store = TestStore::weighted(&weighted, false, &small_pages(Encoding::VertexId));
    let engine = store.engine(engine_options(None, 2, FETCHERS[0]));
    let found = run(&engine, Degrees::of(engine.store()).unwrap()).unwrap();
    assert!(found.column("degree") == floats(&degrees(&weighted.graph.mirrored(), false)));
}

#[test]
fn histograms_count_every_vertex_once() {
    let degrees = degrees(&graph(), true);
    let found: Vec<(u64, u64)> = histogram(degrees.iter().copied()).into_iter().collect();
    assert_eq!(found, counts(&degrees));
    assert_eq!(found.iter().map(|(_, vertices)| vertices).sum::<u64>(), 9_100);
}
