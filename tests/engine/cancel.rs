//! Cancellation, concurrent runs, and contexts in which a run may start. Every superstep and every wait checks the
//! flag, and the engine works afterwards.

use crate::common::*;
use crate::reference::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use topostream::algorithms::{Bfs, Traffic};
use topostream::pages::fetch::{Faults, FetcherKind};
use topostream::{Engine, EngineOptions, Error, VertexId};
use topostream_formats::Encoding;

fn engine(store: &TestStore, fetcher: FetcherKind, buffer: Option<u64>) -> (Engine, Arc<AtomicBool>) {
    let cancel = Arc::new(AtomicBool::new(false));
    let options = engine_options(buffer, 2, fetcher).with_cancel(Arc::clone(&cancel));
    (store.engine(options), cancel)
}

#[test]
fn a_flag_that_is_already_set_stops_a_run_immediately() {
    let store = TestStore::new(&EdgeList::new(50, random_edges(0..50, 200, 1)), &small_pages(Encoding::VertexId));
    let (engine, cancel) = engine(&store, FetcherKind::Auto, None);
    cancel.store(true, Ordering::Relaxed);
    let mut steps = 0;
    let result = engine.run_observed(pagerank(5, Dangling::Spread, Traffic::Push), &mut |_| steps += 1);
    assert!(matches!(result, Err(Error::Interrupted)) && steps == 0);
}

/// Set between supersteps, by the observer.
#[test]
fn a_run_stops_after_the_superstep_that_sets_the_flag() {
    let graph = EdgeList::new(20_000, random_edges(0..20_000, 200_000, 2));
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    for (fetcher, buffer) in FETCHERS.into_iter().zip([Some(4), None, Some(9)]) {
        let (engine, cancel) = engine(&store, fetcher, buffer);
        let mut steps = 0;
        let result = engine.run_observed(pagerank(1_000_000, Dangling::Spread, Traffic::Push), &mut |step| {
            steps += 1;
            cancel.store(step.superstep == 2, Ordering::Relaxed);
        });
        assert!(matches!(result, Err(Error::Interrupted)), "{fetcher:?}");
        assert_eq!(steps, 3, "{fetcher:?}");
        cancel.store(false, Ordering::Relaxed);
        let found = ranks(&engine, pagerank(3, Dangling::Spread, Traffic::Push)).unwrap().dense();
        assert!(relative_error(&found, &rank_iterations(&graph, 0.85, Dangling::Spread, 3)) < 1e-6, "{fetcher:?}");
    }
}

/// Set from another thread, as by Ctrl-C; also in a search of many short supersteps.
#[test]
fn another_thread_stops_a_run() {
    let n = 400_000;
    let path = EdgeList::new(n, (0..n - 1).map(|vertex| (vertex, vertex + 1)).collect());
    let store = TestStore::new(&path, &small_pages(Encoding::VertexId));
    for fetcher in FETCHERS {
        let (engine, cancel) = engine(&store, fetcher, Some(5));
        let engine = Arc::new(engine);
        for search in [true, false] {
            let runner = Arc::clone(&engine);
            let run = std::thread::spawn(move || match search {
                true => runner.run(Bfs::from(VertexId(0))).map(|_| ()),
                false => runner.run(pagerank(u32::MAX, Dangling::Lost, Traffic::Pull)).map(|_| ()),
            });
            std::thread::sleep(Duration::from_millis(50));
            let raised = Instant::now();
            cancel.store(true, Ordering::Relaxed);
            let result = within(20, "a cancelled run", move || run.join().unwrap());
            assert!(matches!(result, Err(Error::Interrupted)), "{fetcher:?}, search {search}: {result:?}");
            assert!(raised.elapsed() < Duration::from_secs(2), "{fetcher:?}: {:?}", raised.elapsed());
            cancel.store(false, Ordering::Relaxed);
        }
    }
}

// ---- Waits that only the flag ends ----------------------------------------------------------------------------------

/// A disk that does not respond: every read, or one in ten, never completes.
#[test]
fn a_run_stops_even_if_the_disk_does_not_respond() {
    let graph = EdgeList::new(20_000, random_edges(0..20_000, 400_000, 4));
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    for stuck in [1000, 100] {
        let faults = Faults { stuck, ..Faults::none(3) };
        let (engine, cancel) = engine(&store, FetcherKind::Simulated(faults), Some(9));
        let run =
            std::thread::spawn(move || engine.run(pagerank(1_000_000, Dangling::Spread, Traffic::Push)).map(|_| ()));
        std::thread::sleep(Duration::from_millis(100));
        assert!(!run.is_finished(), "{stuck}: it waits");
        let raised = Instant::now();
        cancel.store(true, Ordering::Relaxed);
        let result = within(20, "a run whose disk does not answer", move || run.join().unwrap());
        assert!(matches!(result, Err(Error::Interrupted)), "{stuck}: {result:?}");
        assert!(raised.elapsed() < Duration::from_secs(2), "{stuck}: {:?}", raised.elapsed());
    }
}

// ---- Concurrent runs, and contexts of runs --------------------------------------------------------------------------

fn two_hundred() -> TestStore {
    let graph = EdgeList::new(200, random_edges(0..200, 2000, 5));
    TestStore::new(&graph, &small_pages(Encoding::VertexId))
}

