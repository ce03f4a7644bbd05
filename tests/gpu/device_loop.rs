//! Supersteps that the device runs without the host: the same answers and reports as with the host, with queued lists
//! and whole pages, in one buffer and in several.

use crate::adapter;
use crate::common::*;
use crate::gpu_test;
use crate::graphs;
use crate::reference::*;
use crate::setting::*;
use std::collections::HashSet;
use topostream::algorithms::{KCore, Scc};
use topostream::device::settings::{FastPaths, GpuSettings, PageTransfer};
use topostream::report::{RunReport, StepReport};
use topostream::{Direction, Engine, VertexId};
use topostream_tools::format::FormatOptions;

/// Whether the device ran a superstep without the host, which launched nothing.
pub fn ran_alone(step: &StepReport) -> bool {
    step.transfer.batches == 0 && step.pages > 0
}

pub fn figures(report: &RunReport) -> Vec<(u32, Option<Direction>, Option<u64>)> {
    report.steps.iter().map(|step: &StepReport| (step.superstep, step.direction, step.active)).collect()
}

/// Searches top-down, and direction-optimizing without parents and with them.
const KINDS: [(bool, bool); 3] = [(false, false), (false, true), (true, true)];

/// Searches from a source of all kinds, by the device and by the host.
fn check_searches(store: &TestStore, edges: &EdgeList, source: u32, setting: &Setting) {
    check_kinds(&KINDS, store, edges, source, setting);
}

/// Searches from a source of some kinds.
fn check_kinds(kinds: &[(bool, bool)], store: &TestStore, edges: &EdgeList, source: u32, setting: &Setting) {
    // By edges alone: the first search reads the lists of both directions.
    let [device, host] =
        [setting.clone(), by_host(setting)].map(|one| store.engine(one.options().with_alternatives(false)));
    let expected = levels(edges, source);
    for &(parents, bottom_up) in kinds {
        let run = |engine: &Engine| search(engine, source.into(), parents, bottom_up).unwrap();
        // The first search of a kind loads the pages, without which the device does not run by itself.
        run(&device);
        let found = [&device, &host].map(run);
        let what = format!("source {source}, parents {parents}, bottom-up {bottom_up}, {setting:?}");
        for search in &found {
            assert!(search.levels.dense() == expected, "{what}: other levels");
            if let Some(parents) = &search.parents {
                check_least_tree(edges, source, &expected, parents).unwrap_or_else(|wrong| panic!("{what}: {wrong}"));
            }
        }
        let [device, host] = found.map(|search| search.levels.report);
        // Bottom-up with parents, lists that kernels share are read once more, and not all kernels share the same.
        if !(parents && bottom_up) {
            assert_eq!(figures(&device), figures(&host), "{what}");
        }
        assert_eq!(device.traversed_edges, host.traversed_edges, "{what}");
        assert!(device.steps.iter().any(ran_alone), "{what}: {:?}", device.steps);
        assert!(!host.steps.iter().any(ran_alone), "{what}");
        if !bottom_up {
            assert!(device.steps.iter().all(ran_alone), "{what}: {:?}", device.steps);
            let edges = |report: &RunReport| -> Vec<_> { report.steps.iter().map(|step| step.edges).collect() };
            assert_eq!(edges(&device), edges(&host), "{what}");
        }
    }
}

gpu_test! {
    fn searches_equal_those_of_the_host() {
        for graph in [graphs::dense(), graphs::hubs(), graphs::sparse()] {
            let store = TestStore::new(&graph.edges, &small_pages(ENCODINGS[0]));
            check_searches(&store, &graph.edges, graph.source, &Setting::default());
        }
    }
}

gpu_test! {
    /// Neither subgroups nor wide integers; pages in several buffers, each with a queue.
    fn searches_without_fast_paths_and_over_several_buffers() {
        let graph = graphs::hubs();
        let store = TestStore::new(&graph.edges, &small_pages(ENCODINGS[0]));
        for (fast_paths, binding_bytes_max) in
            [(FastPaths { device_loop: true, ..SLOW }, None), (FastPaths::default(), Some(256 << 10))]
        {
            let setting = Setting { fast_paths, binding_bytes_max, ..Setting::default() };
            check_searches(&store, &graph.edges, graph.source, &setting);
        }
    }
}

gpu_test! {
    /// A frontier that is larger than the queue, between two small ones.
    fn a_frontier_that_exceeds_the_queue() {
        let n = 30_000;
        let mut edges: Vec<(u32, u32)> = (1..n - 1).map(|vertex| (0, vertex)).collect();
        edges.extend((1..n - 1).flat_map(|vertex| [(vertex, n - 1), (vertex, vertex % 7 + 1)]));
        edges.push((n - 1, 0));
        let edges = EdgeList::new(n, edges);
        let store = TestStore::new(&edges, &small_pages(ENCODINGS[0]));
        check_searches(&store, &edges, n - 1, &Setting::default());
    }
}

