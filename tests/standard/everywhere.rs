//! One algorithm over one store, on every kind of device, alone and shared.

use crate::adapter;
use crate::common::{FETCHERS, TestStore, engine_options, some, thorough};
use std::collections::BTreeMap;
use topostream::algorithms::command::Finished;
use topostream::device::DeviceChoice;
use topostream::device::settings::{FastPaths, GpuSettings};
use topostream::model::algorithm::{Algorithm, AnswerValues};
use topostream::report::RunReport;
use topostream::team::Strategy;
use topostream::{Engine, EngineOptions, Error, VertexId};

/// The teams that are tested by default, by index in `all_ways`: the CPU alone and sharded, a GPU alone. The
/// catalogue's samples run each algorithm on every team.
const USUAL: [usize; 3] = [0, 2, 3];

/// The result of a run.
pub struct Found {
    /// Answers by name: a value for every vertex by ascending original id, -1 for none. Vertices are original ids.
    columns: BTreeMap<String, Vec<f64>>,
    pub report: RunReport,
}

impl Found {
    /// Every answer, by name.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &[f64])> {
        self.columns.iter().map(|(name, values)| (&**name, &values[..]))
    }

    pub fn column(&self, name: &str) -> &[f64] {
        self.columns.get(name).unwrap_or_else(|| panic!("no answer is called {name}: {:?}", self.columns.keys()))
    }
}

/// Runs the algorithm that `make` creates on every kind of device and team (by default on the usual ones), and passes
/// each result to `check`, with the name of the team for its messages.
pub fn everywhere<A: Algorithm>(store: &TestStore, make: impl Fn(&Engine) -> A, check: impl Fn(&Found, &str)) {
    everywhere_by(store, |engine| engine.run(make(engine)), check);
}

/// As [`everywhere`], for a function that runs the engine itself.
pub fn everywhere_by<F: Finished>(
    store: &TestStore,
    run: impl Fn(&Engine) -> Result<F, Error>,
    check: impl Fn(&Found, &str),
) {
    for (number, (way, options)) in all_ways().into_iter().enumerate() {
        if !thorough() && !USUAL.contains(&number) {
            continue;
        }
        let engine = store.engine(options);
        match run(&engine).and_then(|run| found(&engine, &run)) {
            Ok(found) => check(&found, &way),
            Err(error) => assert!(needs_wide_atomics(engine.options(), &error), "{way}: {error}"),
        }
    }
}

/// Whether a run was refused since its device has no 64-bit atomics.
pub fn needs_wide_atomics(options: &EngineOptions, error: &Error) -> bool {
    let narrow = !options.gpu.fast_paths.wide_integers || !adapter::has("64-bit atomics");
    narrow && error.to_string().contains("an adapter needs 64-bit atomics")
}

/// Runs an algorithm.
pub fn run<A: Algorithm>(engine: &Engine, algorithm: A) -> Result<Found, Error> {
    found(engine, &engine.run(algorithm)?)
}

/// The answers of a run, by original ids.
pub fn found(engine: &Engine, run: &dyn Finished) -> Result<Found, Error> {
    let ids = engine.store().ids()?;
    let mut order: Vec<u32> = (0..engine.store().vertices() as u32).collect();
    order.sort_unstable_by_key(|&vertex| ids.original(VertexId(vertex)));
    let value = |values: &AnswerValues<'_>, vertex: u32| match values {
        AnswerValues::F64(of) => of.get(vertex),
        AnswerValues::Integer(of) => of.get(vertex).map_or(-1.0, |value| value as f64),
        AnswerValues::Vertex(of) => of.get(vertex).map_or(-1.0, |other| ids.original(other) as f64),
    };
    let columns = run.answers();
    let columns = columns.iter().map(|answer| {
        let values = order.iter().map(|&vertex| value(&answer.values, vertex)).collect();
        (answer.name.to_string(), values)
    });
    Ok(Found { columns: columns.collect(), report: run.report().clone() })
}

/// Teams: the CPU alone, several CPU devices that replicate or shard, and the same with GPUs, if available. By default
/// every second one.
pub fn ways() -> Vec<(String, EngineOptions)> {
    some(all_ways(), 2).collect()
}

pub fn all_ways() -> Vec<(String, EngineOptions)> {
    let mut ways = Vec::new();
    let mut add = |device: DeviceChoice, devices: usize, strategy, gpu: GpuSettings| {
        let name = format!("{devices} times {device}, {strategy}, without fast paths: {}", !gpu.fast_paths.host_import);
        // A page buffer that is smaller than any of the graphs.
        let options = engine_options(Some(18), 1 + devices % 3, FETCHERS[devices % 3]);
        ways.push((name, options.with_devices(vec![device; devices]).with_strategy(strategy).with_gpu(gpu)));
    };
    let shared = [(1, Strategy::Auto), (3, Strategy::Replicate), (2, Strategy::Shard)];
    for (devices, strategy) in shared {
        add(DeviceChoice::Cpu, devices, strategy, GpuSettings::default());
    }
    if adapter::off() {
        return ways;
    }
    for (devices, strategy) in shared {
        add(adapter::device(), devices, strategy, GpuSettings::default());
    }
    let fast_paths = FastPaths {
        host_import: false,
        transfer_queue: false,
        float_atomics: false,
        wide_integers: false,
        subgroups: false,
        device_loop: false,
        whole_copies: true,
    };
    add(adapter::device(), 1, Strategy::Auto, GpuSettings { fast_paths, ..GpuSettings::default() });
    ways
}
