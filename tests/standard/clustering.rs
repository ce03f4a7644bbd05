//! Clustering coefficients and triangles.

use crate::common::{TestStore, small_pages};
use crate::everywhere::everywhere_by;
use crate::reference::clustering::clustering;
use crate::reference::{EdgeList, random_edges};
use std::collections::BTreeSet;
use topostream::algorithms::Clustering;
use topostream_formats::Encoding;
use topostream_tools::format::FormatOptions;

/// Random triangles, hubs in many lists, a clique, loops, vertices without edges.
fn graph() -> EdgeList {
    let mut edges = random_edges(0..400, 6000, 5);
    edges.extend((0..3000).flat_map(|vertex| [(3, vertex), (vertex, 5)]));
    edges.extend((400..430).flat_map(|one| (400..430).map(move |other| (one, other))));
    let distinct: BTreeSet<_> = edges.into_iter().collect();
    EdgeList::new(3100, distinct.into_iter().collect())
}

/// Tables in one range and in many.
fn check(store: &TestStore, graph: &EdgeList, triangles: bool) {
    let expected = clustering(graph);
    let starts = 4 * (u64::from(graph.vertices) + 1);
    for table_bytes in [None, Some(starts + 10_000)] {
        let run = |engine: &_| Clustering::run(engine, table_bytes, &mut |_| {});
        everywhere_by(store, run, |found, way| {
            for (vertex, (&coefficient, expected)) in found.column("coefficient").iter().zip(&expected).enumerate() {
                let off = (coefficient - expected.0).abs();
                assert!(off < 1e-12, "{way}, {table_bytes:?}: vertex {vertex} has {coefficient}, not {}", expected.0);
            }
            if triangles {
                let expected: Vec<f64> = expected.iter().map(|(_, links)| *links as f64 / 2.0).collect();
                assert_eq!(found.column("triangles"), expected, "{way}, {table_bytes:?}");
            }
            assert!(table_bytes.is_none() || found.report.steps.len() > 5, "{way}: many ranges");
        });
    }
}

#[test]
fn directed() {
    let graph = graph();
    check(&TestStore::new(&graph, &small_pages(Encoding::VertexId)), &graph, false);
}

#[test]
fn undirected() {
    let graph = graph();
    let options = FormatOptions { symmetrize: true, remove_duplicates: true, ..small_pages(Encoding::VertexId) };
    check(&TestStore::new(&graph, &options), &graph.symmetrized(), true);
}

#[test]
fn nothing_to_find() {
    for graph in [EdgeList::new(0, vec![]), EdgeList::new(5, vec![]), EdgeList::new(3, vec![(1, 1), (0, 2)])] {
        check_some(&graph);
    }
}

fn check_some(graph: &EdgeList) {
    let store = TestStore::new(graph, &small_pages(Encoding::VertexId));
    let zeros = vec![0.0; graph.vertices as usize];
    let run = |engine: &_| Clustering::run(engine, None, &mut |_| {});
    everywhere_by(&store, run, |found, way| assert_eq!(found.column("coefficient"), zeros, "{way}"));
}

/// The list spans two pages; the repeated edge is the last of one page and the first of the other.
#[test]
fn repeated_edges_across_pages_are_refused() {
    for twice in 16_364..16_384 {
        let neighbours = (1..16_500).chain([twice]).map(|neighbour| (0, neighbour));
        let store = TestStore::new(&EdgeList::new(16_500, neighbours.collect()), &small_pages(Encoding::VertexId));
        let refused = Clustering::run(&store.engine(Default::default()), None, &mut |_| {}).is_err();
        assert!(refused, "the edge to {twice} stands twice");
    }
}

#[test]
fn repeated_edges_are_refused() {
    let store = TestStore::new(&EdgeList::new(9, vec![(1, 2), (7, 3), (7, 3)]), &small_pages(Encoding::VertexId));
    let engine = store.engine(Default::default());
    let Err(error) = Clustering::run(&engine, None, &mut |_| {}) else { panic!("7 has an edge twice") };
    assert!(error.to_string().contains("vertex 7") && error.to_string().contains("--remove-duplicates"), "{error}");
}
