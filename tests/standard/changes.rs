//! The vertices that supersteps change, as reports count them: on graphs in which every list has four edges, the edges
//! that were visited say how many lists were opened, and each change is passed on by opening one.

use crate::common::{TestStore, pagerank, small_pages};
use crate::everywhere::{Found, all_ways, everywhere, run, ways};
use crate::ranks::on_ranks;
use crate::reference::{Dangling, EdgeList, Weighted, levels, random_edges};
use topostream::algorithms::{
    Bfs, Components, DanglingMass, DeltaPageRank, DeltaStepping, Harmonic, KCore, Sssp, Traffic,
};
use topostream::model::algorithm::Algorithm;
use topostream::report::{RunReport, StepReport};
use topostream::team::Strategy;
use topostream::{Engine, EngineOptions, VertexId};
use topostream_formats::Encoding;
use topostream_formats::edge::WeightType;
use topostream_tools::format::FormatOptions;

/// The edges of every list.
const DEGREE: u64 = 4;

/// A closed strip, much longer than wide: fronts are thin, and go both ways. Only one of `apart` vertices is on it, so
/// that pages have few of them.
fn strip(length: u32, apart: u32) -> EdgeList {
    const WIDTH: u32 = 4;
    let vertices = length * WIDTH;
    let neighbours = |vertex: u32| {
        let (row, column) = (vertex / WIDTH * WIDTH, vertex % WIDTH);
        let beside = [1, WIDTH - 1].map(|more| row + (column + more) % WIDTH);
        [beside, [WIDTH, vertices - WIDTH].map(|more| (vertex + more) % vertices)].concat()
    };
    let of_vertex = |vertex: u32| neighbours(vertex).into_iter().map(move |other| (vertex * apart, other * apart));
    EdgeList::new(vertices * apart, (0..vertices).flat_map(of_vertex).collect())
}

/// A graph with edges to vertices by chance.
fn by_chance(vertices: u32) -> EdgeList {
    let mut edges = random_edges(0..vertices, DEGREE as usize * vertices as usize, 3);
    (0..).zip(&mut edges).for_each(|(number, (source, _))| *source = number / DEGREE as u32);
    EdgeList::new(vertices, edges)
}

/// How far vertices of a strip are apart where it has to be on many pages: some sixteen.
const APART: u32 = 256;

/// The length of such a strip. Half of it is the number of supersteps, which GPUs of software take milliseconds for.
const LENGTH: u32 = 128;

/// A page buffer for a few pages.
fn few_frames(options: EngineOptions) -> EngineOptions {
    options.with_buffer_bytes(Some(8 * 2 * 65_536))
}

fn lists(step: &StepReport) -> u64 {
    assert_eq!(step.edges % DEGREE, 0, "{step:?}");
    step.edges / DEGREE
}

/// Asserts that the vertices that a superstep changed are those that are active in the next one, more than there would
/// be without it: each list that it opened is of a vertex that was active before, or has joined it.
fn assert_changes(report: &RunReport, what: &str) {
    let active = |place: usize| report.steps.get(place).map_or(0, |step| step.active.unwrap());
    let begun = active(0);
    for (place, step) in report.steps.iter().enumerate() {
        let expected = active(place + 1) + lists(step) - active(place);
        assert_eq!(step.changed, expected, "{what}, superstep {place}");
    }
    assert_eq!(report.total.changed + begun, lists(&report.total), "{what}");
}

/// Whether supersteps opened the lists of all active vertices, of some, or of others too.
fn others(report: &RunReport) -> [bool; 2] {
    let some = report.steps.iter().any(|step| lists(step) < step.active.unwrap());
    [some, report.steps.iter().any(|step| lists(step) > step.active.unwrap())]
}

/// A search changes the vertices of a level in each superstep, whether along or against edges.
#[test]
fn searches_change_a_level() {
    let graph = EdgeList::new(6_000, random_edges(0..5_000, 30_000, 8));
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let levels = levels(&graph, 7);
    let farthest = levels.iter().flatten().max().unwrap();
    let expected = (1..=farthest + 1).map(|level| levels.iter().flatten().filter(|&&of| of == level).count() as u64);
    let expected: Vec<u64> = expected.collect();
    assert!(expected.len() > 4);
    for bottom_up in [false, true] {
        let make = |_: &Engine| Bfs { bottom_up, ..Bfs::from(VertexId(7)) };
        everywhere(&store, make, |found, way| {
            let changed: Vec<u64> = found.report.steps.iter().map(|step| step.changed).collect();
            assert_eq!(changed, expected, "{way}, bottom-up: {bottom_up}");
            assert_eq!(found.report.total.changed, expected.iter().sum::<u64>(), "{way}");
        });
    }
}

