//! Degrees in main memory: the least device memory of a vertex, and the same answers.

use crate::agreement::RANK_ERROR;
use crate::common::*;
use crate::coordinator::{Kind, Team};
use crate::gpu_test;
use crate::graphs;
use crate::memory::refusal;
use crate::reference::*;
use crate::setting::*;
use std::sync::Arc;
use topostream::algorithms::{Bfs, Components, PageRank, Precision, Sssp, Sums, Traffic};
use topostream::device::settings::{Distribution, FastPaths, GpuSettings, PageTransfer};
use topostream::model::algorithm::{Algorithm, AnswerValues, declaration_of};
use topostream::predict::{DeviceProfile, Environment, Needs, RATES_VERSION, Rates, Workload};
use topostream::team::Strategy;
use topostream::{Engine, Error, VertexId};
use topostream_formats::{Encoding, Store, WeightType};

fn in_place() -> Setting {
    Setting { transfer: PageTransfer::InPlace, distribution: Distribution::Segments, ..Setting::default() }
}

fn push(sums: Sums) -> PageRank {
    PageRank { sums, ..pagerank(2, Dangling::Spread, Traffic::Push) }
}

fn directory_bytes(store: &Store) -> u64 {
    store.topologies().map(|topology| 16 * u64::from(topology.page_count())).sum()
}

/// The owners of a store's degrees in main memory; each import is one.
fn owners(engine: &Engine) -> usize {
    Arc::strong_count(engine.store().out_degrees().unwrap().memory())
}

// ---- The least memory -----------------------------------------------------------------------------------------------

/// The device memory of a vertex, in bytes, from the parts of a refusal; without directories and working memory.
fn vertex_bytes(store: &Store, parts: &str) -> f64 {
    let figure = |name: &str| -> u64 {
        let (_, behind) = parts.split_once(&format!("{name} ")).unwrap_or_else(|| panic!("no {name} in: {parts}"));
        behind.split(',').next().unwrap().parse().unwrap()
    };
    let graph = figure("directories") - directory_bytes(store);
    (figure("attributes") + figure("frontiers") + graph) as f64 / store.vertices() as f64
}

/// The device memory that the cost model predicts for a device with none, in bytes.
fn predicted_bytes(algorithm: &dyn Algorithm, store: &Store) -> u64 {
    let (disk_bytes_per_s, concurrent_bus_share) = (1e9, 1.0);
    let (version, machine, devices) = (RATES_VERSION, String::new(), Vec::new());
    let rates = Rates { version, machine, disk_bytes_per_s, disk_request_ns: None, concurrent_bus_share, devices };
    let gpu = DeviceProfile::gpu("gpu", None, &GpuSettings { memory_bytes: Some(0), ..GpuSettings::default() });
    let environment = Environment {
        rates: &rates,
        profiles: vec![gpu],
        strategy: Strategy::Replicate,
        aligned: true,
        disks: 1.0,
        main_bytes: 0,
        main_fits: true,
        buffer_bytes: 0,
        cold: false,
        borders: None,
    };
    let work = Workload::of(&declaration_of(algorithm, store), store, 10);
    Needs::of(&work, &environment).devices[0].bytes
}

/// Checks the least bytes of a vertex, with imports of main memory and without them.
fn check_least<A: Algorithm + Clone>(store: &TestStore, name: &str, algorithm: A, expected: [f64; 2]) {
    let fast_paths = FastPaths { host_import: false, ..FastPaths::default() };
    let portable = Setting { fast_paths, transfer: PageTransfer::Copy, ..Setting::default() };
    let open = store.open();
    let found = [in_place(), portable].map(|setting| {
        let engine = store.engine(with_memory(setting.options(), 0));
        vertex_bytes(&open, &refusal(engine.run(algorithm.clone())).2)
    });
    println!("{name}: {} bytes a vertex, {} without imports", found[0], found[1]);
    assert_eq!(found, expected, "{name}");
    // The cost model takes working memory for 16 MiB.
    let values = predicted_bytes(&algorithm, &open) - directory_bytes(&open) - (16 << 20);
    // Main memory has a few more words for a set of bits.
    let predicted = values as f64 / open.vertices() as f64;
    assert!((predicted - expected[0]).abs() < 1e-3, "{name}: the cost model has {predicted}");
}

