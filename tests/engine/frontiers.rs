//! Shortest paths and components against the reference: shapes of graphs × types of weights × directed and not ×
//! encodings × fetchers × page buffers × threads. Each store is run under many settings, so that every pair of settings
//! occurs somewhere.

use crate::common::*;
use crate::reference::*;
use proptest::prelude::*;
use std::collections::HashMap;
use topostream::algorithms::{Components, Precision, Sssp};
use topostream::pages::memory::FRAMES_MIN;
use topostream::{Engine, Error, VertexId};
use topostream_formats::edge::WeightType;
use topostream_formats::{Encoding, VertexOrder};
use topostream_tools::format::FormatOptions;

const THREADS: [usize; 3] = [1, 2, 5];
const BUFFERS: [Option<u64>; 4] = [Some(FRAMES_MIN as u64), Some(5), Some(13), None];

/// A graph with both types of weights, directed and not, under the encodings in turn; settings rotate.
fn check_graph(name: &str, graph: &EdgeList) {
    for (number, encoding) in ENCODINGS.into_iter().enumerate() {
        for directed in [false, true] {
            let weighted = Weighted::by_chance(graph.clone(), (number % 2 == 0) == directed, number as u64);
            let options = FormatOptions { in_edges: number % 3 == 0, ..small_pages(encoding) };
            let store = TestStore::weighted(&weighted, directed, &options);
            let weighted = if directed { weighted } else { weighted.mirrored() };
            for (at, &threads) in THREADS.iter().enumerate() {
                let (fetcher, buffer) = (FETCHERS[(number + at) % 3], BUFFERS[(number / 3 + at) % 4]);
                let what =
                    format!("{name}, {encoding}, directed {directed}, {threads} threads, {fetcher:?}, {buffer:?}");
                let engine = store.engine(frames(buffer, threads, fetcher));
                check_components(&engine, &weighted.graph, &what);
                check_distances(&engine, &weighted, (number + at) as u32, &what);
            }
        }
    }
}

/// The usual options, with frames that have room for weights.
fn frames(
    buffer: Option<u64>,
    threads: usize,
    fetcher: topostream::pages::fetch::FetcherKind,
) -> topostream::EngineOptions {
    engine_options(buffer.map(|pages| 3 * pages), threads, fetcher)
}

fn check_components(engine: &Engine, graph: &EdgeList, what: &str) {
    let found = component_ids(engine).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(found.dense(), components(graph), "{what}");
    let active = found.report.steps.first().and_then(|step| step.active);
    assert_eq!(active, (!graph.edges.is_empty()).then_some(graph.vertices.into()), "{what}");
}

/// Distances must equal those with the engine's rounding bit for bit, and in single precision be close to those in
/// double precision.
fn check_distances(engine: &Engine, weighted: &Weighted, draw: u32, what: &str) {
    let vertices = weighted.graph.vertices;
    if vertices == 0 {
        return;
    }
    let source = draw.wrapping_mul(7919) % vertices;
    let run = distances(engine, source.into()).unwrap_or_else(|error| panic!("{what}: {error}"));
    let (found, exact) = (run.dense(), weighted.distances(source));
    let what = format!("{what}, float {}, source {source}", weighted.float);
    assert_eq!(found, exact, "{what}");
    if weighted.float {
        let run = distances_in(engine, source.into(), Precision::Single);
        let single = run.unwrap_or_else(|error| panic!("{what}, single: {error}")).dense();
        assert_eq!(single, weighted.single_distances(source), "{what}, single");
        for (vertex, (single, exact)) in single.iter().zip(&exact).enumerate() {
            let near = single == exact || (single - exact).abs() <= 1e-4 * exact;
            assert!(near, "{what}, single: vertex {vertex} is at {single}, not {exact}");
        }
    }
    let degrees = weighted.graph.out_degrees();
    let reached: usize = degrees.iter().zip(&exact).filter(|(_, at)| at.is_finite()).map(|(degree, _)| degree).sum();
    let halves = if engine.store().manifest().directed { 1 } else { 2 };
    assert_eq!(run.report.traversed_edges, Some(reached as u64 / halves), "{what}");
}