/// Edges to a vertex that change it several times in a superstep count once, and later ones again.
#[test]
fn distances_change_when_they_are_known_to_change() {
    // 0 reaches 3 at once by three edges, then over 1 and 2.
    let edges = vec![(0, 3), (0, 3), (0, 3), (0, 1), (1, 2), (2, 3)];
    let weights = vec![90, 80, 70, 1, 1, 1];
    let weighted = Weighted { graph: EdgeList::new(6, edges), weights, float: false };
    let store = TestStore::weighted(&weighted, true, &small_pages(Encoding::VertexId));
    everywhere(
        &store,
        |_| Sssp::new(VertexId(0), WeightType::U32),
        |found, way| {
            let changed: Vec<u64> = found.report.steps.iter().map(|step| step.changed).collect();
            // 1 and 3; 2; 3 again; nothing.
            assert_eq!(changed, [2, 1, 1, 0], "{way}");
        },
    );
}

fn paths(store: &TestStore, options: EngineOptions, what: &str) -> Found {
    let engine = store.engine(few_frames(options));
    run(&engine, Sssp::new(VertexId(5 * APART), WeightType::U32)).unwrap_or_else(|error| panic!("{what}: {error}"))
}

/// Lists are left to later supersteps, or vertices join one before their page: each change is passed on once.
#[test]
fn each_change_is_passed_on_once() {
    let weighted = Weighted::by_chance(strip(LENGTH, APART), false, 6);
    let store = TestStore::weighted(&weighted, true, &small_pages(Encoding::VertexId));
    for (number, (way, options)) in ways().into_iter().enumerate() {
        for asynchronous in [false, true] {
            let what = format!("{way}, asynchronous: {asynchronous}");
            let found = paths(&store, options.clone().with_asynchronous(asynchronous), &what);
            assert_changes(&found.report, &what);
            // The first way is one CPU.
            assert_eq!(others(&found.report), [asynchronous, number == 0], "{what}");
        }
    }
}

/// The lists of several pages are deferred as one.
#[test]
fn a_deferred_list_of_several_pages_counts_once() {
    const LONG: u64 = 40_000;
    let mut weighted = Weighted::by_chance(strip(LENGTH, APART), false, 7);
    // All lists have as many edges as the longest: only a few of them are long.
    let vertices = weighted.graph.vertices / APART;
    let hubs: Vec<u32> = (0..vertices).step_by(128).collect();
    let dest = |hub: u32, number: u64| (hub + (number % 7) as u32) % vertices * APART;
    let edges = hubs.iter().flat_map(|&hub| (0..LONG).map(move |number| (hub * APART, dest(hub, number))));
    weighted.graph.edges.extend(edges);
    weighted.weights.resize(weighted.graph.edges.len(), 1_000_000);
    let store = TestStore::weighted(&weighted, true, &small_pages(Encoding::VertexId));
    for (way, options) in ways() {
        let found = paths(&store, options.with_asynchronous(true), &way);
        let steps = &found.report.steps;
        let active = |place: usize| steps.get(place).map_or(0, |step: &StepReport| step.active.unwrap());
        for (place, step) in steps.iter().enumerate() {
            let opened = active(place) + step.changed - active(place + 1);
            let long = step.edges / LONG;
            assert_eq!(DEGREE * opened, step.edges - LONG * long, "{way}, superstep {place}: {step:?}");
        }
        let hubs_deferred = steps.iter().filter(|step| step.edges < DEGREE * step.active.unwrap()).count();
        assert!(hubs_deferred > 0, "{way}: nothing is deferred");
    }
}

/// All ranks know the changes of all.
#[test]
fn ranks_count_the_changes_of_all() {
    let store = TestStore::weighted(
        &Weighted::by_chance(strip(LENGTH, APART), false, 8),
        true,
        &small_pages(Encoding::VertexId),
    );
    for (strategy, asynchronous) in [(Strategy::Replicate, true), (Strategy::Shard, true), (Strategy::Replicate, false)]
    {
        let what = format!("{strategy}, asynchronous: {asynchronous}");
        let found = on_ranks(3, |cluster| {
            let (_, options) = all_ways().swap_remove(0);
            let options = options.with_strategy(strategy).with_asynchronous(asynchronous).with_cluster(cluster);
            paths(&store, options, &what).report
        });
        for report in &found {
            assert_changes(report, &what);
            assert_eq!(others(report), [asynchronous, false], "{what}");
            assert_eq!(report.total.changed, found[0].total.changed, "{what}");
        }
    }
}

