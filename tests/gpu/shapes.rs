//! Small graphs: with no and one vertex, and with numbers of vertices around the sizes of words, subgroups, workgroups
//! and chunks.

use crate::agreement::RANK_ERROR;
use crate::common::*;
use crate::gpu_test;
use crate::reference::*;
use crate::setting::*;
use topostream::Engine;
use topostream::algorithms::Traffic;
use topostream_formats::Encoding;

/// Checks ranks by push and pull, each with a rule for dangling mass, and both kinds of searches.
pub fn check_all(engine: &Engine, graph: &EdgeList, what: &str) {
    for (traffic, dangling) in [(Traffic::Push, Dangling::Lost), (Traffic::Pull, Dangling::Spread)] {
        let expected = rank_iterations(graph, 0.85, dangling, 5);
        let found = ranks(engine, pagerank(5, dangling, traffic)).unwrap_or_else(|error| panic!("{what}: {error}"));
        let error = relative_error(&found.dense(), &expected);
        assert!(error <= RANK_ERROR, "{what}, {traffic:?}: off by {error:e}");
    }
    for source in [0, graph.vertices.saturating_sub(1)].into_iter().filter(|&source| source < graph.vertices) {
        for bottom_up in [false, true] {
            check_search(engine, graph, source, bottom_up, what);
        }
    }
}

fn check_search(engine: &Engine, graph: &EdgeList, source: u32, bottom_up: bool, what: &str) {
    let what = format!("{what}, source {source}, bottom up {bottom_up}");
    let found = search(engine, source.into(), true, bottom_up).unwrap_or_else(|error| panic!("{what}: {error}"));
    let levels_found = found.levels.dense();
    assert_eq!(levels_found, levels(graph, source), "{what}");
    let tree = check_least_tree(graph, source, &levels_found, &found.parents.unwrap());
    tree.unwrap_or_else(|defect| panic!("{what}: {defect}"));
}

fn check_shape(name: &str, graph: &EdgeList, setting: &Setting) {
    let store = TestStore::new(graph, &setting.store_options());
    let what = format!("{name}, {} vertices, {setting:?}", graph.vertices);
    let options = setting.options();
    let graph = graph.clone();
    within(120, &what.clone(), move || check_all(&store.engine(options), &graph, &what));
}

gpu_test! {
    fn tiny_graphs() {
        for (number, encoding) in ENCODINGS.into_iter().enumerate() {
            let cache = [Cache::All, Cache::Off][number];
            let setting = Setting { encoding, cache, distribution: DISTRIBUTIONS[number], ..Setting::default() };
            check_shape("no vertex", &EdgeList::new(0, Vec::new()), &setting);
            check_shape("no edge", &EdgeList::new(1, Vec::new()), &setting);
            check_shape("a loop", &EdgeList::new(1, vec![(0, 0)]), &setting);
            check_shape("no edge", &EdgeList::new(300, Vec::new()), &setting);
            check_shape("an edge repeated", &EdgeList::new(2, vec![(0, 1); 5000]), &setting);
        }
    }
}

gpu_test! {
    fn vertex_counts_around_powers_of_two() {
        let sizes = [31, 32, 33, 63, 64, 65, 255, 256, 257, 8191, 8192, 8193];
        // By default, half of them, on both sides of each power.
        let few = [31, 33, 64, 256, 8192, 8193];
        for (number, n) in sizes.into_iter().enumerate().filter(|(_, n)| thorough() || few.contains(n)) {
            let mut edges = random_edges(0..n, 4 * n as usize, n.into());
            // The last vertex has a list and is in lists.
            edges.extend([(n - 1, 0), (n / 2, n - 1), (n - 1, n - 1)]);
            let encoding = ENCODINGS[number % ENCODINGS.len()];
            let distribution = DISTRIBUTIONS[number % DISTRIBUTIONS.len()];
            let fast_paths = fast_paths()[number % 7];
            let cache = [Cache::All, Cache::Off][number % 2];
            // Chunks of 8192 vertices for some.
            let binding_bytes_max = (number % 4 == 1).then_some(128 << 10);
            let setting =
                Setting { encoding, distribution, fast_paths, cache, binding_bytes_max, ..Setting::default() };
            check_shape("random", &EdgeList::new(n, edges), &setting);
        }
    }
}

gpu_test! {
    /// Many small supersteps.
    fn a_path() {
        let n = 200;
        let path = EdgeList::new(n, (0..n - 1).map(|vertex| (vertex, vertex + 1)).collect());
        let store = TestStore::new(&path, &small_pages(Encoding::VertexId));
        let engine = store.engine(Setting::default().options());
        for bottom_up in [false, true] {
            check_search(&engine, &path, 0, bottom_up, "path");
            assert_eq!(search(&engine, 0, false, bottom_up).unwrap().levels.report.steps.len(), n as usize);
        }
    }
}

gpu_test! {
    /// 300,000 in-edges with shares of different sizes: sums in single precision would lose most of them.
    fn a_hub_with_many_in_edges() {
        let n = 300_001u32;
        let mut edges: Vec<(u32, u32)> = (1..n).map(|vertex| (vertex, 0)).collect();
        edges.extend((2..n).map(|vertex| (vertex, vertex / 2)));
        edges.extend((1..1000).map(|vertex| (0, vertex * 17)));
        let graph = EdgeList::new(n, edges);
        let expected = rank_iterations(&graph, 0.85, Dangling::Spread, 3);
        let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
        for fast_paths in [fast_paths()[0], SLOW] {
            let engine = store.engine(Setting { fast_paths, ..Setting::default() }.options());
            for traffic in [Traffic::Push, Traffic::Pull] {
                let found = ranks(&engine, pagerank(3, Dangling::Spread, traffic)).unwrap().dense();
                let error = relative_error(&found, &expected);
                assert!(error <= RANK_ERROR, "{traffic:?}, {fast_paths:?}: off by {error:e}");
            }
        }
    }
}