// ---- Shapes -------------------------------------------------------------------------------------------------------

#[test]
fn tiny_graphs() {
    check_graph("empty", &EdgeList::new(0, Vec::new()));
    check_graph("lone", &EdgeList::new(1, Vec::new()));
    check_graph("loop", &EdgeList::new(1, vec![(0, 0)]));
    check_graph("no edge", &EdgeList::new(20, Vec::new()));
    check_graph("backwards", &EdgeList::new(3, vec![(2, 1), (1, 0)]));
}

#[test]
fn loops_and_repeated_edges() {
    let mut edges = random_edges(0..40, 500, 1);
    edges.extend((0..40).map(|vertex| (vertex, vertex)));
    edges.extend(vec![(3, 9); 70]);
    check_graph("multigraph", &EdgeList::new(45, edges));
}

/// Lists of several large pages, and whole pages of vertices that no edge names.
#[test]
fn hubs_with_lists_of_several_pages() {
    let n = 30_001;
    let mut edges = random_edges(5000..9000, 6000, 2);
    edges.extend((0..n - 900).map(|vertex| (n / 2, vertex)));
    edges.extend((100..n - 900).map(|vertex| (vertex, 77)));
    check_graph("hubs", &EdgeList::new(n, edges));
}

#[test]
fn sparse_graphs_of_many_components() {
    check_graph("sparse", &EdgeList::new(30_000, random_edges(9_000..20_000, 9000, 3)));
}

/// Long paths, along the order of pages and against it.
#[test]
fn paths() {
    for backwards in [false, true] {
        let n = 3000;
        let edges = (0..n - 1).map(|v| if backwards { (v + 1, v) } else { (v, v + 1) }).collect();
        let weighted = Weighted::by_chance(EdgeList::new(n, edges), backwards, 5);
        for directed in [false, true] {
            let store = TestStore::weighted(&weighted, directed, &small_pages(Encoding::VertexId));
            let engine = store.engine(frames(Some(5), 2, FETCHERS[0]));
            let weighted = if directed { weighted.clone() } else { weighted.mirrored() };
            check_components(&engine, &weighted.graph, "path");
            for draw in 0..3 {
                check_distances(&engine, &weighted, draw, "path");
            }
        }
    }
}

// ---- Any graph ----------------------------------------------------------------------------------------------------

fn any_graph() -> impl Strategy<Value = EdgeList> {
    (1u32..150)
        .prop_flat_map(|n| prop::collection::vec((0..n, 0..n), 0..200).prop_map(move |edges| EdgeList::new(n, edges)))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    /// The order of vertices changes only the ids of components.
    #[test]
    fn any_small_graph(
        graph in any_graph(),
        encoding in prop::sample::select(ENCODINGS.to_vec()),
        order in prop::sample::select(vec![VertexOrder::Natural, VertexOrder::Degree, VertexOrder::DegreeGroups]),
        directed: bool,
        float: bool,
        number in 0usize..12,
    ) {
        let weighted = Weighted::by_chance(graph, float, number as u64);
        let store = TestStore::weighted(&weighted, directed, &FormatOptions { order, ..small_pages(encoding) });
        let weighted = if directed { weighted } else { weighted.mirrored() };
        let engine = store.engine(frames(BUFFERS[number % 4], 1 + number % 3, FETCHERS[number % 3]));
        check_distances(&engine, &weighted, number as u32, "any");
        let components = components(&weighted.graph);
        let found = component_ids(&engine).unwrap().dense();
        let mut names = HashMap::new();
        for (found, expected) in found.iter().zip(&components) {
            prop_assert_eq!(names.entry(expected).or_insert(found), &found, "one id for each component");
            prop_assert_eq!(expected, &components[*found as usize], "the id is one of its vertices");
        }
        if order == VertexOrder::Natural {
            prop_assert_eq!(found, components);
        }
    }
}

// ---- Weights that are hard to add -----------------------------------------------------------------------------------