/// Labels change until they are the same. A superstep reads every list, or those of vertices whose label has changed
/// and of those that join it.
#[test]
fn labels_change_until_they_are_the_same() {
    let graph = strip(300, 1);
    let store = TestStore::new(&graph, &FormatOptions { symmetrize: false, ..small_pages(Encoding::VertexId) });
    let make = |_: &Engine| Components { directed: true };
    let all: u64 = graph.vertices.into();
    check(&store, make, |report, way| {
        let active = |place: usize| report.steps.get(place).map_or(0, |step| step.active.unwrap());
        for (place, step) in report.steps.iter().enumerate() {
            let joined = if lists(step) == all { 0 } else { lists(step) - active(place) };
            assert_eq!(step.changed, active(place + 1) + joined, "{way}, superstep {place}");
        }
        assert!(report.total.changed >= all - 1, "{way}: a vertex keeps its label");
    });
}

/// Paths by buckets, and paths from a source that only count: what changes is what is read next.
#[test]
fn sets_change_by_their_vertices() {
    let weighted = Weighted::by_chance(by_chance(2_000), false, 4);
    let store = TestStore::weighted(&weighted, true, &small_pages(Encoding::VertexId));
    let paths = Sssp::new(VertexId(5), WeightType::U32);
    check(
        &store,
        |_| DeltaStepping { paths, delta: 100.0 },
        |report, way| {
            assert_eq!(1 + report.total.changed, lists(&report.total), "{way}");
        },
    );
    check(
        &store,
        |_| Harmonic::of_sources(&[VertexId(5)]),
        |report, way| {
            let (begins, levels): (Vec<&StepReport>, Vec<_>) =
                report.steps.iter().partition(|step| step.direction.is_none());
            assert_eq!(begins.iter().map(|step| step.changed).collect::<Vec<_>>(), [2_000], "{way}");
            assert_eq!(1 + levels.iter().map(|step| step.changed).sum::<u64>(), lists(&report.total), "{way}");
        },
    );
}

/// Iterations compute all values; residuals are passed on while they are large; a core number is known once.
#[test]
fn what_is_computed_anew_changes() {
    let graph = by_chance(2_000);
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let all = u64::from(graph.vertices);
    check(
        &store,
        |_| pagerank(3, Dangling::Lost, Traffic::Push),
        |report, way| {
            assert_eq!(report.steps.iter().map(|step| step.changed).collect::<Vec<_>>(), [all; 3], "{way}");
            assert_eq!(report.total.changed, 3 * all, "{way}");
        },
    );
    let delta = DeltaPageRank { dangling: DanglingMass::Ignored, ..DeltaPageRank::default() };
    check(
        &store,
        |_| delta,
        |report, way| {
            let pairs = report.steps.windows(2).map(|pair| (pair[0].changed, lists(&pair[1])));
            let some = pairs.filter(|&(changed, read)| {
                assert!(read == changed || read == all, "{way}: {changed} vertices changed, {read} lists were read");
                read < all
            });
            assert!(some.count() > 2, "{way}: all lists are read");
            assert_eq!(report.steps.last().unwrap().changed, 0, "{way}: it has not converged");
        },
    );
    let cores = TestStore::new(&graph, &FormatOptions { symmetrize: true, ..small_pages(Encoding::VertexId) });
    for alone in [false, true] {
        let make = |_: &Engine| KCore { alone, ..KCore::new(false, false) };
        let check = |report: &RunReport, way: &str| {
            // All degrees are counted first; no vertex is without edges.
            assert_eq!((report.steps[0].changed, report.total.changed), (all, 2 * all), "{way}, alone: {alone}");
        };
        match alone {
            true => check(
                &run(&cores.engine(all_ways().swap_remove(0).1), make(&cores.engine(EngineOptions::default())))
                    .unwrap()
                    .report,
                "one CPU",
            ),
            false => everywhere(&cores, make, |found, way| check(&found.report, way)),
        }
    }
}

fn check<A: Algorithm>(store: &TestStore, make: impl Fn(&Engine) -> A, check: impl Fn(&RunReport, &str)) {
    everywhere(store, make, |found, way| check(&found.report, way));
}
