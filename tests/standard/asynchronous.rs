//! Asynchronous relaxation: the same answers as without it, and where many supersteps touch the same pages, fewer bytes
//! from disk.

use crate::common::{TestStore, generated, small_pages};
use crate::everywhere::{Found, run, ways};
use crate::reference::{EdgeList, Weighted, components};
use topostream::algorithms::{Averaging, Bfs, Components, DeltaPageRank, Model, Sssp, Stop};
use topostream::device::DeviceChoice;
use topostream::model::algorithm::Algorithm;
use topostream::{EngineOptions, VertexId};
use topostream_formats::Encoding;
use topostream_formats::edge::WeightType;
use topostream_tools::format::FormatOptions;
use topostream_tools::generate::{Grid, Rmat};

/// Runs an algorithm on some teams, synchronously and asynchronously; returns the bytes that both read on one CPU.
fn check<A: Algorithm>(
    store: &TestStore,
    only_cpus: bool,
    make: impl Fn() -> A,
    check: impl Fn(&Found, &str),
) -> (u64, u64) {
    let mut bytes = None;
    let is_cpu = |options: &EngineOptions| options.devices.contains(&DeviceChoice::Cpu);
    for (way, options) in ways().into_iter().filter(|(_, options)| !only_cpus || is_cpu(options)) {
        let run = |asynchronous: bool| {
            let engine = store.engine(options.clone().with_asynchronous(asynchronous));
            let found = run(&engine, make()).unwrap_or_else(|error| panic!("{way}: {error}"));
            check(&found, &format!("{way}, asynchronous: {asynchronous}"));
            found.report.total.disk_bytes
        };
        let asynchronous = run(true);
        bytes = bytes.or_else(|| Some((run(false), asynchronous)));
    }
    bytes.expect("there is a CPU")
}

/// Distances from vertex 0, as results have them.
fn expected(weighted: &Weighted) -> Vec<f64> {
    let distances = weighted.distances(0).into_iter();
    distances.map(|distance| if distance.is_infinite() && !weighted.float { -1.0 } else { distance }).collect()
}

fn distances(weighted: &Weighted, store: &TestStore, only_cpus: bool) -> (u64, u64) {
    let expected = expected(weighted);
    let weights = if weighted.float { WeightType::F32 } else { WeightType::U32 };
    let make = || Sssp::new(VertexId(0), weights);
    check(store, only_cpus, make, |found, way| assert!(found.column("distance") == expected, "{way}: other distances"))
}

/// A wave of many supersteps, each of which visits most pages: too slow on software GPUs.
#[test]
fn grids_are_read_less_often() {
    let grid = generated(&mut Grid::new(250, 250).generate().unwrap());
    for float in [false, true] {
        let weighted = Weighted::by_chance(grid.clone(), float, 3);
        let store = TestStore::weighted(&weighted, true, &small_pages(Encoding::VertexId));
        let (without, with) = distances(&weighted, &store, true);
        assert!(2 * with < without, "{with} bytes read, and {without} without");
    }
    let store = TestStore::new(&grid, &FormatOptions { symmetrize: true, ..small_pages(Encoding::VertexId) });
    let expected: Vec<f64> = components(&grid).into_iter().map(|component| component as f64).collect();
    let make = || Components { directed: false };
    check(&store, true, make, |found, way| assert!(found.column("component") == expected, "{way}: other components"));
}

/// Lists of several pages, which are deferred and taken together.
#[test]
fn hubs() {
    let mut graph = generated(&mut Rmat::new(13, 12, 5).generate().unwrap());
    graph.edges.extend((0..40_000).map(|number| (number % 3, number * 31 % graph.vertices)));
    let weighted = Weighted::by_chance(graph, false, 4);
    distances(&weighted, &TestStore::weighted(&weighted, true, &small_pages(Encoding::VertexId)), false);
}

/// A chain of vertices on one page after another, of which a source activates every second one at first. A vertex that
/// is activated before its page is visited is visited with it, so that the chain is followed in one superstep.
#[test]
fn vertices_join_a_superstep_before_their_page() {
    // Wider than pages.
    let (links, room) = (20u32, 20_000u32);
    let at = |link: u32| 1 + link * room;
    let chain = (0..links - 1).map(|link| (at(link), at(link + 1)));
    let edges: Vec<(u32, u32)> = chain.chain((0..links).map(|link| (0, at(link) + link % 2))).collect();
    let weights = edges.iter().map(|&(source, dest)| if source == 0 { dest } else { 1 }).collect();
    let graph = Weighted { graph: EdgeList::new(1 + links * room, edges), weights, float: false };
    let store = TestStore::weighted(&graph, true, &small_pages(Encoding::VertexId));
    let engine = store.engine(EngineOptions::default().with_devices([DeviceChoice::Cpu]).with_threads(1));
    // All pages are in memory in the second run: none is visited before an earlier one since its read ended first.
    let found = [(); 2].map(|()| run(&engine, Sssp::new(VertexId(0), WeightType::U32)).unwrap());
    assert!(found.iter().all(|found| found.column("distance") == expected(&graph)), "other distances");
    let [_, found] = found;
    assert!(found.report.supersteps < u64::from(links) / 2, "{} supersteps", found.report.supersteps);
}

/// What computes all values anew is left alone: as many supersteps over as many pages.
#[test]
fn what_is_computed_anew_is_as_without() {
    let weighted = Weighted::by_chance(generated(&mut Grid::new(60, 60).generate().unwrap()), false, 5);
    let store = TestStore::weighted(&weighted, true, &small_pages(Encoding::VertexId));
    let model = || Model::Adsorption { inject: 0.25, abandon: 0.05, seeds: vec![VertexId(7)] };
    let stop = Stop::Tolerance { l1: 1e-4, iterations_max: 100 };
    let adsorption = || Averaging { model: model(), weights: Some(WeightType::U32), stop };
    for (way, options) in ways() {
        let work = |asynchronous| {
            let engine = store.engine(options.clone().with_asynchronous(asynchronous));
            let found = run(&engine, adsorption()).unwrap_or_else(|error| panic!("{way}: {error}"));
            let ranks = run(&engine, DeltaPageRank::default()).unwrap_or_else(|error| panic!("{way}: {error}"));
            let counts = [&found, &ranks].map(|found| (found.report.supersteps, found.report.total.pages));
            (counts, found.column("mass").to_vec(), ranks.column("rank").to_vec())
        };
        let ((counts, values, ranks), (expected, expected_values, expected_ranks)) = (work(true), work(false));
        assert!(counts == expected && ranks == expected_ranks, "{way}: {counts:?}, not {expected:?}");
        let near = |(one, other): (&f64, &f64)| (one - other).abs() <= 1e-6;
        assert!(values.iter().zip(expected_values.iter()).all(near), "{way}: other values");
    }
}

#[test]
fn algorithms_that_depend_on_the_order_are_refused() {
    let graph = EdgeList::new(9, vec![(0, 1), (1, 2)]);
    let asynchronous = EngineOptions::default().with_asynchronous(true);
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let Err(error) = run(&store.engine(asynchronous.clone()), Bfs::from(VertexId(0))) else { panic!("levels") };
    assert!(error.to_string().contains("depend on the order"), "{error}");
    let grouped = FormatOptions { shards: 2, ..small_pages(Encoding::VertexId) };
    let store = TestStore::new(&graph, &grouped);
    let Err(error) = run(&store.engine(asynchronous), Components { directed: true }) else { panic!("lists in parts") };
    assert!(error.to_string().contains("grouped"), "{error}");
}
