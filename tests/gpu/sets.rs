//! Small sets, whose vertices the device lists: core numbers and strongly connected components by the device, by the
//! host, on the CPU and by the oracles.

use crate::common::*;
use crate::gpu_test;
use crate::graphs;
use crate::reference::*;
use crate::setting::*;
use std::collections::HashSet;
use std::time::Duration;
use topostream::algorithms::{KCore, Scc};
use topostream::device::settings::FastPaths;
use topostream::report::{RunReport, StepReport};
use topostream::{Direction, Engine, VertexId};
use topostream_tools::format::FormatOptions;

/// Supersteps over listed vertices.
fn listed(report: &RunReport) -> u64 {
    report.total.transfer.listed_steps
}

/// The device runs supersteps until the algorithm is done. Each turn begins with one that is not over listed vertices,
/// and would end by the clock.
fn unhurried() -> Setting {
    Setting { turn: Duration::from_secs(600), ..Setting::default() }
}

/// Checks that most supersteps were over listed vertices.
fn check_listed(report: &RunReport, what: &str) {
    let (listed, steps) = (listed(report), report.steps.len() as u64);
    assert!(2 * listed > steps, "{what}: {listed} of {steps}");
}

/// What device and host must agree on.
fn figures(report: &RunReport) -> Vec<(u32, Option<Direction>, u64)> {
    let edges = |step: &StepReport| if step.direction.is_some() { step.edges } else { 0 };
    report.steps.iter().map(|step| (step.superstep, step.direction, edges(step))).collect()
}

/// The ways to store a graph and to find its core numbers: undirected; directed with in-lists, and without.
#[derive(Clone, Copy, Debug)]
enum Way {
    Undirected,
    InLists,
    OutLists,
}

impl Way {
    fn store(self, edges: &EdgeList, setting: &Setting) -> TestStore {
        let symmetrize = matches!(self, Self::Undirected);
        TestStore::new(edges, &FormatOptions { symmetrize, in_edges: !symmetrize, ..setting.store_options() })
    }

    fn algorithm(self) -> KCore {
        let directed = !matches!(self, Self::Undirected);
        KCore::new(directed, matches!(self, Self::InLists))
    }
}

/// The oracle's core numbers.
fn cores(edges: &EdgeList) -> Vec<u64> {
    kcore::core_numbers(edges).into_iter().map(|core| core as u64).collect()
}

/// Core numbers by the device in its first run and in the second one, which finds all pages in its memory. Returns the
/// report of the second.
fn check_cores(edges: &EdgeList, way: Way, setting: &Setting) -> RunReport {
    let store = way.store(edges, setting);
    let (device, host) = (store.engine(setting.options()), store.engine(by_host(setting).options()));
    let expected = match way {
        Way::Undirected => cores(&edges.once()),
        Way::InLists | Way::OutLists => cores(edges),
    };
    let what = format!("{way:?}, {setting:?}");
    let run = |engine: &Engine| {
        let run = engine.run(way.algorithm()).unwrap();
        let cores = run.column::<u64>("core").unwrap();
        assert!(cores.iter().eq(&expected), "{what}: other core numbers");
        run.report
    };
    let found = [run(&device), run(&device), run(&host), run(&store.engine(on_cpu(setting.options())))];
    let [_, device, host, cpu] = &found;
    assert_eq!(figures(device), figures(host), "{what}");
    assert_eq!(figures(device), figures(cpu), "{what}");
    assert!(device.steps.iter().all(|step| step.transfer.batches == 0), "{what}: {:?}", device.steps);
    assert_eq!((listed(host), listed(cpu)), (0, 0), "{what}");
    let [_, device, ..] = found;
    device
}

