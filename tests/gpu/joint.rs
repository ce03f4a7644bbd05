//! Supersteps that several GPUs run together, without the engine: the same answers and counts as with the engine's
//! supersteps, for both strategies, and with pages that are read in the run.

use crate::adapter;
use crate::common::*;
use crate::gpu_test;
use crate::graphs;
use crate::reference::*;
use crate::setting::*;
use std::sync::atomic::Ordering::Relaxed;
use topostream::algorithms::Bfs;
use topostream::device::settings::FastPaths;
use topostream::report::{RunReport, StepReport};
use topostream::team::{Assignment, Strategy};
use topostream::{Direction, Engine, EngineOptions, Error, VertexId};
use topostream_formats::Encoding;

/// Strategies, and the assignments of pages in them.
const WAYS: [(Strategy, Assignment); 3] = [
    (Strategy::Replicate, Assignment::Contiguous),
    (Strategy::Shard, Assignment::Auto),
    (Strategy::Replicate, Assignment::Modulo),
];

/// Whether no superstep was launched by the engine.
fn ran_jointly(step: &StepReport) -> bool {
    step.transfer.batches == 0 && step.pages > 0
}

fn options(setting: &Setting, devices: usize, (strategy, assignment): (Strategy, Assignment)) -> EngineOptions {
    let options = setting.options().with_devices(vec![adapter::device(); devices]);
    // Searches choose their directions by edges alone: the first one reads the lists of both.
    let options = options.with_alternatives(false);
    options.with_strategy(strategy).with_assignment(assignment)
}

fn figures(report: &RunReport) -> Vec<(u32, Option<Direction>, Option<u64>)> {
    report.steps.iter().map(|step: &StepReport| (step.superstep, step.direction, step.active)).collect()
}

/// Searches, labels and distances, by the devices together and by the engine.
fn check(name: &str, weighted: &Weighted, source: u32, setting: &Setting, devices: usize, way: (Strategy, Assignment)) {
    let store = TestStore::weighted(weighted, true, &small_pages(setting.encoding));
    let edges = &weighted.graph;
    let [joint, engine] =
        [setting.clone(), by_host(setting)].map(|setting| store.engine(options(&setting, devices, way)));
    let expected = levels(edges, source);
    for (parents, bottom_up) in [(false, false), (true, true)] {
        let what = format!("{name}, {devices} devices, {way:?}, parents {parents}, bottom-up {bottom_up}, {setting:?}");
        let run = |engine: &Engine| search(engine, source.into(), parents, bottom_up).unwrap();
        // The first search reads the pages.
        run(&joint);
        let found = [&joint, &engine].map(run);
        for search in &found {
            assert!(search.levels.dense() == expected, "{what}: other levels");
            if let Some(parents) = &search.parents {
                check_least_tree(edges, source, &expected, parents).unwrap_or_else(|wrong| panic!("{what}: {wrong}"));
            }
        }
        let [joint, engine] = found.map(|search| search.levels.report);
        assert!(joint.steps.iter().all(ran_jointly), "{what}: {:?}", joint.steps);
        assert!(!engine.steps.iter().any(ran_jointly), "{what}");
        let directions = |report: &RunReport| report.steps.iter().all(|step| step.direction == Some(Direction::Out));
        assert_eq!(joint.steps.len(), engine.steps.len(), "{what}");
        if directions(&engine) {
            assert_eq!(figures(&joint), figures(&engine), "{what}");
            let counts = |report: &RunReport| -> Vec<_> {
                report.steps.iter().map(|step| (step.edges, step.exchanged_bytes)).collect()
            };
            assert_eq!(counts(&joint), counts(&engine), "{what}");
        }
    }
    let what = format!("{name}, {devices} devices, {way:?}, {setting:?}");
    component_ids(&joint).unwrap();
    let labels = component_ids(&joint).unwrap();
    assert!(labels.dense() == components(edges), "{what}: other components");
    assert!(labels.report.steps.iter().all(ran_jointly), "{what}");
    distances(&joint, source.into()).unwrap();
    let found = distances(&joint, source.into()).unwrap();
    assert!(found.dense() == weighted.distances(source), "{what}: other distances");
    assert!(found.report.steps.iter().all(ran_jointly), "{what}");
}

gpu_test! {
    fn answers_equal_those_of_the_engine() {
        let graphs = [graphs::hubs(), graphs::sparse(), graphs::dense()];
        for (number, (graph, way)) in graphs.into_iter().zip(WAYS).enumerate().take(if thorough() { 3 } else { 1 }) {
            let weighted = Weighted::by_chance(graph.edges, false, 7);
            check(graph.name, &weighted, graph.source, &Setting::default(), 2 + number % 2, way);
        }
    }
}

gpu_test! {
    /// A mirror of the exchange memory, neither subgroups nor wide integers; pages in several buffers.
    fn without_fast_paths_and_over_several_buffers() {
        let graph = graphs::hubs();
        let weighted = Weighted::by_chance(graph.edges, false, 3);
        let slow = Setting {
            fast_paths: FastPaths { device_loop: true, ..SLOW },
            ..Setting::default()
        };
        let divided = Setting { binding_bytes_max: Some(256 << 10), ..Setting::default() };
        for (setting, way) in some([(slow, WAYS[1]), (divided, WAYS[0])], 2) {
            check(graph.name, &weighted, graph.source, &setting, 2, way);
        }
    }
}

gpu_test! {
    /// The engine's supersteps until all pages are there, and joint ones from then on, in one run. Afterwards a run can
    /// be cancelled between joint supersteps.
    fn pages_that_are_read_in_the_run() {
        let path = EdgeList::new(60, (0..59).map(|vertex| (vertex, vertex + 1)).collect());
        let store = TestStore::new(&path, &small_pages(Encoding::VertexId));
        for way in some(WAYS, 2) {
            let options = options(&Setting::default(), 2, way);
            let cancel = std::sync::Arc::clone(&options.cancel);
            let engine = store.engine(options);
            let search = || Bfs { bottom_up: false, ..Bfs::from(VertexId(0)) };
            let run = engine.run(search()).unwrap();
            let joint = run.report.steps.iter().filter(|step| ran_jointly(step)).count();
            assert!(joint > 0 && joint < run.report.steps.len(), "{way:?}: {joint} joint supersteps");
            assert!(run.column::<u64>("level").unwrap().iter().enumerate().all(|(at, level)| *level == at as u64));
            let mut observer = |step: &StepReport| cancel.store(step.superstep == 5, Relaxed);
            let cancelled = engine.run_observed(search(), &mut observer).map(drop);
            assert!(matches!(cancelled, Err(Error::Interrupted)), "{way:?}: {cancelled:?}");
            cancel.store(false, Relaxed);
            assert!(engine.run(search()).unwrap().report.steps.iter().all(ran_jointly), "{way:?}");
        }
    }
}
