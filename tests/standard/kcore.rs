//! Core numbers.

use crate::common::{PAGE, TestStore, engine_options, small_pages};
use crate::everywhere::{everywhere, run};
use crate::reference::kcore::core_numbers;
use crate::reference::{EdgeList, random_edges};
use proptest::prelude::*;
use topostream::Engine;
use topostream::algorithms::{CoreBounds, KCore};
use topostream::pages::fetch::FetcherKind;
use topostream_formats::Encoding;
use topostream_formats::encoding::PLAIN_PAGES;
use topostream_tools::format::FormatOptions;

fn undirected(options: FormatOptions) -> FormatOptions {
    FormatOptions { symmetrize: true, in_edges: false, ..options }
}

/// Loops, repeated edges, vertices without edges, a list of several pages, a clique of high degree in a sparse graph
/// (so that the core number jumps), and a path attached to it.
fn motley() -> EdgeList {
    let mut edges = random_edges(0..9_000, 12_000, 5);
    edges.extend((0..400).map(|number| (number % 40, number % 40)));
    edges.extend((0..200).map(|number| (9_100, 9_101 + number % 3)));
    edges.extend((9_200..9_260).flat_map(|a| (9_200..a).map(move |b| (a, b))));
    edges.extend((9_260..9_275).map(|vertex| (vertex, vertex - 1)));
    edges.extend((0..20_000).map(|number| (7, number % 9_000)));
    EdgeList::new(9_600, edges)
}

#[test]
fn core_numbers_of_an_undirected_graph() {
    let graph = motley();
    let store = TestStore::new(&graph, &undirected(small_pages(Encoding::VertexId)));
    let expected = core_numbers(&graph.once());
    assert_eq!((expected[9_230], expected[9_270], expected[9_550], expected[9_100]), (59.0, 1.0, 0.0, 67.0));
    let make = |_: &Engine| KCore::new(false, false);
    everywhere(&store, make, |found, way| {
        assert_eq!(found.column("core"), expected, "{way}");
        // Every list is read at most twice: to count, and to remove its vertex.
        let edges: u64 = found.report.steps.iter().map(|step| step.edges).sum();
        assert!(edges <= 4 * graph.edges.len() as u64, "{way}: {edges} edges");
    });
}

/// On one CPU, over the vertices that come down to the level, in as many supersteps as there are rounds, levels and
/// gaps.
#[test]
fn core_numbers_on_one_cpu() {
    let graph = motley();
    let directed = [(true, true), (true, false)]
        .map(|(directed, in_lists)| KCore { alone: true, ..KCore::new(directed, in_lists) });
    for cores in [KCore { alone: true, ..KCore::new(false, false) }].into_iter().chain(directed) {
        let options = small_pages(Encoding::VertexId);
        let store = TestStore::new(&graph, &if cores.directed { options } else { undirected(options) });
        let expected = core_numbers(&if cores.directed { graph.clone() } else { graph.once() });
        for (buffer, threads) in [(None, 1), (None, 4), (Some(4), 2)] {
            let engine = store.engine(engine_options(buffer, threads, FetcherKind::Auto));
            let [found, all] = [cores, KCore { alone: false, ..cores }].map(|cores| run(&engine, cores).unwrap());
            assert_eq!(found.column("core"), expected, "{cores:?}, {threads} threads");
            assert_eq!(all.column("core"), expected, "{cores:?}, {threads} threads");
            let [noted, looked] =
                [&found, &all].map(|found| found.report.steps.iter().map(|step| step.phase_vertices).sum::<u64>());
            assert!(noted < looked, "{cores:?}: {noted} and {looked}");
        }
    }
}

/// By bounds: lists that are kept until their neighbours are told, and long ones, some of several pages.
#[test]
fn core_numbers_by_bounds() {
    let graph = motley();
    let packed = Encoding::packed(PAGE as u32, PLAIN_PAGES).unwrap();
    for (long, encoding) in [(1 << 16, Encoding::VertexId), (8, Encoding::VertexId), (8, packed)] {
        let store = TestStore::new(&graph, &undirected(small_pages(encoding)));
        let expected = core_numbers(&graph.once());
        for (buffer, threads) in [(None, 1), (None, 4), (Some(4), 4)] {
            let engine = store.engine(engine_options(buffer, threads, FetcherKind::Auto));
            let found = run(&engine, CoreBounds::with_long_lists(long)).unwrap();
            assert_eq!(found.column("core"), expected, "long from {long} on, {threads} threads");
        }
    }
}

#[test]
fn core_numbers_of_a_directed_graph() {
    let graph = motley();
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let expected = core_numbers(&graph);
    for in_lists in [true, false] {
        everywhere(
            &store,
            |_| KCore::new(true, in_lists),
            |found, way| assert_eq!(found.column("core"), expected, "{way}, in-lists: {in_lists}"),
        );
    }
}

/// Grouped lists have parts in several pages, and devices of a sharded run see only the pages of their shards.
#[test]
fn core_numbers_over_shards() {
    let graph = EdgeList::new(5_000, random_edges(0..5_000, 10_000, 8));
    let store = TestStore::new(&graph, &FormatOptions { shards: 3, ..undirected(small_pages(Encoding::VertexId)) });
    let expected = core_numbers(&graph.once());
    everywhere(&store, |_| KCore::new(false, false), |found, way| assert_eq!(found.column("core"), expected, "{way}"));
}

#[test]
fn stores_that_do_not_fit_are_refused() {
    let graph = EdgeList::new(2, vec![(0, 1)]);
    let directed = TestStore::new(&graph, &FormatOptions { in_edges: false, ..small_pages(Encoding::VertexId) });
    let engine = directed.engine(engine_options(None, 1, FetcherKind::Auto));
    let refused = |algorithm| run(&engine, algorithm).map(drop).unwrap_err().to_string();
    let undirected = refused(KCore::new(false, false));
    assert!(undirected.contains("the store has a directed one"), "{undirected}");
    let bounds = run(&engine, CoreBounds::default()).map(drop).unwrap_err().to_string();
    assert!(bounds.contains("the store has a directed one"), "{bounds}");
    let in_lists = refused(KCore::new(true, true));
    assert!(in_lists.contains("--in-edges"), "{in_lists}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Small random graphs: few vertices, so that edges repeat.
    #[test]
    fn small_graphs(
        vertices in 1u32..40,
        edges in prop::collection::vec((any::<u32>(), any::<u32>()), 0..200),
        way in 0..3,
    ) {
        let edges = edges.into_iter().map(|(a, b)| (a % vertices, b % vertices)).collect();
        let graph = EdgeList::new(vertices, edges);
        let options = small_pages(Encoding::VertexId);
        let store = TestStore::new(&graph, &if way == 0 { undirected(options) } else { options });
        let engine = store.engine(engine_options(None, 1, FetcherKind::Threads));
        let found = run(&engine, KCore::new(way > 0, way == 1)).unwrap();
        let graph = if way == 0 { graph.once() } else { graph };
        let expected = core_numbers(&graph);
        prop_assert_eq!(found.column("core"), &expected[..]);
        let alone = run(&engine, KCore { alone: true, ..KCore::new(way > 0, way == 1) }).unwrap();
        prop_assert_eq!(alone.column("core"), &expected[..], "on one CPU");
        for long in if way == 0 { &[1, 5, 1 << 16][..] } else { &[] } {
            let engine = store.engine(engine_options(None, 3, FetcherKind::Threads));
            let found = run(&engine, CoreBounds::with_long_lists(*long)).unwrap();
            prop_assert_eq!(found.column("core"), &expected[..], "by bounds, long from {} on", long);
        }
    }
}
