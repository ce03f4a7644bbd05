//! PageRank and breadth-first search against the reference: shapes of graphs × encodings × fetchers × page buffers ×
//! threads × directions. Each store is run under many settings, so that every pair of settings occurs somewhere.

use crate::common::*;
use crate::reference::*;
use proptest::prelude::*;
use topostream::Engine;
use topostream::algorithms::{PageRank, Stop, Sums, Traffic};
use topostream::pages::memory::FRAMES_MIN;
use topostream_formats::write::Layout;
use topostream_formats::{Encoding, VertexOrder};
use topostream_tools::format::FormatOptions;
use topostream_tools::generate::{Grid, Rmat};

/// Maximum relative error of ranks; actual errors are a hundredth of it.
const RANK_ERROR: f64 = 1e-4;

/// Iterations of PageRank on every graph.
const ITERATIONS: u32 = 7;

const THREADS: [usize; 4] = [1, 2, 3, 5];
const BUFFERS: [Option<u64>; 4] = [Some(FRAMES_MIN as u64), Some(5), Some(13), None];

/// Checks all runs of PageRank and searches over a store of the graph; returns the store.
fn check_store(name: &str, graph: &EdgeList, options: &FormatOptions, first: usize) -> TestStore {
    let store = TestStore::new(graph, options);
    check_runs(name, &store, graph, first);
    store
}

/// Checks all runs over a store against the oracles; the settings rotate from `first` on.
fn check_runs(name: &str, store: &TestStore, graph: &EdgeList, first: usize) {
    let encoding = store.open().manifest().encoding;
    let mut first_bits = [None, None];
    let rule = RULES[first % RULES.len()];
    let expected = rank_iterations(graph, 0.85, rule, ITERATIONS as usize);
    // Rotated too: if only some run, others run for the next store.
    let rotated = (0..THREADS.len()).map(|at| (at + first) % THREADS.len());
    for at in some(rotated, 2) {
        let threads = THREADS[at];
        let (fetcher, buffer) = (FETCHERS[(first + at) % 3], BUFFERS[(first / 3 + at) % 4]);
        let settings = format!("{name}, {encoding}, {threads} threads, {fetcher:?}, {buffer:?}");
        let engine = store.engine(engine_options(buffer, threads, fetcher));
        for (place, traffic) in [Traffic::Push, Traffic::Pull].into_iter().enumerate() {
            let found = check_ranks(&engine, graph, &expected, (traffic, rule), &settings);
            let bits = bits(&found);
            assert_eq!(first_bits[place].get_or_insert_with(|| bits.clone()), &bits, "{settings}: other bits");
        }
        check_search(&engine, graph, first + at, &settings);
    }
}

/// The rules for dangling mass: the first for even stores, the second for odd ones.
const RULES: [Dangling; 2] = [Dangling::Spread, Dangling::Lost];

/// Compares ranks after some iterations with the expected ones.
fn check_ranks(
    engine: &Engine,
    graph: &EdgeList,
    expected: &[f64],
    (traffic, rule): (Traffic, Dangling),
    settings: &str,
) -> Vec<f64> {
    let found = ranks(engine, pagerank(ITERATIONS, rule, traffic));
    let found = found.unwrap_or_else(|error| panic!("{settings}: {error}"));
    assert_eq!(found.report.steps.len(), if graph.vertices == 0 { 0 } else { ITERATIONS as usize });
    let ranks = found.dense();
    let error = relative_error(&ranks, expected);
    assert!(error <= RANK_ERROR, "{settings}, {traffic:?}, {rule:?}: ranks are off by {error:e}");
    ranks
}

/// A top-down search and a direction-optimizing one, from a source that differs from run to run.
fn check_search(engine: &Engine, graph: &EdgeList, draw: usize, settings: &str) {
    if graph.vertices == 0 {
        return;
    }
    let source = (draw * 7919) as u32 % graph.vertices;
    let expected = levels(graph, source);
    for bottom_up in [false, true] {
        let found = search(engine, source.into(), true, bottom_up).unwrap();
        let settings = format!("{settings}, bottom up {bottom_up}, source {source}");
        let (levels, parents) = (found.levels.dense(), found.parents.unwrap());
        assert_eq!(levels, expected, "{settings}");
        check_tree(graph, source, &levels, &parents).unwrap_or_else(|defect| panic!("{settings}: {defect}"));
    }
}

