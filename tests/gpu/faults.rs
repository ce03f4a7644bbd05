//! Failures during a run: faults of storage, device loss, cancellation. Runs survive transient faults; a lasting one is
//! an error that names the page. Never a wrong answer, a panic or a hang; and the next run works.

use crate::agreement::RANK_ERROR;
use crate::common::*;
use crate::gpu_test;
use crate::graphs::ITERATIONS;
use crate::reference::*;
use crate::setting::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use topostream::algorithms::{Bfs, Traffic};
use topostream::device::settings::{Distribution, PageTransfer};
use topostream::error::GpuError;
use topostream::pages::fetch::{Faults, FetcherKind};
use topostream::{Engine, Error, VertexId};
use topostream_formats::Encoding;

/// Time after which a run is considered hung.
const PATIENCE_S: u64 = 60;

/// Small and large pages, in both directions: about 20 pages each.
fn graph() -> EdgeList {
    let mut edges = random_edges(0..9000, 250_000, 11);
    edges.extend((0..40_000).map(|number| (17, number % 9000)));
    edges.extend((0..40_000).map(|number| (number % 9000, 4000)));
    EdgeList::new(9000, edges)
}

/// The transfers of a page to a kernel: in place, by the transfer queue or the launch, through staging buffers.
fn ways() -> Vec<Setting> {
    let setting = Setting::default();
    let all = [
        Setting {
            transfer: PageTransfer::InPlace,
            distribution: Distribution::Segments,
            cache: Cache::Off,
            ..setting.clone()
        },
        Setting { transfer: PageTransfer::Copy, cache: Cache::All, copy_queue: true, ..setting.clone() },
        Setting { transfer: PageTransfer::Copy, cache: Cache::Off, copy_queue: true, ..setting.clone() },
        Setting { transfer: PageTransfer::Copy, cache: Cache::All, ..setting.clone() },
        Setting { fast_paths: SLOW, cache: Cache::Off, batch_pages: 3, ..setting.clone() },
        Setting { distribution: Distribution::Hybrid, batch_pages: 1, ..setting },
    ];
    all.into_iter().filter(Setting::is_possible).collect()
}

// ---- Transient faults -----------------------------------------------------------------------------------------------

gpu_test! {
    /// Random faults of all kinds, with every transfer of pages.
    fn transient_faults_are_survived() {
        let graph = graph();
        let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
        let expected = rank_iterations(&graph, 0.85, Dangling::Lost, ITERATIONS as usize);
        let far = levels(&graph, 8999);
        let mut retries = 0;
        for (number, way) in ways().into_iter().enumerate() {
            // By default, one of the two.
            for round in (0..2).filter(|round| thorough() || *round == number as u64 % 2) {
                let seed = 2 * number as u64 + round;
                let each = 60 + (seed * 40) as u32;
                let calm = Faults { latency_max: 1 + (seed * 5) as u32, ..Faults::none(seed) };
                let faults = Faults { io_errors: each, flipped_bits: each, short_reads: each, ..calm };
                let setting =
                    Setting { fetcher: FetcherKind::Simulated(faults), buffer: Some(4 + 5 * round), ..way.clone() };
                let engine = store.engine(setting.options());
                let (ranks, found) = within(PATIENCE_S, &format!("{setting:?}"), move || {
                    let traffic = TRAFFICS[round as usize];
                    let ranks = ranks(&engine, pagerank(ITERATIONS, Dangling::Lost, traffic)).unwrap();
                    (ranks, search(&engine, 8999, true, round == 0).unwrap())
                });
                let error = relative_error(&ranks.dense(), &expected);
                assert!(error <= RANK_ERROR, "{setting:?}: off by {error:e}");
                retries += ranks.report.retries + found.levels.report.retries;
                assert_eq!(found.levels.dense(), far, "{setting:?}");
                let tree = check_least_tree(&graph, 8999, &far, &found.parents.unwrap());
                tree.unwrap_or_else(|defect| panic!("{setting:?}: {defect}"));
            }
        }
        assert!(retries > 50, "only {retries} retries: the faults did not happen");
    }
}

