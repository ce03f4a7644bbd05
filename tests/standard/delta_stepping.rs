//! Shortest paths by buckets.

use crate::common::{TestStore, engine_options, small_pages};
use crate::everywhere::{Found, everywhere, needs_wide_atomics, run};
use crate::reference::{EdgeList, Weighted, random_edges};
use topostream::algorithms::{DeltaStepping, Sssp};
use topostream::pages::fetch::FetcherKind;
use topostream::{Engine, VertexId};
use topostream_formats::Encoding;
use topostream_formats::edge::WeightType;

fn paths(float: bool) -> Sssp {
    Sssp::new(VertexId(5), if float { WeightType::F32 } else { WeightType::U32 })
}

/// Integer distances, -1 for unreachable vertices; or floats.
fn expected(weighted: &Weighted) -> Vec<f64> {
    match weighted.float {
        true => weighted.distances(5),
        false => weighted.distances(5).into_iter().map(|way| if way.is_finite() { way } else { -1.0 }).collect(),
    }
}

#[test]
fn distances_are_exact_whatever_the_width() {
    let graph = EdgeList::new(4_500, random_edges(0..4_000, 15_000, 41));
    for float in [false, true] {
        let weighted = Weighted::by_chance(graph.clone(), float, 42);
        let store = TestStore::weighted(&weighted, !float, &small_pages(Encoding::VertexId));
        let weighted = if float { weighted.mirrored() } else { weighted };
        let expected = expected(&weighted);
        for delta in [100.0, 1e12] {
            let make = |_: &Engine| DeltaStepping { paths: paths(float), delta };
            everywhere(&store, make, |found, way| {
                assert!(found.column("distance") == expected, "{way}, float: {float}, buckets of {delta}");
            });
        }
        if float {
            let make = |_: &Engine| DeltaStepping { paths: paths(float).in_single(), delta: 100.0 };
            let single = weighted.single_distances(5);
            assert_ne!(single, expected);
            everywhere(&store, make, |found, way| assert!(found.column("distance") == single, "{way}, single"));
        }
    }
}

/// A path with shortcuts that are not shorter: Bellman-Ford reads the end of the path many times.
#[test]
fn fewer_lists_are_read_again() {
    let mut edges: Vec<(u32, u32)> = (5..400).map(|vertex| (vertex, vertex + 1)).collect();
    let mut weights = vec![1; edges.len()];
    for from in (5..390).step_by(3) {
        edges.extend([7, 5, 3].map(|hops| (from, from + hops)));
        weights.extend([70, 40, 20]);
    }
    let weighted = Weighted { graph: EdgeList::new(401, edges), weights, float: false };
    let store = TestStore::weighted(&weighted, true, &small_pages(Encoding::VertexId));
    let engine = store.engine(engine_options(None, 1, FetcherKind::Auto));
    let edges = |found: &Found| found.report.steps.iter().map(|step| step.edges).sum::<u64>();
    let [narrow, wide, ford] = [
        run(&engine, DeltaStepping { paths: paths(false), delta: 1.0 }).unwrap(),
        run(&engine, DeltaStepping { paths: paths(false), delta: 1e6 }).unwrap(),
        run(&engine, paths(false)).unwrap(),
    ];
    for found in [&narrow, &wide, &ford] {
        assert_eq!(found.column("distance"), expected(&weighted));
    }
    assert_eq!(edges(&narrow), weighted.graph.edges.len() as u64);
    assert!(edges(&wide) > 3 * edges(&narrow), "{} and {}", edges(&wide), edges(&narrow));
    assert!(edges(&ford) > 3 * edges(&narrow), "{} and {}", edges(&ford), edges(&narrow));
}

#[test]
fn what_is_refused() {
    let of = |weights: Vec<u32>, float, delta| {
        let weighted = Weighted { graph: EdgeList::new(8, vec![(5, 6), (6, 7)]), weights, float };
        let store = TestStore::weighted(&weighted, true, &small_pages(Encoding::VertexId));
        everywhere_refused(&store, DeltaStepping { paths: paths(float), delta })
    };
    let float = |weight: f32| weight.to_bits();
    for (message, expected) in [
        (of(vec![3, u32::MAX], false, 10.0), "vertex 7"),
        (of(vec![float(3.0), float(-1.0)], true, 10.0), "vertex 7"),
        (of(vec![1, 1], false, 0.5), "at least 1"),
        (of(vec![float(1.0), float(1.0)], true, 0.0), "above 0"),
        (of(vec![float(1.0), float(1.0)], true, f64::NAN), "above 0"),
    ] {
        assert!(message.contains(expected), "{message}");
    }
}

/// The error of a run on each device, the same on all.
fn everywhere_refused(store: &TestStore, algorithm: DeltaStepping) -> String {
    let messages = crate::everywhere::ways().into_iter().filter_map(|(way, options)| {
        let found = run(&store.engine(options.clone()), algorithm).map(drop);
        let error = found.expect_err(&format!("{way}: {algorithm:?}"));
        (!needs_wide_atomics(&options, &error)).then(|| error.to_string())
    });
    let messages: Vec<String> = messages.collect();
    assert!(messages.iter().all(|message| *message == messages[0]), "{messages:?}");
    messages.into_iter().next().expect("there is a device")
}
