//! Checkpoints: a run that is stopped after every superstep and resumed on other devices has bitwise the results of an
//! undisturbed one; damaged checkpoints and those of other runs are refused.

use crate::adapter;
use crate::common::{TestStore, engine_options, generated, scratch, small_pages, thorough};
use crate::everywhere::ways;
use crate::reference::{EdgeList, Weighted};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use topostream::algorithms::*;
use topostream::checkpoint::{CheckpointEvent, Checkpoints, Every};
use topostream::device::DeviceChoice;
use topostream::engine::Observer;
use topostream::model::algorithm::{Algorithm, AnswerValues};
use topostream::pages::fetch::FetcherKind;
use topostream::report::StepReport;
use topostream::team::Strategy;
use topostream::{Engine, EngineOptions, Error, Run, VertexId, VertexSet};
use topostream_formats::Encoding;
use topostream_formats::edge::WeightType;
use topostream_tools::generate::Rmat;

/// All answers, as bits.
pub type Bits = Vec<Vec<u64>>;

pub fn answers<A: Algorithm>(run: &Run<A>, vertices: u64) -> Bits {
    let value = |values: &AnswerValues<'_>, vertex: u32| match values {
        AnswerValues::F64(of) => of.get(vertex).to_bits(),
        AnswerValues::Integer(of) => of.get(vertex).unwrap_or(u64::MAX),
        AnswerValues::Vertex(of) => of.get(vertex).map_or(u64::MAX, |other| other.0.into()),
    };
    let column = |values: &AnswerValues<'_>| (0..vertices as u32).map(|vertex| value(values, vertex)).collect();
    run.answers().iter().map(|answer| column(&answer.values)).collect()
}

/// Checkpoints and their messages.
pub type Heard = (Arc<Checkpoints>, Arc<Mutex<Vec<CheckpointEvent>>>);

/// Opens a folder of checkpoints, and collects its messages.
pub fn open(folder: &Path, every: Every, resume: bool) -> Result<Heard, Error> {
    let events = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&events);
    let tell = move |event: &CheckpointEvent| hears.lock().unwrap().push(event.clone());
    Ok((Arc::new(Checkpoints::open(folder, every, resume, tell)?), events))
}

/// An engine that writes a checkpoint after every superstep.
fn keeping(store: &TestStore, options: &EngineOptions, folder: &Path) -> Result<Engine, Error> {
    let (checkpoints, _) = open(folder, Every::Supersteps(1), true)?;
    Ok(store.engine(options.clone().with_checkpoints(Some(checkpoints))))
}

pub fn one_cpu() -> EngineOptions {
    engine_options(Some(18), 2, FetcherKind::Auto)
}

/// Runs an algorithm to its end.
pub type Runs<'a> = dyn Fn(&Engine, &mut Observer<'_>) -> Result<Bits, Error> + 'a;

pub fn running<A: Algorithm>(
    make: impl Fn(&Engine) -> A,
) -> impl Fn(&Engine, &mut Observer<'_>) -> Result<Bits, Error> {
    move |engine, observer| Ok(answers(&engine.run_observed(make(engine), observer)?, engine.store().vertices()))
}

/// One session for each superstep, on the teams in turn: each is asked to stop after its first superstep.
pub fn relay(store: &TestStore, ways: &[EngineOptions], runs: &Runs<'_>) -> (Bits, u32) {
    let folder = scratch::in_memory();
    for session in 0..2000 {
        let cancel = Arc::new(AtomicBool::new(false));
        let options = ways[session % ways.len()].clone().with_cancel(Arc::clone(&cancel));
        let engine = keeping(store, &options, folder.path()).unwrap();
        match runs(&engine, &mut |_: &StepReport| cancel.store(true, Relaxed)) {
            Ok(found) => return (found, session as u32 + 1),
            Err(Error::Interrupted) => {
                let saved = engine.options().checkpoints.as_ref().unwrap().saved();
                assert_eq!(saved, Some(session as u64 + 1), "a checkpoint after every superstep");
            }
            Err(error) => panic!("session {session}: {error}"),
        }
    }
    panic!("no end");
}

