//! Radius and effective diameter.

use crate::common::{TestStore, engine_options, small_pages};
use crate::everywhere::{everywhere, run};
use crate::reference::radius::{Sketched, sketched, spheres};
use crate::reference::{EdgeList, random_edges};
use proptest::prelude::*;
use topostream::algorithms::Radius;
use topostream::pages::fetch::FetcherKind;
use topostream_formats::Encoding;
use topostream_tools::format::FormatOptions;

fn undirected(options: FormatOptions) -> FormatOptions {
    FormatOptions { symmetrize: true, in_edges: false, ..options }
}

fn assert_sketched(found: &crate::everywhere::Found, expected: &[Sketched], what: &str) {
    let (eccentricity, radius) = (found.column("eccentricity"), found.column("radius"));
    for (vertex, (&found, expected)) in found.column("neighbours").iter().zip(expected).enumerate() {
        let what = format!("{what}: vertex {vertex}, expected {expected:?}");
        assert_eq!(eccentricity[vertex], expected.eccentricity, "{what}");
        assert!((radius[vertex] - expected.radius).abs() < 1e-9, "{what}, radius {}", radius[vertex]);
        assert!((found / expected.neighbours - 1.0).abs() < 0.004, "{what}, {found} neighbours");
    }
    assert_eq!(radius.len(), expected.len());
}

/// Loops, repeated edges, a list of several pages, a path, vertices without edges.
fn motley() -> EdgeList {
    let mut edges = random_edges(0..1_000, 1_800, 31);
    edges.extend((0..50).map(|vertex| (vertex, vertex)));
    edges.extend((0..20_000).map(|number| (7, number % 40)));
    edges.extend((1_000..1_012).map(|vertex| (vertex, vertex + 1)));
    EdgeList::new(1_100, edges)
}

/// On every device, sketches have the same bits after each hop.
#[test]
fn sketches_grow_by_hops() {
    let graph = motley();
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let expected = sketched(&graph, 8, 2, 70_000);
    everywhere(&store, |_| Radius::new(2, 70_000), |found, way| assert_sketched(found, &expected, way));
    let options = FormatOptions { shards: 3, ..undirected(small_pages(Encoding::VertexId)) };
    let store = TestStore::new(&graph, &options);
    let expected = sketched(&graph.symmetrized(), 2, 3, 3);
    everywhere(&store, |_| Radius::narrow(3, 3), |found, way| assert_sketched(found, &expected, way));
}

/// The mean of estimates over many components of one size is that size.
#[test]
fn estimates_are_right_on_average() {
    for size in [1u32, 2, 5, 20, 80] {
        let count = 8_000 / size;
        // Cycles.
        let next = |vertex: u32| vertex / size * size + (vertex % size + 1) % size;
        let graph = EdgeList::new(count * size, (0..count * size).map(|vertex| (vertex, next(vertex))).collect());
        let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
        let engine = store.engine(engine_options(None, 2, FetcherKind::Auto));
        let found = run(&engine, Radius::new(4, 9)).unwrap();
        let mean = found.column("neighbours").iter().sum::<f64>() / f64::from(count * size);
        // Three standard errors of 12 % each, plus the resolution of few bits.
        let bound = 3.0 * 0.123 / f64::from(count).sqrt() + 0.02;
        assert!((mean / f64::from(size) - 1.0).abs() < bound, "parts of {size}: {mean}");
        assert!(found.column("eccentricity").iter().all(|&hops| hops < f64::from(size)));
    }
}

#[test]
fn the_effective_diameter_is_near_the_true_one() {
    let graph = EdgeList::new(1_500, random_edges(0..1_500, 4_000, 33));
    let mirrored = graph.symmetrized();
    let lists = mirrored.lists(true);
    let mut at = vec![0.0; 40];
    (0..lists.len()).for_each(|vertex| {
        spheres(&lists, vertex).iter().zip(&mut at).for_each(|(sphere, sum)| *sum += sphere.len() as f64);
    });
    let pairs: Vec<f64> = at
        .iter()
        .scan(0.0, |sum, at| {
            *sum += at;
            Some(*sum)
        })
        .collect();
    let enough = 0.9 * pairs.last().unwrap();
    let hop = pairs.iter().position(|&pairs| pairs >= enough).unwrap();
    let expected = hop as f64 - (pairs[hop] - enough) / (pairs[hop] - pairs[hop - 1]);
    let store = TestStore::new(&graph, &undirected(small_pages(Encoding::VertexId)));
    let engine = store.engine(engine_options(None, 2, FetcherKind::Auto));
    let run = engine.run(Radius::new(8, 1)).unwrap();
    let found = run.algorithm().effective_diameter(1_500);
    assert!((found - expected).abs() < 0.3, "{found} instead of {expected}");
    let estimates = run.algorithm().pairs(1_500);
    assert_eq!(estimates[0], 1_500.0);
    let error = estimates.last().unwrap() / pairs.last().unwrap() - 1.0;
    assert!(error.abs() < 0.26, "pairs are off by {error}");
    let remark = run.remark().unwrap();
    assert!(remark.contains(&format!("effective diameter {found:.2}")), "{remark}");
}

#[test]
fn bad_numbers_of_passes_are_refused() {
    let store = TestStore::new(&EdgeList::new(2, vec![(0, 1)]), &small_pages(Encoding::VertexId));
    let engine = store.engine(engine_options(None, 1, FetcherKind::Auto));
    for passes in [0, 257] {
        let error = run(&engine, Radius::new(passes, 1)).map(drop).unwrap_err().to_string();
        assert!(error.contains("1 to 256"), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn small_graphs(
        vertices in 1u32..60,
        edges in prop::collection::vec((any::<u32>(), any::<u32>()), 0..90),
        seed: u32,
        narrow: bool,
    ) {
        let edges = edges.into_iter().map(|(a, b)| (a % vertices, b % vertices)).collect();
        let graph = EdgeList::new(vertices, edges);
        let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
        let engine = store.engine(engine_options(None, 1, FetcherKind::Threads));
        let radius = if narrow { Radius::narrow(3, seed) } else { Radius::new(3, seed) };
        let found = run(&engine, radius).unwrap();
        assert_sketched(&found, &sketched(&graph, if narrow { 2 } else { 8 }, 3, seed), "one thread");
    }
}