gpu_test! {
    /// More supersteps than one submission has; every superstep is reported once, and the run can be cancelled.
    fn a_long_path() {
        let n = 100;
        let edges = EdgeList::new(n, (0..n - 1).map(|vertex| (vertex, vertex + 1)).collect());
        let store = TestStore::new(&edges, &small_pages(ENCODINGS[0]));
        check_searches(&store, &edges, 0, &Setting::default());
        let setting = Setting::default();
        let engine = store.engine(setting.options());
        let run = || search(&engine, 0, false, false).unwrap().levels.report;
        let report = (run(), run()).1;
        assert_eq!(report.steps.len(), n as usize);
        assert!(report.steps.iter().all(|step| step.pages == 1), "{:?}", report.steps);
        let sum: u64 = report.steps.iter().map(|step| step.wall_ns).sum();
        assert!(sum <= report.wall_ns, "{sum} of {}", report.wall_ns);
    }
}

gpu_test! {
    /// In an engine's first run, too: pages that no superstep has visited yet are read once waiting for them has taken
    /// as long, and not when each is reached.
    fn a_first_search_does_not_wait_for_every_page() {
        let (path, leaves) = (1_500, 200);
        let along = (0..path - 1).map(|vertex| (vertex, vertex + 1));
        let aside = (0..path).flat_map(|vertex| (0..leaves).map(move |leaf| (vertex, path + leaf)));
        let edges = EdgeList::new(path + leaves, along.chain(aside).collect());
        let store = TestStore::new(&edges, &small_pages(ENCODINGS[0]));
        let pages = store.open().topology(Direction::Out).unwrap().page_count();
        assert!(pages > 15, "{pages} pages");
        let first = search(&store.engine(Setting::default().options()), 0, false, false).unwrap();
        assert!(first.levels.dense() == levels(&edges, 0));
        let by_host = first.levels.report.steps.iter().filter(|step| !ran_alone(step)).count();
        assert!((1..=6).contains(&by_host), "{by_host} of {path} supersteps, {pages} pages");
    }
}

gpu_test! {
    /// Tiny frontiers, whose vertices are listed as they are activated: one list in two large pages, many short ones in
    /// many small pages, adjacent vertices, and a vertex that many lists have.
    fn tiny_frontiers() {
        let n = 40_000;
        let mut edges = vec![(0, 9), (9, 10), (10, 20_000)];
        edges.extend((0..12_000).map(|number| (20_000, 3 * number + 11)));
        edges.extend((0..12_000).map(|number| (3 * number + 11, number % 3 + 12)));
        edges.extend([(12, 100), (13, 100), (12, 102), (13, 103), (102, n - 1), (n - 1, n - 2)]);
        // Longer lists elsewhere, so that there are many pages.
        edges.extend((0..n).filter(|vertex| vertex % 3 == 1).flat_map(|vertex| [(vertex, 3 * (vertex % 13_000)); 8]));
        let edges = EdgeList::new(n, edges);
        let store = TestStore::new(&edges, &small_pages(ENCODINGS[0]));
        let setting = Setting::default();
        check_searches(&store, &edges, 0, &setting);
        let report = |setting: &Setting| {
            let engine = store.engine(setting.options());
            let run = || search(&engine, 0, false, false).unwrap().levels.report;
            (run(), run()).1
        };
        let pages = |report: &RunReport| -> Vec<_> { report.steps.iter().map(|step| step.pages).collect() };
        assert_eq!(pages(&report(&setting)), pages(&report(&by_host(&setting))));
    }
}

gpu_test! {
    /// Submissions of listed supersteps stop at a frontier that is too large to be listed, wherever it is in them, and
    /// others go on from there: paths of several lengths, with many vertices between each and the next.
    fn submissions_of_listed_supersteps_stop_early() {
        let (mut edges, mut last) = (Vec::new(), 0);
        let mut path = |edges: &mut Vec<(u32, u32)>, length: u32| {
            edges.extend((0..length).map(|step| (last + step, last + step + 1)));
            last += length;
            last
        };
        let lengths = [10, 13, 30, 47, 64, 65, 2, 1, 80];
        let ends: Vec<u32> = lengths.iter().map(|&length| path(&mut edges, length)).collect();
        let n = ends[lengths.len() - 1] + 1;
        // The end of a path does not lead to the next one directly.
        edges.retain(|(from, _)| !ends.contains(from));
        let wide = 17_000;
        for (&end, number) in ends[..lengths.len() - 1].iter().zip(0..) {
            let between = n + number * wide..n + (number + 1) * wide;
            edges.extend(between.flat_map(|vertex| [(end, vertex), (vertex, end + 1)]));
        }
        let edges = EdgeList::new(n + (lengths.len() as u32 - 1) * wide, edges);
        let store = TestStore::new(&edges, &small_pages(ENCODINGS[0]));
        let setting = Setting::default();
        // Top-down: other searches of these hundreds of supersteps take most of a minute.
        check_kinds(if thorough() { &KINDS } else { &KINDS[..1] }, &store, &edges, 0, &setting);
        let engine = store.engine(setting.options());
        let report = [0, 1].map(|_| search(&engine, 0, false, false).unwrap().levels.report)[1].clone();
        let listed = |step: &&StepReport| step.transfer.listed_steps == 1;
        // Two supersteps beside each large frontier are not over lists of vertices.
        let count = report.steps.iter().filter(listed).count();
        assert!(count >= 250, "{count} of {}", report.steps.len());
    }
}