/// Asserts that a relay over these teams has the results of an undisturbed run on the first one.
fn check(name: &str, store: &TestStore, ways: &[EngineOptions], runs: &Runs<'_>) {
    let expected = runs(&store.engine(ways[0].clone()), &mut |_| {}).unwrap_or_else(|error| panic!("{name}: {error}"));
    let (found, sessions) = relay(store, ways, runs);
    assert!(found == expected, "{name}: other answers after {sessions} sessions");
    assert!(sessions > 1, "{name}: it was never stopped");
}

fn graph() -> EdgeList {
    generated(&mut Rmat::new(11, 12, 5).generate().unwrap())
}

pub fn directed() -> TestStore {
    TestStore::weighted(&Weighted::by_chance(graph(), false, 3), true, &small_pages(Encoding::VertexId))
}

/// A graph without loops and repeated edges, which clustering refuses.
pub fn undirected() -> TestStore {
    let mut edges: Vec<(u32, u32)> = graph().edges;
    edges.iter_mut().for_each(|edge| *edge = (edge.0.min(edge.1), edge.0.max(edge.1)));
    edges.retain(|edge| edge.0 != edge.1);
    edges.sort_unstable();
    edges.dedup();
    let graph = EdgeList::new(1 << 11, edges);
    TestStore::weighted(&Weighted::by_chance(graph, false, 3), false, &small_pages(Encoding::VertexId))
}

pub const SOURCE: VertexId = VertexId(0);

pub fn sssp() -> Sssp {
    Sssp::new(SOURCE, WeightType::U32)
}

/// Algorithms with the same answer on every device, by name.
pub fn whole_numbers() -> Vec<(&'static str, bool, Box<Runs<'static>>)> {
    let bfs = || Bfs { hops_max: Some(20), ..Bfs::from(SOURCE) };
    vec![
        ("bfs", true, Box::new(running(move |_| bfs()))),
        ("sssp", true, Box::new(running(|_| sssp()))),
        ("delta-stepping", true, Box::new(running(|_| DeltaStepping { paths: sssp(), delta: 20.0 }))),
        ("widest", true, Box::new(running(|_| Widest { source: SOURCE, weights: WeightType::U32 }))),
        ("components", true, Box::new(running(|_| Components { directed: true }))),
        ("scc", true, Box::new(running(|_| Scc))),
        ("kcore", true, Box::new(running(|_| KCore::new(true, true)))),
        ("kcore, undirected", false, Box::new(running(|_| KCore::new(false, false)))),
        ("neighbourhood", true, Box::new(running(|_| Neighbourhood { sources: vec![SOURCE], hops_max: Some(9) }))),
        ("communities", true, Box::new(communities(6, None))),
        ("communities, undirected", false, Box::new(communities(6, None))),
        ("clustering by ranges", false, Box::new(clustering)),
    ]
}