gpu_test! {
    /// Device memory must hold the values that edges write, and frontiers. Degrees, 4 bytes a vertex, and the shares of
    /// push, 4 more, can be in main memory. A pull reads shares at random.
    fn the_least_memory_of_a_vertex() {
        if !in_place().is_possible() {
            return;
        }
        let graph = EdgeList::new(1 << 20, random_edges(0..1 << 20, 50_000, 3));
        let weighted = Weighted::by_chance(graph, false, 5);
        let store = TestStore::weighted(&weighted, true, &small_pages(Encoding::VertexId));
        check_least(&store, "pagerank, single", push(Sums::Single), [4.0, 12.0]);
        check_least(&store, "pagerank, exact", push(Sums::Exact), [8.0, 16.0]);
        let pull = PageRank { traffic: Traffic::Pull, ..push(Sums::Single) };
        check_least(&store, "pagerank, single, pull", pull, [8.0, 12.0]);
        check_least(&store, "bfs", Bfs::from(VertexId(1)), [0.375, 4.375]);
        check_least(&store, "components", Components { directed: true }, [4.25, 8.25]);
        let (source, weights, precision) = (VertexId(1), WeightType::U32, Precision::Single);
        check_least(&store, "sssp", Sssp { source, weights, precision, cutoff: None }, [4.25, 8.25]);
    }
}

// ---- Answers --------------------------------------------------------------------------------------------------------

/// Checks that a run with the least device memory reads degrees in `chunks` buffers of main memory, and has the answer
/// of a run with much memory, twice.
fn check_answer<T: PartialEq>(
    what: &str,
    (store, setting, chunks): (&TestStore, &Setting, usize),
    run: impl Fn(&Engine) -> Result<T, Error>,
) {
    let engine = |memory| store.engine(with_memory(setting.options(), memory));
    let (needed, _, parts) = refusal(run(&engine(0)));
    assert!(!parts.contains("degrees"), "{what}: {parts}");
    assert_eq!(refusal(run(&engine(needed - 1))).0, needed, "{what}");
    let [ample, tight] = [1 << 30, needed].map(engine);
    let expected = run(&ample).unwrap();
    for number in 0..2 {
        let found = run(&tight).unwrap_or_else(|error| panic!("{what}, run {number}: {error}"));
        assert!(found == expected, "{what}, run {number}: another answer");
    }
    assert_eq!(owners(&tight) - owners(&ample), chunks, "{what}: imports");
}

/// Ranks to the bit, levels and parents, and components.
fn check_answers(what: &str, of: (&TestStore, &Setting, usize), source: u32, number: usize) {
    // By default, the first setting has all of them, and the others have one each of ranks and of the rest.
    let runs = |answer: usize| thorough() || number == 0 || answer == number % 2;
    for traffic in TRAFFICS.into_iter().enumerate().filter(|(at, _)| runs(*at)).map(|(_, traffic)| traffic) {
        let exact = PageRank { traffic, ..push(Sums::Exact) };
        let run = |engine: &Engine| Ok(bits(&ranks(engine, exact)?.dense()));
        check_answer(&format!("{what}, ranks, {traffic:?}"), of, run);
    }
    if runs(0) {
        check_answer(&format!("{what}, levels"), of, |engine| {
            let found = search(engine, source.into(), true, true)?;
            Ok((found.levels.dense(), found.parents))
        });
    }
    if runs(1) {
        check_answer(&format!("{what}, components"), of, |engine| Ok(component_ids(engine)?.dense()));
    }
}

gpu_test! {
    /// One buffer, several, and packed pages.
    fn answers_are_those_of_degrees_in_device_memory() {
        if !in_place().is_possible() {
            return;
        }
        let graph = graphs::sparse();
        // Values of 16,384 vertices are in a buffer.
        let several = Setting { binding_bytes_max: Some(128 << 10), ..Setting::default() };
        let packed = Setting { encoding: PACKED, transfer: PageTransfer::Copy, ..Setting::default() };
        let chunks = graph.edges.vertices.div_ceil(16 << 10) as usize;
        assert!(chunks > 1);
        for (number, (setting, chunks)) in [(in_place(), 1), (several, chunks), (packed, 1)].into_iter().enumerate() {
            let store = TestStore::new(&graph.edges, &setting.store_options());
            check_answers(&format!("{setting:?}"), (&store, &setting, chunks), graph.source, number);
        }
    }
}

