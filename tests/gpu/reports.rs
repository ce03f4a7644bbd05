//! Reports of a GPU: every page has one kind of transfer, every edge is counted, and a scan hits the cache's share.

use crate::adapter;
use crate::agreement::RANK_ERROR;
use crate::common::*;
use crate::gpu_test;
use crate::graphs::{self, ITERATIONS};
use crate::reference::*;
use crate::setting::*;
use topostream::algorithms::Traffic;
use topostream::device::settings::{CachePolicy, Distribution, GpuSettings, PageTransfer};
use topostream::report::{RunReport, StepReport};
use topostream::{Direction, EngineOptions};
use topostream_formats::Encoding;

/// Every page was resident, or copied, or read in place.
fn check_step(step: &StepReport, setting: &Setting) {
    let (transfer, page_bytes) = (step.transfer, u64::from(setting.page_bytes));
    let moved_bytes = transfer.copied_bytes + transfer.in_place_bytes;
    assert_eq!(transfer.resident_pages * page_bytes + moved_bytes, step.pages * page_bytes, "{setting:?}: {step:?}");
    let batches = step.pages.div_ceil(setting.batch_pages.into());
    assert!((batches..=step.pages).contains(&transfer.batches), "{setting:?}: {step:?}");
    // Pages that are not on the device come from the page buffer or from disk.
    let here = step.pages_cached + step.disk_bytes / page_bytes;
    assert_eq!(transfer.resident_pages + here, step.pages, "{setting:?}: {step:?}");
    assert!(transfer.overlap_ns <= transfer.copy_ns, "{setting:?}: {step:?}");
    assert_eq!(step.waits.sum_ns(), step.wall_ns, "{setting:?}: {step:?}");
    // If the device has timestamps, kernels over main memory count as bus time.
    assert!(transfer.in_place_ns <= step.compute_ns, "{setting:?}: {step:?}");
    assert_eq!(transfer.in_place_ns > 0, transfer.in_place_bytes > 0 && step.compute_ns > 0, "{setting:?}: {step:?}");
    assert!(transfer.in_place_ns == 0 || step.waits.bus_ns > 0, "{setting:?}: {step:?}");
}

gpu_test! {
    /// A search by an engine for one run leaves its pages to a device that has room for all, and only there.
    fn pages_on_the_device_are_not_buffered_for_a_single_run() {
        let graph = graphs::hubs();
        let store = TestStore::new(&graph.edges, &small_pages(Encoding::VertexId));
        let room = Setting { transfer: PageTransfer::Copy, ..Setting::default() };
        let no_room = Setting { cache: Cache::Off, ..room.clone() };
        for (setting, single, buffered) in [(&room, false, true), (&room, true, false), (&no_room, true, true)] {
            let engine = store.engine(by_host(setting).options().with_single_run(single));
            let report = search(&engine, graph.source.into(), false, false).unwrap().levels.report;
            assert!(report.total.disk_bytes > 0);
            assert_eq!(engine.buffered_pages() > 0, buffered, "{setting:?}, single run: {single}");
        }
    }
}