/// The same graph in stores whose out-lists are grouped: directed with in-lists, and undirected, where the grouped
/// out-lists serve as in-lists. Returns the directed one.
fn check_shards(name: &str, graph: &EdgeList, encoding: Encoding, shards: u32, first: usize) -> TestStore {
    let options = FormatOptions { shards, ..small_pages(encoding) };
    let directed = check_store(&format!("{name}, {shards} shards"), graph, &options, first);
    let options = FormatOptions { symmetrize: true, ..options };
    let store = TestStore::new(graph, &options);
    assert_eq!(store.open().topologies().next().unwrap().shards().len(), shards as usize);
    check_runs(&format!("{name}, undirected, {shards} shards"), &store, &graph.symmetrized(), first + 1);
    directed
}

fn check_encodings(name: &str, graph: &EdgeList) {
    for (number, encoding) in ENCODINGS.into_iter().enumerate() {
        check_store(name, graph, &small_pages(encoding), number + name.len());
    }
}

// ---- Shapes -------------------------------------------------------------------------------------------------------

/// With room for the plain images of all packed pages, each page is decoded once, when it has been read, and kept in
/// its frame; with less, it is decoded whenever it is visited. A run with weights has other frames.
#[test]
fn packed_pages_are_decoded_in_their_frames_if_images_fit() {
    let graph = EdgeList::new(4000, random_edges(0..4000, 600_000, 5));
    let weighted = Weighted::by_chance(graph, false, 9);
    let encoding = Encoding::Packed { edges_max: 63 * 1024, step: false, own: false };
    let store = TestStore::weighted(&weighted, true, &small_pages(encoding));
    let pages: u64 = store.open().topologies().map(|topology| u64::from(topology.page_count())).sum();
    for buffer in [24, 4 * pages + 8] {
        let engine = store.engine(engine_options(Some(buffer), 2, FETCHERS[0]));
        for round in 0..2 {
            let found = ranks(&engine, pagerank(3, Dangling::Spread, Traffic::Push)).unwrap();
            let expected = rank_iterations(&weighted.graph, 0.85, Dangling::Spread, 3);
            assert!(relative_error(&found.dense(), &expected) < 1e-6, "{buffer}, round {round}");
            let read: u64 = found.report.steps.iter().map(|step| step.disk_bytes).sum();
            let all_fit = buffer > 4 * pages;
            assert!(!all_fit || read == if round == 0 { found.report.steps[0].pages * PAGE } else { 0 }, "{read}");
            let levels_found = search(&engine, 3, true, true).unwrap().levels.dense();
            assert_eq!(levels_found, levels(&weighted.graph, 3), "{buffer}, round {round}");
        }
        assert_eq!(distances(&engine, 3).unwrap().dense(), weighted.distances(3), "{buffer}");
    }
}

#[test]
fn a_graph_without_vertices() {
    check_encodings("empty", &EdgeList::new(0, Vec::new()));
}

#[test]
fn one_vertex_with_and_without_a_loop() {
    check_encodings("lone", &EdgeList::new(1, Vec::new()));
    check_encodings("loop", &EdgeList::new(1, vec![(0, 0)]));
    check_encodings("no edge at all", &EdgeList::new(20, Vec::new()));
}

#[test]
fn loops_and_repeated_edges() {
    let mut edges = random_edges(0..40, 500, 1);
    edges.extend((0..40).map(|vertex| (vertex, vertex)));
    edges.extend(vec![(3, 9); 70]);
    check_encodings("multigraph", &EdgeList::new(40, edges));
}

/// Two vertices whose out- and in-lists take several large pages each, and small lists around them.
#[test]
fn hubs_with_lists_of_several_pages() {
    let n = 30_001;
    let mut edges = random_edges(0..n, 20_000, 2);
    edges.extend((0..n).map(|vertex| (1, vertex)));
    edges.extend((0..n).map(|vertex| (vertex, n / 2)));
    edges.extend((0..n - 5).map(|vertex| (n / 2, vertex)));
    let graph = EdgeList::new(n, edges);
    for (number, encoding) in ENCODINGS.into_iter().enumerate() {
        let store = check_store("hubs", &graph, &small_pages(encoding), number);
        let large = store.open().manifest().out.large_pages;
        assert!(large >= 4, "{encoding}: {large} large pages");
    }
}