/// Strongly connected components; returns the report of the device's second run.
fn check_components(edges: &EdgeList, setting: &Setting) -> RunReport {
    let store = Way::InLists.store(edges, setting);
    let (device, host) = (store.engine(setting.options()), store.engine(by_host(setting).options()));
    let expected = scc::strong_components(edges);
    let run = |engine: &Engine| {
        let run = engine.run(Scc).unwrap();
        let component = run.column::<Option<VertexId>>("component").unwrap();
        let pairs: HashSet<_> = component.iter().zip(&expected).collect();
        let sizes = (component.iter().collect::<HashSet<_>>().len(), expected.iter().collect::<HashSet<_>>().len());
        assert_eq!((pairs.len(), pairs.len()), sizes, "other components");
        run.report
    };
    // Colours that arrive early propagate in the same superstep: the number of supersteps depends on their order.
    let [_, device, host] = [run(&device), run(&device), run(&host)];
    assert_eq!(listed(&host), 0);
    assert!(device.steps.iter().all(|step| step.transfer.batches == 0), "{:?}", device.steps);
    device
}

fn grid(side: u32) -> EdgeList {
    let at = |x: u32, y: u32| y * side + x;
    let right = (0..side).flat_map(|y| (1..side).map(move |x| (at(x - 1, y), at(x, y))));
    let down = (1..side).flat_map(|y| (0..side).map(move |x| (at(x, y - 1), at(x, y))));
    EdgeList::new(side * side, right.chain(down).collect())
}

/// Degrees as skewed as R-MAT's: each bit of an end is set with a probability of 1/4.
fn skewed(scale: u32, edges: usize, seed: u64) -> EdgeList {
    let [one, other] = [0, 1].map(|more| random_edges(0..1 << scale, edges, seed + more));
    let both = one.into_iter().zip(other).map(|((a, b), (c, d))| (a & c, b & d));
    EdgeList::new(1 << scale, both.collect())
}

gpu_test! {
    /// Hundreds of supersteps over a few vertices each: more than one submission, and more than one turn.
    fn grids_and_paths_are_peeled_by_lists() {
        let side = 32;
        let report = check_cores(&grid(side), Way::Undirected, &unhurried());
        // Corners first, then diagonals.
        assert!(report.steps.len() as u32 >= side, "{:?}", report.steps);
        check_listed(&report, "grid");
        check_cores(&grid(side), Way::Undirected, &Setting { turn: Duration::from_millis(1), ..Setting::default() });
        // A pendant path of each of several lengths, on a clique whose core number is much higher.
        let mut edges: Vec<_> = (0..40).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
        let mut next = 40;
        for length in [3, 90, 200] {
            edges.push((length % 40, next));
            edges.extend((next..next + length).map(|vertex| (vertex, vertex + 1)));
            next += length + 1;
        }
        let edges = EdgeList::new(next, edges);
        for way in [Way::Undirected, Way::InLists] {
            let report = check_cores(&edges, way, &unhurried());
            assert!(report.steps.len() > 200, "{way:?}: {:?}", report.steps);
            check_listed(&report, "paths");
        }
    }
}

gpu_test! {
    /// Several levels, gaps between them, loops, repeated edges, lists in several pages, and sets of all sizes.
    fn skewed_graphs_are_peeled_by_lists() {
        // A page has 16,384 edges at most. Each core number takes several supersteps, which read all out-lists where
        // there is nothing else to read.
        let mut skewed = skewed(12, 24_000, 3);
        let n = skewed.vertices;
        skewed.edges.extend((0..40).flat_map(|a| (0..a).map(move |b| (n - 1 - a, n - 1 - b))));
        skewed.edges.extend((0..20_000).map(|number| (n / 2 + 1, number % n)));
        skewed.edges.extend((0..n).step_by(7).map(|vertex| (vertex, vertex)));
        let ways = [Way::Undirected, Way::InLists, Way::OutLists];
        for (place, way) in ways.into_iter().enumerate() {
            let fast_paths = FastPaths { device_loop: true, ..SLOW };
            let slow = Setting { fast_paths, ..unhurried() };
            let several = Setting { binding_bytes_max: Some(512 << 10), ..unhurried() };
            for setting in [unhurried(), slow, several].iter().skip(place).take(if thorough() { 3 } else { 1 }) {
                let report = check_cores(&skewed, way, setting);
                match way {
                    // Supersteps visit all lists.
                    Way::OutLists => assert_eq!(listed(&report), 0),
                    Way::Undirected | Way::InLists => check_listed(&report, "skewed"),
                }
            }
        }
    }
}