gpu_test! {
    fn transfer_figures_add_up_and_edges_are_those_of_the_cpu() {
        let graph = graphs::hubs();
        let store = TestStore::new(&graph.edges, &small_pages(Encoding::VertexId));
        let ways = [
            Setting { transfer: PageTransfer::InPlace, distribution: Distribution::Segments, ..Setting::default() },
            Setting {
                cache: Cache::Off,
                transfer: PageTransfer::Copy,
                batch_pages: 3,
                buffer: Some(6),
                ..Setting::default()
            },
            Setting { fast_paths: SLOW, distribution: Distribution::Warp(8), batch_pages: 1, ..Setting::default() },
            Setting { distribution: Distribution::Hybrid, ..Setting::default() },
            Setting { copy_queue: true, transfer: PageTransfer::Copy, buffer: Some(6), ..Setting::default() },
        ];
        for setting in ways.into_iter().filter(Setting::is_possible) {
            let setting = by_host(&setting);
            let (gpu, cpu) = (store.engine(setting.options()), store.engine(on_cpu(setting.options())));
            let runs = |engine| -> [RunReport; 3] {
                let ranks = |traffic| ranks(engine, pagerank(ITERATIONS, Dangling::Lost, traffic)).unwrap().report;
                let down = search(engine, graph.source.into(), false, false).unwrap().levels.report;
                [ranks(Traffic::Push), ranks(Traffic::Pull), down]
            };
            for (on_gpu, on_cpu) in runs(&gpu).iter().zip(&runs(&cpu)) {
                assert_eq!(on_gpu.device, adapter::report().name);
                assert_eq!(on_gpu.steps.len(), on_cpu.steps.len());
                assert_eq!(on_gpu.traversed_edges, on_cpu.traversed_edges);
                for (step, expected) in on_gpu.steps.iter().zip(&on_cpu.steps) {
                    check_step(step, &setting);
                    let figures =
                        |step: &StepReport| (step.superstep, step.direction, step.active, step.pages, step.edges);
                    assert_eq!(figures(step), figures(expected), "{setting:?}");
                }
                let sum: u64 = on_gpu.steps.iter().map(|step| step.transfer.copied_bytes).sum();
                assert_eq!(on_gpu.total.transfer.copied_bytes, sum);
            }
        }
    }
}

gpu_test! {
    /// Bottom-up steps stop in the middle of lists, so only pages and levels are compared with the CPU.
    fn bottom_up_searches_visit_the_same_pages() {
        let graph = EdgeList::new(9000, random_edges(0..9000, 200_000, 6));
        let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
        let setting = by_host(&Setting::default());
        let of = |options: EngineOptions| {
            // By edges alone, directions do not depend on the duration of reads.
            let engine = store.engine(options.with_alternatives(false));
            search(&engine, 0, false, true).unwrap().levels.report
        };
        let (on_gpu, on_cpu) = (of(setting.options()), of(on_cpu(setting.options())));
        assert!(on_cpu.steps.iter().any(|step| step.direction == Some(Direction::In)), "no bottom-up step");
        let figures = |report: &RunReport| -> Vec<_> {
            report.steps.iter().map(|step| (step.direction, step.active, step.pages)).collect()
        };
        assert_eq!(figures(&on_gpu), figures(&on_cpu));
    }
}

gpu_test! {
    /// GTS's claim for device memory: from the second superstep on, the share B / (S + L) of a scan is resident.
    fn scans_hit_the_caches_share() {
        let graph = EdgeList::new(9000, random_edges(0..9000, 650_000, 21));
        let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
        let all = u64::from(store.open().topology(Direction::Out).unwrap().page_count());
        for (transfer, distribution) in
            [(PageTransfer::Copy, Distribution::Hybrid), (PageTransfer::Auto, Distribution::Auto)]
        {
            let setting = Setting { transfer, distribution, buffer: Some(6), ..Setting::default() };
            let run = |options: EngineOptions| {
                let engine = store.engine(options);
                within(60, "a scan", move || ranks(&engine, pagerank(4, Dangling::Lost, Traffic::Push)))
            };
            let least =
                needed_bytes(&store, &setting.options(), |engine| {
                    ranks(engine, pagerank(1, Dangling::Lost, Traffic::Push))
                });
            // Degrees and shares, 8 bytes a vertex, return to the device before pages do.
            let values = least + 8 * 9000;
            for slots in some([10, 16, 24, all + 4], 2) {
                let options = with_memory(setting.options(), values + slots * (PAGE + 64));
                let report = run(options).unwrap().report;
                let share = slots.min(all) as f64 / all as f64;
                for step in &report.steps[1..] {
                    check_step(step, &setting);
                    let rate = step.resident_rate();
                    assert!(rate >= 0.9 * share, "{slots} slots for {all} pages, {transfer:?}: {rate}");
                }
            }
            // Only the requested size, even if there is room for more.
            let gpu = GpuSettings { cache_bytes: Some(0), ..setting.gpu() };
            let report = run(setting.options().with_gpu(gpu)).unwrap().report;
            assert_eq!(report.total.transfer.resident_pages, 0, "{transfer:?}: cached where no cache is wanted");
        }
    }
}

