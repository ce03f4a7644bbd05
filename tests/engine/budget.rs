//! Memory budgets: runs that do not fit are refused before anything is read, others run, and the page buffer has its
//! hit rate.

use crate::common::*;
use crate::reference::*;
use topostream::algorithms::{Bfs, Traffic};
use topostream::model::algorithm::declaration_of;
use topostream::pages::fetch::FetcherKind;
use topostream::pages::memory::{Decoders, FRAMES_MIN, MemoryPlan};
use topostream::report::StepReport;
use topostream::{Direction, Engine, EngineOptions, Error, Store, VertexId};
use topostream_formats::Encoding;

/// About 40 pages each way, some of them large.
fn graph() -> EdgeList {
    let mut edges = random_edges(0..9000, 500_000, 21);
    edges.extend((0..40_000).map(|number| (4000, number % 9000)));
    EdgeList::new(9000, edges)
}

fn options(memory_bytes: u64, buffer_bytes: Option<u64>) -> EngineOptions {
    let fetcher = FetcherKind::Threads;
    EngineOptions::default()
        .with_memory_bytes(memory_bytes)
        .with_buffer_bytes(buffer_bytes)
        .with_threads(2)
        .with_fetcher(fetcher)
}

/// The figures of a refusal.
fn refusal<T>(result: Result<T, Error>) -> (u64, u64, String) {
    match result {
        Err(Error::Memory { needed_bytes, budget_bytes, parts, .. }) => (needed_bytes, budget_bytes, parts),
        Err(error) => panic!("not about memory: {error}"),
        Ok(_) => panic!("not refused"),
    }
}

// ---- Refusals -------------------------------------------------------------------------------------------------------

/// The figure in the message is exact: a run works with this budget, but not with one byte less.
#[test]
fn the_figure_of_a_refusal_suffices() {
    let store = TestStore::new(&graph(), &small_pages(Encoding::VertexId));
    let algorithm = pagerank(2, Dangling::Spread, Traffic::Push);
    let run = |memory, buffer| ranks(&store.engine(options(memory, buffer)), algorithm);
    let pages: u32 = store.open().topologies().map(|topology| topology.page_count()).sum();
    // An entry of 32 bytes, and the first vertex again for decoding record ids.
    let directory = format!("page directory {}", 36 * pages);
    for buffer in [None, Some(10 * PAGE)] {
        for memory in [0, 1, 1 << 20] {
            let (needed, budget, parts) = refusal(run(memory, buffer));
            assert_eq!(budget, memory);
            for part in ["attributes 108000", "degrees 36000", &directory, "program", "page buffer"] {
                assert!(parts.contains(part), "{part:?} is not in: {parts}");
            }
            assert_eq!(refusal(run(needed - 1, buffer)).0, needed);
            let report = run(needed, buffer).unwrap().report;
            assert_eq!(report.buffer_bytes, buffer.unwrap_or(u64::from(FRAMES_MIN) * PAGE));
            assert_eq!(report.planned_bytes, needed);
        }
    }
    let (needed, budget, _) = refusal(run(1 << 30, Some(4 * PAGE - 1)));
    assert_eq!((needed, budget), (4 * PAGE, 4 * PAGE - 1));
}

/// Refused before anything is read: without pages on disk, the message is still about memory.
#[test]
fn a_refusal_comes_before_any_reading() {
    let store = TestStore::new(&graph(), &small_pages(Encoding::VertexId));
    let engine = store.engine(options(1 << 20, None));
    std::fs::remove_file(store.path().join("pages.0")).unwrap();
    std::fs::remove_file(store.path().join("degrees.bin")).unwrap();
    refusal(ranks(&engine, pagerank(2, Dangling::Spread, Traffic::Push)));
    refusal(engine.run(Bfs::from(VertexId(0))));
}

/// Plans never exceed the budget, and use all of it.
#[test]
fn plans_keep_to_the_budget() {
    let store = TestStore::new(&graph(), &small_pages(Encoding::VertexId)).open();
    let declaration = declaration_of(&pagerank(2, Dangling::Spread, Traffic::Push), &store);
    let least = refusal(MemoryPlan::new(&declaration, &store, 0, None, 0, Decoders::default())).0;
    let pages: u64 = store.topologies().map(|topology| u64::from(topology.page_count())).sum();
    let mut state = 99;
    for _ in 0..500 {
        let memory = least + draw(&mut state) % (pages * PAGE * 2);
        let buffer = (draw(&mut state).is_multiple_of(2)).then(|| draw(&mut state) % (pages * PAGE));
        match MemoryPlan::new(&declaration, &store, memory, buffer, 0, Decoders::default()) {
            Ok(plan) => {
                assert!(plan.total_bytes() <= memory, "{plan:?} for {memory}");
                assert!(plan.frames >= FRAMES_MIN && plan.buffer_bytes() <= buffer.unwrap_or(u64::MAX), "{plan:?}");
                let more =
                    plan.total_bytes() + PAGE <= memory && plan.buffer_bytes() + PAGE <= buffer.unwrap_or(u64::MAX);
                assert!(!more || u64::from(plan.frames) >= pages, "{plan:?} leaves room in {memory}, {buffer:?}");
                assert!(plan.in_flight_max() >= 1 && plan.in_flight_max() < plan.frames as usize);
            }
            Err(error) => {
                let (needed, budget, _) = refusal::<()>(Err(error));
                assert!(needed > budget && buffer.is_some());
            }
        }
    }
}