gpu_test! {
    /// Shortest paths and components have the oracle's answers, and run ahead once all pages are in device memory.
    fn relaxations_equal_those_of_the_host() {
        let setting = Setting::default();
        for (graph, float) in [(graphs::dense(), false), (graphs::hubs(), true)] {
            let weighted = Weighted::by_chance(graph.edges.clone(), float, 5);
            let store = TestStore::weighted(&weighted, !float, &small_pages(ENCODINGS[0]));
            let weighted = if float { weighted.mirrored() } else { weighted };
            let engine = store.engine(setting.options());
            let expected = weighted.distances(graph.source);
            for run in 0..2 {
                let found = distances(&engine, graph.source.into()).unwrap();
                assert!(found.dense() == expected, "{}: other distances", graph.name);
                let alone = found.report.steps.iter().all(ran_alone);
                assert!(run == 0 || alone, "{}: {:?}", graph.name, found.report.steps);
            }
            for run in 0..2 {
                let found = component_ids(&engine).unwrap();
                assert!(found.dense() == components(&weighted.graph), "{}: other components", graph.name);
                let alone = found.report.steps.iter().skip(1 - run).all(ran_alone);
                assert!(alone, "{}: {:?}", graph.name, found.report.steps);
            }
        }
    }
}

gpu_test! {
    /// Components by hooking: right with the device's loop and with the host's, from few pages in device memory, and in
    /// few supersteps where paths are long.
    fn hooking_finds_components() {
        let (side, last) = (70, 70 * 70 - 1);
        let right = (0..=last).filter(|vertex| vertex % side < side - 1).map(|vertex| (vertex, vertex + 1));
        let down = (0..=last - side).map(|vertex| (vertex, vertex + side));
        let grid = EdgeList::new(last + 1, right.chain(down).map(|(a, b)| (a * 13 % (last + 1), b * 13 % (last + 1))).collect());
        let graphs = [("a grid", grid), ("dense", graphs::dense().edges), ("sparse", graphs::sparse().edges)];
        for ((name, edges), symmetrize) in graphs.iter().flat_map(|graph| [(graph, false), (graph, true)]) {
            let options = FormatOptions { symmetrize, in_edges: false, ..small_pages(ENCODINGS[0]) };
            let store = TestStore::new(edges, &options);
            let few = GpuSettings { cache_bytes: Some(2 * PAGE), ..Setting::default().gpu() };
            let setting = Setting::default();
            let engines = [setting.options(), by_host(&setting).options(), setting.options().with_gpu(few)];
            for (number, options) in engines.into_iter().enumerate() {
                let engine = store.engine(options);
                for run in 0..2 {
                    let found = hooked_ids(&engine).unwrap();
                    let what = format!("{name}, symmetrized {symmetrize}, engine {number}, run {run}");
                    assert!(found.dense() == components(edges), "{what}: other components");
                    assert!(found.report.supersteps <= 16, "{what}: {} supersteps", found.report.supersteps);
                    let alone = found.report.steps.iter().all(|step| step.transfer.batches == 0);
assert!(alone || (number, run) != (0, 1), "{what}: {:?}", found.report.steps);
                    assert!(!alone || number != 1, "{what}");
                }
            }
        }
    }
}

