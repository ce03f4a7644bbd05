//! What supersteps waited for: the parts add up to the elapsed time, and slow parts are attributed correctly.

use crate::common::*;
use crate::reference::*;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use topostream::Direction;
use topostream::algorithms::Traffic;
use topostream::model::algorithm::{Algorithm, Answer, Declaration, Kernel, List, State, Step, Visit};
use topostream::pages::fetch::{Faults, FetcherKind};
use topostream::report::{Bound, RunReport};
use topostream_formats::Encoding;
use topostream_formats::write::Layout;
use topostream_tools::format::FormatOptions;

/// Checks that the parts of each superstep add up to its time, and supersteps to the run.
fn check_sums(what: &str, report: &RunReport) {
    for step in &report.steps {
        assert_eq!(step.waits.sum_ns(), step.wall_ns, "{what}: {step:?}");
    }
    let sums = report.steps.iter().map(|step| step.waits.sum_ns()).sum();
    assert_eq!((report.total.waits.sum_ns(), report.total.wall_ns), (sums, sums), "{what}: {:?}", report.total);
}

#[test]
fn the_parts_of_a_superstep_add_up() {
    let graph = EdgeList::new(100_000, random_edges(0..100_000, 1_500_000, 81));
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    for fetcher in [FetcherKind::Auto, FetcherKind::Simulated(Faults { io_errors: 90, ..Faults::none(5) })] {
        for (buffer, threads) in [(Some(9), 1), (Some(30), 2), (None, 2)] {
            let engine = store.engine(engine_options(buffer, threads, fetcher));
            let what = format!("{fetcher:?}, {buffer:?}, {threads} threads");
            check_sums(&what, &ranks(&engine, pagerank(4, Dangling::Lost, Traffic::Push)).unwrap().report);
            check_sums(&what, &search(&engine, 0, true, true).unwrap().levels.report);
        }
    }
}

// ---- A slow edge function -------------------------------------------------------------------------------------------

/// Visits all lists once, and sleeps in every thousandth.
struct Sleepy;

/// The duration of a sleep.
const NAP: Duration = Duration::from_millis(2);
/// One sleep per this many lists.
const NAPS_EVERY: u32 = 1000;

impl Kernel for Sleepy {
    type Record = ();

    fn open(&self, list: List) -> Option<()> {
        if list.vertex.is_multiple_of(NAPS_EVERY) {
            std::thread::sleep(NAP);
        }
        None
    }

    fn edge(&self, _record: &mut (), _neighbour: u32, _weight: u32) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

impl Algorithm for Sleepy {
    type Kernel<'a> = Self;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        Declaration::new("sleepy", Vec::new(), vec![(Direction::Out, Visit::All)])
    }

    fn kernel<'a>(&'a self, _state: &'a State, _step: &Step) -> Self {
        Self
    }

    fn answers<'a>(&'a self, _state: &'a State) -> Vec<Answer<'a>> {
        Vec::new()
    }
}

#[test]
fn slow_edges_are_kernels() {
    let vertices = 200_000;
    let graph = EdgeList::new(vertices, random_edges(0..vertices, 1_000_000, 82));
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let slept_ns = u64::from(vertices / NAPS_EVERY) * NAP.as_nanos() as u64;
    for buffer in [Some(9), None] {
        let begun = Instant::now();
        let report = store.engine(engine_options(buffer, 1, FetcherKind::Auto)).run(Sleepy).unwrap().report;
        let took_ns = begun.elapsed().as_nanos() as u64;
        let kernels_ns = report.total.waits.kernels_ns;
        assert!((slept_ns..=took_ns).contains(&kernels_ns), "{buffer:?}: {slept_ns} ns of sleep, {:?}", report.total);
        assert_eq!(report.bound, Bound::Compute, "{buffer:?}: {:?}", report.total);
    }
}

// ---- A slow disk ----------------------------------------------------------------------------------------------------

/// Maximum latency of a read, in polls of somewhat less than a microsecond.
const LATENCY: u32 = 100_000;

/// The device has pages most of the time but is rarely busy: few frames, two threads, short lists.
#[test]
fn slow_reads_are_the_disk() {
    let graph = EdgeList::new(20_000, random_edges(0..20_000, 300_000, 83));
    let options = small_pages(Encoding::VertexId);
    let second = tempfile::tempdir().unwrap();
    let stripes = vec![".".into(), second.path().join("second")];
    let options = FormatOptions { layout: Layout { stripes, ..options.layout.clone() }, ..options };
    let store = TestStore::new(&graph, &options);
    let slow = FetcherKind::Simulated(Faults { latency_max: LATENCY, ..Faults::none(7) });
    let run = |fetcher| {
        let engine = store.engine(engine_options(Some(9), 2, fetcher));
        ranks(&engine, pagerank(3, Dangling::Lost, Traffic::Push)).unwrap().report
    };
    let report = run(slow);
    let waits = report.total.waits;
    assert!(waits.disk_ns * 10 >= 8 * report.total.wall_ns, "{:?}", report.total);
    assert!(matches!(report.bound, Bound::Disk | Bound::Memory), "{:?}", report.total);
    // Compared with a fast disk.
    let fast = run(FetcherKind::Simulated(Faults { latency_max: 1, ..Faults::none(7) }));
    assert!(waits.disk_ns > 10 * fast.total.waits.disk_ns.max(1), "{:?} and {:?}", report.total, fast.total);
}