#[test]
fn a_path_of_5000_vertices() {
    let n = 5000;
    let graph = EdgeList::new(n, (0..n - 1).map(|vertex| (vertex, vertex + 1)).collect());
    let expected = rank_iterations(&graph, 0.85, Dangling::Spread, ITERATIONS as usize);
    for (number, encoding) in ENCODINGS.into_iter().enumerate() {
        let store = TestStore::new(&graph, &small_pages(encoding));
        let engine = store.engine(engine_options(BUFFERS[number % 4], 2, FETCHERS[number % 3]));
        check_ranks(&engine, &graph, &expected, (Traffic::Push, Dangling::Spread), "path");
        let found = search(&engine, 0, true, number % 2 == 0).unwrap();
        assert_eq!(found.levels.dense(), levels(&graph, 0));
        assert_eq!(found.levels.report.steps.len(), 5000);
        check_least_tree(&graph, 0, &found.levels.dense(), &found.parents.unwrap()).unwrap();
    }
}

/// Whole pages of isolated vertices before and after the others.
#[test]
fn isolated_vertices_at_both_ends() {
    check_encodings("isolated ends", &EdgeList::new(70_000, random_edges(30_000..40_000, 60_000, 3)));
}

#[test]
fn rmat_graphs() {
    for scale in [10, 12] {
        let graph = generated(&mut Rmat::new(scale, 16, scale.into()).generate().unwrap());
        check_encodings("rmat", &graph);
    }
}

#[test]
fn a_large_rmat_graph() {
    let graph = generated(&mut Rmat::new(14, 16, 14).generate().unwrap());
    for (number, encoding) in ENCODINGS.into_iter().enumerate() {
        check_store("rmat 14", &graph, &small_pages(encoding), 2 * number);
    }
}

#[test]
fn a_grid() {
    let grid = Grid { diagonal_probability: 0.3, seed: 5, ..Grid::new(101, 60) };
    let graph = generated(&mut grid.generate().unwrap()).symmetrized();
    check_encodings("grid", &graph);
}

/// Fewer vertices than the minimum of a shard, empty shards, more shards than pages.
#[test]
fn small_graphs_in_many_shards() {
    for (number, shards) in [2, 3, 256].into_iter().enumerate() {
        for (name, graph) in [
            ("empty", EdgeList::new(0, Vec::new())),
            ("loop", EdgeList::new(1, vec![(0, 0)])),
            ("no edge", EdgeList::new(200, Vec::new())),
            ("random", EdgeList::new(300, random_edges(0..300, 2000, 8))),
        ] {
            // By default, that many shards only for the graph with edges in most of them.
            if thorough() || shards < 256 || name == "random" {
                check_shards(name, &graph, ENCODINGS[number % 2], shards, number);
            }
        }
    }
}

/// Large lists in several shards: some with destinations everywhere, one within a shard.
#[test]
fn hubs_in_shards() {
    let n = 60_001;
    let mut edges = random_edges(0..n, 30_000, 9);
    edges.extend((0..3 * n).map(|number| (1, number % n)));
    edges.extend((0..40_000).map(|number| (n / 2, number % 500)));
    edges.extend((0..n).map(|vertex| (vertex, n - 2)));
    let graph = EdgeList::new(n, edges);
    for (number, shards) in some([2, 3, 5].into_iter().enumerate(), 3) {
        let store = check_shards("hubs", &graph, Encoding::VertexId, shards, number).open();
        let out = store.topology(topostream::Direction::Out).unwrap();
        let entries = out.directory().entries();
        let has_run = |shard: &topostream_formats::Shard| {
            entries[shard.pages.start as usize..shard.pages.end as usize].iter().any(|entry| entry.run > 1)
        };
        assert!(out.shards().iter().filter(|shard| has_run(shard)).count() >= 2, "{shards} shards");
    }
}

#[test]
fn an_rmat_graph_in_shards() {
    let graph = generated(&mut Rmat::new(12, 16, 12).generate().unwrap());
    for (number, shards) in [2, 4, 8].into_iter().enumerate() {
        check_shards("rmat", &graph, ENCODINGS[number % 2], shards, 2 * number);
    }
}

// ---- Any graph ------------------------------------------------------------------------------------------------------

fn any_graph() -> impl Strategy<Value = EdgeList> {
    (1u32..120)
        .prop_flat_map(|n| prop::collection::vec((0..n, 0..n), 0..400).prop_map(move |edges| EdgeList::new(n, edges)))
}