pub fn communities(
    iterations: u32,
    table_bytes: Option<u64>,
) -> impl Fn(&Engine, &mut Observer<'_>) -> Result<Bits, Error> + 'static {
    move |engine, observer| {
        let run = LabelPropagation::run(engine, iterations, table_bytes, observer)?;
        Ok(answers(&run, engine.store().vertices()))
    }
}

/// Limits memory, so that tables take a few ranges.
fn clustering(engine: &Engine, observer: &mut Observer<'_>) -> Result<Bits, Error> {
    let run = Clustering::run(engine, Some(48 << 10), observer)?;
    Ok(answers(&run, engine.store().vertices()))
}

/// Algorithms with the same answer only on the same device.
pub fn numbers() -> Vec<(&'static str, Box<Runs<'static>>)> {
    let ranks = |iterations| PageRank { stop: Stop::Iterations(iterations), ..PageRank::default() };
    let heat = |_: &Engine| {
        let model = Model::Heat { alpha: 0.5, sources: vec![(SOURCE, 3.0)] };
        Averaging { model, weights: Some(WeightType::U32), stop: Stop::Iterations(4) }
    };
    let push = move |_: &Engine| PageRank { traffic: Traffic::Push, ..ranks(5) };
    vec![
        ("pagerank", Box::new(running(move |_| ranks(5)))),
        ("pagerank, push", Box::new(running(push))),
        ("personalized", Box::new(running(move |_| PersonalizedPageRank { seeds: vec![SOURCE], ranks: ranks(4) }))),
        ("delta-pagerank", Box::new(running(|_| DeltaPageRank::default()))),
        ("radius", Box::new(running(|_| Radius::new(2, 7)))),
        ("heat", Box::new(running(heat))),
    ]
}

/// Every algorithm, on the CPU.
#[test]
fn stopped_after_every_superstep_on_the_cpu() {
    let (directed, undirected) = (directed(), undirected());
    for (name, is_directed, runs) in whole_numbers() {
        check(name, if is_directed { &directed } else { &undirected }, &[one_cpu()], &*runs);
    }
    for (name, runs) in numbers() {
        // One thread adds up heat in single precision: always in the same order.
        check(name, &directed, &[one_cpu().with_threads(1)], &*runs);
    }
    let sampled = |engine: &Engine| Betweenness::sampled(engine.store().vertices(), 2, 1);
    check("betweenness", &directed, &[one_cpu().with_threads(1)], &running(sampled));
    let double = |engine: &Engine| sampled(engine).in_double();
    check("betweenness in double precision", &directed, &[one_cpu().with_threads(1)], &running(double));
}

/// Consecutive sessions use different devices: CPU and GPU, alone and shared.
#[test]
fn from_device_to_device() {
    let (directed, undirected) = (directed(), undirected());
    let mut others: Vec<EngineOptions> = ways().into_iter().map(|(_, options)| options).collect();
    others.insert(0, one_cpu());
    let turn = others.len();
    // Software adapters are slow: by default, they run these only.
    let on_gpus = ["bfs", "communities", "clustering by ranges"];
    for (name, is_directed, runs) in whole_numbers() {
        let some: Vec<EngineOptions> = match thorough() || on_gpus.contains(&name) {
            true => others.clone(),
            false => {
                let cpu = |devices, strategy| {
                    let devices = vec![one_cpu().devices[0].clone(); devices];
                    one_cpu().with_devices(devices).with_strategy(strategy)
                };
                vec![one_cpu(), cpu(3, Strategy::Replicate), cpu(2, Strategy::Shard)]
            }
        };
        check(&format!("{name}, {turn} ways"), if is_directed { &directed } else { &undirected }, &some, &*runs);
    }
}

/// Distances of 64 bits on CPUs, alone and shared, and on a GPU. A checkpoint in another precision is refused.
#[test]
fn double_precision_from_device_to_device() {
    let weighted = Weighted::by_chance(graph(), true, 3);
    let store = TestStore::weighted(&weighted, true, &small_pages(Encoding::VertexId));
    let paths = Sssp::new(SOURCE, WeightType::F32);
    let team =
        |device: DeviceChoice, devices, strategy| one_cpu().with_devices(vec![device; devices]).with_strategy(strategy);
    let cpus = [(3, Strategy::Replicate), (2, Strategy::Shard)];
    let mut ways = vec![one_cpu()];
    ways.extend(cpus.map(|(devices, strategy)| team(DeviceChoice::Cpu, devices, strategy)));
    if !adapter::off() && adapter::has("64-bit atomics") {
        ways.push(team(adapter::device(), 1, Strategy::Auto));
    }
    check("sssp", &store, &ways, &running(|_| paths));
    check("delta-stepping", &store, &ways, &running(|_| DeltaStepping { paths, delta: 20.0 }));

    let folder = scratch::in_memory();
    let cancel = Arc::new(AtomicBool::new(false));
    let engine = keeping(&store, &one_cpu().with_cancel(Arc::clone(&cancel)), folder.path()).unwrap();
    let stopped = engine.run_observed(paths, &mut |_: &StepReport| cancel.store(true, Relaxed));
    assert!(matches!(stopped, Err(Error::Interrupted)));
    // The folder is free again.
    drop(engine);
    let engine = keeping(&store, &one_cpu(), folder.path()).unwrap();
    let Err(error) = engine.run(paths.in_single()) else { panic!("distances of another precision") };
    assert!(error.to_string().contains("precision: Double in the checkpoint, Single in this run"), "{error}");
}

/// On one GPU, and on two that share the run: answers that depend on the device are the same bits.
#[test]
fn stopped_after_every_superstep_on_gpus() {
    if adapter::off() {
        return;
    }
    let store = directed();
    let gpus = |devices, strategy| {
        let devices = vec![adapter::device(); devices];
        vec![one_cpu().with_devices(devices).with_strategy(strategy)]
    };
    for (name, runs) in numbers() {
        // On GPUs, sums in single precision depend on the order.
        if name != "heat" && (thorough() || name == "pagerank") {
            check(name, &store, &gpus(1, Strategy::Auto), &*runs);
            check(name, &store, &gpus(2, Strategy::Replicate), &*runs);
        }
        if name != "heat" && (thorough() || name == "delta-pagerank") {
            check(name, &store, &gpus(2, Strategy::Shard), &*runs);
        }
    }
}

/// Asynchronous relaxation may resume in another order, with the same answer.
#[test]
fn asynchronous_runs_resume() {
    let store = directed();
    let options = engine_options(Some(9), 2, FetcherKind::Auto).with_asynchronous(true);
    check("sssp", &store, std::slice::from_ref(&options), &running(|_| sssp()));
    check("components", &store, &[options], &running(|_| Components { directed: true }));
}

/// Simulates kill -9 or a power cut at any superstep: another process resumes from a copy of the folder.
#[test]
fn killed_at_every_superstep() {
    let store = directed();
    let ranks = || PageRank { stop: Stop::Iterations(7), ..PageRank::default() };
    let (folder, copies) = (scratch::in_memory(), scratch::in_memory());
    let copy = |step: u32| copies.path().join(step.to_string());
    let engine = keeping(&store, &one_cpu(), folder.path()).unwrap();
    let mut keep = |step: &StepReport| {
        fs::create_dir(copy(step.superstep)).unwrap();
        for entry in fs::read_dir(folder.path()).unwrap().map(Result::unwrap) {
            fs::copy(entry.path(), copy(step.superstep).join(entry.file_name())).unwrap();
        }
        // And an incomplete file.
        fs::write(copy(step.superstep).join("checkpoint.new"), [&b"TOPOCKPT"[..], &[7; 100]].concat()).unwrap();
    };
    let expected = running(|_| ranks())(&engine, &mut keep).unwrap();
    for step in 0..7u32 {
        let (checkpoints, events) = open(&copy(step), Every::Minute, true).unwrap();
        let engine = store.engine(one_cpu().with_checkpoints(Some(checkpoints)));
        let run = engine.run(ranks()).unwrap();
        assert!(answers(&run, engine.store().vertices()) == expected, "killed in superstep {step}");
        let resumed = run.report.checkpoints.clone().unwrap().resumed;
        assert_eq!(resumed.map_or(0, |resumed| resumed.supersteps), u64::from(step));
        assert_eq!(run.report.steps.len() as u32, 7 - step, "nothing is done twice");
        let first = events.lock().unwrap()[0].clone();
        assert!(matches!(first, CheckpointEvent::Nothing { .. } | CheckpointEvent::Resumed { .. }), "{first:?}");
        assert_eq!(
            matches!(first, CheckpointEvent::Resumed { supersteps, .. } if supersteps == u64::from(step)),
            step > 0
        );
        assert!(!copy(step).join("checkpoint.new").exists(), "what was half written is gone");
    }
}

/// A folder with two generations, after 3 and after 4 supersteps. Returns the newer file and the older one.
fn two_generations(store: &TestStore) -> (tempfile::TempDir, [PathBuf; 2], Bits) {
    let folder = scratch::in_memory();
    let ranks = || PageRank { stop: Stop::Iterations(5), ..PageRank::default() };
    let engine = keeping(store, &one_cpu(), folder.path()).unwrap();
    let expected = running(|_| ranks())(&engine, &mut |_| {}).unwrap();
    let files = [folder.path().join("checkpoint.1"), folder.path().join("checkpoint.0")];
    (folder, files, expected)
}

fn go_on(store: &TestStore, folder: &Path) -> Result<(Bits, u64, Vec<CheckpointEvent>), Error> {
    let (checkpoints, events) = open(folder, Every::Minute, true)?;
    let engine = store.engine(one_cpu().with_checkpoints(Some(checkpoints)));
    let run = engine.run(PageRank { stop: Stop::Iterations(5), ..PageRank::default() })?;
    let resumed = run.report.checkpoints.clone().unwrap().resumed.map_or(0, |resumed| resumed.supersteps);
    let told = events.lock().unwrap().clone();
    Ok((answers(&run, engine.store().vertices()), resumed, told))
}

/// After any bit flip or truncation, the older generation is used, with a message.
#[test]
fn damage_is_found_and_the_older_generation_used() {
    let store = directed();
    let (folder, [newer, older], expected) = two_generations(&store);
    let (sound, resumed, _) = go_on(&store, folder.path()).unwrap();
    assert!(sound == expected && resumed == 4);
    let bytes = fs::read(&newer).unwrap();
    let steps = if thorough() { 401 } else { 12 };
    let places = (0..300.min(bytes.len())).step_by(if thorough() { 1 } else { 17 });
    let places = places.chain((0..steps).map(|step| step * (bytes.len() - 1) / (steps - 1)));
    for place in places {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1 << (place % 8);
        fs::write(&newer, &damaged).unwrap();
        let (found, resumed, events) = go_on(&store, folder.path()).unwrap();
        assert!(found == expected && resumed == 3, "byte {place}: from superstep {resumed}");
        assert!(
            matches!(&events[0], CheckpointEvent::Damaged { path, .. } if *path == newer),
            "byte {place}: {events:?}"
        );
    }
    for length in [0, 1, 23, 24, 100, bytes.len() / 2, bytes.len() - 1] {
        fs::write(&newer, &bytes[..length]).unwrap();
        let (found, resumed, _) = go_on(&store, folder.path()).unwrap();
        assert!(found == expected && resumed == 3, "cut to {length} bytes");
    }
    fs::write(&newer, [&bytes[..], &[0]].concat()).unwrap();
    assert_eq!(go_on(&store, folder.path()).unwrap().1, 3, "something behind the end");
    fs::write(&older, &bytes[..bytes.len() / 2]).unwrap();
    let error = go_on(&store, folder.path()).map(drop).expect_err("none is whole").to_string();
    for word in ["no checkpoint in the folder can be used", "checkpoint.0", "checkpoint.1", "remove them"] {
        assert!(error.contains(word), "{error}");
    }
}

/// The error names the difference.
#[test]
fn other_runs_are_refused() {
    let store = directed();
    let (folder, _, _) = two_generations(&store);
    let refused = |store: &TestStore, asynchronous: bool, runs: &Runs<'_>, words: &[&str]| {
        let (checkpoints, _) = open(folder.path(), Every::Minute, true).unwrap();
        let options = one_cpu().with_checkpoints(Some(checkpoints)).with_asynchronous(asynchronous);
        let error = runs(&store.engine(options), &mut |_| {}).map(drop).expect_err("another run").to_string();
        for word in words {
            assert!(error.contains(word), "no {word:?} in {error}");
        }
    };
    let five = PageRank { stop: Stop::Iterations(5), ..PageRank::default() };
    refused(
        &store,
        false,
        &running(|_| Bfs::from(SOURCE)),
        &["algorithm: pagerank in the checkpoint, bfs in this run"],
    );
    let other = PageRank { damping: 0.9, ..five };
    refused(&store, false, &running(move |_| other), &["parameter damping: 0.85 in the checkpoint, 0.9 in this run"]);
    let single = PageRank { sums: Sums::Single, ..five };
    refused(&store, false, &running(move |_| single), &["parameter sums: Exact", "Single in this run"]);
    // The same edges with other weights are another graph.
    let other = TestStore::weighted(&Weighted::by_chance(graph(), false, 4), true, &small_pages(Encoding::VertexId));
    refused(&other, false, &running(move |_| five), &["store: out-lists: ", " in this run"]);
    refused(&undirected(), false, &running(move |_| five), &["store: directed: true", "store: edges"]);
    let (found, resumed, _) = go_on(&store, folder.path()).unwrap();
    assert!(resumed == 4 && !found.is_empty(), "it is still there");
}

