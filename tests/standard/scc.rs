//! Strongly connected components.

use crate::common::{TestStore, engine_options, small_pages};
use crate::everywhere::{everywhere, run};
use crate::reference::scc::strong_components;
use crate::reference::{EdgeList, random_edges};
use proptest::prelude::*;
use topostream::algorithms::Scc;
use topostream::pages::fetch::FetcherKind;
use topostream_formats::Encoding;
use topostream_tools::format::FormatOptions;

/// Asserts the same components, each labelled with one of its vertices.
fn assert_same_parts(found: &[f64], expected: &[u32], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let name = |vertex: usize| found[vertex] as usize;
    let mut least = vec![u32::MAX; expected.len()];
    for vertex in 0..expected.len() {
        assert_eq!(name(name(vertex)), name(vertex), "{what}: what {vertex} is called is not in its component");
        least[name(vertex)] = least[name(vertex)].min(vertex as u32);
    }
    for (vertex, &expected) in expected.iter().enumerate() {
        assert_eq!(least[name(vertex)], expected, "{what}: the least of the component of {vertex}");
    }
}

/// A large component with many vertices before and after it, a chain of cycles in descending order, a path, loops,
/// repeated edges, lists of several pages in both directions, and vertices without edges.
fn motley() -> EdgeList {
    let mut edges = random_edges(0..9_000, 16_000, 21);
    edges.extend((0..9_000).step_by(70).map(|vertex| (vertex, vertex)));
    for first in (9_000..9_090).step_by(3) {
        edges.extend([
            (first, first + 1),
            (first + 1, first + 2),
            (first + 2, first),
            (first + 3, first),
            (first + 3, first),
        ]);
    }
    edges.extend((9_100..9_120).map(|vertex| (vertex + 1, vertex)));
    edges.extend((0..20_000).map(|number| (7, number % 4_000)));
    edges.extend((0..20_000).map(|number| (4_000 + number % 4_000, 9)));
    EdgeList::new(9_200, edges)
}

#[test]
fn components_of_a_large_graph() {
    let graph = motley();
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let expected = strong_components(&graph);
    let largest = expected.iter().filter(|&&component| component == expected[7]).count();
    assert!((1_000..8_000).contains(&largest), "{largest} vertices in the largest component");
    everywhere(&store, |_| Scc, |found, way| assert_same_parts(found.column("component"), &expected, way));
}

/// Grouped lists, and pages that only some devices see.
#[test]
fn parts_over_shards() {
    let graph = EdgeList::new(4_000, random_edges(0..4_000, 6_000, 22));
    let store = TestStore::new(&graph, &FormatOptions { shards: 3, ..small_pages(Encoding::VertexId) });
    let expected = strong_components(&graph);
    everywhere(&store, |_| Scc, |found, way| assert_same_parts(found.column("component"), &expected, way));
}

/// A chain of a thousand components in descending order: with vertex numbers as colours, it would take a thousand
/// rounds.
#[test]
fn a_chain_takes_few_rounds() {
    let pairs = (0..1_000u32).flat_map(|pair| [(2 * pair, 2 * pair + 1), (2 * pair + 1, 2 * pair)]);
    let edges = pairs.chain((1..1_000).map(|pair| (2 * pair, 2 * pair - 1))).collect();
    let graph = EdgeList::new(2_000, edges);
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let engine = store.engine(engine_options(None, 2, FetcherKind::Auto));
    let found = run(&engine, Scc).unwrap();
    assert_same_parts(found.column("component"), &strong_components(&graph), "a chain");
    assert!(found.report.steps.len() < 5_000, "{} supersteps", found.report.steps.len());
}

#[test]
fn stores_that_do_not_fit_are_refused() {
    let graph = EdgeList::new(2, vec![(0, 1)]);
    let refused = |options| {
        let store = TestStore::new(&graph, &options);
        let engine = store.engine(engine_options(None, 1, FetcherKind::Auto));
        run(&engine, Scc).map(drop).unwrap_err().to_string()
    };
    let options = FormatOptions { in_edges: false, ..small_pages(Encoding::VertexId) };
    let no_in_lists = refused(options.clone());
    assert!(no_in_lists.contains("--in-edges"), "{no_in_lists}");
    let undirected = refused(FormatOptions { symmetrize: true, ..options });
    assert!(undirected.contains("run components"), "{undirected}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn small_graphs(vertices in 1u32..60, edges in prop::collection::vec((any::<u32>(), any::<u32>()), 0..120)) {
        let edges = edges.into_iter().map(|(a, b)| (a % vertices, b % vertices)).collect();
        let graph = EdgeList::new(vertices, edges);
        let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
        let engine = store.engine(engine_options(None, 1, FetcherKind::Threads));
        let found = run(&engine, Scc).unwrap();
        assert_same_parts(found.column("component"), &strong_components(&graph), "one thread");
    }
}