gpu_test! {
    /// Components that grow by one vertex a superstep, and sets of many sizes.
    fn components_grow_by_lists() {
        let mut edges = skewed(11, 8_000, 5).edges;
        let n = 1 << 11;
        edges.extend((0..150).map(|vertex| (n + vertex, n + (vertex + 1) % 150)));
        edges.extend([(5, n), (n + 70, n + 150), (n + 150, n + 151), (n + 151, n + 150)]);
        let report = check_components(&EdgeList::new(n + 152, edges), &unhurried());
        assert!(report.steps.len() > 200, "{:?}", report.steps);
        check_listed(&report, "components");
    }
}

gpu_test! {
    /// A small set whose in-lists touch more vertices than a workgroup collects, and more than the list has room for.
    fn touched_vertices_that_exceed_their_list() {
        // Colours of 30,000 leaves and more do not propagate by lists, which are therefore empty before.
        for leaves in [5_000, 30_000, 70_000] {
            // A vertex is reached by all leaves, and reaches them by way of two others: so many that its in-list is not
            // read in the first superstep of a submission, which may be the first one of a turn.
            let (hub, between, other) = (leaves, leaves + 1, leaves + 2);
            let mut edges = vec![(hub, between), (between, other)];
            edges.extend((0..leaves).flat_map(|leaf| [(other, leaf), (leaf, hub)]));
            // Another component, which the first one reaches.
            edges.extend([(3, leaves + 3), (leaves + 3, leaves + 4), (leaves + 4, leaves + 3)]);
            let edges = EdgeList::new(leaves + 5, edges);
            let exceeds = |step: &StepReport| {
                let against = step.direction == Some(Direction::In) && step.transfer.listed_steps == 1;
                against && step.edges >= u64::from(leaves)
            };
            let report = check_components(&edges, &unhurried());
            let place = report.steps.iter().position(exceeds);
            let next = report.steps[place.unwrap_or_else(|| panic!("{leaves} leaves: not by lists")) + 1].edges;
            // Each leaf is in the next set, except for the root of the component, and has one in-neighbour.
            assert!(next + 1 >= u64::from(leaves), "{leaves} leaves: {next} edges");
        }
    }
}

gpu_test! {
    /// Pages that come while a component grows: lists begin once all of them are there.
    fn sets_are_listed_once_all_pages_are_there() {
        // A page has some 1800 lists, and the cycle goes on 300 vertices farther each time.
        let n = 12_000;
        let mut edges: Vec<(u32, u32)> = (0..n).flat_map(|vertex| [(vertex, vertex); 8]).collect();
        edges.extend((0..n).step_by(300).map(|vertex| (vertex, (vertex + 300) % n)));
        let edges = EdgeList::new(n, edges);
        let report = check_components(&edges, &unhurried());
        check_listed(&report, "a cycle");
        let graph = graphs::hubs();
        // Seconds for hundreds of supersteps over long lists.
        if thorough() {
            check_components(&graph.edges, &unhurried());
            check_cores(&graph.edges, Way::InLists, &unhurried());
        }
    }
}

gpu_test! {
    /// With room for pages and queues, but not for marks, sets are queued.
    fn without_room_for_marks_sets_are_queued() {
        let edges = grid(24);
        let setting = Setting::default();
        let store = Way::Undirected.store(&edges, &setting);
        let expected = cores(&edges);
        let run = |memory_bytes| {
            let found = store.engine(with_memory(setting.options(), memory_bytes)).run(Way::Undirected.algorithm());
            let found = found.unwrap();
            assert!(found.column::<u64>("core").unwrap().iter().eq(&expected));
            found.report
        };
        let work = |engine: &Engine| engine.run(Way::Undirected.algorithm()).map(drop);
        let least = needed_bytes(&store, &setting.options(), work);
        assert_eq!(listed(&run(least)), 0);
    }
}
