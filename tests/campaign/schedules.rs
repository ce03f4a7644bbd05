//! Schedules of faults through the simulated fetcher: scans, searches and asynchronous runs on both kinds of device.
//!
//! After a transient fault the answer is right; a permanent one ends the run with an error that names the page.

use crate::common::*;
use crate::context::{Campaign, Case, Verdict, say, text_of};
use crate::random::Random;
use crate::reference::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::time::Duration;
use topostream::algorithms::Traffic;
use topostream::device::DeviceChoice;
use topostream::pages::fetch::{Faults, FetcherKind};
use topostream::pages::memory::FRAMES_MIN;
use topostream::{Engine, Error};
use topostream_formats::Encoding;
use topostream_tools::format::FormatOptions;

/// A schedule takes milliseconds; with software Vulkan, a second.
const PATIENCE: Duration = Duration::from_secs(60);

/// One in this many schedules runs on the GPU, if there is one.
const ON_GPU: u64 = 50;

/// Graphs, their reference answers, and the GPU.
struct Subjects {
    directed: TestStore,
    weighted: TestStore,
    undirected: TestStore,
    levels: Vec<Option<u64>>,
    ranks: Vec<f64>,
    distances: Vec<f64>,
    components: Vec<u64>,
    gpu: Option<DeviceChoice>,
}

#[derive(Clone, Copy, Debug)]
enum Work {
    Push,
    Pull,
    Search { bottom_up: bool },
    Distances { asynchronous: bool },
    Components { asynchronous: bool },
    UnionFind,
}

const WORK: [Work; 9] = [
    Work::Push,
    Work::Pull,
    Work::Search { bottom_up: false },
    Work::Search { bottom_up: true },
    Work::Distances { asynchronous: false },
    Work::Distances { asynchronous: true },
    Work::Components { asynchronous: false },
    Work::Components { asynchronous: true },
    Work::UnionFind,
];

const ITERATIONS: u32 = 2;

/// Tolerance: more than the error of single precision.
const RANK_ERROR: f64 = 1e-5;

impl Subjects {
    fn new() -> Self {
        let mut edges = random_edges(0..2000, 90_000, 21);
        edges.extend((0..20_000).map(|number| (17, number % 2000)));
        // A long path to the last vertices.
        edges.extend((2000..2040).map(|vertex| (vertex - 1, vertex)));
        let graph = EdgeList::new(2040, edges);
        let weighted = Weighted::by_chance(graph.clone(), false, 5);
        let options = small_pages(Encoding::VertexId);
        Self {
            directed: TestStore::new(&graph, &options),
            weighted: TestStore::weighted(&weighted, true, &options),
            undirected: TestStore::new(&graph, &FormatOptions { symmetrize: true, ..options }),
            levels: levels(&graph, 0),
            ranks: rank_iterations(&graph, 0.85, Dangling::Lost, ITERATIONS as usize),
            distances: weighted.distances(0),
            components: components(&graph),
            gpu: gpu(),
        }
    }

    /// The store for `work`.
    fn store(&self, work: Work) -> &TestStore {
        match work {
            Work::Push | Work::Pull | Work::Search { .. } => &self.directed,
            Work::Distances { .. } => &self.weighted,
            Work::Components { .. } | Work::UnionFind => &self.undirected,
        }
    }

    /// Does the work; returns whether the answer is right.
    fn is_right(&self, engine: &Engine, work: Work) -> Result<bool, Error> {
        let ranks = |traffic| {
            let found = ranks(engine, pagerank(ITERATIONS, Dangling::Lost, traffic))?.dense();
            Ok(relative_error(&found, &self.ranks) <= RANK_ERROR)
        };
        match work {
            Work::Push => ranks(Traffic::Push),
            Work::Pull => ranks(Traffic::Pull),
            Work::Search { bottom_up } => Ok(search(engine, 0, false, bottom_up)?.levels.dense() == self.levels),
            Work::Distances { .. } => Ok(distances(engine, 0)?.dense() == self.distances),
            Work::Components { .. } => Ok(component_ids(engine)?.dense() == self.components),
            Work::UnionFind => Ok(linked_ids(engine)?.dense() == self.components),
        }
    }
}

