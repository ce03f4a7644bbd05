//! Trees of shortest paths, and searches up to a distance.

use crate::common::{TestStore, engine_options, small_pages, thorough};
use crate::everywhere::{everywhere, everywhere_by, needs_wide_atomics, run, ways};
use crate::reference::sssp::parents;
use crate::reference::{EdgeList, Graph, Weighted, draw, random_edges};
use topostream::algorithms::{DeltaStepping, ShortestPathTree, ShortestPaths, Sssp};
use topostream::pages::fetch::FetcherKind;
use topostream::{Engine, Error, VertexId};
use topostream_formats::Encoding;
use topostream_formats::edge::WeightType;
use topostream_tools::format::FormatOptions;

const SOURCE: u32 = 5;

fn paths(float: bool) -> Sssp {
    Sssp::new(VertexId(SOURCE), if float { WeightType::F32 } else { WeightType::U32 })
}

/// Weights most of which add nothing: zeros, and floats that are lost beside others.
fn mostly_nothing(graph: EdgeList, float: bool) -> Weighted {
    let mut state = 77 | 1 << 40;
    let mut weight = || match (draw(&mut state) >> 20) % 8 {
        0 if float => 1.5f32.to_bits(),
        0 => 3,
        1 if float => 1e-30f32.to_bits(),
        2 if float => f32::from_bits(1).to_bits(),
        3 if float => (-0.0f32).to_bits(),
        _ => 0,
    };
    let weights = graph.edges.iter().map(|_| weight()).collect();
    Weighted { graph, weights, float }
}

/// What the oracle says: -1 for no parent.
fn expected(graph: &Graph, weighted: &Weighted, single: bool) -> (Vec<f64>, Vec<f64>) {
    let distances = if single { weighted.single_distances(SOURCE) } else { weighted.distances(SOURCE) };
    let parents = parents(graph, SOURCE, single, &distances);
    let parents = parents.into_iter().map(|parent| parent.map_or(-1.0, f64::from)).collect();
    (distances, parents)
}

/// Follows parents; every vertex that is reached comes to the source.
fn assert_leads_to_source(parents: &[f64], way: &str) {
    for start in (0..parents.len()).filter(|&vertex| parents[vertex] >= 0.0) {
        let (mut vertex, mut hops) = (start, 0);
        while vertex != SOURCE as usize {
            vertex = parents[vertex] as usize;
            hops += 1;
            assert!(hops <= parents.len(), "{way}: from {start} in a circle");
        }
    }
}

fn assert_parents<A: ShortestPaths>(
    store: &TestStore,
    make: impl Fn() -> A,
    (distances, parents): &(Vec<f64>, Vec<f64>),
) {
    let run = |engine: &Engine| ShortestPathTree::run(engine, make(), &mut |_| {});
    everywhere_by(store, run, |found, way| {
        let none = |distance: &f64| if *distance == -1.0 { f64::INFINITY } else { *distance };
        assert!(found.column("distance").iter().map(none).eq(distances.iter().copied()), "{way}");
        assert_leads_to_source(found.column("parent"), way);
        for (vertex, (found, expected)) in found.column("parent").iter().zip(parents).enumerate() {
            assert_eq!(found, expected, "{way}: the parent of {vertex} at {}", distances[vertex]);
        }
    });
}

/// Circles of edges that add nothing, on every kind of device and team, by frontiers and by buckets.
#[test]
fn parents_are_the_smallest_and_form_a_tree_whatever_edges_add() {
    let graph = EdgeList::new(3_000, random_edges(0..2_700, 6_000, 51));
    for (float, shards) in [(false, 1), (true, 2)] {
        let weighted = mostly_nothing(graph.clone(), float);
        let options = FormatOptions { shards, ..small_pages(Encoding::VertexId) };
        let store = TestStore::weighted(&weighted, true, &options);
        let of_double = expected(&weighted.graph(true), &weighted, false);
        let equals = (0..3_000).filter(|&vertex| {
            let parent = of_double.1[vertex];
            parent >= 0.0 && vertex != SOURCE as usize && of_double.0[parent as usize] == of_double.0[vertex]
        });
        assert!(equals.count() > 1_000, "most edges of the tree add nothing");
        assert_parents(&store, || paths(float), &of_double);
        assert_parents(&store, || DeltaStepping { paths: paths(float), delta: 2.0 }, &of_double);
        if float {
            let of_single = expected(&weighted.graph(true), &weighted, true);
            assert_parents(&store, || paths(true).in_single(), &of_single);
        }
    }
}