/// Distances from vertex 0.
fn from_first(edges: &[(u32, u32, u32)], float: bool) -> Result<Vec<f64>, Error> {
    from_first_in(edges, float, Precision::Double)
}

fn from_first_in(edges: &[(u32, u32, u32)], float: bool, precision: Precision) -> Result<Vec<f64>, Error> {
    let vertices = edges.iter().map(|&(source, dest, _)| source.max(dest)).max().unwrap() + 1;
    let graph = EdgeList::new(vertices, edges.iter().map(|&(source, dest, _)| (source, dest)).collect());
    let weighted = Weighted { graph, weights: edges.iter().map(|&(_, _, weight)| weight).collect(), float };
    let store = TestStore::weighted(&weighted, true, &small_pages(Encoding::VertexId));
    Ok(distances_in(&store.engine(frames(None, 2, FETCHERS[0])), 0, precision)?.dense())
}

#[track_caller]
fn refused(edges: &[(u32, u32, u32)], float: bool, words: &[&str]) {
    let error = from_first(edges, float).expect_err("no answer");
    let message = error.to_string();
    assert!(matches!(error, Error::Parameter(_)), "{error:?}");
    words.iter().for_each(|word| assert!(message.contains(word), "{word:?} is not in: {message}"));
}

/// Distances up to the maximum; larger ones are an error, unless there is a shorter path.
#[test]
fn integer_distances_near_the_maximum() {
    const HALF: u32 = 1 << 31;
    let most = u64::from(u32::MAX) - 2;
    let found = from_first(&[(0, 1, HALF), (1, 2, HALF - 3), (3, 0, 1)], false).unwrap();
    assert_eq!(found, [0.0, HALF.into(), most as f64, f64::INFINITY]);
    for over in [HALF - 2, HALF - 1, HALF, u32::MAX] {
        let words = ["sssp", "vertex 2", "4294967293", "u64"];
        refused(&[(0, 1, HALF), (1, 2, over)], false, &words);
        refused(&[(0, 1, HALF), (1, 2, over), (2, 3, 0), (3, 4, over)], false, &words);
        let around = from_first(&[(0, 1, HALF), (1, 2, over), (0, 3, 1), (3, 2, 7)], false).unwrap();
        assert_eq!(around, [0.0, HALF.into(), 8.0, 1.0]);
    }
}

/// Weights without a valid length never contribute to an answer, neither as smaller values nor as NaN.
#[test]
fn negative_weights_are_refused() {
    let bits = f32::to_bits;
    for bad in [-1.0, -1e-40, f32::NEG_INFINITY, f32::NAN, -f32::NAN] {
        let words = |vertex| ["sssp", vertex, "negative"];
        refused(&[(0, 1, bits(1.0)), (1, 2, bits(bad)), (0, 2, bits(5.0))], true, &words("vertex 2"));
        refused(&[(0, 1, bits(1.0)), (1, 0, bits(bad)), (0, 2, bits(5.0))], true, &words("vertex 0"));
        // It does not matter if it is unreachable from the source.
        let found = from_first(&[(0, 1, bits(1.5)), (2, 1, bits(bad)), (2, 0, bits(bad))], true).unwrap();
        assert_eq!(found, [0.0, 1.5, f64::INFINITY]);
    }
}

#[test]
fn weights_at_the_ends_of_what_floats_are() {
    let bits = f32::to_bits;
    let edges = [
        (0, 1, bits(-0.0)),
        (1, 2, bits(1e-40)),
        (2, 3, bits(f32::MIN_POSITIVE)),
        (0, 4, bits(f32::INFINITY)),
        (0, 5, bits(f32::MAX)),
        (5, 6, bits(f32::MAX)),
        (6, 7, bits(1.0)),
        (1, 8, bits(f32::INFINITY)),
        (1, 8, bits(0.1)),
    ];
    let (least, tiny, most) = (f64::from(f32::MIN_POSITIVE), f64::from(1e-40f32), f64::from(f32::MAX));
    let none = f64::INFINITY;
    let expected = [0.0, 0.0, tiny, tiny + least, none, most, 2.0 * most, 2.0 * most, 0.1f32.into()];
    assert_eq!(from_first(&edges, true).unwrap(), expected);
    let expected = [0.0, 0.0, 0.0, least, none, most, none, none, 0.1f32.into()];
    assert_eq!(from_first_in(&edges, true, Precision::Single).unwrap(), expected);
}