/// Checkpoints are never overwritten without `resume`, and a folder belongs to one run.
#[test]
fn folders_are_guarded() {
    let store = directed();
    let (folder, _, _) = two_generations(&store);
    let error = open(folder.path(), Every::Minute, false).map(drop).expect_err("there is a checkpoint").to_string();
    assert!(error.contains("pagerank after 4 supersteps") && error.contains("--resume"), "{error}");
    let (held, _) = open(folder.path(), Every::Minute, true).unwrap();
    let error = open(folder.path(), Every::Minute, true).map(drop).expect_err("it is locked").to_string();
    assert!(error.contains("another run"), "{error}");
    held.clear().unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "cleared");
    drop(held);
    let (_, events) = open(folder.path(), Every::Minute, true).unwrap();
    assert!(matches!(events.lock().unwrap()[0], CheckpointEvent::Nothing { .. }));
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    assert!(open(&file, Every::Minute, true).is_err(), "not a folder");
}

/// If a checkpoint cannot be written, the run continues and the previous one remains.
#[test]
fn a_failed_checkpoint_does_not_end_the_run() {
    let store = directed();
    let folder = scratch::in_memory();
    let (checkpoints, events) = open(folder.path(), Every::Supersteps(1), true).unwrap();
    let engine = store.engine(one_cpu().with_checkpoints(Some(Arc::clone(&checkpoints))));
    let new = folder.path().join("checkpoint.new");
    // From the third superstep on, a folder blocks the file.
    let mut block = |step: &StepReport| {
        if step.superstep == 2 {
            fs::create_dir(&new).unwrap()
        }
    };
    let run = engine.run_observed(PageRank { stop: Stop::Iterations(5), ..PageRank::default() }, &mut block).unwrap();
    let report = run.report.checkpoints.clone().unwrap();
    assert_eq!((report.written, report.failed), (2, 2));
    assert_eq!(checkpoints.saved(), Some(2));
    let events = events.lock().unwrap();
    assert!(matches!(&events[1], CheckpointEvent::Failed { supersteps: 3, .. }), "{events:?}");
    drop((engine, checkpoints));
    fs::remove_dir(&new).unwrap();
    assert_eq!(go_on(&store, folder.path()).unwrap().1, 2);
}

/// Sets are compared by their contents.
#[test]
fn sets_are_parameters() {
    let store = directed();
    let set = |count: u64| Arc::new(VertexSet::of(store.open().vertices(), |vertex| u64::from(vertex) < count));
    let parameters =
        |from: u64, to: u64| CrossEdges { from: set(from), to: set(to) }.declare(false).parameters.unwrap();
    assert_eq!(parameters(5, 9), parameters(5, 9));
    assert_ne!(parameters(5, 9), parameters(9, 5));
    assert_ne!(parameters(5, 9), parameters(5, 10));
}
