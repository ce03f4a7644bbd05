//! Connected components by union-find and by hooking: against an oracle, and by what is read.

use crate::common::{TestStore, engine_options, hooked_ids, linked_ids, small_pages};
use crate::reference::{EdgeList, components, random_edges};
use proptest::prelude::*;
use topostream::pages::fetch::FetcherKind;
use topostream_formats::Encoding;
use topostream_tools::format::FormatOptions;

/// Pages of which parts can be read.
const PACKED: Encoding = Encoding::Packed { edges_max: 63 << 10, step: false, own: true };

/// Stores of a graph: directed with in-lists and without, and with both directions of every edge.
fn stores(graph: &EdgeList) -> [TestStore; 3] {
    let options = small_pages(PACKED);
    [
        FormatOptions { in_edges: true, ..options.clone() },
        FormatOptions { in_edges: false, ..options.clone() },
        FormatOptions { in_edges: false, symmetrize: true, ..options },
    ]
    .map(|options| TestStore::new(graph, &options))
}

/// Right on every store, from disk and then from the page buffer, whatever it holds.
fn check(graph: &EdgeList, what: &str) {
    let expected = components(graph);
    for (number, store) in stores(graph).iter().enumerate() {
        for (buffer, threads) in [(None, 3), (Some(4), 1)] {
            let engine = store.engine(engine_options(buffer, threads, FetcherKind::Threads));
            for run in 0..2 {
                let found = linked_ids(&engine).unwrap();
                assert_eq!(found.dense(), expected, "{what}, store {number}, {buffer:?} pages, run {run}");
            }
            let hooked = hooked_ids(&engine).unwrap();
            assert_eq!(hooked.dense(), expected, "{what}, store {number}, {buffer:?} pages, by hooking");
        }
    }
}

/// A hub with many neighbours, and a path of the others, one edge in a hundred of which is missing.
fn hub_and_paths(vertices: u32) -> EdgeList {
    let star = (0..vertices / 2).map(|leaf| (vertices / 2, leaf));
    let path = (vertices / 2 + 1..vertices - 1).filter(|vertex| vertex % 100 != 0).map(|vertex| (vertex, vertex + 1));
    EdgeList::new(vertices, star.chain(path).collect())
}

#[test]
fn graphs_of_all_shapes() {
    check(&EdgeList::new(1, vec![]), "a vertex");
    check(&EdgeList::new(5, vec![]), "vertices without edges");
    check(&EdgeList::new(3, vec![(1, 1), (2, 2), (2, 2)]), "loops");
    check(&EdgeList::new(9, vec![(8, 0), (8, 0), (3, 4), (4, 3)]), "repeated edges");
    check(&EdgeList::new(30_000, (1..30_000).rev().map(|vertex| (vertex, vertex - 1)).collect()), "a path");
    check(&EdgeList::new(30_000, (1..30_000).map(|vertex| (vertex, 0)).collect()), "a star inwards");
    check(&hub_and_paths(40_000), "a hub and paths");
    // Two neighbours of each vertex join few of these: most lists are outside the component that is found.
    let cliques = (0..600u32).flat_map(|at| (0..30).map(move |to| (at * 30 + to, at * 30 + (to + 1 + at % 7) % 30)));
    check(&EdgeList::new(18_000, cliques.collect()), "many components");
    check(&EdgeList::new(20_000, random_edges(0..20_000, 12_000, 3)), "few random edges");
}

/// Hooking takes few supersteps on paths of tens of thousands of edges, whatever the order of vertices.
#[test]
fn hooking_takes_few_supersteps_on_long_graphs() {
    let (side, last) = (200u32, 200 * 200 - 1);
    // Multiplication by a number without common divisors is a permutation.
    let scattered = |vertex: u32| (u64::from(vertex) * 7919 % u64::from(last + 1)) as u32;
    let path = EdgeList::new(last + 1, (0..last).map(|vertex| (scattered(vertex), scattered(vertex + 1))).collect());
    let right = (0..=last).filter(|vertex| vertex % side < side - 1).map(|vertex| (vertex, vertex + 1));
    let down = (0..=last - side).map(|vertex| (vertex, vertex + side));
    let grid = EdgeList::new(last + 1, right.chain(down).collect());
    for (graph, what) in [(path, "a path"), (grid, "a grid")] {
        for (number, store) in stores(&graph).iter().enumerate() {
            let found = hooked_ids(&store.engine(engine_options(None, 2, FetcherKind::Threads))).unwrap();
            assert_eq!(found.dense(), components(&graph), "{what}, store {number}");
            assert!(found.report.supersteps <= 20, "{what}, store {number}: {}", found.report.supersteps);
        }
    }
}

/// Where pages have to be read, lists of hubs come first, and of all others only those outside the giant component:
/// fewer pages than there are. Where they are in memory, two neighbours of every vertex come first.
#[test]
fn lists_in_the_giant_component_are_not_read() {
    let leaves = 60_000;
    // A hub, whose list is at the beginning; its neighbours are joined by random edges.
    let hub = (1..leaves).map(|leaf| (0, leaf));
    let graph = EdgeList::new(leaves, hub.chain(random_edges(1..leaves, 4 * leaves as usize, 7)).collect());
    let options = FormatOptions { in_edges: false, symmetrize: true, ..small_pages(PACKED) };
    let store = TestStore::new(&graph, &options);
    let engine = store.engine(engine_options(None, 2, FetcherKind::Threads));
    let expected = components(&graph);
    let cold = linked_ids(&engine).unwrap();
    assert_eq!(cold.dense(), expected);
    let pages = u64::from(engine.store().topology(topostream_formats::Direction::Out).unwrap().page_count());
    let read = cold.report.total.pages;
    assert!(read < pages / 4, "{read} of {pages} pages");
    assert!(cold.report.total.edges < 2 * u64::from(leaves), "{}", cold.report.total.edges);
    // Everything is read: then labels are found without reading again, two neighbours of each vertex first.
    let all = store.engine(engine_options(None, 2, FetcherKind::Threads));
    crate::common::component_ids(&all).unwrap();
    let warm = linked_ids(&all).unwrap();
    assert_eq!((warm.dense(), warm.report.total.disk_bytes), (expected, 0));
    assert_eq!(warm.report.total.pages, pages);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn small_graphs(vertices in 1u32..60, edges in prop::collection::vec((any::<u32>(), any::<u32>()), 0..120)) {
        let edges = edges.into_iter().map(|(a, b)| (a % vertices, b % vertices)).collect();
        check(&EdgeList::new(vertices, edges), "a small graph");
    }
}