gpu_test! {
    /// Levels do not depend on the cache policy. Under LRU, pages are copied; if the first pages stay, others are read
    /// in place.
    fn searches_do_not_depend_on_the_pages_that_are_kept() {
        let graph = EdgeList::new(20_000, random_edges(0..20_000, 650_000, 22));
        let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
        let expected = levels(&graph, 3);
        let run = |cache_policy| {
            let setting = by_host(&Setting { cache_policy, buffer: Some(12), ..Setting::default() });
            let gpu = GpuSettings { cache_bytes: Some(8 * PAGE), ..setting.gpu() };
            let engine = store.engine(setting.options().with_gpu(gpu));
            let mut copied_bytes = 0;
            for bottom_up in [false, true, false] {
                let found = search(&engine, 3, true, bottom_up).unwrap();
                assert_eq!(found.levels.dense(), expected, "{cache_policy:?}, bottom up {bottom_up}");
                found.levels.report.steps.iter().for_each(|step| check_step(step, &setting));
                copied_bytes += found.levels.report.total.transfer.copied_bytes;
            }
            copied_bytes
        };
        let (fixed, lru) = (run(CachePolicy::Fixed), run(CachePolicy::Lru));
        let in_place = adapter::has("host memory import");
        assert!(if in_place { lru > 2 * fixed } else { lru == fixed }, "{lru} bytes and {fixed} bytes were copied");
        // Of both topologies, and in all runs.
        assert!(!in_place || fixed <= 8 * PAGE, "{fixed} bytes were copied to 8 slots that keep their pages");
    }
}

gpu_test! {
    /// A second run reuses the pages that the first one left on the device.
    fn pages_stay_on_the_device_between_runs() {
        let graph = graphs::hubs();
        let store = TestStore::new(&graph.edges, &small_pages(Encoding::VertexId));
        for distribution in some(DISTRIBUTIONS, 2) {
            let engine = store.engine(Setting { distribution, ..Setting::default() }.options());
            // A scan reuses the pages of a search, and vice versa.
            let found = search(&engine, graph.source.into(), false, false).unwrap();
            assert!(found.levels.dense() == levels(&graph.edges, graph.source), "{distribution}");
            for run in 0..2 {
                let found = ranks(&engine, pagerank(ITERATIONS, Dangling::Lost, Traffic::Push)).unwrap();
                let expected = rank_iterations(&graph.edges, 0.85, Dangling::Lost, ITERATIONS as usize);
                let error = relative_error(&found.dense(), &expected);
                assert!(error <= RANK_ERROR, "{distribution}, run {run}: off by {error:e}");
                let first = found.report.steps[0];
                let resident = first.transfer.resident_pages;
                assert!(run == 0 || (first.disk_bytes, resident) == (0, first.pages), "{distribution}: {first:?}");
            }
        }
    }
}

gpu_test! {
    /// Different runs on one engine, alternating with another engine.
    fn runs_one_after_another() {
        let graph = graphs::hubs();
        let store = TestStore::new(&graph.edges, &small_pages(Encoding::VertexId));
        let levels = levels(&graph.edges, graph.source);
        let expected = rank_iterations(&graph.edges, 0.85, Dangling::Lost, ITERATIONS as usize);
        let settings = [
            Setting::default(),
            Setting { distribution: Distribution::Hybrid, cache: Cache::Few, buffer: Some(7), ..Setting::default() },
        ];
        for setting in settings {
            let first = |engine: &topostream::Engine| ranks(engine, pagerank(1, Dangling::Lost, Traffic::Push));
            let (engine, cpu) = (setting.engine(&store, first), store.engine(on_cpu(setting.options())));
            for round in 0..3 {
                for engine in [&engine, &cpu] {
                    let traffic = TRAFFICS[round % 2];
                    let found = ranks(engine, pagerank(ITERATIONS, Dangling::Lost, traffic)).unwrap();
                    let error = relative_error(&found.dense(), &expected);
                    assert!(error <= RANK_ERROR, "round {round}, {setting:?}: off by {error:e}");
                    let found = search(engine, graph.source.into(), true, round != 1).unwrap();
                    assert!(found.levels.dense() == levels, "round {round}, {setting:?}");
                }
            }
        }
    }
}