const ORDERS: [VertexOrder; 4] =
    [VertexOrder::Natural, VertexOrder::Degree, VertexOrder::OutFirst, VertexOrder::DegreeGroups];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    /// Vertex orders and stripes change the layout but not the answers.
    #[test]
    fn any_small_graph(
        graph in any_graph(),
        encoding in prop::sample::select(ENCODINGS.to_vec()),
        order in prop::sample::select(ORDERS.to_vec()),
        stripes in 1usize..4,
        symmetrize: bool,
        shards in prop_oneof![1 => Just(1u32), 1 => 2u32..5],
        number in 0usize..12,
    ) {
        let folders: Vec<tempfile::TempDir> = (1..stripes).map(|_| tempfile::tempdir().unwrap()).collect();
        let stripes = std::iter::once(".".into()).chain(folders.iter().map(|folder| folder.path().join("s")));
        let options = small_pages(encoding);
        let layout = Layout { stripes: stripes.collect(), ..options.layout.clone() };
        let options = FormatOptions { layout, order, symmetrize, shards, ..options };
        let store = TestStore::new(&graph, &options);
        let graph = if symmetrize { graph.symmetrized() } else { graph };
        let engine = store.engine(engine_options(BUFFERS[number % 4], 1 + number % 3, FETCHERS[number % 3]));
        let rule = RULES[number % RULES.len()];
        let expected = rank_iterations(&graph, 0.85, rule, ITERATIONS as usize);
        for traffic in [Traffic::Push, Traffic::Pull] {
            check_ranks(&engine, &graph, &expected, (traffic, rule), "any");
        }
        check_search(&engine, &graph, number, "any");
    }
}

// ---- Individual algorithms ------------------------------------------------------------------------------------------

/// Many in-edges with shares of different sizes: single-precision sums would lose most of them. Pages of 8 MiB are
/// split into segments; with 64 KiB the hub has several large pages.
#[test]
fn a_hub_with_400_000_in_edges() {
    let n = 400_001u32;
    let mut edges: Vec<(u32, u32)> = (1..n).map(|vertex| (vertex, 0)).collect();
    edges.extend((2..n).map(|vertex| (vertex, vertex / 2)));
    edges.extend((1..n).step_by(3).map(|vertex| (vertex, vertex / 5)));
    edges.extend((1..1000).map(|vertex| (0, vertex * 17)));
    let graph = EdgeList::new(n, edges);
    let expected = rank_iterations(&graph, 0.85, Dangling::Spread, 3);
    for (page_bytes, threads) in [(64 << 10, 2), (8 << 20, 3)] {
        let layout = Layout { page_bytes, ..Layout::default() };
        let store = TestStore::new(&graph, &FormatOptions { layout, in_edges: true, ..FormatOptions::plain() });
        let options = engine_options(Some(10 * u64::from(page_bytes) / PAGE), threads, FETCHERS[0]);
        let engine = store.engine(options);
        for traffic in [Traffic::Push, Traffic::Pull] {
            let found = ranks(&engine, pagerank(3, Dangling::Spread, traffic)).unwrap().dense();
            let error = relative_error(&found, &expected);
            assert!(error <= 1e-6, "pages of {page_bytes} bytes, {traffic:?}: ranks are off by {error:e}");
            let again = ranks(&engine, pagerank(3, Dangling::Spread, traffic)).unwrap().dense();
            assert_eq!(bits(&found), bits(&again));
        }
        for (source, bottom_up) in [(0, true), (n - 1, false)] {
            let found = search(&engine, source.into(), false, bottom_up).unwrap();
            assert_eq!(found.levels.dense(), levels(&graph, source), "pages of {page_bytes} bytes");
        }
    }
}

/// Many iterations reach the solution of the linear system; a tolerance stops them near it.
#[test]
fn converged_ranks_solve_the_linear_system() {
    let mut edges = random_edges(0..900, 3000, 4);
    edges.extend((0..50).map(|vertex| (vertex, vertex)));
    let graph = EdgeList::new(1000, edges);
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let engine = store.engine(engine_options(None, 2, FETCHERS[0]));
    for dangling in [Dangling::Spread, Dangling::Lost] {
        let expected = rank_limit(&graph, 0.85, dangling);
        for traffic in [Traffic::Push, Traffic::Pull] {
            let exact = pagerank(120, dangling, traffic);
            let error = relative_error(&ranks(&engine, exact).unwrap().dense(), &expected);
            assert!(error <= 1e-6, "{dangling:?}, {traffic:?}: off by {error:e}");
            for l1 in [1e-3, 1e-5, 1e-7] {
                let near = PageRank { stop: Stop::Tolerance { l1, iterations_max: 200 }, ..exact };
                let found = ranks(&engine, near).unwrap();
                let off: f64 = found.dense().iter().zip(&expected).map(|(a, b)| (a - b).abs()).sum();
                let steps = found.report.steps.len();
                assert!(off <= 0.85 / 0.15 * l1 + 1e-6 && steps < 120, "{l1:e}: {off:e} after {steps} iterations");
            }
        }
    }
}

