//! Device memory: runs that do not fit are refused before anything is read, with exact figures; others stay within the
//! budget; and all memory is freed.

use crate::agreement::RANK_ERROR;
use crate::common::*;
use crate::gpu_test;
use crate::reference::*;
use crate::setting::*;
use std::process::Command;
use topostream::algorithms::{PageRank, Traffic};
use topostream::device::settings::{Distribution, FastPaths, GpuSettings, PageTransfer};
use topostream::pages::fetch::{Faults, FetcherKind};
use topostream::{Direction, Engine, Error};
use topostream_formats::Encoding;

/// Enough vertices for attributes larger than a page; about 25 pages in each direction.
fn graph() -> EdgeList {
    EdgeList::new(90_000, random_edges(0..90_000, 300_000, 21))
}

fn push() -> PageRank {
    pagerank(2, Dangling::Spread, Traffic::Push)
}

fn in_place() -> Setting {
    Setting { transfer: PageTransfer::InPlace, distribution: Distribution::Segments, ..Setting::default() }
}

fn copied() -> Setting {
    Setting { transfer: PageTransfer::Copy, ..Setting::default() }
}

// ---- Refusals -------------------------------------------------------------------------------------------------------

/// The figures of a refusal.
pub fn refusal<T>(result: Result<T, Error>) -> (u64, u64, String) {
    match result {
        Err(Error::DeviceMemory { needed_bytes, budget_bytes, parts, .. }) => (needed_bytes, budget_bytes, parts),
        Err(error) => panic!("not about device memory: {error}"),
        Ok(_) => panic!("not refused"),
    }
}

gpu_test! {
    /// The figure in the message is exact: a run works with this budget, but not with one byte less. Such a run is slow
    /// but correct.
    fn the_figure_of_a_refusal_suffices() {
        let graph = graph();
        let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
        let (levels, source) = (levels(&graph, 5), 5);
        for setting in some([in_place(), copied(), Setting { fast_paths: SLOW, ..copied() }, Setting::default()], 2) {
            if !setting.is_possible() {
                continue;
            }
            for traffic in TRAFFICS {
                let engine = |memory| store.engine(with_memory(setting.options(), memory));
                let run = |memory| ranks(&engine(memory), PageRank { traffic, ..push() });
                let (needed, budget, parts) = refusal(run(0));
                assert_eq!(budget, 0);
                for part in ["attributes", "directories", "working memory", "pages of 65536"] {
                    assert!(parts.contains(part), "{part:?} is not in: {parts}");
                }
                assert_eq!(refusal(run(needed - 1)).0, needed, "{setting:?}, {traffic:?}");
                let tight = engine(needed);
                let tight = within(60, "as little as will do", move || ranks(&tight, PageRank { traffic, ..push() }));
                let found = tight.unwrap_or_else(|error| panic!("{setting:?}, {traffic:?}: {error}"));
                assert_eq!(bits(&found.dense()), bits(&run(1 << 30).unwrap().dense()), "{setting:?}, {traffic:?}");
            }
            let run = |memory| search(&store.engine(with_memory(setting.options(), memory)), source, true, true);
            let needed = refusal(run(0)).0;
            assert_eq!(refusal(run(needed - 1)).0, needed, "{setting:?}");
            let tight = store.engine(with_memory(setting.options(), needed));
            let found = within(60, "as little as will do", move || search(&tight, source, true, true)).unwrap();
            assert!(found.levels.dense() == levels, "{setting:?}");
        }
    }
}

gpu_test! {
    /// With every page damaged, the message is still about memory.
    fn a_refusal_comes_before_any_page_is_read() {
        let store = TestStore::new(&graph(), &small_pages(Encoding::VertexId));
        let engine = store.engine(with_memory(Setting::default().options(), 1 << 10));
        let pages = store.path().join("pages.0");
        let length = std::fs::metadata(&pages).unwrap().len();
        std::fs::write(&pages, vec![7; length as usize]).unwrap();
        let (needed, budget, _) = refusal(ranks(&engine, push()));
        assert!(needed > budget && budget == 1 << 10);
    }
}

gpu_test! {
    /// An attribute that push reads only with its page moves to main memory first: four bytes a vertex. For pull, which
    /// reads it at random, and without access to main memory, it must stay.
    fn read_only_attributes_move_to_main_memory() {
        if !in_place().is_possible() {
            return;
        }
        let graph = graph();
        let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
        let needed = |setting: &Setting, traffic| {
            refusal(ranks(&store.engine(with_memory(setting.options(), 0)), PageRank { traffic, ..push() })).0
        };
        let share_bytes = 4 * u64::from(graph.vertices);
        assert_eq!(needed(&in_place(), Traffic::Pull) - needed(&in_place(), Traffic::Push), share_bytes);
        let fast_paths = FastPaths { host_import: false, ..FastPaths::default() };
        let portable = Setting { fast_paths, ..copied() };
        assert_eq!(needed(&portable, Traffic::Pull), needed(&portable, Traffic::Push));
        let least = needed(&in_place(), Traffic::Push);
        let expected = rank_iterations(&graph, 0.85, Dangling::Spread, 2);
        for more in [0, share_bytes / 2, share_bytes - 1, share_bytes, 2 * share_bytes] {
            let engine = store.engine(with_memory(in_place().options(), least + more));
            for run in 0..2 {
                let found = ranks(&engine, push()).unwrap().dense();
                let error = relative_error(&found, &expected);
                assert!(error <= RANK_ERROR, "{more} bytes more, run {run}: off by {error:e}");
            }
        }
    }
}