// ---- The page buffer ------------------------------------------------------------------------------------------------

/// GTS's claim: from the second superstep on, a scan finds the share B / (S + L) in the buffer. Every page is visited
/// once in each superstep, and read unless it is in the buffer.
#[test]
fn scans_hit_the_buffers_share() {
    let store = TestStore::new(&graph(), &small_pages(Encoding::VertexId));
    let pages = |direction| u64::from(store.open().topology(direction).unwrap().page_count());
    for buffer in [4, 5, 8, 12, 20, 30, 39, 60, 200] {
        for (number, fetcher) in FETCHERS.into_iter().enumerate() {
            let engine = store.engine(engine_options(Some(buffer), 1 + number, fetcher));
            for (traffic, direction) in [(Traffic::Push, Direction::Out), (Traffic::Pull, Direction::In)] {
                let all = pages(direction);
                let report = ranks(&engine, pagerank(6, Dangling::Lost, traffic)).unwrap().report;
                assert_eq!(report.buffer_pages, buffer.min(pages(Direction::Out) + pages(Direction::In)));
                for step in &report.steps {
                    check_step(step, all);
                    let share = buffer.min(all) as f64 / all as f64;
                    let enough = step.superstep == 0 || step.hit_rate() >= 0.9 * share;
                    assert!(enough, "{buffer} of {all} pages, {fetcher:?}: {step:?}");
                }
                let sum: u64 = report.steps.iter().map(|step| step.disk_bytes).sum();
                assert_eq!((report.total.disk_bytes, report.retries), (sum, 0));
            }
        }
    }
}

fn check_step(step: &StepReport, pages: u64) {
    assert_eq!(step.pages, pages);
    assert_eq!(step.disk_bytes, (pages - step.pages_cached) * PAGE);
    assert_eq!(step.edges, 540_000);
}

/// A search reads exactly the pages with lists of active vertices, including all pages of a large list.
#[test]
fn searches_visit_only_the_next_pages() {
    let n = 60_000;
    let mut edges = random_edges(0..n, 30_000, 22);
    edges.extend((0..n - 1).step_by(2).map(|vertex| (vertex, (vertex + 700) % n)));
    edges.extend((0..40_000).map(|number| (55_000, number)));
    let graph = EdgeList::new(n, edges);
    let degrees = graph.out_degrees();
    let reach = |source: &u32| levels(&graph, *source).iter().flatten().count();
    let source = (0..n).step_by(6000).max_by_key(reach).unwrap();
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let engine = store.engine(engine_options(Some(7), 2, FetcherKind::Auto));
    let found = search(&engine, source.into(), false, false).unwrap();
    let levels = levels(&graph, source);
    let deepest = levels.iter().flatten().max().unwrap();
    assert!(*deepest > 3 && levels[55_000].is_some(), "the graph does not suit this test");
    assert_eq!(found.levels.report.steps.len() as u64, deepest + 1);
    for (level, step) in found.levels.report.steps.iter().enumerate() {
        let at_level = |vertex: usize| levels[vertex] == Some(level as u64);
        let edges: usize = (0..n as usize).filter(|&vertex| at_level(vertex)).map(|vertex| degrees[vertex]).sum();
        let active = (0..n as usize).filter(|&vertex| at_level(vertex)).count();
        assert_eq!(step.pages, pages_with(engine.store(), at_level), "level {level}");
        assert_eq!((step.edges, step.active), (edges as u64, Some(active as u64)), "level {level}");
        assert_eq!(step.disk_bytes, (step.pages - step.pages_cached) * PAGE);
    }
    let reached: usize = (0..n as usize).filter(|&v| levels[v].is_some()).map(|v| degrees[v]).sum();
    assert_eq!(found.levels.report.traversed_edges, Some(reached as u64));
}

/// The pages with a slot of any such vertex, from the directory only.
fn pages_with(store: &Store, vertex: impl Fn(usize) -> bool) -> u64 {
    let entries = store.topology(Direction::Out).unwrap().directory().entries();
    let has = |start: u32, slots: u32| (start as usize..(start + slots) as usize).any(&vertex);
    entries.iter().filter(|entry| has(entry.start_vertex, entry.slot_count)).count() as u64
}

/// A second run on the engine reuses the pages of the first; a run with another buffer shape starts empty.
#[test]
fn the_buffer_outlives_a_run() {
    let store = TestStore::new(&graph(), &small_pages(Encoding::VertexId));
    let engine: Engine = store.engine(engine_options(None, 2, FetcherKind::Auto));
    let algorithm = pagerank(2, Dangling::Lost, Traffic::Push);
    let first = ranks(&engine, algorithm).unwrap();
    let second = ranks(&engine, algorithm).unwrap();
    assert!(first.report.total.disk_bytes > 0);
    assert_eq!(second.report.total.disk_bytes, 0);
    assert_eq!(bits(&first.dense()), bits(&second.dense()));
}
