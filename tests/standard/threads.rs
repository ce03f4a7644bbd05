//! Worker threads: as many as a run is given, for any number of devices.

use crate::adapter;
use crate::common::{FETCHERS, TestStore, engine_options, pagerank, small_pages};
use crate::reference::{Dangling, EdgeList, random_edges};
use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};
use topostream::algorithms::Traffic;
use topostream::device::DeviceChoice;
use topostream_formats::Encoding;

/// How many GPUs and CPUs the process of a case uses.
const CASE: &str = "TOPOSTREAM_TEST_DEVICES";
const THREADS: usize = 3;

/// Each case is a separate process, because other tests have threads.
#[test]
fn all_devices_together_have_the_threads_of_the_run() {
    if let Ok(case) = std::env::var(CASE) {
        let (gpus, cpus) = case.split_once(' ').unwrap();
        return count(gpus.parse().unwrap(), cpus.parse().unwrap());
    }
    let gpus = if adapter::off() { 0..1 } else { 0..3 };
    for (gpus, cpus) in gpus.flat_map(|gpus| [0, 1, 4].map(|cpus| (gpus, cpus))).filter(|case| *case != (0, 0)) {
        let test = "threads::all_devices_together_have_the_threads_of_the_run";
        let mut case = Command::new(std::env::current_exe().unwrap());
        let case = case.args(["--exact", test, "--nocapture"]).env(CASE, format!("{gpus} {cpus}"));
        let output = case.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && text.contains("1 passed"), "{gpus} GPUs and {cpus} CPUs: {text}");
    }
}

fn count(gpus: usize, cpus: usize) {
    topostream_formats::threads::start_shared_pool().unwrap();
    let before = threads();
    let store =
        TestStore::new(&EdgeList::new(5000, random_edges(0..5000, 40_000, 1)), &small_pages(Encoding::VertexId));
    let mut devices = vec![DeviceChoice::Cpu; cpus];
    devices.resize_with(gpus + cpus, adapter::device);
    let options = engine_options(None, THREADS, FETCHERS[2]).with_devices(devices);
    let mut most = BTreeMap::new();
    let look = &mut |_: &_| {
        let now = named_since(&before, gpus == 0);
        if now.get("worker") >= most.get("worker") {
            most = now;
        }
    };
    let algorithm = pagerank(5, Dangling::Spread, Traffic::Push);
    let run = store.engine(options).run_observed(algorithm, look).unwrap();
    assert_eq!(run.report.steps.len(), 5);
    assert_eq!(most.get("worker"), Some(&THREADS), "{most:?}");
    if gpus == 0 {
        // Drivers of GPUs also have threads.
        assert_eq!(most.len(), 1, "{most:?}");
    }
}

/// How many threads have each name, of those that were not there `before`. A thread has its parent's name until it
/// first runs, which may be after a short superstep's end where cores are few, so that this waits for its own name;
/// for workers only, unless `all` are ours, since some of a driver's threads keep their parent's name.
fn named_since(before: &BTreeMap<u32, String>, all: bool) -> BTreeMap<String, usize> {
    let own = std::fs::read_to_string("/proc/thread-self/comm").unwrap();
    let (until, mut settled) = (Instant::now() + Duration::from_secs(10), false);
    loop {
        let mut now: BTreeMap<String, usize> = BTreeMap::new();
        let new = threads().into_iter().filter(|(id, _)| !before.contains_key(id));
        new.for_each(|(_, name)| *now.entry(name).or_default() += 1);
        let named = !now.contains_key(own.trim()) || (!all && now.get("worker") >= Some(&THREADS));
        if named && !all && !settled {
            // One worker too many may not have its name yet.
            std::thread::sleep(Duration::from_millis(50));
            settled = true;
            continue;
        }
        if named || Instant::now() > until {
            return now;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The threads of this process and their names, by number.
fn threads() -> BTreeMap<u32, String> {
    let number = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.unwrap().path();
        let name = std::fs::read_to_string(path.join("comm")).ok()?;
        Some((path.file_name()?.to_str()?.parse().ok()?, name.trim().to_owned()))
    };
    std::fs::read_dir("/proc/self/task").unwrap().filter_map(number).collect()
}