/// The adapter for tests: software if available; none if GPU tests are off or cannot run.
#[cfg(feature = "gpu")]
fn gpu() -> Option<DeviceChoice> {
    let asked = std::env::var("TOPOSTREAM_GPU_TESTS").unwrap_or_default();
    let all = topostream::device::gpu::adapters::list();
    if asked == "off" || all.is_empty() {
        assert!(asked != "required", "TOPOSTREAM_GPU_TESTS=required, and there is no adapter");
        skipped("runs on GPUs: there is no adapter, or TOPOSTREAM_GPU_TESTS=off");
        return None;
    }
    let at = all.iter().position(|adapter| !adapter.is_hardware()).unwrap_or(0);
    Some(DeviceChoice::Index(all[at].index))
}

#[cfg(not(feature = "gpu"))]
fn gpu() -> Option<DeviceChoice> {
    None
}

fn faults(random: &mut Random) -> Faults {
    let lasting = random.once_in(4);
    // Rare faults and frequent ones, of one kind or of all.
    let most = *random.choose(&[1, 20, 150, 330]);
    let mut rate = || if random.once_in(2) { random.below(most + 1) as u32 } else { 0 };
    let (io_errors, flipped_bits, short_reads) = (rate(), rate(), rate());
    let latency_max = 1 + random.below(60) as u32;
    Faults { latency_max, io_errors, flipped_bits, short_reads, lasting, ..Faults::none(random.next()) }
}

fn one(case: &mut Case, subjects: &Subjects) -> Verdict {
    let random = &mut case.random;
    let work = *random.choose(&WORK);
    let faults = faults(random);
    let on_gpu = subjects.gpu.clone().filter(|_| random.once_in(ON_GPU) && !matches!(work, Work::UnionFind));
    // A page with weights takes two frames.
    let pages = if matches!(work, Work::Distances { .. }) { 2 } else { 1 };
    let buffer = Some(pages * (u64::from(FRAMES_MIN) + random.below(24)));
    let threads = 1 + random.index(3);
    let asynchronous = matches!(work, Work::Distances { asynchronous: true } | Work::Components { asynchronous: true });
    let what = format!("{work:?}, {faults:?}, {buffer:?} pages, {threads} threads, GPU: {}", on_gpu.is_some());
    let outcomes = if on_gpu.is_some() { ["right, on the GPU", "error, on the GPU"] } else { ["right", "error"] };
    let options = engine_options(buffer, threads, FetcherKind::Simulated(faults))
        .with_asynchronous(asynchronous)
        .with_device(on_gpu.unwrap_or(DeviceChoice::Cpu));
    let engine = subjects.store(work).engine(options);
    let hang = format!("case {} hangs: {what}", case.number);
    match watched(&hang, || catch_unwind(AssertUnwindSafe(|| subjects.is_right(&engine, work)))) {
        Err(panic) => Err(format!("panic: {} ({what})", text_of(panic.as_ref()))),
        Ok(Ok(true)) => Ok(outcomes[0]),
        Ok(Ok(false)) => Err(format!("wrong answer: {what}")),
        Ok(Err(error)) => check_error(&error, faults).map(|()| outcomes[1]).map_err(|why| format!("{why} ({what})")),
    }
}

/// Only a permanent fault may end a run, and the message names the page.
fn check_error(error: &Error, faults: Faults) -> Result<(), String> {
    let message = error.to_string();
    let typed = matches!(error, Error::Read { .. } | Error::Store(topostream_formats::Error::Page { .. }));
    match (faults.lasting, typed, message.contains("page ")) {
        (false, ..) => Err(format!("a fault that passes ends the run: {message}")),
        (true, true, true) => Ok(()),
        (true, ..) => Err(format!("an error of another kind: {message}")),
    }
}

/// The result of `work`. If it exceeds the time limit, the process exits with a message: a thread cannot be killed.
fn watched<T>(hang: &str, work: impl FnOnce() -> T) -> T {
    let (done, wait) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if wait.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
                say(&format!("{hang}\n"));
                std::process::abort();
            }
        });
        let result = work();
        drop(done);
        result
    })
}

fn campaign(campaign: Campaign) {
    let subjects = Subjects::new();
    campaign.run(|case| one(case, &subjects));
}

#[test]
fn share() {
    campaign(Campaign::share("schedules of faults", "schedules::share", 200));
}

#[test]
#[ignore = "takes minutes: .ci/slow runs it"]
fn full() {
    campaign(Campaign::full("schedules of faults", "schedules::full", 10_000, 0.13));
}