/// Each run may use the whole budget, so the second waits for the first.
#[test]
fn runs_of_one_engine_follow_each_other() {
    let store = two_hundred();
    let (engine, _) = engine(&store, FetcherKind::Auto, None);
    let run = || {
        let mut first = None;
        let observer = &mut |_: &_| {
            first.get_or_insert_with(Instant::now);
            std::thread::sleep(Duration::from_millis(30));
        };
        engine.run_observed(pagerank(4, Dangling::Spread, Traffic::Push), observer).unwrap();
        (first.unwrap(), Instant::now())
    };
    let spans = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..3).map(|_| scope.spawn(run)).collect();
        let mut spans: Vec<_> = runs.into_iter().map(|run| run.join().unwrap()).collect();
        spans.sort();
        spans
    });
    // A run's end is recorded slightly after the next run may start, so compare with its last superstep.
    let apart = |pair: &[(Instant, Instant)]| pair[0].0 + Duration::from_millis(3 * 30) <= pair[1].0;
    assert!(spans.windows(2).all(apart), "{spans:?}");
}

#[test]
fn a_run_that_waits_for_another_can_be_cancelled() {
    let store = two_hundred();
    let (engine, cancel) = engine(&store, FetcherKind::Auto, None);
    std::thread::scope(|scope| {
        let (begun, hears) = std::sync::mpsc::channel();
        let (engine, cancel) = (&engine, &cancel);
        let first = scope.spawn(move || {
            engine.run_observed(pagerank(1, Dangling::Spread, Traffic::Push), &mut |_| {
                begun.send(()).unwrap();
                while !cancel.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(5));
                }
                std::thread::sleep(Duration::from_millis(500));
            })
        });
        hears.recv().unwrap();
        let second = scope.spawn(|| engine.run(pagerank(1, Dangling::Spread, Traffic::Push)).map(|_| ()));
        std::thread::sleep(Duration::from_millis(50));
        cancel.store(true, Ordering::Relaxed);
        assert!(matches!(second.join().unwrap(), Err(Error::Interrupted)));
        assert!(!first.is_finished());
    });
}

#[test]
fn a_run_within_a_run_of_the_same_engine_is_an_error() {
    let store = two_hundred();
    let (engine, _) = engine(&store, FetcherKind::Auto, None);
    let mut inner = None;
    engine
        .run_observed(pagerank(1, Dangling::Spread, Traffic::Push), &mut |_| {
            inner = Some(engine.run(Bfs::from(VertexId(0))).map(|_| ()));
        })
        .unwrap();
    assert!(matches!(inner, Some(Err(Error::Parameter(text))) if text.contains("within")));
}

/// In a task of either kind of runtime, among other tasks, and in an entered runtime.
#[test]
fn a_run_works_inside_a_tokio_runtime() {
    let graph = EdgeList::new(3000, random_edges(0..3000, 60_000, 6));
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let right = rank_iterations(&graph, 0.85, Dangling::Spread, 8);
    let found = |fetcher| {
        let (engine, _) = engine(&store, fetcher, Some(6));
        ranks(&engine, pagerank(8, Dangling::Spread, Traffic::Push)).unwrap().dense()
    };
    let check = |fetcher, what: &str| {
        assert!(relative_error(&found(fetcher), &right) < 1e-6, "{fetcher:?} in {what}");
    };
    let one = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let many = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    for fetcher in FETCHERS {
        one.block_on(async { check(fetcher, "a runtime of one thread") });
        many.block_on(async { check(fetcher, "a runtime of several") });
        let _entered = one.enter();
        check(fetcher, "an entered runtime");
    }
    // A task has a cooperative budget, which a long run would use up.
    let (engine, _) = engine(&store, FetcherKind::Threads, Some(6));
    let task = many.spawn(async move {
        engine.run(pagerank(60, Dangling::Spread, Traffic::Push)).map(|run| run.report.steps.len())
    });
    let steps = within(60, "a run in a task", move || many.block_on(task).unwrap());
    assert_eq!(steps.unwrap(), 60);
}

// ---- Refusals -------------------------------------------------------------------------------------------------------

#[test]
fn impossible_runs_are_errors() {
    let store = two_hundred();
    let run = |options: EngineOptions, source| {
        store.engine(options).run(Bfs::from(VertexId(source))).map(|_| ()).map_err(|error| {
            assert!(matches!(error, Error::Parameter(_) | Error::NoDevice(_)), "{error:?}");
            error.to_string()
        })
    };
    let options = || engine_options(None, 2, FetcherKind::Auto);
    let says = |result: Result<(), String>, words: &str| {
        assert!(result.as_ref().is_err_and(|text| text.contains(words)), "{words}: {result:?}");
    };
    says(run(options().with_devices(Vec::new()), 0), "needs at least one");
    says(run(options(), 200), "vertex 200 does not exist: the graph has 200 vertices");
    says(run(options(), u32::MAX), "does not exist");
    says(run(options().with_threads(1025), 0), "1025");
    says(run(options().with_threads(usize::MAX), 0), "threads");
    for threads in [0, 1, 1024] {
        assert_eq!(run(options().with_threads(threads), 0), Ok(()), "{threads} threads");
    }
    // A budget beyond the address space, of which only a part is needed.
    let huge = options().with_memory_bytes(1 << 60).with_buffer_bytes(None);
    assert_eq!(run(huge, 0), Ok(()), "no more is allocated than the graph needs");
}