gpu_test! {
    /// Sums in single precision depend on the order of threads.
    fn ranks_of_single_sums_are_near() {
        if !in_place().is_possible() {
            return;
        }
        let graph = graphs::sparse().edges;
        let store = TestStore::new(&graph, &in_place().store_options());
        let least = refusal(ranks(&store.engine(with_memory(in_place().options(), 0)), push(Sums::Single))).0;
        let engine = store.engine(with_memory(in_place().options(), least));
        let error = relative_error(
            &ranks(&engine, push(Sums::Single)).unwrap().dense(),
            &rank_iterations(&graph, 0.85, Dangling::Spread, 2),
        );
        assert!(error <= RANK_ERROR && owners(&engine) > 1, "off by {error:e}");
    }
}

gpu_test! {
    /// Degrees return to the device for a run that has room for them.
    fn every_run_has_its_own_plan() {
        if !in_place().is_possible() {
            return;
        }
        let graph = graphs::sparse();
        let store = TestStore::new(&graph.edges, &in_place().store_options());
        let run = |engine: &Engine| ranks(engine, push(Sums::Exact)).map(drop);
        let engine = store.engine(with_memory(in_place().options(), needed_bytes(&store, &in_place().options(), run)));
        run(&engine).unwrap();
        assert_eq!(owners(&engine), 2);
        search(&engine, graph.source.into(), false, false).map(drop).unwrap();
        assert_eq!(owners(&engine), 1);
    }
}

// ---- Several devices ------------------------------------------------------------------------------------------------

/// Size of a piece of exchange memory.
const PIECE_BYTES: u64 = 128 << 10;

/// The answer of two GPUs with as little memory as suffices for both, and with much.
fn of_two<A: Algorithm + Clone, T>(
    store: &TestStore,
    (algorithm, sharded, setting): (A, bool, &Setting),
    (name, value): (&str, impl Fn(&AnswerValues<'_>, u32) -> T),
) -> [Vec<T>; 2] {
    let new = |memory| {
        let gpu = GpuSettings { memory_bytes: Some(memory), ..setting.gpu() };
        Team::new(store, algorithm.clone(), &[Kind::Gpu; 2], sharded, &gpu, PIECE_BYTES)
    };
    let mut memory = 0;
    let tight = loop {
        match new(memory) {
            Ok(team) => break team,
            Err(Error::DeviceMemory { needed_bytes, .. }) if needed_bytes > memory => memory = needed_bytes,
            Err(error) => panic!("{error}"),
        }
    };
    let mut teams = [tight, new(1 << 30).unwrap()];
    let owners = teams.each_ref().map(|team| Arc::strong_count(team.graph.out_degrees.memory()));
    assert!(owners[0] > owners[1], "imports: {owners:?}");
    teams.each_mut().map(|team| {
        let state = team.run().unwrap();
        let answers = team.answers(&state);
        let answer = answers.iter().find(|answer| answer.name == name).expect("the algorithm has this answer");
        (0..team.graph.vertices as u32).map(|vertex| value(&answer.values, vertex)).collect()
    })
}

gpu_test! {
    /// The vertices of the second device begin within a page of the memory of degrees.
    fn several_devices_have_the_same_answers() {
        if !in_place().is_possible() {
            return;
        }
        let graph = graphs::sparse();
        let setting = Setting { binding_bytes_max: Some(192 << 10), ..Setting::default() };
        let store = TestStore::new(&graph.edges, &setting.store_options());
        let rank = |values: &AnswerValues<'_>, vertex| match values {
            AnswerValues::F64(of) => of.get(vertex).to_bits(),
            _ => panic!("ranks are numbers"),
        };
        for sharded in [false, true] {
            // By default, each strategy with one of them.
            let turn = |traffic: &Traffic| thorough() || (*traffic == Traffic::Push) == sharded;
            for traffic in TRAFFICS.into_iter().filter(turn) {
                let algorithm = PageRank { traffic, ..push(Sums::Exact) };
                let [tight, ample] = of_two(&store, (algorithm, sharded, &setting), ("rank", rank));
                assert!(tight == ample, "ranks, {traffic:?}, sharded: {sharded}");
            }
            let algorithm = Bfs::from(VertexId(graph.source));
            let [tight, ample] = of_two(&store, (algorithm, sharded, &setting), ("level", integer));
            assert!(tight == ample && tight == levels(&graph.edges, graph.source), "levels, sharded: {sharded}");
        }
    }
}
