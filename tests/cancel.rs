//! Stopping a run: the flag is heard in every superstep, and the engine runs on afterwards.

mod common;
mod reference;

use common::*;
use reference::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use topostream::algorithms::{Bfs, Traffic};
use topostream::fetch::FetcherKind;
use topostream::{Engine, EngineOptions, Error, VertexId};
use topostream_formats::Encoding;

fn engine(store: &TestStore, fetcher: FetcherKind, buffer: Option<u64>) -> (Engine, Arc<AtomicBool>) {
    let cancel = Arc::new(AtomicBool::new(false));
    let options = EngineOptions { cancel: Arc::clone(&cancel), ..engine_options(buffer, 2, fetcher) };
    (store.engine(options), cancel)
}

#[test]
fn a_flag_that_is_up_already_stops_a_run_at_once() {
    let store = TestStore::new(&EdgeList::new(50, random_edges(0..50, 200, 1)), &small_pages(Encoding::VertexId));
    let (engine, cancel) = engine(&store, FetcherKind::Auto, None);
    cancel.store(true, Ordering::Relaxed);
    let mut steps = 0;
    let result = engine.run(pagerank(5, Dangling::Spread, Traffic::Push), &mut |_| steps += 1);
    assert!(matches!(result, Err(Error::Interrupted)) && steps == 0);
}

/// Raised between supersteps, by whoever hears of them.
#[test]
fn a_run_stops_at_the_superstep_that_raised_the_flag() {
    let graph = EdgeList::new(20_000, random_edges(0..20_000, 200_000, 2));
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    for (fetcher, buffer) in FETCHERS.into_iter().zip([Some(4), None, Some(9)]) {
        let (engine, cancel) = engine(&store, fetcher, buffer);
        let mut steps = 0;
        let result = engine.run(pagerank(1_000_000, Dangling::Spread, Traffic::Push), &mut |step| {
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

/// Raised from another thread, as by Ctrl-C; also in a search of many short supersteps.
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
                true => runner.run(Bfs::from(VertexId(0)), &mut |_| {}).map(|_| ()),
                false => runner.run(pagerank(u32::MAX, Dangling::Lost, Traffic::Pull), &mut |_| {}).map(|_| ()),
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