/// A path of 10^5 edges of 0.1 (thorough: 10^6): in single precision the sum at its end is off by 1.4 (958).
#[test]
fn long_paths_are_summed_in_double_precision() {
    let (hops, error) = if thorough() { (1_000_000, 958.0) } else { (100_000, -1.44) };
    let edges: Vec<_> = (0..hops).map(|vertex| (vertex, vertex + 1, 0.1f32.to_bits())).collect();
    let found = from_first(&edges, true).unwrap();
    let sum = (0..hops).fold(0.0, |sum, _| sum + f64::from(0.1f32));
    assert_eq!(found.last(), Some(&sum));
    let right = 0.1 * f64::from(hops);
    assert!((sum / right - 1.0).abs() < 2e-8, "{sum}");
    let single = from_first_in(&edges, true, Precision::Single).unwrap();
    assert!((single.last().unwrap() - right - error).abs() < 1.0, "{:?}", single.last());
}

/// Distances past the largest `f32` are numbers; in single precision they count as unreachable.
#[test]
fn double_precision_reaches_farther() {
    let far = f32::to_bits(3e38);
    let edges = [(0, 1, far), (1, 2, far), (3, 0, far)];
    let expected = [0.0, 3e38f32.into(), 2.0 * f64::from(3e38f32), f64::INFINITY];
    assert_eq!(from_first(&edges, true).unwrap(), expected);
    assert_eq!(from_first_in(&edges, true, Precision::Single).unwrap()[2..], [f64::INFINITY; 2]);
}

// ---- Parameters -----------------------------------------------------------------------------------------------------

/// The error names the vertex by its original id.
#[test]
fn refusals_name_original_ids() {
    let graph = EdgeList::new(9, vec![(8, 7), (7, 6), (7, 5), (7, 4)]);
    let weighted = Weighted { graph, weights: [1.0f32, -1.0, 2.0, 3.0].map(f32::to_bits).to_vec(), float: true };
    let options = FormatOptions { order: VertexOrder::Degree, ..small_pages(Encoding::VertexId) };
    let store = TestStore::weighted(&weighted, true, &options);
    let engine = store.engine(frames(None, 1, FETCHERS[0]));
    let message = distances(&engine, 8).expect_err("a negative weight").to_string();
    assert!(message.contains("vertex 6"), "{message}");
    assert!(distances(&engine, 4).is_ok(), "the engine goes on");
}

#[test]
fn impossible_parameters_are_refused() {
    let weighted = Weighted { graph: EdgeList::new(3, vec![(0, 1)]), weights: vec![5], float: false };
    let with = TestStore::weighted(&weighted, true, &small_pages(Encoding::VertexId));
    let without = TestStore::new(&weighted.graph, &small_pages(Encoding::VertexId));
    let whole = Sssp::new(VertexId(0), WeightType::U32);
    let message = |store: &TestStore, sssp: Sssp| {
        let result = store.engine(frames(None, 1, FETCHERS[0])).run(sssp);
        result.map(|_| ()).expect_err("impossible").to_string()
    };
    let found = message(&with, Sssp { source: VertexId(3), ..whole });
    assert!(found.contains("vertex 3") && found.contains("3 vertices"), "{found}");
    let found = message(&with, Sssp { weights: WeightType::F32, ..whole });
    assert!(found.contains("F32") && found.contains("U32"), "{found}");
    let found = message(&without, whole);
    assert!(found.contains("sssp needs weights"), "{found}");
    let engine = with.engine(frames(None, 1, FETCHERS[0]));
    let found = engine.run(Components { directed: false }).map(|_| ()).expect_err("directed").to_string();
    assert!(found.contains("undirected") && found.contains("directed"), "{found}");
}