// ---- Lasting faults -------------------------------------------------------------------------------------------------

gpu_test! {
    /// The run ends with an error that names file and page, with or without pages on their way to the device.
    fn lasting_faults_end_the_run() {
        let store = TestStore::new(&graph(), &small_pages(Encoding::VertexId));
        for (number, way) in ways().into_iter().enumerate() {
            for rate in [1000, 60] {
                let calm = Faults { lasting: true, ..Faults::none(number as u64) };
                let all = [
                    Faults { io_errors: rate, ..calm },
                    Faults { flipped_bits: rate, ..calm },
                    Faults { short_reads: rate, ..calm },
                ];
                let faults = all[(number + rate as usize) % 3];
                let fetcher = FetcherKind::Simulated(faults);
                let engine = store.engine(Setting { fetcher, buffer: Some(9), ..way.clone() }.options());
                lasting_fault(engine, faults, rate == 1000);
            }
        }
    }
}

fn lasting_fault(engine: Engine, faults: Faults, certain: bool) {
    let what = format!("{faults:?}");
    let result = within(PATIENCE_S, &what, move || {
        ranks(&engine, pagerank(ITERATIONS, Dangling::Spread, Traffic::Push)).map(|found| found.report.retries)
    });
    match result {
        Err(error @ (Error::Read { tries: 3, .. } | Error::Store(topostream_formats::Error::Page { .. }))) => {
            assert_eq!(faults.io_errors > 0, matches!(error, Error::Read { .. }), "{what}: {error}");
            let message = error.to_string();
            assert!(message.contains("pages.0") && message.contains("page "), "{what}: {message}");
        }
        Err(error) => panic!("{what}: {error:?}"),
        Ok(retries) => assert!(!certain && (faults.short_reads > 0 || retries == 0), "{what}: {retries} retries"),
    }
}

gpu_test! {
    /// After the disk is repaired, the same engine works, with the same device.
    fn after_an_error_the_engine_works() {
        let store = TestStore::new(&graph(), &small_pages(Encoding::VertexId));
        let pages = store.path().join("pages.0");
        let sound = std::fs::read(&pages).unwrap();
        let mut damaged = sound.clone();
        // All but the first pages, so that the device has some when the error occurs.
        damaged.chunks_mut(PAGE as usize).skip(5).for_each(|page| page[100] ^= 4);
        let cut = &sound[..3 * PAGE as usize + 1000];
        for (way, fetcher) in ways().into_iter().zip(FETCHERS.into_iter().cycle()) {
            let engine = Arc::new(store.engine(Setting { fetcher, buffer: Some(6), ..way.clone() }.options()));
            let run = |what: &str| {
                let engine = Arc::clone(&engine);
                within(PATIENCE_S, &format!("{what}, {way:?}"), move || {
                    ranks(&engine, pagerank(2, Dangling::Spread, Traffic::Push)).map(|found| bits(&found.dense()))
                })
            };
            let error = |what: &str, bytes: &[u8]| {
                // Written in place: the engine reopens the files for every run, but they are the same files.
                std::fs::write(&pages, bytes).unwrap();
                let result = run(what);
                std::fs::write(&pages, &sound).unwrap();
                result
            };
            // With a page cache on the device, runs after the first one read nothing, so the first one reads the
            // damage.
            let message = error("damaged", &damaged).expect_err("damaged").to_string();
            assert!(message.contains("pages.0"), "{way:?}: {message}");
            let before = run("sound").unwrap();
            for (what, bytes) in [("damaged", &damaged[..]), ("cut off", cut)] {
                match error(what, bytes) {
                    Err(error) => assert!(error.to_string().contains("pages.0"), "{what}, {way:?}: {error}"),
                    Ok(found) => assert!(way.cache == Cache::All && found == before, "{what}, {way:?}: went unnoticed"),
                }
                assert_eq!(run(what).unwrap(), before, "{what}, {way:?}");
            }
        }
    }
}

