//! Personalized PageRank.

use crate::common::{FETCHERS, TestStore, engine_options, pagerank, small_pages};
use crate::everywhere::{Found, everywhere, run};
use crate::reference::personalized::personalized;
use crate::reference::{Dangling, EdgeList, random_edges};
use topostream::algorithms::{PageRank, PersonalizedPageRank, Stop, Sums, Traffic};
use topostream::{Engine, VertexId};
use topostream_formats::Encoding;

const ITERATIONS: u32 = 15;

/// Asserts that every value is within 1e-4 of the expected one, and exactly 0 if that is 0.
fn assert_near(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (vertex, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= 1e-4 * expected, "{what}: {found} at {vertex} should be {expected}");
    }
}

fn vertices(engine: &Engine, seeds: &[u32]) -> Vec<VertexId> {
    let ids = engine.store().ids().unwrap();
    seeds.iter().map(|&seed| ids.vertex(seed.into()).expect("the seed exists")).collect()
}

#[test]
fn ranks_match_matrix_powers_everywhere() {
    // A component that no seed reaches, and vertices without out-edges.
    let mut edges = random_edges(0..1500, 50_000, 21);
    edges.retain(|(source, dest)| source % 7 != 3 && (*source < 300) <= (*dest < 300 || dest % 7 == 3));
    edges.extend(random_edges(0..300, 3_000, 22));
    let graph = EdgeList::new(1500, edges);
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let cases = [
        (vec![1, 299, 40, 8], Dangling::Spread, Traffic::Pull, Sums::Exact),
        (vec![0, 1499], Dangling::Lost, Traffic::Push, Sums::Single),
    ];
    for (seeds, dangling, traffic, sums) in cases {
        let expected = personalized(&graph, &seeds, 0.85, dangling, ITERATIONS as usize);
        let ranks = PageRank { sums, ..pagerank(ITERATIONS, dangling, traffic) };
        let make = |engine: &Engine| PersonalizedPageRank { seeds: vertices(engine, &seeds), ranks };
        everywhere(&store, make, |found, way| {
            assert_near(found.column("rank"), &expected, &format!("{seeds:?}, {way}"))
        });
    }
}

#[test]
fn vertices_that_no_seed_reaches_have_rank_zero() {
    // 0 → 1 → 2 (a dead end), 3 → 0, and 4 ⇄ 5.
    let graph = EdgeList::new(6, vec![(0, 1), (1, 2), (3, 0), (4, 5), (5, 4)]);
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let engine = store.engine(engine_options(None, 1, FETCHERS[0]));
    let ranks = |iterations, dangling| {
        let ranks = pagerank(iterations, dangling, Traffic::Push);
        run(&engine, PersonalizedPageRank { seeds: vertices(&engine, &[0]), ranks }).unwrap().column("rank").to_vec()
    };
    assert_eq!(ranks(0, Dangling::Spread), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let d = 0.85;
    assert_near(&ranks(1, Dangling::Spread), &[1.0 - d, d, 0.0, 0.0, 0.0, 0.0], "a step");
    assert_near(&ranks(3, Dangling::Lost), &[1.0 - d, (1.0 - d) * d, (1.0 - d) * d * d, 0.0, 0.0, 0.0], "lost");
    // The limit is geometric: 1, d, d² over their sum.
    let sum = 1.0 + d + d * d;
    assert_near(
        &ranks(300, Dangling::Spread),
        &[1.0 / sum, d / sum, d * d / sum, 0.0, 0.0, 0.0],
        "a cycle by restarts",
    );
}

#[test]
fn with_all_vertices_as_seeds_it_is_pagerank() {
    let graph = EdgeList::new(700, random_edges(0..700, 4_000, 8));
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let engine = store.engine(engine_options(None, 2, FETCHERS[0]));
    let stop = Stop::Tolerance { l1: 1e-6, iterations_max: 100 };
    let ranks = PageRank { stop, ..PageRank::default() };
    let column = |found: Found| found.column("rank").to_vec();
    let plain = column(run(&engine, ranks).unwrap());
    let seeds = (0..700).map(VertexId).collect();
    assert_near(&column(run(&engine, PersonalizedPageRank { seeds, ranks }).unwrap()), &plain, "all");
}

#[test]
fn bad_parameters_are_refused() {
    let store = TestStore::new(&EdgeList::new(3, vec![(0, 1)]), &small_pages(Encoding::VertexId));
    let engine = store.engine(engine_options(None, 1, FETCHERS[0]));
    let refused = |seeds: &[u32], ranks| {
        let seeds = seeds.iter().map(|&seed| VertexId(seed)).collect();
        run(&engine, PersonalizedPageRank { seeds, ranks }).map(drop).unwrap_err().to_string()
    };
    let good = PageRank::default();
    for (seeds, ranks, word) in [
        (&[][..], good, "needs a seed"),
        (&[0, 3], good, "seed vertex 3 does not exist"),
        (&[1, 0, 1], good, "duplicate seed vertex 1"),
        (&[1], PageRank { damping: 1.5, ..good }, "damping 1.5"),
    ] {
        let error = refused(seeds, ranks);
        assert!(error.contains(word), "{error}");
    }
}