gpu_test! {
    /// Pages come while the search is under way, a few at a time: between two of them the device goes on by itself.
    fn pages_that_come_late() {
        // A page has some 1800 lists, and the path goes on 300 vertices farther each time.
        let n = 40_000;
        let mut edges: Vec<(u32, u32)> = (0..n).flat_map(|vertex| [(vertex, vertex); 8]).collect();
        edges.extend((0..n - 300).step_by(300).map(|vertex| (vertex, vertex + 300)));
        let edges = EdgeList::new(n, edges);
        let store = TestStore::new(&edges, &small_pages(ENCODINGS[0]));
        assert!(store.open().topologies().next().unwrap().page_count() > 3);
        // There is no room for all of them.
        let gpu = GpuSettings { cache_bytes: Some(8 * PAGE), ..Setting::default().gpu() };
        let engine = store.engine(Setting::default().options().with_gpu(gpu));
        let found = search(&engine, 0, false, false).unwrap();
        assert!(found.levels.dense() == levels(&edges, 0));
        let steps = &found.levels.report.steps;
        // Between two reads, too.
        let last_read = steps.iter().rposition(|step| step.disk_bytes > 0).unwrap();
        let alone = steps[..last_read].iter().filter(|step| ran_alone(step)).count();
        assert!(alone > last_read / 8, "{alone} of {last_read}");
    }
}

gpu_test! {
    /// An engine that has run before begins with commands that were encoded ahead. The first superstep may still need a
    /// page that no run has read.
    fn a_source_whose_page_is_missing() {
        let half = 6000;
        let path = |begin: u32| (begin..begin + half - 1).step_by(100).map(|vertex| (vertex, vertex + 100));
        let mut edges: Vec<(u32, u32)> = (0..2 * half).flat_map(|vertex| [(vertex, vertex); 8]).collect();
        edges.extend(path(0).filter(|edge| edge.1 < half).chain(path(half).filter(|edge| edge.1 < 2 * half)));
        let edges = EdgeList::new(2 * half, edges);
        let store = TestStore::new(&edges, &small_pages(ENCODINGS[0]));
        let engine = store.engine(Setting::default().options());
        for source in [0, 0, half, 3000, 3000 + half, 0] {
            let found = search(&engine, source.into(), false, false).unwrap();
            assert!(found.levels.dense() == levels(&edges, source), "source {source}: other levels");
        }
    }
}

gpu_test! {
    /// Algorithms with vertex phases whose supersteps read the lists of a set, or nothing.
    fn sets_are_visited_as_the_host_directs() {
        let setting = Setting::default();
        let graphs = [graphs::dense(), graphs::hubs(), graphs::sparse()];
        for graph in graphs.into_iter().take(if thorough() { 3 } else { 1 }) {
            let store = TestStore::new(&graph.edges, &small_pages(ENCODINGS[0]));
            let (device, host) = (store.engine(setting.options()), store.engine(by_host(&setting).options()));
            let cores: Vec<u64> = kcore::core_numbers(&graph.edges).into_iter().map(|core| core as u64).collect();
            for in_lists in some([true, false], 2) {
                let run = |engine: &Engine| engine.run(KCore::new(true, in_lists)).unwrap();
                // The first run reads the pages that the second one finds in device memory.
                run(&device);
                let found = [&device, &host].map(run);
                let reports = found.map(|run| {
                    let core = run.column::<u64>("core").unwrap();
                    assert!(core.iter().eq(&cores), "{}, in-lists {in_lists}", graph.name);
                    run.report
                });
                assert_eq!(figures(&reports[0]), figures(&reports[1]), "{}, in-lists {in_lists}", graph.name);
                let [device, host] = reports.map(|report| report.steps);
                assert!(device.iter().all(|step| step.transfer.batches == 0), "{}: {device:?}", graph.name);
                assert!(host.iter().any(|step| step.transfer.batches > 0));
            }
            for run in 0..2 {
                let found = device.run(Scc).unwrap();
                let component = found.column::<Option<VertexId>>("component").unwrap();
                let expected = scc::strong_components(&graph.edges);
                let pairs: HashSet<_> = component.iter().zip(&expected).collect();
                let groups: HashSet<_> = expected.iter().collect();
                let named: HashSet<_> = component.iter().collect();
                assert_eq!((pairs.len(), named.len()), (groups.len(), groups.len()), "{}", graph.name);
                let alone = found.report.steps.iter().skip(1 - run).all(|step| step.transfer.batches == 0);
                assert!(run == 0 || alone, "{}: {:?}", graph.name, found.report.steps);
            }
        }
    }
}

gpu_test! {
    /// If device memory has no room for queues and levels, the host runs the search, with the same answer.
    fn without_room_the_host_runs_the_search() {
        let graph = graphs::hubs();
        let store = TestStore::new(&graph.edges, &small_pages(ENCODINGS[0]));
        let setting = Setting { transfer: PageTransfer::Copy, ..Setting::default() };
        let run = |engine: &Engine| search(engine, graph.source.into(), false, true);
        let least = needed_bytes(&store, &setting.options(), |engine| run(engine).map(drop));
        let engine = store.engine(with_memory(setting.options(), least));
        for _ in 0..2 {
            let found = run(&engine).unwrap();
            assert!(found.levels.dense() == levels(&graph.edges, graph.source));
            assert!(!found.levels.report.steps.iter().any(ran_alone), "{}", adapter::report().name);
        }
    }
}