// ---- A lost device --------------------------------------------------------------------------------------------------

/// Runs until the second superstep, then loses the device.
fn lose(engine: &Engine, search: bool) -> Result<(), Error> {
    let mut lose = engine.with_gpu(|gpu| gpu.loser()).expect("the device stays between runs");
    let mut observer = |step: &topostream::report::StepReport| {
        if step.superstep == 1 {
            lose();
        }
    };
    match search {
        true => engine.run_observed(Bfs::from(VertexId(0)), &mut observer).map(|_| ()),
        false => engine.run_observed(pagerank(1000, Dangling::Spread, Traffic::Push), &mut observer).map(|_| ()),
    }
}

gpu_test! {
    /// A typed error, within seconds; afterwards the engine reopens the device.
    fn a_device_that_is_lost_ends_the_run() {
        let path = (0..2999).map(|vertex| (vertex, vertex + 1));
        let graph = EdgeList::new(3000, path.chain(random_edges(0..5, 20_000, 3)).collect());
        let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
        let expected = rank_iterations(&graph, 0.85, Dangling::Spread, 3);
        for (number, way) in ways().into_iter().enumerate() {
            let engine = Arc::new(store.engine(Setting { buffer: Some(4), ..way.clone() }.options()));
            for search in [number % 2 == 0, number % 2 != 0] {
                let check = |found: Vec<f64>| assert!(relative_error(&found, &expected) <= RANK_ERROR, "{way:?}");
                check(ranks(&engine, pagerank(3, Dangling::Spread, Traffic::Push)).unwrap().dense());
                let runner = Arc::clone(&engine);
                let result = within(PATIENCE_S, &format!("lost, {way:?}"), move || lose(&runner, search));
                let error = result.expect_err("the device is lost");
                assert!(matches!(&error, Error::Gpu(GpuError::Lost { .. })), "{way:?}, search {search}: {error:?}");
                assert!(error.to_string().contains("--device cpu"), "{error}");
                check(ranks(&engine, pagerank(3, Dangling::Spread, Traffic::Push)).unwrap().dense());
            }
        }
    }
}

// ---- Cancellation ---------------------------------------------------------------------------------------------------

gpu_test! {
    /// Between supersteps, and from another thread in the middle of one; the engine works afterwards.
    fn a_run_can_be_cancelled() {
        let graph = graph();
        let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
        let expected = rank_iterations(&graph, 0.85, Dangling::Spread, 3);
        for way in ways() {
            let cancel = Arc::new(AtomicBool::new(false));
            let setting = Setting { buffer: Some(5), ..way.clone() };
            let engine = Arc::new(store.engine(setting.options().with_cancel(Arc::clone(&cancel))));
            let mut steps = 0;
            let result = engine.run_observed(pagerank(1_000_000, Dangling::Spread, Traffic::Push), &mut |step| {
                steps += 1;
                cancel.store(step.superstep == 2, Ordering::Relaxed);
            });
            assert!(matches!(result, Err(Error::Interrupted)) && steps == 3, "{way:?}: {steps} steps");
            cancel.store(false, Ordering::Relaxed);
            let runner = Arc::clone(&engine);
            let run = std::thread::spawn(move || {
                runner.run(pagerank(u32::MAX, Dangling::Lost, Traffic::Pull)).map(|_| ())
            });
            std::thread::sleep(Duration::from_millis(150));
            let raised = Instant::now();
            cancel.store(true, Ordering::Relaxed);
            let result = within(PATIENCE_S, "a cancelled run", move || run.join().unwrap());
            assert!(matches!(result, Err(Error::Interrupted)), "{way:?}: {result:?}");
            assert!(raised.elapsed() < Duration::from_secs(10), "{way:?}: {:?}", raised.elapsed());
            cancel.store(false, Ordering::Relaxed);
            let found = ranks(&engine, pagerank(3, Dangling::Spread, Traffic::Push)).unwrap().dense();
            assert!(relative_error(&found, &expected) <= RANK_ERROR, "{way:?}");
        }
    }
}
