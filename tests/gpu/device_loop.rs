//! Supersteps that the device runs by itself: the answers and reports of supersteps that the host starts, whether lists
//! are queued or pages are walked through, in one buffer or in several.

use crate::adapter;
use crate::common::*;
use crate::gpu_test;
use crate::graphs::{self, ITERATIONS};
use crate::reference::*;
use crate::setting::*;
use topostream::algorithms::Traffic;
use topostream::device::settings::{FastPaths, GpuSettings};
use topostream::report::{RunReport, StepReport};
use topostream::{Direction, Engine};

/// An engine with every page of both topologies in device memory.
fn warm(store: &TestStore, setting: &Setting) -> Engine {
    let engine = store.engine(setting.options());
    for traffic in [Traffic::Push, Traffic::Pull] {
        ranks(&engine, pagerank(ITERATIONS, Dangling::Lost, traffic)).expect("it fits");
    }
    engine
}

/// The same without supersteps that the device runs by itself.
fn by_host(setting: &Setting) -> Setting {
    Setting { fast_paths: FastPaths { device_loop: false, ..setting.fast_paths }, ..setting.clone() }
}

/// Whether the device ran every superstep by itself: the host launched nothing.
fn ran_alone(report: &RunReport) -> bool {
    report.steps.iter().all(|step| step.transfer.batches == 0)
}

fn figures(report: &RunReport) -> Vec<(u32, Option<Direction>, Option<u64>)> {
    report.steps.iter().map(|step: &StepReport| (step.superstep, step.direction, step.active)).collect()
}

/// Searches from a source, in both ways, by the device and by the host.
fn check_searches(store: &TestStore, edges: &EdgeList, source: u32, setting: &Setting) {
    let (device, host) = (warm(store, setting), warm(store, &by_host(setting)));
    let expected = levels(edges, source);
    for (parents, bottom_up) in [(false, false), (false, true), (true, true)] {
        let found = [&device, &host].map(|engine| search(engine, source.into(), parents, bottom_up).unwrap());
        let what = format!("source {source}, parents {parents}, bottom-up {bottom_up}, {setting:?}");
        for search in &found {
            assert!(search.levels.dense() == expected, "{what}: other levels");
            if let Some(parents) = &search.parents {
                check_tree(edges, source, &expected, parents).unwrap_or_else(|wrong| panic!("{what}: {wrong}"));
            }
        }
        let [device, host] = found.map(|search| search.levels.report);
        assert_eq!(figures(&device), figures(&host), "{what}");
        assert_eq!(device.traversed_edges, host.traversed_edges, "{what}");
        if !bottom_up {
            let edges = |report: &RunReport| -> Vec<_> { report.steps.iter().map(|step| step.edges).collect() };
            assert_eq!(edges(&device), edges(&host), "{what}");
        }
        assert!(ran_alone(&device), "{what}: {:?}", device.steps);
        assert!(!ran_alone(&host), "{what}");
    }
}

gpu_test! {
    fn searches_are_those_that_the_host_directs() {
        for graph in [graphs::dense(), graphs::hubs(), graphs::sparse()] {
            let store = TestStore::new(&graph.edges, &small_pages(ENCODINGS[0]));
            check_searches(&store, &graph.edges, graph.source, &Setting::default());
        }
    }
}

gpu_test! {
    /// Neither subgroups nor wide integers; record ids; pages in several buffers, each with a queue.
    fn searches_without_fast_paths_and_over_several_buffers() {
        let graph = graphs::hubs();
        for (encoding, fast_paths, binding_bytes_max) in
            [(1, FastPaths { device_loop: true, ..SLOW }, None), (0, FastPaths::default(), Some(256 << 10))]
        {
            let store = TestStore::new(&graph.edges, &small_pages(ENCODINGS[encoding]));
            let setting = Setting { encoding: ENCODINGS[encoding], fast_paths, binding_bytes_max, ..Setting::default() };
            check_searches(&store, &graph.edges, graph.source, &setting);
        }
    }
}

gpu_test! {
    /// A frontier that is larger than the queue, between two small ones.
    fn a_frontier_that_does_not_fit_in_the_queue() {
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
    fn a_long_way() {
        let n = 400;
        let edges = EdgeList::new(n, (0..n - 1).map(|vertex| (vertex, vertex + 1)).collect());
        let store = TestStore::new(&edges, &small_pages(ENCODINGS[0]));
        check_searches(&store, &edges, 0, &Setting::default());
        let setting = Setting::default();
        let engine = warm(&store, &setting);
        let report = search(&engine, 0, false, false).unwrap().levels.report;
        assert_eq!(report.steps.len(), n as usize);
        let sum: u64 = report.steps.iter().map(|step| step.wall_ns).sum();
        assert!(sum <= report.wall_ns, "{sum} of {}", report.wall_ns);
    }
}

gpu_test! {
    /// Distances, widths and components: from the second superstep on at the latest.
    fn relaxations_are_those_that_the_host_directs() {
        let setting = Setting::default();
        for (graph, float) in [(graphs::dense(), false), (graphs::hubs(), true)] {
            let weighted = Weighted::by_chance(graph.edges.clone(), float, 5);
            let store = TestStore::weighted(&weighted, !float, &small_pages(ENCODINGS[0]));
            let weighted = if float { weighted.mirrored() } else { weighted };
            let engine = store.engine(setting.options());
            let expected = if float { weighted.single_distances(graph.source) } else { weighted.distances(graph.source) };
            for run in 0..2 {
                let found = distances(&engine, graph.source.into()).unwrap();
                assert!(found.dense() == expected, "{}: other distances", graph.name);
                assert!(run == 0 || ran_alone(&found.report), "{}: {:?}", graph.name, found.report.steps);
                assert!(component_ids(&engine).unwrap().dense() == components(&weighted.graph), "{}", graph.name);
            }
        }
    }
}

gpu_test! {
    /// Where device memory has no room for queues and levels, the host directs the search, and the answer is the same.
    fn without_room_the_host_directs() {
        let graph = graphs::hubs();
        let store = TestStore::new(&graph.edges, &small_pages(ENCODINGS[0]));
        let setting = Setting { cache: Cache::Few, ..Setting::default() };
        let run = |engine: &Engine| search(engine, graph.source.into(), false, true);
        let engine = setting.engine(&store, |engine| run(engine).map(drop));
        for _ in 0..2 {
            let found = run(&engine).unwrap();
            assert!(found.levels.dense() == levels(&graph.edges, graph.source));
            assert!(!ran_alone(&found.levels.report), "{}", adapter::report().name);
        }
        let GpuSettings { memory_bytes, .. } = engine.options().gpu;
        assert!(memory_bytes.is_some());
    }
}