// ---- In use ---------------------------------------------------------------------------------------------------------

gpu_test! {
    /// The driver's allocations during a run stay within the budget, except for rounding and small uploads and
    /// readbacks.
    fn a_run_stays_within_its_budget() {
        const ROUNDING: u64 = 2 << 20;
        let store = TestStore::new(&graph(), &small_pages(Encoding::VertexId));
        for setting in [copied(), Setting { fast_paths: SLOW, ..copied() }, in_place()] {
            if !setting.is_possible() {
                continue;
            }
            let least = needed_bytes(&store, &setting.options(), |engine| ranks(engine, push()));
            for memory in [least, least + 5 * PAGE, least + 9 * PAGE] {
                let engine = store.engine(with_memory(setting.options(), memory));
                ranks(&engine, push()).unwrap();
                let device = engine.with_gpu(|gpu| gpu.device().clone()).expect("the device stays between runs");
                let mut most = 0;
                let mut observer = |_: &topostream::report::StepReport| {
                    let report = device.generate_allocator_report().expect("Vulkan's allocator tells");
                    most = most.max(report.total_allocated_bytes);
                };
                engine.run_observed(push(), &mut observer).map(drop).unwrap();
                assert!(most > 0 && most <= memory + ROUNDING, "{most} bytes of {memory}, {setting:?}");
            }
        }
    }
}

gpu_test! {
    /// A batch with more long lists than the initial queue holds: the queue grows, and answers are correct before and
    /// after.
    fn a_queue_that_is_too_short_grows() {
        let n = 2500;
        let hubs = (0..2200u32).flat_map(|hub| (0..2049u32).map(move |number| (hub, (hub + number) % n)));
        let graph = EdgeList::new(n, hubs.collect());
        let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
        let engine = store.engine(Setting { distribution: Distribution::Hybrid, ..Setting::default() }.options());
        let found = ranks(&engine, pagerank(3, Dangling::Lost, Traffic::Push)).unwrap().dense();
        let error = relative_error(&found, &rank_iterations(&graph, 0.85, Dangling::Lost, 3));
        assert!(error <= RANK_ERROR, "off by {error:e}");
        let found = search(&engine, 0, false, false).unwrap().levels.dense();
        assert!(found == levels(&graph, 0));
    }
}

// ---- Freed memory ---------------------------------------------------------------------------------------------------

/// Main memory of this process, in bytes; software Vulkan has its device memory there too.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix("kB").unwrap().trim().parse::<u64>().unwrap() << 10
}

/// Runs that succeed, fail in the middle, or are refused, on engines that are kept and on engines that are dropped.
fn one_of_each(store: &TestStore, kept: &[Engine]) {
    for engine in kept {
        ranks(engine, push()).unwrap();
        ranks(engine, PageRank { traffic: Traffic::Pull, ..push() }).unwrap();
        search(engine, 5, true, true).unwrap();
    }
    let faults = Faults { flipped_bits: 300, lasting: true, ..Faults::none(1) };
    let failing = Setting { fetcher: FetcherKind::Simulated(faults), ..copied() };
    ranks(&store.engine(failing.options()), push()).map(drop).unwrap_err();
    ranks(&store.engine(with_memory(copied().options(), 1)), push()).map(drop).unwrap_err();
}

/// Run by the test below in a separate process, where nothing else takes memory.
#[test]
#[ignore = "run by nothing_is_left_behind"]
#[cfg(target_os = "linux")]
fn many_runs() {
    let store = TestStore::new(&graph(), &small_pages(Encoding::VertexId));
    let cancel = copied().options().with_cancel(std::sync::Arc::new(true.into()));
    let kept =
        [store.engine(Setting::default().options()), store.engine(Setting { fast_paths: SLOW, ..copied() }.options())];
    let mut after = Vec::new();
    for _ in 0..8 {
        one_of_each(&store, &kept);
        ranks(&store.engine(cancel.clone()), push()).map(drop).unwrap_err();
        after.push(resident_bytes());
    }
    let (early, late) = (after[3], after[7]);
    println!("{} MiB, then {} MiB", early >> 20, late >> 20);
    assert!(late < early + (24 << 20), "memory grows from run to run: {after:?}");
}

#[cfg(target_os = "linux")]
gpu_test! {
    /// Seventy runs, with new engines and failures in between, take no more memory than the first ones.
    fn nothing_is_left_behind() {
        if !thorough() {
            skipped("seventy runs take long; TOPOSTREAM_TESTS=all has them");
            return;
        }
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "memory::many_runs", "--ignored", "--nocapture"]);
        let output = child.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && text.contains("1 passed"), "{text}{errors}");
    }
}

gpu_test! {
    /// A cache has the requested size, and a scan finds its share there.
    fn a_cache_has_the_requested_size() {
        let store = TestStore::new(&graph(), &small_pages(Encoding::VertexId));
        let all = u64::from(store.open().topology(Direction::Out).unwrap().page_count());
        for slots in [1, 3, all / 2, all, 2 * all] {
            let gpu = GpuSettings { cache_bytes: Some(slots * PAGE + PAGE / 2), ..in_place().gpu() };
            if !in_place().is_possible() {
                return;
            }
            let engine = store.engine(in_place().options().with_gpu(gpu));
            let report = ranks(&engine, pagerank(3, Dangling::Lost, Traffic::Push)).unwrap().report;
            for step in &report.steps[1..] {
                assert_eq!(step.transfer.resident_pages, slots.min(all), "{slots} slots: {step:?}");
            }
        }
    }
}