/// Undirected graphs have every edge both ways; a chain without lengths takes a pass for each of its edges.
#[test]
fn parents_along_a_chain_without_lengths() {
    let edges = (5..40).map(|vertex| (vertex, vertex + 1)).chain([(20, 5), (39, 60)]).collect();
    let graph = EdgeList::new(70, edges);
    let weights = graph.edges.iter().map(|&(_, dest)| u32::from(dest == 60)).collect();
    let weighted = Weighted { graph, weights, float: false };
    let store = TestStore::weighted(&weighted, false, &small_pages(Encoding::VertexId));
    let mirrored = weighted.mirrored();
    let expected = expected(&mirrored.graph(false), &mirrored, false);
    assert_parents(&store, || paths(false), &expected);
    let engine = store.engine(engine_options(None, 2, FetcherKind::Auto));
    let tree = ShortestPathTree::run(&engine, paths(false), &mut |_| {}).unwrap();
    let (pages, passes) = tree.read();
    assert!(passes > 10 && pages >= u64::from(passes), "{pages} pages in {passes} passes");
}

#[test]
fn parents_are_part_of_the_memory() {
    let graph = EdgeList::new(3_000_000, vec![(5, 6)]);
    let weighted = Weighted { weights: vec![1], graph, float: false };
    let store = TestStore::weighted(&weighted, true, &small_pages(Encoding::VertexId));
    let error = |options| {
        let engine = store.engine(options);
        ShortestPathTree::run(&engine, paths(false), &mut |_| {}).map(|_| ()).unwrap_err()
    };
    let small = engine_options(None, 1, FetcherKind::Auto).with_memory_bytes(48 << 20);
    let Error::Memory { needed_bytes, what, .. } = error(small.clone()) else { panic!("48 MiB are too little") };
    assert!(what.contains("--parents") && needed_bytes > 48 << 20, "{what}: {needed_bytes}");
    let engine = store.engine(small.with_memory_bytes(needed_bytes));
    ShortestPathTree::run(&engine, paths(false), &mut |_| {}).map(|_| ()).unwrap();
}

/// The distances of the oracle up to a limit. Values of the graph are limits too: they are within.
#[test]
fn what_is_beyond_the_cutoff_is_not_reached() {
    let graph = EdgeList::new(2_000, random_edges(0..1_850, 7_000, 43));
    for float in [false, true] {
        let weighted = Weighted::by_chance(graph.clone(), float, 44);
        let store = TestStore::weighted(&weighted, true, &small_pages(Encoding::VertexId));
        for single in [false, true] {
            if single && !float {
                continue;
            }
            let all = if single { weighted.single_distances(SOURCE) } else { weighted.distances(SOURCE) };
            let mut sorted: Vec<f64> = all.iter().copied().filter(|distance| distance.is_finite()).collect();
            sorted.sort_unstable_by(f64::total_cmp);
            let cutoffs = [0.0, sorted[sorted.len() / 3], sorted[sorted.len() / 2] + 0.25, 1e300];
            for (number, cutoff) in cutoffs.into_iter().enumerate() {
                let within = |distance: &f64| *distance <= cutoff;
                let none = if float { f64::INFINITY } else { -1.0 };
                let expected: Vec<f64> =
                    all.iter().map(|of| if of.is_finite() && within(of) { *of } else { none }).collect();
                let of = Sssp { cutoff: Some(cutoff), ..paths(float) };
                let of = if single { of.in_single() } else { of };
                let check = |found: &crate::everywhere::Found, way: &str| {
                    assert!(found.column("distance") == expected, "{way}, float: {float}, cutoff {cutoff}");
                };
                // By default, half of the limits each, the other half of another kind of graph.
                let is_frontiers = (number + usize::from(float)).is_multiple_of(2);
                if thorough() || is_frontiers {
                    everywhere(&store, |_| of, check);
                }
                if thorough() || !is_frontiers {
                    everywhere(&store, |_| DeltaStepping { paths: of, delta: 70.0 }, check);
                }
            }
        }
    }
}

/// Few lists are read where the limit is small.
#[test]
fn a_search_stops_at_the_cutoff() {
    let graph = EdgeList::new(4_000, random_edges(0..4_000, 30_000, 45));
    let weighted = Weighted::by_chance(graph, false, 46);
    let store = TestStore::weighted(&weighted, true, &small_pages(Encoding::VertexId));
    let engine = store.engine(engine_options(None, 1, FetcherKind::Auto));
    let edges = |of: Sssp| run(&engine, of).unwrap().report.steps.iter().map(|step| step.edges).sum::<u64>();
    let [near, all] = [edges(paths(false).within(40.0)), edges(paths(false))];
    assert!(near * 10 < all, "{near} and {all}");
}

#[test]
fn cutoffs_that_are_no_distance() {
    let weighted = Weighted { graph: EdgeList::new(8, vec![(5, 6)]), weights: vec![1], float: false };
    let store = TestStore::weighted(&weighted, true, &small_pages(Encoding::VertexId));
    for cutoff in [-1.0, f64::NAN, f64::NEG_INFINITY] {
        for (way, options) in ways() {
            let engine = store.engine(options.clone());
            let error = run(&engine, paths(false).within(cutoff)).map(drop).unwrap_err();
            let is_named = error.to_string().contains("expected a distance, a number from 0 on");
            assert!(is_named || needs_wide_atomics(&options, &error), "{way}: {error}");
        }
    }
}