/// Single-precision sums are near the exact ones, and take half of their memory.
#[test]
fn single_sums_are_near() {
    let graph = EdgeList::new(1000, random_edges(0..900, 20_000, 5));
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let engine = store.engine(engine_options(None, 2, FETCHERS[0]));
    for traffic in [Traffic::Push, Traffic::Pull] {
        let exact = pagerank(10, Dangling::Spread, traffic);
        let single = PageRank { sums: Sums::Single, ..exact };
        let found = ranks(&engine, single).unwrap().dense();
        let expected = rank_iterations(&graph, 0.85, Dangling::Spread, 10);
        let error = relative_error(&found, &expected);
        assert!(error < 1e-5, "{traffic:?}: off by {error:e}");
        assert_ne!(found, ranks(&engine, exact).unwrap().dense(), "{traffic:?}");
    }
}

/// The two rules differ only if there is dangling mass; damping is a parameter.
#[test]
fn parameters_have_their_effect() {
    let graph = EdgeList::new(4, vec![(0, 1), (1, 2), (2, 0), (0, 3)]);
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let engine = store.engine(engine_options(None, 1, FETCHERS[0]));
    for damping in [0.0, 0.5, 0.99] {
        for dangling in [Dangling::Spread, Dangling::Lost] {
            for iterations in [0, 1, 2, 30] {
                let algorithm = PageRank { damping, ..pagerank(iterations, dangling, Traffic::Auto) };
                let found = ranks(&engine, algorithm).unwrap().dense();
                let expected = rank_iterations(&graph, damping, dangling, iterations as usize);
                assert!(relative_error(&found, &expected) < 1e-6, "damping {damping}, {dangling:?}, {iterations}");
            }
        }
    }
    let spread = rank_iterations(&graph, 0.85, Dangling::Spread, 30);
    assert!(relative_error(&spread, &rank_iterations(&graph, 0.85, Dangling::Lost, 30)) > 0.1);
}

#[test]
fn impossible_parameters_are_refused() {
    let graph = EdgeList::new(3, vec![(0, 1)]);
    let store = TestStore::new(&graph, &FormatOptions { in_edges: false, ..small_pages(Encoding::VertexId) });
    let engine = store.engine(engine_options(None, 1, FETCHERS[0]));
    let good = pagerank(3, Dangling::Spread, Traffic::Auto);
    let refused = |algorithm: PageRank, word: &str| {
        let message = ranks(&engine, algorithm).map(|_| ()).expect_err(word).to_string();
        assert!(message.contains(word), "{word:?} is not in: {message}");
    };
    refused(PageRank { damping: 1.0, ..good }, "damping 1");
    refused(PageRank { damping: f64::NAN, ..good }, "damping NaN");
    refused(PageRank { traffic: Traffic::Pull, ..good }, "--in-edges");
    refused(PageRank { stop: Stop::Tolerance { l1: 1e-9, iterations_max: 5 }, ..good }, "tolerance");
    let bfs = topostream::algorithms::Bfs::from(topostream::VertexId(3));
    let message = engine.run(bfs).map(|_| ()).unwrap_err().to_string();
    assert!(message.contains("vertex 3") && message.contains("3 vertices"), "{message}");
}

/// One page buffer for several algorithms: scans and traversals leave it in different states.
#[test]
fn runs_that_share_a_page_buffer() {
    let graph = generated(&mut Rmat::new(13, 16, 9).generate().unwrap());
    let expected = rank_iterations(&graph, 0.85, Dangling::Spread, ITERATIONS as usize);
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    for (buffer, fetcher) in [(4, 1), (7, 1), (16, 1), (30, 0), (500, 2)] {
        let engine = store.engine(engine_options(Some(buffer), 2, FETCHERS[fetcher]));
        for (number, traffic) in [Traffic::Push, Traffic::Pull, Traffic::Push].into_iter().enumerate() {
            let work = (traffic, Dangling::Spread);
            check_ranks(&engine, &graph, &expected, work, &format!("{buffer} pages, run {number}"));
            check_search(&engine, &graph, number, &format!("{buffer} pages, run {number}"));
        }
    }
}
