//! Widest paths.

use crate::common::{PAGE, TestStore, engine_options, small_pages};
use crate::everywhere::{everywhere, run};
use crate::reference::widest::widths;
use crate::reference::{EdgeList, Weighted, random_edges};
use topostream::algorithms::Widest;
use topostream::pages::fetch::FetcherKind;
use topostream::{Engine, VertexId};
use topostream_formats::Encoding;
use topostream_formats::edge::WeightType;
use topostream_tools::format::FormatOptions;

fn widest(engine: &Engine, source: u64) -> Widest {
    let weights = engine.store().manifest().weights.expect("the store has weights");
    Widest { source: engine.store().ids().unwrap().vertex(source).expect("the source exists"), weights }
}

/// Widths of a weighted graph from an original id, on the CPU.
fn found(weighted: &Weighted, source: u64) -> Vec<f64> {
    let store = TestStore::weighted(weighted, true, &small_pages(Encoding::VertexId));
    let engine = store.engine(engine_options(None, 2, FetcherKind::Auto));
    run(&engine, widest(&engine, source)).unwrap().column("width").to_vec()
}

#[test]
fn widths_are_the_same_everywhere() {
    for (float, directed) in [(false, true), (true, false)] {
        let graph = EdgeList::new(12_000, random_edges(0..12_000, 40_000, 17));
        let weighted = Weighted::by_chance(graph, float, 5);
        let options = FormatOptions { shards: if float { 2 } else { 1 }, ..small_pages(Encoding::VertexId) };
        let store = TestStore::weighted(&weighted, directed, &options);
        let mut expected = widths(&if directed { weighted } else { weighted.mirrored() }, 7);
        if !float {
            expected[7] = f64::from(u32::MAX);
        }
        let reached = expected.iter().filter(|&&width| width > 0.0).count();
        assert!(reached > 6_000 && reached < 12_000, "{reached}");
        everywhere(
            &store,
            |engine| widest(engine, 7),
            |found, way| assert_eq!(found.column("width"), expected, "{way}"),
        );
    }
}

/// Pages in the buffer are processed again before others are read: widths only grow, with the same result.
#[test]
fn widths_are_the_same_asynchronously() {
    let graph = EdgeList::new(12_000, random_edges(0..12_000, 40_000, 18));
    let weighted = Weighted::by_chance(graph, true, 6);
    let store = TestStore::weighted(&weighted, true, &small_pages(Encoding::VertexId));
    let expected = widths(&weighted, 7);
    for (way, options) in crate::everywhere::ways().into_iter().filter(|(way, _)| way.starts_with("1 ")) {
        let engine = store.engine(options.with_asynchronous(true).with_buffer_bytes(Some(4 * PAGE * 2)));
        assert_eq!(run(&engine, widest(&engine, 7)).unwrap().column("width"), expected, "{way}");
    }
}

#[test]
fn the_widest_of_several_paths_and_edges_is_found() {
    // Two paths to 3, one longer and wider; two edges to 4; a loop; 5 after an edge of weight 0; 6 unreachable.
    let edges = vec![(0, 1), (1, 3), (0, 2), (2, 1), (3, 4), (3, 4), (3, 3), (4, 5), (6, 0)];
    let weights = vec![3, 9, 8, 7, 2, 5, 100, 0, 50];
    let weighted = Weighted { graph: EdgeList::new(7, edges), weights, float: false };
    assert_eq!(found(&weighted, 0), [f64::from(u32::MAX), 7.0, 8.0, 7.0, 5.0, 0.0, 0.0]);
    let (graph, weights) = (weighted.graph, weighted.weights);
    let weighted =
        Weighted { graph, weights: weights.iter().map(|&one| (one as f32 / 4.0).to_bits()).collect(), float: true };
    assert_eq!(found(&weighted, 0), [f64::INFINITY, 1.75, 2.0, 1.75, 1.25, 0.0, 0.0]);
}

#[test]
fn weights_may_have_any_magnitude() {
    let graph = EdgeList::new(4, vec![(0, 1), (1, 2), (2, 3)]);
    let weighted = Weighted { graph, weights: vec![u32::MAX, u32::MAX - 1, u32::MAX], float: false };
    let widest = f64::from(u32::MAX);
    assert_eq!(found(&weighted, 0), [widest, widest, widest - 1.0, widest - 1.0]);
    let floats = [f32::INFINITY, f32::MAX, f32::from_bits(1)];
    let weighted = Weighted { weights: floats.map(f32::to_bits).to_vec(), float: true, ..weighted };
    assert_eq!(found(&weighted, 0), [f64::INFINITY, f64::INFINITY, f32::MAX.into(), f32::from_bits(1).into()]);
}

#[test]
fn weights_that_are_not_widths_are_refused_if_visited() {
    for weight in [-1.0, f32::NAN, f32::NEG_INFINITY] {
        // A search from 0 visits the bad edge to 3, one from 3 does not.
        let graph = EdgeList::new(5, vec![(0, 1), (1, 2), (2, 3), (3, 4)]);
        let weights = [1.0, 2.0, weight, 4.0].map(f32::to_bits).to_vec();
        let weighted = Weighted { graph, weights, float: true };
        let store = TestStore::weighted(&weighted, true, &small_pages(Encoding::VertexId));
        // The first case on all teams, the others on one CPU and one GPU.
        let ways = crate::everywhere::ways().into_iter();
        for (way, options) in ways.filter(|(way, _)| weight == -1.0 || way.starts_with("1 ")) {
            let engine = store.engine(options);
            let error = run(&engine, widest(&engine, 0)).map(drop).unwrap_err().to_string();
            assert!(error.contains("vertex 3: ") && error.contains("negative or NaN"), "{way}: {error}");
            let elsewhere = run(&engine, widest(&engine, 3)).unwrap();
            assert_eq!(elsewhere.column("width"), [0.0, 0.0, 0.0, f64::INFINITY, 4.0], "{way}");
        }
    }
}

#[test]
fn bad_parameters_are_refused() {
    let weighted = Weighted { graph: EdgeList::new(2, vec![(0, 1)]), weights: vec![1], float: false };
    let store = TestStore::weighted(&weighted, true, &small_pages(Encoding::VertexId));
    let engine = store.engine(engine_options(None, 1, FetcherKind::Auto));
    let refused = |algorithm: Widest| run(&engine, algorithm).map(drop).unwrap_err().to_string();
    let error = refused(Widest { source: VertexId(2), weights: WeightType::U32 });
    assert!(error.contains("source vertex 2 does not exist"), "{error}");
    let error = refused(Widest { source: VertexId(0), weights: WeightType::F32 });
    assert!(error.contains("widest: expected F32 weights"), "{error}");
}
