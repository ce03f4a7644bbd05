//! Counts of edges from one set of vertices to another.

use crate::common::{FETCHERS, TestStore, engine_options, small_pages};
use crate::everywhere::{everywhere, run, ways};
use crate::reference::cross_edges::cross_edges;
use crate::reference::{EdgeList, Weighted, draw, random_edges};
use std::sync::Arc;
use topostream::algorithms::CrossEdges;
use topostream::device::settings::GpuSettings;
use topostream::{Store, VertexId, VertexSet};
use topostream_formats::{Encoding, VertexOrder};
use topostream_tools::format::FormatOptions;

const VERTICES: u32 = 18_000;

/// A hub with a list of several pages, a vertex with edges from all others, loops, repeated edges.
fn graph() -> EdgeList {
    let mut edges = random_edges(0..9000, 30_000, 43);
    edges.extend(random_edges(9000..VERTICES, 8_000, 45));
    edges.extend((0..40_000).map(|number| (77, number % 9000)));
    edges.extend((0..9000).map(|number| (number, 78)));
    edges.extend([(5, 5), (5, 5), (5, 6), (5, 6)]);
    EdgeList::new(VERTICES, edges)
}

/// Random vertices and the special ones.
fn some(every: u64, seed: u64) -> Vec<u32> {
    let mut state = seed | 1 << 33;
    let mut members: Vec<u32> = (0..VERTICES).filter(|_| draw(&mut state) >> 20 & 0xff < 256 / every).collect();
    members.extend([5, 6, 77, 78]);
    members
}

/// Vertices of a store by original id.
fn set(store: &Store, ids: &[u32]) -> Arc<VertexSet> {
    let (set, originals) = (VertexSet::new(store.vertices()), store.ids().unwrap());
    let members = (0..store.vertices()).map(|vertex| VertexId(vertex as u32));
    for vertex in members.filter(|&vertex| ids.contains(&(originals.original(vertex) as u32))) {
        set.insert(vertex);
    }
    Arc::new(set)
}

fn counts(graph: &EdgeList, from: &[u32], to: &[u32]) -> Vec<f64> {
    let mut counts = vec![0.0; graph.vertices as usize];
    cross_edges(graph, from, to).iter().for_each(|&(source, _)| counts[source as usize] += 1.0);
    counts
}

#[test]
fn edges_are_counted_everywhere() {
    let graph = graph();
    let plain = small_pages(Encoding::VertexId);
    let stores = [plain.clone(), FormatOptions { shards: 2, order: VertexOrder::Degree, ..plain }];
    let (from, to) = (some(8, 1), some(3, 2));
    let expected = counts(&graph, &from, &to);
    assert!(expected.iter().sum::<f64>() > 10_000.0 && expected[5] >= 5.0);
    for options in stores {
        let store = TestStore::new(&graph, &options);
        let make = |engine: &topostream::Engine| {
            let store = engine.store();
            CrossEdges { from: set(store, &from), to: set(store, &to) }
        };
        everywhere(&store, make, |found, way| assert!(found.column("cross_edges") == expected, "{way}"));
    }
}

/// A binding holds the values of 16384 vertices: each set spans two buffers.
#[test]
fn sets_can_span_several_buffers() {
    let graph = graph();
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let (from, to) = (some(8, 5), some(3, 6));
    let expected = counts(&graph, &from, &to);
    assert!(from.iter().chain(&to).any(|&vertex| vertex > 16_384));
    for (way, options) in ways() {
        let gpu = GpuSettings { binding_bytes_max: Some(192 << 10), ..options.gpu.clone() };
        let engine = store.engine(options.with_gpu(gpu));
        let algorithm = CrossEdges { from: set(engine.store(), &from), to: set(engine.store(), &to) };
        assert!(run(&engine, algorithm).unwrap().column("cross_edges") == expected, "{way}");
    }
}

#[test]
fn an_undirected_edge_counts_at_both_ends() {
    let weighted = Weighted::by_chance(graph(), false, 2);
    let store = TestStore::weighted(&weighted, false, &small_pages(Encoding::VertexId));
    let engine = store.engine(engine_options(None, 2, FETCHERS[0]));
    let (from, to) = (some(4, 3), some(4, 4));
    let algorithm = CrossEdges { from: set(engine.store(), &from), to: set(engine.store(), &to) };
    let found = run(&engine, algorithm).unwrap();
    assert!(found.column("cross_edges") == counts(&weighted.graph.mirrored(), &from, &to));
}

/// Only pages with lists of the first set are read; none for an empty set.
#[test]
fn pages_of_others_are_not_read() {
    let graph = graph();
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let engine = store.engine(engine_options(None, 2, FETCHERS[0]));
    for (from, to, pages) in [(&[][..], &[1][..], 0), (&[9], &[78], 1)] {
        let algorithm = CrossEdges { from: set(engine.store(), from), to: set(engine.store(), to) };
        let found = run(&engine, algorithm).unwrap();
        assert!(found.column("cross_edges") == counts(&graph, from, to));
        assert_eq!(found.report.steps.iter().map(|step| step.pages).sum::<u64>(), pages);
    }
}

#[test]
fn sets_of_another_graph_are_refused() {
    let store = TestStore::new(&EdgeList::new(3, vec![(0, 1)]), &small_pages(Encoding::VertexId));
    let engine = store.engine(engine_options(None, 1, FETCHERS[0]));
    let (from, to) = (Arc::new(VertexSet::new(3)), Arc::new(VertexSet::new(4)));
    let error = run(&engine, CrossEdges { from, to }).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("a set is of 4 vertices, and the graph has 3"), "{error}");
}
